// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "options.h"

#include "trace.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace attn::run;

const char *attn::run::helpText() {
  return R"(usage: attn-run INPUT [options]

Launches an attention kernel, checks it and measures it. INPUT is a bundle, or
IR in a file that ends in .mlir, which is compiled first, or any kernel in PTX
in a file that ends in .ptx.

Shapes are batch x seqlen x heads x head_dim:
  --q=BxSxHxD        shape of Q
  --kv=BxSxHxD       shape of K and V (default: that of Q)
  --scale=X          softmax scale (default: 1/sqrt(head_dim))
  --seed=N           seed of the inputs (default: 0)
  --inputs=PATTERN   the contents of Q, K and V (default: normal); scores are in
                     log2 units:
                     spike-key:KEY[:UNITS]  scores of one key are UNITS (200)
                                            higher, perhaps -inf; a third
                                            field :FACTOR scales V
                     low[:UNITS]            all scores are UNITS (-1000)
                     alternating            1e4 and -1e4, every 128 keys
                     infinite:KEY, nan:KEY  such an element in K and in V
                     large-v                V near the largest of its type
                     large:UNITS            all scores near UNITS, and near
                                            -UNITS for every other query
                     large-runs:UNITS       the same and 0, every 128 keys
  --pad-strides      pad rows, heads and batches so that no tensor is packed
  --broadcast-kv     one K and V for all batches, through a stride of 0

What to do with it (any of these, in this order; default: launch once):
  --check            compare O and LSE with a float64 reference on the CPU
  --guard            check that nothing outside the outputs is written and
                     that every element of them is
  --repeat=N         launch N times and require bit-identical outputs
  --bench            median time and TFLOP/s
  --rounds=N         rounds of --bench (default: 5)

  --random=N         check and guard N problems drawn from seeds, instead of
                     one given by --q and --kv
  --first-seed=N     the first of those seeds (default: 0)

Bounds of the kernel's mask, and what its regions capture:
  --scalar=NAME=VALUE     a scalar's value; that of a bound is by default the
                          least that it may have
  --tensor=NAME=[EXTENTS:]CONTENT
                          a tensor's elements: normal, slopes (ALiBi's),
                          documents (sorted ids), integers:LEAST:MOST or a .npy
                          file (default: normal, or documents of integers)
  --tensor=NAME=EXTENTS   its extents, for example 2x300 (default: those that the
                          regions' indices reach)

  --device=cuda|sim  what to run on (default: cuda), --device=cuda:1 for the
                     second GPU
  --seeds=N          with the simulator: N schedules of the problem, from seeds
  --any-order        for kernels whose sums are made in any order: --seeds
                     checks each schedule's results, and need not find the same
                     bits
  --schedule-seed=N  the first of those seeds (default: 0)
  --hazards=error|warn|off
                     what the simulator does about races and other hazards:
                     fail, only warn, or not check (default: error)
  --sums=hardware|exact
                     how the simulator adds products inside matrix
                     instructions: as GPUs do, or with one rounding at the end
                     (default: hardware)
  --tmem-contention  with the simulator: clusters run two at a time, and share
                     the tensor memory of their multiprocessors
  --budget=N         with the simulator: warp instructions after which a CTA
                     is taken to be in an endless loop (default: 4294967296)
  --sm-count=N       with the simulator: its multiprocessors (default: 132);
                     each schedule of --seeds uses some of them
  --launch=FILE      with the simulator: how to launch INPUT, which is PTX then,
                     and what to expect of it (see docs/simulator.md)
  --trace=FILE       write what the first launch did, for Perfetto or
                     chrome://tracing; of a kernel with --instrument by its own
                     clock, of others on the simulator (see docs/timelines.md)
  --timeout=SECONDS  with a GPU: give up on a kernel that does not finish
                     (default: 60); the simulator counts instructions instead
  --json=FILE        also write one JSON object a line for every result
  --target=NAME      target of IR (default: that of attn-compile)
  --schedule=FILE    schedule of IR (default: the compiler's choice)
  --bwd              of IR, compile and run the gradients of Q, K and V; --check
                     compares them with float64
  --instrument       make the kernel of IR record when each role does what;
                     --trace on a GPU implies it
  --help             print this

Results go to standard output, errors to standard error.

Exit status:
  0 if all went well; 1 if something was refused, failed or was wrong.

Environment:
  ATTN_LOG               info or warning: which messages of the runtime to print
  ATTN_PTXAS             assembler for IR, as for attn-compile
  CUDA_VISIBLE_DEVICES   the GPUs that the driver shows
  TMPDIR                 where the bundle of IR is kept while it is needed

Examples:
  attn-run examples/causal.mlir --device=sim --q=1x100x2x128 --check --seeds=2
  attn-run examples/window.mlir --device=sim --q=1x70x2x128 --scalar=window_left=20 --check --guard
  attn-run examples/causal.mlir --device=cuda --q=2x4096x16x128 --check --bench
  attn-run examples/causal.mlir --device=cuda --q=2x4096x16x128 --bwd --check --bench
)";
}

bool attn::run::parseShape(const std::string &text, Shape &shape) {
  const char *at = text.c_str();
  for (size_t i = 0; i < 4; ++i) {
    if (*at < '0' || *at > '9') {
      return false;
    }
    char *end = nullptr;
    errno = 0;
    shape[i] = std::strtoll(at, &end, 10);
    if (errno != 0 || shape[i] > INT32_MAX || *end != (i < 3 ? 'x' : 0)) {
      return false;
    }
    at = end + 1;
  }
  return shape[3] >= 1;
}

namespace {

/// One option's value, or "".
struct Option {
  std::string name;
  std::string value;
  bool hasValue = false;
};

bool fail(const Option &option, const std::string &want, std::string &err) {
  err = "option '" + option.name + "': expected " + want + ", got '" +
        option.value + "'";
  return false;
}

bool setFlag(const Option &option, bool &out, std::string &err) {
  out = true;
  return !option.hasValue || fail(option, "no value", err);
}

bool setText(const Option &option, std::string &out, std::string &err) {
  out = option.value;
  return !out.empty() || fail(option, "a value", err);
}

template <typename T>
bool setInteger(const Option &option, int64_t least, T &out, std::string &err) {
  char *end = nullptr;
  errno = 0;
  long long value = std::strtoll(option.value.c_str(), &end, 10);
  if (option.value.empty() || *end != 0 || errno != 0 || value < least) {
    return fail(option, "an integer of at least " + std::to_string(least), err);
  }
  out = T(value);
  return true;
}

bool setPositive(const Option &option, double &out, std::string &err) {
  char *end = nullptr;
  out = std::strtod(option.value.c_str(), &end);
  if (option.value.empty() || *end != 0 || !std::isfinite(out) || out <= 0) {
    return fail(option, "a finite number greater than 0", err);
  }
  return true;
}

bool setShape(const Option &option, Shape &out, std::string &err) {
  return parseShape(option.value, out) ||
         fail(option, "BATCHxSEQLENxHEADSxHEAD_DIM such as 2x4096x16x128", err);
}

bool setInputs(const Option &option, Inputs &out, std::string &err) {
  return parseInputs(option.value, out) ||
         fail(option,
              "normal, spike-key:KEY, spike-key:KEY:UNITS, "
              "spike-key:KEY:UNITS:FACTOR, low, low:UNITS, alternating, "
              "infinite:KEY, nan:KEY, large-v, large:UNITS or "
              "large-runs:UNITS",
              err);
}

bool setDevice(const Option &option, Options &options, std::string &err) {
  options.device = option.value.substr(0, option.value.find(':'));
  if (options.device == "cuda" && options.device != option.value) {
    Option ordinal = option;
    ordinal.value = option.value.substr(options.device.size() + 1);
    return setInteger(ordinal, 0, options.ordinal, err);
  }
  return option.value == "cuda" || option.value == "sim" ||
         fail(option, "cuda, cuda:N or sim", err);
}

bool setOption(const Option &option, Options &options, std::string &err) {
  const std::string &name = option.name;
  if (name == "--help") {
    return setFlag(option, options.help, err);
  }
  if (name == "--check") {
    return setFlag(option, options.check, err);
  }
  if (name == "--bench") {
    return setFlag(option, options.bench, err);
  }
  if (name == "--guard") {
    return setFlag(option, options.guard, err);
  }
  if (name == "--pad-strides") {
    return setFlag(option, options.padStrides, err);
  }
  if (name == "--broadcast-kv") {
    return setFlag(option, options.broadcastKv, err);
  }
  if (name == "--q") {
    options.hasShape = true;
    return setShape(option, options.q, err);
  }
  if (name == "--kv") {
    return setShape(option, options.kv, err);
  }
  if (name == "--inputs") {
    return setInputs(option, options.inputs, err);
  }
  if (name == "--scale") {
    return setPositive(option, options.scale, err);
  }
  if (name == "--seed") {
    return setInteger(option, 0, options.seed, err);
  }
  if (name == "--repeat") {
    return setInteger(option, 1, options.repeat, err);
  }
  if (name == "--random") {
    return setInteger(option, 1, options.random, err);
  }
  if (name == "--first-seed") {
    return setInteger(option, 0, options.firstSeed, err);
  }
  if (name == "--seeds") {
    return setInteger(option, 1, options.schedules, err);
  }
  if (name == "--any-order") {
    return setFlag(option, options.anyOrder, err);
  }
  if (name == "--schedule-seed") {
    return setInteger(option, 0, options.scheduleSeed, err);
  }
  if (name == "--hazards") {
    options.hazards = option.value;
    return option.value == "error" || option.value == "warn" ||
           option.value == "off" || fail(option, "error, warn or off", err);
  }
  if (name == "--sums") {
    options.sums = option.value;
    return option.value == "hardware" || option.value == "exact" ||
           fail(option, "hardware or exact", err);
  }
  if (name == "--tmem-contention") {
    return setFlag(option, options.tmemContention, err);
  }
  if (name == "--budget") {
    return setInteger(option, 1, options.budget, err);
  }
  if (name == "--sm-count") {
    return setInteger(option, 1, options.multiprocessors, err);
  }
  if (name == "--trace") {
    return setText(option, options.trace, err);
  }
  if (name == "--launch") {
    return setText(option, options.launch, err);
  }
  if (name == "--bwd") {
    return setFlag(option, options.bwd, err);
  }
  if (name == "--instrument") {
    return setFlag(option, options.instrument, err);
  }
  if (name == "--rounds") {
    return setInteger(option, 1, options.rounds, err);
  }
  if (name == "--timeout") {
    return setPositive(option, options.timeout, err);
  }
  if (name == "--device") {
    return setDevice(option, options, err);
  }
  if (name == "--json") {
    return setText(option, options.json, err);
  }
  if (name == "--scalar") {
    return parseScalar(option.value, options.captures) ||
           fail(option, "NAME=VALUE", err);
  }
  if (name == "--tensor") {
    return parseTensor(option.value, options.captures) ||
           fail(option,
                "NAME=EXTENTS, NAME=CONTENT or NAME=EXTENTS:CONTENT, with "
                "extents such as 2x300 and normal, slopes, documents, "
                "integers:LEAST:MOST or a .npy file",
                err);
  }
  if (name == "--target") {
    return setText(option, options.target, err);
  }
  if (name == "--schedule") {
    return setText(option, options.schedule, err);
  }
  err = "unknown option '" + name + "'; see --help";
  return false;
}

Option splitOption(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return {text, "", false};
  }
  return {text.substr(0, equals), text.substr(equals + 1), true};
}

bool endsWith(const std::string &text, const std::string &end) {
  return text.size() > end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool isPtx(const Options &options) { return endsWith(options.input, ".ptx"); }

/// Returns the error in the options of a launch file's kernel, or "".
std::string checkPtxOptions(const Options &options, bool hasKv) {
  if (options.launch.empty()) {
    return "expected option '--launch' for PTX; see --help";
  }
  if (!isPtx(options)) {
    return "option '--launch': expected an input that ends in .ptx, got '" +
           options.input + "'";
  }
  if (options.device != "sim") {
    return "option '--launch': expected '--device=sim' beside it";
  }
  bool isProblem = options.hasShape || hasKv || options.random ||
                   options.check || options.guard || options.repeat ||
                   options.bench;
  return isProblem ? "option '--launch': expected no problem and no check "
                     "beside it: the file has them"
                   : "";
}

bool checkOptions(const Options &options, bool hasKv, std::string &err) {
  if (options.help) {
    return true;
  }
  if (options.input.empty()) {
    err = "expected an input file; see --help";
  } else if (isPtx(options) || !options.launch.empty()) {
    err = checkPtxOptions(options, hasKv);
  } else if (options.random > 0 && (options.hasShape || hasKv)) {
    err = "option '--random': expected no '--q' or '--kv' beside it";
  } else if (options.random > 0 && options.inputs.pattern != Pattern::Normal) {
    err = "option '--random': expected no '--inputs' beside it";
  } else if (options.random == 0 && !options.hasShape) {
    err = "expected option '--q' or '--random'; see --help";
  } else if (options.device != "sim" &&
             (options.schedules != 1 || options.scheduleSeed != 0)) {
    err = "option '--seeds': expected '--device=sim' beside it";
  } else if (options.anyOrder && (options.schedules == 1 || !options.check)) {
    err = "option '--any-order': expected '--seeds' and '--check' beside it";
  } else if (options.device != "sim" && options.hazards != "error") {
    err = "option '--hazards': expected '--device=sim' beside it";
  } else if (options.device != "sim" && options.sums != "hardware") {
    err = "option '--sums': expected '--device=sim' beside it";
  } else if (options.device != "sim" && options.tmemContention) {
    err = "option '--tmem-contention': expected '--device=sim' beside it";
  } else if (options.device != "sim" && options.budget != 0) {
    err = "option '--budget': expected '--device=sim' beside it";
  } else if (options.device != "sim" && options.multiprocessors != 0) {
    err = "option '--sm-count': expected '--device=sim' beside it";
  } else if (options.bwd && !endsWith(options.input, ".mlir")) {
    err = "option '--bwd': expected an input that ends in .mlir, got '" +
          options.input + "'";
  } else if (options.instrument && !endsWith(options.input, ".mlir")) {
    err = "option '--instrument': expected an input that ends in .mlir, got '" +
          options.input + "'";
  } else if (options.random > 0 && isTracing(options)) {
    err = "option '--trace': expected no '--random' beside it";
  } else if (hasKv && options.q[0] != options.kv[0]) {
    err = "option '--kv': expected the batch of '--q', " +
          std::to_string(options.q[0]) + ", got " +
          std::to_string(options.kv[0]);
  } else if (hasKv && options.q[3] != options.kv[3]) {
    err = "option '--kv': expected the head_dim of '--q', " +
          std::to_string(options.q[3]) + ", got " +
          std::to_string(options.kv[3]);
  }
  return err.empty();
}

} // namespace

bool attn::run::parseOptions(int argc, const char *const *argv,
                             Options &options, std::string &err) {
  bool hasKv = false;
  for (int i = 0; i < argc; ++i) {
    std::string text = argv[i];
    if (text.rfind('-', 0) == 0) {
      Option option = splitOption(text);
      hasKv |= option.name == "--kv";
      if (!setOption(option, options, err)) {
        return false;
      }
    } else if (!options.input.empty()) {
      err =
          "expected one input, got '" + options.input + "' and '" + text + "'";
      return false;
    } else {
      options.input = text;
    }
  }
  if (!checkOptions(options, hasKv, err)) {
    return false;
  }
  if (!hasKv) {
    options.kv = options.q;
  }
  // On a GPU only an instrumented kernel can record events.
  options.instrument |= options.device == "cuda" && isTracing(options) &&
                        endsWith(options.input, ".mlir");
  return true;
}
