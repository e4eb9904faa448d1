// One test for each constraint of a launch plan, by its label.
// RUN: %cases %s | attn-opt -split-input-file -verify-diagnostics

#p = #attn.problem<kind = custom, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
gpu.binary @f [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "">]
launch.plan @f target "sm_90a" args ["x" ("n"), "m", "scale"] problem #p {
^bb0(%x: tensor<?xf32>, %m: i32, %scale: f32):
...
  launch.variant workspace 0 {
...
    launch.kernel @f grid 1 block 32 cluster 1 shared 0 params []
...
  }
...
}

// -----

// plan C2
launch.variant when m workspace 0 {
  launch.kernel @f grid 1 block 32 cluster 1 shared 0 params []
}
// expected-error @below {{'launch.check' op expected values, temporaries, checks and then variants in a 'launch.plan', got this op after a 'launch.variant'}}
launch.check m equals 1 "late"
...
...
...

// -----

// plan C2
// expected-error @below {{'launch.variant' op expected 'when' in all variants but the last, got none}}
launch.variant workspace 0 {
  launch.kernel @f grid 1 block 32 cluster 1 shared 0 params []
}
...
...
...

// -----

// plan C3: `i` is a name of keys alone
// expected-error @below {{'launch.check' op expected the name of a size, a stride, an integer argument or a value before it, got 'i'}}
launch.check lt(i, 1) equals 1 "one"
...
...
...

// -----

// plan C3: a value comes before its uses
...
// expected-error @below {{'launch.value' op expected the name of a size, a stride, an integer argument or a value before it, got 'second'}}
launch.value "first" = second
launch.value "second" = 1
...
...

// -----

// plan C3
...
...
// expected-error @below {{'launch.kernel' op expected the name of a size, a stride, an integer argument or a value before it, got 'x.stride.1'}}
launch.kernel @f grid 1 block 32 cluster 1 shared 0 params [#launch.number<i64 x.stride.1>]
...

// -----

// plan C3
...
...
// expected-error @below {{'launch.kernel' op expected the name of a size, a stride, an integer argument or a value before it, got 'scale'}}
launch.kernel @f grid scale block 32 cluster 1 shared 0 params []
...

// -----

// plan C4
// expected-error @below {{'launch.check' op expected an expression that is at most 32 deep, got 33}}
launch.check add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, add(1, 1)))))))))))))))))))))))))))))))) equals 1 "deep"
...
...
...

// -----

// plan C5
// expected-error @below {{'launch.check' op expected the name of a size, a stride, an integer argument or a value before it, got 'rows'}}
launch.check m equals 1 "got {n} and {rows}"
...
...
...

// -----

// plan C5
// expected-error @below {{'launch.check' op expected a message in UTF-8}}
launch.check m equals 1 "got \FF"
...
...
...

// -----

// plan C6
...
launch.value "once" = 1
// expected-error @below {{'launch.value' op expected a new name in UTF-8, got "once"}}
launch.value "once" = 2
...
...

// -----

// plan C6
...
// expected-error @below {{'launch.value' op expected a new name in UTF-8, got "n"}}
launch.value "n" = 2
...
...

// -----

// plan C7
...
...
// expected-error @below {{'launch.kernel' op expected a parameter of a tensor argument, got "m"}}
launch.kernel @f grid 1 block 32 cluster 1 shared 0 params [#launch.pointer<"m">]
...

// -----

// plan C7
...
...
// expected-error @below {{'launch.kernel' op expected a parameter of a tensor argument, got "y"}}
launch.kernel @f grid 1 block 32 cluster 1 shared 0 params [#launch.tensor_map<"y" span none promotion none dims [<size 8 box 8>]>]
...

// -----

// plan C7
...
...
// expected-error @below {{'launch.kernel' op expected a parameter of an f32 argument, got "x"}}
launch.kernel @f grid 1 block 32 cluster 1 shared 0 params [#launch.scalar<"x">]
...

// -----

// variant C1
...
...
// expected-error @below {{'launch.value' op expected values and then kernels in a 'launch.variant', got this op after a kernel}}
launch.value "late" = 1
...

// -----

// plan C2
launch.temporary "t" : tensor<4xf32> sizes [4]
// expected-error @below {{'launch.value' op expected values, temporaries, checks and then variants in a 'launch.plan', got this op after a 'launch.temporary'}}
launch.value "late" = 1
...
...
...

// -----

// plan C2
// expected-error @below {{'launch.sequence' op expected values, temporaries, checks and then variants in a 'launch.plan', got this op}}
launch.sequence "g" launches ["a", "b"] temporaries []
...
...
...

// -----

// plan C3: the strides of a temporary are those of its own dims
launch.value "m2" = mul(m, 2)
launch.temporary "t" : tensor<?x?xf32> sizes [n, m2]
// expected-error @below {{'launch.check' op expected the name of a size, a stride, an integer argument or a value before it, got 't.stride.2'}}
launch.check lt(t.stride.2, 1) equals 1 "one"
...
...
...

// -----

// plan C3
// expected-error @below {{'launch.temporary' op expected the name of a size, a stride, an integer argument or a value before it, got 'parts'}}
launch.temporary "t" : tensor<?xf32> sizes [parts]
...
...
...

// -----

// plan C6
// expected-error @below {{'launch.temporary' op expected a new name in UTF-8, got "x"}}
launch.temporary "x" : tensor<?xf32> sizes [n]
...
...
...

// -----

// plan C6
launch.temporary "t" : tensor<?xf32> sizes [n]
// expected-error @below {{'launch.temporary' op expected a new name in UTF-8, got "t"}}
launch.temporary "t" : tensor<?xf32> sizes [n]
...
...
...

// -----

// temporary C1
// expected-error @below {{'launch.temporary' op expected an expression for each dimension of 'tensor<?x4xf32>', got ["n"]}}
launch.temporary "t" : tensor<?x4xf32> sizes [n]
...
...
...

// -----

// apply C1
// expected-error @below {{expected 'sub' to have 2 operands, got 3}}
launch.check sub(1, 2, 3) equals 1 "one"
...
...
...

// -----

// apply C1
// expected-error @below {{expected 'min' to have 2 or more operands, got 1}}
launch.check min(1) equals 1 "one"
...
...
...

// -----

// expected-error @below {{expected an operator of launch plans, got 'pow'}}
launch.check pow(1, 2) equals 1 "one"
...
...
...

// -----

...
...
// tensor_map C1
// expected-error @below {{expected 1 to 5 dimensions of a tensor map, got 6}}
launch.kernel @f grid 1 block 32 cluster 1 shared 0 params [#launch.tensor_map<"x" span none promotion none dims [<size 8 box 8>, <size 8 stride 16 box 8>, <size 8 stride 16 box 8>, <size 8 stride 16 box 8>, <size 8 stride 16 box 8>, <size 8 stride 16 box 8>]>]
...

// -----

// tensor_map C2
...
...
// expected-error @below {{expected no stride of dimension 0 of a tensor map, got one}}
launch.kernel @f grid 1 block 32 cluster 1 shared 0 params [#launch.tensor_map<"x" span none promotion none dims [<size 8 stride 16 box 8>]>]
...

// -----

// tensor_map C2
...
...
// expected-error @below {{expected a stride of dimension 1 of a tensor map, got none}}
launch.kernel @f grid 1 block 32 cluster 1 shared 0 params [#launch.tensor_map<"x" span none promotion none dims [<size 8 box 8>, <size 8 box 8>]>]
...

// -----

// number C1
...
...
// expected-error @below {{expected a parameter of i32 or i64, got 'f32'}}
launch.kernel @f grid 1 block 32 cluster 1 shared 0 params [#launch.number<f32 1>]
...

// -----

...
...
// expected-error @below {{'params' failed to satisfy constraint: parameters of a kernel}}
"launch.kernel"() <{kernel = @f, grid = 1, block = 32 : i64, cluster = 1 : i64, shared = 0 : i64, params = [1 : i32]}> : () -> ()
...

// -----

...
...
// expected-error @below {{'grid' failed to satisfy constraint: expression of a launch plan}}
"launch.kernel"() <{kernel = @f, grid = 1 : i32, block = 32 : i64, cluster = 1 : i64, shared = 0 : i64, params = []}> : () -> ()
...

// =====

gpu.binary @f [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "">]

// -----

// plan C1
// expected-error @below {{'launch.plan' op expected 1 'args', got 0}}
launch.plan @f target "sm_90a" args [] problem #p {
^bb0(%n: i32):
  launch.variant workspace 0 {
    launch.kernel @f grid n block 32 cluster 1 shared 0 params []
  }
}

// -----

// plan C1
#w = #attn.problem<kind = custom, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = window_top_left, score_region = absent, mask_region = absent, bounds = window_left>
// expected-error @below {{'launch.plan' op expected an argument of role 'bound' for each bound of the problem, 1, got 0}}
launch.plan @f target "sm_90a" args ["n"] problem #w {
^bb0(%n: i32):
  launch.variant workspace 0 {
    launch.kernel @f grid n block 32 cluster 1 shared 0 params []
  }
}

// -----

// plan C2
// expected-error @below {{'launch.plan' op expected at least one variant, got none}}
launch.plan @f target "sm_90a" args ["n"] problem #p {
^bb0(%n: i32):
  launch.check n equals 1 "one"
}

// -----

// plan C2
launch.plan @f target "sm_90a" args ["n"] problem #p {
^bb0(%n: i32):
  // expected-error @below {{'launch.variant' op expected no 'when' in the last variant, got one}}
  launch.variant when n workspace 0 {
    launch.kernel @f grid 1 block 32 cluster 1 shared 0 params []
  }
}

// -----

// plan C3
// expected-error @below {{'launch.plan' op expected the name of a size, a stride, an integer argument or a value before it, got 'sq'}}
launch.plan @f target "sm_90a" args ["n"] problem #p last_key add(i, sq) {
^bb0(%n: i32):
  launch.variant workspace 0 {
    launch.kernel @f grid n block 32 cluster 1 shared 0 params []
  }
}

// -----

// plan C3: a static size has no name
launch.plan @f target "sm_90a" args ["x" ("n")] problem #p {
^bb0(%x: tensor<8xf32>):
  launch.variant workspace 0 {
    // expected-error @below {{'launch.kernel' op expected the name of a size, a stride, an integer argument or a value before it, got 'n'}}
    launch.kernel @f grid n block 32 cluster 1 shared 0 params []
  }
}

// -----

// plan C9
// expected-error @below {{'launch.plan' op expected 'programs' to have lists of lists of words for 'score' and 'mask', got 'score' = ["f32"]}}
launch.plan @f target "sm_90a" args ["n"] problem #p programs {score = ["f32"]} {
^bb0(%n: i32):
  launch.variant workspace 0 {
    launch.kernel @f grid n block 32 cluster 1 shared 0 params []
  }
}

// -----

// plan C9
// expected-error @below {{'launch.plan' op expected 'programs' to have lists of lists of words for 'score' and 'mask', got 'other' = []}}
launch.plan @f target "sm_90a" args ["n"] problem #p programs {other = []} {
^bb0(%n: i32):
  launch.variant workspace 0 {
    launch.kernel @f grid n block 32 cluster 1 shared 0 params []
  }
}

// -----

// plan C8
// expected-error @below {{'launch.plan' op expected the name of a 'gpu.module' or 'gpu.binary', got '@g'}}
launch.plan @g target "sm_90a" args ["n"] problem #p {
^bb0(%n: i32):
  launch.variant workspace 0 {
    launch.kernel @f grid n block 32 cluster 1 shared 0 params []
  }
}

// -----

// plan C8
launch.plan @f target "sm_90a" args ["n"] problem #p {
^bb0(%n: i32):
  launch.variant workspace 0 {
    launch.kernel @f grid n block 32 cluster 1 shared 0 params []
  }
}
// expected-error @below {{'launch.plan' op expected one launch plan of '@f', got another}}
launch.plan @f target "sm_90a" args ["n"] problem #p {
^bb0(%n: i32):
  launch.variant workspace 0 {
    launch.kernel @f grid n block 32 cluster 1 shared 0 params []
  }
}

// -----

// plan C8
// expected-error @below {{'launch.plan' op expected the target of '@f' to be 'sm_100a', got #nvvm.target<chip = "sm_90a">}}
launch.plan @f target "sm_100a" args ["n"] problem #p {
^bb0(%n: i32):
  launch.variant workspace 0 {
    launch.kernel @f grid n block 32 cluster 1 shared 0 params []
  }
}

// -----

// plan C8
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
}
launch.plan @m target "sm_90a" args ["n"] problem #p {
^bb0(%n: i32):
  launch.variant workspace 0 {
    // expected-error @below {{'launch.kernel' op expected a kernel of '@m', got '@f'}}
    launch.kernel @f grid n block 32 cluster 1 shared 0 params []
  }
}

// -----

// variant C1
launch.plan @f target "sm_90a" args ["n"] problem #p {
^bb0(%n: i32):
  // expected-error @below {{'launch.variant' op expected at least one kernel, got none}}
  launch.variant workspace 0 {
    launch.value "v" = 1
  }
}

// -----

// variant C2
launch.plan @f target "sm_90a" args ["n"] problem #p {
^bb0(%n: i32):
  launch.variant workspace 0 {
    // expected-error @below {{'launch.kernel' op expected the only kernel of a variant to have no 'schedule', got one}}
    launch.kernel @f grid n block 32 cluster 1 shared 0 params [] schedule <"s" machine "sm_90a" { role wg warps 4 regs 240 }>
  }
}

// -----

// variant C2
launch.plan @f target "sm_90a" args ["n"] problem #p {
^bb0(%n: i32):
  // expected-error @below {{'launch.variant' op expected several kernels to have their schedules themselves, got the 'schedule' of the variant}}
  launch.variant workspace 0 schedule <"s" machine "sm_90a" { role wg warps 4 regs 240 }> {
    launch.kernel @f grid n block 32 cluster 1 shared 0 params []
    launch.kernel @f grid n block 32 cluster 1 shared 0 params []
  }
}

// -----

// sequence C1
// expected-error @below {{'launch.sequence' op expected at least two launches with different names, got ["a"]}}
launch.sequence "g" launches ["a"] temporaries []

// -----

// sequence C1
// expected-error @below {{'launch.sequence' op expected at least two launches with different names, got ["a", "b", "a"]}}
launch.sequence "g" launches ["a", "b", "a"] temporaries []

// -----

// sequence C2
// expected-error @below {{'launch.sequence' op expected temporaries with different names, got ["t", "t"]}}
launch.sequence "g" launches ["a", "b"] temporaries ["t", "t"]

// -----

// sequence C2
// expected-error @below {{'launch.sequence' op expected size 'sr' to be an expression, got 1 : i32}}
launch.sequence "g" launches ["a", "b"] temporaries ["t"] sizes {sr = 1 : i32}

// -----

// gradient_numerics C1
launch.plan @f target "sm_90a" args ["n"] problem #p {
^bb0(%n: i32):
  // expected-error @below {{expected 'least' to be an f64 from 0 to below 1, got -1.000000e+00 : f64}}
  launch.variant workspace 0 gradients <score_relative = 0.0, exponential = 0.0, exponent_relative = 0.0, flush = 0.0, dp_relative = 0.0, delta_relative = 0.0, lse2_relative = 0.0, operations = 0.0, per_product = 0.0, per_addition = 0.0, rounding = 0.0, least = -1.0, kept_relative = 0.0, kept_least = 0.0> {
    launch.kernel @f grid n block 32 cluster 1 shared 0 params []
  }
}

// -----

// numerics C1
launch.plan @f target "sm_90a" args ["n"] problem #p {
^bb0(%n: i32):
  // expected-error @below {{expected 'score_relative' to be an f64 from 0 to below 1, got 1.000000e+00 : f64}}
  launch.variant workspace 0 numerics <score_relative = 1.0, o_relative = 0.0, o_per_key = 0.0, flush = 0.0, lse_relative = 0.0, lse_absolute = 0.0, lse_per_root_key = 0.0> {
    launch.kernel @f grid n block 32 cluster 1 shared 0 params []
  }
}

// -----

launch.plan @f target "sm_90a" args ["n"] problem #p {
^bb0(%n: i32):
  // expected-error @below {{expected 'o_relative'}}
  launch.variant workspace 0 numerics <score_relative = 0.0, flush = 0.0> {
  }
}

// -----

// expected-error @below {{expected an operator and its operands, got 1 : i64}}
"launch.plan"() {expr = #launch.apply<1>} : () -> ()
