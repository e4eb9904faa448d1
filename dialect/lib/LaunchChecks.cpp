// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of a kernel's launches, and the operators of launch plans as the
// runtime computes them.
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

const LaunchOperator &attn::launchOperator(LaunchOp op) {
  // The table is in the order of the enum.
  return launchOperators()[static_cast<size_t>(op)];
}

static constexpr StringRef expr = "expr", equals = "equals",
                           message = "message";

std::optional<LaunchCheck> LaunchCheck::from(Attribute attr) {
  auto parts = dyn_cast<DictionaryAttr>(attr);
  if (!parts || parts.size() != 3 || !parts.get(::expr)) {
    return std::nullopt;
  }
  auto number = parts.getAs<IntegerAttr>(::equals);
  auto text = parts.getAs<StringAttr>(::message);
  if (!number || !number.getType().isSignlessInteger(64) || !text) {
    return std::nullopt;
  }
  return LaunchCheck{parts.get(::expr), number.getInt(), text};
}

DictionaryAttr LaunchCheck::toAttr() const {
  Builder builder(message.getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr(::expr, expr),
       builder.getNamedAttr(::equals, builder.getI64IntegerAttr(equals)),
       builder.getNamedAttr(::message, message)});
}
