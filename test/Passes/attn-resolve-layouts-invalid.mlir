// What attn-resolve-layouts requires, and what it has no lowering for.
// RUN: attn-opt %s --attn-resolve-layouts -split-input-file -verify-diagnostics

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
tile.kernel @small args ["q", "k", "o" write, "lse" write, "n"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 128, tile_n = 128, work = grid>
    schedule <"small" machine "sm_90a" {
      split M 2 whole(q)
      remat(next)
      role load warps 1 regs 24
      role wg[2] warps 4 regs 240
      chan q = q in smem depth 1
      chan k = k in smem depth 2
      hold oe = oe in smem depth 1
      turn tc ring wg
      knob peel first_masked
      body load { kv { ld_k once : ld_q } }
      body wg { kv { take(tc) qk give(tc) mask sum + 1 } after { await(st_o) + 1 cvt_o st_o st_lse } }
    }> {
^bb0(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>, %scale: f32):
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : i32
  %dim = tensor.dim %q, %c0 : tensor<?x?x?x64xbf16>
  %n = arith.index_cast %dim : index to i32
  tile.work {
    %w = tile.step @next () : () -> !tile.work {
      %x = tile.next_work extents(%n, %n, %n)
      tile.yield %x : !tile.work
    }
    %qt = tile.step @ld_q (%w) : (!tile.work) -> tensor<128x64xbf16> {
    ^bb0(%x: !tile.work):
      %block, %head, %batch = tile.work_coords %x
      %row = arith.muli %block, %c128 : i32
      %t = tile.load %q at(%batch, %head, %row) #bshd : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
      tile.yield %t : tensor<128x64xbf16>
    }
    %hi, %mid, %lo = tile.bounds %w : i32, i32, i32 {
    ^bb0(%x: !tile.work):
      %block, %head, %batch = tile.work_coords %x
      tile.yield %block, %head, %batch : i32, i32, i32
    }
    // expected-error @below {{attn-resolve-layouts: no layout for 'tensor<128xf32>': expected 64 rows a warpgroup, got 128}}
    %zero = arith.constant dense<0.0> : tensor<128xf32>
    %l = tile.for ranges <down [masked, full]> bounds(%hi, %mid, %lo) init(%zero) : (tensor<128xf32>) -> tensor<128xf32> {
    ^bb0(%j: i32, %l0: tensor<128xf32>):
      %kt = tile.step @ld_k (%w) : (!tile.work) -> tensor<128x64xbf16> {
      ^bb0(%x: !tile.work):
        %block, %head, %batch = tile.work_coords %x
        %row = arith.muli %j, %c128 : i32
        %t = tile.load %k at(%batch, %head, %row) #bshd : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
        tile.yield %t : tensor<128x64xbf16>
      }
      %s = tile.step @qk (%qt, %kt) : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<128x128xf32> {
      ^bb0(%a: tensor<128x64xbf16>, %b: tensor<128x64xbf16>):
        %x = tile.mma %a, %b transpose_b : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
        tile.yield %x : tensor<128x128xf32>
      }
      %m = tile.step @mask masked (%s) : (tensor<128x128xf32>) -> tensor<128x128xf32> {
      ^bb0(%x: tensor<128x128xf32>):
        %i = tile.coords %j dim 0 : tensor<128x128xi32>
        %f = arith.sitofp %i : tensor<128x128xi32> to tensor<128x128xf32>
        %y = arith.addf %x, %f : tensor<128x128xf32>
        tile.yield %y : tensor<128x128xf32>
      }
      %l1 = tile.step @sum (%m, %l0) : (tensor<128x128xf32>, tensor<128xf32>) -> tensor<128xf32> {
      ^bb0(%x: tensor<128x128xf32>, %old: tensor<128xf32>):
        %r = tile.reduce add %x dim 1 : tensor<128x128xf32> -> tensor<128xf32>
        %new = arith.addf %old, %r : tensor<128xf32>
        tile.yield %new : tensor<128xf32>
      }
      tile.yield %l1 : tensor<128xf32>
    }
    %oe = tile.step @cvt_o (%l) : (tensor<128xf32>) -> tensor<128x64xbf16> {
    ^bb0(%x: tensor<128xf32>):
      %wide = tile.broadcast %x dim 1 : tensor<128xf32> -> tensor<128x64xf32>
      %y = arith.truncf %wide : tensor<128x64xf32> to tensor<128x64xbf16>
      tile.yield %y : tensor<128x64xbf16>
    }
    tile.step @st_o (%oe, %w) : (tensor<128x64xbf16>, !tile.work) -> () {
    ^bb0(%x: tensor<128x64xbf16>, %item: !tile.work):
      %block, %head, %batch = tile.work_coords %item
      tile.store %x, %o at(%batch, %head, %block) #bshd : tensor<128x64xbf16>, tensor<?x?x?x64xbf16>
      tile.yield
    }
    tile.step @st_lse (%l, %w) : (tensor<128xf32>, !tile.work) -> () {
    ^bb0(%x: tensor<128xf32>, %item: !tile.work):
      %block, %head, %batch = tile.work_coords %item
      tile.store_row %x, %lse at(%batch, %head, %block) : tensor<128xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

#map = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
tile.kernel @small args ["q", "k", "o" write, "lse" write, "n"] problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent> config <tile_m = 128, tile_n = 128, work = grid> schedule <"small" machine "sm_90a" {
  split M 2 whole(q)
  remat(next)
  role load warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_k once : ld_q }
  }
  body wg {
    kv { take(tc) qk give(tc) mask sum + 1 }
    after { await(st_o) + 1 cvt_o st_o st_lse }
  }
}> {
^bb0(%arg0: tensor<?x?x?x64xbf16>, %arg1: tensor<?x?x?x64xbf16>, %arg2: tensor<?x?x?x64xbf16>, %arg3: tensor<?x?x?xf32>, %arg4: f32):
  %c0 = arith.constant 0 : index
  %c128_i32 = arith.constant 128 : i32
  %dim = tensor.dim %arg0, %c0 : tensor<?x?x?x64xbf16>
  %0 = arith.index_cast %dim : index to i32
  tile.work {
    %1 = tile.step @next() : () -> !tile.work {
      %6 = tile.next_work extents(%0, %0, %0)
      tile.yield %6 : !tile.work
    }
    %2 = tile.step @ld_q(%1) : (!tile.work) -> tensor<128x64xbf16> {
    ^bb0(%arg5: !tile.work):
      %block, %head, %batch = tile.work_coords %arg5
      %6 = arith.muli %block, %c128_i32 : i32
      %7 = tile.load %arg0 at(%batch, %head, %6) #map : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
      tile.yield %7 : tensor<128x64xbf16>
    }
    %3:3 = tile.bounds %1 : i32, i32, i32 {
    ^bb0(%arg5: !tile.work):
      %block, %head, %batch = tile.work_coords %arg5
      tile.yield %block, %head, %batch : i32, i32, i32
    }
    %cst = arith.constant dense<0.000000e+00> : tensor<64xf32>
      // expected-error @below {{attn-resolve-layouts: no layout for 'tensor<64x12xf32>': expected a multiple of 8 columns, got 12}}
      %odd = arith.constant dense<0.000000e+00> : tensor<64x12xf32>
    %4 = tile.for ranges <down [masked, full]> bounds(%3#0, %3#1, %3#2) init(%cst) : (tensor<64xf32>) -> tensor<64xf32> {
    ^bb0(%arg5: i32, %arg6: tensor<64xf32>):
      %6 = tile.step @ld_k(%1) : (!tile.work) -> tensor<128x64xbf16> {
      ^bb0(%arg7: !tile.work):
        %block, %head, %batch = tile.work_coords %arg7
        %10 = arith.muli %arg5, %c128_i32 : i32
        %11 = tile.load %arg1 at(%batch, %head, %10) #map : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
        tile.yield %11 : tensor<128x64xbf16>
      }
      %7 = tile.step @qk(%2, %6) : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<64x128xf32> {
      ^bb0(%arg7: tensor<128x64xbf16>, %arg8: tensor<128x64xbf16>):
        %10 = tile.subtile_id
        %11 = tile.piece %arg7[%10] : tensor<128x64xbf16> -> tensor<64x64xbf16>
        %12 = tile.mma %11, %arg8 transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
        tile.yield %12 : tensor<64x128xf32>
      }
      %8 = tile.step @mask masked(%7) : (tensor<64x128xf32>) -> tensor<64x128xf32> {
      ^bb0(%arg7: tensor<64x128xf32>):
        %10 = tile.subtile_id
        %c64_i32 = arith.constant 64 : i32
        %11 = arith.muli %10, %c64_i32 : i32
        %12 = arith.addi %arg5, %11 : i32
        %13 = tile.coords %12 dim 0 : tensor<64x128xi32>
        %14 = arith.sitofp %13 : tensor<64x128xi32> to tensor<64x128xf32>
        %15 = arith.addf %arg7, %14 : tensor<64x128xf32>
        tile.yield %15 : tensor<64x128xf32>
      }
      %9 = tile.step @sum(%8, %arg6) : (tensor<64x128xf32>, tensor<64xf32>) -> tensor<64xf32> {
      ^bb0(%arg7: tensor<64x128xf32>, %arg8: tensor<64xf32>):
        %10 = tile.reduce  add %arg7 dim 1 : tensor<64x128xf32> -> tensor<64xf32>
        %11 = arith.addf %arg8, %10 : tensor<64xf32>
        tile.yield %11 : tensor<64xf32>
      }
      tile.yield %9 : tensor<64xf32>
    }
    %5 = tile.step @cvt_o(%4) : (tensor<64xf32>) -> tensor<64x64xbf16> {
    ^bb0(%arg5: tensor<64xf32>):
      %6 = tile.broadcast %arg5 dim 1 : tensor<64xf32> -> tensor<64x64xf32>
      %7 = arith.truncf %6 : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.yield %7 : tensor<64x64xbf16>
    }
    tile.step @st_o(%5, %1) : (tensor<64x64xbf16>, !tile.work) -> () {
    ^bb0(%arg5: tensor<64x64xbf16>, %arg6: !tile.work):
      %6 = tile.subtile_id
      %block, %head, %batch = tile.work_coords %arg6
      %c64_i32 = arith.constant 64 : i32
      %7 = arith.muli %6, %c64_i32 : i32
      %8 = arith.addi %block, %7 : i32
      tile.store %arg5, %arg2 at(%batch, %head, %8) #map : tensor<64x64xbf16>, tensor<?x?x?x64xbf16>
      tile.yield
    }
    tile.step @st_lse(%4, %1) : (tensor<64xf32>, !tile.work) -> () {
    ^bb0(%arg5: tensor<64xf32>, %arg6: !tile.work):
      %6 = tile.subtile_id
      %block, %head, %batch = tile.work_coords %arg6
      %c64_i32 = arith.constant 64 : i32
      %7 = arith.muli %6, %c64_i32 : i32
      %8 = arith.addi %block, %7 : i32
      tile.store_row %arg5, %arg3 at(%batch, %head, %8) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

#map = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
tile.kernel @small args ["q", "k", "o" write, "lse" write, "n"] problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent> config <tile_m = 128, tile_n = 128, work = grid> schedule <"small" machine "sm_90a" {
  split M 2 whole(q)
  remat(next)
  role load warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_k once : ld_q }
  }
  body wg {
    kv { take(tc) qk give(tc) mask sum + 1 }
    after { await(st_o) + 1 cvt_o st_o st_lse }
  }
}> {
^bb0(%arg0: tensor<?x?x?x64xbf16>, %arg1: tensor<?x?x?x64xbf16>, %arg2: tensor<?x?x?x64xbf16>, %arg3: tensor<?x?x?xf32>, %arg4: f32):
  %c0 = arith.constant 0 : index
  %c128_i32 = arith.constant 128 : i32
  %dim = tensor.dim %arg0, %c0 : tensor<?x?x?x64xbf16>
  %0 = arith.index_cast %dim : index to i32
  tile.work {
    %1 = tile.step @next() : () -> !tile.work {
      %6 = tile.next_work extents(%0, %0, %0)
      tile.yield %6 : !tile.work
    }
    %2 = tile.step @ld_q(%1) : (!tile.work) -> tensor<128x64xbf16> {
    ^bb0(%arg5: !tile.work):
      %block, %head, %batch = tile.work_coords %arg5
      %6 = arith.muli %block, %c128_i32 : i32
      %7 = tile.load %arg0 at(%batch, %head, %6) #map : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
      tile.yield %7 : tensor<128x64xbf16>
    }
    %3:3 = tile.bounds %1 : i32, i32, i32 {
    ^bb0(%arg5: !tile.work):
      %block, %head, %batch = tile.work_coords %arg5
      tile.yield %block, %head, %batch : i32, i32, i32
    }
    %cst = arith.constant dense<0.000000e+00> : tensor<64xf32>
      // expected-error @below {{attn-resolve-layouts: no layout for 'tensor<1x2xf32>': expected 64 rows a warpgroup, got 1}}
      %wild = arith.constant dense<[[0.0, 1.0]]> : tensor<1x2xf32>
    %4 = tile.for ranges <down [masked, full]> bounds(%3#0, %3#1, %3#2) init(%cst) : (tensor<64xf32>) -> tensor<64xf32> {
    ^bb0(%arg5: i32, %arg6: tensor<64xf32>):
      %6 = tile.step @ld_k(%1) : (!tile.work) -> tensor<128x64xbf16> {
      ^bb0(%arg7: !tile.work):
        %block, %head, %batch = tile.work_coords %arg7
        %10 = arith.muli %arg5, %c128_i32 : i32
        %11 = tile.load %arg1 at(%batch, %head, %10) #map : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
        tile.yield %11 : tensor<128x64xbf16>
      }
      %7 = tile.step @qk(%2, %6) : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<64x128xf32> {
      ^bb0(%arg7: tensor<128x64xbf16>, %arg8: tensor<128x64xbf16>):
        %10 = tile.subtile_id
        %11 = tile.piece %arg7[%10] : tensor<128x64xbf16> -> tensor<64x64xbf16>
        %12 = tile.mma %11, %arg8 transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
        tile.yield %12 : tensor<64x128xf32>
      }
      %8 = tile.step @mask masked(%7) : (tensor<64x128xf32>) -> tensor<64x128xf32> {
      ^bb0(%arg7: tensor<64x128xf32>):
        %10 = tile.subtile_id
        %c64_i32 = arith.constant 64 : i32
        %11 = arith.muli %10, %c64_i32 : i32
        %12 = arith.addi %arg5, %11 : i32
        %13 = tile.coords %12 dim 0 : tensor<64x128xi32>
        %14 = arith.sitofp %13 : tensor<64x128xi32> to tensor<64x128xf32>
        %15 = arith.addf %arg7, %14 : tensor<64x128xf32>
        tile.yield %15 : tensor<64x128xf32>
      }
      %9 = tile.step @sum(%8, %arg6) : (tensor<64x128xf32>, tensor<64xf32>) -> tensor<64xf32> {
      ^bb0(%arg7: tensor<64x128xf32>, %arg8: tensor<64xf32>):
        %10 = tile.reduce  add %arg7 dim 1 : tensor<64x128xf32> -> tensor<64xf32>
        %11 = arith.addf %arg8, %10 : tensor<64xf32>
        tile.yield %11 : tensor<64xf32>
      }
      tile.yield %9 : tensor<64xf32>
    }
    %5 = tile.step @cvt_o(%4) : (tensor<64xf32>) -> tensor<64x64xbf16> {
    ^bb0(%arg5: tensor<64xf32>):
      %6 = tile.broadcast %arg5 dim 1 : tensor<64xf32> -> tensor<64x64xf32>
      %7 = arith.truncf %6 : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.yield %7 : tensor<64x64xbf16>
    }
    tile.step @st_o(%5, %1) : (tensor<64x64xbf16>, !tile.work) -> () {
    ^bb0(%arg5: tensor<64x64xbf16>, %arg6: !tile.work):
      %6 = tile.subtile_id
      %block, %head, %batch = tile.work_coords %arg6
      %c64_i32 = arith.constant 64 : i32
      %7 = arith.muli %6, %c64_i32 : i32
      %8 = arith.addi %block, %7 : i32
      tile.store %arg5, %arg2 at(%batch, %head, %8) #map : tensor<64x64xbf16>, tensor<?x?x?x64xbf16>
      tile.yield
    }
    tile.step @st_lse(%4, %1) : (tensor<64xf32>, !tile.work) -> () {
    ^bb0(%arg5: tensor<64xf32>, %arg6: !tile.work):
      %6 = tile.subtile_id
      %block, %head, %batch = tile.work_coords %arg6
      %c64_i32 = arith.constant 64 : i32
      %7 = arith.muli %6, %c64_i32 : i32
      %8 = arith.addi %block, %7 : i32
      tile.store_row %arg5, %arg3 at(%batch, %head, %8) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}
