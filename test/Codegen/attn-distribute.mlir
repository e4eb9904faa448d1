// attn-distribute: what a thread holds of 64 x 16 tiles: eight registers, two rows, four packed pairs.
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

// CHECK-LABEL: ws.kernel @tiles machine "sm_90a" args ["q", "o" write, "n"]
// CHECK: ^bb0(%[[ARG0:.*]]: tensor<?x?x?x64xbf16>, %[[ARG1:.*]]: tensor<?x?x?x64xbf16>, %[[ARG2:.*]]: f32):
// CHECK-NEXT:   ws.channel @k [tensor<16x64xbf16>] depth 1
// CHECK-NEXT:   ws.hold @h tensor<64x16xbf16> pieces 1
// CHECK-NEXT:   ws.role @wg warps 4 regs 240 replicas 1 {
// CHECK-NEXT:   ^bb0(%[[ARG3:.*]]: i32):
// CHECK-NEXT:     %[[V0:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-NEXT:     %[[C31_I32:.*]] = arith.constant 31 : i32
// CHECK-NEXT:     %[[V1:.*]] = arith.andi %[[V0]], %[[C31_I32]] : i32
// CHECK-NEXT:     %[[C5_I32:.*]] = arith.constant 5 : i32
// CHECK-NEXT:     %[[V2:.*]] = arith.shrui %[[V0]], %[[C5_I32]] : i32
// CHECK-NEXT:     %[[C3_I32:.*]] = arith.constant 3 : i32
// CHECK-NEXT:     %[[V3:.*]] = arith.andi %[[V2]], %[[C3_I32]] : i32
// CHECK-NEXT:     %[[CST:.*]] = arith.constant dense<1.000000e+00> : vector<8xf32>
// CHECK-NEXT:     %[[V4:.*]] = vector.broadcast %[[ARG2]] : f32 to vector<8xf32>
// CHECK-NEXT:     %[[V5:.*]] = arith.addf %[[CST]], %[[V4]] : vector<8xf32>
// CHECK-NEXT:     %[[V6:.*]] = math.exp2 %[[V5]] : vector<8xf32>
// CHECK-NEXT:     %[[C3_I32_0:.*]] = arith.constant 3 : i32
// CHECK-NEXT:     %[[V7:.*]] = arith.andi %[[V1]], %[[C3_I32_0]] : i32
// CHECK-NEXT:     %[[C2_I32:.*]] = arith.constant 2 : i32
// CHECK-NEXT:     %[[V8:.*]] = arith.muli %[[V7]], %[[C2_I32]] : i32
// CHECK-NEXT:     %[[V9:.*]] = arith.addi %[[V8]], %[[ARG3]] : i32
// CHECK-NEXT:     %[[V10:.*]] = vector.broadcast %[[V9]] : i32 to vector<8xi32>
// CHECK-NEXT:     %[[CST_1:.*]] = arith.constant dense<[0, 1, 0, 1, 8, 9, 8, 9]> : vector<8xi32>
// CHECK-NEXT:     %[[V11:.*]] = arith.addi %[[V10]], %[[CST_1]] : vector<8xi32>
// CHECK-NEXT:     %[[C16_I32:.*]] = arith.constant 16 : i32
// CHECK-NEXT:     %[[V12:.*]] = arith.muli %[[V3]], %[[C16_I32]] : i32
// CHECK-NEXT:     %[[C2_I32_2:.*]] = arith.constant 2 : i32
// CHECK-NEXT:     %[[V13:.*]] = arith.shrui %[[V1]], %[[C2_I32_2]] : i32
// CHECK-NEXT:     %[[V14:.*]] = arith.addi %[[V12]], %[[V13]] : i32
// CHECK-NEXT:     %[[V15:.*]] = arith.addi %[[V14]], %[[ARG3]] : i32
// CHECK-NEXT:     %[[V16:.*]] = vector.broadcast %[[V15]] : i32 to vector<8xi32>
// CHECK-NEXT:     %[[CST_3:.*]] = arith.constant dense<[0, 0, 8, 8, 0, 0, 8, 8]> : vector<8xi32>
// CHECK-NEXT:     %[[V17:.*]] = arith.addi %[[V16]], %[[CST_3]] : vector<8xi32>
// CHECK-NEXT:     %[[V18:.*]] = arith.addi %[[V17]], %[[V11]] : vector<8xi32>
// CHECK-NEXT:     %[[V19:.*]] = vector.extract_strided_slice %[[V6]] {offsets = [0], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
// CHECK-NEXT:     %[[V20:.*]] = vector.extract_strided_slice %[[V6]] {offsets = [4], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
// CHECK-NEXT:     %[[V21:.*]] = arith.maxnumf %[[V19]], %[[V20]] : vector<4xf32>
// CHECK-NEXT:     %[[V22:.*]] = vector.extract %[[V21]][0] : f32 from vector<4xf32>
// CHECK-NEXT:     %[[V23:.*]] = vector.extract %[[V21]][1] : f32 from vector<4xf32>
// CHECK-NEXT:     %[[V24:.*]] = arith.maxnumf %[[V22]], %[[V23]] : f32
// CHECK-NEXT:     %[[V25:.*]] = vector.extract %[[V21]][2] : f32 from vector<4xf32>
// CHECK-NEXT:     %[[V26:.*]] = vector.extract %[[V21]][3] : f32 from vector<4xf32>
// CHECK-NEXT:     %[[V27:.*]] = arith.maxnumf %[[V25]], %[[V26]] : f32
// CHECK-NEXT:     %[[V28:.*]] = vector.from_elements %[[V24]], %[[V27]] : vector<2xf32>
// CHECK-NEXT:     %[[V29:.*]] = vector.extract %[[V28]][0] : f32 from vector<2xf32>
// CHECK-NEXT:     %[[C_1_I32:.*]] = arith.constant -1 : i32
// CHECK-NEXT:     %[[C1_I32:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[C31_I32_4:.*]] = arith.constant 31 : i32
// CHECK-NEXT:     %[[V30:.*]] = nvvm.shfl.sync  bfly %[[C_1_I32]], %[[V29]], %[[C1_I32]], %[[C31_I32_4]] : f32 -> f32
// CHECK-NEXT:     %[[V31:.*]] = arith.maxnumf %[[V29]], %[[V30]] : f32
// CHECK-NEXT:     %[[C_1_I32_5:.*]] = arith.constant -1 : i32
// CHECK-NEXT:     %[[C2_I32_6:.*]] = arith.constant 2 : i32
// CHECK-NEXT:     %[[C31_I32_7:.*]] = arith.constant 31 : i32
// CHECK-NEXT:     %[[V32:.*]] = nvvm.shfl.sync  bfly %[[C_1_I32_5]], %[[V31]], %[[C2_I32_6]], %[[C31_I32_7]] : f32 -> f32
// CHECK-NEXT:     %[[V33:.*]] = arith.maxnumf %[[V31]], %[[V32]] : f32
// CHECK-NEXT:     %[[V34:.*]] = vector.extract %[[V28]][1] : f32 from vector<2xf32>
// CHECK-NEXT:     %[[C_1_I32_8:.*]] = arith.constant -1 : i32
// CHECK-NEXT:     %[[C1_I32_9:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[C31_I32_10:.*]] = arith.constant 31 : i32
// CHECK-NEXT:     %[[V35:.*]] = nvvm.shfl.sync  bfly %[[C_1_I32_8]], %[[V34]], %[[C1_I32_9]], %[[C31_I32_10]] : f32 -> f32
// CHECK-NEXT:     %[[V36:.*]] = arith.maxnumf %[[V34]], %[[V35]] : f32
// CHECK-NEXT:     %[[C_1_I32_11:.*]] = arith.constant -1 : i32
// CHECK-NEXT:     %[[C2_I32_12:.*]] = arith.constant 2 : i32
// CHECK-NEXT:     %[[C31_I32_13:.*]] = arith.constant 31 : i32
// CHECK-NEXT:     %[[V37:.*]] = nvvm.shfl.sync  bfly %[[C_1_I32_11]], %[[V36]], %[[C2_I32_12]], %[[C31_I32_13]] : f32 -> f32
// CHECK-NEXT:     %[[V38:.*]] = arith.maxnumf %[[V36]], %[[V37]] : f32
// CHECK-NEXT:     %[[V39:.*]] = vector.from_elements %[[V33]], %[[V38]] : vector<2xf32>
// CHECK-NEXT:     %[[V40:.*]] = vector.extract_strided_slice %[[V6]] {offsets = [0], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
// CHECK-NEXT:     %[[V41:.*]] = vector.extract_strided_slice %[[V6]] {offsets = [4], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
// CHECK-NEXT:     %[[V42:.*]] = arith.addf %[[V40]], %[[V41]] : vector<4xf32>
// CHECK-NEXT:     %[[V43:.*]] = vector.extract %[[V42]][0] : f32 from vector<4xf32>
// CHECK-NEXT:     %[[V44:.*]] = vector.extract %[[V42]][1] : f32 from vector<4xf32>
// CHECK-NEXT:     %[[V45:.*]] = arith.addf %[[V43]], %[[V44]] : f32
// CHECK-NEXT:     %[[V46:.*]] = vector.extract %[[V42]][2] : f32 from vector<4xf32>
// CHECK-NEXT:     %[[V47:.*]] = vector.extract %[[V42]][3] : f32 from vector<4xf32>
// CHECK-NEXT:     %[[V48:.*]] = arith.addf %[[V46]], %[[V47]] : f32
// CHECK-NEXT:     %[[V49:.*]] = vector.from_elements %[[V45]], %[[V48]] : vector<2xf32>
// CHECK-NEXT:     %[[V50:.*]] = vector.extract %[[V49]][0] : f32 from vector<2xf32>
// CHECK-NEXT:     %[[C_1_I32_14:.*]] = arith.constant -1 : i32
// CHECK-NEXT:     %[[C1_I32_15:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[C31_I32_16:.*]] = arith.constant 31 : i32
// CHECK-NEXT:     %[[V51:.*]] = nvvm.shfl.sync  bfly %[[C_1_I32_14]], %[[V50]], %[[C1_I32_15]], %[[C31_I32_16]] : f32 -> f32
// CHECK-NEXT:     %[[V52:.*]] = arith.addf %[[V50]], %[[V51]] : f32
// CHECK-NEXT:     %[[C_1_I32_17:.*]] = arith.constant -1 : i32
// CHECK-NEXT:     %[[C2_I32_18:.*]] = arith.constant 2 : i32
// CHECK-NEXT:     %[[C31_I32_19:.*]] = arith.constant 31 : i32
// CHECK-NEXT:     %[[V53:.*]] = nvvm.shfl.sync  bfly %[[C_1_I32_17]], %[[V52]], %[[C2_I32_18]], %[[C31_I32_19]] : f32 -> f32
// CHECK-NEXT:     %[[V54:.*]] = arith.addf %[[V52]], %[[V53]] : f32
// CHECK-NEXT:     %[[V55:.*]] = vector.extract %[[V49]][1] : f32 from vector<2xf32>
// CHECK-NEXT:     %[[C_1_I32_20:.*]] = arith.constant -1 : i32
// CHECK-NEXT:     %[[C1_I32_21:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[C31_I32_22:.*]] = arith.constant 31 : i32
// CHECK-NEXT:     %[[V56:.*]] = nvvm.shfl.sync  bfly %[[C_1_I32_20]], %[[V55]], %[[C1_I32_21]], %[[C31_I32_22]] : f32 -> f32
// CHECK-NEXT:     %[[V57:.*]] = arith.addf %[[V55]], %[[V56]] : f32
// CHECK-NEXT:     %[[C_1_I32_23:.*]] = arith.constant -1 : i32
// CHECK-NEXT:     %[[C2_I32_24:.*]] = arith.constant 2 : i32
// CHECK-NEXT:     %[[C31_I32_25:.*]] = arith.constant 31 : i32
// CHECK-NEXT:     %[[V58:.*]] = nvvm.shfl.sync  bfly %[[C_1_I32_23]], %[[V57]], %[[C2_I32_24]], %[[C31_I32_25]] : f32 -> f32
// CHECK-NEXT:     %[[V59:.*]] = arith.addf %[[V57]], %[[V58]] : f32
// CHECK-NEXT:     %[[V60:.*]] = vector.from_elements %[[V54]], %[[V59]] : vector<2xf32>
// CHECK-NEXT:     %[[V61:.*]] = vector.shuffle %[[V60]], %[[V60]] [0, 0, 1, 1, 0, 0, 1, 1] : vector<2xf32>, vector<2xf32>
// CHECK-NEXT:     %[[V62:.*]] = arith.cmpf olt, %[[V39]], %[[V60]] : vector<2xf32>
// CHECK-NEXT:     %[[V63:.*]] = vector.extract %[[V62]][0] : i1 from vector<2xi1>
// CHECK-NEXT:     %[[V64:.*]] = vector.extract %[[V62]][1] : i1 from vector<2xi1>
// CHECK-NEXT:     %[[V65:.*]] = arith.ori %[[V63]], %[[V64]] : i1
// CHECK-NEXT:     %[[C_1_I32_26:.*]] = arith.constant -1 : i32
// CHECK-NEXT:     %[[V66:.*]] = nvvm.vote.sync  any %[[C_1_I32_26]], %[[V65]] -> i1
// CHECK-NEXT:     %[[V67:.*]] = scf.if %[[V66]] -> (vector<8xf32>) {
// CHECK-NEXT:       %[[V71:.*]] = arith.sitofp %[[V18]] : vector<8xi32> to vector<8xf32>
// CHECK-NEXT:       scf.yield %[[V71]] : vector<8xf32>
// CHECK-NEXT:     } else {
// CHECK-NEXT:       scf.yield %[[V61]] : vector<8xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[V68:.*]] = nvx.pack bf16 %[[V67]] : vector<8xf32> -> vector<4xi32>
// CHECK-NEXT:     ws.put %[[V68]] in @h[%[[ARG3]]] : vector<4xi32>
// CHECK-NEXT:     %[[V69:.*]] = ws.wait : <@k, tensor<16x64xbf16>>
// CHECK-NEXT:     %[[RESULT:.*]], %[[TOKEN:.*]] = ws.mma %[[V68]], %[[V69]] : vector<4xi32>, <@k, tensor<16x64xbf16>> -> vector<32xf32>
// CHECK-NEXT:     %[[V70:.*]] = ws.await %[[RESULT]], %[[TOKEN]] : vector<32xf32>
// CHECK-NEXT:     ub.poison : vector<8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }

// What is distributed stays as it is.
// RUN: attn-opt %s --attn-distribute --attn-distribute | FileCheck %s
