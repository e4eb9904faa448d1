// attn-instrument: a stamp before each op that waits or issues, and where a role resumes computing.
// RUN: attn-opt %s --attn-instrument | FileCheck %s
// RUN: attn-opt %s --attn-instrument | attn-opt --attn-instrument | FileCheck %s
// RUN: attn-opt %s --attn-instrument='events=16 ctas=1 roles=load' | FileCheck %s --check-prefix=SOME
// RUN: attn-opt %s --attn-instrument --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// REMARK: [Passed] instrument | Category:attn | {{.*}}"15 stamps, 4096 events of 4 CTAs and the last"

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
#map = affine_map<(b, h, i, c) -> (b, i, h, c)>

// CHECK-LABEL: ws.kernel @stamped
// SOME-LABEL: ws.kernel @stamped
// The plan of its resources has a word more for each replica.
// CHECK: attributes {attn.resources = {mbarriers = 5 : i64, shared_memory = 49204 : i64}} {
ws.kernel @stamped machine "sm_90a" args ["q", "o" write] problem #p config #c schedule #s
    attributes {attn.resources = {mbarriers = 5 : i64, shared_memory = 49192 : i64}} {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>):
  ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
  ws.hold @oe tensor<64x64xbf16> pieces 2 at 32768
  ws.edge @e credits 0
  ws.turn @tc ring @wg
  ws.rendezvous @r ring @wg
  // CHECK: ws.stamps events 4096 ctas 4
  // CHECK-NEXT: ws.role @load
  // SOME: ws.stamps events 16 ctas 1
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %n = arith.constant 1 : i32
    // CHECK: ws.work_loop
    // CHECK-NEXT: ws.stamp item
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %c0 = arith.constant 0 : i32
      // CHECK: ws.stamp acquire "k"
      // CHECK-NEXT: ws.acquire
      // CHECK-NEXT: ws.stamp copy "k"
      // CHECK-NEXT: ws.copy
      // At the end of a block nothing is known of what follows.
      // CHECK-NEXT: ws.stamp run
      // CHECK-NEXT: }
      // SOME-COUNT-4: ws.stamp
      %a = ws.acquire : <@k, tensor<128x64xbf16>>
      ws.copy %q at(%c0, %c0, %c0) #map to %a : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
    }
  }
  // SOME-NOT: ws.stamp {{[a-z]}}
  // CHECK: ws.role @wg
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %n = arith.constant 1 : i32
    ws.work_loop extents(%n, %n, %n) {
      // CHECK: ws.work_loop
      // CHECK-NEXT: ws.stamp item
      %w = tile.next_work extents(%n, %n, %n)
      %c0 = arith.constant 0 : i32
      %zero = arith.constant dense<0.0> : tensor<64x128xf32>
      // Ops that take no time get no stamp: scalars, a release, a give.
      // CHECK: ws.stamp wait "k"
      // CHECK-NEXT: ws.wait
      // CHECK-NEXT: arith.addi
      // CHECK-NEXT: ws.stamp take "tc"
      // CHECK-NEXT: ws.take
      // CHECK-NEXT: ws.stamp mma "k"
      // CHECK-NEXT: ws.mma
      // CHECK-NEXT: ws.give
      // CHECK-NEXT: ws.stamp await "k"
      // CHECK-NEXT: ws.await
      // CHECK-NEXT: ws.release
      // CHECK-NEXT: ws.stamp wait_edge "e"
      // CHECK-NEXT: ws.wait_edge
      // CHECK-NEXT: ws.stamp run
      // CHECK-NEXT: arith.addf
      %b = ws.wait : <@k, tensor<128x64xbf16>>
      %i = arith.addi %me, %n : i32
      ws.take @tc[%i]
      %r, %t = ws.mma %b piece(%me), %b transpose_b : !ws.slot<@k, tensor<128x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
      ws.give @tc[%me]
      %x = ws.await %r, %t : tensor<64x128xf32>
      ws.release %b : <@k, tensor<128x64xbf16>>
      ws.wait_edge @e
      %y = arith.addf %x, %zero : tensor<64x128xf32>
      // CHECK: ws.stamp sync "r"
      // CHECK-NEXT: ws.sync
      // CHECK-NEXT: ws.stamp await_store
      // CHECK-NEXT: ws.await_store
      // CHECK-NEXT: ws.stamp store "oe"
      // CHECK-NEXT: ws.store
      // CHECK-NEXT: ws.stamp run
      ws.sync @r
      ws.await_store
      ws.store @oe[%me], %o at(%c0, %c0, %c0) #map : tensor<?x?x?x64xbf16>
    }
    ws.signal @e
  }
}

// Channels that are barriers already are left alone.
// CHECK-LABEL: ws.kernel @lowered
// CHECK-NOT: ws.stamp
ws.kernel @lowered machine "sm_90a" args ["q"] problem #p config #c schedule #s smem 8 {
^bb0(%q: tensor<?x?x?x64xbf16>):
  ws.setup {
  }
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %n = arith.constant 1 : i32
    ws.work_loop extents(%n, %n, %n) {
    }
  }
}

// Of the launches of a call, the first with the most replicas of roles records.
// CHECK-LABEL: ws.kernel @statistics
// CHECK-NOT: ws.stamp
ws.kernel @statistics machine "sm_90a" args [] problem #p config #c schedule #s {
  ws.role @main warps 4 regs 168 replicas 1 {
  ^bb0(%me: i32):
  }
}

// CHECK-LABEL: ws.kernel @products
// CHECK: ws.stamps events 4096 ctas 4
ws.kernel @products machine "sm_90a" args [] problem #p config #c schedule #s {
  ws.role @load warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// CHECK-LABEL: ws.kernel @more_products
// CHECK-NOT: ws.stamp
ws.kernel @more_products machine "sm_90a" args [] problem #p config #c schedule #s {
  ws.role @load warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

launch.sequence "call" launches ["statistics", "products", "more_products"] temporaries []
