// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// P goes through shared memory: a warp stores its rows, and the matrix instruction
// reads them there.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
// RUN: %attn-sim %attn_root/test/Inputs/causal_d128.mlir --schedule=%s --q=1x300x2x128 --kv=1x420x1x128 2>&1 | FileCheck %s --check-prefix=RESULT --implicit-check-not=warning
// RUN: sed 's/tile_n = 64/tile_n = 80/' %s > %t.80.mlir
// RUN: %attn-sim %attn_root/test/Inputs/causal_d128.mlir --schedule=%t.80.mlir --q=1x300x2x128 --kv=1x420x1x128 2>&1 | FileCheck %s --check-prefix=RESULT --implicit-check-not=warning
// P is not overwritten while a product reads it, whether the schedule says so or not.
// RUN: sed 's/await(pv) + 1 cvt/cvt/' %s > %t.early.mlir
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --schedule=%t.early.mlir --emit=ws -o - | FileCheck %s --check-prefix=WS
//
// WS: ws.hold @p tensor<64x64xbf16{{.*}} pieces 2 at
// WS: ws.role @wg
// WS: scf.for
// WS: %[[P:.*]] = ws.held @p[%{{.*}}] : <@p, tensor<64x64xbf16>>
// WS: ws.mma %[[P]], %{{.*}} acc(
// WS: ws.await
// WS: ws.await
// WS: ws.put %{{.*}} in @p[
// A tile of P: 64 keys are four instructions of two descriptors.
// PTX: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}} desc_a, desc_b, yes, 1, 1, 0, 1;
// All warps of the warpgroup have waited for it before any overwrites what it reads.
// PTX: wgmma.wait_group.sync.aligned 0;
// PTX: {{bar(rier)?}}.sync{{.*}} 128;
// PTX: stmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX: fence.proxy.async.shared::cta;
// PTX-NEXT: bar.warp.sync
// RESULT: check: passed
// RESULT: guard: passed

attn.table_entry fwd @p_in_smem head_dim 128, 128
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 64, work = grid, order = longest_first, rescale_threshold = 8>
    schedule <"p_in_smem" machine "sm_90a" {
  split M 2 whole(q)
  remat(next)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  chan v = v in smem depth 2
  hold p = p in smem depth 1
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
