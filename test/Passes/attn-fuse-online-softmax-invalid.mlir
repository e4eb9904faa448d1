// What attn-fuse-online-softmax requires of its input.
// RUN: attn-opt %s --attn-fuse-online-softmax -split-input-file -verify-diagnostics

// expected-error @below {{'tile.kernel' op expected a 'config'}}
tile.kernel @no_config args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @alone args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        // expected-error @below {{'tile.attend' op expected to be the only op of a 'tile.step'}}
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        %z = arith.negf %r : tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @operands args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st, %n) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>, i32) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>, %y: i32):
        // expected-error @below {{'tile.attend' op expected step @attend to have 3 operands, got 4}}
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @order args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%v, %s, %st) : (tensor<16x32xbf16>, tensor<64x16xf32>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%b: tensor<16x32xbf16>, %a: tensor<64x16xf32>, %x: tensor<64x32xf32>):
        // expected-error @below {{'tile.attend' op expected operand #0 to be argument #0 of step @attend}}
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @yield args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        // expected-error @below {{'tile.attend' op expected step @attend to yield the results of the op}}
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %x : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @state args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %zero) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        // expected-error @below {{'tile.attend' op expected 'state' to be carried by the 'tile.for'}}
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @carried args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        // expected-error @below {{'tile.attend' op expected the loop to carry the result of step @attend as value #0}}
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %st : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @start args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<1.0> : tensor<64x32xf32>
    // expected-error @below {{'tile.for' op expected the attend state, value #0, to start at zero}}
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @scale args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %twice = arith.addf %scale, %scale : f32
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        // expected-error @below {{'tile.attend' op expected 'scale' to be a value of the kernel, outside 'tile.work'}}
        %r = tile.attend %a, %b state(%x) scale(%twice) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @types args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x32xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x32xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x32xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        // expected-error @below {{'tile.attend' op expected scores of MxNxf32, values of NxD and a state of MxDxf32, got 'tensor<64x32xf32>', 'tensor<16x32xbf16>' and 'tensor<64x32xf32>'}}
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x32xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @result_types args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<32xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      // expected-error @below {{'tile.attend_result' op expected results of 'tensor<64x32xf32>' and 'tensor<64xf32>', got 'tensor<64x32xf32>' and 'tensor<32xf32>'}}
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<32xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<32xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<32xf32>) -> () {
    ^bb0(%x: tensor<32xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<32xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @no_result args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    // expected-error @below {{'tile.for' op expected 'tile.attend_result' to read the attend state, value #0}}
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%zero) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @result_step args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%zero) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    // expected-error @below {{'tile.step' op expected 'tile.attend_result' in the step that reads the attend state}}
    tile.step @st_o (%state) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @other_use args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    // expected-error @below {{'tile.step' op expected one step with 'tile.attend_result' to be the only use of the attend state}}
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%state) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @two args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      %again = tile.step @again (%s, %v, %next) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        // expected-error @below {{'tile.attend' op expected one 'tile.attend' in the kernel, got 2}}
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %again : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

tile.kernel @no_loop args ["s", "v", "o" write, "scale"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %o: tensor<64x32xf32>, %scale: f32):
  tile.work {
    %next = tile.step @attend (%s, %v, %o) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
      // expected-error @below {{'tile.attend' op expected step @attend to be in a 'tile.for', got 'tile.work'}}
      %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
      tile.yield %r : tensor<64x32xf32>
    }
  }
}

// -----

tile.kernel @no_work args ["s", "v", "scale", "n", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8, row_max = first_block> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  // expected-error @below {{'tile.work' op expected a step with 'tile.next_work' where 'row_max' is first_block, got none}}
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}
