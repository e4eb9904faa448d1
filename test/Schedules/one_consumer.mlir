// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One consumer warpgroup with tiles of 64 queries, so there are no turns.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.ptx | FileCheck %s --check-prefix=LOOP
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
// RUN: %attn-sim %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --q=1x300x2x128 --kv=1x420x1x128
//
// LOOP: loop 1: setp and selp on scores
// LOOP-NEXT: order: wait qk wait pv wait_group(1) release max large max ex2 wait_group(0) release cvt rescale{{$}}
// LOOP: loop 2: scores untouched
// LOOP-NEXT: order: wait qk wait pv wait_group(1) release max large max ex2 wait_group(0) release cvt rescale{{$}}
// PTX: .maxntid 256
// PTX-NOT: bar.arrive
// WS: ws.channel @q [tensor<64x128xbf16>] depth 1 at
// WS-NOT: ws.turn
// WS: ws.role @wg warps 4 regs 256 replicas 1

attn.table_entry fwd @one_consumer head_dim 128, 128
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 64, tile_n = 128, work = grid, order = longest_first, rescale_threshold = 8>
    schedule <"one_consumer" machine "sm_90a" {
  remat(next)
  role load warps 1 regs 240
  role wg warps 4 regs 256
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  chan v = v in smem depth 2
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) qk get(v) + 1 pv + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
