// Conditions and variants are read and written back: pretty, generic, bytecode.
// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK-LABEL: func.func private @attributes
// CHECK-SAME: all = #attn.condition<seqlen_q at_most 1 and seqlen_q above 0 and seqlen_k above 4096 and rows at_most 9223372036854775807>
// CHECK-SAME: one = #attn.condition<seqlen_k at_most 0>
// CHECK-SAME: variant = #attn.variant<"f" when <rows above 16896>>
func.func private @attributes() attributes {
  all = #attn.condition<seqlen_q at_most 1 and seqlen_q above 0 and seqlen_k above 4096 and rows at_most 9223372036854775807>,
  one = #attn.condition<seqlen_k at_most 0>,
  variant = #attn.variant<"f" when <rows above 16896>>
}

// CHECK-LABEL: func.func @last
// CHECK: config <tile_m = 128, tile_n = 128, work = grid> variant <"first"> : (
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @last(%q: !t, %scale: f32) -> (!t, !l) {
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 128, work = grid> variant <"first"> : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}
