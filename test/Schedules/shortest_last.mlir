// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heads of the last section have their last row blocks first, so that short items end the launch.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
//
// WS: config <{{.*}}order = shortest_last, section_mib = 16
// WS: ws.take_item extents({{.*}}) section(

attn.table_entry fwd @shortest_last head_dim 64, 64
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 64, work = dynamic, order = shortest_last, section_mib = 16, rescale_threshold = 8, row_max = first_block>
    schedule <"shortest_last" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 2
  chan q = q in smem depth 2
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
    before { next }
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
