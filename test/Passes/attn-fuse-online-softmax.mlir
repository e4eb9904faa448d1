// attn-fuse-online-softmax: the steps of the recurrence, in full and by option.
// RUN: attn-opt %s --attn-fuse-online-softmax | FileCheck %s
// RUN: attn-opt %s --attn-fuse-online-softmax --attn-fuse-online-softmax | FileCheck %s

// CHECK: #[[$MAP:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>

// O is rescaled only if the maximum of some row grew by more than 2^8.
// CHECK-LABEL: tile.kernel @threshold args ["s", "v", "scale", "n", "o", "lse"] problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
// CHECK-NEXT: ^bb0(%[[S:.*]]: tensor<64x16xf32>, %[[V:.*]]: tensor<16x32xbf16>, %[[SCALE:.*]]: f32, %[[N:.*]]: i32, %[[O:.*]]: tensor<?x?x?x32xf32>, %[[LSE:.*]]: tensor<?x?x?xf32>):
// CHECK-NEXT:   %[[C:.*]] = arith.constant 1.44269502 : f32
// CHECK-NEXT:   %[[CSCALE:.*]] = arith.mulf %[[SCALE]], %[[C]] : f32
// CHECK-NEXT:   tile.work {
// CHECK-NEXT:     %[[C1:.*]] = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
// CHECK-NEXT:     %[[C2:.*]] = arith.constant dense<-3.40282347E+38> : tensor<64xf32>
// CHECK-NEXT:     %[[C3:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-NEXT:     %[[LOOP:.*]]:3 = tile.for ranges ["full"] bounds(%[[N]], %[[N]]) init(%[[C2]], %[[C3]], %[[C1]]) : (tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>) {
// CHECK-NEXT:     ^bb0(%[[A:.*]]: i32, %[[A1:.*]]: tensor<64xf32>, %[[A2:.*]]: tensor<64xf32>, %[[A3:.*]]: tensor<64x32xf32>):
// CHECK-NEXT:       %[[STAT:.*]]:2 = tile.step @stat(%[[S]], %[[A1]]) : (tensor<64x16xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK-NEXT:       ^bb0(%[[A4:.*]]: tensor<64x16xf32>, %[[A5:.*]]: tensor<64xf32>):
// CHECK-NEXT:         %[[REDUCE:.*]] = tile.reduce  max %[[A4]] dim 1 : tensor<64x16xf32> -> tensor<64xf32>
// CHECK-NEXT:         %[[SPLAT:.*]] = tensor.splat %[[CSCALE]] : tensor<64xf32>
// CHECK-NEXT:         %[[C4:.*]] = arith.constant dense<8.000000e+00> : tensor<64xf32>
// CHECK-NEXT:         %[[F1:.*]] = arith.mulf %[[REDUCE]], %[[SPLAT]] : tensor<64xf32>
// CHECK-NEXT:         %[[ADDF:.*]] = arith.addf %[[A5]], %[[C4]] : tensor<64xf32>
// CHECK-NEXT:         %[[CMPF:.*]] = arith.cmpf ogt, %[[F1]], %[[ADDF]] : tensor<64xf32>
// CHECK-NEXT:         %[[LARGER:.*]] = arith.maxnumf %[[F1]], %[[A5]] : tensor<64xf32>
// CHECK-NEXT:         %[[SUBF:.*]] = arith.subf %[[A5]], %[[LARGER]] : tensor<64xf32>
// CHECK-NEXT:         %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-NEXT:         %[[GROWTH:.*]] = arith.select %[[CMPF]], %[[SUBF]], %[[NONE]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:         %[[SELECT:.*]] = arith.select %[[CMPF]], %[[LARGER]], %[[A5]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:         %[[EXP2:.*]] = math.exp2 %[[GROWTH]] : tensor<64xf32>
// CHECK-NEXT:         tile.yield %[[SELECT]], %[[EXP2]] : tensor<64xf32>, tensor<64xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[EXP:.*]] = tile.step @exp(%[[S]], %[[STAT]]#0) : (tensor<64x16xf32>, tensor<64xf32>) -> tensor<64x16xf32> {
// CHECK-NEXT:       ^bb0(%[[A6:.*]]: tensor<64x16xf32>, %[[A7:.*]]: tensor<64xf32>):
// CHECK-NEXT:         %[[SPLAT1:.*]] = tensor.splat %[[CSCALE]] : tensor<64x16xf32>
// CHECK-NEXT:         %[[NEGF:.*]] = arith.negf %[[A7]] : tensor<64xf32>
// CHECK-NEXT:         %[[BROADCAST:.*]] = tile.broadcast %[[NEGF]] dim 1 : tensor<64xf32> -> tensor<64x16xf32>
// CHECK-NEXT:         %[[FMA:.*]] = math.fma %[[A6]], %[[SPLAT1]], %[[BROADCAST]] : tensor<64x16xf32>
// CHECK-NEXT:         %[[EXP21:.*]] = math.exp2 %[[FMA]] : tensor<64x16xf32>
// CHECK-NEXT:         tile.yield %[[EXP21]] : tensor<64x16xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[SUM:.*]] = tile.step @sum(%[[EXP]], %[[A2]], %[[STAT]]#1) : (tensor<64x16xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:       ^bb0(%[[A8:.*]]: tensor<64x16xf32>, %[[A9:.*]]: tensor<64xf32>, %[[A10:.*]]: tensor<64xf32>):
// CHECK-NEXT:         %[[REDUCE1:.*]] = tile.reduce  add %[[A8]] dim 1 partial : tensor<64x16xf32> -> tensor<64xf32>
// CHECK-NEXT:         %[[FMA1:.*]] = math.fma %[[A9]], %[[A10]], %[[REDUCE1]] : tensor<64xf32>
// CHECK-NEXT:         tile.yield %[[FMA1]] : tensor<64xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[CVT:.*]] = tile.step @cvt(%[[EXP]]) : (tensor<64x16xf32>) -> tensor<64x16xbf16> {
// CHECK-NEXT:       ^bb0(%[[A11:.*]]: tensor<64x16xf32>):
// CHECK-NEXT:         %[[TRUNCF:.*]] = arith.truncf %[[A11]] : tensor<64x16xf32> to tensor<64x16xbf16>
// CHECK-NEXT:         tile.yield %[[TRUNCF]] : tensor<64x16xbf16>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[RESCALE:.*]] = tile.step @rescale(%[[A3]], %[[STAT]]#1) : (tensor<64x32xf32>, tensor<64xf32>) -> tensor<64x32xf32> {
// CHECK-NEXT:       ^bb0(%[[A12:.*]]: tensor<64x32xf32>, %[[A13:.*]]: tensor<64xf32>):
// CHECK-NEXT:         %[[C5:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-NEXT:         %[[CMPF1:.*]] = arith.cmpf olt, %[[A13]], %[[C5]] : tensor<64xf32>
// CHECK-NEXT:         %[[ANY:.*]] = tile.any %[[CMPF1]] : tensor<64xi1>
// CHECK-NEXT:         %[[IF:.*]] = scf.if %[[ANY]] -> (tensor<64x32xf32>) {
// CHECK-NEXT:           %[[BROADCAST1:.*]] = tile.broadcast %[[A13]] dim 1 : tensor<64xf32> -> tensor<64x32xf32>
// CHECK-NEXT:           %[[F2:.*]] = arith.mulf %[[A12]], %[[BROADCAST1]] : tensor<64x32xf32>
// CHECK-NEXT:           scf.yield %[[F2]] : tensor<64x32xf32>
// CHECK-NEXT:         } else {
// CHECK-NEXT:           scf.yield %[[A12]] : tensor<64x32xf32>
// CHECK-NEXT:         }
// CHECK-NEXT:         tile.yield %[[IF]] : tensor<64x32xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[PV:.*]] = tile.step @pv(%[[CVT]], %[[V]], %[[RESCALE]]) : (tensor<64x16xbf16>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
// CHECK-NEXT:       ^bb0(%[[A14:.*]]: tensor<64x16xbf16>, %[[A15:.*]]: tensor<16x32xbf16>, %[[A16:.*]]: tensor<64x32xf32>):
// CHECK-NEXT:         %[[MMA:.*]] = tile.mma %[[A14]], %[[A15]] acc(%[[A16]] : tensor<64x32xf32>) : tensor<64x16xbf16>, tensor<16x32xbf16> -> tensor<64x32xf32>
// CHECK-NEXT:         tile.yield %[[MMA]] : tensor<64x32xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       tile.yield %[[STAT]]#0, %[[SUM]], %[[PV]] : tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[FIN:.*]]:2 = tile.step @fin(%[[LOOP]]#1, %[[LOOP]]#0) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK-NEXT:     ^bb0(%[[A17:.*]]: tensor<64xf32>, %[[A18:.*]]: tensor<64xf32>):
// CHECK-NEXT:       %[[COMPLETE:.*]] = tile.complete %[[A17]] : tensor<64xf32> -> tensor<64xf32>
// CHECK-NEXT:       %[[C6:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-NEXT:       %[[C7:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-NEXT:       %[[C8:.*]] = arith.constant dense<0.693147182> : tensor<64xf32>
// CHECK-NEXT:       %[[CMPF2:.*]] = arith.cmpf oeq, %[[COMPLETE]], %[[C6]] : tensor<64xf32>
// CHECK-NEXT:       %[[DIVF:.*]] = arith.divf %[[C7]], %[[COMPLETE]] : tensor<64xf32>
// CHECK-NEXT:       %[[SELECT1:.*]] = arith.select %[[CMPF2]], %[[C6]], %[[DIVF]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:       %[[LOG2:.*]] = math.log2 %[[COMPLETE]] : tensor<64xf32>
// CHECK-NEXT:       %[[ADDF1:.*]] = arith.addf %[[A18]], %[[LOG2]] : tensor<64xf32>
// CHECK-NEXT:       %[[F3:.*]] = arith.mulf %[[ADDF1]], %[[C8]] : tensor<64xf32>
// CHECK-NEXT:       tile.yield %[[SELECT1]], %[[F3]] : tensor<64xf32>, tensor<64xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[NORM:.*]] = tile.step @norm(%[[LOOP]]#2, %[[FIN]]#0) : (tensor<64x32xf32>, tensor<64xf32>) -> tensor<64x32xf32> {
// CHECK-NEXT:     ^bb0(%[[A19:.*]]: tensor<64x32xf32>, %[[A20:.*]]: tensor<64xf32>):
// CHECK-NEXT:       %[[BROADCAST2:.*]] = tile.broadcast %[[A20]] dim 1 : tensor<64xf32> -> tensor<64x32xf32>
// CHECK-NEXT:       %[[F4:.*]] = arith.mulf %[[A19]], %[[BROADCAST2]] : tensor<64x32xf32>
// CHECK-NEXT:       tile.yield %[[F4]] : tensor<64x32xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.step @st_o(%[[NORM]]) : (tensor<64x32xf32>) -> () {
// CHECK-NEXT:     ^bb0(%[[A21:.*]]: tensor<64x32xf32>):
// CHECK-NEXT:       tile.store %[[A21]], %[[O]] at(%[[N]], %[[N]], %[[N]]) #[[$MAP]] : tensor<64x32xf32>, tensor<?x?x?x32xf32>
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.step @st_lse(%[[FIN]]#1) : (tensor<64xf32>) -> () {
// CHECK-NEXT:     ^bb0(%[[A22:.*]]: tensor<64xf32>):
// CHECK-NEXT:       tile.store_row %[[A22]], %[[LSE]] at(%[[N]], %[[N]], %[[N]]) : tensor<64xf32>, tensor<?x?x?xf32>
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
tile.kernel @threshold args ["s", "v", "scale", "n", "o", "lse"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges ["full"] bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// Without a threshold every iteration rescales.
// CHECK-LABEL: tile.kernel @always args ["s", "v", "scale", "n", "o", "lse"] problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> config <tile_m = 64, tile_n = 16, work = grid> {
// CHECK-NEXT: ^bb0(%[[S:.*]]: tensor<64x16xf32>, %[[V:.*]]: tensor<16x32xbf16>, %[[SCALE:.*]]: f32, %[[N:.*]]: i32, %[[O:.*]]: tensor<?x?x?x32xf32>, %[[LSE:.*]]: tensor<?x?x?xf32>):
// CHECK: %[[C:.*]] = arith.constant 1.44269502 : f32
// CHECK: %[[CSCALE:.*]] = arith.mulf %[[SCALE]], %[[C]] : f32
// CHECK: ^bb0(%[[A:.*]]: i32, %[[A1:.*]]: tensor<64xf32>, %[[A2:.*]]: tensor<64xf32>, %[[A3:.*]]: tensor<64x32xf32>):
// CHECK: %[[STAT:.*]]:2 = tile.step @stat(%[[S]], %[[A1]]) : (tensor<64x16xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK-NEXT:       ^bb0(%[[A4:.*]]: tensor<64x16xf32>, %[[A5:.*]]: tensor<64xf32>):
// CHECK-NEXT:         %[[REDUCE:.*]] = tile.reduce  max %[[A4]] dim 1 : tensor<64x16xf32> -> tensor<64xf32>
// CHECK-NEXT:         %[[SPLAT:.*]] = tensor.splat %[[CSCALE]] : tensor<64xf32>
// CHECK-NEXT:         %[[F1:.*]] = arith.mulf %[[REDUCE]], %[[SPLAT]] : tensor<64xf32>
// CHECK-NEXT:         %[[CMPF:.*]] = arith.cmpf ogt, %[[F1]], %[[A5]] : tensor<64xf32>
// CHECK-NEXT:         %[[LARGER:.*]] = arith.maxnumf %[[F1]], %[[A5]] : tensor<64xf32>
// CHECK-NEXT:         %[[SUBF:.*]] = arith.subf %[[A5]], %[[LARGER]] : tensor<64xf32>
// CHECK-NEXT:         %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-NEXT:         %[[GROWTH:.*]] = arith.select %[[CMPF]], %[[SUBF]], %[[NONE]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:         %[[SELECT:.*]] = arith.select %[[CMPF]], %[[LARGER]], %[[A5]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:         %[[EXP2:.*]] = math.exp2 %[[GROWTH]] : tensor<64xf32>
// CHECK-NEXT:         tile.yield %[[SELECT]], %[[EXP2]] : tensor<64xf32>, tensor<64xf32>
// CHECK-NEXT:       }
// CHECK: %[[RESCALE:.*]] = tile.step @rescale(%[[A3]], %[[STAT]]#1) : (tensor<64x32xf32>, tensor<64xf32>) -> tensor<64x32xf32> {
// CHECK-NEXT:       ^bb0(%[[A12:.*]]: tensor<64x32xf32>, %[[A13:.*]]: tensor<64xf32>):
// CHECK-NEXT:         %[[BROADCAST1:.*]] = tile.broadcast %[[A13]] dim 1 : tensor<64xf32> -> tensor<64x32xf32>
// CHECK-NEXT:         %[[F2:.*]] = arith.mulf %[[A12]], %[[BROADCAST1]] : tensor<64x32xf32>
// CHECK-NEXT:         tile.yield %[[F2]] : tensor<64x32xf32>
// CHECK-NEXT:       }
tile.kernel @always args ["s", "v", "scale", "n", "o", "lse"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges ["full"] bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// A scale of 1 leaves log2(e) alone.
// CHECK-LABEL: tile.kernel @unit_scale args ["s", "v", "scale", "n", "o", "lse"] problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
// CHECK-NEXT: ^bb0(%[[S:.*]]: tensor<64x16xf32>, %[[V:.*]]: tensor<16x32xbf16>, %[[SCALE:.*]]: f32, %[[N:.*]]: i32, %[[O:.*]]: tensor<?x?x?x32xf32>, %[[LSE:.*]]: tensor<?x?x?xf32>):
// CHECK: %[[C1:.*]] = arith.constant 1.44269502 : f32
// CHECK: ^bb0(%[[A:.*]]: i32, %[[A1:.*]]: tensor<64xf32>, %[[A2:.*]]: tensor<64xf32>, %[[A3:.*]]: tensor<64x32xf32>):
// CHECK: %[[STAT:.*]]:2 = tile.step @stat(%[[S]], %[[A1]]) : (tensor<64x16xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK-NEXT:       ^bb0(%[[A4:.*]]: tensor<64x16xf32>, %[[A5:.*]]: tensor<64xf32>):
// CHECK-NEXT:         %[[REDUCE:.*]] = tile.reduce  max %[[A4]] dim 1 : tensor<64x16xf32> -> tensor<64xf32>
// CHECK-NEXT:         %[[SPLAT:.*]] = tensor.splat %[[C1]] : tensor<64xf32>
// CHECK-NEXT:         %[[C5:.*]] = arith.constant dense<8.000000e+00> : tensor<64xf32>
// CHECK-NEXT:         %[[F:.*]] = arith.mulf %[[REDUCE]], %[[SPLAT]] : tensor<64xf32>
// CHECK-NEXT:         %[[ADDF:.*]] = arith.addf %[[A5]], %[[C5]] : tensor<64xf32>
// CHECK-NEXT:         %[[CMPF:.*]] = arith.cmpf ogt, %[[F]], %[[ADDF]] : tensor<64xf32>
// CHECK-NEXT:         %[[LARGER:.*]] = arith.maxnumf %[[F]], %[[A5]] : tensor<64xf32>
// CHECK-NEXT:         %[[SUBF:.*]] = arith.subf %[[A5]], %[[LARGER]] : tensor<64xf32>
// CHECK-NEXT:         %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-NEXT:         %[[GROWTH:.*]] = arith.select %[[CMPF]], %[[SUBF]], %[[NONE]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:         %[[SELECT:.*]] = arith.select %[[CMPF]], %[[LARGER]], %[[A5]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:         %[[EXP2:.*]] = math.exp2 %[[GROWTH]] : tensor<64xf32>
// CHECK-NEXT:         tile.yield %[[SELECT]], %[[EXP2]] : tensor<64xf32>, tensor<64xf32>
// CHECK-NEXT:       }
// CHECK: %[[EXP:.*]] = tile.step @exp(%[[S]], %[[STAT]]#0) : (tensor<64x16xf32>, tensor<64xf32>) -> tensor<64x16xf32> {
// CHECK-NEXT:       ^bb0(%[[A6:.*]]: tensor<64x16xf32>, %[[A7:.*]]: tensor<64xf32>):
// CHECK-NEXT:         %[[SPLAT1:.*]] = tensor.splat %[[C1]] : tensor<64x16xf32>
// CHECK-NEXT:         %[[NEGF:.*]] = arith.negf %[[A7]] : tensor<64xf32>
// CHECK-NEXT:         %[[BROADCAST:.*]] = tile.broadcast %[[NEGF]] dim 1 : tensor<64xf32> -> tensor<64x16xf32>
// CHECK-NEXT:         %[[FMA:.*]] = math.fma %[[A6]], %[[SPLAT1]], %[[BROADCAST]] : tensor<64x16xf32>
// CHECK-NEXT:         %[[EXP21:.*]] = math.exp2 %[[FMA]] : tensor<64x16xf32>
// CHECK-NEXT:         tile.yield %[[EXP21]] : tensor<64x16xf32>
// CHECK-NEXT:       }
tile.kernel @unit_scale args ["s", "v", "scale", "n", "o", "lse"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  %one = arith.constant 1.0 : f32
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges ["full"] bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        %r = tile.attend %a, %b state(%x) scale(%one) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// Other values that the loop carries keep their place before the state.
// CHECK-LABEL: tile.kernel @carried args ["s", "v", "scale", "n", "o", "lse"] problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
// CHECK-NEXT: ^bb0(%[[S:.*]]: tensor<64x16xf32>, %[[V:.*]]: tensor<16x32xbf16>, %[[SCALE:.*]]: f32, %[[N:.*]]: i32, %[[O:.*]]: tensor<?x?x?x32xf32>, %[[LSE:.*]]: tensor<?x?x?xf32>):
// CHECK: %[[C1:.*]] = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
// CHECK: %[[C2:.*]] = arith.constant dense<-3.40282347E+38> : tensor<64xf32>
// CHECK: %[[C3:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK: %[[LOOP:.*]]:4 = tile.for ranges ["full"] bounds(%[[N]], %[[N]]) init(%[[N]], %[[C2]], %[[C3]], %[[C1]]) : (i32, tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>) -> (i32, tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>) {
// CHECK: ^bb0(%[[A:.*]]: i32, %[[A1:.*]]: i32, %[[A2:.*]]: tensor<64xf32>, %[[A3:.*]]: tensor<64xf32>, %[[A4:.*]]: tensor<64x32xf32>):
// CHECK: %[[ADDI:.*]] = arith.addi %[[A1]], %[[A]] : i32
// CHECK: %[[STAT:.*]]:2 = tile.step @stat(%[[S]], %[[A2]]) : (tensor<64x16xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK: %[[EXP:.*]] = tile.step @exp(%[[S]], %[[STAT]]#0) : (tensor<64x16xf32>, tensor<64xf32>) -> tensor<64x16xf32> {
// CHECK: %[[SUM:.*]] = tile.step @sum(%[[EXP]], %[[A3]], %[[STAT]]#1) : (tensor<64x16xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
// CHECK: %[[CVT:.*]] = tile.step @cvt(%[[EXP]]) : (tensor<64x16xf32>) -> tensor<64x16xbf16> {
// CHECK: %[[RESCALE:.*]] = tile.step @rescale(%[[A4]], %[[STAT]]#1) : (tensor<64x32xf32>, tensor<64xf32>) -> tensor<64x32xf32> {
// CHECK: %[[PV:.*]] = tile.step @pv(%[[CVT]], %[[V]], %[[RESCALE]]) : (tensor<64x16xbf16>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
// CHECK: tile.yield %[[ADDI]], %[[STAT]]#0, %[[SUM]], %[[PV]] : i32, tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>
// CHECK: %[[FIN:.*]]:2 = tile.step @fin(%[[LOOP]]#2, %[[LOOP]]#1) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK-NEXT:     ^bb0(%[[A18:.*]]: tensor<64xf32>, %[[A19:.*]]: tensor<64xf32>):
// CHECK-NEXT:       %[[COMPLETE:.*]] = tile.complete %[[A18]] : tensor<64xf32> -> tensor<64xf32>
// CHECK-NEXT:       %[[C6:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-NEXT:       %[[C7:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-NEXT:       %[[C8:.*]] = arith.constant dense<0.693147182> : tensor<64xf32>
// CHECK-NEXT:       %[[CMPF2:.*]] = arith.cmpf oeq, %[[COMPLETE]], %[[C6]] : tensor<64xf32>
// CHECK-NEXT:       %[[DIVF:.*]] = arith.divf %[[C7]], %[[COMPLETE]] : tensor<64xf32>
// CHECK-NEXT:       %[[SELECT1:.*]] = arith.select %[[CMPF2]], %[[C6]], %[[DIVF]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:       %[[LOG2:.*]] = math.log2 %[[COMPLETE]] : tensor<64xf32>
// CHECK-NEXT:       %[[ADDF1:.*]] = arith.addf %[[A19]], %[[LOG2]] : tensor<64xf32>
// CHECK-NEXT:       %[[F3:.*]] = arith.mulf %[[ADDF1]], %[[C8]] : tensor<64xf32>
// CHECK-NEXT:       tile.yield %[[SELECT1]], %[[F3]] : tensor<64xf32>, tensor<64xf32>
// CHECK-NEXT:     }
tile.kernel @carried args ["s", "v", "scale", "n", "o", "lse"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %count, %state = tile.for ranges ["full"] bounds(%n, %n) init(%n, %zero) : (i32, tensor<64x32xf32>) -> (i32, tensor<64x32xf32>) {
    ^bb0(%j: i32, %c: i32, %st: tensor<64x32xf32>):
      %c1 = arith.addi %c, %j : i32
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %c1, %next : i32, tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// Nothing to do without tile.attend.
// CHECK-LABEL: tile.kernel @other args ["n"]
// CHECK-NEXT: ^bb0(%[[N:.*]]: i32):
// CHECK-NEXT:   tile.work {
// CHECK-NEXT:     %[[W:.*]] = tile.step @next() : () -> !tile.work {
// CHECK-NEXT:       %[[X:.*]] = tile.next_work extents(%[[N]], %[[N]], %[[N]])
// CHECK-NEXT:       tile.yield %[[X]] : !tile.work
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
tile.kernel @other args ["n"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
^bb0(%n: i32):
  tile.work {
    %w = tile.step @next () : () -> !tile.work {
      %x = tile.next_work extents(%n, %n, %n)
      tile.yield %x : !tile.work
    }
  }
}

// A reference from the first block: step stat looks at the scores where a row has none, where a sum
// is large, and always in an item that is computed again; sums above 2^100 become infinite. Step
// check rejects O that is not finite, and such sums.
// CHECK-LABEL: tile.kernel @first_block args ["s", "v", "scale", "n", "o", "lse"] problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent> config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8, row_max = first_block> {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: tensor<64x16xf32>, %[[V1:.*]]: tensor<16x32xbf16>, %[[V2:.*]]: f32, %[[V3:.*]]: i32, %[[V4:.*]]: tensor<?x?x?x32xf32>, %[[V5:.*]]: tensor<?x?x?xf32>):
// CHECK-NEXT:   %[[V6:.*]] = arith.constant 1.44269502 : f32
// CHECK-NEXT:   %[[V7:.*]] = arith.mulf %[[V2]], %[[V6]] : f32
// CHECK-NEXT:   tile.work {
// CHECK-NEXT:     %[[V8:.*]] = tile.step @next() : () -> !tile.work {
// CHECK-NEXT:       %[[V9:.*]] = tile.next_work extents(%[[V3]], %[[V3]], %[[V3]])
// CHECK-NEXT:       tile.yield %[[V9]] : !tile.work
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[V10:.*]] = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
// CHECK-NEXT:     %[[V11:.*]] = arith.constant dense<-3.40282347E+38> : tensor<64xf32>
// CHECK-NEXT:     %[[V12:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-NEXT:     %[[V13:.*]] = arith.constant true
// CHECK-NEXT:     %[[V14:.*]]:4 = tile.for ranges ["full"] bounds(%[[V3]], %[[V3]]) init(%[[V11]], %[[V12]], %[[V10]], %[[V13]]) : (tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>, i1) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>, i1) {
// CHECK-NEXT:     ^bb0(%[[V15:.*]]: i32, %[[V16:.*]]: tensor<64xf32>, %[[V17:.*]]: tensor<64xf32>, %[[V18:.*]]: tensor<64x32xf32>, %[[V19:.*]]: i1):
// CHECK-NEXT:       %[[V20:.*]]:5 = tile.step @stat(%[[V0]], %[[V16]], %[[V17]], %[[V19]], %[[V8]]) : (tensor<64x16xf32>, tensor<64xf32>, tensor<64xf32>, i1, !tile.work) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, i1, i1) {
// CHECK-NEXT:       ^bb0(%[[V21:.*]]: tensor<64x16xf32>, %[[V22:.*]]: tensor<64xf32>, %[[V23:.*]]: tensor<64xf32>, %[[V24:.*]]: i1, %[[V25:.*]]: !tile.work):
// CHECK-NEXT:         %[[V26:.*]] = arith.constant dense<0x4B800000> : tensor<64xf32>
// CHECK-NEXT:         %[[V27:.*]] = arith.cmpf ogt, %[[V23]], %[[V26]] : tensor<64xf32>
// CHECK-NEXT:         %[[V28:.*]] = tile.any %[[V27]] : tensor<64xi1>
// CHECK-NEXT:         %[[V29:.*]] = arith.ori %[[V24]], %[[V28]] : i1
// CHECK-NEXT:         %[[V30:.*]]:4 = scf.if %[[V29]] -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, i1) {
// CHECK-NEXT:           %[[V31:.*]] = tile.complete %[[V23]] : tensor<64xf32> -> tensor<64xf32>
// CHECK-NEXT:           %[[V32:.*]] = arith.constant dense<0x4B800000> : tensor<64xf32>
// CHECK-NEXT:           %[[V33:.*]] = arith.cmpf ogt, %[[V31]], %[[V32]] : tensor<64xf32>
// CHECK-NEXT:           %[[V34:.*]] = math.log2 %[[V31]] : tensor<64xf32>
// CHECK-NEXT:           %[[V35:.*]] = arith.addf %[[V22]], %[[V34]] : tensor<64xf32>
// CHECK-NEXT:           %[[V36:.*]] = arith.select %[[V33]], %[[V35]], %[[V22]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:           %[[V39:.*]] = tile.reduce  max %[[V21]] dim 1 : tensor<64x16xf32> -> tensor<64xf32>
// CHECK-NEXT:           %[[V37:.*]] = tensor.splat %[[V7]] : tensor<64xf32>
// CHECK-NEXT:           %[[V38:.*]] = arith.constant dense<8.000000e+00> : tensor<64xf32>
// CHECK-NEXT:           %[[V40:.*]] = arith.mulf %[[V39]], %[[V37]] : tensor<64xf32>
// CHECK-NEXT:           %[[V41:.*]] = arith.maxnumf %[[V40]], %[[V36]] : tensor<64xf32>
// CHECK-NEXT:           %[[V42:.*]] = arith.addf %[[V22]], %[[V38]] : tensor<64xf32>
// CHECK-NEXT:           %[[V43:.*]] = arith.cmpf ogt, %[[V41]], %[[V42]] : tensor<64xf32>
// CHECK-NEXT:           %[[V44:.*]] = arith.maxnumf %[[V41]], %[[V22]] : tensor<64xf32>
// CHECK-NEXT:           %[[V45:.*]] = arith.subf %[[V22]], %[[V44]] : tensor<64xf32>
// CHECK-NEXT:           %[[V46:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-NEXT:           %[[V47:.*]] = arith.select %[[V43]], %[[V45]], %[[V46]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:           %[[V48:.*]] = arith.select %[[V43]], %[[V44]], %[[V22]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:           %[[V49:.*]] = math.exp2 %[[V47]] : tensor<64xf32>
// CHECK-NEXT:           %[[V50:.*]] = arith.mulf %[[V23]], %[[V49]] : tensor<64xf32>
// CHECK-NEXT:           %[[V51:.*]] = arith.constant dense<1.2676506E+30> : tensor<64xf32>
// CHECK-NEXT:           %[[V52:.*]] = arith.cmpf ogt, %[[V31]], %[[V51]] : tensor<64xf32>
// CHECK-NEXT:           %[[V53:.*]] = arith.constant dense<0x7F800000> : tensor<64xf32>
// CHECK-NEXT:           %[[V54:.*]] = arith.select %[[V52]], %[[V53]], %[[V50]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:           %[[V55:.*]] = arith.constant dense<-3.40282347E+38> : tensor<64xf32>
// CHECK-NEXT:           %[[V56:.*]] = arith.cmpf oeq, %[[V48]], %[[V55]] : tensor<64xf32>
// CHECK-NEXT:           %[[V57:.*]] = tile.any %[[V56]] : tensor<64xi1>
// CHECK-NEXT:           %[[V58:.*]] = tile.is_redo %[[V25]]
// CHECK-NEXT:           %[[V59:.*]] = arith.ori %[[V57]], %[[V58]] : i1
// CHECK-NEXT:           scf.yield %[[V48]], %[[V49]], %[[V54]], %[[V59]] : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, i1
// CHECK-NEXT:         } else {
// CHECK-NEXT:           %[[V60:.*]] = arith.constant false
// CHECK-NEXT:           %[[V61:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-NEXT:           scf.yield %[[V22]], %[[V61]], %[[V23]], %[[V60]] : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, i1
// CHECK-NEXT:         }
// CHECK-NEXT:         tile.yield %[[V30]]#0, %[[V30]]#1, %[[V30]]#2, %[[V30]]#3, %[[V29]] : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, i1, i1
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V62:.*]] = tile.step @exp(%[[V0]], %[[V20]]#0) : (tensor<64x16xf32>, tensor<64xf32>) -> tensor<64x16xf32> {
// CHECK-NEXT:       ^bb0(%[[V63:.*]]: tensor<64x16xf32>, %[[V64:.*]]: tensor<64xf32>):
// CHECK-NEXT:         %[[V65:.*]] = tensor.splat %[[V7]] : tensor<64x16xf32>
// CHECK-NEXT:         %[[V66:.*]] = arith.negf %[[V64]] : tensor<64xf32>
// CHECK-NEXT:         %[[V67:.*]] = tile.broadcast %[[V66]] dim 1 : tensor<64xf32> -> tensor<64x16xf32>
// CHECK-NEXT:         %[[V68:.*]] = math.fma %[[V63]], %[[V65]], %[[V67]] : tensor<64x16xf32>
// CHECK-NEXT:         %[[V69:.*]] = math.exp2 %[[V68]] : tensor<64x16xf32>
// CHECK-NEXT:         tile.yield %[[V69]] : tensor<64x16xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V70:.*]] = tile.step @sum(%[[V62]], %[[V20]]#2) : (tensor<64x16xf32>, tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:       ^bb0(%[[V71:.*]]: tensor<64x16xf32>, %[[V72:.*]]: tensor<64xf32>):
// CHECK-NEXT:         %[[V73:.*]] = tile.reduce  add %[[V71]] dim 1 partial : tensor<64x16xf32> -> tensor<64xf32>
// CHECK-NEXT:         %[[V74:.*]] = arith.addf %[[V72]], %[[V73]] : tensor<64xf32>
// CHECK-NEXT:         tile.yield %[[V74]] : tensor<64xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V75:.*]] = tile.step @cvt(%[[V62]]) : (tensor<64x16xf32>) -> tensor<64x16xbf16> {
// CHECK-NEXT:       ^bb0(%[[V76:.*]]: tensor<64x16xf32>):
// CHECK-NEXT:         %[[V77:.*]] = arith.truncf %[[V76]] : tensor<64x16xf32> to tensor<64x16xbf16>
// CHECK-NEXT:         tile.yield %[[V77]] : tensor<64x16xbf16>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V78:.*]] = tile.step @rescale(%[[V18]], %[[V20]]#1, %[[V20]]#4) : (tensor<64x32xf32>, tensor<64xf32>, i1) -> tensor<64x32xf32> {
// CHECK-NEXT:       ^bb0(%[[V79:.*]]: tensor<64x32xf32>, %[[V80:.*]]: tensor<64xf32>, %[[V81:.*]]: i1):
// CHECK-NEXT:         %[[V82:.*]] = scf.if %[[V81]] -> (tensor<64x32xf32>) {
// CHECK-NEXT:           %[[V83:.*]] = tile.broadcast %[[V80]] dim 1 : tensor<64xf32> -> tensor<64x32xf32>
// CHECK-NEXT:           %[[V84:.*]] = arith.mulf %[[V79]], %[[V83]] : tensor<64x32xf32>
// CHECK-NEXT:           scf.yield %[[V84]] : tensor<64x32xf32>
// CHECK-NEXT:         } else {
// CHECK-NEXT:           scf.yield %[[V79]] : tensor<64x32xf32>
// CHECK-NEXT:         }
// CHECK-NEXT:         tile.yield %[[V82]] : tensor<64x32xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V85:.*]] = tile.step @pv(%[[V75]], %[[V1]], %[[V78]]) : (tensor<64x16xbf16>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
// CHECK-NEXT:       ^bb0(%[[V86:.*]]: tensor<64x16xbf16>, %[[V87:.*]]: tensor<16x32xbf16>, %[[V88:.*]]: tensor<64x32xf32>):
// CHECK-NEXT:         %[[V89:.*]] = tile.mma %[[V86]], %[[V87]] acc(%[[V88]] : tensor<64x32xf32>) : tensor<64x16xbf16>, tensor<16x32xbf16> -> tensor<64x32xf32>
// CHECK-NEXT:         tile.yield %[[V89]] : tensor<64x32xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       tile.yield %[[V20]]#0, %[[V70]], %[[V85]], %[[V20]]#3 : tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>, i1
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[V90:.*]]:2 = tile.step @fin(%[[V14]]#1, %[[V14]]#0) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK-NEXT:     ^bb0(%[[V91:.*]]: tensor<64xf32>, %[[V92:.*]]: tensor<64xf32>):
// CHECK-NEXT:       %[[V93:.*]] = tile.complete %[[V91]] : tensor<64xf32> -> tensor<64xf32>
// CHECK-NEXT:       %[[V94:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-NEXT:       %[[V95:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-NEXT:       %[[V96:.*]] = arith.constant dense<0.693147182> : tensor<64xf32>
// CHECK-NEXT:       %[[V97:.*]] = arith.cmpf oeq, %[[V93]], %[[V94]] : tensor<64xf32>
// CHECK-NEXT:       %[[V98:.*]] = arith.divf %[[V95]], %[[V93]] : tensor<64xf32>
// CHECK-NEXT:       %[[V99:.*]] = arith.select %[[V97]], %[[V94]], %[[V98]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:       %[[V100:.*]] = math.log2 %[[V93]] : tensor<64xf32>
// CHECK-NEXT:       %[[V101:.*]] = arith.addf %[[V92]], %[[V100]] : tensor<64xf32>
// CHECK-NEXT:       %[[V102:.*]] = arith.mulf %[[V101]], %[[V96]] : tensor<64xf32>
// CHECK-NEXT:       tile.yield %[[V99]], %[[V102]] : tensor<64xf32>, tensor<64xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[V103:.*]] = tile.step @norm(%[[V14]]#2, %[[V90]]#0) : (tensor<64x32xf32>, tensor<64xf32>) -> tensor<64x32xf32> {
// CHECK-NEXT:     ^bb0(%[[V104:.*]]: tensor<64x32xf32>, %[[V105:.*]]: tensor<64xf32>):
// CHECK-NEXT:       %[[V106:.*]] = tile.broadcast %[[V105]] dim 1 : tensor<64xf32> -> tensor<64x32xf32>
// CHECK-NEXT:       %[[V107:.*]] = arith.mulf %[[V104]], %[[V106]] : tensor<64x32xf32>
// CHECK-NEXT:       tile.yield %[[V107]] : tensor<64x32xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.step @check(%[[V103]], %[[V14]]#1, %[[V8]]) : (tensor<64x32xf32>, tensor<64xf32>, !tile.work) -> () {
// CHECK-NEXT:     ^bb0(%[[V108:.*]]: tensor<64x32xf32>, %[[V109:.*]]: tensor<64xf32>, %[[V110:.*]]: !tile.work):
// CHECK-NEXT:       %[[V111:.*]] = arith.constant dense<0x7F800000> : tensor<64xf32>
// CHECK-NEXT:       %[[V112:.*]] = tile.reduce  add %[[V108]] dim 1 partial : tensor<64x32xf32> -> tensor<64xf32>
// CHECK-NEXT:       %[[V113:.*]] = math.absf %[[V112]] : tensor<64xf32>
// CHECK-NEXT:       %[[V114:.*]] = arith.cmpf uge, %[[V113]], %[[V111]] : tensor<64xf32>
// CHECK-NEXT:       %[[V115:.*]] = arith.constant dense<1.2676506E+30> : tensor<64xf32>
// CHECK-NEXT:       %[[V116:.*]] = arith.cmpf ugt, %[[V109]], %[[V115]] : tensor<64xf32>
// CHECK-NEXT:       %[[V117:.*]] = arith.ori %[[V114]], %[[V116]] : tensor<64xi1>
// CHECK-NEXT:       %[[V118:.*]] = tile.any %[[V117]] : tensor<64xi1>
// CHECK-NEXT:       tile.reject %[[V110]] if %[[V118]]
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.step @st_o(%[[V103]]) : (tensor<64x32xf32>) -> () {
// CHECK-NEXT:     ^bb0(%[[V119:.*]]: tensor<64x32xf32>):
// CHECK-NEXT:       tile.store %[[V119]], %[[V4]] at(%[[V3]], %[[V3]], %[[V3]]) #[[$MAP]] : tensor<64x32xf32>, tensor<?x?x?x32xf32>
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.step @st_lse(%[[V90]]#1) : (tensor<64xf32>) -> () {
// CHECK-NEXT:     ^bb0(%[[V120:.*]]: tensor<64xf32>):
// CHECK-NEXT:       tile.store_row %[[V120]], %[[V5]] at(%[[V3]], %[[V3]], %[[V3]]) : tensor<64xf32>, tensor<?x?x?xf32>
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
tile.kernel @first_block args ["s", "v", "scale", "n", "o", "lse"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8, row_max = first_block> {
^bb0(%s: tensor<64x16xf32>, %v: tensor<16x32xbf16>, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %w = tile.step @next () : () -> !tile.work {
      %x = tile.next_work extents(%n, %n, %n)
      tile.yield %x : !tile.work
    }
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %state = tile.for ranges ["full"] bounds(%n, %n) init(%zero) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    ^bb0(%j: i32, %st: tensor<64x32xf32>):
      %next = tile.step @attend (%s, %v, %st) : (tensor<64x16xf32>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16x32xbf16>, %x: tensor<64x32xf32>):
        %r = tile.attend %a, %b state(%x) scale(%scale) : tensor<64x16xf32>, tensor<16x32xbf16> -> tensor<64x32xf32>
        tile.yield %r : tensor<64x32xf32>
      }
      tile.yield %next : tensor<64x32xf32>
    }
    %out, %l = tile.step @attend_result (%state) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
    ^bb0(%x: tensor<64x32xf32>):
      %r, %q = tile.attend_result %x : tensor<64x32xf32> -> tensor<64x32xf32>, tensor<64xf32>
      tile.yield %r, %q : tensor<64x32xf32>, tensor<64xf32>
    }
    tile.step @st_o (%out) : (tensor<64x32xf32>) -> () {
    ^bb0(%x: tensor<64x32xf32>):
      tile.store %x, %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<64x32xf32>, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}
