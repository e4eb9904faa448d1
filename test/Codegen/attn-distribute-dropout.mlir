// attn-distribute: a thread of a 64 x 16 tile has two groups of four pairs, {0, 8} x {0, 8} and {0, 8} x {1, 9} from its first row and column: elements
// 0, 2, 4, 6 and 1, 3, 5, 7. Each has a number of 64 bits, made in seven rounds.
// RUN: attn-opt %s --attn-distribute | FileCheck %s
// RUN: sed 's/tile.keep %%i, %%j key/tile.keep %%j, %%i transposed key/' %s | attn-opt --attn-distribute | FileCheck %s --check-prefix=TURNED

!int = tensor<64x16xi32, #tile.layout<atom = wgmma_acc, repeats = 2>>
!bool = tensor<64x16xi1, #tile.layout<atom = wgmma_acc, repeats = 2>>
#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @dropout machine "sm_90a" args ["n", "seed"] problem #p config #c schedule #s {
^bb0(%n: i32, %seed: i64):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %w0, %w1, %w2 = tile.dropout_key %seed, %seed at(%n, %n)
    %i = tile.coords %n dim 0 : !int
    %j = tile.coords %n dim 1 : !int
    %kept = tile.keep %i, %j key(%w0, %w1, %w2) drop(%n) : !int -> !bool
    %unread = arith.xori %kept, %kept : !bool
  }
}

// A key that is the same in all iterations is made before the loop.
ws.kernel @loops machine "sm_90a" args ["n", "state"] problem #p config #c schedule #s {
^bb0(%n: i32, %state: tensor<2xi64>):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    scf.for %block = %zero to %n step %one : i32 {
      %first = arith.constant 0 : i32
      %seed = tile.gather %state[%first : i32] : tensor<2xi64> -> i64
      %head = arith.addi %n, %one : i32
      %w0, %w1, %w2 = tile.dropout_key %seed, %seed at(%n, %head)
      %v0, %v1, %v2 = tile.dropout_key %seed, %seed at(%n, %block)
      %i = tile.coords %block dim 0 : !int
      %j = tile.coords %n dim 1 : !int
      %kept = tile.keep %i, %j key(%w0, %w1, %v2) drop(%n) : !int -> !bool
      %unread = arith.xori %kept, %kept : !bool
    }
  }
}

// CHECK-LABEL: ws.kernel @dropout
// The key: ten rounds of two products.
// CHECK-COUNT-20: arith.muli %{{.*}}, %{{.*}} : i64
// CHECK: %[[I:.*]] = arith.addi %{{.*}}, %{{.*}} : vector<8xi32>
// CHECK: %[[J:.*]] = arith.addi %{{.*}}, %{{.*}} : vector<8xi32>
// CHECK: %[[LEAST:.*]] = arith.shli %{{.*}}, %c16_i32{{.*}} : i32
// CHECK: vector.extract %[[I]][0]
// CHECK: vector.extract %[[J]][0]
// CHECK-COUNT-7: arith.muli %{{.*}}, %{{.*}} : i64
// Halves of a word: of the first query and key the low one.
// CHECK: %[[LOW:.*]] = arith.shli %[[W0:.*]], %c16_i32{{.*}} : i32
// CHECK: %[[K0:.*]] = arith.cmpi uge, %[[LOW]], %[[LEAST]] : i32
// CHECK: %[[K2:.*]] = arith.cmpi uge, %[[W0]], %[[LEAST]] : i32
// CHECK: arith.shli %[[W1:.*]], %c16_i32
// CHECK: %[[K4:.*]] = arith.cmpi uge
// CHECK: %[[K6:.*]] = arith.cmpi uge, %[[W1]], %[[LEAST]] : i32
// CHECK: vector.extract %[[I]][1]
// CHECK: vector.extract %[[J]][1]
// CHECK-COUNT-7: arith.muli %{{.*}}, %{{.*}} : i64
// CHECK-NOT: arith.muli
// CHECK: vector.from_elements %[[K0]], %{{.*}}, %[[K2]], %{{.*}}, %[[K4]], %{{.*}}, %[[K6]], %{{.*}} : vector<8xi1>

// With keys as rows, the second row has the second word, and the second column the high half.
// TURNED: %[[LEAST:.*]] = arith.shli %{{.*}}, %c16_i32{{.*}} : i32
// TURNED: %[[LOW0:.*]] = arith.shli %[[W0:.*]], %c16_i32
// TURNED: %[[K0:.*]] = arith.cmpi uge, %[[LOW0]], %[[LEAST]]
// TURNED: %[[LOW1:.*]] = arith.shli %[[W1:.*]], %c16_i32
// TURNED: %[[K2:.*]] = arith.cmpi uge, %[[LOW1]], %[[LEAST]]
// TURNED: %[[K4:.*]] = arith.cmpi uge, %[[W0]], %[[LEAST]]
// TURNED: %[[K6:.*]] = arith.cmpi uge, %[[W1]], %[[LEAST]]
// TURNED: vector.from_elements %[[K0]], %{{.*}}, %[[K2]], %{{.*}}, %[[K4]], %{{.*}}, %[[K6]]

// CHECK-LABEL: ws.kernel @loops
// CHECK: tile.gather
// CHECK-COUNT-20: arith.muli %{{.*}}, %{{.*}} : i64
// CHECK-NOT: arith.muli
// CHECK: scf.for
// CHECK-COUNT-20: arith.muli %{{.*}}, %{{.*}} : i64
// CHECK-COUNT-14: arith.muli %{{.*}}, %{{.*}} : i64
