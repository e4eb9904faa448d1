// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTNOPS_TD
#define ATTN_DIALECT_ATTNOPS_TD

include "attn/dialect/ArgumentAttrs.td"
include "attn/dialect/AttentionOp.td"
include "attn/dialect/BackwardOps.td"
include "attn/dialect/ScheduleAttrs.td"
include "attn/dialect/VariantAttrs.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Attn_KernelKindAttr : EnumAttr<Attn_Dialect, Attn_KernelKind, "kernel_kind"> {
  let assemblyFormat = "$value";
}

def Attn_DtypesAttr : TypedArrayAttrBase<TypeAttrOf<AnyTypeOf<[BF16, F16], "", "::mlir::FloatType">>,
  "bf16 and f16">;

class Attn_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Attn_Dialect, opMnemonic, traits>;

def Attn_TableEntryOp : Attn_Op<"table_entry", [Symbol]> {
  let summary = "one entry of the schedule table: key, #attn.config and #attn.schedule";
  let description = [{
    The key is the kernel kind, the machine (the one of the schedule, and any others in
    `machines`) and the problem class: head dims (-1: any), masks (`window`: bounds of a
    window; `gathers`: also regions that read captured tensors at positions), and element
    types (absent: bf16 and f16). A problem with a smaller head dim uses the entry with the
    fewest columns that are enough; the remaining columns are zero. If several files need the
    same number of columns, the one with the fewest columns of Q is used, and of these the one that covers the fewest masks. An entry that is `exact` is only for its own
    head dims: problems with smaller ones, for which its tiles are not fast, use the next wider entry. The columns of
    the tiles are the head dims of the entry,
    or `tile_d` and `tile_dv` of its config, if these are not 0.

    An entry that is `packed` is for problems whose heads are static: the query heads of one
    head of K and V share the rows of a tile, so `pack_gqa` of its config is the number of
    query heads for each head of K and V. The entries of a packed file of the table are tried first, those of another
    file follow. If `pack_gqa` cannot have the ratio as its value, or if a region needs the head of a row, only the
    others are used.

    A schedule file is a module of such ops. The table is all files of
    `passes/schedule/data/schedules` and `passes/schedule/data/rungs`. The entries of one
    file are for the same kind, head dims and machines. At each launch the entries that cover
    the problem are tried in order: the first one whose condition `when` holds runs.

    The files for the same head dims form a ladder, ordered by the `rung` of their configs. A
    problem is compiled with the lowest rung that covers it; if the assembler spills
    registers, it is compiled with the next rung.

    **Constraints** (of a file)
    - C1: all entries have the kind, head dims and machines of the last
    - C2: the last entry has no `when`, unless it is `packed`
    - C3: the last entry covers the masks and element types of the others
    - C4: no entry is unreachable: earlier entries that cover all of its problems leave some
      launch for it
    - C5: all entries have the `rung` of the last
    - C6: all entries are `exact`, or none; all are `packed`, or none
    - C7: the config of a `packed` entry has no `pack_gqa`

    **Example**
    ```mlir
    attn.table_entry fwd @short head_dim 64, 64 masks ["none", "causal_top_left"] when <seqlen_k at_most 1024>
        config <tile_m = 128, tile_n = 128, work = grid>
        schedule <"short" machine "sm_90a" { role load warps 1 regs 24 role wg[2] warps 4 regs 240 }>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Attn_KernelKindAttr:$kind,
    I64Attr:$head_dim, I64Attr:$head_dim_v, UnitAttr:$exact, UnitAttr:$packed, Attn_TableMasksAttr:$masks,
    OptionalAttr<Attn_DtypesAttr>:$dtypes, OptionalAttr<StrArrayAttr>:$machines, OptionalAttr<Attn_ConditionAttr>:$when,
    Attn_ConfigAttr:$config, Attn_ScheduleAttr:$schedule);
  let assemblyFormat = [{
    $kind $sym_name `head_dim` $head_dim `,` $head_dim_v (`exact` $exact^)? (`packed` $packed^)? `masks` custom<TableMasks>($masks)
    (`dtypes` $dtypes^)? (`machines` $machines^)? (`when` $when^)? `config` $config `schedule` $schedule attr-dict
  }];
}

#endif // ATTN_DIALECT_ATTNOPS_TD
