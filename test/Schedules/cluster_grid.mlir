// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One item a cluster: both CTAs run it again if either of them rejects its
// results.
//
// RUN: %attn-sim %attn_root/test/Inputs/full_d128.mlir --schedule=%s --q=1x300x2x128 --kv=1x420x1x128
// RUN: %attn-sim %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --q=1x700x1x128 --kv=1x420x1x128

attn.table_entry fwd @cluster_grid head_dim 128, 128
    masks ["none", "causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 128, tile_n = 128, work = grid, order = linear, rescale_threshold = 8, row_max = first_block, cluster = 2>
    schedule <"cluster_grid" machine "sm_90a" {
  split M 2 whole(q)
  remat(next)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan q = q in smem depth 1
  chan k = k in smem depth 2 scope cluster
  chan v = v in smem depth 2 scope cluster
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
    after { fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
