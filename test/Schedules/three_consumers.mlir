// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three consumer warpgroups of 64 queries each, with 160 registers a thread; blocks
// of 64 keys leave room for that.
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
// 64 keys: 32 scores a thread.
// LOOP: ex2.approx.ftz.f32 34
// PTX: .maxntid 512
// PTX: setmaxnreg.dec.sync.aligned.u32 32;
// PTX: setmaxnreg.inc.sync.aligned.u32 160;
// WS: ws.channel @q [tensor<192x128xbf16>] depth 1 at
// WS: ws.role @wg warps 4 regs 160 replicas 3
// WS: scf.for
// WS: ws.take @tc

attn.table_entry fwd @three_consumers head_dim 128, 128
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 192, tile_n = 64, work = grid, order = longest_first, rescale_threshold = 8>
    schedule <"three_consumers" machine "sm_90a" {
  split M 3 whole(q)
  remat(next)
  role load warps 1 regs 32
  role wg[3] warps 4 regs 160
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  chan v = v in smem depth 2
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
