// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "device/sim_device.h"

#include "device/host_memory.h"
#include "machine/instruction_set.h"
#include "machine/run_grid.h"
#include "units/tensor_map.h"

#include <algorithm>
#include <charconv>
#include <cstring>

using namespace attn::sim;
using namespace attn::runtime;

namespace {

class SimKernels final : public LoadedKernels {
public:
  explicit SimKernels(const SimDevice &device) : device(device) {}

  Status load(const Bundle &code,
              const std::vector<const PlanLaunch *> &launches);
  Status check(const PreparedLaunch &launch) override;
  /// Runs the grid; there are no streams.
  Status launch(const PreparedLaunch &launch, void *stream,
                bool mayOverlap) override;

private:
  struct Kernel {
    const PlanLaunch *launch;
    Program program;
  };

  /// Finds the kernel and packs its parameters.
  Status pack(const PreparedLaunch &prepared, const Program *&program,
              std::vector<uint8_t> &params) const;

  const SimDevice &device;
  std::vector<Kernel> kernels;
};

} // namespace

Status SimKernels::load(const Bundle &code,
                        const std::vector<const PlanLaunch *> &launches) {
  if (code.ptx.empty()) {
    return {ATTN_INVALID_BUNDLE,
            "bundle: expected a PTX section for the simulator, got none"};
  }
  auto module = std::make_shared<ptx::Module>();
  Diagnostic diagnostic;
  if (!ptx::parse(code.ptx, *module, diagnostic)) {
    return {ATTN_INVALID_BUNDLE, "PTX: " + diagnostic.text()};
  }
  for (const PlanLaunch *launch : launches) {
    kernels.push_back({launch, {}});
    if (!decode(module, launch->kernel, kernels.back().program, diagnostic)) {
      return {ATTN_UNSUPPORTED, "PTX: " + diagnostic.text()};
    }
  }
  return {};
}

static TensorType tensorType(DataType type) {
  switch (type) {
  case DataType::Bool:
  case DataType::U8:
  case DataType::I8:
    return TensorType::U8;
  case DataType::I16:
    return TensorType::U16;
  case DataType::I32:
    return TensorType::S32;
  case DataType::I64:
    return TensorType::S64;
  case DataType::F16:
    return TensorType::F16;
  case DataType::F32:
    return TensorType::F32;
  case DataType::F64:
    return TensorType::F64;
  case DataType::BF16:
    return TensorType::BF16;
  }
  return TensorType::U8;
}

static std::string encodeMap(const TensorMapRequest &request, uint8_t *bytes) {
  attn::sim::TensorMap map;
  map.type = tensorType(request.dtype);
  map.rank = uint32_t(request.rank);
  map.globalAddress = reinterpret_cast<uintptr_t>(request.address);
  std::copy_n(request.sizes, request.rank, map.globalDim);
  std::copy_n(request.strides, request.rank - 1, map.globalStrides);
  std::copy_n(request.box, request.rank, map.boxDim);
  map.swizzle = request.swizzle == 128  ? Swizzle::B128
                : request.swizzle == 64 ? Swizzle::B64
                : request.swizzle == 32 ? Swizzle::B32
                                        : Swizzle::None;
  return encodeTensorMap(map, bytes);
}

/// Writes the parameters in the layout of the kernel's declarations.
static Status packParams(const Program &program, const PreparedLaunch &prepared,
                         std::vector<uint8_t> &bytes) {
  const std::string &kernel = prepared.launch->kernel;
  if (program.params.size() != prepared.params.size()) {
    return {ATTN_INVALID_BUNDLE, "kernel " + quote(kernel) + ": expected " +
                                     std::to_string(program.params.size()) +
                                     " parameters, got " +
                                     std::to_string(prepared.params.size())};
  }
  bytes.assign(program.paramBytes, 0);
  for (size_t i = 0; i < prepared.params.size(); ++i) {
    const PreparedParam &param = prepared.params[i];
    const ParamSlot &slot = program.params[i];
    uint8_t *to = bytes.data() + slot.offset;
    bool isMap = param.kind == ParamKind::TensorMap;
    if (isMap != (slot.size == kTensorMapBytes) || (!isMap && slot.size > 8)) {
      return {ATTN_INVALID_BUNDLE, "kernel " + quote(kernel) + ": parameter " +
                                       std::to_string(i) +
                                       " has another size than the plan says"};
    }
    if (!isMap) {
      std::memcpy(to, &param.value, slot.size);
      continue;
    }
    std::string problem = encodeMap(param.map, to);
    if (!problem.empty()) {
      return {ATTN_DEVICE_ERROR,
              "tensor map of kernel " + quote(kernel) + ": " + problem};
    }
  }
  return {};
}

/// Collects the memory of a call: its tensors and the workspace.
static void collectMemory(const PreparedLaunch &prepared,
                          GlobalMemory &memory) {
  const std::vector<PlanArg> &args = prepared.plan->args;
  std::vector<MemoryRange> ranges;
  for (size_t i = 0; i < args.size(); ++i) {
    const BoundTensor &tensor = prepared.arguments->tensors[i];
    ranges.push_back({tensor.data, size_t(tensor.bytes), args[i].name});
  }
  ranges.push_back(
      {prepared.workspace, prepared.workspaceBytes, "the workspace"});
  memory.addAll(std::move(ranges));
}

/// Returns the variant that begins with `launch`, or null.
static const PlanVariant *findVariant(const LaunchPlan &plan,
                                      const PlanLaunch &launch) {
  auto found = std::find_if(plan.variants.begin(), plan.variants.end(),
                            [&](const PlanVariant &variant) {
                              return &variant.launches.front() == &launch;
                            });
  return found == plan.variants.end() ? nullptr : &*found;
}

static bool overlaps(const BoundTensor &a, const BoundTensor &b) {
  auto begin = reinterpret_cast<uintptr_t>(a.data);
  auto other = reinterpret_cast<uintptr_t>(b.data);
  return begin < other + uintptr_t(b.bytes) &&
         other < begin + uintptr_t(a.bytes);
}

/// Returns the memory without content at the first launch of a call: the
/// workspace, except for bytes that must be zero, and tensors that are only
/// written and share no memory with others.
static std::vector<GlobalRange> findFresh(const PreparedLaunch &prepared) {
  std::vector<GlobalRange> fresh;
  const PlanVariant *variant = findVariant(*prepared.plan, *prepared.launch);
  if (!variant) {
    return fresh;
  }
  const std::vector<PlanArg> &args = prepared.plan->args;
  const std::vector<BoundTensor> &tensors = prepared.arguments->tensors;
  for (size_t i = 0; i < args.size(); ++i) {
    bool isOutput = args[i].isTensor() && args[i].access == Access::Write;
    for (size_t j = 0; j < args.size(); ++j) {
      isOutput = isOutput && (j == i || !args[j].isTensor() ||
                              !overlaps(tensors[i], tensors[j]));
    }
    if (isOutput) {
      fresh.push_back({reinterpret_cast<uintptr_t>(tensors[i].data),
                       uint64_t(tensors[i].bytes)});
    }
  }
  size_t zeroed = std::min(size_t(variant->zeroed), prepared.workspaceBytes);
  fresh.push_back({reinterpret_cast<uintptr_t>(prepared.workspace) + zeroed,
                   prepared.workspaceBytes - zeroed});
  return fresh;
}

/// Checks that the memory of a call is accessible.
static Status checkMemory(const PreparedLaunch &prepared) {
  const std::vector<PlanArg> &args = prepared.plan->args;
  std::vector<HostRange> ranges;
  for (size_t i = 0; i < args.size(); ++i) {
    const BoundTensor &tensor = prepared.arguments->tensors[i];
    ranges.push_back({quote(args[i].name),
                      reinterpret_cast<uintptr_t>(tensor.data),
                      uint64_t(tensor.bytes), args[i].access != Access::Read});
  }
  ranges.push_back({"the workspace",
                    reinterpret_cast<uintptr_t>(prepared.workspace),
                    prepared.workspaceBytes, true});
  std::string problem = findMissingMemory(ranges);
  return problem.empty() ? Status() : invalidArgument(problem);
}

Status SimKernels::pack(const PreparedLaunch &prepared, const Program *&program,
                        std::vector<uint8_t> &params) const {
  const PlanLaunch &plan = *prepared.launch;
  auto kernel =
      std::find_if(kernels.begin(), kernels.end(),
                   [&](const Kernel &each) { return each.launch == &plan; });
  if (kernel == kernels.end()) {
    return {ATTN_DEVICE_ERROR,
            "kernel " + quote(plan.kernel) + " is not loaded"};
  }
  program = &kernel->program;
  return packParams(*program, prepared, params);
}

Status SimKernels::check(const PreparedLaunch &prepared) {
  if (Status status = checkMemory(prepared)) {
    return status;
  }
  const Program *program = nullptr;
  std::vector<uint8_t> params;
  return pack(prepared, program, params);
}

/// Returns how many CTAs of a launch fit into a multiprocessor at most.
static uint64_t countPerMultiprocessor(const Program &program,
                                       const GridLaunch &launch) {
  constexpr uint64_t mostThreads = 2048;
  constexpr uint64_t mostShared = 228 * 1024;
  uint64_t threads =
      uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  uint64_t shared = uint64_t(program.dynamicShared) + launch.dynamicShared;
  return std::max<uint64_t>(
      1, std::min(mostThreads / std::max<uint64_t>(threads, 1),
                  mostShared / std::max<uint64_t>(shared, 1)));
}

Status SimKernels::launch(const PreparedLaunch &prepared, void *, bool) {
  const PlanLaunch &plan = *prepared.launch;
  const Program *program = nullptr;
  GridLaunch launch;
  if (Status status = pack(prepared, program, launch.params)) {
    return status;
  }
  std::copy_n(prepared.grid, 3, launch.grid);
  std::copy(plan.block.begin(), plan.block.end(), launch.block);
  std::copy(plan.cluster.begin(), plan.cluster.end(), launch.cluster);
  launch.dynamicShared = plan.smem;
  launch.dependent = plan.dependent;
  launch.resident = uint64_t(device.getMultiprocessorCount()) *
                    countPerMultiprocessor(*program, launch);
  launch.fresh = findFresh(prepared);
  GlobalMemory memory;
  collectMemory(prepared, memory);
  SimOptions options = device.getOptions();
  if (!device.tracks(plan.kernel)) {
    options.hazards = HazardMode::Off;
  }
  GridResult result = runGrid(*program, launch, memory, options);
  for (const auto &[key, report] : result.reports.get()) {
    logMessage(ATTN_LOG_WARNING, "kernel " + quote(plan.kernel) + ", seed " +
                                     std::to_string(options.seed) + ": " +
                                     report.text);
  }
  if (!result.failure.empty()) {
    return {ATTN_DEVICE_ERROR, "kernel " + quote(plan.kernel) + ", seed " +
                                   std::to_string(options.seed) + ": " +
                                   result.failure};
  }
  logMessage(ATTN_LOG_INFO, "kernel " + quote(plan.kernel) + ": " +
                                std::to_string(result.warpInstructions) +
                                " warp instructions simulated");
  return {};
}

Status SimDevice::load(const Bundle &code, const LaunchPlan &,
                       const std::vector<const PlanLaunch *> &launches,
                       std::unique_ptr<LoadedKernels> &kernels) {
  auto loaded = std::make_unique<SimKernels>(*this);
  if (Status status = loaded->load(code, launches)) {
    return status;
  }
  kernels = std::move(loaded);
  return {};
}

Status SimDevice::clear(void *address, size_t bytes, void *) {
  std::string problem = findMissingMemory(
      {{"the workspace", reinterpret_cast<uintptr_t>(address), bytes, true}});
  if (!problem.empty()) {
    return invalidArgument(problem);
  }
  std::memset(address, 0, bytes);
  return {};
}

static bool parseNumber(const std::string &text, uint64_t &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

static Status parseMode(const std::string &text, HazardMode &mode) {
  if (text == "error") {
    mode = HazardMode::Error;
  } else if (text == "warn") {
    mode = HazardMode::Warn;
  } else if (text == "off") {
    mode = HazardMode::Off;
  } else {
    return invalidArgument("expected simulator option 'hazards' to be 'error', "
                           "'warn' or 'off', got " +
                           quote(text));
  }
  return {};
}

/// Sets `isYes` to whether the value is `yes` and not `no`.
static Status parseChoice(const std::string &name, const std::string &value,
                          const char *no, const char *yes, bool &isYes) {
  if (value != no && value != yes) {
    return invalidArgument("expected simulator option " + quote(name) +
                           " to be " + quote(no) + " or " + quote(yes) +
                           ", got " + quote(value));
  }
  isYes = value == yes;
  return {};
}

Status SimDevice::setOption(const std::string &name, const std::string &value) {
  if (name == "hazards") {
    return parseMode(value, options.hazards);
  }
  if (name == "sums") {
    bool isExact = options.sums == WgmmaArithmetic::Exact;
    Status status = parseChoice(name, value, "hardware", "exact", isExact);
    options.sums = isExact ? WgmmaArithmetic::Exact : WgmmaArithmetic::Hardware;
    return status;
  }
  if (name == "additions") {
    return parseChoice(name, value, "any", "ordered", options.ordersSums);
  }
  if (name == "tensor_memory") {
    return parseChoice(name, value, "own", "contended",
                       options.contendsTensorMemory);
  }
  uint64_t number = 0;
  if (name != "seed" && name != "threads" && name != "budget") {
    return invalidArgument("expected a simulator option among 'seed', "
                           "'threads', 'budget', 'hazards', 'sums', "
                           "'additions' and 'tensor_memory', got " +
                           quote(name));
  }
  uint64_t most = name == "threads" ? 1024 : UINT64_MAX;
  uint64_t least = name == "budget" ? 1 : 0;
  if (!parseNumber(value, number) || number < least || number > most) {
    return invalidArgument("expected simulator option " + quote(name) +
                           " to be an integer from " + std::to_string(least) +
                           " to " + std::to_string(most) + ", got " +
                           quote(value));
  }
  if (name == "seed") {
    options.seed = number;
  } else if (name == "threads") {
    options.threads = unsigned(number);
  } else {
    options.budget = number;
  }
  return {};
}

SimDevice &attn::sim::getSimDevice() {
  // Never destroyed: bundles may outlive static destructors.
  static auto *device = new SimDevice;
  return *device;
}
