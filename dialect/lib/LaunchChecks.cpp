// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operators of launch plans, as the runtime computes them.
#include "attn/dialect/LaunchChecks.h"
#include "llvm/Support/MathExtras.h"

using namespace attn;

using Result = std::optional<int64_t>;

/// The one quotient that does not fit is INT64_MIN / -1.
static bool divides(int64_t a, int64_t b) {
  return b != 0 && (a != INT64_MIN || b != -1);
}

static Result floorMod(int64_t a, int64_t b) {
  if (b == 0) {
    return std::nullopt;
  }
  int64_t rest = b == -1 ? 0 : a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static Result add(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? Result() : sum;
}

static Result sub(int64_t a, int64_t b) {
  int64_t difference;
  return llvm::SubOverflow(a, b, difference) ? Result() : difference;
}

static Result mul(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? Result() : product;
}

static Result floorDiv(int64_t a, int64_t b) {
  return divides(a, b) ? Result(llvm::divideFloorSigned(a, b)) : Result();
}

static Result ceilDiv(int64_t a, int64_t b) {
  return divides(a, b) ? Result(llvm::divideCeilSigned(a, b)) : Result();
}

llvm::ArrayRef<LaunchOperator> attn::launchOperators() {
  using I = int64_t;
  static constexpr LaunchOperator all[] = {
      {"add", 2, true, add},
      {"sub", 2, false, sub},
      {"mul", 2, true, mul},
      {"div", 2, false, floorDiv},
      {"mod", 2, false, floorMod},
      {"ceildiv", 2, false, ceilDiv},
      {"min", 2, true, [](I a, I b) -> Result { return std::min(a, b); }},
      {"max", 2, true, [](I a, I b) -> Result { return std::max(a, b); }},
      {"eq", 2, false, [](I a, I b) -> Result { return a == b; }},
      {"ge", 2, false, [](I a, I b) -> Result { return a >= b; }},
      {"lt", 2, false, [](I a, I b) -> Result { return a < b; }},
      {"select", 3, false, nullptr}};
  return all;
}
