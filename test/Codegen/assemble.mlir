// REQUIRES: ptxas
// RUN: attn-opt %s --attn-emit-ptx --attn-assemble=ptxas=%ptxas | FileCheck %s
// The hot loop spills nothing, and nothing is serialized.
// RUN: attn-opt %S/hot-loop.mlir --attn-emit-ptx --attn-assemble=ptxas=%ptxas | FileCheck %s --check-prefix=LOOP
// The same input, the same bytes.
// RUN: attn-opt %s --attn-emit-ptx --attn-assemble=ptxas=%ptxas -o %t.1
// RUN: attn-opt %s --attn-emit-ptx --attn-assemble=ptxas=%ptxas -o %t.2
// RUN: diff %t.1 %t.2

// CHECK: gpu.binary @kernels {test.attribute = "any"}
// CHECK-SAME: assembly = "
// CHECK-SAME: #gpu.object<#nvvm.target<chip = "sm_90a">, properties = {kernels = {store = {barriers = 1 : i64, registers = {{[1-9][0-9]*}} : i64, shared = 0 : i64, spill_loads = 0 : i64, spill_stores = 0 : i64, stack = 0 : i64}}, serialized = 0 : i64}, bin = "\7FELF
// LOOP: spill_loads = 0 : i64, spill_stores = 0 : i64, stack = 0 : i64
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] attributes {test.attribute = "any"} {
  llvm.func @store(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    nvvm.barrier
    llvm.store %x, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
