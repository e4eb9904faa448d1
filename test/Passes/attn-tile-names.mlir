// A capture keeps the name that the user gave it. If another argument of the
// kernel has the same name, that argument is renamed. If expressions of the plan cannot use it,
// they use a symbol instead.
// RUN: attn-opt %s --attn-tile | FileCheck %s

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>

// The name of another argument, of a size, a reserved one, one that is no symbol, and no name.
// CHECK-LABEL: tile.kernel @names
// CHECK-SAME: args ["q_1" query (
// CHECK-SAME: "k" key (
// CHECK-SAME: "scale" scale
// CHECK-SAME: "q" capture, "sq" as "sq_1" capture, "items" as "capture" capture, "a.b {c}" as "capture_1" capture, "c4" capture
// CHECK-SAME: "o" output write (
// CHECK-SAME: ["i32", "addi", "@q", "@sq"]
// CHECK-SAME: ["i32", "addi", "%0", "@items"]
// CHECK-SAME: ["i32", "addi", "%1", "@a.b {c}"]
// CHECK-SAME: ["i32", "addi", "%2", "@c4"]
func.func @names(%q: !t, %k: !t, %v: !t, %scale: f32, %a: i32 {attn.name = "q"}, %b: i32 {attn.name = "sq"},
                 %c: i32 {attn.name = "items"}, %d: i32 {attn.name = "a.b {c}"}, %e: i32) -> (!t, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%a, %b, %c, %d, %e : i32, i32, i32, i32, i32)
      config <tile_m = 128, tile_n = 64, work = grid>
      mask_region {
      ^bb0(%batch: i32, %h: i32, %i: i32, %j: i32, %x: i32, %y: i32, %z: i32, %u: i32, %w: i32):
        %0 = arith.addi %x, %y : i32
        %1 = arith.addi %0, %z : i32
        %2 = arith.addi %1, %u : i32
        %3 = arith.addi %2, %w : i32
        %4 = arith.cmpi slt, %j, %3 : i32
        attn.yield %4 : i1
      } : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// The sizes of a captured tensor are named after its symbol: none is another capture's.
// CHECK-LABEL: tile.kernel @size_of_a_capture
// CHECK-SAME: "x_d0" capture, "x" as "x_1" capture
func.func @size_of_a_capture(%q: !t, %k: !t, %v: !t, %scale: f32, %n: i32 {attn.name = "x_d0"},
                             %x: tensor<?xf32> {attn.name = "x"}) -> (!t, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%n, %x : i32, tensor<?xf32>) config <tile_m = 128, tile_n = 64, work = grid>
      score_region {
      ^bb0(%s: f32, %batch: i32, %h: i32, %i: i32, %j: i32, %count: i32, %table: tensor<?xf32>):
        %at = arith.index_cast %count : i32 to index
        %r = tensor.extract %table[%at] : tensor<?xf32>
        attn.yield %r : f32
      } : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// So does the name of a bound, and all that the kernel says of the mask follows.
// CHECK-LABEL: tile.kernel @bound
// CHECK-SAME: "window_left_1" bound, "window_left" capture
// CHECK-SAME: equals = 0 : i64, expr = #launch.apply<lt(window_left_1, 0)>, message = "expected 'window_left_1' to be at least 0, got {window_left_1}"
// CHECK-SAME: attn.keys = {first = #launch.apply<sub(i, min(window_left_1, max(sq, sk)))>}
func.func @bound(%q: !t, %k: !t, %v: !t, %scale: f32, %left: i32, %x: i32 {attn.name = "window_left"}) -> (!t, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(window_top_left) layout(bshd) window_left(%left)
      captures(%x : i32) config <tile_m = 128, tile_n = 64, work = grid>
      mask_region {
      ^bb0(%batch: i32, %h: i32, %i: i32, %j: i32, %first: i32):
        %r = arith.cmpi sge, %j, %first : i32
        attn.yield %r : i1
      } : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}
