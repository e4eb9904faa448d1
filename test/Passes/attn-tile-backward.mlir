// The tile programs of gradients: one owns queries, the other keys.
// RUN: attn-opt %s --attn-tile-backward -split-input-file | FileCheck %s -enable-var-scope

// CHECK: tile.kernel @query args ["q" query ("b", "sq", "hq", "d"), "k" key ("b", "sk", "hk", "d"), "v" value ("b", "sk", "hk", "dv"), "do" output_gradient ("b", "sq", "hq", "dv"), "lse2" lse2 ("b", "hq", "sr"), "dl" delta ("b", "hq", "sr"), "scale" scale from 1.17549435E-38 to {{.*}}, "dq" query_gradient write ("b", "sq", "hq", "d")]
// CHECK-SAME: problem <kind = bwd_dq,
// CHECK-SAME: attn.checks = {{.*}}"expected at least {sq} rows of statistics, one for each query, got {sr}"
// CHECK: tile.next_work
// CHECK: tile.step @ld_q
// CHECK: tile.step @ld_do
// CHECK: tile.load {{.*}} -> tensor<128x32xbf16>
// CHECK: tile.step @ld_lse
// CHECK: tile.load_row {{.*}} -> tensor<128xf32>
// CHECK: tile.step @ld_dl
// CHECK: tile.for ranges <down [masked at_most 1, full]>
// CHECK: tile.step @ld_k
// CHECK: tile.step @ld_v
// CHECK: tile.step @qk
// CHECK: tile.mma %{{.*}}, %{{.*}} transpose_b : tensor<128x64xbf16>, tensor<96x64xbf16> -> tensor<128x96xf32>
// CHECK: tile.step @dp
// CHECK: tile.mma %{{.*}}, %{{.*}} transpose_b : tensor<128x32xbf16>, tensor<96x32xbf16> -> tensor<128x96xf32>
// CHECK: tile.step @score
// CHECK: tile.step @mask masked
// CHECK: tile.step @exp
// CHECK: %[[BIAS:.*]] = tile.broadcast {{.*}} dim 1 : tensor<128xf32> -> tensor<128x96xf32>
// CHECK: math.fma %{{.*}}, %{{.*}}, %[[BIAS]]
// CHECK: tile.step @dsoft
// CHECK: arith.subf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: tile.yield
// CHECK: tile.step @cvt_ds
// CHECK: tile.step @mm_dq
// CHECK: tile.mma %{{.*}}, %{{.*}} acc({{.*}}) : tensor<128x96xbf16>, tensor<96x64xbf16> -> tensor<128x64xf32>
// CHECK: tile.step @cvt_dq
// CHECK: arith.mulf
// CHECK: arith.truncf
// CHECK: tile.step @st_dq
!t = tensor<?x?x?x64xbf16>
!v = tensor<?x?x?x32xbf16>
!l = tensor<?x?x?xf32>
func.func @query(%q: !t, %k: !t, %v: !v, %do: !v, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq)
      config <tile_m = 128, tile_n = 96, work = grid> : (!t, !t, !v, !v, !l)
  return %dq : !t
}

// -----

// Scores have keys as rows; the query heads of a group follow each other for each block of queries. Queries after the last one
// are masked, because the function of the user may have any value there, and where P is 0, dX is.

// CHECK: tile.kernel @key args [{{.*}}"w" capture, "dk" key_gradient write ("b", "hk", "sk", "d"), "dv" as "dv_1" value_gradient write ("b", "hk", "sk", "dv")]
// CHECK-SAME: problem <kind = bwd_dk_dv,
// CHECK-SAME: attn.checks = {{.*}}"expected the queries of a group of heads to be fewer than
// CHECK-SAME: attn.region_programs = {score = {{\[\[}}"f32", "mulf", "s", "@w"], ["f32", "yield", "%0"]]}
// CHECK: %[[BATCHES:.*]] = arith.index_cast
// CHECK: %[[HEADS:.*]] = arith.index_cast
// CHECK: %[[KEY_HEADS:.*]] = arith.index_cast
// CHECK: %[[GROUP:.*]] = arith.divsi %[[HEADS]], %[[KEY_HEADS]]
// CHECK: tile.next_work extents(%{{.*}}, %[[KEY_HEADS]], %[[BATCHES]])
// CHECK: tile.step @ld_k
// CHECK: tile.step @ld_v
// CHECK: tile.for ranges <down [masked, full, masked]>
// CHECK-NEXT: ^bb0(%[[I:.*]]: i32,
// CHECK: tile.step @ld_q
// CHECK: %[[MEMBER:.*]] = arith.remui %[[I]], %[[GROUP]]
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %[[GROUP]]
// CHECK: %[[HEAD:.*]] = arith.addi %[[FIRST]], %[[MEMBER]]
// CHECK: %[[BLOCK:.*]] = arith.divui %[[I]], %[[GROUP]]
// CHECK: %[[ROW:.*]] = arith.muli %[[BLOCK]]
// CHECK: tile.load %{{.*}} at(%{{.*}}, %[[HEAD]], %[[ROW]])
// CHECK: tile.step @ld_lse
// CHECK: tile.step @ld_do
// CHECK: tile.step @qk
// CHECK: tile.mma %{{.*}}, %{{.*}} transpose_b : tensor<64x64xbf16>, tensor<48x64xbf16> -> tensor<64x48xf32>
// CHECK: tile.step @score
// CHECK: tile.yield %{{.*}}, %{{.*}} : tensor<64x48xf32>, tensor<64x48xf32>
// CHECK: tile.step @mask masked
// CHECK: tile.coords %{{.*}} dim 1 : tensor<64x48xi32>
// CHECK: tile.coords %{{.*}} dim 0 : tensor<64x48xi32>
// CHECK: %[[SEEN:.*]] = arith.cmpi
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt
// CHECK: arith.andi %[[SEEN]], %[[INSIDE]]
// CHECK: tile.step @exp
// CHECK: tile.broadcast {{.*}} dim 0 : tensor<48xf32> -> tensor<64x48xf32>
// CHECK: tile.step @cvt_p
// CHECK: tile.step @mm_dv
// CHECK: tile.step @ld_dl
// CHECK: tile.step @dp
// CHECK: tile.step @dsoft
// CHECK: %[[NONE:.*]] = arith.cmpf oeq
// CHECK: arith.select %[[NONE]]
// CHECK: tile.step @cvt_ds
// CHECK: tile.step @mm_dk
// CHECK: tile.step @cvt_dk
// CHECK: arith.mulf
// CHECK: tile.step @st_dk
// CHECK: tile.step @cvt_dv
// CHECK-NOT: arith.mulf
// CHECK: arith.truncf
// CHECK: tile.step @st_dv
!t = tensor<?x?x?x64xbf16>
!v = tensor<?x?x?x32xbf16>
!l = tensor<?x?x?xf32>
func.func @key(%q: !t, %k: !t, %v: !v, %do: !v, %lse2: !l, %delta: !l, %scale: f32, %w: f32 {attn.name = "w"}) -> (!t, !v) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_bottom_right) layout(bhsd) gradients(dk_dv)
      config <tile_m = 64, tile_n = 48, work = grid> captures(%w : f32)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %c: f32):
        %z = arith.mulf %x, %c : f32
        attn.yield %z, %c : f32, f32
      } : (!t, !t, !v, !v, !l)
  return %dk, %dv : !t, !v
}

// -----

// Without a score function the queries may end in a full block.

// CHECK: tile.kernel @causal
// CHECK-SAME: attn.keys = {last = "i"}
// CHECK: tile.for ranges <down [full, masked]>
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @causal(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> (!t, !t) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_top_left) layout(bshd) gradients(dk_dv)
      config <tile_m = 64, tile_n = 64, work = grid> : (!t, !t, !t, !t, !l)
  return %dk, %dv : !t, !t
}

// -----

// CHECK: tile.kernel @window
// CHECK: tile.for ranges <down [masked, full, masked]>
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @window(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %left: i32) -> (!t, !t) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_top_left) layout(bshd) window_left(%left)
      gradients(dk_dv) config <tile_m = 64, tile_n = 64, work = grid> : (!t, !t, !t, !t, !l)
  return %dk, %dv : !t, !t
}

// -----

// CHECK: tile.kernel @user
// CHECK: tile.for ranges <down [masked]>
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @user(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> (!t, !t) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(dk_dv) config <tile_m = 64, tile_n = 64, work = grid>
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
        %odd = arith.cmpi ne, %i, %j : i32
        attn.yield %odd : i1
      } : (!t, !t, !t, !t, !l)
  return %dk, %dv : !t, !t
}

// -----

// A kernel of one gradient has the steps that this one needs: dV neither V nor delta.
// CHECK: tile.kernel @dk
// CHECK-NOT: @cvt_p
// CHECK: tile.step @mm_dk
// CHECK-NOT: @mm_dv
// CHECK: tile.step @st_dk
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @dk(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  %dk = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(dk) config <tile_m = 64, tile_n = 64, work = grid> : (!t, !t, !t, !t, !l)
  return %dk : !t
}

// -----

// CHECK: tile.kernel @dv
// CHECK-NOT: @{{ld_v|ld_dl|dp|dsoft}}
// CHECK: tile.step @mm_dv
// CHECK-NOT: @mm_dk
// CHECK: tile.step @st_dv
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @dv(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(dv) config <tile_m = 64, tile_n = 64, work = grid> : (!t, !t, !t, !t, !l)
  return %dv : !t
}

// -----

// A function without gradients is left alone.
// CHECK: func.func @other
func.func @other(%x: f32) -> f32 {
  return %x : f32
}

// Sums over keys of the derivative by a capture: as for dQ, but for the last product.
// CHECK-LABEL: tile.kernel @rows args
// CHECK-SAME: "w" capture, "w_sums" partial_sums write]
// CHECK-SAME: problem <kind = bwd_rows,
// CHECK: tile.for {{.*}} : (tensor<64xf32>) -> tensor<64xf32>
// CHECK: tile.step @dsoft
// CHECK: tile.step @add
// CHECK: tile.reduce add %{{.*}} dim 1 partial : tensor<64x32xf32> -> tensor<64xf32>
// CHECK: tile.step @total
// CHECK: tile.complete
// CHECK: tile.step @st
// CHECK: tile.store_row %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) : tensor<64xf32>, tensor<?x?x?xf32>
func.func @rows(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %do: tensor<?x?x?x64xbf16>,
    %lse2: tensor<?x?x?xf32>, %delta: tensor<?x?x?xf32>, %scale: f32, %w: tensor<?xf32> {attn.name = "w"}) -> tensor<?x?x?xf32> {
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(row_sums of 0)
      config <tile_m = 64, tile_n = 32, work = grid> captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        attn.yield %x, %x : f32, f32
      } : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %r : tensor<?x?x?xf32>
}

// Sums over queries, at each head: items own keys, and need a head of K for each head of Q.
// CHECK-LABEL: tile.kernel @keys args
// CHECK-SAME: "w_sums" partial_sums write]
// CHECK-SAME: problem <kind = bwd_keys,
// CHECK-SAME: expr = #launch.apply<eq(hk, hq)>, message = "expected as many heads of K as of Q
// CHECK: tile.for ranges <down [masked, full, masked]>
// CHECK: tile.step @ld_q
// CHECK: tile.step @add
func.func @keys(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %do: tensor<?x?x?x64xbf16>,
    %lse2: tensor<?x?x?xf32>, %delta: tensor<?x?x?xf32>, %scale: f32, %w: tensor<?x?xf32> {attn.name = "w"}) -> tensor<?x?x?xf32> {
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(key_sums of 0 at affine_map<(b, h, i, j) -> (h, j)>)
      config <tile_m = 64, tile_n = 32, work = grid> captures(%w : tensor<?x?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?x?xf32>):
        attn.yield %x, %x : f32, f32
      } : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %r : tensor<?x?x?xf32>
}

// At each pair, summed over batches: all keys of the capture are visited under the mask, for each block batch after batch, and the sum of
// the last one is stored.
// CHECK-LABEL: tile.kernel @pairs args
// CHECK-SAME: "bias" capture, "dbias" capture_gradient write ("bias_d0", "bias_d1", "bias_d2", "bias_d3")]
// CHECK-SAME: problem <kind = bwd_pairs,
// CHECK-SAME: expr = #launch.apply<eq(bias_d0, 1)>, message = "expected dimension 0 of dbias to be 1, got {bias_d0}"}, {equals = 1 : i64, expr = #launch.apply<eq(bias_d1, hq)>, message = "expected dimension 1 of dbias to be the number of query heads, {hq}, got {bias_d1}"}
// CHECK: ^bb0({{.*}}%[[GRADIENT:[^:]*]]: tensor<1x?x?x?xbf16>):
// CHECK: tile.next_work extents(%{{.*}}, %{{.*}}, %c1_i32
// CHECK: tile.for ranges <down [masked]>
// CHECK: tile.step @ld_q
// CHECK: tile.step @add
// CHECK: tile.accumulate
// CHECK: tile.step @st
// CHECK: tile.scatter %{{.*}}, %[[GRADIENT]][
func.func @pairs(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %do: tensor<?x?x?x64xbf16>,
    %lse2: tensor<?x?x?xf32>, %delta: tensor<?x?x?xf32>, %scale: f32, %w: tensor<1x?x?x?xbf16> {attn.name = "bias"}) -> tensor<1x?x?x?xbf16> {
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_top_left) layout(bshd)
      gradients(pairs of 0 at affine_map<(b, h, i, j) -> (0, h, i, j)>)
      config <tile_m = 64, tile_n = 32, work = grid> captures(%w : tensor<1x?x?x?xbf16>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<1x?x?x?xbf16>):
        attn.yield %x, %x : f32, f32
      } : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %r : tensor<1x?x?x?xbf16>
}

// Added to any elements: as for sums over keys, but each derivative is added at the indices that the region yields.
// CHECK-LABEL: tile.kernel @elements args
// CHECK-SAME: "bias" capture, "dbias" capture_gradient accumulate ("bias_d0", "bias_d1")]
// CHECK-SAME: problem <kind = bwd_elements,
// CHECK: ^bb0({{.*}}%[[GRADIENT:[^:]*]]: tensor<?x?xf32>):
// CHECK: tile.for ranges <down [masked at_most 1, full]> {{.*}} : () -> ()
// CHECK: tile.step @st
// CHECK: %[[DISTANCES:.*]] = arith.subi {{.*}} : tensor<64x32xi32>
// CHECK: %[[HEADS:.*]] = tensor.splat {{.*}} : tensor<64x32xi32>
// CHECK-NEXT: tile.scatter %{{.*}}, %[[GRADIENT]] add[%[[HEADS]], %[[DISTANCES]] :
func.func @elements(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %do: tensor<?x?x?x64xbf16>,
    %lse2: tensor<?x?x?xf32>, %delta: tensor<?x?x?xf32>, %scale: f32, %w: tensor<?x?xf32> {attn.name = "bias"}) -> tensor<?x?xf32> {
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(elements of 0)
      config <tile_m = 64, tile_n = 32, work = grid> captures(%w : tensor<?x?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?x?xf32>):
        %distance = arith.subi %j, %i : i32
        attn.yield %x, %x, %h, %distance : f32, f32, i32, i32
      } : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %r : tensor<?x?xf32>
}

// -----

// dQ as sums, and dK. P is multiplied by the slope where it is made, so that the slope is not kept.

// CHECK: tile.kernel @sums_dk args [{{.*}}"dqs" query_gradient_sums accumulate ("b", "hq", "sr", "sc"), "dk" key_gradient write (
// CHECK-SAME: problem <kind = bwd_dq_dk,
// CHECK: tile.step @score
// CHECK: %[[P:.*]]:2 = tile.step @exp
// CHECK: %[[EXP:.*]] = math.exp2
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[EXP]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[EXP]]
// CHECK: %[[PG:.*]] = arith.select %[[NONE]], %{{.*}}, %[[SCALED]]
// CHECK: tile.yield %[[EXP]], %[[PG]]
// CHECK-NOT: tile.step @mm_dv
// CHECK: tile.step @dsoft(%[[P]]#1,
// CHECK: tile.step @mm_dk
// CHECK: tile.step @put_ds
// CHECK: tile.step @mm_dq
// CHECK: tile.step @red_dq
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
!s = tensor<?x?x?x64xf32>
func.func @sums_dk(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: !s, %scale: f32, %c: f32) -> (!s, !t) {
  %r, %dk = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : !s) scale(%scale) mask(none) layout(bshd)
      gradients(sums_dk) config <tile_m = 128, tile_n = 64, work = grid> captures(%c : f32)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %factor: f32):
        %z = arith.mulf %x, %factor : f32
        attn.yield %z, %factor : f32, f32
      } : (!t, !t, !t, !t, !l)
  return %r, %dk : !s, !t
}

// -----

// Shares of 80 queries are transposed: their rows are columns of K.

// CHECK: tile.kernel @transposed
// CHECK-SAME: message = "expected full blocks of 80 rows of sums, got {sr} rows"
// CHECK: %[[DS:.*]] = tile.step @put_ds
// CHECK: tile.step @mm_dqt(%[[DS]], %{{.*}}) : (tensor<128x80xbf16>, tensor<128x64xbf16>) -> tensor<64x80xf32>
// CHECK-NEXT: ^bb0(%[[B:.*]]: tensor<128x80xbf16>, %[[A:.*]]: tensor<128x64xbf16>):
// CHECK-NEXT: tile.mma %[[A]], %[[B]] transpose_a : tensor<128x64xbf16>, tensor<128x80xbf16> -> tensor<64x80xf32>
// CHECK: tile.step @put_dqt
// CHECK: tile.reduce_add {{.*}} grouped transposed : tensor<64x80xf32>, tensor<?x?x?x64xf32>
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
!s = tensor<?x?x?x64xf32>
func.func @transposed(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: !s, %scale: f32) -> (!s, !t, !t) {
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : !s) scale(%scale) mask(none) layout(bshd)
      gradients(sums) transposed(80) config <tile_m = 128, tile_n = 80, work = grid, share_rows = columns> : (!t, !t, !t, !t, !l)
  return %r#0, %r#1, %r#2 : !s, !t, !t
}

// With 128 queries a launch still needs whole blocks of them, not of 64.
// CHECK: tile.kernel @transposed_128
// CHECK-SAME: message = "expected full blocks of 128 rows of sums, got {sr} rows"
func.func @transposed_128(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: !s, %scale: f32) -> (!s, !t, !t) {
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : !s) scale(%scale) mask(none) layout(bshd)
      gradients(sums) transposed(128) config <tile_m = 128, tile_n = 128, work = grid, share_rows = columns> : (!t, !t, !t, !t, !l)
  return %r#0, %r#1, %r#2 : !s, !t, !t
}

// -----

// The queries that may see groups of keys: of documents given by equal numbers, those whose number is between the least and the most of the keys'.
// The rest of the function is not evaluated.

// CHECK: tile.kernel @seeing args ["q" query ("b", "sq", "hq", "d"), "k" key ("b", "sk", "hk", "d"), "ids" capture, "seeing" seeing_queries write]
// CHECK-SAME: problem <kind = bwd_seeing,
// CHECK: tile.step @hull
// CHECK: %[[IDS:.*]] = tile.gather %{{.*}} -> tensor<64x128xi32>
// CHECK: %[[NUMBERS:.*]] = arith.sitofp %[[IDS]]
// CHECK: tile.reduce max %{{.*}} dim 1
// CHECK: tile.reduce max %[[NUMBERS]] dim 1
// CHECK: tile.for ranges <down [full]>
// CHECK: tile.step @see
// CHECK: tile.gather %{{.*}} -> tensor<64x64xi32>
// CHECK: arith.cmpf oge
// CHECK: arith.cmpf ole
// CHECK-NOT: arith.cmpi ne
// CHECK: tile.reduce max
// CHECK: tile.step @st
// CHECK: tile.scatter
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @seeing(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %ids: tensor<?xi32> {attn.name = "ids"}) -> tensor<?x16x?xf32> {
  %seeing = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(seeing)
      config <tile_m = 64, tile_n = 64, work = grid> captures(%ids : tensor<?xi32>)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %id_of: tensor<?xi32>):
        %query = arith.index_cast %i : i32 to index
        %key = arith.index_cast %j : i32 to index
        %one = tensor.extract %id_of[%query] : tensor<?xi32>
        %other = tensor.extract %id_of[%key] : tensor<?xi32>
        %same = arith.cmpi eq, %other, %one : i32
        %odd = arith.cmpi ne, %i, %j : i32
        %both = arith.andi %odd, %same : i1
        attn.yield %both : i1
      } : (!t, !t, !t, !t, !l)
  return %seeing : tensor<?x16x?xf32>
}

// -----

// If the region is the equality alone, also a run of blocks whose queries all have the number of all of these keys. As floats, numbers from 2^24 on are equal to others.

// CHECK: tile.kernel @sees_all
// CHECK: tile.for ranges <down [full]> {{.*}} -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
// CHECK: tile.step @see
// CHECK: %[[IS_INSIDE:.*]] = arith.cmpi slt
// CHECK: %[[HULL:.*]] = arith.andi %{{.*}}, %{{.*}} : tensor<64x64xi1>
// CHECK: %[[EQUAL:.*]] = arith.andi %[[IS_INSIDE]], %[[HULL]]
// CHECK: %[[OTHER:.*]] = arith.select %[[EQUAL]]
// CHECK: %[[OTHERS:.*]] = tile.reduce max %[[OTHER]] dim 1
// CHECK: %[[IS_ONE:.*]] = arith.cmpf oeq, %[[LEAST:.*]], %[[MOST:.*]] : tensor<64xf32>
// CHECK: arith.constant dense<0xCB800000> : tensor<64xf32>
// CHECK: arith.cmpf ogt, %[[LEAST]],
// CHECK: arith.constant dense<0x4B800000> : tensor<64xf32>
// CHECK: arith.cmpf olt, %[[MOST]],
// CHECK: arith.cmpf oeq, %[[OTHERS]],
// CHECK: tile.step @st
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @sees_all(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %ids: tensor<?xi32>) -> tensor<?x16x?xf32> {
  %seeing = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(seeing)
      config <tile_m = 64, tile_n = 64, work = grid> captures(%ids : tensor<?xi32>)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %id_of: tensor<?xi32>):
        %query = arith.index_cast %i : i32 to index
        %key = arith.index_cast %j : i32 to index
        %one = tensor.extract %id_of[%query] : tensor<?xi32>
        %other = tensor.extract %id_of[%key] : tensor<?xi32>
        %same = arith.cmpi eq, %other, %one : i32
        attn.yield %same : i1
      } : (!t, !t, !t, !t, !l)
  return %seeing : tensor<?x16x?xf32>
}

// -----

// Those of documents given by their starts: the keys of a query are an interval.

// CHECK: tile.kernel @seeing_rows
// CHECK: tile.step @see
// CHECK: tile.gather %{{.*}} -> tensor<64x64xi32>
// CHECK: arith.cmpi sle
// CHECK: arith.cmpi sgt
// CHECK: tile.reduce max
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @seeing_rows(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %starts: tensor<?xi32>) -> tensor<?x16x?xf32> {
  %seeing = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(seeing)
      config <tile_m = 64, tile_n = 64, work = grid> captures(%starts : tensor<?xi32>)
      row_keys {
      ^bb0(%b: i32, %h: i32, %i: i32, %start_of: tensor<?xi32>):
        %at = arith.index_cast %i : i32 to index
        %start = tensor.extract %start_of[%at] : tensor<?xi32>
        %one = arith.constant 1 : i32
        %end = arith.addi %i, %one : i32
        attn.yield %start, %end : i32, i32
      } : (!t, !t, !t, !t, !l)
  return %seeing : tensor<?x16x?xf32>
}

// -----

// A kernel that owns keys drops the blocks outside of them. A tile of 128 keys is one group; of 4 shares of the queries it takes the least and the most block.

// CHECK: tile.kernel @seen args [{{.*}}"seeing" seeing_queries,
// CHECK: tile.bounds
// CHECK-COUNT-8: tile.gather %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32] : tensor<?x16x?xf32> -> f32
// CHECK: tile.yield
// CHECK: tile.for ranges <down [masked]>
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @seen(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %seeing: tensor<?x16x?xf32>, %scale: f32) -> (!t, !t) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta seeing(%seeing : tensor<?x16x?xf32>) scale(%scale) mask(none) layout(bshd)
      gradients(dk_dv) config <tile_m = 128, tile_n = 64, work = grid>
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
        %odd = arith.cmpi ne, %i, %j : i32
        attn.yield %odd : i1
      } : (!t, !t, !t, !t, !l)
  return %dk, %dv : !t, !t
}

// -----

// If the region is an equality alone, blocks of the longest run of a share need no mask; below a causal diagonal neither. Blocks of keys that touch several groups are
// all masked.

// CHECK: tile.kernel @known
// CHECK: tile.bounds
// CHECK-COUNT-16: tile.gather %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32] : tensor<?x16x?xf32> -> f32
// CHECK: tile.yield
// CHECK: tile.for ranges <down [masked, full, masked]>
// CHECK: tile.kernel @of_groups
// CHECK-COUNT-24: tile.gather %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32] : tensor<?x16x?xf32> -> f32
// CHECK-NOT: tensor<?x16x?xf32> -> f32
// CHECK: tile.for ranges <down [masked, full, masked]>
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @known(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %seeing: tensor<?x16x?xf32>, %scale: f32, %ids: tensor<?xi32>) -> (!t, !t) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta seeing(%seeing : tensor<?x16x?xf32>) scale(%scale) mask(causal_top_left) layout(bshd)
      gradients(dk_dv) config <tile_m = 128, tile_n = 64, work = grid> captures(%ids : tensor<?xi32>)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %id_of: tensor<?xi32>):
        %query = arith.index_cast %i : i32 to index
        %one = tensor.extract %id_of[%query] : tensor<?xi32>
        %same = arith.cmpi eq, %j, %one : i32
        attn.yield %same : i1
      } : (!t, !t, !t, !t, !l)
  return %dk, %dv : !t, !t
}
func.func @of_groups(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %seeing: tensor<?x16x?xf32>, %scale: f32, %ids: tensor<?xi32>) -> (!t, !t) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta seeing(%seeing : tensor<?x16x?xf32>) scale(%scale) mask(causal_top_left) layout(bshd)
      gradients(dk_dv) config <tile_m = 192, tile_n = 64, work = grid> captures(%ids : tensor<?xi32>)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %id_of: tensor<?xi32>):
        %query = arith.index_cast %i : i32 to index
        %one = tensor.extract %id_of[%query] : tensor<?xi32>
        %same = arith.cmpi eq, %j, %one : i32
        attn.yield %same : i1
      } : (!t, !t, !t, !t, !l)
  return %dk, %dv : !t, !t
}

// -----

// Without a block that is masked all over, it has its own bounds.

// CHECK: tile.kernel @unmasked
// CHECK-NOT: tile.gather
// CHECK: tile.for ranges <down [full, masked]>
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @unmasked(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %seeing: tensor<?x16x?xf32>, %scale: f32) -> (!t, !t) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta seeing(%seeing : tensor<?x16x?xf32>) scale(%scale) mask(causal_top_left) layout(bshd)
      gradients(dk_dv) config <tile_m = 128, tile_n = 64, work = grid> : (!t, !t, !t, !t, !l)
  return %dk, %dv : !t, !t
}
