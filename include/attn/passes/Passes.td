// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes from attention on tensors to roles and channels (L0 to L2).
// Each description states what the pass requires and what it ensures.
#ifndef ATTN_PASSES_PASSES_TD
#define ATTN_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def Configure : Pass<"attn-configure", "::mlir::ModuleOp"> {
  let summary = "attach #attn.config to each attn.attention";
  let description = [{
    Chooses the shape of one CTA's work from the schedule table, or from the
    entries of `schedule-file`. Where several entries serve the problem, each on a
    condition that some launch meets, the function is copied once an entry: @f, @f_1,
    ... The copies are variants of one launch plan, tried in that order. The entries
    are of the lowest rung, `rung` at least, that serves the problem and has so little code
    that it is compiled in time: each op of a score or mask region is compiled
    once for each key of a block, and weighs 1 (`math.tanh` 25, `tensor.extract` 60,
    integer division 200 unless by a constant, other functions and divisions 5,
    constants 0). An attention whose regions are too large for all rungs is refused.

    **Requires** any module; where several entries serve an attention, that it is
    the only one of a `func.func`.

    **Ensures** every `attn.attention` has a `config` whose tiles are legal:
    `tile_m` a multiple of 64 and `tile_n` a multiple of 16, both at least
    that. Its head dims are in the table. It has a `variant` if its entry has a
    condition, or if it is one of several copies.

    **Before**
    ```mlir
    %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) : ...
    ```
    **After**
    ```mlir
    %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
        config <tile_m = 128, tile_n = 128, work = grid> : ...
    ```
    or, of two entries, in @f and @f_1
    ```mlir
    %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
        config <tile_m = 128, tile_n = 128, work = grid>
        variant <"f" when <seqlen_k at_most 1024>> : ...
    %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
        config <tile_m = 192, tile_n = 64, work = grid> variant <"f"> : ...
    ```
    Does nothing to an attention that has a `config` already: it is only
    checked. `rescale_threshold` and `exp2_degree` of the config chosen are the
    numerics of the kernel. Remark `configure`: the config and where it is from.
  }];
  let dependentDialects = ["::attn::AttnDialect"];
  let options = [
    Option<"target", "target", "std::string", "\"sm_90a\"",
           "machine whose entries are considered">,
    Option<"scheduleFile", "schedule-file", "std::string", "\"\"",
           "file with the table entries to use">,
    Option<"rung", "rung", "int64_t", "0",
           "lowest rung of the table to take entries from">,
  ];
}

def Tile : Pass<"attn-tile", "::mlir::ModuleOp"> {
  let summary = "turn functions round attn.attention into one CTA's program";
  let description = [{
    The function becomes a `tile.kernel` of its name: a grid over blocks of
    query positions, heads and batches, and a `tile.for` over blocks of keys,
    last block first, masked blocks before the others. With `cluster` the grid is one of
    clusters, whose CTAs stream the blocks of all their rows. A score region is
    inlined on tiles after the scale; without one the scale is left to
    `tile.attend`. The mask step holds the built-in mask, the end of the keys and
    the mask region; with a mask region every block is masked.

    **Requires** an `attn.attention` with `config` is, with `func.return`, the
    only op of a `func.func` that nothing calls; its operands are the arguments
    of the function and its results the function's.

    **Ensures** no `attn.attention`; each new kernel has the arguments q, k, v,
    scale, captures, o, lse, and one `tile.for` whose steps are ld_k, ld_v, qk,
    score, mask, attend. Bounds hold 0 <= lo <= mid <= hi for all lengths.
    Captures are named by the attribute `attn.name` of the function's argument,
    else c0, c1, ...

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
    tile.kernel @f args ["q", "k", "v", "scale", "o", "lse"] problem <...> config <...> {
    ^bb0(%q: tensor<?x?x?x64xbf16>, ..., %o: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>):
      tile.work {
        %w = tile.step @next ...
        %qt = tile.step @ld_q (%w) ...
        %hi, %mid, %lo = tile.bounds %w : i32, i32, i32 { ... }
        %st = tile.for ranges ["masked", "full"] bounds(%hi, %mid, %lo) init(%zero) ... {
          // ld_k, ld_v, qk, score, mask, attend
        }
        // attend_result, cvt_o, st_o, st_lse
      }
    }
    ```
    Functions without attention are left alone. Does not change numerics.
  }];
  let dependentDialects = ["::attn::tile::TileDialect"];
}

def FuseOnlineSoftmax : Pass<"attn-fuse-online-softmax", "::attn::tile::KernelOp"> {
  let summary = "turn the softmax over a whole row into the (m, l, O) recurrence";
  let description = [{
    **Requires** a kernel with `config`; a step @attend in its `tile.for` that
    holds one `tile.attend` on a carried state starting at zero, and a step
    @attend_result after it that holds one `tile.attend_result`. The attend's
    scale is a value of the kernel, outside `tile.work`.

    **Ensures** no `tile.attend` or `tile.attend_result`; in the place of @attend
    the steps stat, exp, sum, cvt, rescale, pv, and in that of @attend_result the
    steps fin, norm; between them is check, unless `row_max = running`. The loop carries the row maximum m (log2 units, starting at the
    lowest finite float), the partial row sum l and O. In a row whose maximum is 2^24 log2
    units or more, m is that score itself, times a power of two that makes it smaller than
    any m, and `stat` takes it off the row's scores (docs/adr/0024).

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
    With `row_max = first_block`, m is looked for only while some row of the warp has
    none, or once a partial sum exceeds 2^24 (2^10 where P is f16). Probabilities may then overflow: step
    `check` rejects a work item with an unscaled O that is not finite or a row sum that is not
    at most 2^100, and it is computed again with m followed throughout. What passes
    is right: the sum of a row with keys is at least 1, so that nothing of weight was
    flushed to zero, and at most 2^100, so that no factor was.
    With `row_max = integer`, m is the running maximum of the scores and of 0, and
    `check` rejects an item with a row sum below 2^-20 (1 where P is f16) or an m of 2^24 or
    more.
    Remark `fuse-online-softmax`: the threshold used.
  }];
  let dependentDialects = ["::attn::tile::TileDialect", "::mlir::scf::SCFDialect"];
}
include "attn/passes/Schedules.td"
include "attn/passes/Roles.td"

#endif // ATTN_PASSES_PASSES_TD
