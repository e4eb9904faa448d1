// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One loop for blocks with masks and without: a branch in it leaves the masks out.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.ptx | FileCheck %s --implicit-check-not="loop 2"
// RUN: %attn-sim %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --q=1x300x2x64 --kv=1x420x1x64
//
// Without a mask only the prologue can reach past the keys, also if ranges have loops of their own.
// RUN: attn-compile %attn_root/test/Inputs/full_d64.mlir --schedule=%s --emit=ptx -o %t.none.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.none.ptx | FileCheck %s --check-prefix=NONE --implicit-check-not=mask --implicit-check-not="loop 2"
// RUN: sed 's/knob peel first_branch/knob peel first_masked/' %s > %t.ranges.mlir
// RUN: attn-compile %attn_root/test/Inputs/full_d64.mlir --schedule=%t.ranges.mlir --emit=ptx -o %t.none.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.none.ptx | FileCheck %s --check-prefix=NONE --implicit-check-not=mask --implicit-check-not="loop 2"
//
// NONE: loop 1: scores untouched
// CHECK: loop 1: scores untouched
// CHECK: order: {{.*}} mask max
// CHECK: mask:selp.f32 16
// CHECK: mask:setp.lt.s32 16

attn.table_entry fwd @first_branch head_dim 64, 64
    masks ["none", "causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 192, tile_n = 32, work = grid, order = longest_first, rescale_threshold = 8>
    schedule <"first_branch" machine "sm_90a" {
  split M 3 whole(q)
  remat(next)
  role load warps 1 regs 32
  role wg[3] warps 4 regs 160
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  chan v = v in smem depth 2
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_branch
  knob skip right
  body load {
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
