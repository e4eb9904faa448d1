// Regions fold like any other code; the op itself is pure.
// RUN: attn-opt %s --canonicalize --cse | FileCheck %s

!qkv = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// Constants of a region are not moved out of it.
// CHECK-LABEL: func.func @region_folds
// CHECK-NEXT: attn.attention
// CHECK-NEXT: ^bb0(%[[S:[^:]*]]: f32, {{.*}}):
// CHECK-NEXT:   %[[C:.*]] = arith.constant 6.000000e+00 : f32
// CHECK-NEXT:   %[[R:.*]] = arith.addf %[[S]], %[[C]] : f32
// CHECK-NEXT:   attn.yield %[[R]] : f32
func.func @region_folds(%q: !qkv, %k: !qkv, %v: !qkv, %scale: f32) -> (!qkv, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
        %two = arith.constant 2.0 : f32
        %three = arith.constant 3.0 : f32
        %six = arith.mulf %two, %three : f32
        %r = arith.addf %s, %six : f32
        attn.yield %r : f32
      } : (!qkv, !qkv, !qkv) -> (!qkv, !lse)
  return %o, %lse : !qkv, !lse
}

// CHECK-LABEL: func.func @unused_is_erased
// CHECK-NEXT: return
func.func @unused_is_erased(%q: !qkv, %k: !qkv, %v: !qkv, %scale: f32) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (!qkv, !qkv, !qkv) -> (!qkv, !lse)
  return
}
