// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-verify-resources: counts the resources in the instructions of a kernel,
// and compares them with the plan of its schedule. It shares no code with the
// lowering, nor with the plan.
#include "Target.h"
#include "WarpValues.h"
#include "attn/codegen/target/Passes.h"
#include "attn/dialect/Launch.h"
#include "attn/passes/schedule/ResourcePlan.h"

namespace attn::codegen {
#define GEN_PASS_DEF_VERIFYRESOURCES
#include "attn/codegen/target/Passes.h.inc"
} // namespace attn::codegen

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static constexpr StringLiteral passName = "attn-verify-resources: ";

namespace {

/// Reads how one warp uses the resources of its CTA, from the view of its first
/// thread. A branch that does not depend on the warp alone is taken both ways.
class WarpReader {
public:
  WarpReader(const Target &chip, int64_t warp) : chip(chip), warp(warp) {}

  LogicalResult read(Region &region);

  int64_t initialized = 0;     // barriers in memory
  Operation *setter = nullptr; // of registers; null: those at launch
  SmallVector<std::pair<int64_t, Operation *>>
      meetings; // named barriers, by id

private:
  LogicalResult readOp(Operation &op);
  LogicalResult addMeeting(Operation *op, Value id);
  std::optional<int32_t> get(Value value);
  std::optional<int32_t> evaluate(Operation *op);

  const Target &chip;
  int64_t warp;
  llvm::DenseMap<Value, std::optional<int32_t>> known;
};

/// The check of one function.
class ResourceVerifier {
public:
  ResourceVerifier(LLVM::LLVMFuncOp function, DictionaryAttr plan,
                   const Target &chip)
      : function(function), plan(plan), chip(chip) {}

  LogicalResult run(std::optional<int64_t> sharedMemory);

private:
  LogicalResult readPlan();
  LogicalResult checkWarp(int64_t warp);
  LogicalResult expect(Operation *at, int64_t planned, int64_t got,
                       const Twine &what);

  LLVM::LLVMFuncOp function;
  DictionaryAttr plan;
  const Target &chip;
  int64_t shared = 0, mbarriers = 0, named = 0, threads = 0, launched = 0;
  ArrayRef<int64_t> registers; // of the threads of each group of warps
};

} // namespace

//===----------------------------------------------------------------------===//
// What is emitted.
//===----------------------------------------------------------------------===//

std::optional<int32_t> WarpReader::evaluate(Operation *op) {
  if (isa<NVVM::ThreadIdXOp>(op)) {
    return int32_t(warp * warpThreads);
  }
  if (auto shuffle = dyn_cast<NVVM::ShflOp>(op)) {
    bool isOfFirst = shuffle.getKind() == NVVM::ShflKind::idx &&
                     matchPattern(shuffle.getOffset(), m_Zero());
    return isOfFirst ? get(shuffle.getVal()) : std::nullopt;
  }
  SmallVector<int32_t> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int32_t> value = get(operand);
    if (!value) {
      return std::nullopt;
    }
    operands.push_back(*value);
  }
  return evaluateScalar(op, operands);
}

/// Returns nothing for a value that does not follow from the warp.
std::optional<int32_t> WarpReader::get(Value value) {
  IntegerAttr constant;
  Operation *op = value.getDefiningOp();
  if (!op || !value.getType().isSignlessInteger() ||
      value.getType().getIntOrFloatBitWidth() > 32) {
    return std::nullopt;
  }
  if (matchPattern(value, m_Constant(&constant))) {
    return int32_t(constant.getValue().getSExtValue());
  }
  auto found = known.find(value);
  if (found != known.end()) {
    return found->second;
  }
  std::optional<int32_t> result = evaluate(op);
  known[value] = result;
  return result;
}

/// A barrier without an id is that of the CTA.
LogicalResult WarpReader::addMeeting(Operation *op, Value id) {
  std::optional<int32_t> number = id ? get(id) : 0;
  if (!number) {
    return op->emitOpError(passName) << "expected the id of a named barrier to "
                                        "follow from the warp, got another";
  }
  meetings.push_back({*number, op});
  return success();
}

LogicalResult WarpReader::readOp(Operation &each) {
  return TypeSwitch<Operation *, LogicalResult>(&each)
      .Case([&](scf::IfOp branch) {
        std::optional<int32_t> condition = get(branch.getCondition());
        bool isThen = condition.value_or(1), isElse = !condition.value_or(0);
        return success((!isThen || succeeded(read(branch.getThenRegion()))) &&
                       (!isElse || succeeded(read(branch.getElseRegion()))));
      })
      .Case<NVVM::BarrierOp, NVVM::BarrierArriveOp>(
          [&](auto op) { return addMeeting(op, op.getBarrierId()); })
      .Case([&](NVVM::MBarrierInitOp) { return ++initialized, success(); })
      .Default([&](Operation *op) {
        setter = chip.registersSetBy(op) ? op : setter;
        return success(llvm::all_of(op->getRegions(), [&](Region &region) {
          return succeeded(read(region));
        }));
      });
}

LogicalResult WarpReader::read(Region &region) {
  for (Operation &op : region.getOps()) {
    if (failed(readOp(op))) {
      return failure();
    }
  }
  return success();
}

/// Returns the bytes of shared memory with which the plan of the module
/// launches a kernel.
static std::optional<int64_t> launchedMemory(gpu::GPUModuleOp module,
                                             StringRef kernel) {
  launch::PlanOp plan = launch::PlanOp::of(module);
  if (!plan) {
    return std::nullopt;
  }
  for (launch::VariantOp variant : plan.getVariants()) {
    for (launch::KernelOp launched : variant.getKernels()) {
      if (launched.getKernel() == kernel) {
        return launched.getShared();
      }
    }
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The comparison.
//===----------------------------------------------------------------------===//

LogicalResult ResourceVerifier::readPlan() {
  std::pair<StringRef, int64_t &> numbers[] = {{kSharedMemory, shared},
                                               {"mbarriers", mbarriers},
                                               {"named_barriers", named},
                                               {"threads", threads},
                                               {"launch_registers", launched}};
  for (auto [name, number] : numbers) {
    auto attr = plan.getAs<IntegerAttr>(name);
    if (!attr) {
      return function.emitOpError(passName)
             << "expected a number '" << name << "' in '" << kResourcesAttr
             << "', got none";
    }
    number = attr.getInt();
  }
  auto groups = plan.getAs<DenseI64ArrayAttr>("registers");
  int64_t count = groups ? groups.size() : 0;
  if (count == 0 || threads < 1 || threads % (count * warpThreads) != 0) {
    return function.emitOpError(passName)
           << "expected 'registers' of groups that share " << threads
           << " threads, got " << count << " groups";
  }
  registers = groups.asArrayRef();
  return success();
}

LogicalResult ResourceVerifier::expect(Operation *at, int64_t planned,
                                       int64_t got, const Twine &what) {
  if (planned == got) {
    return success();
  }
  return at->emitOpError(passName) << "expected " << planned << " " << what
                                   << ", as planned, got " << got;
}

LogicalResult ResourceVerifier::checkWarp(int64_t warp) {
  WarpReader reader(chip, warp);
  if (failed(reader.read(function.getBody()))) {
    return failure();
  }
  for (auto [id, op] : reader.meetings) {
    if (id < 0 || id >= named) {
      return op->emitOpError(passName)
             << "expected one of the " << named
             << " named barriers that are planned, got id " << id << " in warp "
             << warp;
    }
  }
  // The first thread of the CTA initializes them.
  if (warp == 0 && failed(expect(function, mbarriers, reader.initialized,
                                 "barriers in memory"))) {
    return failure();
  }
  int64_t warps = threads / warpThreads / registers.size(); // of a group
  int64_t got = reader.setter ? *chip.registersSetBy(reader.setter) : launched;
  Operation *at = reader.setter ? reader.setter : function;
  return expect(at, registers[warp / warps], got,
                "registers of each thread in warp " + Twine(warp));
}

LogicalResult ResourceVerifier::run(std::optional<int64_t> sharedMemory) {
  auto most = function->getAttrOfType<DenseI32ArrayAttr>("nvvm.maxntid");
  if (failed(readPlan()) ||
      failed(expect(function, threads, most && !most.empty() ? most[0] : 0,
                    "threads")) ||
      failed(expect(function, shared, sharedMemory.value_or(0),
                    "bytes of shared memory"))) {
    return failure();
  }
  for (int64_t warp = 0; warp < threads / warpThreads; ++warp) {
    if (failed(checkWarp(warp))) {
      return failure();
    }
  }
  return success();
}

namespace {

class VerifyResourcesPass
    : public attn::codegen::impl::VerifyResourcesBase<VerifyResourcesPass> {
public:
  using VerifyResourcesBase::VerifyResourcesBase;

  void runOnOperation() override {
    markAllAnalysesPreserved(); // the IR, too, so MLIR verifies it once
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>()) {
      if (failed(verify(module))) {
        return signalPassFailure();
      }
    }
  }

private:
  LogicalResult verify(gpu::GPUModuleOp module) {
    for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
      auto plan = function->getAttrOfType<DictionaryAttr>(kResourcesAttr);
      if (!plan) {
        continue;
      }
      const Target *chip = findTarget(module, "attn-verify-resources");
      if (!chip ||
          failed(ResourceVerifier(function, plan, *chip)
                     .run(launchedMemory(module, function.getSymName())))) {
        return failure();
      }
    }
    return success();
  }
};

} // namespace
