// The rung of the ladder that a problem starts on.
// RUN: attn-opt %s --attn-configure -split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-configure=rung=2 -split-input-file | FileCheck %s --check-prefix=SECOND
// RUN: not attn-opt %s --attn-configure=rung=9 -split-input-file 2>&1 | FileCheck %s --check-prefix=END
// END: error: 'attn.attention' op expected a rung of the ladder for its problem, got 9
// RUN: attn-opt %s --attn-configure -split-input-file | attn-opt --attn-tile --attn-fuse-online-softmax --attn-schedule -split-input-file | FileCheck %s --check-prefix=SCHEDULED

!t = tensor<?x?x?x128xbf16>
!l = tensor<?x?x?xf32>

// Regions that read no tensor at positions get the first rung.
// CHECK-LABEL: func.func @softcap(
// CHECK: config <tile_m = 128, tile_n = 128, {{[^>]*}}row_max = first_block> variant <"softcap" when <seqlen_k at_most 1024>>
// CHECK-LABEL: func.func @softcap_1(
// CHECK: config <tile_m = 192, tile_n = 64, {{[^>]*}}row_max = first_block> variant <"softcap">
// SECOND-LABEL: func.func @softcap(
// SECOND: config <tile_m = 128, tile_n = 32, {{[^>]*}}rung = 2>
// SECOND-NOT: func.func @softcap_1
// SCHEDULED: schedule <"fwd_d128_none_short"
// SCHEDULED: schedule <"fwd_d128_none"
func.func @softcap(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
        %t = math.tanh %s : f32
        attn.yield %t : f32
      } : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x128xbf16>
!l = tensor<?x?x?xf32>

// Regions that do need registers for the addresses.
// CHECK-LABEL: func.func @gathers(
// CHECK: config <tile_m = 128, tile_n = 64, {{[^>]*}}rung = 1>
// SCHEDULED: schedule <"fwd_d128_rung1"
func.func @gathers(%q: !t, %k: !t, %v: !t, %scale: f32, %bias: tensor<?xf32>) -> (!t, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%bias : tensor<?xf32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %x: tensor<?xf32>):
        %at = arith.index_cast %j : i32 to index
        %e = tensor.extract %x[%at] : tensor<?xf32>
        %r = arith.addf %s, %e : f32
        attn.yield %r : f32
      } : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x128xbf16>
!l = tensor<?x?x?xf32>

// A region with so much code that blocks of 64 keys take too long to compile starts
// further up: 7 remainders of 200.
// CHECK-LABEL: func.func @large(
// CHECK: config <tile_m = 128, tile_n = 32, {{[^>]*}}rung = 2>
func.func @large(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
        %c5 = arith.constant 5 : i32
        %0 = arith.remsi %i, %j : i32
        %1 = arith.remsi %0, %j : i32
        %2 = arith.remsi %1, %j : i32
        %3 = arith.remsi %2, %j : i32
        %4 = arith.remsi %3, %j : i32
        %5 = arith.remsi %4, %j : i32
        %6 = arith.remsi %5, %j : i32
        %r = arith.cmpi slt, %6, %c5 : i32
        attn.yield %r : i1
      } : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x128xbf16>
!l = tensor<?x?x?xf32>

// An op of a backward pass has the rung of its function, or the last one below.
// RUN: attn-opt %s --attn-configure="rungs=dq=1,statistics=3" -split-input-file | FileCheck %s --check-prefix=NAMED
// NAMED-LABEL: func.func @dq(
// NAMED: config <{{.*}}rung = 1>
// NAMED-LABEL: func.func @statistics(
// NAMED: attn.delta
// NAMED-SAME: config <
// NAMED-NOT: rung
func.func @dq(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq) : (!t, !t, !t, !t, !l)
  return %dq : !t
}
func.func @statistics(%o: !t, %do: !t, %lse: !l, %dlse: !l) -> (!l, !l) {
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !l) -> !l
  return %delta, %lse2 : !l, !l
}

// RUN: not attn-opt %s --attn-configure="rungs=dq" -split-input-file 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: 'attn.delta' op expected each of 'rungs' to be KERNEL=RUNG, got 'dq'
