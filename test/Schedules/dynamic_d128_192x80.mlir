// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As dynamic_d128, with three consumer warpgroups and blocks of 80 keys.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.ptx | FileCheck %s --check-prefix=LOOP
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
//
// LOOP: loop 1: setp and selp on scores
// LOOP: loop 2: scores untouched
// PTX: .maxntid 512
// PTX: atom.global.inc.u32
// WS: ws.channel @q [tensor<192x128xbf16>] depth 2
// WS: ws.channel @k [tensor<80x128xbf16>] depth 2

attn.table_entry fwd @dynamic_d128_192x80 head_dim 128, 128
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 192, tile_n = 80, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8>
    schedule <"dynamic_d128_192x80" machine "sm_90a" {
  split M 3 whole(q)
  role load warps 1 regs 32
  role wg[3] warps 4 regs 160
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
