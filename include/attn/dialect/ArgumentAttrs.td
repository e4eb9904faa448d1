// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// #attn.arguments: the arguments of a kernel, how it accesses them, and the
// properties that the runtime needs.
#ifndef ATTN_DIALECT_ARGUMENTATTRS_TD
#define ATTN_DIALECT_ARGUMENTATTRS_TD

include "attn/dialect/AttnEnums.td"

def Attn_ArgumentAttr : AttrDef<Attn_Dialect, "Argument"> {
  let attrName = "attn.part.Argument";
  let summary = "one argument of a kernel; only #attn.arguments prints it";
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$symbol,
    OptionalParameter<"std::optional<::attn::ArgumentRole>">:$role, "::attn::ArgumentAccess":$access,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$dims,
    OptionalParameter<"::mlir::FloatAttr">:$least, OptionalParameter<"::mlir::FloatAttr">:$most,
    OptionalParameter<"::mlir::IntegerAttr">:$fixed);
}

def Attn_ArgumentsAttr : AttrDef<Attn_Dialect, "Arguments"> {
  let mnemonic = "arguments";
  let summary = "the arguments of a kernel in order: names, roles, accesses and dimensions";
  let description = [{
    ```
    arguments := `[` [argument (`,` argument)*] `]`
    argument  := string [`as` string] [role] [`read` | `write` | `accumulate`] [dims] [values]
    role      := }] # !foldl("", Attn_RoleWords, text, word, text # !if(!empty(text), "", !if(
        !eq(!and(!cast<int>(word.number), 7), 0), "\n                 | ", " | ")) # "`" # word.word # "`") # [{
    dims      := `(` string (`,` string)* `)`
    values    := `from` float `to` float | `=` integer
    ```
    A launch gives an argument by its name, which may be any text. Expressions of the launch
    plan call it by its symbol, the string after `as`; without one the name is the symbol.

    Only the role says what an argument is to the computation; neither its name nor its
    position does. A kernel has one argument of each role, but any number of bounds,
    captures, `partial_sums` and gradients of captures. A bound is a number that a launch gives the mask; bounds have the order of
    the problem's bounds. A capture is an argument that a region reads.

    An argument is read unless the text says otherwise: written, each element once by
    one work item, or accumulated, where several work items add to one element. `dims`
    names the sizes of a tensor, dimension by dimension: sizes of one name are equal in each
    launch. Without them a tensor of symbol `x` has the sizes "x_d0", "x_d1", and so on. `from`
    and `to`: the range of f32 numbers that the kernel can compute with; a launch with a number outside is refused.
    `=`: the number that the kernel always gets; launches do not give it, and the launch plan
    does not list it.

    **Constraints**
    - C1: names are different, and so are symbols
    - C2: names are UTF-8 without a zero byte; symbols, and names of sizes, are neither `items` nor
      `sm_count`, have no '.' and no braces, do not begin with a digit or '-', and are UTF-8
    - C3: the `values` are finite, the first at most the last
    - C4: no role except `bound`, `capture`, `partial_sums` and `capture_gradient` occurs twice
    - C5: arguments of other roles than `output`, `lse`, `delta`, `lse2`, `query_gradient`,
      `key_gradient`, `value_gradient`, `query_gradient_sums`, `partial_sums`, `capture_gradient`, `turns` and `seeing_queries` are read
    - C8: only an i32 has a number after `=`, which fits it

    **Example** `args ["q" query ("b", "sq", "hq", "d"), "scale" scale, "lse" lse write ("b", "hq", "sq")]`
  }];
  let parameters = (ins OptionalArrayRefParameter<"::attn::ArgumentAttr">:$list);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    size_t size() const { return getList().size(); }
    ArgumentAttr operator[](size_t index) const { return getList()[index]; }
    /// The index of the argument of a role; none where there is no such argument.
    std::optional<unsigned> find(::attn::ArgumentRole role) const;
    /// The arguments of a role, in their order.
    ::llvm::SmallVector<ArgumentAttr> all(::attn::ArgumentRole role) const;
    /// The names of the sizes of argument `index`, which has `rank` dimensions.
    ::llvm::SmallVector<std::string> dimsOf(size_t index, int64_t rank) const;
  }];
}

#endif // ATTN_DIALECT_ARGUMENTATTRS_TD
