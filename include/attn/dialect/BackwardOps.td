// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of the backward pass, which attn-differentiate makes.
#ifndef ATTN_DIALECT_BACKWARDOPS_TD
#define ATTN_DIALECT_BACKWARDOPS_TD

include "attn/dialect/AttentionOp.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Attn_DeltaOp : Op<Attn_Dialect, "delta", [Pure, AttrSizedResultSegments,
    AllTypesMatch<["out", "out_gradient"]>, AllTypesMatch<["lse", "lse_gradient"]>,
    AllTypesMatch<["delta", "lse2"]>]> {
  let summary = "the row statistics of a backward pass: sum(dO * O) - dLSE, and the LSE in base 2; and zeros for sums of dQ";
  let description = [{
    For every batch b, query head h and row i of the results:

        delta[b, h, i] = sum_c O[b, i, h, c] * dO[b, i, h, c] - dLSE[b, h, i]
        lse2[b, h, i]  = LSE[b, h, i] * log2(e)

    In a row without keys, whose LSE is -inf, and in rows after the last query, delta is 0
    and lse2 is +inf: exp2(score - lse2) is then 0, so such rows need no other rule.

    `sums` and `turns`, where there are such results, are zeros, as those of `attn.clear_sums`.

    **Operands**
    - `out` and `out_gradient` (B, Sq, Hq, Dv): O as the forward pass stored it, and its
      gradient, in the layout of `attn.attention`
    - `lse` (B, Hq, Sq): natural logarithm; `lse_gradient`: its gradient

    **Constraints**
    - C1: `out` and `out_gradient` have one type of rank 4 and element type bf16 or f16; their head dim
      is static, a multiple of 8 from 8 to 256
    - C2: `lse` is f32 of shape (B, Hq, Sq), and `lse_gradient` has its type
    - C3: `delta` and `lse2` are f32 of one shape (B, Hq, R), where R is at least Sq
    - C4: `sums` is f32 of shape (B, Hq, R, C), and C is as C1 of `attn.clear_sums` has it; `turns` is i32 of
      shape (B, Hq, R)

    C2 to C4 compare static sizes only; the others are checked at launch.

    **Numerics** Products and sums are f32.

    **Effects** none.

    **Example**
    ```mlir
    %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd)
        : (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %d, %l, %zeros = attn.delta %o, %do, %lse, %dlse layout(bshd)
        : (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32> sums tensor<?x?x?x128xf32>
    ```
  }];
  let arguments = (ins Attn_Tensor:$out, Attn_Tensor:$out_gradient, Attn_LseTensor:$lse,
    Attn_LseTensor:$lse_gradient, Attn_LayoutKindAttr:$layout, OptionalAttr<Attn_ConfigAttr>:$config);
  let results = (outs Attn_LseTensor:$delta, Attn_LseTensor:$lse2, Optional<Attn_SumsTensor>:$sums,
    Optional<Attn_TurnsTensor>:$turns);
  let assemblyFormat = [{
    $out `,` $out_gradient `,` $lse `,` $lse_gradient `layout` `(` custom<Layout>($layout) `)`
    (`config` $config^)? attr-dict `:` `(` type($out) `,` type($lse) `)` `->` type($delta) (`sums` type($sums)^)?
    (`turns` type($turns)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The problem of a kernel of this op.
    ::attn::ProblemAttr getProblem();
    int64_t getHeadDimV() { return getOut().getType().getDimSize(3); }
    /// The dimensions of O that are positions and heads.
    unsigned getPositionDim() { return getLayout() == ::attn::LayoutKind::BSHD ? 1 : 2; }
    unsigned getHeadsDim() { return getLayout() == ::attn::LayoutKind::BSHD ? 2 : 1; }
  }];
}

def Attn_AttentionBwdOp : Op<Attn_Dialect, "attention_bwd",
    [Pure, IsolatedFromAbove, AttrSizedOperandSegments, AllTypesMatch<["delta", "lse2"]>,
     InferTypeOpAdaptor, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the gradients of Q, K and V of an `attn.attention`";
  let description = [{
    With the scores x = scale * Q K^T of an `attn.attention`, z = score(x), and the derivative
    g = dz/dx, over the keys j that query i sees:

        P[i, j]  = exp2(z[i, j] * log2(e) - lse2[i])
        dP[i, j] = sum_c dO[i, c] * V[j, c]
        dX[i, j] = P[i, j] * (dP[i, j] - delta[i]) * g[i, j]
        dV[j] = sum_i P[i, j] * dO[i]
        dK[j] = scale * sum_i dX[i, j] * Q[i]
        dQ[i] = scale * sum_j dX[i, j] * K[j]

    With `dropout(rate, state)`, the O of the forward pass has weights P[i, j] * m[i, j], where m is 0 for a pair that is dropped, and otherwise
    one divided by the probability of being kept. Then dV has P * m in place of P, and dX has dP * m in place of dP.

    dK and dV of a head of K and V are sums over its group of query heads. Where P is 0, dX is 0, even if g is infinite or
    NaN.

    `gradients` says which of them the op computes: `all`, in the order dQ, dK, dV, which is the default; `dq`;
    `dk_dv`, dK and dV; `dk`; `dv`; or `sums`: like `all`, but the first result is `sums` + dQ / scale, in f32, for rows up to R;
    or `sums_dk`: the first two of these. With `new_sums` of so many columns, whose shares are blocks of so many queries, there are no `sums` before: the first result is
    dQ / scale in the rows of blocks of queries that see keys, and anything in other rows.

    With `gradients(seeing)` it computes no gradient but where the queries are that may see a key, as blocks of 64 queries: for
    share s of 4 equal shares of them, and keys 128 g to 128 g + 127 of batch b, element (b, s, g) of the result is minus the number of the first block in the share
    that may have such a query, and element (b, 4 + s, g) one more than that of the last. If there is none they are -2^26 and 0. Numbers from 2^23 on
    may be too small, or too large, by a few blocks: never so that a query is outside. All heads see the same keys. Where the mask region is an equality of a number
    of the query and one of the key, elements (b, 8 + s, g) and (b, 12 + s, g) are the first block of a run in the share whose queries all see all of these keys, as far
    as the region decides it, and one more than the last: of the last run of whole blocks. If there is none, or a number is 2^24 or more in magnitude, or the region is anything else, they are 0 and 0.

    With one of the following words it computes derivatives by a capture instead. The region then yields t in place of g:
    the derivative of z by the element that the pair reads of capture number `of`, or, without `of`, the derivative of z by
    the scale, times the scale. Over the pairs that the mask admits, with dC[i, j] = P[i, j] * (dP[i, j] - delta[i]) *
    t[i, j]:

    | word | result |
    |---|---|
    | `row_sums` | (B, Hq, Sq), f32: the sum of dC over the keys of a query |
    | `key_sums` | (B, Hk, Sk), f32: the sum of dC over the queries of a key, and over the group of query heads |
    | `pairs` | the gradient of the capture, in its type: element `at`(b, h, i, j) is the sum of dC over the batches and heads that `at` does not use; elements that no pair reads are 0 |
    | `elements` | the gradient of the capture, an f32: the dC of each pair is added to the element at the indices that the region yields. The result is the old element plus the dC of all pairs with its indices, added in any order |

    **Operands**
    - `query`, `key`, `value`, `scale`, `bounds`, `dropout_rate`, `dropout_state`, `captures`: those of `attn.attention`, as are the masks
    - `out_gradient` (B, Sq, Hq, Dv): dO
    - `lse2`, `delta` (B, Hq, R): the results of `attn.delta`
    - `sums` (B, Hq, R, D) and `turns` (B, Hq, R): the results of `attn.clear_sums`. With `transposed`, shares of so many
      queries are added in the order that `tile.load` has with `transposed` of so many, otherwise in the order `grouped`.
      Afterwards the turn of the first row of each block of queries that sees keys is not 0
    - `seeing` (B, 16, G): the result of `gradients(seeing)` with the same mask. Blocks of queries outside of it may be
      skipped, and the region may be left out in blocks of its runs

    **Regions** `score_region` takes (x, b, h, i, j, captures...) and yields the score z and
    the derivative g. `mask_region` and `row_keys` are those of `attn.attention`.

    **Constraints**
    - C1: `query`, `key`, `value` and `out_gradient` have rank 4 and one element type, bf16 or f16
    - C2: head dims are static, multiples of 8, from 8 to 256
    - C3: `key` has the head dim of `query`
    - C4: `key` and `value` have the batch size of `query`
    - C5: `value` has the seqlen and the heads of `key`
    - C6: the heads of `query` are a multiple of those of `key`
    - C7: `out_gradient` is (B, Sq, Hq, Dv)
    - C8: `lse2` and `delta` are f32 of one shape (B, Hq, R), where R is at least Sq
    - C9: the score region is one block with arguments (f32, i32, i32, i32, i32,
      captures...) and yields two f32, and beside `elements` an i32 for each dimension of the capture. There is one if
      the derivative is by a capture or the scale
    - C10: the gradients have the types of the tensors, and are those that `gradients` says; `sums` is given
      if and only if they are `sums_dk`, or `sums` without `new_sums`, which only they may have. The sums are f32 of shape (B, Hq, R, C), where C is a multiple of 16 from D to 256;
      `turns` only if they are `sums` and there is no `seeing`, with `new_sums` always, and is i32 of shape (B, Hq, R)
    - C11: masks, captures, `row_keys` and the ops of the regions obey C10 to C15, C17 and C19 to C21 of `attn.attention`
    - C12: `of` is the number of a capture, which is a tensor or number of f32, f16 or bf16, for `elements` a tensor of f32.
      `key_sums`, `pairs` and `elements` have it, `row_sums` may have it, and no other word has it
    - C13: `key_sums` and `pairs` have `at`, a map from (b, h, i, j) to the indices of the capture, a tensor: each is
      one of the four, at most once, or the constant 0. Those of `pairs` have i and j, those of `key_sums` j without i.
      No other word has `at`. Indices that a region yields do not depend on the score. `key_sums` at h needs as many heads of K as of Q, which is checked at launch
    - C14: `dropout_rate` and `dropout_state` occur together
    - C15: `transposed` only beside `sums` or `sums_dk`, a positive multiple of 16, and beside sums with a multiple of 64
      columns. It is then the `tile_n` of the config, and divides R, which is checked at launch. The queries of shares of `new_sums` are positive, and the `tile_n`, too
    - C16: `seeing` occurs only beside `dk_dv`, `dk`, `dv`, `sums` and `sums_dk`. Beside it, and with `gradients(seeing)`, neither the
      mask region nor `row_keys` reads the head

    C3 to C8 compare static sizes only; the others are checked at launch.

    **Numerics** Products accumulate in f32; P and dX are rounded to the element type before the
    products with dO, Q and K. The scale is applied to the sums. Without `turns` the order in which
    `sums` is summed differs from run to run; all other results have the same bits in each. With `turns` the shares of a block of
    queries are added in the order of their blocks of keys, so that `sums` has the same bits too.

    **Effects** none.

    **Example**
    ```mlir
    %dk1, %dv1 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_top_left) layout(bshd)
        gradients(dk_dv) config <tile_m = 128, tile_n = 64, work = grid>
        : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>,
           tensor<?x?x?xf32>)
    %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
        captures(%cap : f32)
        score_region {
        ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %c: f32):
          %ratio = arith.divf %x, %c : f32
          %t = math.tanh %ratio : f32
          %z = arith.mulf %t, %c : f32
          %one = arith.constant 1.0 : f32
          %square = arith.mulf %t, %t : f32
          %g = arith.subf %one, %square : f32
          attn.yield %z, %g : f32, f32
        } : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>,
             tensor<?x?x?xf32>)
    ```
  }];
  let arguments = (ins Attn_Tensor:$query, Attn_Tensor:$key, Attn_Tensor:$value, Attn_Tensor:$out_gradient,
    Attn_LseTensor:$lse2, Attn_LseTensor:$delta, Optional<Attn_SumsTensor>:$sums,
    Optional<Attn_TurnsTensor>:$turns, Optional<Attn_LseTensor>:$seeing, F32:$scale, Variadic<I32>:$bounds,
    Optional<F32>:$dropout_rate, Optional<Attn_DropoutState>:$dropout_state,
    Variadic<Attn_Capture>:$captures, Attn_MaskKindAttr:$mask, Attn_LayoutKindAttr:$layout,
    DefaultValuedAttr<Attn_MaskBoundsAttr, "::attn::MaskBounds::None">:$bound_kinds,
    DefaultValuedAttr<Attn_GradientsAttr, "::attn::Gradients::All">:$gradients, OptionalAttr<I64Attr>:$capture,
    OptionalAttr<AffineMapAttr>:$indices, OptionalAttr<I64Attr>:$transposed, OptionalAttr<I64Attr>:$new_sums,
    OptionalAttr<I64Attr>:$share_queries,
    OptionalAttr<Attn_ConfigAttr>:$config);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region MaxSizedRegion<1>:$score_region, MaxSizedRegion<1>:$mask_region,
    MaxSizedRegion<1>:$row_keys);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $out_gradient `,` $lse2 `,` $delta (`sums` `(` $sums^ `:` type($sums) `)`)?
    (`turns` `(` $turns^ `:` type($turns) `)`)? (`seeing` `(` $seeing^ `:` type($seeing) `)`)?
    `scale` `(` $scale `)`
    `mask` `(` custom<Mask>($mask) `)` `layout` `(` custom<Layout>($layout) `)` `` custom<Bounds>($bounds, $bound_kinds)
    `` custom<Gradients>($gradients, $capture, $indices) (`transposed` `(` $transposed^ `)`)? (`new_sums` `(` $new_sums^ `)` `of` $share_queries)?
    (`config` $config^)? (`dropout` `(` $dropout_rate^ `,` $dropout_state `)`)?
    (`captures` `(` $captures^ `:` type($captures) `)`)?
    (`score_region` $score_region^)? (`mask_region` $mask_region^)? (`row_keys` $row_keys^)? attr-dict
    `:` `(` type($query) `,` type($key) `,` type($value) `,` type($out_gradient) `,` type($lse2) `)`
  }];
  let hasRegionVerifier = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The problem of a kernel of this op.
    ::attn::ProblemAttr getProblem() { return getProblem(getGradients(), bool(getTurns())); }
    /// Returns the sums of dQ that it makes or adds to, or null.
    ::mlir::Value getSumsResult() { return makesSums() ? ::mlir::Value(getResult(0)) : ::mlir::Value(); }
    /// The problem of a kernel of these gradients, with one order of additions or not.
    ::attn::ProblemAttr getProblem(::attn::Gradients gradients, bool inTurns);
    /// The problem with the user's mask, of a kernel of this kind; null if no mask was inferred.
    ::attn::ProblemAttr getUserProblem(::attn::KernelKind kind);
    /// Whether it adds to sums of dQ.
    bool makesSums() { return getGradients() == ::attn::Gradients::Sums || getGradients() == ::attn::Gradients::SumsDK; }
    /// Whether it computes gradients of K or V, alone or beside sums of dQ.
    bool makesKeyGradients() {
      return makesSums() || (getGradients() >= ::attn::Gradients::DKDV && getGradients() <= ::attn::Gradients::DV);
    }
    /// Whether the mask depends on the query head.
    bool hasMaskOfHeads();
    int64_t getHeadDim() { return getQuery().getType().getDimSize(3); }
    int64_t getHeadDimV() { return getValue().getType().getDimSize(3); }
    /// The dimensions of Q, K, V and O that are positions and heads.
    unsigned getPositionDim() { return getLayout() == ::attn::LayoutKind::BSHD ? 1 : 2; }
    unsigned getHeadsDim() { return getLayout() == ::attn::LayoutKind::BSHD ? 2 : 1; }
    bool hasDropout() { return bool(getDropoutRate()); }
    bool hasScoreRegion() { return !getScoreRegion().empty(); }
    bool hasMaskRegion() { return !getMaskRegion().empty(); }
    bool hasRowKeys() { return !getRowKeys().empty(); }
    /// Whether `row_keys` yields the end of a prefix.
    bool hasPrefix() { return ::attn::hasPrefix(getRowKeys()); }
    /// The sides on which `row_keys` bounds the keys, as for `attn.attention`.
    ::attn::RowKeys getRowKeysSides() { return ::attn::rowKeysSides(getRowKeys()); }
    /// Returns dQ, dK or dV, or null if the op does not compute it.
    ::mlir::Value getGradient(::attn::Gradients which);
    /// Whether `kept_p` of its config may be other than f32.
    bool mayRoundP() { return getGradient(::attn::Gradients::DK) && !hasScoreRegion(); }
    /// Whether it computes derivatives by a capture or by the scale.
    bool isOfCapture() { return getGradients() >= ::attn::Gradients::RowSums && getGradients() <= ::attn::Gradients::Elements; }
  }];
}

def Attn_SumGradientOp : Op<Attn_Dialect, "sum_gradient", [Pure, AttrSizedOperandSegments,
    OptionalTypesMatchWith<"'lse2' has the type of 'sums'", "sums", "lse2", "$_self">,
    OptionalTypesMatchWith<"'sinks' have the type of their gradient", "gradient", "sinks", "$_self">]> {
  let summary = "the gradient of a capture, from sums over the keys of each query, or over the queries of each key; or that of sinks";
  let description = [{
    Element `at`(b, h, p) of the result is the sum of `sums` over the dimensions that `at` does not use, in one order,
    divided by `over` if there is one. An element to which `at` maps no (b, h, p) is 0.

    With `weights`, the result is the gradient of sinks, and `sums` is the delta of `attn.delta`: each element counts
    times -exp(min(sinks[h] - LSE[b, h, p], 0)). A sink is a score of each row, and its probability is that power; it has
    no value, so that the derivative by it is P (0 - delta). The LSE contains the sink: the difference is above 0 only if
    it is rounded.

    **Operands**
    - `sums` (B, H, P): f32
    - `divisor`: an f32, the scale where the result is its gradient
    - `lse2` (B, H, P): f32, of `attn.delta`; `sinks` (H): f32, of `attn.attention`

    **Constraints**
    - C1: `sums` is f32 and has rank 3
    - C2: `at` maps (b, h, p) to the indices of the result: each is one of the three, at most once, or
      the constant 0
    - C3: the result has rank 1 or more, and elements f32, f16 or bf16
    - C4: with `weights` there is no `divisor`, and `at` is (b, h, p) -> (h); `lse2` has the type of `sums`, and the
      result that of `sinks`

    **Numerics** Sums are f32, in the order of b, h and p; the result is rounded once.

    **Effects** none.

    **Example**
    ```mlir
    %dslopes = attn.sum_gradient %sums of "slopes" at affine_map<(b, h, p) -> (h)>
        : tensor<?x?x?xf32> -> tensor<?xf32>
    %dsinks = attn.sum_gradient %delta weights(%lse2, %sinks) of "sinks" at affine_map<(b, h, p) -> (h)>
        : tensor<?x?x?xf32> -> tensor<?xf32>
    ```
  }];
  let arguments = (ins Attn_LseTensor:$sums, Optional<F32>:$divisor, Optional<Attn_LseTensor>:$lse2, Optional<Attn_Sinks>:$sinks, StrAttr:$of, AffineMapAttr:$indices,
    OptionalAttr<Attn_ConfigAttr>:$config);
  let results = (outs RankedTensorOf<[F32, F16, BF16]>:$gradient);
  let assemblyFormat = [{
    $sums (`over` `(` $divisor^ `)`)? (`weights` `(` $lse2^ `,` $sinks `)`)? `of` $of `at` $indices (`config` $config^)? attr-dict `:` type($sums) `->` type($gradient)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The problem of a kernel of this op.
    ::attn::ProblemAttr getProblem();
  }];
}

def Attn_ClearSumsOp : Op<Attn_Dialect, "clear_sums", [Pure, AttrSizedResultSegments]> {
  let summary = "zeros, to which `attn.attention_bwd` adds the shares of dQ, and the first turns of those who add";
  let description = [{
    **Constraints**
    - C1: the sums are f32 of shape (B, Hq, R, C); C is static, a multiple of 16 from 16 to 256
    - C2: `turns` is i32 of shape (B, Hq, R)
    - C3: at least one of the results is there

    **Effects** none.

    **Example** `%zeros, %turns = attn.clear_sums dtype(bf16) sums tensor<?x?x?x128xf32> turns tensor<?x?x?xi32>`
  }];
  let arguments = (ins TypeAttr:$dtype, OptionalAttr<Attn_ConfigAttr>:$config);
  let results = (outs Optional<Attn_SumsTensor>:$sums, Optional<Attn_TurnsTensor>:$turns);
  let assemblyFormat = "`dtype` `(` $dtype `)` (`config` $config^)? attr-dict (`sums` type($sums)^)? (`turns` type($turns)^)?";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The problem of a kernel of this op.
    ::attn::ProblemAttr getProblem();
    /// The columns of the sums; without sums any number that C1 allows.
    int64_t getHeadDim() { return getSums() ? getSums().getType().getDimSize(3) : ::attn::kColumnsOfSums; }
  }];
}

def Attn_ConvertSumsOp : Op<Attn_Dialect, "convert_sums", [Pure]> {
  let summary = "dQ of the sums of `attn.attention_bwd`: times the scale, in the element type and layout of Q";
  let description = [{
    For every batch b, row i, query head h and column c of the result:

        dQ[b, i, h, c] = scale * sums[b, h, i, c]

    With `turns` of blocks of so many queries, it is 0 in the rows of each block whose first row has the turn 0: nothing has been stored there.

    **Constraints**
    - C1: the result has rank 4, element type bf16 or f16, and a head dim that is static, a multiple of 8
      from 8 to 256
    - C2: `sums` is f32 of shape (B, Hq, R, C), where R is at least Sq, and C at least the head dim and a multiple of 16

    - C3: `transposed` as on the `attn.attention_bwd` that makes the sums, and as its C15 has it
    - C4: `turns` is i32 of shape (B, Hq, R). The queries of a block are given beside it alone, are positive, and as on the `attn.attention_bwd` that makes the sums

    C2 and C4 compare static sizes only; the others are checked at launch. C3, and of C4 what the other op says, are checked where both ops are in one function.

    **Effects** none.

    **Example** `%dq = attn.convert_sums %sums scale(%scale) layout(bshd) : tensor<?x?x?x128xf32> -> tensor<?x?x?x128xbf16>`
  }];
  let arguments = (ins Attn_SumsTensor:$sums, Optional<Attn_TurnsTensor>:$turns, F32:$scale, Attn_LayoutKindAttr:$layout,
    OptionalAttr<I64Attr>:$transposed, OptionalAttr<I64Attr>:$share_queries, OptionalAttr<Attn_ConfigAttr>:$config);
  let results = (outs Attn_Tensor:$gradient);
  let assemblyFormat = [{
    $sums (`turns` `(` $turns^ `:` type($turns) `)` `of` $share_queries)? `scale` `(` $scale `)` `layout` `(` custom<Layout>($layout) `)` (`transposed` `(` $transposed^ `)`)? (`config` $config^)? attr-dict
    `:` type($sums) `->` type($gradient)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The problem of a kernel of this op.
    ::attn::ProblemAttr getProblem();
    int64_t getHeadDim() { return getGradient().getType().getDimSize(3); }
    /// The dimensions of the result that are positions and heads.
    unsigned getPositionDim() { return getLayout() == ::attn::LayoutKind::BSHD ? 1 : 2; }
    unsigned getHeadsDim() { return getLayout() == ::attn::LayoutKind::BSHD ? 2 : 1; }
  }];
}

#endif // ATTN_DIALECT_BACKWARDOPS_TD
