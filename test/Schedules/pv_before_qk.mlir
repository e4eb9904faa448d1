// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PV of the block before is issued ahead of QK. The tensor core runs them in that
// order, so the softmax waits for both.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.ptx | FileCheck %s --check-prefix=LOOP
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
// RUN: %attn-sim %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --q=1x300x2x128 --kv=1x420x1x128
//
// LOOP: loop 1: setp and selp on scores
// LOOP-NEXT: order: wait take pv wait qk give wait_group(1) release wait_group(0) release max large max ex2 cvt rescale{{$}}
// LOOP: loop 2: scores untouched
// LOOP-NEXT: order: wait take pv wait qk give wait_group(1) release wait_group(0) release max large max ex2 cvt rescale{{$}}
// PTX: setmaxnreg.inc.sync.aligned.u32 232;
// The loads are in the same order: V of the block before, then K.
// WS: ws.role @load
// WS: scf.for
// WS: ws.acquire : <@v,
// WS: ws.acquire : <@k,
// WS: ws.role @wg
// WS: scf.for
// WS: ws.wait : <@v,
// WS: ws.take @tc
// WS: ws.mma {{.*}} acc(
// WS: ws.wait : <@k,
// WS: ws.mma {{.*}} transpose_b
// WS: ws.give @tc

attn.table_entry fwd @pv_before_qk head_dim 128, 128
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 128, work = grid, order = longest_first, rescale_threshold = 8>
    schedule <"pv_before_qk" machine "sm_90a" {
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
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { once : ld_q ld_v + 1 ld_k }
  }
  body wg {
    kv { get(v) + 1 take(tc) + 1 pv + 1 get(k) qk give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
