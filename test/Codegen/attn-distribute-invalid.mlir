// What attn-distribute requires, and what it has no lowering for.
// RUN: %cases %s | attn-opt --attn-distribute -split-input-file -verify-diagnostics

!acc = tensor<64x16xf32, #tile.layout<atom = wgmma_acc, repeats = 2>>
!int = tensor<64x16xi32, #tile.layout<atom = wgmma_acc, repeats = 2>>
!half = tensor<64x16xbf16, #tile.layout<atom = wgmma_acc, repeats = 2>>
!a = tensor<64x16xbf16, #tile.layout<atom = wgmma_a, repeats = 1>>
!row = tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
!bit = tensor<64xi1, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
!column = tensor<16xf32, #tile.layout<atom = wgmma_acc, repeats = 2, slice = 2>>

// -----

ws.kernel @whole_column machine "sm_90a" args ["lse" write] problem #p config #c schedule #s {
^bb0(%lse: tensor<?x?x?xf32>):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %x = arith.constant dense<0.0> : !acc
    // expected-error @below {{'tile.reduce' op attn-distribute: no lowering for a reduction along dimension 0 across warps: expected 'partial'}}
    %r = tile.reduce max %x dim 0 : !acc -> !column
  }
}

// -----

// expected-error @below {{'ws.kernel' op attn-distribute: no lowering for machine 'sm_100a'}}
ws.kernel @other_machine machine "sm_100a" args ["lse" write] problem #p config #c schedule <"s" machine "sm_100a" { role wg warps 4 regs 240 }> {
^bb0(%lse: tensor<?x?x?xf32>):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// =====

ws.kernel @case machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
...
  }
}

// -----

// reduce_layout
%x = arith.constant dense<0.0> : !acc
// expected-error @below {{'tile.reduce' op attn-distribute: expected the vector's layout to be #tile.layout<atom = wgmma_acc, repeats = 2, slice = 2>, got 'tensor<16xf32>'}}
%r = tile.reduce add %x dim 0 : !acc -> tensor<16xf32>

// -----

// broadcast_layout
%x = arith.constant dense<0.0> : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
// expected-error @below {{'tile.broadcast' op attn-distribute: expected the vector's layout to be #tile.layout<atom = wgmma_acc, repeats = 8, slice = 2>, got 'tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>'}}
%r = tile.broadcast %x dim 0 : !row -> tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>>

// -----

// no_layout
// expected-error @below {{'arith.constant' op attn-distribute: expected a tile with a layout, got 'tensor<64x16xf32>'}}
%x = arith.constant dense<0.0> : tensor<64x16xf32>

// -----

// wrong_layout
// expected-error @below {{'arith.constant' op attn-distribute: expected a tile of the shape of its layout, got 'tensor<64x16xf32, #tile.layout<atom = wgmma_acc, repeats = 4>>'}}
%x = arith.constant dense<0.0> : tensor<64x16xf32, #tile.layout<atom = wgmma_acc, repeats = 4>>

// -----

// packed_arithmetic
%x = arith.constant dense<0.0> : !acc
%h = arith.truncf %x : !acc to !half
// expected-error @below {{'arith.addf' op attn-distribute: no lowering for arithmetic on packed elements, 'tensor<64x16xbf16, #tile.layout<atom = wgmma_acc, repeats = 2>>'}}
%y = arith.addf %h, %h : !half

// -----

// packed_type
%x = arith.constant dense<0.0> : !acc
// expected-error @below {{'arith.truncf' op attn-distribute: expected packed elements to be 'bf16', got 'tensor<64x16xf16, #tile.layout<atom = wgmma_acc, repeats = 2>>'}}
%h = arith.truncf %x : !acc to tensor<64x16xf16, #tile.layout<atom = wgmma_acc, repeats = 2>>

// -----

// packed_type_of_another_use: a tile of another type may only be extended
%x = arith.constant dense<0.0> : !acc
// expected-error @below {{'arith.truncf' op attn-distribute: expected packed elements to be 'bf16', got 'tensor<64x16xf16, #tile.layout<atom = wgmma_acc, repeats = 2>>'}}
%h = arith.truncf %x : !acc to tensor<64x16xf16, #tile.layout<atom = wgmma_acc, repeats = 2>>
%y = arith.extf %h : tensor<64x16xf16, #tile.layout<atom = wgmma_acc, repeats = 2>> to !acc
%z = tile.convert_layout %h : tensor<64x16xf16, #tile.layout<atom = wgmma_acc, repeats = 2>> -> tensor<64x16xf16, #tile.layout<atom = wgmma_a, repeats = 1>>

// -----

// integer_reduction
%x = arith.constant dense<0> : !int
// expected-error @below {{'tile.reduce' op attn-distribute: no lowering for a reduction of 'tensor<64x16xi32, #tile.layout<atom = wgmma_acc, repeats = 2>>'}}
%r = tile.reduce add %x dim 1 : !int -> tensor<64xi32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>

// =====

ws.kernel @case machine "sm_90a" args ["lse" write] problem #p config #c schedule #s {
^bb0(%lse: tensor<?x?x?xf32>):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %x = arith.constant dense<0.0> : !column
...
  }
}

// -----

// complete_column
// expected-error @below {{'tile.complete' op attn-distribute: no lowering for shares along dimension 0, which lie in several warps, got 'tensor<16xf32, #tile.layout<atom = wgmma_acc, repeats = 2, slice = 2>>'}}
%r = tile.complete %x : !column -> !column

// -----

// store_column
// expected-error @below {{'tile.store_row' op attn-distribute: no lowering for a vector without rows in memory, 'tensor<16xf32, #tile.layout<atom = wgmma_acc, repeats = 2, slice = 2>>'}}
tile.store_row %x, %lse at(%me, %me, %me) : !column, tensor<?x?x?xf32>
