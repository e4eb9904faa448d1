// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Compilation.h"
#include "OutOfMemory.h"
#include "attn/codegen/driver/Compiler.h"
#include "attn/codegen/driver/Registration.h"
#include "attn/codegen/driver/Variants.h"
#include "attn/codegen/emit/FatalErrors.h"
#include "attn/passes/kernels/Gradients.h"
#include "attn/runtime/internal/for_compiler.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attn;
using namespace attn::jit;

/// The last stage that may refuse a request; later stages only select
/// instructions.
static constexpr Stage kLastRefusing = Stage::Ws;

namespace {

/// The messages of the compiler, as text.
class Messages {
public:
  void add(Diagnostic &diagnostic) {
    std::string line;
    llvm::raw_string_ostream stream(line);
    print(diagnostic, stream);
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      errors += errors.empty() ? line : "\n" + line;
    } else if (diagnostic.getSeverity() == DiagnosticSeverity::Warning) {
      attn_internal_log(ATTN_LOG_WARNING, line.c_str());
    }
  }
  const std::string &getErrors() const { return errors; }

private:
  static void print(Diagnostic &diagnostic, llvm::raw_ostream &stream) {
    if (auto at = dyn_cast<FileLineColLoc>(diagnostic.getLocation())) {
      stream << at.getFilename().getValue() << ":" << at.getLine() << ":"
             << at.getColumn() << ": ";
    }
    stream << diagnostic;
    for (Diagnostic &note : diagnostic.getNotes()) {
      stream << "\n";
      print(note, stream);
    }
  }

  std::string errors;
};

/// Appends each remark of a pass to a text: "pass: what it decided".
class RemarkCollector : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkCollector(std::string &text) : text(text) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    SmallVector<std::string> parts;
    for (const remark::detail::Remark::Arg &arg : remark.getArgs()) {
      if (!arg.val.empty()) {
        parts.push_back(arg.key == "Remark" ? arg.val
                                            : arg.key + "=" + arg.val);
      }
    }
    text +=
        remark.getRemarkName().str() + ": " + llvm::join(parts, "; ") + "\n";
  }

private:
  std::string &text;
};

LogicalResult collectRemarks(MLIRContext &context, std::string &text) {
  remark::RemarkCategories all{"attn", "attn", "attn", "attn", "attn"};
  return remark::enableOptimizationRemarks(
      context, std::make_unique<RemarkCollector>(text),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), all);
}

/// A file that exists as long as this object.
class TemporaryFile {
public:
  Status write(StringRef text, StringRef suffix) {
    int descriptor = -1;
    if (std::error_code error = llvm::sys::fs::createTemporaryFile(
            "attn", suffix, descriptor, path)) {
      return {ATTN_IO_ERROR,
              "cannot create a temporary file: " + error.message()};
    }
    remover.setFile(path);
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << text;
    stream.flush();
    if (std::error_code error = stream.error()) {
      stream.clear_error();
      return {ATTN_IO_ERROR,
              "cannot write '" + path.str().str() + "': " + error.message()};
    }
    return {};
  }
  std::string getPath() const { return path.str().str(); }

private:
  llvm::SmallString<128> path;
  llvm::FileRemover remover;
};

/// Everything that one run of the compiler builds. After a fatal error it is
/// leaked.
class Compilation {
public:
  Compilation(const Request &request, const Toolchain &toolchain)
      : request(request), toolchain(toolchain) {
    registerDialects(registry);
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->printOpOnDiagnostic(false);
    context->getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      messages.add(diagnostic);
      return success();
    });
  }

  Status check() {
    if (Status status = parse(request.ir)) {
      return status;
    }
    return check(*module, options);
  }

  Status explain(std::string &decisions) {
    if (failed(collectRemarks(*context, decisions))) {
      return {ATTN_COMPILER_ERROR, "cannot enable remarks"};
    }
    return check();
  }

  Status compile(bool separately, Judge judge, Compiled &compiled) {
    if (Status status = parse(request.ir)) {
      return status;
    }
    Status status;
    bool isSeparate = false;
    // No rung is chosen for kernels that are not compiled yet: the first is.
    auto run = [&](ModuleOp copy, const CompileOptions &changed) {
      status = check(copy, changed);
      if (changed.instrument == options.instrument) {
        judge(status);
      }
      isSeparate = separately && !status && areSeparable(copy);
      if (!status &&
          failed(runStages(copy, changed, Stage::Nvvm,
                           isSeparate ? Stage::Nvvm : lastStage()))) {
        status = compilerFailed();
      }
      return failure(bool(status));
    };
    if (failed(lastStage() == Stage::Cubin ? climb(*module, options, run)
                                           : run(*module, options))) {
      return status ? status : compilerFailed();
    }
    FailureOr<std::string> bytes =
        isSeparate ? planBundleOf(*module) : bundleOf(*module);
    if (failed(bytes)) {
      return because(ATTN_INVALID_ARGUMENT, "no kernel");
    }
    compiled.bundle = std::move(*bytes);
    if (isSeparate) {
      llvm::raw_string_ostream stream(compiled.lowered);
      (void)writeBytecodeToFile(*module, stream);
    }
    return {};
  }

  Status compileVariant(StringRef lowered, size_t index, std::string &bundle) {
    if (Status status = parse(lowered.empty() ? request.ir : lowered)) {
      return status;
    }
    if (lowered.empty()) {
      if (Status status = check(*module, options)) {
        return status;
      }
      if (failed(runStages(*module, options, Stage::Nvvm, Stage::Nvvm))) {
        return compilerFailed();
      }
    }
    FailureOr<std::string> bytes =
        attn::compileVariant(*module, options, lastStage(), index);
    if (failed(bytes)) {
      return compilerFailed();
    }
    bundle = std::move(*bytes);
    return {};
  }

private:
  Stage lastStage() const {
    return toolchain.ptxas.empty() ? Stage::Ptx : Stage::Cubin;
  }

  Status parse(StringRef source) {
    if (Status status = setOptions()) {
      return status;
    }
    module = parseModule(*context, source, "ir");
    if (!module) {
      return because(ATTN_INVALID_ARGUMENT, "no valid module");
    }
    bool isInput = source.data() == request.ir.data();
    if (isInput && request.gradients &&
        failed(requestGradients(*module, *request.gradients))) {
      return because(ATTN_INVALID_ARGUMENT, "no gradients");
    }
    return {};
  }

  Status check(ModuleOp checked, const CompileOptions &changed) const {
    if (failed(runStages(checked, changed, Stage::Attn, kLastRefusing))) {
      return because(ATTN_UNSUPPORTED, "the compiler refused the module");
    }
    return {};
  }

  Status setOptions() {
    options.target = request.target;
    options.ptxas = toolchain.ptxas;
    options.reproducerDir = toolchain.dumpDir;
    options.instrument = request.instrument.has_value();
    if (options.instrument) {
      SmallVector<StringRef> roles;
      StringRef(*request.instrument)
          .split(roles, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
      options.instrumentRoles.assign(roles.begin(), roles.end());
    }
    if (!request.schedule) {
      return {};
    }
    if (Status status = schedule.write(*request.schedule, "mlir")) {
      return status;
    }
    options.scheduleFile = schedule.getPath();
    return {};
  }

  Status compilerFailed() const {
    return because(ATTN_COMPILER_ERROR, "the compiler failed");
  }

  Status because(attn_status code, const char *otherwise) const {
    const std::string &errors = messages.getErrors();
    return {code, errors.empty() ? otherwise : errors};
  }

  const Request &request;
  const Toolchain &toolchain;
  CompileOptions options;
  TemporaryFile schedule;
  Messages messages;
  DialectRegistry registry;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

/// Writes the input to a permanent file, to reproduce an error.
static std::string keepInput(const Request &request, StringRef folder) {
  SmallString<128> model(folder), path;
  if (folder.empty()) {
    llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, model);
  }
  llvm::sys::path::append(model, "attn-reproducer-%%%%%%.mlir");
  int descriptor = -1;
  if (llvm::sys::fs::createUniqueFile(model, descriptor, path)) {
    return "";
  }
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << request.ir;
  return path.str().str();
}

/// Runs `body` on a compilation. If `body` does not return, the compilation is
/// leaked: half-built data cannot be freed.
static Status contain(const Request &request, const Toolchain &toolchain,
                      llvm::function_ref<Status(Compilation &)> body) {
  auto *compilation = new Compilation(request, toolchain);
  Status status;
  bool enough = true;
  std::optional<std::string> fatal = codegen::catchFatalError(
      [&] { enough = runInMemory([&] { status = body(*compilation); }); });
  if (!fatal && enough) {
    delete compilation;
    return status;
  }
  if (!enough) {
    return {ATTN_COMPILER_ERROR, "compiling needs more memory than there is"};
  }
  std::string path = keepInput(request, toolchain.dumpDir);
  return {ATTN_COMPILER_ERROR,
          *fatal + (path.empty() ? ""
                                 : "\nreproducer: attn-compile --target=" +
                                       request.target + " " + path)};
}

Status attn::jit::compileRequest(const Request &request,
                                 const Toolchain &toolchain, bool separately,
                                 Judge judge, Compiled &compiled) {
  return contain(request, toolchain, [&](Compilation &compilation) {
    return compilation.compile(separately, judge, compiled);
  });
}

Status attn::jit::compileVariant(const Request &request,
                                 const Toolchain &toolchain, StringRef lowered,
                                 size_t index, std::string &bundle) {
  return contain(request, toolchain, [&](Compilation &compilation) {
    return compilation.compileVariant(lowered, index, bundle);
  });
}

Status attn::jit::checkRequest(const Request &request) {
  return contain(request, {},
                 [](Compilation &compilation) { return compilation.check(); });
}

Status attn::jit::explainRequest(const Request &request,
                                 std::string &decisions) {
  decisions.clear();
  return contain(request, {}, [&](Compilation &compilation) {
    return compilation.explain(decisions);
  });
}
