// Functions that attn-differentiate refuses, and the gradients that it does not have.
// RUN: attn-opt %s -split-input-file -verify-diagnostics --allow-unregistered-dialect --attn-differentiate

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// expected-error @below {{'func.func' op attn-differentiate: no lowering for the gradient of argument #4, "w": expected each of its indices to be a position of the pair (b, h, i or j), used once, or 0: another index needs additions in any order, with 'attn.gradient = "any_order"'}}
func.func @capture(%q: !q, %k: !q, %v: !q, %scale: f32, %w: tensor<?xf32> {attn.gradient, attn.name = "w"}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        %d = arith.subi %j, %i : i32
        %at = arith.index_cast %d : i32 to index
        // expected-note @below {{the element is read here}}
        %e = tensor.extract %of[%at] : tensor<?xf32>
        %z = arith.addf %s, %e : f32
        attn.yield %z : f32
      } : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// expected-error @below {{'func.func' op attn-differentiate: no lowering for the gradient of argument #4, "w": expected all elements that a pair reads to have the same indices, got others}}
func.func @capture(%q: !q, %k: !q, %v: !q, %scale: f32, %w: tensor<?xf32> {attn.gradient, attn.name = "w"}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        %ii = arith.index_cast %i : i32 to index
        %ij = arith.index_cast %j : i32 to index
        %a = tensor.extract %of[%ii] : tensor<?xf32>
        // expected-note @below {{the element is read here}}
        %c = tensor.extract %of[%ij] : tensor<?xf32>
        %e = arith.mulf %a, %c : f32
        %z = arith.addf %s, %e : f32
        attn.yield %z : f32
      } : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// expected-error @below {{'func.func' op attn-differentiate: no lowering for the gradient of argument #4, "w": expected a capture of f32, f16 or bf16, got 'tensor<?xi32>'}}
func.func @capture(%q: !q, %k: !q, %v: !q, %scale: f32, %w: tensor<?xi32> {attn.gradient, attn.name = "w"}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%w : tensor<?xi32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xi32>):
        %ii = arith.index_cast %i : i32 to index
        %number = tensor.extract %of[%ii] : tensor<?xi32>
        %e = arith.sitofp %number : i32 to f32
        %z = arith.addf %s, %e : f32
        attn.yield %z : f32
      } : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// expected-error @below {{'func.func' op attn-differentiate: no lowering for the gradient of argument #4: a bound of the mask is an integer}}
func.func @bound(%q: !q, %k: !q, %v: !q, %scale: f32, %left: i32 {attn.gradient}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(window_top_left) layout(bshd) window_left(%left)
      : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

func.func @configured(%q: !q, %k: !q, %v: !q, %scale: f32) -> (!q, !lse) {
  // expected-error @below {{'attn.attention' op attn-differentiate: expected no 'config', which attn-configure attaches after this pass}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 128, work = grid> : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

func.func @inferred(%q: !q, %k: !q, %v: !q, %scale: f32) -> (!q, !lse) {
  // expected-error @below {{'attn.attention' op attn-differentiate: expected the mask of the user, which attn-infer-mask changes after this pass}}
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

// expected-error @below {{'func.func' op attn-differentiate: expected no symbol '@f_bwd', the name for the function of its gradients}}
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

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// expected-error @below {{'func.func' op attn-differentiate: no lowering for the gradient of argument #4, "w": expected 'attn.gradient' without a value or with "any_order", got "sorted"}}
func.func @capture(%q: !q, %k: !q, %v: !q, %scale: f32, %w: tensor<?xf32> {attn.gradient = "sorted", attn.name = "w"}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        %ii = arith.index_cast %i : i32 to index
        %e = tensor.extract %of[%ii] : tensor<?xf32>
        %z = arith.addf %s, %e : f32
        attn.yield %z : f32
      } : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// expected-error @below {{'func.func' op attn-differentiate: no lowering for the gradient of argument #4, "w": expected a capture of f32 for additions in any order, got 'tensor<?xbf16>'}}
func.func @capture(%q: !q, %k: !q, %v: !q, %scale: f32, %w: tensor<?xbf16> {attn.gradient = "any_order", attn.name = "w"}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%w : tensor<?xbf16>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xbf16>):
        %d = arith.subi %j, %i : i32
        %at = arith.index_cast %d : i32 to index
        %half = tensor.extract %of[%at] : tensor<?xbf16>
        %e = arith.extf %half : bf16 to f32
        %z = arith.addf %s, %e : f32
        attn.yield %z : f32
      } : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// expected-error @below {{'func.func' op attn-differentiate: no lowering for the gradient of argument #4, "w": expected indices that do not depend on the score}}
func.func @capture(%q: !q, %k: !q, %v: !q, %scale: f32, %w: tensor<?xf32> {attn.gradient = "any_order", attn.name = "w"}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        %d = arith.fptosi %s : f32 to i32
        %at = arith.index_cast %d : i32 to index
        // expected-note @below {{the element is read here}}
        %e = tensor.extract %of[%at] : tensor<?xf32>
        %z = arith.addf %s, %e : f32
        attn.yield %z : f32
      } : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// expected-error @below {{'func.func' op attn-differentiate: no lowering for the gradient of argument #4, "w": expected all elements that a pair reads to have the same indices, got others}}
func.func @capture(%q: !q, %k: !q, %v: !q, %scale: f32, %w: tensor<?xf32> {attn.gradient = "any_order", attn.name = "w"}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        %ii = arith.index_cast %i : i32 to index
        %ij = arith.index_cast %j : i32 to index
        %a = tensor.extract %of[%ii] : tensor<?xf32>
        // expected-note @below {{the element is read here}}
        %c = tensor.extract %of[%ij] : tensor<?xf32>
        %e = arith.mulf %a, %c : f32
        %z = arith.addf %s, %e : f32
        attn.yield %z : f32
      } : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// expected-error @below {{'func.func' op attn-differentiate: expected 'attn.gradient' on another argument beside the sinks, got it on argument #2 alone}}
func.func @sinks(%q: !q, %scale: f32, %sinks: tensor<?xf32> {attn.gradient}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(none) layout(bshd) sinks(%sinks : tensor<?xf32>) : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// expected-error @below {{'func.func' op attn-differentiate: no lowering for the gradient of argument #2: the rate of dropout has no gradient}}
func.func @rate(%q: !q, %scale: f32, %rate: f32 {attn.gradient}, %state: tensor<2xi64>) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(none) layout(bshd) dropout(%rate, %state) : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}
