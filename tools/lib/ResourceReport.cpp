// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ResourceReport.h"

using namespace mlir;
using namespace attn;

namespace {

int64_t numberOf(const llvm::json::Object &object, StringRef key) {
  return object.getInteger(key).value_or(0);
}

void printRoles(const llvm::json::Object &report, llvm::raw_ostream &stream) {
  const llvm::json::Array *roles = report.getArray("roles");
  for (const llvm::json::Value &value : roles ? *roles : llvm::json::Array()) {
    const llvm::json::Object *role = value.getAsObject();
    if (role) {
      stream << "  role " << role->getString("name").value_or("") << ": "
             << numberOf(*role, "replicas") << " x " << numberOf(*role, "warps")
             << " warps, " << numberOf(*role, "registers")
             << " registers a thread\n";
    }
  }
  stream << "  threads: " << numberOf(report, "threads")
         << ", shared memory: " << numberOf(report, "shared_memory")
         << " bytes, mbarriers: " << numberOf(report, "mbarriers") << "\n";
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

void printVariant(gpu::BinaryOp binary, llvm::json::Object &variant,
                  llvm::raw_ostream &stream) {
  StringRef kernel = kernelOf(variant);
  const llvm::json::Object *report = variant.getObject("report");
  stream << "resources of '" << kernel << "'";
  if (auto when = report ? report->getString("when") : std::nullopt) {
    stream << ", for " << *when;
  }
  stream << ":\n";
  if (report) {
    printRoles(*report, stream);
  }
  if (DictionaryAttr numbers = findAssembly(binary, kernel)) {
    printAssembler(numbers, stream);
  }
}

} // namespace

SmallVector<llvm::json::Object *> attn::variantsOf(llvm::json::Object &plan) {
  SmallVector<llvm::json::Object *> variants;
  if (llvm::json::Array *array = plan.getArray("variants")) {
    for (llvm::json::Value &value : *array) {
      if (llvm::json::Object *variant = value.getAsObject()) {
        variants.push_back(variant);
      }
    }
  }
  return variants;
}

StringRef attn::kernelOf(llvm::json::Object &variant) {
  const llvm::json::Array *launches = variant.getArray("launches");
  const llvm::json::Object *launch = launches && !launches->empty()
                                         ? launches->front().getAsObject()
                                         : nullptr;
  return launch ? launch->getString("kernel").value_or("") : "";
}

DictionaryAttr attn::findAssembly(gpu::BinaryOp binary, StringRef kernel) {
  for (Attribute attribute : binary.getObjects()) {
    auto object = dyn_cast<gpu::ObjectAttr>(attribute);
    if (!object || !object.getProperties()) {
      continue;
    }
    if (auto kernels =
            object.getProperties().getAs<DictionaryAttr>("kernels")) {
      return kernels.getAs<DictionaryAttr>(kernel);
    }
  }
  return {};
}

void attn::printResources(gpu::BinaryOp binary, llvm::raw_ostream &stream) {
  auto text = binary->getAttrOfType<StringAttr>("attn.plan");
  llvm::Expected<llvm::json::Value> plan =
      llvm::json::parse(text ? text.getValue() : "{}");
  if (!plan) {
    llvm::consumeError(plan.takeError());
    return;
  }
  if (llvm::json::Object *object = plan->getAsObject()) {
    for (llvm::json::Object *variant : variantsOf(*object)) {
      printVariant(binary, *variant, stream);
    }
  }
}
