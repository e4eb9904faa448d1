// attn-differentiate writes the function of the gradients after each function around an attention.
// RUN: attn-opt %s --attn-differentiate | FileCheck %s -enable-var-scope

// Maps of indices.
// CHECK-DAG: #[[$HEAD:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-DAG: #[[$NUMBER:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0)>
// CHECK-DAG: #[[$KEY:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-DAG: #[[$LAST:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-DAG: #[[$PAIRS:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>

// Without a score region there is no derivative. The first function stays. Only one gradient is asked for.
// CHECK-LABEL: func.func @plain(
// CHECK: attn.attention %
// CHECK-LABEL: func.func @plain_bwd(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<?x?x?x64xbf16> {attn.gradient}, %[[K:[^:]*]]: tensor<?x?x?x64xbf16>, %[[V:[^:]*]]: tensor<?x?x?x64xbf16>, %[[SCALE:[^:]*]]: f32,
// CHECK-SAME: %[[LEFT:[^:]*]]: i32 {attn.name = "left"}, %[[O:[^:]*]]: tensor<?x?x?x64xbf16>, %[[LSE:[^:]*]]: tensor<?x?x?xf32>,
// CHECK-SAME: %[[DO:[^:]*]]: tensor<?x?x?x64xbf16>, %[[DLSE:[^:]*]]: tensor<?x?x?xf32>) -> tensor<?x?x?x64xbf16> {
// CHECK-NEXT: %[[DELTA:.*]], %[[LSE2:.*]] = attn.delta %[[O]], %[[DO]], %[[LSE]], %[[DLSE]] layout(bhsd) : (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
// CHECK-NEXT: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = attn.attention_bwd %[[Q]], %[[K]], %[[V]], %[[DO]], %[[LSE2]], %[[DELTA]] scale(%[[SCALE]]) mask(window_top_left) layout(bhsd) window_left(%[[LEFT]]) : (
// CHECK-NEXT: return %[[DQ]] :
func.func @plain(%q: !q {attn.gradient}, %k: !q, %v: !q, %scale: f32, %left: i32 {attn.name = "left"}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(window_top_left) layout(bhsd) window_left(%left)
      : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// A softcap: the derivative shares the tanh, and its factors 1 / c and c stay.
// CHECK-LABEL: func.func @softcap_bwd(
// CHECK: attn.attention_bwd {{.*}} captures(%{{.*}} : f32)
// CHECK-NEXT: ^bb0(%[[S:[^:]*]]: f32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %[[C:[^:]*]]: f32):
// CHECK-NEXT: %[[RATIO:.*]] = arith.divf %[[S]], %[[C]]
// CHECK-NEXT: %[[T:.*]] = math.tanh %[[RATIO]]
// CHECK-NEXT: %[[Z:.*]] = arith.mulf %[[T]], %[[C]]
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1.0
// CHECK-NEXT: %[[INNER:.*]] = arith.divf %[[ONE]], %[[C]]
// CHECK-NEXT: %[[SQUARE:.*]] = arith.mulf %[[T]], %[[T]]
// CHECK-NEXT: %[[ALSO_ONE:.*]] = arith.constant 1.0
// CHECK-NEXT: %[[SLOPE:.*]] = arith.subf %[[ALSO_ONE]], %[[SQUARE]]
// CHECK-NEXT: %[[BOTH:.*]] = arith.mulf %[[INNER]], %[[SLOPE]]
// CHECK-NEXT: %[[G:.*]] = arith.mulf %[[BOTH]], %[[C]]
// CHECK-NEXT: attn.yield %[[Z]], %[[G]] : f32, f32
func.func @softcap(%q: !q, %k: !q, %v: !q, %scale: f32, %cap: f32) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%cap : f32)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %c: f32):
        %ratio = arith.divf %s, %c : f32
        %t = math.tanh %ratio : f32
        %z = arith.mulf %t, %c : f32
        attn.yield %z : f32
      } : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// What is added does not change the derivative: no op is left of it. The mask region comes along.
// CHECK-LABEL: func.func @bias_bwd(
// CHECK: %[[Z:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1.0
// CHECK-NEXT: attn.yield %[[Z]], %[[ONE]] : f32, f32
// CHECK: mask_region {
// CHECK: arith.cmpi ne
func.func @bias(%q: !q, %k: !q, %v: !q, %scale: f32, %bias: tensor<?xf32>) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%bias : tensor<?xf32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %t: tensor<?xf32>):
        %head = arith.index_cast %h : i32 to index
        %x = tensor.extract %t[%head] : tensor<?xf32>
        %z = arith.addf %s, %x : f32
        attn.yield %z : f32
      } mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %t: tensor<?xf32>):
        %ok = arith.cmpi ne, %i, %j : i32
        attn.yield %ok : i1
      } : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// A choice is one of derivatives, and what may be 0 after it does not meet an infinite one.
// CHECK-LABEL: func.func @choice_bwd(
// CHECK: %[[POSITIVE:.*]] = arith.cmpf ogt
// CHECK: %[[CHOSEN:.*]] = arith.select %[[POSITIVE]], %{{.*}}, %{{.*}} : f32
// CHECK: %[[Z:.*]] = math.sqrt %[[CHOSEN]]
// CHECK: %[[OUTER:.*]] = arith.select %[[POSITIVE]], %{{.*}}, %{{.*}} : f32
// CHECK: %[[INNER:.*]] = arith.divf %{{.*}}, %[[Z]]
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[OUTER]], %[[INNER]]
// CHECK: %[[VANISHES:.*]] = arith.cmpf oeq, %[[OUTER]], %[[ZERO:.*]] : f32
// CHECK: %[[G:.*]] = arith.select %[[VANISHES]], %[[ZERO]], %[[PRODUCT]]
// CHECK: attn.yield %[[Z]], %[[G]] : f32, f32
func.func @choice(%q: !q, %k: !q, %v: !q, %scale: f32) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
        %zero = arith.constant 0.0 : f32
        %positive = arith.cmpf ogt, %s, %zero : f32
        %some = arith.select %positive, %s, %zero : f32
        %z = math.sqrt %some : f32
        attn.yield %z : f32
      } : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// Static sizes stay, but for the rows of the statistics.
// CHECK-LABEL: func.func @static_bwd(
// CHECK: attn.delta {{.*}} : (tensor<2x100x8x64xbf16>, tensor<2x8x100xf32>) -> tensor<2x8x?xf32>
func.func @static(%q: tensor<2x100x8x64xbf16>, %k: tensor<2x300x2x64xbf16>, %v: tensor<2x300x2x64xbf16>, %scale: f32)
    -> (tensor<2x100x8x64xbf16>, tensor<2x8x100xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<2x100x8x64xbf16>, tensor<2x300x2x64xbf16>, tensor<2x300x2x64xbf16>)
        -> (tensor<2x100x8x64xbf16>, tensor<2x8x100xf32>)
  return %o, %lse : tensor<2x100x8x64xbf16>, tensor<2x8x100xf32>
}

// Functions without attention are left alone.
// CHECK-LABEL: func.func @other(
// CHECK-NOT: @other_bwd
func.func @other(%x: f32) -> f32 {
  return %x : f32
}

// The gradient of a capture at the head: sums over the keys of each query, then over all queries of a head. The capture is
// changed alone: its derivative is that of the sum by the product, and has no part from the score.
// CHECK-LABEL: func.func @slopes_bwd(
// CHECK-SAME: -> (tensor<?x?x?x64xbf16>, tensor<?xf32>) {
// CHECK: %[[DELTA:.*]], %[[LSE2:.*]] = attn.delta
// CHECK: %[[SUMS:.*]] = attn.attention_bwd {{.*}} gradients(row_sums of 0) captures(
// CHECK: %[[FAR:.*]] = arith.sitofp
// CHECK: attn.yield %{{.*}}, %[[FAR]] : f32, f32
// CHECK: %[[GRADIENT:.*]] = attn.sum_gradient %[[SUMS]] of "slopes" at #[[$HEAD]] : tensor<?x?x?xf32> -> tensor<?xf32>
// CHECK: %[[DQ:.*]], %{{.*}}, %{{.*}} = attn.attention_bwd
// CHECK: return %[[DQ]], %[[GRADIENT]] :
func.func @slopes(%q: !q {attn.gradient}, %k: !q, %v: !q, %scale: f32, %w: tensor<?xf32> {attn.gradient, attn.name = "slopes"}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        %at = arith.index_cast %h : i32 to index
        %slope = tensor.extract %of[%at] : tensor<?xf32>
        %distance = arith.subi %j, %i : i32
        %far = arith.sitofp %distance : i32 to f32
        %bias = arith.mulf %slope, %far : f32
        %z = arith.addf %s, %bias : f32
        attn.yield %z : f32
      } : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// At the key, of the scale, at each pair, and of a number: in the order of the arguments. Q, K and V are not asked for.
// CHECK-LABEL: func.func @several_bwd(
// CHECK-SAME: -> (tensor<1xf32>, tensor<?xbf16>, tensor<?x1x?x?xf16>, tensor<1xf32>) {
// CHECK: %[[OF_SCALE:.*]] = attn.attention_bwd {{.*}} gradients(row_sums) captures(
// CHECK: ^bb0(%[[S:[^:]*]]: f32,
// CHECK: %[[TIMES:.*]] = arith.mulf %{{.*}}, %[[S]]
// CHECK-NEXT: attn.yield %{{.*}}, %[[TIMES]]
// CHECK: %[[G0:.*]] = attn.sum_gradient %[[OF_SCALE]] over(%{{.*}}) of "scale" at #[[$NUMBER]] : tensor<?x?x?xf32> -> tensor<1xf32>
// CHECK: %[[OF_KEYS:.*]] = attn.attention_bwd {{.*}} gradients(key_sums of 0 at #[[$KEY]]) captures(
// CHECK: %[[G1:.*]] = attn.sum_gradient %[[OF_KEYS]] of "c0" at #[[$LAST]] : tensor<?x?x?xf32> -> tensor<?xbf16>
// CHECK: %[[G2:.*]] = attn.attention_bwd {{.*}} gradients(pairs of 1 at #[[$PAIRS]]) captures(
// CHECK: %[[OF_CAP:.*]] = attn.attention_bwd {{.*}} gradients(row_sums of 2) captures(
// CHECK: %[[G3:.*]] = attn.sum_gradient %[[OF_CAP]] of "c2" at #[[$NUMBER]]
// CHECK: return %[[G0]], %[[G1]], %[[G2]], %[[G3]] :
func.func @several(%q: !q, %k: !q, %v: !q, %scale: f32 {attn.gradient}, %keys: tensor<?xbf16> {attn.gradient},
    %pairs: tensor<?x1x?x?xf16> {attn.gradient}, %cap: f32 {attn.gradient}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%keys, %pairs, %cap : tensor<?xbf16>, tensor<?x1x?x?xf16>, f32)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of_keys: tensor<?xbf16>, %of_pairs: tensor<?x1x?x?xf16>, %c: f32):
        %c0 = arith.constant 0 : index
        %ib = arith.index_cast %b : i32 to index
        %ii = arith.index_cast %i : i32 to index
        %ij = arith.index_cast %j : i32 to index
        %k16 = tensor.extract %of_keys[%ij] : tensor<?xbf16>
        %k32 = arith.extf %k16 : bf16 to f32
        %p16 = tensor.extract %of_pairs[%ib, %c0, %ii, %ij] : tensor<?x1x?x?xf16>
        %p32 = arith.extf %p16 : f16 to f32
        %sum = arith.addf %k32, %p32 : f32
        %ratio = arith.mulf %s, %c : f32
        %z = arith.addf %sum, %ratio : f32
        attn.yield %z : f32
      } : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// An index that is no position: where that is allowed, each pair adds to the element that its index names.
// CHECK-LABEL: func.func @relative_bwd(
// CHECK: %[[GRADIENT:.*]] = attn.attention_bwd {{.*}} gradients(elements of 0) captures(
// CHECK: %[[DISTANCE:.*]] = arith.subi
// CHECK: %[[AT:.*]] = arith.index_cast %[[DISTANCE]] : i32 to index
// CHECK: %[[BACK:.*]] = arith.index_cast %[[AT]] : index to i32
// CHECK: attn.yield %{{.*}}, %{{.*}}, %[[BACK]] : f32, f32, i32
// CHECK: return %[[GRADIENT]] :
func.func @relative(%q: !q, %k: !q, %v: !q, %scale: f32, %w: tensor<?xf32> {attn.gradient = "any_order"}) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        %distance = arith.subi %j, %i : i32
        %at = arith.index_cast %distance : i32 to index
        %bias = tensor.extract %of[%at] : tensor<?xf32>
        %z = arith.addf %s, %bias : f32
        attn.yield %z : f32
      } : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// The gradient of sinks is a sum of delta. They have no other use there.
// CHECK-LABEL: func.func @of_sinks_bwd(
// CHECK-SAME: %[[SINKS:[^:]*]]: tensor<?xf32> {attn.gradient}
// CHECK: %[[DELTA:.*]], %[[LSE2:.*]] = attn.delta
// CHECK: %[[DSINKS:.*]] = attn.sum_gradient %[[DELTA]] weights(%[[LSE2]], %[[SINKS]]) of "sinks" at #map{{[0-9]*}} : tensor<?x?x?xf32> -> tensor<?xf32>
// CHECK: attn.attention_bwd
// CHECK: return %{{.*}}, %[[DSINKS]] :
func.func @of_sinks(%q: !q {attn.gradient}, %k: !q, %v: !q, %sinks: tensor<?xf32> {attn.gradient}, %scale: f32) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bhsd) sinks(%sinks : tensor<?xf32>) : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

// Dropout goes to the op; sinks do not: they are in the LSE.
// CHECK-LABEL: func.func @dropout_and_sinks_bwd(
// CHECK-SAME: %[[SCALE:[^:]*]]: f32, %[[RATE:[^:]*]]: f32, %[[STATE:[^:]*]]: tensor<2xi64>, %[[O:[^:]*]]: tensor<?x?x?x64xbf16>, %
// CHECK: attn.attention_bwd {{.*}} dropout(%[[RATE]], %[[STATE]]) : (
func.func @dropout_and_sinks(%q: !q, %k: !q, %v: !q, %sinks: tensor<?xf32>, %scale: f32, %rate: f32, %state: tensor<2xi64>) -> (!q, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bhsd) dropout(%rate, %state) sinks(%sinks : tensor<?xf32>)
      : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}
