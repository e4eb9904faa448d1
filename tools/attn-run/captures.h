// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What regions capture: the shapes and contents of tensors, and scalars.

#ifndef ATTN_TOOLS_ATTN_RUN_CAPTURES_H
#define ATTN_TOOLS_ATTN_RUN_CAPTURES_H

#include "host_tensor.h"
#include "region.h"

#include <map>

namespace attn::run {

struct Problem;

/// What a captured tensor is filled with.
struct TensorContent {
  enum Kind {
    Default,   // Normal, Documents of integers, 0 and 1 of bools
    Normal,    // standard normal
    Slopes,    // ALiBi's, along the last dim
    Documents, // sorted ids from 0 on along the last dim, about five
    Integers,  // from `least` to `most`
    File       // of a .npy file
  };
  Kind kind = Default;
  int64_t least = 0;
  int64_t most = 0;
  std::string path;
  /// Empty where it follows from how the regions index the tensor.
  std::vector<int64_t> shape;
};

/// What --scalar and --tensor say, by name.
struct GivenCaptures {
  std::map<std::string, double> scalars;
  std::map<std::string, TensorContent> tensors;

  /// As options of the command line, each after a space.
  std::string spell() const;
};

/// Reads "NAME=VALUE". False if it is none.
bool parseScalar(const std::string &text, GivenCaptures &given);
/// Reads "NAME=EXTENTS", "NAME=CONTENT" or "NAME=EXTENTS:CONTENT".
bool parseTensor(const std::string &text, GivenCaptures &given);

/// Empty, or which name is no capture of the plan of its kind, or which scalar
/// is not given.
std::string checkCaptures(const runtime::LaunchPlan &plan,
                          const GivenCaptures &given);

/// Finds the shape of captured tensor `arg`: as given, as the plan fixes it, or
/// from how the regions index it. A dim that is indexed by something else is as
/// long as the longer sequence.
bool captureShape(const runtime::LaunchPlan &plan, int arg,
                  const Problem &problem, std::vector<int64_t> &shape,
                  std::string &err);

/// Fills a captured tensor. `stream` is that of its random numbers.
bool fillCapture(const Problem &problem, uint64_t stream, HostTensor &tensor,
                 std::string &err);

/// The captures of `plan`, read back from the tensors that the kernel got.
Captures readCaptures(const runtime::LaunchPlan &plan, const Problem &problem,
                      const std::vector<HostTensor> &tensors);

/// Whether an argument is what the regions capture, not one that every plan or
/// the mask has.
bool isCapture(const runtime::LaunchPlan &plan, const runtime::PlanArg &arg);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_CAPTURES_H
