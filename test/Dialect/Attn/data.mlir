// #attn.machine, #attn.values and #attn.kernel_values.
// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s
// The data that is embedded in the compiler is valid.
// RUN: attn-opt %attn_root/passes/schedule/data/machines/sm_90a.mlir -o /dev/null
// RUN: attn-opt %attn_root/passes/schedule/data/machines/sm_100a.mlir -o /dev/null
// RUN: attn-opt %attn_root/passes/schedule/data/values/fwd.mlir -o /dev/null
// RUN: attn-opt %attn_root/passes/schedule/data/values/bwd.mlir -o /dev/null
// RUN: attn-opt %attn_root/passes/schedule/data/values/decode.mlir -o /dev/null
// RUN: attn-opt %attn_root/passes/schedule/data/values/combine.mlir -o /dev/null

// CHECK: #attn.machine<"m" spaces{{ *}}[{{ *}}reg capacity 16 unit 4 private true, {{ *}}tmem capacity 2 unit 8 private false]
// CHECK-SAME: mma {{ *}}acc tmem a{{ *}}[reg, tmem] b{{ *}}[tmem] signals_barriers true
// CHECK-SAME: registers <lowest = 1, highest = 4, granule = 1, reserve = 0, small = 2, reserve_small = 1>
// CHECK-SAME: barriers <named = 1, memory = 2, bytes = 8> warps <lanes = 2, group = 1, most = 2>>
module @machine attributes {attn.machine = #attn.machine<"m"
  spaces [reg capacity 16 unit 4 private true, tmem capacity 2 unit 8 private false]
  mma acc tmem a [reg, tmem] b [tmem] signals_barriers true
  registers <lowest = 1, highest = 4, granule = 1, reserve = 0, small = 2, reserve_small = 1>
  barriers <named = 1, memory = 2, bytes = 8>
  warps <lanes = 2, group = 1, most = 2>>} {}

// CHECK: attn.some = #attn.values<a<M>, w>, attn.values = #attn.kernel_values<combine {
// CHECK-NEXT: carried m<M>, o<M, D>
// CHECK-NEXT: final mf<M>, of<M, D>
// CHECK-NEXT: step next w
// CHECK-NEXT: step "a b" s<M, N>, "1"<M>
// CHECK-NEXT: }>
module @values attributes {attn.values = #attn.kernel_values<combine {
  step next w
  final mf<M>, of<M, D>
  carried m<M>, o<M, D>
  step "a b" s<M, N>, "1"<M>
}>, attn.some = #attn.values<a<M>, w>} {}
