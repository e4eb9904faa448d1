// attn-fuse-online-softmax: the steps of the recurrence, in full and by option.
// RUN: %cases %s | attn-opt --attn-fuse-online-softmax -split-input-file | FileCheck %s
// RUN: %cases %s | attn-opt --attn-fuse-online-softmax --attn-fuse-online-softmax -split-input-file | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 32, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8>
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
!s = tensor<64x16xf32>
!v = tensor<16x32xbf16>
!o = tensor<64x32xf32>
!l = tensor<64xf32>

...
    %zero = arith.constant dense<0.0> : !o
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (!o) -> !o {
    ^bb0(%j: i32, %st: !o):
      %next = tile.step @attend (%s, %v, %st) : (!s, !v, !o) -> !o {
      ^bb0(%a: !s, %b: !v, %x: !o):
        %r = tile.attend %a, %b state(%x) scale(%scale) : !s, !v -> !o
        tile.yield %r : !o
      }
      tile.yield %next : !o
    }
    %out, %l = tile.step @attend_result (%state) : (!o) -> (!o, !l) {
    ^bb0(%x: !o):
      %r, %q = tile.attend_result %x : !o -> !o, !l
      tile.yield %r, %q : !o, !l
    }
    tile.step @st_o (%out) : (!o) -> () {
    ^bb0(%x: !o):
      tile.store %x, %o at(%n, %n, %n) #bshd : !o, tensor<?x?x?x32xf32>
      tile.yield
    }
    tile.step @st_lse (%l) : (!l) -> () {
    ^bb0(%x: !l):
      tile.store_row %x, %lse at(%n, %n, %n) : !l, tensor<?x?x?xf32>
      tile.yield
    }
  }
}

// -----

// O is rescaled only if the maximum of some row grew by more than 2^8.
// CHECK-LABEL: tile.kernel @threshold
// CHECK: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
// CHECK: %[[SCALE:.*]] = arith.mulf %{{.*}}, %[[LOG2E]] : f32
// CHECK: %[[BITS:.*]] = arith.bitcast %[[SCALE]] : f32 to i32
// CHECK: tile.work {
// CHECK: %[[LOWEST:.*]] = arith.constant dense<-3.40282347E+38> : tensor<64xf32>
// CHECK: %[[LOOP:.*]]:3 = tile.for {{.*}} init(%[[LOWEST]], %{{.*}}, %{{.*}})
// CHECK-NEXT: ^bb0(%{{.*}}: i32, %[[M0:.*]]: tensor<64xf32>, %[[L0:.*]]: tensor<64xf32>, %[[O0:.*]]: tensor<64x32xf32>):
// CHECK: %[[STAT:.*]]:3 = tile.step @stat(%[[S:.*]], %[[M0]])
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<64x16xf32>, %[[OLD:.*]]: tensor<64xf32>):
// CHECK: %[[TOP:.*]] = tile.reduce max %[[X]] dim 1
// CHECK: %[[LARGE:.*]] = arith.ori %{{.*}}, %{{.*}} : i1
// CHECK-NEXT: %[[MOVED:.*]]:4 = scf.if %[[LARGE]]
// A large score is subtracted from the others.
// CHECK: %[[SCORE:.*]] = tile.broadcast %{{.*}} dim 1
// CHECK: %[[SHIFTED:.*]] = arith.subf %[[X]], %[[SCORE]]
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[SHIFTED]], %{{.*}}
// CHECK: } else {
// CHECK: %[[TAU:.*]] = arith.constant dense<8.000000e+00>
// CHECK-NEXT: %[[LOG2:.*]] = arith.mulf %[[TOP]], %{{.*}}
// CHECK: %[[NOW:.*]] = arith.select %{{.*}}, %{{.*}}, %[[LOG2]]
// CHECK-NEXT: %[[LIMIT:.*]] = arith.addf %[[OLD]], %[[TAU]]
// CHECK-NEXT: %[[GREW:.*]] = arith.cmpf ogt, %[[NOW]], %[[LIMIT]]
// CHECK-NEXT: %[[HIGHER:.*]] = arith.maxnumf %[[NOW]], %[[OLD]]
// CHECK-NEXT: %[[FALL:.*]] = arith.subf %[[OLD]], %[[HIGHER]]
// CHECK: %[[GROWTH:.*]] = arith.select %[[GREW]], %[[FALL]], %{{.*}}
// CHECK-NEXT: %[[NEXT:.*]] = arith.select %[[GREW]], %[[HIGHER]], %[[OLD]]
// CHECK: %[[ALPHA:.*]] = math.exp2 %[[GROWTH]]
// CHECK: scf.yield %[[NEXT]], %[[ALPHA]], %[[X]], %{{.*}}
// CHECK: tile.yield %[[MOVED]]#0, %[[MOVED]]#1, %[[MOVED]]#2
// CHECK: %[[P32:.*]] = tile.step @exp(%[[STAT]]#2, %[[STAT]]#0)
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<64x16xf32>, %[[M:.*]]: tensor<64xf32>):
// CHECK-NEXT: %[[C:.*]] = tensor.splat %[[SCALE]]
// CHECK-NEXT: %[[MINUS:.*]] = arith.negf %[[M]]
// CHECK-NEXT: %[[BIAS:.*]] = tile.broadcast %[[MINUS]] dim 1
// CHECK-NEXT: %[[E:.*]] = math.fma %[[X]], %[[C]], %[[BIAS]]
// CHECK-NEXT: math.exp2 %[[E]] fastmath<afn>
// CHECK: %[[L1:.*]] = tile.step @sum(%[[P32]], %[[L0]], %[[STAT]]#1)
// CHECK: tile.reduce add {{.*}} partial
// CHECK-NEXT: math.fma
// CHECK: %[[P:.*]] = tile.step @cvt(%[[P32]])
// CHECK: arith.truncf
// CHECK: %[[O1:.*]] = tile.step @rescale(%[[O0]], %[[STAT]]#1)
// CHECK: arith.cmpf olt
// CHECK-NEXT: tile.any
// CHECK-NEXT: scf.if
// CHECK: %[[O2:.*]] = tile.step @pv(%[[P]], %{{.*}}, %[[O1]])
// CHECK: tile.yield %[[STAT]]#0, %[[L1]], %[[O2]]
// CHECK: %[[FIN:.*]]:2 = tile.step @fin(%[[LOOP]]#1, %[[LOOP]]#0)
// CHECK-NEXT: ^bb0(%[[L:.*]]: tensor<64xf32>, %[[M:.*]]: tensor<64xf32>):
// CHECK: %[[SUM:.*]] = tile.complete %[[L]]
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[SUM]], %[[ZERO:.*]] :
// CHECK-NEXT: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[SUM]]
// CHECK-NEXT: %[[FACTOR:.*]] = arith.select %[[EMPTY]], %[[ZERO]], %[[INVERSE]]
// CHECK-NEXT: %[[LOGSUM:.*]] = math.log2 %[[SUM]]
// CHECK: %[[REST:.*]] = arith.addf %[[M]], %[[LOGSUM]]
// CHECK: %[[LSE:.*]] = math.fma
// CHECK-NEXT: tile.yield %[[FACTOR]], %[[LSE]]
// CHECK: %[[ON:.*]] = tile.step @norm(%[[LOOP]]#2, %[[FIN]]#0)
// CHECK: tile.step @st_o(%[[ON]])
// CHECK: tile.step @st_lse(%[[FIN]]#1)
tile.kernel @threshold args ["s", "v", "scale", "n", "o" write, "lse" write] problem #p config #c {
^bb0(%s: !s, %v: !v, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {

// -----

// Without a threshold every iteration rescales.
// CHECK-LABEL: tile.kernel @always
// CHECK: %[[STAT:.*]]:3 = tile.step @stat(
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<64x16xf32>, %[[OLD:.*]]: tensor<64xf32>):
// CHECK: } else {
// CHECK: arith.cmpf ogt, %{{.*}}, %[[OLD]]
// CHECK: tile.step @rescale(%{{.*}}, %[[STAT]]#1)
// CHECK-NEXT: ^bb0(
// CHECK-NEXT: tile.broadcast
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: tile.yield
tile.kernel @always args ["s", "v", "scale", "n", "o" write, "lse" write] problem #p config <tile_m = 64, tile_n = 16, work = grid> {
^bb0(%s: !s, %v: !v, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {

// -----

// A reference from the first block: step stat looks at the scores where a row has none, where a sum
// is large, and always in an item that is computed again; sums above 2^100 become infinite. Step
// check rejects O that is not finite, and such sums.
// CHECK-LABEL: tile.kernel @first_block
// CHECK: %[[WORK:.*]] = tile.step @next
// CHECK: %[[OPEN:.*]] = arith.constant 1 : i32
// CHECK: %[[LOOP:.*]]:4 = tile.for {{.*}} init(%{{.*}}, %{{.*}}, %{{.*}}, %[[OPEN]])
// CHECK-NEXT: ^bb0(%{{.*}}: i32, %[[M0:.*]]: tensor<64xf32>, %[[L0:.*]]: tensor<64xf32>, %[[O0:.*]]: tensor<64x32xf32>, %[[CAREFUL:.*]]: i32):
// CHECK: %[[STAT:.*]]:6 = tile.step @stat(%{{.*}}, %[[M0]], %[[L0]], %[[CAREFUL]], %[[WORK]])
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<64x16xf32>, %[[M:.*]]: tensor<64xf32>, %[[L:.*]]: tensor<64xf32>, %[[BITS:.*]]: i32, %[[W:.*]]: !tile.work):
// CHECK: arith.constant dense<0x4B800000>
// CHECK: %[[GREW:.*]] = arith.cmpf ogt, %[[L]]
// No reference yet, or one that is a score.
// CHECK: %[[MASK:.*]] = arith.constant 5 : i32
// CHECK-NEXT: arith.andi %[[BITS]], %[[MASK]]
// CHECK: tile.any %[[GREW]]
// CHECK: %[[LOOK:.*]]:5 = scf.if %[[ANY:.*]] ->
// CHECK: %[[SUM:.*]] = tile.complete %[[L]]
// CHECK: math.log2 %[[SUM]]
// CHECK: tile.reduce max %[[X]] dim 1
// CHECK: %[[MOVED:.*]]:4 = scf.if
// CHECK: arith.constant dense<1.2676506E+30>
// CHECK-NEXT: %[[LOST:.*]] = arith.cmpf ogt, %[[SUM]]
// CHECK-NEXT: %[[INFINITY:.*]] = arith.constant dense<0x7F800000>
// CHECK-NEXT: %[[KEPT:.*]] = arith.select %[[LOST]], %[[INFINITY]], %{{.*}}
// CHECK: tile.with_care %[[W]]
// CHECK: scf.yield %[[MOVED]]#0, %[[MOVED]]#1, %[[MOVED]]#2, %[[KEPT]], %{{.*}}
// CHECK: } else {
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00>
// CHECK-NEXT: scf.yield %[[M]], %[[ONE]], %[[X]], %[[L]], %[[BITS]]
// CHECK: tile.yield %[[LOOK]]#0, %[[LOOK]]#1, %[[LOOK]]#2, %[[LOOK]]#3, %[[LOOK]]#4, %[[ANY]]
// CHECK: %[[P32:.*]] = tile.step @exp(%[[STAT]]#2, %[[STAT]]#0)
// CHECK: %[[L1:.*]] = tile.step @sum(%[[P32]], %[[STAT]]#3)
// CHECK: %[[O1:.*]] = tile.step @rescale(%[[O0]], %[[STAT]]#1, %[[STAT]]#5)
// CHECK: %[[O2:.*]] = tile.step @pv(%{{.*}}, %{{.*}}, %[[O1]])
// CHECK: tile.yield %[[STAT]]#0, %[[L1]], %[[O2]], %[[STAT]]#4
// CHECK: tile.step @check(%[[LOOP]]#2, %[[LOOP]]#1, %[[LOOP]]#3, %[[WORK]])
// CHECK-NEXT: ^bb0(%[[O:.*]]: tensor<64x32xf32>, %[[L:.*]]: tensor<64xf32>, %[[BITS:.*]]: i32, %[[W:.*]]: !tile.work):
// CHECK: arith.constant dense<2.560000e+02>
// CHECK-NEXT: arith.cmpf ugt, %[[L]]
// CHECK: arith.constant 2 : i32
// CHECK-NEXT: arith.andi %[[BITS]]
// CHECK: %[[WRONG:.*]] = scf.if
// CHECK: tile.reduce add %[[O]] dim 1 partial
// CHECK: arith.constant dense<1.2676506E+30>
// CHECK-NEXT: arith.cmpf ugt, %[[L]]
// CHECK: tile.reject %[[W]] if %[[WRONG]]
tile.kernel @first_block args ["s", "v", "scale", "n", "o" write, "lse" write] problem #p config <tile_m = 64, tile_n = 16, work = grid, rescale_threshold = 8, row_max = first_block> {
^bb0(%s: !s, %v: !v, %scale: f32, %n: i32, %o: tensor<?x?x?x32xf32>, %lse: tensor<?x?x?xf32>):
  tile.work {
    %w = tile.step @next () : () -> !tile.work {
      %x = tile.next_work extents(%n, %n, %n)
      tile.yield %x : !tile.work
    }

// =====

// Whole kernels.

// -----

// With a scale of 1, only the factor log2(e) remains.
// CHECK-LABEL: tile.kernel @unit_scale
// CHECK: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
// CHECK-NOT: arith.mulf
// CHECK: tile.work
// CHECK: tile.step @stat
// CHECK: tensor.splat %[[LOG2E]] : tensor<64xf32>
// CHECK: tile.step @exp
// CHECK: tensor.splat %[[LOG2E]] : tensor<64x16xf32>
tile.kernel @unit_scale args ["s", "v", "scale", "n"] problem #p config #c {
^bb0(%s: !s, %v: !v, %scale: f32, %n: i32):
  %one = arith.constant 1.0 : f32
  tile.work {
    %zero = arith.constant dense<0.0> : !o
    %state = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (!o) -> !o {
    ^bb0(%j: i32, %st: !o):
      %next = tile.step @attend (%s, %v, %st) : (!s, !v, !o) -> !o {
      ^bb0(%a: !s, %b: !v, %x: !o):
        %r = tile.attend %a, %b state(%x) scale(%one) : !s, !v -> !o
        tile.yield %r : !o
      }
      tile.yield %next : !o
    }
    %out, %l = tile.step @attend_result (%state) : (!o) -> (!o, !l) {
    ^bb0(%x: !o):
      %r, %q = tile.attend_result %x : !o -> !o, !l
      tile.yield %r, %q : !o, !l
    }
  }
}

// -----

// Other values that the loop carries stay in front of the state.
// CHECK-LABEL: tile.kernel @carried
// CHECK: %[[LOWEST:.*]] = arith.constant dense<-3.40282347E+38> : tensor<64xf32>
// CHECK: %[[LOOP:.*]]:4 = tile.for {{.*}} init(%[[N:.*]], %[[LOWEST]], %{{.*}}, %{{.*}}) : (i32, tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>)
// CHECK-NEXT: ^bb0(%[[J:.*]]: i32, %[[COUNT:.*]]: i32, %[[M0:.*]]: tensor<64xf32>, %[[L0:.*]]: tensor<64xf32>, %[[O0:.*]]: tensor<64x32xf32>):
// CHECK: %[[ADDI:.*]] = arith.addi %[[COUNT]], %[[J]] : i32
// CHECK: %[[STAT:.*]]:3 = tile.step @stat(%{{.*}}, %[[M0]])
// CHECK: %[[L1:.*]] = tile.step @sum(%{{.*}}, %[[L0]], %[[STAT]]#1)
// CHECK: %[[O1:.*]] = tile.step @rescale(%[[O0]], %[[STAT]]#1)
// CHECK: %[[O2:.*]] = tile.step @pv(%{{.*}}, %{{.*}}, %[[O1]])
// CHECK: tile.yield %[[ADDI]], %[[STAT]]#0, %[[L1]], %[[O2]] :
// CHECK: tile.step @fin(%[[LOOP]]#2, %[[LOOP]]#1)
// CHECK: tile.step @norm(%[[LOOP]]#3,
tile.kernel @carried args ["s", "v", "scale", "n"] problem #p config #c {
^bb0(%s: !s, %v: !v, %scale: f32, %n: i32):
  tile.work {
    %zero = arith.constant dense<0.0> : !o
    %count, %state = tile.for ranges <down [full]> bounds(%n, %n) init(%n, %zero) : (i32, !o) -> (i32, !o) {
    ^bb0(%j: i32, %c: i32, %st: !o):
      %c1 = arith.addi %c, %j : i32
      %next = tile.step @attend (%s, %v, %st) : (!s, !v, !o) -> !o {
      ^bb0(%a: !s, %b: !v, %x: !o):
        %r = tile.attend %a, %b state(%x) scale(%scale) : !s, !v -> !o
        tile.yield %r : !o
      }
      tile.yield %c1, %next : i32, !o
    }
    %out, %l = tile.step @attend_result (%state) : (!o) -> (!o, !l) {
    ^bb0(%x: !o):
      %r, %q = tile.attend_result %x : !o -> !o, !l
      tile.yield %r, %q : !o, !l
    }
  }
}

// -----

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
tile.kernel @other args ["n"] problem #p {
^bb0(%n: i32):
  tile.work {
    %w = tile.step @next () : () -> !tile.work {
      %x = tile.next_work extents(%n, %n, %n)
      tile.yield %x : !tile.work
    }
  }
}
