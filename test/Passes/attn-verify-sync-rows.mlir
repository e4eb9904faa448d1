// attn-verify-sync: each item writes its rows, which end where those of the
// next row block begin, exactly once, whatever tile_m is. It adds to all rows
// of each block of its loop.
// RUN: attn-opt %s --attn-verify-sync -o /dev/null
//
// RUN: sed '/^ .*second half/d' %s | not attn-opt --attn-verify-sync 2>&1 | FileCheck %s --check-prefix=HALF
// HALF: 'ws.kernel' op attn-verify-sync: V28: expected work item 0 to write 128 rows of "dk", got 64
//
// RUN: sed '/^ .*rows of Q/d' %s | not attn-opt --attn-verify-sync 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: 'ws.kernel' op attn-verify-sync: V28: expected work item 0 to add to rows of "dq", got none
//
// All blocks but the first are left out.
// RUN: sed '/^ .*rows of Q/{s/tile.reduce_add/%%some = arith.cmpi eq, %%j, %%zero : i32\n scf.if %%some { &/; s/$/\n}/}' %s | not attn-opt --attn-verify-sync 2>&1 | FileCheck %s --check-prefix=FIRST
// FIRST: 'ws.kernel' op attn-verify-sync: V28: expected work item 0 to add to 192 rows of "dq", got 64
//
// The item adds to its own rows, but only to half of them.
// RUN: sed '/^ .*rows of Q/s/%%q/%%row/' %s | not attn-opt --attn-verify-sync 2>&1 | FileCheck %s --check-prefix=OWN
// OWN: 'ws.kernel' op attn-verify-sync: V28: expected work item 0 to add to 128 rows of "dq", got 64
//
// RUN: sed '/^ .*second half/s/%%below/%%row/' %s | not attn-opt --attn-verify-sync 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'ws.kernel' op attn-verify-sync: V28: expected work item 0 to write each row of "dk" once, got rows 12800 up to 12864 2 times
//
// The store depends on the head: it may not happen.
// RUN: sed '/^ .*second half/{s/tile.store_reg/%%some = arith.cmpi eq, %%head, %%zero : i32\n scf.if %%some { &/; s/$/\n}/}' %s | not attn-opt --attn-verify-sync 2>&1 | FileCheck %s --check-prefix=HALF
//
// One of the two additions of an iteration is left out in every other
// iteration.
// RUN: sed '/^ .*rows of Q/{h; s/tile.reduce_add/%%rest = arith.andi %%j, %%one : i32\n %%some = arith.cmpi eq, %%rest, %%zero : i32\n scf.if %%some { &/; s/$/\n}/; H; x}' %s | not attn-opt --attn-verify-sync 2>&1 | FileCheck %s --check-prefix=UNEVEN
// UNEVEN: 'ws.kernel' op attn-verify-sync: V28: expected work item 0 to add to each row of "dq" equally often, got rows 64 up to 128 1 times
//
// Row blocks that all end at the same row.
// RUN: sed 's/extents(%%one/extents(%%c64/; s/%%row = arith.muli %%block, %%c128/%%start = arith.muli %%block, %%c128 : i32\n %%row = arith.minsi %%start, %%c128/' %s | not attn-opt --attn-verify-sync 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: 'ws.kernel' op attn-verify-sync: V28: expected work item 0 to write rows of "dk" that no other row block has, got rows that do not depend on the row block
//
// Rows of the next row block, if there is one.
// RUN: sed 's/%%row = arith.muli %%block, %%c128/%%row = arith.muli %%block, %%c64/' %s > %t.next.mlir
// RUN: attn-opt %t.next.mlir --attn-verify-sync -o /dev/null
// RUN: sed 's/extents(%%one/extents(%%c64/' %t.next.mlir | not attn-opt --attn-verify-sync 2>&1 | FileCheck %s --check-prefix=NEXT
// NEXT: 'ws.kernel' op attn-verify-sync: V28: expected work item 0 to write 64 rows of "dk", got 128
//
// Two heads share the row blocks: each of them has its own rows.
// RUN: sed '/work_coords/s/%%block, %%head/%%blocks, %%heads/; s/^ *%%row = arith.muli/%%two = arith.constant 2 : i32\n %%block = arith.divsi %%blocks, %%two : i32\n %%head = arith.remsi %%blocks, %%two : i32\n&/' %s | attn-opt --attn-verify-sync -o /dev/null
//
// A block's rows may be added to in two iterations of a loop.
// RUN: sed '/^ .*rows of Q/{s/tile.reduce_add.*/scf.for %%half = %%zero to %%c64 step %%c32 : i32 {\n %%at2 = arith.addi %%q, %%half : i32\n %%z = arith.constant dense<0.0> : tensor<32x16xf32>\n tile.reduce_add %%z, %%dq at(%%batch, %%head, %%at2) #bshd : tensor<32x16xf32>, tensor<?x?x?x16xf32>\n}/}; s/^ *%%c64 = .*/&\n%%c32 = arith.constant 32 : i32/' %s | attn-opt --attn-verify-sync -o /dev/null

#p = #attn.problem<kind = bwd, dtype = bf16, head_dim = 16, head_dim_v = 16, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 64, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>

ws.kernel @rows machine "sm_90a" args ["x", "dk" write, "dq" accumulate] problem #p config #c schedule #s smem 0 {
^bb0(%x: tensor<?x?x?x?x16xf32>, %dk: tensor<?x?x?x16xf32>, %dq: tensor<?x?x?x16xf32>):
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %none = arith.constant dense<0.0> : tensor<64x16xf32>
    ws.work_loop extents(%one, %one, %one) {
      %w = tile.next_work extents(%one, %one, %one)
      %block, %head, %batch = tile.work_coords %w
      %b:2 = tile.bounds %w up : i32, i32 {
      ^bb0(%item: !tile.work):
        tile.yield %zero, %one : i32, i32
      }
      %row = arith.muli %block, %c128 : i32
      %below = arith.addi %row, %c64 : i32
      %sums:2 = scf.for %j = %zero to %b#1 step %one iter_args(%a = %none, %c = %none) -> (tensor<64x16xf32>, tensor<64x16xf32>) : i32 {
        %t = tile.load %x at(%batch, %head, %row) part(%j) #bshd : tensor<?x?x?x?x16xf32> -> tensor<64x16xf32>
        %u = tile.load %x at(%batch, %head, %below) part(%j) #bshd : tensor<?x?x?x?x16xf32> -> tensor<64x16xf32>
        %q = arith.muli %j, %c64 : i32
        tile.reduce_add %t, %dq at(%batch, %head, %q) #bshd : tensor<64x16xf32>, tensor<?x?x?x16xf32> // rows of Q
        %at = arith.addf %a, %t : tensor<64x16xf32>
        %cu = arith.addf %c, %u : tensor<64x16xf32>
        scf.yield %at, %cu : tensor<64x16xf32>, tensor<64x16xf32>
      }
      tile.store_reg %sums#0, %dk at(%batch, %head, %row) #bshd : tensor<64x16xf32>, tensor<?x?x?x16xf32>
      tile.store_reg %sums#1, %dk at(%batch, %head, %below) #bshd : tensor<64x16xf32>, tensor<?x?x?x16xf32> // second half
    }
  }
}
