// Only regions that are a built-in mask without a bound are replaced, so that attn-split-backward knows them.
// RUN: attn-opt %s --attn-infer-mask=built-in-only --mlir-print-local-scope | FileCheck %s
// RUN: attn-opt %s --attn-infer-mask=built-in-only --attn-infer-mask | FileCheck %s --check-prefix=BOTH
// RUN: sed '/^func.func @window/,$d' %s > %t.mlir
// RUN: attn-compile %t.mlir --emit=plan -o - | FileCheck %s --check-prefix=PLAN
// RUN: sed 's/ attributes {attn.any_order}//' %t.mlir > %t.ordered.mlir
// RUN: attn-compile %t.ordered.mlir --emit=plan -o - | FileCheck %s --check-prefix=ORDERED
// RUN: sed 's/128xbf16/256xbf16/g' %t.ordered.mlir > %t.parts.mlir
// RUN: attn-compile %t.parts.mlir --emit=plan -o - | FileCheck %s --check-prefix=PARTS

!t = tensor<?x?x?x128xbf16>
!l = tensor<?x?x?xf32>

// The table's kernel for a causal mask has other blocks than that for functions, which the sums of dQ must know.
// CHECK-LABEL: func.func @causal
// CHECK: attn.attention_bwd {{.*}} mask(causal_top_left)
// CHECK-NOT: mask_region {
// CHECK: attn.user_mask
// PLAN: "problem":{{.*}}"kind":"bwd",{{.*}}"mask":"none","mask_program":{{.*}},"mask_region":"custom"
// PLAN: "schedule":"bwd_d128_causal"
// With one order, and in parts, of which the last one says the kind.
// ORDERED: "problem":{{.*}}"kind":"bwd_ordered",{{.*}}"mask":"none","mask_program":{{.*}},"mask_region":"custom"
// PARTS: "problem":{{.*}}"kind":"bwd_dv",{{.*}}"mask":"none","mask_program":{{.*}},"mask_region":"custom"
func.func @causal(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> (!t, !t, !t) attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
        %causal = arith.cmpi sge, %i, %j : i32
        attn.yield %causal : i1
      } : (!t, !t, !t, !t, !l)
  return %dq, %dk, %dv : !t, !t, !t
}

// CHECK-LABEL: func.func @window
// CHECK: attn.attention_bwd {{.*}} mask(none)
// CHECK-SAME: mask_region {
// CHECK-NOT: attn.user_mask
// BOTH-LABEL: func.func @window
// BOTH: attn.attention_bwd {{.*}} mask(causal_top_left) {{.*}} window_left(
func.func @window(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
        %c256 = arith.constant 256 : i32
        %distance = arith.subi %i, %j : i32
        %near = arith.cmpi slt, %distance, %c256 : i32
        %causal = arith.cmpi sge, %i, %j : i32
        %both = arith.andi %near, %causal : i1
        attn.yield %both : i1
      } : (!t, !t, !t, !t, !l)
  return %dq : !t
}
