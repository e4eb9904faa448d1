#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds what the compiler lacks for bwd_d128.mlir: makes one change at a time, and prints the
first error of each try.

The first are of the program as written. The others are edits of a program for one
warpgroup: head dim and key block are 64, so that no tile is cut, and LSE, delta and dQ
are in registers."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

ONE_WARPGROUP = """<"bwd_one_warpgroup" machine "sm_90a" {
  remat(next)
  role load warps 1 regs 40
  role wg warps 4 regs 232
  chan k = k in smem depth 1
  chan v = v in smem depth 1
  chan q = q in smem depth 2
  chan do = do in smem depth 2
  hold lse = lse in reg depth 1
  hold dl = dl in reg depth 1
  hold s = s in reg depth 1
  hold dp = dp in reg depth 1
  hold p = p in reg depth 1
  hold ds = ds in smem depth 1
  hold dk = dk in reg
  hold dv = dv in reg
  hold dq = dq in reg depth 1
  hold dke = dke in smem depth 1
  hold dve = dve in smem depth 1
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_q once : ld_k once : ld_v ld_do }
  }
  body wg {
    kv { ld_lse ld_dl qk dp await(ld_dl) score mask exp dsoft cvt_p cvt_ds mm_dv mm_dk
         mm_dq await(mm_dq) red_dq await(red_dq) }
    after { await(st_dk) + 1 cvt_dv st_dv cvt_dk st_dk }
  }
}>"""

# A sum over the keys of a block, which `{0}` makes, taken from dS.
SUM = ("%x = arith.mulf %a, %difference : tensor<KxMxf32>",
       "%product = arith.mulf %a, %difference : tensor<KxMxf32>\n        {0}\n"
       "        %sum = tile.broadcast %sums dim 0 : tensor<64xf32> -> tensor<KxMxf32>\n"
       "        %x = arith.subf %product, %sum : tensor<KxMxf32>")

# The edits that are tried, of the program of one warpgroup with 64 keys: (old, new) each.
OF_ONE_WARPGROUP = {
    "a value in two places": [
        (" transpose_a", ""),
        ("hold ds = ds in smem depth 1", "hold dsr = ds in reg depth 1 for(mm_dk)\n"
         "  hold dss = ds in smem depth 1 for(mm_dq)")],
    "a channel that threads fill": [
        (" transpose_a", ""), ("hold dq = dq in", "chan dqs = dq in smem depth 1\n  hold dq = dq in"),
        ("role load warps 1 regs 40", "role load warps 1 regs 40\n  role red warps 1 regs 40"),
        ("red_dq await(red_dq) }", "put(dq) }"), ("  body wg {", "  body red {\n    kv { red_dq }\n  }\n  body wg {")],
    "a sum over keys": [
        (" transpose_a", ""),
        (SUM[0], SUM[1].format("%sums = tile.reduce add %product dim 0 : tensor<KxMxf32> -> tensor<64xf32>"))],
    "shares of a sum over keys": [
        (" transpose_a", ""),
        (SUM[0], SUM[1].format("%shares = tile.reduce add %product dim 0 partial : tensor<KxMxf32> -> tensor<64xf32>\n"
                               "        %sums = tile.complete %shares : tensor<64xf32> -> tensor<64xf32>"))],
}


def one_warpgroup(text):
    """The program with the schedule above, all extents 64."""
    begin, end = text.index("    schedule <") + len("    schedule "), text.index("}> attributes {") + 2
    text = text[:begin] + ONE_WARPGROUP + text[end:]
    text = re.sub("128(?=x)", "64", text)
    for old, new in [("bwd_d128", "bwd_d64"), ("head_dim = 128, head_dim_v = 128", "head_dim = 64, head_dim_v = 64"),
                     ("tile_n = 128", "tile_n = 64"), ("constant 127", "constant 63"), ("constant 128", "constant 64")]:
        text = text.replace(old, new)
    return text


def first_error(opt, text, *passes):
    """The message of the first error; none where all passes accept the program."""
    run = subprocess.run([opt, "-", "-o", os.devnull, *passes], input=text, capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit(f"{opt} ended with {run.returncode}:\n{run.stderr[-2000:]}")
    found = re.search(r" error: (.*)", run.stderr)
    return found[1] if found else "none"


def edited(text, edits):
    for old, new in edits:
        old, new = (x.replace("KxM", "64x64") for x in (old, new))
        if old not in text:
            sys.exit(f"expected '{old}' in the program")
        text = text.replace(old, new)
    return text


def main():
    opt = sys.argv[1]
    with open(os.path.join(HERE, "bwd_d128.mlir")) as file:
        text = file.read()
    stages = ["--attn-stage-schedule", "--attn-stage-ws", "--attn-stage-nvvm", "--attn-stage-llvm", "--attn-stage-ptx"]
    print("transposed operand A:", first_error(opt, text, *stages))
    print("sub-tiles of keys:", first_error(opt, text, "--attn-subtile"))
    for name, edits in OF_ONE_WARPGROUP.items():
        print(f"{name}:", first_error(opt, edited(one_warpgroup(text), edits), *stages))


if __name__ == "__main__":
    main()
