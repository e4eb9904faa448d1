// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a kernel's body over a small buffer.

#ifndef ATTN_TEST_UNIT_SIM_CORE_KERNEL_H
#define ATTN_TEST_UNIT_SIM_CORE_KERNEL_H

#include "machine/instruction_set.h"
#include "machine/run_grid.h"

#include <cstring>
#include <gtest/gtest.h>

namespace attn::sim {

/// A kernel of one parameter, `out`: the address of `words` 32-bit words. The
/// body may use %r, %rd, %rs and %p, and finds the address in %rd0 and the
/// thread's own word in %rd1.
struct Kernel {
  std::string body;
  unsigned threads = 32;
  unsigned grid = 1;
  unsigned gridRows = 1;
  unsigned cluster = 1;
  /// See GridLaunch.
  bool dependent = false;
  uint64_t resident = 0;
  std::string version = "8.0";
  std::string target = "sm_90a";
  /// Functions before the kernel.
  std::string functions;
  uint32_t dynamicShared = 4096;
  uint64_t seed = 0;
  uint64_t budget = 10000000;
  HazardMode hazards = HazardMode::Error;
  WgmmaArithmetic sums = WgmmaArithmetic::Hardware;
  unsigned hostThreads = 0;
  std::vector<uint32_t> words = std::vector<uint32_t>(4096);
  /// How many of `words` the kernel has to write before it reads them.
  unsigned freshWords = 0;
  std::string failure;
  Reports reports;
  ObserverSource *observers = nullptr;
  uint64_t instructions = 0;

  std::string text() const {
    return ".version " + version + "\n.target " + target +
           "\n.address_size 64\n"
           ".extern .shared .align 1024 .b8 smem[];\n" +
           functions +
           ".visible .entry kernel(.param .u64 out)\n{\n"
           ".reg .pred %p<32>;\n.reg .b16 %rs<32>;\n.reg .b32 %r<256>;\n"
           ".reg .b64 %rd<32>;\n"
           "ld.param.b64 %rd0, [out];\nmov.u32 %r0, %tid.x;\n"
           "mul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd1, %rd0, %rd1;\n" +
           body + "\n}\n";
  }

  /// "", or why it could not run, or what it did wrong.
  const std::string &run() {
    auto module = std::make_shared<ptx::Module>();
    Diagnostic diagnostic;
    Program program;
    if (!ptx::parse(text(), *module, diagnostic) ||
        !decode(module, "kernel", program, diagnostic)) {
      return failure = diagnostic.text();
    }
    GlobalMemory memory;
    memory.add(words.data(), words.size() * 4, "out");
    GridLaunch launch;
    launch.grid[0] = grid;
    launch.grid[1] = gridRows;
    launch.cluster[0] = cluster;
    launch.block[0] = threads;
    launch.dynamicShared = dynamicShared;
    launch.dependent = dependent;
    launch.resident = resident;
    uint64_t address = reinterpret_cast<uintptr_t>(words.data());
    launch.params.resize(8);
    std::memcpy(launch.params.data(), &address, 8);
    if (freshWords) {
      launch.fresh.push_back({address, freshWords * 4});
    }
    SimOptions options;
    options.seed = seed;
    options.budget = budget;
    options.hazards = hazards;
    options.sums = sums;
    options.threads = hostThreads;
    options.observers = observers;
    GridResult result = runGrid(program, launch, memory, options);
    reports = std::move(result.reports);
    instructions = result.warpInstructions;
    return failure = std::move(result.failure);
  }
};

inline Kernel runKernel(std::string body, unsigned threads = 32,
                        uint64_t seed = 0) {
  Kernel kernel;
  kernel.body = std::move(body);
  kernel.threads = threads;
  kernel.seed = seed;
  kernel.run();
  return kernel;
}

} // namespace attn::sim

#endif // ATTN_TEST_UNIT_SIM_CORE_KERNEL_H
