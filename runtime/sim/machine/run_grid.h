// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a grid: creates its clusters and their hazard tracking.

#ifndef ATTN_SIM_MACHINE_RUN_GRID_H
#define ATTN_SIM_MACHINE_RUN_GRID_H

#include "core/launch.h"

namespace attn::sim {

/// Executes a grid and waits for its end.
GridResult runGrid(const Program &program, const GridLaunch &launch,
                   const GlobalMemory &memory, const SimOptions &options);

} // namespace attn::sim

#endif // ATTN_SIM_MACHINE_RUN_GRID_H
