// attn-pipeline: prologue, a masked and a full steady loop, epilogue; awaits before the first touch, releases after the last read.
// RUN: attn-opt %s --attn-pipeline | FileCheck %s
// RUN: attn-opt %s --attn-pipeline --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// REMARK: [Passed] pipeline | Category:attn | {{.*}}role 'load': {{[0-9]+}} copies of the loop's body, shifts 0 to 0
// REMARK: [Passed] pipeline | Category:attn | {{.*}}role 'wg': {{[0-9]+}} copies of the loop's body, shifts 0 to 1

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
}> smem 65536 {
^bb0(%arg0: tensor<?x?x?x64xbf16>, %arg1: tensor<?x?x?x64xbf16>, %arg2: tensor<?x?x?x64xbf16>, %arg3: tensor<?x?x?xf32>, %arg4: f32):
  ws.channel @q [tensor<128x64xbf16>] depth 1 at 0
  ws.channel @k [tensor<128x64xbf16>] depth 2 at 16384
  ws.hold @oe tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>> pieces 2 at 49152
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
      } empty {
        %block, %head, %batch = tile.work_coords %1
        %3 = arith.muli %block, %c128_i32 : i32
        %4 = ws.acquire : <@q, tensor<128x64xbf16>>
        ws.copy %arg0 at(%batch, %head, %3) #map to %4 : tensor<?x?x?x64xbf16>, <@q, tensor<128x64xbf16>>
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
        %12 = ws.entry @qk slot 2 shift 0 releases(%11 : !ws.slot<@k, tensor<128x64xbf16>>) -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> {
          %result, %token = ws.mma %3 piece(%arg5), %11 transpose_b : !ws.slot<@q, tensor<128x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
          ws.yield %result : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
        }
        ws.entry @give_tc slot 3 shift 0 {
          ws.give @tc[%arg5]
          ws.yield
        }
        %13 = ws.entry @mask slot 4 shift 0 masked(%12 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>) after [@qk] -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> {
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
      } drain {
        ws.release %3 : <@q, tensor<128x64xbf16>>
        ws.yield
      } empty {
        ws.release %3 : <@q, tensor<128x64xbf16>>
        ws.yield
      }
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
// CHECK-NEXT:   ws.hold @oe tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>> pieces 2 at 49152
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
// CHECK-NEXT:       %[[V3:.*]] = arith.subi %[[V2]]#0, %[[V2]]#2 : i32
// CHECK-NEXT:       %[[C0_I32:.*]] = arith.constant 0 : i32
// CHECK-NEXT:       %[[V4:.*]] = arith.cmpi sgt, %[[V3]], %[[C0_I32]] : i32
// CHECK-NEXT:       scf.if %[[V4]] {
// CHECK-NEXT:         %[[C0_I32_0:.*]] = arith.constant 0 : i32
// CHECK-NEXT:         %[[C1_I32:.*]] = arith.constant 1 : i32
// CHECK-NEXT:         %[[C_1_I32:.*]] = arith.constant -1 : i32
// CHECK-NEXT:         %[[V5:.*]] = arith.addi %[[V2]]#0, %[[C_1_I32]] : i32
// CHECK-NEXT:         %[[V6:.*]] = arith.subi %[[V5]], %[[C0_I32_0]] : i32
// CHECK-NEXT:         %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[V1]]
// CHECK-NEXT:         %[[V7:.*]] = arith.muli %[[V6]], %[[C128_I32]] : i32
// CHECK-NEXT:         %[[V8:.*]] = ws.acquire : <@k, tensor<128x64xbf16>>
// CHECK-NEXT:         ws.copy %[[ARG1]] at(%[[BATCH]], %[[HEAD]], %[[V7]]) #[[$MAP]] shared to %[[V8]] : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
// CHECK-NEXT:         %[[BLOCK_1:.*]], %[[HEAD_2:.*]], %[[BATCH_3:.*]] = tile.work_coords %[[V1]]
// CHECK-NEXT:         %[[V9:.*]] = arith.muli %[[BLOCK_1]], %[[C128_I32]] : i32
// CHECK-NEXT:         %[[V10:.*]] = ws.acquire : <@q, tensor<128x64xbf16>>
// CHECK-NEXT:         ws.copy %[[ARG0]] at(%[[BATCH_3]], %[[HEAD_2]], %[[V9]]) #[[$MAP]] to %[[V10]] : tensor<?x?x?x64xbf16>, <@q, tensor<128x64xbf16>>
// CHECK-NEXT:         %[[C1_I32_4:.*]] = arith.constant 1 : i32
// CHECK-NEXT:         scf.for %[[ARG6:.*]] = %[[C1_I32]] to %[[V3]] step %[[C1_I32_4]]  : i32 {
// CHECK-NEXT:           %[[C_1_I32_5:.*]] = arith.constant -1 : i32
// CHECK-NEXT:           %[[V11:.*]] = arith.addi %[[V2]]#0, %[[C_1_I32_5]] : i32
// CHECK-NEXT:           %[[V12:.*]] = arith.subi %[[V11]], %[[ARG6]] : i32
// CHECK-NEXT:           %[[BLOCK_6:.*]], %[[HEAD_7:.*]], %[[BATCH_8:.*]] = tile.work_coords %[[V1]]
// CHECK-NEXT:           %[[V13:.*]] = arith.muli %[[V12]], %[[C128_I32]] : i32
// CHECK-NEXT:           %[[V14:.*]] = ws.acquire : <@k, tensor<128x64xbf16>>
// CHECK-NEXT:           ws.copy %[[ARG1]] at(%[[BATCH_8]], %[[HEAD_7]], %[[V13]]) #[[$MAP]] shared to %[[V14]] : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
// CHECK-NEXT:         }
// CHECK-NEXT:       } else {
// CHECK-NEXT:         %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[V1]]
// CHECK-NEXT:         %[[V5:.*]] = arith.muli %[[BLOCK]], %[[C128_I32]] : i32
// CHECK-NEXT:         %[[V6:.*]] = ws.acquire : <@q, tensor<128x64xbf16>>
// CHECK-NEXT:         ws.copy %[[ARG0]] at(%[[BATCH]], %[[HEAD]], %[[V5]]) #[[$MAP]] to %[[V6]] : tensor<?x?x?x64xbf16>, <@q, tensor<128x64xbf16>>
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
// CHECK-NEXT:       %[[V4:.*]] = arith.subi %[[V2]]#0, %[[V2]]#2 : i32
// CHECK-NEXT:       %[[C0_I32:.*]] = arith.constant 0 : i32
// CHECK-NEXT:       %[[V5:.*]] = arith.cmpi sgt, %[[V4]], %[[C0_I32]] : i32
// CHECK-NEXT:       %[[V6:.*]] = scf.if %[[V5]] -> (tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>) {
// CHECK-NEXT:         %[[C0_I32_4:.*]] = arith.constant 0 : i32
// CHECK-NEXT:         %[[C1_I32:.*]] = arith.constant 1 : i32
// CHECK-NEXT:         ws.take @tc[%[[ARG5]]]
// CHECK-NEXT:         %[[V13:.*]] = ws.wait : <@k, tensor<128x64xbf16>>
// CHECK-NEXT:         %[[RESULT:.*]], %[[TOKEN:.*]] = ws.mma %[[V3]] piece(%[[ARG5]]), %[[V13]] transpose_b : !ws.slot<@q, tensor<128x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:         ws.give @tc[%[[ARG5]]]
// CHECK-NEXT:         %[[V14:.*]] = ws.await %[[RESULT]], %[[TOKEN]] : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:         ws.release %[[V13]] : <@k, tensor<128x64xbf16>>
// CHECK-NEXT:         %[[C_1_I32:.*]] = arith.constant -1 : i32
// CHECK-NEXT:         %[[V15:.*]] = arith.addi %[[V2]]#0, %[[C_1_I32]] : i32
// CHECK-NEXT:         %[[V16:.*]] = arith.subi %[[V15]], %[[C0_I32_4]] : i32
// CHECK-NEXT:         %[[C64_I32_5:.*]] = arith.constant 64 : i32
// CHECK-NEXT:         %[[V17:.*]] = arith.muli %[[ARG5]], %[[C64_I32_5]] : i32
// CHECK-NEXT:         %[[V18:.*]] = arith.addi %[[V16]], %[[V17]] : i32
// CHECK-NEXT:         %[[V19:.*]] = tile.coords %[[V18]] dim 0 : tensor<64x128xi32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:         %[[V20:.*]] = arith.sitofp %[[V19]] : tensor<64x128xi32, #tile.layout<atom = wgmma_acc, repeats = 16>> to tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:         %[[V21:.*]] = arith.addf %[[V14]], %[[V20]] : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:         %[[V22:.*]] = arith.subi %[[V2]]#0, %[[V2]]#1 : i32
// CHECK-NEXT:         %[[C0_I32_6:.*]] = arith.constant 0 : i32
// CHECK-NEXT:         %[[V23:.*]] = arith.addi %[[V22]], %[[C0_I32_6]] : i32
// CHECK-NEXT:         %[[V24:.*]] = arith.minsi %[[V23]], %[[V4]] : i32
// CHECK-NEXT:         %[[V25:.*]] = arith.maxsi %[[V24]], %[[C1_I32]] : i32
// CHECK-NEXT:         %[[C1_I32_7:.*]] = arith.constant 1 : i32
// CHECK-NEXT:         %[[V26:.*]]:2 = scf.for %[[ARG6:.*]] = %[[C1_I32]] to %[[V25]] step %[[C1_I32_7]] iter_args(%[[ARG7:.*]] = %[[V21]], %[[ARG8:.*]] = %[[CST]]) -> (tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>, tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>)  : i32 {
// CHECK-NEXT:           ws.take @tc[%[[ARG5]]]
// CHECK-NEXT:           %[[V30:.*]] = ws.wait : <@k, tensor<128x64xbf16>>
// CHECK-NEXT:           %[[RESULT_9:.*]], %[[TOKEN_10:.*]] = ws.mma %[[V3]] piece(%[[ARG5]]), %[[V30]] transpose_b : !ws.slot<@q, tensor<128x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:           ws.give @tc[%[[ARG5]]]
// CHECK-NEXT:           %[[V31:.*]] = ws.await %[[RESULT_9]], %[[TOKEN_10]] : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:           ws.release %[[V30]] : <@k, tensor<128x64xbf16>>
// CHECK-NEXT:           %[[C_1_I32_11:.*]] = arith.constant -1 : i32
// CHECK-NEXT:           %[[V32:.*]] = arith.addi %[[V2]]#0, %[[C_1_I32_11]] : i32
// CHECK-NEXT:           %[[V33:.*]] = arith.subi %[[V32]], %[[ARG6]] : i32
// CHECK-NEXT:           %[[C64_I32_12:.*]] = arith.constant 64 : i32
// CHECK-NEXT:           %[[V34:.*]] = arith.muli %[[ARG5]], %[[C64_I32_12]] : i32
// CHECK-NEXT:           %[[V35:.*]] = arith.addi %[[V33]], %[[V34]] : i32
// CHECK-NEXT:           %[[V36:.*]] = tile.coords %[[V35]] dim 0 : tensor<64x128xi32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:           %[[V37:.*]] = arith.sitofp %[[V36]] : tensor<64x128xi32, #tile.layout<atom = wgmma_acc, repeats = 16>> to tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:           %[[V38:.*]] = arith.addf %[[V31]], %[[V37]] : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:           %[[V39:.*]] = tile.reduce  add %[[ARG7]] dim 1 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:           %[[V40:.*]] = arith.addf %[[ARG8]], %[[V39]] : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:           scf.yield %[[V38]], %[[V40]] : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>, tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:         }
// CHECK-NEXT:         %[[C1_I32_8:.*]] = arith.constant 1 : i32
// CHECK-NEXT:         %[[V27:.*]]:2 = scf.for %[[ARG6:.*]] = %[[V25]] to %[[V4]] step %[[C1_I32_8]] iter_args(%[[ARG7:.*]] = %[[V26]]#0, %[[ARG8:.*]] = %[[V26]]#1) -> (tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>, tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>)  : i32 {
// CHECK-NEXT:           ws.take @tc[%[[ARG5]]]
// CHECK-NEXT:           %[[V30:.*]] = ws.wait : <@k, tensor<128x64xbf16>>
// CHECK-NEXT:           %[[RESULT_9:.*]], %[[TOKEN_10:.*]] = ws.mma %[[V3]] piece(%[[ARG5]]), %[[V30]] transpose_b : !ws.slot<@q, tensor<128x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:           ws.give @tc[%[[ARG5]]]
// CHECK-NEXT:           %[[V31:.*]] = tile.reduce  add %[[ARG7]] dim 1 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:           %[[V32:.*]] = arith.addf %[[ARG8]], %[[V31]] : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:           %[[V33:.*]] = ws.await %[[RESULT_9]], %[[TOKEN_10]] : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// CHECK-NEXT:           ws.release %[[V30]] : <@k, tensor<128x64xbf16>>
// CHECK-NEXT:           scf.yield %[[V33]], %[[V32]] : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>, tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:         }
// CHECK-NEXT:         ws.release %[[V3]] : <@q, tensor<128x64xbf16>>
// CHECK-NEXT:         %[[V28:.*]] = tile.reduce  add %[[V27]]#0 dim 1 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:         %[[V29:.*]] = arith.addf %[[V27]]#1, %[[V28]] : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:         scf.yield %[[V29]] : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:       } else {
// CHECK-NEXT:         ws.release %[[V3]] : <@q, tensor<128x64xbf16>>
// CHECK-NEXT:         scf.yield %[[CST]] : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// CHECK-NEXT:       }
// CHECK-NEXT:       ws.await_store
// CHECK-NEXT:       %[[V7:.*]] = tile.broadcast %[[V6]] dim 1 : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>> -> tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>>
// CHECK-NEXT:       %[[V8:.*]] = arith.truncf %[[V7]] : tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>> to tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>
// CHECK-NEXT:       ws.put %[[V8]] in @oe[%[[ARG5]]] : tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>
// CHECK-NEXT:       %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords %[[V1]]
// CHECK-NEXT:       %[[C64_I32:.*]] = arith.constant 64 : i32
// CHECK-NEXT:       %[[V9:.*]] = arith.muli %[[ARG5]], %[[C64_I32]] : i32
// CHECK-NEXT:       %[[V10:.*]] = arith.addi %[[BLOCK]], %[[V9]] : i32
// CHECK-NEXT:       ws.store @oe[%[[ARG5]]], %[[ARG2]] at(%[[BATCH]], %[[HEAD]], %[[V10]]) #[[$MAP]] : tensor<?x?x?x64xbf16>
// CHECK-NEXT:       %[[BLOCK_0:.*]], %[[HEAD_1:.*]], %[[BATCH_2:.*]] = tile.work_coords %[[V1]]
// CHECK-NEXT:       %[[C64_I32_3:.*]] = arith.constant 64 : i32
// CHECK-NEXT:       %[[V11:.*]] = arith.muli %[[ARG5]], %[[C64_I32_3]] : i32
// CHECK-NEXT:       %[[V12:.*]] = arith.addi %[[BLOCK_0]], %[[V11]] : i32
// CHECK-NEXT:       tile.store_row %[[V6]], %[[ARG3]] at(%[[BATCH_2]], %[[HEAD_1]], %[[V12]]) : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>, tensor<?x?x?xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     ws.await_store
// CHECK-NEXT:   }
// CHECK-NEXT: }

// Expanded loops stay as they are.
// RUN: attn-opt %s --attn-pipeline --attn-pipeline | FileCheck %s
