// Round trips of the ws dialect: text, generic text, bytecode.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 role wg[2] warps 4 regs 240 }>
!k = !ws.slot<@k, tensor<128x64xbf16>>
!acc = tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
!row = tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>

// CHECK: #[[$MAP:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>

// Every declaration, and the ops of roles before attn-pipeline.
// CHECK-LABEL: ws.kernel @scheduled machine "sm_90a" args ["q", "o" write, "n"] problem <kind = fwd,
// CHECK-SAME: config <tile_m = 128, tile_n = 128, work = grid> schedule <"s" machine "sm_90a" {
// CHECK: }> smem 65536 {
// CHECK-NEXT: ^bb0(%[[Q:.*]]: tensor<?x?x?x64xbf16>, %[[O:.*]]: tensor<?x?x?x64xbf16>, %[[N:.*]]: i32):
ws.kernel @scheduled machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s smem 65536 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: i32):
  // CHECK-NEXT: ws.channel @k [tensor<128x64xbf16>, tensor<64x64xbf16>] depth 2 at 0
  ws.channel @k [tensor<128x64xbf16>, tensor<64x64xbf16>] depth 2 at 0
  // CHECK-NEXT: ws.channel @v [tensor<128x64xbf16>] depth 1 full_implied free_implied over @k
  ws.channel @v [tensor<128x64xbf16>] depth 1 full_implied free_implied over @k
  // CHECK-NEXT: ws.hold @oe tensor<64x64xbf16> pieces 2 over @k at 32768
  ws.hold @oe tensor<64x64xbf16> pieces 2 over @k at 32768
  // CHECK-NEXT: ws.channel @both [tensor<128x64xbf16>] depth 2 cluster
  ws.channel @both [tensor<128x64xbf16>] depth 2 cluster
  // CHECK-NEXT: ws.edge @e credits 1
  ws.edge @e credits 1
  // CHECK-NEXT: ws.edge @of_cluster credits 1 cluster
  ws.edge @of_cluster credits 1 cluster
  // CHECK-NEXT: ws.turn @t ring @wg
  ws.turn @t ring @wg
  // CHECK-NEXT: ws.rendezvous @r ring @wg
  ws.rendezvous @r ring @wg
  // CHECK-NEXT: ws.role @load warps 1 regs 24 replicas 1 {
  // CHECK-NEXT: ^bb0(%{{.*}}: i32):
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    // CHECK-NEXT: ws.work_loop extents(%[[N]], %[[N]], %[[N]]) {
    ws.work_loop extents(%n, %n, %n) {
      // CHECK-NEXT: ws.for ranges <down [full]> bounds(%[[N]], %[[N]]) init() : () -> () {
      // CHECK-NEXT: ^bb0(%[[J:.*]]: i32):
      ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
      ^bb0(%j: i32):
        // CHECK-NEXT: ws.entry @ld_q issue 1 shift 0 guard once {
        ws.entry @ld_q issue 1 shift 0 guard once {
          // CHECK-NEXT: ws.wait_edge @e
          ws.wait_edge @e
          ws.yield
        }
        // CHECK: ws.entry @ld_k issue 0 shift 1 {
        ws.entry @ld_k issue 0 shift 1 {
          // CHECK-NEXT: %[[SLOT:.*]] = ws.acquire : <@k, tensor<128x64xbf16>>
          %slot = ws.acquire : <@k, tensor<128x64xbf16>>
          // CHECK-NEXT: ws.copy %[[Q]] at(%[[J]], %[[N]], %[[J]]) #[[$MAP]] shared to %[[SLOT]] : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
          ws.copy %q at(%j, %n, %j) #bshd shared to %slot : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
          ws.yield
        }
        ws.yield
      }
    }
  }
  // CHECK: ws.role @wg warps 4 regs 240 replicas 2 {
  // CHECK-NEXT: ^bb0(%[[ME:.*]]: i32):
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // CHECK-NEXT: %[[ROW:.*]] = arith.constant
    %row = arith.constant dense<0.0> : !row
    // CHECK-NEXT: ws.for ranges <down [masked, full]> bounds(%[[N]], %[[N]], %[[N]]) init(%[[ROW]]) : (tensor<64xf32, #tile.layout<{{.*}}>>) -> tensor<64xf32, #tile.layout<{{.*}}>> {
    // CHECK-NEXT: ^bb0(%{{.*}}: i32, %[[OLD:.*]]: tensor<64xf32, #tile.layout<{{.*}}>>):
    %sum = ws.for ranges <down [masked, full]> bounds(%n, %n, %n) init(%row) : (!row) -> !row {
    ^bb0(%j: i32, %old: !row):
      // CHECK-NEXT: %[[K:.*]] = ws.entry @get_k issue 0 shift 0 -> !ws.slot<@k, tensor<128x64xbf16>> {
      %k = ws.entry @get_k issue 0 shift 0 -> !k {
        // CHECK-NEXT: %[[W:.*]] = ws.wait : <@k, tensor<128x64xbf16>>
        %w = ws.wait : <@k, tensor<128x64xbf16>>
        // CHECK-NEXT: ws.yield %[[W]] : !ws.slot<@k, tensor<128x64xbf16>>
        ws.yield %w : !k
      }
      // CHECK: %[[S:.*]] = ws.entry @qk issue 1 shift 0 releases(%[[K]] : !ws.slot<@k, tensor<128x64xbf16>>) -> tensor<64x128xf32, #tile.layout<{{.*}}>> {
      %s = ws.entry @qk issue 1 shift 0 releases(%k : !k) -> !acc {
        // CHECK-NEXT: %[[R:.*]], %{{.*}} = ws.mma %[[K]] piece(%[[ME]]), %[[K]] transpose_b : !ws.slot<@k, tensor<128x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32, #tile.layout<{{.*}}>>
        %r, %token = ws.mma %k piece(%me), %k transpose_b : !k, <@k, tensor<128x64xbf16>> -> !acc
        ws.yield %r : !acc
      }
      // CHECK: ws.entry @await_qk issue 2 shift 0 {
      ws.entry @await_qk issue 2 shift 0 {
        // CHECK-NEXT: ws.await_step @qk
        ws.await_step @qk
        ws.yield
      }
      // CHECK: %{{.*}} = ws.entry @mask issue 3 shift 0 masked(%[[S]] : tensor<64x128xf32, #tile.layout<{{.*}}>>) after [@qk] -> tensor<64x128xf32, #tile.layout<{{.*}}>> {
      %m = ws.entry @mask issue 3 shift 0 masked(%s : !acc) after [@qk] -> !acc {
        ws.yield %s : !acc
      }
      // CHECK: %[[NEW:.*]] = ws.entry @sum issue 4 shift 0 -> tensor<64xf32, #tile.layout<{{.*}}>> {
      %new = ws.entry @sum issue 4 shift 0 -> !row {
        %x = arith.addf %old, %old : !row
        ws.yield %x : !row
      }
      // CHECK: ws.yield %[[NEW]] : tensor<64xf32, #tile.layout<{{.*}}>>
      ws.yield %new : !row
    }
  }
}

// Ops of roles after attn-pipeline, and after attn-lower-channels.
// CHECK-LABEL: ws.kernel @expanded machine "sm_90a" args ["o" write, "n"]
// CHECK: ^bb0(%[[O:.*]]: tensor<?x?x?x64xbf16>, %[[N:.*]]: i32):
ws.kernel @expanded machine "sm_90a" args ["o" write, "n"] problem #p config #c schedule #s {
^bb0(%o: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @k [tensor<128x64xbf16>] depth 2
  ws.hold @oe tensor<64x64xbf16> pieces 2
  ws.edge @e credits 0
  ws.turn @t ring @wg
  ws.rendezvous @r ring @wg
  // CHECK: ws.setup {
  ws.setup {
    // CHECK-NEXT: %{{.*}} = ws.smem %[[N]] : <3>
    %p = ws.smem %n : !llvm.ptr<3>
  }
  // CHECK: ws.role @wg
  // CHECK-NEXT: ^bb0(%[[ME:.*]]: i32):
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %k = ws.wait : <@k, tensor<128x64xbf16>>
    // CHECK: ws.take @t[%[[ME]]]
    ws.take @t[%me]
    %a = arith.constant dense<0> : vector<4xi32>
    %acc = arith.constant dense<0.0> : vector<32xf32>
    // CHECK: %[[R:.*]], %[[TOKEN:.*]] = ws.mma %{{.*}}, %[[K:.*]] acc(%{{.*}} : vector<32xf32>) : vector<4xi32>, <@k, tensor<128x64xbf16>> -> vector<32xf32>
    %r, %token = ws.mma %a, %k acc(%acc : vector<32xf32>) : vector<4xi32>, <@k, tensor<128x64xbf16>> -> vector<32xf32>
    // CHECK: ws.mma %{{.*}}, %[[K]] acc(%{{.*}} : vector<32xf32>) fresh(%{{.*}}) : vector<4xi32>, <@k, tensor<128x64xbf16>> -> vector<32xf32>
    %first = arith.constant true
    %r2, %token2 = ws.mma %a, %k acc(%acc : vector<32xf32>) fresh(%first) : vector<4xi32>, <@k, tensor<128x64xbf16>> -> vector<32xf32>
    // CHECK-NEXT: ws.give @t[%[[ME]]]
    ws.give @t[%me]
    // CHECK-NEXT: %{{.*}} = ws.await %[[R]], %[[TOKEN]] : vector<32xf32>
    %done = ws.await %r, %token : vector<32xf32>
    // CHECK-NEXT: ws.await
    %done2 = ws.await %r2, %token2 : vector<32xf32>
    // CHECK-NEXT: ws.release %[[K]] : <@k, tensor<128x64xbf16>>
    ws.release %k : <@k, tensor<128x64xbf16>>
    // CHECK-NEXT: ws.signal @e
    ws.signal @e
    // CHECK-NEXT: ws.sync @r
    ws.sync @r
    // CHECK-NEXT: ws.put %{{.*}} in @oe[%[[ME]]] : vector<4xi32>
    ws.put %a in @oe[%me] : vector<4xi32>
    // CHECK-NEXT: ws.store @oe[%[[ME]]], %[[O]] at(%[[N]], %[[N]], %[[N]]) #[[$MAP]] : tensor<?x?x?x64xbf16>
    ws.store @oe[%me], %o at(%n, %n, %n) #bshd : tensor<?x?x?x64xbf16>
    // CHECK-NEXT: ws.await_store
    ws.await_store
    // CHECK-NEXT: %[[AT:.*]] = ws.slot_at %[[N]] : <@k, tensor<128x64xbf16>>
    %at = ws.slot_at %n : <@k, tensor<128x64xbf16>>
    // CHECK-NEXT: %{{.*}} = ws.slot_offset %[[AT]] : <@k, tensor<128x64xbf16>>
    %offset = ws.slot_offset %at : <@k, tensor<128x64xbf16>>
  }
}

// Row vectors in a channel, and a tile in a hold that is added to memory.
// CHECK-LABEL: ws.kernel @sums
// CHECK: ^bb0(%[[L:.*]]: tensor<?x?x?xf32>, %[[D:.*]]: tensor<?x?x?x128xf32>):
ws.kernel @sums machine "sm_90a" args ["l", "d" accumulate] problem #p config #c schedule #s {
^bb0(%l: tensor<?x?x?xf32>, %d: tensor<?x?x?x128xf32>):
  // CHECK-NEXT: ws.channel @l [tensor<64xf32>] depth 2
  ws.channel @l [tensor<64xf32>] depth 2
  // CHECK-NEXT: ws.channel @r [tensor<64xf32>] depth 2 free_implied with @l at 512
  ws.channel @r [tensor<64xf32>] depth 2 free_implied with @l at 512
  // CHECK-NEXT: ws.hold @dqe tensor<64x64xf32> pieces 2
  ws.hold @dqe tensor<64x64xf32> pieces 2
  // CHECK: ws.role @load
  ws.role @load warps 1 regs 24 replicas 1 {
  // CHECK-NEXT: ^bb0(%[[N:.*]]: i32):
  ^bb0(%n: i32):
    %free = ws.acquire : <@l, tensor<64xf32>>
    // CHECK: ws.copy %[[L]] at(%[[N]], %[[N]], %[[N]]) to %{{.*}} : tensor<?x?x?xf32>, <@l, tensor<64xf32>>
    ws.copy %l at(%n, %n, %n) to %free : tensor<?x?x?xf32>, <@l, tensor<64xf32>>
  }
  // CHECK: ws.role @wg
  // CHECK-NEXT: ^bb0(%[[ME:.*]]: i32):
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %full = ws.wait : <@l, tensor<64xf32>>
    // CHECK: %{{.*}} = ws.read_row %{{.*}} : <@l, tensor<64xf32>> -> tensor<64xf32>
    %row = ws.read_row %full : <@l, tensor<64xf32>> -> tensor<64xf32>
    // CHECK-NEXT: ws.reduce_add @dqe[%[[ME]]], %[[D]] at(%[[ME]], %[[ME]], %[[ME]], %[[ME]]) #[[$MAP]] : tensor<?x?x?x128xf32>
    ws.reduce_add @dqe[%me], %d at(%me, %me, %me, %me) #bshd : tensor<?x?x?x128xf32>
    // CHECK-NEXT: ws.await_store of_warp
    ws.await_store of_warp
  }
}

// Work items that one role hands out.
// CHECK-LABEL: ws.kernel @handed_out
// CHECK: ^bb0(%[[N:.*]]: i32):
ws.kernel @handed_out machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // CHECK-NEXT: ws.channel @work [tensor<4xi32>] depth 2
  ws.channel @work [tensor<4xi32>] depth 2
  // CHECK: ws.role @load
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    // CHECK: ws.work_loop
    ws.work_loop extents(%n, %n, %n) {
      // CHECK-NEXT: %[[W:.*]] = tile.next_work
      %w = tile.next_work extents(%n, %n, %n)
      // CHECK-NEXT: %[[SLOT:.*]] = ws.acquire : <@work, tensor<4xi32>>
      %slot = ws.acquire : <@work, tensor<4xi32>>
      // CHECK-NEXT: ws.put_work %[[W]] to %[[SLOT]] : <@work, tensor<4xi32>>
      ws.put_work %w to %slot : <@work, tensor<4xi32>>
      // CHECK-NEXT: ws.end_unless_work %[[W]]
      ws.end_unless_work %w
      // CHECK-NEXT: ws.fetch_work after %[[W]]
      ws.fetch_work after %w
    }
  }
  // CHECK: ws.role @wg
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // CHECK: ws.work_loop
    ws.work_loop extents(%n, %n, %n) {
      // CHECK-NEXT: %[[FULL:.*]] = ws.wait : <@work, tensor<4xi32>>
      %slot = ws.wait : <@work, tensor<4xi32>>
      // CHECK-NEXT: %[[GOT:.*]] = ws.get_work %[[FULL]] : <@work, tensor<4xi32>>
      %w = ws.get_work %slot : <@work, tensor<4xi32>>
      // CHECK-NEXT: ws.release %[[FULL]]
      ws.release %slot : <@work, tensor<4xi32>>
      // CHECK-NEXT: ws.end_unless_work %[[GOT]]
      ws.end_unless_work %w
    }
  }
}

// Items handed out in a cluster, that may be rejected, and blocks that a sub-tile skips.
// CHECK-LABEL: ws.kernel @verdicts
ws.kernel @verdicts machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, row_max = first_block, cluster = 2> schedule #s {
^bb0(%n: i32, %no: i1):
  // CHECK: ws.verdict @verdict at 49152
  ws.verdict @verdict at 49152
  // CHECK-NEXT: ws.mailbox @mailbox at 49216
  ws.mailbox @mailbox at 49216
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    // CHECK: ws.work_loop extents(%[[N:.*]], %[[N]], %[[N]]) {
    ws.work_loop extents(%n, %n, %n) {
      // CHECK-NEXT: %[[W:.*]] = ws.share_work through @mailbox {
      %w = ws.share_work through @mailbox {
        // CHECK-NEXT: %[[NEXT:.*]] = ws.take_item extents(%[[N]], %[[N]], %[[N]]) section(%[[N]])
        %next = ws.take_item extents(%n, %n, %n) section(%n)
        // CHECK-NEXT: %[[ITEM:.*]] = ws.choose_item %[[NEXT]] by @verdict
        %item = ws.choose_item %next by @verdict
        // CHECK-NEXT: ws.yield %[[ITEM]] : !tile.work
        ws.yield %item : !tile.work
      }
      // CHECK: %{{.*}} = ws.verdict_slot %[[W]]
      %slot = ws.verdict_slot %w
      // CHECK-NEXT: ws.give_verdict @verdict on %[[W]] rejected %{{.*}}
      ws.give_verdict @verdict on %w rejected %no
      // CHECK-NEXT: ws.for ranges <down [skipped, masked, full]> bounds(%[[N]], %[[N]], %[[N]], %[[N]]) init() : () -> () {
      ws.for ranges <down [skipped, masked, full]> bounds(%n, %n, %n, %n) init() : () -> () {
      ^bb0(%j: i32):
        ws.yield
      // CHECK: } skipped {
      // CHECK-NEXT: ws.await_store
      } skipped {
        ws.await_store
        ws.yield
      // CHECK: } empty {
      // CHECK-NEXT: ws.await_store
      } empty {
        ws.await_store
        ws.yield
      }
    }
  }
}

// Items handed out, the last of them in parts.
// CHECK-LABEL: ws.kernel @parts
ws.kernel @parts machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, last_wave_parts = 2> schedule #s {
^bb0(%n: i32):
  // CHECK: %[[WHOLE:.*]], %[[PARTS:.*]] = tile.cut
  %whole, %parts = tile.cut %n by 64 most 2
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // CHECK: ws.take_item extents(%[[N:.*]], %[[N]], %[[N]]) cut(%[[WHOLE]], %[[PARTS]])
      %w = ws.take_item extents(%n, %n, %n) cut(%whole, %parts)
      ws.end_unless_work %w
    }
  }
}

// One item a CTA, which may be rejected: before and after its verdict is lowered.
// CHECK-LABEL: ws.kernel @second_run
ws.kernel @second_run machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = grid, row_max = first_block> schedule #s {
^bb0(%n: i32, %no: i1):
  ws.verdict @verdict
  ws.role @a warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      // CHECK: ws.second_run of %{{.*}} by @verdict{{$}}
      ws.second_run of %w by @verdict
    }
  }
  ws.role @b warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      // CHECK: ws.second_run of %{{.*}} by @verdict rejected %{{.*}}
      ws.second_run of %w by @verdict rejected %no
    }
  }
}

// A store of an item that may be rejected.
// CHECK-LABEL: ws.kernel @after_first_run
ws.kernel @after_first_run machine "sm_90a" args ["o" write, "n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = grid, row_max = first_block> schedule #s {
^bb0(%o: tensor<?x?x?x64xbf16>, %n: i32, %no: i1):
  ws.hold @h tensor<64x64xbf16> pieces 1
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // CHECK: %[[W:.*]] = tile.next_work
      %w = tile.next_work extents(%n, %n, %n)
      tile.reject %w if %no
      // CHECK: ws.store @h[%{{.*}}], %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) #{{.*}} after_first_run %[[W]] : tensor<?x?x?x64xbf16>
      ws.store @h[%me], %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> after_first_run %w : tensor<?x?x?x64xbf16>
    }
  }
}

// CHECK-LABEL: ws.kernel @stamps
ws.kernel @stamps machine "sm_90a" args [] problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent> config <tile_m = 128, tile_n = 128, work = grid> schedule <"s" machine "sm_90a" { role wg warps 4 regs 240 }> {
  // CHECK: ws.stamps events 4096 ctas 4
  ws.stamps events 4096 ctas 4
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    // CHECK: ws.stamp item
    // CHECK-NEXT: ws.stamp wait "k"
    // CHECK-NEXT: ws.stamp await_store
    ws.stamp item
    ws.stamp wait "k"
    ws.stamp await_store
  }
}
