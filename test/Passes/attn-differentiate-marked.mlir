// Functions with an argument that has attn.gradient are replaced by those of the gradients that are asked for.
// RUN: attn-opt %s --attn-differentiate='marked=true' -split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-differentiate -split-input-file | FileCheck %s --check-prefix=ALL

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// CHECK-NOT: func.func @some(
// CHECK-LABEL: func.func @some_bwd(
// CHECK-SAME: -> (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) {
// CHECK: attn.delta
// CHECK: %[[DQ:[a-z_]*|[^,]*]], %{{[^,]*}}, %[[DV:[^ ]*]] = attn.attention_bwd
// CHECK: return %[[DQ]], %[[DV]] :
// ALL: func.func @some(
// ALL: func.func @some_bwd(
// ALL-SAME: -> (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) {
func.func @some(%q: !q {attn.gradient}, %k: !q, %v: !q {attn.gradient}, %scale: f32) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// CHECK-LABEL: func.func @none(
// CHECK-NOT: func.func @none_bwd
// ALL: func.func @none(
// ALL: func.func @none_bwd(
// ALL-SAME: -> (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) {
func.func @none(%q: !q, %k: !q, %v: !q, %scale: f32) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}
