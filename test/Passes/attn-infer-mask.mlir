// Masks that attn-infer-mask finds in mask functions.
// RUN: %cases %s | attn-opt -split-input-file --attn-infer-mask | FileCheck %s

!q = tensor<?x?x?x128xbf16>
!lse = tensor<?x?x?xf32>

// =====

func.func @case(%q: !q, %k: !q, %v: !q, %scale: f32, %lengths: tensor<?xi64>, %n: i32) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%lengths, %n : tensor<?xi64>, i32)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %t: tensor<?xi64>, %x: i32):
...
      }
      : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

// CHECK: attn.attention {{.*}} mask(causal_top_left) layout(bshd) captures({{.*}}) {attn.user_mask =
// CHECK-SAME: {{\[\[}}"i1", "cmpi.sge", "i", "j"], ["i1", "yield", "%0"{{\]\]}}
// CHECK-SAME: attn.user_problem = #attn.problem<{{.*}} mask = none, {{.*}} mask_region = present>
%causal = arith.cmpi sge, %i, %j : i32
attn.yield %causal : i1

// -----

// A window to the left of the diagonal: the bound is a constant of the function.
// CHECK: %[[LEFT:.*]] = arith.constant 255 : i32
// CHECK: mask(causal_top_left) layout(bshd) window_left(%[[LEFT]])
%causal = arith.cmpi sle, %j, %i : i32
%distance = arith.subi %i, %j : i32
%c256 = arith.constant 256 : i32
%near = arith.cmpi slt, %distance, %c256 : i32
%both = arith.andi %near, %causal : i1
attn.yield %both : i1

// -----

// A distance to both sides, as i64 and as the opposite of what it is not.
// CHECK-DAG: %[[LEFT:.*]] = arith.constant 64 : i32
// CHECK: mask(window_top_left) layout(bshd) window_left(%{{.*}}) window_right(%{{.*}})
%true = arith.constant true
%i64 = arith.extsi %i : i32 to i64
%j64 = arith.extsi %j : i32 to i64
%a = arith.subi %i64, %j64 : i64
%b0 = arith.subi %j64, %i64 : i64
%distance = arith.maxsi %a, %b0 : i64
%c64 = arith.constant 64 : i64
%far = arith.cmpi sgt, %distance, %c64 : i64
%near = arith.xori %far, %true : i1
attn.yield %near : i1

// -----

// CHECK: %[[CHUNK:.*]] = arith.constant 2048 : i32
// CHECK: mask(chunked_top_left) layout(bshd) chunk(%[[CHUNK]])
%c11 = arith.constant 11 : i32
%own = arith.shrsi %i, %c11 : i32
%other = arith.shrsi %j, %c11 : i32
%same = arith.cmpi eq, %own, %other : i32
%causal = arith.cmpi sle, %j, %i : i32
%both = arith.andi %same, %causal : i1
attn.yield %both : i1

// -----

// Every query sees a prefix: one interval, whose end is the larger of two.
// CHECK: row_keys {
// CHECK-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %[[I:.*]]: i32,
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[PREFIX:.*]] = arith.constant 1000 : i32
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %[[ONE]]
// CHECK: %[[END:.*]] = arith.maxsi %[[PREFIX]], %[[NEXT]]
// CHECK: attn.yield %[[ZERO]], %[[END]]
// CHECK-NOT: mask_region {
%c1000 = arith.constant 1000 : i32
%prefix = arith.cmpi slt, %j, %c1000 : i32
%causal = arith.cmpi sle, %j, %i : i32
%any = arith.ori %prefix, %causal : i1
attn.yield %any : i1

// -----

// Padding: a length of 64 bits counts as the nearest position.
// CHECK: row_keys {
// CHECK: %[[LENGTH:.*]] = tensor.extract
// CHECK: %[[LOW:.*]] = arith.minsi %[[LENGTH]], %c36028797018963968_i64
// CHECK: %[[NEAR:.*]] = arith.maxsi %[[LOW]], %c-36028797018963968_i64
// CHECK: %[[NATURAL:.*]] = arith.maxsi %[[NEAR]], %c0_i64
// CHECK: %[[POSITION:.*]] = arith.minsi %[[NATURAL]], %c2147418112_i64
// CHECK: arith.trunci %[[POSITION]] : i64 to i32
// CHECK-NOT: mask_region {
%at = arith.index_cast %b : i32 to index
%length = tensor.extract %t[%at] : tensor<?xi64>
%key = arith.extsi %j : i32 to i64
%inside = arith.cmpi slt, %key, %length : i64
attn.yield %inside : i1

// -----

// A guard that opens when the position grows closes the end, one that closes
// moves the first key beyond all.
// CHECK: row_keys {
// CHECK-DAG: %[[ALL:.*]] = arith.constant 2147418112 : i32
// CHECK: %[[OPEN:.*]] = arith.cmpi sge
// CHECK: arith.select %[[OPEN]], %[[ALL]], %c0_i32
// CHECK-NOT: mask_region {
%c10 = arith.constant 10 : i32
%late = arith.cmpi sge, %i, %c10 : i32
attn.yield %late : i1

// -----

// CHECK: row_keys {
// CHECK: %[[OPEN:.*]] = arith.cmpi sge
// CHECK: %[[ALL:.*]] = arith.constant 2147418112 : i32
// CHECK: %[[FIRST:.*]] = arith.select %[[OPEN]], %c0_i32, %[[ALL]]
// CHECK: attn.yield %[[FIRST]], %[[ALL]]
%c10 = arith.constant 10 : i32
%early = arith.cmpi slt, %i, %c10 : i32
attn.yield %early : i1

// -----

// Of two truth values, the smaller by sign is the true one.
// CHECK: row_keys {
// CHECK: %[[LEAST:.*]] = arith.minsi
// CHECK: arith.extui %[[LEAST]] : i1 to i32
// CHECK-NOT: mask_region {
%none = arith.constant false
%at = arith.index_cast %b : i32 to index
%length = tensor.extract %t[%at] : tensor<?xi64>
%c0 = arith.constant 0 : i64
%some = arith.cmpi sgt, %length, %c0 : i64
%least = arith.minsi %some, %none : i1
%one = arith.extui %least : i1 to i32
%inside = arith.cmpi slt, %j, %one : i32
attn.yield %inside : i1

// -----

// A truth value counts as 1.
// CHECK: row_keys {
// CHECK: %[[TRUTH:.*]] = arith.cmpi sgt
// CHECK: arith.extui %[[TRUTH]] : i1 to i32
// CHECK-NOT: mask_region {
%at = arith.index_cast %b : i32 to index
%length = tensor.extract %t[%at] : tensor<?xi64>
%c0 = arith.constant 0 : i64
%some = arith.cmpi sgt, %length, %c0 : i64
%one = arith.extui %some : i1 to i32
%inside = arith.cmpi slt, %j, %one : i32
attn.yield %inside : i1

// -----

// Half of the function stays.
// CHECK: mask(causal_top_left)
// CHECK: mask_region {
// CHECK: %[[SAME:.*]] = arith.cmpi eq
// CHECK-NEXT: attn.yield %[[SAME]]
%c3 = arith.constant 3 : i32
%u = arith.remsi %i, %c3 : i32
%w = arith.remsi %j, %c3 : i32
%same = arith.cmpi eq, %u, %w : i32
%causal = arith.cmpi sle, %j, %i : i32
%both = arith.andi %same, %causal : i1
attn.yield %both : i1

// -----

// Attention sinks: the keys of a window, and those of a prefix.
// CHECK: row_keys {
// CHECK: %[[FIRST:.*]] = arith.maxsi
// CHECK: %[[END:.*]] = arith.addi
// CHECK: attn.yield %[[FIRST]], %[[END]], %{{.*}} : i32, i32, i32
// CHECK-NOT: mask_region {
%c4 = arith.constant 4 : i32
%c100 = arith.constant 100 : i32
%sink = arith.cmpi slt, %j, %c4 : i32
%distance = arith.subi %i, %j : i32
%near = arith.cmpi slt, %distance, %c100 : i32
%causal = arith.cmpi sle, %j, %i : i32
%window = arith.andi %near, %causal : i1
%any = arith.ori %sink, %window : i1
attn.yield %any : i1

// -----

// CHECK: mask(none)
// CHECK-NOT: mask_region {
// CHECK-NOT: row_keys {
// CHECK: return
%yes = arith.constant true
attn.yield %yes : i1

// -----

// Starts that a tensor gives for each query.
// CHECK: row_keys {
// CHECK: %[[START:.*]] = tensor.extract
// CHECK: arith.maxsi
// CHECK: %[[END:.*]] = arith.addi
// CHECK: attn.yield %{{.*}}, %[[END]] : i32, i32
// CHECK-NOT: mask_region {
%at = arith.index_cast %i : i32 to index
%start = tensor.extract %t[%at] : tensor<?xi64>
%key = arith.extsi %j : i32 to i64
%after = arith.cmpi sge, %key, %start : i64
%causal = arith.cmpi sle, %j, %i : i32
%both = arith.andi %after, %causal : i1
attn.yield %both : i1

// -----

// An end that falls when the position of the query grows.
// CHECK: row_keys {
// CHECK: %[[OPPOSITE:.*]] = arith.muli %{{.*}}, %c-1_i32 : i32
// CHECK: %[[END:.*]] = arith.addi %[[OPPOSITE]], %c100_i32 : i32
// CHECK: %[[NATURAL:.*]] = arith.maxsi %[[END]]
// CHECK: attn.yield %{{.*}}, %[[NATURAL]] : i32, i32
// CHECK-NOT: mask_region {
%c100 = arith.constant 100 : i32
%end = arith.subi %c100, %i : i32
%inside = arith.cmpi slt, %j, %end : i32
attn.yield %inside : i1

// -----

// i + n wraps for some queries and some n: it is an end as it is.
// CHECK: row_keys {
// CHECK: %[[SUM:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: %[[NATURAL:.*]] = arith.maxsi %[[SUM]]
// CHECK: attn.yield %{{.*}}, %[[NATURAL]] : i32, i32
// CHECK-NOT: mask_region {
%end = arith.addi %i, %x : i32
%inside = arith.cmpi slt, %j, %end : i32
attn.yield %inside : i1

// -----

// Rows without keys, in no order.
// CHECK: row_keys {
// CHECK: %[[REST:.*]] = arith.remsi
// CHECK: %[[IS_LATE:.*]] = arith.cmpi sge
// CHECK: %[[ALL:.*]] = arith.select %[[IS_LATE]]
// CHECK: arith.minsi %[[ALL]]
// CHECK-NOT: mask_region {
%c3 = arith.constant 3 : i32
%c1 = arith.constant 1 : i32
%rest = arith.remsi %i, %c3 : i32
%some = arith.cmpi sge, %rest, %c1 : i32
%causal = arith.cmpi sle, %j, %i : i32
%both = arith.andi %some, %causal : i1
attn.yield %both : i1

// -----

// Whether a query sees keys, as a tensor says.
// CHECK: row_keys {
// CHECK: tensor.extract
// CHECK: arith.cmpi sge
// CHECK: arith.select
// CHECK-NOT: mask_region {
%at = arith.index_cast %i : i32 to index
%length = tensor.extract %t[%at] : tensor<?xi64>
%c0 = arith.constant 0 : i64
%valid = arith.cmpi ne, %length, %c0 : i64
attn.yield %valid : i1

// -----

// A prefix beside keys from any start on stays a function, but no query sees keys after its own position and the prefix.
// CHECK: mask_region {
// CHECK: arith.ori
// CHECK: row_keys {
// CHECK: %[[END:.*]] = arith.maxsi %c4_i32, %{{.*}} : i32
// CHECK: attn.yield %c0_i32, %[[END]] : i32, i32
%c4 = arith.constant 4 : i32
%sink = arith.cmpi slt, %j, %c4 : i32
%at = arith.index_cast %i : i32 to index
%start = tensor.extract %t[%at] : tensor<?xi64>
%key = arith.extsi %j : i32 to i64
%after = arith.cmpi sge, %key, %start : i64
%causal = arith.cmpi sle, %j, %i : i32
%own = arith.andi %after, %causal : i1
%any = arith.ori %sink, %own : i1
attn.yield %any : i1
