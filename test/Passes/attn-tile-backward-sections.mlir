// The heads of a section: those whose K and V of 256 bytes a key fit 16 MiB.
// RUN: attn-opt %s --attn-tile-backward | FileCheck %s -enable-var-scope

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>

// Items own keys: heads of K and V, about as many in each section.
// CHECK-LABEL: tile.kernel @keys
// CHECK: %[[ALL:.*]] = arith.muli %[[BATCHES:.*]], %[[KEY_HEADS:.*]] : i32
// CHECK: %[[FITTING:.*]] = arith.constant 65536 : i32
// CHECK: %[[LENGTH:.*]] = arith.maxsi
// CHECK: %[[QUOTIENT:.*]] = arith.divsi %[[FITTING]], %[[LENGTH]] : i32
// CHECK: %[[MOST:.*]] = arith.maxsi %[[QUOTIENT]], %[[ONE:.*]] : i32
// CHECK: %[[COUNT:.*]] = arith.ceildivsi %[[ALL]], %[[MOST]] : i32
// CHECK: %[[SECTIONS:.*]] = arith.maxsi %[[COUNT]], %[[ONE]] : i32
// CHECK: %[[SECTION:.*]] = arith.ceildivsi %[[ALL]], %[[SECTIONS]] : i32
// CHECK: tile.next_work extents(%{{.*}}, %[[KEY_HEADS]], %[[BATCHES]]) section(%[[SECTION]])
func.func @keys(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> (!t, !t) {
  %r:2 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_bottom_right) layout(bshd) gradients(dk_dv)
      config <tile_m = 128, tile_n = 64, work = grid, order = longest_first, section_mib = 16> : (!t, !t, !t, !t, !l)
  return %r#0, %r#1 : !t, !t
}

// Only the last heads are a section: as many as fit. Items own queries: all heads of the groups.
// CHECK-LABEL: tile.kernel @queries
// CHECK: %[[GROUP:.*]] = arith.divsi %[[HEADS:.*]], %{{.*}} : i32
// CHECK: %[[QUOTIENT:.*]] = arith.divsi %{{.*}}, %{{.*}} : i32
// CHECK: %[[MOST:.*]] = arith.maxsi %[[QUOTIENT]], %{{.*}} : i32
// CHECK-NEXT: %[[SECTION:.*]] = arith.muli %[[MOST]], %[[GROUP]] : i32
// CHECK: tile.next_work extents(%{{.*}}, %[[HEADS]], %{{.*}}) section(%[[SECTION]])
func.func @queries(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_bottom_right) layout(bshd) gradients(dq)
      config <tile_m = 128, tile_n = 64, work = grid, order = shortest_last, section_mib = 16> : (!t, !t, !t, !t, !l)
  return %dq : !t
}

// All heads are one section.
// CHECK-LABEL: tile.kernel @all
// CHECK: tile.next_work extents
// CHECK-NOT: section
// CHECK: tile.step @ld_k
func.func @all(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  %dk = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_bottom_right) layout(bshd) gradients(dk)
      config <tile_m = 128, tile_n = 64, work = grid, order = longest_first> : (!t, !t, !t, !t, !l)
  return %dk : !t
}
