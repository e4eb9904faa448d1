// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words by which threads and CTAs communicate: atomics, ordered loads and
// stores, and the scopes of fences; and the register counts of setmaxnreg.

#include "collector.h"

#include <algorithm>

using namespace attn::mutation;
using Operand = attn::sim::ptx::Operand;

using Modifiers = std::vector<std::string_view>;

static bool isScope(std::string_view modifier) {
  return modifier == ".gpu" || modifier == ".cluster" || modifier == ".sys";
}

/// Narrows device or cluster scope to the CTA.
static void addNarrowScope(Collector &collector, size_t statement) {
  Draft draft(*collector.code[statement].instruction);
  Modifiers &modifiers = draft.get().modifiers;
  auto scope = std::find_if(modifiers.begin(), modifiers.end(), isScope);
  if (scope != modifiers.end()) {
    *scope = ".cta";
    collector.change("cta", draft);
  }
}

static void addAtomic(Collector &collector, size_t statement) {
  const Node &node = collector.code[statement];
  collector.beginSite("atomic", statement);
  collector.drop(statement, statement + 1);
  collector.twice(statement);
  // The next floating-point number would be within rounding; with the next
  // exponent it is twice the number.
  bool isFloat = node.has(".f32");
  Draft value(*node.instruction);
  value.add(value.get().operands.back(), isFloat ? 1 << 23 : 1);
  collector.change(isFloat ? "double" : "value+1", value);
  if (std::any_of(node.instruction->modifiers.begin(),
                  node.instruction->modifiers.end(), isScope)) {
    addNarrowScope(collector, statement);
  } else if (!node.has(".shared")) {
    // An instruction without a scope has the device's.
    Draft draft(*node.instruction);
    Modifiers &modifiers = draft.get().modifiers;
    modifiers.insert(modifiers.begin(), {".relaxed", ".cta"});
    collector.change("cta", draft);
  }
}

/// The branch back of a loop that only polls a load; `statement` if there is
/// none.
static size_t findPoll(const Code &code, size_t statement) {
  size_t branch = statement;
  for (size_t i = statement + 1; i < code.size() && branch == statement; ++i) {
    branch = code[i].is("bra") ? i : statement;
  }
  if (branch == statement) {
    return statement;
  }
  std::string_view label = code[branch].instruction->operands[0].name;
  for (size_t i = statement; i-- > 0 && !code[i].is("bra");) {
    if (code.statement(i).kind == ptx::Statement::Kind::Label &&
        code.statement(i).text == label) {
      return branch;
    }
  }
  return statement;
}

static void addFlag(Collector &collector, size_t statement) {
  const Node &node = collector.code[statement];
  collector.beginSite("flag", statement);
  if (node.is("st")) {
    collector.drop(statement, statement + 1);
    Draft draft(*node.instruction);
    draft.add(draft.get().operands[1], 1);
    collector.change("value+1", draft);
  } else if (size_t poll = findPoll(collector.code, statement);
             poll != statement) {
    collector.edit("once", {poll, poll + 1, ""}, "");
  }
  Draft draft(*node.instruction);
  for (std::string_view &modifier : draft.get().modifiers) {
    if (modifier == ".acquire" || modifier == ".release") {
      modifier = ".relaxed";
      collector.change("relaxed", draft);
      break;
    }
  }
  addNarrowScope(collector, statement);
}

static void addRegisters(Collector &collector, size_t statement) {
  collector.beginSite("registers", statement);
  collector.drop(statement, statement + 1);
  for (int64_t delta : {-8, 8}) {
    Draft draft(*collector.code[statement].instruction);
    draft.add(draft.get().operands[0], delta);
    collector.change(delta < 0 ? "count-8" : "count+8", draft);
  }
}

void attn::mutation::addFlagMutants(Collector &collector) {
  const Code &code = collector.code;
  for (size_t i = 0; i < code.size(); ++i) {
    const Node &node = code[i];
    bool isOrdered = node.has(".acquire") || node.has(".release") ||
                     node.has(".relaxed") || node.has(".volatile");
    if (node.is("atom") || node.is("red")) {
      addAtomic(collector, i);
    } else if ((node.is("ld") || node.is("st")) && isOrdered) {
      addFlag(collector, i);
    } else if (node.is("fence") && node.has(".acq_rel")) {
      collector.beginSite("scope", i);
      addNarrowScope(collector, i);
    } else if (node.is("setmaxnreg")) {
      addRegisters(collector, i);
    }
  }
}
