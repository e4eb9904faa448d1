// RUN: rm -rf %t && mkdir -p %t
// RUN: attn-opt %s --attn-emit-ptx=reproducer-dir=%t -split-input-file -verify-diagnostics
// What LLVM could not compile is kept: one file of IR for each of the last two.
// RUN: cat %t/attn-reproducer-*.ll | FileCheck %s
// CHECK-COUNT-2: target triple = "nvptx64-nvidia-cuda"
// CHECK-NOT: target triple

gpu.module @unknown_math [#nvvm.target<chip = "sm_90a">] {
  llvm.func @f(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected an operation that the target has an instruction for, got 'math.erf'}}
    %0 = math.erf %x : f32
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
