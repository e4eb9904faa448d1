// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface: bundles, launches, device lookup and the thread's last
// error.

#include "attn/runtime/internal/versioned_struct.h"
#include "c_handle.h"
#include "cuda_device.h"
#include "device/sim_device.h"

#include <cstddef>

using namespace attn::runtime;

static thread_local std::string lastError;

static Status getDevice(DLDevice device, Device *&out) {
  if (device.device_type == kDLCPU) {
    if (device.device_id != 0) {
      return invalidArgument(
          "expected the simulator's device id to be 0, got " +
          std::to_string(device.device_id));
    }
    out = &attn::sim::getSimDevice();
    return {};
  }
  if (device.device_type != kDLCUDA) {
    return invalidArgument("expected the device type to be 2 (cuda) or 1 (cpu, "
                           "the simulator), got " +
                           std::to_string(int(device.device_type)));
  }
  CudaDevice *cuda = nullptr;
  if (Status status = getCudaDevice(device.device_id, cuda)) {
    return status;
  }
  out = cuda;
  return {};
}

/// Copies the caller's struct.
static Status readArgs(const attn_launch_args *args, attn_launch_args &out) {
  constexpr size_t first = offsetof(attn_launch_args, flags);
  if (Status status = readStruct(args, "attn_launch_args", first, out)) {
    return status;
  }
  constexpr uint64_t known = ATTN_LAUNCH_WORKSPACE_READY;
  if ((out.flags & ~known) != 0) {
    return {ATTN_UNSUPPORTED,
            "expected attn_launch_args.flags to have bits of " +
                std::to_string(known) + " alone, got " +
                std::to_string(out.flags)};
  }
  return {};
}

extern "C" const char *attn_last_error(void) { return lastError.c_str(); }

static Status readFile(const char *path, Bundle &content) {
  std::string err;
  switch (readBundleFile(path, content, err)) {
  case BundleFault::None:
    return {};
  case BundleFault::File:
    return {ATTN_IO_ERROR, err};
  case BundleFault::Content:
    break;
  }
  return {ATTN_INVALID_BUNDLE, err};
}

static Status readMemory(const void *data, size_t size, Bundle &content) {
  std::string err;
  return readBundle(data, size, content, err)
             ? Status()
             : Status(ATTN_INVALID_BUNDLE, err);
}

extern "C" attn_status attn_bundle_load(const char *path, const void *data,
                                        size_t size, attn_bundle **bundle) {
  if (Status status = checkGiven({{"bundle", bundle}})) {
    return report(status);
  }
  *bundle = nullptr;
  if (!path && !data) {
    return report(
        invalidArgument("expected 'path' or 'data' to be given, got null"));
  }
  Bundle content;
  if (Status status =
          path ? readFile(path, content) : readMemory(data, size, content)) {
    return report(status);
  }
  auto result = std::make_unique<attn_bundle>();
  if (Status status =
          LoadedBundle::create(std::move(content), result->loaded)) {
    return report(status);
  }
  *bundle = result.release();
  return report({});
}

extern "C" void attn_bundle_retain(attn_bundle *bundle) {
  if (bundle) {
    ++bundle->references;
  }
}

extern "C" void attn_bundle_destroy(attn_bundle *bundle) {
  if (bundle && --bundle->references == 0) {
    delete bundle;
  }
}

extern "C" attn_status attn_bundle_save(const attn_bundle *bundle,
                                        const char *path) {
  if (Status status = checkGiven({{"bundle", bundle}, {"path", path}})) {
    return report(status);
  }
  std::shared_ptr<const Bundle> all;
  if (Status status = bundle->loaded->getAll(all)) {
    return report(status);
  }
  std::string err;
  if (!writeBundleFile(*all, path, err)) {
    return report({ATTN_IO_ERROR, err});
  }
  return report({});
}

extern "C" attn_status attn_bundle_serialize(const attn_bundle *bundle,
                                             void *data, size_t capacity,
                                             size_t *size) {
  if (Status status = checkGiven({{"bundle", bundle}, {"size", size}})) {
    return report(status);
  }
  if (!data && capacity > 0) {
    return report(invalidArgument("expected 'capacity' to be 0 since 'data' is "
                                  "null, got " +
                                  std::to_string(capacity)));
  }
  std::shared_ptr<const Bundle> all;
  if (Status status = bundle->loaded->getAll(all)) {
    return report(status);
  }
  std::vector<char> image = writeBundle(*all);
  *size = image.size();
  if (capacity >= image.size()) {
    std::memcpy(data, image.data(), image.size());
  }
  return report({});
}

extern "C" const char *attn_bundle_plan(const attn_bundle *bundle) {
  return bundle ? bundle->loaded->getPlanText().c_str() : "";
}

extern "C" attn_status attn_bundle_prepare(attn_bundle *bundle,
                                           DLDevice device) {
  if (Status status = checkGiven({{"bundle", bundle}})) {
    return report(status);
  }
  Device *target = nullptr;
  if (Status status = getDevice(device, target)) {
    return report(status);
  }
  return report(bundle->loaded->prepare(*target));
}

/// Answers a question about a launch: `ask` is a member of LoadedBundle, and
/// `answer` what attn.h calls `name`.
template <typename Ask>
static Status query(attn_bundle *bundle, const attn_launch_args *args, Ask ask,
                    const char *name, size_t *answer) {
  attn_launch_args copy;
  if (Status status = checkGiven({{"bundle", bundle}, {name, answer}})) {
    return status;
  }
  if (Status status = readArgs(args, copy)) {
    return status;
  }
  int64_t multiprocessors = 0;
  if (bundle->loaded->needsMultiprocessorCount()) {
    Device *device = nullptr;
    if (Status status = getDevice(copy.device, device)) {
      return status;
    }
    multiprocessors = device->getMultiprocessorCount();
  }
  return ((*bundle->loaded).*ask)(copy, multiprocessors, *answer);
}

extern "C" attn_status attn_choose_variant(attn_bundle *bundle,
                                           const attn_launch_args *args,
                                           size_t *variant) {
  return report(
      query(bundle, args, &LoadedBundle::variantIndex, "variant", variant));
}

extern "C" attn_status attn_workspace_size(attn_bundle *bundle,
                                           const attn_launch_args *args,
                                           size_t *bytes) {
  return report(
      query(bundle, args, &LoadedBundle::workspaceSize, "bytes", bytes));
}

extern "C" attn_status attn_launch(attn_bundle *bundle,
                                   const attn_launch_args *args) {
  attn_launch_args copy;
  if (Status status = checkGiven({{"bundle", bundle}})) {
    return report(status);
  }
  if (Status status = readArgs(args, copy)) {
    return report(status);
  }
  Device *device = nullptr;
  if (Status status = getDevice(copy.device, device)) {
    return report(status);
  }
  return report(bundle->loaded->launch(*device, copy));
}

extern "C" attn_status attn_simulator_option(const char *name,
                                             const char *value) {
  if (Status status = checkGiven({{"name", name}, {"value", value}})) {
    return report(status);
  }
  return report(attn::sim::getSimDevice().setOption(name, value));
}

namespace {

/// The functions of the compiler's library that make variants.
class LibrarySource final : public VariantSource {
public:
  explicit LibrarySource(const attn_internal_source &functions)
      : functions(functions) {}
  ~LibrarySource() override { functions.destroy(functions.user); }

  Status makeVariant(size_t index,
                     std::shared_ptr<const Bundle> &code) override {
    return make(index, code);
  }
  Status makeAll(std::shared_ptr<const Bundle> &code) override {
    return make(ATTN_INTERNAL_ALL_VARIANTS, code);
  }

private:
  Status make(size_t index, std::shared_ptr<const Bundle> &code) {
    attn_bundle *made = nullptr;
    attn_status status = functions.make(functions.user, index, &made);
    if (status != ATTN_SUCCESS) {
      return {status, lastError};
    }
    code = made->loaded->getContent();
    attn_bundle_destroy(made);
    return {};
  }

  attn_internal_source functions;
};

} // namespace

extern "C" void attn_internal_set_source(attn_bundle *bundle,
                                         const attn_internal_source *source) {
  bundle->loaded->setSource(std::make_unique<LibrarySource>(*source));
}

extern "C" attn_status attn_internal_report(attn_status code,
                                            const char *message) {
  lastError = message;
  return code;
}

extern "C" void attn_internal_log(attn_log_level level, const char *message) {
  logMessage(level, message);
}

extern "C" void attn_set_log_callback(attn_log_callback callback, void *user) {
  setLogCallback(callback, user);
}
