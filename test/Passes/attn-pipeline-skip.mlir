// attn-pipeline where a sub-tile skips blocks: before the prologue, a loop
// waits for the slots of skipped blocks and releases them, and passes turns on.
// Then come the blocks of the sub-tile's own rows, and blocks that are skipped last.
// RUN: attn-opt %s --attn-pipeline | FileCheck %s
// RUN: attn-opt %s --attn-pipeline --attn-verify-sync -o /dev/null
// RUN: sed -e 's/skip right/skip both/; s/skipped, masked, full\]/skipped, masked, full, skipped]/; s/%own#1, %2#2)/%own#1, %own#2, %2#2)/' %s > %t.both.mlir
// RUN: attn-opt %t.both.mlir --attn-pipeline | FileCheck %s --check-prefix=BOTH
// RUN: attn-opt %t.both.mlir --attn-pipeline --attn-verify-sync -o /dev/null

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
  knob skip right
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
        ws.entry @ld_k issue 0 shift 0 {
          %block, %head, %batch = tile.work_coords %1
          %3 = arith.muli %arg6, %c128_i32 : i32
          %4 = ws.acquire : <@k, tensor<128x64xbf16>>
          ws.copy %arg1 at(%batch, %head, %3) #map shared to %4 : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
          ws.yield
        }
        ws.entry @ld_q issue 1 shift 0 guard once {
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
      %own:3 = tile.bounds %1 subtile(%arg5 of 2) : i32, i32, i32 {
      ^bb0(%arg6: !tile.work):
        %first, %rows = tile.owned_rows %arg6
        tile.yield %first, %rows, %first : i32, i32, i32
      }
      %cst = arith.constant dense<0.000000e+00> : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
      %3 = ws.wait : <@q, tensor<128x64xbf16>>
      %4 = ws.for ranges <down [skipped, masked, full]> bounds(%2#0, %own#0, %own#1, %2#2) init(%cst) : (tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>) -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>> {
      ^bb0(%arg6: i32, %arg7: tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>):
        ws.entry @take_tc issue 0 shift 0 {
          ws.take @tc[%arg5]
          ws.yield
        }
        %11 = ws.entry @get_k issue 1 shift 0 -> !ws.slot<@k, tensor<128x64xbf16>> {
          %15 = ws.wait : <@k, tensor<128x64xbf16>>
          ws.yield %15 : !ws.slot<@k, tensor<128x64xbf16>>
        }
        %12 = ws.entry @qk issue 2 shift 0 releases(%11 : !ws.slot<@k, tensor<128x64xbf16>>) -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> {
          %result, %token = ws.mma %3 piece(%arg5), %11 transpose_b : !ws.slot<@q, tensor<128x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
          ws.yield %result : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
        }
        ws.entry @give_tc issue 3 shift 0 {
          ws.give @tc[%arg5]
          ws.yield
        }
        %13 = ws.entry @mask issue 4 shift 0 masked(%12 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>) after [@qk] -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> {
          %c128_i32_4 = arith.constant 128 : i32
          %16 = arith.muli %arg6, %c128_i32_4 : i32
          %17 = tile.coords %16 dim 1 : tensor<64x128xi32, #tile.layout<atom = wgmma_acc, repeats = 16>>
          %18 = arith.sitofp %17 : tensor<64x128xi32, #tile.layout<atom = wgmma_acc, repeats = 16>> to tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
          %19 = arith.addf %12, %18 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
          ws.yield %19 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
        }
        %14 = ws.entry @sum issue 5 shift 1 -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>> {
          %15 = tile.reduce  add %13 dim 1 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
          %16 = arith.addf %arg7, %15 : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
          ws.yield %16 : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
        }
        ws.yield %14 : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
      } skipped {
        ws.take @tc[%arg5]
        %gone0 = ws.wait : <@k, tensor<128x64xbf16>>
        ws.release %gone0 : <@k, tensor<128x64xbf16>>
        ws.give @tc[%arg5]
        ws.yield
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
      %c128_i32_0 = arith.constant 128 : i32
      %firstRow = arith.muli %block, %c128_i32_0 : i32
      %8 = arith.addi %firstRow, %7 : i32
      ws.store @oe[%arg5], %arg2 at(%batch, %head, %8) #map : tensor<?x?x?x64xbf16>
      %block_0, %head_1, %batch_2 = tile.work_coords %1
      %c64_i32_3 = arith.constant 64 : i32
      %9 = arith.muli %arg5, %c64_i32_3 : i32
      %10 = arith.addi %firstRow, %9 : i32
      tile.store_row %4, %arg3 at(%batch_2, %head_1, %10) : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>, tensor<?x?x?xf32>
    }
    ws.await_store
  }
}


// CHECK: ws.role @wg
// CHECK: %[[ALL:.*]]:3 = tile.bounds %[[W:.*]] : i32, i32, i32 {
// CHECK: %[[OWN:.*]]:3 = tile.bounds %[[W]] subtile(%[[ME:.*]] of 2) : i32, i32, i32 {
// CHECK: %[[Q:.*]] = ws.wait : <@q,
// CHECK-NEXT: %[[COUNT:.*]] = arith.subi %[[ALL]]#0, %[[OWN]]#0 : i32
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[COUNT]] step %{{.*}} : i32 {
// CHECK-NEXT:   ws.take @tc[%[[ME]]]
// CHECK-NEXT:   %[[K:.*]] = ws.wait : <@k, tensor<128x64xbf16>>
// CHECK-NEXT:   ws.release %[[K]] : <@k, tensor<128x64xbf16>>
// CHECK-NEXT:   ws.give @tc[%[[ME]]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[TRIPS:.*]] = arith.subi %[[OWN]]#0, %[[ALL]]#2 : i32
// CHECK: arith.cmpi sgt, %[[TRIPS]],
// The masked range ends where its own rows see whole blocks.
// CHECK: arith.subi %[[OWN]]#0, %[[OWN]]#1 : i32

// BOTH: ws.role @wg
// BOTH: %[[ALL:.*]]:3 = tile.bounds %[[W:.*]] : i32, i32, i32 {
// BOTH: %[[OWN:.*]]:3 = tile.bounds %[[W]] subtile(%[[ME:.*]] of 2) : i32, i32, i32 {
// BOTH: arith.subi %[[ALL]]#0, %[[OWN]]#0 : i32
// BOTH: arith.subi %[[OWN]]#0, %[[OWN]]#2 : i32
// BOTH: scf.if
// BOTH: } else {
// BOTH: }
// BOTH-NEXT: %[[COUNT:.*]] = arith.subi %[[OWN]]#2, %[[ALL]]#2 : i32
// BOTH: scf.for %{{.*}} = %{{.*}} to %[[COUNT]] step %{{.*}} : i32 {
// BOTH-NEXT:   ws.take @tc[%[[ME]]]
// BOTH-NEXT:   %[[K:.*]] = ws.wait : <@k, tensor<128x64xbf16>>
// BOTH-NEXT:   ws.release %[[K]] : <@k, tensor<128x64xbf16>>
// BOTH-NEXT:   ws.give @tc[%[[ME]]]
// BOTH-NEXT: }
// BOTH-NEXT: ws.await_store
