// A launch plan computes the number of work items from the extents. If the checks of a kernel do not bound it, checks are added.
// RUN: attn-opt %s --attn-lower-to-nvvm | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>

// A static size stands for its name in expressions and messages.
// CHECK: launch.check mod(8, 2) equals 0 "got 8 heads and {sq} rows"
// Added checks: numbers that the kernel computes in 32 bits and the plan in 64
// fit in 32, and extents are not negative.
// CHECK-NEXT: launch.check lt([[ITEMS:mul\(ceildiv\(mul\(sq, 4\), 64\), mul\(div\(max\(n, 1\), 2\), add\(min\(mod\(b, 3\), 2\), sub\(n, 1\)\)\)\)]], 2147418112) equals 1 "expected fewer than 2147418112 work items"
// CHECK-NEXT: launch.check lt(add(min(mod(b, 3), 2), sub(n, 1)), 0) equals 0 "expected add(min(mod(b, 3), 2), sub(n, 1)) to be at least 0, got b = {b}, n = {n}"
// CHECK-NEXT: launch.check lt(mul(sq, 4), 2147483648) equals 1 "expected mul(sq, 4) to be below 2147483648, got sq = {sq}"
// CHECK-NEXT: launch.check lt(sub(n, 1), -2147483648) equals 0 "expected sub(n, 1) to be at least -2147483648, got n = {n}"
// CHECK-NEXT: launch.variant
// CHECK: launch.kernel @f grid [[ITEMS]] block
ws.kernel @f machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n"] problem #p config #c schedule #s smem 0 attributes {attn.checks = [
    {expr = #launch.apply<mod(hq, 2)>, equals = 0, message = "got {hq} heads and {sq} rows"}]} {
^bb0(%q: tensor<?x?x8x64xbf16>, %n: i32):
  %index0 = arith.constant 0 : index
  %index1 = arith.constant 1 : index
  %dim0 = tensor.dim %q, %index0 : tensor<?x?x8x64xbf16>
  %dim1 = tensor.dim %q, %index1 : tensor<?x?x8x64xbf16>
  %b = arith.index_cast %dim0 : index to i32
  %sq = arith.index_cast %dim1 : index to i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c64 = arith.constant 64 : i32
  %rows = arith.muli %sq, %c4 : i32
  %blocks = arith.ceildivsi %rows, %c64 : i32
  %some = arith.maxsi %n, %c1 : i32
  %half = arith.divui %some, %c2 : i32
  %rest = arith.remsi %b, %c3 : i32
  %few = arith.minui %rest, %c2 : i32
  %less = arith.subi %n, %c1 : i32
  %more = arith.addi %few, %less : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%blocks, %half, %more) {
      %w = tile.next_work extents(%blocks, %half, %more)
    }
  }
}
