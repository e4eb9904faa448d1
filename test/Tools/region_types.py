#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of regions in every type that they may have, and tensors of every type and rank
that a region may capture, each checked against float64.

usage: region_types.py BUILD FOLDER [CASE...]

What the ops do in i32 and f32 is the subject of regions.py. The compiler's message lists
the types of captured tensors."""

import os
import sys

import regions
from regions import comparisons, total

BINARY = ("addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui",
          "shli", "shrsi", "shrui")
INTEGER_RELATIONS = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_RELATIONS = ("oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno")


def converted(kind, value, name):
    """Lines that make an integer of a type of the bits of an i32."""
    if kind == "index":
        return [f"%{name} = arith.index_cast {value} : i32 to index"]
    if kind == "i64":
        return [f"%{name}_wide = arith.extsi {value} : i32 to i64", f"%{name}_odd = arith.constant 2654435769 : i64",
                f"%{name} = arith.muli %{name}_wide, %{name}_odd : i64"]
    return [f"%{name} = arith.addi {value}, %seven : i32" if kind == "i32" else f"%{name} = arith.trunci {value} : i32 to {kind}"]


def to_float(kind, value, name):
    """Lines that make a small f32 of an integer."""
    if kind == "i1":
        return [f"%{name} = arith.uitofp {value} : i1 to f32"]
    lines = [f"%{name}_most = arith.constant 61 : {kind}", f"%{name}_low = arith.remsi {value}, %{name}_most : {kind}"]
    if kind == "index":
        lines.append(f"%{name}_i32 = arith.index_cast %{name}_low : index to i32")
    low = (f"%{name}_i32", "i32") if kind == "index" else (f"%{name}_low", kind)
    return lines + [f"%{name}_float = arith.sitofp {low[0]} : {low[1]} to f32", f"%{name}_part = arith.constant 0.05 : f32",
                    f"%{name} = arith.mulf %{name}_float, %{name}_part : f32"]


def integers_of(kind, ops):
    """Ops of two integers of a type, each a term."""
    lines = converted(kind, "%n", "left") + converted(kind, "%m", "right")
    for name in ops:
        lines += [f"%{name} = arith.{name} %left, %right : {kind}", *to_float(kind, f"%{name}", f"{name}_r")]
    return "\n".join([*lines, total(f"%{name}_r" for name in ops)])


def compared(kind, lines, op, relations):
    """Comparisons of %left and %right of a type."""
    return "\n".join(lines) + "\n" + comparisons(op, kind, ["%left, %right"], relations)


def casts_of(kind):
    """Casts of an integer to all other types, and back from floats."""
    lines, terms = converted(kind, "%n", "left"), []
    width = int(kind[1:])
    for other in ("i1", "i8", "i16", "i32", "i64"):
        ops = ["trunci"] if int(other[1:]) < width else ["extsi", "extui"] if int(other[1:]) > width else []
        for op in ops:
            lines += [f"%{op}_{other} = arith.{op} %left : {kind} to {other}", *to_float(other, f"%{op}_{other}", f"{op}_{other}_r")]
            terms.append(f"%{op}_{other}_r")
    for op, float_type in (("sitofp", "f32"), ("uitofp", "f32"), ("sitofp", "f64"), ("uitofp", "f64")):
        name = f"{op}_{float_type}"
        lines += [f"%{name} = arith.{op} %left : {kind} to {float_type}",
                  f"%{name}_part = arith.constant {2.0**-width:.30f} : {float_type}",
                  f"%{name}_small = arith.mulf %{name}, %{name}_part : {float_type}"]
        lines += [f"%{name}_r = arith.truncf %{name}_small : f64 to f32"] if float_type == "f64" else [
            f"%{name}_r = arith.addf %{name}_small, %zero : f32"]
        terms.append(f"%{name}_r")
    lines += ["%one = arith.constant 1.0 : f32", "%size = math.absf %x : f32", "%bounded = arith.minimumf %size, %one : f32",
              f"%most = arith.constant {2.0 ** max(width - 2, 0) * 0.9:.6f} : f32", "%scaled = arith.mulf %bounded, %most : f32",
              "%scaled_double = arith.extf %scaled : f32 to f64"]
    for op, value, float_type in (("fptosi", "%scaled", "f32"), ("fptoui", "%scaled", "f32"), ("fptosi", "%scaled_double", "f64")):
        name = f"{op}_{float_type}"
        lines += [f"%{name} = arith.{op} {value} : {float_type} to {kind}", *to_float(kind, f"%{name}", f"{name}_r")]
        terms.append(f"%{name}_r")
    return "\n".join([*lines, total(terms)])


DOUBLES = ["%left = arith.extf %x : f32 to f64", "%right = arith.extf %s : f32 to f64"]
HALVES = ["%leftf = arith.truncf %x : f32 to {kind}", "%rightf = arith.truncf %s : f32 to {kind}"]
CASES = {
    **{f"arithmetic_{kind}_{part}": integers_of(kind, BINARY[part::3]) for kind in ("i8", "i16", "i64", "index") for part in range(3)},
    "arithmetic_i1": integers_of("i1", BINARY[:3] + BINARY[7:14]),
    **{f"compare_{kind}": compared(kind, converted(kind, "%n", "left") + converted(kind, "%m", "right"), "cmpi", INTEGER_RELATIONS)
       for kind in ("i1", "i8", "i16", "i64", "index")},
    **{f"casts_{kind}": casts_of(kind) for kind in ("i8", "i16", "i32", "i64")},
    "compare_f64": compared("f64", DOUBLES, "cmpf", FLOAT_RELATIONS),
    **{f"compare_{kind}": compared(kind, [line.replace("f =", " =").format(kind=kind) for line in HALVES], "cmpf", FLOAT_RELATIONS)
       for kind in ("f16", "bf16")},
    # Denormal numbers of f32 count as 0: their logarithm is minus infinity, and they cannot be scaled up again.
    "denormal": """
        %tiny = arith.constant 1.0e-38 : f32
        %huge = arith.constant 1.0e38 : f32
        %least = arith.constant -8.0 : f32
        %small = arith.mulf %x, %tiny : f32
        %grown = arith.mulf %small, %huge : f32
        %size = math.absf %small : f32
        %log = math.log2 %size : f32
        %bounded = arith.maximumf %log, %least : f32
        """ + total(["%grown", "%bounded"]),
    "doubles": "\n".join([
        *DOUBLES, "%above = arith.constant 0.5 : f64", "%size = math.absf %left : f64", "%positive = arith.addf %size, %above : f64",
        "%v0 = arith.divf %right, %positive : f64", "%v1 = math.sqrt %positive : f64", "%v2 = math.fma %left, %right, %v0 : f64",
        "%v3 = arith.maximumf %left, %right : f64", "%v4 = arith.minimumf %left, %right : f64", "%v5 = arith.maxnumf %left, %v1 : f64",
        "%v6 = arith.minnumf %right, %v1 : f64", "%v7 = arith.negf %v2 : f64", "%v8 = arith.mulf %left, %right : f64",
        "%v9 = arith.subf %left, %v1 : f64",
        *(f"%r{n} = arith.truncf %v{n} : f64 to f32" for n in range(10)), total(f"%r{n}" for n in range(10))]),
}


# The ops by which a region converts an element %e of a captured tensor to f32.
TO_FLOAT = {
    "f16": "arith.extf %e : f16 to f32", "bf16": "arith.extf %e : bf16 to f32", "f32": "arith.addf %e, %none : f32",
    "f64": "arith.truncf %e : f64 to f32", "i1": "arith.uitofp %e : i1 to f32", "ui8": "arith.uitofp %e : i8 to f32",
    **{kind: f"arith.sitofp %e : {kind} to f32" for kind in ("i8", "i16", "i32", "i64")},
}
CAPTURES = """func.func @case(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32,
    {arguments}) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {{
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      captures({names} : {types})
      score_region {{
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, {formals}):
{body}
      }} : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>)
        -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}}
"""
SCALARS = {"f32": "1.25", "i32": "-3", "i64": "5"}
POSITIONS = ("b", "h", "i", "j")


def captures_of(kind):
    """A kernel whose scores are biased by tensors of a type, of each rank and of a fixed size, and by scalars."""
    shapes = ["?x" * rank for rank in (1, 2, 3, 4)] + ["2x37x"]
    inner = kind.lstrip("u")
    lines = ["%none = arith.constant 0.0 : f32", "%part = arith.constant 0.125 : f32"]
    lines += [f"%{at}x = arith.index_cast %{at} : i32 to index" for at in POSITIONS]
    for number, shape in enumerate(shapes):
        rank = shape.count("x")
        indices = ", ".join(f"%{at}x" for at in (POSITIONS[4 - rank:] if number < 4 else ("h", "j")))
        lines += [f"%e{number} = tensor.extract %tensor{number}[{indices}] : tensor<{shape}{inner}>",
                  f"%f{number} = " + TO_FLOAT[kind].replace("%e", f"%e{number}"), f"%r{number} = arith.mulf %f{number}, %part : f32"]
    lines += ["%c_i32 = arith.sitofp %s_i32 : i32 to f32", "%c_i64 = arith.sitofp %s_i64 : i64 to f32"]
    terms = [f"%r{number}" for number in range(len(shapes))] + ["%s_f32", "%c_i32", "%c_i64"]
    kinds = {**{f"tensor{n}": f"tensor<{shape}{kind}>" for n, shape in enumerate(shapes)}, **{f"s_{kind}": kind for kind in SCALARS}}
    return CAPTURES.format(
        arguments=", ".join(f'%{name}_: {kind} {{attn.name = "{name}"}}' for name, kind in kinds.items()),
        names=", ".join(f"%{name}_" for name in kinds), types=", ".join(kinds.values()),
        formals=", ".join(f"%{name}: {kind.replace('xu', 'x')}" for name, kind in kinds.items()),
        body="\n".join([*lines, total(terms)]))


def captured_types(build):
    """The element types that the compiler's message on a captured tensor lists."""
    module = regions.module_of("score", "attn.yield %s : f32").replace("xi32>", "xi4>")
    words = regions.listed(build, module, r"tensor of rank 1 to 4 of (.*), but got")
    return [kind for word in words for kind in word.split(" or ")]


def check(build, folder, name, module, options, schedule):
    """What is wrong with a case, or None."""
    source, bundle = (os.path.join(folder, name + end) for end in (".mlir", ".attn"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(module)
    ok, text = regions.call(os.path.join(build, "bin", "attn-compile"), source, *schedule, "-o", bundle)
    if ok:
        ok, text = regions.call(os.path.join(build, "bin", "attn-run"), "--device=sim", bundle, "--check", *options)
    return None if ok and "check: passed" in text else text


def main():
    build, folder, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    problem = ["--q=2x19x2x64", "--kv=2x37x1x64", *(f"--scalar=s_{kind}={value}" for kind, value in SCALARS.items())]
    cases = {name: (regions.module_of("score", body), regions.PROBLEM) for name, body in CASES.items()}
    for kind in captured_types(build):
        integers = [] if kind[0] in "fb" or kind == "i1" else [f"--tensor=tensor{n}=integers:0:60" for n in range(5)]
        cases[f"captured_{kind}"] = (captures_of(kind), [*problem, *integers, "--pad-strides"])
    schedule = regions.small_schedule(build, folder)
    for name in names or cases:
        wrong = check(build, folder, name, *cases[name], schedule)
        if wrong:
            print(f"FAILED: {name}: {wrong}")
    print(f"{len(names or cases)} cases checked: {' '.join(names or cases)}")


if __name__ == "__main__":
    main()
