// attn-lower-to-nvvm where items are handed out and may be rejected: the role that hands out takes the verdict of the
// iteration before the last, and of the last one if no other item is left; a rejected item comes before the counter's answer,
// which is then kept; the others learn from the item whether this is its second run and where its verdict goes.
// RUN: attn-opt %s --attn-lower-to-nvvm | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = dynamic, row_max = first_block>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @verdicts machine "sm_90a" args ["q", "lse" write] problem #p config #c schedule #s smem 32792 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>):
  ws.channel @work [tensor<4xi32>] depth 1 at 0
  ws.verdict @verdict at 32
  ws.role @load warps 1 regs 40 replicas 1 {
  ^bb0(%me: i32):
    %n = arith.constant 7 : i32
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    ws.work_loop extents(%n, %one, %one) {
      %next = ws.take_item extents(%n, %one, %one)
      %w = ws.choose_item %next by @verdict
      %s = ws.slot_at %zero : <@work, tensor<4xi32>>
      ws.put_work %w to %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      ws.fetch_work after %w
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %n = arith.constant 7 : i32
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    ws.work_loop extents(%n, %one, %one) {
      %s = ws.slot_at %zero : <@work, tensor<4xi32>>
      %w = ws.get_work %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      %slot = ws.verdict_slot %w
      %careful = tile.with_care %w
      %at = ws.smem %slot : !llvm.ptr<3>
      scf.if %careful {
        nvx.mbarrier_wait %at, %slot : !llvm.ptr<3>
      }
      %row = arith.constant dense<0.0> : vector<2xf32>
      tile.store_row %row, %lse at(%zero, %zero, %zero) : vector<2xf32>, tensor<?x?x?xf32>
    }
  }
}

// CHECK-LABEL: llvm.func @verdicts
// CHECK: scf.while
// CHECK: %[[NEW:.*]] = arith.cmpi ult, %[[ITEM:.*]], %{{.*}} : i32
// The words of this role lie behind two barriers and two words: 32 + 24.
// CHECK: arith.constant 56 : i32
// CHECK: %[[TURN:.*]] = llvm.load
// CHECK: %[[KNOWN:.*]] = llvm.load
// CHECK: %[[BEFORE:.*]] = llvm.load
// CHECK: %[[LAST:.*]] = llvm.load
// CHECK: %[[NEXT:.*]] = arith.addi %[[KNOWN]],
// CHECK-NEXT: %[[DUE:.*]] = arith.cmpi ult, %[[NEXT]], %[[TURN]]
// CHECK-NEXT: %[[AGAIN:.*]] = scf.if %[[DUE]] -> (i1) {
// CHECK:   nvx.mbarrier_wait
// CHECK:   llvm.load
// CHECK:   llvm.store
// CHECK:   arith.cmpi ne
// CHECK: } else {
// CHECK: %[[SOME:.*]] = arith.ori %[[NEW]], %[[AGAIN]] : i1
// CHECK: %[[DRAINS:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// CHECK-NEXT: %[[AGAINLAST:.*]] = scf.if %[[DRAINS]] -> (i1) {
// CHECK:   nvx.mbarrier_wait
// CHECK: %[[OR:.*]] = arith.select %[[AGAINLAST]], %[[LAST]], %[[ITEM]] : i32
// CHECK-NEXT: %[[CHOSEN:.*]] = arith.select %[[AGAIN]], %[[BEFORE]], %[[OR]] : i32
// CHECK-NEXT: %[[TWICE:.*]] = arith.ori %[[AGAIN]], %[[AGAINLAST]] : i1
// CHECK-NEXT: %[[EXISTS:.*]] = arith.ori %[[TWICE]], %[[NEW]] : i1
// CHECK: llvm.store %[[LAST]],
// CHECK: llvm.store %[[CHOSEN]],
// CHECK: scf.if %[[EXISTS]] {
// CHECK:   %[[USED:.*]] = arith.xori %[[TWICE]],
// CHECK-NEXT:   scf.if %[[USED]] {
// CHECK:     llvm.atomicrmw uinc_wrap
// The other role.
// CHECK: %[[PLACE:.*]] = llvm.load %{{.*}} -> vector<4xi32>
// CHECK: %[[FLAGS:.*]] = vector.extract %[[PLACE]][3]
// CHECK-NEXT: %[[SECOND:.*]] = arith.trunci %[[FLAGS]] : i32 to i1
// CHECK: %[[SLOT:.*]] = arith.shrui %[[FLAGS]],
// CHECK: scf.if %[[SECOND]] {
// CHECK-NEXT: nvx.mbarrier_wait %{{.*}}, %[[SLOT]]
