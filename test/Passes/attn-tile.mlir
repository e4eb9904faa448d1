// attn-tile: one kernel in full, then what differs between masks and regions.
// RUN: attn-opt %s --attn-tile | FileCheck %s

// CHECK: #[[$MAP:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>

// Keys 0 .. i + SK - SQ: the last query sees every key. Head dim of V: 64.
// CHECK-LABEL: tile.kernel @causal
// CHECK-SAME: args ["q" ("b", "sq", "hq", "d"), "k" ("b", "sk", "hk", "d"), "v" ("b", "sk", "hk", "dv"), "scale" from 1.17549435E-38 to 2.35865744E+38, "o" write ("b", "sq", "hq", "dv"), "lse" write ("b", "hq", "sq")] problem <kind = fwd, dtype = bf16, head_dim = 128, head_dim_v = 64, layout = bshd, mask = causal_bottom_right, score_region = absent, mask_region = absent> config <tile_m = 128, tile_n = 64, work = grid>
// CHECK-SAME: attn.checks = {{\[\[\[}}"mod", "hq", ["max", "hk", 1]], 0, "{hq} query heads are not a multiple of {hk} key/value heads"],
// CHECK-SAME: {{\[\[}}"lt", ["max", "sq", "sk"], 2147418112], 1, "expected sequence lengths below 2147418112, got {sq} queries and {sk} keys"]
// CHECK-SAME: {{\[\[}}"lt", "items", 2147418112], 1,
// CHECK-SAME: attn.sizes = {batches = "b", heads = "hq", seqlen_k = "sk", seqlen_q = "sq"}
// CHECK-NEXT: ^bb0(%[[Q:.*]]: tensor<?x?x?x128xbf16>, %[[K:.*]]: tensor<?x?x?x128xbf16>, %[[V:.*]]: tensor<?x?x?x64xbf16>, %[[SCALE:.*]]: f32, %[[O:.*]]: tensor<?x?x?x64xbf16>, %[[LSE:.*]]: tensor<?x?x?xf32>):
// CHECK-NEXT:   %[[C:.*]] = arith.constant 0 : index
// CHECK-NEXT:   %[[C1:.*]] = arith.constant 1 : index
// CHECK-NEXT:   %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT:   %[[DIM:.*]] = tensor.dim %[[Q]], %[[C]] : tensor<?x?x?x128xbf16>
// CHECK-NEXT:   %[[BATCHES:.*]] = arith.index_cast %[[DIM]] : index to i32
// CHECK-NEXT:   %[[DIM1:.*]] = tensor.dim %[[Q]], %[[C1]] : tensor<?x?x?x128xbf16>
// CHECK-NEXT:   %[[SQ:.*]] = arith.index_cast %[[DIM1]] : index to i32
// CHECK-NEXT:   %[[DIM2:.*]] = tensor.dim %[[Q]], %[[C2]] : tensor<?x?x?x128xbf16>
// CHECK-NEXT:   %[[HQ:.*]] = arith.index_cast %[[DIM2]] : index to i32
// CHECK-NEXT:   %[[DIM3:.*]] = tensor.dim %[[K]], %[[C1]] : tensor<?x?x?x128xbf16>
// CHECK-NEXT:   %[[SK:.*]] = arith.index_cast %[[DIM3]] : index to i32
// CHECK-NEXT:   %[[DIM4:.*]] = tensor.dim %[[K]], %[[C2]] : tensor<?x?x?x128xbf16>
// CHECK-NEXT:   %[[HK:.*]] = arith.index_cast %[[DIM4]] : index to i32
// CHECK-NEXT:   %[[GROUP:.*]] = arith.divsi %[[HQ]], %[[HK]] : i32
// CHECK-NEXT:   %[[TM:.*]] = arith.constant 128 : i32
// CHECK-NEXT:   %[[TN:.*]] = arith.constant 64 : i32
// CHECK-NEXT:   %[[CEILDIVSI:.*]] = arith.ceildivsi %[[SQ]], %[[TM]] : i32
// CHECK-NEXT:   tile.work {
// CHECK-NEXT:     %[[NEXT:.*]] = tile.step @next() : () -> !tile.work {
// CHECK-NEXT:       %[[NEXT1:.*]] = tile.next_work extents(%[[CEILDIVSI]], %[[HQ]], %[[BATCHES]])
// CHECK-NEXT:       tile.yield %[[NEXT1]] : !tile.work
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[LD_Q:.*]] = tile.step @ld_q(%[[NEXT]]) : (!tile.work) -> tensor<128x128xbf16> {
// CHECK-NEXT:     ^bb0(%[[A:.*]]: !tile.work):
// CHECK-NEXT:       %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[A]]
// CHECK-NEXT:       %[[ROW:.*]] = arith.muli %[[BLOCK]], %[[TM]] : i32
// CHECK-NEXT:       %[[LOAD:.*]] = tile.load %[[Q]] at(%[[BATCH]], %[[HEAD]], %[[ROW]]) #[[$MAP]] : tensor<?x?x?x128xbf16> -> tensor<128x128xbf16>
// CHECK-NEXT:       tile.yield %[[LOAD]] : tensor<128x128xbf16>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[BOUNDS:.*]]:3 = tile.bounds %[[NEXT]] : i32, i32, i32 {
// CHECK-NEXT:     ^bb0(%[[A1:.*]]: !tile.work):
// CHECK-NEXT:       %[[ROW1:.*]], %[[ROWS:.*]] = tile.owned_rows %[[A1]]
// CHECK-NEXT:       %[[C5:.*]] = arith.constant 0 : i32
// CHECK-NEXT:       %[[SUBI:.*]] = arith.subi %[[SK]], %[[SQ]] : i32
// CHECK-NEXT:       %[[ADDI:.*]] = arith.addi %[[ROW1]], %[[SUBI]] : i32
// CHECK-NEXT:       %[[ADDI1:.*]] = arith.addi %[[ADDI]], %[[ROWS]] : i32
// CHECK-NEXT:       %[[MINSI:.*]] = arith.minsi %[[SK]], %[[ADDI1]] : i32
// CHECK-NEXT:       %[[MAXSI:.*]] = arith.maxsi %[[MINSI]], %[[C5]] : i32
// CHECK-NEXT:       %[[CEILDIVSI1:.*]] = arith.ceildivsi %[[MAXSI]], %[[TN]] : i32
// CHECK-NEXT:       %[[C6:.*]] = arith.constant 1 : i32
// CHECK-NEXT:       %[[ADDI2:.*]] = arith.addi %[[ADDI]], %[[C6]] : i32
// CHECK-NEXT:       %[[MINSI1:.*]] = arith.minsi %[[SK]], %[[ADDI2]] : i32
// CHECK-NEXT:       %[[MAXSI1:.*]] = arith.maxsi %[[MINSI1]], %[[C5]] : i32
// CHECK-NEXT:       %[[DIVSI1:.*]] = arith.divsi %[[MAXSI1]], %[[TN]] : i32
// CHECK-NEXT:       tile.yield %[[CEILDIVSI1]], %[[DIVSI1]], %[[C5]] : i32, i32, i32
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[C7:.*]] = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
// CHECK-NEXT:     %[[LOOP:.*]] = tile.for ranges <down [masked, full]> bounds(%[[BOUNDS]]#0, %[[BOUNDS]]#1, %[[BOUNDS]]#2) init(%[[C7]]) : (tensor<128x64xf32>) -> tensor<128x64xf32> {
// CHECK-NEXT:     ^bb0(%[[A2:.*]]: i32, %[[A3:.*]]: tensor<128x64xf32>):
// CHECK-NEXT:       %[[LD_K:.*]] = tile.step @ld_k(%[[NEXT]]) : (!tile.work) -> tensor<64x128xbf16> {
// CHECK-NEXT:       ^bb0(%[[A4:.*]]: !tile.work):
// CHECK-NEXT:         %[[BLOCK2:.*]], %[[HEAD2:.*]], %[[BATCH2:.*]] = tile.work_coords %[[A4]]
// CHECK-NEXT:         %[[DIVSI2:.*]] = arith.divui %[[HEAD2]], %[[GROUP]] : i32
// CHECK-NEXT:         %[[ROW2:.*]] = arith.muli %[[A2]], %[[TN]] : i32
// CHECK-NEXT:         %[[LOAD1:.*]] = tile.load %[[K]] at(%[[BATCH2]], %[[DIVSI2]], %[[ROW2]]) #[[$MAP]] : tensor<?x?x?x128xbf16> -> tensor<64x128xbf16>
// CHECK-NEXT:         tile.yield %[[LOAD1]] : tensor<64x128xbf16>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[LD_V:.*]] = tile.step @ld_v(%[[NEXT]]) : (!tile.work) -> tensor<64x64xbf16> {
// CHECK-NEXT:       ^bb0(%[[A5:.*]]: !tile.work):
// CHECK-NEXT:         %[[BLOCK3:.*]], %[[HEAD3:.*]], %[[BATCH3:.*]] = tile.work_coords %[[A5]]
// CHECK-NEXT:         %[[DIVSI3:.*]] = arith.divui %[[HEAD3]], %[[GROUP]] : i32
// CHECK-NEXT:         %[[ROW3:.*]] = arith.muli %[[A2]], %[[TN]] : i32
// CHECK-NEXT:         %[[LOAD2:.*]] = tile.load %[[V]] at(%[[BATCH3]], %[[DIVSI3]], %[[ROW3]]) #[[$MAP]] : tensor<?x?x?x64xbf16> -> tensor<64x64xbf16>
// CHECK-NEXT:         tile.yield %[[LOAD2]] : tensor<64x64xbf16>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[QK:.*]] = tile.step @qk(%[[LD_Q]], %[[LD_K]]) : (tensor<128x128xbf16>, tensor<64x128xbf16>) -> tensor<128x64xf32> {
// CHECK-NEXT:       ^bb0(%[[A6:.*]]: tensor<128x128xbf16>, %[[A7:.*]]: tensor<64x128xbf16>):
// CHECK-NEXT:         %[[MMA:.*]] = tile.mma %[[A6]], %[[A7]] transpose_b : tensor<128x128xbf16>, tensor<64x128xbf16> -> tensor<128x64xf32>
// CHECK-NEXT:         tile.yield %[[MMA]] : tensor<128x64xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[SCORE:.*]] = tile.step @score(%[[QK]], %[[NEXT]]) : (tensor<128x64xf32>, !tile.work) -> tensor<128x64xf32> {
// CHECK-NEXT:       ^bb0(%[[A8:.*]]: tensor<128x64xf32>, %[[A9:.*]]: !tile.work):
// CHECK-NEXT:         tile.yield %[[A8]] : tensor<128x64xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[MASK:.*]] = tile.step @mask masked(%[[SCORE]], %[[NEXT]]) : (tensor<128x64xf32>, !tile.work) -> tensor<128x64xf32> {
// CHECK-NEXT:       ^bb0(%[[A10:.*]]: tensor<128x64xf32>, %[[A11:.*]]: !tile.work):
// CHECK-NEXT:         %[[BLOCK4:.*]], %[[HEAD4:.*]], %[[BATCH4:.*]] = tile.work_coords %[[A11]]
// CHECK-NEXT:         %[[ROW4:.*]] = arith.muli %[[BLOCK4]], %[[TM]] : i32
// CHECK-NEXT:         %[[AT:.*]] = tile.coords %[[ROW4]] dim 0 : tensor<128x64xi32>
// CHECK-NEXT:         %[[ROW5:.*]] = arith.muli %[[A2]], %[[TN]] : i32
// CHECK-NEXT:         %[[AT1:.*]] = tile.coords %[[ROW5]] dim 1 : tensor<128x64xi32>
// CHECK-NEXT:         %[[SPLAT1:.*]] = tensor.splat %[[SK]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[SUBI1:.*]] = arith.subi %[[SK]], %[[SQ]] : i32
// CHECK-NEXT:         %[[SPLAT:.*]] = tensor.splat %[[SUBI1]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[ADDI3:.*]] = arith.addi %[[AT]], %[[SPLAT]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[C1:.*]] = arith.constant 1 : i32
// CHECK-NEXT:         %[[ONE:.*]] = tensor.splat %[[C1]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[NEXT_KEY:.*]] = arith.addi %[[ADDI3]], %[[ONE]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[END:.*]] = arith.minsi %[[SPLAT1]], %[[NEXT_KEY]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[ANDI:.*]] = arith.cmpi slt, %[[AT1]], %[[END]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[C8:.*]] = arith.constant dense<0xFF800000> : tensor<128x64xf32>
// CHECK-NEXT:         %[[SELECT:.*]] = arith.select %[[ANDI]], %[[A10]], %[[C8]] : tensor<128x64xi1>, tensor<128x64xf32>
// CHECK-NEXT:         tile.yield %[[SELECT]] : tensor<128x64xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[ATTEND:.*]] = tile.step @attend(%[[MASK]], %[[LD_V]], %[[A3]]) : (tensor<128x64xf32>, tensor<64x64xbf16>, tensor<128x64xf32>) -> tensor<128x64xf32> {
// CHECK-NEXT:       ^bb0(%[[A12:.*]]: tensor<128x64xf32>, %[[A13:.*]]: tensor<64x64xbf16>, %[[A14:.*]]: tensor<128x64xf32>):
// CHECK-NEXT:         %[[ATTEND1:.*]] = tile.attend %[[A12]], %[[A13]] state(%[[A14]]) scale(%[[SCALE]]) : tensor<128x64xf32>, tensor<64x64xbf16> -> tensor<128x64xf32>
// CHECK-NEXT:         tile.yield %[[ATTEND1]] : tensor<128x64xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       tile.yield %[[ATTEND]] : tensor<128x64xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[ATTEND_RESULT:.*]]:2 = tile.step @attend_result(%[[LOOP]]) : (tensor<128x64xf32>) -> (tensor<128x64xf32>, tensor<128xf32>) {
// CHECK-NEXT:     ^bb0(%[[A15:.*]]: tensor<128x64xf32>):
// CHECK-NEXT:       %[[ATTEND_RESULT1:.*]], %[[ATTEND_RESULT2:.*]] = tile.attend_result %[[A15]] : tensor<128x64xf32> -> tensor<128x64xf32>, tensor<128xf32>
// CHECK-NEXT:       tile.yield %[[ATTEND_RESULT1]], %[[ATTEND_RESULT2]] : tensor<128x64xf32>, tensor<128xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[CVT_O:.*]] = tile.step @cvt_o(%[[ATTEND_RESULT]]#0) : (tensor<128x64xf32>) -> tensor<128x64xbf16> {
// CHECK-NEXT:     ^bb0(%[[A16:.*]]: tensor<128x64xf32>):
// CHECK-NEXT:       %[[TRUNCF:.*]] = arith.truncf %[[A16]] : tensor<128x64xf32> to tensor<128x64xbf16>
// CHECK-NEXT:       tile.yield %[[TRUNCF]] : tensor<128x64xbf16>
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.step @st_o(%[[CVT_O]], %[[NEXT]]) : (tensor<128x64xbf16>, !tile.work) -> () {
// CHECK-NEXT:     ^bb0(%[[A17:.*]]: tensor<128x64xbf16>, %[[A18:.*]]: !tile.work):
// CHECK-NEXT:       %[[BLOCK5:.*]], %[[HEAD5:.*]], %[[BATCH5:.*]] = tile.work_coords %[[A18]]
// CHECK-NEXT:       %[[ROW6:.*]] = arith.muli %[[BLOCK5]], %[[TM]] : i32
// CHECK-NEXT:       tile.store %[[A17]], %[[O]] at(%[[BATCH5]], %[[HEAD5]], %[[ROW6]]) #[[$MAP]] : tensor<128x64xbf16>, tensor<?x?x?x64xbf16>
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.step @st_lse(%[[ATTEND_RESULT]]#1, %[[NEXT]]) : (tensor<128xf32>, !tile.work) -> () {
// CHECK-NEXT:     ^bb0(%[[A19:.*]]: tensor<128xf32>, %[[A20:.*]]: !tile.work):
// CHECK-NEXT:       %[[BLOCK6:.*]], %[[HEAD6:.*]], %[[BATCH6:.*]] = tile.work_coords %[[A20]]
// CHECK-NEXT:       %[[ROW7:.*]] = arith.muli %[[BLOCK6]], %[[TM]] : i32
// CHECK-NEXT:       tile.store_row %[[A19]], %[[LSE]] at(%[[BATCH6]], %[[HEAD6]], %[[ROW7]]) : tensor<128xf32>, tensor<?x?x?xf32>
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @causal(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      config <tile_m = 128, tile_n = 64, work = grid>
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}

// Without a mask only the end of the keys is masked.
// CHECK-LABEL: tile.kernel @full args [{{[^]]*}}] problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent> config <tile_m = 128, tile_n = 64, work = grid>
// CHECK-NEXT: ^bb0(%[[Q:.*]]: tensor<?x?x?x64xbf16>, %[[K:.*]]: tensor<?x?x?x64xbf16>, %[[V:.*]]: tensor<?x?x?x64xbf16>, %[[SCALE:.*]]: f32, %[[O:.*]]: tensor<?x?x?x64xbf16>, %[[LSE:.*]]: tensor<?x?x?xf32>):
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[DIM3:.*]] = tensor.dim %[[K]], %[[C1]] : tensor<?x?x?x64xbf16>
// CHECK: %[[SK:.*]] = arith.index_cast %[[DIM3]] : index to i32
// CHECK: %[[TN:.*]] = arith.constant 64 : i32
// CHECK: %[[NEXT:.*]] = tile.step @next() : () -> !tile.work {
// CHECK: %[[LD_Q:.*]] = tile.step @ld_q(%[[NEXT]]) : (!tile.work) -> tensor<128x64xbf16> {
// CHECK: %[[BOUNDS:.*]]:3 = tile.bounds %[[NEXT]] : i32, i32, i32 {
// CHECK-NEXT:     ^bb0(%{{.*}}: !tile.work):
// CHECK-NEXT:       %[[C5:.*]] = arith.constant 0 : i32
// CHECK-NEXT:       %[[CEILDIVSI1:.*]] = arith.ceildivsi %[[SK]], %[[TN]] : i32
// CHECK-NEXT:       %[[DIVSI1:.*]] = arith.divsi %[[SK]], %[[TN]] : i32
// CHECK-NEXT:       tile.yield %[[CEILDIVSI1]], %[[DIVSI1]], %[[C5]] : i32, i32, i32
// CHECK-NEXT:     }
// CHECK: ^bb0(%[[A2:.*]]: i32, %[[A3:.*]]: tensor<128x64xf32>):
// CHECK: %[[LD_K:.*]] = tile.step @ld_k(%[[NEXT]]) : (!tile.work) -> tensor<64x64xbf16> {
// CHECK: %[[QK:.*]] = tile.step @qk(%[[LD_Q]], %[[LD_K]]) : (tensor<128x64xbf16>, tensor<64x64xbf16>) -> tensor<128x64xf32> {
// CHECK: %[[SCORE:.*]] = tile.step @score(%[[QK]], %[[NEXT]]) : (tensor<128x64xf32>, !tile.work) -> tensor<128x64xf32> {
// CHECK: %[[MASK:.*]] = tile.step @mask masked(%[[SCORE]], %[[NEXT]]) : (tensor<128x64xf32>, !tile.work) -> tensor<128x64xf32> {
// CHECK-NEXT:       ^bb0(%[[A10:.*]]: tensor<128x64xf32>, %[[A11:.*]]: !tile.work):
// CHECK-NEXT:         %[[BLOCK4:.*]], %[[HEAD4:.*]], %[[BATCH4:.*]] = tile.work_coords %[[A11]]
// CHECK-NEXT:         %[[ROW3:.*]] = arith.muli %[[A2]], %[[TN]] : i32
// CHECK-NEXT:         %[[AT:.*]] = tile.coords %[[ROW3]] dim 1 : tensor<128x64xi32>
// CHECK-NEXT:         %[[SPLAT:.*]] = tensor.splat %[[SK]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[CMPI:.*]] = arith.cmpi slt, %[[AT]], %[[SPLAT]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[C7:.*]] = arith.constant dense<0xFF800000> : tensor<128x64xf32>
// CHECK-NEXT:         %[[SELECT:.*]] = arith.select %[[CMPI]], %[[A10]], %[[C7]] : tensor<128x64xi1>, tensor<128x64xf32>
// CHECK-NEXT:         tile.yield %[[SELECT]] : tensor<128x64xf32>
// CHECK-NEXT:       }
func.func @full(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 64, work = grid>
      : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}

// Keys 0 .. i.
// CHECK-LABEL: tile.kernel @top_left args [{{[^]]*}}] problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = causal_top_left, score_region = absent, mask_region = absent> config <tile_m = 192, tile_n = 128, work = grid>
// CHECK-NEXT: ^bb0(%[[Q:.*]]: tensor<?x?x?x64xbf16>, %[[K:.*]]: tensor<?x?x?x64xbf16>, %[[V:.*]]: tensor<?x?x?x64xbf16>, %[[SCALE:.*]]: f32, %[[O:.*]]: tensor<?x?x?x64xbf16>, %[[LSE:.*]]: tensor<?x?x?xf32>):
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[DIM3:.*]] = tensor.dim %[[K]], %[[C1]] : tensor<?x?x?x64xbf16>
// CHECK: %[[SK:.*]] = arith.index_cast %[[DIM3]] : index to i32
// CHECK: %[[TM:.*]] = arith.constant 192 : i32
// CHECK: %[[TN:.*]] = arith.constant 128 : i32
// CHECK: %[[NEXT:.*]] = tile.step @next() : () -> !tile.work {
// CHECK: %[[LD_Q:.*]] = tile.step @ld_q(%[[NEXT]]) : (!tile.work) -> tensor<192x64xbf16> {
// CHECK: %[[BOUNDS:.*]]:3 = tile.bounds %[[NEXT]] : i32, i32, i32 {
// CHECK-NEXT:     ^bb0(%[[A1:.*]]: !tile.work):
// CHECK-NEXT:       %[[ROW1:.*]], %[[ROWS:.*]] = tile.owned_rows %[[A1]]
// CHECK-NEXT:       %[[C5:.*]] = arith.constant 0 : i32
// CHECK-NEXT:       %[[ADDI:.*]] = arith.addi %[[ROW1]], %[[ROWS]] : i32
// CHECK-NEXT:       %[[MINSI:.*]] = arith.minsi %[[SK]], %[[ADDI]] : i32
// CHECK-NEXT:       %[[MAXSI:.*]] = arith.maxsi %[[MINSI]], %[[C5]] : i32
// CHECK-NEXT:       %[[CEILDIVSI1:.*]] = arith.ceildivsi %[[MAXSI]], %[[TN]] : i32
// CHECK-NEXT:       %[[C6:.*]] = arith.constant 1 : i32
// CHECK-NEXT:       %[[ADDI1:.*]] = arith.addi %[[ROW1]], %[[C6]] : i32
// CHECK-NEXT:       %[[MINSI1:.*]] = arith.minsi %[[SK]], %[[ADDI1]] : i32
// CHECK-NEXT:       %[[MAXSI1:.*]] = arith.maxsi %[[MINSI1]], %[[C5]] : i32
// CHECK-NEXT:       %[[DIVSI1:.*]] = arith.divsi %[[MAXSI1]], %[[TN]] : i32
// CHECK-NEXT:       tile.yield %[[CEILDIVSI1]], %[[DIVSI1]], %[[C5]] : i32, i32, i32
// CHECK-NEXT:     }
// CHECK: ^bb0(%[[A2:.*]]: i32, %[[A3:.*]]: tensor<192x64xf32>):
// CHECK: %[[LD_K:.*]] = tile.step @ld_k(%[[NEXT]]) : (!tile.work) -> tensor<128x64xbf16> {
// CHECK: %[[QK:.*]] = tile.step @qk(%[[LD_Q]], %[[LD_K]]) : (tensor<192x64xbf16>, tensor<128x64xbf16>) -> tensor<192x128xf32> {
// CHECK: %[[SCORE:.*]] = tile.step @score(%[[QK]], %[[NEXT]]) : (tensor<192x128xf32>, !tile.work) -> tensor<192x128xf32> {
// CHECK: %[[MASK:.*]] = tile.step @mask masked(%[[SCORE]], %[[NEXT]]) : (tensor<192x128xf32>, !tile.work) -> tensor<192x128xf32> {
// CHECK-NEXT:       ^bb0(%[[A10:.*]]: tensor<192x128xf32>, %[[A11:.*]]: !tile.work):
// CHECK-NEXT:         %[[BLOCK4:.*]], %[[HEAD4:.*]], %[[BATCH4:.*]] = tile.work_coords %[[A11]]
// CHECK-NEXT:         %[[ROW4:.*]] = arith.muli %[[BLOCK4]], %[[TM]] : i32
// CHECK-NEXT:         %[[AT:.*]] = tile.coords %[[ROW4]] dim 0 : tensor<192x128xi32>
// CHECK-NEXT:         %[[ROW5:.*]] = arith.muli %[[A2]], %[[TN]] : i32
// CHECK-NEXT:         %[[AT1:.*]] = tile.coords %[[ROW5]] dim 1 : tensor<192x128xi32>
// CHECK-NEXT:         %[[SPLAT:.*]] = tensor.splat %[[SK]] : tensor<192x128xi32>
// CHECK-NEXT:         %[[C1:.*]] = arith.constant 1 : i32
// CHECK-NEXT:         %[[ONE:.*]] = tensor.splat %[[C1]] : tensor<192x128xi32>
// CHECK-NEXT:         %[[NEXT_KEY:.*]] = arith.addi %[[AT]], %[[ONE]] : tensor<192x128xi32>
// CHECK-NEXT:         %[[END:.*]] = arith.minsi %[[SPLAT]], %[[NEXT_KEY]] : tensor<192x128xi32>
// CHECK-NEXT:         %[[ANDI:.*]] = arith.cmpi slt, %[[AT1]], %[[END]] : tensor<192x128xi32>
// CHECK-NEXT:         %[[C8:.*]] = arith.constant dense<0xFF800000> : tensor<192x128xf32>
// CHECK-NEXT:         %[[SELECT:.*]] = arith.select %[[ANDI]], %[[A10]], %[[C8]] : tensor<192x128xi1>, tensor<192x128xf32>
// CHECK-NEXT:         tile.yield %[[SELECT]] : tensor<192x128xf32>
// CHECK-NEXT:       }
func.func @top_left(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_top_left) layout(bshd)
      config <tile_m = 192, tile_n = 128, work = grid>
      : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}

// With a mask region every block is masked, and both masks apply.
// CHECK-LABEL: tile.kernel @documents args [{{[^]]*}}] problem <kind = fwd, dtype = bf16, head_dim = 128, head_dim_v = 128, layout = bshd, mask = causal_bottom_right, score_region = absent, mask_region = gathering> config <tile_m = 128, tile_n = 64, work = grid> attributes {{{.*}}attn.region_programs = {mask = {{\[\[}}"index", "index_cast", "b"], ["index", "index_cast", "i"], ["index", "index_cast", "j"], ["i32", "extract", "@c0", "%0", "%1"], ["i32", "extract", "@c0", "%0", "%2"], ["i1", "cmpi.eq", "%3", "%4"], ["i32", "subi", "i", "j"], ["i1", "cmpi.sle", "%6", "@c1"], ["i1", "andi", "%5", "%7"], ["i1", "yield", "%8"]]}, attn.sizes
// CHECK-NEXT: ^bb0(%[[Q:.*]]: tensor<?x?x?x128xbf16>, %[[K:.*]]: tensor<?x?x?x128xbf16>, %[[V:.*]]: tensor<?x?x?x128xbf16>, %[[SCALE:.*]]: f32, %[[IDS:.*]]: tensor<?x?xi32>, %[[WINDOW:.*]]: i32, %[[O:.*]]: tensor<?x?x?x128xbf16>, %[[LSE:.*]]: tensor<?x?x?xf32>):
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[DIM1:.*]] = tensor.dim %[[Q]], %[[C1]] : tensor<?x?x?x128xbf16>
// CHECK: %[[SQ:.*]] = arith.index_cast %[[DIM1]] : index to i32
// CHECK: %[[DIM3:.*]] = tensor.dim %[[K]], %[[C1]] : tensor<?x?x?x128xbf16>
// CHECK: %[[SK:.*]] = arith.index_cast %[[DIM3]] : index to i32
// CHECK: %[[TM:.*]] = arith.constant 128 : i32
// CHECK: %[[TN:.*]] = arith.constant 64 : i32
// CHECK: %[[NEXT:.*]] = tile.step @next() : () -> !tile.work {
// CHECK: %[[LD_Q:.*]] = tile.step @ld_q(%[[NEXT]]) : (!tile.work) -> tensor<128x128xbf16> {
// CHECK: %[[BOUNDS:.*]]:2 = tile.bounds %[[NEXT]] : i32, i32 {
// CHECK-NEXT:     ^bb0(%[[A1:.*]]: !tile.work):
// CHECK-NEXT:       %[[ROW1:.*]], %[[ROWS:.*]] = tile.owned_rows %[[A1]]
// CHECK-NEXT:       %[[C5:.*]] = arith.constant 0 : i32
// CHECK-NEXT:       %[[SUBI:.*]] = arith.subi %[[SK]], %[[SQ]] : i32
// CHECK-NEXT:       %[[ADDI:.*]] = arith.addi %[[ROW1]], %[[SUBI]] : i32
// CHECK-NEXT:       %[[ADDI1:.*]] = arith.addi %[[ADDI]], %[[ROWS]] : i32
// CHECK-NEXT:       %[[MINSI:.*]] = arith.minsi %[[SK]], %[[ADDI1]] : i32
// CHECK-NEXT:       %[[MAXSI:.*]] = arith.maxsi %[[MINSI]], %[[C5]] : i32
// CHECK-NEXT:       %[[CEILDIVSI1:.*]] = arith.ceildivsi %[[MAXSI]], %[[TN]] : i32
// CHECK-NEXT:       tile.yield %[[CEILDIVSI1]], %[[C5]] : i32, i32
// CHECK-NEXT:     }
// CHECK: ^bb0(%[[A2:.*]]: i32, %[[A3:.*]]: tensor<128x128xf32>):
// CHECK: %[[LD_K:.*]] = tile.step @ld_k(%[[NEXT]]) : (!tile.work) -> tensor<64x128xbf16> {
// CHECK: %[[QK:.*]] = tile.step @qk(%[[LD_Q]], %[[LD_K]]) : (tensor<128x128xbf16>, tensor<64x128xbf16>) -> tensor<128x64xf32> {
// CHECK: %[[SCORE:.*]] = tile.step @score(%[[QK]], %[[NEXT]]) : (tensor<128x64xf32>, !tile.work) -> tensor<128x64xf32> {
// CHECK: %[[MASK:.*]] = tile.step @mask masked(%[[SCORE]], %[[NEXT]]) : (tensor<128x64xf32>, !tile.work) -> tensor<128x64xf32> {
// CHECK-NEXT:       ^bb0(%[[A10:.*]]: tensor<128x64xf32>, %[[A11:.*]]: !tile.work):
// CHECK-NEXT:         %[[BLOCK4:.*]], %[[HEAD4:.*]], %[[BATCH4:.*]] = tile.work_coords %[[A11]]
// CHECK-NEXT:         %[[ROW4:.*]] = arith.muli %[[BLOCK4]], %[[TM]] : i32
// CHECK-NEXT:         %[[AT:.*]] = tile.coords %[[ROW4]] dim 0 : tensor<128x64xi32>
// CHECK-NEXT:         %[[ROW5:.*]] = arith.muli %[[A2]], %[[TN]] : i32
// CHECK-NEXT:         %[[AT1:.*]] = tile.coords %[[ROW5]] dim 1 : tensor<128x64xi32>
// CHECK-NEXT:         %[[SPLAT1:.*]] = tensor.splat %[[SK]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[SUBI1:.*]] = arith.subi %[[SK]], %[[SQ]] : i32
// CHECK-NEXT:         %[[SPLAT:.*]] = tensor.splat %[[SUBI1]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[ADDI2:.*]] = arith.addi %[[AT]], %[[SPLAT]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[C1:.*]] = arith.constant 1 : i32
// CHECK-NEXT:         %[[ONE:.*]] = tensor.splat %[[C1]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[NEXT_KEY:.*]] = arith.addi %[[ADDI2]], %[[ONE]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[END:.*]] = arith.minsi %[[SPLAT1]], %[[NEXT_KEY]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[ANDI:.*]] = arith.cmpi slt, %[[AT1]], %[[END]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[GATHER:.*]] = tile.gather %[[IDS]][%[[BATCH4]], %[[AT]] : i32, tensor<128x64xi32>] : tensor<?x?xi32> -> tensor<128x64xi32>
// CHECK-NEXT:         %[[GATHER1:.*]] = tile.gather %[[IDS]][%[[BATCH4]], %[[AT1]] : i32, tensor<128x64xi32>] : tensor<?x?xi32> -> tensor<128x64xi32>
// CHECK-NEXT:         %[[CMPI2:.*]] = arith.cmpi eq, %[[GATHER]], %[[GATHER1]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[SUBI2:.*]] = arith.subi %[[AT]], %[[AT1]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[SPLAT2:.*]] = tensor.splat %[[WINDOW]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[CMPI3:.*]] = arith.cmpi sle, %[[SUBI2]], %[[SPLAT2]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[ANDI1:.*]] = arith.andi %[[CMPI2]], %[[CMPI3]] : tensor<128x64xi1>
// CHECK-NEXT:         %[[ANDI2:.*]] = arith.andi %[[ANDI]], %[[ANDI1]] : tensor<128x64xi1>
// CHECK-NEXT:         %[[C7:.*]] = arith.constant dense<0xFF800000> : tensor<128x64xf32>
// CHECK-NEXT:         %[[SELECT:.*]] = arith.select %[[ANDI2]], %[[A10]], %[[C7]] : tensor<128x64xi1>, tensor<128x64xf32>
// CHECK-NEXT:         tile.yield %[[SELECT]] : tensor<128x64xf32>
// CHECK-NEXT:       }
func.func @documents(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>, %scale: f32, %ids: tensor<?x?xi32>, %window: i32)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
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
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}

// The region follows the scale, on tiles; what depends on the head alone stays
// scalar. The softmax has nothing left to scale.
// CHECK-LABEL: tile.kernel @alibi args [{{[^]]*}}] problem <kind = fwd, dtype = bf16, head_dim = 128, head_dim_v = 128, layout = bshd, mask = none, score_region = present, mask_region = absent> config <tile_m = 128, tile_n = 64, work = grid> attributes {{{.*}}attn.region_programs = {score = {{\[\[}}"index", "index_cast", "h"], ["f32", "extract", "@slopes", "%0"], ["f32", "constant", "0x3F000000"], ["f32", "mulf", "%1", "%2"], ["i32", "subi", "j", "i"], ["f32", "sitofp", "%4"], ["f32", "mulf", "%3", "%5"], ["f32", "addf", "s", "%6"], ["f32", "mulf", "%7", "%2"], ["f32", "yield", "%8"]]}, attn.sizes
// CHECK-NEXT: ^bb0(%[[Q:.*]]: tensor<?x?x?x128xbf16>, %[[K:.*]]: tensor<?x?x?x128xbf16>, %[[V:.*]]: tensor<?x?x?x128xbf16>, %[[SCALE:.*]]: f32, %[[SLOPES:.*]]: tensor<?xf32>, %[[O:.*]]: tensor<?x?x?x128xbf16>, %[[LSE:.*]]: tensor<?x?x?xf32>):
// CHECK: %[[TM:.*]] = arith.constant 128 : i32
// CHECK: %[[TN:.*]] = arith.constant 64 : i32
// CHECK: %[[C5:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[NEXT:.*]] = tile.step @next() : () -> !tile.work {
// CHECK: %[[LD_Q:.*]] = tile.step @ld_q(%[[NEXT]]) : (!tile.work) -> tensor<128x128xbf16> {
// CHECK: ^bb0(%[[A2:.*]]: i32, %[[A3:.*]]: tensor<128x128xf32>):
// CHECK: %[[LD_K:.*]] = tile.step @ld_k(%[[NEXT]]) : (!tile.work) -> tensor<64x128xbf16> {
// CHECK: %[[LD_V:.*]] = tile.step @ld_v(%[[NEXT]]) : (!tile.work) -> tensor<64x128xbf16> {
// CHECK: %[[QK:.*]] = tile.step @qk(%[[LD_Q]], %[[LD_K]]) : (tensor<128x128xbf16>, tensor<64x128xbf16>) -> tensor<128x64xf32> {
// CHECK: %[[SCORE:.*]] = tile.step @score(%[[QK]], %[[NEXT]]) : (tensor<128x64xf32>, !tile.work) -> tensor<128x64xf32> {
// CHECK-NEXT:       ^bb0(%[[A8:.*]]: tensor<128x64xf32>, %[[A9:.*]]: !tile.work):
// CHECK-NEXT:         %[[SPLAT:.*]] = tensor.splat %[[SCALE]] : tensor<128x64xf32>
// CHECK-NEXT:         %[[F:.*]] = arith.mulf %[[A8]], %[[SPLAT]] : tensor<128x64xf32>
// CHECK-NEXT:         %[[BLOCK4:.*]], %[[HEAD4:.*]], %[[BATCH4:.*]] = tile.work_coords %[[A9]]
// CHECK-NEXT:         %[[ROW3:.*]] = arith.muli %[[BLOCK4]], %[[TM]] : i32
// CHECK-NEXT:         %[[AT:.*]] = tile.coords %[[ROW3]] dim 0 : tensor<128x64xi32>
// CHECK-NEXT:         %[[ROW4:.*]] = arith.muli %[[A2]], %[[TN]] : i32
// CHECK-NEXT:         %[[AT1:.*]] = tile.coords %[[ROW4]] dim 1 : tensor<128x64xi32>
// CHECK-NEXT:         %[[GATHER:.*]] = tile.gather %[[SLOPES]][%[[HEAD4]] : i32] : tensor<?xf32> -> f32
// CHECK-NEXT:         %[[C8:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:         %[[F1:.*]] = arith.mulf %[[GATHER]], %[[C8]] : f32
// CHECK-NEXT:         %[[SUBI:.*]] = arith.subi %[[AT1]], %[[AT]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[SITOFP:.*]] = arith.sitofp %[[SUBI]] : tensor<128x64xi32> to tensor<128x64xf32>
// CHECK-NEXT:         %[[SPLAT1:.*]] = tensor.splat %[[F1]] : tensor<128x64xf32>
// CHECK-NEXT:         %[[F2:.*]] = arith.mulf %[[SPLAT1]], %[[SITOFP]] : tensor<128x64xf32>
// CHECK-NEXT:         %[[ADDF:.*]] = arith.addf %[[F]], %[[F2]] : tensor<128x64xf32>
// CHECK-NEXT:         %[[C9:.*]] = arith.constant dense<5.000000e-01> : tensor<128x64xf32>
// CHECK-NEXT:         %[[F3:.*]] = arith.mulf %[[ADDF]], %[[C9]] : tensor<128x64xf32>
// CHECK-NEXT:         tile.yield %[[F3]] : tensor<128x64xf32>
// CHECK-NEXT:       }
// CHECK: %[[MASK:.*]] = tile.step @mask masked(%[[SCORE]], %[[NEXT]]) : (tensor<128x64xf32>, !tile.work) -> tensor<128x64xf32> {
// CHECK: %[[ATTEND:.*]] = tile.step @attend(%[[MASK]], %[[LD_V]], %[[A3]]) : (tensor<128x64xf32>, tensor<64x128xbf16>, tensor<128x128xf32>) -> tensor<128x128xf32> {
// CHECK-NEXT:       ^bb0(%[[A12:.*]]: tensor<128x64xf32>, %[[A13:.*]]: tensor<64x128xbf16>, %[[A14:.*]]: tensor<128x128xf32>):
// CHECK-NEXT:         %[[ATTEND1:.*]] = tile.attend %[[A12]], %[[A13]] state(%[[A14]]) scale(%[[C5]]) : tensor<128x64xf32>, tensor<64x128xbf16> -> tensor<128x128xf32>
// CHECK-NEXT:         tile.yield %[[ATTEND1]] : tensor<128x128xf32>
// CHECK-NEXT:       }
func.func @alibi(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>, %scale: f32, %slopes: tensor<?xf32> {attn.name = "slopes"})
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
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
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}

// Index arithmetic is done in i32; a scalar condition is spread over the tile.
// CHECK-LABEL: tile.kernel @index args [{{[^]]*}}] problem <kind = fwd, dtype = bf16, head_dim = 128, head_dim_v = 128, layout = bshd, mask = none, score_region = gathering, mask_region = absent> config <tile_m = 128, tile_n = 64, work = grid> attributes {{{.*}}attn.region_programs = {score = {{\[\[}}"index", "constant", "1"], ["index", "index_cast", "j"], ["index", "addi", "%1", "%0"], ["f32", "extract", "@c0", "%2"], ["i32", "constant", "0"], ["i1", "cmpi.eq", "b", "%4"], ["f32", "select", "%5", "%3", "s"], ["f32", "yield", "%6"]]}, attn.sizes
// CHECK-NEXT: ^bb0(%[[Q:.*]]: tensor<?x?x?x128xbf16>, %[[K:.*]]: tensor<?x?x?x128xbf16>, %[[V:.*]]: tensor<?x?x?x128xbf16>, %[[SCALE:.*]]: f32, %[[C0:.*]]: tensor<?xf32>, %[[O:.*]]: tensor<?x?x?x128xbf16>, %[[LSE:.*]]: tensor<?x?x?xf32>):
// CHECK: %[[TN:.*]] = arith.constant 64 : i32
// CHECK: %[[NEXT:.*]] = tile.step @next() : () -> !tile.work {
// CHECK: %[[LD_Q:.*]] = tile.step @ld_q(%[[NEXT]]) : (!tile.work) -> tensor<128x128xbf16> {
// CHECK: ^bb0(%[[A2:.*]]: i32, %[[A3:.*]]: tensor<128x128xf32>):
// CHECK: %[[LD_K:.*]] = tile.step @ld_k(%[[NEXT]]) : (!tile.work) -> tensor<64x128xbf16> {
// CHECK: %[[QK:.*]] = tile.step @qk(%[[LD_Q]], %[[LD_K]]) : (tensor<128x128xbf16>, tensor<64x128xbf16>) -> tensor<128x64xf32> {
// CHECK: %[[SCORE:.*]] = tile.step @score(%[[QK]], %[[NEXT]]) : (tensor<128x64xf32>, !tile.work) -> tensor<128x64xf32> {
// CHECK-NEXT:       ^bb0(%[[A8:.*]]: tensor<128x64xf32>, %[[A9:.*]]: !tile.work):
// CHECK-NEXT:         %[[SPLAT:.*]] = tensor.splat %[[SCALE]] : tensor<128x64xf32>
// CHECK-NEXT:         %[[F:.*]] = arith.mulf %[[A8]], %[[SPLAT]] : tensor<128x64xf32>
// CHECK-NEXT:         %[[BLOCK4:.*]], %[[HEAD4:.*]], %[[BATCH4:.*]] = tile.work_coords %[[A9]]
// CHECK-NEXT:         %[[ROW3:.*]] = arith.muli %[[A2]], %[[TN]] : i32
// CHECK-NEXT:         %[[AT:.*]] = tile.coords %[[ROW3]] dim 1 : tensor<128x64xi32>
// CHECK-NEXT:         %[[C8:.*]] = arith.constant dense<1> : tensor<128x64xi32>
// CHECK-NEXT:         %[[ADDI:.*]] = arith.addi %[[AT]], %[[C8]] : tensor<128x64xi32>
// CHECK-NEXT:         %[[GATHER:.*]] = tile.gather %[[C0]][%[[ADDI]] : tensor<128x64xi32>] : tensor<?xf32> -> tensor<128x64xf32>
// CHECK-NEXT:         %[[C9:.*]] = arith.constant 0 : i32
// CHECK-NEXT:         %[[CMPI:.*]] = arith.cmpi eq, %[[BATCH4]], %[[C9]] : i32
// CHECK-NEXT:         %[[SPLAT1:.*]] = tensor.splat %[[CMPI]] : tensor<128x64xi1>
// CHECK-NEXT:         %[[SELECT:.*]] = arith.select %[[SPLAT1]], %[[GATHER]], %[[F]] : tensor<128x64xi1>, tensor<128x64xf32>
// CHECK-NEXT:         tile.yield %[[SELECT]] : tensor<128x64xf32>
// CHECK-NEXT:       }
func.func @index(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>, %scale: f32, %slopes: tensor<?xf32>)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
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
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}

// A region may ignore all that it gets.
// CHECK-LABEL: tile.kernel @constant args [{{[^]]*}}] problem <kind = fwd, dtype = bf16, head_dim = 128, head_dim_v = 128, layout = bshd, mask = none, score_region = present, mask_region = absent> config <tile_m = 128, tile_n = 64, work = grid> attributes {{{.*}}attn.region_programs = {score = {{\[\[}}"f32", "constant", "0x0"], ["f32", "yield", "%0"]]}, attn.sizes
// CHECK-NEXT: ^bb0(%[[Q:.*]]: tensor<?x?x?x128xbf16>, %[[K:.*]]: tensor<?x?x?x128xbf16>, %[[V:.*]]: tensor<?x?x?x128xbf16>, %[[SCALE:.*]]: f32, %[[C0:.*]]: tensor<?xf32>, %[[O:.*]]: tensor<?x?x?x128xbf16>, %[[LSE:.*]]: tensor<?x?x?xf32>):
// CHECK: %[[NEXT:.*]] = tile.step @next() : () -> !tile.work {
// CHECK: %[[LD_Q:.*]] = tile.step @ld_q(%[[NEXT]]) : (!tile.work) -> tensor<128x128xbf16> {
// CHECK: %[[LD_K:.*]] = tile.step @ld_k(%[[NEXT]]) : (!tile.work) -> tensor<64x128xbf16> {
// CHECK: %[[QK:.*]] = tile.step @qk(%[[LD_Q]], %[[LD_K]]) : (tensor<128x128xbf16>, tensor<64x128xbf16>) -> tensor<128x64xf32> {
// CHECK: %[[SCORE:.*]] = tile.step @score(%[[QK]], %[[NEXT]]) : (tensor<128x64xf32>, !tile.work) -> tensor<128x64xf32> {
// CHECK-NEXT:       ^bb0(%[[A8:.*]]: tensor<128x64xf32>, %[[A9:.*]]: !tile.work):
// CHECK-NEXT:         %[[SPLAT:.*]] = tensor.splat %[[SCALE]] : tensor<128x64xf32>
// CHECK-NEXT:         %[[F:.*]] = arith.mulf %[[A8]], %[[SPLAT]] : tensor<128x64xf32>
// CHECK-NEXT:         %[[BLOCK4:.*]], %[[HEAD4:.*]], %[[BATCH4:.*]] = tile.work_coords %[[A9]]
// CHECK-NEXT:         %[[C8:.*]] = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
// CHECK-NEXT:         tile.yield %[[C8]] : tensor<128x64xf32>
// CHECK-NEXT:       }
func.func @constant(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>, %scale: f32, %slopes: tensor<?xf32>)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%slopes : tensor<?xf32>)
      config <tile_m = 128, tile_n = 64, work = grid>
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %table: tensor<?xf32>):
        %zero = arith.constant 0.0 : f32
        attn.yield %zero : f32
      }
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
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

// A window of two bounds: masked blocks at both ends, and a mask that has both.
// Bounds beyond all keys are cut, so that nothing overflows. Heads come first, and
// tiles have more columns than the head dim.
// CHECK-LABEL: tile.kernel @window args [{{[^]]*}}]
// CHECK-SAME: layout = bhsd, mask = window_bottom_right, {{.*}}bounds = "window_left|window_right">
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
!h = tensor<?x?x?x72xf16>
func.func @window(%q: !h, %k: !h, %v: !h, %scale: f32, %right: i32, %left: i32) -> (!h, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(window_bottom_right) layout(bhsd)
      window_left(%left) window_right(%right)
      config <tile_m = 128, tile_n = 64, work = grid, tile_d = 96, tile_dv = 96>
      : (!h, !h, !h) -> (!h, tensor<?x?x?xf32>)
  return %o, %lse : !h, tensor<?x?x?xf32>
}

// Heads whose K and V are at most 16 MiB, 384 bytes a key: so many key heads as keys fit
// 43690 times, at least one, in sections of one size, each with its group of query heads.
// CHECK-LABEL: tile.kernel @sections
// CHECK-SAME: order = longest_first, section_mib = 16
// CHECK-DAG: %[[BATCHES:.*]] = arith.index_cast %dim : index to i32
// CHECK: %[[BLOCKS:.*]] = arith.ceildivsi
// CHECK: %[[KEYS:.*]] = arith.constant 43690 : i32
// CHECK: %[[LENGTH:.*]] = arith.maxsi %{{.*}}, %[[ONE:.*]] : i32
// CHECK-NEXT: %[[MOST:.*]] = arith.divsi %[[KEYS]], %[[LENGTH]] : i32
// CHECK-NEXT: %[[HK:.*]] = arith.divsi %[[HQ:.*]], %[[GROUP:.*]] : i32
// CHECK-NEXT: %[[HEADS:.*]] = arith.muli %[[BATCHES]], %[[HK]] : i32
// CHECK-NEXT: %[[WIDTH:.*]] = arith.maxsi %[[MOST]], %[[ONE]] : i32
// CHECK-NEXT: %[[COUNT:.*]] = arith.ceildivsi %[[HEADS]], %[[WIDTH]] : i32
// CHECK-NEXT: %[[SECTIONS:.*]] = arith.maxsi %[[COUNT]], %[[ONE]] : i32
// CHECK-NEXT: %[[EVEN:.*]] = arith.ceildivsi %[[HEADS]], %[[SECTIONS]] : i32
// CHECK-NEXT: %[[SECTION:.*]] = arith.muli %[[EVEN]], %[[GROUP]] : i32
// CHECK: tile.next_work extents(%[[BLOCKS]], %[[HQ]], %[[BATCHES]]) section(%[[SECTION]])
func.func @sections(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      config <tile_m = 128, tile_n = 64, work = dynamic, order = longest_first, section_mib = 16>
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}

// An item of a cluster is the rows of both its CTAs, each of which has a tile of them.
// CHECK-LABEL: tile.kernel @clusters
// CHECK: %[[BOTH:.*]] = arith.constant 256 : i32
// CHECK: %[[BLOCKS:.*]] = arith.ceildivsi %{{.*}}, %[[BOTH]] : i32
// CHECK: tile.next_work extents(%[[BLOCKS]],
// CHECK: tile.step @ld_q(%{{.*}}) : (!tile.work) -> tensor<128x64xbf16> {
func.func @clusters(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 64, work = grid, cluster = 2>
      : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
