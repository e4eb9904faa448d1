// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A score or mask region of a plan, evaluated on the CPU element by element.

#ifndef ATTN_TOOLS_ATTN_RUN_REGION_H
#define ATTN_TOOLS_ATTN_RUN_REGION_H

#include "launch_plan.h"
#include "region_ops.h"
#include "slopes.h"

namespace attn::run {

/// Returns the type of a captured argument's elements in a region. Unsigned
/// integers become signless ones of the same width.
ValueType valueTypeOf(const runtime::PlanArg &arg);

/// One query of one head.
struct Row {
  int64_t batch;
  int64_t head;
  int64_t i;
};

/// A capture of a region: a scalar or a packed tensor, of integers or floats.
struct Capture {
  std::vector<int64_t> shape;
  std::vector<int64_t> integers;
  std::vector<double> floats;
};

/// The captures of a problem, indexed by the plan's arguments; empty for other
/// arguments.
using Captures = std::vector<Capture>;

/// The position that an index comes from.
enum class Position { Batch, Head, Query, Key, Other };

/// The derivative of the score of one key by one element of a capture.
struct CaptureSlope {
  size_t arg;      // of the plan
  int64_t element; // of the capture, packed
  double slope;
  double error; // an estimate of how far a kernel's slope may be from it
};

class Region {
public:
  /// Reads a program of `plan`. Returns false with the reason in `err` if it is
  /// invalid.
  static bool read(const runtime::LaunchPlan &plan,
                   const runtime::RegionProgram &program, bool isScore,
                   Region &out, std::string &err);

  /// Replaces the scores of row `row` and keys `keys` by the region's.
  void foldScores(const Captures &captures, const Row &row,
                  const std::vector<int64_t> &keys,
                  std::array<std::vector<double>, kLanes> &scores) const;
  /// Computes, in float64, the derivative of the region's score of each key by
  /// the score that the region receives, which is `scores`. Integers and truth
  /// values have no derivative, and a rounding passes it on. `errors` estimate
  /// the errors of a kernel's derivatives if its scores have errors of up to
  /// `scoreErrors`.
  void foldSlopes(const Captures &captures, const Row &row,
                  const std::vector<int64_t> &keys,
                  const std::vector<double> &scores,
                  const std::vector<double> &scoreErrors,
                  std::vector<double> &slopes,
                  std::vector<double> &errors) const;
  /// Computes likewise the derivatives by each element of a capture of floats
  /// that the region reads: `slopes[n]` lists those of key `keys[n]` that are
  /// not 0. A number has one element.
  void foldCaptureSlopes(const Captures &captures, const Row &row,
                         const std::vector<int64_t> &keys,
                         const std::vector<double> &scores,
                         const std::vector<double> &scoreErrors,
                         std::vector<std::vector<CaptureSlope>> &slopes) const;
  /// Sets `allowed[n]` to whether the row may see key `first + n`.
  void foldMask(const Captures &captures, const Row &row, int64_t first,
                size_t count, bool *allowed) const;

  /// Whether the result may depend on the head.
  bool usesHead() const;
  size_t opCount() const { return ops.size(); }
  /// Returns the positions that index dim `dim` of the plan's argument `arg`.
  std::vector<Position> indicesOf(int arg, size_t dim) const;

private:
  struct Op {
    enum Kind { Apply, Constant, Extract };
    Kind kind = Apply;
    ValueType type;
    const RegionOp *meaning = nullptr;
    const Slopes *slopes = nullptr; // of a function of floats
    /// The numbers of the operands: positions, scalar captures, results of ops.
    std::vector<size_t> operands;
    /// For Constant.
    int64_t integer = 0;
    double number = 0;
    /// For Extract.
    int arg = -1;
  };
  struct Reader;

  void fold(const Captures &captures, const Row &row, const int64_t *keys,
            size_t count, std::vector<Column> &values) const;
  void extract(const Op &op, const Capture &from,
               const std::vector<Column> &values, size_t count,
               Column &result) const;
  double slopeBy(size_t source, size_t at, const std::vector<Column> &values,
                 Lane lane, std::vector<double> &known) const;
  double slopeError(size_t source, size_t at, const std::vector<Column> &values,
                    double slope, std::vector<double> &known) const;
  template <typename Visit>
  void foldForSlopes(const Captures &captures, const Row &row,
                     const std::vector<int64_t> &keys,
                     const std::vector<double> &scores,
                     const std::vector<double> &scoreErrors,
                     const Visit &visit) const;
  static int64_t elementOf(const Op &op, const Capture &from,
                           const std::vector<Column> &values, size_t at);
  double slopeOf(const Op &op, size_t result, size_t at,
                 const std::vector<Column> &values, Lane lane,
                 const std::vector<double> &slopes) const;
  Position positionOf(size_t value) const;

  /// The types of all values: score, batch, head, query, key, scalars, results.
  std::vector<ValueType> types;
  /// The arguments of scalar captures.
  std::vector<int> scalars;
  std::vector<Op> ops;
  size_t result = 0;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_REGION_H
