// What attn-tile-backward requires of its input.
// RUN: attn-opt %s --attn-tile-backward -split-input-file -verify-diagnostics

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @no_config_of_gradients(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  // expected-error @below {{'attn.attention_bwd' op expected 'config', which attn-configure attaches}}
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq) : (!t, !t, !t, !t, !l)
  return %dq : !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @all(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> (!t, !t, !t) {
  // expected-error @below {{'attn.attention_bwd' op expected 'gradients' dq, dk_dv, dk, dv, sums, sums_dk or seeing, as attn-split-backward writes them, got all}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      config <tile_m = 64, tile_n = 64, work = grid> : (!t, !t, !t, !t, !l)
  return %dq, %dk, %dv : !t, !t, !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @packed(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  // expected-error @below {{'attn.attention_bwd' op expected 'pack_gqa' of 'config' to be 1 for gradients, got 4}}
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq)
      config <tile_m = 64, tile_n = 64, work = grid, pack_gqa = 4> : (!t, !t, !t, !t, !l)
  return %dq : !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @cluster(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  // expected-error @below {{'attn.attention_bwd' op expected 'cluster' of 'config' to be 1 for gradients, got 2}}
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq)
      config <tile_m = 64, tile_n = 64, work = dynamic, cluster = 2> : (!t, !t, !t, !t, !l)
  return %dq : !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @parts_of_queries(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  // expected-error @below {{'attn.attention_bwd' op expected 'last_wave_parts' of 'config' to be 1 except for gradients of keys without 'turns' and 'seeing', got 2}}
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq)
      config <tile_m = 64, tile_n = 64, work = dynamic, last_wave_parts = 2> : (!t, !t, !t, !t, !l)
  return %dq : !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @parts_in_turns(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: tensor<?x?x?x64xf32>, %turns: tensor<?x?x?xi32>,
    %scale: f32) -> (tensor<?x?x?x64xf32>, !t, !t) {
  // expected-error @below {{'attn.attention_bwd' op expected 'last_wave_parts' of 'config' to be 1 except for gradients of keys without 'turns' and 'seeing', got 2}}
  %all:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : tensor<?x?x?x64xf32>) turns(%turns : tensor<?x?x?xi32>) scale(%scale)
      mask(none) layout(bshd) gradients(sums) config <tile_m = 64, tile_n = 64, work = dynamic, last_wave_parts = 2> : (!t, !t, !t, !t, !l)
  return %all#0, %all#1, %all#2 : tensor<?x?x?x64xf32>, !t, !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @parts_of_seen_keys(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %seeing: !l, %scale: f32) -> !t {
  // expected-error @below {{'attn.attention_bwd' op expected 'last_wave_parts' of 'config' to be 1 except for gradients of keys without 'turns' and 'seeing', got 2}}
  %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta seeing(%seeing : !l) scale(%scale) mask(none) layout(bshd) gradients(dv)
      config <tile_m = 64, tile_n = 64, work = dynamic, last_wave_parts = 2> : (!t, !t, !t, !t, !l)
  return %dv : !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @columns_of_sums(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: tensor<?x?x?x64xf32>, %scale: f32)
    -> (tensor<?x?x?x64xf32>, !t, !t) {
  // expected-error @below {{'attn.attention_bwd' op expected 'sums' to have as many columns as the tiles of 'query', 128, got 64}}
  %all:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : tensor<?x?x?x64xf32>) scale(%scale) mask(none) layout(bshd)
      gradients(sums) config <tile_m = 64, tile_n = 64, work = grid, tile_d = 128> : (!t, !t, !t, !t, !l)
  return %all#0, %all#1, %all#2 : tensor<?x?x?x64xf32>, !t, !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @order_of_results(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> (!t, !t) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dk_dv)
      config <tile_m = 64, tile_n = 64, work = grid> : (!t, !t, !t, !t, !l)
  // expected-error @below {{'func.return' op expected the results of 'attn.attention_bwd', in order, to be the results of the function}}
  return %dv, %dk : !t, !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @prefix_without_order(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %starts: tensor<?xi32>) -> !t {
  // expected-error @below {{'attn.attention_bwd' op expected keys that are proven not to fall from query to query where the row_keys region yields the end of a prefix}}
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq)
      config <tile_m = 64, tile_n = 64, work = grid> captures(%starts : tensor<?xi32>)
      row_keys {
      ^bb0(%b: i32, %h: i32, %i: i32, %start_of: tensor<?xi32>):
        %at = arith.index_cast %i : i32 to index
        %start = tensor.extract %start_of[%at] : tensor<?xi32>
        %c4 = arith.constant 4 : i32
        attn.yield %start, %i, %c4 : i32, i32, i32
      } : (!t, !t, !t, !t, !l)
  return %dq : !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @negative_bound(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  %left = arith.constant -1 : i32
  // expected-error @below {{'attn.attention_bwd' op expected 'window_left' to be at least 0, got -1}}
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_top_left) layout(bshd) window_left(%left) gradients(dq)
      config <tile_m = 64, tile_n = 64, work = grid> {attn.user_problem = #attn.problem<kind = bwd_dq, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = present>} : (!t, !t, !t, !t, !l)
  return %dq : !t
}

// -----

// Sums in one order, and a kernel that adds to them in another.
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
!s = tensor<?x?x?x64xf32>
func.func @other_block(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: !s, %scale: f32) -> (!s, !t, !t) {
  // expected-error @below {{'attn.attention_bwd' op expected 'tile_n' of 'config' to be the queries of 'transposed', 80, got 64}}
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : !s) scale(%scale) mask(none) layout(bshd)
      gradients(sums) transposed(80) config <tile_m = 128, tile_n = 64, work = grid, share_rows = columns> : (!t, !t, !t, !t, !l)
  return %r#0, %r#1, %r#2 : !s, !t, !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
!s = tensor<?x?x?x64xf32>
func.func @not_transposed(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: !s, %scale: f32) -> (!s, !t, !t) {
  // expected-error @below {{'attn.attention_bwd' op expected 'tile_n' of 'config' to be a multiple of 64 without 'transposed', got 80}}
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : !s) scale(%scale) mask(none) layout(bshd)
      gradients(sums) config <tile_m = 128, tile_n = 80, work = grid> : (!t, !t, !t, !t, !l)
  return %r#0, %r#1, %r#2 : !s, !t, !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
!s = tensor<?x?x?x64xf32>
func.func @rows_are_queries(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: !s, %scale: f32) -> (!s, !t, !t) {
  // expected-error @below {{'attn.attention_bwd' op expected 'share_rows' of 'config' to be columns with 'transposed', got queries}}
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : !s) scale(%scale) mask(none) layout(bshd)
      gradients(sums) transposed(80) config <tile_m = 128, tile_n = 80, work = grid> : (!t, !t, !t, !t, !l)
  return %r#0, %r#1, %r#2 : !s, !t, !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
!s = tensor<?x?x?x64xf32>
func.func @rows_are_columns(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: !s, %scale: f32) -> (!s, !t, !t) {
  // expected-error @below {{'attn.attention_bwd' op expected 'share_rows' of 'config' to be queries without 'transposed', got columns}}
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : !s) scale(%scale) mask(none) layout(bshd)
      gradients(sums) config <tile_m = 128, tile_n = 80, work = grid, share_rows = columns> : (!t, !t, !t, !t, !l)
  return %r#0, %r#1, %r#2 : !s, !t, !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
!s = tensor<?x?x?x64xf32>
!n = tensor<?x?x?xi32>
func.func @first_is_added(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %turns: !n, %scale: f32) -> (!s, !t, !t) {
  // expected-error @below {{'attn.attention_bwd' op expected 'first_share' of 'config' to be stored with 'new_sums', got added}}
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta turns(%turns : !n) scale(%scale) mask(none) layout(bshd)
      gradients(sums) new_sums(64) of 64 config <tile_m = 128, tile_n = 64, work = grid> : (!t, !t, !t, !t, !l)
  return %r#0, %r#1, %r#2 : !s, !t, !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
!s = tensor<?x?x?x64xf32>
!n = tensor<?x?x?xi32>
func.func @other_share(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %turns: !n, %scale: f32) -> (!s, !t, !t) {
  // expected-error @below {{'attn.attention_bwd' op expected 'tile_n' of 'config' to be the queries of a share of 'new_sums', 64, got 128}}
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta turns(%turns : !n) scale(%scale) mask(none) layout(bshd)
      gradients(sums) new_sums(64) of 64 config <tile_m = 128, tile_n = 128, first_share = stored, work = grid> : (!t, !t, !t, !t, !l)
  return %r#0, %r#1, %r#2 : !s, !t, !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
!s = tensor<?x?x?x64xf32>
func.func @first_is_stored(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: !s, %scale: f32) -> (!s, !t, !t) {
  // expected-error @below {{'attn.attention_bwd' op expected 'first_share' of 'config' to be added without 'new_sums', got stored}}
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : !s) scale(%scale) mask(none) layout(bshd)
      gradients(sums) config <tile_m = 128, tile_n = 64, first_share = stored, work = grid> : (!t, !t, !t, !t, !l)
  return %r#0, %r#1, %r#2 : !s, !t, !t
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @blocks_of_seeing(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> tensor<?x16x?xf32> {
  // expected-error @below {{'attn.attention_bwd' op expected 'tile_n' of 'config' to be 64 for 'seeing', got 128}}
  %seeing = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(seeing)
      config <tile_m = 64, tile_n = 128, work = grid> : (!t, !t, !t, !t, !l)
  return %seeing : tensor<?x16x?xf32>
}
