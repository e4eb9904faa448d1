// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions of launch plans, the parameters of kernels, and the facts about a
// kernel that a plan has for people.
#ifndef ATTN_DIALECT_LAUNCHATTRS_TD
#define ATTN_DIALECT_LAUNCHATTRS_TD

include "attn/dialect/AttnEnums.td"
include "attn/dialect/LaunchEnums.td"
include "attn/dialect/WsEnums.td"

def Launch_Dialect : Dialect {
  let name = "launch";
  let cppNamespace = "::attn::launch";
  let summary = "The host's side of a kernel: arguments, checks and launches";
  let description = [{
    A `launch.plan` is beside the kernels of each `gpu.module` and `gpu.binary`, from
    `attn-lower-to-nvvm` on. When the bundle is written it becomes the JSON that
    [the runtime reads](../launch-plan.md).

    **Expressions** are computed by the runtime, in 64 bits:
    ```
    expression := number | name | operator `(` expression (`,` expression)* `)`
    operator   := `add` | `sub` | `mul` | `div` | `ceildiv` | `mod` | `min` | `max`
                | `eq` | `ge` | `lt` | `select`
    ```
    A name is that of a size, of a stride (`q.stride.1`), of an integer argument, of a
    `launch.value`, or `sm_count`. A name that is no identifier is quoted.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::attn::AttnDialect"];
}

class Launch_Attr<string name, string attrMnemonic> : AttrDef<Launch_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Launch_ApplyAttr : Launch_Attr<"Apply", "apply"> {
  let summary = "an operator of launch plans and its operands, which are expressions";
  let description = [{
    **Constraints**
    - C1: as many operands as the operator has; `add`, `mul`, `min` and `max` may have more
    - C2: at most 255 operands

    **Example** `#launch.apply<mul(ceildiv(sq, 128), hq, b)>`
  }];
  let parameters = (ins "::attn::LaunchOp":$op, ArrayRefParameter<"::mlir::Attribute">:$operands);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Launch_Expr : Attr<CPred<"::attn::launch::isExpression($_self)">, "expression of a launch plan"> {
  let storageType = "::mlir::Attribute";
  let returnType = "::mlir::Attribute";
  let convertFromStorage = "$_self";
}

//===----------------------------------------------------------------------===//
// Parameters of kernels
//===----------------------------------------------------------------------===//

def Launch_MapDimAttr : Launch_Attr<"MapDim", "map_dim"> {
  let summary = "one dimension of a tensor map";
  let description = [{
    `size` counts elements, `stride` bytes; `box` is the number of elements that one copy moves.

    **Example** `#launch.map_dim<size sq stride mul(q.stride.1, 2) box 128>`
  }];
  let parameters = (ins "::mlir::Attribute":$size, OptionalParameter<"::mlir::Attribute">:$stride, "int64_t":$box);
  let assemblyFormat = "`<` `size` custom<Expr>($size) `` custom<Stride>($stride) `box` $box `>`";
}

def Launch_TensorMapAttr : Launch_Attr<"TensorMap", "tensor_map"> {
  let summary = "a parameter: how copies find the tiles of a tensor argument";
  let description = [{
    **Constraints**
    - C1: 1 to 5 dimensions, innermost first
    - C2: the first has no stride, as its elements are contiguous; the others have one

    **Example** `#launch.tensor_map<"q" span b128 promotion b256 dims [<size 64 box 64>, <size sq stride mul(q.stride.1, 2) box 128>]>`
  }];
  let parameters = (ins "::mlir::StringAttr":$argument, EnumParameter<Launch_Span>:$span,
    EnumParameter<Launch_Promotion>:$promotion, ArrayRefParameter<"::attn::launch::MapDimAttr">:$dims);
  let assemblyFormat = "`<` $argument `span` $span `promotion` $promotion `dims` ` ` `[` $dims `]` `>`";
  let genVerifyDecl = 1;
}

def Launch_PointerAttr : Launch_Attr<"Pointer", "pointer"> {
  let summary = "a parameter: the first element of a tensor argument";
  let description = [{
    `aligned_rows`: rows must begin at multiples of 16 bytes, as threads access several elements at a time.

    **Example** `#launch.pointer<"o" aligned_rows>`
  }];
  let parameters = (ins "::mlir::StringAttr":$argument, "bool":$aligned_rows);
  let assemblyFormat = "`<` $argument `` custom<AlignedRows>($aligned_rows) `>`";
}

def Launch_WorkspaceAttr : Launch_Attr<"Workspace", "workspace"> {
  let summary = "a parameter: the first byte of the workspace";
  let description = "**Example** `#launch.workspace`";
}

def Launch_NumberAttr : Launch_Attr<"Number", "number"> {
  let summary = "a parameter: the value of an expression";
  let description = [{
    **Constraints**
    - C1: the type is i32 or i64

    **Example** `#launch.number<i32 ceildiv(sq, 128)>`
  }];
  let parameters = (ins "::mlir::Type":$type, "::mlir::Attribute":$expr);
  let assemblyFormat = "`<` $type custom<Expr>($expr) `>`";
  let genVerifyDecl = 1;
}

def Launch_ScalarAttr : Launch_Attr<"Scalar", "scalar"> {
  let summary = "a parameter: an f32 argument";
  let description = "**Example** `#launch.scalar<\"scale\">`";
  let parameters = (ins "::mlir::StringAttr":$argument);
  let assemblyFormat = "`<` $argument `>`";
}

def Launch_Params : TypedArrayAttrBase<
  AnyAttrOf<[Launch_TensorMapAttr, Launch_PointerAttr, Launch_WorkspaceAttr, Launch_NumberAttr, Launch_ScalarAttr]>,
  "parameters of a kernel">;

//===----------------------------------------------------------------------===//
// For people
//===----------------------------------------------------------------------===//

class Launch_ContractAttr<string name, string mnemonic, list<string> words, string contract>
    : Launch_Attr<name, mnemonic> {
  let description = "The numbers of the [contract](../launch-plan.md#" # contract # "), in this order: `" #
    !interleave(words, "`, `") # [{`.

**Constraints**
- C1: each is an f64 from 0 to below 1

**Example** `#launch.}] # mnemonic # "<" # !interleave(!foreach(word, words, word # " = 0.5"), ", ") # ">`";
  let parameters = (ins ArrayRefParameter<"::mlir::FloatAttr">:$bounds);
  let assemblyFormat = "`<` custom<ErrorBounds>($bounds, \"kWords\") `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The names of the bounds, in order.
    static constexpr ::llvm::StringLiteral kWords[] = {"}] # !interleave(words, "\", \"") # [{"};
  }];
}
def Launch_NumericsAttr
    : Launch_ContractAttr<"Numerics", "numerics", Attn_ErrorBounds, "numerics"> {
  let summary = "bounds on the error of O and LSE";
}

def Launch_GradientNumericsAttr
    : Launch_ContractAttr<"GradientNumerics", "gradient_numerics", Attn_GradientErrorBounds,
                          "numerics-of-gradients"> {
  let summary = "bounds on the errors of gradients, and of the row statistics that they are computed with";
}

def Launch_RoleAttr : Launch_Attr<"Role", "role"> {
  let summary = "the warps and registers of a role";
  let description = "**Example** `#launch.role<\"wg\" replicas 2 warps 4 registers 232>`";
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$replicas, "int64_t":$warps, "int64_t":$registers);
  let assemblyFormat = "`<` $name `replicas` $replicas `warps` $warps `registers` $registers `>`";
}

def Launch_StampAttr : Launch_Attr<"Stamp", "stamp"> {
  let summary = "the meaning of a stamp: an activity and its object";
  let description = "**Example** `#launch.stamp<acquire \"k\">`";
  let parameters = (ins EnumParameter<Ws_Activity>:$activity, "::mlir::StringAttr":$object);
  let assemblyFormat = "`<` $activity $object `>`";
}

def Launch_StampsAttr : Launch_Attr<"Stamps", "stamps"> {
  let summary = "where stamps are in the workspace, and what they mean";
  let description = "**Example** `#launch.stamps<offset 256 events 4096 ctas 4 names [<item \"\">]>`";
  let parameters = (ins "int64_t":$offset, "int64_t":$events, "int64_t":$ctas,
    ArrayRefParameter<"::attn::launch::StampAttr">:$names);
  let assemblyFormat = "`<` `offset` $offset `events` $events `ctas` $ctas `names` ` ` `[` $names `]` `>`";
}

def Launch_ReportAttr : Launch_Attr<"Report", "report"> {
  let summary = "what a kernel uses, for people";
  let description = [{
    The roles, the number of mbarriers, the [rung](../ladder.md) of its schedule, and its stamps if it
    has some. The launch has the threads and the shared memory.

    **Example** `#launch.report<roles [<"load" replicas 1 warps 1 registers 40>] mbarriers 12 rung 0>`
  }];
  let parameters = (ins ArrayRefParameter<"::attn::launch::RoleAttr">:$roles, "int64_t":$mbarriers, "int64_t":$rung,
    OptionalParameter<"::attn::launch::StampsAttr">:$stamps);
  let assemblyFormat = "`<` `roles` ` ` `[` $roles `]` `mbarriers` $mbarriers `rung` $rung (`stamps` $stamps^)? `>`";
}

#endif // ATTN_DIALECT_LAUNCHATTRS_TD
