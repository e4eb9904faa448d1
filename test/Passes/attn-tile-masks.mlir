// attn-tile: which blocks of keys a mask leaves, and which keys of a masked block.
// RUN: attn-opt %s --attn-tile | FileCheck %s

!q = tensor<?x?x?x128xbf16>
!lse = tensor<?x?x?xf32>
!h = tensor<?x?x?x72xf16>

// Without a mask only the end of the keys is masked.
// CHECK-LABEL: tile.kernel @full
// CHECK: ^bb0(%{{[a-z0-9]*}}: tensor<?x?x?x128xbf16>, %[[K:[a-z0-9]*]]: tensor<?x?x?x128xbf16>,
// CHECK: %[[D:.*]] = tensor.dim %[[K]], %c1
// CHECK-NEXT: %[[SK:.*]] = arith.index_cast %[[D]]
// CHECK: %[[TN:.*]] = arith.constant 64 : i32
// CHECK: tile.bounds
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT: %[[HI:.*]] = arith.ceildivsi %[[SK]], %[[TN]]
// CHECK-NEXT: %[[MID:.*]] = arith.divsi %[[SK]], %[[TN]]
// CHECK-NEXT: tile.yield %[[HI]], %[[MID]], %[[ZERO]]
// CHECK: tile.for ranges <down [masked at_most 1, full]>
// CHECK-NEXT: ^bb0(%[[J:.*]]: i32, %{{.*}}):
// CHECK: tile.step @mask masked
// CHECK-NEXT: ^bb0(%[[S:.*]]: tensor<128x64xf32>, %{{.*}}: !tile.work):
// CHECK: %[[COLUMN:.*]] = arith.muli %[[J]], %[[TN]]
// CHECK-NEXT: %[[KEY:.*]] = tile.coords %[[COLUMN]] dim 1
// CHECK-NEXT: %[[END:.*]] = tensor.splat %[[SK]]
// CHECK-NEXT: %[[SEEN:.*]] = arith.cmpi slt, %[[KEY]], %[[END]]
// CHECK-NEXT: %[[NONE:.*]] = arith.constant dense<0xFF800000>
// CHECK-NEXT: %[[R:.*]] = arith.select %[[SEEN]], %[[S]], %[[NONE]]
// CHECK-NEXT: tile.yield %[[R]]
func.func @full(%q: !q, %k: !q, %v: !q, %scale: f32) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 64, work = grid> : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// Keys 0 .. i. The last owned query sees the most of them, the first one the fewest.
// CHECK-LABEL: tile.kernel @top_left
// CHECK-SAME: mask = causal_top_left{{.*}}attn.keys = {last = "i"}
// CHECK: ^bb0(%{{[a-z0-9]*}}: tensor<?x?x?x128xbf16>, %[[K:[a-z0-9]*]]: tensor<?x?x?x128xbf16>,
// CHECK: %[[D:.*]] = tensor.dim %[[K]], %c1
// CHECK-NEXT: %[[SK:.*]] = arith.index_cast %[[D]]
// CHECK: %[[TM:.*]] = arith.constant 192 : i32
// CHECK: %[[TN:.*]] = arith.constant 128 : i32
// CHECK: tile.bounds
// CHECK: %[[ROW:.*]], %[[ROWS:.*]] = tile.owned_rows
// CHECK: %[[LAST:.*]] = arith.addi %[[ROW]], %[[ROWS]]
// CHECK-NEXT: %[[KEYS:.*]] = arith.minsi %[[SK]], %[[LAST]]
// CHECK-NEXT: %[[SOME:.*]] = arith.maxsi %[[KEYS]], %c0
// CHECK-NEXT: %[[HI:.*]] = arith.ceildivsi %[[SOME]], %[[TN]]
// CHECK: %[[FIRST:.*]] = arith.addi %[[ROW]], %c1
// CHECK-NEXT: %[[KEYS:.*]] = arith.minsi %[[SK]], %[[FIRST]]
// CHECK-NEXT: %[[SOME:.*]] = arith.maxsi %[[KEYS]], %c0
// CHECK-NEXT: %[[MID:.*]] = arith.divsi %[[SOME]], %[[TN]]
// CHECK-NEXT: tile.yield %[[HI]], %[[MID]], %c0
// CHECK: tile.for ranges <down [masked, full]>
// CHECK-NEXT: ^bb0(%[[J:.*]]: i32, %{{.*}}):
// CHECK: tile.step @mask masked
// CHECK: %[[BLOCK:.*]], %{{.*}}, %{{.*}} = tile.work_coords
// CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[BLOCK]], %[[TM]]
// CHECK-NEXT: %[[QUERY:.*]] = tile.coords %[[ROW]] dim 0
// CHECK-NEXT: %[[COLUMN:.*]] = arith.muli %[[J]], %[[TN]]
// CHECK-NEXT: %[[KEY:.*]] = tile.coords %[[COLUMN]] dim 1
// CHECK-NEXT: %[[ALL:.*]] = tensor.splat %[[SK]]
// CHECK: %[[ONE:.*]] = tensor.splat %c1
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[QUERY]], %[[ONE]]
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[ALL]], %[[NEXT]]
// CHECK-NEXT: arith.cmpi slt, %[[KEY]], %[[END]]
func.func @top_left(%q: !q, %k: !q, %v: !q, %scale: f32) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_top_left) layout(bshd)
      config <tile_m = 192, tile_n = 128, work = grid> : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// Keys 0 .. i + SK - SQ: the last query sees every key.
// CHECK-LABEL: tile.kernel @bottom_right
// CHECK-SAME: mask = causal_bottom_right{{.*}}attn.keys = {last = #launch.apply<add(i, sub(sk, sq))>}
// CHECK: ^bb0(%[[Q:[a-z0-9]*]]: tensor<?x?x?x128xbf16>, %[[K:[a-z0-9]*]]: tensor<?x?x?x128xbf16>,
// CHECK: %[[D:.*]] = tensor.dim %[[Q]], %c1
// CHECK-NEXT: %[[SQ:.*]] = arith.index_cast %[[D]]
// CHECK: %[[D:.*]] = tensor.dim %[[K]], %c1
// CHECK-NEXT: %[[SK:.*]] = arith.index_cast %[[D]]
// CHECK: tile.bounds
// CHECK: %[[ROW:.*]], %[[ROWS:.*]] = tile.owned_rows
// CHECK: %[[SHIFT:.*]] = arith.subi %[[SK]], %[[SQ]]
// CHECK-NEXT: %[[DIAGONAL:.*]] = arith.addi %[[ROW]], %[[SHIFT]]
// CHECK-NEXT: %[[LAST:.*]] = arith.addi %[[DIAGONAL]], %[[ROWS]]
// CHECK-NEXT: %[[KEYS:.*]] = arith.minsi %[[SK]], %[[LAST]]
// CHECK-NEXT: %[[SOME:.*]] = arith.maxsi %[[KEYS]], %c0
// CHECK-NEXT: %[[HI:.*]] = arith.ceildivsi %[[SOME]], %c64
// CHECK: %[[FIRST:.*]] = arith.addi %[[DIAGONAL]], %c1
// CHECK-NEXT: %[[KEYS:.*]] = arith.minsi %[[SK]], %[[FIRST]]
// CHECK-NEXT: %[[SOME:.*]] = arith.maxsi %[[KEYS]], %c0
// CHECK-NEXT: %[[MID:.*]] = arith.divsi %[[SOME]], %c64
// CHECK-NEXT: tile.yield %[[HI]], %[[MID]], %c0
// CHECK: tile.step @mask masked
// CHECK: %[[QUERY:.*]] = tile.coords %{{.*}} dim 0
// CHECK: %[[KEY:.*]] = tile.coords %{{.*}} dim 1
// CHECK-NEXT: %[[ALL:.*]] = tensor.splat %[[SK]]
// CHECK-NEXT: %[[SHIFT:.*]] = arith.subi %[[SK]], %[[SQ]]
// CHECK-NEXT: %[[SHIFTS:.*]] = tensor.splat %[[SHIFT]]
// CHECK-NEXT: %[[DIAGONAL:.*]] = arith.addi %[[QUERY]], %[[SHIFTS]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[DIAGONAL]],
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[ALL]], %[[NEXT]]
// CHECK-NEXT: arith.cmpi slt, %[[KEY]], %[[END]]
func.func @bottom_right(%q: !q, %k: !q, %v: !q, %scale: f32) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      config <tile_m = 128, tile_n = 64, work = grid> : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// A window of two bounds: masked blocks at both ends, and a mask that has both.
// Bounds beyond all keys are cut, so that nothing overflows. Heads come first, and
// tiles have more columns than the head dim.
// CHECK-LABEL: tile.kernel @window args [{{[^]]*}}]
// CHECK-SAME: layout = bhsd, mask = window_bottom_right, {{.*}}bounds = "window_left|window_right">
// CHECK-SAME: attn.keys = {first = #launch.apply<sub(add(i, sub(sk, sq)), min(window_left, max(sq, sk)))>,
// CHECK-SAME: last = #launch.apply<add(add(i, sub(sk, sq)), min(window_right, max(sq, sk)))>}
// CHECK: ^bb0({{.*}}, %[[LEFT:.*]]: i32, %[[RIGHT:.*]]: i32, %{{.*}}: tensor<?x?x?x72xf16>, %{{.*}}: tensor<?x?x?xf32>):
// CHECK: tile.load %{{.*}} : tensor<?x?x?x72xf16> -> tensor<128x96xf16>
// CHECK: %[[BOUNDS:.*]]:4 = tile.bounds %{{.*}} : i32, i32, i32, i32 {
// CHECK: %[[DIAGONAL:.*]] = arith.addi
// CHECK-NEXT: %[[LONGEST:.*]] = arith.maxsi
// CHECK-NEXT: %[[R:.*]] = arith.minsi %[[RIGHT]], %[[LONGEST]] : i32
// CHECK-NEXT: %[[LAST:.*]] = arith.addi %[[DIAGONAL]], %[[R]] : i32
// CHECK: %[[HI:.*]] = arith.ceildivsi
// CHECK: %[[L:.*]] = arith.minsi %[[LEFT]], %{{.*}} : i32
// CHECK-NEXT: arith.subi %{{.*}}, %[[L]] : i32
// CHECK: %[[LO:.*]] = arith.divsi
// CHECK: arith.addi %[[LAST]], %{{.*}} : i32
// CHECK: %[[MID:.*]] = arith.divsi
// CHECK: %[[ENDS:.*]] = arith.ceildivsi
// CHECK-NEXT: %[[FULL_END:.*]] = arith.minsi %[[ENDS]], %[[MID]] : i32
// CHECK-NEXT: tile.yield %[[HI]], %[[MID]], %[[FULL_END]], %[[LO]] : i32, i32, i32, i32
// CHECK: tile.for ranges <down [masked, full, masked]> bounds(%[[BOUNDS]]#0, %[[BOUNDS]]#1, %[[BOUNDS]]#2, %[[BOUNDS]]#3)
// CHECK: tile.step @mask masked
// CHECK: %[[FIRST:.*]] = arith.subi {{.*}} : tensor<128x64xi32>
// CHECK: %[[SIZE:.*]] = arith.subi %{{.*}}, %[[FIRST]] : tensor<128x64xi32>
// CHECK: %[[COUNT:.*]] = arith.maxsi %[[SIZE]], %{{.*}} : tensor<128x64xi32>
// CHECK: %[[AT:.*]] = arith.subi %{{.*}}, %[[FIRST]] : tensor<128x64xi32>
// CHECK: arith.cmpi ult, %[[AT]], %[[COUNT]] : tensor<128x64xi32>
// CHECK: tile.store %{{.*}} : tensor<128x96xf16>, tensor<?x?x?x72xf16>
func.func @window(%q: !h, %k: !h, %v: !h, %scale: f32, %right: i32, %left: i32) -> (!h, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(window_bottom_right) layout(bhsd)
      window_left(%left) window_right(%right)
      config <tile_m = 128, tile_n = 64, work = grid, tile_d = 96, tile_dv = 96>
      : (!h, !h, !h) -> (!h, !lse)
  return %o, %lse : !h, !lse
}

// Packed heads: launches have to have so many of them.
// CHECK-LABEL: tile.kernel @packed
// CHECK-SAME: attn.checks = {{.*}}"expected 4 query heads for each key/value head, got {hq} and {hk}"
func.func @packed(%q: !q, %k: !q, %v: !q, %scale: f32) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 64, work = grid, pack_gqa = 4>
      : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}
