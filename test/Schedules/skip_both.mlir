// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each of three sub-tiles of 64 rows leaves the blocks of 32 keys on both sides of
// its own rows' keys to the others: up to four of them a side. Where all rows see the
// first key, there are none on the left.
//
// RUN: %python %attn_root/test/Inputs/attention_ir.py --head-dim=64 --mask=window_top_left --bound=window_left --bound=window_right > %t.window.mlir
// RUN: attn-compile %t.window.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --emit=ptx -o - > %t.causal.ptx
// RUN: sed 's/skip_both/skip_right/; s/skip both/skip right/' %s > %t.right.mlir
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%t.right.mlir --emit=ptx -o - | diff - %t.causal.ptx
//
// WS: ws.role @load
// WS: ws.role @wg
// WS: %[[ALL:.*]]:4 = tile.bounds %{{.*}} : i32, i32, i32, i32 {
// WS: %[[OWN:.*]]:4 = tile.bounds %{{.*}} subtile(%{{.*}} of 3) : i32, i32, i32, i32 {
// WS: %[[RIGHT:.*]] = arith.subi %[[ALL]]#0, %[[OWN]]#0 : i32
// WS: scf.for {{.*}} to %[[RIGHT]] step
// WS: ws.take @tc
// WS: ws.give @tc
// WS: %[[LEFT:.*]] = arith.subi %[[OWN]]#3, %[[ALL]]#3 : i32
// WS: scf.for {{.*}} to %[[LEFT]] step
// WS: ws.take @tc
// WS: ws.give @tc

attn.table_entry fwd @skip_both head_dim 64, 64
    masks ["none", "causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 192, tile_n = 32, work = grid, order = longest_first, rescale_threshold = 8>
    schedule <"skip_both" machine "sm_90a" {
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
  knob skip both
  body load {
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
