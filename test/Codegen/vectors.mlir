// Values that are vectors above are registers below: no vector, no local
// memory, selects and branches as they were.
// RUN: attn-opt %s --attn-emit-ptx | sed 's/\\0A/\n/g; s/\\09/\t/g' | FileCheck %s --implicit-check-not=.local --implicit-check-not=prmt

gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
  // CHECK: .visible .entry v(
  // CHECK: .reqntid 128
  // CHECK-NEXT: .explicitcluster
  // CHECK-NEXT: .reqnctapercluster 2, 1, 1
  llvm.func @v(%p: !llvm.ptr<1>, %x: vector<16xf32>, %n: i32, %c: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // A mask: one comparison for each distinct column.
    // CHECK-COUNT-8: setp.gt.s32
    // CHECK-NOT: setp
    // CHECK-COUNT-8: selp.f32 {{.*}}, 0fFF800000, %p{{[0-9]+}};
    %columns = arith.constant dense<[0, 1, 0, 1, 8, 9, 8, 9, 16, 17, 16, 17, 24, 25, 24, 25]> : vector<16xi32>
    %limit = vector.broadcast %n : i32 to vector<16xi32>
    %keep = arith.cmpi sle, %columns, %limit : vector<16xi32>
    %ninf = arith.constant dense<0xFF800000> : vector<16xf32>
    %masked = arith.select %keep, %x, %ninf : vector<16xi1>, vector<16xf32>
    // A condition for all elements.
    // CHECK: setp.gt.s32 [[ALL:%p[0-9]+]]
    // CHECK-COUNT-8: selp.f32 {{.*}}, [[ALL]];
    %b = arith.cmpi sgt, %n, %c1 : i32
    %s = arith.select %b, %masked, %x : vector<16xf32>
    // CHECK-COUNT-4: add.ftz.f32
    %lo = vector.extract_strided_slice %s {offsets = [0], sizes = [8], strides = [1]} : vector<16xf32> to vector<8xf32>
    %hi = vector.extract_strided_slice %s {offsets = [8], sizes = [8], strides = [1]} : vector<16xf32> to vector<8xf32>
    %sum = arith.addf %lo, %hi : vector<8xf32>
    %even = vector.shuffle %sum, %sum [0, 2, 4, 6] : vector<8xf32>, vector<8xf32>
    %e0 = vector.extract %even[0] : f32 from vector<4xf32>
    %some = vector.from_elements %e0, %c, %e0, %c : vector<4xf32>
    %start = vector.insert_strided_slice %some, %sum {offsets = [2], strides = [1]} : vector<4xf32> into vector<8xf32>
    // A loop of scf.while is not unrolled either. Equal elements are computed
    // once.
    // CHECK: nounroll
    // CHECK-COUNT-7: ex2.approx.ftz.f32
    // CHECK-NOT: ex2
    %w:3 = scf.while (%i = %c0, %a = %start, %t = %c) : (i32, vector<8xf32>, f32) -> (i32, vector<8xf32>, f32) {
      %go = arith.cmpi slt, %i, %n : i32
      scf.condition(%go) %i, %a, %t : i32, vector<8xf32>, f32
    } do {
    ^bb0(%i: i32, %a: vector<8xf32>, %t: f32):
      %vt = vector.broadcast %t : f32 to vector<8xf32>
      %q = arith.mulf %a, %vt : vector<8xf32>
      %e = math.exp2 %q : vector<8xf32>
      %t2 = vector.extract %e[3] : f32 from vector<8xf32>
      %i1 = arith.addi %i, %c1 : i32
      scf.yield %i1, %e, %t2 : i32, vector<8xf32>, f32
    }
    %end = vector.insert %w#2, %w#1 [5] : f32 into vector<8xf32>
    // The bits of floats are integers at no cost.
    // CHECK-COUNT-7: max.s32
    %bits = arith.bitcast %end : vector<8xf32> to vector<8xi32>
    %most = vector.reduction <maxsi>, %bits : vector<8xi32> into i32
    %all:8 = vector.to_elements %end : vector<8xf32>
    %z = arith.addf %all#0, %all#7 : f32
    %to = llvm.getelementptr %p[%most] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %z, %to : f32, !llvm.ptr<1>
    // A store of a vector stays one.
    // CHECK: st.global.v4.b32
    %head = vector.extract_strided_slice %end {offsets = [0], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
    llvm.store %head, %p {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    // A branch stays a branch.
    // CHECK: @%p{{[0-9]+}} bra
    %v = scf.if %b -> f32 {
      %half = arith.mulf %z, %c : f32
      scf.yield %half : f32
    } else {
      scf.yield %z : f32
    }
    llvm.store %v, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
