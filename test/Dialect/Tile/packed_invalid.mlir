// RUN: attn-opt %s --split-input-file --verify-diagnostics

func.func @store_row_c2(%l: tensor<?x?x?xf32>, %row: tensor<64xf32>, %i: i32) {
  // expected-error @below {{'tile.store_row' op expected 'pack' to be in 2..64, got 65}}
  tile.store_row %row, %l at(%i, %i, %i) pack 65 : tensor<64xf32>, tensor<?x?x?xf32>
  return
}

// -----

// The heads differ from those of the positions.
func.func @load_c2_packed(%x: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1, d2, d3) -> (d0, d2 floordiv 4, d1 * 2 + d2 mod 2, d3)>}}
  %t = tile.load %x at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i floordiv 4, h * 2 + i mod 2, c)> : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
  return
}

// -----

// Three heads in as many rows of a position, which has four.
func.func @load_c2_power(%x: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1, d2, d3) -> (d0, d2 floordiv 3, d1 * 3 + d2 mod 3, d3)>}}
  %t = tile.load %x at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i floordiv 3, h * 3 + i mod 3, c)> : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
  return
}
