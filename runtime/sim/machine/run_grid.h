// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running a grid: makes its clusters and what looks for hazards in them.

#ifndef ATTN_SIM_MACHINE_RUN_GRID_H
#define ATTN_SIM_MACHINE_RUN_GRID_H

#include "core/launch.h"

namespace attn::sim {

/// Executes a grid and waits for its end.
GridResult runGrid(const Program &program, const GridLaunch &launch,
                   const GlobalMemory &memory, const SimOptions &options);

} // namespace attn::sim

#endif // ATTN_SIM_MACHINE_RUN_GRID_H
