// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-run on a PTX file, with a launch file.

#ifndef ATTN_TOOLS_ATTN_RUN_PTX_LAUNCH_H
#define ATTN_TOOLS_ATTN_RUN_PTX_LAUNCH_H

#include "options.h"

namespace attn::run {

/// Runs the PTX of the options as its launch file describes, once for each
/// schedule, prints the results, and returns whether all checks passed. Returns
/// false with `err` set if it could not run.
bool runPtx(const Options &options, std::string &err);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_PTX_LAUNCH_H
