// attn-lower-to-nvvm where items may have a second run: a loop of one or two iterations, which knows its iteration.
// RUN: attn-opt %s --attn-lower-to-nvvm | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid, row_max = first_block>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @second_run machine "sm_90a" args ["q"] problem #p config #c schedule #s smem 32792 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>):
  ws.verdict @verdict at 32768
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %one = arith.constant 1 : i32
    ws.work_loop extents(%one, %one, %one) {
      %w = tile.next_work extents(%one, %one, %one)
      %r = tile.with_care %w
      %yes = arith.constant true
      %rejected = arith.xori %r, %yes : i1
      ws.second_run of %w by @verdict rejected %rejected
    }
  }
}

// CHECK-LABEL: llvm.func @second_run
// CHECK:         %[[ITEM:.*]] = nvvm.read.ptx.sreg.ctaid.x : i32
// CHECK-NEXT:    %[[FIRST:.*]] = arith.constant false
// CHECK-NEXT:    scf.while (%[[CAREFUL:.*]] = %[[FIRST]]) : (i1) -> () {
// CHECK-NEXT:      arith.remui %[[ITEM]]
// CHECK:           %[[TRUE:.*]] = arith.constant true
// CHECK-NEXT:      %[[AGAIN:.*]] = arith.xori %[[CAREFUL]], %[[TRUE]] : i1
// CHECK-NEXT:      scf.condition(%[[AGAIN]])
// CHECK-NEXT:    } do {
// CHECK-NEXT:      %[[SECOND:.*]] = arith.constant true
// CHECK-NEXT:      scf.yield %[[SECOND]] : i1
// CHECK-NEXT:    }
