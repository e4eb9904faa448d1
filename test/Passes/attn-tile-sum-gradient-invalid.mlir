// What attn-tile-sum-gradient requires of its input.
// RUN: attn-opt %s --attn-tile-sum-gradient -split-input-file -verify-diagnostics

func.func @no_config(%sums: tensor<?x?x?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'attn.sum_gradient' op expected 'config', which attn-configure attaches}}
  %g = attn.sum_gradient %sums of "w" at affine_map<(b, h, p) -> (h)> : tensor<?x?x?xf32> -> tensor<?xf32>
  return %g : tensor<?xf32>
}

// -----

func.func @not_returned(%sums: tensor<?x?x?xf32>) {
  %g = attn.sum_gradient %sums of "w" at affine_map<(b, h, p) -> (h)> config <tile_m = 64, tile_n = 64, work = grid>
      : tensor<?x?x?xf32> -> tensor<?xf32>
  // expected-error @below {{'func.return' op expected the results of 'attn.sum_gradient', in order, to be the results of the function}}
  return
}
