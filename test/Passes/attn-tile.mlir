// attn-tile: a kernel in full, and the effects of its config.
// RUN: attn-opt %s --attn-tile | FileCheck %s

!q = tensor<?x?x?x128xbf16>
!v = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// CHECK-LABEL: tile.kernel @causal
// CHECK-SAME: args ["q" query ("b", "sq", "hq", "d"), "k" key ("b", "sk", "hk", "d"), "v" value ("b", "sk", "hk", "dv"), "scale" scale from 1.17549435E-38 to 2.35865744E+38, "o" output write ("b", "sq", "hq", "dv"), "lse" lse write ("b", "hq", "sq")]
// CHECK-SAME: problem <kind = fwd, dtype = bf16, head_dim = 128, head_dim_v = 64, layout = bshd, mask = causal_bottom_right, score_region = absent, mask_region = absent> config <tile_m = 128, tile_n = 64, work = grid>
// CHECK-SAME: attn.checks = [{equals = 0 : i64, expr = #launch.apply<mod(hq, max(hk, 1))>, message = "{hq} query heads are not a multiple of {hk} key/value heads"}
// CHECK-SAME: {equals = 1 : i64, expr = #launch.apply<lt(max(sq, sk), 2147418112)>, message = "expected sequence lengths below 2147418112, got {sq} queries and {sk} keys"}
// CHECK-SAME: {equals = 1 : i64, expr = #launch.apply<lt(items, 2147418112)>,
// CHECK-NEXT: ^bb0(%[[Q:.*]]: tensor<?x?x?x128xbf16>, %[[K:.*]]: tensor<?x?x?x128xbf16>, %[[V:.*]]: tensor<?x?x?x64xbf16>, %[[SCALE:.*]]: f32, %[[O:.*]]: tensor<?x?x?x64xbf16>, %[[LSE:.*]]: tensor<?x?x?xf32>):

// Sizes come from Q and K. A work item is a block of queries of one head of one batch.
// CHECK-DAG: %[[D:.*]] = tensor.dim %[[Q]], %c0
// CHECK-DAG: %[[BATCHES:.*]] = arith.index_cast %[[D]]
// CHECK: %[[D1:.*]] = tensor.dim %[[Q]], %c1
// CHECK-NEXT: %[[SQ:.*]] = arith.index_cast %[[D1]]
// CHECK-NEXT: %[[D2:.*]] = tensor.dim %[[Q]], %c2
// CHECK-NEXT: %[[HQ:.*]] = arith.index_cast %[[D2]]
// CHECK-NEXT: %[[D3:.*]] = tensor.dim %[[K]], %c1
// CHECK-NEXT: %[[SK:.*]] = arith.index_cast %[[D3]]
// CHECK-NEXT: %[[D4:.*]] = tensor.dim %[[K]], %c2
// CHECK-NEXT: %[[HK:.*]] = arith.index_cast %[[D4]]
// CHECK-NEXT: %[[GROUP:.*]] = arith.divsi %[[HQ]], %[[HK]]
// CHECK: %[[TM:.*]] = arith.constant 128 : i32
// CHECK: %[[TN:.*]] = arith.constant 64 : i32
// CHECK: %[[BLOCKS:.*]] = arith.ceildivsi %[[SQ]], %[[TM]]
// CHECK: %[[W:.*]] = tile.step @next()
// CHECK-NEXT: tile.next_work extents(%[[BLOCKS]], %[[HQ]], %[[BATCHES]])
// CHECK: %[[LD_Q:.*]] = tile.step @ld_q(%[[W]]) : (!tile.work) -> tensor<128x128xbf16>
// CHECK: %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords
// CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[BLOCK]], %[[TM]]
// CHECK-NEXT: tile.load %[[Q]] at(%[[BATCH]], %[[HEAD]], %[[ROW]]) #[[BSHD:.*]] : tensor<?x?x?x128xbf16>

// CHECK: %[[B:.*]]:3 = tile.bounds %[[W]]
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
// CHECK-NEXT: %[[LOOP:.*]] = tile.for ranges <down [masked, full]> bounds(%[[B]]#0, %[[B]]#1, %[[B]]#2) init(%[[ZERO]])
// CHECK-NEXT: ^bb0(%[[J:.*]]: i32, %[[STATE:.*]]: tensor<128x64xf32>):

// Query heads share K and V.
// CHECK: %[[LD_K:.*]] = tile.step @ld_k(%[[W]]) : (!tile.work) -> tensor<64x128xbf16>
// CHECK: %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[GROUP]]
// CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[J]], %[[TN]]
// CHECK-NEXT: tile.load %[[K]] at(%[[BATCH]], %[[KV_HEAD]], %[[ROW]]) #[[BSHD]]
// CHECK: %[[LD_V:.*]] = tile.step @ld_v(%[[W]]) : (!tile.work) -> tensor<64x64xbf16>
// CHECK: %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[GROUP]]
// CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[J]], %[[TN]]
// CHECK-NEXT: tile.load %[[V]] at(%[[BATCH]], %[[KV_HEAD]], %[[ROW]]) #[[BSHD]]

// CHECK: %[[QK:.*]] = tile.step @qk(%[[LD_Q]], %[[LD_K]])
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<128x128xbf16>, %[[B:.*]]: tensor<64x128xbf16>):
// CHECK-NEXT: tile.mma %[[A]], %[[B]] transpose_b : tensor<128x128xbf16>, tensor<64x128xbf16> -> tensor<128x64xf32>
// CHECK: %[[SCORE:.*]] = tile.step @score(%[[QK]], %[[W]])
// CHECK-NEXT: ^bb0(%[[S:.*]]: tensor<128x64xf32>, %{{.*}}: !tile.work):
// CHECK-NEXT: tile.yield %[[S]]
// CHECK: %[[MASK:.*]] = tile.step @mask masked(%[[SCORE]], %[[W]])
// CHECK: %[[ATTEND:.*]] = tile.step @attend(%[[MASK]], %[[LD_V]], %[[STATE]])
// CHECK-NEXT: ^bb0(%[[S:.*]]: tensor<128x64xf32>, %[[VT:.*]]: tensor<64x64xbf16>, %[[X:.*]]: tensor<128x64xf32>):
// CHECK-NEXT: tile.attend %[[S]], %[[VT]] state(%[[X]]) scale(%[[SCALE]])
// CHECK: tile.yield %[[ATTEND]]

// CHECK: %[[R:.*]]:2 = tile.step @attend_result(%[[LOOP]]) : (tensor<128x64xf32>) -> (tensor<128x64xf32>, tensor<128xf32>)
// CHECK: %[[CVT:.*]] = tile.step @cvt_o(%[[R]]#0)
// CHECK: arith.truncf %{{.*}} : tensor<128x64xf32> to tensor<128x64xbf16>
// CHECK: tile.step @st_o(%[[CVT]], %[[W]])
// CHECK: %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords
// CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[BLOCK]], %[[TM]]
// CHECK-NEXT: tile.store %{{.*}}, %[[O]] at(%[[BATCH]], %[[HEAD]], %[[ROW]]) #[[BSHD]]
// CHECK: tile.step @st_lse(%[[R]]#1, %[[W]])
// CHECK: %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords
// CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[BLOCK]], %[[TM]]
// CHECK-NEXT: tile.store_row %{{.*}}, %[[LSE]] at(%[[BATCH]], %[[HEAD]], %[[ROW]])
func.func @causal(%q: !q, %k: !q, %v: !v, %scale: f32)
    -> (!v, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      config <tile_m = 128, tile_n = 64, work = grid>
      : (!q, !q, !v) -> (!v, !lse)
  return %o, %lse : !v, !lse
}

// Functions without attention, and kernels, stay as they are.
// CHECK-LABEL: func.func @other(
// CHECK-SAME: %[[X:.*]]: f32) -> f32 {
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[X]] : f32
// CHECK-NEXT: return %[[Y]] : f32
func.func @other(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func private @declared(f32)
func.func private @declared(f32)

// Heads whose K and V are at most 16 MiB, 384 bytes a key: so many key heads as keys fit
// 43690 times, at least one, in sections of one size, each with its group of query heads.
// CHECK-LABEL: tile.kernel @sections
// CHECK-SAME: order = longest_first, section_mib = 16
// CHECK-DAG: %[[BATCHES:.*]] = arith.index_cast %dim : index to i32
// CHECK: %[[BLOCKS:.*]] = arith.ceildivsi
// CHECK: %[[HK:.*]] = arith.divsi %[[HQ:.*]], %[[GROUP:.*]] : i32
// CHECK-NEXT: %[[HEADS:.*]] = arith.muli %[[BATCHES]], %[[HK]] : i32
// CHECK: %[[KEYS:.*]] = arith.constant 43690 : i32
// CHECK: %[[LENGTH:.*]] = arith.maxsi %{{.*}}, %[[ONE:.*]] : i32
// CHECK-NEXT: %[[MOST:.*]] = arith.divsi %[[KEYS]], %[[LENGTH]] : i32
// CHECK-NEXT: %[[WIDTH:.*]] = arith.maxsi %[[MOST]], %[[ONE]] : i32
// CHECK-NEXT: %[[COUNT:.*]] = arith.ceildivsi %[[HEADS]], %[[WIDTH]] : i32
// CHECK-NEXT: %[[SECTIONS:.*]] = arith.maxsi %[[COUNT]], %[[ONE]] : i32
// CHECK-NEXT: %[[EVEN:.*]] = arith.ceildivsi %[[HEADS]], %[[SECTIONS]] : i32
// CHECK-NEXT: %[[SECTION:.*]] = arith.muli %[[EVEN]], %[[GROUP]] : i32
// CHECK: tile.next_work extents(%[[BLOCKS]], %[[HQ]], %[[BATCHES]]) section(%[[SECTION]])
func.func @sections(%q: !q, %k: !q, %v: !v, %scale: f32)
    -> (!v, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      config <tile_m = 128, tile_n = 64, work = dynamic, order = longest_first, section_mib = 16>
      : (!q, !q, !v) -> (!v, !lse)
  return %o, %lse : !v, !lse
}

// An item of a cluster is the rows of both its CTAs, each of which has a tile of them.
// CHECK-LABEL: tile.kernel @clusters
// CHECK: %[[BOTH:.*]] = arith.constant 256 : i32
// CHECK: %[[BLOCKS:.*]] = arith.ceildivsi %{{.*}}, %[[BOTH]] : i32
// CHECK: tile.next_work extents(%[[BLOCKS]],
// CHECK: tile.step @ld_q(%{{.*}}) : (!tile.work) -> tensor<128x64xbf16> {
func.func @clusters(%q: !v, %k: !v, %v: !v, %scale: f32)
    -> (!v, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 64, work = grid, cluster = 2>
      : (!v, !v, !v) -> (!v, !lse)
  return %o, %lse : !v, !lse
}
