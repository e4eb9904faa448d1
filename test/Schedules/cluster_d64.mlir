// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of one panel are shared by rows.
//
// RUN: attn-compile %attn_root/test/Inputs/full_d64.mlir --schedule=%s --emit=bundle -o %t.attn
// RUN: %attn-sim %attn_root/test/Inputs/full_d64.mlir --schedule=%s --q=1x600x2x64 --kv=1x420x1x64
// RUN: %attn-sim %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --q=1x700x1x64 --kv=1x420x1x64

attn.table_entry fwd @cluster_d64_none head_dim 64, 64
    masks ["none"]
    config <tile_m = 256, tile_n = 64, work = dynamic, order = linear, rescale_threshold = 8, row_max = first_block, cluster = 2>
    schedule <"cluster_d64_none" machine "sm_90a" {
  split M 4 whole(q)
  role load warps 1 regs 32
  role wg[4] warps 4 regs 112
  chan work = w in smem depth 1
  chan q = q in smem depth 1
  chan k = k in smem depth 4 scope cluster
  chan v = v in smem depth 4 scope cluster
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    before { next }
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>

attn.table_entry fwd @cluster_d64 head_dim 64, 64
    masks ["none", "causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 256, tile_n = 64, work = dynamic, order = longest_first, rescale_threshold = 8, row_max = first_block, cluster = 2>
    schedule <"cluster_d64" machine "sm_90a" {
  split M 4 whole(q)
  role load warps 1 regs 32
  role wg[4] warps 4 regs 112
  chan work = w in smem depth 1
  chan q = q in smem depth 1
  chan k = k in smem depth 4 scope cluster
  chan v = v in smem depth 4 scope cluster
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_masked
  knob skip right
  body load {
    before { next }
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
