// A running maximum that is at least 0, except in an item that is computed again; step check rejects
// sums below 2^-20, which a row without keys has as well, an m of 2^24 or more, and O that is not finite.
// RUN: attn-opt %s --attn-fuse-online-softmax | FileCheck %s
// RUN: sed 's/bf16/f16/g' %s | attn-opt - --attn-fuse-online-softmax | FileCheck %s --check-prefix=F16

// CHECK-LABEL: tile.kernel @integer
// CHECK: %[[NEXT:.*]] = tile.step @next
// CHECK: %[[LOWEST:.*]] = arith.constant dense<-3.40282347E+38> : tensor<64xf32>
// CHECK: %[[LOOP:.*]]:3 = tile.for {{.*}} init(%[[LOWEST]],
// CHECK: %[[STAT:.*]]:3 = tile.step @stat(%{{.*}}, %{{.*}}, %[[NEXT]])
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<64x16xf32>, %[[M:.*]]: tensor<64xf32>, %[[WORK:.*]]: !tile.work):
// CHECK-NEXT:   %[[REDO:.*]] = tile.with_care %[[WORK]]
// CHECK-NEXT:   scf.if %[[REDO]]
// CHECK:          tile.reduce max %[[X]] dim 1
// CHECK:          arith.subf %[[X]],
// CHECK:        } else {
// CHECK:          %[[FLOORED:.*]] = tile.reduce max_floored %[[X]] dim 1
// CHECK:          arith.mulf %[[FLOORED]],
// CHECK:          scf.yield %{{.*}}, %{{.*}}, %[[X]]
// CHECK: tile.step @exp(%[[STAT]]#2, %[[STAT]]#0)
// CHECK: tile.step @sum(%{{.*}}, %{{.*}}, %[[STAT]]#1)
// CHECK: tile.step @rescale(%{{.*}}, %[[STAT]]#1)
// CHECK: tile.step @fin(%[[LOOP]]#1, %[[LOOP]]#0)
// CHECK: tile.step @check(%[[LOOP]]#2, %[[LOOP]]#1, %[[LOOP]]#0, %[[NEXT]])
// CHECK-NEXT: ^bb0(%[[O:.*]]: tensor<64x32xf32>, %[[L:.*]]: tensor<64xf32>, %[[M:.*]]: tensor<64xf32>, %[[W:.*]]: !tile.work):
// CHECK-NEXT:   %[[SUM:.*]] = tile.complete %[[L]]
// CHECK-NEXT:   %[[LIMIT:.*]] = arith.constant dense<9.53674316E-7>
// CHECK-NEXT:   %[[SMALL:.*]] = arith.cmpf ult, %[[SUM]], %[[LIMIT]]
// CHECK-NEXT:   %[[INF:.*]] = arith.constant dense<0x7F800000>
// CHECK-NEXT:   %[[ALL:.*]] = tile.reduce add %[[O]] dim 1 partial
// CHECK-NEXT:   %[[ABS:.*]] = math.absf %[[ALL]]
// CHECK-NEXT:   %[[BAD:.*]] = arith.cmpf uge, %[[ABS]], %[[INF]]
// CHECK-NEXT:   %[[WRONG:.*]] = arith.ori %[[BAD]], %[[SMALL]]
// CHECK-NEXT:   %[[MOST:.*]] = arith.constant dense<0x4B800000>
// CHECK-NEXT:   %[[SIZE:.*]] = math.absf %[[M]]
// CHECK-NEXT:   %[[LARGE:.*]] = arith.cmpf oge, %[[SIZE]], %[[MOST]]
// CHECK-NEXT:   %[[EITHER:.*]] = arith.ori %[[WRONG]], %[[LARGE]]
// CHECK-NEXT:   %[[ANY:.*]] = tile.any %[[EITHER]]
// CHECK-NEXT:   tile.reject %[[W]] if %[[ANY]]
// CHECK: tile.step @norm(%[[LOOP]]#2,

// The numbers of f16 below 1 reach less far down.
// F16: tile.step @check
// F16: tile.complete
// F16-NEXT: arith.constant dense<1.000000e+00>
// F16-NEXT: arith.cmpf ult,

tile.kernel @integer args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8, row_max = integer> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %w = tile.step @next () : () -> !tile.work {
      %x = tile.next_work extents(%n, %n, %n)
      tile.yield %x : !tile.work
    }
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}
