// What attn-split-launches refuses.
// RUN: %cases %s | attn-opt --attn-split-launches -split-input-file -verify-diagnostics

!t = tensor<?x?x?x64xbf16>
!s = tensor<?x?x?xf32>

...
    -> (!s, !s, !s, !s) {
...
}

// -----

func.func @f(%o: !t, %do: !t, %lse: !s, %dlse: !s)
...
  %d, %l = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !s) -> !s
  // expected-error @below {{'attn.delta' op attn-split-launches: expected one value of role 'delta' in all ops of the function, got another one}}
  %d2, %l2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !s) -> !s
  return %d, %l, %d2, %l2 : !s, !s, !s, !s

// -----

func.func @f(%o: !t, %do: !t, %lse: !s, %dlse: !s)
...
  %d, %l = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !s) -> !s
  // expected-error @below {{'attn.delta' op attn-split-launches: expected one value of role 'lse' in all ops of the function, got another one}}
  %d2, %l2 = attn.delta %o, %do, %d, %dlse layout(bshd) : (!t, !s) -> !s
  return %d, %l, %d2, %l2 : !s, !s, !s, !s

// -----

func.func @f(%o: !t, %do: !t, %lse: !s, %dlse: !s)
...
  %d, %l = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !s) -> !s
  %d2, %l2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !s) -> !s
  // expected-error @below {{'func.return' op attn-split-launches: expected operand #1 to be a result of an op of attention that is returned once}}
  return %d, %d, %d2, %l2 : !s, !s, !s, !s

// -----

func.func @f(%o: !t, %do: !t, %lse: !s, %dlse: !s)
...
  %d, %l = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !s) -> !s
  %d2, %l2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !s) -> !s
  // expected-error @below {{'func.return' op attn-split-launches: expected operand #3 to be a result of an op of attention that is returned once}}
  return %d, %l, %d2, %lse : !s, !s, !s, !s

// -----

// expected-error @below {{'func.func' op attn-split-launches: expected an op to use argument #4 of the function}}
func.func @f(%o: !t, %do: !t, %lse: !s, %dlse: !s, %more: !s)
...
  %d, %l = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !s) -> !s
  %d2, %l2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !s) -> !s
  return %d, %l, %d2, %l2 : !s, !s, !s, !s

// -----

func.func @f(%o: !t, %do: !t, %lse: !s, %dlse: !s)
...
  // expected-error @below {{'arith.addf' op attn-split-launches: expected only ops of attention, 'func.return' and constants in a function with several ops of attention, got this op}}
  %sum = arith.addf %lse, %dlse : !s
  %d, %l = attn.delta %o, %do, %sum, %dlse layout(bshd) : (!t, !s) -> !s
  %d2, %l2 = attn.delta %o, %do, %sum, %dlse layout(bshd) : (!t, !s) -> !s
  return %d, %l, %d2, %l2 : !s, !s, !s, !s

// =====

...
...

// -----

// expected-error @below {{'func.func' op attn-split-launches: expected no uses of the function, whose ops become kernels}}
func.func @f(%q: !t, %scale: f32, %do: !t, %dlse: !s) -> (!s, !s) {
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(none) layout(bshd) : (!t, !t, !t) -> (!t, !s)
  %d, %l = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !s) -> !s
  return %d, %l : !s, !s
}
func.func @g(%q: !t, %scale: f32, %do: !t, %dlse: !s) -> (!s, !s) {
  %d:2 = func.call @f(%q, %scale, %do, %dlse) : (!t, f32, !t, !s) -> (!s, !s)
  return %d#0, %d#1 : !s, !s
}

// -----

func.func @f(%q: !t, %k: !t, %v: !t, %do: !t, %dlse: !s) -> (!s, !s) {
  %scale = arith.constant 1.0 : f32
  // expected-error @below {{'attn.attention' op attn-split-launches: expected operand #3 to be an argument of the function or a result of an earlier op, got a constant}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) : (!t, !t, !t) -> (!t, !s)
  %d, %l = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !s) -> !s
  return %d, %l : !s, !s
}

// -----

func.func @f(%q: !t, %scale: f32, %dlse: !s) -> (!s, !s) {
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(none) layout(bshd) : (!t, !t, !t) -> (!t, !s)
  // expected-error @below {{'attn.delta' op attn-split-launches: expected a result of an op to have one role in all ops of the function, got 'output' and 'output_gradient'}}
  %d, %l = attn.delta %o, %o, %lse, %dlse layout(bshd) : (!t, !s) -> !s
  return %d, %l : !s, !s
}

// -----

func.func @f(%q: !t, %k: !t, %v: !t, %scale: f32, %o: !t, %lse: !s, %do: !t, %dlse: !s) -> (!t, !t) {
  %d, %l = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !s) -> !s
  // expected-error @below {{'attn.attention_bwd' op attn-split-launches: expected the function to return result #0, since the same kernel computes results that are returned}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %l, %d scale(%scale) mask(none) layout(bshd) : (!t, !t, !t, !t, !s)
  return %dk, %dv : !t, !t
}

// -----

func.func @f(%q: !t, %k: !t, %v: !t, %scale: f32, %do: !t, %dlse: !s, %a: f32, %b: f32) -> (!t, !t, !t) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%a : f32)
      score_region {
      ^bb0(%x: f32, %n: i32, %h: i32, %i: i32, %j: i32, %c: f32):
        %y = arith.addf %x, %c : f32
        attn.yield %y : f32
      } : (!t, !t, !t) -> (!t, !s)
  %d, %l = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !s) -> !s
  // expected-error @below {{'attn.attention_bwd' op attn-split-launches: expected the captures of the earlier ops of the function, got others}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %l, %d scale(%scale) mask(none) layout(bshd) captures(%b : f32)
      score_region {
      ^bb0(%x: f32, %n: i32, %h: i32, %i: i32, %j: i32, %c: f32):
        %y = arith.addf %x, %c : f32
        attn.yield %y, %c : f32, f32
      } : (!t, !t, !t, !t, !s)
  return %dq, %dk, %dv : !t, !t, !t
}
