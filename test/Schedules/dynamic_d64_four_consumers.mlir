// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As dynamic_d128, with four consumer warpgroups of 64 queries each at 112 registers a
// thread. A work channel of one slot saves each of them a register.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.ptx | FileCheck %s --check-prefix=LOOP
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
//
// LOOP: loop 1: setp and selp on scores
// LOOP: loop 2: scores untouched
// PTX: .maxntid 640
// PTX: setmaxnreg.dec.sync.aligned.u32 32;
// PTX: atom.global.inc.u32
// PTX: setmaxnreg.inc.sync.aligned.u32 112;
// WS: ws.channel @work [tensor<4xi32>] depth 1
// WS: ws.channel @q [tensor<256x64xbf16>] depth 2
// WS: ws.role @wg warps 4 regs 112 replicas 4

attn.table_entry fwd @dynamic_d64_four_consumers head_dim 64, 64
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 256, tile_n = 64, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8>
    schedule <"dynamic_d64_four_consumers" machine "sm_90a" {
  split M 4 whole(q)
  role load warps 1 regs 32
  role wg[4] warps 4 regs 112
  chan work = w in smem depth 1
  chan q = q in smem depth 2
  chan k = k in smem depth 4
  chan v = v in smem depth 4
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
