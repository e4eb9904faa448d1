// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// compare-readings: compares a kernel as attn-verify-schedule understands it
// with the emitted program, for all small items.
#include "attn/dialect/Launch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Parser/Parser.h"
#include "reading.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;
using namespace attn;
using namespace attn::readings;

static llvm::cl::opt<std::string>
    judgedFile(llvm::cl::Positional, llvm::cl::Required,
               llvm::cl::desc("<IR after attn-schedule>"));
static llvm::cl::opt<std::string>
    emittedFile(llvm::cl::Positional, llvm::cl::Required,
                llvm::cl::desc("<IR after attn-pipeline>"));

/// 0 to `most` blocks in each of `ranges` ranges.
static Items shapes(int64_t most, size_t ranges) {
  Items all{{}};
  for (size_t range = 0; range < ranges; ++range) {
    Items longer;
    for (const auto &shape : all) {
      for (int64_t blocks = 0; blocks <= most; ++blocks) {
        longer.push_back(shape);
        longer.back().push_back(blocks);
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// Every item with 0 to 3 blocks in each range, and pairs and triples of those
/// with 0 or 1, where a CTA runs several.
static std::vector<Items> listsFor(ws::KernelOp kernel) {
  size_t ranges = 1;
  kernel.walk([&](tile::BoundsOp bounds) {
    ranges = std::max<size_t>(ranges, bounds.getNumResults() - 1);
  });
  std::vector<Items> lists;
  for (const auto &item : shapes(3, ranges)) {
    lists.push_back({item});
  }
  if (kernel.getConfig().getWork() == WorkKind::Grid) {
    return lists;
  }
  for (const auto &a : shapes(1, ranges)) {
    for (const auto &b : shapes(1, ranges)) {
      lists.push_back({a, b});
      lists.push_back({a, b, shapes(3, ranges).back()});
    }
  }
  return lists;
}

static void printItems(const Items &items) {
  llvm::outs() << "items";
  for (const auto &item : items) {
    llvm::outs() << " [";
    llvm::interleaveComma(item, llvm::outs());
    llvm::outs() << "]";
  }
}

/// Prints the first difference; true if there is none.
static bool compare(const Reading &judged, const Reading &emitted,
                    const Items &items) {
  for (const auto &[name, lines] : emitted) {
    auto found = judged.find(name);
    std::vector<std::string> none;
    const auto &others = found == judged.end() ? none : found->second;
    auto [a, b] =
        std::mismatch(others.begin(), others.end(), lines.begin(), lines.end());
    if (a == others.end() && b == lines.end()) {
      continue;
    }
    printItems(items);
    llvm::outs() << ", " << name << ", line " << (b - lines.begin())
                 << "\n  judged:  " << (a == others.end() ? "nothing" : *a)
                 << "\n  emitted: " << (b == lines.end() ? "nothing" : *b)
                 << "\n";
    return false;
  }
  if (judged.size() != emitted.size()) {
    printItems(items);
    llvm::outs() << ", " << judged.size() << " replicas judged, "
                 << emitted.size() << " emitted\n";
  }
  return judged.size() == emitted.size();
}

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv, "Compares two readings\n");
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<AttnDialect, launch::LaunchDialect, tile::TileDialect,
                      ws::WsDialect, arith::ArithDialect, func::FuncDialect,
                      LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                      tensor::TensorDialect, ub::UBDialect>();
  auto judged = parseSourceFile<ModuleOp>(judgedFile, &context);
  auto emitted = parseSourceFile<ModuleOp>(emittedFile, &context);
  if (!judged || !emitted) {
    return 1;
  }
  int kernels = 0, lists = 0, differ = 0;
  for (auto kernel : judged->getOps<tile::KernelOp>()) {
    auto of = emitted->lookupSymbol<ws::KernelOp>(kernel.getSymName());
    if (!of) {
      llvm::errs() << "no emitted kernel '" << kernel.getSymName() << "'\n";
      return 1;
    }
    ++kernels;
    for (const Items &items : listsFor(of)) {
      FailureOr<Reading> a = readJudged(kernel, items);
      FailureOr<Reading> b = readEmitted(of, items);
      if (failed(a) || failed(b)) {
        return 1;
      }
      ++lists;
      differ += !compare(*a, *b, items);
    }
  }
  llvm::outs() << kernels << " kernels, " << lists << " lists of items, "
               << differ << " differ\n";
  return differ || !kernels;
}
