// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Head dim 80: no source knows it, and a table entry is all that it needs. Rows
// of 160 bytes lie in panels of 32 bytes.
//
// RUN: %python %attn_root/test/Inputs/attention_ir.py --head-dim=80 --mask=causal_bottom_right > %t.mlir
// RUN: attn-compile %t.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.ptx | FileCheck %s --check-prefix=LOOP
// RUN: attn-compile %t.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
// RUN: attn-compile %t.mlir --schedule=%s -o %t.attn
// RUN: attn-run %t.attn --device=sim --q=1x131x2x80 --kv=1x197x1x80 --check --guard | FileCheck %s --check-prefix=RESULT
// RUN: attn-run %t.attn --device=sim --random=2 | FileCheck %s --check-prefix=RANDOM
//
// QK: 80 / 16 products; PV: 128 / 16, 80 columns wide.
// LOOP: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 5
// LOOP: wgmma.mma_async.sync.aligned.m64n80k16.f32.bf16.bf16 8
// A descriptor's high word: swizzle of 32 bytes, groups of eight rows 256 bytes apart.
// PTX: mov.b32 high, 3221225488;
// A tile is one copy.
// PTX-NOT: cp.async.bulk.tensor.4d
// PTX: cp.async.bulk.tensor.5d.shared::cluster
// PTX-NOT: cp.async.bulk.tensor.4d
// WS: ws.channel @q [tensor<128x80xbf16>] depth 1 at
// WS: ws.channel @k [tensor<128x80xbf16>] depth 2 at
// RESULT: check: passed
// RESULT: guard: passed
// RANDOM: 2 passed, 0 failed

attn.table_entry fwd @head_dim_80 head_dim 80, 80
    masks ["none", "causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 128, tile_n = 128, work = grid, order = linear, rescale_threshold = 8>
    schedule <"head_dim_80" machine "sm_90a" {
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
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
