// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTENTIONOP_TD
#define ATTN_DIALECT_ATTENTIONOP_TD

include "attn/dialect/ScheduleAttrs.td"
include "attn/dialect/ScoreOpInterface.td"
include "attn/dialect/VariantAttrs.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Attn_Tensor : Type<
    And<[RankedTensorOf<[BF16, F16]>.predicate, HasAnyRankOfPred<[4]>]>,
    "rank-4 tensor of bf16 or f16, the supported element types", "::mlir::RankedTensorType">;
def Attn_LseTensor : Type<
    And<[RankedTensorOf<[F32]>.predicate, HasAnyRankOfPred<[3]>]>,
    "rank-3 tensor of f32", "::mlir::RankedTensorType">;
def Attn_SumsTensor : Type<
    And<[RankedTensorOf<[F32]>.predicate, HasAnyRankOfPred<[4]>]>,
    "rank-4 tensor of f32", "::mlir::RankedTensorType">;
def Attn_TurnsTensor : Type<
    And<[RankedTensorOf<[I32]>.predicate, HasAnyRankOfPred<[3]>]>,
    "rank-3 tensor of i32", "::mlir::RankedTensorType">;
def Attn_CaptureTensor : Type<
    And<[RankedTensorOf<[F16, BF16, F32, F64, I1, I8, UI8, I16, I32, I64]>.predicate,
         HasAnyRankOfPred<[1, 2, 3, 4]>]>,
    "tensor that a region can read">;
def Attn_Capture : Type<
    Or<[F32.predicate, I32.predicate, I64.predicate, Attn_CaptureTensor.predicate]>,
    "f32, i32, i64 or a tensor of rank 1 to 4 of f16, bf16, f32, f64, i1, i8, ui8, i16, i32 or i64">;

def Attn_DropoutState : Type<
    CPred<"$_self == ::mlir::RankedTensorType::get({2}, ::mlir::IntegerType::get($_self.getContext(), 64))">,
    "tensor<2xi64>", "::mlir::RankedTensorType">,
    BuildableType<"::mlir::RankedTensorType::get({2}, $_builder.getI64Type())">;
def Attn_Sinks : Type<
    And<[RankedTensorOf<[F32]>.predicate, HasAnyRankOfPred<[1]>]>,
    "rank-1 tensor of f32", "::mlir::RankedTensorType">;

def Attn_AttentionOp : Op<Attn_Dialect, "attention",
    [Pure, IsolatedFromAbove, AttrSizedOperandSegments]> {
  let summary = "attention: softmax(mask(score(scale * Q K^T))) V, and its LSE";
  let description = !strconcat([{
    For every batch b, query head h and query position i, with the scores

        s[j] = score(scale * sum_c Q[b, i, h, c] * K[b, j, h / group, c], b, h, i, j)

    over the keys j that the built-in mask and the mask region both admit:

        O[b, i, h, :] = sum_j softmax(s)[j] * V[b, j, h / group, :]
        LSE[b, h, i]  = log(sum_j exp(s[j]))

    where group = query heads / key heads. The order is scale, score, mask,
    softmax, dropout.

    With `dropout(rate, state)`, each weight softmax(s)[j] of O is dropped, or kept and divided by the
    probability with which it is kept. The LSE includes the dropped keys. Whether a pair is kept is a function of the state, b, h, i and j:

        drop     = round(rate * 2^16)
        w0..w3   = Philox4x32-10(counter = (state[1] low, state[1] high, h, b), key = (state[0] low, state[0] high))
        u0, u1   = Philox2x32-7(counter = (j' xor w0, i' xor w1), key = w2)
        r(i, j)  = the low half of u if bit 3 of i is 0, otherwise the high half, where u is
                   u0 if bit 3 of j is 0, otherwise u1
        kept     = r(i, j) >= drop
        weight   = softmax(s)[j] * 2^16 / (2^16 - drop) if kept, otherwise 0

    where i' and j' are i and j with bit 3 cleared. If `drop` is 2^16, all weights are 0.

    With `sinks`, each query head has one more score, which belongs to no key and no value: the sum in the softmax and the
    LSE include exp(sinks[h]). A row without keys then has O = 0 and LSE = sinks[h].

    **Operands**
    - `query` (B, Sq, Hq, D), `key` (B, Sk, Hk, D), `value` (B, Sk, Hk, Dv): bf16
      or f16, in layout `bshd`; positions come after heads in layout `bhsd`
    - `scale`: f32, positive at run time
    - `bounds`: i32, the bounds of the mask, given at launch, each at most once and in the order
      of the table below: `window_left(%x) window_right(%y)`. `bound_kinds` lists their kinds
    - `dropout_rate`: f32, from 0 to 1; `dropout_state`: the seed and the offset of the random numbers
    - `sinks` (Hq): f32, not NaN and below infinity; minus infinity is no sink
    - `captures`: scalars and tensors that the regions read

    **Masks** With the diagonal d(i) = i for `top_left` and i + Sk - Sq for `bottom_right`,
    query i sees the keys:

    | mask | keys j that query i sees | bounds |
    |---|---|---|
}], Attn_MaskRows, [{
    | bound | at least | meaning |
    |---|---|---|
}], Attn_BoundRows, [{
    **Regions** `score_region` takes (s, b, h, i, j, captures...) and yields the
    new score. `mask_region` takes (b, h, i, j, captures...) and yields whether
    query i may see key j. i is the query position, j the key position, h the
    query head.

    `row_keys` takes (b, h, i, captures...) and yields two i32, the first key that query i may
    see, and the end: the key after the last one. A third i32 is the end of a prefix: query i
    sees the keys before it too. Positions below 0 or after the last key are ignored. If the
    end is not after the first key, there are no keys between them. Kernels skip the blocks of keys that
    no query of a tile may see, and compare no positions in blocks that all of them see. They read the numbers of
    all rows of a tile, unless the compiler proves that no number decreases when i grows; with a prefix this proof is required.
    `attn-infer-mask` derives `row_keys` from mask regions.

    Captured tensors are read in their own element type; the ops of the region choose the
    types of the arithmetic. An i1 is a byte in memory, and true unless the byte is 0. A ui8
    is an i8 in a region: the ops say what is unsigned. f16 and bf16 may be read, selected,
    compared, extended to f32, and rounded to from f32; arithmetic is on f32 and f64, and
    approximations (`math.exp` and the like) on f32 only.

    All integer arithmetic is defined. It wraps. A shift by the width or more, or by a
    negative count, shifts all bits out: `arith.shli` and `arith.shrui` return 0, and
    `arith.shrsi` the sign. A division by 0 acts like a division by 1, and so does the
    division of the lowest number by -1. A `tensor.extract` with an index out of bounds, or
    beyond i32, reads 0. `arith.fptosi` and `arith.fptoui` of a float that the integer type
    cannot represent return an unspecified number.

    **Constraints**
    - C1: `query`, `key`, `value` and `out` have rank 4 and element type bf16 or f16
    - C2: head dims are static, multiples of 8, from 8 to 256
    - C3: `key` has the head dim of `query`
    - C4: `key` and `value` have the batch size of `query`
    - C5: `value` has the seqlen and the heads of `key`
    - C6: the heads of `query` are a multiple of those of `key`
    - C7: `out` is (B, Sq, Hq, Dv)
    - C8: `lse` is f32 of shape (B, Hq, Sq)
    - C9: the score region is one block with arguments (f32, i32, i32, i32, i32,
      captures...) and yields one f32
    - C10: the mask region is one block with arguments (i32, i32, i32, i32,
      captures...) and yields one i1
    - C11: captures are scalars of f32, i32 or i64, or tensors of rank 1 to 4 of f16,
      bf16, f32, f64, i1, i8, ui8, i16, i32 or i64
    - C12: the ops of a region implement `ScoreOpInterface`
    - C13: a region uses no value from outside
    - C14: values computed in a region are f16, bf16, f32, f64, i1, i8, i16, i32, i64
      or index
    - C15: an index is computed as an i32: index constants fit i32, and i1 is not cast to index
    - C16: `key`, `value` and `out` have the element type of `query`
    - C17: a mask has all bounds that it needs, and none that it does not allow
    - C18: an op with a `variant` has a `config`
    - C19: f16 and bf16 values are read, constant, selected, or rounded from f32 to nearest
      even; `math` ops other than `absf`, `fma` and `sqrt` are on f32
    - C20: `row_keys` is one block with arguments (i32, i32, i32, captures...)
      and yields two i32, or three
    - C21: an op with `row_keys` has the mask `none`
    - C22: `dropout_rate` and `dropout_state` occur together
    - C23: `sinks` has an element for each query head

    C2 to C8 and C23 compare static sizes only; the others are checked at launch.

    **Numerics** Accumulation and softmax are f32; LSE is the natural logarithm.
    A row without an admissible key gives O = 0 and LSE = -inf. Before the division by
    their sum, the weights of the sum over V are up to 2^`rescale_threshold`, so that the sum
    may overflow although O would not. O is correct if |V| is below
    2^(128 - `rescale_threshold`) / Sk, which always holds for f16.

    **Effects** none.

    **Example**
    ```mlir
    %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
        captures(%slopes : tensor<?xf32>)
        score_region {
        ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %slope: tensor<?xf32>):
          %head = arith.index_cast %h : i32 to index
          %m = tensor.extract %slope[%head] : tensor<?xf32>
          %d = arith.subi %j, %i : i32
          %distance = arith.sitofp %d : i32 to f32
          %bias = arith.mulf %m, %distance : f32
          %r = arith.addf %s, %bias : f32
          attn.yield %r : f32
        } : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
          -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    ```
  }]);
  let arguments = (ins Attn_Tensor:$query, Attn_Tensor:$key, Attn_Tensor:$value, F32:$scale,
    Variadic<I32>:$bounds, Optional<F32>:$dropout_rate, Optional<Attn_DropoutState>:$dropout_state,
    Optional<Attn_Sinks>:$sinks, Variadic<Attn_Capture>:$captures, Attn_MaskKindAttr:$mask,
    Attn_LayoutKindAttr:$layout, DefaultValuedAttr<Attn_MaskBoundsAttr, "::attn::MaskBounds::None">:$bound_kinds,
    OptionalAttr<Attn_ConfigAttr>:$config, OptionalAttr<Attn_VariantAttr>:$variant);
  let results = (outs Attn_Tensor:$out, Attn_LseTensor:$lse);
  let regions = (region MaxSizedRegion<1>:$score_region, MaxSizedRegion<1>:$mask_region,
    MaxSizedRegion<1>:$row_keys);
  let assemblyFormat = [{
    $query `,` $key `,` $value `scale` `(` $scale `)` `mask` `(` custom<Mask>($mask) `)`
    `layout` `(` custom<Layout>($layout) `)` `` custom<Bounds>($bounds, $bound_kinds)
    (`dropout` `(` $dropout_rate^ `,` $dropout_state `)`)? (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`captures` `(` $captures^ `:` type($captures) `)`)? (`config` $config^)? (`variant` $variant^)?
    (`score_region` $score_region^)? (`mask_region` $mask_region^)? (`row_keys` $row_keys^)? attr-dict
    `:` `(` type($query) `,` type($key) `,` type($value) `)` `->` `(` type($out) `,` type($lse) `)`
  }];
  let hasRegionVerifier = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The problem of a forward kernel of this op.
    ::attn::ProblemAttr getProblem();
    int64_t getHeadDim() { return getQuery().getType().getDimSize(3); }
    int64_t getHeadDimV() { return getValue().getType().getDimSize(3); }
    /// The dimensions of Q, K, V and O that are positions and heads.
    unsigned getPositionDim() { return getLayout() == ::attn::LayoutKind::BSHD ? 1 : 2; }
    unsigned getHeadsDim() { return getLayout() == ::attn::LayoutKind::BSHD ? 2 : 1; }
    /// The value of a bound; null if the op does not have it.
    ::mlir::Value getBound(::attn::MaskBounds bound);
    bool hasDropout() { return bool(getDropoutRate()); }
    bool hasScoreRegion() { return !getScoreRegion().empty(); }
    bool hasMaskRegion() { return !getMaskRegion().empty(); }
    bool hasRowKeys() { return !getRowKeys().empty(); }
    bool hasRegions() { return hasScoreRegion() || hasMaskRegion() || hasRowKeys(); }
    /// Whether all rows of a work item need to have one head.
    bool needsHeadOfItem() { return hasRegions() || hasDropout() || bool(getSinks()); }
    /// Whether `row_keys` yields the end of a prefix.
    bool hasPrefix() { return ::attn::hasPrefix(getRowKeys()); }
    /// The sides on which `row_keys` bounds the keys: a first key that is the constant 0 is no
    /// bound, nor is an end that is the constant kItemLimit, which no length reaches.
    ::attn::RowKeys getRowKeysSides() { return ::attn::rowKeysSides(getRowKeys()); }
  }];
}

def Attn_YieldOp : Op<Attn_Dialect, "yield",
    [Pure, Terminator, ReturnLike, ParentOneOf<["AttentionOp", "AttentionBwdOp"]>]> {
  let summary = "returns the new score (and its derivative), whether query i may see key j, or the keys that it may see";
  let description = [{
    **Example**
    ```mlir
    %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
        mask_region {
        ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
          %distance = arith.subi %i, %j : i32
          %c256 = arith.constant 256 : i32
          %near = arith.cmpi slt, %distance, %c256 : i32
          attn.yield %near : i1
        } : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
          -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[F32, I1, I32]>>:$results);
  let assemblyFormat = "$results attr-dict `:` type($results)";
}

#endif // ATTN_DIALECT_ATTENTIONOP_TD
