// attn-pipeline: a masked range of at most one block becomes the prologue
// (`first_branch` puts a branch around its mask), and all other blocks have one
// loop without masks. Without that limit the masked range has a loop of its own
// (`first_masked`), or all ranges share a loop with a branch around the mask
// (`first_branch`). If all ranges are masked, the branch is left out. A masked
// range on the left needs a branch too. With `shifted_branch` a loop without shifts
// has no prologue, so it branches around the mask even if only its first block has one.
// RUN: attn-opt %s --attn-pipeline | FileCheck %s
// RUN: sed 's/at_most 1/at_most 2/' %s | attn-opt --attn-pipeline | FileCheck %s --check-prefix=LOOP
// RUN: sed 's/ at_most 1//' %s | attn-opt --attn-pipeline | FileCheck %s --check-prefix=LOOP
// RUN: sed 's/@mask issue 1 shift 0/@mask issue 1 shift 1/' %s | attn-opt --attn-pipeline | FileCheck %s --check-prefix=LOOP
// RUN: sed 's/first_masked/first_branch/' %s | attn-opt --attn-pipeline | FileCheck %s --check-prefix=FIRST
// RUN: sed 's/first_masked/first_branch/; s/ at_most 1//' %s | attn-opt --attn-pipeline | FileCheck %s --check-prefix=BRANCH
// RUN: sed 's/first_masked/first_branch/; s/full/masked/; s/ at_most 1//' %s | attn-opt --attn-pipeline | FileCheck %s --check-prefix=ALWAYS
// RUN: sed 's/first_masked/shifted_branch/' %s | attn-opt --attn-pipeline | FileCheck %s --check-prefix=FIRST
// RUN: sed 's/first_masked/shifted_branch/; s/issue 2 shift 1/issue 2 shift 0/; /^ .*drain {/,/ws.yield/d' %s | attn-opt --attn-pipeline | FileCheck %s --check-prefix=ONLY
// RUN: sed 's/first_masked/first_branch/; s/full/full, masked/; s/%ends#2)/%ends#2, %zero)/' %s > %t.left.mlir
// RUN: attn-opt %t.left.mlir --attn-pipeline | FileCheck %s --check-prefix=LEFT
// RUN: sed 's/ at_most 1//' %t.left.mlir | attn-opt --attn-pipeline | FileCheck %s --check-prefix=SIDES
// RUN: sed 's/^ .*math.absf .*/&\n ws.release %%slot : <@q, tensor<64x64xbf16>>/' %s | not attn-opt --attn-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=SLOT
// SLOT: 'ws.entry' op attn-pipeline: expected masked entries to read no slot, got '!ws.slot<@q, tensor<64x64xbf16>>'

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 knob peel first_masked }>
!q = !ws.slot<@q, tensor<64x64xbf16>>
!acc = tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>>

// CHECK-LABEL: ws.role @wg
// CHECK: math.absf
// CHECK: scf.for
// CHECK-NOT: math.absf
// CHECK: } else {
// FIRST-LABEL: ws.role @wg
// FIRST: %[[ENDS:.*]]:3 = tile.bounds
// FIRST: %[[RAGGED:.*]] = arith.cmpi sgt, %[[ENDS]]#0, %[[ENDS]]#1
// FIRST: %[[SCORES:.*]] = ws.await
// FIRST: scf.if %[[RAGGED]]
// FIRST-NEXT: math.absf %[[SCORES]]
// FIRST: else
// FIRST-NEXT: scf.yield %[[SCORES]]
// FIRST: scf.for
// FIRST-NOT: math.absf
// FIRST: } else {
// BRANCH-LABEL: ws.role @wg
// BRANCH: %[[ENDS:.*]]:3 = tile.bounds
// BRANCH: math.absf
// BRANCH: %[[BLOCKS:.*]] = arith.subi %[[ENDS]]#0, %[[ENDS]]#1
// BRANCH: %[[END:.*]] = arith.addi %[[BLOCKS]]
// BRANCH: scf.for %[[TIME:.*]] = %{{.*}} to
// BRANCH-NEXT: %[[MASKED:.*]] = arith.cmpi slt, %[[TIME]], %[[END]]
// BRANCH: %[[SCORES:.*]] = ws.await
// BRANCH: scf.if %[[MASKED]]
// BRANCH: math.absf %[[SCORES]]
// BRANCH: else
// BRANCH-NEXT: scf.yield %[[SCORES]]
// BRANCH-NOT: scf.for
// ONLY-LABEL: ws.role @wg
// ONLY: %[[ENDS:.*]]:3 = tile.bounds
// ONLY: scf.if
// ONLY-NEXT: %[[ZERO:.*]] = arith.constant 0 : i32
// ONLY-NOT: ws.mma
// ONLY: %[[BLOCKS:.*]] = arith.subi %[[ENDS]]#0, %[[ENDS]]#1
// ONLY: %[[END:.*]] = arith.addi %[[BLOCKS]]
// ONLY: scf.for %[[TIME:.*]] = %[[ZERO]] to
// ONLY-NEXT: %[[MASKED:.*]] = arith.cmpi slt, %[[TIME]], %[[END]]
// ONLY: %[[SCORES:.*]] = ws.await
// ONLY: scf.if %[[MASKED]]
// ONLY: math.absf %[[SCORES]]
// ONLY: arith.addf
// ONLY-NOT: ws.mma
// ONLY: } else {
// ALWAYS-LABEL: ws.role @wg
// ALWAYS: scf.for
// ALWAYS-NOT: scf.if
// ALWAYS: math.absf
// ALWAYS: scf.yield
// ALWAYS-NOT: scf.for
// LEFT-LABEL: ws.role @wg
// LEFT: %[[ENDS:.*]]:3 = tile.bounds
// The first block may be one of those on the left.
// LEFT: ws.await
// LEFT-NOT: scf.if
// LEFT: math.absf
// LEFT: %[[BLOCKS:.*]] = arith.subi %[[ENDS]]#0, %[[ENDS]]#2
// LEFT: %[[BEGIN:.*]] = arith.addi %[[BLOCKS]]
// LEFT: scf.for %[[TIME:.*]] = %{{.*}} to
// LEFT-NEXT: %[[MASKED:.*]] = arith.cmpi sge, %[[TIME]], %[[BEGIN]]
// LEFT-NOT: arith.cmpi
// LEFT: scf.if %[[MASKED]]
// LEFT-NOT: scf.for
// SIDES-LABEL: ws.role @wg
// SIDES: %[[ENDS:.*]]:3 = tile.bounds
// SIDES: %[[BLOCKS:.*]] = arith.subi %[[ENDS]]#0, %[[ENDS]]#1
// SIDES: %[[END:.*]] = arith.addi %[[BLOCKS]]
// SIDES: %[[BLOCKS:.*]] = arith.subi %[[ENDS]]#0, %[[ENDS]]#2
// SIDES: %[[BEGIN:.*]] = arith.addi %[[BLOCKS]]
// SIDES: scf.for %[[TIME:.*]] = %{{.*}} to
// SIDES-NEXT: %[[BEFORE:.*]] = arith.cmpi slt, %[[TIME]], %[[END]]
// SIDES-NEXT: %[[AFTER:.*]] = arith.cmpi sge, %[[TIME]], %[[BEGIN]]
// SIDES-NEXT: %[[MASKED:.*]] = arith.ori %[[BEFORE]], %[[AFTER]]
// SIDES: scf.if %[[MASKED]]
// SIDES-NOT: scf.for
// LOOP-LABEL: ws.role @wg
// LOOP: scf.for
// LOOP: math.absf
// LOOP: scf.for
// LOOP: } else {
ws.kernel @one machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%keys: i32):
  ws.channel @q [tensor<64x64xbf16>] depth 1
  %tile = arith.constant 64 : i32
  %zero = arith.constant 0 : i32
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%keys, %keys, %keys) {
      %work = tile.next_work extents(%keys, %keys, %keys)
      %ends:3 = tile.bounds %work : i32, i32, i32 {
      ^bb0(%item: !tile.work):
        %hi = arith.ceildivsi %keys, %tile : i32
        %mid = arith.divsi %keys, %tile : i32
        tile.yield %hi, %mid, %zero : i32, i32, i32
      }
      %init = arith.constant dense<0.0> : !acc
      %slot = ws.wait : <@q, tensor<64x64xbf16>>
      %r = ws.for ranges <down [masked at_most 1, full]> bounds(%ends#0, %ends#1, %ends#2) init(%init) : (!acc) -> !acc {
      ^bb0(%j: i32, %sum: !acc):
        %qk = ws.entry @qk issue 0 shift 0 -> !acc {
          %m, %t = ws.mma %slot, %slot transpose_b : !q, <@q, tensor<64x64xbf16>> -> !acc
          ws.yield %m : !acc
        }
        %masked = ws.entry @mask issue 1 shift 0 masked(%qk : !acc) after [@qk] -> !acc {
          %a = math.absf %qk : !acc
          ws.yield %a : !acc
        }
        %next = ws.entry @add issue 2 shift 1 -> !acc {
          %a = arith.addf %sum, %masked : !acc
          ws.yield %a : !acc
        }
        ws.yield %next : !acc
      } drain {
        ws.release %slot : <@q, tensor<64x64xbf16>>
        ws.yield
      } empty {
        ws.release %slot : <@q, tensor<64x64xbf16>>
        ws.yield
      }
    }
  }
}
