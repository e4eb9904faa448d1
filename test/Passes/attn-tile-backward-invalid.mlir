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
  // expected-error @below {{'attn.attention_bwd' op expected 'gradients' dq, dk_dv, dk, dv or sums, as attn-split-backward writes them, got all}}
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
func.func @order_of_results(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> (!t, !t) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dk_dv)
      config <tile_m = 64, tile_n = 64, work = grid> : (!t, !t, !t, !t, !l)
  // expected-error @below {{'func.return' op expected the results of 'attn.attention_bwd', in order, to be the results of the function}}
  return %dv, %dk : !t, !t
}
