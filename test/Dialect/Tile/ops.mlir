// Round trips of the tile dialect: text, generic text, bytecode.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
!t = tensor<64x32xf32>

// CHECK: #[[$MAP:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>

// A copy of 64 rows an item, and a loop that counts blocks.
// CHECK-LABEL: tile.kernel @copy args ["x", "y" write, "n"] problem <
// CHECK-SAME: kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> config <tile_m = 64, tile_n = 16, work = grid> {
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<?x?x?x32xf32>, %[[Y:.*]]: tensor<?x?x?x32xf32>, %[[N:.*]]: i32):
tile.kernel @copy args ["x", "y" write, "n"]
    problem <kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid> {
^bb0(%x: tensor<?x?x?x32xf32>, %y: tensor<?x?x?x32xf32>, %n: i32):
  %c64 = arith.constant 64 : i32
  // CHECK: tile.work {
  tile.work {
    // CHECK-NEXT: %[[W:.*]] = tile.step @next() : () -> !tile.work {
    // CHECK-NEXT:   %[[NEXT:.*]] = tile.next_work extents(%[[N]], %[[N]], %[[N]])
    // CHECK-NEXT:   %{{.*}} = tile.next_work extents(%[[N]], %[[N]], %[[N]]) section(%[[N]])
    // CHECK-NEXT:   tile.yield %[[NEXT]] : !tile.work
    %w = tile.step @next () : () -> !tile.work {
      %next = tile.next_work extents(%n, %n, %n)
      %other = tile.next_work extents(%n, %n, %n) section(%n)
      tile.yield %next : !tile.work
    }
    // CHECK: %[[T:.*]] = tile.step @load(%[[W]]) : (!tile.work) -> tensor<64x32xf32> {
    // CHECK-NEXT: ^bb0(%[[W0:.*]]: !tile.work):
    // CHECK-NEXT:   %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[W0]]
    // CHECK-NEXT:   %[[ROW:.*]] = arith.muli %[[BLOCK]], %{{.*}} : i32
    // CHECK-NEXT:   %[[R:.*]] = tile.load %[[X]] at(%[[BATCH]], %[[HEAD]], %[[ROW]]) #[[$MAP]] : tensor<?x?x?x32xf32> -> tensor<64x32xf32>
    // CHECK-NEXT:   tile.yield %[[R]] : tensor<64x32xf32>
    %t = tile.step @load (%w) : (!tile.work) -> !t {
    ^bb0(%w0: !tile.work):
      %block, %head, %batch = tile.work_coords %w0
      %row = arith.muli %block, %c64 : i32
      %r = tile.load %x at(%batch, %head, %row) #bshd : tensor<?x?x?x32xf32> -> !t
      tile.yield %r : !t
    }
    // CHECK: %[[B:.*]]:2 = tile.bounds %[[W]] : i32, i32 {
    // CHECK-NEXT: ^bb0(%{{.*}}: !tile.work):
    // CHECK-NEXT:   %[[ZERO:.*]] = arith.constant 0 : i32
    // CHECK-NEXT:   tile.yield %[[N]], %[[ZERO]] : i32, i32
    %hi, %lo = tile.bounds %w : i32, i32 {
    ^bb0(%w0: !tile.work):
      %zero = arith.constant 0 : i32
      tile.yield %n, %zero : i32, i32
    }
    // CHECK: tile.bounds %[[W]] subtile(%[[N]] of 2) : i32 {
    // CHECK-NEXT: ^bb0(%[[W1:.*]]: !tile.work):
    // CHECK-NEXT:   %[[FIRST:.*]], %[[ROWS:.*]] = tile.owned_rows %[[W1]]
    %own = tile.bounds %w subtile(%n of 2) : i32 {
    ^bb0(%w0: !tile.work):
      %first, %rows = tile.owned_rows %w0
      tile.yield %first : i32
    }
    // CHECK: %[[F:.*]] = tile.for ranges <down [masked]> bounds(%[[B]]#0, %[[B]]#1) init(%[[T]]) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    // CHECK-NEXT: ^bb0(%{{.*}}: i32, %[[STATE:.*]]: tensor<64x32xf32>):
    // CHECK-NEXT:   %[[S:.*]] = tile.step @mask masked(%[[STATE]]) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    // CHECK:        tile.yield %[[S]] : tensor<64x32xf32>
    %f = tile.for ranges <down [masked]> bounds(%hi, %lo) init(%t) : (!t) -> !t {
    ^bb0(%j: i32, %state: !t):
      %s = tile.step @mask masked (%state) : (!t) -> !t {
      ^bb0(%a: !t):
        tile.yield %a : !t
      }
      tile.yield %s : !t
    }
    // CHECK: tile.step @store(%[[F]], %[[W]]) : (tensor<64x32xf32>, !tile.work) -> () {
    // CHECK-NEXT: ^bb0(%[[V:.*]]: tensor<64x32xf32>, %{{.*}}: !tile.work):
    // CHECK-NEXT:   tile.store %[[V]], %[[Y]] at(%[[N]], %[[N]], %[[N]]) #[[$MAP]] : tensor<64x32xf32>, tensor<?x?x?x32xf32>
    // CHECK-NEXT:   tile.yield
    tile.step @store (%f, %w) : (!t, !tile.work) -> () {
    ^bb0(%v: !t, %w0: !tile.work):
      tile.store %v, %y at(%n, %n, %n) #bshd : !t, tensor<?x?x?x32xf32>
      tile.yield
    }
  }
}

// CHECK-LABEL: func.func @values(
// CHECK-SAME: %[[A:[^:]*]]: tensor<64x32xbf16>, %[[B:[^:]*]]: tensor<16x32xbf16>, %[[C:[^:]*]]: tensor<32x16xbf16>, %[[ACC:[^:]*]]: tensor<64x16xf32>, %[[I:[^:]*]]: i32, %[[ROW:[^:]*]]: tensor<64xf32>, %[[LSE:[^:]*]]: tensor<?x?x?xf32>, %[[IDS:[^:]*]]: tensor<?x?xi32>, %[[SCALE:[^:]*]]: f32)
func.func @values(%a: tensor<64x32xbf16>, %b: tensor<16x32xbf16>, %c: tensor<32x16xbf16>,
                  %acc: tensor<64x16xf32>, %i: i32, %row: tensor<64xf32>,
                  %lse: tensor<?x?x?xf32>, %ids: tensor<?x?xi32>, %scale: f32) {
  // CHECK-NEXT: %[[M:.*]] = tile.mma %[[A]], %[[B]] transpose_b : tensor<64x32xbf16>, tensor<16x32xbf16> -> tensor<64x16xf32>
  %m = tile.mma %a, %b transpose_b : tensor<64x32xbf16>, tensor<16x32xbf16> -> tensor<64x16xf32>
  // CHECK-NEXT: tile.mma %[[A]], %[[C]] acc(%[[ACC]] : tensor<64x16xf32>) : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
  %n = tile.mma %a, %c acc(%acc : tensor<64x16xf32>) : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
  // CHECK-NEXT: tile.reduce {{ ?}}max %[[M]] dim 1 : tensor<64x16xf32> -> tensor<64xf32>
  %max = tile.reduce max %m dim 1 : tensor<64x16xf32> -> tensor<64xf32>
  // CHECK-NEXT: %[[SUM:.*]] = tile.reduce {{ ?}}add %[[M]] dim 0 partial : tensor<64x16xf32> -> tensor<16xf32>
  %sum = tile.reduce add %m dim 0 partial : tensor<64x16xf32> -> tensor<16xf32>
  // CHECK-NEXT: %[[ALL:.*]] = tile.complete %[[SUM]] : tensor<16xf32> -> tensor<16xf32>
  %all = tile.complete %sum : tensor<16xf32> -> tensor<16xf32>
  // CHECK-NEXT: tile.broadcast %[[ALL]] dim 0 : tensor<16xf32> -> tensor<64x16xf32>
  %wide = tile.broadcast %all dim 0 : tensor<16xf32> -> tensor<64x16xf32>
  // CHECK-NEXT: %[[COORDS:.*]] = tile.coords %[[I]] dim 1 : tensor<64x16xi32>
  %coords = tile.coords %i dim 1 : tensor<64x16xi32>
  // CHECK-NEXT: tile.gather %[[IDS]][%[[I]], %[[COORDS]] : i32, tensor<64x16xi32>] : tensor<?x?xi32> -> tensor<64x16xi32>
  %g = tile.gather %ids[%i, %coords : i32, tensor<64x16xi32>] : tensor<?x?xi32> -> tensor<64x16xi32>
  // CHECK-NEXT: tile.gather %[[IDS]][%[[I]], %[[I]] : i32, i32] : tensor<?x?xi32> -> i32
  %one = tile.gather %ids[%i, %i : i32, i32] : tensor<?x?xi32> -> i32
  // CHECK-NEXT: %[[NEW:.*]] = tile.attend %[[M]], %[[B]] state(%[[ACC2:.*]]) scale(%[[SCALE]]) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x16xf32>
  %new = tile.attend %m, %b state(%acc) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x16xf32>
  // CHECK-NEXT: tile.attend_result %[[NEW]] : tensor<64x16xf32> -> tensor<64x16xf32>, tensor<64xf32>
  %o, %l = tile.attend_result %new : tensor<64x16xf32> -> tensor<64x16xf32>, tensor<64xf32>
  // CHECK-NEXT: tile.store_row %[[ROW]], %[[LSE]] at(%[[I]], %[[I]], %[[I]]) : tensor<64xf32>, tensor<?x?x?xf32>
  tile.store_row %row, %lse at(%i, %i, %i) : tensor<64xf32>, tensor<?x?x?xf32>
  // CHECK-NEXT: tile.piece %[[A]][%[[I]]] : tensor<64x32xbf16> -> tensor<32x32xbf16>
  %piece = tile.piece %a[%i] : tensor<64x32xbf16> -> tensor<32x32xbf16>
  // CHECK-NEXT: tile.piece %[[A]][%[[I]]] columns : tensor<64x32xbf16> -> tensor<64x16xbf16>
  %columns = tile.piece %a[%i] columns : tensor<64x32xbf16> -> tensor<64x16xbf16>
  // CHECK-NEXT: tile.share %[[A]] : tensor<64x32xbf16> -> tensor<128x32xbf16>
  %shared = tile.share %a : tensor<64x32xbf16> -> tensor<128x32xbf16>
  // CHECK-NEXT: tile.subtile_id
  %id = tile.subtile_id
  return
}

// CHECK-LABEL: func.func @dropout(
func.func @dropout(%seed: i64, %b: i32, %i: tensor<64x32xi32>, %s: tensor<64x32xf32>, %v: tensor<32x16xbf16>, %acc: tensor<64x16xf32>,
                   %sinks: tensor<64xf32>, %scale: f32) {
  // CHECK-NEXT: %[[W:.*]], %[[W1:.*]], %[[W2:.*]] = tile.dropout_key %[[SEED:.*]], %[[SEED]] at(%[[B:.*]], %[[B]])
  %w0, %w1, %w2 = tile.dropout_key %seed, %seed at(%b, %b)
  // CHECK-NEXT: %[[KEPT:.*]] = tile.keep %[[I:.*]], %[[I]] key(%[[W]], %[[W1]], %[[W2]]) drop(%[[B]]) : tensor<64x32xi32> -> tensor<64x32xi1>
  %kept = tile.keep %i, %i key(%w0, %w1, %w2) drop(%b) : tensor<64x32xi32> -> tensor<64x32xi1>
  // CHECK-NEXT: tile.keep %[[I]], %[[I]] transposed key(
  %other = tile.keep %i, %i transposed key(%w0, %w1, %w2) drop(%b) : tensor<64x32xi32> -> tensor<64x32xi1>
  // CHECK-NEXT: %[[NEW:.*]] = tile.attend {{.*}} keep(%[[KEPT]] : tensor<64x32xi1>) : tensor<64x32xf32>, tensor<32x16xbf16> -> tensor<64x16xf32>
  %new = tile.attend %s, %v state(%acc) scale(%scale) keep(%kept : tensor<64x32xi1>) : tensor<64x32xf32>, tensor<32x16xbf16> -> tensor<64x16xf32>
  // CHECK-NEXT: tile.attend_result %[[NEW]] sinks(%{{.*}} : tensor<64xf32>) : tensor<64x16xf32> -> tensor<64x16xf32>, tensor<64xf32>
  %o, %l = tile.attend_result %new sinks(%sinks : tensor<64xf32>) : tensor<64x16xf32> -> tensor<64x16xf32>, tensor<64xf32>
  return
}
