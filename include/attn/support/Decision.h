// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports decisions of passes: MLIR's optimization remarks, of category "attn"
// and named after the pass.
#ifndef ATTN_SUPPORT_DECISION_H
#define ATTN_SUPPORT_DECISION_H

#include "mlir/IR/Remarks.h"

namespace attn {

/// Returns the options of a remark of pass `pass` (without "attn-").
inline mlir::remark::RemarkOpts decisionOf(llvm::StringRef pass) {
  return mlir::remark::RemarkOpts::name(pass).category("attn");
}

/// Reports a decision of `pass` about the op at `location`.
inline mlir::remark::detail::InFlightRemark decided(mlir::Location location,
                                                    llvm::StringRef pass) {
  return mlir::remark::passed(location, decisionOf(pass));
}

} // namespace attn

#endif // ATTN_SUPPORT_DECISION_H
