// attn-resolve-layouts: register tiles lie as the accumulator, row vectors as its slice; loaded tiles have no layout.
// RUN: attn-opt %s --attn-resolve-layouts | FileCheck %s
// RUN: attn-opt %s --attn-resolve-layouts --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// REMARK: [Passed] resolve-layouts | Category:attn | {{.*}}0 register operands converted

#map = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
tile.kernel @small args ["q", "k", "o" write, "lse" write, "n"] problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent> config <tile_m = 128, tile_n = 128, work = grid> schedule <"small" machine "sm_90a" {
  split M 2 whole(q)
  remat(next)
  role load warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_k once : ld_q }
  }
  body wg {
    kv { take(tc) qk give(tc) mask sum + 1 }
    after { await(st_o) + 1 cvt_o st_o st_lse }
  }
}> {
^bb0(%arg0: tensor<?x?x?x64xbf16>, %arg1: tensor<?x?x?x64xbf16>, %arg2: tensor<?x?x?x64xbf16>, %arg3: tensor<?x?x?xf32>, %arg4: f32):
  %c0 = arith.constant 0 : index
  %c128_i32 = arith.constant 128 : i32
  %dim = tensor.dim %arg0, %c0 : tensor<?x?x?x64xbf16>
  %0 = arith.index_cast %dim : index to i32
  tile.work {
    %1 = tile.step @next() : () -> !tile.work {
      %6 = tile.next_work extents(%0, %0, %0)
      tile.yield %6 : !tile.work
    }
    %2 = tile.step @ld_q(%1) : (!tile.work) -> tensor<128x64xbf16> {
    ^bb0(%arg5: !tile.work):
      %block, %head, %batch = tile.work_coords %arg5
      %6 = arith.muli %block, %c128_i32 : i32
      %7 = tile.load %arg0 at(%batch, %head, %6) #map : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
      tile.yield %7 : tensor<128x64xbf16>
    }
    %3:3 = tile.bounds %1 : i32, i32, i32 {
    ^bb0(%arg5: !tile.work):
      %block, %head, %batch = tile.work_coords %arg5
      tile.yield %block, %head, %batch : i32, i32, i32
    }
    %cst = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %4 = tile.for ranges <down [masked, full]> bounds(%3#0, %3#1, %3#2) init(%cst) : (tensor<64xf32>) -> tensor<64xf32> {
    ^bb0(%arg5: i32, %arg6: tensor<64xf32>):
      %6 = tile.step @ld_k(%1) : (!tile.work) -> tensor<128x64xbf16> {
      ^bb0(%arg7: !tile.work):
        %block, %head, %batch = tile.work_coords %arg7
        %10 = arith.muli %arg5, %c128_i32 : i32
        %11 = tile.load %arg1 at(%batch, %head, %10) #map : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
        tile.yield %11 : tensor<128x64xbf16>
      }
      %7 = tile.step @qk(%2, %6) : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<64x128xf32> {
      ^bb0(%arg7: tensor<128x64xbf16>, %arg8: tensor<128x64xbf16>):
        %10 = tile.subtile_id
        %11 = tile.piece %arg7[%10] : tensor<128x64xbf16> -> tensor<64x64xbf16>
        %12 = tile.mma %11, %arg8 transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
        tile.yield %12 : tensor<64x128xf32>
      }
      %8 = tile.step @mask masked(%7) : (tensor<64x128xf32>) -> tensor<64x128xf32> {
      ^bb0(%arg7: tensor<64x128xf32>):
        %10 = tile.subtile_id
        %c64_i32 = arith.constant 64 : i32
        %11 = arith.muli %10, %c64_i32 : i32
        %12 = arith.addi %arg5, %11 : i32
        %13 = tile.coords %12 dim 0 : tensor<64x128xi32>
        %14 = arith.sitofp %13 : tensor<64x128xi32> to tensor<64x128xf32>
        %15 = arith.addf %arg7, %14 : tensor<64x128xf32>
        tile.yield %15 : tensor<64x128xf32>
      }
      %9 = tile.step @sum(%8, %arg6) : (tensor<64x128xf32>, tensor<64xf32>) -> tensor<64xf32> {
      ^bb0(%arg7: tensor<64x128xf32>, %arg8: tensor<64xf32>):
        %10 = tile.reduce  add %arg7 dim 1 : tensor<64x128xf32> -> tensor<64xf32>
        %11 = arith.addf %arg8, %10 : tensor<64xf32>
        tile.yield %11 : tensor<64xf32>
      }
      tile.yield %9 : tensor<64xf32>
    }
    %5 = tile.step @cvt_o(%4) : (tensor<64xf32>) -> tensor<64x64xbf16> {
    ^bb0(%arg5: tensor<64xf32>):
      %6 = tile.broadcast %arg5 dim 1 : tensor<64xf32> -> tensor<64x64xf32>
      %7 = arith.truncf %6 : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.yield %7 : tensor<64x64xbf16>
    }
    tile.step @st_o(%5, %1) : (tensor<64x64xbf16>, !tile.work) -> () {
    ^bb0(%arg5: tensor<64x64xbf16>, %arg6: !tile.work):
      %6 = tile.subtile_id
      %block, %head, %batch = tile.work_coords %arg6
      %c64_i32 = arith.constant 64 : i32
      %7 = arith.muli %6, %c64_i32 : i32
      %8 = arith.addi %block, %7 : i32
      tile.store %arg5, %arg2 at(%batch, %head, %8) #map : tensor<64x64xbf16>, tensor<?x?x?x64xbf16>
      tile.yield
    }
    tile.step @st_lse(%4, %1) : (tensor<64xf32>, !tile.work) -> () {
    ^bb0(%arg5: tensor<64xf32>, %arg6: !tile.work):
      %6 = tile.subtile_id
      %block, %head, %batch = tile.work_coords %arg6
      %c64_i32 = arith.constant 64 : i32
      %7 = arith.muli %6, %c64_i32 : i32
      %8 = arith.addi %block, %7 : i32
      tile.store_row %arg5, %arg3 at(%batch, %head, %8) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// CHECK: #[[$MAP:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
// CHECK-LABEL: tile.kernel @small args ["q", "k", "o" write, "lse" write, "n"]
// CHECK: ^bb0(%[[ARG0:.*]]: tensor<?x?x?x64xbf16>, %[[ARG1:.*]]: tensor<?x?x?x64xbf16>, %[[ARG2:.*]]: tensor<?x?x?x64xbf16>, %[[ARG3:.*]]: tensor<?x?x?xf32>, %[[ARG4:.*]]: f32):
// CHECK-NEXT:   %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:   %[[C128_I32:.*]] = arith.constant 128 : i32
// CHECK-NEXT:   %[[DIM:.*]] = tensor.dim %[[ARG0]], %[[C0]] : tensor<?x?x?x64xbf16>
// CHECK-NEXT:   %[[V0:.*]] = arith.index_cast %[[DIM]] : index to i32
// CHECK-NEXT:   tile.work {
// CHECK-NEXT:     %[[V1:.*]] = tile.step @next() : () -> !tile.work {
// CHECK-NEXT:       %[[V6:.*]] = tile.next_work extents(%[[V0]], %[[V0]], %[[V0]])
// CHECK-NEXT:       tile.yield %[[V6]] : !tile.work
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[V2:.*]] = tile.step @ld_q(%[[V1]]) : (!tile.work) -> tensor<128x64xbf16> {
// CHECK-NEXT:     ^bb0(%[[ARG5:.*]]: !tile.work):
// CHECK-NEXT:       %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[ARG5]]
// CHECK-NEXT:       %[[V6:.*]] = arith.muli %[[BLOCK]], %[[C128_I32]] : i32
// CHECK-NEXT:       %[[V7:.*]] = tile.load %[[ARG0]] at(%[[BATCH]], %[[HEAD]], %[[V6]]) #[[$MAP]] : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
// CHECK-NEXT:       tile.yield %[[V7]] : tensor<128x64xbf16>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[V3:.*]]:3 = tile.bounds %[[V1]] : i32, i32, i32 {
// CHECK-NEXT:     ^bb0(%[[ARG5:.*]]: !tile.work):
// CHECK-NEXT:       %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[ARG5]]
// CHECK-NEXT:       tile.yield %[[BLOCK]], %[[HEAD]], %[[BATCH]] : i32, i32, i32
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[CST:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:     %[[V4:.*]] = tile.for ranges <down [masked, full]> bounds(%[[V3]]#0, %[[V3]]#1, %[[V3]]#2) init(%[[CST]]) : (tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>) -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>> {
// CHECK-NEXT:     ^bb0(%[[ARG5:.*]]: i32, %[[ARG6:.*]]: tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>):
// CHECK-NEXT:       %[[V6:.*]] = tile.step @ld_k(%[[V1]]) : (!tile.work) -> tensor<128x64xbf16> {
// CHECK-NEXT:       ^bb0(%[[ARG7:.*]]: !tile.work):
// CHECK-NEXT:         %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[ARG7]]
// CHECK-NEXT:         %[[V10:.*]] = arith.muli %[[ARG5]], %[[C128_I32]] : i32
// CHECK-NEXT:         %[[V11:.*]] = tile.load %[[ARG1]] at(%[[BATCH]], %[[HEAD]], %[[V10]]) #[[$MAP]] : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
// CHECK-NEXT:         tile.yield %[[V11]] : tensor<128x64xbf16>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V7:.*]] = tile.step @qk(%[[V2]], %[[V6]]) : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> {
// CHECK-NEXT:       ^bb0(%[[ARG7:.*]]: tensor<128x64xbf16>, %[[ARG8:.*]]: tensor<128x64xbf16>):
// CHECK-NEXT:         %[[V10:.*]] = tile.subtile_id
// CHECK-NEXT:         %[[V11:.*]] = tile.piece %[[ARG7]][%[[V10]]] : tensor<128x64xbf16> -> tensor<64x64xbf16>
// CHECK-NEXT:         %[[V12:.*]] = tile.mma %[[V11]], %[[ARG8]] transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:         tile.yield %[[V12]] : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V8:.*]] = tile.step @mask masked(%[[V7]]) : (tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>) -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> {
// CHECK-NEXT:       ^bb0(%[[ARG7:.*]]: tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>):
// CHECK-NEXT:         %[[V10:.*]] = tile.subtile_id
// CHECK-NEXT:         %[[C64_I32:.*]] = arith.constant 64 : i32
// CHECK-NEXT:         %[[V11:.*]] = arith.muli %[[V10]], %[[C64_I32]] : i32
// CHECK-NEXT:         %[[V12:.*]] = arith.addi %[[ARG5]], %[[V11]] : i32
// CHECK-NEXT:         %[[V13:.*]] = tile.coords %[[V12]] dim 0 : tensor<64x128xi32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:         %[[V14:.*]] = arith.sitofp %[[V13]] : tensor<64x128xi32, #tile.layout<atom = wgmma_acc, repeats = 16>> to tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:         %[[V15:.*]] = arith.addf %[[ARG7]], %[[V14]] : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:         tile.yield %[[V15]] : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V9:.*]] = tile.step @sum(%[[V8]], %[[ARG6]]) : (tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>, tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>) -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>> {
// CHECK-NEXT:       ^bb0(%[[ARG7:.*]]: tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>, %[[ARG8:.*]]: tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>):
// CHECK-NEXT:         %[[V10:.*]] = tile.reduce  add %[[ARG7]] dim 1 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:         %[[V11:.*]] = arith.addf %[[ARG8]], %[[V10]] : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:         tile.yield %[[V11]] : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:       }
// CHECK-NEXT:       tile.yield %[[V9]] : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[V5:.*]] = tile.step @cvt_o(%[[V4]]) : (tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>) -> tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>> {
// CHECK-NEXT:     ^bb0(%[[ARG5:.*]]: tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>):
// CHECK-NEXT:       %[[V6:.*]] = tile.broadcast %[[ARG5]] dim 1 : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>> -> tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>>
// CHECK-NEXT:       %[[V7:.*]] = arith.truncf %[[V6]] : tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>> to tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>
// CHECK-NEXT:       tile.yield %[[V7]] : tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.step @st_o(%[[V5]], %[[V1]]) : (tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>, !tile.work) -> () {
// CHECK-NEXT:     ^bb0(%[[ARG5:.*]]: tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>, %[[ARG6:.*]]: !tile.work):
// CHECK-NEXT:       %[[V6:.*]] = tile.subtile_id
// CHECK-NEXT:       %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[ARG6]]
// CHECK-NEXT:       %[[C64_I32:.*]] = arith.constant 64 : i32
// CHECK-NEXT:       %[[V7:.*]] = arith.muli %[[V6]], %[[C64_I32]] : i32
// CHECK-NEXT:       %[[V8:.*]] = arith.addi %[[BLOCK]], %[[V7]] : i32
// CHECK-NEXT:       tile.store %[[ARG5]], %[[ARG2]] at(%[[BATCH]], %[[HEAD]], %[[V8]]) #[[$MAP]] : tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>, tensor<?x?x?x64xbf16>
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.step @st_lse(%[[V4]], %[[V1]]) : (tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>, !tile.work) -> () {
// CHECK-NEXT:     ^bb0(%[[ARG5:.*]]: tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>, %[[ARG6:.*]]: !tile.work):
// CHECK-NEXT:       %[[V6:.*]] = tile.subtile_id
// CHECK-NEXT:       %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[ARG6]]
// CHECK-NEXT:       %[[C64_I32:.*]] = arith.constant 64 : i32
// CHECK-NEXT:       %[[V7:.*]] = arith.muli %[[V6]], %[[C64_I32]] : i32
// CHECK-NEXT:       %[[V8:.*]] = arith.addi %[[BLOCK]], %[[V7]] : i32
// CHECK-NEXT:       tile.store_row %[[ARG5]], %[[ARG3]] at(%[[BATCH]], %[[HEAD]], %[[V8]]) : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>, tensor<?x?x?xf32>
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }

// Tiles that have layouts keep them.
// RUN: attn-opt %s --attn-resolve-layouts --attn-resolve-layouts | FileCheck %s
