// A kernel that keeps P as f16 rounds P for dX in a step of its own; dX is computed from what was kept.
// RUN: attn-opt %s --attn-tile-backward -split-input-file -verify-diagnostics | FileCheck %s

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
// CHECK-LABEL: tile.kernel @f16
// P is computed times 2^14, and dP - delta times 2^-14.
// CHECK: %[[P:.*]] = tile.step @exp
// CHECK: %[[NO_LSE:.*]] = arith.negf
// CHECK: %[[POWER:.*]] = arith.constant dense<1.400000e+01> : tensor<32xf32>
// CHECK: arith.addf %[[NO_LSE]], %[[POWER]]
// CHECK: math.exp2
// CHECK: tile.step @cvt_p(%[[P]])
// CHECK: %[[KEPT:.*]] = tile.step @cvt_pk(%[[P]]) : (tensor<64x32xf32>) -> tensor<64x32xf16> {
// CHECK: arith.truncf
// CHECK: tile.step @dsoft(%[[KEPT]],
// CHECK: arith.extf {{.*}} : tensor<64x32xf16> to tensor<64x32xf32>
// CHECK: arith.constant dense<6.10351563E-5>
// CHECK: math.fma
// The power is taken from dV, too, and not from dK.
// CHECK: tile.step @cvt_dk
// CHECK-NOT: 6.10351563E-5
// CHECK: tile.step @cvt_dv
// CHECK: arith.constant dense<6.10351563E-5>
func.func @f16(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> (!t, !t) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dk_dv)
      config <tile_m = 64, tile_n = 32, work = grid, kept_p = f16> : (!t, !t, !t, !t, !l)
  return %dk, %dv : !t, !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @without_dk(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  // expected-error @below {{'attn.attention_bwd' op expected 'kept_p' of 'config' to be 'f32' without a gradient of K, or with a score region, got 'f16'}}
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq)
      config <tile_m = 64, tile_n = 32, work = grid, kept_p = f16> : (!t, !t, !t, !t, !l)
  return %dq : !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @score(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> (!t, !t) {
  // expected-error @below {{'attn.attention_bwd' op expected 'kept_p' of 'config' to be 'f32' without a gradient of K, or with a score region, got 'f16'}}
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dk_dv)
      config <tile_m = 64, tile_n = 32, work = grid, kept_p = f16>
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32):
        %two = arith.constant 2.0 : f32
        %y = arith.mulf %x, %two : f32
        attn.yield %y, %two : f32, f32
      } : (!t, !t, !t, !t, !l)
  return %dk, %dv : !t, !t
}

// -----

// With dropout the difference is multiplied: what is dropped has delta alone.
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
// CHECK-LABEL: tile.kernel @dropout
// CHECK: tile.step @dsoft
// CHECK: %[[DIFFERENCE:.*]] = arith.select
// CHECK: %[[UNSCALE:.*]] = arith.constant dense<6.10351563E-5>
// CHECK: arith.mulf %[[DIFFERENCE]], %[[UNSCALE]]
func.func @dropout(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %rate: f32, %state: tensor<2xi64>) -> (!t, !t) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dk_dv)
      config <tile_m = 64, tile_n = 32, work = grid, kept_p = f16> dropout(%rate, %state) : (!t, !t, !t, !t, !l)
  return %dk, %dv : !t, !t
}
