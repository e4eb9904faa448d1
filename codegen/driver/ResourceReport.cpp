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

/// Returns the launch plan of a binary, or an empty object.
llvm::json::Object planOf(gpu::BinaryOp binary) {
  auto text = binary->getAttrOfType<StringAttr>("attn.plan");
  llvm::Expected<llvm::json::Value> plan =
      llvm::json::parse(text ? text.getValue() : "{}");
  if (!plan) {
    llvm::consumeError(plan.takeError());
    return {};
  }
  llvm::json::Object *object = plan->getAsObject();
  return object ? std::move(*object) : llvm::json::Object();
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
    stream << "  rung: " << numberOf(*report, "rung") << "\n";
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
  llvm::json::Object plan = planOf(binary);
  SmallVector<llvm::json::Object *> variants = variantsOf(plan);
  const llvm::json::Object *report =
      variants.empty() ? nullptr : variants.front()->getObject("report");
  return report ? numberOf(*report, "rung") : 0;
}

void attn::printResources(gpu::BinaryOp binary, llvm::raw_ostream &stream) {
  llvm::json::Object plan = planOf(binary);
  for (llvm::json::Object *variant : variantsOf(plan)) {
    printVariant(binary, *variant, stream);
  }
}
