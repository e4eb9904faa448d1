// Round trips of attn.attention: text, generic text, bytecode.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

!qkv = tensor<?x?x?x128xbf16>
!lse = tensor<?x?x?xf32>

// CHECK-LABEL: func.func @attention_dynamic(
// CHECK-SAME: %[[Q:.*]]: tensor<?x?x?x128xbf16>, %[[K:.*]]: tensor<?x?x?x128xbf16>, %[[V:.*]]: tensor<?x?x?x128xbf16>, %[[SCALE:.*]]: f32)
// CHECK: %{{.*}}, %{{.*}} = attn.attention %[[Q]], %[[K]], %[[V]] scale(%[[SCALE]]) mask(causal_bottom_right) layout(bshd) : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
func.func @attention_dynamic(%q: !qkv, %k: !qkv, %v: !qkv, %scale: f32) -> (!qkv, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      : (!qkv, !qkv, !qkv) -> (!qkv, !lse)
  return %o, %lse : !qkv, !lse
}

// Static sizes: 8 query heads read 2 key heads; keys are longer than queries.
// CHECK-LABEL: func.func @attention_static
// CHECK: mask(causal_top_left) layout(bshd) : (tensor<2x100x8x64xbf16>, tensor<2x300x2x64xbf16>, tensor<2x300x2x64xbf16>) -> (tensor<2x100x8x64xbf16>, tensor<2x8x100xf32>)
func.func @attention_static(%q: tensor<2x100x8x64xbf16>, %k: tensor<2x300x2x64xbf16>,
                            %v: tensor<2x300x2x64xbf16>, %scale: f32)
    -> (tensor<2x100x8x64xbf16>, tensor<2x8x100xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_top_left) layout(bshd)
      : (tensor<2x100x8x64xbf16>, tensor<2x300x2x64xbf16>, tensor<2x300x2x64xbf16>)
        -> (tensor<2x100x8x64xbf16>, tensor<2x8x100xf32>)
  return %o, %lse : tensor<2x100x8x64xbf16>, tensor<2x8x100xf32>
}

// The head dim of V may differ: 192 and 128.
// CHECK-LABEL: func.func @attention_head_dim_v
// CHECK: mask(none) layout(bshd) : (tensor<?x?x?x192xbf16>, tensor<?x?x?x192xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
func.func @attention_head_dim_v(%q: tensor<?x?x?x192xbf16>, %k: tensor<?x?x?x192xbf16>,
                                %v: !qkv, %scale: f32) -> (!qkv, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<?x?x?x192xbf16>, tensor<?x?x?x192xbf16>, !qkv) -> (!qkv, !lse)
  return %o, %lse : !qkv, !lse
}

// CHECK-LABEL: func.func @attention_config
// CHECK: layout(bshd) config <tile_m = 128, tile_n = 96, work = static, order = longest_first> : (
func.func @attention_config(%q: !qkv, %k: !qkv, %v: !qkv, %scale: f32) -> (!qkv, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 96, work = static, order = longest_first>
      : (!qkv, !qkv, !qkv) -> (!qkv, !lse)
  return %o, %lse : !qkv, !lse
}

// Both regions; captures of a scalar and of tensors.
// CHECK-LABEL: func.func @attention_regions(
// CHECK-SAME: %[[CAP:[^:]*]]: f32, %[[IDS:[^:]*]]: tensor<?x?xi32>)
// CHECK: captures(%[[CAP]], %[[IDS]] : f32, tensor<?x?xi32>) score_region {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %[[C:.*]]: f32, %{{.*}}: tensor<?x?xi32>):
// CHECK-NEXT:   %[[X:.*]] = arith.divf %[[S]], %[[C]] : f32
// CHECK-NEXT:   %[[T:.*]] = math.tanh %[[X]] : f32
// CHECK-NEXT:   %[[R:.*]] = arith.mulf %[[T]], %[[C]] : f32
// CHECK-NEXT:   attn.yield %[[R]] : f32
// CHECK-NEXT: } mask_region {
// CHECK-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %[[I:.*]]: i32, %[[J:.*]]: i32, %{{.*}}: f32, %{{.*}}: tensor<?x?xi32>):
// CHECK-NEXT:   %[[OK:.*]] = arith.cmpi sle, %[[J]], %[[I]] : i32
// CHECK-NEXT:   attn.yield %[[OK]] : i1
// CHECK-NEXT: } : (
func.func @attention_regions(%q: !qkv, %k: !qkv, %v: !qkv, %scale: f32, %cap: f32,
                             %ids: tensor<?x?xi32>) -> (!qkv, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%cap, %ids : f32, tensor<?x?xi32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %c: f32, %id: tensor<?x?xi32>):
        %x = arith.divf %s, %c : f32
        %t = math.tanh %x : f32
        %r = arith.mulf %t, %c : f32
        attn.yield %r : f32
      }
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %c: f32, %id: tensor<?x?xi32>):
        %ok = arith.cmpi sle, %j, %i : i32
        attn.yield %ok : i1
      } : (!qkv, !qkv, !qkv) -> (!qkv, !lse)
  return %o, %lse : !qkv, !lse
}

// Every op that regions may use.
// CHECK-LABEL: func.func @attention_c12_allow_list
func.func @attention_c12_allow_list(%q: !qkv, %k: !qkv, %v: !qkv, %scale: f32,
                                    %t: tensor<?xf32>) -> (!qkv, !lse) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%t : tensor<?xf32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %c: tensor<?xf32>):
        %i0 = arith.constant 3 : i32
        %i1 = arith.addi %i, %i0 : i32
        %i2 = arith.subi %i1, %j : i32
        %i3 = arith.muli %i2, %b : i32
        %i4 = arith.divsi %i3, %i0 : i32
        %i5 = arith.remsi %i4, %i0 : i32
        %i6 = arith.andi %i5, %i0 : i32
        %i7 = arith.ori %i6, %i0 : i32
        %i8 = arith.xori %i7, %i0 : i32
        %i9 = arith.shli %i8, %i0 : i32
        %i10 = arith.shrsi %i9, %i0 : i32
        %i11 = arith.maxsi %i10, %i0 : i32
        %i12 = arith.minsi %i11, %i0 : i32
        %p0 = arith.cmpi slt, %i12, %i0 : i32
        %x0 = arith.index_cast %i12 : i32 to index
        %f0 = tensor.extract %c[%x0] : tensor<?xf32>
        %f1 = arith.sitofp %i12 : i32 to f32
        %f2 = arith.addf %f0, %f1 : f32
        %f3 = arith.subf %f2, %f1 : f32
        %f4 = arith.mulf %f3, %f1 : f32
        %f5 = arith.divf %f4, %f1 : f32
        %f6 = arith.negf %f5 : f32
        %f7 = arith.maximumf %f6, %f1 : f32
        %f8 = arith.minimumf %f7, %f1 : f32
        %f9 = arith.maxnumf %f8, %f1 : f32
        %f10 = arith.minnumf %f9, %f1 : f32
        %p1 = arith.cmpf olt, %f10, %f1 : f32
        %f11 = arith.select %p0, %f10, %f1 : f32
        %f12 = math.absf %f11 : f32
        %f13 = math.exp %f12 : f32
        %f14 = math.exp2 %f13 : f32
        %f15 = math.log %f14 : f32
        %f16 = math.log2 %f15 : f32
        %f17 = math.sqrt %f16 : f32
        %f18 = math.rsqrt %f17 : f32
        %f19 = math.tanh %f18 : f32
        %f20 = math.fma %f19, %s, %f1 : f32
        // CHECK: attn.yield
        attn.yield %f20 : f32
      } : (!qkv, !qkv, !qkv) -> (!qkv, !lse)
  return %o, %lse : !qkv, !lse
}

// f16, heads before positions, and a window of two bounds.
// CHECK-LABEL: func.func @window
// CHECK: attn.attention %{{.*}}, %{{.*}}, %{{.*}} scale(%{{.*}}) mask(window_bottom_right) layout(bhsd) window_left(%[[L:.*]]) window_right(%[[R:.*]]) : (
func.func @window(%q: tensor<?x?x?x72xf16>, %scale: f32, %l: i32, %r: i32) -> (tensor<?x?x?x72xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(window_bottom_right) layout(bhsd) window_left(%l) window_right(%r)
      : (tensor<?x?x?x72xf16>, tensor<?x?x?x72xf16>, tensor<?x?x?x72xf16>) -> (tensor<?x?x?x72xf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x72xf16>, tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @window_of_causal
// CHECK: mask(causal_top_left) layout(bshd) window_left(%{{.*}}) : (
func.func @window_of_causal(%q: tensor<?x?x?x64xf16>, %scale: f32, %l: i32) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(causal_top_left) layout(bshd) window_left(%l)
      : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @dropout_and_sinks(
// CHECK: attn.attention {{.*}} layout(bshd) window_left(%{{.*}}) dropout(%[[RATE:.*]], %[[STATE:.*]]) sinks(%{{.*}} : tensor<?xf32>) captures(
func.func @dropout_and_sinks(%q: tensor<?x?x?x128xbf16>, %scale: f32, %w: i32, %rate: f32, %state: tensor<2xi64>,
    %sinks: tensor<?xf32>, %c: f32) -> tensor<?x?x?xf32> {
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(causal_top_left) layout(bshd) window_left(%w) dropout(%rate, %state)
      sinks(%sinks : tensor<?xf32>) captures(%c : f32)
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %lse : tensor<?x?x?xf32>
}
