// attn-infer-mask records the function under the names of its captures.
// RUN: attn-opt %s -split-input-file -verify-diagnostics --attn-infer-mask

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// expected-error @below {{'func.func' op expected the names of captures to be different, got 'n' twice}}
func.func @names(%q: !q, %k: !q, %v: !q, %scale: f32, %a: i32 {attn.name = "n"}, %b: i32 {attn.name = "n"}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%a, %b : i32, i32)
      mask_region {
      ^bb0(%batch: i32, %h: i32, %i: i32, %j: i32, %x: i32, %y: i32):
        %causal = arith.cmpi sle, %j, %i : i32
        attn.yield %causal : i1
      }
      : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}
