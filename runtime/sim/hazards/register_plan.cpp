// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/register_plan.h"

#include "core/program.h"

#include <algorithm>

using namespace attn::sim;

namespace {

/// A set of registers, predicates included.
class RegisterSet {
public:
  explicit RegisterSet(size_t size, bool full = false)
      : bits((size + 63) / 64, full ? ~uint64_t(0) : 0) {}

  bool has(uint32_t id) const { return bits[id / 64] >> id % 64 & 1; }
  void insert(uint32_t id) { bits[id / 64] |= uint64_t(1) << id % 64; }
  void erase(uint32_t id) { bits[id / 64] &= ~(uint64_t(1) << id % 64); }
  /// Keeps only registers that `other` has as well; returns whether any was
  /// removed.
  bool intersect(const RegisterSet &other) {
    bool changed = false;
    for (size_t i = 0; i < bits.size(); ++i) {
      uint64_t kept = bits[i] & other.bits[i];
      changed |= kept != bits[i];
      bits[i] = kept;
    }
    return changed;
  }

private:
  std::vector<uint64_t> bits;
};

class Planner {
public:
  Planner(const std::vector<RegisterUse> &uses, Program &program)
      : uses(uses), program(program), size(program.words / kLanes),
        watched(size + program.predicates, kNone),
        unwritten(size + program.predicates), flying(unwritten),
        loaded(unwritten) {}

  void run();

private:
  uint32_t idOf(const RegisterName &name) const {
    return name.isPredicate ? size + name.number : name.number;
  }
  void findBlocks();
  void findWritten();
  void apply(const RegisterUse &use, RegisterSet &written) const;
  bool passOn(const RegisterSet &written, uint32_t target);
  template <typename Visit> void forInstructions(Visit visit) const;
  void findWatched();
  void followCopies();
  void watch(uint32_t index, const RegisterSet &written);
  template <typename Keep>
  RegisterRange collect(const RegisterName *names, size_t count, Keep keep);
  uint32_t numberOf(const RegisterName &name);

  const std::vector<RegisterUse> &uses;
  Program &program;
  /// Registers that are no predicates.
  const uint32_t size;
  std::vector<uint32_t> firsts;
  /// For an instruction that begins a block, the number of the block; otherwise
  /// kNone.
  std::vector<uint32_t> blockAt;
  /// By block, the registers that are written on all paths to it; empty if
  /// unknown.
  std::vector<RegisterSet> writtenAt;
  /// By register, its number among the watched registers.
  std::vector<uint32_t> watched;
  /// Registers that are read where they may be unwritten.
  RegisterSet unwritten;
  /// Registers that may be in use by a wgmma in flight.
  RegisterSet flying;
  /// Results of tcgen05.ld.
  RegisterSet loaded;
};

} // namespace

void Planner::findBlocks() {
  blockAt.assign(uses.size(), kNone);
  std::vector<bool> begins(uses.size() + 1);
  begins[0] = true;
  for (size_t i = 0; i < uses.size(); ++i) {
    for (uint32_t target : uses[i].targets) {
      begins[target] = true;
    }
    begins[i + 1] = begins[i + 1] || !uses[i].targets.empty();
  }
  for (uint32_t i = 0; i < uses.size(); ++i) {
    if (begins[i]) {
      blockAt[i] = uint32_t(firsts.size());
      firsts.push_back(i);
    }
  }
}

/// A copy of registers that are all unwritten is unwritten.
void Planner::apply(const RegisterUse &use, RegisterSet &written) const {
  if (use.isGuarded) {
    return;
  }
  auto isWritten = [&](const RegisterName &name) {
    return written.has(idOf(name));
  };
  bool movesUnwritten =
      isMove(use.kind) && !use.reads.empty() &&
      std::none_of(use.reads.begin(), use.reads.end(), isWritten);
  for (const RegisterName &name : use.writes) {
    movesUnwritten ? written.erase(idOf(name)) : written.insert(idOf(name));
  }
}

bool Planner::passOn(const RegisterSet &written, uint32_t target) {
  return target < uses.size() && writtenAt[blockAt[target]].intersect(written);
}

/// Finds the registers that every path to a block writes, starting from all
/// registers.
void Planner::findWritten() {
  const size_t all = watched.size();
  writtenAt.assign(firsts.size(), RegisterSet(all, true));
  writtenAt[0] = RegisterSet(all);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < uses.size();) {
      RegisterSet written = writtenAt[blockAt[i]];
      do {
        apply(uses[i], written);
        for (uint32_t target : uses[i].targets) {
          changed |= passOn(written, target);
        }
      } while (uses[i++].fallsThrough && i < uses.size() &&
               blockAt[i] == kNone);
      if (i < uses.size() && uses[i - 1].fallsThrough) {
        changed |= passOn(written, i);
      }
      while (i < uses.size() && blockAt[i] == kNone) {
        ++i; // cannot be reached
      }
    }
  }
}

/// Calls `visit(index, written)` with the registers that are certainly written
/// before each instruction.
template <typename Visit> void Planner::forInstructions(Visit visit) const {
  RegisterSet written(watched.size(), writtenAt.empty());
  for (uint32_t i = 0; i < uses.size(); ++i) {
    if (blockAt[i] != kNone && !writtenAt.empty()) {
      written = writtenAt[blockAt[i]];
    }
    visit(i, written);
    apply(uses[i], written);
  }
}

void Planner::findWatched() {
  forInstructions([&](uint32_t index, const RegisterSet &written) {
    const RegisterUse &use = uses[index];
    for (const RegisterName &name : use.reads) {
      if (!written.has(idOf(name))) {
        unwritten.insert(idOf(name));
      }
    }
    for (const RegisterName &name : use.writes) {
      if (use.kind == RegisterUse::Kind::TensorLoad) {
        loaded.insert(idOf(name));
      }
    }
    if (use.kind != RegisterUse::Kind::Wgmma) {
      return;
    }
    const Inst &inst = program.code[index];
    for (uint32_t i = 0; i < inst.listSize; ++i) {
      flying.insert(program.lists[inst.list + i] / kLanes);
    }
    for (const RegisterName &name : use.writes) {
      if (!written.has(idOf(name))) {
        unwritten.insert(idOf(name));
      }
    }
  });
}

/// A copy of a register in flight is in flight.
void Planner::followCopies() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const RegisterUse &use : uses) {
      if (use.kind == RegisterUse::Kind::Copy && !use.reads.empty() &&
          flying.has(idOf(use.reads.back())) &&
          !flying.has(idOf(use.writes[0]))) {
        flying.insert(idOf(use.writes[0]));
        changed = true;
      }
    }
  }
}

uint32_t Planner::numberOf(const RegisterName &name) {
  RegisterPlan &plan = program.registers;
  uint32_t &number = watched[idOf(name)];
  if (number == kNone) {
    number = uint32_t(plan.names.size());
    plan.names.push_back(name.name);
    plan.startsUnwritten.push_back(unwritten.has(idOf(name)));
  }
  return number;
}

template <typename Keep>
RegisterRange Planner::collect(const RegisterName *names, size_t count,
                               Keep keep) {
  std::vector<uint32_t> &numbers = program.registers.numbers;
  RegisterRange range = {uint32_t(numbers.size()), 0};
  for (size_t i = 0; i < count; ++i) {
    if (keep(idOf(names[i]))) {
      numbers.push_back(numberOf(names[i]));
      ++range.count;
    }
  }
  return range;
}

void Planner::watch(uint32_t index, const RegisterSet &written) {
  const RegisterUse &use = uses[index];
  auto mayBeUnwritten = [&](uint32_t id) { return !written.has(id); };
  auto isFlying = [&](uint32_t id) { return flying.has(id) || loaded.has(id); };
  auto isWatched = [&](uint32_t id) {
    return unwritten.has(id) || isFlying(id);
  };
  auto isLoaded = [&](const RegisterName &name) {
    return loaded.has(idOf(name));
  };
  RegisterWatch watch;
  watch.kind = use.kind;
  watch.usesLoads = std::any_of(use.reads.begin(), use.reads.end(), isLoaded) ||
                    std::any_of(use.writes.begin(), use.writes.end(), isLoaded);
  const RegisterName *sources = use.reads.data();
  size_t count = use.reads.size();
  if (use.readsGuard) {
    watch.guard = mayBeUnwritten(idOf(*sources)) ? numberOf(*sources) : kNone;
    ++sources;
    --count;
  }
  watch.unwritten = collect(sources, count, mayBeUnwritten);
  watch.movesUnwritten = isMove(use.kind) && watch.unwritten.count != 0 &&
                         watch.unwritten.count == count;
  watch.reads = collect(sources, count, isFlying);
  watch.writes = collect(use.writes.data(), use.writes.size(), isWatched);
  if (use.kind == RegisterUse::Kind::Wgmma) {
    count = program.code[index].listSize - use.writes.size();
    watch.fragment = collect(sources, count, isFlying);
  }
  if (watch.guard != kNone || watch.unwritten.count || watch.reads.count ||
      watch.writes.count) {
    program.code[index].watch = uint32_t(program.registers.watches.size());
    program.registers.watches.push_back(watch);
  }
}

void Planner::run() {
  findBlocks();
  uint64_t registerBlocks = uint64_t(watched.size()) * firsts.size();
  program.registers.registerBlocks = registerBlocks;
  if (registerBlocks <= kMaxRegisterBlocks) {
    findWritten();
  }
  findWatched();
  followCopies();
  forInstructions([&](uint32_t index, const RegisterSet &written) {
    watch(index, written);
  });
}

void attn::sim::planRegisterChecks(const std::vector<RegisterUse> &uses,
                                   Program &program) {
  program.registers = {};
  Planner(uses, program).run();
}
