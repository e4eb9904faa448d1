// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface on the simulator: damaged bundles, plans and PTX, and
// launches of a valid bundle with arbitrary tensors. Every call must return,
// and every failure must have a message.

#include "attn/runtime/attn.h"
#include "attn/runtime/bundle.h"
#include "edit.h"
#include "probe_bundle.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <vector>

using namespace attn::runtime;
using attn::fuzz::edit;
using attn::fuzz::kProbePlan;
using attn::fuzz::kProbePtx;

namespace {

void require(bool good) {
  if (!good) {
    std::fprintf(stderr, "last error: %s\n", attn_last_error());
    std::abort();
  }
}

/// Returns whether a call succeeded; a failure must have a message.
bool succeeded(attn_status status) {
  bool known = std::strcmp(attn_status_name(status), "unknown status") != 0;
  require(known && (status == ATTN_SUCCESS) == (*attn_last_error() == '\0'));
  return status == ATTN_SUCCESS;
}

/// Memory for tensors between inaccessible pages: a tensor that begins here
/// either fits or must be refused.
class Arena {
public:
  static constexpr size_t kSize = size_t(1) << 16, kGuard = size_t(1) << 30;

  Arena() {
    void *all = ::mmap(nullptr, 2 * kGuard + kSize, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(all != MAP_FAILED);
    memory = static_cast<char *>(all) + kGuard;
    require(::mprotect(memory, kSize, PROT_READ | PROT_WRITE) == 0);
  }
  char *get() { return memory; }

private:
  char *memory;
};

char *arena() {
  static Arena instance;
  return instance.get();
}

/// Words that occur in plans.
constexpr const char *kWords[] = {"null",
                                  "-1",
                                  "0",
                                  "9223372036854775807",
                                  "-9223372036854775808",
                                  "1e999",
                                  "[]",
                                  "{}",
                                  "\"s\"",
                                  "\"b\"",
                                  "\"q\"",
                                  "true",
                                  "\"\"",
                                  "[\"div\",1,0]",
                                  "4294967296"};

attn_bundle *load(const std::vector<char> &image) {
  // A copy of exactly this size, so that the sanitizer detects reads past its
  // end.
  std::vector<char> copy(image.begin(), image.end());
  attn_bundle *bundle = reinterpret_cast<attn_bundle *>(1);
  bool good =
      succeeded(attn_bundle_load(nullptr, copy.data(), copy.size(), &bundle));
  require(good == (bundle != nullptr));
  return bundle;
}

/// A call with a tensor or a number for every argument of a bundle.
struct Call {
  std::vector<attn_argument> arguments;
  std::vector<std::vector<int64_t>> shapes, strides;
  std::vector<DLTensor> views;
  std::vector<const DLTensor *> tensors;
  std::vector<const char *> tensorNames, scalarNames;
  std::vector<double> scalars;
  attn_launch_args args = {};

  explicit Call(attn_bundle *bundle) {
    size_t count = 0;
    require(succeeded(attn_bundle_argument_count(bundle, &count)));
    for (size_t i = 0; i < count; ++i) {
      attn_argument argument = {};
      argument.size = sizeof(argument);
      require(succeeded(attn_bundle_argument(bundle, i, &argument)));
      add(argument);
    }
    for (size_t i = 0; i < views.size(); ++i) {
      views[i].shape = shapes[i].data();
      views[i].strides = nullptr;
      tensors.push_back(&views[i]);
    }
    args.size = sizeof(args);
    args.num_tensors = tensors.size();
    args.tensors = tensors.data();
    args.num_scalars = scalars.size();
    args.scalars = scalars.data();
    args.device = {kDLCPU, 0};
    args.workspace = arena() + Arena::kSize / 2;
    args.workspace_size = Arena::kSize / 2;
  }
  Call(const Call &) = delete;

private:
  /// Adds tensors with extent 2 where the extent is open, each in separate
  /// memory.
  void add(const attn_argument &argument) {
    arguments.push_back(argument);
    if (argument.kind == ATTN_ARGUMENT_SCALAR) {
      scalars.push_back(1);
      scalarNames.push_back(argument.name);
      return;
    }
    DLTensor view = {};
    view.data = arena() + views.size() % 16 * 2048;
    view.device = {kDLCPU, 0};
    view.ndim = argument.rank;
    view.dtype = argument.dtype;
    shapes.emplace_back();
    for (int i = 0; i < argument.rank; ++i) {
      shapes.back().push_back(argument.dims[i] < 0 ? 2 : argument.dims[i]);
    }
    tensorNames.push_back(argument.name);
    views.push_back(view);
  }
};

int64_t anyExtent(FuzzedDataProvider &data) {
  static const int64_t odd[] = {
      INT64_MIN, -1,        0,         INT32_MAX,      int64_t(1) << 32,
      INT64_MAX, 1LL << 40, 1LL << 61, 1LL << 62,      int64_t(1) << 31,
      8,         16,        64,        (1LL << 58) + 1};
  return data.ConsumeIntegralInRange(0, 7) == 0
             ? data.PickValueInArray(odd)
             : data.ConsumeIntegralInRange<int64_t>(0, 9);
}

void spoilTensor(FuzzedDataProvider &data, Call &call, size_t index) {
  DLTensor &view = call.views[index];
  std::vector<int64_t> &shape = call.shapes[index];
  std::vector<int64_t> &strides = call.strides[index];
  switch (data.ConsumeIntegralInRange(0, 9)) {
  case 0: {
    // Strings outside any tensor's memory must never be read.
    uintptr_t base = reinterpret_cast<uintptr_t>(arena());
    const uintptr_t wild[] = {0,
                              16,
                              base - 4096,
                              base + Arena::kSize,
                              ~uintptr_t(15),
                              uintptr_t(1) << 63};
    view.data = reinterpret_cast<void *>(data.PickValueInArray(wild));
    break;
  }
  case 1:
    view.data = arena() + data.ConsumeIntegralInRange<size_t>(0, Arena::kSize);
    break;
  case 2:
    view.byte_offset = data.ConsumeBool()
                           ? data.ConsumeIntegralInRange<uint64_t>(0, 64)
                           : uint64_t(1) << data.ConsumeIntegralInRange(48, 63);
    break;
  case 3:
    view.ndim = data.ConsumeIntegralInRange(-1, 9);
    // As many extents as the tensor says that it has.
    shape.resize(size_t(std::max(1, view.ndim)));
    strides.resize(shape.size());
    break;
  case 4:
    view.dtype = {data.ConsumeIntegral<uint8_t>(),
                  data.ConsumeIntegral<uint8_t>(),
                  data.ConsumeIntegral<uint16_t>()};
    break;
  case 5:
    view.device = {DLDeviceType(data.ConsumeIntegralInRange(-1, 20)),
                   data.ConsumeIntegralInRange(-1, 1)};
    break;
  case 6:
    call.tensors[index] = data.ConsumeBool() ? nullptr : call.tensors[0];
    break;
  case 7:
    view.shape = nullptr;
    return;
  default:
    for (int64_t &extent : data.ConsumeBool() ? shape : strides) {
      extent = anyExtent(data);
    }
  }
  view.shape = shape.data();
  view.strides = data.ConsumeBool() ? strides.data() : nullptr;
}

void spoilStruct(FuzzedDataProvider &data, Call &call) {
  attn_launch_args &args = call.args;
  switch (data.ConsumeIntegralInRange(0, 7)) {
  case 0:
    args.size = data.ConsumeIntegralInRange<size_t>(0, sizeof(args));
    break;
  case 1:
    args.num_tensors =
        data.ConsumeIntegralInRange<size_t>(0, call.tensors.size());
    break;
  case 2:
    args.tensor_names = call.tensorNames.data();
    call.tensorNames[0] = data.PickValueInArray({"q", "y", "scale", ""});
    break;
  case 3:
    args.num_scalars =
        data.ConsumeIntegralInRange<size_t>(0, call.scalars.size());
    args.scalar_names = call.scalarNames.data();
    break;
  case 4:
    call.scalars[0] = data.ConsumeFloatingPoint<double>();
    call.scalars[1] = data.ConsumeFloatingPoint<double>();
    break;
  case 5:
    args.device = {DLDeviceType(data.ConsumeIntegralInRange(-1, 4)),
                   data.ConsumeIntegralInRange(-1, 1)};
    break;
  case 6:
    args.workspace =
        arena() + data.ConsumeIntegralInRange<size_t>(0, Arena::kSize);
    args.workspace_size =
        data.ConsumeIntegralInRange<size_t>(0, 2 * Arena::kSize);
    break;
  default:
    args.flags = data.ConsumeIntegral<uint8_t>();
    args.workspace = data.ConsumeBool() ? nullptr : args.workspace;
  }
}

void setOptions(FuzzedDataProvider &data) {
  static const char *const names[] = {"seed", "threads", "hazards", "speed"};
  std::string value = data.ConsumeBool()
                          ? std::to_string(data.ConsumeIntegralInRange(0, 3))
                          : data.ConsumeRandomLengthString(6);
  (void)succeeded(
      attn_simulator_option(data.PickValueInArray(names), value.c_str()));
  // Any number is valid; one thread keeps executions short.
  require(succeeded(attn_simulator_option("threads", "1")));
  require(succeeded(attn_simulator_option("budget", "20000")));
}

void query(attn_bundle *bundle, const Call &call) {
  size_t variant = 0, bytes = 0, size = 0;
  (void)succeeded(attn_choose_variant(bundle, &call.args, &variant));
  (void)succeeded(attn_workspace_size(bundle, &call.args, &bytes));
  require(succeeded(attn_bundle_serialize(bundle, nullptr, 0, &size)));
}

attn_bundle *probe() {
  static attn_bundle *bundle = [] {
    attn_bundle *loaded = load(writeBundle({kProbePlan, kProbePtx, {}}));
    require(loaded != nullptr);
    Call call(loaded);
    require(succeeded(attn_launch(loaded, &call.args)));
    return loaded;
  }();
  return bundle;
}

/// Whether launches have few CTAs: a damaged plan may ask for any number.
bool isSmall(const std::string &plan) {
  bool small = true;
  for (const char *piece : {R"("grid":["s",["min","b",2],1])",
                            R"("grid":["blocks",["min","b",2],1])",
                            R"("expr":["min",["ceildiv","s",4],3])"}) {
    small = small && plan.find(piece) != std::string::npos;
  }
  return small;
}

void launchAnything(FuzzedDataProvider &data) {
  Call call(probe());
  call.strides = call.shapes;
  int64_t rows = data.ConsumeIntegralInRange<int64_t>(0, 9);
  for (std::vector<int64_t> &shape : call.shapes) {
    shape[shape.size() == 4 ? 2 : 1] = rows;
  }
  while (data.remaining_bytes() > 8) {
    if (data.ConsumeBool()) {
      spoilTensor(
          data, call,
          data.ConsumeIntegralInRange<size_t>(0, call.views.size() - 1));
    } else {
      spoilStruct(data, call);
    }
  }
  query(probe(), call);
  (void)succeeded(attn_launch(probe(), &call.args));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  FuzzedDataProvider data(bytes, size);
  setOptions(data);
  attn_bundle *bundle = nullptr;
  switch (data.ConsumeIntegralInRange(0, 5)) {
  case 0: {
    std::vector<char> image = writeBundle({kProbePlan, "x", {}});
    std::string text = edit(data, {image.begin(), image.end()}, kWords);
    bundle = load({text.begin(), text.end()});
    break;
  }
  case 1: {
    std::string plan = edit(data, kProbePlan, kWords);
    bundle = load(writeBundle({plan, kProbePtx, {}}));
    if (bundle && isSmall(plan)) {
      Call call(bundle);
      (void)succeeded(attn_launch(bundle, &call.args));
    }
    break;
  }
  case 2: {
    bundle = load(writeBundle({kProbePlan, edit(data, kProbePtx, kWords), {}}));
    require(bundle != nullptr);
    Call call(bundle);
    (void)succeeded(attn_launch(bundle, &call.args));
    break;
  }
  default:
    launchAnything(data);
    return 0;
  }
  if (bundle) {
    Call call(bundle);
    query(bundle, call);
    attn_bundle_destroy(bundle);
  }
  return 0;
}
