// The descriptions of arguments and ranges: round trips.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

!t = tensor<?x?x?x32xbf16>

// CHECK: tile.kernel @roles args ["any name {at all}" as "q" query, "k" key ("b", "s", "h", "d"), "v" value, "scale" scale, "w" bound, "c" capture, "o" output write, "lse" lse write] problem
tile.kernel @roles args ["any name {at all}" as "q" query, "k" as "k" key read ("b", "s", "h", "d"), "v" value, "scale" scale, "w" bound, "c" capture, "o" output write, "lse" lse write]
    problem <kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = window_top_left, bounds = window_left, score_region = absent, mask_region = present> {
^bb0(%q: !t, %k: !t, %v: !t, %scale: f32, %w: i32, %c: i64, %o: !t, %lse: tensor<?x?x?xf32>):
  tile.work {
  }
}

// CHECK: tile.kernel @arguments args ["x" ("b", "s", "h", "d"), "y" write ("b", "h", "s"), "sum" accumulate, "n", "f" from 1.17549435E-38 to 2.500000e+00] problem
tile.kernel @arguments args ["x" read ("b", "s", "h", "d"), "y" write ("b", "h", "s"), "sum" accumulate, "n", "f" from 1.17549435e-38 to 2.5]
    problem <kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
^bb0(%x: tensor<?x?x?x32xbf16>, %y: tensor<?x?x?xf32>, %sum: tensor<?xf32>, %n: i32, %f: f32):
  tile.work {
    %w = tile.step @next () : () -> !tile.work {
      %next = tile.next_work extents(%n, %n, %n)
      tile.yield %next : !tile.work
    }
    // CHECK: %[[B:.*]]:3 = tile.bounds %{{.*}} up : i32, i32, i32
    %b:3 = tile.bounds %w up : i32, i32, i32 {
    ^bb0(%item: !tile.work):
      tile.yield %n, %n, %n : i32, i32, i32
    }
    // CHECK: tile.for ranges <up [full, masked at_most 1]> bounds(%[[B]]#0, %[[B]]#1, %[[B]]#2)
    %r = tile.for ranges <up [full, masked at_most 1]> bounds(%b#0, %b#1, %b#2) init(%n) : (i32) -> i32 {
    ^bb0(%j: i32, %carried: i32):
      tile.yield %carried : i32
    }
  }
}
