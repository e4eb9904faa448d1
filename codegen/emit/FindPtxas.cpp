// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches for ptxas, and checks its version.
#include "attn/codegen/emit/FindPtxas.h"
#include "PtxasProcess.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/VersionTuple.h"
#include <algorithm>
#include <mutex>

using namespace llvm;

static const VersionTuple kOldest(12, 8);

/// Returns the folders in `parent` whose name starts with `prefix`, last name
/// first.
static std::vector<std::string> listFolders(StringRef parent,
                                            StringRef prefix) {
  std::vector<std::string> found;
  std::error_code error;
  for (sys::fs::directory_iterator it(parent, error), end; !error && it != end;
       it.increment(error)) {
    if (sys::path::filename(it->path()).starts_with(prefix)) {
      found.push_back(it->path());
    }
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

/// Returns the folders of Python packages: those of python3 on PATH, of the
/// system and of the user.
static std::vector<std::string> listSitePackages() {
  std::vector<std::string> prefixes = {"/usr/local", "/usr"};
  if (ErrorOr<std::string> python = sys::findProgramByName("python3")) {
    StringRef bin = sys::path::parent_path(*python);
    prefixes.insert(prefixes.begin(), sys::path::parent_path(bin).str());
  }
  SmallString<128> home;
  if (sys::path::home_directory(home)) {
    sys::path::append(home, ".local");
    prefixes.push_back(home.str().str());
  }
  std::vector<std::string> packages;
  for (const std::string &prefix : prefixes) {
    for (const std::string &python : listFolders(prefix + "/lib", "python3")) {
      packages.push_back(python + "/site-packages");
      packages.push_back(python + "/dist-packages");
    }
  }
  return packages;
}

/// Returns all places where ptxas is searched for, best first.
static std::vector<std::string> listCandidates() {
  std::vector<std::string> paths;
  if (ErrorOr<std::string> found = sys::findProgramByName("ptxas")) {
    paths.push_back(*found);
  }
  paths.push_back("/usr/local/cuda/bin/ptxas");
  for (const std::string &folder : listFolders("/usr/local", "cuda-")) {
    paths.push_back(folder + "/bin/ptxas");
  }
  paths.push_back("/opt/cuda/bin/ptxas");
  for (const std::string &folder : listSitePackages()) {
    for (StringRef wheel :
         {"/nvidia/cu13/bin/ptxas", "/nvidia/cuda_nvcc/bin/ptxas"}) {
      paths.push_back(folder + wheel.str());
    }
  }
  SmallString<128> cache;
  if (sys::path::cache_directory(cache)) {
    // The place where scripts/setup puts ptxas.
    sys::path::append(cache, "attn", "bin", "ptxas");
    paths.push_back(cache.str().str());
  }
  return paths;
}

/// Returns the version in "..., release 13.0, V13.0.88"; empty if there is
/// none.
static VersionTuple parseVersion(StringRef text) {
  VersionTuple version;
  StringRef number = text.split("release ").second.split(',').first;
  if (number.empty() || version.tryParse(number)) {
    return VersionTuple();
  }
  return version;
}

std::string attn::codegen::askPtxasVersion(StringRef path) {
  static std::mutex mutex;
  static StringMap<std::string> known;
  std::lock_guard<std::mutex> lock(mutex);
  auto [it, inserted] = known.try_emplace(path);
  if (inserted) {
    it->second = runProcess(path, {"--version"}).output;
  }
  return it->second;
}

/// Explains why each program was refused, or lists where none was found.
static std::string explain(ArrayRef<std::string> refused) {
  if (!refused.empty()) {
    return join(refused, ", ");
  }
  return "none on PATH, in /usr/local/cuda*, in /opt/cuda, in Python's "
         "packages or where scripts/setup puts one; ATTN_PTXAS may name it";
}

/// Returns the reason why the program cannot be used, or an empty string; sets
/// `version`.
static std::string judge(StringRef path,
                         function_ref<std::string(StringRef)> ask,
                         std::string &version) {
  if (!sys::fs::can_execute(path)) {
    return path.str() + " (absent)";
  }
  version = ask(path);
  VersionTuple number = parseVersion(version);
  if (number.empty()) {
    return path.str() + " (does not say its version)";
  }
  if (number < kOldest) {
    return path.str() + " (" + number.getAsString() + ")";
  }
  return "";
}

Expected<attn::codegen::Ptxas>
attn::codegen::findPtxas(StringRef requested,
                         function_ref<std::string(StringRef)> ask) {
  std::vector<std::string> candidates =
      requested.empty() ? listCandidates()
                        : std::vector<std::string>{requested.str()};
  std::vector<std::string> refused;
  for (const std::string &path : candidates) {
    std::string version;
    std::string reason = judge(path, ask, version);
    if (reason.empty()) {
      return Ptxas{path, version};
    }
    if (!requested.empty() || sys::fs::exists(path)) {
      refused.push_back(reason);
    }
  }
  return createStringError("expected ptxas " + kOldest.getAsString() +
                           " or newer, got: " + explain(refused));
}
