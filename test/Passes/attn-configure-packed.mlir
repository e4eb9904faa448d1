// attn-configure: packed entries of the table are for problems whose heads are static.
// RUN: attn-opt %s --attn-configure -split-input-file | FileCheck %s

// The query heads of a head of K and V share a tile; other entries are not reached.
// CHECK-LABEL: func.func @grouped(
// CHECK: config <tile_m = 64, tile_n = 128, {{.*}}pack_gqa = 4, {{.*}}when <seqlen_q at_most 16>>
// CHECK-NOT: func.func
!q = tensor<?x1x32x128xbf16>
!k = tensor<?x?x8x128xbf16>
!l = tensor<?x32x1xf32>
func.func @grouped(%q: !q, %k: !k, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(causal_bottom_right) layout(bshd) : (!q, !k, !k) -> (!q, !l)
  return %o, %lse : !q, !l
}

// -----

// As many heads of K and V as of Q: nothing is packed, but the entry's tiles
// are used.
// CHECK-LABEL: func.func @alone(
// CHECK: config <tile_m = 64, tile_n = 128, {{[^>]*}}last_wave_parts = 64> variant <"alone" when <seqlen_q at_most 16>>
// CHECK-NOT: pack_gqa
!q = tensor<?x16x32x64xbf16>
!k = tensor<?x?x32x64xbf16>
!l = tensor<?x32x16xf32>
func.func @alone(%q: !q, %k: !k, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd) : (!q, !k, !k) -> (!q, !l)
  return %o, %lse : !q, !l
}

// -----

// The number of queries is known at launch: for more queries there are the
// other entries.
// CHECK-LABEL: func.func @any_queries(
// CHECK: config <tile_m = 64, tile_n = 128, {{.*}}pack_gqa = 4, {{.*}}when <seqlen_q at_most 16>
// CHECK: tile_m = 128, {{.*}}when <seqlen_k above 1024 and rows at_most 8448>>
// CHECK: tile_m = 192, {{.*}}when <seqlen_k above 1024 and rows above 67584>>
// CHECK: tile_m = 128, {{.*}}variant <"any_queries">
!q = tensor<?x?x32x128xbf16>
!k = tensor<?x?x8x128xbf16>
!l = tensor<?x32x?xf32>
func.func @any_queries(%q: !q, %k: !k, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd) : (!q, !k, !k) -> (!q, !l)
  return %o, %lse : !q, !l
}

// -----

// A number of query heads that is no power of two.
// CHECK-LABEL: func.func @seven(
// CHECK: config <tile_m = 64, tile_n = 128, {{.*}}pack_gqa = 7, {{.*}}when <seqlen_q at_most 16>>
// CHECK-NOT: func.func
!q = tensor<?x1x28x128xbf16>
!k = tensor<?x?x4x128xbf16>
!l = tensor<?x28x1xf32>
func.func @seven(%q: !q, %k: !k, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd) : (!q, !k, !k) -> (!q, !l)
  return %o, %lse : !q, !l
}

// -----

// 16 queries of 7 heads need more than 64 rows: a tile of 128, so that one item reads K and V.
// CHECK-LABEL: func.func @wide(
// CHECK: config <tile_m = 128, tile_n = 128, {{.*}}pack_gqa = 7, {{.*}}when <seqlen_q above 8 and seqlen_q at_most 16>>
// CHECK-NOT: func.func
!q = tensor<?x16x28x64xbf16>
!k = tensor<?x?x4x64xbf16>
!l = tensor<?x28x16xf32>
func.func @wide(%q: !q, %k: !k, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd) : (!q, !k, !k) -> (!q, !l)
  return %o, %lse : !q, !l
}

// -----

// 16 queries of 4 heads fill 64 rows: a larger tile would be half empty.
// CHECK-LABEL: func.func @full(
// CHECK: config <tile_m = 64, tile_n = 128, {{.*}}pack_gqa = 4, {{.*}}when <seqlen_q at_most 16>>
// CHECK-NOT: func.func
!q = tensor<?x16x32x64xbf16>
!k = tensor<?x?x8x64xbf16>
!l = tensor<?x32x16xf32>
func.func @full(%q: !q, %k: !k, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd) : (!q, !k, !k) -> (!q, !l)
  return %o, %lse : !q, !l
}

// -----

// 65 query heads for a head of K and V are not a value of 'pack_gqa'.
// CHECK-LABEL: func.func @many(
// CHECK-NOT: tile_m = 64
// CHECK: tile_m = 192
!q = tensor<?x1x65x128xbf16>
!k = tensor<?x?x1x128xbf16>
!l = tensor<?x65x1xf32>
func.func @many(%q: !q, %k: !k, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd) : (!q, !k, !k) -> (!q, !l)
  return %o, %lse : !q, !l
}

// -----

// The heads are not known before the launch.
// CHECK-LABEL: func.func @any_heads(
// CHECK-NOT: tile_m = 64
// CHECK: tile_m = 192
!q = tensor<?x1x?x128xbf16>
!k = tensor<?x?x?x128xbf16>
!l = tensor<?x?x1xf32>
func.func @any_heads(%q: !q, %k: !k, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd) : (!q, !k, !k) -> (!q, !l)
  return %o, %lse : !q, !l
}

// -----

// More queries than the condition allows.
// CHECK-LABEL: func.func @more(
// CHECK-NOT: pack_gqa
// CHECK: tile_m = 192
!q = tensor<?x17x32x128xbf16>
!k = tensor<?x?x8x128xbf16>
!l = tensor<?x32x17xf32>
func.func @more(%q: !q, %k: !k, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd) : (!q, !k, !k) -> (!q, !l)
  return %o, %lse : !q, !l
}

// -----

// A region needs the head of a row.
// CHECK-LABEL: func.func @capped(
// CHECK-NOT: pack_gqa
// CHECK: tile_m = 192
!q = tensor<?x1x32x128xbf16>
!k = tensor<?x?x8x128xbf16>
!l = tensor<?x32x1xf32>
func.func @capped(%q: !q, %k: !k, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd) score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
        attn.yield %s : f32
      } : (!q, !k, !k) -> (!q, !l)
  return %o, %lse : !q, !l
}

// -----

// The entry of 112 columns is for head dim 112 exactly.
// CHECK-LABEL: func.func @narrow(
// CHECK: tile_d = 128, tile_dv = 128
!q = tensor<?x?x?x104xbf16>
!k = tensor<?x?x?x104xbf16>
!l = tensor<?x?x?xf32>
func.func @narrow(%q: !q, %k: !k, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd) : (!q, !k, !k) -> (!q, !l)
  return %o, %lse : !q, !l
}

// -----

// Head dim 112 has an entry of 112 columns, but not for few keys.
// CHECK-LABEL: func.func @own(
// CHECK: tile_d = 128, tile_dv = 128> variant <"own" when <seqlen_k at_most 1024>>
// CHECK: tile_m = 192, tile_n = 80
// CHECK-NOT: tile_d
!q = tensor<?x?x?x112xbf16>
!k = tensor<?x?x?x112xbf16>
!l = tensor<?x?x?xf32>
func.func @own(%q: !q, %k: !k, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd) : (!q, !k, !k) -> (!q, !l)
  return %o, %lse : !q, !l
}
