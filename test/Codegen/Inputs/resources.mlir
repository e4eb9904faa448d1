// A kernel of two groups of warps, with a barrier in memory and one named barrier for each of two replicas.
#p = #attn.problem<kind = custom, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
launch.plan @two target "sm_90a" args [] problem #p {
  launch.variant workspace 0 {
    launch.kernel @two grid 1 block 512 cluster 1 shared 1032 params []
  }
}
gpu.module @two [#nvvm.target<chip = "sm_90a">] {
  llvm.mlir.global external @two_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @two() attributes {attn.resources = {launch_registers = 128 : i64, mbarriers = 1 : i64, named_barriers = 3 : i64, registers = array<i64: 40, 208, 208, 128>, shared_memory = 1032 : i64, threads = 512 : i64}, nvvm.kernel, nvvm.maxntid = array<i32: 512>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c5 = arith.constant 5 : i32
    %c12 = arith.constant 12 : i32
    %c31 = arith.constant 31 : i32
    %c128 = arith.constant 128 : i32
    %all = arith.constant -1 : i32
    %smem = llvm.mlir.addressof @two_smem : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %of_thread = arith.shrui %tid, %c5 : i32
    %warp = nvvm.shfl.sync idx %all, %of_thread, %c0, %c31 : i32 -> i32
    %is_first = arith.cmpi eq, %tid, %c0 : i32
    scf.if %is_first {
      nvvm.mbarrier.init %smem, %c1 : !llvm.ptr<3>, i32
    }
    nvvm.barrier
    %loads = arith.cmpi ult, %warp, %c4 : i32
    scf.if %loads {
      nvvm.setmaxregister decrease 40
    } else {
      %computes = arith.cmpi ult, %warp, %c12 : i32
      scf.if %computes {
        nvvm.setmaxregister increase 208
        %of_role = arith.subi %warp, %c4 : i32
        %replica = arith.divui %of_role, %c4 : i32
        %id = arith.addi %replica, %c1 : i32
        nvvm.barrier id = %id number_of_threads = %c128
      }
    }
    llvm.return
  }
}
