// RUN: attn-opt %s --attn-split-launches -split-input-file | FileCheck %s

// A function for each op. Arguments that an op uses twice are passed once, and keep their attributes.
// CHECK-NOT: func.func @f(
// CHECK-LABEL: func.func @f_fwd(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<?x?x?x64xbf16>, %[[K:[^:]*]]: tensor<?x?x?x64xbf16>, %[[SCALE:[^:]*]]: f32, %[[CAP:[^:]*]]: f32 {attn.name = "cap"})
// CHECK-NEXT: %[[O:.*]], %[[LSE:.*]] = attn.attention %[[Q]], %[[K]], %[[K]] scale(%[[SCALE]])
// CHECK: return %[[O]], %[[LSE]]
// CHECK-LABEL: func.func @f_delta(
// CHECK-SAME: %[[O:.*]]: tensor<?x?x?x64xbf16>, %[[DO:.*]]: tensor<?x?x?x64xbf16>, %[[LSE:.*]]: tensor<?x?x?xf32>, %[[DLSE:.*]]: tensor<?x?x?xf32>)
// CHECK-NEXT: %[[DELTA:.*]], %[[LSE2:.*]] = attn.delta %[[O]], %[[DO]], %[[LSE]], %[[DLSE]]
// CHECK-NEXT: return %[[DELTA]], %[[LSE2]]
// The rows of statistics that are returned are the caller's.
// CHECK: launch.sequence "f" launches ["f_fwd", "f_delta"] temporaries ["lse"]{{$}}
func.func @f(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %scale: f32, %cap: f32 {attn.name = "cap"},
    %do: tensor<?x?x?x64xbf16>, %dlse: tensor<?x?x?xf32>) -> (tensor<?x?x?xf32>, tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd) captures(%cap : f32)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %c: f32):
        %y = arith.addf %x, %c : f32
        attn.yield %y : f32
      } : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %lse2, %o, %delta : tensor<?x?x?xf32>, tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}

// -----

// A function with one op stays as it is.
// CHECK-LABEL: func.func @one(
// CHECK: attn.delta
// CHECK-NOT: launch.sequence
// CHECK-LABEL: func.func private @g_bwd_delta()
func.func @one(%o: tensor<?x?x?x64xbf16>, %do: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>, %dlse: tensor<?x?x?xf32>)
    -> (tensor<?x?x?xf32>, tensor<?x?x?xf32>) {
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %delta, %lse2 : tensor<?x?x?xf32>, tensor<?x?x?xf32>
}

// -----

// Statistics in the workspace have full blocks of rows. A name that is taken gets a number.
// CHECK-LABEL: func.func @g_bwd_delta_1(
// CHECK-LABEL: func.func @g_bwd_bwd(
// CHECK: launch.sequence "g_bwd" launches ["g_bwd_delta_1", "g_bwd_bwd"] temporaries ["dl", "lse2"]
// CHECK-SAME: sizes {sr = #launch.apply<mul(ceildiv(sq, 128), 128)>}
func.func private @g_bwd_delta()
func.func @g_bwd(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32, %o: tensor<?x?x?x64xbf16>,
    %lse: tensor<?x?x?xf32>, %do: tensor<?x?x?x64xbf16>, %dlse: tensor<?x?x?xf32>)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) {
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %dq, %dk, %dv : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>
}

// -----

// Blocks of transposed shares, alone and beside another kernel that reads statistics.
// CHECK: launch.sequence "transposed_bwd" {{.*}} sizes {sr = #launch.apply<mul(ceildiv(sq, 80), 80)>}
// CHECK: launch.sequence "two_bwd" {{.*}} sizes {sr = #launch.apply<mul(ceildiv(sq, 640), 640)>}
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
!s = tensor<?x?x?x64xf32>
func.func @transposed_bwd(%q: !t, %k: !t, %v: !t, %scale: f32, %o: !t, %lse: !l, %do: !t, %dlse: !l) -> (!t, !t, !t) {
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !l) -> !l
  %zeros = attn.clear_sums dtype(bf16) sums !s
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%zeros : !s) scale(%scale) mask(none) layout(bshd)
      gradients(sums) transposed(80) : (!t, !t, !t, !t, !l)
  %dq = attn.convert_sums %r#0 scale(%scale) layout(bshd) transposed(80) : !s -> !t
  return %dq, %r#1, %r#2 : !t, !t, !t
}
func.func @two_bwd(%q: !t, %k: !t, %v: !t, %scale: f32, %o: !t, %lse: !l, %do: !t, %dlse: !l) -> (!t, !t, !t) {
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !l) -> !l
  %zeros = attn.clear_sums dtype(bf16) sums !s
  %r:2 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%zeros : !s) scale(%scale) mask(none) layout(bshd)
      gradients(sums_dk) transposed(80) : (!t, !t, !t, !t, !l)
  %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dv) : (!t, !t, !t, !t, !l)
  %dq = attn.convert_sums %r#0 scale(%scale) layout(bshd) transposed(80) : !s -> !t
  return %dq, %r#1, %dv : !t, !t, !t
}

// -----

// Sums of derivatives by a capture stay in the workspace: their sizes are those of Q or K. The problem of the call is that of attention.
// CHECK-LABEL: func.func @sums_bwd(
// CHECK-LABEL: func.func @sums_sum(
// CHECK: launch.sequence "sums" launches ["sums_bwd", "sums_sum", "sums_bwd_1", "sums_sum_1"] temporaries ["w_sums", "scale_sums"]
// CHECK-SAME: sizes {scale_sums_d0 = "b", scale_sums_d1 = "hq", scale_sums_d2 = "sq", w_sums_d0 = "b", w_sums_d1 = "hk", w_sums_d2 = "sk"}
// CHECK-SAME: problem <kind = bwd_rows,
func.func @sums(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32, %do: tensor<?x?x?x64xbf16>,
    %lse2: tensor<?x?x?xf32>, %delta: tensor<?x?x?xf32>, %w: tensor<?xf32> {attn.name = "w"}) -> (tensor<?xf32>, tensor<1xf32>) {
  %sums = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(key_sums of 0 at affine_map<(b, h, i, j) -> (j)>) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        attn.yield %x, %x : f32, f32
      } : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  %dw = attn.sum_gradient %sums of "w" at affine_map<(b, h, p) -> (p)> : tensor<?x?x?xf32> -> tensor<?xf32>
  %of_scale = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(row_sums) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        attn.yield %x, %x : f32, f32
      } : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  %dscale = attn.sum_gradient %of_scale over(%scale) of "scale" at affine_map<(b, h, p) -> (0)> : tensor<?x?x?xf32> -> tensor<1xf32>
  return %dw, %dscale : tensor<?xf32>, tensor<1xf32>
}

// -----

// A kernel makes the gradients of K and of V. The one that is not returned stays in the workspace.
// CHECK: launch.sequence "values" launches ["values_delta", "values_bwd"] temporaries ["dl", "lse2", "dk"]
func.func @values(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32, %o: tensor<?x?x?x64xbf16>,
    %lse: tensor<?x?x?xf32>, %do: tensor<?x?x?x64xbf16>, %dlse: tensor<?x?x?xf32>) -> tensor<?x?x?x64xbf16> {
  %d, %l = attn.delta %o, %do, %lse, %dlse layout(bshd) : (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %l, %d scale(%scale) mask(none) layout(bshd) gradients(dk_dv)
      : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %dv : tensor<?x?x?x64xbf16>
}

// -----

// The queries that may see groups of keys stay in the workspace.
// CHECK: launch.sequence "seen" launches ["seen_bwd", "seen_bwd_1"] temporaries ["seeing"]
// CHECK-SAME: sizes {seeing_d0 = "b", seeing_d1 = 16 : i64, seeing_d2 = #launch.apply<ceildiv(sk, 128)>}
func.func @seen(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32, %do: tensor<?x?x?x64xbf16>,
    %lse2: tensor<?x?x?xf32>, %delta: tensor<?x?x?xf32>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) {
  %seeing = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(seeing)
      : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta seeing(%seeing : tensor<?x16x?xf32>) scale(%scale) mask(none) layout(bshd)
      gradients(dk_dv)
      : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %dk, %dv : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>
}
