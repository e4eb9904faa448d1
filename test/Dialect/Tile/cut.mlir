// Work items in parts: round trips.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @parts
tile.kernel @parts args ["n"]
    problem <kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = dynamic, last_wave_parts = 3> {
^bb0(%n: i32):
  // CHECK: %[[WHOLE:.*]], %[[PARTS:.*]] = tile.cut %{{.*}} by 16 most 3
  %whole, %parts = tile.cut %n by 16 most 3
  tile.work {
    %w = tile.step @next () : () -> !tile.work {
      // CHECK: tile.next_work extents(%{{.*}}) cut(%[[WHOLE]], %[[PARTS]])
      %next = tile.next_work extents(%n, %n, %n) cut(%whole, %parts)
      // CHECK: tile.next_work extents(%{{.*}}) section(%[[WHOLE]]) cut(%[[WHOLE]], %[[PARTS]])
      %other = tile.next_work extents(%n, %n, %n) section(%whole) cut(%whole, %parts)
      tile.yield %next : !tile.work
    }
    // CHECK: tile.step @join(%[[W:.*]]) : (!tile.work) -> tensor<64xf32> {
    // CHECK-NEXT: ^bb0(%[[W0:.*]]: !tile.work):
    %l = tile.step @join (%w) : (!tile.work) -> tensor<64xf32> {
    ^bb0(%w0: !tile.work):
      // CHECK-NEXT: %{{.*}}, %{{.*}}, %{{.*}} = tile.part_of %[[W0]]
      %part, %is_part, %item = tile.part_of %w0
      %zero = arith.constant dense<0.0> : tensor<64xf32>
      // CHECK: tile.join %[[W0]] of %[[PARTS]](%[[ZERO:.*]]) : (tensor<64xf32>) -> tensor<64xf32> {
      // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<64xf32>, %[[B:.*]]: tensor<64xf32>):
      // CHECK-NEXT: arith.addf %[[A]], %[[B]] : tensor<64xf32>
      %sum = tile.join %w0 of %parts(%zero) : (tensor<64xf32>) -> tensor<64xf32> {
      ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
        %s = arith.addf %a, %b : tensor<64xf32>
        tile.yield %s : tensor<64xf32>
      }
      tile.yield %sum : tensor<64xf32>
    }
  }
}
