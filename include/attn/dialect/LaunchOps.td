// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launch plan: what the host checks and launches.
#ifndef ATTN_DIALECT_LAUNCHOPS_TD
#define ATTN_DIALECT_LAUNCHOPS_TD

include "attn/dialect/ArgumentAttrs.td"
include "attn/dialect/LaunchAttrs.td"
include "attn/dialect/ScheduleAttrs.td"
include "attn/dialect/VariantAttrs.td"
include "mlir/IR/SymbolInterfaces.td"

class Launch_Op<string opMnemonic, list<Trait> traits = []> : Op<Launch_Dialect, opMnemonic, traits>;

def Launch_CountAttr : ConfinedAttr<I64Attr, [IntPositive]>;

def Launch_PlanOp : Launch_Op<"plan", [IsolatedFromAbove, NoTerminator, SingleBlock,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the arguments of a module's kernels, the checks before a launch, and its variants";
  let description = [{
    The arguments are those of the caller, described by `args` as in `ws.kernel`. The kernels are
    functions of the `gpu.module` or `gpu.binary` that it names, for `target`. `first_key` and
    `last_key` are the keys that query `i` sees under the built-in mask; a side without one is
    open. `programs`: [the regions](../launch-plan.md#programs-of-regions), for programs that
    check results.

    **Constraints**
    - C1: `args`, `problem` and the arguments fit each other, as C1, C6 and C7 of `tile.kernel`
      say; with several launches any result may be read or written, and no role is needed; there is an argument of role `bound` for each bound of the problem
    - C2: values, temporaries, checks, then at least one variant; only the last has no `when`
    - C3: an expression names sizes that are not static, strides, integer arguments, `sm_count`,
      values of the plan, and values before it in its variant; `first_key` and `last_key` may name `i` too
    - C4: an expression is at most 32 deep
    - C5: a message is UTF-8, and expressions may have each name in its braces
    - C6: the name of a value or temporary is new, and UTF-8
    - C7: a tensor map or pointer is of a tensor argument or a temporary, a scalar of an f32 argument
    - C8: the module or binary exists, has no other plan, and is for `target`; a module has the kernels
    - C9: `programs` has `score` and `mask`, lists of lists of words
    - C10: at most 256 checks

    **Example**
    ```mlir
    launch.plan @copy target "sm_90a" args ["x" ("n"), "y" write ("n")] problem #problem {
    ^bb0(%x: tensor<?xf32>, %y: tensor<?xf32>):
      launch.check lt(n, 1000) equals 1 "expected fewer than 1000 elements, got {n}"
      launch.variant workspace 0 {
        launch.kernel @copy grid ceildiv(n, 256) block 256 cluster 1 shared 0
            params [#launch.pointer<"x">, #launch.pointer<"y">, #launch.number<i32 n>]
      }
    }
    gpu.binary @copy [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "">]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$binary, StrAttr:$target, Attn_ArgumentsAttr:$args, Attn_ProblemAttr:$problem,
    OptionalAttr<Launch_Expr>:$first_key, OptionalAttr<Launch_Expr>:$last_key, OptionalAttr<DictionaryAttr>:$programs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $binary `target` $target `args` $args `problem` $problem `` custom<FirstKey>($first_key) `` custom<LastKey>($last_key)
    (`programs` $programs^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The variants, in the order in which they are tried.
    ::llvm::SmallVector<VariantOp, 1> getVariants();
    /// The sizes of a tensor argument: names, and numbers where they are static.
    ::llvm::SmallVector<::mlir::Attribute> getSizes(unsigned argument);
    /// The plan of a binary or module beside it; null if it has none.
    static PlanOp of(::mlir::Operation *binary);
  }];
}

def Launch_TemporaryOp : Launch_Op<"temporary", [HasParent<"PlanOp">]> {
  let summary = "a tensor that one launch of a call writes and a later one reads";
  let description = [{
    It is in the workspace, where the runtime places it after the bytes of the kernels: row-major, each row at a
    multiple of 16 bytes. Kernels and expressions use it like a tensor argument of that name and symbol.

    **Constraints**
    - C1: a static or dynamic tensor, and an expression for each of its dimensions

    **Example** `launch.temporary "lse_part" : tensor<?x?x?x?xf32> sizes [4, b, hq, sq]`
  }];
  let arguments = (ins StrAttr:$name, TypeAttrOf<AnyRankedTensor>:$type, ArrayAttr:$sizes);
  let assemblyFormat = "$name `:` $type `sizes` custom<Sizes>($sizes) attr-dict";
  let hasVerifier = 1;
}

def Launch_CheckOp : Launch_Op<"check", [HasParent<"PlanOp">]> {
  let summary = "a condition that each launch must meet";
  let description = [{
    If `expr` does not equal `equals`, the runtime refuses the launch with the message, in
    which it replaces names in braces by their values.

    **Example** `launch.check mod(hq, hk) equals 0 "{hq} query heads are not a multiple of {hk} key heads"`
  }];
  let arguments = (ins Launch_Expr:$expr, I64Attr:$equals, StrAttr:$message);
  let assemblyFormat = "custom<Expr>($expr) `equals` $equals $message attr-dict";
}

def Launch_VariantOp : Launch_Op<"variant", [HasParent<"PlanOp">, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "one way to compute the problem: values, and launches of kernels";
  let description = [{
    The first variant whose `when` is not 0 runs. `condition` is the reason in words. A launch needs
    `workspace` bytes, of which the first `zeroed` are 0 before and after it. `numerics` bounds
    the errors of O and LSE, `gradients` those of gradients. `schedule` is for people.

    **Constraints**
    - C1: values, then at least one kernel
    - C2: if there are several kernels, each has its own schedule; a single one has that of the variant

    **Example**
    ```mlir
    launch.variant when ge(512, sk) condition <seqlen_k at_most 512> workspace 4 zeroed 4 {
      launch.kernel @few_keys grid min(hq, sm_count) block 384 cluster 1 shared 1024 params [#launch.workspace]
    }
    ```
  }];
  let arguments = (ins OptionalAttr<Launch_Expr>:$when, OptionalAttr<Attn_ConditionAttr>:$condition,
    Launch_Expr:$workspace, OptionalAttr<Launch_CountAttr>:$zeroed, OptionalAttr<Launch_NumericsAttr>:$numerics,
    OptionalAttr<Launch_GradientNumericsAttr>:$gradient_numerics, OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `` custom<When>($when) (`condition` $condition^)? `workspace` custom<Expr>($workspace) (`zeroed` $zeroed^)?
    (`numerics` $numerics^)? (`gradients` $gradient_numerics^)? (`schedule` $schedule^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<KernelOp, 1> getKernels();
    /// The report of one of its kernels; null if none has one.
    ReportAttr getReport();
  }];
}

def Launch_ValueOp : Launch_Op<"value", [ParentOneOf<["PlanOp", "VariantOp"]>]> {
  let summary = "a name for an expression in a plan or a variant";
  let description = [{
    Temporaries, checks and variants may use the values of a plan.

    **Example** `launch.value "cut.tail" = mod(mul(sq, b), sm_count)`
  }];
  let arguments = (ins StrAttr:$name, Launch_Expr:$expr);
  let assemblyFormat = "$name `=` custom<Expr>($expr) attr-dict";
}

def Launch_KernelOp : Launch_Op<"kernel", [HasParent<"VariantOp">]> {
  let summary = "the launch of a kernel";
  let description = [{
    `grid` CTAs of `block` threads each, in clusters of `cluster` CTAs, with `shared` bytes of shared
    memory. `dependent`: the kernel may start before the previous launch in the stream has ended,
    and waits for its end itself. `params` are the kernel's, in order. `schedule` is for people.

    **Example**
    ```mlir
    launch.kernel @fwd grid min(mul(ceildiv(sq, 128), hq), sm_count) block 384 cluster 1 shared 197632 dependent
        params [#launch.pointer<"o" aligned_rows>, #launch.workspace, #launch.number<i64 o.stride.1>, #launch.scalar<"scale">]
        report <roles [<"load" replicas 1 warps 1 registers 40>] mbarriers 0 rung 0>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Launch_Expr:$grid, Launch_CountAttr:$block, Launch_CountAttr:$cluster,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$shared, UnitAttr:$dependent, Launch_Params:$params,
    OptionalAttr<Launch_ReportAttr>:$report, OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    $kernel `grid` custom<Expr>($grid) `block` $block `cluster` $cluster `shared` $shared (`dependent` $dependent^)?
    `params` custom<Params>($params) (`report` $report^)? (`schedule` $schedule^)? attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Before the plan
//===----------------------------------------------------------------------===//

def Launch_SequenceOp : Launch_Op<"sequence"> {
  let summary = "the launches of one call, in order";
  let description = [{
    The functions or kernels of a call that needs several launches have one of these beside them, from
    `attn-split-launches` on. `launches` has the name of each: that of its function or kernel, or the group of
    the variants from which one is chosen. An argument has the same name in all kernels. Arguments in `temporaries`
    are not the caller's: a launch writes them and later ones read them. `sizes` gives the sizes of temporaries
    that no argument of the caller has. `problem` is the computation of all launches together; without one it is
    that of the last. `attn-lower-to-nvvm` replaces the op by the `launch.plan` `name`.

    **Constraints**
    - C1: at least two launches with different names
    - C2: the names of temporaries are different; sizes are expressions

    **Example**
    ```mlir
    launch.sequence "f_bwd" launches ["f_bwd_delta", "f_bwd_dq"] temporaries ["dl", "lse2"]
        sizes {sr = #launch.apply<mul(ceildiv(sq, 128), 128)>}
    ```
  }];
  let arguments = (ins StrAttr:$name, StrArrayAttr:$launches, StrArrayAttr:$temporaries,
    DefaultValuedAttr<DictionaryAttr, "{}">:$sizes, OptionalAttr<Attn_ProblemAttr>:$problem);
  let assemblyFormat = [{
    $name `launches` $launches `temporaries` $temporaries (`sizes` $sizes^)? (`problem` $problem^)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_LAUNCHOPS_TD
