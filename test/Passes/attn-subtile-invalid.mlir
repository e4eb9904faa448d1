// What attn-subtile requires, and what it has no lowering for.
// RUN: attn-opt %s --attn-subtile -split-input-file -verify-diagnostics

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
// expected-error @below {{'tile.kernel' op attn-subtile: expected a config and a schedule, got no schedule}}
tile.kernel @small args ["q", "k", "o" write, "lse" write, "n"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 128, tile_n = 128, work = grid>
    {
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

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
// expected-error @below {{'tile.kernel' op attn-subtile: expected a config and a schedule, got no config}}
tile.kernel @small args ["q", "k", "o" write, "lse" write, "n"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
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

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
// expected-error @below {{'tile.kernel' op attn-subtile: expected the split axis to be 'M', got 'N'}}
tile.kernel @small args ["q", "k", "o" write, "lse" write, "n"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 128, tile_n = 128, work = grid>
    schedule <"small" machine "sm_90a" {
      split N 2 whole(q)
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

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
// expected-error @below {{'tile.kernel' op attn-subtile: expected 3 sub-tiles to divide tile_m, got 128}}
tile.kernel @small args ["q", "k", "o" write, "lse" write, "n"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 128, tile_n = 128, work = grid>
    schedule <"small" machine "sm_90a" {
      split M 3 whole(q)
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
        // expected-error @below {{attn-subtile: expected a tile of 128 rows, got 'tensor<32xf32>'}}
        %g = arith.constant dense<0.0> : tensor<32xf32>
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
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
tile.kernel @vector_of_columns args ["q", "k", "o" write, "lse" write, "n"]
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
        // expected-error @below {{'tile.reduce' op attn-subtile: no lowering for a vector without rows where rows are cut, 'tensor<128xf32>'}}
        %g = tile.reduce add %x dim 0 : tensor<128x128xf32> -> tensor<128xf32>
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
