// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Division by a reciprocal, folded by MLIR on constants, against C++.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "target/common/Divisor.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace attn::codegen;

namespace {

/// Quotient and remainder of constants, as the ops compute them.
std::pair<uint32_t, uint32_t> divide(uint32_t n, uint32_t d, bool prepared) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, func::FuncDialect>();
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToStart(module->getBody());
  Type i32 = builder.getI32Type();
  auto function = func::FuncOp::create(builder, loc, "f",
                                       builder.getFunctionType({}, {i32, i32}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  auto constant = [&](uint32_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc,
                                        static_cast<int32_t>(value), 32);
  };
  Value by = constant(d);
  Divisor divisor = prepared ? Divisor::prepare(builder, loc, by) : Divisor(by);
  auto [quotient, rest] = divisor.divide(builder, loc, constant(n));
  auto end = func::ReturnOp::create(builder, loc, ValueRange{quotient, rest});
  if (failed(applyPatternsGreedily(function, RewritePatternSet(&context)))) {
    ADD_FAILURE() << "expected the ops to fold";
  }
  auto valueOf = [&](Value value) -> uint32_t {
    auto folded = value.getDefiningOp<arith::ConstantIntOp>();
    EXPECT_TRUE(folded) << "of " << n << " by " << d;
    return folded ? static_cast<uint32_t>(folded.value()) : 0;
  };
  return {valueOf(end.getOperand(0)), valueOf(end.getOperand(1))};
}

TEST(Divisor, IsExactForAllNumbersOf32Bits) {
  std::vector<uint32_t> divisors = {1,     2,          3,          7,
                                    65536, 0x7fffffff, 0x80000000, 0xffffffff};
  std::mt19937 random(1);
  for (int i = 0; i < 40; ++i) {
    divisors.push_back((random() >> (random() % 32)) | 1);
  }
  for (uint32_t d : divisors) {
    std::vector<uint32_t> numbers = {0,
                                     1,
                                     d - 1,
                                     d,
                                     2 * d - 1,
                                     0xffffffff,
                                     0xffffffff / d * d - 1,
                                     0xffffffff / d * d,
                                     uint32_t(random())};
    for (uint32_t n : numbers) {
      std::pair<uint32_t, uint32_t> want{n / d, n % d};
      EXPECT_EQ(divide(n, d, /*prepared=*/true), want) << n << " by " << d;
      EXPECT_EQ(divide(n, d, /*prepared=*/false), want) << n << " by " << d;
    }
  }
}

} // namespace
