// attn-lower-channels: barriers, parities, bytes and arrivals of a channel, an edge, a turn, a rendezvous and a store.
// RUN: attn-opt %s --attn-lower-channels | FileCheck %s
// RUN: attn-opt %s --attn-lower-channels --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// REMARK: [Passed] lower-channels | Category:attn | {{.*}}5 barriers in memory, 6 named

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @channels machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s smem 49152 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
  ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
  ws.hold @h tensor<64x64xbf16> pieces 2 at 32768
  ws.edge @e credits 1
  ws.turn @t ring @wg
  ws.rendezvous @r ring @wg
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.wait_edge @e
    %s = ws.acquire : <@k, tensor<128x64xbf16>>
    ws.copy %q at(%me, %me, %me) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %v = arith.constant dense<0> : vector<4xi32>
    %k = ws.wait : <@k, tensor<128x64xbf16>>
    ws.take @t[%me]
    ws.give @t[%me]
    ws.release %k : <@k, tensor<128x64xbf16>>
    ws.signal @e
    ws.sync @r
    ws.put %v in @h[%me] : vector<4xi32>
    ws.store @h[%me], %o at(%me, %me, %me) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<?x?x?x64xbf16>
    ws.await_store
  }
}

// CHECK-LABEL: ws.kernel @channels
// CHECK: ^bb0(%[[Q:.*]]: tensor<?x?x?x64xbf16>, %[[O:.*]]: tensor<?x?x?x64xbf16>, %{{.*}}: f32):

// Two full barriers, which one thread arrives at; two free ones and the edge, at which each of eight warps does.
// CHECK: ws.setup {
// CHECK: %[[B:.*]] = ws.smem %c49152_i32
// CHECK: nvvm.mbarrier.init %[[B]], %c1_i32
// CHECK: %[[B:.*]] = ws.smem %c49160_i32
// CHECK: nvvm.mbarrier.init %[[B]], %c1_i32
// CHECK: %[[B:.*]] = ws.smem %c49168_i32
// CHECK: nvvm.mbarrier.init %[[B]], %c8_i32
// CHECK: %[[B:.*]] = ws.smem %c49176_i32
// CHECK: nvvm.mbarrier.init %[[B]], %c8_i32
// CHECK: %[[B:.*]] = ws.smem %c49184_i32
// CHECK: nvvm.mbarrier.init %[[B]], %c8_i32
// CHECK-NEXT: }

// The position of a role in a ring: a slot and a phase, both 0 at first.
// CHECK: ws.role @load
// CHECK: %[[SLOT_AT:.*]] = llvm.alloca %{{.*}} x i32
// CHECK-NEXT: %[[PHASE_AT:.*]] = llvm.alloca
// CHECK-NEXT: llvm.store %c0_i32, %[[SLOT_AT]]
// CHECK-NEXT: llvm.store %c0_i32, %[[PHASE_AT]]
// CHECK: llvm.alloca
// CHECK-NEXT: %[[EDGE_AT:.*]] = llvm.alloca
// CHECK: llvm.store %c0_i32{{.*}}, %[[EDGE_AT]]

// An edge with a credit: its first wait succeeds at once, and the next one is for the other phase.
// CHECK: %[[PHASE:.*]] = llvm.load %[[EDGE_AT]]
// CHECK: %[[PARITY:.*]] = arith.xori %[[PHASE]], %c1
// CHECK: %[[B:.*]] = ws.smem %c49184_i32
// CHECK-NEXT: nvx.mbarrier_wait %[[B]], %[[PARITY]]
// CHECK: %[[NEXT:.*]] = arith.xori %[[PHASE]], %c1
// CHECK-NEXT: llvm.store %[[NEXT]], %[[EDGE_AT]]

// Slots are free at first.
// CHECK: %[[PHASE:.*]] = llvm.load %[[PHASE_AT]]
// CHECK-NEXT: %[[SLOT:.*]] = llvm.load %[[SLOT_AT]]
// CHECK: %[[PARITY:.*]] = arith.xori %[[PHASE]], %c1
// CHECK: %[[OFFSET:.*]] = arith.muli %[[SLOT]], %c8_i32
// CHECK-NEXT: %[[AT:.*]] = arith.addi %c49168_i32, %[[OFFSET]]
// CHECK-NEXT: %[[FREE:.*]] = ws.smem %[[AT]]
// CHECK-NEXT: nvx.mbarrier_wait %[[FREE]], %[[PARITY]]
// CHECK: %[[BYTES:.*]] = arith.muli %[[SLOT]], %c16384_i32
// CHECK: %[[PLACE:.*]] = arith.addi %[[BYTES]], %c0_i32
// CHECK-NEXT: %[[TILE:.*]] = ws.slot_at %[[PLACE]]
// CHECK: %[[OFFSET:.*]] = arith.muli %[[SLOT]], %c8_i32
// CHECK-NEXT: %[[AT:.*]] = arith.addi %c49152_i32, %[[OFFSET]]
// CHECK-NEXT: %[[FULL:.*]] = ws.smem %[[AT]]
// After the last slot comes the first, in the other phase.
// CHECK: %[[NEXT:.*]] = arith.addi %[[SLOT]], %c1
// CHECK: %[[OVER:.*]] = arith.cmpi eq, %[[NEXT]], %c2_i32
// CHECK: %[[NEW:.*]] = arith.select %[[OVER]], %c0_i32{{.*}}, %[[NEXT]]
// CHECK-NEXT: %[[TURN:.*]] = arith.extui %[[OVER]]
// CHECK-NEXT: %[[NEW_PHASE:.*]] = arith.xori %[[PHASE]], %[[TURN]]
// CHECK-NEXT: llvm.store %[[NEW]], %[[SLOT_AT]]
// CHECK-NEXT: llvm.store %[[NEW_PHASE]], %[[PHASE_AT]]
// CHECK: nvvm.mbarrier.arrive.expect_tx %[[FULL]], %c16384_i32
// CHECK-NEXT: ws.copy %[[Q]] at({{.*}}) #{{.*}} to %[[TILE]] barrier %[[FULL]]

// A replica gives the turn to the next one. At the start the first replica has the turn.
// CHECK: ws.role @wg
// CHECK-NEXT: ^bb0(%[[ME:.*]]: i32):
// CHECK: %[[AFTER:.*]] = arith.addi %[[ME]], %c1
// CHECK: %[[OVER:.*]] = arith.cmpi eq, %[[AFTER]], %c2
// CHECK: %[[THEM:.*]] = arith.select %[[OVER]], %c0_i32, %[[AFTER]]
// CHECK: %[[THEIRS:.*]] = arith.addi %[[THEM]], %c3
// CHECK: %[[SLOT_AT:.*]] = llvm.alloca
// CHECK-NEXT: %[[PHASE_AT:.*]] = llvm.alloca
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[ME]], %c0
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK: nvvm.barrier.arrive id = %c3_i32{{.*}} number_of_threads = %c256_i32

// A reader waits for the phase itself.
// CHECK: %[[PHASE:.*]] = llvm.load %[[PHASE_AT]]
// CHECK-NEXT: %[[SLOT:.*]] = llvm.load %[[SLOT_AT]]
// CHECK: %[[OFFSET:.*]] = arith.muli %[[SLOT]], %c8_i32
// CHECK-NEXT: %[[AT:.*]] = arith.addi %c49152_i32, %[[OFFSET]]
// CHECK-NEXT: %[[FULL:.*]] = ws.smem %[[AT]]
// CHECK-NEXT: nvx.mbarrier_wait %[[FULL]], %[[PHASE]]
// CHECK: ws.slot_at
// CHECK: %[[OFFSET:.*]] = arith.muli %[[SLOT]], %c8_i32
// CHECK-NEXT: %[[AT:.*]] = arith.addi %c49168_i32, %[[OFFSET]]
// CHECK-NEXT: %[[FREE:.*]] = ws.smem %[[AT]]
// CHECK: llvm.store %{{.*}}, %[[SLOT_AT]]
// CHECK-NEXT: llvm.store %{{.*}}, %[[PHASE_AT]]

// CHECK: %[[MINE:.*]] = arith.addi %[[ME]], %c3
// CHECK: nvvm.barrier id = %[[MINE]] number_of_threads = %c256_i32
// CHECK: nvvm.barrier.arrive id = %[[THEIRS]] number_of_threads = %c256_i32

// One lane of each warp releases the slot, then signals.
// CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i32
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[LANE]], %c0
// CHECK-NEXT: scf.if %[[ONE]] {
// CHECK-NEXT: nvvm.mbarrier.arrive %[[FREE]]
// CHECK: %[[EDGE:.*]] = ws.smem %c49184_i32
// CHECK: arith.andi %{{.*}}, %c31_i32
// CHECK: scf.if
// CHECK-NEXT: nvvm.mbarrier.arrive %[[EDGE]]
// CHECK: nvvm.barrier id = %c5_i32{{.*}} number_of_threads = %c256_i32

// One thread stores the tile that all 128 threads of the replica have written,
// and all wait until it has been read.
// CHECK: ws.put
// CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK: %[[ID:.*]] = arith.addi %[[ME]], %c1
// CHECK: nvvm.barrier id = %[[ID]] number_of_threads = %c128_i32
// CHECK: %[[THREAD:.*]] = arith.andi %{{.*}}, %c127_i32
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[THREAD]], %c0
// CHECK-NEXT: scf.if %[[ONE]] {
// CHECK-NEXT: ws.store @h[%[[ME]]], %[[O]]
// CHECK: arith.andi %{{.*}}, %c127_i32
// CHECK: scf.if
// CHECK-NEXT: nvvm.cp.async.bulk.wait_group 0 {read}
// CHECK: %[[ID:.*]] = arith.addi %[[ME]], %c1
// CHECK: nvvm.barrier id = %[[ID]] number_of_threads = %c128_i32
// CHECK-NEXT: }
// CHECK-NEXT: }

// Work items: one thread fills a slot; each warp releases it with one arrival.
// CHECK-LABEL: ws.kernel @work_items
// CHECK: ws.setup {
// CHECK: %[[FULL:.*]] = ws.smem
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-NEXT: nvvm.mbarrier.init %[[FULL]], %[[ONE]]
// CHECK: %[[FREE:.*]] = ws.smem
// CHECK-NEXT: %[[EIGHT:.*]] = arith.constant 8 : i32
// CHECK-NEXT: nvvm.mbarrier.init %[[FREE]], %[[EIGHT]]
// CHECK: ws.role @load
// CHECK: tile.next_work
// CHECK: nvx.mbarrier_wait
// CHECK: ws.put_work %{{.*}} to %{{.*}} : <@work, tensor<4xi32>>
// CHECK-NEXT: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3>
// CHECK-NEXT: ws.end_unless_work
// CHECK-NEXT: ws.fetch_work
// CHECK: ws.role @wg
// CHECK: nvx.mbarrier_wait
// CHECK: ws.get_work
// CHECK: scf.if
// CHECK-NEXT: nvvm.mbarrier.arrive
// CHECK: ws.end_unless_work
ws.kernel @work_items machine "sm_90a" args ["o" write, "n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s smem 8224 {
^bb0(%o: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @work [tensor<4xi32>] depth 1 at 8192
  ws.hold @h tensor<64x64xbf16> pieces 2 at 0
  ws.role @load warps 1 regs 24 replicas 1 {
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
      %v = arith.constant dense<0> : vector<4xi32>
      ws.put %v in @h[%me] : vector<4xi32>
    }
  }
}
