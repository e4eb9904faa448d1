// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ResourceReport.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

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

void printAssembler(DictionaryAttr kernels, llvm::raw_ostream &stream) {
  for (NamedAttribute kernel : kernels) {
    auto numbers = dyn_cast<DictionaryAttr>(kernel.getValue());
    auto number = [&](StringRef key) {
      auto value = numbers ? numbers.getAs<IntegerAttr>(key) : IntegerAttr();
      return value ? value.getInt() : 0;
    };
    stream << "  assembler: " << number("registers")
           << " registers a thread at launch, " << number("barriers")
           << " named barriers, spills: " << number("spill_stores")
           << " bytes stored, " << number("spill_loads") << " bytes loaded\n";
  }
}

} // namespace

void attn::printResources(gpu::BinaryOp binary, llvm::raw_ostream &stream) {
  stream << "resources of '" << binary.getName() << "':\n";
  if (auto text = binary->getAttrOfType<StringAttr>("attn.plan")) {
    llvm::Expected<llvm::json::Value> plan = llvm::json::parse(text.getValue());
    if (!plan) {
      llvm::consumeError(plan.takeError());
    } else if (const llvm::json::Object *object = plan->getAsObject()) {
      if (const llvm::json::Object *report = object->getObject("report")) {
        printRoles(*report, stream);
      }
    }
  }
  for (Attribute attribute : binary.getObjects()) {
    auto object = dyn_cast<gpu::ObjectAttr>(attribute);
    if (object && object.getProperties()) {
      if (auto kernels =
              object.getProperties().getAs<DictionaryAttr>("kernels")) {
        printAssembler(kernels, stream);
      }
    }
  }
}
