// The hot loop of a consumer warpgroup: what is in it, and nothing else.
// RUN: attn-opt %s --attn-emit-ptx | sed 's/\\0A/\n/g; s/\\09/\t/g' | sed -n '/bra.uni/,/div.approx/p' \
// RUN:   | FileCheck %s --implicit-check-not="{{mov.b(32|64)[[:space:]]+%r}}" \
// RUN:     --implicit-check-not=ex2 --implicit-check-not=cvt. --implicit-check-not=fma \
// RUN:     --implicit-check-not=local --implicit-check-not=wgmma --implicit-check-not=mbarrier
//
// RUN: attn-opt %s --attn-emit-ptx | sed 's/\\0A/\n/g; s/\\09/\t/g' | FileCheck %s --check-prefix=HEAD
//
// HEAD: .version 8.0
// HEAD-NEXT: .target sm_90a
// HEAD: .visible .entry step(
// HEAD: .maxntid 128
// HEAD-NEXT: .minnctapersm 1
// HEAD-NOT: .local

// CHECK: nounroll
// CHECK: mbarrier.try_wait.parity.shared::cta.b64
// CHECK: wgmma.fence.sync.aligned;
// CHECK-COUNT-1: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}, desc_a, desc_b, no, 1, 1, 0, 0;
// CHECK-COUNT-7: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}, desc_a, desc_b, yes, 1, 1, 0, 0;
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.fence.sync.aligned;
// CHECK-COUNT-8: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}, desc_b, yes, 1, 1, 1;
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK-COUNT-63: max.ftz.f32
// CHECK: vote.sync.any.pred
// CHECK: ex2.approx.ftz.f32
// CHECK-COUNT-64: fma.rn.ftz.f32
// CHECK-COUNT-64: ex2.approx.ftz.f32
// The rescaled sum takes the first exponential.
// CHECK: fma.rn.ftz.f32
// CHECK-COUNT-63: add.ftz.f32
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-COUNT-32: cvt.rn.bf16x2.f32
// CHECK-COUNT-64: mul.ftz.f32
// CHECK: div.approx.ftz.f32

// A step of attention as one consumer warpgroup runs it: two GEMMs in flight,
// the softmax between the waits, a rare rescaling.
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
  llvm.func @step(%out: !llvm.ptr<1>, %steps: i32, %scale: f32, %qdesc: i32, %kdesc: i32, %vdesc: i32, %bar: !llvm.ptr<3>)
      attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128>, nvvm.minctasm = 1 : i32} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %c2 = arith.constant 2 : i32
    %all = arith.constant -1 : i32
    
    %eight = arith.constant 8.0 : f32
    %zero = arith.constant 0.0 : f32
    %ninf = arith.constant 0xFF800000 : f32
    %one = arith.constant 1.0 : f32
    %s = nvx.wgmma bf16 a(%qdesc : i32) b(%kdesc) {a_desc_hi = 0x40000040 : i32, b_desc_hi = 0x40000040 : i32,
      a_offsets = array<i32: 0, 2, 4, 6, 512, 514, 516, 518>, b_offsets = array<i32: 0, 2, 4, 6, 1024, 1026, 1028, 1030>} : vector<64xf32>
    %s1 = nvx.wgmma_wait 0 (%s) : vector<64xf32>
    %p0 = nvx.pack bf16 %s1 : vector<64xf32> -> vector<32xi32>
    %o0 = arith.constant dense<0.0> : vector<64xf32>
    %r:5 = scf.for %i = %c0 to %steps step %c1 iter_args(%o = %o0, %p = %p0, %m = %zero, %l = %zero, %phase = %c0)
        -> (vector<64xf32>, vector<32xi32>, f32, f32, i32) : i32 {
      nvx.mbarrier_wait %bar, %phase : !llvm.ptr<3>
      %a = nvx.wgmma bf16 a(%qdesc : i32) b(%kdesc) {a_desc_hi = 0x40000040 : i32, b_desc_hi = 0x40000040 : i32,
        a_offsets = array<i32: 0, 2, 4, 6, 512, 514, 516, 518>, b_offsets = array<i32: 0, 2, 4, 6, 1024, 1026, 1028, 1030>} : vector<64xf32>
      %o1 = nvx.wgmma bf16 a(%p : vector<32xi32>) b(%vdesc) acc(%o : vector<64xf32>) {b_desc_hi = 0x40000040 : i32, transpose_b,
        b_offsets = array<i32: 0, 128, 256, 384, 512, 640, 768, 896>} : vector<64xf32>
      %a1 = nvx.wgmma_wait 1 (%a) : vector<64xf32>
      %max = vector.reduction <maxnumf>, %a1 : vector<64xf32> into f32
      %x1 = nvvm.shfl.sync bfly %all, %max, %c1, %c31 : f32 -> f32
      %max1 = arith.maxnumf %max, %x1 : f32
      %x2 = nvvm.shfl.sync bfly %all, %max1, %c2, %c31 : f32 -> f32
      %max2 = arith.maxnumf %max1, %x2 : f32
      %cand = arith.mulf %max2, %scale : f32
      %lim = arith.addf %m, %eight : f32
      %gt = arith.cmpf ogt, %cand, %lim : f32
      %need = nvvm.vote.sync any %all, %gt -> i1
      %n = arith.maxnumf %m, %cand : f32
      %d = arith.subf %m, %n : f32
      %m1 = arith.select %need, %n, %m : f32
      %e2 = math.exp2 %d : f32
      %f = arith.select %need, %e2, %one : f32
      %neg = arith.negf %m1 : f32
      %vneg = vector.broadcast %neg : f32 to vector<64xf32>
      %vscale = vector.broadcast %scale : f32 to vector<64xf32>
      %x = math.fma %a1, %vscale, %vneg : vector<64xf32>
      %e = math.exp2 %x : vector<64xf32>
      %l1 = arith.mulf %l, %f : f32
      %l2 = vector.reduction <add>, %e, %l1 : vector<64xf32> into f32
      %o2 = nvx.wgmma_wait 0 (%o1) : vector<64xf32>
      %pn = nvx.pack bf16 %e : vector<64xf32> -> vector<32xi32>
      %o3 = scf.if %need -> vector<64xf32> {
        %vf = vector.broadcast %f : f32 to vector<64xf32>
        %scaled = arith.mulf %o2, %vf : vector<64xf32>
        scf.yield %scaled : vector<64xf32>
      } else {
        scf.yield %o2 : vector<64xf32>
      }
      %next = arith.xori %phase, %c1 : i32
      scf.yield %o3, %pn, %m1, %l2, %next : vector<64xf32>, vector<32xi32>, f32, f32, i32
    }
    %sum = vector.reduction <add>, %r#0 : vector<64xf32> into f32
    %sum1 = arith.divf %sum, %r#3 : f32
    llvm.store %sum1, %out : f32, !llvm.ptr<1>
    llvm.return
  }
}
