// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Items are handed out, with a reference from the first block. Items that are rejected are
// handed out again two items later.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.ptx | FileCheck %s --check-prefix=LOOP
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
// A reference that is far too small is noticed with polynomials too.
// RUN: sed 's/exp2_soft 0 of 1/exp2_soft 1 of 1/' %s > %t.all.mlir
// RUN: sed 's/exp2_soft 0 of 1/exp2_soft 1 of 2/' %s > %t.half.mlir
// RUN: %attn-sim %attn_root/test/Inputs/full_d64.mlir --schedule=%t.all.mlir --q=1x64x1x64 --kv=1x150x1x64 --inputs=spike-key:50 --sm-count=1
// RUN: %attn-sim %attn_root/test/Inputs/full_d64.mlir --schedule=%t.half.mlir --q=1x64x1x64 --kv=1x150x1x64 --inputs=spike-key:50 --sm-count=1
// RUN: %attn-sim %attn_root/test/Inputs/full_d64.mlir --schedule=%t.all.mlir --q=1x64x1x64 --kv=1x150x1x64 --inputs=spike-key:1:300 --sm-count=1
//
// LOOP: loop 2: scores untouched
// WS: ws.verdict @verdict
// WS: ws.choose_item %{{.*}} by @verdict
// WS: ws.fetch_work
// WS: ws.work_loop extents({{.*}}) {
// WS: ws.give_verdict @verdict

attn.table_entry fwd @dynamic_first_block head_dim 64, 64
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 64, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block>
    schedule <"dynamic_first_block" machine "sm_90a" {
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
