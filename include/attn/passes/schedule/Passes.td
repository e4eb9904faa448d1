// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Choosing and verifying schedules.
#ifndef ATTN_PASSES_SCHEDULE_PASSES_TD
#define ATTN_PASSES_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Configure : Pass<"attn-configure", "::mlir::ModuleOp"> {
  let summary = "attach #attn.config to each attn.attention";
  let description = [{
    Chooses the shape of one CTA's work from the schedule table, or from the
    entries of `schedule-file`. If several entries are for the problem, each under a
    condition that some launch meets, the function is copied for each entry: @f, @f_1,
    ... The copies are variants of one launch plan, tried in that order. The entries are those
    of the lowest rung, from `rung` on, that has entries for the problem and whose code is small enough
    to be compiled in time: each op of a score or mask region is compiled
    once for each key of a block, and has a [weight](score-ops.md). An attention
    whose regions are too large for all rungs is refused. An `attn.attention_bwd` with sums gets an entry whose shares are
    `transposed` as its own are, and one with `new_sums` an entry that stores first shares
    of as many queries, on whatever rung that is; entries of transposed shares serve no functions of the user.

    **Requires** any module. If several entries are for an attention, it is the only one of
    a `func.func`.

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
    numerics of the kernel. An op of a backward pass takes its entry from the lowest rung that has one. The search
    begins at the rung that `rungs` has for its function, otherwise at `rung`; if no rung from there on has an entry,
    the nearest lower one is taken. Remark `configure`: the config and where it is from.
  }];
  let dependentDialects = ["::attn::AttnDialect"];
  let options = [
    Option<"target", "target", "std::string", "::attn::kDefaultTarget",
           "machine whose entries are considered">,
    Option<"scheduleFile", "schedule-file", "std::string", "\"\"",
           "file with the table entries to use">,
    Option<"rung", "rung", "int64_t", "0",
           "lowest rung of the table to take entries from">,
    ListOption<"rungs", "rungs", "std::string",
               "KERNEL=RUNG,...: lowest rungs of kernels of gradients">,
  ];
}

def Schedule : Pass<"attn-schedule", "::mlir::ModuleOp"> {
  let summary = "attach a #attn.schedule to each tile.kernel";
  let description = [{
    The schedule is that of the table entry, or of the entry in `schedule-file`, that is for
    the kernel's problem and `target`. If there are several, it is the one with the condition
    of the kernel's `variant`. In any case `verifySchedule` judges it, by all [rules](schedule-rules.md) but V28.

    **Requires** kernels with `config`, of tiles of a whole CTA, whose values have
    names: those of `passes/schedule/data/values`, or the kernel's own in an attribute
    `attn.values = #attn.kernel_values<...>`. If `config` has `section_mib`, the `tile.next_work`
    has a `section`.

    **Ensures** every `tile.kernel` has a legal `schedule` for `target`; its
    `config` has the tile sizes, work and CTA group of the schedule's entry.

    **Before**
    ```mlir
    tile.kernel @f args [...] problem <...> config <tile_m = 128, tile_n = 128, work = grid> {
    ```
    **After**
    ```mlir
    tile.kernel @f args [...] problem <...> config <tile_m = 128, tile_n = 128, work = grid>
        schedule <"fwd_d128" machine "sm_90a" { ... }> {
    ```
    A kernel that has a schedule keeps it; it is judged as well. Does not change
    numerics. Remark `schedule`: which schedule, and from where. Remark
    `schedule-resources`: the shared memory, barriers and registers that it uses.
  }];
  let dependentDialects = ["::attn::AttnDialect"];
  let options = [
    Option<"target", "target", "std::string", "::attn::kDefaultTarget",
           "machine to schedule for">,
    Option<"scheduleFile", "schedule-file", "std::string", "\"\"",
           "file with the table entries to use">,
  ];
}

def VerifySchedule : Pass<"attn-verify-schedule", "::mlir::ModuleOp"> {
  let summary = "check that the schedules of all tile.kernels are legal";
  let description = [{
    **Requires** kernels as `attn-schedule` does.

    **Ensures** the schedule of every kernel that has one obeys all [rules](schedule-rules.md)
    but V28; a violation is an error that starts with the rule. In a cluster
    the programs of all its CTAs are run. The work items tried have 0 to 3 iterations, alone
    and in pairs, and there are some longer lists; where sub-tiles skip blocks, some lists run
    again with the largest and the smallest number of skipped blocks that a mask allows, on each side. Option
    `exhaustive`: all lists of up to three items with 0 to 3 iterations, each without skipped
    blocks, with as few and with as many as possible. With `lowering=false` rule V29 is not
    checked, so that schedules without a lowering can be verified.

    Changes nothing. Remark `schedule-resources`: the resources that each schedule uses.
  }];
  let dependentDialects = ["::attn::AttnDialect"];
  let options = [
    Option<"exhaustive", "exhaustive", "bool", "false",
           "try all lists of up to three work items with 0 to 3 iterations">,
    Option<"lowering", "lowering", "bool", "true",
           "check rule V29: the compiler has a lowering for the schedule">,
  ];
}

#endif // ATTN_PASSES_SCHEDULE_PASSES_TD
