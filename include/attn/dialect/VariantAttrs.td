// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// #attn.condition and #attn.variant: which kernel of several runs a launch.
#ifndef ATTN_DIALECT_VARIANTATTRS_TD
#define ATTN_DIALECT_VARIANTATTRS_TD

include "attn/dialect/AttnEnums.td"

def Attn_BoundAttr : AttrDef<Attn_Dialect, "Bound"> {
  let attrName = "attn.part.Bound";
  let summary = "a bound on one size of a launch; only #attn.condition prints it";
  let parameters = (ins "::attn::LaunchSize":$size, "::attn::BoundSide":$side, "int64_t":$value);
}

def Attn_ConditionAttr : AttrDef<Attn_Dialect, "Condition"> {
  let mnemonic = "condition";
  let summary = "bounds on the sizes of a launch, all of which must hold";
  let description = [{
    ```
    condition := `<` bound (`and` bound)* `>`
    bound     := (`seqlen_q` | `seqlen_k` | `rows`) (`at_most` | `above`) n
    ```
    `rows` is the number of query positions of all heads and batches. The number
    of work items is not one of the sizes, because it depends on the tile that the
    condition chooses.

    **Constraints**
    - C1: a size has at most one bound on each side, the one above below the other
    - C2: bounds are at least 0

    **Example** `#attn.condition<seqlen_k at_most 1024 and rows above 16896>`
  }];
  let parameters = (ins ArrayRefParameter<"::attn::BoundAttr">:$bounds);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The bounds, without brackets.
    std::string getText() const;
  }];
}

def Attn_VariantAttr : AttrDef<Attn_Dialect, "Variant"> {
  let mnemonic = "variant";
  let summary = "one kernel of several that share a launch plan";
  let description = [{
    The kernels of a module with the same `group`, which names the plan, are tried
    in order: the first whose condition holds runs. The last of a group has none,
    unless static sizes decide its condition.

    **Example** `#attn.variant<"causal" when <seqlen_k at_most 1024>>`
  }];
  let parameters = (ins "::mlir::StringAttr":$group,
    OptionalParameter<"::attn::ConditionAttr">:$when);
  let assemblyFormat = "`<` $group (`when` $when^)? `>`";
}

#endif // ATTN_DIALECT_VARIANTATTRS_TD
