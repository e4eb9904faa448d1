// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// plant-faults: lists the faults that can be planted in a kernel, and plants
// one.
#include "attn/dialect/Launch.h"
#include "fault.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace attn;

static llvm::cl::OptionCategory category("plant-faults");
static llvm::cl::opt<std::string>
    input(llvm::cl::Positional, llvm::cl::Required, llvm::cl::cat(category),
          llvm::cl::desc("<IR between attn-schedule and attn-distribute>"));
static llvm::cl::opt<bool>
    list("list", llvm::cl::cat(category),
         llvm::cl::desc("print the faults, a line each: number, kind, place, "
                        "object, detail and line of the input, with tabs"));
static llvm::cl::opt<unsigned> number("fault", llvm::cl::cat(category),
                                      llvm::cl::desc("the fault to plant"));
static llvm::cl::opt<std::string> output("o", llvm::cl::init("-"),
                                         llvm::cl::cat(category),
                                         llvm::cl::desc("output file"));

static void registerDialects(MLIRContext &context) {
  context.loadDialect<AttnDialect, launch::LaunchDialect, tile::TileDialect,
                      ws::WsDialect, arith::ArithDialect, func::FuncDialect,
                      LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                      tensor::TensorDialect, ub::UBDialect,
                      vector::VectorDialect>();
}

static faults::Faults findFaults(ModuleOp module) {
  faults::Faults found;
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    faults::addPlanFaults(kernel, found);
  }
  for (auto kernel : module.getOps<ws::KernelOp>()) {
    kernel.walk([&](ws::ForOp loop) { faults::addLoopFaults(loop, found); });
    faults::addProgramFaults(kernel, found);
  }
  return found;
}

static void printList(const faults::Faults &found) {
  for (auto [i, fault] : llvm::enumerate(found)) {
    llvm::outs() << i << "\t" << fault.kind << "\t" << fault.place << "\t"
                 << fault.object << "\t" << fault.detail << "\t" << fault.line
                 << "\n";
  }
}

static int fail(const Twine &message) {
  llvm::errs() << "plant-faults: error: " << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(
      argc, argv, "Plants a fault in a kernel, to show that it is refused\n");
  MLIRContext context(MLIRContext::Threading::DISABLED);
  registerDialects(context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(input, &context);
  if (!module) {
    return 1;
  }
  faults::Faults found = findFaults(*module);
  if (list) {
    printList(found);
    return 0;
  }
  if (number >= found.size()) {
    return fail("expected a fault below " + Twine(found.size()) + ", got " +
                Twine(number));
  }
  found[number].plant();
  std::error_code error;
  llvm::ToolOutputFile file(output, error, llvm::sys::fs::OF_Text);
  if (error) {
    return fail(output + ": " + error.message());
  }
  // A fault that breaks a verifier is written too: reading the file refuses it.
  module->print(file.os(), OpPrintingFlags().assumeVerified());
  file.os() << "\n";
  file.keep();
  return 0;
}
