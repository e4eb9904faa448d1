// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions about schedules, as JSON: for what searches them (attn-tune, the
// bench, tests). docs/tuning.md has the requests.
#ifndef ATTN_PASSES_SCHEDULE_SCHEDULEREQUESTS_H
#define ATTN_PASSES_SCHEDULE_SCHEDULEREQUESTS_H

#include "attn/dialect/Attn.h"

namespace attn {

class ScheduleRequests {
public:
  ScheduleRequests();

  /// Returns the reply to one request: an object in one line, with "error"
  /// where the request cannot be answered.
  std::string answer(llvm::StringRef request);

private:
  mlir::MLIRContext context;
};

} // namespace attn

#endif // ATTN_PASSES_SCHEDULE_SCHEDULEREQUESTS_H
