// attn-lower-to-nvvm: barriers, a copy and three matrix instructions, each warpgroup in the program of its role.
// RUN: attn-opt %s --attn-lower-to-nvvm | FileCheck %s
// RUN: attn-opt %s --attn-lower-to-nvvm --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// REMARK: [Passed] lower-to-nvvm | Category:attn | {{.*}}256 threads, launched with 248 registers each

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @instructions machine "sm_90a" args ["q"] problem #p config #c schedule #s smem 32792 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>):
  ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
  ws.setup {
    %zero = arith.constant 0 : i32
    %b = ws.smem %zero : !llvm.ptr<3>
    nvvm.mbarrier.init %b, %zero : !llvm.ptr<3>, i32
  }
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %one = arith.constant 1 : i32
    ws.work_loop extents(%one, %one, %one) {
      %w = tile.next_work extents(%one, %one, %one)
      %block, %head, %batch = tile.work_coords %w
      %b = ws.smem %one : !llvm.ptr<3>
      %s = ws.slot_at %me : <@k, tensor<128x64xbf16>>
      ws.copy %q at(%batch, %head, %block) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s barrier %b : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>, !llvm.ptr<3>
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %acc = arith.constant dense<0.0> : vector<32xf32>
    %k = ws.slot_at %me : <@k, tensor<128x64xbf16>>
    %a = arith.constant dense<0> : vector<32xi32>
    %r, %t = ws.mma %a, %k acc(%acc : vector<32xf32>) : vector<32xi32>, <@k, tensor<128x64xbf16>> -> vector<32xf32>
    %r2, %t2 = ws.mma %k piece(%me), %k transpose_b : !ws.slot<@k, tensor<128x64xbf16>>, <@k, tensor<128x64xbf16>> -> vector<64xf32>
    %d = ws.await %r, %t : vector<32xf32>
    %d2 = ws.await %r2, %t2 : vector<64xf32>
    %before = ub.poison : vector<32xf32>
    %first = arith.constant true
    %r3, %t3 = ws.mma %a, %k acc(%before : vector<32xf32>) fresh(%first) : vector<32xi32>, <@k, tensor<128x64xbf16>> -> vector<32xf32>
    %d3 = ws.await %r3, %t3 : vector<32xf32>
  }
}

// CHECK-LABEL: llvm.func @instructions
// CHECK-SAME: (%[[ARG0:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) attributes {{.*}} {
// CHECK-NEXT:     %[[V0:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-NEXT:     %[[C5_I32:.*]] = arith.constant 5 : i32
// CHECK-NEXT:     %[[V1:.*]] = arith.shrui %[[V0]], %[[C5_I32]] : i32
// CHECK-NEXT:     %[[C_1_I32:.*]] = arith.constant -1 : i32
// CHECK-NEXT:     %[[C0_I32:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[C31_I32:.*]] = arith.constant 31 : i32
// CHECK-NEXT:     %[[V2:.*]] = nvvm.shfl.sync  idx %[[C_1_I32]], %[[V1]], %[[C0_I32]], %[[C31_I32]] : i32 -> i32
// CHECK-NEXT:     %[[C0_I32_0:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[V3:.*]] = arith.cmpi eq, %[[V0]], %[[C0_I32_0]] : i32
// CHECK-NEXT:     scf.if %[[V3]] {
// CHECK-NEXT:       %[[C0_I32_1:.*]] = arith.constant 0 : i32
// CHECK-NEXT:       %[[V5:.*]] = llvm.mlir.addressof @instructions_smem : !llvm.ptr<3>
// CHECK-NEXT:       %[[V6:.*]] = llvm.ptrtoint %[[V5]] : !llvm.ptr<3> to i32
// CHECK-NEXT:       %[[V7:.*]] = arith.addi %[[V6]], %[[C0_I32_1]] : i32
// CHECK-NEXT:       %[[V8:.*]] = llvm.inttoptr %[[V7]] : i32 to !llvm.ptr<3>
// CHECK-NEXT:       nvvm.mbarrier.init %[[V8]], %[[C0_I32_1]] : !llvm.ptr<3>, i32
// CHECK-NEXT:       nvvm.fence.mbarrier.init
// CHECK-NEXT:     }
// CHECK-NEXT:     nvvm.barrier
// CHECK-NEXT:     %[[C4_I32:.*]] = arith.constant 4 : i32
// CHECK-NEXT:     %[[V4:.*]] = arith.cmpi ult, %[[V2]], %[[C4_I32]] : i32
// CHECK-NEXT:     scf.if %[[V4]] {
// CHECK-NEXT:       nvvm.setmaxregister  decrease 24
// CHECK-NEXT:       %[[C0_I32_1:.*]] = arith.constant 0 : i32
// CHECK-NEXT:       %[[V5:.*]] = arith.cmpi eq, %[[V2]], %[[C0_I32_1]] : i32
// CHECK-NEXT:       scf.if %[[V5]] {
// CHECK-NEXT:         %[[C0_I32_2:.*]] = arith.constant 0 : i32
// CHECK-NEXT:         %[[V6:.*]] = arith.subi %[[V2]], %[[C0_I32_2]] : i32
// CHECK-NEXT:         %[[C1_I32:.*]] = arith.constant 1 : i32
// CHECK-NEXT:         %[[V7:.*]] = arith.divui %[[V6]], %[[C1_I32]] : i32
// CHECK-NEXT:         %[[V8:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-NEXT:         %[[C31_I32_3:.*]] = arith.constant 31 : i32
// CHECK-NEXT:         %[[V9:.*]] = arith.andi %[[V8]], %[[C31_I32_3]] : i32
// CHECK-NEXT:         %[[C0_I32_4:.*]] = arith.constant 0 : i32
// CHECK-NEXT:         %[[V10:.*]] = arith.cmpi eq, %[[V9]], %[[C0_I32_4]] : i32
// CHECK-NEXT:         scf.if %[[V10]] {
// CHECK-NEXT:           %[[C1_I32_5:.*]] = arith.constant 1 : i32
// CHECK-NEXT:           %[[V11:.*]] = nvvm.read.ptx.sreg.ctaid.x : i32
// CHECK-NEXT:           %[[V12:.*]] = arith.remui %[[V11]], %[[C1_I32_5]] : i32
// CHECK-NEXT:           %[[V13:.*]] = arith.divui %[[V11]], %[[C1_I32_5]] : i32
// CHECK-NEXT:           %[[V14:.*]] = arith.remui %[[V13]], %[[C1_I32_5]] : i32
// CHECK-NEXT:           %[[V15:.*]] = arith.divui %[[V13]], %[[C1_I32_5]] : i32
// CHECK-NEXT:           %[[V16:.*]] = llvm.mlir.addressof @instructions_smem : !llvm.ptr<3>
// CHECK-NEXT:           %[[V17:.*]] = llvm.ptrtoint %[[V16]] : !llvm.ptr<3> to i32
// CHECK-NEXT:           %[[V18:.*]] = arith.addi %[[V17]], %[[C1_I32_5]] : i32
// CHECK-NEXT:           %[[V19:.*]] = llvm.inttoptr %[[V18]] : i32 to !llvm.ptr<3>
// CHECK-NEXT:           %[[V20:.*]] = llvm.mlir.addressof @instructions_smem : !llvm.ptr<3>
// CHECK-NEXT:           %[[V21:.*]] = llvm.ptrtoint %[[V20]] : !llvm.ptr<3> to i32
// CHECK-NEXT:           %[[V22:.*]] = arith.addi %[[V21]], %[[V7]] : i32
// CHECK-NEXT:           %[[C1364590687093260288_I64:.*]] = arith.constant 1364590687093260288 : i64
// CHECK-NEXT:           %[[C0_I32_6:.*]] = arith.constant 0 : i32
// CHECK-NEXT:           %[[V23:.*]] = llvm.inttoptr %[[V22]] : i32 to !llvm.ptr<3>
// CHECK-NEXT:           %[[V24:.*]] = llvm.addrspacecast %[[V23]] : !llvm.ptr<3> to !llvm.ptr<7>
// CHECK-NEXT:           nvvm.cp.async.bulk.tensor.shared.cluster.global %[[V24]], %[[ARG0]], %[[V19]], box[%[[C0_I32_6]], %[[V12]], %[[C0_I32_6]], %[[V14]], %[[V15]]] l2_cache_hint = %[[C1364590687093260288_I64]] : !llvm.ptr<7>, !llvm.ptr
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     } else {
// CHECK-NEXT:       %[[C8_I32:.*]] = arith.constant 8 : i32
// CHECK-NEXT:       %[[V5:.*]] = arith.cmpi ult, %[[V2]], %[[C8_I32]] : i32
// CHECK-NEXT:       scf.if %[[V5]] {
// CHECK-NEXT:         nvvm.setmaxregister  decrease 240
// CHECK-NEXT:         %[[C4_I32_1:.*]] = arith.constant 4 : i32
// CHECK-NEXT:         %[[V6:.*]] = arith.subi %[[V2]], %[[C4_I32_1]] : i32
// CHECK-NEXT:         %[[C4_I32_2:.*]] = arith.constant 4 : i32
// CHECK-NEXT:         %[[V7:.*]] = arith.divui %[[V6]], %[[C4_I32_2]] : i32
// CHECK-NEXT:         %[[CST:.*]] = arith.constant dense<0.000000e+00> : vector<32xf32>
// CHECK-NEXT:         %[[CST_3:.*]] = arith.constant dense<0> : vector<32xi32>
// CHECK-NEXT:         %[[V8:.*]] = llvm.mlir.addressof @instructions_smem : !llvm.ptr<3>
// CHECK-NEXT:         %[[V9:.*]] = llvm.ptrtoint %[[V8]] : !llvm.ptr<3> to i32
// CHECK-NEXT:         %[[V10:.*]] = arith.addi %[[V9]], %[[V7]] : i32
// CHECK-NEXT:         %[[C4_I32_4:.*]] = arith.constant 4 : i32
// CHECK-NEXT:         %[[V11:.*]] = arith.shrui %[[V10]], %[[C4_I32_4]] : i32
// CHECK-NEXT:         %[[C16383_I32:.*]] = arith.constant 16383 : i32
// CHECK-NEXT:         %[[V12:.*]] = arith.andi %[[V11]], %[[C16383_I32]] : i32
// CHECK-NEXT:         %[[C67108864_I32:.*]] = arith.constant 67108864 : i32
// CHECK-NEXT:         %[[V13:.*]] = arith.ori %[[V12]], %[[C67108864_I32]] : i32
// CHECK-NEXT:         %[[V14:.*]] = nvx.wgmma bf16 a(%[[CST_3]] : vector<32xi32>) b(%[[V13]]) acc(%[[CST]] : vector<32xf32>) {b_desc_hi = 1073741888 : i32, b_offsets = array<i32: 0, 128, 256, 384, 512, 640, 768, 896>, transpose_b} : vector<32xf32>
// CHECK-NEXT:         %[[V15:.*]] = llvm.mlir.addressof @instructions_smem : !llvm.ptr<3>
// CHECK-NEXT:         %[[V16:.*]] = llvm.ptrtoint %[[V15]] : !llvm.ptr<3> to i32
// CHECK-NEXT:         %[[V17:.*]] = arith.addi %[[V16]], %[[V7]] : i32
// CHECK-NEXT:         %[[C4_I32_5:.*]] = arith.constant 4 : i32
// CHECK-NEXT:         %[[V18:.*]] = arith.shrui %[[V17]], %[[C4_I32_5]] : i32
// CHECK-NEXT:         %[[C16383_I32_6:.*]] = arith.constant 16383 : i32
// CHECK-NEXT:         %[[V19:.*]] = arith.andi %[[V18]], %[[C16383_I32_6]] : i32
// CHECK-NEXT:         %[[C65536_I32:.*]] = arith.constant 65536 : i32
// CHECK-NEXT:         %[[V20:.*]] = arith.ori %[[V19]], %[[C65536_I32]] : i32
// CHECK-NEXT:         %[[V21:.*]] = llvm.mlir.addressof @instructions_smem : !llvm.ptr<3>
// CHECK-NEXT:         %[[V22:.*]] = llvm.ptrtoint %[[V21]] : !llvm.ptr<3> to i32
// CHECK-NEXT:         %[[V23:.*]] = arith.addi %[[V22]], %[[V7]] : i32
// CHECK-NEXT:         %[[C8192_I32:.*]] = arith.constant 8192 : i32
// CHECK-NEXT:         %[[V24:.*]] = arith.muli %[[V7]], %[[C8192_I32]] : i32
// CHECK-NEXT:         %[[V25:.*]] = arith.addi %[[V23]], %[[V24]] : i32
// CHECK-NEXT:         %[[C4_I32_7:.*]] = arith.constant 4 : i32
// CHECK-NEXT:         %[[V26:.*]] = arith.shrui %[[V25]], %[[C4_I32_7]] : i32
// CHECK-NEXT:         %[[C16383_I32_8:.*]] = arith.constant 16383 : i32
// CHECK-NEXT:         %[[V27:.*]] = arith.andi %[[V26]], %[[C16383_I32_8]] : i32
// CHECK-NEXT:         %[[C65536_I32_9:.*]] = arith.constant 65536 : i32
// CHECK-NEXT:         %[[V28:.*]] = arith.ori %[[V27]], %[[C65536_I32_9]] : i32
// CHECK-NEXT:         %[[V29:.*]] = nvx.wgmma bf16 a(%[[V28]] : i32) b(%[[V20]]) {a_desc_hi = 1073741888 : i32, a_offsets = array<i32: 0, 2, 4, 6>, b_desc_hi = 1073741888 : i32, b_offsets = array<i32: 0, 2, 4, 6>} : vector<64xf32>
// CHECK-NEXT:         %[[V30:.*]] = nvx.wgmma_wait 1 (%[[V14]]) : vector<32xf32>
// CHECK-NEXT:         %[[V31:.*]] = nvx.wgmma_wait 0 (%[[V29]]) : vector<64xf32>
// CHECK-NEXT:         %[[POISON:.*]] = ub.poison : vector<32xf32>
// CHECK-NEXT:         %[[TRUE:.*]] = arith.constant true
// CHECK:              %[[V37:.*]] = nvx.wgmma bf16 a(%[[CST_3]] : vector<32xi32>) b(%{{.*}}) acc(%[[POISON]] : vector<32xf32>) fresh(%[[TRUE]])
// CHECK-NEXT:         nvx.wgmma_wait 0 (%[[V37]]) : vector<32xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     llvm.return
// CHECK-NEXT:   }
// CHECK-NEXT: }
