// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Persistent CTAs that ask a counter for their work items: the load role hands them
// out through a channel, one item ahead. It asks late: before the last V of an
// item. Two Q tiles, so that the next item's is loaded while this one computes.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.ptx | FileCheck %s --check-prefix=LOOP
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
//
// LOOP: loop 1: setp and selp on scores
// LOOP-NEXT: order: wait take qk wait pv give wait_group(1) release max large max ex2 wait_group(0) release cvt rescale{{$}}
// LOOP: loop 2: scores untouched
// LOOP-NEXT: order: wait take qk wait pv give wait_group(1) release max large max ex2 wait_group(0) release cvt rescale{{$}}
// PTX: .param .u64 .ptr .global {{.*}}causal_d128_param_5
// The answer is not waited for before the last copy is issued.
// PTX: atom.global.inc.u32
// PTX-NEXT: add.s32
// PTX-NEXT: add.s32
// PTX-NEXT: begin inline asm
// PTX: mbarrier.try_wait
// PTX: cp.async.bulk.tensor
// The item is stored, then its barrier signalled.
// PTX: st.shared.v4.b32
// PTX-NEXT: mbarrier.arrive.shared.b64
// Consumers: all lanes of a warp have read the item before one gives it back.
// PTX: ld.shared.v4.b32
// PTX-NEXT: bar.warp.sync
// WS: work = dynamic, order = longest_first, section_mib = 16
// WS: ws.channel @work [tensor<4xi32>] depth 2 at 229376
// WS: ws.role @load
// WS: ws.work_loop
// WS-NEXT: %[[ITEM:.*]] = ws.take_item extents({{.*}}) section({{.*}})
// WS-NEXT: %[[SLOT:.*]] = ws.acquire : <@work, tensor<4xi32>>
// WS-NEXT: ws.put_work %[[ITEM]] to %[[SLOT]]
// WS-NEXT: ws.end_unless_work %[[ITEM]]
// WS: ws.fetch_work
// WS: ws.acquire : <@v,
// WS: ws.fetch_work
// WS-NOT: ws.fetch_work
// WS: ws.role @wg
// WS: ws.work_loop
// WS-NEXT: %[[SLOT:.*]] = ws.wait : <@work, tensor<4xi32>>
// WS-NEXT: %[[ITEM:.*]] = ws.get_work %[[SLOT]]
// WS-NEXT: ws.release %[[SLOT]]
// WS-NEXT: ws.end_unless_work %[[ITEM]]

attn.table_entry fwd @dynamic_d128 head_dim 128, 128
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 128, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8>
    schedule <"dynamic_d128" machine "sm_90a" {
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
    after { fin norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
