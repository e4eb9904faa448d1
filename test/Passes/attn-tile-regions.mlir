// attn-tile: the ops of a score region and of a mask region, on tiles.
// RUN: attn-opt %s --attn-tile | FileCheck %s

!q = tensor<?x?x?x128xbf16>
!lse = tensor<?x?x?xf32>

// With a mask region every block is masked, and both masks apply.
// CHECK-LABEL: tile.kernel @documents
// CHECK-SAME: mask = causal_bottom_right, score_region = absent, mask_region = gathering
// The host reads the region, too: a line for each op, which later ones name.
// CHECK-SAME: attn.region_programs = {mask = {{\[\[}}"index", "index_cast", "b"], ["index", "index_cast", "i"], ["index", "index_cast", "j"],
// CHECK-SAME: ["i32", "extract", "@c0", "%0", "%1"], ["i32", "extract", "@c0", "%0", "%2"], ["i1", "cmpi.eq", "%3", "%4"],
// CHECK-SAME: ["i32", "subi", "i", "j"], ["i1", "cmpi.sle", "%6", "@c1"], ["i1", "andi", "%5", "%7"], ["i1", "yield", "%8"]]}
// CHECK: ^bb0({{.*}}, %[[IDS:.*]]: tensor<?x?xi32>, %[[WINDOW:.*]]: i32, %{{.*}}: tensor<?x?x?x128xbf16>, %{{.*}}: tensor<?x?x?xf32>):
// CHECK: %[[B:.*]]:2 = tile.bounds
// CHECK: %[[HI:.*]] = arith.ceildivsi
// CHECK-NEXT: tile.yield %[[HI]], %c0
// CHECK: tile.for ranges <down [masked]> bounds(%[[B]]#0, %[[B]]#1)
// CHECK: tile.step @mask masked
// CHECK-NEXT: ^bb0(%[[S:.*]]: tensor<128x64xf32>, %{{.*}}: !tile.work):
// CHECK-NEXT: %{{.*}}, %{{.*}}, %[[BATCH:.*]] = tile.work_coords
// CHECK: %[[I:.*]] = tile.coords %{{.*}} dim 0
// CHECK: %[[J:.*]] = tile.coords %{{.*}} dim 1
// CHECK: %[[SEEN:.*]] = arith.cmpi slt, %[[J]],
// CHECK-NEXT: %[[MINE:.*]] = tile.gather %[[IDS]][%[[BATCH]], %[[I]] : i32, tensor<128x64xi32>]
// CHECK-NEXT: %[[OTHER:.*]] = tile.gather %[[IDS]][%[[BATCH]], %[[J]] : i32, tensor<128x64xi32>]
// CHECK-NEXT: %[[SAME:.*]] = arith.cmpi eq, %[[MINE]], %[[OTHER]]
// CHECK-NEXT: %[[D:.*]] = arith.subi %[[I]], %[[J]]
// CHECK-NEXT: %[[W:.*]] = tensor.splat %[[WINDOW]]
// CHECK-NEXT: %[[NEAR:.*]] = arith.cmpi sle, %[[D]], %[[W]]
// CHECK-NEXT: %[[OK:.*]] = arith.andi %[[SAME]], %[[NEAR]]
// CHECK-NEXT: %[[BOTH:.*]] = arith.andi %[[SEEN]], %[[OK]]
// CHECK-NEXT: %[[NONE:.*]] = arith.constant dense<0xFF800000>
// CHECK-NEXT: arith.select %[[BOTH]], %[[S]], %[[NONE]]
func.func @documents(%q: !q, %k: !q, %v: !q, %scale: f32, %ids: tensor<?x?xi32>, %window: i32)
    -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      captures(%ids, %window : tensor<?x?xi32>, i32)
      config <tile_m = 128, tile_n = 64, work = grid>
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %id_of: tensor<?x?xi32>, %w: i32):
        %batch = arith.index_cast %b : i32 to index
        %qi = arith.index_cast %i : i32 to index
        %kj = arith.index_cast %j : i32 to index
        %mine = tensor.extract %id_of[%batch, %qi] : tensor<?x?xi32>
        %other = tensor.extract %id_of[%batch, %kj] : tensor<?x?xi32>
        %same = arith.cmpi eq, %mine, %other : i32
        %d = arith.subi %i, %j : i32
        %near = arith.cmpi sle, %d, %w : i32
        %ok = arith.andi %same, %near : i1
        attn.yield %ok : i1
      }
      : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// The region follows the scale, on tiles; what depends on the head alone stays
// scalar. The softmax has nothing left to scale.
// CHECK-LABEL: tile.kernel @alibi
// CHECK-SAME: score_region = present, mask_region = absent
// CHECK-SAME: attn.region_programs = {score = {{\[\[}}"index", "index_cast", "h"], ["f32", "extract", "@slopes", "%0"], ["f32", "constant", "0x3F000000"],
// CHECK-SAME: ["f32", "mulf", "%1", "%2"], ["i32", "subi", "j", "i"], ["f32", "sitofp", "%4"], ["f32", "mulf", "%3", "%5"],
// CHECK-SAME: ["f32", "addf", "s", "%6"], ["f32", "mulf", "%7", "%2"], ["f32", "yield", "%8"]]}
// CHECK: ^bb0({{.*}}, %[[SCALE:.*]]: f32, %[[SLOPES:.*]]: tensor<?xf32>, %{{.*}}: tensor<?x?x?x128xbf16>, %{{.*}}: tensor<?x?x?xf32>):
// CHECK: %[[TM:.*]] = arith.constant 128 : i32
// CHECK: %[[TN:.*]] = arith.constant 64 : i32
// CHECK: %[[NO_SCALE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: tile.for
// CHECK-NEXT: ^bb0(%[[KV:.*]]: i32, %{{.*}}):
// CHECK: tile.step @score
// CHECK-NEXT: ^bb0(%[[S:.*]]: tensor<128x64xf32>, %[[W:.*]]: !tile.work):
// CHECK-NEXT: %[[X:.*]] = tensor.splat %[[SCALE]]
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[S]], %[[X]]
// CHECK-NEXT: %[[BLOCK:.*]], %[[HEAD:.*]], %{{.*}} = tile.work_coords %[[W]]
// CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[BLOCK]], %[[TM]]
// CHECK-NEXT: %[[I:.*]] = tile.coords %[[ROW]] dim 0
// CHECK-NEXT: %[[COLUMN:.*]] = arith.muli %[[KV]], %[[TN]]
// CHECK-NEXT: %[[J:.*]] = tile.coords %[[COLUMN]] dim 1
// CHECK-NEXT: %[[SLOPE:.*]] = tile.gather %[[SLOPES]][%[[HEAD]] : i32] : tensor<?xf32> -> f32
// CHECK-NEXT: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[SLOPE]], %[[HALF]] : f32
// CHECK-NEXT: %[[D:.*]] = arith.subi %[[J]], %[[I]]
// CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[D]]
// CHECK-NEXT: %[[MS:.*]] = tensor.splat %[[M]]
// CHECK-NEXT: %[[BIAS:.*]] = arith.mulf %[[MS]], %[[F]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[SCALED]], %[[BIAS]]
// CHECK-NEXT: %[[HALVES:.*]] = arith.constant dense<5.000000e-01>
// CHECK-NEXT: %[[R:.*]] = arith.mulf %[[SUM]], %[[HALVES]]
// CHECK-NEXT: tile.yield %[[R]]
// CHECK: tile.attend {{.*}} scale(%[[NO_SCALE]])
func.func @alibi(%q: !q, %k: !q, %v: !q, %scale: f32, %slopes: tensor<?xf32> {attn.name = "slopes"})
    -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%slopes : tensor<?xf32>)
      config <tile_m = 128, tile_n = 64, work = grid>
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %slope_of: tensor<?xf32>):
        %head = arith.index_cast %h : i32 to index
        %slope = tensor.extract %slope_of[%head] : tensor<?xf32>
        %half = arith.constant 0.5 : f32
        %m = arith.mulf %slope, %half : f32
        %d = arith.subi %j, %i : i32
        %distance = arith.sitofp %d : i32 to f32
        %bias = arith.mulf %m, %distance : f32
        %sum = arith.addf %s, %bias : f32
        %r = arith.mulf %sum, %half : f32
        attn.yield %r : f32
      }
      : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// Index arithmetic is done in i32; a scalar condition is spread over the tile.
// CHECK-LABEL: tile.kernel @index
// CHECK-SAME: score_region = gathering
// CHECK-SAME: attn.region_programs = {score = {{\[\[}}"index", "constant", "1"], ["index", "index_cast", "j"], ["index", "addi", "%1", "%0"],
// CHECK-SAME: ["f32", "extract", "@c0", "%2"], ["i32", "constant", "0"], ["i1", "cmpi.eq", "b", "%4"], ["f32", "select", "%5", "%3", "s"],
// CHECK-SAME: ["f32", "yield", "%6"]]}
// CHECK: ^bb0({{.*}}, %[[SCALE:.*]]: f32, %[[TABLE:.*]]: tensor<?xf32>, %{{.*}}: tensor<?x?x?x128xbf16>, %{{.*}}: tensor<?x?x?xf32>):
// CHECK: tile.step @score
// CHECK: %[[SCALED:.*]] = arith.mulf
// CHECK-NEXT: %{{.*}}, %{{.*}}, %[[BATCH:.*]] = tile.work_coords
// CHECK: %[[J:.*]] = tile.coords %{{.*}} dim 1
// CHECK-NEXT: %[[ONE:.*]] = arith.constant dense<1> : tensor<128x64xi32>
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[J]], %[[ONE]]
// CHECK-NEXT: %[[BIAS:.*]] = tile.gather %[[TABLE]][%[[NEXT]] : tensor<128x64xi32>]
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi eq, %[[BATCH]], %[[ZERO]] : i32
// CHECK-NEXT: %[[ALL:.*]] = tensor.splat %[[FIRST]] : tensor<128x64xi1>
// CHECK-NEXT: %[[R:.*]] = arith.select %[[ALL]], %[[BIAS]], %[[SCALED]]
// CHECK-NEXT: tile.yield %[[R]]
func.func @index(%q: !q, %k: !q, %v: !q, %scale: f32, %slopes: tensor<?xf32>)
    -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%slopes : tensor<?xf32>)
      config <tile_m = 128, tile_n = 64, work = grid>
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %table: tensor<?xf32>):
        %one = arith.constant 1 : index
        %kj = arith.index_cast %j : i32 to index
        %next = arith.addi %kj, %one : index
        %bias = tensor.extract %table[%next] : tensor<?xf32>
        %first = arith.constant 0 : i32
        %is_first = arith.cmpi eq, %b, %first : i32
        %r = arith.select %is_first, %bias, %s : f32
        attn.yield %r : f32
      }
      : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// A region may ignore all that it gets.
// CHECK-LABEL: tile.kernel @constant
// CHECK-SAME: attn.region_programs = {score = {{\[\[}}"f32", "constant", "0x0"], ["f32", "yield", "%0"]]}
// CHECK: tile.step @score
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
// CHECK-NEXT: tile.yield %[[ZERO]]
func.func @constant(%q: !q, %k: !q, %v: !q, %scale: f32, %slopes: tensor<?xf32>)
    -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%slopes : tensor<?xf32>)
      config <tile_m = 128, tile_n = 64, work = grid>
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %table: tensor<?xf32>):
        %zero = arith.constant 0.0 : f32
        attn.yield %zero : f32
      }
      : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}
