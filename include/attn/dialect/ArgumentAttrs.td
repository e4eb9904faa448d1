// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// #attn.arguments: the names of a kernel's arguments, what it does with them, and
// what the runtime has to know of them.
#ifndef ATTN_DIALECT_ARGUMENTATTRS_TD
#define ATTN_DIALECT_ARGUMENTATTRS_TD

include "attn/dialect/AttnEnums.td"

def Attn_ArgumentAttr : AttrDef<Attn_Dialect, "Argument"> {
  let attrName = "attn.part.Argument";
  let summary = "one argument of a kernel; only #attn.arguments prints it";
  let parameters = (ins "::mlir::StringAttr":$name, "::attn::ArgumentAccess":$access,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$dims,
    OptionalParameter<"::mlir::FloatAttr">:$least, OptionalParameter<"::mlir::FloatAttr">:$most);
}

def Attn_ArgumentsAttr : AttrDef<Attn_Dialect, "Arguments"> {
  let mnemonic = "arguments";
  let summary = "the arguments of a kernel in order: names, accesses and dimensions";
  let description = [{
    ```
    arguments := `[` [argument (`,` argument)*] `]`
    argument  := string [`read` | `write` | `accumulate`] [dims] [values]
    dims      := `(` string (`,` string)* `)`
    values    := `from` float `to` float
    ```
    An argument is read unless the text says otherwise: written, each element once by
    one work item, or accumulated, where several work items add to one element. `dims`
    names the sizes of a tensor, dimension by dimension: sizes of one name are equal in each
    launch. Without them a tensor `x` has the sizes "x_d0", "x_d1", and so on. `values`: the
    f32 numbers that the kernel can compute with; a launch with another is refused.

    **Constraints**
    - C1: names are different
    - C2: names of sizes, and of arguments that are numbers, are neither `items` nor
      `sm_count`, have no '.' and no braces, do not begin with a digit or '-', and are UTF-8
    - C3: the `values` are finite, the first at most the last

    **Example** `args ["q" ("b", "sq", "hq", "d"), "scale", "lse" write ("b", "hq", "sq")]`
  }];
  let parameters = (ins OptionalArrayRefParameter<"::attn::ArgumentAttr">:$list);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    size_t size() const { return getList().size(); }
    ArgumentAttr operator[](size_t index) const { return getList()[index]; }
    /// Is there an argument of that name?
    bool has(::llvm::StringRef name) const;
    /// The names of the sizes of argument `index`, which has `rank` dimensions.
    ::llvm::SmallVector<std::string> dimsOf(size_t index, int64_t rank) const;
  }];
}

#endif // ATTN_DIALECT_ARGUMENTATTRS_TD
