// Errors of #attn.arguments and of kernels with arguments, by label.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected a name that launch plans do not use for something else, got "items"}}
tile.kernel @c2_size args ["x" ("b", "items", "h")] problem #p {
^bb0(%x: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected a name that launch plans do not use for something else, got "sm_count"}}
tile.kernel @c2_size args ["x" ("b", "sm_count", "h")] problem #p {
^bb0(%x: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected a name that launch plans do not use for something else, got "cut.whole"}}
tile.kernel @c2_size args ["x" ("b", "cut.whole", "h")] problem #p {
^bb0(%x: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected a name that launch plans do not use for something else, got "128"}}
tile.kernel @c2_size args ["x" ("b", "128", "h")] problem #p {
^bb0(%x: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected a name that launch plans do not use for something else, got "-1"}}
tile.kernel @c2_size args ["x" ("b", "-1", "h")] problem #p {
^bb0(%x: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected a name that launch plans do not use for something else, got ""}}
tile.kernel @c2_size args ["x" ("b", "", "h")] problem #p {
^bb0(%x: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected a name that launch plans do not use for something else, got "items"}}
tile.kernel @c2_number args ["items"] problem #p {
^bb0(%n: i32):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected the values of "x" to be finite, from the least to the most, got 2.000000e+00 : f32 and 1.000000e+00 : f32}}
tile.kernel @c3 args ["x" from 2.0 to 1.0] problem #p {
^bb0(%x: f32):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected 'from' and 'to' only of an f32 argument, got them of "x", 'i32'}}
tile.kernel @c5 args ["x" from 1.0 to 2.0] problem #p {
^bb0(%x: i32):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected 0 names for the dimensions of argument "n", got 1}}
tile.kernel @c1_scalar args ["n" ("b")] problem #p {
^bb0(%n: i32):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected the values of "x" to be finite, from the least to the most, got 1.000000e+00 : f32 and 0x7F800000 : f32}}
tile.kernel @c3_infinite args ["x" from 1.0 to 0x7F800000] problem #p {
^bb0(%x: f32):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected a name that launch plans do not use for something else, got "n{"}}
tile.kernel @c2_braces args ["n{"] problem #p {
^bb0(%n: i32):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected a name that launch plans do not use for something else, got "\FF"}}
tile.kernel @c2_utf8 args ["x" ("b", "\FF", "h")] problem #p {
^bb0(%x: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

// The name is not used by expressions, but it is in the launch plan.
#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected a name in UTF-8 without a zero byte, got "\FF"}}
tile.kernel @c2_utf8_tensor args ["\FF" ("b", "s", "h")] problem #p {
^bb0(%x: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected the symbols in 'args' to be different, got "b" twice}}
tile.kernel @c1_symbols args ["a" as "b", "b"] problem #p {
^bb0(%a: i32, %b: i32):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected a name that launch plans do not use for something else, got "a.b"}}
tile.kernel @c2_symbol args ["a" as "a.b"] problem #p {
^bb0(%a: i32):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected one argument of role 'query', got "b" as another}}
tile.kernel @c4 args ["a" query, "b" query] problem #p {
^bb0(%a: tensor<?x?x?x64xbf16>, %b: tensor<?x?x?x64xbf16>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected "a", of role 'query', to be one to read, got one to write}}
tile.kernel @c5_query args ["a" query write] problem #p {
^bb0(%a: tensor<?x?x?x64xbf16>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected "a", of role 'lse', to be one to write or accumulate, got one to read}}
tile.kernel @kernel_c6_lse args ["a" lse] problem #p {
^bb0(%a: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = delta, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected "a", of role 'lse', to be one to read, got one to write}}
tile.kernel @kernel_c6_lse_of_delta args ["a" lse write] problem #p {
^bb0(%a: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = delta, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected "a", of role 'query_gradient_sums', to be one to write or accumulate, got one to read}}
tile.kernel @kernel_c6_sums_of_delta args ["a" query_gradient_sums] problem #p {
^bb0(%a: tensor<?x?x?x64xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = delta, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected a kernel of kind 'delta' to have an argument of role 'output', got none}}
tile.kernel @kernel_c6_delta args ["a" lse] problem #p {
^bb0(%a: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = bwd_dq, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected a kernel of kind 'bwd_dq' to have an argument of role 'query', got none}}
tile.kernel @kernel_c6_bwd_dq args ["a" query_gradient write] problem #p {
^bb0(%x0: tensor<?x?x?x64xbf16>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = bwd_dk_dv, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected "a", of role 'query_gradient', to be one to read, got one to write}}
tile.kernel @kernel_c6_bwd_dk_dv args ["a" query_gradient write] problem #p {
^bb0(%x0: tensor<?x?x?x64xbf16>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = bwd_dk_dv, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected "a", of role 'value_gradient', to be a tensor of rank 4 of the problem's type and head dim of V, got 'tensor<?x?x?x64xbf16>'}}
tile.kernel @kernel_c7_value_gradient args ["a" value_gradient write] problem #p {
^bb0(%x0: tensor<?x?x?x64xbf16>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected a role, 'read', 'write' or 'accumulate', got 'queries'}}
tile.kernel @word args ["a" queries] problem #p {
^bb0(%a: i32):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected 'read', 'write' or 'accumulate', got 'query'}}
tile.kernel @second_word args ["a" key query] problem #p {
^bb0(%a: i32):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected each argument to have a role, as some have one, got none of "v"}}
tile.kernel @kernel_c6_all args ["q" query, "k" key, "v", "scale" scale, "o" output write, "lse" lse write] problem #p {
^bb0(%a0: tensor<?x?x?x64xbf16>, %a1: tensor<?x?x?x64xbf16>, %a2: tensor<?x?x?x64xbf16>, %a3: f32, %a4: tensor<?x?x?x64xbf16>, %a5: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected a kernel of kind 'fwd' to have an argument of role 'scale', got none}}
tile.kernel @kernel_c6_forward args ["q" query, "k" key, "v" value, "o" output write, "lse" lse write] problem #p {
^bb0(%a0: tensor<?x?x?x64xbf16>, %a1: tensor<?x?x?x64xbf16>, %a2: tensor<?x?x?x64xbf16>, %a3: tensor<?x?x?x64xbf16>, %a4: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected an argument of role 'dropout_rate' if and only if the problem has dropout, got one and 'dropout' false}}
tile.kernel @kernel_c6_rate args ["q" query, "k" key, "v" value, "scale" scale, "rate" dropout_rate, "o" output write, "lse" lse write] problem #p {
^bb0(%a0: tensor<?x?x?x64xbf16>, %a1: tensor<?x?x?x64xbf16>, %a2: tensor<?x?x?x64xbf16>, %a3: f32, %rate: f32, %a4: tensor<?x?x?x64xbf16>, %a5: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent, dropout = true>
// expected-error @below {{'tile.kernel' op expected an argument of role 'dropout_rate' if and only if the problem has dropout, got none and 'dropout' true}}
tile.kernel @kernel_c6_dropout args ["q" query, "k" key, "v" value, "scale" scale, "o" output write, "lse" lse write] problem #p {
^bb0(%a0: tensor<?x?x?x64xbf16>, %a1: tensor<?x?x?x64xbf16>, %a2: tensor<?x?x?x64xbf16>, %a3: f32, %a4: tensor<?x?x?x64xbf16>, %a5: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected an argument of role 'bound' for each bound of the problem, 0, got 1}}
tile.kernel @kernel_c6_bounds args ["q" query, "k" key, "v" value, "scale" scale, "o" output write, "lse" lse write, "n" bound] problem #p {
^bb0(%a0: tensor<?x?x?x64xbf16>, %a1: tensor<?x?x?x64xbf16>, %a2: tensor<?x?x?x64xbf16>, %a3: f32, %a4: tensor<?x?x?x64xbf16>, %a5: tensor<?x?x?xf32>, %n: i32):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected "q", of role 'query', to be a tensor of rank 4 of the problem's type and head dim, got 'tensor<?x?x?x32xbf16>'}}
tile.kernel @kernel_c7_query args ["q" query, "k" key, "v" value, "scale" scale, "o" output write, "lse" lse write] problem #p {
^bb0(%a0: tensor<?x?x?x32xbf16>, %a1: tensor<?x?x?x64xbf16>, %a2: tensor<?x?x?x64xbf16>, %a3: f32, %a4: tensor<?x?x?x64xbf16>, %a5: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected "o", of role 'output', to be a tensor of rank 4 of the problem's type and head dim of V, got 'tensor<?x?x?x64xf32>'}}
tile.kernel @kernel_c7_output args ["q" query, "k" key, "v" value, "scale" scale, "o" output write, "lse" lse write] problem #p {
^bb0(%a0: tensor<?x?x?x64xbf16>, %a1: tensor<?x?x?x64xbf16>, %a2: tensor<?x?x?x64xbf16>, %a3: f32, %a4: tensor<?x?x?x64xf32>, %a5: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected "lse", of role 'lse', to be a tensor of rank 3 of f32, got 'tensor<?x?xf32>'}}
tile.kernel @kernel_c7_lse args ["q" query, "k" key, "v" value, "scale" scale, "o" output write, "lse" lse write] problem #p {
^bb0(%a0: tensor<?x?x?x64xbf16>, %a1: tensor<?x?x?x64xbf16>, %a2: tensor<?x?x?x64xbf16>, %a3: f32, %a4: tensor<?x?x?x64xbf16>, %a5: tensor<?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected "scale", of role 'scale', to be f32, got 'i32'}}
tile.kernel @kernel_c7_scale args ["q" query, "k" key, "v" value, "scale" scale, "o" output write, "lse" lse write] problem #p {
^bb0(%a0: tensor<?x?x?x64xbf16>, %a1: tensor<?x?x?x64xbf16>, %a2: tensor<?x?x?x64xbf16>, %a3: i32, %a4: tensor<?x?x?x64xbf16>, %a5: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op expected "n", of role 'bound', to be i32, got 'i64'}}
tile.kernel @kernel_c7_bound args ["q" query, "k" key, "v" value, "scale" scale, "o" output write, "lse" lse write, "n" bound] problem #p {
^bb0(%a0: tensor<?x?x?x64xbf16>, %a1: tensor<?x?x?x64xbf16>, %a2: tensor<?x?x?x64xbf16>, %a3: f32, %a4: tensor<?x?x?x64xbf16>, %a5: tensor<?x?x?xf32>, %n: i64):
  tile.work {
  }
}
