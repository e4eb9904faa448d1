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
// CHECK-SAME: (%[[MAP:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})

// The number of the warp, the same for all of its threads.
// CHECK-NEXT: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[W:.*]] = arith.shrui %[[TID]], %c5_i32
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[W]], %c0_i32, %c31_i32

// One thread sets the barriers up, before all use them.
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[TID]], %c0
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK: %[[BASE:.*]] = llvm.mlir.addressof @instructions_smem : !llvm.ptr<3>
// CHECK-NEXT: %[[ADDRESS:.*]] = llvm.ptrtoint %[[BASE]]
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[ADDRESS]], %c0
// CHECK-NEXT: %[[B:.*]] = llvm.inttoptr %[[AT]]
// CHECK-NEXT: nvvm.mbarrier.init %[[B]], %c0
// CHECK-NEXT: nvvm.fence.mbarrier.init
// CHECK-NEXT: }
// CHECK-NEXT: nvvm.barrier
// CHECK-NEXT: %{{.*}} = arith.constant

// The first warpgroup: its first warp is the role, and one lane of it runs the program.
// CHECK: %[[GROUP:.*]] = arith.cmpi ult, %[[WARP]], %c4_i32
// CHECK-NEXT: scf.if %[[GROUP]] {
// CHECK-NEXT: nvvm.setmaxregister decrease 24
// CHECK: %[[LOADS:.*]] = arith.cmpi eq, %[[WARP]], %c0
// CHECK-NEXT: scf.if %[[LOADS]] {
// CHECK: %[[OF:.*]] = arith.subi %[[WARP]], %c0
// CHECK: %[[ME:.*]] = arith.divui %[[OF]], %c1
// CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[LANE]], %c0
// CHECK-NEXT: scf.if %[[ONE]] {
// The coordinates of an item are computed from the number of the CTA.
// CHECK: %[[ITEM:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK-NEXT: %[[BLOCK:.*]] = arith.remui %[[ITEM]], %c1
// CHECK-NEXT: %[[REST:.*]] = arith.divui %[[ITEM]], %c1
// CHECK-NEXT: %[[HEAD:.*]] = arith.remui %[[REST]], %c1
// CHECK-NEXT: %[[BATCH:.*]] = arith.divui %[[REST]], %c1
// CHECK: %[[B:.*]] = llvm.inttoptr
// CHECK: %[[PLACE:.*]] = arith.addi %{{.*}}, %[[ME]]
// Data that is read once is evicted first from the L2 cache.
// CHECK-NEXT: %[[HINT:.*]] = arith.constant 1364590687093260288 : i64
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT: %[[TO:.*]] = llvm.inttoptr %[[PLACE]]
// CHECK-NEXT: %[[SHARED:.*]] = llvm.addrspacecast %[[TO]] : !llvm.ptr<3> to !llvm.ptr<7>
// CHECK-NEXT: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[SHARED]], %[[MAP]], %[[B]], box[%[[ZERO]], %[[BLOCK]], %[[ZERO]], %[[HEAD]], %[[BATCH]]] l2_cache_hint = %[[HINT]]
// CHECK-NEXT: }
// CHECK-NEXT: }

// The second warpgroup. It has more registers from the launch on.
// CHECK: } else {
// CHECK: %[[GROUP:.*]] = arith.cmpi ult, %[[WARP]], %c8_i32
// CHECK-NEXT: scf.if %[[GROUP]] {
// CHECK-NEXT: nvvm.setmaxregister decrease 240
// CHECK: %[[OF:.*]] = arith.subi %[[WARP]], %c4
// CHECK: %[[ME:.*]] = arith.divui %[[OF]], %c4
// CHECK: %[[ACC:.*]] = arith.constant dense<0.000000e+00> : vector<32xf32>
// CHECK-NEXT: %[[A:.*]] = arith.constant dense<0> : vector<32xi32>

// A descriptor: bits 4 to 17 of the address, and the distance of two panels.
// CHECK: %[[PLACE:.*]] = arith.addi %{{.*}}, %[[ME]]
// CHECK: %[[UNITS:.*]] = arith.shrui %[[PLACE]], %c4
// CHECK: %[[BITS:.*]] = arith.andi %[[UNITS]], %c16383_i32
// CHECK: %[[DESC:.*]] = arith.ori %[[BITS]], %c67108864_i32
// CHECK-NEXT: %[[R1:.*]] = nvx.wgmma bf16 a(%[[A]] : vector<32xi32>) b(%[[DESC]]) acc(%[[ACC]] : vector<32xf32>) {b_desc_hi = 1073741888 : i32, b_offsets = array<i32: 0, 128, 256, 384, 512, 640, 768, 896>, transpose_b}

// Both operands in shared memory. The first one is a piece of 8192 bytes.
// CHECK: %[[B_BITS:.*]] = arith.andi
// CHECK: %[[B_DESC:.*]] = arith.ori %[[B_BITS]], %c65536_i32
// CHECK: %[[WHOLE:.*]] = arith.addi %{{.*}}, %[[ME]]
// CHECK: %[[PIECE:.*]] = arith.muli %[[ME]], %c8192_i32
// CHECK-NEXT: %[[PLACE:.*]] = arith.addi %[[WHOLE]], %[[PIECE]]
// CHECK: %[[UNITS:.*]] = arith.shrui %[[PLACE]], %c4
// CHECK: %[[A_BITS:.*]] = arith.andi %[[UNITS]], %c16383
// CHECK: %[[A_DESC:.*]] = arith.ori %[[A_BITS]], %c65536
// CHECK-NEXT: %[[R2:.*]] = nvx.wgmma bf16 a(%[[A_DESC]] : i32) b(%[[B_DESC]]) {a_desc_hi = 1073741888 : i32, a_offsets = array<i32: 0, 2, 4, 6>, b_desc_hi = 1073741888 : i32, b_offsets = array<i32: 0, 2, 4, 6>}

// The first await leaves the second product in flight.
// CHECK-NEXT: nvx.wgmma_wait 1 (%[[R1]]) : vector<32xf32>
// CHECK-NEXT: nvx.wgmma_wait 0 (%[[R2]]) : vector<64xf32>
// CHECK-NEXT: %[[POISON:.*]] = ub.poison : vector<32xf32>
// CHECK-NEXT: %[[TRUE:.*]] = arith.constant true
// CHECK: %[[R3:.*]] = nvx.wgmma bf16 a(%[[A]] : vector<32xi32>) b(%{{.*}}) acc(%[[POISON]] : vector<32xf32>) fresh(%[[TRUE]])
// CHECK-NEXT: nvx.wgmma_wait 0 (%[[R3]]) : vector<32xf32>
// CHECK: llvm.return
