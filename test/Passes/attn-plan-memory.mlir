// attn-plan-memory: places follow one another; a place over another begins where its host does.
// RUN: attn-opt %s --attn-plan-memory | FileCheck %s
// RUN: attn-opt %s --attn-plan-memory --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// REMARK: [Passed] plan-memory | Category:attn | {{.*}}{{[0-9]+}} bytes of shared memory

#map = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
ws.kernel @small machine "sm_90a" args ["q", "k", "o" write, "lse" write, "n"] problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent> config <tile_m = 128, tile_n = 128, work = grid> schedule <"small" machine "sm_90a" {
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
  ws.channel @q [tensor<128x64xbf16>] depth 1
  ws.channel @k [tensor<128x64xbf16>] depth 2
  ws.hold @oe tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>> pieces 2 over @q
  ws.turn @tc ring @wg
  %c0 = arith.constant 0 : index
  %c128_i32 = arith.constant 128 : i32
  %dim = tensor.dim %arg0, %c0 : tensor<?x?x?x64xbf16>
  %0 = arith.index_cast %dim : index to i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%arg5: i32):
    ws.work_loop extents(%0, %0, %0) {
      %1 = tile.next_work extents(%0, %0, %0)
      %2:3 = tile.bounds %1 : i32, i32, i32 {
      ^bb0(%arg6: !tile.work):
        %block, %head, %batch = tile.work_coords %arg6
        tile.yield %block, %head, %batch : i32, i32, i32
      }
      ws.for ranges <down [masked, full]> bounds(%2#0, %2#1, %2#2) init() : () -> () {
      ^bb0(%arg6: i32):
        ws.entry @ld_k slot 0 shift 0 {
          %block, %head, %batch = tile.work_coords %1
          %3 = arith.muli %arg6, %c128_i32 : i32
          %4 = ws.acquire : <@k, tensor<128x64xbf16>>
          ws.copy %arg1 at(%batch, %head, %3) #map shared to %4 : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
          ws.yield
        }
        ws.entry @ld_q slot 1 shift 0 guard once {
          %block, %head, %batch = tile.work_coords %1
          %3 = arith.muli %block, %c128_i32 : i32
          %4 = ws.acquire : <@q, tensor<128x64xbf16>>
          ws.copy %arg0 at(%batch, %head, %3) #map to %4 : tensor<?x?x?x64xbf16>, <@q, tensor<128x64xbf16>>
          ws.yield
        }
        ws.yield
      }
    }
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%arg5: i32):
    ws.work_loop extents(%0, %0, %0) {
      %1 = tile.next_work extents(%0, %0, %0)
      %2:3 = tile.bounds %1 : i32, i32, i32 {
      ^bb0(%arg6: !tile.work):
        %block_4, %head_5, %batch_6 = tile.work_coords %arg6
        tile.yield %block_4, %head_5, %batch_6 : i32, i32, i32
      }
      %cst = arith.constant dense<0.000000e+00> : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
      %3 = ws.wait : <@q, tensor<128x64xbf16>>
      %4 = ws.for ranges <down [masked, full]> bounds(%2#0, %2#1, %2#2) init(%cst) : (tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>) -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>> {
      ^bb0(%arg6: i32, %arg7: tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>):
        ws.entry @take_tc slot 0 shift 0 {
          ws.take @tc[%arg5]
          ws.yield
        }
        %11 = ws.entry @get_k slot 1 shift 0 -> !ws.slot<@k, tensor<128x64xbf16>> {
          %15 = ws.wait : <@k, tensor<128x64xbf16>>
          ws.yield %15 : !ws.slot<@k, tensor<128x64xbf16>>
        }
        %12 = ws.entry @qk slot 2 shift 0 -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> {
          %result, %token = ws.mma %3 piece(%arg5), %11 transpose_b : !ws.slot<@q, tensor<128x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
          ws.yield %result : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
        }
        ws.entry @give_tc slot 3 shift 0 {
          ws.give @tc[%arg5]
          ws.yield
        }
        %13 = ws.entry @mask slot 4 shift 0 masked(%12 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>) -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> {
          %c64_i32_4 = arith.constant 64 : i32
          %15 = arith.muli %arg5, %c64_i32_4 : i32
          %16 = arith.addi %arg6, %15 : i32
          %17 = tile.coords %16 dim 0 : tensor<64x128xi32, #tile.layout<atom = wgmma_acc, repeats = 16>>
          %18 = arith.sitofp %17 : tensor<64x128xi32, #tile.layout<atom = wgmma_acc, repeats = 16>> to tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
          %19 = arith.addf %12, %18 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
          ws.yield %19 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
        }
        %14 = ws.entry @sum slot 5 shift 1 -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>> {
          %15 = tile.reduce  add %13 dim 1 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
          %16 = arith.addf %arg7, %15 : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
          ws.yield %16 : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
        }
        ws.yield %14 : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
      }
      ws.release %3 : <@q, tensor<128x64xbf16>>
      ws.await_store
      %5 = tile.broadcast %4 dim 1 : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>> -> tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>>
      %6 = arith.truncf %5 : tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>> to tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>
      ws.put %6 in @oe[%arg5] : tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>
      %block, %head, %batch = tile.work_coords %1
      %c64_i32 = arith.constant 64 : i32
      %7 = arith.muli %arg5, %c64_i32 : i32
      %8 = arith.addi %block, %7 : i32
      ws.store @oe[%arg5], %arg2 at(%batch, %head, %8) #map : tensor<?x?x?x64xbf16>
      %block_0, %head_1, %batch_2 = tile.work_coords %1
      %c64_i32_3 = arith.constant 64 : i32
      %9 = arith.muli %arg5, %c64_i32_3 : i32
      %10 = arith.addi %block_0, %9 : i32
      tile.store_row %4, %arg3 at(%batch_2, %head_1, %10) : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>, tensor<?x?x?xf32>
    }
    ws.await_store
  }
}

// CHECK: #[[$MAP:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
// CHECK-LABEL: ws.kernel @small machine "sm_90a" args ["q", "k", "o" write, "lse" write, "n"]
// CHECK: ^bb0(%[[ARG0:.*]]: tensor<?x?x?x64xbf16>, %[[ARG1:.*]]: tensor<?x?x?x64xbf16>, %[[ARG2:.*]]: tensor<?x?x?x64xbf16>, %[[ARG3:.*]]: tensor<?x?x?xf32>, %[[ARG4:.*]]: f32):
// CHECK-NEXT:   ws.channel @q [tensor<128x64xbf16>] depth 1 at 0
// CHECK-NEXT:   ws.channel @k [tensor<128x64xbf16>] depth 2 at 16384
// CHECK-NEXT:   ws.hold @oe tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>> pieces 2 over @q at 0
// CHECK-NEXT:   ws.turn @tc ring @wg
// CHECK-NEXT:   %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:   %[[C128_I32:.*]] = arith.constant 128 : i32
// CHECK-NEXT:   %[[DIM:.*]] = tensor.dim %[[ARG0]], %[[C0]] : tensor<?x?x?x64xbf16>
// CHECK-NEXT:   %[[V0:.*]] = arith.index_cast %[[DIM]] : index to i32
// CHECK-NEXT:   ws.role @load warps 1 regs 24 replicas 1 {
// CHECK-NEXT:   ^bb0(%[[ARG5:.*]]: i32):
// CHECK-NEXT:     ws.work_loop extents(%[[V0]], %[[V0]], %[[V0]]) {
// CHECK-NEXT:       %[[V1:.*]] = tile.next_work extents(%[[V0]], %[[V0]], %[[V0]])
// CHECK-NEXT:       %[[V2:.*]]:3 = tile.bounds %[[V1]] : i32, i32, i32 {
// CHECK-NEXT:       ^bb0(%[[ARG6:.*]]: !tile.work):
// CHECK-NEXT:         %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[ARG6]]
// CHECK-NEXT:         tile.yield %[[BLOCK]], %[[HEAD]], %[[BATCH]] : i32, i32, i32
// CHECK-NEXT:       }
// CHECK-NEXT:       ws.for ranges <down [masked, full]> bounds(%[[V2]]#0, %[[V2]]#1, %[[V2]]#2) init() : () -> () {
// CHECK-NEXT:       ^bb0(%[[ARG6:.*]]: i32):
// CHECK-NEXT:         ws.entry @ld_k slot 0 shift 0 {
// CHECK-NEXT:           %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[V1]]
// CHECK-NEXT:           %[[V3:.*]] = arith.muli %[[ARG6]], %[[C128_I32]] : i32
// CHECK-NEXT:           %[[V4:.*]] = ws.acquire : <@k, tensor<128x64xbf16>>
// CHECK-NEXT:           ws.copy %[[ARG1]] at(%[[BATCH]], %[[HEAD]], %[[V3]]) #[[$MAP]] shared to %[[V4]] : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
// CHECK-NEXT:           ws.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         ws.entry @ld_q slot 1 shift 0 guard once {
// CHECK-NEXT:           %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[V1]]
// CHECK-NEXT:           %[[V3:.*]] = arith.muli %[[BLOCK]], %[[C128_I32]] : i32
// CHECK-NEXT:           %[[V4:.*]] = ws.acquire : <@q, tensor<128x64xbf16>>
// CHECK-NEXT:           ws.copy %[[ARG0]] at(%[[BATCH]], %[[HEAD]], %[[V3]]) #[[$MAP]] to %[[V4]] : tensor<?x?x?x64xbf16>, <@q, tensor<128x64xbf16>>
// CHECK-NEXT:           ws.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         ws.yield
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   ws.role @wg warps 4 regs 240 replicas 2 {
// CHECK-NEXT:   ^bb0(%[[ARG5:.*]]: i32):
// CHECK-NEXT:     ws.work_loop extents(%[[V0]], %[[V0]], %[[V0]]) {
// CHECK-NEXT:       %[[V1:.*]] = tile.next_work extents(%[[V0]], %[[V0]], %[[V0]])
// CHECK-NEXT:       %[[V2:.*]]:3 = tile.bounds %[[V1]] : i32, i32, i32 {
// CHECK-NEXT:       ^bb0(%[[ARG6:.*]]: !tile.work):
// CHECK-NEXT:         %[[BLOCK_4:.*]], %[[HEAD_5:.*]], %[[BATCH_6:.*]] = tile.work_coords %[[ARG6]]
// CHECK-NEXT:         tile.yield %[[BLOCK_4]], %[[HEAD_5]], %[[BATCH_6]] : i32, i32, i32
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[CST:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:       %[[V3:.*]] = ws.wait : <@q, tensor<128x64xbf16>>
// CHECK-NEXT:       %[[V4:.*]] = ws.for ranges <down [masked, full]> bounds(%[[V2]]#0, %[[V2]]#1, %[[V2]]#2) init(%[[CST]]) : (tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>) -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>> {
// CHECK-NEXT:       ^bb0(%[[ARG6:.*]]: i32, %[[ARG7:.*]]: tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>):
// CHECK-NEXT:         ws.entry @take_tc slot 0 shift 0 {
// CHECK-NEXT:           ws.take @tc[%[[ARG5]]]
// CHECK-NEXT:           ws.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         %[[V11:.*]] = ws.entry @get_k slot 1 shift 0 -> !ws.slot<@k, tensor<128x64xbf16>> {
// CHECK-NEXT:           %[[V15:.*]] = ws.wait : <@k, tensor<128x64xbf16>>
// CHECK-NEXT:           ws.yield %[[V15]] : !ws.slot<@k, tensor<128x64xbf16>>
// CHECK-NEXT:         }
// CHECK-NEXT:         %[[V12:.*]] = ws.entry @qk slot 2 shift 0 -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> {
// CHECK-NEXT:           %[[RESULT:.*]], %[[TOKEN:.*]] = ws.mma %[[V3]] piece(%[[ARG5]]), %[[V11]] transpose_b : !ws.slot<@q, tensor<128x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:           ws.yield %[[RESULT]] : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:         }
// CHECK-NEXT:         ws.entry @give_tc slot 3 shift 0 {
// CHECK-NEXT:           ws.give @tc[%[[ARG5]]]
// CHECK-NEXT:           ws.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         %[[V13:.*]] = ws.entry @mask slot 4 shift 0 masked(%[[V12]] : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>) -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> {
// CHECK-NEXT:           %[[C64_I32_4:.*]] = arith.constant 64 : i32
// CHECK-NEXT:           %[[V15:.*]] = arith.muli %[[ARG5]], %[[C64_I32_4]] : i32
// CHECK-NEXT:           %[[V16:.*]] = arith.addi %[[ARG6]], %[[V15]] : i32
// CHECK-NEXT:           %[[V17:.*]] = tile.coords %[[V16]] dim 0 : tensor<64x128xi32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:           %[[V18:.*]] = arith.sitofp %[[V17]] : tensor<64x128xi32, #tile.layout<atom = wgmma_acc, repeats = 16>> to tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:           %[[V19:.*]] = arith.addf %[[V12]], %[[V18]] : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:           ws.yield %[[V19]] : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:         }
// CHECK-NEXT:         %[[V14:.*]] = ws.entry @sum slot 5 shift 1 -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>> {
// CHECK-NEXT:           %[[V15:.*]] = tile.reduce  add %[[V13]] dim 1 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:           %[[V16:.*]] = arith.addf %[[ARG7]], %[[V15]] : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:           ws.yield %[[V16]] : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:         }
// CHECK-NEXT:         ws.yield %[[V14]] : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:       }
// CHECK-NEXT:       ws.release %[[V3]] : <@q, tensor<128x64xbf16>>
// CHECK-NEXT:       ws.await_store
// CHECK-NEXT:       %[[V5:.*]] = tile.broadcast %[[V4]] dim 1 : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>> -> tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>>
// CHECK-NEXT:       %[[V6:.*]] = arith.truncf %[[V5]] : tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>> to tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>
// CHECK-NEXT:       ws.put %[[V6]] in @oe[%[[ARG5]]] : tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>
// CHECK-NEXT:       %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[V1]]
// CHECK-NEXT:       %[[C64_I32:.*]] = arith.constant 64 : i32
// CHECK-NEXT:       %[[V7:.*]] = arith.muli %[[ARG5]], %[[C64_I32]] : i32
// CHECK-NEXT:       %[[V8:.*]] = arith.addi %[[BLOCK]], %[[V7]] : i32
// CHECK-NEXT:       ws.store @oe[%[[ARG5]]], %[[ARG2]] at(%[[BATCH]], %[[HEAD]], %[[V8]]) #[[$MAP]] : tensor<?x?x?x64xbf16>
// CHECK-NEXT:       %[[BLOCK_0:.*]], %[[HEAD_1:.*]], %[[BATCH_2:.*]] = tile.work_coords %[[V1]]
// CHECK-NEXT:       %[[C64_I32_3:.*]] = arith.constant 64 : i32
// CHECK-NEXT:       %[[V9:.*]] = arith.muli %[[ARG5]], %[[C64_I32_3]] : i32
// CHECK-NEXT:       %[[V10:.*]] = arith.addi %[[BLOCK_0]], %[[V9]] : i32
// CHECK-NEXT:       tile.store_row %[[V4]], %[[ARG3]] at(%[[BATCH_2]], %[[HEAD_1]], %[[V10]]) : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>, tensor<?x?x?xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     ws.await_store
// CHECK-NEXT:   }
// CHECK-NEXT: }

// Planned once more they stay where they are.
// RUN: attn-opt %s --attn-plan-memory --attn-plan-memory | FileCheck %s

// Work items lie behind the tiles, which begin at multiples of 1024.
// CHECK-LABEL: ws.kernel @work_items
// CHECK: smem 32816 {
// CHECK: ws.channel @work [tensor<4xi32>] depth 3 at 32768
// CHECK: ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
ws.kernel @work_items machine "sm_90a" args [] problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent> config <tile_m = 128, tile_n = 128, work = dynamic> schedule <"s" machine "sm_90a" { role load warps 1 regs 24 }> {
  ws.channel @work [tensor<4xi32>] depth 3
  ws.channel @k [tensor<128x64xbf16>] depth 2
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
  }
}
