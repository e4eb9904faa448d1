// attn-configure: plain problems choose by rows, others by the number of keys alone.
// RUN: attn-opt %s --attn-configure -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @plain(
// CHECK: last_wave_parts = 16> variant <"plain" when <seqlen_k above 1024 and rows at_most 8448>>
// CHECK: tile_m = 256, {{.*}}when <seqlen_q above 128 and rows above 16896>>
// CHECK: tile_m = 128, {{.*}}variant <"plain">
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @plain(%q: !t, %k: !t, %scale: f32) -> (!t, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd) : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

// CHECK-LABEL: func.func @function(
// CHECK: config <tile_m = 256
// CHECK-NOT: variant
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @function(%q: !t, %k: !t, %scale: f32) -> (!t, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd) mask_region {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %odd = arith.trunci %j : i32 to i1
    attn.yield %odd : i1
  } : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}
