// attn-configure with row_keys: rows that differ have the entries of causal masks and windows; rows that all have the same keys,
// those without a mask.
// RUN: %cases %s | attn-opt -split-input-file --attn-configure | FileCheck %s
// RUN: %cases %s | attn-opt -split-input-file --attn-configure | attn-opt -split-input-file --attn-tile --attn-fuse-online-softmax --attn-schedule | FileCheck %s --check-prefix=SCHEDULE

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// =====

func.func @case(%q: !q, %k: !q, %v: !q, %scale: f32, %ends: tensor<?xi32> {attn.name = "ends"}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%ends : tensor<?xi32>)
      row_keys {
      ^bb0(%b: i32, %h: i32, %i: i32, %t: tensor<?xi32>):
        %c0 = arith.constant 0 : i32
        %c9 = arith.constant 9 : i32
        %at = arith.index_cast %b : i32 to index
        %length = tensor.extract %t[%at] : tensor<?xi32>
        %natural = arith.maxsi %length, %c9 : i32
...
      }
      : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// -----

// CHECK: config <tile_m = 256, tile_n = 64, work = dynamic, rescale_threshold = 8,
// SCHEDULE: row_keys = "end|alike"{{.*}} schedule <"fwd_d64_none"
attn.yield %c0, %natural : i32, i32

// -----

// CHECK: config <tile_m = 256, tile_n = 64, work = dynamic, rescale_threshold = 8,
// SCHEDULE: row_keys = "first|end|alike"{{.*}} schedule <"fwd_d64_none"
attn.yield %c9, %natural : i32, i32

// -----

// CHECK: config <tile_m = 256, tile_n = 64, work = dynamic, order = longest_first,
// SCHEDULE: row_keys = end>{{.*}} schedule <"fwd_d64_causal"
%end = arith.minsi %i, %natural : i32
attn.yield %c0, %end : i32, i32

// -----

// CHECK: config <tile_m = 256, tile_n = 64, work = dynamic, order = longest_first,
// SCHEDULE: row_keys = "first|end"{{.*}} schedule <"fwd_d64_causal"
%end = arith.addi %i, %natural : i32
attn.yield %i, %end : i32, i32
