// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds on the errors of a kernel's results, from its roundings and
// approximations.
#ifndef ATTN_CODEGEN_LAUNCH_NUMERICS_H
#define ATTN_CODEGEN_LAUNCH_NUMERICS_H

#include "attn/dialect/Launch.h"
#include "attn/dialect/Ws.h"
#include <array>

namespace attn::codegen {

/// The choices of a kernel that affect its accuracy.
struct Precision {
  bool isF16 = false;
  int64_t headDim = 128;
  int64_t headDimV = 128;
  int64_t tileM = 128;
  int64_t tileN = 128;
  RowMax rowMax = RowMax::Running;
  int64_t rescaleThreshold = 0;
  /// The degree of the polynomials that compute a share of the exponentials; 0
  /// if none does.
  int64_t polynomialDegree = 0;
  int64_t lastWaveParts = 1;
  KeptP keptP = KeptP::F32;

  static Precision of(ws::KernelOp kernel);
};

/// The numerics contract of a forward kernel: the constants of the bounds on O
/// and LSE that docs/launch-plan.md defines. `numerics[Numerics::Flush]` is
/// one.
struct Numerics : std::array<double, std::size(launch::NumericsAttr::kWords)> {
#define GET_ErrorBound_DECL
#include "attn/dialect/PlanWords.inc"
  double &operator[](ErrorBound bound) { return at(bound); }
  double operator[](ErrorBound bound) const { return at(bound); }

  static Numerics of(const Precision &precision);
  launch::NumericsAttr toAttr(mlir::MLIRContext *context) const;
};

/// The contract of the kernels of a backward pass: the constants of the bounds
/// on gradients and on the statistics of rows, in docs/launch-plan.md.
struct GradientNumerics
    : std::array<double, std::size(launch::GradientNumericsAttr::kWords)> {
#define GET_GradientErrorBound_DECL
#include "attn/dialect/PlanWords.inc"
  double &operator[](GradientErrorBound bound) { return at(bound); }
  double operator[](GradientErrorBound bound) const { return at(bound); }

  static GradientNumerics of(const Precision &precision);
  /// Allows what another kernel of the same launches needs, too.
  void allow(const GradientNumerics &other);
  launch::GradientNumericsAttr toAttr(mlir::MLIRContext *context) const;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_NUMERICS_H
