// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface: argument checks, device lookup and the thread's last error.

#include "cuda_device.h"
#include "device/sim_device.h"
#include "for_compiler.h"
#include "loaded_bundle.h"

#include <atomic>
#include <cstring>

using namespace attn::runtime;

struct attn_bundle {
  std::unique_ptr<LoadedBundle> loaded;
  std::atomic<size_t> references{1};
};

static thread_local std::string lastError;

/// Hands `status` to the caller.
static attn_status report(const Status &status) {
  lastError = status.getMessage();
  return status.getCode();
}

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

/// Copies the caller's struct, which may be of an older or newer version: what
/// it lacks is zero, what it has beyond ours is ignored.
static Status readArgs(const attn_launch_args *args, attn_launch_args &out) {
  // The first version's size.
  constexpr size_t least = sizeof(attn_launch_args);
  if (!args || args->size < least) {
    return invalidArgument(
        "expected attn_launch_args.size to be at least " +
        std::to_string(least) + ", got " +
        (args ? std::to_string(args->size) : std::string("a null struct")));
  }
  std::memcpy(&out, args, sizeof(out));
  return {};
}

extern "C" const char *attn_version(void) { return ATTN_VERSION; }

extern "C" const char *attn_last_error(void) { return lastError.c_str(); }

extern "C" attn_status attn_bundle_load(const char *path, const void *data,
                                        size_t size, attn_bundle **bundle) {
  if (!bundle || (!path && !data)) {
    return report(invalidArgument("expected a path or memory, and a result"));
  }
  *bundle = nullptr;
  Bundle content;
  std::string err;
  bool good = path ? readBundleFile(path, content, err)
                   : readBundle(data, size, content, err);
  if (!good) {
    return report({ATTN_INVALID_BUNDLE, err});
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
  if (!bundle || !path) {
    return report(invalidArgument("expected a bundle and a path, got null"));
  }
  std::string err;
  if (!writeBundleFile(bundle->loaded->getContent(), path, err)) {
    return report({ATTN_IO_ERROR, err});
  }
  return report({});
}

extern "C" attn_status attn_bundle_serialize(const attn_bundle *bundle,
                                             void *data, size_t capacity,
                                             size_t *size) {
  if (!bundle || !size || (!data && capacity > 0)) {
    return report(invalidArgument("expected a bundle, a result and memory for "
                                  "'capacity' bytes, got null"));
  }
  std::vector<char> image = writeBundle(bundle->loaded->getContent());
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
  if (!bundle) {
    return report(invalidArgument("expected a bundle, got null"));
  }
  Device *target = nullptr;
  if (Status status = getDevice(device, target)) {
    return report(status);
  }
  return report(bundle->loaded->prepare(*target));
}

/// Answers a question about a launch: `ask` is a member of LoadedBundle.
template <typename Ask>
static Status query(attn_bundle *bundle, const attn_launch_args *args, Ask ask,
                    size_t *answer) {
  attn_launch_args copy;
  if (!bundle || !answer) {
    return invalidArgument("expected a bundle and a result, got null");
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
  return report(query(bundle, args, &LoadedBundle::variantIndex, variant));
}

extern "C" attn_status attn_workspace_size(attn_bundle *bundle,
                                           const attn_launch_args *args,
                                           size_t *bytes) {
  return report(query(bundle, args, &LoadedBundle::workspaceSize, bytes));
}

extern "C" attn_status attn_launch(attn_bundle *bundle,
                                   const attn_launch_args *args) {
  attn_launch_args copy;
  if (!bundle) {
    return report(invalidArgument("expected a bundle, got null"));
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
  if (!name || !value) {
    return report(invalidArgument("expected a name and a value, got null"));
  }
  return report(attn::sim::getSimDevice().setOption(name, value));
}

extern "C" attn_status attn_internal_report(attn_status code,
                                            const char *message) {
  return report({code, message});
}

extern "C" void attn_internal_log(attn_log_level level, const char *message) {
  logMessage(level, message);
}

extern "C" void attn_set_log_callback(attn_log_callback callback, void *user) {
  setLogCallback(callback, user);
}
