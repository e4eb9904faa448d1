// What attn-tile-delta requires of its input.
// RUN: attn-opt %s --attn-tile-delta -split-input-file -verify-diagnostics

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @no_config_of_delta(%o: !t, %do: !t, %lse: !l, %dlse: !l) -> (!l, !l) {
  // expected-error @below {{'attn.delta' op expected 'config', which attn-configure attaches}}
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !l) -> !l
  return %delta, %lse2 : !l, !l
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @results_of_delta(%o: !t, %do: !t, %lse: !l, %dlse: !l) -> (!l, !l) {
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) config <tile_m = 64, tile_n = 1, work = grid> : (!t, !l) -> !l
  // expected-error @below {{'func.return' op expected the results of 'attn.delta', in order, to be the results of the function}}
  return %lse2, %delta : !l, !l
}
