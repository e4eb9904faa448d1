// attn-lower-channels: a role of one thread stores what the replicas of another put.
// RUN: attn-opt %s --attn-lower-channels | FileCheck %s
// RUN: attn-opt %s --attn-lower-channels --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// Only the CTA has a named barrier: the replicas need none, since they do not
// store.
// REMARK: [Passed] lower-channels | Category:attn | {{.*}}2 barriers in memory, 1 named

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>

// CHECK-LABEL: ws.kernel @store_warp
ws.kernel @store_warp machine "sm_90a" args ["o" write] problem #p config #c schedule #s smem 32768 {
^bb0(%o: tensor<?x?x?x64xbf16>):
  ws.hold @oe tensor<64x64xbf16> pieces 2 at 0
  ws.hold @other tensor<64x64xbf16> pieces 2 at 16384
  ws.edge @o_ready credits 0
  ws.edge @o_free credits 1
  // A warp of each replica arrives where O is ready, one thread where it is free.
  // CHECK: %[[EIGHT:.*]] = arith.constant 8 : i32
  // CHECK-NEXT: nvvm.mbarrier.init %{{.*}}, %[[EIGHT]]
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK-NEXT: nvvm.mbarrier.init %{{.*}}, %[[ONE]]
  // CHECK: ws.role @store
  ws.role @store warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %first = arith.constant 0 : i32
    %second = arith.constant 1 : i32
    // The replicas have made their writes visible, and have met.
    // CHECK: nvx.mbarrier_wait
    // CHECK-NOT: nvvm.fence.proxy
    // CHECK-NOT: nvvm.barrier
    // CHECK-NOT: scf.if
    // CHECK: ws.store @oe
    // CHECK-NEXT: ws.store @oe
    // CHECK-NEXT: nvvm.cp.async.bulk.wait_group 0 {read}
    // CHECK-NEXT: nvvm.cp.async.bulk.wait_group 0 {read}
    // CHECK-NOT: scf.if
    // CHECK: nvvm.mbarrier.arrive
    // CHECK-NOT: nvvm.barrier
    // CHECK-NOT: nvvm.bar.warp.sync
    ws.wait_edge @o_ready
    ws.store @oe[%first], %o at(%me, %me, %me) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<?x?x?x64xbf16>
    ws.store @oe[%second], %o at(%me, %me, %second) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<?x?x?x64xbf16>
    ws.await_store
    ws.await_store
    ws.signal @o_free
  }
  // CHECK: ws.role @wg
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %tile = arith.constant dense<0> : vector<8xi32>
    ws.wait_edge @o_free
    // No op stores or reads this hold.
    // CHECK: ws.put %{{.*}} in @other
    // CHECK-NEXT: ws.put %{{.*}} in @oe
    // CHECK-NEXT: nvvm.fence.proxy
    // CHECK-NEXT: arith.constant
    // CHECK-NEXT: nvvm.bar.warp.sync
    // CHECK-NOT: nvvm.barrier
    // CHECK: nvvm.mbarrier.arrive
    ws.put %tile in @other[%me] : vector<8xi32>
    ws.put %tile in @oe[%me] : vector<8xi32>
    ws.signal @o_ready
  }
}
