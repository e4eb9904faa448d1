// The constraints of #tile.layout, by label.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func private @tile(tensor<64x16xf32, #tile.layout<atom = wgmma_acc, repeats = 2>>)
func.func private @row_vector(tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>)
func.func private @column_vector(tensor<16xf32, #tile.layout<atom = wgmma_acc, repeats = 2, slice = 2>>)

// -----

// expected-error @below {{expected 'repeats' to be at least 1, got 0}}
func.func private @layout_c1(tensor<64x16xf32, #tile.layout<atom = wgmma_acc, repeats = 0>>)

// -----

// expected-error @below {{expected 'slice' to be 0, 1 or 2, got 3}}
func.func private @layout_c2(tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 3>>)

// -----

// expected-error @below {{expected a vector of atom wgmma_acc, got wgmma_a}}
func.func private @layout_c3(tensor<64xbf16, #tile.layout<atom = wgmma_a, repeats = 1, slice = 1>>)

// -----

// expected-error @below {{expected a vector without columns to have 1 repeat, got 2}}
func.func private @layout_c4(tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 2, slice = 1>>)
