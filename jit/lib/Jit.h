// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles each bundle once: the bundles of this process, backed by the disk
// cache. A bundle that may be compiled variant by variant is made with its plan
// alone, and each variant when a launch first needs it.
#ifndef ATTN_JIT_JIT_H
#define ATTN_JIT_JIT_H

#include "Compilation.h"
#include "DiskCache.h"
#include "Judgements.h"
#include "Settings.h"
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

namespace attn::jit {

class Jit {
public:
  /// The instance of this process. It is never destroyed: other threads may
  /// compile while the process exits.
  static Jit &get();

  /// Sets `bundle` to a new reference.
  Status compile(const Request &request, attn_bundle *&bundle);

  /// The inputs from which the variants of a bundle are compiled.
  struct Separate {
    Request request;
    std::string lowered; // as compileVariant takes it
  };
  /// Sets `bundle` to a new reference to one with the kernels of variant
  /// `index`, or of all for ATTN_INTERNAL_ALL_VARIANTS.
  Status compileVariant(const Separate &of, size_t index, attn_bundle *&bundle);
  /// Whether the compiler accepts a request. Waits for a thread that is
  /// compiling it to know.
  Status supports(const Request &request);
  Status getKey(const Request &request, CacheKey &key);

  Status setOption(llvm::StringRef name, llvm::StringRef value);
  void clear();
  attn_jit_counters count();

private:
  /// State that all compilations share; rebuilt when an option changes.
  struct Environment {
    Settings settings;
    DiskCache disk;
    std::string ptxas;        // "": none was found
    std::string ptxasVersion; // "" likewise
  };

  /// A bundle of this process, or one that a thread is compiling.
  struct Entry {
    ~Entry() { attn_bundle_destroy(bundle); }

    bool done = false;
    std::condition_variable progress; // it is done, or judged
    Status status;
    attn_bundle *bundle = nullptr;
  };

  void forgetUnfinished();
  Status readSettings();
  Status getEnvironment(std::shared_ptr<const Environment> &out);
  Status makeEnvironment(Environment &environment);
  std::string getPtxasVersion(llvm::StringRef path, const DiskCache &disk);

  using Make = llvm::function_ref<Status(attn_bundle *&bundle)>;
  /// Runs the compiler, and publishes the result.
  using Compile = llvm::function_ref<Status(
      const Toolchain &, const EntryLock &, attn_bundle *&bundle)>;

  Status once(const CacheKey &key, Make make, attn_bundle *&bundle);
  Status make(const CacheKey &locked, const std::string &name,
              const Environment &environment,
              llvm::function_ref<attn_bundle *()> find, Compile compile,
              attn_bundle *&bundle);
  Status makeBundle(const Request &request, const CacheKey &key,
                    const CacheKey &locked, bool separately,
                    const Environment &environment, attn_bundle *&bundle);
  Status makeVariant(const Separate &of, const CacheKey &key, size_t index,
                     const Environment &environment, attn_bundle *&bundle);
  attn_bundle *findOnDisk(const CacheKey &key, const DiskCache &disk);
  Status beginCompile(const std::string &name, const Settings &settings);
  void refuse(const std::string &message);

  /// Held only briefly: never while something is compiled or reported.
  std::mutex mutex;
  std::shared_ptr<const Settings> settings;
  std::shared_ptr<const Environment> environment;
  std::map<CacheKey, std::shared_ptr<Entry>> entries;
  Judgements judgements;
  attn_jit_counters counters = {};
};

} // namespace attn::jit

#endif // ATTN_JIT_JIT_H
