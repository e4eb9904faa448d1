// Round trips of the launch dialect: text, generic text, bytecode.
// RUN: attn-opt %s --verify-roundtrip --allow-unregistered-dialect | FileCheck %s
// RUN: attn-opt %s --allow-unregistered-dialect | attn-opt --allow-unregistered-dialect | FileCheck %s
// RUN: attn-opt %s --allow-unregistered-dialect --mlir-print-op-generic | attn-opt --allow-unregistered-dialect | FileCheck %s
// RUN: attn-opt %s --allow-unregistered-dialect --emit-bytecode | attn-opt --allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: launch.plan @fwd target "sm_90a" args ["q" query ("b", "sq", "hq", "d"), "k" key ("b", "sk", "hk", "d"),
// CHECK-SAME: problem <kind = fwd, {{.*}}> first_key sub(i, "window left") last_key add(i, sub(sk, sq)) programs {score = {{\[\[}}"f32", "yield", "s"]]} {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<?x?x?x64xbf16>, %{{.*}}: tensor<?x?x?x64xbf16>, %{{.*}}: tensor<?x?x?x64xbf16>, %{{.*}}: f32, %{{.*}}: i32, %{{.*}}: tensor<?x?x?x64xbf16>, %{{.*}}: tensor<?x?x?xf32>):
launch.plan @fwd target "sm_90a" args ["q" query ("b", "sq", "hq", "d"), "k" key ("b", "sk", "hk", "d"),
    "v" value ("b", "sk", "hk", "dv"), "scale" scale, "left" as "window left" bound,
    "o" output write ("b", "sq", "hq", "dv"), "lse" lse write ("b", "hq", "sq")]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = window_bottom_right, score_region = present, mask_region = absent, bounds = window_left>
    first_key sub(i, "window left") last_key add(i, sub(sk, sq)) programs {score = [["f32", "yield", "s"]]} {
^bb0(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32, %left: i32, %o: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>):
  // CHECK-NEXT: launch.check mod(hq, max(hk, 1)) equals 0 "{hq} query heads are not a multiple of {hk} key heads"
  launch.check mod(hq, max(hk, 1)) equals 0 "{hq} query heads are not a multiple of {hk} key heads"
  // CHECK-NEXT: launch.check ge("window left", -1) equals 1 "an open { brace"
  launch.check ge("window left", -1) equals 1 "an open { brace"
  // CHECK-NEXT: launch.variant when min(ge(512, sk), lt(1000, mul(sq, hq, b))) condition <seqlen_k at_most 512 and rows above 1000> workspace add(mul(cut.tail, 4096), 33024) zeroed 33024
  // CHECK-SAME: numerics <score_relative = 1.000000e-03 : f64, o_relative = 7.812500e-03 : f64, o_per_key = 0.000000e+00 : f64, flush = 1.1754943508222875E-38 : f64, lse_relative = 2.000000e-07 : f64, lse_absolute = 2.000000e-05 : f64, lse_per_root_key = 3.000000e-07 : f64>
  // CHECK-SAME: gradients <score_relative = 5.000000e-01 : f64, exponential = 2.500000e-01 : f64, exponent_relative = 1.250000e-01 : f64, flush = 6.250000e-02 : f64, dp_relative = 3.125000e-02 : f64, delta_relative = 1.562500e-02 : f64, lse2_relative = 7.812500e-03 : f64, operations = 3.750000e-01 : f64, per_product = 7.500000e-01 : f64, per_addition = 6.250000e-01 : f64, rounding = 8.750000e-01 : f64, least = 4.375000e-01 : f64, kept_relative = 1.875000e-01 : f64, kept_least = 3.125000e-01 : f64>
  // CHECK-SAME: schedule <"s" machine "sm_90a" {
  launch.variant when min(ge(512, sk), lt(1000, mul(sq, hq, b))) condition <seqlen_k at_most 512 and rows above 1000>
      workspace add(mul(cut.tail, 4096), 33024) zeroed 33024
      numerics <score_relative = 1.0e-3, o_relative = 0.0078125, o_per_key = 0.0, flush = 1.1754943508222875E-38, lse_relative = 2.0e-7, lse_absolute = 2.0e-5, lse_per_root_key = 3.0e-7>
      gradients <score_relative = 0.5, exponential = 0.25, exponent_relative = 0.125, flush = 0.0625, dp_relative = 0.03125, delta_relative = 0.015625, lse2_relative = 0.0078125, operations = 0.375, per_product = 0.75, per_addition = 0.625, rounding = 0.875, least = 0.4375, kept_relative = 0.1875, kept_least = 0.3125>
      schedule <"s" machine "sm_90a" { role wg warps 4 regs 240 }> {
    // CHECK: launch.value "cut.tail" = mod(mul(sq, b), sm_count)
    launch.value "cut.tail" = mod(mul(sq, b), sm_count)
    // CHECK-NEXT: launch.value "cut.parts" = select(eq(cut.tail, 0), 1, 2)
    launch.value "cut.parts" = select(eq(cut.tail, 0), 1, 2)
    // CHECK-NEXT: launch.kernel @few_keys grid min(mul(ceildiv(sq, 128), hq), sm_count) block 384 cluster 2 shared 197632 dependent params [
    // CHECK-NEXT: #launch.tensor_map<"q" span b128 promotion b256 dims [<size 64 box 64>, <size sq stride mul(q.stride.1, 2) box 128>]>,
    // CHECK-NEXT: #launch.pointer<"lse">,
    // CHECK-NEXT: #launch.pointer<"o" aligned_rows>,
    // CHECK-NEXT: #launch.workspace,
    // CHECK-NEXT: #launch.number<i32 cut.parts>,
    // CHECK-NEXT: #launch.number<i64 o.stride.1>,
    // CHECK-NEXT: #launch.scalar<"scale">]
    // CHECK-SAME: report <roles [<"load" replicas 1 warps 1 registers 40>, <"wg" replicas 2 warps 4 registers 232>] mbarriers 12 rung 1 stamps <offset 256 events 4096 ctas 4 names [<item "">, <acquire "k">]>>
    launch.kernel @few_keys grid min(mul(ceildiv(sq, 128), hq), sm_count) block 384 cluster 2 shared 197632 dependent
        params [#launch.tensor_map<"q" span b128 promotion b256 dims [<size 64 box 64>, <size sq stride mul(q.stride.1, 2) box 128>]>,
                #launch.pointer<"lse">, #launch.pointer<"o" aligned_rows>, #launch.workspace, #launch.number<i32 cut.parts>,
                #launch.number<i64 o.stride.1>, #launch.scalar<"scale">]
        report <roles [<"load" replicas 1 warps 1 registers 40>, <"wg" replicas 2 warps 4 registers 232>] mbarriers 12 rung 1
                stamps <offset 256 events 4096 ctas 4 names [<item "">, <acquire "k">]>>
  }
  // Another variant may give a name another value, and have several kernels.
  // CHECK: launch.variant workspace 0 {
  launch.variant workspace 0 {
    // CHECK-NEXT: launch.value "cut.tail" = 1
    launch.value "cut.tail" = 1
    // CHECK-NEXT: launch.kernel @before grid 1 block 128 cluster 1 shared 0 params []
    launch.kernel @before grid 1 block 128 cluster 1 shared 0 params []
    // CHECK-NEXT: launch.kernel @after grid cut.tail block 128 cluster 1 shared 0 params []
    launch.kernel @after grid cut.tail block 128 cluster 1 shared 0 params []
  }
}
gpu.binary @fwd [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "">]

// Values and temporaries of a plan.
// CHECK-LABEL: launch.plan @two
launch.plan @two target "sm_90a" args ["x" ("n"), "y" write ("n")]
    problem <kind = custom, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
^bb0(%x: tensor<?xf32>, %y: tensor<?xf32>):
  // CHECK: launch.value "parts" = ceildiv(n, 128)
  launch.value "parts" = ceildiv(n, 128)
  // CHECK-NEXT: launch.temporary "t" : tensor<?x?x8xf32> sizes [parts, add(n, 1), 8]
  launch.temporary "t" : tensor<?x?x8xf32> sizes [parts, add(n, 1), 8]
  // CHECK-NEXT: launch.check lt(mul(parts, t.stride.0), 1000) equals 1 "{parts} parts"
  launch.check lt(mul(parts, t.stride.0), 1000) equals 1 "{parts} parts"
  launch.variant workspace 0 {
    // CHECK: launch.kernel @first grid parts block 32 cluster 1 shared 0 params [
    // CHECK-NEXT: #launch.pointer<"t">] report <roles [<"r" replicas 1 warps 4 registers 240>] mbarriers 0 rung 0> schedule <"s" machine "sm_90a" {
    launch.kernel @first grid parts block 32 cluster 1 shared 0 params [#launch.pointer<"t">] report <roles [<"r" replicas 1 warps 4 registers 240>] mbarriers 0 rung 0>
        schedule <"s" machine "sm_90a" { role wg warps 4 regs 240 }>
    // CHECK: launch.kernel @second grid n
    launch.kernel @second grid n block 32 cluster 1 shared 0 params [#launch.pointer<"t">, #launch.number<i64 t.stride.1>]
  }
}
gpu.binary @two [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "">]

// CHECK: launch.sequence "both" launches ["first", "second"] temporaries ["t"] sizes {parts = #launch.apply<ceildiv(n, 128)>, some = 4 : i64}
launch.sequence "both" launches ["first", "second"] temporaries ["t"] sizes {parts = #launch.apply<ceildiv(n, 128)>, some = 4}
// CHECK: launch.sequence "plain" launches ["a", "b"] temporaries [] problem <kind = bwd,
launch.sequence "plain" launches ["a", "b"] temporaries []
    problem <kind = bwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>

// A static size is a number: its name is none.
// CHECK-LABEL: launch.plan @static
launch.plan @static target "sm_90a" args ["x" ("n", "m")]
    problem <kind = custom, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
^bb0(%x: tensor<?x8xf32>):
  // CHECK: launch.variant workspace 0
  launch.variant workspace 0 {
    // CHECK-NEXT: launch.kernel @k grid n
    launch.kernel @k grid n block 32 cluster 1 shared 0 params []
  }
}
// CHECK: gpu.module @static
gpu.module @static [#nvvm.target<chip = "sm_90a">] {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
}

// CHECK: "any.op"() {expr = #launch.apply<mul(ceildiv(sq, 128), -1)>}
"any.op"() {expr = #launch.apply<mul(ceildiv(sq, 128), -1)>} : () -> ()
