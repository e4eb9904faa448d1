// Items that own keys, cut into parts along their iterations: blocks of queries, and of each the heads of the group.
// RUN: attn-opt %s --attn-tile-backward | FileCheck %s -enable-var-scope

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>

// CHECK-LABEL: tile.kernel @keys
// CHECK: %[[GROUP:.*]] = arith.divsi
// CHECK: %[[SIZE:.*]] = arith.constant 64 : i32
// CHECK: %[[BLOCKS:.*]] = arith.ceildivsi %{{.*}}, %[[SIZE]] : i32
// CHECK: %[[ITERATIONS:.*]] = arith.muli %[[BLOCKS]], %[[GROUP]] : i32
// CHECK: %[[ROWS:.*]] = arith.muli %[[ITERATIONS]], %{{.*}} : i32
// CHECK: %[[WHOLE:.*]], %[[PARTS:.*]] = tile.cut %[[ROWS]] by 64 most 4
// CHECK: tile.next_work {{.*}} cut(%[[WHOLE]], %[[PARTS]])

// All sub-tiles are cut where the whole item is.
// CHECK: tile.bounds
// CHECK: tile.owned_rows
// CHECK: %[[BLOCK:[^,]*]], %{{.*}}, %{{.*}} = tile.work_coords
// CHECK: arith.muli %[[BLOCK]], %{{.*}} : i32
// CHECK: %[[HI:.*]] = arith.muli %{{.*}}, %[[GROUP]] : i32
// CHECK: %[[LO:.*]] = arith.muli %{{.*}}, %[[GROUP]] : i32
// CHECK: %[[PART:.*]], %[[IS_PART:.*]], %{{.*}} = tile.part_of
// CHECK: arith.subi %[[HI]], %[[LO]] : i32
// CHECK: %[[EACH:.*]] = arith.divui %{{.*}}, %[[PARTS]] : i32
// CHECK: arith.muli %[[PART]], %[[EACH]] : i32
// CHECK-COUNT-3: arith.select %[[IS_PART]]
// CHECK: tile.yield

// Sums are added up; only the last part stores them.
// CHECK: %{{.*}}:2 = tile.step @join
// CHECK: tile.join %{{.*}} of %[[PARTS]]
// CHECK: arith.addf
// CHECK: arith.addf
// CHECK: tile.step @st_dk
// CHECK: tile.part_of
// CHECK: arith.cmpi ne
// CHECK: %[[ROW:.*]] = arith.select
// CHECK: tile.store {{.*}}, %[[ROW]])
// CHECK: tile.step @st_dv
// CHECK: tile.part_of
func.func @keys(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> (!t, !t) {
  %r:2 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_bottom_right) layout(bshd) gradients(dk_dv)
      config <tile_m = 128, tile_n = 64, work = dynamic, last_wave_parts = 4> : (!t, !t, !t, !t, !l)
  return %r#0, %r#1 : !t, !t
}

// CHECK-LABEL: tile.kernel @values
// CHECK: tile.join {{.*}} : (tensor<128x64xf32>) -> tensor<128x64xf32>
func.func @values(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dv)
      config <tile_m = 128, tile_n = 64, work = dynamic, last_wave_parts = 2> : (!t, !t, !t, !t, !l)
  return %dv : !t
}

// The shares of dQ are added by every part.
// CHECK-LABEL: tile.kernel @sums
// CHECK: tile.step @red_dq
// CHECK-NOT: tile.part_of
// CHECK: tile.step @join
// CHECK: tile.join {{.*}} : (tensor<128x64xf32>) -> tensor<128x64xf32>
func.func @sums(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: tensor<?x?x?x64xf32>, %scale: f32) -> (tensor<?x?x?x64xf32>, !t) {
  %r:2 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : tensor<?x?x?x64xf32>) scale(%scale) mask(none) layout(bshd) gradients(sums_dk)
      config <tile_m = 128, tile_n = 64, work = dynamic, last_wave_parts = 2> : (!t, !t, !t, !t, !l)
  return %r#0, %r#1 : tensor<?x?x?x64xf32>, !t
}
