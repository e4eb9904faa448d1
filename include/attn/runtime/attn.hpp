// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface (attn.h) for C++17: handles that release themselves, and
// exceptions instead of statuses. Header only; link the libraries that attn.h
// names.

#ifndef ATTN_RUNTIME_ATTN_HPP
#define ATTN_RUNTIME_ATTN_HPP

#include "attn/runtime/attn.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace attn {

/// A failed call: its status, and attn_last_error() as what().
class Error : public std::runtime_error {
public:
  Error(attn_status status, const std::string &message)
      : std::runtime_error(message), status(status) {}

  attn_status getStatus() const { return status; }

private:
  attn_status status;
};

inline void check(attn_status status) {
  if (status != ATTN_SUCCESS) {
    throw Error(status, attn_last_error());
  }
}

/// The arguments of one call. The tensors, and the memory that they point to,
/// must outlive this.
class Arguments {
public:
  explicit Arguments(DLDevice device) : device(device) {}

  Arguments &tensor(std::string name, const DLTensor &value) {
    tensorNames.push_back(std::move(name));
    tensors.push_back(&value);
    return *this;
  }
  Arguments &scalar(std::string name, double value) {
    scalarNames.push_back(std::move(name));
    scalars.push_back(value);
    return *this;
  }
  Arguments &onStream(void *value) {
    stream = value;
    return *this;
  }
  Arguments &withWorkspace(void *memory, size_t size) {
    workspace = memory;
    workspaceSize = size;
    return *this;
  }
  /// Values of attn_launch_flag, combined with |.
  Arguments &withFlags(uint64_t value) {
    flags = value;
    return *this;
  }

  /// Calls `use` with the C struct, which is valid during the call.
  template <typename Use> auto pass(Use use) const {
    std::vector<const char *> names = pointersTo(tensorNames);
    std::vector<const char *> others = pointersTo(scalarNames);
    attn_launch_args args = {};
    args.size = sizeof(args);
    args.num_tensors = tensors.size();
    args.tensors = tensors.data();
    args.tensor_names = names.data();
    args.num_scalars = scalars.size();
    args.scalars = scalars.data();
    args.scalar_names = others.data();
    args.device = device;
    args.stream = stream;
    args.workspace = workspace;
    args.workspace_size = workspaceSize;
    args.flags = flags;
    return use(args);
  }

private:
  /// Never null, which would mean the plan's order.
  static std::vector<const char *>
  pointersTo(const std::vector<std::string> &names) {
    std::vector<const char *> pointers;
    pointers.reserve(names.size() + 1);
    for (const std::string &name : names) {
      pointers.push_back(name.c_str());
    }
    return pointers;
  }

  DLDevice device;
  std::vector<std::string> tensorNames, scalarNames;
  std::vector<const DLTensor *> tensors;
  std::vector<double> scalars;
  void *stream = nullptr;
  void *workspace = nullptr;
  size_t workspaceSize = 0;
  uint64_t flags = 0;
};

/// Kernels with their launch plan. Copies refer to the same bundle.
class Bundle {
public:
  static Bundle load(const std::string &path) {
    Bundle bundle;
    check(attn_bundle_load(path.c_str(), nullptr, 0, &bundle.handle));
    return bundle;
  }
  static Bundle load(const void *data, size_t size) {
    Bundle bundle;
    check(attn_bundle_load(nullptr, data, size, &bundle.handle));
    return bundle;
  }
  /// Takes over one reference.
  static Bundle adopt(attn_bundle *handle) {
    Bundle bundle;
    bundle.handle = handle;
    return bundle;
  }

  Bundle(const Bundle &other) : handle(other.handle) {
    attn_bundle_retain(handle);
  }
  Bundle(Bundle &&other) noexcept { std::swap(handle, other.handle); }
  Bundle &operator=(Bundle other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Bundle() { attn_bundle_destroy(handle); }

  attn_bundle *get() const { return handle; }
  std::string getPlan() const { return attn_bundle_plan(handle); }
  /// Returns the arguments of a launch. The names are valid as long as the
  /// bundle.
  std::vector<attn_argument> getArguments() const {
    size_t count = 0;
    check(attn_bundle_argument_count(handle, &count));
    std::vector<attn_argument> arguments(count);
    for (size_t i = 0; i < count; ++i) {
      arguments[i].size = sizeof(attn_argument);
      check(attn_bundle_argument(handle, i, &arguments[i]));
    }
    return arguments;
  }

  void save(const std::string &path) const {
    check(attn_bundle_save(handle, path.c_str()));
  }
  std::vector<char> serialize() const {
    size_t size = 0;
    check(attn_bundle_serialize(handle, nullptr, 0, &size));
    std::vector<char> bytes(size);
    check(attn_bundle_serialize(handle, bytes.data(), size, &size));
    return bytes;
  }

  void prepare(DLDevice device) const {
    check(attn_bundle_prepare(handle, device));
  }
  size_t getWorkspaceSize(const Arguments &arguments) const {
    size_t bytes = 0;
    arguments.pass([&](const attn_launch_args &args) {
      check(attn_workspace_size(handle, &args, &bytes));
    });
    return bytes;
  }
  size_t chooseVariant(const Arguments &arguments) const {
    size_t variant = 0;
    arguments.pass([&](const attn_launch_args &args) {
      check(attn_choose_variant(handle, &args, &variant));
    });
    return variant;
  }
  void launch(const Arguments &arguments) const {
    arguments.pass([&](const attn_launch_args &args) {
      check(attn_launch(handle, &args));
    });
  }

private:
  Bundle() = default;

  attn_bundle *handle = nullptr;
};

/// A module to compile; see attn_compile_args.
struct Source {
  std::string ir;
  std::string target; // empty: the default
  std::optional<std::string> schedule = std::nullopt;
  std::optional<std::string> instrument = std::nullopt;
  std::vector<const char *> gradients = {};
  uint64_t flags = 0;

  /// Returns the C struct, valid as long as this object.
  attn_compile_args get() const {
    attn_compile_args args = {};
    args.size = sizeof(args);
    args.ir = ir.data();
    args.ir_size = ir.size();
    args.target = target.empty() ? nullptr : target.c_str();
    args.schedule = schedule ? schedule->data() : nullptr;
    args.schedule_size = schedule ? schedule->size() : 0;
    args.instrument = instrument ? instrument->c_str() : nullptr;
    args.gradients = gradients.data();
    args.num_gradients = gradients.size();
    args.flags = flags;
    return args;
  }
};

inline Bundle compile(const Source &source) {
  attn_compile_args args = source.get();
  attn_bundle *bundle = nullptr;
  check(attn_compile(&args, &bundle));
  return Bundle::adopt(bundle);
}

/// Returns the reason why `source` cannot be compiled, or nothing. An invalid
/// module is an Error.
inline std::optional<std::string> findObstacle(const Source &source) {
  attn_compile_args args = source.get();
  attn_status status = attn_supports(&args);
  if (status == ATTN_UNSUPPORTED) {
    return attn_last_error();
  }
  check(status);
  return std::nullopt;
}

/// Returns the compiler's decisions about `source`, one per line. Throws
/// Error if it cannot be compiled.
inline std::string explain(const Source &source) {
  attn_compile_args args = source.get();
  const char *text = nullptr;
  check(attn_explain(&args, &text));
  return text;
}

/// Compiles all sources, with `threads` threads (0: one per core). Throws Error
/// if one fails, after all have been tried.
inline void precompile(const std::vector<Source> &sources, size_t threads = 0) {
  std::vector<attn_compile_args> args;
  for (const Source &source : sources) {
    args.push_back(source.get());
  }
  std::vector<const attn_compile_args *> list;
  for (const attn_compile_args &each : args) {
    list.push_back(&each);
  }
  check(attn_precompile(list.data(), list.size(), threads, nullptr));
}

inline std::string getCacheKey(const Source &source) {
  attn_compile_args args = source.get();
  char key[65];
  check(attn_cache_key(&args, key));
  return key;
}

} // namespace attn

#endif // ATTN_RUNTIME_ATTN_HPP
