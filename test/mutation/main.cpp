// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-mutate: breaks a compiled kernel in every way it knows, one change at a
// time, and reports whether the simulator notices. Results are JSON lines.

#include "choose_kernel.h"
#include "coverage.h"
#include "device/sim_device.h"
#include "mutant.h"
#include "ptx_trial.h"
#include "read_file.h"
#include "report.h"
#include "trial.h"

#include <cstdlib>
#include <cstring>

using namespace attn;
using namespace attn::mutation;

namespace {

struct Arguments {
  std::string bundle;
  /// The kernel to break; the first if empty.
  std::string kernel;
  std::vector<std::string> problems;
  /// Of PTX, in place of problems.
  std::vector<std::string> launches;
  /// Options of attn-run for what regions capture.
  std::vector<std::string> captures;
  /// Classes of sites with commas between; empty for all.
  std::string sites;
  /// "SITE:OPERATION": this mutant alone, and its PTX.
  std::string print;
  uint64_t seeds = 8;
  uint64_t originalSeeds = 64;
  uint64_t budget = 4'000'000;
  uint64_t multiprocessors = 2;
  /// The numbers of the mutants to run.
  std::vector<uint64_t> only;
  bool list = false;
  /// The kernels add to one address in any order.
  bool anyOrder = false;
};

constexpr const char *kHelp =
    "usage: attn-mutate BUNDLE|KERNEL.ptx [options]\n"
    "  --launch=FILE       how to launch the PTX; several for several "
    "problems\n"
    "  --kernel=NAME       which of several kernels; all problems run it\n"
    "  --problem=BxSxHxD,BxSxHxD,N,INPUTS[,OPTION...]  Q and K shapes to run,\n"
    "                      on N schedules, with inputs and more options as\n"
    "                      attn-run takes them\n"
    "  --tensor=NAME=CONTENT, --scalar=NAME=VALUE  what regions capture, as\n"
    "                      attn-run takes it\n"
    "  --seeds=N           schedules a mutant gets at most (8)\n"
    "  --original-seeds=N  schedules the kernel itself has to pass (64)\n"
    "  --sm-count=N        multiprocessors (2)\n"
    "  --any-order         of kernels whose sums are made in any order;\n"
    "                      elsewhere additions that the kernel does not\n"
    "                      order are noticed\n"
    "  --budget=N          instructions of a warp after which it hangs\n"
    "  --only=N,N,...      the mutants to run, by their numbers in the list\n"
    "  --sites=wait,order  those of some classes\n"
    "  --list              names the mutants and runs none\n"
    "  --print=SITE:OPERATION  prints one mutant's PTX\n";

bool fail(const std::string &message) {
  std::fprintf(stderr, "attn-mutate: error: %s\n", message.c_str());
  return false;
}

bool readNumber(const std::string &text, uint64_t &value) {
  char *end = nullptr;
  value = std::strtoull(text.c_str(), &end, 10);
  return !text.empty() && *end == 0;
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (char each : text) {
    if (each == separator) {
      parts.emplace_back();
    } else {
      parts.back() += each;
    }
  }
  return parts;
}

/// "N,N,..."; empty for none.
bool readNumbers(const std::string &text, std::vector<uint64_t> &numbers) {
  for (const std::string &part : split(text, ',')) {
    uint64_t number = 0;
    if (!text.empty() && !readNumber(part, number)) {
      return fail("option '--only': expected numbers, got '" + text + "'");
    }
    numbers.insert(numbers.end(), text.empty() ? 0 : 1, number);
  }
  return true;
}

bool parseOption(const std::string &name, const std::string &value,
                 Arguments &arguments) {
  if (name == "--problem") {
    arguments.problems.push_back(value);
    return true;
  }
  if (name == "--launch") {
    arguments.launches.push_back(value);
    return true;
  }
  if (name == "--only") {
    return readNumbers(value, arguments.only);
  }
  if (name == "--tensor" || name == "--scalar") {
    arguments.captures.push_back(name);
    arguments.captures.back() += "=" + value;
    return true;
  }
  std::pair<const char *, std::string *> texts[] = {
      {"--kernel", &arguments.kernel},
      {"--sites", &arguments.sites},
      {"--print", &arguments.print}};
  for (auto &[known, to] : texts) {
    if (name == known) {
      *to = value;
      return true;
    }
  }
  std::pair<const char *, uint64_t *> numbers[] = {
      {"--seeds", &arguments.seeds},
      {"--original-seeds", &arguments.originalSeeds},
      {"--sm-count", &arguments.multiprocessors},
      {"--budget", &arguments.budget}};
  for (auto &[known, to] : numbers) {
    if (name == known) {
      return readNumber(value, *to) ||
             fail("option '" + name + "': expected a number, got '" + value +
                  "'");
    }
  }
  return fail("unknown option '" + name + "'");
}

bool parseArguments(int argc, char **argv, Arguments &arguments) {
  for (int i = 1; i < argc; ++i) {
    std::string text = argv[i];
    size_t equals = text.find('=');
    if (text == "--list") {
      arguments.list = true;
    } else if (text == "--any-order") {
      arguments.anyOrder = true;
    } else if (text.compare(0, 2, "--") != 0) {
      arguments.bundle = text;
    } else if (!parseOption(
                   text.substr(0, equals),
                   equals == std::string::npos ? "" : text.substr(equals + 1),
                   arguments)) {
      return false;
    }
  }
  if (arguments.bundle.empty()) {
    return fail(std::string("expected a bundle\n") + kHelp);
  }
  return true;
}

bool isPtx(const Arguments &arguments) {
  const std::string end = ".ptx";
  const std::string &name = arguments.bundle;
  return name.size() > end.size() &&
         name.compare(name.size() - end.size(), end.size(), end) == 0;
}

struct Kernel {
  runtime::Bundle bundle;
  ptx::Module module;
  runtime::LaunchPlan plan;
};

bool parseKernel(Kernel &kernel) {
  sim::Diagnostic diagnostic;
  if (!ptx::parse(kernel.bundle.ptx, kernel.module, diagnostic)) {
    return fail("PTX: " + diagnostic.text());
  }
  return findKernel(kernel.module) || fail("expected a kernel");
}

bool loadPtx(const Arguments &arguments, Kernel &kernel) {
  std::string err;
  return (run::readFile(arguments.bundle, kernel.bundle.ptx, err) ||
          fail(err)) &&
         parseKernel(kernel);
}

bool loadKernel(const Arguments &arguments, Kernel &kernel) {
  std::string err;
  if (runtime::readBundleFile(arguments.bundle, kernel.bundle, err) !=
      runtime::BundleFault::None) {
    return fail(err);
  }
  if (runtime::Status status =
          runtime::parseLaunchPlan(kernel.bundle.plan, kernel.plan)) {
    return fail(status.getMessage());
  }
  std::string first = kernel.plan.variants[0].launches[0].kernel;
  const std::string &name = arguments.kernel;
  if (!chooseKernel(name.empty() ? first : name, kernel.bundle, err)) {
    return fail(err);
  }
  (void)bool(runtime::parseLaunchPlan(kernel.bundle.plan, kernel.plan));
  return parseKernel(kernel);
}

/// "BxSxHxD,BxSxHxD,N,INPUTS[,OPTION...]".
bool addProblem(const std::string &text,
                const std::vector<std::string> &captures, Trial &trial) {
  uint64_t schedules = 0;
  std::vector<std::string> parts = split(text, ',');
  if (parts.size() < 4 || !readNumber(parts[2], schedules)) {
    return fail("option '--problem': expected "
                "'BxSxHxD,BxSxHxD,N,INPUTS[,OPTION...]', got '" +
                text + "'");
  }
  // Statistics of a backward pass are those of Q and K if they are checked.
  std::vector<std::string> words = {"K.attn",           "--device=sim",
                                    "--check",          "--q=" + parts[0],
                                    "--kv=" + parts[1], "--inputs=" + parts[3]};
  words.insert(words.end(), captures.begin(), captures.end());
  words.insert(words.end(), parts.begin() + 4, parts.end());
  std::vector<const char *> pointers;
  for (const std::string &word : words) {
    pointers.push_back(word.c_str());
  }
  run::Options options;
  std::string err;
  if (!run::parseOptions(int(pointers.size()), pointers.data(), options, err)) {
    return fail("option '--problem': got '" + text + "': " + err);
  }
  return trial.addProblem(options, schedules, err) || fail(err);
}

run::JsonLine describe(const Mutant &mutant) {
  run::JsonLine line;
  line.add("site", mutant.site)
      .add("operation", mutant.operation)
      .add("line", uint64_t(mutant.line))
      .add("once", mutant.once)
      .add("before", mutant.before)
      .add("after", mutant.after);
  return line;
}

void print(const run::JsonLine &line) {
  std::printf("%s\n", line.finish().c_str());
  std::fflush(stdout);
}

void addVerdict(run::JsonLine &line, const Verdict &verdict) {
  line.add("by", verdict.by)
      .add("seed", verdict.seed)
      .add("problem", uint64_t(verdict.problem))
      .add("changed", verdict.changed)
      .add("message", verdict.message);
}

bool printMutant(const Kernel &kernel, const std::vector<Mutant> &mutants,
                 const std::string &name) {
  for (const Mutant &mutant : mutants) {
    if (mutant.site + ":" + mutant.operation == name) {
      runtime::Bundle changed =
          applyMutant(kernel.bundle, kernel.module, mutant);
      std::fputs((mutant.plan.empty() ? changed.ptx : changed.plan).c_str(),
                 stdout);
      return true;
    }
  }
  return fail("option '--print': there is no mutant '" + name + "'");
}

/// Prepares the problems.
bool openTrial(const Arguments &arguments, const Kernel &kernel, Trial &trial) {
  if (!trial.open(kernel.bundle)) {
    return fail(trial.getError());
  }
  for (const std::string &problem : arguments.problems) {
    if (!addProblem(problem, arguments.captures, trial)) {
      return false;
    }
  }
  return true;
}

/// What runs the kernel; null if it could not be opened.
std::unique_ptr<Runner> openRunner(const Arguments &arguments,
                                   const Kernel &kernel) {
  sim::getSimDevice().getOptions().budget = arguments.budget;
  sim::getSimDevice().getOptions().threads = 1;
  sim::getSimDevice().getOptions().ordersSums = !arguments.anyOrder;
  if (isPtx(arguments)) {
    return std::make_unique<PtxTrial>(kernel.bundle, arguments.launches);
  }
  auto trial = std::make_unique<Trial>(kernel.plan, arguments.multiprocessors);
  if (!openTrial(arguments, kernel, *trial)) {
    return nullptr;
  }
  return trial;
}

/// Requires that the unchanged kernel is right and causes no report.
bool checkOriginal(const Arguments &arguments, Runner &runner) {
  Verdict verdict = runner.runOriginal(arguments.originalSeeds);
  return verdict.by.empty() ||
         fail("the kernel itself is broken: " + verdict.message);
}

/// Keeps the mutants that are asked for.
void select(const Arguments &arguments, std::vector<Mutant> &mutants) {
  std::vector<Mutant> kept;
  std::string wanted = "," + arguments.sites + ",";
  for (Mutant &mutant : mutants) {
    std::string kind = mutant.site.substr(0, mutant.site.find('.'));
    if (arguments.sites.empty() ||
        wanted.find("," + kind + ",") != std::string::npos) {
      kept.push_back(std::move(mutant));
    }
  }
  mutants = std::move(kept);
}

/// Runs one mutant on its first schedule, and on the others only if some
/// problem reaches it.
void runMutant(const Arguments &arguments, const Kernel &kernel,
               const Mutant &mutant, Coverage &coverage, Runner &runner) {
  runtime::Bundle changed = applyMutant(kernel.bundle, kernel.module, mutant);
  // If PTX is changed, the other kernels of a pass are as they were.
  std::string_view broken = findKernel(kernel.module)->name;
  sim::getSimDevice().trackOnly(mutant.plan.empty() ? std::string(broken) : "");
  Verdict verdict = runner.runMutant(changed, 0, 1);
  bool isReached = !verdict.by.empty() || !mutant.plan.empty() ||
                   coverage.isReached(mutant.statement);
  if (verdict.by.empty() && isReached) {
    verdict = runner.runMutant(changed, 1, arguments.seeds, verdict.changed);
  }
  run::JsonLine line = describe(mutant);
  line.add("reached", isReached);
  addVerdict(line, verdict);
  print(line);
}

bool runAll(const Arguments &arguments) {
  Kernel kernel;
  if (!(isPtx(arguments) ? loadPtx(arguments, kernel)
                         : loadKernel(arguments, kernel))) {
    return false;
  }
  std::vector<Mutant> mutants = enumerateMutants(kernel.bundle, kernel.module);
  if (!arguments.print.empty()) {
    return printMutant(kernel, mutants, arguments.print);
  }
  select(arguments, mutants);
  if (arguments.list) {
    for (const Mutant &mutant : mutants) {
      print(describe(mutant));
    }
    return true;
  }
  std::unique_ptr<Runner> runner = openRunner(arguments, kernel);
  if (!runner || !checkOriginal(arguments, *runner)) {
    return false;
  }
  Coverage coverage(kernel.bundle, kernel.module, *runner);
  for (uint64_t number : arguments.only) {
    if (number >= mutants.size()) {
      return fail("option '--only': expected numbers below " +
                  std::to_string(mutants.size()) + ", got " +
                  std::to_string(number));
    }
    runMutant(arguments, kernel, mutants[number], coverage, *runner);
  }
  return true;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  Arguments arguments;
  return parseArguments(argc, argv, arguments) && runAll(arguments) ? 0 : 1;
}
