// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One instruction over many operands: a thread for each.

#ifndef ATTN_TEST_UNIT_SIM_LANES_KERNEL_H
#define ATTN_TEST_UNIT_SIM_LANES_KERNEL_H

#include "core_kernel.h"

#include <array>

namespace attn::sim {

/// Up to three operands of 64 bits, and the result.
using LaneRow = std::array<uint64_t, 4>;

/// A kernel for sm_100a over `rows`, at most 1024: `body` finds the operands in
/// %rd10 to %rd12, and their low halves in %r10 to %r12, and leaves the result
/// in %rd13. After the run, `rows` has the results.
inline Kernel runLanes(std::vector<LaneRow> &rows, const std::string &body,
                       const std::string &version = "9.0") {
  Kernel kernel;
  kernel.version = version;
  kernel.target = "sm_100a";
  kernel.threads = unsigned(rows.size());
  kernel.words.resize(rows.size() * 8);
  std::memcpy(kernel.words.data(), rows.data(), rows.size() * 32);
  kernel.body = "mul.wide.u32 %rd2, %r0, 32;\nadd.s64 %rd2, %rd0, %rd2;\n"
                "ld.global.v2.b64 {%rd10, %rd11}, [%rd2];\n"
                "ld.global.b64 %rd12, [%rd2+16];\ncvt.u32.u64 %r10, %rd10;\n"
                "cvt.u32.u64 %r11, %rd11;\ncvt.u32.u64 %r12, %rd12;\n" +
                body + "\nst.global.b64 [%rd2+24], %rd13;\n";
  kernel.run();
  EXPECT_EQ(kernel.failure, "") << body;
  std::memcpy(rows.data(), kernel.words.data(), rows.size() * 32);
  return kernel;
}

/// Random bits.
class LaneRandom {
public:
  uint32_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return uint32_t(state >> 32);
  }

private:
  uint64_t state = 7;
};

/// Why a kernel for `target` of one instruction is refused, or "".
inline std::string refusal(const std::string &instruction,
                           const std::string &target = "sm_100a",
                           const std::string &version = "9.0") {
  Kernel kernel;
  kernel.version = version;
  kernel.target = target;
  kernel.body = instruction;
  auto module = std::make_shared<ptx::Module>();
  Diagnostic diagnostic;
  Program program;
  return ptx::parse(kernel.text(), *module, diagnostic) &&
                 decode(module, "kernel", program, diagnostic)
             ? ""
             : diagnostic.message;
}

} // namespace attn::sim

#endif // ATTN_TEST_UNIT_SIM_LANES_KERNEL_H
