// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "slopes.h"

#include <cmath>
#include <iterator>

using namespace attn::run;

namespace {

// The words of the formulas in include/attn/dialect/ScoreOps.td.
using std::cos;
using std::exp;
using std::sin;
constexpr double ln2 = 0.69314718055994530942;
constexpr double inv_sqrtpi = 0.56418958354775628695;

double select(bool condition, double a, double b) { return condition ? a : b; }
double indicator(bool condition) { return condition ? 1 : 0; }

struct FloatSlopes {
  const char *name;
  Slopes slopes;
};

#define GET_FloatSlopesTable_IMPL
#include "score_ops.inc"

} // namespace

const Slopes *attn::run::findSlopes(const std::string &name) {
  for (const FloatSlopes &known : FloatSlopesTable) {
    if (name == known.name) {
      return &known.slopes;
    }
  }
  return nullptr;
}
