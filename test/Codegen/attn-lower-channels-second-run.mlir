// attn-lower-channels where items may have a second run: the verdict's barrier expects an arrival of each warp that may
// reject, in the first run only; all roles wait for it and read the word after it; a role that stores
// awaits its first store before the second.
// RUN: attn-opt %s --attn-lower-channels | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid, row_max = first_block>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @second_run machine "sm_90a" args ["q", "o" write, "lse" write, "n"] problem #p config #c schedule #s smem 49152 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>, %n: i32):
  ws.hold @h tensor<64x64xbf16> pieces 2 at 32768
  ws.verdict @verdict at 49152
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      ws.second_run of %w by @verdict
    }
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %r = tile.with_care %w
      ws.give_verdict @verdict on %w rejected %r
      ws.store @h[%me], %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> after_first_run %w : tensor<?x?x?x64xbf16>
      ws.second_run of %w by @verdict
    }
  }
}

// CHECK-LABEL: ws.kernel @second_run
// Each of the eight warps arrives.
// CHECK: ws.setup {
// CHECK: arith.constant 49152 : i32
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : i32
// CHECK-NEXT: nvvm.mbarrier.init %{{.*}}, %[[EIGHT]] : !llvm.ptr<3>, i32
// CHECK: llvm.store
// CHECK-LABEL: ws.role @load
// CHECK: ws.work_loop extents({{.*}}) {
// CHECK-NEXT: %[[ITEM:.*]] = tile.next_work
// CHECK-NEXT: %[[CAREFUL:.*]] = tile.with_care %[[ITEM]]
// CHECK-NEXT: %[[AGAIN:.*]] = scf.if %[[CAREFUL]] -> (i1) {
// CHECK-NEXT:   %[[NO:.*]] = arith.constant false
// CHECK-NEXT:   scf.yield %[[NO]] : i1
// CHECK-NEXT: } else {
// CHECK-NEXT:   arith.constant 49152 : i32
// CHECK:        nvx.mbarrier_wait
// CHECK:        arith.constant 49168 : i32
// CHECK:        %[[WORD:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// CHECK:        %[[SAID:.*]] = arith.cmpi ne, %[[WORD]],
// CHECK-NEXT:   scf.yield %[[SAID]] : i1
// CHECK-NEXT: }
// CHECK-NEXT: ws.second_run of %[[ITEM]] by @verdict rejected %[[AGAIN]]
// CHECK-NEXT: }
// CHECK-LABEL: ws.role @wg
// CHECK: %[[ITEM:.*]] = tile.next_work
// CHECK-NEXT: %[[FAILED:.*]] = tile.with_care %[[ITEM]]
// CHECK: %[[CAREFUL:.*]] = tile.with_care %[[ITEM]]
// CHECK: %[[FIRST:.*]] = arith.xori %[[CAREFUL]],
// CHECK: %[[LANE:.*]] = arith.cmpi eq,
// CHECK-NEXT: %[[ARRIVES:.*]] = arith.andi %[[FIRST]], %[[LANE]] : i1
// CHECK-NEXT: scf.if %[[ARRIVES]] {
// CHECK-NEXT:   %[[SAYS:.*]] = arith.andi %[[FIRST]], %[[FAILED]] : i1
// CHECK-NEXT:   scf.if %[[SAYS]] {
// CHECK:          llvm.atomicrmw _or
// CHECK-NEXT:   }
// CHECK:        nvvm.mbarrier.arrive
// CHECK-NEXT: }
// CHECK: nvvm.barrier
// CHECK: %[[SECOND:.*]] = tile.with_care %[[ITEM]]
// CHECK-NEXT: scf.if %[[SECOND]] {
// CHECK-NEXT:   nvvm.cp.async.bulk.wait_group 0
// CHECK-NEXT: }
// CHECK-NEXT: ws.store
// CHECK-NOT: after_first_run
// CHECK: %[[AGAIN:.*]] = scf.if
// CHECK: ws.second_run of %[[ITEM]] by @verdict rejected %[[AGAIN]]
// CHECK-NEXT: }
