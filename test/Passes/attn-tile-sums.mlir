// The tile programs that clear the sums of dQ and that convert them: one block of rows, no loop.
// RUN: attn-opt %s --attn-configure --attn-tile-sums | FileCheck %s -enable-var-scope --implicit-check-not=tile.for

// CHECK: tile.kernel @clear args ["dqs" query_gradient_sums write ("b", "hq", "sr", "sc")] problem <kind = clear, dtype = bf16, head_dim = 64,
// CHECK: tile.step @next
// CHECK: tile.step @st_zero
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK: tile.store_reg %[[ZERO]], %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) #{{.*}} : tensor<64x64xf32>, tensor<?x?x?x64xf32>
func.func @clear() -> tensor<?x?x?x64xf32> {
  %sums = attn.clear_sums dtype(bf16) sums tensor<?x?x?x64xf32>
  return %sums : tensor<?x?x?x64xf32>
}

// Those who add take turns: the first has number 0.
// CHECK: tile.kernel @turns args ["dqs" query_gradient_sums write ("b", "hq", "sr", "sc"), "dq_turns" turns write ("b", "hq", "sr")]
// CHECK: tile.step @st_turns
// CHECK: %[[FIRST:.*]] = arith.constant dense<0> : tensor<64xi32>
// CHECK: tile.store_row %[[FIRST]], %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) : tensor<64xi32>, tensor<?x?x?xi32>
func.func @turns() -> (tensor<?x?x?x64xf32>, tensor<?x?x?xi32>) {
  %sums, %turns = attn.clear_sums dtype(bf16) sums tensor<?x?x?x64xf32> turns tensor<?x?x?xi32>
  return %sums, %turns : tensor<?x?x?x64xf32>, tensor<?x?x?xi32>
}

// Turns alone, of sums that need no zeros.
// CHECK: tile.kernel @turns_alone args ["dq_turns" turns write ("b", "hq", "sr")]
// CHECK: tile.step @st_zero(%{{.*}}) : (!tile.work) -> () {
// CHECK-NOT: tile.store_reg
// CHECK: tile.step @st_turns
// CHECK: tile.store_row
func.func @turns_alone() -> tensor<?x?x?xi32> {
  %turns = attn.clear_sums dtype(bf16) turns tensor<?x?x?xi32>
  return %turns : tensor<?x?x?xi32>
}

// Blocks of queries without a share have the gradient 0.
// CHECK: tile.kernel @shares args ["dqs" query_gradient_sums ("b", "hq", "sr", "sc"), "dq_turns" turns ("b", "hq", "sr"), "scale" scale,
// CHECK: tile.step @ld_turn
// CHECK: %[[ROW:.*]] = tile.coords
// CHECK: %[[OF:.*]] = arith.constant dense<128> : tensor<64xi32>
// CHECK: %[[BLOCK:.*]] = arith.divui %[[ROW]], %[[OF]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]]
// CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}, %[[FIRST]] : i32, i32, tensor<64xi32>] : tensor<?x?x?xi32> -> tensor<64xi32>
// CHECK: tile.step @cvt_dq
// CHECK: %[[SCALED:.*]] = arith.mulf
// CHECK: %[[STORED:.*]] = arith.cmpi ne
// CHECK: arith.select %[[STORED]], %[[SCALED]]
func.func @shares(%sums: tensor<?x?x?x64xf32>, %turns: tensor<?x?x?xi32>, %scale: f32) -> tensor<?x?x?x64xbf16> {
  %dq = attn.convert_sums %sums turns(%turns : tensor<?x?x?xi32>) of 128 scale(%scale) layout(bshd) : tensor<?x?x?x64xf32> -> tensor<?x?x?x64xbf16>
  return %dq : tensor<?x?x?x64xbf16>
}

// The rows of the result may be fewer than those of the sums.
// CHECK: tile.kernel @convert args ["dqs" query_gradient_sums ("b", "hq", "sr", "sc"), "scale" scale, "dq" query_gradient write ("b", "sq", "hq", "d")]
// CHECK-SAME: problem <kind = convert, dtype = f16, head_dim = 64,
// CHECK-SAME: attn.checks = [{{.*}}, {equals = 1 : i64, expr = #launch.apply<ge(sr, sq)>, message = "expected at least {sq} rows of sums, one for each query, got {sr}"}]
// CHECK: tile.step @ld_sums
// CHECK: tile.load %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) #{{.*}} grouped : tensor<?x?x?x64xf32> -> tensor<64x64xf32>
// CHECK: tile.step @cvt_dq
// CHECK: arith.mulf
// CHECK: arith.truncf {{.*}} : tensor<64x64xf32> to tensor<64x64xf16>
// CHECK: tile.step @st_dq
// CHECK: tile.store_reg {{.*}} : tensor<64x64xf16>, tensor<?x?x?x64xf16>
func.func @convert(%sums: tensor<?x?x?x64xf32>, %scale: f32) -> tensor<?x?x?x64xf16> {
  %dq = attn.convert_sums %sums scale(%scale) layout(bshd) : tensor<?x?x?x64xf32> -> tensor<?x?x?x64xf16>
  return %dq : tensor<?x?x?x64xf16>
}

// Sums with more columns than the gradient, which is stored without them.
// CHECK: tile.kernel @padded
// CHECK: tile.load {{.*}} grouped : tensor<?x?x?x96xf32> -> tensor<64x96xf32>
// CHECK: tile.store_reg {{.*}} : tensor<64x96xbf16>, tensor<?x?x?x72xbf16>
func.func @padded(%sums: tensor<?x?x?x96xf32>, %scale: f32) -> tensor<?x?x?x72xbf16> {
  %dq = attn.convert_sums %sums scale(%scale) layout(bshd) : tensor<?x?x?x96xf32> -> tensor<?x?x?x72xbf16>
  return %dq : tensor<?x?x?x72xbf16>
}

// Sums of transposed shares, in blocks of other rows.
// CHECK: tile.kernel @transposed
// CHECK-SAME: message = "expected full blocks of 80 rows of sums, got {sr} rows"
// CHECK: tile.load {{.*}} grouped transposed(80) : tensor<?x?x?x64xf32> -> tensor<64x64xf32>
func.func @transposed(%sums: tensor<?x?x?x64xf32>, %scale: f32) -> tensor<?x?x?x64xbf16> {
  %dq = attn.convert_sums %sums scale(%scale) layout(bshd) transposed(80) : tensor<?x?x?x64xf32> -> tensor<?x?x?x64xbf16>
  return %dq : tensor<?x?x?x64xbf16>
}
