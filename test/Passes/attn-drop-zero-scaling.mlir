// attn-drop-zero-scaling: zeros times a factor that is always finite and not negative are zeros; where the
// factor may be infinite, NaN or negative, or the zero is negative, the product stays.
// RUN: attn-opt %s --attn-drop-zero-scaling | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>

// CHECK-LABEL: ws.kernel @f
ws.kernel @f machine "sm_90a" args ["x", "y", "b", "to"] problem #p config #c schedule #s {
^bb0(%x: f32, %y: f32, %b: i1, %to: i64):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %at = llvm.inttoptr %to : i64 to !llvm.ptr
    %zero = arith.constant 0.0 : f32
    %minus = arith.constant -0.0 : f32
    %lowest = arith.constant -3.40282347E+38 : f32
    %infinity = arith.constant 0xFF800000 : f32
    // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32

    // exp2(m - max(m, x)) with a finite m
    %max = arith.maxnumf %x, %lowest : f32
    %below = arith.subf %lowest, %max : f32
    %factor = math.exp2 %below : f32
    %hit = arith.mulf %zero, %factor : f32
    // CHECK-NOT: arith.mulf
    // CHECK: llvm.store volatile %[[ZERO]]
    llvm.store volatile %hit, %at : f32, !llvm.ptr

    // exp2 of a selection of two numbers that are at most 0, and a branch that
    // scales or does not
    %capped = arith.minnumf %x, %zero : f32
    %either = arith.select %b, %below, %capped : f32
    %power = math.exp2 %either : f32
    %branch = scf.if %b -> f32 {
      %scaled = arith.mulf %zero, %power : f32
      scf.yield %scaled : f32
    } else {
      scf.yield %zero : f32
    }
    // CHECK-NOT: arith.mulf
    // CHECK: llvm.store volatile %[[ZERO]]
    llvm.store volatile %branch, %at : f32, !llvm.ptr

    // NaN where x is infinity
    %sup = arith.maxnumf %x, %infinity : f32
    %unknown = arith.subf %infinity, %sup : f32
    %nan = math.exp2 %unknown : f32
    // CHECK: arith.mulf
    %miss1 = arith.mulf %zero, %nan : f32
    llvm.store volatile %miss1, %at : f32, !llvm.ptr

    // above 0 where y is below m
    %other = arith.subf %lowest, %y : f32
    %large = math.exp2 %other : f32
    // CHECK: arith.mulf
    %miss2 = arith.mulf %zero, %large : f32
    llvm.store volatile %miss2, %at : f32, !llvm.ptr

    // min(x, y) with an unknown y
    %min = arith.minnumf %zero, %y : f32
    %maybe = math.exp2 %min : f32
    // CHECK: arith.mulf
    %miss3 = arith.mulf %zero, %maybe : f32
    llvm.store volatile %miss3, %at : f32, !llvm.ptr

    // a negative factor, and a negative zero
    %two = arith.constant -2.0 : f32
    // CHECK: arith.mulf
    %miss4 = arith.mulf %zero, %two : f32
    llvm.store volatile %miss4, %at : f32, !llvm.ptr
    // CHECK: arith.mulf
    %miss5 = arith.mulf %minus, %factor : f32
    llvm.store volatile %miss5, %at : f32, !llvm.ptr
  }
}
