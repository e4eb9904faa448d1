// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/passes/schedule/DataTables.h"
#include "attn/passes/schedule/EmbeddedData.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace attn;

constexpr StringLiteral kMachineName = "attn.machine";

using EmitError = function_ref<InFlightDiagnostic()>;

/// Returns the attribute `name` of a module that was read from `path`; null if
/// it does not parse.
template <typename AttrT>
static FailureOr<AttrT> findAttribute(OwningOpRef<ModuleOp> module,
                                      StringRef path, StringRef name,
                                      EmitError emitError) {
  AttrT attr = module ? (*module)->getAttrOfType<AttrT>(name) : AttrT();
  if (!attr) {
    return emitError() << "expected '" << path << "' to be a module with '"
                       << name << "'";
  }
  return attr;
}

/// Returns the attribute `name` of the module in an embedded file.
template <typename AttrT>
static FailureOr<AttrT> readAttribute(MLIRContext *context, StringRef path,
                                      StringRef name, EmitError emitError) {
  std::optional<StringRef> text = findEmbeddedFile(path);
  if (!text) {
    return emitError() << "expected '" << path << "' among the embedded files";
  }
  return findAttribute<AttrT>(
      parseSourceString<ModuleOp>(*text, ParserConfig(context), path), path,
      name, emitError);
}

SmallVector<std::string> attn::listMachines() {
  SmallVector<std::string> names;
  for (const EmbeddedFile &file : listEmbeddedFiles("machines")) {
    StringRef name = file.path;
    name.consume_front("machines/");
    name.consume_back(".mlir");
    names.push_back(name.str());
  }
  return names;
}

FailureOr<MachineAttr> attn::lookupMachine(MLIRContext *context, StringRef name,
                                           EmitError emitError) {
  SmallVector<std::string> names = listMachines();
  if (!llvm::is_contained(names, name)) {
    return emitError() << "expected a target among '"
                       << llvm::join(names, "', '") << "', got '" << name
                       << "'";
  }
  return readAttribute<MachineAttr>(
      context, ("machines/" + name + ".mlir").str(), kMachineName, emitError);
}

FailureOr<MachineAttr> attn::readMachine(MLIRContext *context, StringRef path,
                                         EmitError emitError) {
  return findAttribute<MachineAttr>(
      parseSourceFile<ModuleOp>(path, ParserConfig(context)), path,
      kMachineName, emitError);
}

FailureOr<KernelValuesAttr> attn::lookupKernelValues(tile::KernelOp kernel,
                                                     EmitError emitError) {
  if (Attribute own = kernel->getAttr("attn.values")) {
    auto values = dyn_cast<KernelValuesAttr>(own);
    if (!values) {
      return emitError() << "expected 'attn.values' to be "
                            "#attn.kernel_values, got "
                         << own;
    }
    return values;
  }
  KernelKind kind = kernel.getProblem().getKind();
  if (kind == KernelKind::Custom) {
    return emitError() << "expected 'attn.values' on a kernel of kind 'custom'";
  }
  return readAttribute<KernelValuesAttr>(
      kernel.getContext(),
      formatv("values/{0}.mlir", stringifyKernelKind(kind)).str(),
      "attn.values", emitError);
}
