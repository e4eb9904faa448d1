// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Jit.h"
#include "BuildId.h"
#include "Dump.h"
#include "attn/codegen/emit/FindPtxas.h"
#include "attn/runtime/internal/for_compiler.h"
#include <chrono>
#include <pthread.h>

using namespace attn;
using namespace attn::jit;
using llvm::StringRef;

/// The time to wait for another process that compiles the same kernel before
/// compiling it here as well.
static constexpr std::chrono::minutes kPatience(10);

static void logInfo(const std::string &message) {
  attn_internal_log(ATTN_LOG_INFO, message.c_str());
}

static void logWarning(const std::string &message) {
  attn_internal_log(ATTN_LOG_WARNING, message.c_str());
}

Jit &Jit::get() {
  static Jit *instance = [] {
    Jit *made = new Jit;
    ::pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); },
                     [] {
                       get().forgetUnfinished();
                       get().mutex.unlock();
                     });
    return made;
  }();
  return *instance;
}

/// In the child of a fork: the threads that were compiling do not exist there.
void Jit::forgetUnfinished() {
  for (auto it = entries.begin(); it != entries.end();) {
    if (it->second->done) {
      ++it;
      continue;
    }
    // Leaked: the missing threads count as waiting for it, so it cannot be
    // destroyed.
    new std::shared_ptr<Entry>(it->second);
    it = entries.erase(it);
  }
}

//===-- The environment ---------------------------------------------------===//

/// Returns the version of the program at `path`. Asking the program is slow
/// compared with the disk cache, so the cache keeps the answer, under a key
/// that identifies the file.
std::string Jit::getPtxasVersion(StringRef path, const DiskCache &disk) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status)) {
    return codegen::askPtxasVersion(path);
  }
  KeyBuilder builder("ptxas version");
  builder.add(getBuildId()).add(path).add(status.getSize());
  builder.add(status.getUniqueID().getFile());
  builder.add(
      uint64_t(status.getLastModificationTime().time_since_epoch().count()));
  CacheKey key = builder.finish();
  auto known =
      disk.lookup(key, [&](const std::string &message) { refuse(message); });
  if (known) {
    return *known;
  }
  std::string version = codegen::askPtxasVersion(path);
  if (EntryLock lock = disk.lockEntry(key, std::chrono::milliseconds(0))) {
    llvm::consumeError(disk.publish(key, version));
  }
  return version;
}

Status Jit::makeEnvironment(Environment &environment) {
  const Settings &given = environment.settings;
  if (!given.disableCache && !getBuildId().empty()) {
    environment.disk =
        DiskCache(given.readonlyCacheDirs, given.cacheDir,
                  StringRef(getBuildId()).take_front(16), logWarning);
  }
  if (given.ptxas == codegen::kNoPtxas) {
    return {};
  }
  llvm::Expected<codegen::Ptxas> found =
      codegen::findPtxas(given.ptxas, [&](StringRef path) {
        return getPtxasVersion(path, environment.disk);
      });
  if (found) {
    environment.ptxas = found->path;
    environment.ptxasVersion = found->version;
    return {};
  }
  std::string reason = llvm::toString(found.takeError());
  if (!given.ptxas.empty()) {
    return runtime::invalidArgument("option 'ptxas': " + reason);
  }
  logWarning("kernels are assembled by the driver: " + reason);
  return {};
}

/// The caller holds the mutex.
Status Jit::readSettings() {
  if (!settings) {
    llvm::Expected<Settings> read = Settings::fromEnvironment();
    if (!read) {
      return runtime::invalidArgument(llvm::toString(read.takeError()));
    }
    settings = std::make_shared<Settings>(*read);
  }
  return {};
}

Status Jit::getEnvironment(std::shared_ptr<const Environment> &out) {
  auto made = std::make_shared<Environment>();
  std::shared_ptr<const Settings> wanted;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (Status status = readSettings()) {
      return status;
    }
    if (environment) {
      out = environment;
      return {};
    }
    wanted = settings;
  }
  made->settings = *wanted;
  if (Status status = makeEnvironment(*made)) {
    return status;
  }
  out = made;
  std::lock_guard<std::mutex> lock(mutex);
  if (settings == wanted) {
    environment = made;
  }
  return {};
}

Status Jit::setOption(StringRef name, StringRef value) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Status status = readSettings()) {
    return status;
  }
  auto changed = std::make_shared<Settings>(*settings);
  if (llvm::Error error = changed->set(name, value)) {
    return runtime::invalidArgument(llvm::toString(std::move(error)));
  }
  settings = changed;
  environment = nullptr;
  return {};
}

Status Jit::getKey(const Request &request, CacheKey &key) {
  std::shared_ptr<const Environment> current;
  if (Status status = getEnvironment(current)) {
    return status;
  }
  key = request.getKey(current->ptxasVersion);
  return {};
}

//===-- Bundles -----------------------------------------------------------===//

static Status load(StringRef bytes, attn_bundle *&bundle) {
  attn_status code =
      attn_bundle_load(nullptr, bytes.data(), bytes.size(), &bundle);
  return code == ATTN_SUCCESS ? Status() : Status(code, attn_last_error());
}

void Jit::refuse(const std::string &message) {
  logWarning(message);
  std::lock_guard<std::mutex> lock(mutex);
  ++counters.refused_entries;
}

/// Returns null if there is no usable bundle.
attn_bundle *Jit::findOnDisk(const CacheKey &key, const DiskCache &disk) {
  auto bytes =
      disk.lookup(key, [&](const std::string &message) { refuse(message); });
  attn_bundle *bundle = nullptr;
  if (!bytes) {
    return nullptr;
  }
  if (Status status = load(*bytes, bundle)) {
    refuse("cache entry " + key.toHex() +
           " is refused: " + status.getMessage());
    return nullptr;
  }
  logInfo("found " + key.toHex());
  std::lock_guard<std::mutex> lock(mutex);
  ++counters.disk_hits;
  return bundle;
}

/// Gives a bundle with a plan alone the source of its variants.
static void separate(attn_bundle *bundle, Jit::Separate of) {
  attn_internal_source source = {};
  source.user = new Jit::Separate(std::move(of));
  source.make = [](void *user, size_t variant, attn_bundle **code) {
    Status status = Jit::get().compileVariant(
        *static_cast<const Jit::Separate *>(user), variant, *code);
    return attn_internal_report(status.getCode(), status.getMessage().c_str());
  };
  source.destroy = [](void *user) {
    delete static_cast<Jit::Separate *>(user);
  };
  attn_internal_set_source(bundle, &source);
}

/// Counts a compilation, or fails if the limit is reached.
Status Jit::beginCompile(const std::string &name, const Settings &settings) {
  std::lock_guard<std::mutex> lock(mutex);
  if (settings.disableJit) {
    return {ATTN_NOT_COMPILED,
            "compiling is disabled, and no cache has " + name};
  }
  if (counters.compiles >= settings.maxCompiles) {
    return {ATTN_NOT_COMPILED,
            "expected at most " + std::to_string(settings.maxCompiles) +
                " compilations in this process, and one more is needed for " +
                name};
  }
  ++counters.compiles;
  return {};
}

/// `name` is that of what was compiled.
static void publish(const EntryLock &lock, const CacheKey &key, StringRef bytes,
                    const std::string &name, const DiskCache &disk) {
  if (!lock) {
    return;
  }
  if (llvm::Error error = disk.publish(key, bytes)) {
    logWarning("not cached: " + llvm::toString(std::move(error)));
  } else {
    logInfo("cached " + name);
  }
}

/// Finds a bundle on disk, or compiles it, under the lock of `locked`. `name`
/// is for messages. Only one thread runs this for a key.
Status Jit::make(const CacheKey &locked, const std::string &name,
                 const Environment &environment,
                 llvm::function_ref<attn_bundle *()> find, Compile compile,
                 attn_bundle *&bundle) {
  if ((bundle = find())) {
    return {};
  }
  EntryLock lock;
  if (!environment.settings.disableJit) {
    lock = environment.disk.lockEntry(locked, kPatience);
    // Another process may have made it meanwhile.
    if (lock && (bundle = find())) {
      return {};
    }
  }
  if (Status status = beginCompile(name, environment.settings)) {
    return status;
  }
  logInfo("compiling " + name);
  auto start = std::chrono::steady_clock::now();
  Status status =
      compile({environment.ptxas, environment.settings.dumpDir}, lock, bundle);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  std::lock_guard<std::mutex> guard(mutex);
  counters.compile_seconds += seconds.count();
  counters.failures += status ? 1 : 0;
  return status;
}

/// With `separately`, a bundle that may be compiled variant by variant gets a
/// plan alone.
Status Jit::makeBundle(const Request &request, const CacheKey &key,
                       const CacheKey &locked, bool separately,
                       const Environment &environment, attn_bundle *&bundle) {
  const DiskCache &disk = environment.disk;
  std::string name = (locked == key ? "" : "all variants of ") + key.toHex();
  auto find = [&] {
    attn_bundle *found = findOnDisk(key, disk);
    if (found || !separately) {
      return found;
    }
    found = findOnDisk(planKeyOf(key), disk);
    if (found) {
      separate(found, {request, ""});
    }
    return found;
  };
  auto compile = [&](const Toolchain &toolchain, const EntryLock &lock,
                     attn_bundle *&made) -> Status {
    Dump dump(toolchain.dumpDir, key);
    dump.writeInput(request);
    Compiled compiled;
    auto judge = [&](const Status &status) {
      std::lock_guard<std::mutex> lock(mutex);
      judgements.keep(request, status);
      for (auto &[_, entry] : entries) {
        entry->progress.notify_all();
      }
    };
    if (Status status =
            compileRequest(request, toolchain, separately, judge, compiled)) {
      return status;
    }
    dump.writeOutput(compiled.bundle);
    bool isPlan = !compiled.lowered.empty();
    publish(lock, isPlan ? planKeyOf(key) : key, compiled.bundle, name, disk);
    if (Status status = load(compiled.bundle, made)) {
      return status;
    }
    if (isPlan) {
      separate(made, {request, std::move(compiled.lowered)});
    }
    return {};
  };
  return make(locked, name, environment, find, compile, bundle);
}

Status Jit::makeVariant(const Separate &of, const CacheKey &key, size_t index,
                        const Environment &environment, attn_bundle *&bundle) {
  CacheKey own = variantKeyOf(key, index);
  std::string name = "variant " + std::to_string(index) + " of " + key.toHex();
  auto compile = [&](const Toolchain &toolchain, const EntryLock &lock,
                     attn_bundle *&made) -> Status {
    std::string bytes;
    if (Status status = jit::compileVariant(of.request, toolchain, of.lowered,
                                            index, bytes)) {
      return status;
    }
    Dump(toolchain.dumpDir, key, index).writeOutput(bytes);
    publish(lock, own, bytes, name, environment.disk);
    return load(bytes, made);
  };
  return make(
      own, name, environment, [&] { return findOnDisk(own, environment.disk); },
      compile, bundle);
}

/// Runs `make` in one thread for each key; others wait for what it makes.
Status Jit::once(const CacheKey &key, Make make, attn_bundle *&bundle) {
  std::unique_lock<std::mutex> lock(mutex);
  std::shared_ptr<Entry> &place = entries[key];
  if (std::shared_ptr<Entry> entry = place) {
    entry->progress.wait(lock, [&] { return entry->done; });
    if (!entry->status) {
      ++counters.memory_hits;
      attn_bundle_retain(entry->bundle);
      bundle = entry->bundle;
    }
    return entry->status;
  }
  std::shared_ptr<Entry> entry = place = std::make_shared<Entry>();
  lock.unlock();
  Status status = make(entry->bundle);
  lock.lock();
  entry->done = true;
  entry->status = status;
  if (status) {
    entries.erase(key);
  } else {
    attn_bundle_retain(entry->bundle);
    bundle = entry->bundle;
  }
  entry->progress.notify_all();
  return status;
}

Status Jit::compile(const Request &request, attn_bundle *&bundle) {
  std::shared_ptr<const Environment> current;
  if (Status status = getEnvironment(current)) {
    return status;
  }
  CacheKey key = request.getKey(current->ptxasVersion);
  return once(
      key,
      [&](attn_bundle *&made) {
        return makeBundle(request, key, key, request.maySeparate(), *current,
                          made);
      },
      bundle);
}

Status Jit::compileVariant(const Separate &of, size_t index,
                           attn_bundle *&bundle) {
  std::shared_ptr<const Environment> current;
  if (Status status = getEnvironment(current)) {
    return status;
  }
  CacheKey key = of.request.getKey(current->ptxasVersion);
  bool isAll = index == ATTN_INTERNAL_ALL_VARIANTS;
  CacheKey own = variantKeyOf(key, index);
  return once(
      own,
      [&](attn_bundle *&made) {
        return isAll ? makeBundle(of.request, key, own, /*separately=*/false,
                                  *current, made)
                     : makeVariant(of, key, index, *current, made);
      },
      bundle);
}

Status Jit::supports(const Request &request) {
  std::shared_ptr<const Environment> current;
  bool mayCompile = !getEnvironment(current);
  std::unique_lock<std::mutex> lock(mutex);
  auto found = mayCompile ? entries.find(request.getKey(current->ptxasVersion))
                          : entries.end();
  if (found != entries.end()) {
    // Another thread may be compiling the request.
    std::shared_ptr<Entry> entry = found->second;
    entry->progress.wait(
        lock, [&] { return entry->done || judgements.find(request); });
    if (entry->done && !entry->status) { // it may come from the disk
      judgements.keep(request, Status());
    }
  }
  if (const Status *known = judgements.find(request)) {
    return *known;
  }
  lock.unlock();
  Status status = checkRequest(request);
  lock.lock();
  judgements.keep(request, status);
  return status;
}

void Jit::clear() {
  std::vector<std::shared_ptr<Entry>> dropped; // destroyed without the mutex
  std::lock_guard<std::mutex> lock(mutex);
  for (auto it = entries.begin(); it != entries.end();) {
    if (it->second->done) {
      dropped.push_back(it->second);
      it = entries.erase(it);
    } else {
      ++it;
    }
  }
  judgements.clear();
}

attn_jit_counters Jit::count() {
  std::lock_guard<std::mutex> lock(mutex);
  return counters;
}
