// What attn-tile requires of its input.
// RUN: attn-opt %s --attn-tile -split-input-file -verify-diagnostics

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @no_config(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  // expected-error @below {{'attn.attention' op expected 'config', which attn-configure attaches}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @other_op(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  // expected-error @below {{'arith.mulf' op expected only one 'attn.attention', 'func.return' and constants in the function, got 'arith.mulf'}}
  %twice = arith.mulf %scale, %scale : f32
  %o, %lse = attn.attention %q, %k, %v scale(%twice) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 128, work = grid> : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @constant_bound(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  %n = arith.constant -5 : i32
  // expected-error @below {{'attn.attention' op expected 'window_left' to be at least 0, got -5}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_top_left) layout(bshd) window_left(%n)
      config <tile_m = 128, tile_n = 128, work = grid>
      {attn.user_problem = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = present>}
      : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @two(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  %x, %y = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 128, work = grid> : (!t, !t, !t) -> (!t, !l)
  // expected-error @below {{'attn.attention' op expected only one 'attn.attention', 'func.return' and constants in the function, got 'attn.attention'}}
  %o, %lse = attn.attention %x, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 128, work = grid> : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @results(%q: !t, %k: !t, %v: !t, %scale: f32) -> !t {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 128, work = grid> : (!t, !t, !t) -> (!t, !l)
  // expected-error @below {{'func.return' op expected the results of 'attn.attention', in order, to be the results of the function}}
  return %o : !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
// expected-error @below {{'func.func' op expected 'attn.attention' to use argument #4 of the function}}
func.func @unused(%q: !t, %k: !t, %v: !t, %scale: f32, %x: i32) -> (!t, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 128, work = grid> : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
// expected-error @below {{'func.func' op expected the names of captures to be different, got 'lse' twice}}
func.func @names(%q: !t, %k: !t, %v: !t, %scale: f32, %x: i32 {attn.name = "lse"}, %y: i32 {attn.name = "lse"}) -> (!t, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%x, %y : i32, i32)
      config <tile_m = 128, tile_n = 128, work = grid> : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
// expected-error @below {{'func.func' op expected 'attn.name' of argument #4 to be a text in UTF-8 without a zero byte, got "\FF"}}
func.func @name_utf8(%q: !t, %k: !t, %v: !t, %scale: f32, %x: i32 {attn.name = "\FF"}) -> (!t, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%x : i32)
      config <tile_m = 128, tile_n = 128, work = grid> : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
// expected-error @below {{'func.func' op expected 'attn.name' of argument #4 to be a text in UTF-8 without a zero byte, got 1 : i32}}
func.func @name(%q: !t, %k: !t, %v: !t, %scale: f32, %x: i32 {attn.name = 1 : i32}) -> (!t, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%x : i32)
      config <tile_m = 128, tile_n = 128, work = grid> : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
// expected-error @below {{'func.func' op expected no uses of the function, which becomes a kernel}}
func.func @called(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 128, work = grid> : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}
func.func @caller(%q: !t, %scale: f32) {
  %o, %lse = call @called(%q, %q, %q, %scale) : (!t, !t, !t, f32) -> (!t, !l)
  return
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @nested(%q: !t, %c: i1, %scale: f32) {
  scf.if %c {
    // expected-error @below {{'attn.attention' op expected to be in a 'func.func', got 'scf.if'}}
    %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(none) layout(bshd)
        config <tile_m = 128, tile_n = 128, work = grid> : (!t, !t, !t) -> (!t, !l)
  }
  return
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @prefix_without_order(%q: !t, %k: !t, %v: !t, %scale: f32, %starts: tensor<?xi32> {attn.name = "starts"}) -> (!t, !l) {
  // expected-error @below {{'attn.attention' op expected keys that are proven not to fall from query to query where the row_keys region yields the end of a prefix}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%starts : tensor<?xi32>)
      config <tile_m = 128, tile_n = 128, work = grid>
      row_keys {
      ^bb0(%b: i32, %h: i32, %i: i32, %start_of: tensor<?xi32>):
        %at = arith.index_cast %i : i32 to index
        %start = tensor.extract %start_of[%at] : tensor<?xi32>
        %c4 = arith.constant 4 : i32
        attn.yield %start, %i, %c4 : i32, i32, i32
      }
      : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @kept_p(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  // expected-error @below {{'attn.attention' op expected 'kept_p' of 'config' to be 'f32' without a gradient of K, or with a score region, got 'f16'}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 128, work = grid, kept_p = f16> : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @first_share(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  // expected-error @below {{'attn.attention' op expected 'first_share' of 'config' to be 'added' without sums of dQ, got 'stored'}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 128, work = grid, first_share = stored> : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @share_rows(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  // expected-error @below {{'attn.attention' op expected 'share_rows' of 'config' to be 'queries' without sums of dQ, got 'columns'}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 128, work = grid, share_rows = columns> : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}
