// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PtxAssembler.h"
#include "attn/codegen/emit/FindPtxas.h"
#include "attn/codegen/emit/Passes.h"
#include "attn/support/Refusal.h"

namespace attn::codegen {
#define GEN_PASS_DEF_ASSEMBLE
#include "attn/codegen/emit/Passes.h.inc"
} // namespace attn::codegen

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// Returns the report as attributes: one dictionary for each kernel. Times are
/// left out, so that the same input gives the same bytes.
static DictionaryAttr getProperties(Builder &builder,
                                    const AssemblyReport &report) {
  auto number = [&](StringRef name, unsigned value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  SmallVector<NamedAttribute> kernels;
  for (const KernelReport &kernel : report.kernels) {
    kernels.push_back(builder.getNamedAttr(
        kernel.name,
        builder.getDictionaryAttr({number("barriers", kernel.barriers),
                                   number("registers", kernel.registers),
                                   number("shared", kernel.shared),
                                   number("spill_loads", kernel.spillLoads),
                                   number("spill_stores", kernel.spillStores),
                                   number("stack", kernel.stack)})));
  }
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("kernels", builder.getDictionaryAttr(kernels)),
       number("serialized", report.serialized)});
}

namespace {

struct AssemblePass : attn::codegen::impl::AssembleBase<AssemblePass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<gpu::BinaryOp> binaries(getOperation().getOps<gpu::BinaryOp>());
    if (binaries.empty()) {
      return;
    }
    Expected<Ptxas> found = findPtxas(ptxas);
    if (!found) {
      getOperation().emitError(llvm::toString(found.takeError()));
      return signalPassFailure();
    }
    for (gpu::BinaryOp binary : binaries) {
      if (failed(assemble(binary, found->path))) {
        return signalPassFailure();
      }
    }
  }

private:
  template <typename T> using Expected = llvm::Expected<T>;

  /// Adds the cubin to each object with PTX.
  LogicalResult assemble(gpu::BinaryOp binary, StringRef program) {
    SmallVector<Attribute> objects(binary.getObjects().getValue());
    for (Attribute attr : binary.getObjects()) {
      auto object = dyn_cast<gpu::ObjectAttr>(attr);
      auto target = object ? dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget())
                           : NVVM::NVVMTargetAttr();
      if (!target || object.getFormat() != gpu::CompilationTarget::Assembly) {
        continue;
      }
      Expected<Assembly> assembly =
          assemblePtx(object.getObject(), target.getChip(), program);
      if (!assembly) {
        std::string message = llvm::toString(assembly.takeError());
        InFlightDiagnostic error = binary.emitError(message);
        setReason(error, reasonOfFailure(message));
        return error;
      }
      if (failed(judge(binary, assembly->report))) {
        return failure();
      }
      Builder builder(&getContext());
      objects.push_back(gpu::ObjectAttr::get(
          &getContext(), target, gpu::CompilationTarget::Binary,
          builder.getStringAttr(assembly->cubin),
          getProperties(builder, assembly->report), /*kernels=*/nullptr));
    }
    binary.setObjectsAttr(ArrayAttr::get(&getContext(), objects));
    return success();
  }

  /// Reports the assembler's warnings; fails on losses unless they are allowed.
  LogicalResult judge(gpu::BinaryOp binary, const AssemblyReport &report) {
    if (report.losses.empty() || losses != Losses::Refuse) {
      for (const std::string &line : report.warnings) {
        if (losses != Losses::Accept ||
            !llvm::is_contained(report.losses, line)) {
          binary.emitWarning("ptxas: ") << line;
        }
      }
      return success();
    }
    InFlightDiagnostic error =
        binary.emitError("expected no spill and no serialized instruction in '")
        << binary.getName() << "', got " << report.losses.size();
    setReason(error, report.serialized ? refusal::serialized : refusal::spill);
    for (const std::string &line : report.losses) {
      error.attachNote() << "ptxas: " << line;
    }
    return error;
  }
};

} // namespace
