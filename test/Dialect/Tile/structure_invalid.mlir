// Constraints of kernels, steps and loops of tiles, by op and label.
// RUN: %cases %s | attn-opt -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 32, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>

// -----

// expected-error @below {{'tile.kernel' op expected 2 'args', got 1}}
tile.kernel @kernel_c1_count args ["a"] problem #p {
^bb0(%a: i32, %b: i32):
  tile.work {
  }
}

// -----

// expected-error @below {{expected the names in 'args' to be different, got "a" twice}}
tile.kernel @kernel_c1_different args ["a", "a"] problem #p {
^bb0(%a: i32, %b: i32):
  tile.work {
  }
}

// -----

// expected-error @below {{'tile.kernel' op expected 3 names for the dimensions of argument "a", got 2}}
tile.kernel @kernel_c1_dims args ["a" ("x", "y")] problem #p {
^bb0(%a: tensor<?x?x?xf32>):
  tile.work {
  }
}

// -----

// expected-error @below {{custom op 'tile.kernel' expected a role, 'read', 'write' or 'accumulate', got 'add'}}
tile.kernel @kernel_args args ["a" add] problem #p {
^bb0(%a: i32):
  tile.work {
  }
}

// -----

tile.kernel @kernel_c4_stored args ["a"] problem #p {
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

tile.kernel @kernel_c4_stored_first args ["a" accumulate] problem #p {
^bb0(%a: tensor<?x?x?x64xf32>):
  %n = arith.constant 0 : i32
  tile.work {
    tile.step @red () : () -> () {
      %t = arith.constant dense<0.0> : tensor<64x64xf32>
      %yes = arith.constant true
      // expected-error @below {{'tile.reduce_add' op expected argument "a" to be one to write, got one to accumulate}}
      tile.reduce_add %t, %a at(%n, %n, %n) first(%yes) affine_map<(b, h, i, c) -> (b, h, i, c)> : tensor<64x64xf32>, tensor<?x?x?x64xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @kernel_c4_loaded args ["a" accumulate] problem #p {
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
tile.kernel @kernel_c2_one_work args [] problem #p {
  tile.work {
  }
  tile.work {
  }
}

// -----

tile.kernel @kernel_c2_scalar_ops args ["a"] problem #p {
^bb0(%a: f32):
  // expected-error @below {{'tensor.splat' op expected only pure scalar ops and constants beside 'tile.work' in 'tile.kernel'}}
  %t = tensor.splat %a : tensor<64xf32>
  tile.work {
  }
}

// -----

tile.kernel @kernel_c3_step_names args [] problem #p {
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

tile.kernel @step_c3_tile args ["a"] problem #p {
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

func.func @bounds_c2_in_a_loop(%n: i32, %begin: index, %step: index) {
  %w = tile.next_work extents(%n, %n, %n)
  %b = tile.bounds %w : i32 {
  ^bb0(%x: !tile.work):
    %least = scf.parallel (%row) = (%begin) to (%begin) step (%step) init (%n) -> i32 {
      // expected-error @below {{'tensor.splat' op expected only pure scalar ops, constants and elements of captures in 'tile.bounds'}}
      %g = tensor.splat %n : tensor<4xi32>
      scf.reduce(%n : i32) {
      ^bb0(%a: i32, %c: i32):
        %min = arith.minsi %a, %c : i32
        scf.reduce.return %min : i32
      }
    }
    tile.yield %least : i32
  }
  return
}

// -----

func.func @bounds_c2_pure(%n: i32) {
  %w = tile.next_work extents(%n, %n, %n)
  %b = tile.bounds %w : i32 {
  ^bb0(%x: !tile.work):
    // expected-error @below {{'tensor.splat' op expected only pure scalar ops, constants and elements of captures in 'tile.bounds'}}
    %g = tensor.splat %n : tensor<4xi32>
    tile.yield %n : i32
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
  // expected-error @below {{'tile.for' op failed to verify that results have the types of 'inits'}}
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
