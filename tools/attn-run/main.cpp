// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-run: launch, check and measure a compiled attention kernel.

#include "compile_input.h"
#include "cuda_memory.h"
#include "options.h"
#include "ptx_launch.h"
#include "report.h"
#include "session.h"
#include "sim_memory.h"
#include "stamps.h"
#include "trace.h"

#include <cinttypes>
#include <cstdio>
#include <unistd.h>

using namespace attn;
using namespace attn::run;

namespace {

/// State that all problems of a run share.
struct Run {
  Options options;
  attn_bundle *bundle = nullptr;
  runtime::LaunchPlan plan;
  std::unique_ptr<Gpu> gpu;
  JsonFile json;
  /// The kernel of the last problem, if there are several variants.
  std::string variant;
};

struct Counts {
  int64_t passed = 0;
  int64_t failed = 0;
  int64_t skipped = 0;
};

bool fail(const std::string &message) {
  std::fflush(stdout); // warnings, which came before
  std::fprintf(stderr, "attn-run: error: %s\n", message.c_str());
  return false;
}

JsonLine startLine(const Run &run, const Problem &problem) {
  JsonLine line;
  line.add("gpu", run.gpu->getName())
      .add("driver", run.gpu->getDriverVersion())
      .add("bundle", run.options.input)
      .add("kernel", run.plan.name)
      .add("variant", run.variant)
      .add("target", run.plan.target)
      .add("batch", problem.batch)
      .add("seqlen_q", problem.seqQ)
      .add("seqlen_k", problem.seqK)
      .add("heads_q", problem.headsQ)
      .add("heads_k", problem.headsK)
      .add("head_dim", problem.dim)
      .add("head_dim_v", problem.dimV)
      .add("scale", double(problem.scale))
      .add("seed", problem.seed)
      .add("padded", problem.padStrides)
      .add("broadcast_kv", problem.broadcastKv)
      .add("inputs", problem.inputs.spell());
  return line;
}

void writeCheck(Run &run, const Problem &problem, const CheckResult &result) {
  JsonLine line = startLine(run, problem);
  line.add("result", "check")
      .add("passed", result.failure.empty())
      .add("failure", result.failure)
      .add("rows", result.rows)
      .add("rows_compared", result.rowsCompared)
      .add("empty_rows", result.emptyRows)
      .add("max_error", result.maxError)
      .add("max_error_rounded", result.maxErrorRounded)
      .add("mean_error", result.meanError)
      .add("mean_error_rounded", result.meanErrorRounded)
      .add("lse_error", result.lseError)
      .add("o_share", result.oShare)
      .add("lse_share", result.lseShare);
  run.json.write(line);
}

void writeOutcome(Run &run, const Problem &problem, const char *result,
                  bool passed, const std::string &failure) {
  JsonLine line = startLine(run, problem);
  line.add("result", result).add("passed", passed).add("failure", failure);
  run.json.write(line);
}

std::string summary(const CheckResult &result) {
  char text[320], rest[160];
  if (result.lseName) {
    std::snprintf(rest, sizeof(rest), "%s %.3g; %.2g and %.2g of their bounds",
                  result.lseName, result.lseError, result.oShare,
                  result.lseShare);
  } else {
    std::snprintf(rest, sizeof(rest), "%.2g of its bound", result.oShare);
  }
  std::snprintf(text, sizeof(text),
                "%" PRId64 " of %" PRId64 " rows compared, %" PRId64
                " empty; %s max %.3g (rounded reference %.3g), mean %.3g "
                "(%.3g); %s",
                result.rowsCompared, result.rows, result.emptyRows, result.name,
                result.maxError, result.maxErrorRounded, result.meanError,
                result.meanErrorRounded, rest);
  return text + result.captures;
}

/// Prints the line of an action and returns whether it passed.
bool report(Run &run, const Problem &problem, const char *action, bool passed,
            const std::string &detail) {
  std::printf("%s: %s%s%s\n", action, passed ? "passed" : "FAILED",
              detail.empty() ? "" : ": ", detail.c_str());
  writeOutcome(run, problem, action, passed, passed ? "" : detail);
  return passed;
}

bool runCheck(Run &run, Session &session, const Problem &problem) {
  CheckResult result = session.check();
  std::printf("check: %s: %s\n", result.failure.empty() ? "passed" : "FAILED",
              summary(result).c_str());
  if (!result.failure.empty()) {
    std::printf("check: %s\n", result.failure.c_str());
  }
  writeCheck(run, problem, result);
  return result.failure.empty();
}

/// Returns the multiplications of a kernel for each pair of a query and a key;
/// 0 if it is not known for its kind.
int64_t multiplicationsOfPair(const runtime::LaunchPlan &plan,
                              const Problem &problem) {
  runtime::Kind kind = plan.problem.kind;
  if (isWholeBackward(plan)) {
    return 3 * problem.dim + 2 * problem.dimV;
  }
  if (kind == runtime::Kind::Fwd) {
    return problem.dim + problem.dimV;
  }
  using runtime::Role;
  bool ofScores = false; // the derivative of scores, of dQ and dK
  int64_t results = 0;
  for (Role role : gradientsOf(kind)) {
    bool isOfV = role == Role::ValueGradient;
    ofScores |= !isOfV;
    results += isOfV ? problem.dimV : problem.dim;
  }
  return results == 0 ? 0
                      : problem.dim + (ofScores ? problem.dimV : 0) + results;
}

bool runBench(Run &run, Session &session, const Problem &problem) {
  int64_t ofPair = multiplicationsOfPair(run.plan, problem);
  if (ofPair == 0) {
    return report(
        run, problem, "bench", false,
        std::string("expected a plan of kind 'fwd' or of gradients, got '") +
            runtime::nameOf(run.plan.problem.kind) + "'");
  }
  double milliseconds = 0;
  if (!session.measure(run.options.rounds, milliseconds)) {
    return report(run, problem, "bench", false, session.getError());
  }
  ReferenceInputs in =
      problem.allow ? session.referenceInputs() : ReferenceInputs{};
  in.problem = problem;
  double flops = 2.0 * double(countAdmissiblePairs(in)) * double(ofPair);
  double teraflops = flops / milliseconds / 1e9;
  bool isSimulated = run.options.device == "sim";
  std::printf("bench: %.1f us, %.1f TFLOP/s (median of %" PRId64 " rounds)%s\n",
              milliseconds * 1e3, teraflops, run.options.rounds,
              isSimulated ? ": the simulator's own time, not a GPU's" : "");
  JsonLine line = startLine(run, problem);
  line.add("result", "bench")
      .add("passed", true)
      .add("simulated", isSimulated)
      .add("microseconds", milliseconds * 1e3)
      .add("flops", flops)
      .add("tflops", teraflops);
  run.json.write(line);
  return true;
}

/// Runs the other schedules of --seeds, one launch each.
bool runSchedules(Run &run, Session &session, const Problem &problem) {
  const Options &options = run.options;
  for (int64_t n = 1; n < options.schedules; ++n) {
    uint64_t seed = options.scheduleSeed + uint64_t(n);
    run.gpu->setSchedule(seed);
    // The results must be bit-identical to the first, which --check has
    // checked, or right.
    bool ran =
        options.anyOrder ? session.launchAndDownload() : session.repeat(1);
    std::string failure = ran ? "" : session.getError();
    if (ran && options.anyOrder) {
      failure = session.check().failure;
    }
    if (!failure.empty()) {
      return report(
          run, problem, "seeds", false,
          failure + "\n  reproduce: --schedule-seed=" + std::to_string(seed));
    }
  }
  return report(run, problem, "seeds", true,
                std::to_string(options.schedules) + " schedules");
}

void noteVariant(Run &run, const Session &session) {
  run.variant = run.plan.variants.size() > 1 ? session.getKernel() : "";
}

/// Launches with the simulator's trace, if the options ask for it.
bool launchWatched(Run &run, Session &session, std::string &err) {
  Tracing tracing(run.options, readRoles(attn_bundle_plan(run.bundle),
                                         session.getVariant()));
  bool launched = session.launchAndDownload();
  // The events before a failure matter too.
  bool written = tracing.write(session.getKernel(), err);
  err = launched ? err : session.getError();
  return launched && written;
}

/// Launches and draws the stamps.
bool launchStamped(Run &run, Session &session, const StampPlan &stamps,
                   std::string &err) {
  std::vector<unsigned char> workspace;
  if (!session.launchOnZeros(workspace)) {
    err = session.getError();
    return false;
  }
  if (workspace.size() < stamps.end()) {
    err = "plan: report.stamps: expected at most the workspace's " +
          std::to_string(workspace.size()) + " bytes, got " +
          std::to_string(stamps.end());
    return false;
  }
  trace::Timeline timeline = decodeStamps(stamps, workspace);
  timeline.details.insert(timeline.details.begin(),
                          {"device", run.gpu->getName()});
  return writeTimeline(run.options, stamps.kernel, std::move(timeline), err);
}

/// Runs the launch that is traced, if there is one.
bool launchFirst(Run &run, Session &session, std::string &err) {
  if (!session.prepare()) {
    err = session.getError();
    return false;
  }
  noteVariant(run, session);
  if (!run.variant.empty()) {
    std::printf("variant: %s\n", run.variant.c_str());
  }
  StampPlan stamps;
  bool isStamped = readStampPlan(attn_bundle_plan(run.bundle),
                                 session.getVariant(), stamps, err);
  if (!err.empty()) {
    return false;
  }
  return isStamped && isTracing(run.options)
             ? launchStamped(run, session, stamps, err)
             : launchWatched(run, session, err);
}

/// Runs the problem of --q and --kv.
bool runOne(Run &run) {
  const Options &options = run.options;
  Problem problem = makeProblem(run.plan, options);
  std::printf("problem: %s seed=%" PRIu64 "\n", problem.describe().c_str(),
              problem.seed);
  Session session(*run.gpu, run.bundle, run.plan, problem, options.timeout);
  run.gpu->setSchedule(options.scheduleSeed);
  std::string err;
  bool passed = launchFirst(run, session, err);
  if (!passed) {
    return report(run, problem, "launch", false, err);
  }
  if (!options.check && !options.guard && !options.repeat && !options.bench) {
    report(run, problem, "launch", true, "");
  }
  if (options.check) {
    passed &= runCheck(run, session, problem);
  }
  if (options.schedules > 1 && passed) {
    passed &= runSchedules(run, session, problem);
  }
  if (options.guard) {
    bool good = session.checkGuards();
    passed &=
        report(run, problem, "guard", good, good ? "" : session.getError());
  }
  if (options.repeat > 0) {
    bool good = session.repeat(options.repeat);
    passed &= report(run, problem, "repeat", good,
                     good ? std::to_string(options.repeat) +
                                " launches, bit-identical"
                          : session.getError());
  }
  // The speed of a wrong or hanging kernel is meaningless.
  if (options.bench && passed) {
    passed &= runBench(run, session, problem);
  }
  return passed;
}

/// Runs one random problem; returns the failure, or "".
std::string runRandomProblem(Run &run, const Problem &problem,
                             std::string &detail, bool &gpuLost) {
  Session session(*run.gpu, run.bundle, run.plan, problem, run.options.timeout);
  run.variant = "";
  if (!session.prepare()) {
    gpuLost = session.isGpuLost();
    return session.getError();
  }
  noteVariant(run, session);
  if (!session.launchAndDownload() || !session.checkGuards()) {
    gpuLost = session.isGpuLost();
    return session.getError();
  }
  CheckResult result = session.check();
  detail = summary(result);
  writeCheck(run, problem, result);
  return result.failure;
}

Counts runRandom(Run &run) {
  const Options &options = run.options;
  Counts counts;
  bool gpuLost = false;
  for (int64_t n = 0; n < options.random && !gpuLost; ++n) {
    uint64_t seed = options.firstSeed + uint64_t(n);
    Problem problem = makeRandomProblem(run.plan, options.captures, seed);
    std::string detail;
    std::string failure = runRandomProblem(run, problem, detail, gpuLost);
    std::printf("seed %" PRIu64 ": %s%s%s: %s; %s\n", seed,
                problem.describe().c_str(), run.variant.empty() ? "" : " on ",
                run.variant.c_str(), failure.empty() ? "passed" : "FAILED",
                detail.c_str());
    (failure.empty() ? counts.passed : counts.failed) += 1;
    if (!failure.empty()) {
      std::printf("  %s\n  reproduce: attn-run %s --device=%s --random=1 "
                  "--first-seed=%" PRIu64 "%s\n",
                  failure.c_str(), options.input.c_str(),
                  options.device.c_str(), seed,
                  options.captures.spell().c_str());
      writeOutcome(run, problem, "random", false, failure);
    }
    std::fflush(stdout);
  }
  counts.skipped = options.random - counts.passed - counts.failed;
  if (counts.skipped > 0) {
    std::printf("the GPU is lost: %" PRId64 " problems skipped\n",
                counts.skipped);
  }
  std::printf("%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped\n",
              counts.passed, counts.failed, counts.skipped);
  return counts;
}

/// On a GPU only the kernel itself can record events, so it must be
/// instrumented: either all variants are, or none.
bool checkTraceable(const Run &run) {
  StampPlan stamps;
  std::string err;
  if (!isTracing(run.options) || run.options.device != "cuda" ||
      readStampPlan(attn_bundle_plan(run.bundle), 0, stamps, err)) {
    return true;
  }
  return fail(err.empty() ? "option '--trace': expected a kernel compiled with "
                            "--instrument, as it runs on a GPU"
                          : run.options.input + ": " + err);
}

bool loadInput(Run &run) {
  const Options &options = run.options;
  std::string path = options.input;
  std::string err;
  bool isIR = path.size() > 5 && path.compare(path.size() - 5, 5, ".mlir") == 0;
  if (isIR && !compileInput(options, path, err)) {
    return fail(err);
  }
  attn_status status = attn_bundle_load(path.c_str(), nullptr, 0, &run.bundle);
  if (isIR) {
    ::unlink(path.c_str());
  }
  if (status != ATTN_SUCCESS) {
    return fail(options.input + ": " + attn_last_error());
  }
  // The library has already accepted this text.
  (void)bool(runtime::parseLaunchPlan(attn_bundle_plan(run.bundle), run.plan));
  err = checkCaptures(run.plan, options.captures);
  if (!err.empty()) {
    return fail(err);
  }
  if (options.check || options.random > 0) {
    err = whyNotCheckable(run.plan);
  }
  if (!err.empty()) {
    return fail(std::string("option '") +
                (options.check ? "--check" : "--random") + "': " + err);
  }
  return checkTraceable(run);
}

bool openDevice(Run &run) {
  if (run.options.device == "sim") {
    auto gpu = std::make_unique<SimGpu>();
    if (run.options.multiprocessors > 0) {
      gpu->setMultiprocessorCount(run.options.multiprocessors);
    }
    // The cuts of a launch, and so the order of its sums, depend on this
    // number.
    for (const runtime::PlanVariant &variant : run.plan.variants) {
      if (!variant.values.empty()) {
        gpu->keepMultiprocessorCount();
      }
    }
    run.gpu = std::move(gpu);
  } else {
    auto gpu = std::make_unique<CudaGpu>();
    bool good = gpu->open(run.options.ordinal);
    run.gpu = std::move(gpu);
    if (!good) {
      return fail(run.gpu->getError());
    }
  }
  if (!run.gpu->prepare(run.bundle)) {
    return fail(run.gpu->getError());
  }
  if (run.options.device == "sim") {
    std::printf("device: simulator\n");
  } else {
    std::printf("gpu: %s, driver for CUDA %s\n", run.gpu->getName().c_str(),
                run.gpu->getDriverVersion().c_str());
  }
  std::printf("kernel: %s for %s\n", run.plan.name.c_str(),
              run.plan.target.c_str());
  return true;
}

void printLog(attn_log_level level, const char *message, void *) {
  std::printf("%s%s\n", level == ATTN_LOG_WARNING ? "attn-run: warning: " : "",
              message);
}

bool runAll(Run &run) {
  std::string err;
  if (!run.options.json.empty() && !run.json.open(run.options.json, err)) {
    return fail(err);
  }
  attn_set_log_callback(printLog, nullptr);
  uint64_t budget = run.options.budget;
  // Each schedule has to find the same bits.
  bool isOrdered = run.options.schedules > 1 && !run.options.anyOrder;
  const char *memory = run.options.tmemContention ? "contended" : "own";
  if (attn_simulator_option("hazards", run.options.hazards.c_str()) ||
      attn_simulator_option("sums", run.options.sums.c_str()) ||
      attn_simulator_option("additions", isOrdered ? "ordered" : "any") ||
      attn_simulator_option("tensor_memory", memory) ||
      (budget != 0 &&
       attn_simulator_option("budget", std::to_string(budget).c_str()))) {
    return fail(attn_last_error());
  }
  if (!run.options.launch.empty()) {
    return runPtx(run.options, err) || fail(err);
  }
  if (!loadInput(run) || !openDevice(run)) {
    return false;
  }
  if (run.options.random > 0) {
    Counts counts = runRandom(run);
    return counts.failed == 0 && counts.skipped == 0;
  }
  return runOne(run);
}

} // namespace

int main(int argc, char **argv) {
  Run run;
  std::string err;
  if (!parseOptions(argc - 1, argv + 1, run.options, err)) {
    fail(err);
    return 1;
  }
  if (run.options.help) {
    std::fputs(helpText(), stdout);
    return 0;
  }
  bool good = runAll(run);
  std::fflush(stdout);
  // No teardown: a hung kernel would hang it too.
  ::_exit(good ? 0 : 1);
}
