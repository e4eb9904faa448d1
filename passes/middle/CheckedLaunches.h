// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Invented launches of a kernel that its launch plan accepts.
#ifndef ATTN_PASSES_MIDDLE_CHECKEDLAUNCHES_H
#define ATTN_PASSES_MIDDLE_CHECKEDLAUNCHES_H

#include "LaunchCondition.h"
#include "LaunchNumbers.h"
#include "ScalarProgram.h"
#include "llvm/ADT/MapVector.h"
#include <random>

namespace attn {

class CheckedLaunches {
public:
  struct Launch {
    /// Indexed as in LaunchNumbers; the last one is the number of items.
    llvm::SmallVector<int64_t> values;
    /// Row blocks, heads and batches.
    llvm::SmallVector<int64_t> extents;
  };

  explicit CheckedLaunches(ws::KernelOp kernel);

  /// Invents `count` launches. Some of their sizes are next to the largest
  /// accepted ones. Returns an error if nearly all attempts are refused.
  mlir::LogicalResult make(unsigned count);

  llvm::ArrayRef<Launch> get() const { return launches; }
  const LaunchNumbers &getNumbers() const { return numbers; }
  /// Returns "b = 2, sq = 5", for all numbers that are not static.
  std::string describe(const Launch &launch) const;

private:
  using Random = std::minstd_rand;

  mlir::LogicalResult readExtents();
  void readConditions();
  bool countItems(Launch &launch);
  bool accepts(Launch &launch, const LaunchCondition *&refusing);
  int64_t pick(unsigned number, Random &random) const;
  int64_t pickNear(const Launch &launch, const LaunchCondition &refusing,
                   llvm::ArrayRef<unsigned> names, Random &random) const;
  llvm::SmallVector<unsigned> namesIn(const LaunchCondition *refusing) const;
  bool repair(Launch &launch, Random &random);
  void stretch(Launch &launch, Random &random);
  void stretch(Launch &launch, unsigned number, int64_t to);
  mlir::InFlightDiagnostic refuse(unsigned count);

  ws::KernelOp kernel;
  ConfigAttr config;
  LaunchNumbers numbers;
  std::vector<LaunchCondition> conditions;
  /// The numbers that are not static, and those among them that determine
  /// extents.
  llvm::SmallVector<unsigned> open, ofExtents;
  ScalarProgram program;
  /// The inputs of the program by number, and its results.
  llvm::SmallVector<unsigned> inputs, extents;
  llvm::SmallVector<int64_t> given, computed;
  std::vector<Launch> launches;
  /// How often each condition refused a launch for good; null stands for the
  /// number of items.
  llvm::MapVector<const LaunchCondition *, unsigned> refusals;
};

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_CHECKEDLAUNCHES_H
