// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How passes say what they decided: MLIR's optimization remarks, of category
// "attn" and named as the pass.
#ifndef ATTN_SUPPORT_DECISION_H
#define ATTN_SUPPORT_DECISION_H

#include "mlir/IR/Remarks.h"

namespace attn {

/// Options of a remark of pass `pass` ("attn-" left out).
inline mlir::remark::RemarkOpts decisionOf(llvm::StringRef pass) {
  return mlir::remark::RemarkOpts::name(pass).category("attn");
}

/// What `pass` decided about what stands at `location`.
inline mlir::remark::detail::InFlightRemark decided(mlir::Location location,
                                                    llvm::StringRef pass) {
  return mlir::remark::passed(location, decisionOf(pass));
}

} // namespace attn

#endif // ATTN_SUPPORT_DECISION_H
