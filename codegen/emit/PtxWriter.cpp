// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PtxWriter.h"
#include "LLVMPipeline.h"
#include "attn/codegen/emit/FatalErrors.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace mlir;
using namespace attn::codegen;

/// PTX versions that added instructions, lowest first.
static constexpr StringLiteral kPtxVersions[] = {"+ptx80", "+ptx83", "+ptx86",
                                                 "+ptx87", "+ptx88", "+ptx90"};

/// Shared memory and the cluster's window (3, 7) have 32-bit addresses.
static constexpr StringLiteral kDataLayout =
    "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-"
    "v16:16-v32:32-n16:32:64";

namespace {

/// Everything that one translation builds. After a fatal error it is leaked.
struct Translation {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::SmallString<0> ptx;
  /// Errors that LLVM reported without stopping.
  std::string errors;
  /// MLIR could not create the module, and has reported why.
  bool untranslated = false;
};

/// The steps from a kernel module to PTX at one PTX version.
class Translator {
public:
  Translator(gpu::GPUModuleOp source, NVVM::NVVMTargetAttr target,
             StringRef features)
      : source(source), target(target), features(features),
        state(std::make_unique<Translation>()) {}

  /// Returns LLVM's message on failure.
  std::optional<std::string> run() {
    auto fatal = catchFatalError([&] {
      if (prepare()) {
        emit();
      }
    });
    if (fatal) {
      // Half-built LLVM data cannot be freed.
      (void)state.release();
      return fatal;
    }
    if (!state->errors.empty()) {
      return state->errors;
    }
    return std::nullopt;
  }

  bool isUntranslated() const { return state && state->untranslated; }

  std::string takePtx() { return std::string(state->ptx); }

  /// Returns the IR that the backend receives, for a reproducer.
  std::string printIR() {
    std::string text;
    auto fatal = catchFatalError([&] {
      (void)prepare();
      llvm::raw_string_ostream(text) << *state->module;
    });
    if (fatal) {
      (void)state.release();
    }
    return text;
  }

private:
  bool prepare() {
    collectErrors();
    disableReordering(state->context);
    // Names take a third of the time, and PTX does not contain them.
    state->context.setDiscardValueNames(true);
    state->module = translateModuleToLLVMIR(source, state->context, "attn",
                                            /*disableVerification=*/true);
    if (!state->module) {
      state->untranslated = true;
      addError("no LLVM IR");
      return false;
    }
    verify();
    checkAssembly();
    if (!state->errors.empty() || !createMachine()) {
      return false;
    }
    state->module->setTargetTriple(llvm::Triple(target.getTriple()));
    state->module->setDataLayout(kDataLayout);
    runLLVMPipeline(*state->module, *state->machine);
    return state->errors.empty();
  }

  void collectErrors() {
    state->context.setDiagnosticHandlerCallBack(
        [](const llvm::DiagnosticInfo *info, void *self) {
          if (info->getSeverity() == llvm::DS_Error) {
            std::string text;
            llvm::raw_string_ostream stream(text);
            llvm::DiagnosticPrinterRawOStream printer(stream);
            info->print(printer);
            static_cast<Translator *>(self)->addError(text);
          }
        },
        this);
  }

  /// The translation would only print LLVM's complaints, not report them.
  void verify() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (llvm::verifyModule(*state->module, &stream)) {
      addError(text);
    }
  }

  /// The backend does not check the constraints of inline assembly.
  void checkAssembly() {
    for (llvm::Function &function : *state->module) {
      for (llvm::Instruction &instruction : llvm::instructions(function)) {
        auto *call = dyn_cast<llvm::CallBase>(&instruction);
        if (!call || !call->isInlineAsm()) {
          continue;
        }
        auto *assembly = cast<llvm::InlineAsm>(call->getCalledOperand());
        if (llvm::Error error = llvm::InlineAsm::verify(
                assembly->getFunctionType(), assembly->getConstraintString())) {
          addError("inline assembly with constraints '" +
                   assembly->getConstraintString().str() +
                   "': " + llvm::toString(std::move(error)));
        }
      }
    }
  }

  void addError(StringRef text) {
    state->errors += (state->errors.empty() ? "" : "; ") + text.str();
  }

  bool createMachine() {
    static std::once_flag initialized;
    std::call_once(initialized, [] {
      LLVMInitializeNVPTXTarget();
      LLVMInitializeNVPTXTargetInfo();
      LLVMInitializeNVPTXTargetMC();
      LLVMInitializeNVPTXAsmPrinter();
    });
    std::string error;
    llvm::Triple triple(target.getTriple());
    const llvm::Target *found =
        llvm::TargetRegistry::lookupTarget(triple, error);
    if (!found) {
      addError(error);
      return false;
    }
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
    state->machine.reset(found->createTargetMachine(
        triple, target.getChip(), features, options, std::nullopt, std::nullopt,
        llvm::CodeGenOptLevel::Aggressive));
    return true;
  }

  void emit() {
    llvm::raw_svector_ostream stream(state->ptx);
    llvm::legacy::PassManager passes;
    if (state->machine->addPassesToEmitFile(
            passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
      addError("the target does not emit assembly");
      return;
    }
    passes.run(*state->module);
  }

  gpu::GPUModuleOp source;
  NVVM::NVVMTargetAttr target;
  std::string features;
  std::unique_ptr<Translation> state;
};

} // namespace

static NVVM::NVVMTargetAttr getTarget(gpu::GPUModuleOp module) {
  auto targets = module.getTargetsAttr();
  if (!targets || targets.size() != 1) {
    return nullptr;
  }
  return dyn_cast<NVVM::NVVMTargetAttr>(targets[0]);
}

/// Returns the first PTX version that supports the chip, and the instructions
/// that are written as text.
static StringRef getFirstVersion(StringRef chip, bool addsVectors) {
  if (chip.starts_with("sm_9")) {
    return addsVectors ? "+ptx83" : "+ptx80";
  }
  return chip.ends_with("f") ? "+ptx88" : "+ptx86";
}

/// Whether a module adds vectors to memory: LLVM does not know the instruction.
static bool addsVectors(gpu::GPUModuleOp module) {
  return module
      .walk([](LLVM::InlineAsmOp op) {
        StringRef text = op.getAsmString();
        return text.starts_with("red.") && text.contains(".v")
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns the feature strings to try, in order.
static SmallVector<std::string> getFeatures(NVVM::NVVMTargetAttr target,
                                            bool addsVectors) {
  if (target.getFeatures().contains("ptx")) {
    return {target.getFeatures().str()};
  }
  SmallVector<std::string> features;
  ArrayRef<StringLiteral> versions(kPtxVersions);
  StringRef first = getFirstVersion(target.getChip(), addsVectors);
  for (StringRef version :
       versions.drop_while([&](StringRef v) { return v != first; })) {
    std::string given = target.getFeatures().str();
    features.push_back(given.empty() ? version.str()
                                     : given + "," + version.str());
  }
  return features;
}

/// Writes `text` to a new file; returns its path, or nothing on failure.
static std::string writeReproducer(StringRef text, StringRef directory) {
  SmallString<128> path;
  int descriptor = -1;
  std::error_code error;
  if (directory.empty()) {
    error = llvm::sys::fs::createTemporaryFile("attn-reproducer", "ll",
                                               descriptor, path);
  } else {
    SmallString<128> model(directory);
    llvm::sys::path::append(model, "attn-reproducer-%%%%%%.ll");
    error = llvm::sys::fs::createUniqueFile(model, descriptor, path);
  }
  if (error) {
    return "";
  }
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << text;
  return path.str().str();
}

static LogicalResult reportFailure(gpu::GPUModuleOp module,
                                   NVVM::NVVMTargetAttr target,
                                   StringRef features, StringRef message,
                                   const PtxOptions &options) {
  InFlightDiagnostic diagnostic = module.emitError("expected LLVM to compile '")
                                  << module.getName() << "' for "
                                  << target.getChip()
                                  << ", got: " << StringRef(message).rtrim();
  std::string text = Translator(module, target, features).printIR();
  std::string path;
  if (!text.empty()) {
    path = writeReproducer(text, options.reproducerDirectory);
  }
  if (!path.empty()) {
    diagnostic.attachNote() << "reproducer: llc -mtriple=" << target.getTriple()
                            << " -mcpu=" << target.getChip()
                            << " -mattr=" << features << " " << path;
  }
  return diagnostic;
}

FailureOr<std::string>
attn::codegen::translateToPTX(gpu::GPUModuleOp module,
                              const PtxOptions &options) {
  NVVM::NVVMTargetAttr target = getTarget(module);
  if (!target) {
    return module.emitError("expected one #nvvm.target, got ")
           << (module.getTargetsAttr() ? module.getTargetsAttr().size() : 0)
           << " targets";
  }
  SmallVector<std::string> features = getFeatures(target, addsVectors(module));
  std::string message;
  for (const std::string &set : features) {
    Translator translator(module, target, set);
    std::optional<std::string> error = translator.run();
    if (!error) {
      return translator.takePtx();
    }
    if (translator.isUntranslated()) {
      return failure();
    }
    message = *error;
  }
  return reportFailure(module, target, features.back(), message, options);
}
