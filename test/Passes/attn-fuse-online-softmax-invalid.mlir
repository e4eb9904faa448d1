// What attn-fuse-online-softmax requires of its input.
// RUN: %cases %s | attn-opt --attn-fuse-online-softmax -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8>
!s = tensor<64x16xf32>
!v = tensor<16x32xbf16>
!o = tensor<64x32xf32>
!l = tensor<64xf32>

// A loop around a step.
tile.kernel @case args ["s", "v", "scale", "n", "other"] problem #p config #c {
^bb0(%s: !s, %v: !v, %scale: f32, %n: i32, %other: !o):
  tile.work {
    %zero = arith.constant dense<0.0> : !o
    %twice = arith.addf %scale, %scale : f32
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (!o) -> !o {
    ^bb0(%j: i32, %st: !o):
...
      tile.yield %next : !o
    }
    %out, %l = tile.step @attend_result (%state) : (!o) -> (!o, !l) {
    ^bb0(%x: !o):
      %r, %q = tile.attend_result %x : !o -> !o, !l
      tile.yield %r, %q : !o, !l
    }
  }
}

// -----

// alone
%next = tile.step @attend (%s, %v, %st) : (!s, !v, !o) -> !o {
^bb0(%a: !s, %b: !v, %x: !o):
  // expected-error @below {{'tile.attend' op expected to be the only op of a 'tile.step'}}
  %r = tile.attend %a, %b state(%x) scale(%scale) : !s, !v -> !o
  %z = arith.negf %r : !o
  tile.yield %r : !o
}

// -----

// operands
%next = tile.step @attend (%s, %v, %st, %n) : (!s, !v, !o, i32) -> !o {
^bb0(%a: !s, %b: !v, %x: !o, %y: i32):
  // expected-error @below {{'tile.attend' op expected step @attend to have 3 operands, got 4}}
  %r = tile.attend %a, %b state(%x) scale(%scale) : !s, !v -> !o
  tile.yield %r : !o
}

// -----

// order
%next = tile.step @attend (%v, %s, %st) : (!v, !s, !o) -> !o {
^bb0(%b: !v, %a: !s, %x: !o):
  // expected-error @below {{'tile.attend' op expected operand #0 to be argument #0 of step @attend}}
  %r = tile.attend %a, %b state(%x) scale(%scale) : !s, !v -> !o
  tile.yield %r : !o
}

// -----

// yield
%next = tile.step @attend (%s, %v, %st) : (!s, !v, !o) -> !o {
^bb0(%a: !s, %b: !v, %x: !o):
  // expected-error @below {{'tile.attend' op expected step @attend to yield the results of the op}}
  %r = tile.attend %a, %b state(%x) scale(%scale) : !s, !v -> !o
  tile.yield %x : !o
}

// -----

// state
%next = tile.step @attend (%s, %v, %zero) : (!s, !v, !o) -> !o {
^bb0(%a: !s, %b: !v, %x: !o):
  // expected-error @below {{'tile.attend' op expected 'state' to be carried by the 'tile.for'}}
  %r = tile.attend %a, %b state(%x) scale(%scale) : !s, !v -> !o
  tile.yield %r : !o
}

// -----

// carried
%attended = tile.step @attend (%s, %v, %st) : (!s, !v, !o) -> !o {
^bb0(%a: !s, %b: !v, %x: !o):
  // expected-error @below {{'tile.attend' op expected the loop to carry the result of step @attend as value #0}}
  %r = tile.attend %a, %b state(%x) scale(%scale) : !s, !v -> !o
  tile.yield %r : !o
}
%next = tile.step @keep (%st) : (!o) -> !o {
^bb0(%x: !o):
  tile.yield %x : !o
}

// -----

// used_twice
%next = tile.step @attend (%s, %v, %st) : (!s, !v, !o) -> !o {
^bb0(%a: !s, %b: !v, %x: !o):
  // expected-error @below {{'tile.attend' op expected 'state' and the result to have no other use in the loop}}
  %r = tile.attend %a, %b state(%x) scale(%scale) : !s, !v -> !o
  tile.yield %r : !o
}
tile.step @look (%st) : (!o) -> () {
^bb0(%x: !o):
  tile.yield
}

// -----

// scale
%next = tile.step @attend (%s, %v, %st) : (!s, !v, !o) -> !o {
^bb0(%a: !s, %b: !v, %x: !o):
  // expected-error @below {{'tile.attend' op expected 'scale' to be a value of the kernel, outside 'tile.work'}}
  %r = tile.attend %a, %b state(%x) scale(%twice) : !s, !v -> !o
  tile.yield %r : !o
}

// -----

// types
%next = tile.step @attend (%other, %v, %st) : (!o, !v, !o) -> !o {
^bb0(%a: !o, %b: !v, %x: !o):
  // expected-error @below {{'tile.attend' op expected scores of MxNxf32, values of NxD and a state of MxDxf32, got 'tensor<64x32xf32>', 'tensor<16x32xbf16>' and 'tensor<64x32xf32>'}}
  %r = tile.attend %a, %b state(%x) scale(%scale) : !o, !v -> !o
  tile.yield %r : !o
}

// -----

// two
%once = tile.step @attend (%s, %v, %st) : (!s, !v, !o) -> !o {
^bb0(%a: !s, %b: !v, %x: !o):
  %r = tile.attend %a, %b state(%x) scale(%scale) : !s, !v -> !o
  tile.yield %r : !o
}
%next = tile.step @again (%s, %v, %once) : (!s, !v, !o) -> !o {
^bb0(%a: !s, %b: !v, %x: !o):
  // expected-error @below {{'tile.attend' op expected one 'tile.attend' in the kernel, got 2}}
  %r = tile.attend %a, %b state(%x) scale(%scale) : !s, !v -> !o
  tile.yield %r : !o
}

// =====

// A loop, and steps that follow it.
tile.kernel @case args ["s", "v", "scale", "n"] problem #p config #c {
^bb0(%s: !s, %v: !v, %scale: f32, %n: i32):
  tile.work {
...
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%init) : (!o) -> !o {
    ^bb0(%j: i32, %st: !o):
      %next = tile.step @attend (%s, %v, %st) : (!s, !v, !o) -> !o {
      ^bb0(%a: !s, %b: !v, %x: !o):
        %r = tile.attend %a, %b state(%x) scale(%scale) : !s, !v -> !o
        tile.yield %r : !o
      }
      tile.yield %next : !o
    }
...
  }
}

// -----

// start
%init = arith.constant dense<1.0> : !o
// expected-error @below {{'tile.for' op expected the attend state, value #0, to start at zero}}
...
%out, %l = tile.step @attend_result (%state) : (!o) -> (!o, !l) {
^bb0(%x: !o):
  %r, %q = tile.attend_result %x : !o -> !o, !l
  tile.yield %r, %q : !o, !l
}

// -----

// no_result
%init = arith.constant dense<0.0> : !o
// expected-error @below {{'tile.for' op expected 'tile.attend_result' to read the attend state, value #0}}
...

// -----

// result_step
%init = arith.constant dense<0.0> : !o
...
// expected-error @below {{'tile.step' op expected 'tile.attend_result' in the step that reads the attend state}}
tile.step @st_o (%state) : (!o) -> () {
^bb0(%x: !o):
  tile.yield
}

// -----

// other_use
%init = arith.constant dense<0.0> : !o
...
// expected-error @below {{'tile.step' op expected one step with 'tile.attend_result' to be the only use of the attend state}}
%out, %l = tile.step @attend_result (%state) : (!o) -> (!o, !l) {
^bb0(%x: !o):
  %r, %q = tile.attend_result %x : !o -> !o, !l
  tile.yield %r, %q : !o, !l
}
tile.step @st_o (%state) : (!o) -> () {
^bb0(%x: !o):
  tile.yield
}

// -----

// result_types
%init = arith.constant dense<0.0> : !o
...
%out, %l = tile.step @attend_result (%state) : (!o) -> (!o, tensor<32xf32>) {
^bb0(%x: !o):
  // expected-error @below {{'tile.attend_result' op expected results of 'tensor<64x32xf32>' and 'tensor<64xf32>', got 'tensor<64x32xf32>' and 'tensor<32xf32>'}}
  %r, %q = tile.attend_result %x : !o -> !o, tensor<32xf32>
  tile.yield %r, %q : !o, tensor<32xf32>
}

// =====

// Whole kernels.

// -----

// expected-error @below {{'tile.kernel' op expected a 'config'}}
tile.kernel @no_config args ["s", "v", "scale", "o"] problem #p {
^bb0(%s: !s, %v: !v, %scale: f32, %o: !o):
  tile.work {
    %next = tile.step @attend (%s, %v, %o) : (!s, !v, !o) -> !o {
    ^bb0(%a: !s, %b: !v, %x: !o):
      %r = tile.attend %a, %b state(%x) scale(%scale) : !s, !v -> !o
      tile.yield %r : !o
    }
  }
}

// -----

tile.kernel @no_loop args ["s", "v", "scale", "o"] problem #p config #c {
^bb0(%s: !s, %v: !v, %scale: f32, %o: !o):
  tile.work {
    %next = tile.step @attend (%s, %v, %o) : (!s, !v, !o) -> !o {
    ^bb0(%a: !s, %b: !v, %x: !o):
      // expected-error @below {{'tile.attend' op expected step @attend to be in a 'tile.for', got 'tile.work'}}
      %r = tile.attend %a, %b state(%x) scale(%scale) : !s, !v -> !o
      tile.yield %r : !o
    }
  }
}

// -----

tile.kernel @no_work args ["s", "v", "scale", "n"] problem #p config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8, row_max = first_block> {
^bb0(%s: !s, %v: !v, %scale: f32, %n: i32):
  // expected-error @below {{'tile.work' op expected a step with 'tile.next_work' where 'row_max' is first_block, got none}}
  tile.work {
    %zero = arith.constant dense<0.0> : !o
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (!o) -> !o {
    ^bb0(%j: i32, %st: !o):
      %next = tile.step @attend (%s, %v, %st) : (!s, !v, !o) -> !o {
      ^bb0(%a: !s, %b: !v, %x: !o):
        %r = tile.attend %a, %b state(%x) scale(%scale) : !s, !v -> !o
        tile.yield %r : !o
      }
      tile.yield %next : !o
    }
    %out, %l = tile.step @attend_result (%state) : (!o) -> (!o, !l) {
    ^bb0(%x: !o):
      %r, %q = tile.attend_result %x : !o -> !o, !l
      tile.yield %r, %q : !o, !l
    }
  }
}
