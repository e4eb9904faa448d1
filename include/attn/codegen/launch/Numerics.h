// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far a forward kernel's results may be from float64, by what the kernel
// rounds and approximates.
#ifndef ATTN_CODEGEN_LAUNCH_NUMERICS_H
#define ATTN_CODEGEN_LAUNCH_NUMERICS_H

#include "attn/dialect/Ws.h"

namespace attn::codegen {

/// The choices of a kernel that decide how exact it is.
struct Precision {
  bool isF16 = false;
  int64_t headDim = 128;
  int64_t tileN = 128;
  RowMax rowMax = RowMax::Running;
  int64_t rescaleThreshold = 0;
  /// The degree of the polynomials that compute a share of the exponentials; 0
  /// if none does.
  int64_t polynomialDegree = 0;
  int64_t lastWaveParts = 1;

  static Precision of(ws::KernelOp kernel);
};

/// The numerics contract of a launch plan. With S, P, O and LSE in float64, for
/// a row with n keys, |x| the Euclidean norm of a row of Q or K, and D_j by how
/// much a score may be off,
///
///   D_j            <= score_relative * scale * |q| * |k_j|, through the score
///   region |O - O64|      <= sum_j (P_j (o_relative + n o_per_key + D_j + D) +
///   flush)
///                     |V_j| + flush, where D = sum_j P_j D_j
///   |LSE - LSE64|  <= lse_absolute + sqrt(n) lse_per_root_key
///                     + lse_relative |LSE64| + D
struct Numerics {
  double scoreRelative = 0;
  double oRelative = 0;
  double oPerKey = 0;
  double flush = 0;
  double lseRelative = 0;
  double lseAbsolute = 0;
  double lsePerRootKey = 0;

  static Numerics of(const Precision &precision);
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_NUMERICS_H
