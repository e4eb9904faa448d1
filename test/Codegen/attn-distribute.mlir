// attn-distribute: of a 64 x 16 tile a thread holds eight elements in two rows, or four packed pairs.
// RUN: attn-opt %s --attn-distribute | FileCheck %s

!acc = tensor<64x16xf32, #tile.layout<atom = wgmma_acc, repeats = 2>>
!int = tensor<64x16xi32, #tile.layout<atom = wgmma_acc, repeats = 2>>
!half = tensor<64x16xbf16, #tile.layout<atom = wgmma_acc, repeats = 2>>
!a = tensor<64x16xbf16, #tile.layout<atom = wgmma_a, repeats = 1>>
!row = tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
!bit = tensor<64xi1, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @tiles machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
  ws.channel @k [tensor<16x64xbf16>] depth 1
  ws.hold @h tensor<64x16xbf16> pieces 1
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %c = arith.constant dense<1.0> : !acc
    %x = tensor.splat %n : !acc
    %y = arith.addf %c, %x : !acc
    %z = math.exp2 %y : !acc
    %j = tile.coords %me dim 1 : !int
    %i = tile.coords %me dim 0 : !int
    %ij = arith.addi %i, %j : !int
    %m = tile.reduce max %z dim 1 : !acc -> !row
    %l = tile.reduce add %z dim 1 partial : !acc -> !row
    %f = tile.complete %l : !row -> !row
    %w = tile.broadcast %f dim 1 : !row -> !acc
    %b = arith.cmpf olt, %m, %f : !row
    %any = tile.any %b : !bit
    %r = scf.if %any -> (!acc) {
      %u = arith.sitofp %ij : !int to !acc
      scf.yield %u : !acc
    } else {
      scf.yield %w : !acc
    }
    %h = arith.truncf %r : !acc to !half
    %a = tile.convert_layout %h : !half -> !a
    ws.put %h in @h[%me] : !half
    %k = ws.wait : <@k, tensor<16x64xbf16>>
    %s, %t = ws.mma %a, %k : !a, <@k, tensor<16x64xbf16>> -> tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>>
    %d = ws.await %s, %t : tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>>
    %unread = ub.poison : !acc
  }
}

// CHECK-LABEL: ws.kernel @tiles
// CHECK: ^bb0(%{{.*}}, %[[N:.*]]: f32):
// CHECK: ws.role @wg
// CHECK-NEXT: ^bb0(%[[ME:.*]]: i32):
// CHECK-NEXT: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[LANE:.*]] = arith.andi %[[TID]], %c31_i32
// CHECK: %[[WARPS:.*]] = arith.shrui %[[TID]], %c5_i32
// CHECK: %[[WARP:.*]] = arith.andi %[[WARPS]], %c3_i32

// CHECK: %[[C:.*]] = arith.constant dense<1.000000e+00> : vector<8xf32>
// CHECK-NEXT: %[[X:.*]] = vector.broadcast %[[N]] : f32 to vector<8xf32>
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[C]], %[[X]] : vector<8xf32>
// CHECK-NEXT: %[[Z:.*]] = math.exp2 %[[Y]] : vector<8xf32>

// Columns: two adjacent ones from 2 * (lane mod 4) on, and the two that are 8
// columns further.
// CHECK: %[[IN_FOUR:.*]] = arith.andi %[[LANE]], %c3_i32
// CHECK: %[[PAIR:.*]] = arith.muli %[[IN_FOUR]], %c2_i32
// CHECK-NEXT: %[[FIRST:.*]] = arith.addi %[[PAIR]], %[[ME]]
// CHECK-NEXT: %[[SPREAD:.*]] = vector.broadcast %[[FIRST]]
// CHECK-NEXT: %[[EACH:.*]] = arith.constant dense<[0, 1, 0, 1, 8, 9, 8, 9]>
// CHECK-NEXT: %[[J:.*]] = arith.addi %[[SPREAD]], %[[EACH]]

// Rows: 16 * warp + lane / 4, and 8 below.
// CHECK: %[[BY_WARP:.*]] = arith.muli %[[WARP]], %{{.*}}
// CHECK: %[[BY_LANE:.*]] = arith.shrui %[[LANE]], %c2_i32
// CHECK-NEXT: %[[ROW:.*]] = arith.addi %[[BY_WARP]], %[[BY_LANE]]
// CHECK-NEXT: %[[FIRST:.*]] = arith.addi %[[ROW]], %[[ME]]
// CHECK-NEXT: %[[SPREAD:.*]] = vector.broadcast %[[FIRST]]
// CHECK-NEXT: %[[EACH:.*]] = arith.constant dense<[0, 0, 8, 8, 0, 0, 8, 8]>
// CHECK-NEXT: %[[I:.*]] = arith.addi %[[SPREAD]], %[[EACH]]
// CHECK-NEXT: %[[IJ:.*]] = arith.addi %[[I]], %[[J]]

// The maximum of each of two rows: over the thread's registers, then over four lanes.
// CHECK: %[[LOW:.*]] = vector.extract_strided_slice %[[Z]] {offsets = [0], sizes = [4]
// CHECK-NEXT: %[[HIGH:.*]] = vector.extract_strided_slice %[[Z]] {offsets = [4], sizes = [4]
// CHECK-NEXT: %[[M:.*]] = arith.maxnumf %[[LOW]], %[[HIGH]]
// CHECK-NEXT: %[[A:.*]] = vector.extract %[[M]][0]
// CHECK-NEXT: %[[B:.*]] = vector.extract %[[M]][1]
// CHECK-NEXT: %[[TOP:.*]] = arith.maxnumf %[[A]], %[[B]]
// CHECK-NEXT: %[[A:.*]] = vector.extract %[[M]][2]
// CHECK-NEXT: %[[B:.*]] = vector.extract %[[M]][3]
// CHECK-NEXT: %[[BOTTOM:.*]] = arith.maxnumf %[[A]], %[[B]]
// CHECK-NEXT: %[[ROWS:.*]] = vector.from_elements %[[TOP]], %[[BOTTOM]]
// CHECK-NEXT: %[[A:.*]] = vector.extract %[[ROWS]][0]
// CHECK: %[[B:.*]] = nvvm.shfl.sync bfly %c-1_i32{{.*}}, %[[A]], %c1_i32{{.*}}, %c31_i32
// CHECK-NEXT: %[[A1:.*]] = arith.maxnumf %[[A]], %[[B]]
// CHECK: %[[B:.*]] = nvvm.shfl.sync bfly %c-1_i32{{.*}}, %[[A1]], %c2_i32{{.*}}, %c31_i32
// CHECK-NEXT: %[[TOP:.*]] = arith.maxnumf %[[A1]], %[[B]]
// CHECK-NEXT: %[[A:.*]] = vector.extract %[[ROWS]][1]
// CHECK: %[[BOTTOM:.*]] = arith.maxnumf
// CHECK-NEXT: %{{.*}} = arith.constant -1
// CHECK: %[[BOTTOM:.*]] = arith.maxnumf
// CHECK-NEXT: %[[MAX:.*]] = vector.from_elements %[[TOP]], %[[BOTTOM]]

// A partial sum covers the thread's registers. To complete it, four lanes add theirs.
// CHECK: %[[LOW:.*]] = vector.extract_strided_slice %[[Z]] {offsets = [0]
// CHECK: arith.addf %[[LOW]],
// CHECK: %[[PARTIAL:.*]] = vector.from_elements
// CHECK-NEXT: %[[A:.*]] = vector.extract %[[PARTIAL]][0]
// CHECK: nvvm.shfl.sync bfly %c-1_i32{{.*}}, %[[A]], %c1_i32
// CHECK-NEXT: %[[A1:.*]] = arith.addf %[[A]],
// CHECK: nvvm.shfl.sync bfly %c-1_i32{{.*}}, %[[A1]], %c2_i32
// CHECK-NEXT: arith.addf %[[A1]],
// CHECK: %[[SUM:.*]] = vector.from_elements

// CHECK-NEXT: %[[WIDE:.*]] = vector.shuffle %[[SUM]], %[[SUM]] [0, 0, 1, 1, 0, 0, 1, 1]
// CHECK-NEXT: %[[LESS:.*]] = arith.cmpf olt, %[[MAX]], %[[SUM]] : vector<2xf32>

// Whether the condition holds for any row of the warp.
// CHECK-NEXT: %[[A:.*]] = vector.extract %[[LESS]][0]
// CHECK-NEXT: %[[B:.*]] = vector.extract %[[LESS]][1]
// CHECK-NEXT: %[[MINE:.*]] = arith.ori %[[A]], %[[B]]
// CHECK: %[[ANY:.*]] = nvvm.vote.sync any %c-1_i32{{.*}}, %[[MINE]]
// CHECK-NEXT: %[[R:.*]] = scf.if %[[ANY]] -> (vector<8xf32>) {
// CHECK-NEXT: %[[U:.*]] = arith.sitofp %[[IJ]] : vector<8xi32> to vector<8xf32>
// CHECK-NEXT: scf.yield %[[U]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[WIDE]]

// An accumulator of 16-bit elements has the layout of an operand: no data moves
// between lanes.
// CHECK: %[[H:.*]] = nvx.pack bf16 %[[R]] : vector<8xf32> -> vector<4xi32>
// CHECK-NEXT: ws.put %[[H]] in @h[%[[ME]]] : vector<4xi32>
// CHECK-NEXT: %[[K:.*]] = ws.wait : <@k
// CHECK-NEXT: %[[S:.*]], %[[T:.*]] = ws.mma %[[H]], %[[K]] : vector<4xi32>, <@k, tensor<16x64xbf16>> -> vector<32xf32>
// CHECK-NEXT: ws.await %[[S]], %[[T]] : vector<32xf32>
// CHECK-NEXT: ub.poison : vector<8xf32>
// CHECK-NEXT: }

// Distributed programs are left alone.
// RUN: attn-opt %s --attn-distribute --attn-distribute | FileCheck %s
