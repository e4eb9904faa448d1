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
// CHECK-NEXT:         %[[EXP21:.*]] = math.exp2 %[[FMA]] fastmath<afn> : tensor<64x16xf32>
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
// CHECK-NEXT:         %[[EXP21:.*]] = math.exp2 %[[FMA]] fastmath<afn> : tensor<64x16xf32>
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
// CHECK-NEXT:     %[[V13:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[V14:.*]]:4 = tile.for ranges ["full"] bounds(%[[V3]], %[[V3]]) init(%[[V11]], %[[V12]], %[[V10]], %[[V13]]) : (tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>, i32) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>, i32) {
// CHECK-NEXT:     ^bb0(%[[V15:.*]]: i32, %[[V16:.*]]: tensor<64xf32>, %[[V17:.*]]: tensor<64xf32>, %[[V18:.*]]: tensor<64x32xf32>, %[[V19:.*]]: i32):
// CHECK-NEXT:       %[[V9]]:5 = tile.step @stat(%[[V0]], %[[V16]], %[[V17]], %[[V19]], %[[V8]]) : (tensor<64x16xf32>, tensor<64xf32>, tensor<64xf32>, i32, !tile.work) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, i32, i1) {
// CHECK-NEXT:       ^bb0(%[[V20:.*]]: tensor<64x16xf32>, %[[V21:.*]]: tensor<64xf32>, %[[V22:.*]]: tensor<64xf32>, %[[V23:.*]]: i32, %[[V24:.*]]: !tile.work):
// CHECK-NEXT:         %[[V25:.*]] = arith.constant dense<0x4B800000> : tensor<64xf32>
// CHECK-NEXT:         %[[V26:.*]] = arith.cmpf ogt, %[[V22]], %[[V25]] : tensor<64xf32>
// CHECK-NEXT:         %[[V27:.*]] = arith.constant 1 : i32
// CHECK-NEXT:         %[[V28:.*]] = arith.andi %[[V23]], %[[V27]] : i32
// CHECK-NEXT:         %[[V29:.*]] = arith.constant 0 : i32
// CHECK-NEXT:         %[[V30:.*]] = arith.cmpi ne, %[[V28]], %[[V29]] : i32
// CHECK-NEXT:         %[[V31:.*]] = tile.any %[[V26]] : tensor<64xi1>
// CHECK-NEXT:         %[[V32:.*]] = arith.ori %[[V30]], %[[V31]] : i1
// CHECK-NEXT:         %[[V33:.*]]:4 = scf.if %[[V32]] -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, i32) {
// CHECK-NEXT:           %[[V34:.*]] = tile.complete %[[V22]] : tensor<64xf32> -> tensor<64xf32>
// CHECK-NEXT:           %[[V35:.*]] = arith.constant dense<0x4B800000> : tensor<64xf32>
// CHECK-NEXT:           %[[V36:.*]] = arith.cmpf ogt, %[[V34]], %[[V35]] : tensor<64xf32>
// CHECK-NEXT:           %[[V37:.*]] = math.log2 %[[V34]] : tensor<64xf32>
// CHECK-NEXT:           %[[V38:.*]] = arith.addf %[[V21]], %[[V37]] : tensor<64xf32>
// CHECK-NEXT:           %[[V39:.*]] = arith.select %[[V36]], %[[V38]], %[[V21]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:           %[[V40:.*]] = tile.reduce  max %[[V20]] dim 1 : tensor<64x16xf32> -> tensor<64xf32>
// CHECK-NEXT:           %[[V41:.*]] = tensor.splat %[[V7]] : tensor<64xf32>
// CHECK-NEXT:           %[[V42:.*]] = arith.constant dense<8.000000e+00> : tensor<64xf32>
// CHECK-NEXT:           %[[V43:.*]] = arith.mulf %[[V40]], %[[V41]] : tensor<64xf32>
// CHECK-NEXT:           %[[V44:.*]] = arith.maxnumf %[[V43]], %[[V39]] : tensor<64xf32>
// CHECK-NEXT:           %[[V45:.*]] = arith.addf %[[V21]], %[[V42]] : tensor<64xf32>
// CHECK-NEXT:           %[[V46:.*]] = arith.cmpf ogt, %[[V44]], %[[V45]] : tensor<64xf32>
// CHECK-NEXT:           %[[V47:.*]] = arith.maxnumf %[[V44]], %[[V21]] : tensor<64xf32>
// CHECK-NEXT:           %[[V48:.*]] = arith.subf %[[V21]], %[[V47]] : tensor<64xf32>
// CHECK-NEXT:           %[[V49:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-NEXT:           %[[V50:.*]] = arith.select %[[V46]], %[[V48]], %[[V49]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:           %[[V51:.*]] = arith.select %[[V46]], %[[V47]], %[[V21]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:           %[[V52:.*]] = math.exp2 %[[V50]] : tensor<64xf32>
// CHECK-NEXT:           %[[V53:.*]] = arith.mulf %[[V22]], %[[V52]] : tensor<64xf32>
// CHECK-NEXT:           %[[V54:.*]] = arith.constant dense<1.2676506E+30> : tensor<64xf32>
// CHECK-NEXT:           %[[V55:.*]] = arith.cmpf ogt, %[[V34]], %[[V54]] : tensor<64xf32>
// CHECK-NEXT:           %[[V56:.*]] = arith.constant dense<0x7F800000> : tensor<64xf32>
// CHECK-NEXT:           %[[V57:.*]] = arith.select %[[V55]], %[[V56]], %[[V53]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:           %[[V58:.*]] = arith.constant dense<-3.40282347E+38> : tensor<64xf32>
// CHECK-NEXT:           %[[V59:.*]] = arith.cmpf oeq, %[[V51]], %[[V58]] : tensor<64xf32>
// CHECK-NEXT:           %[[V60:.*]] = tile.any %[[V59]] : tensor<64xi1>
// CHECK-NEXT:           %[[V61:.*]] = tile.is_redo %[[V24]]
// CHECK-NEXT:           %[[V62:.*]] = arith.ori %[[V60]], %[[V61]] : i1
// CHECK-NEXT:           %[[V63:.*]] = arith.constant 2 : i32
// CHECK-NEXT:           %[[V64:.*]] = arith.andi %[[V23]], %[[V63]] : i32
// CHECK-NEXT:           %[[V65:.*]] = arith.constant 0 : i32
// CHECK-NEXT:           %[[V66:.*]] = arith.cmpi ne, %[[V64]], %[[V65]] : i32
// CHECK-NEXT:           %[[V67:.*]] = tile.any %[[V36]] : tensor<64xi1>
// CHECK-NEXT:           %[[V68:.*]] = arith.ori %[[V66]], %[[V67]] : i1
// CHECK-NEXT:           %[[V69:.*]] = arith.constant 1 : i32
// CHECK-NEXT:           %[[V70:.*]] = arith.constant 0 : i32
// CHECK-NEXT:           %[[V71:.*]] = arith.select %[[V62]], %[[V69]], %[[V70]] : i32
// CHECK-NEXT:           %[[V72:.*]] = arith.constant 2 : i32
// CHECK-NEXT:           %[[V73:.*]] = arith.constant 0 : i32
// CHECK-NEXT:           %[[V74:.*]] = arith.select %[[V68]], %[[V72]], %[[V73]] : i32
// CHECK-NEXT:           %[[V75:.*]] = arith.ori %[[V71]], %[[V74]] : i32
// CHECK-NEXT:           scf.yield %[[V51]], %[[V52]], %[[V57]], %[[V75]] : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, i32
// CHECK-NEXT:         } else {
// CHECK-NEXT:           %[[V35]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-NEXT:           scf.yield %[[V21]], %[[V35]], %[[V22]], %[[V23]] : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, i32
// CHECK-NEXT:         }
// CHECK-NEXT:         tile.yield %[[V33]]#0, %[[V33]]#1, %[[V33]]#2, %[[V33]]#3, %[[V32]] : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, i32, i1
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V76:.*]] = tile.step @exp(%[[V0]], %[[V9]]#0) : (tensor<64x16xf32>, tensor<64xf32>) -> tensor<64x16xf32> {
// CHECK-NEXT:       ^bb0(%[[V20]]: tensor<64x16xf32>, %[[V21]]: tensor<64xf32>):
// CHECK-NEXT:         %[[V41]] = tensor.splat %[[V7]] : tensor<64x16xf32>
// CHECK-NEXT:         %[[V26]] = arith.negf %[[V21]] : tensor<64xf32>
// CHECK-NEXT:         %[[V28]] = tile.broadcast %[[V26]] dim 1 : tensor<64xf32> -> tensor<64x16xf32>
// CHECK-NEXT:         %[[V30]] = math.fma %[[V20]], %[[V41]], %[[V28]] : tensor<64x16xf32>
// CHECK-NEXT:         %[[V31]] = math.exp2 %[[V30]] fastmath<afn> : tensor<64x16xf32>
// CHECK-NEXT:         tile.yield %[[V31]] : tensor<64x16xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V77:.*]] = tile.step @sum(%[[V76]], %[[V9]]#2) : (tensor<64x16xf32>, tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:       ^bb0(%[[V20]]: tensor<64x16xf32>, %[[V21]]: tensor<64xf32>):
// CHECK-NEXT:         %[[V26]] = tile.reduce  add %[[V20]] dim 1 partial : tensor<64x16xf32> -> tensor<64xf32>
// CHECK-NEXT:         %[[V28]] = arith.addf %[[V21]], %[[V26]] : tensor<64xf32>
// CHECK-NEXT:         tile.yield %[[V28]] : tensor<64xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V78:.*]] = tile.step @cvt(%[[V76]]) : (tensor<64x16xf32>) -> tensor<64x16xbf16> {
// CHECK-NEXT:       ^bb0(%[[V20]]: tensor<64x16xf32>):
// CHECK-NEXT:         %[[V26]] = arith.truncf %[[V20]] : tensor<64x16xf32> to tensor<64x16xbf16>
// CHECK-NEXT:         tile.yield %[[V26]] : tensor<64x16xbf16>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V79:.*]] = tile.step @rescale(%[[V18]], %[[V9]]#1, %[[V9]]#4) : (tensor<64x32xf32>, tensor<64xf32>, i1) -> tensor<64x32xf32> {
// CHECK-NEXT:       ^bb0(%[[V20]]: tensor<64x32xf32>, %[[V21]]: tensor<64xf32>, %[[V22]]: i1):
// CHECK-NEXT:         %[[V26]] = scf.if %[[V22]] -> (tensor<64x32xf32>) {
// CHECK-NEXT:           %[[V28]] = tile.broadcast %[[V21]] dim 1 : tensor<64xf32> -> tensor<64x32xf32>
// CHECK-NEXT:           %[[V30]] = arith.mulf %[[V20]], %[[V28]] : tensor<64x32xf32>
// CHECK-NEXT:           scf.yield %[[V30]] : tensor<64x32xf32>
// CHECK-NEXT:         } else {
// CHECK-NEXT:           scf.yield %[[V20]] : tensor<64x32xf32>
// CHECK-NEXT:         }
// CHECK-NEXT:         tile.yield %[[V26]] : tensor<64x32xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V80:.*]] = tile.step @pv(%[[V78]], %[[V1]], %[[V79]]) : (tensor<64x16xbf16>, tensor<16x32xbf16>, tensor<64x32xf32>) -> tensor<64x32xf32> {
// CHECK-NEXT:       ^bb0(%[[V20]]: tensor<64x16xbf16>, %[[V21]]: tensor<16x32xbf16>, %[[V22]]: tensor<64x32xf32>):
// CHECK-NEXT:         %[[V26]] = tile.mma %[[V20]], %[[V21]] acc(%[[V22]] : tensor<64x32xf32>) : tensor<64x16xbf16>, tensor<16x32xbf16> -> tensor<64x32xf32>
// CHECK-NEXT:         tile.yield %[[V26]] : tensor<64x32xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       tile.yield %[[V9]]#0, %[[V77]], %[[V80]], %[[V9]]#3 : tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>, i32
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[V81:.*]]:2 = tile.step @fin(%[[V14]]#1, %[[V14]]#0) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK-NEXT:     ^bb0(%[[V15]]: tensor<64xf32>, %[[V16]]: tensor<64xf32>):
// CHECK-NEXT:       %[[V9]] = tile.complete %[[V15]] : tensor<64xf32> -> tensor<64xf32>
// CHECK-NEXT:       %[[V25]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-NEXT:       %[[V82:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-NEXT:       %[[V35]] = arith.constant dense<0.693147182> : tensor<64xf32>
// CHECK-NEXT:       %[[V76]] = arith.cmpf oeq, %[[V9]], %[[V25]] : tensor<64xf32>
// CHECK-NEXT:       %[[V77]] = arith.divf %[[V82]], %[[V9]] : tensor<64xf32>
// CHECK-NEXT:       %[[V78]] = arith.select %[[V76]], %[[V25]], %[[V77]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:       %[[V79]] = math.log2 %[[V9]] : tensor<64xf32>
// CHECK-NEXT:       %[[V80]] = arith.addf %[[V16]], %[[V79]] : tensor<64xf32>
// CHECK-NEXT:       %[[V26]] = arith.mulf %[[V80]], %[[V35]] : tensor<64xf32>
// CHECK-NEXT:       tile.yield %[[V78]], %[[V26]] : tensor<64xf32>, tensor<64xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.step @check(%[[V14]]#2, %[[V14]]#1, %[[V14]]#3, %[[V8]]) : (tensor<64x32xf32>, tensor<64xf32>, i32, !tile.work) -> () {
// CHECK-NEXT:     ^bb0(%[[V15]]: tensor<64x32xf32>, %[[V16]]: tensor<64xf32>, %[[V17]]: i32, %[[V18]]: !tile.work):
// CHECK-NEXT:       %[[V25]] = arith.constant dense<2.560000e+02> : tensor<64xf32>
// CHECK-NEXT:       %[[V9]] = arith.cmpf ugt, %[[V16]], %[[V25]] : tensor<64xf32>
// CHECK-NEXT:       %[[V76]] = tile.any %[[V9]] : tensor<64xi1>
// CHECK-NEXT:       %[[V63]] = arith.constant 2 : i32
// CHECK-NEXT:       %[[V77]] = arith.andi %[[V17]], %[[V63]] : i32
// CHECK-NEXT:       %[[V29]] = arith.constant 0 : i32
// CHECK-NEXT:       %[[V78]] = arith.cmpi ne, %[[V77]], %[[V29]] : i32
// CHECK-NEXT:       %[[V79]] = arith.ori %[[V76]], %[[V78]] : i1
// CHECK-NEXT:       %[[V80]] = scf.if %[[V79]] -> (i1) {
// CHECK-NEXT:         %[[V82]] = arith.constant dense<0x7F800000> : tensor<64xf32>
// CHECK-NEXT:         %[[V26]] = tile.reduce  add %[[V15]] dim 1 partial : tensor<64x32xf32> -> tensor<64xf32>
// CHECK-NEXT:         %[[V28]] = math.absf %[[V26]] : tensor<64xf32>
// CHECK-NEXT:         %[[V30]] = arith.cmpf uge, %[[V28]], %[[V82]] : tensor<64xf32>
// CHECK-NEXT:         %[[V35]] = arith.constant dense<1.2676506E+30> : tensor<64xf32>
// CHECK-NEXT:         %[[V31]] = arith.cmpf ugt, %[[V16]], %[[V35]] : tensor<64xf32>
// CHECK-NEXT:         %[[V32]] = arith.ori %[[V30]], %[[V31]] : tensor<64xi1>
// CHECK-NEXT:         %[[V33]] = tile.any %[[V32]] : tensor<64xi1>
// CHECK-NEXT:         scf.yield %[[V33]] : i1
// CHECK-NEXT:       } else {
// CHECK-NEXT:         %[[V84:.*]] = arith.constant false
// CHECK-NEXT:         scf.yield %[[V84]] : i1
// CHECK-NEXT:       }
// CHECK-NEXT:       tile.reject %[[V18]] if %[[V80]]
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[V83:.*]] = tile.step @norm(%[[V14]]#2, %[[V81]]#0) : (tensor<64x32xf32>, tensor<64xf32>) -> tensor<64x32xf32> {
// CHECK-NEXT:     ^bb0(%[[V15]]: tensor<64x32xf32>, %[[V16]]: tensor<64xf32>):
// CHECK-NEXT:       %[[V9]] = tile.broadcast %[[V16]] dim 1 : tensor<64xf32> -> tensor<64x32xf32>
// CHECK-NEXT:       %[[V76]] = arith.mulf %[[V15]], %[[V9]] : tensor<64x32xf32>
// CHECK-NEXT:       tile.yield %[[V76]] : tensor<64x32xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.step @st_o(%[[V83]]) : (tensor<64x32xf32>) -> () {
// CHECK-NEXT:     ^bb0(%[[V15]]: tensor<64x32xf32>):
// CHECK-NEXT:       tile.store %[[V15]], %[[V4]] at(%[[V3]], %[[V3]], %[[V3]]) #map : tensor<64x32xf32>, tensor<?x?x?x32xf32>
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.step @st_lse(%[[V81]]#1) : (tensor<64xf32>) -> () {
// CHECK-NEXT:     ^bb0(%[[V15]]: tensor<64xf32>):
// CHECK-NEXT:       tile.store_row %[[V15]], %[[V5]] at(%[[V3]], %[[V3]], %[[V3]]) : tensor<64xf32>, tensor<?x?x?xf32>
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
