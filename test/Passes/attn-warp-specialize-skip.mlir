// attn-warp-specialize with 'skip right': replicas of the role with one a sub-tile start at their own rows' last block.
// RUN: attn-opt %s --attn-warp-specialize | FileCheck %s
// RUN: attn-opt %s --attn-warp-specialize --attn-hand-out --attn-plan-memory --attn-pipeline --attn-verify-sync -o /dev/null
// With 'skip both' they also end at their first block, unless all rows begin with block 0.
// RUN: sed 's/skip right/skip both/' %s > %t.both.mlir
// RUN: attn-opt %t.both.mlir --attn-warp-specialize | FileCheck %s --check-prefix=BOTH
// RUN: attn-opt %t.both.mlir --attn-warp-specialize --attn-hand-out --attn-plan-memory --attn-pipeline --attn-verify-sync -o /dev/null
// RUN: sed 's/^ *tile.yield %first, %rows, %first/%%zero = arith.constant 0 : i32\n tile.yield %first, %rows, %%zero/' %t.both.mlir | attn-opt --attn-warp-specialize | FileCheck %s
// BOTH: %[[ALL:.*]]:3 = tile.bounds %[[W:.*]] : i32, i32, i32 {
// BOTH: %[[OWN:.*]]:3 = tile.bounds %[[W]] subtile(%{{.*}} of 2) : i32, i32, i32 {
// BOTH: ws.for ranges <down [skipped, masked, full, skipped]> bounds(%[[ALL]]#0, %[[OWN]]#0, %[[OWN]]#1, %[[OWN]]#2, %[[ALL]]#2)
// Bounds that do not depend on the rows, or no knob: nothing to skip.
// RUN: sed 's/%first, %rows = tile.owned_rows %arg5/%first, %rows, %batch = tile.work_coords %arg5/' %s | attn-opt --attn-warp-specialize | FileCheck %s --check-prefix=NONE
// RUN: sed 's/knob skip right/knob skip none/' %s | attn-opt --attn-warp-specialize | FileCheck %s --check-prefix=NONE
// NONE-NOT: "skipped"
// NONE: ws.for ranges <down [masked, full]>
// NONE-NOT: "skipped"
// What nothing reads is left out, with what it holds.
// RUN: sed 's/^ *tile.yield %first, %rows, %first/%%yes = arith.constant true\n %%unread = scf.if %%yes -> i32 {\n %%too = arith.constant 7 : i32\n scf.yield %rows : i32 } else { scf.yield %first : i32 }\n&/' %s > %t.unread.mlir
// RUN: FileCheck %s --check-prefix=UNREAD < %t.unread.mlir
// UNREAD: scf.if
// RUN: attn-opt %t.unread.mlir --attn-warp-specialize | FileCheck %s --implicit-check-not=scf.if

#map = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
tile.kernel @small args ["q", "k", "o" write, "lse" write, "n"] problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent> config <tile_m = 128, tile_n = 128, work = grid> schedule <"small" machine "sm_90a" {
  split M 2 whole(q)
  remat(next)
  role load warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  hold s = s in reg depth 1
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
      %first, %rows = tile.owned_rows %arg5
      tile.yield %first, %rows, %first : i32, i32, i32
    }
    %cst = arith.constant dense<0.000000e+00> : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
    %4 = tile.for ranges <down [masked, full]> bounds(%3#0, %3#1, %3#2) init(%cst) : (tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>) -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>> {
    ^bb0(%arg5: i32, %arg6: tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>):
      %6 = tile.step @ld_k(%1) : (!tile.work) -> tensor<128x64xbf16> {
      ^bb0(%arg7: !tile.work):
        %block, %head, %batch = tile.work_coords %arg7
        %10 = arith.muli %arg5, %c128_i32 : i32
        %11 = tile.load %arg1 at(%batch, %head, %10) #map : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
        tile.yield %11 : tensor<128x64xbf16>
      }
      %7 = tile.step @qk(%2, %6) : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> {
      ^bb0(%arg7: tensor<128x64xbf16>, %arg8: tensor<128x64xbf16>):
        %10 = tile.subtile_id
        %11 = tile.piece %arg7[%10] : tensor<128x64xbf16> -> tensor<64x64xbf16>
        %12 = tile.mma %11, %arg8 transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
        tile.yield %12 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
      }
      %8 = tile.step @mask masked(%7) : (tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>) -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> {
      ^bb0(%arg7: tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>):
        %12 = arith.muli %arg5, %c128_i32 : i32
        %13 = tile.coords %12 dim 1 : tensor<64x128xi32, #tile.layout<atom = wgmma_acc, repeats = 16>>
        %14 = arith.sitofp %13 : tensor<64x128xi32, #tile.layout<atom = wgmma_acc, repeats = 16>> to tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
        %15 = arith.addf %arg7, %14 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
        tile.yield %15 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
      }
      %9 = tile.step @sum(%8, %arg6) : (tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>, tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>) -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>> {
      ^bb0(%arg7: tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>, %arg8: tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>):
        %10 = tile.reduce  add %arg7 dim 1 : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>> -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
        %11 = arith.addf %arg8, %10 : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
        tile.yield %11 : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
      }
      tile.yield %9 : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
    }
    %5 = tile.step @cvt_o(%4) : (tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>) -> tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>> {
    ^bb0(%arg5: tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>):
      %6 = tile.broadcast %arg5 dim 1 : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>> -> tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>>
      %7 = arith.truncf %6 : tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>> to tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>
      tile.yield %7 : tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>
    }
    tile.step @st_o(%5, %1) : (tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>, !tile.work) -> () {
    ^bb0(%arg5: tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>, %arg6: !tile.work):
      %6 = tile.subtile_id
      %block, %head, %batch = tile.work_coords %arg6
      %c64_i32 = arith.constant 64 : i32
      %7 = arith.muli %6, %c64_i32 : i32
      %own = arith.muli %block, %c128_i32 : i32
      %8 = arith.addi %own, %7 : i32
      tile.store %arg5, %arg2 at(%batch, %head, %8) #map : tensor<64x64xbf16, #tile.layout<atom = wgmma_acc, repeats = 8>>, tensor<?x?x?x64xbf16>
      tile.yield
    }
    tile.step @st_lse(%4, %1) : (tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>, !tile.work) -> () {
    ^bb0(%arg5: tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>, %arg6: !tile.work):
      %6 = tile.subtile_id
      %block, %head, %batch = tile.work_coords %arg6
      %c64_i32 = arith.constant 64 : i32
      %7 = arith.muli %6, %c64_i32 : i32
      %own = arith.muli %block, %c128_i32 : i32
      %8 = arith.addi %own, %7 : i32
      tile.store_row %arg5, %arg3 at(%batch, %head, %8) : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}


// CHECK: ws.role @load
// CHECK: ws.for ranges <down [masked, full]>
// CHECK: ws.role @wg
// CHECK-NEXT: ^bb0(%[[ME:.*]]: i32):
// CHECK: %[[ALL:.*]]:3 = tile.bounds %[[W:.*]] : i32, i32, i32 {
// CHECK: %[[OWN:.*]]:3 = tile.bounds %[[W]] subtile(%[[ME]] of 2) : i32, i32, i32 {
// CHECK-NEXT: ^bb0(%[[ITEM:.*]]: !tile.work):
// CHECK-NEXT:   %[[FIRST:.*]], %[[ROWS:.*]] = tile.owned_rows %[[ITEM]]
// CHECK: ws.for ranges <down [skipped, masked, full]> bounds(%[[ALL]]#0, %[[OWN]]#0, %[[OWN]]#1, %[[ALL]]#2)
// A role takes its turn for a skipped block and passes it on, and releases the
// slot unread.
// CHECK: } skipped {
// CHECK-NEXT: ws.take @tc[%[[ME]]]
// CHECK-NEXT: %[[UNREAD:.*]] = ws.wait : <@k,
// CHECK-NEXT: ws.release %[[UNREAD]]
// CHECK-NEXT: ws.give @tc[%[[ME]]]
// CHECK-NEXT: ws.yield
