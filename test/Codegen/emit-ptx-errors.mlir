// RUN: rm -rf %t && mkdir -p %t
// RUN: attn-opt %s --attn-emit-ptx=reproducer-dir=%t -split-input-file -verify-diagnostics
// What LLVM could not compile is kept: one file of IR for each of the last three.
// RUN: cat %t/attn-reproducer-*.ll | FileCheck %s
// CHECK-COUNT-2: target triple = "nvptx64-nvidia-cuda"
// CHECK-NOT: target triple

gpu.module @unknown_math [#nvvm.target<chip = "sm_90a">] {
  llvm.func @f(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected an operation that the target has an instruction for, got 'math.atan'}}
    %0 = math.atan %x : f32
    llvm.store %0, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

gpu.module @wide_math [#nvvm.target<chip = "sm_90a">] {
  llvm.func @f(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected 'math.exp2' on f32, got 'f64'}}
    %0 = math.exp2 %x : f64
    llvm.store %0, %p : f64, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// expected-error @+1 {{expected one #nvvm.target, got 0 targets}}
gpu.module @no_target {
  llvm.func @f() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

// expected-error @+2 {{expected LLVM to compile 'unselectable' for sm_90a, got: Cannot select}}
// expected-note @+1 {{reproducer: llc -mtriple=nvptx64-nvidia-cuda -mcpu=sm_90a -mattr=}}
gpu.module @unselectable [#nvvm.target<chip = "sm_90a">] {
  llvm.func @f(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.intr.log2(%x) : (f64) -> f64
    llvm.store %0, %p : f64, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// expected-error @+2 {{expected LLVM to compile 'constraint' for sm_90a, got: couldn't allocate output register for constraint 'z'}}
// expected-note @+1 {{reproducer: llc}}
gpu.module @constraint [#nvvm.target<chip = "sm_90a">] {
  llvm.func @f(%p: !llvm.ptr<1>, %x: i32) attributes {nvvm.kernel} {
    %0 = llvm.inline_asm has_side_effects "add $0, $1;", "=z,r" %x : (i32) -> i32
    llvm.store %0, %p : i32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// expected-error @+2 {{expected LLVM to compile 'immediate' for sm_90a, got: immarg operand has non-immediate parameter}}
// expected-note @+1 {{reproducer: llc}}
gpu.module @immediate [#nvvm.target<chip = "sm_90a">] {
  llvm.func @f(%registers: i32) attributes {nvvm.kernel} {
    llvm.call_intrinsic "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"(%registers) : (i32) -> ()
    llvm.return
  }
}

// -----

gpu.module @extracted [#nvvm.target<chip = "sm_90a">] {
  llvm.func @f(%p: !llvm.ptr<1>, %v: vector<4xi32>) attributes {nvvm.kernel} {
    %place = llvm.mlir.constant(65535 : i32) : i32
    // expected-error @+1 {{expected a place below 4 in 'vector<4xi32>', got 65535}}
    %0 = llvm.extractelement %v[%place : i32] : vector<4xi32>
    llvm.store %0, %p : i32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

gpu.module @inserted [#nvvm.target<chip = "sm_90a">] {
  llvm.func @f(%p: !llvm.ptr<1>, %v: vector<4xi32>, %x: i32) attributes {nvvm.kernel} {
    %place = llvm.mlir.constant(-1 : i32) : i32
    // expected-error @+1 {{expected a place below 4 in 'vector<4xi32>', got -1}}
    %0 = llvm.insertelement %x, %v[%place : i32] : vector<4xi32>
    llvm.store %0, %p : vector<4xi32>, !llvm.ptr<1>
    llvm.return
  }
}

// -----

gpu.module @shuffled [#nvvm.target<chip = "sm_90a">] {
  llvm.func @f(%p: !llvm.ptr<1>, %v: vector<2xi32>) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected places from -1 to 3 in two of 'vector<2xi32>', got 4}}
    %0 = llvm.shufflevector %v, %v [0, -1, 3, 4] : vector<2xi32>
    llvm.store %0, %p : vector<4xi32>, !llvm.ptr<1>
    llvm.return
  }
}
