// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names that schedules use for the values of a kernel, and their axes. The
// default names of each kind of kernel are the files of
// passes/schedule/data/values.
#ifndef ATTN_DIALECT_VALUESATTR_TD
#define ATTN_DIALECT_VALUESATTR_TD

include "attn/dialect/AttnEnums.td"

def Attn_ValuesAttr : AttrDef<Attn_Dialect, "Values"> {
  let mnemonic = "values";
  let summary = "names of some values in order, each with the axes of its tile";
  let description = [{
    `#attn.values<s<M, N>, w>`: a tile with rows along M and columns along N, and a
    value that is no tile.
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::StringAttr">:$names,
    OptionalArrayRefParameter<"::mlir::ArrayAttr">:$axes);
  let hasCustomAssemblyFormat = 1;
}

def Attn_KernelValuesAttr : AttrDef<Attn_Dialect, "KernelValues"> {
  let mnemonic = "kernel_values";
  let summary = "the values of a kind of kernel: of its loop and of its steps";
  let description = [{
    ```
    #attn.kernel_values<fwd {
      carried m<M>, l<M>
      final mf<M>, lf<M>
      step stat m1<M>, alpha<M>
    }>
    ```
    `carried`: arguments of the loop's body; `final`: its results.
  }];
  let parameters = (ins EnumParameter<Attn_KernelKind>:$kind,
    "::attn::ValuesAttr":$carried, "::attn::ValuesAttr":$final,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$steps,
    OptionalArrayRefParameter<"::attn::ValuesAttr">:$values);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Values of a step; null where it is not listed.
    ::attn::ValuesAttr findStep(::llvm::StringRef name) const;
  }];
}

#endif // ATTN_DIALECT_VALUESATTR_TD
