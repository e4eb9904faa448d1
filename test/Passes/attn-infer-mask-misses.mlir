// Functions in which attn-infer-mask finds nothing: the op stays as it is.
// RUN: %cases %s | attn-opt -split-input-file --attn-infer-mask | FileCheck %s --implicit-check-not=row_keys --implicit-check-not=attn.user

!q = tensor<?x?x?x128xbf16>
!lse = tensor<?x?x?xf32>

// =====

func.func @case(%q: !q, %k: !q, %v: !q, %scale: f32, %ids: tensor<?xi32>, %n: i32) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%ids, %n : tensor<?xi32>, i32)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %t: tensor<?xi32>, %x: i32):
...
      }
      : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

// i + n wraps for some queries and some n.
// CHECK: mask(none)
// CHECK: arith.addi
// CHECK-NEXT: arith.cmpi slt
%end = arith.addi %i, %x : i32
%inside = arith.cmpi slt, %j, %end : i32
attn.yield %inside : i1

// -----

// An end that falls when the position of the query grows.
// CHECK: mask(none)
// CHECK: arith.subi
// CHECK-NEXT: arith.cmpi slt
%c100 = arith.constant 100 : i32
%end = arith.subi %c100, %i : i32
%inside = arith.cmpi slt, %j, %end : i32
attn.yield %inside : i1

// -----

// Ends that a tensor gives for each query may fall.
// CHECK: mask(none)
// CHECK: tensor.extract
%at = arith.index_cast %i : i32 to index
%end = tensor.extract %t[%at] : tensor<?xi32>
%inside = arith.cmpi slt, %j, %end : i32
attn.yield %inside : i1

// -----

// Unsigned, all negative numbers are large.
// CHECK: mask(none)
// CHECK: arith.cmpi ult
%inside = arith.cmpi ult, %j, %x : i32
attn.yield %inside : i1

// -----

// Quotients by an unknown divisor may be by 0.
// CHECK: mask(none)
// CHECK: arith.divsi
%own = arith.divsi %i, %x : i32
%other = arith.divsi %j, %x : i32
%same = arith.cmpi eq, %own, %other : i32
attn.yield %same : i1

// -----

// The differences of truth values are two intervals.
// CHECK: mask(none)
// CHECK: arith.xori
%c5 = arith.constant 5 : i32
%a = arith.cmpi slt, %j, %c5 : i32
%c = arith.cmpi sle, %j, %i : i32
%differ = arith.xori %a, %c : i1
attn.yield %differ : i1
