// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes from attention on tensors to tile programs (L0 to L1).
// Each description states what the pass requires and what it ensures.
#ifndef ATTN_PASSES_KERNELS_PASSES_TD
#define ATTN_PASSES_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def InferMask : Pass<"attn-infer-mask", "::mlir::ModuleOp"> {
  let summary = "turn mask regions into built-in masks, or into the keys of each row";
  let description = [{
    Reads a mask region as a formula: `and`, `or`, `xor` with true, and `select` over comparisons.
    A factor of the formula becomes a bound on the keys of query i if it compares the position j with a number E(i)
    that does not depend on j: differences of positions, quotients by positive constants, minima and maxima are
    resolved. E may use captured numbers, and elements at the batch, the head or i. A comparison of such numbers
    without j is a guard: where it does not hold, the row has no keys. With the end of a prefix, no number may decrease
    when i grows.

    - Bounds that are those of a built-in mask become that mask. A constant of the function
      becomes a constant operand of the op, so that the kernel is the mask's own.
    - Other bounds become `row_keys`. Alternatives whose keys are not one interval are bounded
      by the interval that contains them all, and stay in the region.
    - Other factors stay in the region.

    Masks of an `attn.attention_bwd` are read in the same way.

    **Requires** a function around an `attn.attention` that `attn-tile` accepts, or an `attn.attention_bwd` that
    `attn-tile-backward` does.

    **Ensures** the op admits the same keys for all positions below kItemLimit and all captures:
    no number of a bound wraps, and what is not proven stays in the region. An op that changes
    has `attn.user_problem` and `attn.user_mask`, the problem and the program of the mask as the
    user gave it, for launch plans. Ops with a built-in mask or with `row_keys` are left alone.

    **Before**
    ```mlir
    func.func @f(%q: ..., %length: tensor<?xi32>) -> (...) {
      %o, %lse = attn.attention ... mask(none) ... mask_region {
        ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %lengths: tensor<?xi32>):
          %at = arith.index_cast %b : i32 to index
          %length = tensor.extract %lengths[%at] : tensor<?xi32>
          %inside = arith.cmpi slt, %j, %length : i32
          %causal = arith.cmpi sle, %j, %i : i32
          %both = arith.andi %inside, %causal : i1
          attn.yield %both : i1
      } : ...
    }
    ```
    **After**
    ```mlir
    func.func @f(%q: ..., %length: tensor<?xi32>) -> (...) {
      %o, %lse = attn.attention ... mask(none) ... row_keys {
        ^bb0(%b: i32, %h: i32, %i: i32, %lengths: tensor<?xi32>):
          // %first = 0; %end = min(max(%length, 0), %i + 1)
          attn.yield %first, %end : i32, i32
      } {attn.user_mask = [...], attn.user_problem = #attn.problem<...>} : ...
    }
    ```
    With `built-in-only`, only a region that is a built-in mask without a bound is replaced. `attn-split-backward`
    chooses entries of the table by the mask, so it needs to know these.

    Does not change numerics.
    Remark `infer-mask`: what was inferred, and each factor that stays, with the reason.
  }];
  let options = [
    Option<"builtInOnly", "built-in-only", "bool", "false", "replace only regions that are a built-in mask without a bound">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def Differentiate : Pass<"attn-differentiate", "::mlir::ModuleOp"> {
  let summary = "write the functions of the gradients of attn.attention";
  let description = [{
    For each function around an `attn.attention`, writes another one after it, named with `_bwd` at the end. From the
    arguments of the first function, its results O and LSE, and the gradients of these, it computes the gradients of
    Q, K and V. Its score region yields the score and the derivative of the score. `ScoreOpInterface` computes this
    derivative op by op, from the score to the result. Values that a select does not choose, and values that do not
    depend on the score, contribute nothing. A rounding passes a derivative on; an integer or a truth value has none.
    Derivatives by a capture, or by the scale, are written in the same way, from the elements that the region reads,
    into a copy of the region. The positions that index these elements decide over which pairs the derivatives are
    summed:

    | the indices are | ops |
    |---|---|
    | constants, b, h, i, or none (a number, the scale) | `attn.attention_bwd` with `row_sums`, `attn.sum_gradient` |
    | j, perhaps b and h | `attn.attention_bwd` with `key_sums`, `attn.sum_gradient` |
    | i and j, perhaps b and h | `attn.attention_bwd` with `pairs` |
    | others, and `attn.gradient = "any_order"` | `attn.attention_bwd` with `elements` |

    The gradient of the sinks needs no scores: an `attn.sum_gradient` computes it from the results of `attn.delta`.

    **Requires** a function that `attn-tile` would accept if it had a config. This pass runs before `attn-configure` and
    `attn-infer-mask`, so the gradients are of the user's masks and functions. An argument with the
    attribute `attn.gradient` is the query, the key, the value, the scale, the sinks or a capture of f32, f16 or bf16. All elements that a
    pair reads of such a capture have the same indices. Each of these is a position of the pair, used once, or the constant 0;
    or the attribute is "any_order", the capture of f32, and the indices do not depend on the score.

    **Ensures** the new function holds one `attn.delta` and one `attn.attention_bwd` of Q, K and V, and returns the
    gradients of the arguments that have `attn.gradient`, or of Q, K and V if none has: those of Q, K and V, then
    those of the scale, of sinks and of captures, in the order of the arguments. The gradient of a number has the type `tensor<1xf32>`. The
    function has the arguments of the first function, with their attributes, but for sinks whose gradient it does not
    return, then O, LSE, dO and dLSE. The first function does not change.
    With `marked`, the functions with an argument that has `attn.gradient` are replaced by those of their
    gradients, and the others are left alone: the pipeline that makes a bundle does this.

    **Before**
    ```mlir
    func.func @f(%q: tensor<?x?x?x64xbf16>, ...) -> (...) {
      %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
          score_region {
          ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
            %z = math.tanh %s : f32
            attn.yield %z : f32
          } : ...
      return %o, %lse : ...
    }
    ```
    **After**
    ```mlir
    func.func @f(%q: tensor<?x?x?x64xbf16>, ...) -> (...) { ... }
    func.func @f_bwd(%q: tensor<?x?x?x64xbf16>, ..., %o: ..., %lse: ..., %do: ..., %dlse: ...) -> (...) {
      %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : ...
      %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
          score_region {
          ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
            %z = math.tanh %s : f32
            %0 = arith.mulf %z, %z : f32
            %1 = arith.constant 1.0 : f32
            %g = arith.subf %1, %0 : f32
            attn.yield %z, %g : f32, f32
          } : ...
      return %dq, %dk, %dv : ...
    }
    ```
    Functions without attention are left alone.
  }];
  let options = [
    Option<"marked", "marked", "bool", "false", "replace functions with an argument that has attn.gradient, leave others alone">];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}

def SplitLaunches : Pass<"attn-split-launches", "::mlir::ModuleOp"> {
  let summary = "make a function of each op of attention that a function has, and put their launches in order";
  let description = [{
    A kernel computes one op of attention. The ops of a function are launched by one call in their order;
    results that the function does not return are left in the workspace.

    **Requires** a function with several ops of attention has nothing else but constants and `func.return`, and
    nothing calls it. The operands of an op are arguments of the function and results of earlier ops. The function
    returns results of the ops, each once. No two values have the same role (docs/launch-plan.md), and all ops with
    bounds or captures have the same ones, since kernels share an argument by its name.

    **Ensures** in place of such a function there is a function for each of its ops, named after the kind of its
    kernel, and a `launch.sequence`. Statistics of rows in the workspace have full blocks for all
    kernels of gradients that read them: of 128 rows, of those that `transposed` says, or of a multiple of both.

    **Before**
    ```mlir
    func.func @f(%q: ..., %k: ..., %v: ..., %scale: f32, %do: ..., %dlse: ...) -> (...) {
      %o, %lse = attn.attention %q, %k, %v scale(%scale) ...
      %delta, %lse2 = attn.delta %o, %do, %lse, %dlse ...
      return %o, %delta, %lse2 : ...
    }
    ```
    **After**
    ```mlir
    func.func @f_fwd(%q: ..., %k: ..., %v: ..., %scale: f32) -> (...) {
      %o, %lse = attn.attention %q, %k, %v scale(%scale) ...
      return %o, %lse : ...
    }
    func.func @f_delta(%o: ..., %do: ..., %lse: ..., %dlse: ...) -> (...) {
      %delta, %lse2 = attn.delta %o, %do, %lse, %dlse ...
      return %delta, %lse2 : ...
    }
    launch.sequence "f" launches ["f_fwd", "f_delta"] temporaries ["lse"]
    ```
    Functions with one op are left alone. Does not change numerics.
  }];
  let dependentDialects = ["::attn::launch::LaunchDialect"];
}

def Tile : Pass<"attn-tile", "::mlir::ModuleOp"> {
  let summary = "turn functions around attn.attention into one CTA's program";
  let description = [{
    The function becomes a `tile.kernel` of its name: a grid over blocks of
    query positions, heads and batches, and a `tile.for` over blocks of keys,
    last block first, masked blocks before the others. With `cluster` the grid is one of
    clusters, whose CTAs stream the blocks of all their rows. A score region is
    inlined on tiles after the scale; without one the scale is left to
    `tile.attend`. The mask step applies the built-in mask, the end of the keys and
    the mask region; with a mask region every block is masked.

    **Requires** a `func.func` that contains an `attn.attention` holds only it and
    `func.return`, and nothing calls the function. The attention has a `config`; its operands
    are the arguments of the function, and its results are the function's.

    **Ensures** no `attn.attention`; each new kernel has an argument for each operand and result,
    which says its role, and one `tile.for` whose steps are ld_k, ld_v, qk,
    score, mask, attend. Bounds hold 0 <= lo <= mid <= hi for all lengths. Where a key of `row_keys` may decrease from
    one query to the next, a `scf.parallel` in `tile.bounds` reduces each of them to the smallest and the largest over the
    rows.
    Captures are named by the attribute `attn.name` of the function's argument, otherwise c0, c1,
    ... The others are q, k, v, scale, o, lse and the names of bounds, followed by a number if
    a capture has that name.

    **Before**
    ```mlir
    func.func @f(%q: tensor<?x?x?x64xbf16>, ...) -> (...) {
      %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
          config <tile_m = 128, tile_n = 128, work = grid> : ...
      return %o, %lse : ...
    }
    ```
    **After**
    ```mlir
    tile.kernel @f args ["q" query, "k" key, "v" value, "scale" scale, "o" output write, "lse" lse write] problem <...> config <...> {
    ^bb0(%q: tensor<?x?x?x64xbf16>, ..., %o: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>):
      tile.work {
        %w = tile.step @next ...
        %qt = tile.step @ld_q (%w) ...
        %hi, %mid, %lo = tile.bounds %w : i32, i32, i32 { ... }
        %st = tile.for ranges <down [masked, full]> bounds(%hi, %mid, %lo) init(%zero) ... {
          // ld_k, ld_v, qk, score, mask, attend
        }
        // attend_result, cvt_o, st_o, st_lse
      }
    }
    ```
    Functions without attention are left alone. Does not change numerics.
  }];
  let dependentDialects = ["::attn::launch::LaunchDialect", "::attn::tile::TileDialect",
                           "::mlir::scf::SCFDialect"];
}

def TileDelta : Pass<"attn-tile-delta", "::mlir::ModuleOp"> {
  let summary = "turn functions around attn.delta into one CTA's program";
  let description = [{
    The function becomes a `tile.kernel` of its name: a grid over blocks of the rows of the results, heads and
    batches, without a loop.

    **Requires** an `attn.delta` with `config` is, with `func.return`, the only op of a `func.func` that nothing
    calls; its operands are the arguments of the function and its results the function's.

    **Ensures** no `attn.delta`; each new kernel has the arguments o, do, lse, dlse, dl and lse2, for the results sums and turns also dqs and
    turns, which say their roles, and the steps ld_o, ld_do, ld_lse, ld_dlse, st_zero and st_turns, which do nothing without these results, dot,
    stats, st_dl and st_lse2.

    **Before**
    ```mlir
    func.func @f(%o: tensor<?x?x?x64xbf16>, ...) -> (...) {
      %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd)
          config <tile_m = 64, tile_n = 1, work = grid> : ...
      return %delta, %lse2 : ...
    }
    ```
    **After**
    ```mlir
    tile.kernel @f args ["o" output, "do" output_gradient, "lse" lse, "dlse" lse_gradient, "dl" delta write, "lse2" lse2 write] problem <...> config <...> {
    ^bb0(%o: tensor<?x?x?x64xbf16>, ..., %lse2: tensor<?x?x?xf32>):
      tile.work {
        %w = tile.step @next ...
        %ot = tile.step @ld_o (%w) ...
        // ld_do, ld_lse, ld_dlse, st_zero, st_turns
        %sums = tile.step @dot (%ot, %dt) ...
        %delta, %rows = tile.step @stats (%sums, %l, %dl, %w) ...
        // st_dl, st_lse2
      }
    }
    ```
    Functions without `attn.delta` are left alone. Does not change numerics.
  }];
  let dependentDialects = ["::attn::launch::LaunchDialect", "::attn::tile::TileDialect"];
}

def TileSumGradient : Pass<"attn-tile-sum-gradient", "::mlir::ModuleOp"> {
  let summary = "turn functions around attn.sum_gradient into one CTA's program";
  let description = [{
    The function becomes a `tile.kernel` of its name: a grid over blocks of the elements of the result, and a `tile.for` over
    blocks of the elements that are summed to each of them. A tile has a row for each element of the result.

    **Requires** an `attn.sum_gradient` with `config` is, with `func.return`, the only op of a `func.func` that nothing
    calls; its operands are the arguments of the function and its result the function's.

    **Ensures** no `attn.sum_gradient`; each new kernel has the arguments `NAME_sums`, `scale` if there is a
    divisor, and `dNAME`, which say their roles, and the steps add and st. That of sinks has `dl`, `lse2` and `sinks`
    in place of `NAME_sums`.

    **Before**
    ```mlir
    func.func @f(%sums: tensor<?x?x?xf32>) -> tensor<?xf32> {
      %g = attn.sum_gradient %sums of "slopes" at affine_map<(b, h, p) -> (h)>
          config <tile_m = 64, tile_n = 64, work = grid> : ...
      return %g : ...
    }
    ```
    **After**
    ```mlir
    tile.kernel @f args ["slopes_sums" partial_sums, "dslopes" capture_gradient write] problem <...> config <...> {
    ^bb0(%sums: tensor<?x?x?xf32>, %g: tensor<?xf32>):
      tile.work {
        %w = tile.step @next ...
        %last, %first = tile.bounds %w : i32, i32 { ... }
        %sum = tile.for ranges <up [full]> bounds(%first, %last) init(%zero) ... {
          // add
        }
        // st
      }
    }
    ```
    Functions without `attn.sum_gradient` are left alone. Numerics: sums are f32, in order; the result is rounded once.
  }];
  let dependentDialects = ["::attn::launch::LaunchDialect", "::attn::tile::TileDialect"];
}

def TileSums : Pass<"attn-tile-sums", "::mlir::ModuleOp"> {
  let summary = "turn functions around attn.clear_sums and attn.convert_sums into one CTA's program";
  let description = [{
    The function becomes a `tile.kernel` of its name: a grid over blocks of rows, heads and batches, without a loop.

    **Requires** the op has a `config` and is, with `func.return`, the only op of a `func.func` that nothing calls; its
    operands are the arguments of the function and its results the function's.

    **Ensures** no `attn.clear_sums` and `attn.convert_sums`. A kernel of the first has the arguments dqs and dq_turns, those of both that there are, and the steps
    st_zero and st_turns, which do nothing without theirs; one of the second has dqs, dq_turns if there are some, scale and dq, and the steps ld_turn, ld_sums, cvt_dq and st_dq.

    **Before**
    ```mlir
    func.func @f(%sums: tensor<?x?x?x64xf32>, %scale: f32) -> tensor<?x?x?x64xbf16> {
      %dq = attn.convert_sums %sums scale(%scale) layout(bshd) config <tile_m = 64, tile_n = 1, work = grid> : ...
      return %dq : ...
    }
    ```
    **After**
    ```mlir
    tile.kernel @f args ["dqs" query_gradient_sums, "scale" scale, "dq" query_gradient write] problem <...> config <...> {
    ^bb0(%sums: tensor<?x?x?x64xf32>, %scale: f32, %dq: tensor<?x?x?x64xbf16>):
      tile.work {
        %w = tile.step @next ...
        %n = tile.step @ld_turn (%w) ...
        %t = tile.step @ld_sums (%w) ...
        %r = tile.step @cvt_dq (%t, %n) ...
        // st_dq
      }
    }
    ```
    Other functions are left alone. Does not change numerics.
  }];
  let dependentDialects = ["::attn::launch::LaunchDialect", "::attn::tile::TileDialect"];
}

def SplitBackward : Pass<"attn-split-backward", "::mlir::ModuleOp"> {
  let summary = "compute the gradients of one attention by several ops";
  let description = [{
    Splits an op in two until the schedule table has a kernel for each part: one for all gradients into one for dQ,
    which owns queries, and one for dK and dV, which owns keys; and that one into one for dK and one for dV, if the
    sums of both do not fit the registers of a thread. Each part computes the scores again, and those for dQ and dK
    also their derivatives. When an op is split, gradients that nothing uses are dropped. Each result has the same
    bits in every run.

    If the table has a kernel for all gradients that adds its shares of dQ to f32 sums in memory, the `attn.delta` of its statistics
    clears the sums before, or, if the statistics come from elsewhere, an op of its own; and another op converts them to dQ afterwards. If its config has
    `first_share = stored`, and there is no function and no dropout, it makes `new_sums`, and only turns are cleared. The sums have as many columns as its tiles of Q. If
    its config has `share_rows = columns`, it adds `transposed` shares. If the
    function has the attribute `attn.any_order`, that is a kernel of kind `bwd`, or one for dQ and dK, with another one
    for dV. The order of these additions differs from run to run, and so may the last bits of dQ. Without the attribute
    it is a kernel of kind `bwd_ordered`: those who add take turns, so that the order is always the same. Only a `schedule-file` gives such kernels to functions with the attribute, to
    functions with a mask region but without the attribute, and to dropout beside a score region whose derivative is not 1.

    If the mask region reads a tensor at the query, wherever the key is, and does not depend on the head, an op with `gradients(seeing)`
    finds the queries that may see each group of keys, once for all ops that own keys. They get its result, if the table has a kernel for it.

    **Requires** a known `target`; the `schedule-file`, if one is given, has table entries. A score region reads the score,
    if a gradient of Q, K or V is used.

    **Ensures** each `attn.attention_bwd` has a schedule in the table, or in the file if one is given, or computes a
    single gradient, or has a `config`. The ops that replace one have its operands, attributes and regions, and some of them `seeing`.

    **Before**
    ```mlir
    %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) : ...
    ```
    **After**
    ```mlir
    %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
        gradients(dq) : ...
    %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
        gradients(dk_dv) : ...
    ```
    or, with a kernel for all gradients of statistics from elsewhere,
    ```mlir
    %zeros, %turns = attn.clear_sums dtype(bf16) sums tensor<?x?x?x64xf32> turns tensor<?x?x?xi32>
    %sums, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%zeros : ...) turns(%turns : ...) scale(%scale)
        mask(none) layout(bshd) gradients(sums) : ...
    %dq = attn.convert_sums %sums scale(%scale) layout(bshd) : tensor<?x?x?x64xf32> -> tensor<?x?x?x64xbf16>
    ```
    A kernel for all gradients changes the order of the additions to dQ; otherwise it does not change numerics.
  }];
  let dependentDialects = ["::attn::AttnDialect"];
  let options = [
    Option<"target", "target", "std::string", "::attn::kDefaultTarget",
           "machine whose entries are considered">,
    Option<"scheduleFile", "schedule-file", "std::string", "\"\"",
           "file with the table entries to use">,
  ];
}

def TileBackward : Pass<"attn-tile-backward", "::mlir::ModuleOp"> {
  let summary = "turn functions around attn.attention_bwd into one CTA's program";
  let description = [{
    The function becomes a `tile.kernel` of its name. A kernel of dQ has a grid over blocks of query positions, query heads and
    batches, and a `tile.for` over blocks of keys, as `attn-tile` writes it. A kernel of dK, dV or both has a
    grid over blocks of keys, heads of K and batches; its scores have keys as rows, and its `tile.for` goes over blocks of
    queries, and for each over the query heads of the group: iteration n is head n mod group of block
    n / group. Blocks in which a mask, the end of the keys or the end of the queries excludes a pair are masked; with a
    mask region all are, unless it is an equality and there is `seeing`: then those of the longest run of `seeing` are not, where
    blocks of keys lie in one group of it. Where `row_keys` do not fall from query to query, a binary search in `tile.bounds` finds the blocks of queries;
    an end that may fall gives no bound, and then all blocks are masked. With `seeing`, blocks of queries outside of it are skipped
    where the mask region or such an end would mask all blocks.

    A kernel of `seeing` has a grid over blocks of groups of keys, shares of the queries and batches; its `tile.for` goes over the
    blocks of queries of the share. A query may see a group if its `row_keys` contain one of the keys, and if a number that the mask
    region requires to be that of the key is from the least to the most of the numbers of the keys. What else the mask
    requires is not evaluated. If it requires nothing else, blocks of queries that all have the number of all of the keys are found, too.

    Kernels of the derivatives by a capture: one of `row_sums` or `elements` is like that of dQ without the last
    product, one of `key_sums` like that of dK and dV without the last products. One of `pairs` has a grid over the
    query positions, heads and batches of
    the capture; its `tile.for` goes over all blocks of the capture's keys, each of them masked, and for each over the batches
    and heads that the capture lacks: iteration n is number n mod R of the R iterations of block n / R.

    With `gradients(sums)` a kernel of dK and dV also adds its shares of dQ to the sums, and with `gradients(sums_dk)` one of dK.

    If `last_wave_parts` is above 1, items of kernels of dK, dV or both may be cut into parts along the iterations of their loop; the step join adds
    up the sums of all parts.

    **Requires** an `attn.attention_bwd` with `config` and `gradients` other than `all` is, with `func.return`, the
    only op of a `func.func` that nothing calls; its operands are the arguments of the function and its results
    the function's. `sums` have as many columns as the tiles of Q. With `transposed`, it is the `tile_n`, and `share_rows` is columns; with
    `sums` and without it, `tile_n` is a multiple of 64. Without `sums`, `share_rows` is queries. `first_share` is stored with `new_sums`, and otherwise added. `last_wave_parts` is above 1 only in kernels of dK, dV
    or both, without turns and `seeing`. Without a gradient of K, and with a score region, `kept_p` is f32.

    **Ensures** no `attn.attention_bwd`; each new kernel has the arguments q, k, v, do, lse2, dl, scale, those of bounds and
    captures as `attn-tile` names them, and the gradients dq, dk and dv that it computes. The sizes `b`, `sq`, `sk`, `hq`, `hk`, `d` and `dv` are
    those of `attn-tile`, `sr` that of the statistics, and `sc` the columns of sums. The loop of dQ has the steps ld_k, ld_v, qk, dp, score, mask, exp,
    dsoft, cvt_ds and mm_dq; that of dK and dV ld_q, ld_lse, ld_do, qk, score, mask, exp, for dV cvt_p and
    mm_dv, and for dK ld_dl, dp, cvt_pk if `kept_p` is f16, dsoft, cvt_ds and mm_dk, with sums also put_ds, mm_dq, put_dq and red_dq, or of transposed shares mm_dqt, put_dqt and red_dq, and with turns wait_dq and pass_dq. A kernel by a capture has the result `NAME_sums` or `dNAME`, where NAME is the
    name of the capture or `scale`; its loop has the steps add, add and st by pairs, or st by elements, which accumulates.
    One of `seeing` has the arguments q, k and those of captures, and the result `seeing`; its steps are hull, see and st.

    **Before**
    ```mlir
    func.func @f(%q: tensor<?x?x?x64xbf16>, ...) -> tensor<?x?x?x64xbf16> {
      %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq)
          config <tile_m = 128, tile_n = 64, work = grid> : ...
      return %dq : ...
    }
    ```
    **After**
    ```mlir
    tile.kernel @f args ["q" query, ..., "dq" query_gradient write] problem <...> config <...> {
    ^bb0(%q: tensor<?x?x?x64xbf16>, ..., %dq: tensor<?x?x?x64xbf16>):
      tile.work {
        %w = tile.step @next ...
        // ld_q, ld_do, ld_lse, ld_dl
        %hi, %mid, %lo = tile.bounds %w : i32, i32, i32 { ... }
        %sum = tile.for ranges <down [masked, full]> bounds(%hi, %mid, %lo) init(%zero) ... {
          // ld_k, ld_v, qk, dp, score, mask, exp, dsoft, cvt_ds, mm_dq
        }
        // cvt_dq, st_dq
      }
    }
    ```
    Functions without `attn.attention_bwd` are left alone. Numerics: exponentials are base 2 with the scale folded in; P and dX
    are rounded to the element type before the products with dO, Q and K; the scale is applied to the sums.
  }];
  let dependentDialects = ["::attn::launch::LaunchDialect", "::attn::tile::TileDialect"];
}

def FuseOnlineSoftmax : Pass<"attn-fuse-online-softmax", "::attn::tile::KernelOp"> {
  let summary = "turn the softmax over a whole row into the (m, l, O) recurrence";
  let description = [{
    **Requires** a kernel with `config`; a step @attend in its `tile.for` that
    holds one `tile.attend` on a carried state starting at zero, and a step
    @attend_result after it that holds one `tile.attend_result`. The attend's
    scale is a value of the kernel, outside `tile.work`.

    **Ensures** no `tile.attend` or `tile.attend_result`. The steps stat, exp, sum, cvt,
    rescale, pv replace @attend, and fin, norm replace @attend_result; between fin and norm is
    check, unless `row_max = running`. The loop carries the row maximum m (log2 units, starting at the
    lowest finite float), the partial row sum l and O. In a row whose maximum is 2^24 log2
    units or more, m is that score itself, times a power of two that makes it smaller than
    any other m, and `stat` subtracts it from the row's scores (docs/adr/0024).

    **Before**
    ```mlir
    %st = tile.for ... init(%zero) {
    ^bb0(%j: i32, %state: tensor<128x64xf32>):
      ...
      %n = tile.step @attend (%s, %v, %state) ... {
        %x = tile.attend %a, %b state(%c) scale(%scale) ...
      }
    }
    %o, %lse = tile.step @attend_result (%st) ...
    ```
    **After**
    ```mlir
    %m, %l, %acc = tile.for ... init(%lowest, %zero1, %zero) {
    ^bb0(%j: i32, %m0: tensor<128xf32>, %l0: tensor<128xf32>, %o0: tensor<128x64xf32>):
      ...
      %m1, %alpha, %s1 = tile.step @stat (%s, %m0) ...
      %p32 = tile.step @exp (%s1, %m1) ...
      %l1 = tile.step @sum (%p32, %l0, %alpha) ...
      %p = tile.step @cvt (%p32) ...
      %o1 = tile.step @rescale (%o0, %alpha) ...
      %o2 = tile.step @pv (%p, %v, %o1) ...
    }
    %inv, %lse = tile.step @fin (%l, %m) ...
    %o = tile.step @norm (%acc, %inv) ...
    ```
    Kernels without `tile.attend` are left alone. Numerics: exponentials are
    base 2 with the scale folded in; with `rescale_threshold` t > 0 m may lag the
    row maximum by t, so that probabilities reach 2^t; P is rounded to V's type.
    With `row_max = first_block`, m is updated only while some row of the warp has none, and
    after a partial sum exceeds 2^24 (2^10 where P is f16). Probabilities may then overflow: the
    step `check` rejects a work item if an unscaled O is not finite, or a row sum is above
    2^100 or NaN. A rejected item is computed again with a running m. An accepted item
    is right: the sum of a row with keys is at least 1, so no significant term was
    flushed to zero, and it is at most 2^100, so no factor was.
    With `row_max = integer`, m is the running maximum of the scores and of 0, and
    `check` rejects an item with a row sum below 2^-20 (1 where P is f16) or an m of 2^24 or
    more.
    Remark `fuse-online-softmax`: the threshold used.
  }];
  let dependentDialects = ["::attn::tile::TileDialect", "::mlir::scf::SCFDialect"];
}

#endif // ATTN_PASSES_KERNELS_PASSES_TD
