// Every constraint of the tile dialect, by op and label.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'tile.kernel' op expected 2 'args', got 1}}
tile.kernel @kernel_c1_count args ["a"] problem <kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
^bb0(%a: i32, %b: i32):
  tile.work {
  }
}

// -----

// expected-error @below {{expected the names in 'args' to be different, got "a" twice}}
tile.kernel @kernel_c1_different args ["a", "a"] problem <kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
^bb0(%a: i32, %b: i32):
  tile.work {
  }
}

// -----

// expected-error @below {{'tile.kernel' op expected 3 names for the dimensions of argument "a", got 2}}
tile.kernel @kernel_c1_dims args ["a" ("x", "y")] problem <kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
^bb0(%a: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

// expected-error @below {{expected 'read', 'write' or 'accumulate', got 'add'}}
tile.kernel @kernel_args args ["a" add] problem <kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
^bb0(%a: i32):
  tile.work {
  }
}

// -----

tile.kernel @kernel_c4_stored args ["a"] problem <kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
^bb0(%a: tensor<?x?x?xf32>):
  %n = arith.constant 0 : i32
  %row = arith.constant dense<0.0> : tensor<64xf32>
  tile.work {
    tile.step @st () : () -> () {
      // expected-error @below {{'tile.store_row' op expected argument "a" to be one to write, got one to read}}
      tile.store_row %row, %a at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @kernel_c4_loaded args ["a" accumulate] problem <kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
^bb0(%a: tensor<?x?x?xf32>):
  %n = arith.constant 0 : i32
  tile.work {
    %r = tile.step @ld () : () -> tensor<64xf32> {
      // expected-error @below {{'tile.load_row' op expected argument "a" to be one to read, got one to accumulate}}
      %row = tile.load_row %a at(%n, %n, %n) : tensor<?x?x?xf32> -> tensor<64xf32>
      tile.yield %row : tensor<64xf32>
    }
  }
}

// -----

// expected-error @below {{'tile.kernel' op expected one 'tile.work', got 2}}
tile.kernel @kernel_c2_one_work args [] problem <kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
  tile.work {
  }
  tile.work {
  }
}

// -----

tile.kernel @kernel_c2_scalar_ops args ["a"] problem <kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
^bb0(%a: f32):
  // expected-error @below {{'tensor.splat' op expected only pure scalar ops and constants beside 'tile.work' in 'tile.kernel'}}
  %t = tensor.splat %a : tensor<64xf32>
  tile.work {
  }
}

// -----

tile.kernel @kernel_c3_step_names args [] problem <kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
  tile.work {
    // expected-note @below {{the other step}}
    tile.step @s () : () -> () {
      tile.yield
    }
    // expected-error @below {{'tile.step' op expected step names to be different, got @s twice}}
    tile.step @s () : () -> () {
      tile.yield
    }
  }
}

// -----

func.func @work_c1_parent() {
  // expected-error @below {{'tile.work' op expected to be in a 'tile.kernel'}}
  tile.work {
  }
  return
}

// -----

func.func @step_c1_arguments(%x: tensor<64xf32>) {
  // expected-error @below {{'tile.step' op expected block arguments ('tensor<64xf32>'), got ('tensor<32xf32>')}}
  tile.step @s (%x) : (tensor<64xf32>) -> () {
  ^bb0(%a: tensor<32xf32>):
    tile.yield
  }
  return
}

// -----

func.func @step_c2_yield(%x: tensor<64xf32>) {
  tile.step @s (%x) : (tensor<64xf32>) -> tensor<32xf32> {
  ^bb0(%a: tensor<64xf32>):
    // expected-error @below {{'tile.yield' op expected to yield ('tensor<32xf32>'), got ('tensor<64xf32>')}}
    tile.yield %a : tensor<64xf32>
  }
  return
}

// -----

tile.kernel @step_c3_tile args ["a"] problem <kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
^bb0(%a: f32):
  tile.work {
    %t = tile.step @s () : () -> tensor<64xf32> {
      %x = tensor.splat %a : tensor<64xf32>
      tile.yield %x : tensor<64xf32>
    }
    tile.step @r () : () -> () {
      // expected-error @below {{'arith.addf' op expected operand #0 of type 'tensor<64xf32>' to come through an operand of step @r}}
      %x = arith.addf %t, %t : tensor<64xf32>
      tile.yield
    }
  }
}

// -----

func.func @step_c3_work(%n: i32) {
  %w = tile.next_work extents(%n, %n, %n)
  tile.step @r () : () -> () {
    // expected-error @below {{'tile.work_coords' op expected operand #0 of type '!tile.work' to come through an operand of step @r}}
    %block, %head, %batch = tile.work_coords %w
    tile.yield
  }
  return
}

// -----

func.func @step_c3_nested(%c: i1, %t: tensor<64xf32>) {
  tile.step @r () : () -> () {
    %r = scf.if %c -> tensor<64xf32> {
      // expected-error @below {{'scf.yield' op expected operand #0 of type 'tensor<64xf32>' to come through an operand of step @r}}
      scf.yield %t : tensor<64xf32>
    } else {
      scf.yield %t : tensor<64xf32>
    }
    tile.yield
  }
  return
}

// -----

func.func @step_c4_two_mma(%a: tensor<64x64xbf16>) {
  // expected-error @below {{'tile.step' op expected at most one load, store or mma in a step, got 2}}
  tile.step @r (%a) : (tensor<64x64xbf16>) -> () {
  ^bb0(%x: tensor<64x64xbf16>):
    %0 = tile.mma %x, %x : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %1 = tile.mma %x, %x : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tile.yield
  }
  return
}

// -----

func.func @step_c5_masked(%a: tensor<64xf32>) {
  // expected-error @below {{'tile.step' op expected a masked step to have one result, of the type of its first operand, got ('tensor<64xf32>') and ()}}
  tile.step @r masked (%a) : (tensor<64xf32>) -> () {
  ^bb0(%x: tensor<64xf32>):
    tile.yield
  }
  return
}

// -----

func.func @bounds_c1_argument(%n: i32) {
  %w = tile.next_work extents(%n, %n, %n)
  // expected-error @below {{'tile.bounds' op expected one block argument, of type '!tile.work', got ('i32')}}
  %b = tile.bounds %w : i32 {
  ^bb0(%x: i32):
    tile.yield %n : i32
  }
  return
}

// -----

func.func @bounds_c1_yield(%n: i32) {
  %w = tile.next_work extents(%n, %n, %n)
  %b:2 = tile.bounds %w : i32, i32 {
  ^bb0(%x: !tile.work):
    // expected-error @below {{'tile.yield' op expected to yield ('i32', 'i32'), got ('i32')}}
    tile.yield %n : i32
  }
  return
}

// -----

func.func @bounds_c3_no_of(%n: i32) {
  %w = tile.next_work extents(%n, %n, %n)
  // expected-error @below {{'tile.bounds' op expected 'subtile' with an 'of' of at least 1, got a sub-tile of 0}}
  %b = tile.bounds %w subtile(%n of 0) : i32 {
  ^bb0(%x: !tile.work):
    tile.yield %n : i32
  }
  return
}

// -----

func.func @bounds_c3_no_subtile(%n: i32) {
  %w = tile.next_work extents(%n, %n, %n)
  // expected-error @below {{'tile.bounds' op expected 'subtile' with an 'of' of at least 1, got none of 2}}
  %b = "tile.bounds"(%w) <{of = 2}> ({
  ^bb0(%x: !tile.work):
    "tile.yield"(%n) : (i32) -> ()
  }) : (!tile.work) -> i32
  return
}

// -----

func.func @owned_rows_outside(%n: i32) {
  %w = tile.next_work extents(%n, %n, %n)
  // expected-error @below {{'tile.owned_rows' op expects parent op 'tile.bounds'}}
  %first, %rows = tile.owned_rows %w
  return
}

// -----

func.func @bounds_c2_pure(%n: i32, %t: tensor<?xi32>) {
  %w = tile.next_work extents(%n, %n, %n)
  %b = tile.bounds %w : i32 {
  ^bb0(%x: !tile.work):
    // expected-error @below {{'tile.gather' op expected only pure scalar ops and constants in 'tile.bounds'}}
    %g = tile.gather %t[%n : i32] : tensor<?xi32> -> i32
    tile.yield %g : i32
  }
  return
}

// -----

func.func private @ranges_kind() -> () attributes {
  // expected-error @below {{expected 'masked', 'full' or 'skipped', got 'half'}}
  ranges = #tile.ranges<down [half]>
}

// -----

func.func private @ranges_direction() -> () attributes {
  // expected-error @below {{expected 'down' or 'up', got 'left'}}
  ranges = #tile.ranges<left [full]>
}

// -----

func.func private @ranges_c1() -> () attributes {
  // expected-error @below {{expected at least one range, got none}}
  ranges = #tile.ranges<down []>
}

// -----

func.func private @ranges_c2() -> () attributes {
  // expected-error @below {{expected 'at_most' to be at least 0, got -1}}
  ranges = #tile.ranges<down [masked at_most -1]>
}

// -----

func.func @for_c1_direction(%w: !tile.work, %n: i32, %x: f32) {
  %a, %b = tile.bounds %w up : i32, i32 {
  ^bb0(%y: !tile.work):
    tile.yield %n, %n : i32, i32
  }
  // expected-error @below {{'tile.for' op expected the direction of 'tile.bounds', got 'down'}}
  %r = tile.for ranges <down [full]> bounds(%a, %b) init(%x) : (f32) -> f32 {
  ^bb0(%j: i32, %s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

func.func @for_c1_bounds(%n: i32, %x: f32) {
  // expected-error @below {{'tile.for' op expected 3 bounds for 2 ranges, got 2}}
  %r = tile.for ranges <down [masked, full]> bounds(%n, %n) init(%x) : (f32) -> f32 {
  ^bb0(%j: i32, %s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

func.func @for_c2_arguments(%n: i32, %x: f32) {
  // expected-error @below {{'tile.for' op expected block arguments ('i32', 'f32'), got ('f32')}}
  %r = tile.for ranges <down [full]> bounds(%n, %n) init(%x) : (f32) -> f32 {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

func.func @for_c2_yield(%n: i32, %x: f32) {
  %r = tile.for ranges <down [full]> bounds(%n, %n) init(%x) : (f32) -> f32 {
  ^bb0(%j: i32, %s: f32):
    // expected-error @below {{'tile.yield' op expected to yield ('f32'), got ('i32')}}
    tile.yield %j : i32
  }
  return
}

// -----

func.func @for_c2_results(%n: i32, %x: f32) {
  // expected-error @below {{'tile.for' op expected results ('f32'), got ('i32')}}
  %r = tile.for ranges <down [full]> bounds(%n, %n) init(%x) : (f32) -> i32 {
  ^bb0(%j: i32, %s: f32):
    tile.yield %j : i32
  }
  return
}

// -----

func.func @for_c3_body(%n: i32, %x: f32) {
  %r = tile.for ranges <down [full]> bounds(%n, %n) init(%x) : (f32) -> f32 {
  ^bb0(%j: i32, %s: f32):
    // expected-error @below {{'tensor.splat' op expected only steps, pure scalar ops and constants in 'tile.for'}}
    %t = tensor.splat %s : tensor<64xf32>
    tile.yield %s : f32
  }
  return
}

// -----

func.func @for_c4_kind(%n: i32, %x: f32) {
  // expected-error @below {{'tile.for' op expected masked and full ranges, got a skipped one}}
  %r = tile.for ranges <down [skipped]> bounds(%n, %n) init(%x) : (f32) -> f32 {
  ^bb0(%j: i32, %s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

func.func @load_c1_rank(%x: tensor<?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op expected 'source' to have rank 4 and a static last dimension, got 'tensor<?x?x64xbf16>'}}
  %t = tile.load %x at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<?x?x64xbf16> -> tensor<32x64xbf16>
  return
}

// -----

func.func @load_c1_dynamic(%x: tensor<?x?x?x?xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op expected 'source' to have rank 4 and a static last dimension, got 'tensor<?x?x?x?xbf16>'}}
  %t = tile.load %x at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<?x?x?x?xbf16> -> tensor<32x64xbf16>
  return
}

// -----

func.func @load_c2_permutation(%x: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1, d2, d3) -> (d0, d0, d2, d3)>}}
  %t = tile.load %x at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, b, i, c)> : tensor<?x?x?x64xbf16> -> tensor<32x64xbf16>
  return
}

// -----

func.func @load_c2_last(%x: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>}}
  %t = tile.load %x at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, h, c, i)> : tensor<?x?x?x64xbf16> -> tensor<32x64xbf16>
  return
}

// -----

func.func @load_c2_rank(%x: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1, d2) -> (d0, d1, d2)>}}
  %t = tile.load %x at(%i, %i, %i) affine_map<(b, h, i) -> (b, h, i)> : tensor<?x?x?x64xbf16> -> tensor<32x64xbf16>
  return
}

// -----

func.func @load_c3_rank(%x: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op expected a tile of rank 2 with the element type and at least the last dimension of 'source', got 'tensor<64xbf16>' and 'tensor<?x?x?x64xbf16>'}}
  %t = tile.load %x at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<?x?x?x64xbf16> -> tensor<64xbf16>
  return
}

// -----

func.func @load_c3_element(%x: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op expected a tile of rank 2 with the element type and at least the last dimension of 'source', got 'tensor<32x64xf16>' and 'tensor<?x?x?x64xbf16>'}}
  %t = tile.load %x at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<?x?x?x64xbf16> -> tensor<32x64xf16>
  return
}

// -----

func.func @load_c3_head_dim(%x: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op expected a tile of rank 2 with the element type and at least the last dimension of 'source', got 'tensor<32x32xbf16>' and 'tensor<?x?x?x64xbf16>'}}
  %t = tile.load %x at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<?x?x?x64xbf16> -> tensor<32x32xbf16>
  return
}

// -----

func.func @store_c1_rank(%x: tensor<?x64xbf16>, %t: tensor<32x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.store' op expected 'dest' to have rank 4 and a static last dimension, got 'tensor<?x64xbf16>'}}
  tile.store %t, %x at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<32x64xbf16>, tensor<?x64xbf16>
  return
}

// -----

func.func @store_c2_map(%x: tensor<?x?x?x64xbf16>, %t: tensor<32x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.store' op expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1, d2, d3) -> (d3, d1, d2, d0)>}}
  tile.store %t, %x at(%i, %i, %i) affine_map<(b, h, i, c) -> (c, h, i, b)> : tensor<32x64xbf16>, tensor<?x?x?x64xbf16>
  return
}

// -----

func.func @store_c3_tile(%x: tensor<?x?x?x64xbf16>, %t: tensor<32x64xf32>, %i: i32) {
  // expected-error @below {{'tile.store' op expected a tile of rank 2 with the element type and at least the last dimension of 'dest', got 'tensor<32x64xf32>' and 'tensor<?x?x?x64xbf16>'}}
  tile.store %t, %x at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<32x64xf32>, tensor<?x?x?x64xbf16>
  return
}

// -----

func.func @store_row_c1(%x: tensor<?x?xf32>, %t: tensor<64xf32>, %i: i32) {
  // expected-error @below {{'tile.store_row' op expected 'tile' of rank 1 and 'dest' of rank 3 with one element type, got 'tensor<64xf32>' and 'tensor<?x?xf32>'}}
  tile.store_row %t, %x at(%i, %i, %i) : tensor<64xf32>, tensor<?x?xf32>
  return
}

// -----

func.func @mma_c1_rank(%a: tensor<32xbf16>, %b: tensor<32x16xbf16>) {
  // expected-error @below {{'tile.mma' op expected 'a' and 'b' of rank 2 and one 16-bit float type that agree in the contracted dimension, got 'tensor<32xbf16>' and 'tensor<32x16xbf16>'}}
  %r = tile.mma %a, %b : tensor<32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
  return
}

// -----

func.func @mma_c1_type(%a: tensor<64x32xf32>, %b: tensor<32x16xf32>) {
  // expected-error @below {{'tile.mma' op expected 'a' and 'b' of rank 2 and one 16-bit float type that agree in the contracted dimension, got 'tensor<64x32xf32>' and 'tensor<32x16xf32>'}}
  %r = tile.mma %a, %b : tensor<64x32xf32>, tensor<32x16xf32> -> tensor<64x16xf32>
  return
}

// -----

func.func @mma_c1_one_type(%a: tensor<64x32xbf16>, %b: tensor<32x16xf16>) {
  // expected-error @below {{'tile.mma' op expected 'a' and 'b' of rank 2 and one 16-bit float type that agree in the contracted dimension, got 'tensor<64x32xbf16>' and 'tensor<32x16xf16>'}}
  %r = tile.mma %a, %b : tensor<64x32xbf16>, tensor<32x16xf16> -> tensor<64x16xf32>
  return
}

// -----

func.func @mma_c1_contracted(%a: tensor<64x32xbf16>, %b: tensor<64x16xbf16>) {
  // expected-error @below {{'tile.mma' op expected 'a' and 'b' of rank 2 and one 16-bit float type that agree in the contracted dimension, got 'tensor<64x32xbf16>' and 'tensor<64x16xbf16>'}}
  %r = tile.mma %a, %b : tensor<64x32xbf16>, tensor<64x16xbf16> -> tensor<64x16xf32>
  return
}

// -----

func.func @mma_c1_contracted_transposed(%a: tensor<64x32xbf16>, %b: tensor<32x16xbf16>) {
  // expected-error @below {{'tile.mma' op expected 'a' and 'b' of rank 2 and one 16-bit float type that agree in the contracted dimension, got 'tensor<64x32xbf16>' and 'tensor<32x16xbf16>' transposed}}
  %r = tile.mma %a, %b transpose_b : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
  return
}

// -----

func.func @mma_c2_result(%a: tensor<64x32xbf16>, %b: tensor<32x16xbf16>) {
  // expected-error @below {{'tile.mma' op expected the result to be 64x16xf32, got 'tensor<64x16xbf16>'}}
  %r = tile.mma %a, %b : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xbf16>
  return
}

// -----

func.func @mma_c2_shape(%a: tensor<64x32xbf16>, %b: tensor<32x16xbf16>) {
  // expected-error @below {{'tile.mma' op expected the result to be 64x16xf32, got 'tensor<64x32xf32>'}}
  %r = tile.mma %a, %b : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
  return
}

// -----

func.func @mma_c2_acc(%a: tensor<64x32xbf16>, %b: tensor<32x16xbf16>, %c: tensor<16x64xf32>) {
  // expected-error @below {{'tile.mma' op expected 'acc' to have the result's type 'tensor<64x16xf32>', got 'tensor<16x64xf32>'}}
  %r = tile.mma %a, %b acc(%c : tensor<16x64xf32>) : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
  return
}

// -----

func.func @reduce_c1_rank(%a: tensor<64xf32>) {
  // expected-error @below {{'tile.reduce' op expected a tile of rank 2 and 'dim' to be 0 or 1, got 'tensor<64xf32>' and 1}}
  %r = tile.reduce max %a dim 1 : tensor<64xf32> -> tensor<64xf32>
  return
}

// -----

func.func @reduce_c1_dim(%a: tensor<64x16xf32>) {
  // expected-error @below {{'tile.reduce' op expected a tile of rank 2 and 'dim' to be 0 or 1, got 'tensor<64x16xf32>' and 2}}
  %r = tile.reduce max %a dim 2 : tensor<64x16xf32> -> tensor<64xf32>
  return
}

// -----

func.func @reduce_c1_result(%a: tensor<64x16xf32>) {
  // expected-error @below {{'tile.reduce' op expected the vector to be 'tensor<64x16xf32>' without dimension 1, got 'tensor<16xf32>'}}
  %r = tile.reduce max %a dim 1 : tensor<64x16xf32> -> tensor<16xf32>
  return
}

// -----

func.func @reduce_c2_partial(%a: tensor<64x16xf32>) {
  // expected-error @below {{'tile.reduce' op expected only 'add' to be partial, got 'max'}}
  %r = tile.reduce max %a dim 1 partial : tensor<64x16xf32> -> tensor<64xf32>
  return
}

// -----

func.func @broadcast_c1(%a: tensor<16xf32>) {
  // expected-error @below {{'tile.broadcast' op expected the vector to be 'tensor<64x16xf32>' without dimension 1, got 'tensor<16xf32>'}}
  %r = tile.broadcast %a dim 1 : tensor<16xf32> -> tensor<64x16xf32>
  return
}

// -----

func.func @coords_c1_type(%i: i32) {
  // expected-error @below {{'tile.coords' op expected an i32 tile that has dimension 0, got 'tensor<64x16xf32>'}}
  %r = tile.coords %i dim 0 : tensor<64x16xf32>
  return
}

// -----

func.func @coords_c1_dim(%i: i32) {
  // expected-error @below {{'tile.coords' op expected an i32 tile that has dimension 2, got 'tensor<64x16xi32>'}}
  %r = tile.coords %i dim 2 : tensor<64x16xi32>
  return
}

// -----

func.func @gather_c1(%t: tensor<?x?xf32>, %i: i32) {
  // expected-error @below {{'tile.gather' op expected 2 indices for 'source', got 1}}
  %r = tile.gather %t[%i : i32] : tensor<?x?xf32> -> f32
  return
}

// -----

func.func @gather_c2_shape(%t: tensor<?xf32>, %i: tensor<16xi32>) {
  // expected-error @below {{'tile.gather' op expected index #0 to be i32 or a tile of them of the result's shape, got 'tensor<16xi32>' for 'tensor<64xf32>'}}
  %r = tile.gather %t[%i : tensor<16xi32>] : tensor<?xf32> -> tensor<64xf32>
  return
}

// -----

func.func @gather_c2_type(%t: tensor<?xf32>, %i: index) {
  // expected-error @below {{'tile.gather' op expected index #0 to be i32 or a tile of them of the result's shape, got 'index' for 'f32'}}
  %r = tile.gather %t[%i : index] : tensor<?xf32> -> f32
  return
}

// -----

func.func @gather_c3(%t: tensor<?xf32>, %i: i32) {
  // expected-error @below {{'tile.gather' op expected the result to have element type 'f32', got 'i32' of 'tensor<?xf32>'}}
  %r = tile.gather %t[%i : i32] : tensor<?xf32> -> i32
  return
}

// -----

func.func @gather_c3_half(%t: tensor<?xbf16>, %i: i32) {
  // expected-error @below {{'tile.gather' op expected the result to have element type 'f32', got 'bf16' of 'tensor<?xbf16>'}}
  %r = tile.gather %t[%i : i32] : tensor<?xbf16> -> bf16
  return
}

// -----

func.func @round_c1(%x: f32) {
  // expected-error @below {{'tile.round' op expected f32 to be rounded to f16 or bf16, got 'f32' to 'f32'}}
  %r = tile.round %x to f32 : f32
  return
}

// -----

func.func @yield_parent() {
  // expected-error @below {{'tile.yield' op expects parent op to be one of 'tile.step, tile.for, tile.bounds, tile.join'}}
  tile.yield
}

// -----

tile.kernel @reject_c1 args ["n", "no"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
^bb0(%n: i32, %no: i1):
  tile.work {
    %w = tile.step @next () : () -> !tile.work {
      %x = tile.next_work extents(%n, %n, %n)
      tile.yield %x : !tile.work
    }
    tile.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
    ^bb0(%j: i32):
      tile.step @check (%w) : (!tile.work) -> () {
      ^bb0(%x: !tile.work):
        // expected-error @below {{'tile.reject' op expected to be in no loop but the one over work items, got 'tile.for'}}
        tile.reject %x if %no
        tile.yield
      }
      tile.yield
    }
  }
}
