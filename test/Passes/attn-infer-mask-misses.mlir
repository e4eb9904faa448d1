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

// -----

// Floats may be rounded in another way where they are computed again.
// CHECK: mask(none)
// CHECK: arith.mulf
// CHECK: arith.cmpi slt
%half = arith.constant 0.3 : f32
%query = arith.sitofp %i : i32 to f32
%product = arith.mulf %query, %half : f32
%end = arith.fptosi %product : f32 to i32
%inside = arith.cmpi slt, %j, %end : i32
attn.yield %inside : i1

// -----

// Beside a prefix, ends that may fall are no ends.
// CHECK: mask(none)
// CHECK: tensor.extract
// CHECK: arith.ori
%c4 = arith.constant 4 : i32
%sink = arith.cmpi slt, %j, %c4 : i32
%at = arith.index_cast %i : i32 to index
%start = tensor.extract %t[%at] : tensor<?xi32>
%after = arith.cmpi sge, %j, %start : i32
%any = arith.ori %sink, %after : i1
attn.yield %any : i1
