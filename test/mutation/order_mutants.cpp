// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of synchronization, asynchronous operations and accesses to shared
// memory: neighbors are exchanged.

#include "collector.h"

#include <algorithm>
#include <set>

using namespace attn::mutation;

namespace {

/// Statements [begin, end) that move together.
struct Unit {
  size_t begin = 0;
  size_t end = 0;
  /// The statement that the unit is about.
  size_t core = 0;
};

using Names = std::set<std::string>;

} // namespace

static bool isSharedAccess(const Node &node) {
  return node.is("stmatrix") || node.is("ldmatrix") || node.has(".shared") ||
         node.has(".shared::cta");
}

/// Whether the order of this instruction among others like it matters.
static bool isOrdered(const Node &node) {
  return node.is("mbarrier") || node.is("fence") || node.is("membar") ||
         node.is("bar") || node.is("barrier") || node.is("cp") ||
         node.is("wgmma") || node.is("tcgen05") || isSharedAccess(node);
}

static bool isMultiplication(const Node &node) {
  return node.has(".mma_async") || (node.is("tcgen05") && node.has(".mma"));
}

/// Loads, or stores, of tensor memory.
static bool areMoves(const Node &a, const Node &b, std::string_view which) {
  return a.is("tcgen05") && a.has(which) && b.is("tcgen05") && b.has(which);
}

/// The statement that [begin, end) is about: a multiplication, or otherwise the
/// first that matters; `end` if there is none.
static size_t findCore(const Code &code, size_t begin, size_t end) {
  size_t first = end;
  for (size_t i = begin; i < end; ++i) {
    if (isMultiplication(code[i])) {
      return i;
    }
    if (first == end && isOrdered(code[i])) {
      first = i;
    }
  }
  return first;
}

static bool isLabel(const Code &code, size_t statement) {
  return code.statement(statement).kind == ptx::Statement::Kind::Label;
}

/// "@p bra L; ...; L:" from `statement` on, where no other branch goes to L.
/// Returns its end, or `statement`.
static size_t findGuarded(const Code &code, size_t statement) {
  if (!code[statement].is("bra") ||
      code[statement].instruction->guard.empty()) {
    return statement;
  }
  std::string_view label = code[statement].instruction->operands[0].name;
  for (size_t i = statement + 1; i < code.size(); ++i) {
    if (isLabel(code, i)) {
      bool isTarget = code.statement(i).text == label;
      return isTarget && code.countBranchesTo(label) == 1 ? i + 1 : statement;
    }
    if (code[i].is("bra")) {
      break;
    }
  }
  return statement;
}

/// Accesses to shared memory from `statement` on, up to the next ordered
/// instruction. Returns the end.
static size_t findAccesses(const Code &code, size_t statement) {
  size_t end = statement + 1;
  for (size_t i = end; i < code.size() && !code[i].is("bra") &&
                       !code[i].inScope && !isLabel(code, i);
       ++i) {
    if (isOrdered(code[i])) {
      if (!isSharedAccess(code[i]) || code[i].is("mbarrier")) {
        break;
      }
      end = i + 1;
    }
  }
  return end;
}

/// The unit that begins at `statement`; empty if none does.
static Unit findUnit(const Code &code, size_t statement) {
  const Node &node = code[statement];
  Unit unit = {statement, statement, statement};
  if (node.inScope) {
    unit.end = node.close + 1;
  } else if (size_t end = findGuarded(code, statement); end != statement) {
    unit.end = end;
  } else if (isSharedAccess(node) && !node.is("mbarrier")) {
    unit.end = findAccesses(code, statement);
  } else if (isOrdered(node)) {
    unit.end = statement + 1;
  }
  unit.core = findCore(code, unit.begin, unit.end);
  if (unit.core == unit.end) {
    unit.end = unit.begin;
  }
  return unit;
}

static void addNames(const Code &code, size_t begin, size_t end, Names &reads,
                     Names &writes) {
  for (size_t i = begin; i < end; ++i) {
    reads.insert(code[i].reads.begin(), code[i].reads.end());
    writes.insert(code[i].writes.begin(), code[i].writes.end());
  }
}

static bool haveCommon(const Names &a, const Names &b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string &name) {
    return b.count(name) != 0;
  });
}

/// Whether data dependences allow exchanging the statements [begin, middle) and
/// [middle, end).
static bool mayExchange(const Code &code, const Swap &swap) {
  Names reads[2];
  Names writes[2];
  addNames(code, swap.begin, swap.middle, reads[0], writes[0]);
  addNames(code, swap.middle, swap.end, reads[1], writes[1]);
  return !haveCommon(writes[0], reads[1]) && !haveCommon(writes[1], reads[0]) &&
         !haveCommon(writes[0], writes[1]);
}

/// Moves `first` after `second`, or `second` before `first`.
static void addPair(Collector &collector, const Unit &first,
                    const Unit &second) {
  for (size_t middle : {first.end, second.begin}) {
    Swap swap = {first.begin, middle, second.end};
    if (mayExchange(collector.code, swap)) {
      collector.beginSite("order", first.core);
      collector.swap("swap", swap,
                     "behind '" +
                         ptx::print(*collector.code[second.core].instruction) +
                         "'");
      return;
    }
  }
}

/// Whether two instructions are of a kind whose mutual order does not matter.
static bool areAlike(const Node &a, const Node &b) {
  return (isMultiplication(a) && isMultiplication(b)) ||
         areMoves(a, b, ".ld") || areMoves(a, b, ".st") ||
         (a.has(".init") && b.has(".init")) ||
         (a.is("stmatrix") && b.is("stmatrix"));
}

/// Pairs of neighbors among single statements of [begin, end).
static void addInnerPairs(Collector &collector, const Unit &unit) {
  const Code &code = collector.code;
  size_t last = code.size();
  for (size_t i = unit.begin; i < unit.end; ++i) {
    if (!isOrdered(code[i])) {
      continue;
    }
    if (last != code.size() && !areAlike(code[last], code[i])) {
      addPair(collector, {last, last + 1, last}, {i, i + 1, i});
    }
    last = i;
  }
}

void attn::mutation::addOrderMutants(Collector &collector) {
  const Code &code = collector.code;
  bool hasLast = false;
  Unit last;
  for (size_t i = 0; i < code.size();) {
    Unit unit = findUnit(code, i);
    if (unit.end == unit.begin) {
      // Control flow ends what can be exchanged.
      hasLast &= !isLabel(code, i) && !code[i].is("bra");
      ++i;
      continue;
    }
    if (hasLast && !areAlike(code[last.core], code[unit.core])) {
      addPair(collector, last, unit);
    }
    if (unit.end - unit.begin > 1) {
      addInnerPairs(collector, unit);
    }
    last = unit;
    hasLast = true;
    i = unit.end;
  }
}
