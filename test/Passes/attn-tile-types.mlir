// Regions in the element types of what they capture.
// RUN: attn-opt %s --attn-tile | FileCheck %s

func.func @types(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %scale: f32,
                 %half: tensor<?xbf16>, %bytes: tensor<?xui8>, %bits: tensor<?xi64>, %by: i64)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%half, %bytes, %bits, %by : tensor<?xbf16>, tensor<?xui8>, tensor<?xi64>, i64)
      config <tile_m = 128, tile_n = 64, work = grid>
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %a: tensor<?xbf16>, %c: tensor<?xi8>, %d: tensor<?xi64>, %n: i64):
        %column = arith.index_cast %j : i32 to index
        // What is narrower is f32 with exact values.
        // CHECK: %[[HALF:.*]] = tile.gather {{.*}} : tensor<?xbf16> -> tensor<128x64xf32>
        %x = tensor.extract %a[%column] : tensor<?xbf16>
        %wide = arith.extf %x : bf16 to f32
        // CHECK-NEXT: %[[SUM:.*]] = arith.addf {{.*}}, %[[HALF]] : tensor<128x64xf32>
        %sum = arith.addf %s, %wide : f32
        // CHECK-NEXT: tile.round %[[SUM]] to f16 : tensor<128x64xf32>
        %narrow = arith.truncf %sum : f32 to f16
        %r = arith.extf %narrow : f16 to f32
        attn.yield %r : f32
      }
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %a: tensor<?xbf16>, %c: tensor<?xi8>, %d: tensor<?xi64>, %n: i64):
        %row = arith.index_cast %i : i32 to index
        // CHECK: tile.gather {{.*}} : tensor<?xui8> -> tensor<128x64xi8>
        %byte = tensor.extract %c[%row] : tensor<?xi8>
        %count = arith.extui %byte : i8 to i64
        // CHECK: %[[WORD:.*]] = tile.gather {{.*}} : tensor<?xi64> -> tensor<128x64xi64>
        %word = tensor.extract %d[%row] : tensor<?xi64>
        // A count that may be too large.
        // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[COUNT:.*]], %cst{{.*}} : tensor<128x64xi64>
        // CHECK: %[[LOW:.*]] = arith.andi %[[COUNT]], %cst
        // CHECK: %[[SHIFTED:.*]] = arith.shrui %[[WORD]], %[[LOW]] : tensor<128x64xi64>
        // CHECK: %[[ZERO:.*]] = arith.constant dense<0> : tensor<128x64xi64>
        // CHECK: arith.select %[[INSIDE]], %[[SHIFTED]], %[[ZERO]]
        %shifted = arith.shrui %word, %count : i64
        // One that is not.
        // CHECK: %[[EIGHT:.*]] = arith.constant dense<8> : tensor<128x64xi64>
        // CHECK: arith.shli %{{.*}}, %[[EIGHT]] : tensor<128x64xi64>
        %eight = arith.constant 8 : i64
        %again = arith.shli %shifted, %eight : i64
        // A scalar that may be 0.
        // CHECK: %[[BY:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<128x64xi1>, tensor<128x64xi64>
        // CHECK-NEXT: arith.remui %{{.*}}, %[[BY]] : tensor<128x64xi64>
        %rest = arith.remui %again, %n : i64
        // CHECK: arith.trunci %{{.*}} : tensor<128x64xi64> to tensor<128x64xi1>
        %ok = arith.trunci %rest : i64 to i1
        attn.yield %ok : i1
      }
      : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
