// Round trips of the ops of the backward pass: text, generic text, bytecode.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

!t = tensor<?x?x?x128xbf16>
!l = tensor<?x?x?xf32>

// CHECK-LABEL: func.func @delta(
// CHECK-SAME: %[[O:.*]]: tensor<?x?x?x128xbf16>, %[[DO:.*]]: tensor<?x?x?x128xbf16>, %[[LSE:.*]]: tensor<?x?x?xf32>, %[[DLSE:.*]]: tensor<?x?x?xf32>)
// CHECK: %{{.*}}, %{{.*}} = attn.delta %[[O]], %[[DO]], %[[LSE]], %[[DLSE]] layout(bhsd) : (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
func.func @delta(%o: !t, %do: !t, %lse: !l, %dlse: !l) -> (!l, !l) {
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bhsd) : (!t, !l) -> !l
  return %delta, %lse2 : !l, !l
}

// Zeros beside the statistics; turns alone, where nothing is added to zeros.
// CHECK-LABEL: func.func @delta_zeros
// CHECK: attn.delta {{.*}} layout(bhsd) : (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32> sums tensor<?x?x?x256xf32>
// CHECK: attn.delta {{.*}} -> tensor<?x?x?xf32> sums tensor<?x?x?x128xf32> turns tensor<?x?x?xi32>
// CHECK: attn.delta {{.*}} -> tensor<?x?x?xf32> turns tensor<?x?x?xi32>
func.func @delta_zeros(%o: !t, %do: !t, %lse: !l, %dlse: !l) {
  %a:3 = attn.delta %o, %do, %lse, %dlse layout(bhsd) : (!t, !l) -> !l sums tensor<?x?x?x256xf32>
  %b:4 = attn.delta %o, %do, %lse, %dlse layout(bhsd) : (!t, !l) -> !l sums tensor<?x?x?x128xf32> turns tensor<?x?x?xi32>
  %c:3 = attn.delta %o, %do, %lse, %dlse layout(bhsd) : (!t, !l) -> !l turns tensor<?x?x?xi32>
  return
}

// CHECK-LABEL: func.func @zeros
// CHECK: attn.clear_sums dtype(bf16) sums tensor<?x?x?x128xf32>
// CHECK: attn.clear_sums dtype(f16) config <tile_m = 64, tile_n = 1, work = grid> sums tensor<?x?x?x128xf32> turns tensor<?x?x?xi32>
// CHECK: attn.clear_sums dtype(bf16) turns tensor<?x?x?xi32>
func.func @zeros() {
  %a = attn.clear_sums dtype(bf16) sums tensor<?x?x?x128xf32>
  %b:2 = attn.clear_sums dtype(f16) config <tile_m = 64, tile_n = 1, work = grid> sums tensor<?x?x?x128xf32> turns tensor<?x?x?xi32>
  %c = attn.clear_sums dtype(bf16) turns tensor<?x?x?xi32>
  return
}

// Sums that the op makes have the rows of the statistics.
// CHECK-LABEL: func.func @new_sums
// CHECK: attn.attention_bwd {{.*}}, %{{.*}} turns(%[[TURNS:.*]] : tensor<?x?x256xi32>) scale(%{{.*}}) mask(none) layout(bshd) gradients(sums) new_sums(128) of 64 :
// CHECK: attn.convert_sums %{{.*}} turns(%[[TURNS]] : tensor<?x?x256xi32>) of 64 scale(%{{.*}}) layout(bshd) : tensor<?x?x256x128xf32> -> tensor<?x?x?x128xbf16>
func.func @new_sums(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: tensor<?x?x256xf32>, %delta: tensor<?x?x256xf32>, %turns: tensor<?x?x256xi32>, %scale: f32) -> !t {
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta turns(%turns : tensor<?x?x256xi32>) scale(%scale) mask(none) layout(bshd)
      gradients(sums) new_sums(128) of 64 : (!t, !t, !t, !t, tensor<?x?x256xf32>)
  %dq = attn.convert_sums %r#0 turns(%turns : tensor<?x?x256xi32>) of 64 scale(%scale) layout(bshd) : tensor<?x?x256x128xf32> -> !t
  return %dq : !t
}

// More rows than queries.
// CHECK-LABEL: func.func @delta_static
// CHECK: attn.delta {{.*}} layout(bshd) config <tile_m = 64, tile_n = 1, work = grid> : (tensor<2x100x8x64xf16>, tensor<2x8x100xf32>) -> tensor<2x8x128xf32>
func.func @delta_static(%o: tensor<2x100x8x64xf16>, %do: tensor<2x100x8x64xf16>, %lse: tensor<2x8x100xf32>) -> tensor<2x8x128xf32> {
  %delta, %lse2 = attn.delta %o, %do, %lse, %lse layout(bshd) config <tile_m = 64, tile_n = 1, work = grid>
      : (tensor<2x100x8x64xf16>, tensor<2x8x100xf32>) -> tensor<2x8x128xf32>
  return %delta : tensor<2x8x128xf32>
}

// CHECK-LABEL: func.func @gradients(
// CHECK: %{{.*}}, %{{.*}}, %{{.*}} = attn.attention_bwd %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} scale(%{{.*}}) mask(none) layout(bshd) : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
func.func @gradients(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> (!t, !t, !t) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      : (!t, !t, !t, !t, !l)
  return %dq, %dk, %dv : !t, !t, !t
}

// CHECK-LABEL: func.func @gradients_of_some(
// CHECK: %[[DQ:.*]] = attn.attention_bwd {{.*}} layout(bshd) gradients(dq) config <tile_m = 128, tile_n = 64, work = grid> : (
// CHECK: %[[DK:.*]], %[[DV:.*]] = attn.attention_bwd {{.*}} layout(bshd) gradients(dk_dv) : (
// CHECK: return %[[DQ]], %[[DK]], %[[DV]]
func.func @gradients_of_some(%q: !t, %k: !t, %v: tensor<?x?x?x64xbf16>, %do: tensor<?x?x?x64xbf16>, %lse2: !l, %delta: !l, %scale: f32)
    -> (!t, !t, tensor<?x?x?x64xbf16>) {
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq)
      config <tile_m = 128, tile_n = 64, work = grid> : (!t, !t, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, !l)
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dk_dv)
      : (!t, !t, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, !l)
  return %dq, %dk, %dv : !t, !t, tensor<?x?x?x64xbf16>
}

// CHECK-LABEL: func.func @single_gradients(
// CHECK: %[[DK:.*]] = attn.attention_bwd {{.*}} gradients(dk) : (
// CHECK: %[[DV:.*]] = attn.attention_bwd {{.*}} gradients(dv) : (
// CHECK: return %[[DK]], %[[DV]] : tensor<?x?x?x128xbf16>, tensor<?x?x?x64xbf16>
func.func @single_gradients(%q: !t, %k: !t, %v: tensor<?x?x?x64xbf16>, %do: tensor<?x?x?x64xbf16>, %lse2: !l, %delta: !l, %scale: f32)
    -> (!t, tensor<?x?x?x64xbf16>) {
  %dk = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dk)
      : (!t, !t, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, !l)
  %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dv)
      : (!t, !t, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, !l)
  return %dk, %dv : !t, tensor<?x?x?x64xbf16>
}

// CHECK-LABEL: func.func @gradients_regions(
// CHECK: mask(window_top_left) layout(bhsd) window_left(%{{.*}}) captures(%{{.*}} : tensor<?xf32>)
// CHECK: score_region {
// CHECK: attn.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK: mask_region {
// CHECK: attn.yield %{{.*}} : i1
// CHECK: (tensor<1x4x100x192xbf16>, tensor<1x2x300x192xbf16>, tensor<1x2x300x128xbf16>, tensor<1x4x100x128xbf16>, tensor<1x4x128xf32>)
func.func @gradients_regions(%q: tensor<1x4x100x192xbf16>, %k: tensor<1x2x300x192xbf16>, %v: tensor<1x2x300x128xbf16>,
    %do: tensor<1x4x100x128xbf16>, %lse2: tensor<1x4x128xf32>, %delta: tensor<1x4x128xf32>, %scale: f32, %left: i32,
    %slopes: tensor<?xf32>) -> tensor<1x4x100x192xbf16> {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(window_top_left) layout(bhsd)
      window_left(%left) captures(%slopes : tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %m: tensor<?xf32>):
        %one = arith.constant 1.0 : f32
        attn.yield %x, %one : f32, f32
      } mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %m: tensor<?xf32>):
        %ok = arith.cmpi ne, %i, %j : i32
        attn.yield %ok : i1
      } : (tensor<1x4x100x192xbf16>, tensor<1x2x300x192xbf16>, tensor<1x2x300x128xbf16>, tensor<1x4x100x128xbf16>, tensor<1x4x128xf32>)
  return %dq : tensor<1x4x100x192xbf16>
}

// CHECK-LABEL: func.func @captures(
// CHECK: %[[ROWS:.*]] = attn.attention_bwd {{.*}} gradients(row_sums of 1) captures(
// CHECK: %{{.*}} = attn.attention_bwd {{.*}} gradients(row_sums) captures(
// CHECK: %[[KEYS:.*]] = attn.attention_bwd {{.*}} gradients(key_sums of 1 at #map{{[0-9]*}}) config
// CHECK: %[[PAIRS:.*]] = attn.attention_bwd {{.*}} gradients(pairs of 0 at #map{{[0-9]*}}) captures(
// CHECK: attn.sum_gradient %[[ROWS]] of "slopes" at #map{{[0-9]*}} : tensor<1x4x100xf32> -> tensor<?xf32>
// CHECK: attn.sum_gradient %[[KEYS]] over(%{{.*}}) of "keys" at #map{{[0-9]*}} config <tile_m = 64, tile_n = 64, work = grid> : tensor<1x2x300xf32> -> tensor<1x?xbf16>
// CHECK: attn.sum_gradient %{{.*}} weights(%{{.*}}, %{{.*}}) of "sinks" at #map{{[0-9]*}} : tensor<1x4x128xf32> -> tensor<?xf32>
// CHECK: return %[[PAIRS]] : tensor<100x?x300xf16>
func.func @captures(%q: tensor<1x4x100x192xbf16>, %k: tensor<1x2x300x192xbf16>, %v: tensor<1x2x300x128xbf16>,
    %do: tensor<1x4x100x128xbf16>, %lse2: tensor<1x4x128xf32>, %delta: tensor<1x4x128xf32>, %scale: f32,
    %bias: tensor<100x?x300xf16>, %slopes: tensor<?xf32>) -> tensor<100x?x300xf16> {
  %rows = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bhsd) gradients(row_sums of 1)
      captures(%bias, %slopes : tensor<100x?x300xf16>, tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<100x?x300xf16>, %m: tensor<?xf32>):
        attn.yield %x, %x : f32, f32
      } : (tensor<1x4x100x192xbf16>, tensor<1x2x300x192xbf16>, tensor<1x2x300x128xbf16>, tensor<1x4x100x128xbf16>, tensor<1x4x128xf32>)
  %of_scale = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bhsd) gradients(row_sums)
      captures(%bias, %slopes : tensor<100x?x300xf16>, tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<100x?x300xf16>, %m: tensor<?xf32>):
        attn.yield %x, %x : f32, f32
      } : (tensor<1x4x100x192xbf16>, tensor<1x2x300x192xbf16>, tensor<1x2x300x128xbf16>, tensor<1x4x100x128xbf16>, tensor<1x4x128xf32>)
  %keys = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bhsd)
      gradients(key_sums of 1 at affine_map<(b, h, i, j) -> (j)>) config <tile_m = 64, tile_n = 64, work = grid>
      captures(%bias, %slopes : tensor<100x?x300xf16>, tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<100x?x300xf16>, %m: tensor<?xf32>):
        attn.yield %x, %x : f32, f32
      } : (tensor<1x4x100x192xbf16>, tensor<1x2x300x192xbf16>, tensor<1x2x300x128xbf16>, tensor<1x4x100x128xbf16>, tensor<1x4x128xf32>)
  %pairs = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bhsd)
      gradients(pairs of 0 at affine_map<(b, h, i, j) -> (i, 0, j)>)
      captures(%bias, %slopes : tensor<100x?x300xf16>, tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<100x?x300xf16>, %m: tensor<?xf32>):
        attn.yield %x, %x : f32, f32
      } : (tensor<1x4x100x192xbf16>, tensor<1x2x300x192xbf16>, tensor<1x2x300x128xbf16>, tensor<1x4x100x128xbf16>, tensor<1x4x128xf32>)
  %dslopes = attn.sum_gradient %rows of "slopes" at affine_map<(b, h, p) -> (h)> : tensor<1x4x100xf32> -> tensor<?xf32>
  %dkeys = attn.sum_gradient %keys over(%scale) of "keys" at affine_map<(b, h, p) -> (0, p)>
      config <tile_m = 64, tile_n = 64, work = grid> : tensor<1x2x300xf32> -> tensor<1x?xbf16>
  %dsinks = attn.sum_gradient %delta weights(%lse2, %slopes) of "sinks" at affine_map<(b, h, p) -> (h)>
      : tensor<1x4x128xf32> -> tensor<?xf32>
  return %pairs : tensor<100x?x300xf16>
}

// CHECK-LABEL: func.func @gradients_with_dropout(
// CHECK: attn.attention_bwd {{.*}} mask(none) layout(bshd) gradients(dq) dropout(%[[RATE:.*]], %[[STATE:.*]]) captures(
func.func @gradients_with_dropout(%q: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %rate: f32, %state: tensor<2xi64>, %c: f32) -> !t {
  %dq = attn.attention_bwd %q, %q, %q, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq)
      dropout(%rate, %state) captures(%c : f32) : (!t, !t, !t, !t, !l)
  return %dq : !t
}

// CHECK-LABEL: func.func @gradients_with_row_keys(
// CHECK: attn.attention_bwd {{.*}} mask(none) layout(bshd) gradients(dq) row_keys {
// CHECK: attn.yield %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32
func.func @gradients_with_row_keys(%q: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  %dq = attn.attention_bwd %q, %q, %q, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq)
      row_keys {
      ^bb0(%b: i32, %h: i32, %i: i32):
        %c4 = arith.constant 4 : i32
        attn.yield %b, %i, %c4 : i32, i32, i32
      } : (!t, !t, !t, !t, !l)
  return %dq : !t
}

// Sums of transposed shares.
// CHECK-LABEL: func.func @transposed
// CHECK: attn.attention_bwd {{.*}} gradients(sums) transposed(80) :
// CHECK: attn.convert_sums %{{.*}} scale(%{{.*}}) layout(bshd) transposed(80) : tensor<?x?x?x64xf32> -> tensor<?x?x?x64xbf16>
func.func @transposed(%q: tensor<?x?x?x64xbf16>, %lse2: tensor<?x?x?xf32>, %sums: tensor<?x?x?x64xf32>, %scale: f32) -> tensor<?x?x?x64xbf16> {
  %r:3 = attn.attention_bwd %q, %q, %q, %q, %lse2, %lse2 sums(%sums : tensor<?x?x?x64xf32>) scale(%scale) mask(none) layout(bshd)
      gradients(sums) transposed(80)
      : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  %dq = attn.convert_sums %r#0 scale(%scale) layout(bshd) transposed(80) : tensor<?x?x?x64xf32> -> tensor<?x?x?x64xbf16>
  return %dq : tensor<?x?x?x64xbf16>
}
