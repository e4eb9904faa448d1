// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTNOPS_TD
#define ATTN_DIALECT_ATTNOPS_TD

include "attn/dialect/ArgumentAttrs.td"
include "attn/dialect/AttentionOp.td"
include "attn/dialect/ScheduleAttrs.td"
include "attn/dialect/VariantAttrs.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Attn_KernelKindAttr : EnumAttr<Attn_Dialect, Attn_KernelKind, "kernel_kind"> {
  let assemblyFormat = "$value";
}

class Attn_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Attn_Dialect, opMnemonic, traits>;

def Attn_TableEntryOp : Attn_Op<"table_entry", [Symbol]> {
  let summary = "one line of a schedule table: key, #attn.config and #attn.schedule";
  let description = [{
    The key is the kernel kind, the machine (that of the schedule, and `machines` that it
    is for as well) and the problem class: head sizes (-1: any), the masks it serves (`window`: bounds of a
    window; `gathers`: also regions that read captured tensors at positions), and the element types (absent: bf16 and f16). A smaller head dim
    runs on the entry with the fewest columns that hold it; the rest are zero. Of
    files with as many columns, the one that serves the fewest masks is taken.

    A schedule file is a module of such ops, and the table is all the files of
    `passes/schedule/data/schedules` and `passes/schedule/data/rungs`. The entries of one file are for
    the same kind, head sizes and machine. Those that serve a problem are tried in
    order, at each launch: the first whose condition `when` holds runs.

    The files for the same head sizes are a ladder, by the `rung` of their configs. A
    problem is compiled on the lowest rung that serves it and, where the assembler spills
    registers there, on the next.

    **Constraints** (of a file)
    - C1: the entries have the kind, head sizes and machines of the last
    - C2: the last entry has no `when`
    - C3: the last entry serves the masks and element types of the others
    - C4: of every entry something is left by those before it that serve as much
    - C5: the entries have the `rung` of the last
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Attn_KernelKindAttr:$kind,
    I64Attr:$head_dim, I64Attr:$head_dim_v, StrArrayAttr:$masks,
    OptionalAttr<StrArrayAttr>:$dtypes, OptionalAttr<StrArrayAttr>:$machines, OptionalAttr<Attn_ConditionAttr>:$when,
    Attn_ConfigAttr:$config, Attn_ScheduleAttr:$schedule);
  let assemblyFormat = [{
    $kind $sym_name `head_dim` $head_dim `,` $head_dim_v `masks` $masks
    (`dtypes` $dtypes^)? (`machines` $machines^)? (`when` $when^)? `config` $config `schedule` $schedule attr-dict
  }];
}

#endif // ATTN_DIALECT_ATTNOPS_TD
