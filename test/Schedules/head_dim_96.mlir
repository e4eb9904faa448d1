// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Head dim 96, which no source knows: rows of 192 bytes, in panels of 64 bytes.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d96.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.ptx | FileCheck %s --check-prefix=LOOP
// RUN: attn-compile %attn_root/test/Inputs/causal_d96.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
// RUN: %attn-sim %attn_root/test/Inputs/causal_d96.mlir --schedule=%s --q=1x300x2x96 --kv=1x420x1x96
//
// LOOP: loop 1: setp and selp on scores
// LOOP-NEXT: order: wait take qk wait pv give wait_group(1) release max large max ex2 wait_group(0) release cvt rescale{{$}}
// LOOP: loop 2: scores untouched
// LOOP-NEXT: order: wait take qk wait pv give wait_group(1) release max large max ex2 wait_group(0) release cvt rescale{{$}}
// QK: 96 / 16 products; PV: 128 / 16, 96 columns wide.
// LOOP: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 6
// LOOP: wgmma.mma_async.sync.aligned.m64n96k16.f32.bf16.bf16 8
// A descriptor's high word: swizzle of 64 bytes, groups of eight rows 512 bytes apart.
// PTX: mov.b32 high, 2147483680;
// WS: ws.channel @q [tensor<128x96xbf16>] depth 1 at
// WS: ws.channel @k [tensor<128x96xbf16>] depth 2 at

attn.table_entry fwd @head_dim_96 head_dim 96, 96
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 128, work = grid, order = longest_first, rescale_threshold = 8>
    schedule <"head_dim_96" machine "sm_90a" {
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
