// A thread moves 16 bytes at a time of a row if nothing tells the columns of a tile apart: it has eight columns of 16 bits that
// follow each other, or four of 32 bits, where other tiles have pairs.
// RUN: attn-opt %s --attn-distribute | FileCheck %s --check-prefix=MARK
// RUN: attn-opt %s --attn-distribute --attn-lower-to-nvvm --attn-stage-llvm --attn-emit-ptx | sed 's/\\0A/\n/g; s/\\09/\t/g' | FileCheck %s --check-prefix=PTX

#p = #attn.problem<kind = combine, dtype = bf16, head_dim = 40, head_dim_v = 40, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 64, tile_n = 16, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
#acc = #tile.layout<atom = wgmma_acc, repeats = 5>
#columns = #tile.layout<atom = wgmma_acc, repeats = 5, slice = 2>
#rows = #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>

// Sums along rows, and a tile that is everywhere the same. Of 40 columns, 32 are moved so.
// MARK-LABEL: ws.kernel @blind
// MARK-COUNT-2: tile.load {{.*}}any_columns
// MARK: tile.store_reg {{.*}}any_columns
// PTX-LABEL: .entry blind(
// PTX-COUNT-2: ld.global.v4.b32
// PTX-COUNT-2: ld.global.b32
// PTX-COUNT-2: ld.global.v4.b32
// PTX-COUNT-2: ld.global.b32
// PTX-COUNT-4: st.global.v4.b32
// PTX-COUNT-2: st.global.v2.b32
ws.kernel @blind machine "sm_90a" args ["o", "do", "dl" write, "z" write] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%o: tensor<?x?x?x40xbf16>, %do: tensor<?x?x?x40xbf16>, %dl: tensor<?x?x?xf32>, %z: tensor<?x?x?x40xf32>):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %one = arith.constant 1 : i32
    ws.work_loop extents(%one, %one, %one) {
      %w = tile.next_work extents(%one, %one, %one)
      %block, %head, %batch = tile.work_coords %w
      %x = tile.load %o at(%batch, %head, %block) #bshd : tensor<?x?x?x40xbf16> -> tensor<64x40xbf16, #acc>
      %y = tile.load %do at(%batch, %head, %block) #bshd : tensor<?x?x?x40xbf16> -> tensor<64x40xbf16, #acc>
      %wx = arith.extf %x : tensor<64x40xbf16, #acc> to tensor<64x40xf32, #acc>
      %wy = arith.extf %y : tensor<64x40xbf16, #acc> to tensor<64x40xf32, #acc>
      %product = arith.mulf %wx, %wy : tensor<64x40xf32, #acc>
      %sum = tile.reduce add %product dim 1 : tensor<64x40xf32, #acc> -> tensor<64xf32, #rows>
      tile.store_row %sum, %dl at(%batch, %head, %block) : tensor<64xf32, #rows>, tensor<?x?x?xf32>
      %zero = arith.constant dense<0.0> : tensor<64x40xf32, #acc>
      tile.store_reg %zero, %z at(%batch, %head, %block) #bshd : tensor<64x40xf32, #acc>, tensor<?x?x?x40xf32>
    }
  }
}

// A sum down the columns, a tile that is stored where another was loaded, and tiles that meet whose 16 bytes are
// different columns: of two types, or of rows of two lengths.
// MARK-LABEL: ws.kernel @told_apart
// MARK-NOT: any_columns
// PTX-LABEL: .entry told_apart(
// PTX-NOT: ld.global.v4
// PTX-NOT: st.global.v4
ws.kernel @told_apart machine "sm_90a" args ["o", "f", "short", "y" write, "s" write, "dl" write, "dl2" write] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%o: tensor<?x?x?x40xbf16>, %f: tensor<?x?x?x40xf32>, %short: tensor<?x?x?x32xbf16>, %y: tensor<?x?x?x40xbf16>, %s: tensor<?x?x?x40xf32>, %dl: tensor<?x?x?xf32>, %dl2: tensor<?x?x?xf32>):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %one = arith.constant 1 : i32
    ws.work_loop extents(%one, %one, %one) {
      %w = tile.next_work extents(%one, %one, %one)
      %block, %head, %batch = tile.work_coords %w
      %x = tile.load %f at(%batch, %head, %block) #bshd : tensor<?x?x?x40xf32> -> tensor<64x40xf32, #acc>
      %down = tile.reduce add %x dim 0 partial : tensor<64x40xf32, #acc> -> tensor<40xf32, #columns>
      %wide = tile.broadcast %down dim 0 : tensor<40xf32, #columns> -> tensor<64x40xf32, #acc>
      tile.store_reg %wide, %s at(%batch, %head, %block) #bshd : tensor<64x40xf32, #acc>, tensor<?x?x?x40xf32>

      %copied = tile.load %o at(%batch, %head, %block) #bshd : tensor<?x?x?x40xbf16> -> tensor<64x40xbf16, #acc>
      tile.store_reg %copied, %y at(%batch, %head, %block) #bshd : tensor<64x40xbf16, #acc>, tensor<?x?x?x40xbf16>

      %half = tile.load %o at(%batch, %head, %block) #bshd : tensor<?x?x?x40xbf16> -> tensor<64x40xbf16, #acc>
      %float = tile.load %f at(%batch, %head, %block) #bshd : tensor<?x?x?x40xf32> -> tensor<64x40xf32, #acc>
      %as_float = arith.extf %half : tensor<64x40xbf16, #acc> to tensor<64x40xf32, #acc>
      %product = arith.mulf %as_float, %float : tensor<64x40xf32, #acc>
      %sum = tile.reduce add %product dim 1 : tensor<64x40xf32, #acc> -> tensor<64xf32, #rows>
      tile.store_row %sum, %dl at(%batch, %head, %block) : tensor<64xf32, #rows>, tensor<?x?x?xf32>

      %long = tile.load %o at(%batch, %head, %block) #bshd : tensor<?x?x?x40xbf16> -> tensor<64x40xbf16, #acc>
      %padded = tile.load %short at(%batch, %head, %block) #bshd : tensor<?x?x?x32xbf16> -> tensor<64x40xbf16, #acc>
      %of_long = arith.extf %long : tensor<64x40xbf16, #acc> to tensor<64x40xf32, #acc>
      %of_padded = arith.extf %padded : tensor<64x40xbf16, #acc> to tensor<64x40xf32, #acc>
      %both = arith.mulf %of_long, %of_padded : tensor<64x40xf32, #acc>
      %sum2 = tile.reduce add %both dim 1 : tensor<64x40xf32, #acc> -> tensor<64xf32, #rows>
      tile.store_row %sum2, %dl2 at(%batch, %head, %block) : tensor<64xf32, #rows>, tensor<?x?x?xf32>
    }
  }
}
