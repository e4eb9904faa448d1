// Functions that attn-differentiate refuses, and the gradients that it does not have.
// RUN: attn-opt %s -split-input-file -verify-diagnostics --allow-unregistered-dialect --attn-differentiate

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// expected-error @below {{'func.func' op attn-differentiate: expected 'attn.gradient' of the query, the key and the value alone, got it of argument #4, "slopes", a capture, whose gradient has no lowering yet}}
func.func @capture(%q: !q, %k: !q, %v: !q, %scale: f32, %slopes: tensor<?xf32> {attn.gradient, attn.name = "slopes"}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%slopes : tensor<?xf32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %m: tensor<?xf32>):
        attn.yield %s : f32
      } : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// expected-error @below {{'func.func' op attn-differentiate: expected 'attn.gradient' of the query, the key and the value alone, got it of argument #3, the scale, whose gradient has no lowering yet}}
func.func @scale(%q: !q, %k: !q, %v: !q, %scale: f32 {attn.gradient}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

func.func @configured(%q: !q, %k: !q, %v: !q, %scale: f32) -> (!q, !lse) {
  // expected-error @below {{'attn.attention' op attn-differentiate: expected no 'config', which attn-configure attaches after it}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 128, work = grid> : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

func.func @inferred(%q: !q, %k: !q, %v: !q, %scale: f32) -> (!q, !lse) {
  // expected-error @below {{'attn.attention' op attn-differentiate: expected the mask of the user, which attn-infer-mask changes after it}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      row_keys {
      ^bb0(%b: i32, %h: i32, %i: i32):
        %zero = arith.constant 0 : i32
        attn.yield %zero, %i : i32, i32
      } : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

func.func @results(%q: !q, %k: !q, %v: !q, %scale: f32) -> !q {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) : (!q, !q, !q) -> (!q, !lse)
  // expected-error @below {{'func.return' op expected the results of 'attn.attention', in order, to be the results of the function}}
  return %o : !q
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// expected-error @below {{'func.func' op attn-differentiate: expected no symbol '@f_bwd' yet, the name of the function of its gradients}}
func.func @f(%q: !q, %k: !q, %v: !q, %scale: f32) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}
func.func @f_bwd(%x: f32) -> f32 {
  return %x : f32
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

module @kernels {
  "test.kernel"() ({
  ^bb0(%q: !q, %scale: f32):
    // expected-error @below {{'attn.attention' op attn-differentiate: expected to be in a 'func.func', got 'test.kernel'}}
    %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(none) layout(bshd) : (!q, !q, !q) -> (!q, !lse)
    "test.end"() : () -> ()
  }) : () -> ()
}
