// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's definitions of tables, once: the file has no guard of its own.
#ifndef ATTN_DIALECT_TABLES_TD
#define ATTN_DIALECT_TABLES_TD

include "llvm/TableGen/SearchableTable.td"

#endif // ATTN_DIALECT_TABLES_TD
