#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles masks as functions and as what they are, and compares the PTX.

usage: mask_functions.py ATTN_COMPILE
"""

import subprocess
import sys

MODULE = """\
!q = tensor<?x?x?x%(dim)dxbf16>
!lse = tensor<?x?x?xf32>
func.func @attention(%%q: !q, %%k: !q, %%v: !q, %%scale: f32) -> (!q, !lse) {
%(constants)s
  %%o, %%lse = attn.attention %%q, %%k, %%v scale(%%scale) mask(%(mask)s) layout(bshd) %(rest)s
      : (!q, !q, !q) -> (!q, !lse)
  return %%o, %%lse : !q, !lse
}
"""

REGION = """mask_region {
      ^bb0(%%b: i32, %%h: i32, %%i: i32, %%j: i32):
        %%causal = arith.cmpi sle, %%j, %%i : i32
        %%distance = arith.subi %%i, %%j : i32
        %%back = arith.subi %%j, %%i : i32
        %%apart = arith.maxsi %%distance, %%back : i32
        %s
        attn.yield %%seen : i1
      }"""

# A mask whose bounds are constants is always one that stands for a function.
INFERRED = ("{attn.user_problem = #attn.problem<kind = fwd, dtype = bf16, head_dim = %(dim)d, head_dim_v = %(dim)d, layout = bshd, "
            "mask = none, score_region = absent, mask_region = present>}")

# The built-in mask, the numbers of its bounds, and the same as a function.
MASKS = [
    ("causal_top_left", {}, ["%seen = arith.cmpi sge, %i, %j : i32"]),
    ("causal_top_left", {"window_left": 1023},
     ["%c = arith.constant 1024 : i32", "%near = arith.cmpi slt, %distance, %c : i32",
      "%seen = arith.andi %near, %causal : i1"]),
    ("window_top_left", {"window_left": 64, "window_right": 64},
     ["%c = arith.constant 64 : i32", "%seen = arith.cmpi sle, %apart, %c : i32"]),
    ("window_top_left", {"window_left": 99},
     ["%c = arith.constant 100 : i32", "%seen = arith.cmpi slt, %distance, %c : i32"]),
    ("chunked_top_left", {"chunk": 2048},
     ["%c = arith.constant 2048 : i32", "%own = arith.divsi %i, %c : i32", "%other = arith.divsi %j, %c : i32",
      "%same = arith.cmpi eq, %own, %other : i32", "%seen = arith.andi %causal, %same : i1"]),
]


def built_in(dim, mask, bounds):
    constants = "\n".join(f"  %{name} = arith.constant {number} : i32" for name, number in bounds.items())
    rest = " ".join([f"{name}(%{name})" for name in bounds] + ([INFERRED % {"dim": dim}] if bounds else []))
    return MODULE % {"dim": dim, "mask": mask, "constants": constants, "rest": rest}


def as_function(dim, lines):
    return MODULE % {"dim": dim, "mask": "none", "constants": "", "rest": REGION % "\n        ".join(lines)}


def ptx_of(compiler, module):
    run = subprocess.run([compiler, "--target=sm_90a", "--emit=ptx", "-", "-o", "-"], input=module, text=True,
                         capture_output=True)
    if run.returncode:
        sys.exit(f"{run.stderr}\n{module}")
    return run.stdout


def main():
    for dim in (64, 128):
        for mask, bounds, lines in MASKS:
            expected, got = (ptx_of(sys.argv[1], module) for module in (built_in(dim, mask, bounds), as_function(dim, lines)))
            if not expected or expected != got:
                sys.exit(f"expected the PTX of {mask} {bounds} with head dim {dim} from the function:\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
