// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Requests about schedules, as JSON, for programs that search schedules
// (attn-tune, the bench, tests). docs/tuning.md documents them.
#ifndef ATTN_PASSES_SCHEDULE_SCHEDULEREQUESTS_H
#define ATTN_PASSES_SCHEDULE_SCHEDULEREQUESTS_H

#include "attn/dialect/Attn.h"

namespace attn {

class ScheduleRequests {
public:
  ScheduleRequests();

  /// Returns the reply to one request: an object on one line, with "error" if
  /// the request cannot be answered.
  std::string answer(llvm::StringRef request);

private:
  mlir::MLIRContext context;
};

} // namespace attn

#endif // ATTN_PASSES_SCHEDULE_SCHEDULEREQUESTS_H
