// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every exponential of a score is a polynomial of degree 5 on the FMA units.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.ptx | FileCheck %s --check-prefix=LOOP
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
// RUN: %attn-sim %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --q=1x300x2x128 --kv=1x420x1x128
// RUN: %attn-sim %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --q=1x130x1x128 --kv=1x150x1x128 --inputs=nan:24
// RUN: %attn-sim %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --q=1x130x1x128 --kv=1x150x1x128 --inputs=infinite:24
//
// LOOP: loop 1: setp and selp on scores
// LOOP-NEXT: order: wait take qk wait pv give wait_group(1) release max large max ex2 max wait_group(0) release cvt rescale{{$}}
// LOOP: loop 2: scores untouched
// LOOP-NEXT: order: wait take qk wait pv give wait_group(1) release max large max ex2 max wait_group(0) release cvt rescale{{$}}
// All 64 exponentials of scores are polynomials: 6 fma, two additions, a
// maximum and a minimum each. One exponential a row is left.
// LOOP: add.ftz.f32 128
// LOOP: ex2.approx.ftz.f32 2
// LOOP-NEXT: fma.rn.ftz.f32 450
// LOOP: max.ftz.NaN.f32 64
// LOOP: min.ftz.NaN.f32 64
// PTX: setmaxnreg.inc.sync.aligned.u32 232;
// WS: exp2_degree = 5
// WS: knob exp2_soft 1 of 1

attn.table_entry fwd @exp2_soft_all head_dim 128, 128
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 128, work = grid, order = longest_first, rescale_threshold = 8, exp2_degree = 5>
    schedule <"exp2_soft_all" machine "sm_90a" {
  split M 2 whole(q)
  remat(next)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  chan v = v in smem depth 2
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 1 of 1
  knob peel first_masked
  body load {
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
