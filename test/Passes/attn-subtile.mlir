// attn-subtile: steps that compute are cut, loads stay whole.
// RUN: attn-opt %s --attn-subtile | FileCheck %s
// RUN: attn-opt %s --attn-subtile --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// REMARK: [Passed] subtile | Category:attn | {{.*}}2 sub-tiles of 64 rows

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
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
      hold oe = oe in smem depth 1
      turn tc ring wg
      knob peel first_masked
      body load { kv { ld_k once : ld_q } }
      body wg { kv { take(tc) qk give(tc) mask sum + 1 } after { await(st_o) + 1 cvt_o st_o st_lse } }
    }> {
^bb0(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>, %scale: f32):
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : i32
  %dim = tensor.dim %q, %c0 : tensor<?x?x?x64xbf16>
  %n = arith.index_cast %dim : index to i32
  tile.work {
    %w = tile.step @next () : () -> !tile.work {
      %x = tile.next_work extents(%n, %n, %n)
      tile.yield %x : !tile.work
    }
    %qt = tile.step @ld_q (%w) : (!tile.work) -> tensor<128x64xbf16> {
    ^bb0(%x: !tile.work):
      %block, %head, %batch = tile.work_coords %x
      %row = arith.muli %block, %c128 : i32
      %t = tile.load %q at(%batch, %head, %row) #bshd : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
      tile.yield %t : tensor<128x64xbf16>
    }
    %hi, %mid, %lo = tile.bounds %w : i32, i32, i32 {
    ^bb0(%x: !tile.work):
      %block, %head, %batch = tile.work_coords %x
      tile.yield %block, %head, %batch : i32, i32, i32
    }
    %zero = arith.constant dense<0.0> : tensor<128xf32>
    %l = tile.for ranges <down [masked, full]> bounds(%hi, %mid, %lo) init(%zero) : (tensor<128xf32>) -> tensor<128xf32> {
    ^bb0(%j: i32, %l0: tensor<128xf32>):
      %kt = tile.step @ld_k (%w) : (!tile.work) -> tensor<128x64xbf16> {
      ^bb0(%x: !tile.work):
        %block, %head, %batch = tile.work_coords %x
        %row = arith.muli %j, %c128 : i32
        %t = tile.load %k at(%batch, %head, %row) #bshd : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
        tile.yield %t : tensor<128x64xbf16>
      }
      %s = tile.step @qk (%qt, %kt) : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<128x128xf32> {
      ^bb0(%a: tensor<128x64xbf16>, %b: tensor<128x64xbf16>):
        %x = tile.mma %a, %b transpose_b : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
        tile.yield %x : tensor<128x128xf32>
      }
      %m = tile.step @mask masked (%s) : (tensor<128x128xf32>) -> tensor<128x128xf32> {
      ^bb0(%x: tensor<128x128xf32>):
        %i = tile.coords %j dim 0 : tensor<128x128xi32>
        %f = arith.sitofp %i : tensor<128x128xi32> to tensor<128x128xf32>
        %y = arith.addf %x, %f : tensor<128x128xf32>
        tile.yield %y : tensor<128x128xf32>
      }
      %l1 = tile.step @sum (%m, %l0) : (tensor<128x128xf32>, tensor<128xf32>) -> tensor<128xf32> {
      ^bb0(%x: tensor<128x128xf32>, %old: tensor<128xf32>):
        %r = tile.reduce add %x dim 1 : tensor<128x128xf32> -> tensor<128xf32>
        %new = arith.addf %old, %r : tensor<128xf32>
        tile.yield %new : tensor<128xf32>
      }
      tile.yield %l1 : tensor<128xf32>
    }
    %oe = tile.step @cvt_o (%l) : (tensor<128xf32>) -> tensor<128x64xbf16> {
    ^bb0(%x: tensor<128xf32>):
      %wide = tile.broadcast %x dim 1 : tensor<128xf32> -> tensor<128x64xf32>
      %y = arith.truncf %wide : tensor<128x64xf32> to tensor<128x64xbf16>
      tile.yield %y : tensor<128x64xbf16>
    }
    tile.step @st_o (%oe, %w) : (tensor<128x64xbf16>, !tile.work) -> () {
    ^bb0(%x: tensor<128x64xbf16>, %item: !tile.work):
      %block, %head, %batch = tile.work_coords %item
      tile.store %x, %o at(%batch, %head, %block) #bshd : tensor<128x64xbf16>, tensor<?x?x?x64xbf16>
      tile.yield
    }
    tile.step @st_lse (%l, %w) : (tensor<128xf32>, !tile.work) -> () {
    ^bb0(%x: tensor<128xf32>, %item: !tile.work):
      %block, %head, %batch = tile.work_coords %item
      tile.store_row %x, %lse at(%batch, %head, %block) : tensor<128xf32>, tensor<?x?x?xf32>
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
// CHECK-NEXT:     %[[CST:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-NEXT:     %[[V4:.*]] = tile.for ranges <down [masked, full]> bounds(%[[V3]]#0, %[[V3]]#1, %[[V3]]#2) init(%[[CST]]) : (tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:     ^bb0(%[[ARG5:.*]]: i32, %[[ARG6:.*]]: tensor<64xf32>):
// CHECK-NEXT:       %[[V6:.*]] = tile.step @ld_k(%[[V1]]) : (!tile.work) -> tensor<128x64xbf16> {
// CHECK-NEXT:       ^bb0(%[[ARG7:.*]]: !tile.work):
// CHECK-NEXT:         %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[ARG7]]
// CHECK-NEXT:         %[[V10:.*]] = arith.muli %[[ARG5]], %[[C128_I32]] : i32
// CHECK-NEXT:         %[[V11:.*]] = tile.load %[[ARG1]] at(%[[BATCH]], %[[HEAD]], %[[V10]]) #[[$MAP]] : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
// CHECK-NEXT:         tile.yield %[[V11]] : tensor<128x64xbf16>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V7:.*]] = tile.step @qk(%[[V2]], %[[V6]]) : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<64x128xf32> {
// CHECK-NEXT:       ^bb0(%[[ARG7:.*]]: tensor<128x64xbf16>, %[[ARG8:.*]]: tensor<128x64xbf16>):
// CHECK-NEXT:         %[[V10:.*]] = tile.subtile_id
// CHECK-NEXT:         %[[V11:.*]] = tile.piece %[[ARG7]][%[[V10]]] : tensor<128x64xbf16> -> tensor<64x64xbf16>
// CHECK-NEXT:         %[[V12:.*]] = tile.mma %[[V11]], %[[ARG8]] transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
// CHECK-NEXT:         tile.yield %[[V12]] : tensor<64x128xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V8:.*]] = tile.step @mask masked(%[[V7]]) : (tensor<64x128xf32>) -> tensor<64x128xf32> {
// CHECK-NEXT:       ^bb0(%[[ARG7:.*]]: tensor<64x128xf32>):
// CHECK-NEXT:         %[[V10:.*]] = tile.subtile_id
// CHECK-NEXT:         %[[C64_I32:.*]] = arith.constant 64 : i32
// CHECK-NEXT:         %[[V11:.*]] = arith.muli %[[V10]], %[[C64_I32]] : i32
// CHECK-NEXT:         %[[V12:.*]] = arith.addi %[[ARG5]], %[[V11]] : i32
// CHECK-NEXT:         %[[V13:.*]] = tile.coords %[[V12]] dim 0 : tensor<64x128xi32>
// CHECK-NEXT:         %[[V14:.*]] = arith.sitofp %[[V13]] : tensor<64x128xi32> to tensor<64x128xf32>
// CHECK-NEXT:         %[[V15:.*]] = arith.addf %[[ARG7]], %[[V14]] : tensor<64x128xf32>
// CHECK-NEXT:         tile.yield %[[V15]] : tensor<64x128xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V9:.*]] = tile.step @sum(%[[V8]], %[[ARG6]]) : (tensor<64x128xf32>, tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:       ^bb0(%[[ARG7:.*]]: tensor<64x128xf32>, %[[ARG8:.*]]: tensor<64xf32>):
// CHECK-NEXT:         %[[V10:.*]] = tile.reduce  add %[[ARG7]] dim 1 : tensor<64x128xf32> -> tensor<64xf32>
// CHECK-NEXT:         %[[V11:.*]] = arith.addf %[[ARG8]], %[[V10]] : tensor<64xf32>
// CHECK-NEXT:         tile.yield %[[V11]] : tensor<64xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       tile.yield %[[V9]] : tensor<64xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[V5:.*]] = tile.step @cvt_o(%[[V4]]) : (tensor<64xf32>) -> tensor<64x64xbf16> {
// CHECK-NEXT:     ^bb0(%[[ARG5:.*]]: tensor<64xf32>):
// CHECK-NEXT:       %[[V6:.*]] = tile.broadcast %[[ARG5]] dim 1 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:       %[[V7:.*]] = arith.truncf %[[V6]] : tensor<64x64xf32> to tensor<64x64xbf16>
// CHECK-NEXT:       tile.yield %[[V7]] : tensor<64x64xbf16>
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.step @st_o(%[[V5]], %[[V1]]) : (tensor<64x64xbf16>, !tile.work) -> () {
// CHECK-NEXT:     ^bb0(%[[ARG5:.*]]: tensor<64x64xbf16>, %[[ARG6:.*]]: !tile.work):
// CHECK-NEXT:       %[[V6:.*]] = tile.subtile_id
// CHECK-NEXT:       %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[ARG6]]
// CHECK-NEXT:       %[[C64_I32:.*]] = arith.constant 64 : i32
// CHECK-NEXT:       %[[V7:.*]] = arith.muli %[[V6]], %[[C64_I32]] : i32
// CHECK-NEXT:       %[[V8:.*]] = arith.addi %[[BLOCK]], %[[V7]] : i32
// CHECK-NEXT:       tile.store %[[ARG5]], %[[ARG2]] at(%[[BATCH]], %[[HEAD]], %[[V8]]) #[[$MAP]] : tensor<64x64xbf16>, tensor<?x?x?x64xbf16>
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.step @st_lse(%[[V4]], %[[V1]]) : (tensor<64xf32>, !tile.work) -> () {
// CHECK-NEXT:     ^bb0(%[[ARG5:.*]]: tensor<64xf32>, %[[ARG6:.*]]: !tile.work):
// CHECK-NEXT:       %[[V6:.*]] = tile.subtile_id
// CHECK-NEXT:       %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[ARG6]]
// CHECK-NEXT:       %[[C64_I32:.*]] = arith.constant 64 : i32
// CHECK-NEXT:       %[[V7:.*]] = arith.muli %[[V6]], %[[C64_I32]] : i32
// CHECK-NEXT:       %[[V8:.*]] = arith.addi %[[BLOCK]], %[[V7]] : i32
// CHECK-NEXT:       tile.store_row %[[ARG5]], %[[ARG3]] at(%[[BATCH]], %[[HEAD]], %[[V8]]) : tensor<64xf32>, tensor<?x?x?xf32>
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }

// Without a split nothing changes.
// RUN: attn-opt %s --attn-subtile --attn-subtile | FileCheck %s
