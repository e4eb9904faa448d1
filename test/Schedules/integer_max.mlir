// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The row maximum is found by integer instructions on the bits of the scores, with a
// floor of 0. A rejected item is computed again with the maximum of
// the floats.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.ptx | FileCheck %s --check-prefix=LOOP
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
// RUN: %attn-sim %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --q=1x300x2x64 --kv=1x420x1x64 | FileCheck %s --check-prefix=RESULT
// RUN: %attn-sim %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --q=1x300x2x64 --kv=1x420x1x64 --inputs=low | FileCheck %s --check-prefix=RESULT
// Rows without keys lie beside others.
// RUN: %attn-sim %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --q=1x300x2x64 --kv=1x100x1x64 | FileCheck %s --check-prefix=RESULT
//
// LOOP: loop 1: setp and selp on scores
// LOOP: loop 2: scores untouched
// LOOP-NEXT: order: wait take qk wait pv give wait_group(1) release max large max ex2 max ex2 wait_group(0) release cvt rescale{{$}}
// 32 scores of two rows; the quad's two exchanges.
// LOOP: max.ftz.f32 38
// LOOP: max.relu.s32 4
// LOOP-NEXT: max.s32 32
// WS: ws.choose_item %{{.*}} by @verdict
// WS: ws.role @wg
// WS: %[[CAREFUL:.*]] = tile.with_care
// WS: scf.if %[[CAREFUL]]
// WS: tile.reduce max %
// WS: else
// WS: tile.reduce max_floored %
// WS: ws.give_verdict @verdict
// RESULT: check: passed
// RESULT: guard: passed

attn.table_entry fwd @integer_max head_dim 64, 64
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 64, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = integer>
    schedule <"integer_max" machine "sm_90a" {
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
