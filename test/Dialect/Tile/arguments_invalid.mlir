// What #attn.arguments and the kernels that have them refuse, by label.
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
// expected-error @below {{'tile.kernel' op expected 'from' and 'to' of an f32 argument alone, got them of "x", 'i32'}}
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

// A tensor's own name is nothing that expressions use, but the plan has it.
#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{expected a name in UTF-8, got "\FF"}}
tile.kernel @c2_utf8_tensor args ["\FF" ("b", "s", "h")] problem #p {
^bb0(%x: tensor<?x?x?xf32>):
  tile.work {
  }
}
