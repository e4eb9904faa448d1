// An op is split until the table has a kernel for each part: one for dQ and one for dK and dV, or one for each gradient.
// RUN: attn-opt %s --attn-split-backward | FileCheck %s -enable-var-scope --implicit-check-not=attn.attention_bwd
// RUN: not attn-opt %s --attn-split-backward=target=sm_1 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: error: 'attn.attention_bwd' op expected {{.*}}sm_1

// The kind of a given schedule decides: one of dV does not make dK and dV.
// RUN: attn-opt %s --attn-split-backward=schedule-file=%attn_root/passes/schedule/data/schedules/sm_90a/bwd_dv_d256.mlir | FileCheck %s --check-prefix=GIVEN
// GIVEN-LABEL: func.func @dv_alone
// GIVEN: attn.attention_bwd {{.*}} gradients(dv)

!t = tensor<?x?x?x64xbf16>
!v = tensor<?x?x?x32xbf16>
!w = tensor<?x?x?x128xbf16>
!u = tensor<?x?x?x80xbf16>
!l = tensor<?x?x?xf32>

// The regions and the attributes of the op go to both.
// CHECK-LABEL: func.func @both
// CHECK: %[[DQ:.*]] = attn.attention_bwd %[[Q:.*]], %[[K:.*]], %[[V:.*]], %[[DO:.*]], %[[LSE2:.*]], %[[DELTA:.*]] scale(%[[SCALE:.*]]) mask(causal_top_left) layout(bhsd) window_left(%[[W:.*]]) gradients(dq) captures(%[[C:.*]] : tensor<?xf32>)
// CHECK: score_region
// CHECK: tensor.extract
// CHECK: mask_region
// CHECK: arith.cmpi
// CHECK: attn.other
// CHECK: %[[DK:.*]], %[[DV:.*]] = attn.attention_bwd %[[Q]], %[[K]], %[[V]], %[[DO]], %[[LSE2]], %[[DELTA]] scale(%[[SCALE]]) mask(causal_top_left) layout(bhsd) window_left(%[[W]]) gradients(dk_dv) captures(%[[C]] : tensor<?xf32>)
// CHECK: score_region
// CHECK: tensor.extract
// CHECK: mask_region
// CHECK: arith.cmpi
// CHECK: attn.other
// CHECK: return %[[DQ]], %[[DK]], %[[DV]]
func.func @both(%q: !t, %k: !t, %v: !v, %do: !v, %lse2: !l, %delta: !l, %scale: f32, %w: i32, %c: tensor<?xf32>) -> (!t, !t, !v) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_top_left) layout(bhsd)
      window_left(%w) captures(%c : tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %slopes: tensor<?xf32>):
        %at = arith.index_cast %h : i32 to index
        %slope = tensor.extract %slopes[%at] : tensor<?xf32>
        %z = arith.mulf %x, %slope : f32
        attn.yield %z, %slope : f32, f32
      }
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %slopes: tensor<?xf32>):
        %odd = arith.cmpi ne, %i, %j : i32
        attn.yield %odd : i1
      } {attn.other} : (!t, !t, !v, !v, !l)
  return %dq, %dk, %dv : !t, !t, !v
}

// What nothing uses is not computed.
// CHECK-LABEL: func.func @dq_alone
// CHECK: attn.attention_bwd {{.*}} gradients(dq)
func.func @dq_alone(%q: !t, %k: !t, %v: !v, %do: !v, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) : (!t, !t, !v, !v, !l)
  return %dq : !t
}

// CHECK-LABEL: func.func @dv_alone
// CHECK: %{{.*}}, %[[DV:.*]] = attn.attention_bwd {{.*}} gradients(dk_dv)
// CHECK: return %[[DV]]
func.func @dv_alone(%q: !t, %k: !t, %v: !v, %do: !v, %lse2: !l, %delta: !l, %scale: f32) -> !v {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) : (!t, !t, !v, !v, !l)
  return %dv : !v
}

// CHECK-LABEL: func.func @none
// CHECK-NEXT: return
func.func @none(%q: !t, %k: !t, %v: !v, %do: !v, %lse2: !l, %delta: !l, %scale: f32) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) : (!t, !t, !v, !v, !l)
  return
}

// The sums of dK and dV of this head dim do not fit one kernel.
// CHECK-LABEL: func.func @wide
// CHECK: %[[DQ:.*]] = attn.attention_bwd {{.*}} gradients(dq)
// CHECK: %[[DK:.*]] = attn.attention_bwd {{.*}} gradients(dk) captures(
// CHECK: score_region
// CHECK: %[[DV:.*]] = attn.attention_bwd {{.*}} gradients(dv) captures(
// CHECK: score_region
// CHECK: return %[[DQ]], %[[DK]], %[[DV]]
!wide = tensor<?x?x?x256xbf16>
func.func @wide(%q: !wide, %k: !wide, %v: !wide, %do: !wide, %lse2: !l, %delta: !l, %scale: f32, %c: f32) -> (!wide, !wide, !wide) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      captures(%c : f32)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %factor: f32):
        %z = arith.mulf %x, %factor : f32
        attn.yield %z, %factor : f32, f32
      } : (!wide, !wide, !wide, !wide, !l)
  return %dq, %dk, %dv : !wide, !wide, !wide
}

// Left alone: an op for one kernel, and one with a config.
// CHECK-LABEL: func.func @left
// CHECK: attn.attention_bwd {{.*}} gradients(dq) :
// CHECK: attn.attention_bwd {{.*}} layout(bshd) config <
func.func @left(%q: !t, %k: !t, %v: !v, %do: !v, %lse2: !l, %delta: !l, %scale: f32) -> (!t, !v) {
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq) : (!t, !t, !v, !v, !l)
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      config <tile_m = 64, tile_n = 128, work = grid> : (!t, !t, !v, !v, !l)
  return %dq, %r#2 : !t, !v
}

// In any order: one op for all, with sums of dQ in memory. Its blocks of 64 queries are transposed.
// CHECK-LABEL: func.func @sums
// CHECK: %[[ZEROS:.*]] = attn.clear_sums dtype(bf16) sums tensor<?x?x?x128xf32>
// CHECK: %[[SUMS:.*]], %[[DK:.*]], %[[DV:.*]] = attn.attention_bwd {{.*}} sums(%[[ZEROS]] : tensor<?x?x?x128xf32>) scale(%[[SCALE:.*]]) mask(none) layout(bhsd) gradients(sums) transposed(64) :
// CHECK: %[[DQ:.*]] = attn.convert_sums %[[SUMS]] scale(%[[SCALE]]) layout(bhsd) transposed(64) : tensor<?x?x?x128xf32> -> tensor<?x?x?x128xbf16>
// CHECK: return %[[DQ]], %[[DK]], %[[DV]]
func.func @sums(%q: !w, %k: !w, %v: !w, %do: !w, %lse2: !l, %delta: !l, %scale: f32) -> (!w, !w, !w) attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bhsd) : (!w, !w, !w, !w, !l)
  return %dq, %dk, %dv : !w, !w, !w
}

// Head dim 64 without a mask has a file of its own.
// CHECK-LABEL: func.func @sums_without_mask
// CHECK: attn.clear_sums dtype(bf16) sums tensor<?x?x?x64xf32>
// CHECK: attn.attention_bwd {{.*}} gradients(sums) :
// CHECK: attn.convert_sums
func.func @sums_without_mask(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> (!t, !t, !t) attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) : (!t, !t, !t, !t, !l)
  return %dq, %dk, %dv : !t, !t, !t
}

// The op of the statistics clears the turns, if it is in the function. The sums need no zeros, since the first share is stored.
// CHECK-LABEL: func.func @statistics
// CHECK: %[[DELTA:.*]], %[[LSE2:.*]], %[[TURNS:.*]] = attn.delta {{.*}} -> tensor<?x?x?xf32> turns tensor<?x?x?xi32>
// CHECK-NOT: attn.clear_sums
// CHECK: attn.attention_bwd {{.*}}, %[[LSE2]], %[[DELTA]] turns(%[[TURNS]] : tensor<?x?x?xi32>) {{.*}} gradients(sums) new_sums(64) of 128 :
// CHECK: attn.convert_sums {{.*}} turns(%[[TURNS]] : tensor<?x?x?xi32>) of 128 scale
func.func @statistics(%q: !t, %k: !t, %v: !t, %o: !t, %do: !t, %lse: !l, %dlse: !l, %scale: f32) -> (!t, !t, !t) {
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !l) -> !l
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) : (!t, !t, !t, !t, !l)
  return %dq, %dk, %dv : !t, !t, !t
}

// Not if its LSE is another's, or if it has a config; and only once.
// CHECK-LABEL: func.func @statistics_elsewhere
// CHECK: %[[A:.*]], %{{.*}} = attn.delta
// CHECK: %{{.*}}, %[[B:.*]] = attn.delta
// CHECK: attn.clear_sums dtype(bf16) turns
// CHECK: attn.attention_bwd {{.*}}, %[[B]], %[[A]] turns(
func.func @statistics_elsewhere(%q: !t, %k: !t, %v: !t, %o: !t, %do: !t, %lse: !l, %dlse: !l, %scale: f32) -> (!t, !t, !t) {
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !l) -> !l
  %delta2, %other = attn.delta %o, %do, %dlse, %lse layout(bshd) : (!t, !l) -> !l
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %other, %delta scale(%scale) mask(none) layout(bshd) : (!t, !t, !t, !t, !l)
  return %dq, %dk, %dv : !t, !t, !t
}
// CHECK-LABEL: func.func @statistics_with_config
// CHECK: attn.delta {{.*}} config
// CHECK: attn.clear_sums
// CHECK: attn.attention_bwd
func.func @statistics_with_config(%q: !t, %k: !t, %v: !t, %o: !t, %do: !t, %lse: !l, %dlse: !l, %scale: f32) -> (!t, !t, !t) {
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) config <tile_m = 64, tile_n = 1, work = grid> : (!t, !l) -> !l
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) : (!t, !t, !t, !t, !l)
  return %dq, %dk, %dv : !t, !t, !t
}
// CHECK-LABEL: func.func @statistics_of_two
// CHECK: attn.delta {{.*}} sums tensor<?x?x?x64xf32>{{$}}
// CHECK: attn.attention_bwd
// CHECK: attn.clear_sums
// CHECK: attn.attention_bwd
func.func @statistics_of_two(%q: !t, %k: !t, %v: !t, %o: !t, %do: !t, %lse: !l, %dlse: !l, %scale: f32) -> (!t, !t, !t, !t, !t, !t) attributes {attn.any_order} {
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !l) -> !l
  %a:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) : (!t, !t, !t, !t, !l)
  %b:3 = attn.attention_bwd %k, %q, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) : (!t, !t, !t, !t, !l)
  return %a#0, %a#1, %a#2, %b#0, %b#1, %b#2 : !t, !t, !t, !t, !t, !t
}

// Otherwise those who add to the sums take turns, if the table has such a kernel.
// CHECK-LABEL: func.func @turns
// CHECK: %[[TURNS:.*]] = attn.clear_sums dtype(bf16) turns tensor<?x?x?xi32>
// CHECK: %[[SUMS:.*]], %{{.*}}, %{{.*}} = attn.attention_bwd {{.*}} turns(%[[TURNS]] : tensor<?x?x?xi32>) scale({{.*}} gradients(sums) transposed(80) new_sums(128) of 80 :
// CHECK: attn.convert_sums %[[SUMS]] turns(%[[TURNS]] : tensor<?x?x?xi32>) of 80
func.func @turns(%q: !w, %k: !w, %v: !w, %do: !w, %lse2: !l, %delta: !l, %scale: f32) -> (!w, !w, !w) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bhsd) : (!w, !w, !w, !w, !l)
  return %dq, %dk, %dv : !w, !w, !w
}

// In turns only all gradients.
// CHECK-LABEL: func.func @turns_one_unused
// CHECK: attn.attention_bwd {{.*}} gradients(dk_dv)
func.func @turns_one_unused(%q: !w, %k: !w, %v: !w, %do: !w, %lse2: !l, %delta: !l, %scale: f32) -> (!w, !w) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bhsd) : (!w, !w, !w, !w, !l)
  return %dk, %dv : !w, !w
}

// A mask function may let CTAs wait for long: it gets turns only from a schedule.
// RUN: attn-opt %s --attn-split-backward=schedule-file=%attn_root/passes/schedule/data/schedules/sm_90a/bwd_ordered_d128.mlir | FileCheck %s --check-prefix=ORDERED
// ORDERED-LABEL: func.func @turns_mask
// ORDERED: attn.attention_bwd {{.*}} turns({{.*}} gradients(sums) mask_region
// ORDERED-LABEL: func.func @of_queries
// ORDERED-NOT: gradients(seeing)
// ORDERED: attn.attention_bwd {{.*}} turns({{.*}} gradients(sums) captures({{.*}} mask_region
// CHECK-LABEL: func.func @turns_mask
// CHECK: attn.attention_bwd {{.*}} gradients(dq)
// CHECK: attn.attention_bwd {{.*}} gradients(dk_dv)
func.func @turns_mask(%q: !w, %k: !w, %v: !w, %do: !w, %lse2: !l, %delta: !l, %scale: f32) -> (!w, !w, !w) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bhsd) mask_region {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %ok = arith.cmpi sle, %j, %i : i32
    attn.yield %ok : i1
  } : (!w, !w, !w, !w, !l)
  return %dq, %dk, %dv : !w, !w, !w
}

// The sums have the columns of the tiles, which may be wider than the head dim.
// CHECK-LABEL: func.func @padded
// CHECK: %[[ZEROS:.*]] = attn.clear_sums dtype(bf16) sums tensor<?x?x?x96xf32>
// CHECK: %[[SUMS:.*]], %{{.*}}, %{{.*}} = attn.attention_bwd {{.*}} sums(%[[ZEROS]] : tensor<?x?x?x96xf32>) {{.*}} gradients(sums) :
// CHECK: attn.convert_sums %[[SUMS]] {{.*}} : tensor<?x?x?x96xf32> -> tensor<?x?x?x80xbf16>
func.func @padded(%q: !u, %k: !u, %v: !u, %do: !u, %lse2: !l, %delta: !l, %scale: f32) -> (!u, !u, !u) attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) : (!u, !u, !u, !u, !l)
  return %dq, %dk, %dv : !u, !u, !u
}

// A V of another head dim: of Q and K 80, of V 192.
// CHECK-LABEL: func.func @padded_sums_dk
// CHECK: attn.clear_sums dtype(bf16) sums tensor<?x?x?x192xf32>
// CHECK: attn.attention_bwd {{.*}} gradients(sums_dk) :
// CHECK: attn.attention_bwd {{.*}} gradients(dv) :
// CHECK: attn.convert_sums {{.*}} : tensor<?x?x?x192xf32> -> tensor<?x?x?x80xbf16>
!x = tensor<?x?x?x192xbf16>
func.func @padded_sums_dk(%q: !u, %k: !u, %v: !x, %do: !x, %lse2: !l, %delta: !l, %scale: f32) -> (!u, !u, !x) attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) : (!u, !u, !x, !x, !l)
  return %dq, %dk, %dv : !u, !u, !x
}

// If one of the gradients is not used, in two kernels all the same.
// CHECK-LABEL: func.func @one_unused
// CHECK: attn.attention_bwd {{.*}} gradients(dk_dv)
func.func @one_unused(%q: !w, %k: !w, %v: !w, %do: !w, %lse2: !l, %delta: !l, %scale: f32) -> (!w, !w) attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) : (!w, !w, !w, !w, !l)
  return %dk, %dv : !w, !w
}

// Transposed shares leave dropout no registers, in any order or in one.
// CHECK-LABEL: func.func @dropout(
// CHECK: attn.attention_bwd {{.*}} sums({{[^)]*}}) scale({{.*}} gradients(sums) dropout(%[[RATE:.*]], %[[STATE:.*]]) : (
func.func @dropout(%q: !w, %k: !w, %v: !w, %do: !w, %lse2: !l, %delta: !l, %scale: f32, %rate: f32, %state: tensor<2xi64>) -> (!w, !w, !w)
    attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) dropout(%rate, %state)
      : (!w, !w, !w, !w, !l)
  return %dq, %dk, %dv : !w, !w, !w
}

// CHECK-LABEL: func.func @dropout_in_turns
// CHECK: attn.attention_bwd {{.*}} sums({{.*}}) turns({{.*}} gradients(sums) dropout(
func.func @dropout_in_turns(%q: !w, %k: !w, %v: !w, %do: !w, %lse2: !l, %delta: !l, %scale: f32, %rate: f32, %state: tensor<2xi64>)
    -> (!w, !w, !w) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) dropout(%rate, %state)
      : (!w, !w, !w, !w, !l)
  return %dq, %dk, %dv : !w, !w, !w
}

// CHECK-LABEL: func.func @dropout_of_64
// CHECK: attn.clear_sums dtype(bf16) sums tensor<?x?x?x64xf32>
// CHECK-NEXT: attn.attention_bwd {{.*}} gradients(sums) dropout(
func.func @dropout_of_64(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %rate: f32, %state: tensor<2xi64>) -> (!t, !t, !t)
    attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) dropout(%rate, %state)
      : (!t, !t, !t, !t, !l)
  return %dq, %dk, %dv : !t, !t, !t
}

// No registers are left for a derivative beside dropout. One that is 1 needs none.
// CHECK-LABEL: func.func @dropout_and_slope
// CHECK: attn.attention_bwd {{.*}} gradients(dq) dropout(
// CHECK: attn.attention_bwd {{.*}} gradients(dk_dv) dropout(
func.func @dropout_and_slope(%q: !w, %k: !w, %v: !w, %do: !w, %lse2: !l, %delta: !l, %scale: f32, %rate: f32, %state: tensor<2xi64>, %c: f32) -> (!w, !w, !w)
    attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) dropout(%rate, %state) captures(%c : f32)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %factor: f32):
        %z = arith.mulf %x, %factor : f32
        attn.yield %z, %factor : f32, f32
      } : (!w, !w, !w, !w, !l)
  return %dq, %dk, %dv : !w, !w, !w
}

// CHECK-LABEL: func.func @turns_bias
// CHECK: attn.attention_bwd {{.*}} turns({{.*}} gradients(sums) dropout({{.*}} captures(
func.func @turns_bias(%q: !w, %k: !w, %v: !w, %do: !w, %lse2: !l, %delta: !l, %scale: f32, %rate: f32, %state: tensor<2xi64>, %c: f32) -> (!w, !w, !w) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) dropout(%rate, %state) captures(%c : f32)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %bias: f32):
        %z = arith.addf %x, %bias : f32
        %one = arith.constant 1.0 : f32
        attn.yield %z, %one : f32, f32
      } : (!w, !w, !w, !w, !l)
  return %dq, %dk, %dv : !w, !w, !w
}

// If the sums of dK and dV do not fit one kernel, dV has one of its own.
// CHECK-LABEL: func.func @sums_dk
// CHECK: %[[ZEROS:.*]] = attn.clear_sums dtype(bf16) sums tensor<?x?x?x256xf32>
// CHECK: %[[SUMS:.*]], %[[DK:.*]] = attn.attention_bwd {{.*}} sums(%[[ZEROS]] : tensor<?x?x?x256xf32>) scale(%[[SCALE:.*]]) mask(none) layout(bshd) gradients(sums_dk) :
// CHECK: %[[DV:.*]] = attn.attention_bwd {{.*}} gradients(dv) :
// CHECK: %[[DQ:.*]] = attn.convert_sums %[[SUMS]] scale(%[[SCALE]])
// CHECK: return %[[DQ]], %[[DK]], %[[DV]]
func.func @sums_dk(%q: !wide, %k: !wide, %v: !wide, %do: !wide, %lse2: !l, %delta: !l, %scale: f32) -> (!wide, !wide, !wide)
    attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      : (!wide, !wide, !wide, !wide, !l)
  return %dq, %dk, %dv : !wide, !wide, !wide
}

// A function of the user may have any slope.
// CHECK-LABEL: func.func @sums_of_slope
// CHECK: attn.attention_bwd {{.*}} gradients(sums) captures(
func.func @sums_of_slope(%q: !w, %k: !w, %v: !w, %do: !w, %lse2: !l, %delta: !l, %scale: f32, %c: f32) -> (!w, !w, !w)
    attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) captures(%c : f32)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %factor: f32):
        %z = arith.mulf %x, %factor : f32
        attn.yield %z, %factor : f32, f32
      } : (!w, !w, !w, !w, !l)
  return %dq, %dk, %dv : !w, !w, !w
}

// A mask that reads a tensor at the query: the queries that may see groups of keys are found once, for both ops that own keys.
// CHECK-LABEL: func.func @documents
// CHECK: attn.attention_bwd {{.*}} gradients(dq)
// CHECK: %[[SEEING:.*]] = attn.attention_bwd {{.*}} mask(none) layout(bshd) gradients(seeing) captures(
// CHECK-NOT: score_region
// CHECK: mask_region
// CHECK: attn.attention_bwd {{.*}} seeing(%[[SEEING]] : tensor<?x16x?xf32>) scale({{.*}} gradients(dk) captures(
// CHECK: attn.attention_bwd {{.*}} seeing(%[[SEEING]] : tensor<?x16x?xf32>) scale({{.*}} gradients(dv) captures(
func.func @documents(%q: !wide, %k: !wide, %v: !wide, %do: !wide, %lse2: !l, %delta: !l, %scale: f32, %ids: tensor<?xi32>) -> (!wide, !wide, !wide) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) captures(%ids : tensor<?xi32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %id_of: tensor<?xi32>):
        attn.yield %x, %x : f32, f32
      }
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %id_of: tensor<?xi32>):
        %query = arith.index_cast %i : i32 to index
        %key = arith.index_cast %j : i32 to index
        %one = tensor.extract %id_of[%query] : tensor<?xi32>
        %other = tensor.extract %id_of[%key] : tensor<?xi32>
        %same = arith.cmpi eq, %one, %other : i32
        attn.yield %same : i1
      } : (!wide, !wide, !wide, !wide, !l)
  return %dq, %dk, %dv : !wide, !wide, !wide
}

// Not if the mask depends on the head, or reads tensors only at the key, at pairs or at the batch.
// CHECK-LABEL: func.func @of_heads
// CHECK: attn.attention_bwd {{.*}} gradients(dq)
// CHECK: attn.attention_bwd %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} scale(%{{.*}} gradients(dk_dv)
func.func @of_heads(%q: !w, %k: !w, %v: !w, %do: !w, %lse2: !l, %delta: !l, %scale: f32, %starts: tensor<?x?xi32>) -> (!w, !w, !w) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) captures(%starts : tensor<?x?xi32>)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %start_of: tensor<?x?xi32>):
        %query = arith.index_cast %i : i32 to index
        %head = arith.index_cast %h : i32 to index
        %start = tensor.extract %start_of[%head, %query] : tensor<?x?xi32>
        %after = arith.cmpi sge, %j, %start : i32
        attn.yield %after : i1
      } : (!w, !w, !w, !w, !l)
  return %dq, %dk, %dv : !w, !w, !w
}

// CHECK-LABEL: func.func @of_queries
// CHECK: attn.attention_bwd {{.*}} gradients(dq)
// CHECK: attn.attention_bwd {{.*}} gradients(seeing)
// CHECK: attn.attention_bwd {{.*}} seeing({{.*}} gradients(dk_dv)
func.func @of_queries(%q: !w, %k: !w, %v: !w, %do: !w, %lse2: !l, %delta: !l, %scale: f32, %starts: tensor<?xi32>) -> (!w, !w, !w) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) captures(%starts : tensor<?xi32>)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %start_of: tensor<?xi32>):
        %query = arith.index_cast %i : i32 to index
        %start = tensor.extract %start_of[%query] : tensor<?xi32>
        %after = arith.cmpi sge, %j, %start : i32
        attn.yield %after : i1
      } : (!w, !w, !w, !w, !l)
  return %dq, %dk, %dv : !w, !w, !w
}

// CHECK-LABEL: func.func @of_keys
// CHECK: attn.attention_bwd {{.*}} gradients(dq)
// CHECK: attn.attention_bwd %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} scale(%{{.*}} gradients(dk_dv)
func.func @of_keys(%q: !w, %k: !w, %v: !w, %do: !w, %lse2: !l, %delta: !l, %scale: f32, %valid: tensor<?xi1>, %table: tensor<?xi32>) -> (!w, !w, !w) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) captures(%valid, %table : tensor<?xi1>, tensor<?xi32>)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %valid_of: tensor<?xi1>, %table_of: tensor<?xi32>):
        %key = arith.index_cast %j : i32 to index
        %valid_key = tensor.extract %valid_of[%key] : tensor<?xi1>
        %apart = arith.subi %i, %j : i32
        %distance = arith.index_cast %apart : i32 to index
        %number = tensor.extract %table_of[%distance] : tensor<?xi32>
        %zero = arith.constant 0 : i32
        %near = arith.cmpi eq, %number, %zero : i32
        %both = arith.andi %valid_key, %near : i1
        attn.yield %both : i1
      } : (!w, !w, !w, !w, !l)
  return %dq, %dk, %dv : !w, !w, !w
}

// CHECK-LABEL: func.func @of_batches
// CHECK: attn.attention_bwd {{.*}} gradients(dq)
// CHECK: attn.attention_bwd %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} scale(%{{.*}} gradients(dk_dv)
func.func @of_batches(%q: !w, %k: !w, %v: !w, %do: !w, %lse2: !l, %delta: !l, %scale: f32, %lengths: tensor<?xi32>) -> (!w, !w, !w) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) captures(%lengths : tensor<?xi32>)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %length_of: tensor<?xi32>):
        %batch = arith.index_cast %b : i32 to index
        %length = tensor.extract %length_of[%batch] : tensor<?xi32>
        %inside = arith.cmpi slt, %j, %length : i32
        attn.yield %inside : i1
      } : (!w, !w, !w, !w, !l)
  return %dq, %dk, %dv : !w, !w, !w
}

// Ops with other tensors see other queries: they visit all blocks.
// CHECK-LABEL: func.func @other_documents
// CHECK-SAME: %[[IDS:[^ ]*]]: tensor<?xi32>, %[[OTHER:[^ ]*]]: tensor<?xi32>)
// CHECK: %[[SEEING:.*]] = attn.attention_bwd {{.*}} gradients(seeing) captures(%[[IDS]] :
// CHECK: attn.attention_bwd {{.*}} seeing(%[[SEEING]] : {{.*}} gradients(dv) captures(%[[IDS]] :
// CHECK: attn.attention_bwd %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} scale({{.*}} gradients(dv) captures(%[[OTHER]] :
func.func @other_documents(%q: !wide, %k: !wide, %v: !wide, %do: !wide, %lse2: !l, %delta: !l, %scale: f32, %ids: tensor<?xi32>, %others: tensor<?xi32>) -> (!wide, !wide) {
  %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dv) captures(%ids : tensor<?xi32>)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %start_of: tensor<?xi32>):
        %query = arith.index_cast %i : i32 to index
        %start = tensor.extract %start_of[%query] : tensor<?xi32>
        %is = arith.cmpi sle, %start, %j : i32
        attn.yield %is : i1
      } : (!wide, !wide, !wide, !wide, !l)
  %other = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dv) captures(%others : tensor<?xi32>)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %start_of: tensor<?xi32>):
        %query = arith.index_cast %i : i32 to index
        %start = tensor.extract %start_of[%query] : tensor<?xi32>
        %is = arith.cmpi sle, %start, %j : i32
        attn.yield %is : i1
      } : (!wide, !wide, !wide, !wide, !l)
  return %dv, %other : !wide, !wide
}

// At head dim 160 one kernel keeps P rounded for dX: in bf16, under built-in masks, with turns or without. It has no room for
// dropout or a function, and f16 has no such kernel.
!y = tensor<?x?x?x160xbf16>
!z = tensor<?x?x?x160xf16>
// CHECK-LABEL: func.func @kept_p
// CHECK: attn.attention_bwd {{.*}} gradients(sums) :
func.func @kept_p(%q: !y, %k: !y, %v: !y, %do: !y, %lse2: !l, %delta: !l, %scale: f32) -> (!y, !y, !y) attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_top_left) layout(bshd) : (!y, !y, !y, !y, !l)
  return %dq, %dk, %dv : !y, !y, !y
}
// CHECK-LABEL: func.func @kept_p_in_turns
// CHECK: attn.attention_bwd {{.*}} turns({{.*}} gradients(sums) new_sums(160) of 64 :
func.func @kept_p_in_turns(%q: !y, %k: !y, %v: !y, %do: !y, %lse2: !l, %delta: !l, %scale: f32, %w: i32) -> (!y, !y, !y) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_top_left) layout(bshd) window_left(%w)
      : (!y, !y, !y, !y, !l)
  return %dq, %dk, %dv : !y, !y, !y
}
// CHECK-LABEL: func.func @kept_p_dropout
// CHECK: attn.attention_bwd {{.*}} gradients(sums_dk) dropout(
// CHECK: attn.attention_bwd {{.*}} gradients(dv) dropout(
func.func @kept_p_dropout(%q: !y, %k: !y, %v: !y, %do: !y, %lse2: !l, %delta: !l, %scale: f32, %rate: f32, %state: tensor<2xi64>) -> (!y, !y, !y) attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) dropout(%rate, %state)
      : (!y, !y, !y, !y, !l)
  return %dq, %dk, %dv : !y, !y, !y
}
// CHECK-LABEL: func.func @kept_p_function
// CHECK: attn.attention_bwd {{.*}} gradients(sums_dk) score_region
// CHECK: attn.attention_bwd {{.*}} gradients(dv) score_region
func.func @kept_p_function(%q: !y, %k: !y, %v: !y, %do: !y, %lse2: !l, %delta: !l, %scale: f32) -> (!y, !y, !y) attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) score_region {
  ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %z = math.tanh %x : f32
    attn.yield %z, %z : f32, f32
  } : (!y, !y, !y, !y, !l)
  return %dq, %dk, %dv : !y, !y, !y
}
// CHECK-LABEL: func.func @kept_p_f16
// CHECK: attn.attention_bwd {{.*}} gradients(sums_dk) :
// CHECK: attn.attention_bwd {{.*}} gradients(dv) :
func.func @kept_p_f16(%q: !z, %k: !z, %v: !z, %do: !z, %lse2: !l, %delta: !l, %scale: f32) -> (!z, !z, !z) attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) : (!z, !z, !z, !z, !l)
  return %dq, %dk, %dv : !z, !z, !z
}
// Of kernels with as many columns of Q and V together, the one with the fewest of Q: 160 and 160, not 192 and 128.
// CHECK-LABEL: func.func @kept_p_fewest_of_q
// CHECK: attn.clear_sums dtype(bf16) sums tensor<?x?x?x160xf32>
// CHECK: attn.attention_bwd {{.*}} gradients(sums) :
!a = tensor<?x?x?x144xbf16>
!b = tensor<?x?x?x128xbf16>
func.func @kept_p_fewest_of_q(%q: !a, %k: !a, %v: !b, %do: !b, %lse2: !l, %delta: !l, %scale: f32) -> (!a, !a, !b) attributes {attn.any_order} {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) : (!a, !a, !b, !b, !l)
  return %dq, %dk, %dv : !a, !a, !b
}
