// attn-lower-channels where items are handed out and may be rejected: a ring of two barriers, each with a word, and
// the words of the role that hands out. Every run of an item arrives; only the first one writes its verdict.
// RUN: attn-opt %s --attn-lower-channels | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = dynamic, row_max = first_block>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @verdicts machine "sm_90a" args ["q", "o" write, "n", "no"] problem #p config #c schedule #s smem 49152 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: i32, %no: i1):
  ws.channel @work [tensor<4xi32>] depth 1 at 49136
  ws.hold @h tensor<64x64xbf16> pieces 2 at 0
  ws.verdict @verdict at 49168
  ws.role @load warps 1 regs 40 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %s = ws.acquire : <@work, tensor<4xi32>>
      ws.put_work %w to %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
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
      ws.give_verdict @verdict on %w rejected %no
      ws.store @h[%me], %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> after_first_run %w : tensor<?x?x?x64xbf16>
    }
  }
}

// The work channel's barriers are at 49152 and 49160.
// CHECK: ws.setup {
// CHECK: %[[B0:.*]] = arith.constant 49168 : i32
// CHECK-NEXT: %[[P0:.*]] = ws.smem %[[B0]]
// CHECK-NEXT: %[[EIGHT:.*]] = arith.constant 8 : i32
// CHECK-NEXT: nvvm.mbarrier.init %[[P0]], %[[EIGHT]]
// CHECK: %[[B1:.*]] = arith.constant 49176 : i32
// CHECK-NEXT: %[[P1:.*]] = ws.smem %[[B1]]
// CHECK: nvvm.mbarrier.init %[[P1]],
// CHECK-COUNT-6: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr<3>
// CHECK-NOT: llvm.store
// CHECK: ws.role @load
// CHECK: ws.work_loop extents({{.*}}) {
// CHECK-NOT: ws.second_run
// CHECK: ws.role @wg
// CHECK: ws.work_loop extents({{.*}}) {
// CHECK: %[[W:.*]] = ws.get_work
// CHECK: %[[CAREFUL:.*]] = tile.with_care %[[W]]
// CHECK: %[[FIRST:.*]] = arith.xori %[[CAREFUL]],
// CHECK: %[[LANE:.*]] = arith.cmpi eq,
// CHECK-NEXT: %[[SLOT:.*]] = ws.verdict_slot %[[W]]
// CHECK-NEXT: scf.if %[[LANE]] {
// CHECK-NEXT:   %[[SAYS:.*]] = arith.andi %[[FIRST]], %{{.*}} : i1
// CHECK-NEXT:   scf.if %[[SAYS]] {
// CHECK:          llvm.atomicrmw _or
// CHECK-NEXT:   }
// CHECK:        arith.muli %[[SLOT]],
// CHECK:        nvvm.mbarrier.arrive
// CHECK-NEXT: }
// The second results wait for the first to be written.
// CHECK: %[[SECOND:.*]] = tile.with_care %[[W]]
// CHECK-NEXT: scf.if %[[SECOND]] {
// CHECK-NEXT:   nvvm.cp.async.bulk.wait_group 0
// CHECK-NEXT: }
// CHECK-NEXT: ws.store
// CHECK-NOT: ws.second_run
