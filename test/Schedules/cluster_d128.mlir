// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two CTAs of a cluster share K and V: each loads half of the columns of every tile for
// both. Items are handed to clusters; the first CTA tells the other by its mailbox.
//
// RUN: attn-compile %attn_root/test/Inputs/full_d128.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.ptx | FileCheck %s --check-prefix=LOOP
// RUN: attn-compile %attn_root/test/Inputs/full_d128.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
// RUN: %attn-sim %attn_root/test/Inputs/full_d128.mlir --schedule=%s --q=1x300x2x128 --kv=1x420x1x128
// RUN: %attn-sim %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --q=1x700x1x128 --kv=1x420x1x128
//
// LOOP: order: wait take qk wait pv give wait_group(1) release
// PTX: .explicitcluster
// PTX-NEXT: .reqnctapercluster 2, 1, 1
// All barriers of the cluster are ready before any is used.
// PTX: fence.mbarrier_init.release.cluster;
// PTX: barrier.cluster.arrive;
// PTX-NEXT: barrier.cluster.wait;
// Q is the CTA's own.
// PTX-DAG: cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint
// PTX-DAG: cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint
// WS: config <{{.*}}cluster = 2>
// WS: ws.channel @q [tensor<128x128xbf16>] depth 2 at
// WS: ws.channel @k [tensor<128x128xbf16>] depth 2 cluster at
// WS: ws.channel @v [tensor<128x128xbf16>] depth 2 cluster at

attn.table_entry fwd @cluster_d128_none head_dim 128, 128
    masks ["none"]
    config <tile_m = 128, tile_n = 128, work = dynamic, order = linear, rescale_threshold = 8, row_max = first_block, cluster = 2>
    schedule <"cluster_d128_none" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 1
  chan q = q in smem depth 2
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
    before { next }
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>

attn.table_entry fwd @cluster_d128 head_dim 128, 128
    masks ["none", "causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 128, tile_n = 128, work = dynamic, order = longest_first, section_mib = 32, rescale_threshold = 8, row_max = first_block, cluster = 2>
    schedule <"cluster_d128" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 1
  chan q = q in smem depth 2
  chan k = k in smem depth 2 scope cluster
  chan v = v in smem depth 2 scope cluster
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
