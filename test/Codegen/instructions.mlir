// One of each instruction that kernels use, at the lowest PTX version.
// RUN: attn-opt %s --attn-emit-ptx | sed 's/\\0A/\n/g; s/\\09/\t/g' | FileCheck %s
// The same text from a printed stage, and again.
// RUN: attn-opt %s --attn-emit-ptx -o %t.1
// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(attn-lower-to-llvm))' | attn-opt --attn-emit-ptx -o %t.2
// RUN: attn-opt %s --attn-emit-ptx -o %t.3
// RUN: diff %t.1 %t.2
// RUN: diff %t.1 %t.3

// The binary keeps the module's name and attributes.
// CHECK: gpu.binary @kernels {test.attribute = "any"} [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly =
// CHECK: .version 8.0
// CHECK-NEXT: .target sm_90a
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] attributes {test.attribute = "any"} {
  // CHECK: .extern .shared .align 1024 .b8 smem[];
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // A tensor map by value has its address taken, and is not copied.
  // CHECK: .visible .entry copies(
  // CHECK-NEXT: .param .align 64 .b8 copies_param_0[128]
  // CHECK: .maxntid 384
  // CHECK-NEXT: .minnctapersm 1
  // CHECK-NOT: .local
  // CHECK: mov.b64 [[PARAM:%rd[0-9]+]], copies_param_0;
  // CHECK: cvta.param.u64 [[MAP:%rd[0-9]+]], [[PARAM]];
  llvm.func @copies(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.maxntid = array<i32: 384>, nvvm.minctasm = 1 : i32} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %c0 = arith.constant 0 : i32
    %bytes = arith.constant 16384 : i32
    %hint = arith.constant 0x14F0000000000000 : i64
    %mask = arith.constant 3 : i16
    // CHECK: mbarrier.arrive.expect_tx.shared.b64 %rd{{[0-9]+}}, [smem], %r{{[0-9]+}};
    nvvm.mbarrier.arrive.expect_tx %smem, %bytes : !llvm.ptr<3>, i32
    // The cast to the cluster's window costs nothing.
    // CHECK-NOT: cvta
    // CHECK: cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [smem], {{\[}}[[MAP]], {%r{{[0-9]+}}, {{.*}}}], [smem], %rd{{[0-9]+}};
    %to = llvm.addrspacecast %smem : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %smem, box [%c0, %c0, %c0, %c0, %c0] l2_cache_hint = %hint : !llvm.ptr<7>, !llvm.ptr
    // CHECK: .multicast::cluster.L2::cache_hint [smem], {{\[}}[[MAP]], {{.*}}, [smem], %rs{{[0-9]+}}, %rd{{[0-9]+}};
    nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %smem, box [%c0, %c0, %c0, %c0, %c0] multicast_mask = %mask l2_cache_hint = %hint : !llvm.ptr<7>, !llvm.ptr
    // CHECK: fence.proxy.async.shared::cta;
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    // CHECK: cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group {{\[}}[[MAP]], {{.*}}, [smem];
    nvvm.cp.async.bulk.tensor.global.shared.cta %map, %smem, box [%c0, %c0, %c0, %c0, %c0] : !llvm.ptr, !llvm.ptr<3>
    // CHECK: cp.async.bulk.commit_group;
    nvvm.cp.async.bulk.commit.group
    // CHECK: cp.async.bulk.wait_group.read 0;
    nvvm.cp.async.bulk.wait_group 0 {read}
    llvm.return
  }

  // CHECK: .visible .entry synchronization(
  llvm.func @synchronization(%bar: !llvm.ptr<3>, %x: i32, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    // CHECK: mbarrier.init.shared.b64 [[[BAR:%r[0-9]+]]], [[ONE:%r[0-9]+]];
    nvvm.mbarrier.init %bar, %c1 : !llvm.ptr<3>, i32
    // CHECK: fence.mbarrier_init.release.cluster;
    nvvm.fence.mbarrier.init
    // CHECK: mbarrier.arrive.shared.b64 %rd{{[0-9]+}}, [[[BAR]]];
    nvvm.mbarrier.arrive %bar : !llvm.ptr<3>
    // CHECK: again:
    // CHECK-NEXT: mbarrier.try_wait.parity.shared::cta.b64 done, [[[BAR]]], %r{{[0-9]+}};
    // CHECK-NEXT: @!done bra again;
    nvx.mbarrier_wait %bar, %x : !llvm.ptr<3>
    // CHECK: bar.sync 0;
    nvvm.barrier
    // CHECK: bar.sync 1, 128;
    nvvm.barrier id = %c1 number_of_threads = %c128
    // CHECK: bar.arrive 1, 128;
    nvvm.barrier.arrive id = %c1 number_of_threads = %c128
    // CHECK: bar.arrive 0, 128;
    nvvm.barrier.arrive number_of_threads = %c128
    // CHECK: setmaxnreg.dec.sync.aligned.u32 40;
    nvvm.setmaxregister decrease 40
    // CHECK: setmaxnreg.inc.sync.aligned.u32 232;
    nvvm.setmaxregister increase 232
    // CHECK: mapa.shared::cluster.u32 [[PEER:%r[0-9]+]], [[BAR]], %r{{[0-9]+}};
    %peer = nvvm.mapa %bar, %x : !llvm.ptr<3> -> !llvm.ptr<7>
    // Without a scope: the scope of the CTA, which needs no fence.
    // CHECK: mbarrier.arrive.shared::cluster.b64 _, [[[PEER]]], [[ONE]];
    nvvm.mbarrier.arrive %peer : !llvm.ptr<7>
    // CHECK: barrier.cluster.arrive.aligned;
    nvvm.cluster.arrive {aligned}
    // CHECK: barrier.cluster.wait.aligned;
    nvvm.cluster.wait {aligned}
    // CHECK: atom.global.add.u32
    %old = llvm.atomicrmw add %out, %x monotonic : !llvm.ptr<1>, i32
    // CHECK: atom.global.inc.u32
    %wrap = llvm.atomicrmw uinc_wrap %out, %old monotonic : !llvm.ptr<1>, i32
    llvm.return
  }

  // CHECK: .visible .entry warp(
  llvm.func @warp(%smem: !llvm.ptr<3>, %x: f32, %v: vector<8xf32>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    // CHECK: ld.param.v4.b32 {[[E0:%r[0-9]+]], [[E1:%r[0-9]+]], {{.*}}}, [warp_param_2];
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %all = arith.constant -1 : i32
    // CHECK: shfl.sync.bfly.b32 %r{{[0-9]+}}, %r{{[0-9]+}}, 1, 31, -1;
    %y = nvvm.shfl.sync bfly %all, %x, %c1, %c31 : f32 -> f32
    // CHECK: shfl.sync.idx.b32 %r{{[0-9]+}}, %r{{[0-9]+}}, 0, 31, -1;
    %z = nvvm.shfl.sync idx %all, %y, %c0, %c31 : f32 -> f32
    %p = arith.cmpf ogt, %z, %x : f32
    // CHECK: vote.sync.any.pred %p{{[0-9]+}}, %p{{[0-9]+}}, -1;
    %any = nvvm.vote.sync any %all, %p -> i1
    // CHECK: elect.sync
    %leader = nvvm.elect.sync -> i1
    %both = arith.andi %any, %leader : i1
    scf.if %both {
      llvm.store %z, %out : f32, !llvm.ptr<1>
    }
    // The even element is the last operand: the low half.
    // CHECK: cvt.rn.bf16x2.f32 [[P0:%r[0-9]+]], [[E1]], [[E0]];
    // CHECK-COUNT-3: cvt.rn.bf16x2.f32
    // CHECK-NOT: cvt
    %packed = nvx.pack bf16 %v : vector<8xf32> -> vector<4xi32>
    %w0 = vector.extract %packed[0] : i32 from vector<4xi32>
    %w1 = vector.extract %packed[1] : i32 from vector<4xi32>
    %w2 = vector.extract %packed[2] : i32 from vector<4xi32>
    %w3 = vector.extract %packed[3] : i32 from vector<4xi32>
    // CHECK: stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r{{[0-9]+}}], {[[P0]], {{.*}}};
    nvvm.stmatrix %smem, %w0, %w1, %w2, %w3 {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>,
      eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, i32, i32, i32
    // CHECK-COUNT-4: cvt.rn.f16x2.f32
    %half = nvx.pack f16 %v : vector<8xf32> -> vector<4xi32>
    llvm.store %half, %out : vector<4xi32>, !llvm.ptr<1>
    llvm.return
  }

  // 8-bit operands: 32 columns a step, no transposition in the text.
  // CHECK: .visible .entry eight_bit(
  // CHECK: wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3 {{.*}}, desc_a, desc_b, no, 1, 1;
  // CHECK: wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3 {{.*}}, desc_a, desc_b, yes, 1, 1;
  llvm.func @eight_bit(%a: i32, %b: i32, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %d = nvx.wgmma e4m3 a(%a : i32) b(%b) {a_desc_hi = 0x40000040 : i32, b_desc_hi = 0x40000040 : i32,
      a_offsets = array<i32: 0, 2>, b_offsets = array<i32: 0, 2>} : vector<8xf32>
    %e = nvx.wgmma_wait 0 (%d) : vector<8xf32>
    llvm.store %e, %out : vector<8xf32>, !llvm.ptr<1>
    llvm.return
  }

  // Two parts of D's columns: for each k step an instruction of half the columns, on its own registers and rows of B.
  // CHECK: .visible .entry parts(
  // CHECK: add.s64 desc_a, base_a, 0;
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {[[D0:%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+]]}, desc_a, desc_b, no, 1, 1, 0, 0;
  // CHECK-NEXT: add.s64 desc_b, base_b, 64;
  // CHECK-NEXT: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {[[D1:%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+]]}, desc_a, desc_b, no, 1, 1, 0, 0;
  // CHECK: add.s64 desc_a, base_a, 2;
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {[[D0]]}, desc_a, desc_b, yes, 1, 1, 0, 0;
  // CHECK-NEXT: add.s64 desc_b, base_b, 66;
  // CHECK-NEXT: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {[[D1]]}, desc_a, desc_b, yes, 1, 1, 0, 0;
  llvm.func @parts(%a: i32, %b: i32, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %d = nvx.wgmma bf16 a(%a : i32) b(%b) {a_desc_hi = 0x40000040 : i32, b_desc_hi = 0x40000040 : i32,
      a_offsets = array<i32: 0, 2>, b_offsets = array<i32: 0, 2>, b_parts = array<i32: 0, 64>} : vector<8xf32>
    %e = nvx.wgmma_wait 0 (%d) : vector<8xf32>
    llvm.store %e, %out : vector<8xf32>, !llvm.ptr<1>
    llvm.return
  }

  // Accumulates unless it is fresh: only the first step of each part reads the
  // predicate.
  // CHECK: .visible .entry fresh(
  // CHECK: .reg .pred no, yes, adds;
  // CHECK: setp.eq.b32 adds, %r{{[0-9]+}}, 0;
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{.*}}, desc_a, desc_b, adds, 1, 1, 0, 0;
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{.*}}, desc_a, desc_b, adds, 1, 1, 0, 0;
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{.*}}, desc_a, desc_b, yes, 1, 1, 0, 0;
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{.*}}, desc_a, desc_b, yes, 1, 1, 0, 0;
  llvm.func @fresh(%a: i32, %b: i32, %n: i32, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %first = llvm.icmp "eq" %n, %zero : i32
    %before = llvm.mlir.poison : vector<8xf32>
    %d = nvx.wgmma bf16 a(%a : i32) b(%b) acc(%before : vector<8xf32>) fresh(%first) {
      a_desc_hi = 0x40000040 : i32, b_desc_hi = 0x40000040 : i32,
      a_offsets = array<i32: 0, 2>, b_offsets = array<i32: 0, 2>, b_parts = array<i32: 0, 64>} : vector<8xf32>
    %e = nvx.wgmma_wait 0 (%d) : vector<8xf32>
    llvm.store %e, %out : vector<8xf32>, !llvm.ptr<1>
    llvm.return
  }
}
