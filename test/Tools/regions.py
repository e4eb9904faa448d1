#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares kernels with the programs in their bundles that describe their regions.

usage: regions.py BUILD FOLDER [CASE...]

Every op that a region may have is in some case: the compiler's own messages list them.
The functions of ScoreOps.td have cases without more: each is tried at POINTS.
Each case is run with --check; then its bundle's program, not its kernel, is given a fault
at one op after the other, and --check has to fail."""

import json
import os
import re
import struct
import subprocess
import sys

import edit_bundle

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "docs"), os.path.join(ROOT, "tools", "python")]
import schedules
from records import math_functions

FUNCTIONS = [record["word"] for record in math_functions()]
# Inside of the domains of functions, at their edges and outside.
POINTS = [sign * size for size in (0, 1e-40, 1e-30, 1e-6, 0.01, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 8, 20, 80, 200, 1e5, 1e20, 3e38,
                                   float("inf"), float("nan")) for sign in (1, -1)]

# An op: the name, or with a number of operands the operands in a new order, that its
# fault has. Names may not become longer.
FAULTS = {
    "addf": "subf", "subf": "addf", "mulf": "subf", "divf": "mulf", "negf": "absf", "absf": "negf", "fma": (2, 1, 0),
    "maximumf": "minimumf", "minimumf": "maximumf", "maxnumf": "minnumf", "minnumf": "maxnumf",
    **dict.fromkeys([*FUNCTIONS, "tanh.afn"], "exp"), "exp": "log",
    "addi": "subi", "subi": "addi", "muli": "addi", "divsi": "remsi", "remsi": "divsi", "andi": "ori", "ori": (0, 0),
    "xori": "ori", "shli": "addi", "shrsi": "divsi", "maxsi": "minsi", "minsi": "maxsi", "select": (0, 2, 1),
    "divui": "divsi", "remui": "remsi", "maxui": "maxsi", "minui": "minsi", "shrui": "shrsi",
    "sitofp": "uitofp", "uitofp": "sitofp", "fptosi": "fptoui", "fptoui": "fptosi", "extsi": "extui", "extui": "extsi",
    "cmpi.eq": "cmpi.ne", "cmpi.ne": "cmpi.eq", "cmpi.slt": "cmpi.ult", "cmpi.sle": "cmpi.ule", "cmpi.sgt": "cmpi.ugt",
    "cmpi.sge": "cmpi.uge", "cmpi.ult": "cmpi.slt", "cmpi.ule": "cmpi.sle", "cmpi.ugt": "cmpi.sgt", "cmpi.uge": "cmpi.sge",
    **{f"cmpf.{a}{relation}": f"cmpf.{b}{relation}" for a, b in ("ou", "uo") for relation in ("eq", "ne", "lt", "le", "gt", "ge")},
    "cmpf.ord": "cmpf.uno", "cmpf.uno": "cmpf.ord", "cmpf.true": "cmpf.uno", "cmpf.false": "cmpf.ord",
}
# A fault of these is another op of the same meaning, or none at all.
WITHOUT_FAULT = {"constant", "extf", "index_cast", "trunci", "yield"}

# What bodies may use, after those that they use themselves.
VALUES = {
    "x": "tensor.extract %bias[%jx] : tensor<?xf32>",
    "n": "tensor.extract %ids[%jx] : tensor<?xi32>",
    "m": "tensor.extract %ids[%ix] : tensor<?xi32>",
    "jx": "arith.index_cast %j : i32 to index",
    "ix": "arith.index_cast %i : i32 to index",
    "half": "arith.constant 0.5 : f32",
    "seven": "arith.constant 7 : i32",
    "zero": "arith.constant 0.0 : f32",
}


def with_values(body):
    """The body after the values that it uses."""
    for name, value in VALUES.items():
        if re.search(rf"%{name}\b", body):
            body = f"        %{name} = {value}\n{body}"
    return body


def total(terms):
    """Lines that add `terms` to the score and yield it."""
    lines, last = [], "%s"
    for number, term in enumerate(terms):
        lines.append(f"%t{number} = arith.addf {last}, {term} : f32")
        last = f"%t{number}"
    return "\n".join([*lines, f"attn.yield {last} : f32"])


def mean(terms):
    """Lines that compute the mean of `terms`, which more terms do not make larger: rows of a single key show no errors of others."""
    lines, last = [], terms[0]
    for number, term in enumerate(terms[1:]):
        lines.append(f"%u{number} = arith.addf {last}, {term} : f32")
        last = f"%u{number}"
    return "\n".join([*lines, f"%share = arith.constant {1 / len(terms)!r} : f32", f"%mean = arith.mulf {last}, %share : f32", ""])


def integers(ops, flags=""):
    """What ops of two integers leave when they are divided, each a float."""
    lines = []
    for name, operands in ops:
        lines += [f"%{name} = arith.{name} {operands}{flags} : i32", f"%{name}_low = arith.remsi %{name}, %seven : i32",
                  f"%{name}_f = arith.sitofp %{name}_low : i32 to f32", f"%{name}_r = arith.mulf %{name}_f, %half : f32"]
    return "\n".join([*lines, total(f"%{name}_r" for name, _ in ops)])


def comparisons(op, kind, operands, predicates):
    """A weight of its own where a comparison holds."""
    lines = []
    for number, predicate in enumerate(predicates):
        lines += [f"%c{number} = arith.{op} {predicate}, {operands[number % len(operands)]} : {kind}",
                  f"%w{number} = arith.constant {0.25 + 0.125 * number} : f32",
                  f"%r{number} = arith.select %c{number}, %w{number}, %zero : f32"]
    return "\n".join([*lines, total(f"%r{number}" for number in range(len(predicates)))])


ODD = """
        %one = arith.constant 1 : i32
        %odd = arith.ori %m, %one : i32
"""
CASES = {
    "floats": """
        %big = arith.maximumf %s, %x : f32
        %small = arith.minimumf %s, %x : f32
        %bigger = arith.maxnumf %big, %half : f32
        %smaller = arith.minnumf %small, %half : f32
        %size = math.absf %x : f32
        %above = arith.addf %size, %half : f32
        %ratio = arith.divf %s, %above : f32
        %opposite = arith.negf %ratio : f32
        %fused = math.fma %s, %x, %half : f32
        %less = arith.subf %fused, %bigger : f32
        %product = arith.mulf %smaller, %x : f32
        """ + total(["%less", "%product", "%opposite"]),
    "functions": """
        %size = math.absf %x : f32
        %p = arith.addf %size, %half : f32
        %afn = math.tanh %x fastmath<afn> : f32
        %capped = math.tanh %s : f32
        """ + "\n".join(f"%f{n} = math.{name} %p : f32" for n, name in enumerate(FUNCTIONS)) + "\n"
    + mean(["%afn", "%capped", *(f"%f{n}" for n in range(len(FUNCTIONS)))]) + total(["%mean"]),
    "sums": integers([("addi", "%n, %m"), ("subi", "%m, %n")]),
    "products": integers([("muli", "%n, %m"), ("andi", "%n, %m")]),
    "bits": integers([("ori", "%n, %m"), ("xori", "%n, %m")]),
    "quotients": ODD + integers([("divsi", "%n, %odd"), ("remsi", "%n, %odd")]),
    "shifts": "%by = arith.andi %m, %seven : i32\n" + integers([("shli", "%n, %by"), ("shrsi", "%n, %by")]),
    "extremes": integers([("maxsi", "%n, %m"), ("minsi", "%n, %m")]),
    "unsigned_quotients": ODD + integers([("divui", "%n, %odd"), ("remui", "%n, %odd")]),
    "unsigned_extremes": "%by = arith.andi %m, %seven : i32\n" + integers([
        ("maxui", "%n, %m"), ("minui", "%n, %m"), ("shrui", "%n, %by")]),
    # Beyond the width, and by zero: all is defined.
    "edges": "%none = arith.andi %m, %seven : i32\n" + integers([
        ("shli", "%n, %m"), ("shrsi", "%m, %n"), ("divsi", "%n, %none"), ("remsi", "%n, %none")]),
    "casts": """
        %byte = arith.trunci %n : i32 to i8
        %signed = arith.extsi %byte : i8 to i32
        %unsigned = arith.extui %byte : i8 to i32
        %both = arith.subi %signed, %unsigned : i32
        %f0 = arith.sitofp %both : i32 to f32
        %f1 = arith.uitofp %byte : i8 to f32
        %part = arith.constant 0.01 : f32
        %r0 = arith.mulf %f0, %part : f32
        %r1 = arith.mulf %f1, %part : f32
        """ + total(["%r0", "%r1"]),
    "roundings": """
        %narrow = arith.truncf %x : f32 to bf16
        %r0 = arith.extf %narrow : bf16 to f32
        %many = arith.constant 100.0 : f32
        %most = arith.constant 250.0 : f32
        %scaled = arith.mulf %x, %many : f32
        %bounded = arith.minimumf %scaled, %most : f32
        %size = math.absf %bounded : f32
        %less = arith.minimumf %size, %most : f32
        %whole = arith.fptosi %bounded : f32 to i32
        %byte = arith.fptoui %less : f32 to i8
        %f1 = arith.sitofp %whole : i32 to f32
        %f2 = arith.uitofp %byte : i8 to f32
        %part = arith.constant 0.01 : f32
        %r1 = arith.mulf %f1, %part : f32
        %r2 = arith.mulf %f2, %part : f32
        """ + total(["%r0", "%r1", "%r2"]),
    "equal_integers": comparisons("cmpi", "i32", ["%n, %n", "%n, %m"], ["eq", "ne"]),
    "signed_integers": comparisons("cmpi", "i32", ["%n, %m"], ["slt", "sle", "sgt", "sge"]),
    "unsigned_integers": comparisons("cmpi", "i32", ["%n, %m"], ["ult", "ule", "ugt", "uge"]),
    # The logarithm of what is negative is a NaN.
    "compare_floats": "%y = math.log %x : f32\n" + comparisons("cmpf", "f32", ["%y, %x"],
                                                               ["true", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"]),
    "compare_unordered": "%y = math.log %x : f32\n" + comparisons("cmpf", "f32", ["%y, %x"],
                                                                  ["false", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"]),
    # Flags promise what these operands do not keep: all integer arithmetic is defined.
    "wrapped": integers([("addi", "%n, %m"), ("subi", "%m, %n"), ("muli", "%n, %m"), ("shli", "%n, %seven")], " overflow<nsw, nuw>"),
    "inexact": integers([("divsi", "%n, %seven"), ("divui", "%n, %seven"), ("shrui", "%m, %seven"), ("shrsi", "%n, %seven")], " exact"),
    "promised": "%y = math.log %x : f32\n%c = arith.cmpf olt, %y, %x fastmath<nnan, ninf> : f32\n"
                "%f = arith.select %c, %y, %half : f32\n" + total(["%f"]),
}
# The mask: a distance, and bits of ids.
MASKS = {"mask": """
        %d = arith.subi %i, %j : i32
        %near = arith.cmpi slt, %d, %reach : i32
        %bit = arith.andi %n, %seven : i32
        %odd = arith.cmpi ne, %bit, %seven : i32
        %both = arith.andi %near, %odd : i1
        %either = arith.xori %both, %odd : i1
        %y = math.log %x : f32
        %positive = arith.cmpf ord, %y, %y : f32
        %allow = arith.select %positive, %both, %either : i1
        attn.yield %allow : i1"""}

# A function of a point for each query: the score of its only key. What no score may be
# becomes a number.
AT_POINTS = {f"{name}_at_points": f"""
        %p = tensor.extract %bias[%ix] : tensor<?xf32>
        %y = math.{name} %p : f32
        %infinity = arith.constant 0x7F800000 : f32
        %minus = arith.constant 0xFF800000 : f32
        %three = arith.constant 3.0 : f32
        %five = arith.constant 5.0 : f32
        %seven_f = arith.constant 7.0 : f32
        %is_nan = arith.cmpf uno, %y, %y : f32
        %r0 = arith.select %is_nan, %three, %y : f32
        %is_plus = arith.cmpf oeq, %y, %infinity : f32
        %r1 = arith.select %is_plus, %five, %r0 : f32
        %is_minus = arith.cmpf oeq, %y, %minus : f32
        %r2 = arith.select %is_minus, %seven_f, %r1 : f32
        attn.yield %r2 : f32""" for name in FUNCTIONS}

MODULE = """func.func @case(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32,
    %arg0: tensor<?xf32> {{attn.name = "bias"}}, %arg1: tensor<?xi32> {{attn.name = "ids"}}, %arg2: i32 {{attn.name = "reach"}})
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {{
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%arg0, %arg1, %arg2 : tensor<?xf32>, tensor<?xi32>, i32)
      {kind}_region {{
      ^bb0({score}%b: i32, %h: i32, %i: i32, %j: i32, %bias: tensor<?xf32>, %ids: tensor<?xi32>, %reach: i32):{body}
      }} : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>)
        -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}}
"""
PROBLEM = ["--q=1x19x2x64", "--kv=1x37x1x64", "--check", "--tensor=ids=integers:-2147483648:2147483647", "--scalar=reach=3"]


def problem_of(bodies, folder):
    """Options of attn-run for cases."""
    if bodies is not AT_POINTS:
        return PROBLEM
    path, count = os.path.join(folder, "points.npy"), len(POINTS)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count},), }}"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00\x76\x00" + header.encode().ljust(117) + b"\n" + struct.pack(f"<{count}f", *POINTS))
    return [f"--q=1x{count}x2x64", "--kv=1x1x1x64", *PROBLEM[2:], f"--tensor=bias={path}"]


def module_of(kind, body):
    """A kernel whose score or mask region has this body."""
    return MODULE.format(kind=kind, score="%s: f32, " if kind == "score" else "", body="\n" + with_values(body))


def small_schedule(build, folder):
    """Options of attn-compile: a schedule of one consumer and 16 keys a tile. A region is expanded for each element of
    a thread's share, so ptxas takes a quarter of the time that it takes with the table's schedule."""
    asked = schedules.of(os.path.join(build, "bin", "attn-compile"))
    path = os.path.join(folder, "small.schedule.mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(asked.schedule("sm_90a", (64, 64), {"consumers": 1, "tile_n": 16}, symbol="small",
                                  masks=["none", "causal_bottom_right", "gathers"])["entry"])
    return [f"--schedule={path}", "--allow-spills"]


def call(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    return done.returncode == 0, done.stdout


def faults(program):
    """(op, line as JSON, line with a fault) of the last op of each name."""
    for name, line in {line[1]: line for line in program if line[1] not in WITHOUT_FAULT}.items():
        operands = line[2:]
        fault = FAULTS.get(name)
        if name == "extract":
            changed = [*line[:-1], "h"]
        elif name == "truncf":
            changed = ["f16", *line[1:]]
        elif isinstance(fault, str):
            changed = [line[0], fault, *operands]
        else:
            changed = [*line[:2], *(operands[n] for n in fault)]
        yield name, json.dumps(line, separators=(",", ":")), json.dumps(changed, separators=(",", ":"))


def listed(build, module, pattern):
    """The words of a list in the compiler's message on a module that it refuses."""
    done = subprocess.run([os.path.join(build, "bin", "attn-compile"), "-"], input=module, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)
    return re.search(pattern, done.stdout)[1].split(", ")


def allowed_ops(build):
    """The names of the ops that the compiler allows, as programs spell them."""
    refused = module_of("score", "%bad = ub.poison : f32\nattn.yield %bad : f32")
    names = {name.split(".")[1] for name in listed(build, refused, r"region may hold: (.*)")}
    for compare in ("cmpi", "cmpf"):
        refused = module_of("score", f"%bad = arith.{compare} bad, %s, %s : f32")
        names |= {f"{compare}.{predicate}" for predicate in listed(build, refused, r"attribute 'predicate' \[(.*)\]")}
    return names - {"cmpi", "cmpf"}


def check_case(name, bodies, build, folder, schedule):
    """The ops of the case, and its problems."""
    kind = "mask" if bodies is MASKS else "score"
    source, bundle, broken = (os.path.join(folder, f"{name}{end}") for end in (".mlir", ".attn", ".broken.attn"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(module_of(kind, bodies[name]))
    ok, text = call(os.path.join(build, "bin", "attn-compile"), source, *schedule, "-o", bundle)
    if not ok:
        return set(), [text]
    run = [os.path.join(build, "bin", "attn-run"), "--device=sim", *problem_of(bodies, folder)]
    ok, text = call(*run, bundle)
    problems = [] if ok and "check: passed" in text else [text]
    with open(bundle, "rb") as file:
        data = file.read()
    program = json.loads(re.search(rb'"%s_program":(\[.*?\]\])' % kind.encode(), data)[1])
    for op, line, changed in faults(program):
        with open(broken, "wb") as file:
            file.write(edit_bundle.replace(data, line.encode(), changed.encode()))
        ok, text = call(*run, broken)
        if ok or ": FAILED" not in text:  # of the check, or of a launch that the file does not fit
            problems.append(f"a fault of {op} is not noticed: {changed}\n{text}")
    return {line[1] for line in program}, problems


def main():
    build, folder, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    ops, schedule = set(), small_schedule(build, folder)
    for bodies in (CASES, MASKS, AT_POINTS):
        for name in names or bodies:
            found, problems = check_case(name, bodies, build, folder, schedule) if name in bodies else (set(), [])
            ops |= found
            for problem in problems:
                print(f"FAILED: {name}: {problem}")
    for op in sorted(allowed_ops(build) - ops) if not names else ():
        print(f"FAILED: no case has op '{op}', which the compiler allows")
    print(f"{len(ops)} ops checked: {' '.join(sorted(ops))}")


if __name__ == "__main__":
    main()
