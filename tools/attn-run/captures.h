// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The captures of regions: the shapes and contents of tensors, and scalars.

#ifndef ATTN_TOOLS_ATTN_RUN_CAPTURES_H
#define ATTN_TOOLS_ATTN_RUN_CAPTURES_H

#include "host_tensor.h"
#include "region.h"

#include <map>

namespace attn::run {

struct Problem;

/// The content of a captured tensor.
struct TensorContent {
  enum Kind {
    Default,   // Normal; for integers Documents; for bools 0 and 1
    Normal,    // standard normal
    Slopes,    // ALiBi's, along the last dim
    Documents, // sorted ids from 0 on along the last dim, about five
    Integers,  // from `least` to `most`
    File       // the elements of a .npy file
  };
  Kind kind = Default;
  int64_t least = 0;
  int64_t most = 0;
  std::string path;
  /// Empty if it follows from how the regions index the tensor.
  std::vector<int64_t> shape;
};

/// The values of --scalar and --tensor, by name.
struct GivenCaptures {
  std::map<std::string, double> scalars;
  std::map<std::string, TensorContent> tensors;

  /// Returns the options of the command line, each preceded by a space.
  std::string spell() const;
};

/// Reads "NAME=VALUE". Returns false if the text has another form.
bool parseScalar(const std::string &text, GivenCaptures &given);
/// Reads "NAME=EXTENTS", "NAME=CONTENT" or "NAME=EXTENTS:CONTENT".
bool parseTensor(const std::string &text, GivenCaptures &given);

/// Returns which name is not a capture of this kind in the plan, or which
/// scalar is missing, or "".
std::string checkCaptures(const runtime::LaunchPlan &plan,
                          const GivenCaptures &given);

/// Finds the shape of captured tensor `arg`: as given, as fixed by the plan, or
/// from how the regions index it. A dim with any other index gets the length of
/// the longer sequence.
bool captureShape(const runtime::LaunchPlan &plan, int arg,
                  const Problem &problem, std::vector<int64_t> &shape,
                  std::string &err);

/// Fills a captured tensor. `stream` selects its random numbers.
bool fillCapture(const Problem &problem, uint64_t stream, HostTensor &tensor,
                 std::string &err);

/// Returns the captures of `plan`, read back from the tensors that the kernel
/// received.
Captures readCaptures(const runtime::LaunchPlan &plan, const Problem &problem,
                      const std::vector<HostTensor> &tensors);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_CAPTURES_H
