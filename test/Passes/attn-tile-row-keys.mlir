// attn-tile: the keys of the first and the last row bound the blocks of a tile where it is proven that no row's keys begin or
// end before those of the row above; otherwise all rows are read.
// RUN: %cases %s | attn-opt -split-input-file --attn-tile | FileCheck %s

!q = tensor<?x?x?x128xbf16>
!lse = tensor<?x?x?xf32>

// =====

func.func @case(%q: !q, %k: !q, %v: !q, %scale: f32, %ends: tensor<?xi32> {attn.name = "ends"}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%ends : tensor<?xi32>)
      config <tile_m = 128, tile_n = 64, work = grid>
      row_keys {
      ^bb0(%b: i32, %h: i32, %i: i32, %t: tensor<?xi32>):
        %c0 = arith.constant 0 : i32
...
      }
      : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

// Twice the position does not fall.
// CHECK: tile.bounds
// CHECK-NOT: scf.parallel
// CHECK: tile.yield
%c1 = arith.constant 1 : i32
%half = arith.shrsi %i, %c1 : i32
attn.yield %c0, %half : i32, i32

// -----

// The end is the batch's, from the tenth query on.
// CHECK: tile.bounds
// CHECK-NOT: scf.parallel
// CHECK: tile.yield
%c10 = arith.constant 10 : i32
%at = arith.index_cast %b : i32 to index
%length = tensor.extract %t[%at] : tensor<?xi32>
%natural = arith.maxsi %length, %c0 : i32
%late = arith.cmpi sge, %i, %c10 : i32
%end = arith.select %late, %natural, %c0 : i32
attn.yield %c0, %end : i32, i32

// -----

// A tensor has the end of each query. Rows after the last query count as the last one.
// CHECK: %[[SQ:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK: tile.bounds
// CHECK: %[[FIRST:.*]], %[[ROWS:.*]] = tile.owned_rows
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c1_i32{{.*}}
// CHECK: %[[BEGIN:.*]] = arith.index_cast %[[FIRST]] : i32 to index
// CHECK: %[[AFTER:.*]] = arith.addi %[[FIRST]], %[[ROWS]]
// CHECK: %[[STOP:.*]] = arith.index_cast %[[AFTER]] : i32 to index
// CHECK: %[[ENDS:.*]]:2 = scf.parallel (%[[ROW:.*]]) = (%[[BEGIN]]) to (%[[STOP]]) step (%c1{{[_0-9]*}})
// CHECK-SAME: init (%c2147483647_i32, %c-2147483648_i32)
// CHECK: %[[AT:.*]] = arith.index_cast %[[ROW]] : index to i32
// CHECK: %[[QUERY:.*]] = arith.minsi %[[AT]], %[[LAST]]
// CHECK: %[[END:.*]] = tile.gather %{{.*}}[%[[QUERY]] : i32]
// CHECK: %[[NATURAL:.*]] = arith.maxsi %[[END]]
// CHECK: scf.reduce(%[[NATURAL]], %[[NATURAL]] : i32, i32)
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: %[[MOST:.*]] = arith.minsi %{{.*}}, %[[ENDS]]#1
// CHECK: %[[SOME:.*]] = arith.maxsi %[[MOST]]
// CHECK: %[[HI:.*]] = arith.ceildivsi %[[SOME]]
// CHECK: arith.minsi %{{.*}}, %[[ENDS]]#0
// CHECK: tile.yield %[[HI]]
%at = arith.index_cast %i : i32 to index
%end = tensor.extract %t[%at] : tensor<?xi32>
attn.yield %c0, %end : i32, i32
