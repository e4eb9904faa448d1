// A vector with an element a column, from a batch, head and part in the middle
// of a tensor whose elements are their own numbers. The kernel subtracts one
// less than the expected numbers, so that ones remain. Columns beyond the
// tensor are 0.
// RUN: attn-compile %s --emit=ptx -o %t.ptx
// RUN: attn-run %t.ptx --device=sim --launch=%S/Inputs/load_columns.json --seeds=4 | FileCheck %s
// RUN: sed 's/"u32": 20}/"u32": 16}/' %S/Inputs/load_columns.json > %t.json
// RUN: not attn-run %t.ptx --device=sim --launch=%t.json 2>&1 | FileCheck %s --check-prefix=SHORT

// CHECK: output 'y': passed: 1024 elements
// SHORT: output 'y': expected element 12 to be 1 within 0, got -155 (256 of 1024 elements are wrong)

#p = #attn.problem<kind = combine, dtype = bf16, head_dim = 16, head_dim_v = 16, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 64, tile_n = 16, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
#acc = #tile.layout<atom = wgmma_acc, repeats = 2>
#columns = #tile.layout<atom = wgmma_acc, repeats = 2, slice = 2>
ws.kernel @columns machine "sm_90a" args ["x", "y" write] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%x: tensor<?x?x?x?xf32>, %y: tensor<?x?x?x16xf32>):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %one = arith.constant 1 : i32
    %four = arith.constant 4 : i32
    // The element of column 0 has number 80 + 40 + 20 + 4, and the column is 4.
    %before = arith.constant dense<139.0> : tensor<64x16xf32, #acc>
    ws.work_loop extents(%one, %one, %one) {
      %w = tile.next_work extents(%one, %one, %one)
      %block, %head, %batch = tile.work_coords %w
      %vector = tile.load_row %x at(%one, %one, %four) part(%one) : tensor<?x?x?x?xf32> -> tensor<16xf32, #columns>
      %tile = tile.broadcast %vector dim 0 : tensor<16xf32, #columns> -> tensor<64x16xf32, #acc>
      %j = tile.coords %four dim 1 : tensor<64x16xi32, #acc>
      %number = arith.sitofp %j : tensor<64x16xi32, #acc> to tensor<64x16xf32, #acc>
      %rest = arith.subf %tile, %number : tensor<64x16xf32, #acc>
      %left = arith.subf %rest, %before : tensor<64x16xf32, #acc>
      tile.store_reg %left, %y at(%batch, %head, %block) #bshd : tensor<64x16xf32, #acc>, tensor<?x?x?x16xf32>
    }
  }
}
