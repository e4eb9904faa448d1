// attn-configure: a copy of the function for each entry that some launch reaches.
// RUN: attn-opt %s --attn-configure=schedule-file=%attn_root/test/Inputs/variants_d64.mlir -split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-configure=schedule-file=%attn_root/test/Inputs/variants_d64.mlir -split-input-file \
// RUN:   | attn-opt --attn-configure -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @causal(
// CHECK-SAME: attn.name = "table"
// CHECK: config <tile_m = 128, tile_n = 64, {{.*}}> variant <"causal" when <seqlen_k at_most 128>>
// CHECK: arith.addf
// CHECK-LABEL: func.func @causal_1(
// CHECK-SAME: attn.name = "table"
// CHECK: config <tile_m = 128, tile_n = 128, {{.*}}> variant <"causal" when <seqlen_k at_most 512 and rows above 1000>>
// CHECK: arith.addf
// CHECK-LABEL: func.func @causal_2(
// CHECK-SAME: attn.name = "table"
// CHECK: config <tile_m = 192, tile_n = 128, {{.*}}> variant <"causal">
// CHECK: arith.addf
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @causal(%q: !t, %scale: f32, %bias: f32 {attn.name = "table"}) -> (!t, !l) {
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(causal_bottom_right) layout(bshd)
      captures(%bias : f32)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %x: f32):
        %r = arith.addf %s, %x : f32
        attn.yield %r : f32
      } : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

// Entries for other masks do not apply. Names that are in use are
// skipped.
// CHECK-LABEL: func.func @none(
// CHECK: tile_n = 64, {{.*}}> variant <"none" when <seqlen_k at_most 128>>
// CHECK-LABEL: func.func @none_2(
// CHECK: tile_m = 192, {{.*}}> variant <"none">
// CHECK-LABEL: func.func private @none_1
// CHECK-NOT: func.func
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @none(%q: !t, %scale: f32) -> (!t, !l) {
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(none) layout(bshd) : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}
func.func private @none_1()

// -----

// One entry, without condition: no variant.
// CHECK-LABEL: func.func @window(
// CHECK: config <tile_m = 192, tile_n = 128, {{[^>]*}}> : (
// CHECK-NOT: func.func
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @window(%q: !t, %scale: f32, %left: i32) -> (!t, !l) {
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(causal_top_left) layout(bshd) window_left(%left) : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

// Static sizes drop the entries whose conditions they contradict ...
// CHECK-LABEL: func.func @many_keys(
// CHECK: config <tile_m = 192, tile_n = 128, {{[^>]*}}> : (
// CHECK-NOT: func.func
!q = tensor<?x?x?x64xbf16>
!k = tensor<?x?x?x64xbf16>
!v = tensor<?x513x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @many_keys(%q: !q, %k: !k, %v: !v, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd) : (!q, !k, !v) -> (!q, !l)
  return %o, %lse : !q, !l
}

// -----

// ... and all entries after one whose condition they fulfil.
// CHECK-LABEL: func.func @few_keys(
// CHECK: config <tile_m = 128, tile_n = 64, {{.*}}> variant <"few_keys" when <seqlen_k at_most 128>>
// CHECK-NOT: func.func
!q = tensor<?x?x?x64xbf16>
!k = tensor<?x128x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @few_keys(%q: !q, %k: !k, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(causal_bottom_right) layout(bshd) : (!q, !k, !k) -> (!q, !l)
  return %o, %lse : !q, !l
}

// -----

// Rows are known once batch, heads and positions are: 2 * 5 * 100 are not above 1000.
// CHECK-LABEL: func.func @few_rows(
// CHECK: variant <"few_rows" when <seqlen_k at_most 128>>
// CHECK-LABEL: func.func @few_rows_1(
// CHECK: tile_m = 192, {{.*}}> variant <"few_rows">
// CHECK-NOT: func.func
!q = tensor<2x5x100x64xbf16>
!k = tensor<2x5x?x64xbf16>
!l = tensor<2x5x100xf32>
func.func @few_rows(%q: !q, %k: !k, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(causal_bottom_right) layout(bhsd) : (!q, !k, !k) -> (!q, !l)
  return %o, %lse : !q, !l
}
