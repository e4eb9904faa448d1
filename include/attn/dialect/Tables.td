// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What files of tables share. LLVM's file has no guard, so only this one includes it.
#ifndef ATTN_DIALECT_TABLES_TD
#define ATTN_DIALECT_TABLES_TD

include "llvm/TableGen/SearchableTable.td"

/// Converts `first_masked` to `FirstMasked`.
class Attn_Camel<string name> {
  defvar start = "_" # name;
  string text = !foldl("", !range(1, !size(start)), acc, i, acc # !cond(
      !eq(!substr(start, i, 1), "_") : "",
      !eq(!substr(start, !sub(i, 1), 1), "_") : !toupper(!substr(start, i, 1)),
      true : !substr(start, i, 1)));
}

#endif // ATTN_DIALECT_TABLES_TD
