// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_LAUNCHENUMS_TD
#define ATTN_DIALECT_LAUNCHENUMS_TD

include "mlir/IR/EnumAttr.td"

// The values are bytes.
def Launch_Span : I32Enum<"Span", "the bytes within which a copy permutes the chunks of a row", [
      I32EnumCase<"None", 0, "none">,
      I32EnumCase<"B32", 32, "b32">,
      I32EnumCase<"B64", 64, "b64">,
      I32EnumCase<"B128", 128, "b128">]> {
  let cppNamespace = "::attn::launch";
}
def Launch_Promotion : I32Enum<"Promotion", "the bytes that the L2 cache reads for each request of a copy", [
      I32EnumCase<"None", 0, "none">,
      I32EnumCase<"B64", 64, "b64">,
      I32EnumCase<"B128", 128, "b128">,
      I32EnumCase<"B256", 256, "b256">]> {
  let cppNamespace = "::attn::launch";
}

#endif // ATTN_DIALECT_LAUNCHENUMS_TD
