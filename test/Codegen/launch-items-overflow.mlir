// A launch plan does not check a 32-bit number that is bounded already: by a
// check of a maximum of it, by the check of the number of items, of which it is
// a factor, or because it is computed from sizes alone.
// RUN: attn-opt %s --attn-lower-to-nvvm -split-input-file | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>

// CHECK: launch.check lt(max(mul(sq, 4), b), 2147418112) equals 1 "rows"
// CHECK-NEXT: launch.check ge(2147418112, add(n, m)) equals 1 "numbers"
// CHECK-NEXT: launch.check lt(min(n, m), 0) equals 0 "numbers"
// CHECK-NEXT: launch.check lt(mul({{.*}}work items"
// CHECK-NEXT: launch.variant
ws.kernel @bounded machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = [
    {expr = #launch.apply<lt(max(mul(sq, 4), b), 2147418112)>, equals = 1, message = "rows"},
    {expr = #launch.apply<ge(2147418112, add(n, m))>, equals = 1, message = "numbers"},
    {expr = #launch.apply<lt(min(n, m), 0)>, equals = 0, message = "numbers"}]} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %m: i32):
  %index0 = arith.constant 0 : index
  %index1 = arith.constant 1 : index
  %index2 = arith.constant 2 : index
  %dim0 = tensor.dim %q, %index0 : tensor<?x?x?x64xbf16>
  %dim1 = tensor.dim %q, %index1 : tensor<?x?x?x64xbf16>
  %dim2 = tensor.dim %q, %index2 : tensor<?x?x?x64xbf16>
  %b = arith.index_cast %dim0 : index to i32
  %sq = arith.index_cast %dim1 : index to i32
  %hq = arith.index_cast %dim2 : index to i32
  %c4 = arith.constant 4 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %rows = arith.muli %sq, %c4 : i32
  %padded = arith.addi %rows, %c63 : i32
  %blocks = arith.divsi %padded, %c64 : i32
  %planes = arith.muli %hq, %b : i32
  %sum = arith.addi %n, %m : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%blocks, %planes, %sum) {
      %w = tile.next_work extents(%blocks, %planes, %sum)
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>

// A difference of sizes fits in 32 bits. But it may be 0 or negative, so the
// check of a product with it does not bound the other factor. A check that
// contains a comparison is not always a bound.
// CHECK: launch.check lt(n, 100) equals 2 "never"
// CHECK-NEXT: launch.check lt(mul({{.*}}work items"
// CHECK-NEXT: launch.check lt(mul(mul(sq, b), sub(sq, b)), 0) equals 0 "expected mul(mul(sq, b), sub(sq, b)) to be at least 0, got sq = {sq}, b = {b}"
// CHECK-NEXT: launch.check lt(n, 0) equals 0 "expected n to be at least 0, got n = {n}"
// CHECK-NEXT: launch.check lt(mul(sq, b), 2147483648) equals 1 "expected mul(sq, b) to be below 2147483648, got sq = {sq}, b = {b}"
// CHECK-NEXT: launch.variant
ws.kernel @open machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n"] problem #p config #c schedule #s smem 0 attributes {attn.checks = [{expr = #launch.apply<lt(n, 100)>, equals = 2, message = "never"}]} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  %index0 = arith.constant 0 : index
  %index1 = arith.constant 1 : index
  %dim0 = tensor.dim %q, %index0 : tensor<?x?x?x64xbf16>
  %dim1 = tensor.dim %q, %index1 : tensor<?x?x?x64xbf16>
  %b = arith.index_cast %dim0 : index to i32
  %sq = arith.index_cast %dim1 : index to i32
  %area = arith.muli %sq, %b : i32
  %more = arith.subi %sq, %b : i32
  %product = arith.muli %area, %more : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%product, %n, %n) {
      %w = tile.next_work extents(%product, %n, %n)
    }
  }
}
