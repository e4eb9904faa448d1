// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// O of one warpgroup is staged in V's slots. The schedule orders nothing there: the last
// product is awaited before O is written. But a warp waits for its own part of it, and
// reads all of V: the four warps meet before any of them writes O.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
// RUN: %attn-sim %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --q=1x300x2x128 --kv=1x420x1x128 > %t.result 2>&1
// RUN: FileCheck %s --check-prefix=RESULT --implicit-check-not=warning < %t.result
//
// WS: ws.channel @v [tensor<128x128xbf16>] depth 2 at [[V:[0-9]+]]
// WS: ws.hold @oe tensor<64x128xbf16, {{.*}}> pieces 1 over @v at [[V]]
// WS-NOT: ws.sync
// PTX: wgmma.mma_async
// PTX-NOT: stmatrix
// PTX: bar.sync {{.*}} 128;
// PTX: stmatrix
// PTX: fence.proxy.async.shared::cta;
// PTX: bar.sync {{.*}} 128;
// PTX: cp.async.bulk.tensor{{.*}}global
// RESULT: check: passed
// RESULT: guard: passed

attn.table_entry fwd @o_over_v_one_consumer head_dim 128, 128
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 64, tile_n = 128, work = grid, order = longest_first, rescale_threshold = 8>
    schedule <"o_over_v_one_consumer" machine "sm_90a" {
  remat(next)
  role load warps 1 regs 40
  role wg warps 4 regs 232
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  chan v = v in smem depth 2
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem over v
  edge o_free credits 1
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_k once : ld_q once : wait(o_free) ld_v + 1 }
  }
  body wg {
    kv { get(k) qk get(v) + 1 pv + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin norm cvt_o st_o st_lse await(st_o) sig(o_free) }
  }
}>
