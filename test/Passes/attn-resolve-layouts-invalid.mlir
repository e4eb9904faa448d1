// What attn-resolve-layouts requires, and what it has no lowering for.
// RUN: %cases %s | attn-opt --attn-resolve-layouts -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { split M 2 role wg[2] warps 4 regs 240 }>
tile.kernel @case args [] problem #p config #c schedule #s {
  tile.work {
...
    // Code after an error is not reported.
    %later = arith.constant dense<0.0> : tensor<32xf32>
  }
}

// -----

// Rows that attn-subtile would have cut.
// expected-error @below {{attn-resolve-layouts: no layout for 'tensor<128xf32>': expected 64 rows a warpgroup, got 128}}
%zero = arith.constant dense<0.0> : tensor<128xf32>

// -----

// expected-error @below {{attn-resolve-layouts: no layout for 'tensor<64x12xf32>': expected a multiple of 8 columns, got 12}}
%odd = arith.constant dense<0.0> : tensor<64x12xf32>

// -----

// expected-error @below {{attn-resolve-layouts: no layout for 'tensor<1x2xf32>': expected 64 rows a warpgroup, got 1}}
%wild = arith.constant dense<[[0.0, 1.0]]> : tensor<1x2xf32>
