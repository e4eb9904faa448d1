// What attn-subtile requires, and what it has no lowering for.
// RUN: %cases %s | attn-opt --attn-subtile -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { split M 2 role wg[2] warps 4 regs 240 }>

// -----

// expected-error @below {{'tile.kernel' op attn-subtile: expected a config and a schedule, got no schedule}}
tile.kernel @no_schedule args [] problem #p config #c {
  tile.work {
  }
}

// -----

// expected-error @below {{'tile.kernel' op attn-subtile: expected a config and a schedule, got no config}}
tile.kernel @no_config args [] problem #p schedule #s {
  tile.work {
  }
}

// -----

// expected-error @below {{'tile.kernel' op attn-subtile: expected the split axis to be 'M', got 'N'}}
tile.kernel @columns args [] problem #p config #c schedule <"s" machine "sm_90a" { split N 2 role wg[2] warps 4 regs 240 }> {
  tile.work {
  }
}

// -----

// expected-error @below {{'tile.kernel' op attn-subtile: expected 3 sub-tiles to divide tile_m, got 128}}
tile.kernel @thirds args [] problem #p config #c schedule <"s" machine "sm_90a" { split M 3 role wg[3] warps 4 regs 240 }> {
  tile.work {
  }
}

// -----

tile.kernel @share_of_a_product args ["x", "k"] problem #p config #c
    schedule <"s" machine "sm_90a" { split M 2 also(dq : D) role wg[2] warps 4 regs 240 }> {
^bb0(%x: tensor<128x64xbf16>, %k: tensor<128x64xbf16>):
  tile.work {
    %dq = tile.step @mm_dq (%x, %k) : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<64x64xf32> {
    ^bb0(%a: tensor<128x64xbf16>, %b: tensor<128x64xbf16>):
      %y = tile.mma %a, %b transpose_a : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<64x64xf32>
      tile.yield %y : tensor<64x64xf32>
    }
    tile.step @later (%dq) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
    ^bb0(%a: tensor<64x64xf32>):
      // expected-error @below {{'arith.addf' op attn-subtile: no lowering on a share of a product of all rows}}
      %y = arith.addf %a, %a : tensor<64x64xf32>
      tile.yield %y : tensor<64x64xf32>
    }
  }
}

// -----

tile.kernel @outside_a_loop args [] problem #p config #c schedule #s {
  tile.work {
    tile.step @first () : () -> () {
      // expected-error @below {{attn-subtile: expected a tile of 128 rows, got 'tensor<32xf32>'}}
      %y = arith.constant dense<0.0> : tensor<32xf32>
      tile.yield
    }
    tile.step @later () : () -> () {
      %y = arith.constant dense<0.0> : tensor<16xf32>
      tile.yield
    }
  }
}

// =====

tile.kernel @case args ["x", "n"] problem #p config #c schedule #s {
^bb0(%x: tensor<128x128xf32>, %n: i32):
  tile.work {
    %r = tile.for ranges <down [full]> bounds(%n, %n) init(%n) : (i32) -> i32 {
    ^bb0(%j: i32, %old: i32):
      tile.step @sum (%x) : (tensor<128x128xf32>) -> () {
      ^bb0(%y: tensor<128x128xf32>):
...
        tile.yield
      }
      // Code after an error is not reported.
      tile.step @later () : () -> () {
        %y = arith.constant dense<0.0> : tensor<16xf32>
        tile.yield
      }
      tile.yield %j : i32
    }
  }
}

// -----

// expected-error @below {{attn-subtile: expected a tile of 128 rows, got 'tensor<32xf32>'}}
%g = arith.constant dense<0.0> : tensor<32xf32>

// -----

// expected-error @below {{'tile.reduce' op attn-subtile: no lowering for a vector without rows where rows are cut, 'tensor<128xf32>'}}
%g = tile.reduce add %y dim 0 : tensor<128x128xf32> -> tensor<128xf32>
