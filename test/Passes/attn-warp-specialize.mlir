// attn-warp-specialize: one program a role in the order of the schedule; waits before the first read, releases after the last.
// RUN: attn-opt %s --attn-warp-specialize | FileCheck %s
// RUN: attn-opt %s --attn-warp-specialize --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// Kernels that have roles are left alone.
// RUN: attn-opt %s --attn-warp-specialize --attn-warp-specialize | FileCheck %s

// REMARK: [Passed] warp-specialize | Category:attn | {{.*}}2 roles, 2 channels, 1 holds, 0 edges, 1 turns, 0 rendezvous

// CHECK-LABEL: ws.kernel @small machine "sm_90a" args ["q", "k", "o" write, "lse" write, "n"]
// CHECK: ^bb0(%[[Q:.*]]: tensor<?x?x?x64xbf16>, %[[K:.*]]: tensor<?x?x?x64xbf16>, %[[O:.*]]: tensor<?x?x?x64xbf16>, %[[LSE:.*]]: tensor<?x?x?xf32>, %[[N:.*]]: i32):
// CHECK-NEXT: ws.channel @q [tensor<128x64xbf16>] depth 1
// CHECK-NEXT: ws.channel @k [tensor<128x64xbf16>] depth 2
// CHECK-NEXT: ws.hold @oe tensor<64x64xbf16> pieces 2
// CHECK-NEXT: ws.turn @tc ring @wg

// Each role that needs the item, its bounds and the coordinates of tiles
// computes them itself.
// CHECK: ws.role @load warps 1 regs 24 replicas 1 {
// CHECK: ws.work_loop extents(%[[N]], %[[N]], %[[N]]) {
// CHECK-NEXT: %[[W:.*]] = tile.next_work
// CHECK-NEXT: %[[B:.*]]:3 = tile.bounds %[[W]]
// Values that only the other role reads are left out.
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tile.yield
// CHECK-NEXT: }
// CHECK-NEXT: ws.for ranges <down [masked, full]> bounds(%[[B]]#0, %[[B]]#1, %[[B]]#2) init()
// CHECK-NEXT: ^bb0(%[[J:.*]]: i32):
// CHECK-NEXT: ws.entry @ld_k issue 0 shift 0 {
// CHECK-NEXT: %{{.*}}, %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[W]]
// CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[J]], %c128
// CHECK-NEXT: %[[SLOT:.*]] = ws.acquire : <@k
// CHECK-NEXT: ws.copy %[[K]] at(%[[BATCH]], %[[HEAD]], %[[ROW]]) #{{.*}} shared to %[[SLOT]]
// CHECK: ws.entry @ld_q issue 1 shift 0 guard once {
// CHECK-NEXT: %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[W]]
// CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[BLOCK]], %c128
// CHECK-NEXT: %[[SLOT:.*]] = ws.acquire : <@q
// CHECK-NEXT: ws.copy %[[Q]] at(%[[BATCH]], %[[HEAD]], %[[ROW]]) #{{[a-z]*}} to %[[SLOT]]
// CHECK: } empty {
// CHECK: %[[SLOT:.*]] = ws.acquire : <@q
// CHECK-NEXT: ws.copy %[[Q]] {{.*}} to %[[SLOT]]

// CHECK: ws.role @wg warps 4 regs 240 replicas 2 {
// CHECK-NEXT: ^bb0(%[[ME:.*]]: i32):
// CHECK-NEXT: ws.work_loop
// CHECK-NEXT: %[[W:.*]] = tile.next_work
// CHECK-NEXT: %[[B:.*]]:3 = tile.bounds %[[W]]
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-NEXT: %[[SLOT_Q:.*]] = ws.wait : <@q
// CHECK-NEXT: %[[SUM:.*]] = ws.for {{.*}} bounds(%[[B]]#0, %[[B]]#1, %[[B]]#2) init(%[[ZERO]])
// CHECK-NEXT: ^bb0(%[[J:.*]]: i32, %[[L:.*]]: tensor<64xf32>):
// CHECK-NEXT: ws.entry @take_tc issue 0 shift 0 {
// CHECK-NEXT: ws.take @tc[%[[ME]]]
// CHECK: %[[SLOT:.*]] = ws.entry @get_k issue 1 shift 0
// CHECK-NEXT: ws.wait : <@k
// CHECK: %[[S:.*]] = ws.entry @qk issue 2 shift 0 releases(%[[SLOT]] :
// CHECK-NEXT: ws.mma %[[SLOT_Q]] piece(%[[ME]]), %[[SLOT]] transpose_b
// CHECK: ws.entry @give_tc issue 3 shift 0 {
// CHECK-NEXT: ws.give @tc[%[[ME]]]
// CHECK: %[[M:.*]] = ws.entry @mask issue 4 shift 0 masked(%[[S]] : tensor<64x128xf32>) after [@qk]
// CHECK-NEXT: %[[COLUMN:.*]] = arith.muli %[[J]], %c128
// CHECK-NEXT: tile.coords %[[COLUMN]] dim 1
// CHECK: %[[NEW:.*]] = ws.entry @sum issue 5 shift 1
// CHECK-NEXT: %[[R:.*]] = tile.reduce add %[[M]] dim 1
// CHECK-NEXT: arith.addf %[[L]], %[[R]]
// CHECK: ws.yield %[[NEW]]

// Q is released after the last product that reads it, and in the branch without
// products.
// CHECK-NEXT: } drain {
// CHECK-NEXT: ws.release %[[SLOT_Q]]
// CHECK: } empty {
// CHECK-NEXT: ws.release %[[SLOT_Q]]

// Before O is put, the store of the previous item's O is awaited. The last
// store is awaited too.
// CHECK: ws.await_store
// CHECK-NEXT: %[[WIDE:.*]] = tile.broadcast %[[SUM]] dim 1
// CHECK-NEXT: %[[OUT:.*]] = arith.truncf %[[WIDE]]
// CHECK-NEXT: ws.put %[[OUT]] in @oe[%[[ME]]]
// CHECK: %[[OFFSET:.*]] = arith.muli %[[ME]], %c64
// CHECK-NEXT: %[[ROW:.*]] = arith.addi %{{.*}}, %[[OFFSET]]
// CHECK-NEXT: ws.store @oe[%[[ME]]], %[[O]] at(%{{.*}}, %{{.*}}, %[[ROW]])
// CHECK: %[[OFFSET:.*]] = arith.muli %[[ME]], %c64
// CHECK-NEXT: %[[ROW:.*]] = arith.addi %{{.*}}, %[[OFFSET]]
// CHECK-NEXT: tile.store_row %[[SUM]], %[[LSE]] at(%{{.*}}, %{{.*}}, %[[ROW]])
// CHECK-NEXT: }
// CHECK-NEXT: ws.await_store
// CHECK-NEXT: }
// CHECK-NEXT: }
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
!tile = tensor<128x64xbf16>
!s = tensor<64x128xf32>
!l = tensor<64xf32>
tile.kernel @small args ["q", "k", "o" write, "lse" write, "n"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 128, tile_n = 128, work = grid>
    schedule <"small" machine "sm_90a" {
      split M 2 whole(q)
      remat(next)
      role load warps 1 regs 24
      role wg[2] warps 4 regs 240
      chan q = q in smem depth 1
      chan k = k in smem depth 2
      hold s = s in reg depth 1
      hold oe = oe in smem depth 1
      turn tc ring wg
      knob peel first_masked
      body load { kv { ld_k once : ld_q } }
      body wg { kv { take(tc) qk give(tc) mask sum + 1 } after { await(st_o) + 1 cvt_o st_o st_lse } }
    }> {
^bb0(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>, %n: i32):
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  tile.work {
    %w = tile.step @next () : () -> !tile.work {
      %x = tile.next_work extents(%n, %n, %n)
      tile.yield %x : !tile.work
    }
    %qt = tile.step @ld_q (%w) : (!tile.work) -> !tile {
    ^bb0(%x: !tile.work):
      %block, %head, %batch = tile.work_coords %x
      %row = arith.muli %block, %c128 : i32
      %t = tile.load %q at(%batch, %head, %row) #bshd : tensor<?x?x?x64xbf16> -> !tile
      tile.yield %t : !tile
    }
    %hi, %mid, %lo = tile.bounds %w : i32, i32, i32 {
    ^bb0(%x: !tile.work):
      tile.yield %n, %n, %n : i32, i32, i32
    }
    %zero = arith.constant dense<0.0> : !l
    %sum = tile.for ranges <down [masked, full]> bounds(%hi, %mid, %lo) init(%zero) : (!l) -> !l {
    ^bb0(%j: i32, %l: !l):
      %kt = tile.step @ld_k (%w) : (!tile.work) -> !tile {
      ^bb0(%x: !tile.work):
        %block, %head, %batch = tile.work_coords %x
        %row = arith.muli %j, %c128 : i32
        %t = tile.load %k at(%batch, %head, %row) #bshd : tensor<?x?x?x64xbf16> -> !tile
        tile.yield %t : !tile
      }
      %s = tile.step @qk (%qt, %kt) : (!tile, !tile) -> !s {
      ^bb0(%a: !tile, %b: !tile):
        %me = tile.subtile_id
        %piece = tile.piece %a[%me] : !tile -> tensor<64x64xbf16>
        %x = tile.mma %piece, %b transpose_b : tensor<64x64xbf16>, !tile -> !s
        tile.yield %x : !s
      }
      %m = tile.step @mask masked (%s) : (!s) -> !s {
      ^bb0(%x: !s):
        %column = arith.muli %j, %c128 : i32
        %at = tile.coords %column dim 1 : tensor<64x128xi32>
        %f = arith.sitofp %at : tensor<64x128xi32> to !s
        %y = arith.addf %x, %f : !s
        tile.yield %y : !s
      }
      %new = tile.step @sum (%m, %l) : (!s, !l) -> !l {
      ^bb0(%x: !s, %old: !l):
        %r = tile.reduce add %x dim 1 : !s -> !l
        %y = arith.addf %old, %r : !l
        tile.yield %y : !l
      }
      tile.yield %new : !l
    }
    %oe = tile.step @cvt_o (%sum) : (!l) -> tensor<64x64xbf16> {
    ^bb0(%x: !l):
      %wide = tile.broadcast %x dim 1 : !l -> tensor<64x64xf32>
      %y = arith.truncf %wide : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.yield %y : tensor<64x64xbf16>
    }
    tile.step @st_o (%oe, %w) : (tensor<64x64xbf16>, !tile.work) -> () {
    ^bb0(%x: tensor<64x64xbf16>, %item: !tile.work):
      %me = tile.subtile_id
      %block, %head, %batch = tile.work_coords %item
      %first = arith.muli %block, %c128 : i32
      %offset = arith.muli %me, %c64 : i32
      %row = arith.addi %first, %offset : i32
      tile.store %x, %o at(%batch, %head, %row) #bshd : tensor<64x64xbf16>, tensor<?x?x?x64xbf16>
      tile.yield
    }
    tile.step @st_lse (%sum, %w) : (!l, !tile.work) -> () {
    ^bb0(%x: !l, %item: !tile.work):
      %me = tile.subtile_id
      %block, %head, %batch = tile.work_coords %item
      %first = arith.muli %block, %c128 : i32
      %offset = arith.muli %me, %c64 : i32
      %row = arith.addi %first, %offset : i32
      tile.store_row %x, %lse at(%batch, %head, %row) : !l, tensor<?x?x?xf32>
      tile.yield
    }
  }
}
