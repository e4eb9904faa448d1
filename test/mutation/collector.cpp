// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "collector.h"

using namespace attn::mutation;
using Kind = attn::sim::ptx::Operand::Kind;

void Draft::computeBefore(ptx::Operand &operand, const std::string &type,
                          const std::string &opcode, const std::string &by) {
  before = ".reg " + type + " mutated;\n" + opcode + " mutated, " +
           std::string(operand.name) + by + ";\n";
  operand.name = "mutated";
}

void Draft::add(ptx::Operand &operand, int64_t delta) {
  if (operand.kind == Kind::Integer) {
    operand.bits += uint64_t(delta);
    operand.minus = int64_t(operand.bits) < 0;
  } else if (operand.kind == Kind::Address) {
    operand.offset += delta;
  } else {
    computeBefore(operand, ".b32", "add.s32", ", " + std::to_string(delta));
  }
}

void Draft::addWide(ptx::Operand &operand, int64_t delta) {
  computeBefore(operand, ".b64", "add.s64", ", " + std::to_string(delta));
}

void Draft::flip(ptx::Operand &operand) {
  if (operand.kind == Kind::Integer) {
    operand.bits ^= 1;
  } else {
    computeBefore(operand, ".b32", "xor.b32", ", 1");
  }
}

void Draft::negate(ptx::Operand &operand) {
  computeBefore(operand, ".pred", "not.pred", "");
}

std::string Draft::text() const {
  std::string text = ptx::print(changed);
  return before.empty() ? text : "{\n" + before + text + "\n}";
}

void Collector::beginSite(const std::string &kind, size_t statement) {
  beginSite(kind, ptx::print(*code[statement].instruction));
  site.statement = statement;
  site.line = code.line(statement);
  site.once = code.isOnce(statement);
}

void Collector::beginSite(const std::string &kind, const std::string &text) {
  site = {};
  site.site = kind + "." + std::to_string(++counts[kind]);
  site.before = text;
}

Mutant &Collector::add(const std::string &operation, const std::string &after) {
  mutants.push_back(site);
  mutants.back().operation = operation;
  mutants.back().after = after;
  return mutants.back();
}

void Collector::edit(const std::string &operation, Edit edit,
                     const std::string &after) {
  add(operation, after).edits.push_back(std::move(edit));
}

void Collector::drop(size_t begin, size_t end) {
  edit("drop", {begin, end, ""}, "");
}

void Collector::twice(size_t statement) {
  std::string text = ptx::print(*code[statement].instruction);
  edit("twice", {statement, statement + 1, text + "\n" + text},
       text + " " + text);
}

void Collector::change(const std::string &operation, const Draft &draft) {
  std::string text = draft.text();
  edit(operation, {site.statement, site.statement + 1, text}, text);
}

void Collector::swap(const std::string &operation, Swap swap,
                     const std::string &after) {
  add(operation, after).swaps.push_back(swap);
}

void Collector::changePlan(const std::string &operation, std::string plan,
                           const std::string &after) {
  add(operation, after).plan = std::move(plan);
}
