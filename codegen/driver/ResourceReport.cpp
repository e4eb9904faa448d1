// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ResourceReport.h"
#include "attn/dialect/Launch.h"

using namespace mlir;
using namespace attn;

namespace {

void printReport(launch::KernelOp kernel, launch::ReportAttr report,
                 llvm::raw_ostream &stream) {
  stream << "  rung: " << report.getRung() << "\n";
  for (launch::RoleAttr role : report.getRoles()) {
    stream << "  role " << role.getName().getValue() << ": "
           << role.getReplicas() << " x " << role.getWarps() << " warps, "
           << role.getRegisters() << " registers a thread\n";
  }
  stream << "  threads: " << kernel.getBlock()
         << ", shared memory: " << kernel.getShared()
         << " bytes, mbarriers: " << report.getMbarriers() << "\n";
}

void printAssembler(DictionaryAttr numbers, llvm::raw_ostream &stream) {
  auto number = [&](StringRef key) {
    auto value = numbers.getAs<IntegerAttr>(key);
    return value ? value.getInt() : 0;
  };
  stream << "  assembler: " << number("registers")
         << " registers a thread at launch, " << number("barriers")
         << " named barriers, spills: " << number("spill_stores")
         << " bytes stored, " << number("spill_loads") << " bytes loaded\n";
}

/// Calls `visit` with the assembler's report on each object of a binary.
void forEachReport(gpu::BinaryOp binary,
                   llvm::function_ref<void(DictionaryAttr)> visit) {
  for (Attribute attribute : binary.getObjects()) {
    auto object = dyn_cast<gpu::ObjectAttr>(attribute);
    if (object && object.getProperties()) {
      visit(object.getProperties());
    }
  }
}

void printKernel(gpu::BinaryOp binary, launch::KernelOp kernel,
                 llvm::raw_ostream &stream) {
  stream << "resources of '" << kernel.getKernel() << "'";
  auto variant = cast<launch::VariantOp>(kernel->getParentOp());
  if (variant.getCondition()) {
    stream << ", for " << variant.getCondition()->getText();
  }
  stream << ":\n";
  if (kernel.getReport()) {
    printReport(kernel, *kernel.getReport(), stream);
  }
  if (DictionaryAttr numbers = findAssembly(binary, kernel.getKernel())) {
    printAssembler(numbers, stream);
  }
}

} // namespace

void attn::forEachAssembly(
    gpu::BinaryOp binary,
    llvm::function_ref<void(StringRef, DictionaryAttr)> visit) {
  forEachReport(binary, [&](DictionaryAttr report) {
    auto kernels = report.getAs<DictionaryAttr>("kernels");
    if (!kernels) {
      return;
    }
    for (NamedAttribute kernel : kernels) {
      visit(kernel.getName(), cast<DictionaryAttr>(kernel.getValue()));
    }
  });
}

DictionaryAttr attn::findAssembly(gpu::BinaryOp binary, StringRef kernel) {
  DictionaryAttr found;
  forEachAssembly(binary, [&](StringRef name, DictionaryAttr numbers) {
    found = name == kernel ? numbers : found;
  });
  return found;
}

int64_t attn::countSerialized(gpu::BinaryOp binary) {
  int64_t count = 0;
  forEachReport(binary, [&](DictionaryAttr report) {
    auto number = report.getAs<IntegerAttr>("serialized");
    count += number ? number.getInt() : 0;
  });
  return count;
}

int64_t attn::rungOf(gpu::BinaryOp binary) {
  auto plan = launch::PlanOp::of(binary);
  launch::ReportAttr report =
      plan ? plan.getVariants().front().getReport() : launch::ReportAttr();
  return report ? report.getRung() : 0;
}

void attn::printResources(gpu::BinaryOp binary, llvm::raw_ostream &stream) {
  if (auto plan = launch::PlanOp::of(binary)) {
    plan.walk(
        [&](launch::KernelOp kernel) { printKernel(binary, kernel, stream); });
  }
}
