// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three slots each for K and for V. Blocks of 96 keys make room for them.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.ptx | FileCheck %s --check-prefix=LOOP
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
// RUN: %attn-sim %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --q=1x300x2x128 --kv=1x420x1x128
//
// LOOP: loop 1: setp and selp on scores
// LOOP-NEXT: order: wait take qk wait pv give wait_group(1) release max large max ex2 wait_group(0) release cvt rescale{{$}}
// LOOP: loop 2: scores untouched
// LOOP-NEXT: order: wait take qk wait pv give wait_group(1) release max large max ex2 wait_group(0) release cvt rescale{{$}}
// 96 keys: 48 scores a thread.
// LOOP: ex2.approx.ftz.f32 50
// A full and a free barrier for Q and for three slots each of K and V: the table's
// schedule has two slots of each, and 10 barriers.
// PTX-COUNT-14: mbarrier.init
// PTX-NOT: mbarrier.init
// The slot number wraps at 3.
// PTX: setp.eq.b32 {{.*}}, 3;
// WS: ws.channel @k [tensor<96x128xbf16>] depth 3 at
// WS: ws.channel @v [tensor<96x128xbf16>] depth 3 at

attn.table_entry fwd @ring_depth_3 head_dim 128, 128
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 96, work = grid, order = longest_first, rescale_threshold = 8>
    schedule <"ring_depth_3" machine "sm_90a" {
  split M 2 whole(q)
  remat(next)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan q = q in smem depth 1
  chan k = k in smem depth 3
  chan v = v in smem depth 3
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
