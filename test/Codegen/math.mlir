// Each op of arith and math becomes one instruction, approximate,
// flushing, contracted.
// RUN: attn-opt %s --attn-emit-ptx | sed 's/\\0A/\n/g; s/\\09/\t/g' | FileCheck %s

gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {

  // CHECK: .visible .entry one(
  llvm.func @one(%p: !llvm.ptr<1>, %x: f32, %y: f32, %z: f32) attributes {nvvm.kernel} {
    %one = arith.constant 1.0 : f32
    // CHECK: ex2.approx.ftz.f32
    %0 = math.exp2 %x : f32
    llvm.store volatile %0, %p : f32, !llvm.ptr<1>
    // CHECK: lg2.approx.ftz.f32
    %1 = math.log2 %x : f32
    llvm.store volatile %1, %p : f32, !llvm.ptr<1>
    // CHECK: mul.ftz.f32 [[SCALED:%r[0-9]+]], %r{{[0-9]+}}, 0f3FB8AA3B;
    // CHECK: ex2.approx.ftz.f32 %r{{[0-9]+}}, [[SCALED]];
    %2 = math.exp %x : f32
    llvm.store volatile %2, %p : f32, !llvm.ptr<1>
    // CHECK: lg2.approx.ftz.f32 [[LOG2:%r[0-9]+]]
    // CHECK: mul.ftz.f32 %r{{[0-9]+}}, [[LOG2]], 0f3F317218;
    %3 = math.log %y : f32
    llvm.store volatile %3, %p : f32, !llvm.ptr<1>
    // CHECK: mul.ftz.f32 [[TWICE:%r[0-9]+]], %r{{[0-9]+}}, 0f4038AA3B;
    // CHECK: ex2.approx.ftz.f32 [[POWER:%r[0-9]+]], [[TWICE]];
    // CHECK: add.ftz.f32 [[SUM:%r[0-9]+]], [[POWER]], 0f3F800000;
    // CHECK: div.approx.ftz.f32 [[PART:%r[0-9]+]], %r{{[0-9]+}}, [[SUM]];
    // CHECK: add.ftz.f32 [[LARGE:%r[0-9]+]], [[PART]], 0f3F800000;
    // CHECK: abs.ftz.f32 [[MAGNITUDE:%r[0-9]+]], [[TWICE]];
    // CHECK: setp.lt.ftz.f32 [[IS_SMALL:%p[0-9]+]], [[MAGNITUDE]], 0f3E93BB63;
    // CHECK: mul.ftz.f32 [[SQUARE:%r[0-9]+]], [[TWICE]], [[TWICE]];
    // CHECK: fma.rn.ftz.f32 [[FACTOR:%r[0-9]+]], [[SQUARE]], 0fBC627051, 0f3EB17205;
    // CHECK: mul.ftz.f32 [[SMALL:%r[0-9]+]], [[FACTOR]], [[TWICE]];
    // CHECK: selp.f32 %r{{[0-9]+}}, [[SMALL]], [[LARGE]], [[IS_SMALL]];
    %4 = math.tanh %x : f32
    llvm.store volatile %4, %p : f32, !llvm.ptr<1>
    // CHECK: tanh.approx.f32
    %tanh = math.tanh %x fastmath<afn> : f32
    llvm.store volatile %tanh, %p : f32, !llvm.ptr<1>
    // For any argument: integer arithmetic and a polynomial.
    // CHECK-NOT: tanh
    // CHECK-NOT: sin.approx
    // CHECK: shf.l.wrap.b32
    // CHECK: mul.hi.u32
    // CHECK-COUNT-5: fma.rn.ftz.f32
    %5 = math.sin %x : f32
    llvm.store volatile %5, %p : f32, !llvm.ptr<1>
    // CHECK-NOT: cos.approx
    // CHECK-COUNT-5: fma.rn.ftz.f32
    %6 = math.cos %x : f32
    llvm.store volatile %6, %p : f32, !llvm.ptr<1>
    // CHECK: sqrt.approx.ftz.f32
    %7 = math.sqrt %x : f32
    llvm.store volatile %7, %p : f32, !llvm.ptr<1>
    // CHECK: rsqrt.approx.ftz.f32
    %8 = math.rsqrt %x : f32
    llvm.store volatile %8, %p : f32, !llvm.ptr<1>
    // CHECK: rcp.approx.ftz.f32
    %9 = arith.divf %one, %x : f32
    llvm.store volatile %9, %p : f32, !llvm.ptr<1>
    // CHECK: div.approx.ftz.f32
    %10 = arith.divf %x, %y : f32
    llvm.store volatile %10, %p : f32, !llvm.ptr<1>
    // CHECK: fma.rn.ftz.f32
    %11 = math.fma %x, %y, %z : f32
    llvm.store volatile %11, %p : f32, !llvm.ptr<1>
    // CHECK-NOT: mul.ftz
    // CHECK: fma.rn.ftz.f32
    %12 = arith.mulf %x, %z : f32
    %13 = arith.addf %12, %y : f32
    llvm.store volatile %13, %p : f32, !llvm.ptr<1>
    // The maximum of a NaN and a number is the number in maxnumf, and NaN in maximumf.
    // CHECK: max.ftz.f32
    %14 = arith.maxnumf %x, %y : f32
    llvm.store volatile %14, %p : f32, !llvm.ptr<1>
    // CHECK: max.ftz.NaN.f32
    %15 = arith.maximumf %x, %y : f32
    llvm.store volatile %15, %p : f32, !llvm.ptr<1>
    // CHECK: min.ftz.f32
    %16 = arith.minnumf %x, %y : f32
    llvm.store volatile %16, %p : f32, !llvm.ptr<1>
    // CHECK: cvt.rmi.ftz.f32.f32
    %17 = math.floor %x : f32
    llvm.store volatile %17, %p : f32, !llvm.ptr<1>
    // CHECK: cvt.rpi.ftz.f32.f32
    %18 = math.ceil %x : f32
    llvm.store volatile %18, %p : f32, !llvm.ptr<1>
    // CHECK: abs.ftz.f32
    %19 = math.absf %z : f32
    llvm.store volatile %19, %p : f32, !llvm.ptr<1>
    // CHECK: setp.lt.ftz.f32 [[LESS:%p[0-9]+]]
    // CHECK: selp.f32 %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, [[LESS]];
    %20 = arith.cmpf olt, %x, %y : f32
    %21 = arith.select %20, %z, %y : f32
    llvm.store volatile %21, %p : f32, !llvm.ptr<1>
    // CHECK: cvt.rn.f32.s32
    %22 = llvm.ptrtoint %p : !llvm.ptr<1> to i32
    %23 = arith.sitofp %22 : i32 to f32
    llvm.store volatile %23, %p : f32, !llvm.ptr<1>
    llvm.return
  }

  // -inf is an ordinary value: neither comparisons nor sums with it are folded.
  // CHECK: .visible .entry infinity(
  // CHECK: setp.eq.ftz.f32 %p{{[0-9]+}}, %r{{[0-9]+}}, 0fFF800000;
  llvm.func @infinity(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %minus = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %0 = arith.cmpf oeq, %x, %minus : f32
    %1 = arith.select %0, %zero, %x : f32
    llvm.store %1, %p : f32, !llvm.ptr<1>
    llvm.return
  }

  // Vectors become scalars.
  // CHECK: .visible .entry vectors(
  // CHECK-COUNT-4: lg2.approx.ftz.f32
  // CHECK-COUNT-4: ex2.approx.ftz.f32
  // The order of additions is kept without reassoc.
  // CHECK: add.ftz.f32 [[A:%r[0-9]+]]
  // CHECK: add.ftz.f32 [[B:%r[0-9]+]], [[A]]
  // CHECK: add.ftz.f32 %r{{[0-9]+}}, [[B]]
  llvm.func @vectors(%p: !llvm.ptr<1>, %x: vector<4xf32>) attributes {nvvm.kernel} {
    %0 = math.log2 %x : vector<4xf32>
    %1 = math.exp2 %0 : vector<4xf32>
    %2 = vector.reduction <add>, %1 : vector<4xf32> into f32
    llvm.store %2, %p : f32, !llvm.ptr<1>
    llvm.return
  }

  // The polynomial keeps its own fma, and no other is formed.
  // CHECK: .visible .entry polynomial(
  // CHECK: max.ftz.NaN.f32 [[LEAST:%r[0-9]+]], %r{{[0-9]+}}, 0fC2FD0000;
  // CHECK: min.ftz.NaN.f32 [[X:%r[0-9]+]], [[LEAST]], 0f42FE0000;
  // CHECK: add{{(.rn)?}}.ftz.f32 [[SHIFTED:%r[0-9]+]], [[X]], 0f4B400000;
  // CHECK: sub{{(.rn)?}}.ftz.f32 [[WHOLE:%r[0-9]+]], [[SHIFTED]], 0f4B400000;
  // CHECK: sub{{(.rn)?}}.ftz.f32 [[FRACTION:%r[0-9]+]], [[X]], [[WHOLE]];
  // CHECK-COUNT-3: fma.rn.ftz.f32
  // CHECK: shl.b32 [[EXPONENT:%r[0-9]+]], [[SHIFTED]], 23;
  // CHECK: add.s32 [[POWER:%r[0-9]+]], %r{{[0-9]+}}, [[EXPONENT]];
  // A NaN stays a NaN.
  // CHECK: fma.rn.ftz.f32 %r{{[0-9]+}}, [[X]], 0f00000000, [[POWER]];
  llvm.func @polynomial(%p: !llvm.ptr<1>, %x: f32, %y: f32) attributes {nvvm.kernel} {
    %0 = nvx.exp2_poly %x {degree = 3 : i32} : f32
    llvm.store %0, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
