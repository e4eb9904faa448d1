#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes one attn.attention as IR: attention.py --head-dim=72 --dtype=f16 ..."""

import argparse
import importlib.util
import os

# The package's list of masks and bounds, without the rest of the package.
_spec = importlib.util.spec_from_file_location("masks", os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 2,
                                                                     "python", "attn", "_masks.py"))
assert _spec and _spec.loader
masks = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(masks)

ALIBI = """
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32{formals}):
        %head = arith.index_cast %h : i32 to index
{slope}
        %d = arith.subi %j, %i : i32
        %distance = arith.sitofp %d : i32 to f32
        %bias = arith.mulf %slope, %distance : f32
        %r = arith.addf %s, %bias : f32
        attn.yield %r : f32
      }"""
SOFTCAP = """
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32{formals}):
        %one = arith.constant 1.0 : f32
        %inverse = arith.divf %one, %cap : f32
        %x = arith.mulf %s, %inverse : f32
        %t = math.tanh %x : f32
        %r = arith.mulf %t, %cap : f32
        attn.yield %r : f32
      }"""
FUNCTION = """
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32{formals}):
        LINES
        attn.yield %seen : i1
      }"""


def function(*lines):
    return FUNCTION.replace("LINES", "\n        ".join(lines))


CAUSAL = "%causal = arith.cmpi sle, %j, %i : i32"
DOCUMENTS = function("%batch = arith.index_cast %b : i32 to index",
                     "%qi = arith.index_cast %i : i32 to index",
                     "%kj = arith.index_cast %j : i32 to index",
                     "%mine = tensor.extract %id_of[%batch, %qi] : tensor<?x?x{ids}>",
                     "%other = tensor.extract %id_of[%batch, %kj] : tensor<?x?x{ids}>",
                     "%seen = arith.cmpi eq, %mine, %other : {ids}")
PREFIX = function(CAUSAL, "%c70 = arith.constant 70 : i32", "%early = arith.cmpi slt, %j, %c70 : i32",
                  "%seen = arith.ori %early, %causal : i1")
PADDING = function("%batch = arith.index_cast %b : i32 to index",
                   "%length = tensor.extract %length_of[%batch] : tensor<?xi32>",
                   "%seen = arith.cmpi slt, %j, %length : i32")
CHUNKS = function("%c48 = arith.constant 48 : i32", "%own = arith.divsi %i, %c48 : i32",
                  "%other = arith.divsi %j, %c48 : i32", "%seen = arith.cmpi eq, %own, %other : i32")
STEPS = function("%c40 = arith.constant 40 : i32", "%own = arith.divsi %i, %c40 : i32",
                 "%other = arith.divsi %j, %c40 : i32", "%seen = arith.cmpi sge, %own, %other : i32")
SINKS = function(CAUSAL, "%c4 = arith.constant 4 : i32", "%c50 = arith.constant 50 : i32",
                 "%sink = arith.cmpi slt, %j, %c4 : i32", "%distance = arith.subi %i, %j : i32",
                 "%near = arith.cmpi slt, %distance, %c50 : i32", "%either = arith.ori %sink, %near : i1",
                 "%seen = arith.andi %either, %causal : i1")
# Every third key, which stays a function, of those of a window.
STRIDES = function(CAUSAL, "%c3 = arith.constant 3 : i32", "%c90 = arith.constant 90 : i32",
                   "%mine = arith.remsi %i, %c3 : i32", "%other = arith.remsi %j, %c3 : i32",
                   "%same = arith.cmpi eq, %mine, %other : i32", "%distance = arith.subi %i, %j : i32",
                   "%near = arith.cmpi slt, %distance, %c90 : i32", "%window = arith.andi %near, %causal : i1",
                   "%seen = arith.andi %same, %window : i1")
# Region: what it captures, (name of the argument, name inside, type) or None, and its text.
SCORES = {"alibi": (("slopes", "slope_of", "tensor<?x{slopes}>"), ALIBI), "softcap": (("softcap", "cap", "f32"), SOFTCAP)}
# The value of every bound where tests have no other.
BOUND = 37
# Options of attn-run for what a region captures, where its defaults are not enough.
CAPTURES = {"alibi": ["--tensor=slopes=slopes"], "softcap": ["--scalar=softcap=1.5"],
            "padding": ["--tensor=lengths=integers:-9:400"], "starts": ["--tensor=starts=integers:-9:300"],
            "spans": ["--tensor=spans=integers:-9:300"], "turns": ["--tensor=turns=integers:-9:300"],
            "begins": ["--tensor=begins=integers:-9:150"], "stops": ["--tensor=stops=integers:130:400"]}
# Padding on the left, and keys that a function picks.
STARTS = function(CAUSAL, "%batch = arith.index_cast %b : i32 to index",
                  "%start = tensor.extract %start_of[%batch] : tensor<?xi32>", "%c3 = arith.constant 3 : i32",
                  "%other = arith.remsi %j, %c3 : i32", "%picked = arith.cmpi slt, %other, %start : i32",
                  "%inside = arith.cmpi sge, %j, %start : i32", "%either = arith.andi %inside, %picked : i1",
                  "%seen = arith.andi %either, %causal : i1")
# Starts and ends that tensors give for each query, in any order.
SPANS = function("%query = arith.index_cast %i : i32 to index", "%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index",
                 "%start = tensor.extract %span_of[%c0, %query] : tensor<?x?xi32>",
                 "%end = tensor.extract %span_of[%c1, %query] : tensor<?x?xi32>", "%after = arith.cmpi sge, %j, %start : i32",
                 "%before = arith.cmpi slt, %j, %end : i32", "%seen = arith.andi %after, %before : i1")
# The same with the end at the query itself, and some queries without keys.
TURNS = function(CAUSAL, "%query = arith.index_cast %i : i32 to index", "%start = tensor.extract %start_of[%query] : tensor<?xi32>",
                 "%c5 = arith.constant 5 : i32", "%c3 = arith.constant 3 : i32", "%rest = arith.remsi %i, %c5 : i32", "%valid = arith.cmpi ne, %rest, %c3 : i32",
                 "%after = arith.cmpi sge, %j, %start : i32", "%own = arith.andi %after, %causal : i1",
                 "%seen = arith.andi %own, %valid : i1")
# Only starts, and only ends.
BEGINS = function("%query = arith.index_cast %i : i32 to index", "%start = tensor.extract %start_of[%query] : tensor<?xi32>",
                  "%seen = arith.cmpi sge, %j, %start : i32")
STOPS = function("%query = arith.index_cast %i : i32 to index", "%end = tensor.extract %end_of[%query] : tensor<?xi32>",
                 "%seen = arith.cmpi slt, %j, %end : i32")
MASKS = {"begins": (("begins", "start_of", "tensor<?xi32>"), BEGINS), "stops": (("stops", "end_of", "tensor<?xi32>"), STOPS),
         "spans": (("spans", "span_of", "tensor<?x?xi32>"), SPANS), "turns": (("turns", "start_of", "tensor<?xi32>"), TURNS),
         "documents": (("ids", "id_of", "tensor<?x?x{ids}>"), DOCUMENTS), "prefix": (None, PREFIX),
         "padding": (("lengths", "length_of", "tensor<?xi32>"), PADDING), "chunks": (None, CHUNKS), "steps": (None, STEPS),
         "sinks": (None, SINKS), "strides": (None, STRIDES),
         "starts": (("starts", "start_of", "tensor<?xi32>"), STARTS)}


def slope(element):
    """Reads one slope as f32."""
    extract = f"tensor.extract %slope_of[%head] : tensor<?x{element}>"
    if element == "f32":
        return "        %slope = " + extract
    return f"        %read = {extract}\n        %slope = arith.truncf %read : {element} to f32"


def write(args):
    """The IR of one function."""
    dv = args.head_dim_v or args.head_dim
    qk, v = (f"tensor<?x?x?x{d}x{args.dtype}>" for d in (args.head_dim, dv))
    bounds = [name for name in masks.BOUNDS if name in args.bound]
    regions = [table[name] for table, name in ((SCORES, args.score), (MASKS, args.region)) if name]
    captures = [(name, inside, kind.format(slopes=args.slopes, ids=args.ids)) for (name, inside, kind) in filter(None, (capture for capture, _ in regions))]
    formals = "".join(f", %{inside}: {kind.replace('ui', 'i')}" for _, inside, kind in captures)
    arguments = [f"%q: {qk}", f"%k: {qk}", f"%v: {v}", "%scale: f32"]
    arguments += [f"%{name}: i32" for name in bounds]
    arguments += [f'%{name}: {kind} {{attn.name = "{name}"}}' for name, _, kind in captures]
    clauses = [f"{name}(%{name})" for name in bounds]
    if captures:
        names = ", ".join(f"%{name}" for name, _, _ in captures)
        clauses.append(f"captures({names} : {', '.join(kind for _, _, kind in captures)})")
    bodies = "".join(text for _, text in regions)
    for what, by in (("formals", formals), ("slope", slope(args.slopes)), ("ids", args.ids.lstrip("u"))):
        bodies = bodies.replace("{%s}" % what, by)
    results = f"{v}, tensor<?x?x?xf32>"
    return f"""func.func @attention({', '.join(arguments)})
    -> ({results}) {{
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask({args.mask}) layout({args.layout})
      {' '.join(clauses)}{bodies}
      : ({qk}, {qk}, {v}) -> ({results})
  return %o, %lse : {results}
}}"""


def scalar_options(args):
    """Options of attn-run for the bounds of a problem's mask, and for what its regions capture."""
    return [f"--scalar={name}={BOUND}" for name in args.bound] + CAPTURES.get(args.score, []) + CAPTURES.get(args.region, [])


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--head-dim", type=int, default=128)
    parser.add_argument("--head-dim-v", type=int, help="default: that of Q")
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--layout", default="bshd")
    parser.add_argument("--mask", choices=masks.MASKS, default="none")
    parser.add_argument("--bound", choices=masks.BOUNDS, action="append", default=[])
    parser.add_argument("--score", choices=SCORES)
    parser.add_argument("--region", choices=MASKS)
    parser.add_argument("--slopes", default="f32", choices=("f32", "f64"), help="element type of what alibi captures")
    parser.add_argument("--ids", default="i32", help="element type of what documents capture")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    print(write(parse()))
