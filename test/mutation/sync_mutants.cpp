// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fences, waits, arrivals, commits and barriers.

#include "collector.h"

#include <algorithm>

using namespace attn::mutation;

/// The distance of two mbarriers that lie side by side.
static constexpr int64_t kBarrierBytes = 8;

static void addAddressMutants(Collector &collector, size_t statement,
                              size_t operand) {
  for (int64_t delta : {-kBarrierBytes, kBarrierBytes}) {
    Draft draft(*collector.code[statement].instruction);
    draft.add(draft.get().operands[operand], delta);
    collector.change(delta < 0 ? "address-8" : "address+8", draft);
  }
}

static void addChanges(Collector &collector, size_t statement, size_t operand,
                       const std::string &name,
                       std::initializer_list<int64_t> deltas) {
  for (int64_t delta : deltas) {
    Draft draft(*collector.code[statement].instruction);
    draft.add(draft.get().operands[operand], delta);
    collector.change(name + (delta < 0 ? "" : "+") + std::to_string(delta),
                     draft);
  }
}

/// The branch back of the loop around a try_wait; `statement` if there is none.
static size_t findRetry(const Code &code, size_t statement) {
  for (size_t i = statement + 1; i <= code[statement].close; ++i) {
    if (code[i].is("bra")) {
      return i;
    }
  }
  return statement;
}

static void addWait(Collector &collector, size_t statement) {
  const Code &code = collector.code;
  const Node &node = code[statement];
  collector.beginSite("wait", statement);
  collector.drop(node.inScope ? node.open : statement,
                 node.inScope ? node.close + 1 : statement + 1);
  size_t retry = node.inScope ? findRetry(code, statement) : statement;
  if (retry != statement) {
    collector.edit("once", {retry, retry + 1, ""}, "");
  }
  Draft draft(*node.instruction);
  draft.flip(draft.get().operands[2]);
  collector.change("parity", draft);
  addAddressMutants(collector, statement, 1);
}

static void addArrive(Collector &collector, size_t statement) {
  const ptx::Instruction &instruction = *collector.code[statement].instruction;
  size_t address = writesFirstOperand(instruction) ? 1 : 0;
  bool expects = collector.code[statement].has(".expect_tx");
  collector.beginSite(expects ? "expect" : "arrive", statement);
  collector.drop(statement, statement + 1);
  collector.twice(statement);
  addAddressMutants(collector, statement, address);
  if (expects) {
    addChanges(collector, statement, address + 1, "bytes", {-16, 16});
    Draft draft(instruction);
    auto &modifiers = draft.get().modifiers;
    modifiers.erase(
        std::find(modifiers.begin(), modifiers.end(), ".expect_tx"));
    draft.get().operands.pop_back();
    collector.change("no-bytes", draft);
  }
}

static void addInit(Collector &collector, size_t statement) {
  collector.beginSite("init", statement);
  collector.drop(statement, statement + 1);
  collector.twice(statement);
  addChanges(collector, statement, 1, "count", {-1, 1});
}

static void addFence(Collector &collector, size_t statement) {
  collector.beginSite("fence", statement);
  collector.drop(statement, statement + 1);
}

/// A wait for groups of asynchronous operations. Fewer than asked for may stay
/// pending, so only a higher count is a fault.
static void addGroupWait(Collector &collector, size_t statement) {
  bool isBulk = collector.code[statement].is("cp");
  collector.beginSite(isBulk ? "bulk-wait" : "wgmma-wait", statement);
  collector.drop(statement, statement + 1);
  addChanges(collector, statement, 0, "count", {1});
  if (isBulk && !collector.code[statement].has(".read")) {
    Draft draft(*collector.code[statement].instruction);
    draft.get().modifiers.push_back(".read");
    collector.change("read", draft);
  }
}

static void addCommit(Collector &collector, size_t statement) {
  collector.beginSite("commit", statement);
  collector.drop(statement, statement + 1);
}

/// The wait of a launch for the ones before.
static void addLaunchWait(Collector &collector, size_t statement) {
  collector.beginSite("launch-wait", statement);
  collector.drop(statement, statement + 1);
}

/// A barrier of the CTA: it has an id, and perhaps a count.
static bool isNamedBarrier(const Node &node) {
  return (node.is("bar") || node.is("barrier")) && !node.has(".cluster");
}

/// Whether some threads arrive at barriers of this size and do not wait there.
/// Elsewhere all wait, and may as well wait twice.
static bool isAsymmetric(const Code &code, const ptx::Instruction &barrier) {
  for (size_t i = 0; i < code.size(); ++i) {
    if (isNamedBarrier(code[i]) && code[i].has(".arrive") &&
        barrier.operands.size() > 1 &&
        code[i].instruction->operands[1].bits == barrier.operands[1].bits) {
      return true;
    }
  }
  return false;
}

static void addNamedBarrier(Collector &collector, size_t statement) {
  const ptx::Instruction &instruction = *collector.code[statement].instruction;
  bool arrives = collector.code[statement].has(".arrive");
  collector.beginSite(arrives ? "bar-arrive" : "bar-sync", statement);
  collector.drop(statement, statement + 1);
  if (isAsymmetric(collector.code, instruction)) {
    collector.twice(statement);
  }
  addChanges(collector, statement, 0, "id", {1});
  if (instruction.operands.size() < 2) {
    return;
  }
  addChanges(collector, statement, 1, "threads", {-32, 32});
  Draft draft(instruction);
  for (std::string_view &modifier : draft.get().modifiers) {
    if (modifier == ".sync" || modifier == ".arrive") {
      modifier = arrives ? ".sync" : ".arrive";
    }
  }
  collector.change(arrives ? "sync" : "arrive", draft);
}

/// The cluster's barrier, which has no operands.
static void addClusterBarrier(Collector &collector, size_t statement) {
  bool arrives = collector.code[statement].has(".arrive");
  collector.beginSite(arrives ? "cluster-arrive" : "cluster-wait", statement);
  collector.drop(statement, statement + 1);
  collector.twice(statement);
}

void attn::mutation::addSyncMutants(Collector &collector) {
  const Code &code = collector.code;
  for (size_t i = 0; i < code.size(); ++i) {
    const Node &node = code[i];
    if (node.is("mbarrier")) {
      if (node.has(".try_wait") || node.has(".test_wait")) {
        addWait(collector, i);
      } else if (node.has(".arrive")) {
        addArrive(collector, i);
      } else if (node.has(".init")) {
        addInit(collector, i);
      }
    } else if (node.is("fence") || node.is("membar") ||
               (node.is("wgmma") && node.has(".fence"))) {
      addFence(collector, i);
    } else if (node.is("griddepcontrol") && node.has(".wait")) {
      addLaunchWait(collector, i);
    } else if (node.has(".wait_group") || node.has(".wait_group.read")) {
      addGroupWait(collector, i);
    } else if (node.has(".commit_group")) {
      addCommit(collector, i);
    } else if (isNamedBarrier(node)) {
      addNamedBarrier(collector, i);
    } else if (node.is("barrier")) {
      addClusterBarrier(collector, i);
    }
  }
}
