// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operators of launch plans, as the runtime computes them.
#include "attn/dialect/LaunchChecks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
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
      {LaunchOp::Add, 2, true, add},
      {LaunchOp::Sub, 2, false, sub},
      {LaunchOp::Mul, 2, true, mul},
      {LaunchOp::Div, 2, false, floorDiv},
      {LaunchOp::Mod, 2, false, floorMod},
      {LaunchOp::CeilDiv, 2, false, ceilDiv},
      {LaunchOp::Min, 2, true,
       [](I a, I b) -> Result { return std::min(a, b); }},
      {LaunchOp::Max, 2, true,
       [](I a, I b) -> Result { return std::max(a, b); }},
      {LaunchOp::Eq, 2, false, [](I a, I b) -> Result { return a == b; }},
      {LaunchOp::Ge, 2, false, [](I a, I b) -> Result { return a >= b; }},
      {LaunchOp::Lt, 2, false, [](I a, I b) -> Result { return a < b; }},
      {LaunchOp::Select, 3, false, nullptr}};
  return all;
}

const LaunchOperator *attn::launchOperatorOf(ArrayAttr list) {
  auto word = list.empty() ? StringAttr() : dyn_cast<StringAttr>(list[0]);
  std::optional<LaunchOp> op =
      word ? symbolizeLaunchOp(word.getValue()) : std::nullopt;
  // The table is in the order of the enum.
  return op ? &launchOperators()[static_cast<size_t>(*op)] : nullptr;
}
