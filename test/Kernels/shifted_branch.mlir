// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No entry of the consumers has a shift, so their body exists once, in the loop. Q is loaded once, so the loading role has
// a prologue.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.ptx | FileCheck %s --check-prefix=LOOP --implicit-check-not="loop 2"
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
// RUN: %attn-sim %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --q=1x300x2x128 --kv=1x420x1x128 | FileCheck %s --check-prefix=RESULT
//
// LOOP: loop 1: scores untouched
// WS: ws.role @load
// WS: ws.acquire : <@k,
// WS: scf.for
// WS: ws.acquire : <@k,
// WS: ws.role @wg
// WS-NOT: ws.mma
// WS: scf.for
// WS: ws.mma {{.*}} transpose_b
// WS: ws.mma {{.*}} acc(
// WS-NOT: ws.mma
// RESULT: check: passed
// RESULT: guard: passed

attn.table_entry fwd @shifted_branch head_dim 128, 128
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 128, work = grid, order = longest_first, rescale_threshold = 8>
    schedule <"shifted_branch" machine "sm_90a" {
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
  knob exp2_soft 0 of 1
  knob peel shifted_branch
  body load {
    kv { ld_k once : ld_q ld_v }
  }
  body wg {
    kv { qk score mask stat exp sum cvt rescale pv }
    after { fin norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
