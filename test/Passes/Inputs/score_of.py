# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints attention whose score is one op of %i and %j: score_of.py "arith.sitofp %j : i32 to f32"."""
import sys

QKV = "tensor<?x?x?x64xbf16>"
print(f"""func.func @f(%q: {QKV}, %k: {QKV}, %v: {QKV}, %scale: f32) -> ({QKV}, tensor<?x?x?xf32>) {{
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      score_region {{
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
        %r = {sys.argv[1]}
        attn.yield %r : f32
      }}
      : ({QKV}, {QKV}, {QKV}) -> ({QKV}, tensor<?x?x?xf32>)
  return %o, %lse : {QKV}, tensor<?x?x?xf32>
}}""")
