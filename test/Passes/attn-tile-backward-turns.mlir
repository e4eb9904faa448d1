// The turn that an item waits for before it adds to a block of queries: its own number, if the block of keys before visits them, too.
// RUN: attn-opt %s --attn-tile-backward | FileCheck %s -enable-var-scope

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
!s = tensor<?x?x?x64xf32>
!n = tensor<?x?x?xi32>

// A function that stays leaves all blocks.
// CHECK-LABEL: tile.kernel @function
// CHECK: tile.step @wait_dq
// CHECK: %[[BLOCK:[^,]*]], %{{.*}} = tile.work_coords
// CHECK: %[[YES:.*]] = arith.constant true
// CHECK: tile.turn_wait %{{.*}} at(%{{.*}}) until %[[BLOCK]] if %[[YES]]
func.func @function(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: !s, %turns: !n, %scale: f32) -> (!s, !t, !t) {
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : !s) turns(%turns : !n) scale(%scale) mask(none) layout(bshd)
      gradients(sums) config <tile_m = 128, tile_n = 64, work = grid> mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
        %differ = arith.cmpi ne, %i, %j : i32
        attn.yield %differ : i1
      } : (!t, !t, !t, !t, !l)
  return %r#0, %r#1, %r#2 : !s, !t, !t
}

// A first key in order: the block before visits these queries if their first row begins before the item's keys.
// CHECK-LABEL: tile.kernel @window
// CHECK: tile.step @wait_dq
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[FOLLOWS:.*]] = arith.cmpi sgt, %[[FIRST:.*]], %[[ZERO]]
// CHECK: %[[SEES:.*]] = arith.cmpi slt, %{{.*}}, %[[FIRST]]
// CHECK: %[[WAITS:.*]] = arith.andi %[[FOLLOWS]], %[[SEES]]
// CHECK: tile.turn_wait %{{.*}} at(%{{.*}}) until %{{.*}} if %[[WAITS]]
func.func @window(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: !s, %turns: !n, %scale: f32) -> (!s, !t, !t) {
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : !s) turns(%turns : !n) scale(%scale) mask(none) layout(bshd)
      gradients(sums) config <tile_m = 128, tile_n = 64, work = grid> row_keys {
      ^bb0(%b: i32, %h: i32, %i: i32):
        %nine = arith.constant 9 : i32
        %least = arith.constant 0 : i32
        %from = arith.subi %i, %nine : i32
        %first = arith.maxsi %from, %least : i32
        %one = arith.constant 1 : i32
        %end = arith.addi %i, %one : i32
        attn.yield %first, %end : i32, i32
      } : (!t, !t, !t, !t, !l)
  return %r#0, %r#1, %r#2 : !s, !t, !t
}

// A prefix, too: the first item after the gap waits for the last one with a part of the prefix.
// CHECK-LABEL: tile.kernel @sinks
// CHECK: tile.step @wait_dq
// CHECK: %[[SEES:.*]] = arith.cmpi slt
// CHECK: %[[BLOCKS:.*]] = arith.ceildivsi %{{.*}}, %c128_i32
// CHECK: %[[IN:.*]] = arith.cmpi sle, %[[BLOCK:.*]], %[[BLOCKS]]
// CHECK: %[[BEFORE:.*]] = arith.ori %[[SEES]], %[[IN]]
// CHECK: %[[NUMBER:.*]] = arith.select %[[BEFORE]], %[[BLOCK]], %[[BLOCKS]]
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[NUMBER]]
// CHECK: %[[WAITS:.*]] = arith.andi %{{.*}}, %[[SOME]]
// CHECK: tile.turn_wait %{{.*}} at(%{{.*}}) until %[[NUMBER]] if %[[WAITS]]
func.func @sinks(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: !s, %turns: !n, %scale: f32) -> (!s, !t, !t) {
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : !s) turns(%turns : !n) scale(%scale) mask(none) layout(bshd)
      gradients(sums) config <tile_m = 128, tile_n = 64, work = grid> row_keys {
      ^bb0(%b: i32, %h: i32, %i: i32):
        %nine = arith.constant 9 : i32
        %least = arith.constant 0 : i32
        %from = arith.subi %i, %nine : i32
        %first = arith.maxsi %from, %least : i32
        %one = arith.constant 1 : i32
        %end = arith.addi %i, %one : i32
        %prefix = arith.constant 4 : i32
        attn.yield %first, %end, %prefix : i32, i32, i32
      } : (!t, !t, !t, !t, !l)
  return %r#0, %r#1, %r#2 : !s, !t, !t
}

// New sums: the share of the first block of keys is stored.
// CHECK-LABEL: tile.kernel @new_sums args
// CHECK-SAME: "dqs" query_gradient_sums write ("b", "hq", "sr", "sc"), "dq_turns" turns accumulate
// CHECK: tile.step @red_dq
// CHECK: %[[IS0:.*]] = arith.cmpi eq, %{{block.*}}, %c0_i32
// CHECK: %[[FIRST:.*]] = arith.ori %[[IS0]], %{{.*}}
// CHECK: tile.reduce_add %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) first(%[[FIRST]]) #{{.*}} grouped :
func.func @new_sums(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %turns: !n, %scale: f32) -> (!s, !t, !t) {
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta turns(%turns : !n) scale(%scale) mask(causal_top_left) layout(bshd)
      gradients(sums) new_sums(64) of 64 config <tile_m = 128, tile_n = 64, first_share = stored, work = grid> : (!t, !t, !t, !t, !l)
  return %r#0, %r#1, %r#2 : !s, !t, !t
}

// Under a window it is that of the block before which none visits these queries.
// CHECK-LABEL: tile.kernel @new_sums_of_window
// CHECK: tile.step @red_dq
// CHECK: %[[WAITS:.*]] = arith.andi
// CHECK: %[[ALONE:.*]] = arith.cmpi eq, %[[WAITS]], %false
// CHECK: %[[FIRST:.*]] = arith.ori %{{.*}}, %[[ALONE]]
// CHECK: tile.reduce_add {{.*}} first(%[[FIRST]])
func.func @new_sums_of_window(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %turns: !n, %scale: f32, %left: i32) -> (!s, !t, !t) {
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta turns(%turns : !n) scale(%scale) mask(window_top_left) layout(bshd) window_left(%left)
      gradients(sums) new_sums(64) of 64 config <tile_m = 128, tile_n = 64, first_share = stored, work = grid> : (!t, !t, !t, !t, !l)
  return %r#0, %r#1, %r#2 : !s, !t, !t
}

// With dropout the derivative is kept: P times the derivative would lose the sign that marks dropped pairs.
// CHECK-LABEL: tile.kernel @dropout
// CHECK: tile.step @exp({{.*}} -> tensor<128x64xf32> {
// CHECK: tile.keep
// CHECK-NOT: arith.cmpf
// CHECK: tile.step @dsoft({{.*}}) : (tensor<128x64xf32>, tensor<128x64xf32>, tensor<64xf32>, tensor<128x64xf32>)
func.func @dropout(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: !s, %turns: !n, %scale: f32, %rate: f32, %state: tensor<2xi64>) -> (!s, !t, !t) {
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : !s) turns(%turns : !n) scale(%scale) mask(none) layout(bshd)
      gradients(sums) config <tile_m = 128, tile_n = 64, work = grid> dropout(%rate, %state) score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32):
        %two = arith.constant -2.0 : f32
        %z = arith.mulf %x, %two : f32
        attn.yield %z, %two : f32, f32
      } : (!t, !t, !t, !t, !l)
  return %r#0, %r#1, %r#2 : !s, !t, !t
}
