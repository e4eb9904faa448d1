// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-run on a plain PTX file: its launch is in another file.

#ifndef ATTN_TOOLS_ATTN_RUN_PTX_LAUNCH_H
#define ATTN_TOOLS_ATTN_RUN_PTX_LAUNCH_H

#include "options.h"

namespace attn::run {

/// Runs the options' PTX as their launch file says, once a schedule, prints
/// what came of it and returns whether all is well. False with `err` set if it
/// could not be run.
bool runPtx(const Options &options, std::string &err);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_PTX_LAUNCH_H
