// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A context parses each file of the schedule table once.
#include "TableFiles.h"
#include "attn/passes/schedule/ScheduleTable.h"
#include "mlir/AsmParser/AsmParser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace attn;

namespace {

constexpr llvm::StringLiteral kProblem =
    "#attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, "
    "layout = bshd, mask = none, score_region = absent, mask_region = absent>";

/// A context, with the table's files or without.
struct Context : MLIRContext {
  explicit Context(bool keepsFiles) {
    DialectRegistry registry;
    registry.insert<AttnDialect>();
    if (keepsFiles) {
      registerTableFiles(registry);
    }
    appendDialectRegistry(registry);
    loadAllAvailableDialects();
  }

  const TableFiles *files() {
    return getLoadedDialect<AttnDialect>()
        ->getRegisteredInterface<TableFiles>();
  }

  InFlightDiagnostic error() { return emitError(UnknownLoc::get(this)); }

  std::vector<std::string> find() {
    auto problem = cast<ProblemAttr>(parseAttribute(kProblem, this));
    auto found = lookupTableEntries(this, problem, "sm_90a", "", 0,
                                    [&] { return error(); });
    std::vector<std::string> origins;
    for (const TableEntry &entry : found.value_or(SmallVector<TableEntry>())) {
      origins.push_back(entry.origin);
    }
    return origins;
  }
};

} // namespace

TEST(TableFiles, AreParsedOnceAContext) {
  Context context(/*keepsFiles=*/true), other(/*keepsFiles=*/true);
  auto read = [](Context &from) {
    return from.files()
        ->read(kScheduleFolder, [&] { return from.error(); })
        .value_or(ArrayRef<TableFile>());
  };
  auto first = read(context), again = read(context), others = read(other);
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(first.data(), again.data());
  EXPECT_NE(first.data(), others.data());
  EXPECT_EQ(first.size(), others.size());
}

TEST(TableFiles, AreFoundWithoutBeingKept) {
  Context without(/*keepsFiles=*/false), with(/*keepsFiles=*/true);
  EXPECT_EQ(without.files(), nullptr);
  EXPECT_FALSE(without.find().empty());
  EXPECT_EQ(without.find(), with.find());
  EXPECT_EQ(with.find(), with.find());
}
