// The tile program of the row statistics: one block of rows, no loop.
// RUN: attn-opt %s --attn-configure --attn-tile-delta | FileCheck %s -enable-var-scope --implicit-check-not=tile.for
// RUN: attn-opt %s --attn-configure | FileCheck %s --check-prefix=CONFIG
// RUN: sed 's/x72xbf16/x64xbf16/g' %s | attn-opt --attn-configure | FileCheck %s --check-prefix=WHOLE

// Tiles have columns for matrix instructions: 80 for 72 columns of V.
// CONFIG: attn.delta {{.*}} config <tile_m = 64, tile_n = 1, work = grid, tile_d = 80, tile_dv = 80>
// WHOLE: attn.delta {{.*}} config <tile_m = 64, tile_n = 1, work = grid>

// CHECK: tile.kernel @statistics args ["o" output ("b", "hq", "sq", "dv"), "do" output_gradient ("b", "hq", "sq", "dv"), "lse" lse ("b", "hq", "sq"), "dlse" lse_gradient ("b", "hq", "sq"), "dl" delta write ("b", "hq", "sr"), "lse2" lse2 write ("b", "hq", "sr")]
// CHECK-SAME: problem <kind = delta, dtype = bf16, head_dim = 72, head_dim_v = 72, layout = bhsd,
// CHECK-SAME: attn.checks = [{equals = 1 : i64, expr = #launch.apply<ge(sr, sq)>, message = "expected at least {sq} rows of statistics, one for each query, got {sr}"}, {equals = 1 : i64, expr = #launch.apply<ge(mul(sq, {{[0-9]+}}), sr)>, message = "expected no rows of statistics without queries, got {sr}"}
// CHECK: %[[QUERIES:.*]] = arith.index_cast
// CHECK: tile.work
// CHECK: tile.step @next
// CHECK: tile.step @ld_o
// CHECK: tile.load {{.*}} -> tensor<64x80xbf16>
// CHECK: tile.step @ld_do
// CHECK: tile.step @ld_lse
// CHECK: tile.step @ld_dlse
// CHECK: tile.step @dot
// CHECK: %[[A:.*]] = arith.extf %{{.*}} : tensor<64x80xbf16> to tensor<64x80xf32>
// CHECK: %[[B:.*]] = arith.extf
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK: tile.reduce add %[[PRODUCT]] dim 1 : tensor<64x80xf32> -> tensor<64xf32>
// CHECK: tile.step @stats
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: tensor<64xf32>, %[[LSE:.*]]: tensor<64xf32>, %[[DLSE:.*]]: tensor<64xf32>, %{{.*}}: !tile.work):
// CHECK: %[[PAST:.*]] = arith.cmpi sge
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[LSE]]
// CHECK: %[[EMPTY:.*]] = arith.ori %[[PAST]], %[[NONE]]
// CHECK: %[[DELTA:.*]] = arith.subf %[[SUM]], %[[DLSE]]
// CHECK: %[[LSE2:.*]] = arith.mulf %[[LSE]]
// CHECK: arith.select %[[EMPTY]], %{{.*}}, %[[DELTA]]
// CHECK: arith.select %[[EMPTY]], %{{.*}}, %[[LSE2]]
// CHECK: tile.step @st_dl
// CHECK: tile.step @st_lse2
func.func @statistics(%o: tensor<?x?x?x72xbf16>, %do: tensor<?x?x?x72xbf16>, %lse: tensor<?x?x?xf32>, %dlse: tensor<?x?x?xf32>)
    -> (tensor<?x?x?xf32>, tensor<?x?x?xf32>) {
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bhsd) : (tensor<?x?x?x72xbf16>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %delta, %lse2 : tensor<?x?x?xf32>, tensor<?x?x?xf32>
}

// Zeros for sums of dQ and the turns of those who add, in the rows of the statistics.
// CHECK-LABEL: tile.kernel @zeros
// CHECK-SAME: "lse2" lse2 write ("b", "hq", "sr"), "dqs" query_gradient_sums write ("b", "hq", "sr", "sc"), "dq_turns" turns write ("b", "hq", "sr")]
// CHECK: tile.step @st_zero
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK: tile.store_reg %[[ZERO]], %[[SUMS:[^ ]*]]
// CHECK: tile.step @st_turns
// CHECK: tile.store_row
// CHECK: tile.step @dot
func.func @zeros(%o: tensor<?x?x?x64xbf16>, %do: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>, %dlse: tensor<?x?x?xf32>)
    -> (tensor<?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?xi32>) {
  %r:4 = attn.delta %o, %do, %lse, %dlse layout(bhsd)
      : (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32> sums tensor<?x?x?x64xf32> turns tensor<?x?x?xi32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?xi32>
}
