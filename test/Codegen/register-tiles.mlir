// Tiles and row vectors between memory and the threads that hold them. Of a tile of
// 64 x 16 a thread has two rows, eight apart, and of each two pairs of columns.
// RUN: attn-opt %s --attn-distribute --attn-lower-to-nvvm | FileCheck %s
// RUN: attn-opt %s --attn-distribute --attn-lower-to-nvvm --attn-stage-llvm --attn-emit-ptx | sed 's/\\0A/\n/g; s/\\09/\t/g' | FileCheck %s --check-prefix=PTX
// RUN: attn-opt %s --attn-distribute --attn-lower-to-nvvm | FileCheck %s --check-prefix=PLAN
// RUN: sed 's/x16xf32>/x12xf32>/g' %s | not attn-opt --attn-distribute --attn-lower-to-nvvm 2>&1 | FileCheck %s --check-prefix=COLUMNS

#p = #attn.problem<kind = combine, dtype = bf16, head_dim = 16, head_dim_v = 16, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 64, tile_n = 16, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
#acc = #tile.layout<atom = wgmma_acc, repeats = 2>
#columns = #tile.layout<atom = wgmma_acc, repeats = 2, slice = 2>
#rows = #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>

// CHECK-LABEL: llvm.func @tiles
ws.kernel @tiles machine "sm_90a" args ["x", "lsep", "q", "y" write, "dq" accumulate, "new" write] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%x: tensor<?x?x?x?x16xf32>, %lsep: tensor<?x?x?x?xf32>, %q: tensor<?x?x?x16xbf16>, %y: tensor<?x?x?x16xbf16>, %dq: tensor<?x?x?x16xf32>, %new: tensor<?x?x?x16xf32>):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %one = arith.constant 1 : i32
    ws.work_loop extents(%one, %one, %one) {
      %w = tile.next_work extents(%one, %one, %one)
      %block, %head, %batch = tile.work_coords %w
      // CHECK-COUNT-4: llvm.load {{.*}} -> vector<2xf32>
      // PTX-COUNT-4: ld.global.v2
      %t = tile.load %x at(%batch, %head, %block) part(%one) #bshd : tensor<?x?x?x?x16xf32> -> tensor<64x16xf32, #acc>
      // CHECK-COUNT-2: llvm.load {{.*}} -> f32
      %r = tile.load_row %lsep at(%batch, %head, %block) part(%one) : tensor<?x?x?x?xf32> -> tensor<64xf32, #rows>
      // Four columns of a thread; each is added to both of its rows.
      // CHECK-COUNT-4: llvm.load {{.*}} -> f32
      // All loads of single elements, and of pairs of 16 bits: 2, 4 and 4.
      // PTX-COUNT-10: ld.global.b32
      // PTX-NOT: ld.global
      %c = tile.load_row %lsep at(%batch, %head, %block) part(%one) : tensor<?x?x?x?xf32> -> tensor<16xf32, #columns>
      // CHECK: vector.shuffle {{.*}} [0, 1, 0, 1, 2, 3, 2, 3]
      %down = tile.broadcast %c dim 0 : tensor<16xf32, #columns> -> tensor<64x16xf32, #acc>
      // CHECK-COUNT-4: llvm.load {{.*}} -> i32
      %u = tile.load %q at(%batch, %head, %block) #bshd : tensor<?x?x?x16xbf16> -> tensor<64x16xbf16, #acc>
      %spread = tile.broadcast %r dim 1 : tensor<64xf32, #rows> -> tensor<64x16xf32, #acc>
      %product = arith.mulf %t, %spread : tensor<64x16xf32, #acc>
      %scaled = arith.addf %product, %down : tensor<64x16xf32, #acc>
      // Rows that the tensor lacks are not written.
      // CHECK-COUNT-2: llvm.store {{.*}} : i32
      // CHECK: }
      // CHECK-COUNT-2: llvm.store {{.*}} : i32
      tile.store_reg %u, %y at(%batch, %head, %block) #bshd : tensor<64x16xbf16, #acc>, tensor<?x?x?x16xbf16>
      // CHECK-COUNT-4: nvx.reduce_add {{.*}} : vector<2xf32>
      // PTX-COUNT-4: red.relaxed.gpu.global.add.v2.f32
      tile.reduce_add %scaled, %dq at(%batch, %head, %block) #bshd : tensor<64x16xf32, #acc>, tensor<?x?x?x16xf32>
      // The first share of each row is stored.
      // CHECK: arith.cmpi eq
      // CHECK-COUNT-2: llvm.store {{.*}} : vector<2xf32>
      // CHECK-COUNT-2: nvx.reduce_add {{.*}} : vector<2xf32>
      // CHECK-COUNT-2: llvm.store {{.*}} : vector<2xf32>
      // CHECK-COUNT-2: nvx.reduce_add {{.*}} : vector<2xf32>
      %first = arith.cmpi eq, %block, %one : i32
      tile.reduce_add %scaled, %new at(%batch, %head, %block) first(%first) #bshd : tensor<64x16xf32, #acc>, tensor<?x?x?x16xf32>
    }
  }
}

// If elements move in pairs, rows are aligned to 16 bytes.
// PLAN: launch.plan @tiles target "sm_90a" args ["x", "lsep", "q", "y" write, "dq" accumulate, "new" write]
// PLAN: #launch.pointer<"x" aligned_rows>,
// PLAN-NEXT: #launch.pointer<"lsep">,
// PLAN-NEXT: #launch.pointer<"q" aligned_rows>,
// PLAN-NEXT: #launch.pointer<"y" aligned_rows>,
// PLAN-NEXT: #launch.pointer<"dq">,
// COLUMNS: error: 'tile.load' op attn-lower-to-nvvm: expected a multiple of 8 columns, got 12
