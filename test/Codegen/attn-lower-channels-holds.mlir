// attn-lower-channels: the warps of a replica meet before they overwrite what its matrix instructions read.
// RUN: attn-opt %s --attn-lower-channels | FileCheck %s
// RUN: attn-opt %s --attn-lower-channels --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// The CTA's barrier, one a replica, and the rendezvous.
// REMARK: [Passed] lower-channels | Category:attn | {{.*}}2 barriers in memory, 4 named

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>

// CHECK-LABEL: ws.kernel @holds
ws.kernel @holds machine "sm_90a" args ["n", "once"] problem #p config #c schedule #s smem 49152 {
^bb0(%n: f32, %once: i1):
  ws.channel @v [tensor<32x64xbf16>] depth 1 at 0
  ws.hold @p tensor<64x32xbf16> pieces 2 at 32768
  ws.hold @oe tensor<32x64xbf16> pieces 1 over @v at 0
  ws.hold @other tensor<64x32xbf16> pieces 2 at 40960
  ws.rendezvous @all ring @wg
  // CHECK: ws.role @wg
  // CHECK-NEXT: ^bb0(%[[ME:.*]]: i32):
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %tile = arith.constant dense<0> : vector<8xi32>
    %v = ws.wait : <@v, tensor<32x64xbf16>>
    %p = ws.held @p[%me] : <@p, tensor<64x32xbf16>>
    // No instruction reads this one.
    // CHECK: ws.mma
    // CHECK-NEXT: ws.put %{{.*}} in @other
    // CHECK-NEXT: ws.await
    %o, %t = ws.mma %p, %v : !ws.slot<@p, tensor<64x32xbf16>>, <@v, tensor<32x64xbf16>> -> vector<32xf32>
    ws.put %tile in @other[%me] : vector<8xi32>
    %d = ws.await %o, %t : vector<32xf32>
    // CHECK-NEXT: %[[FIRST:.*]] = arith.constant 1 : i32
    // CHECK-NEXT: %[[ID:.*]] = arith.addi %[[ME]], %[[FIRST]] : i32
    // CHECK-NEXT: %[[THREADS:.*]] = arith.constant 128 : i32
    // CHECK-NEXT: nvvm.barrier id = %[[ID]] number_of_threads = %[[THREADS]]
    // CHECK-NEXT: ws.put %{{.*}} in @p
    // CHECK-NEXT: nvvm.fence.proxy
    // CHECK-NEXT: arith.constant
    // CHECK-NEXT: nvvm.bar.warp.sync
    ws.put %tile in @p[%me] : vector<8xi32>
    // The warps have met since then.
    // CHECK-NEXT: ws.put %{{.*}} in @oe
    ws.put %tile in @oe[%me] : vector<8xi32>
    // CHECK-NEXT: scf.if
    scf.if %once {
      // Meetings before the branch are not taken into account.
      // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
      // CHECK-NEXT: ws.put %{{.*}} in @oe
      ws.put %tile in @oe[%me] : vector<8xi32>
      // CHECK: ws.mma
      // CHECK-NEXT: ws.await
      %o1, %t1 = ws.mma %p, %v : !ws.slot<@p, tensor<64x32xbf16>>, <@v, tensor<32x64xbf16>> -> vector<32xf32>
      %d1 = ws.await %o1, %t1 : vector<32xf32>
    }
    // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
    // CHECK-NEXT: ws.put %{{.*}} in @oe
    ws.put %tile in @oe[%me] : vector<8xi32>
    // CHECK: ws.mma
    // CHECK-NEXT: ws.await
    %o2, %t2 = ws.mma %p, %v : !ws.slot<@p, tensor<64x32xbf16>>, <@v, tensor<32x64xbf16>> -> vector<32xf32>
    %d2 = ws.await %o2, %t2 : vector<32xf32>
    // All replicas meet: that is enough.
    // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
    // CHECK-NEXT: ws.put %{{.*}} in @oe
    // CHECK-NOT: nvvm.barrier
    ws.sync @all
    ws.put %tile in @oe[%me] : vector<8xi32>
    ws.release %v : <@v, tensor<32x64xbf16>>
  }
}
