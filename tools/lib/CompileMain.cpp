// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-compile: IR of any stage to the artifact of a later one.
#include "Help.h"
#include "attn/codegen/driver/Compiler.h"
#include "attn/codegen/driver/Registration.h"
#include "attn/dialect/Attn.h"
#include "attn/passes/schedule/EmbeddedData.h"
#include "attn/passes/schedule/ScheduleRequests.h"
#include "attn/support/Refusal.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include <fstream>
#include <iostream>
#include <memory>
#include <new>

using namespace mlir;
using namespace attn;
namespace cl = llvm::cl;

namespace {

struct Arguments {
  cl::OptionCategory category{"attn-compile"};
  cl::opt<std::string> input{cl::Positional, cl::desc("<input file>"),
                             cl::init("-"), cl::cat(category)};
  cl::opt<std::string> target{"target", cl::desc("machine to compile for"),
                              cl::init(kDefaultTarget), cl::cat(category)};
  cl::opt<Emit> emit{
      "emit", cl::desc("what to write"), cl::init(Emit::Bundle),
      cl::cat(category),
      cl::values(
          clEnumValN(Emit::Attn, "attn", "attention with its config"),
          clEnumValN(Emit::Tile, "tile", "one CTA's program"),
          clEnumValN(Emit::Schedule, "schedule",
                     "the program and its schedule"),
          clEnumValN(Emit::Ws, "ws", "roles and channels, pipelined"),
          clEnumValN(Emit::Nvvm, "nvvm", "instructions"),
          clEnumValN(Emit::Llvm, "llvm",
                     "the llvm dialect, with the launch plan"),
          clEnumValN(Emit::Ptx, "ptx", "PTX"),
          clEnumValN(Emit::Cubin, "cubin", "machine code"),
          clEnumValN(Emit::Bundle, "bundle", "plan, PTX and machine code"),
          clEnumValN(Emit::Plan, "plan",
                     "the launch plan alone, as JSON (docs/launch-plan.md)"))};
  cl::opt<std::string> output{"o", cl::desc("output file"), cl::init("-"),
                              cl::cat(category)};
  cl::opt<std::string> schedule{"schedule",
                                cl::desc("file with config and schedule"),
                                cl::init(""), cl::cat(category)};
  cl::opt<int64_t> rung{
      "rung",
      cl::desc("lowest rung of the schedule table to compile on (default: 0)"),
      cl::init(0), cl::cat(category)};
  cl::opt<bool> allowSpills{
      "allow-spills",
      cl::desc("only warn of spills and serialized instructions; do not try "
               "the next rungs of the schedule table"),
      cl::cat(category)};
  cl::opt<bool> explain{"explain", cl::desc("report decisions and resources"),
                        cl::cat(category)};
  cl::list<std::string> bwd{
      "bwd", cl::CommaSeparated, cl::ValueOptional,
      cl::desc("compile the gradients of these arguments, by their names in "
               "the launch plan, as with attn.gradient on them (default: of "
               "Q, K and V)"),
      cl::cat(category)};
  cl::opt<bool> anyOrder{
      "any-order",
      cl::desc("with --bwd: sums may be added in another order in each run"),
      cl::cat(category)};
  cl::opt<bool> jsonDiagnostics{
      "json-diagnostics",
      cl::desc("write errors and other messages as JSON, one a line"),
      cl::cat(category)};
  cl::opt<bool> instrument{"instrument",
                           cl::desc("make the kernel record when each role "
                                    "does what, for attn-run --trace"),
                           cl::cat(category)};
  cl::list<std::string> instrumentRoles{
      "instrument-roles", cl::CommaSeparated,
      cl::desc("with --instrument: the roles that record (default: all)"),
      cl::cat(category)};
  cl::opt<bool> timing{"timing", cl::desc("report the time by pass"),
                       cl::cat(category)};
  cl::opt<bool> listTargets{"list-targets", cl::desc("list the machines"),
                            cl::cat(category)};
  cl::opt<bool> askSchedules{
      "ask-schedules",
      cl::desc("answer requests about schedules: JSON, one a line, from the "
               "input to the output (docs/tuning.md)"),
      cl::cat(category)};
  cl::opt<bool> bytecode{"emit-bytecode", cl::desc("write IR as bytecode"),
                         cl::cat(category)};
  cl::opt<bool> generic{"generic", cl::desc("write IR in generic form"),
                        cl::cat(category)};
};

StringRef wordOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Remark:
    return "remark";
  case DiagnosticSeverity::Note:
    return "note";
  }
  llvm_unreachable("all severities are above");
}

/// Prints remarks without a snippet of IR, one line each.
void printDiagnostic(Diagnostic &diagnostic) {
  llvm::errs() << diagnostic.getLocation() << ": "
               << wordOf(diagnostic.getSeverity()) << ": " << diagnostic
               << "\n";
  for (Diagnostic &note : diagnostic.getNotes()) {
    printDiagnostic(note);
  }
}

template <typename T> std::string textOf(const T &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// Prints a diagnostic for programs.
void printAsJson(Diagnostic &diagnostic) {
  llvm::json::Array notes;
  for (Diagnostic &note : diagnostic.getNotes()) {
    notes.push_back(llvm::json::fixUTF8(textOf(note)));
  }
  llvm::json::Object object{
      {"severity", wordOf(diagnostic.getSeverity())},
      {"message", llvm::json::fixUTF8(textOf(diagnostic))},
      {"notes", std::move(notes)}};
  if (auto at = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>()) {
    object["file"] = llvm::json::fixUTF8(at.getFilename().getValue());
    object["line"] = at.getLine();
    object["column"] = at.getColumn();
  }
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
    object["reason"] = reasonOf(diagnostic);
  }
  llvm::errs() << llvm::json::Value(std::move(object)) << "\n";
}

/// Prints the decisions of passes for programs.
class JsonDecisions : public remark::detail::MLIRRemarkStreamerBase {
public:
  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    llvm::json::Object decision;
    for (const remark::detail::Remark::Arg &arg : remark.getArgs()) {
      if (!arg.val.empty()) {
        decision[arg.key] = llvm::json::fixUTF8(arg.val);
      }
    }
    llvm::errs() << llvm::json::Value(
                        llvm::json::Object{{"severity", "remark"},
                                           {"pass", remark.getRemarkName()},
                                           {"decision", std::move(decision)}})
                 << "\n";
  }
};

/// Returns the gradients that the options ask for, if any.
std::optional<GradientRequest> gradientsOf(const Arguments &arguments) {
  if (arguments.bwd.getNumOccurrences() == 0) {
    return std::nullopt;
  }
  GradientRequest request;
  request.anyOrder = arguments.anyOrder;
  for (const std::string &name : arguments.bwd) {
    if (!name.empty()) {
      request.names.push_back(name);
    }
  }
  return request;
}

CompileOptions optionsOf(const Arguments &arguments) {
  CompileOptions options;
  options.target = arguments.target;
  options.scheduleFile = arguments.schedule;
  options.rung = arguments.rung;
  options.losses =
      arguments.allowSpills ? codegen::Losses::Warn : codegen::Losses::Refuse;
  options.emit = arguments.emit;
  options.bytecode = arguments.bytecode;
  options.genericForm = arguments.generic;
  options.verbose = arguments.explain && !arguments.jsonDiagnostics;
  options.gradients = gradientsOf(arguments);
  options.instrument = arguments.instrument;
  options.instrumentRoles.assign(arguments.instrumentRoles.begin(),
                                 arguments.instrumentRoles.end());
  options.timing = arguments.timing;
  return options;
}

/// Reads the input into `module`. MLIR's bytecode reader trusts its input:
/// damage can raise a signal, which is then an error like any other. Returns
/// false in that case, and the context must not be used any more.
bool readSafely(MLIRContext &context, StringRef input,
                OwningOpRef<ModuleOp> &module) {
  llvm::CrashRecoveryContext::Enable();
  bool survived = llvm::CrashRecoveryContext().RunSafely(
      [&] { module = readModule(context, input); });
  llvm::CrashRecoveryContext::Disable();
  return survived;
}

int compileTo(StringRef input, const CompileOptions &options, StringRef output,
              llvm::function_ref<void(Diagnostic &)> report, std::string &error,
              bool jsonDecisions = false) {
  DialectRegistry registry;
  registerDialects(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  context->getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    report(diagnostic);
    return success();
  });
  remark::RemarkCategories all{"attn", "attn", "attn", "attn", "attn"};
  if (jsonDecisions &&
      failed(remark::enableOptimizationRemarks(
          *context, std::make_unique<JsonDecisions>(),
          std::make_unique<remark::RemarkEmittingPolicyAll>(), all))) {
    emitError(UnknownLoc::get(context.get()), "cannot enable remarks");
    return 1;
  }
  OwningOpRef<ModuleOp> module;
  if (!readSafely(*context, input, module)) {
    emitError(FileLineColLoc::get(context.release(), input, 0, 0),
              "expected MLIR as text or bytecode, got damaged bytecode");
    return 1;
  }
  if (!module) {
    return 1;
  }
  FailureOr<std::string> artifact = compile(*module, options);
  if (failed(artifact)) {
    return 1;
  }
  return writeArtifact(output, *artifact, error) ? 0 : 1;
}

/// MLIR's readers allocate tables of the sizes that the input claims.
void exitOutOfMemory() {
  llvm::errs()
      << "attn-compile: error: the input needs more memory than there is\n";
  std::_Exit(1);
}

void listTargets() {
  for (const EmbeddedFile &file : listEmbeddedFiles("machines")) {
    llvm::outs() << file.path.rsplit('/').second.rsplit('.').first << "\n";
  }
}

/// Answers each line as soon as it arrives, for a program that waits for the
/// reply.
int answerSchedules(const std::string &input, const std::string &output) {
  std::ifstream file;
  if (input != "-") {
    file.open(input);
  }
  std::error_code error;
  llvm::raw_fd_ostream out(output, error);
  if (error || !file) {
    llvm::errs() << "attn-compile: error: cannot open '"
                 << (error ? output : input) << "'\n";
    return 1;
  }
  ScheduleRequests requests;
  std::string line;
  while (std::getline(input == "-" ? std::cin : file, line)) {
    out << requests.answer(line) << "\n";
    out.flush();
  }
  return 0;
}

} // namespace

extern "C" __attribute__((visibility("default"))) int
attn_compile_main(int argc, char **argv) {
  std::set_new_handler(exitOutOfMemory);
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { exitOutOfMemory(); });
  Arguments arguments;
  cl::extrahelp help(kCompileHelp);
  cl::HideUnrelatedOptions(arguments.category);
  cl::ParseCommandLineOptions(argc, argv,
                              "attn: compiler for attention kernels\n");
  if (arguments.listTargets) {
    listTargets();
    return 0;
  }
  std::string error;
  if (arguments.askSchedules) {
    return answerSchedules(arguments.input, arguments.output);
  }
  CompileOptions options = optionsOf(arguments);
  if (arguments.anyOrder && !options.gradients) {
    llvm::errs() << "attn-compile: error: expected --bwd beside --any-order\n";
    return 1;
  }
  int status = compileTo(
      arguments.input, options, arguments.output,
      arguments.jsonDiagnostics ? printAsJson : printDiagnostic, error,
      /*jsonDecisions=*/arguments.jsonDiagnostics && arguments.explain);
  if (!error.empty()) {
    llvm::errs() << "attn-compile: error: cannot write '" << arguments.output
                 << "': " << error << "\n";
  }
  return status;
}

/// Compiles the IR in `path` to a bundle at `output`. Returns 0, or 1 with the
/// diagnostics in `message`.
extern "C" __attribute__((visibility("default"))) int
attn_jit_compile_file(const char *path, const char *target,
                      const char *schedule, bool gradients, bool instrument,
                      const char *output, char *message, size_t size) {
  CompileOptions options;
  options.target = target ? target : options.target;
  options.scheduleFile = schedule ? schedule : "";
  if (gradients) {
    options.gradients.emplace();
  }
  options.instrument = instrument;
  std::string text;
  llvm::raw_string_ostream stream(text);
  std::string error;
  int status = compileTo(
      path, options, output,
      [&](Diagnostic &diagnostic) {
        stream << diagnostic.getLocation() << ": " << diagnostic << "\n";
      },
      error);
  text += error;
  if (message && size > 0) {
    size_t length = std::min(size - 1, text.size());
    std::copy_n(text.begin(), length, message);
    message[length] = '\0';
  }
  return status;
}
