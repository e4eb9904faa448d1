// attn-lower-channels in a cluster: warps of both CTAs release a slot of @k at both, and signal @e at both; items handed
// out have a mailbox, and every warp tells the first CTA its verdict.
// RUN: attn-opt %s --attn-lower-channels | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = dynamic, row_max = first_block, cluster = 2>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @cluster machine "sm_90a" args ["q", "o" write, "n", "no"] problem #p config #c schedule #s smem 49152 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: i32, %no: i1):
  ws.channel @work [tensor<4xi32>] depth 1 at 49136
  ws.channel @k [tensor<128x64xbf16>] depth 1 cluster at 0
  ws.hold @h tensor<64x64xbf16> pieces 2 at 16384
  ws.edge @e credits 1 cluster
  ws.verdict @verdict at 49192
  ws.mailbox @mailbox at 49232
  ws.role @load warps 1 regs 40 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %s = ws.acquire : <@work, tensor<4xi32>>
      ws.put_work %w to %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      ws.wait_edge @e
      %k = ws.acquire : <@k, tensor<128x64xbf16>>
      ws.copy %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %k : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
      ws.fetch_work after %w
    }
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@work, tensor<4xi32>>
      %w = ws.get_work %s : <@work, tensor<4xi32>>
      ws.release %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      %k = ws.wait : <@k, tensor<128x64xbf16>>
      ws.release %k : <@k, tensor<128x64xbf16>>
      ws.give_verdict @verdict on %w rejected %no
      ws.signal @e
      ws.store @h[%me], %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> after_first_run %w : tensor<?x?x?x64xbf16>
    }
  }
}

// Barriers: @work at 49152 and 49160, @k at 49168 and 49176, @e at 49184, the verdicts at 49192 and 49200.
// CHECK: ws.setup {
// CHECK: %[[WORK:.*]] = arith.constant 49160 : i32
// CHECK-NEXT: ws.smem %[[WORK]]
// CHECK-NEXT: %[[WARPS:.*]] = arith.constant 8 : i32
// CHECK: %[[FULL:.*]] = arith.constant 49168 : i32
// CHECK-NEXT: ws.smem %[[FULL]]
// CHECK-NEXT: %[[COPY:.*]] = arith.constant 1 : i32
// CHECK: %[[FREE:.*]] = arith.constant 49176 : i32
// CHECK-NEXT: ws.smem %[[FREE]]
// CHECK-NEXT: %[[BOTH:.*]] = arith.constant 16 : i32
// CHECK: %[[EDGE:.*]] = arith.constant 49184 : i32
// CHECK-NEXT: ws.smem %[[EDGE]]
// CHECK-NEXT: arith.constant 16 : i32
// CHECK: %[[VERDICT:.*]] = arith.constant 49192 : i32
// CHECK-NEXT: %[[P:.*]] = ws.smem %[[VERDICT]]
// CHECK-NEXT: %[[ALL:.*]] = arith.constant 16 : i32
// CHECK-NEXT: nvvm.mbarrier.init %[[P]], %[[ALL]]
// The mailbox is aligned. Its barriers: two arrivals for a new item, one for a read.
// CHECK: %[[COME:.*]] = arith.constant 49232 : i32
// CHECK-NEXT: %[[P:.*]] = ws.smem %[[COME]]
// CHECK-NEXT: %[[ENDS:.*]] = arith.constant 2 : i32
// CHECK-NEXT: nvvm.mbarrier.init %[[P]], %[[ENDS]]
// CHECK: %[[READ:.*]] = arith.constant 49240 : i32
// CHECK-NEXT: %[[P:.*]] = ws.smem %[[READ]]
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-NEXT: nvvm.mbarrier.init %[[P]], %[[ONE]]
// CHECK: ws.role @load
// CHECK: ws.work_loop extents({{.*}}) {
// The whole tile's bytes.
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c16384_i32
// CHECK: ws.role @wg
// CHECK: ws.work_loop extents({{.*}}) {
// @work is the CTA's own.
// CHECK: ws.get_work
// CHECK: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3>
// @k: lane n releases the slot at CTA n.
// CHECK: nvx.mbarrier_wait
// CHECK: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK-NEXT: %[[SPEAKS:.*]] = arith.cmpi ult, %{{.*}}, %[[TWO]] : i32
// CHECK-NEXT: scf.if %[[SPEAKS]] {
// CHECK:   %[[LANE:.*]] = arith.andi
// CHECK-NEXT:   %[[THERE:.*]] = nvvm.mapa %{{.*}}, %[[LANE]] : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK-NEXT:   nvvm.mbarrier.arrive %[[THERE]] : !llvm.ptr<7>
// The verdict: one lane sends its word to the first CTA, then arrives there.
// CHECK: tile.with_care
// CHECK: arith.cmpi eq,
// CHECK: scf.if
// CHECK:   scf.if
// CHECK:     %[[WORD:.*]] = nvvm.mapa
// CHECK:     llvm.atomicrmw _or %[[WORD]], %{{.*}} monotonic : !llvm.ptr<7>, i32
// CHECK-NEXT:     llvm.fence syncscope("cluster") acq_rel
// CHECK:   %[[THERE:.*]] = nvvm.mapa
// CHECK-NEXT:   nvvm.mbarrier.arrive %[[THERE]] : !llvm.ptr<7>
// @e: this CTA, then the other one.
// CHECK: scf.if
// CHECK-NEXT:   nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3>
// CHECK-NEXT:   %[[OWN:.*]] = nvvm.read.ptx.sreg.cluster.ctarank : i32
// CHECK:   %[[OTHER:.*]] = arith.andi
// CHECK-NEXT:   %[[THERE:.*]] = nvvm.mapa %{{.*}}, %[[OTHER]] : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK-NEXT:   nvvm.mbarrier.arrive %[[THERE]] : !llvm.ptr<7>
