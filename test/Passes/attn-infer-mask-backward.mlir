// The masks of gradients are inferred like those of an attention, for all kernels that need them.
// RUN: attn-opt %s -split-input-file --attn-infer-mask | FileCheck %s
// RUN: attn-opt %s -split-input-file --attn-infer-mask --attn-tile-backward | FileCheck %s --check-prefix=TILE

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>

// CHECK-LABEL: func.func @window
// CHECK: %[[LEFT:.*]] = arith.constant 255 : i32
// CHECK: attn.attention_bwd {{.*}} mask(causal_top_left) layout(bshd) window_left(%[[LEFT]]) gradients(dk_dv)
// CHECK-NOT: mask_region {
// CHECK: attn.user_mask =
// CHECK-SAME: attn.user_problem = #attn.problem<kind = bwd_dk_dv,
// TILE-LABEL: tile.kernel @window args
// TILE-SAME: "window_left" bound = 255
// TILE-SAME: attn.user_problem = #attn.problem<kind = bwd_dk_dv, {{.*}} mask = none, {{.*}} mask_region = present>
// TILE: tile.for ranges <down [masked, full, masked]>
func.func @window(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> (!t, !t) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dk_dv)
      config <tile_m = 128, tile_n = 64, work = grid>
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
        %c256 = arith.constant 256 : i32
        %distance = arith.subi %i, %j : i32
        %near = arith.cmpi slt, %distance, %c256 : i32
        %causal = arith.cmpi sge, %i, %j : i32
        %both = arith.andi %near, %causal : i1
        attn.yield %both : i1
      } : (!t, !t, !t, !t, !l)
  return %dk, %dv : !t, !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>

// A prefix: the first query that sees the keys of a block is found by a binary search.
// CHECK-LABEL: func.func @prefix
// CHECK: row_keys {
// CHECK: arith.maxsi
// CHECK: attn.user_mask =
// TILE-LABEL: tile.kernel @prefix args
// TILE-SAME: row_keys = end>
// TILE: tile.bounds
// TILE: %[[KEYS:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// TILE: arith.constant 16777216 : i32
// TILE: arith.maxsi
// TILE: arith.cmpi sle
// TILE: arith.select
// TILE: tile.for ranges <down [full, masked]>
func.func @prefix(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> (!t, !t) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dk_dv)
      config <tile_m = 128, tile_n = 64, work = grid>
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
        %c64 = arith.constant 64 : i32
        %early = arith.cmpi slt, %j, %c64 : i32
        %causal = arith.cmpi sge, %i, %j : i32
        %any = arith.ori %early, %causal : i1
        attn.yield %any : i1
      } : (!t, !t, !t, !t, !l)
  return %dk, %dv : !t, !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>

// Starts in no order: the kernel that owns queries reads those of its rows; that of keys uses the end alone, and masks all blocks.
// TILE-LABEL: tile.kernel @starts_dq args
// TILE: scf.parallel
// TILE: tile.for ranges <down [masked, full, masked]>
// TILE-LABEL: tile.kernel @starts_dk_dv args
// TILE: tile.bounds
// TILE-NOT: tile.gather
// TILE-NOT: scf.parallel
// TILE: arith.cmpi sle
// TILE: tile.for ranges <down [masked]>
func.func @starts_dq(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %starts: tensor<?xi32>) -> !t {
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq)
      config <tile_m = 128, tile_n = 64, work = grid> captures(%starts : tensor<?xi32>)
      row_keys {
      ^bb0(%b: i32, %h: i32, %i: i32, %t: tensor<?xi32>):
        %at = arith.index_cast %i : i32 to index
        %start = tensor.extract %t[%at] : tensor<?xi32>
        %c1 = arith.constant 1 : i32
        %end = arith.addi %i, %c1 : i32
        attn.yield %start, %end : i32, i32
      } : (!t, !t, !t, !t, !l)
  return %dq : !t
}
func.func @starts_dk_dv(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %starts: tensor<?xi32>) -> (!t, !t) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dk_dv)
      config <tile_m = 128, tile_n = 64, work = grid> captures(%starts : tensor<?xi32>)
      row_keys {
      ^bb0(%b: i32, %h: i32, %i: i32, %t: tensor<?xi32>):
        %at = arith.index_cast %i : i32 to index
        %start = tensor.extract %t[%at] : tensor<?xi32>
        %c1 = arith.constant 1 : i32
        %end = arith.addi %i, %c1 : i32
        attn.yield %start, %end : i32, i32
      } : (!t, !t, !t, !t, !l)
  return %dk, %dv : !t, !t
}
