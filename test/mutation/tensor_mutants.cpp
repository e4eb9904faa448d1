// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05: products with their descriptors and places, moves, commits, fences,
// waits and allocations.

#include "collector.h"

using namespace attn::mutation;
using Operand = attn::sim::ptx::Operand;

namespace {

struct Change {
  const char *operation;
  int64_t delta;
};

constexpr int64_t kLane = 1 << 16; // of an address
constexpr Change kPlaces[] = {
    {"column-8", -8}, {"column+8", 8}, {"lane+16", 16 * kLane}};
constexpr Change kLanes[] = {
    {"column-8", -8}, {"column+8", 8}, {"lane+32", 32 * kLane}};
constexpr int64_t kUpper = int64_t(1) << 32; // of a descriptor
constexpr Change kDescriptor[] = {{"start+32", 2},
                                  {"start+1024", 64},
                                  {"stride-16", -kUpper},
                                  {"stride+16", kUpper},
                                  {"version", kUpper << 14},
                                  {"base+1", kUpper << 17},
                                  {"swizzle-1", -(kUpper << 29)},
                                  {"swizzle+2", kUpper << 30}};
constexpr Change kInstruction[] = {
    {"n-8", -(1 << 17)},  {"n+8", 1 << 17},        {"m", 1 << 26},
    {"type-a", 1 << 7},   {"type-d", -(1 << 4)},   {"negate-a", 1 << 13},
    {"reserved", 1 << 6}, {"transpose-a", 1 << 15}};

} // namespace

/// Changes of one operand, in an instruction at `statement`.
template <size_t Count>
static void addChanges(Collector &collector, size_t statement, size_t operand,
                       const std::string &name, const Change (&changes)[Count],
                       bool isWide = false) {
  for (const Change &each : changes) {
    Draft draft(*collector.code[statement].instruction);
    Operand &changed = draft.get().operands[operand];
    isWide ? draft.addWide(changed, each.delta)
           : draft.add(changed, each.delta);
    collector.change(name + each.operation, draft);
  }
}

/// enable-input-d, the last operand.
static void addAccumulate(Collector &collector, size_t statement) {
  Draft draft(*collector.code[statement].instruction);
  Operand &operand = draft.get().operands.back();
  collector.beginSite("accumulate", statement);
  operand.kind == Operand::Kind::Integer ? draft.flip(operand)
                                         : draft.negate(operand);
  collector.change("negate", draft);
}

static void addMultiply(Collector &collector, size_t statement) {
  const auto &operands = collector.code[statement].instruction->operands;
  collector.beginSite("umma", statement);
  collector.drop(statement, statement + 1);
  collector.twice(statement);
  addChanges(collector, statement, 0, "d-", kPlaces);
  if (operands[1].kind == Operand::Kind::Address) {
    addChanges(collector, statement, 1, "a-", kPlaces);
  } else {
    addChanges(collector, statement, 1, "a-", kDescriptor, /*isWide=*/true);
  }
  addChanges(collector, statement, 2, "b-", kDescriptor, /*isWide=*/true);
  addChanges(collector, statement, 3, "", kInstruction);
  addAccumulate(collector, statement);
}

static void addMove(Collector &collector, size_t statement) {
  bool isLoad = collector.code[statement].has(".ld");
  collector.beginSite(isLoad ? "tensor-load" : "tensor-store", statement);
  collector.drop(statement, statement + 1);
  addChanges(collector, statement, isLoad ? 1 : 0, "", kLanes);
}

static void addTensorCommit(Collector &collector, size_t statement) {
  constexpr Change barriers[] = {{"address-8", -8}, {"address+8", 8}};
  collector.beginSite("commit", statement);
  collector.drop(statement, statement + 1);
  collector.twice(statement);
  addChanges(collector, statement, 0, "", barriers);
}

static void addDrop(Collector &collector, const char *kind, size_t statement) {
  collector.beginSite(kind, statement);
  collector.drop(statement, statement + 1);
}

/// An alloc or dealloc, of other numbers of columns too.
static void addColumns(Collector &collector, size_t statement) {
  const Operand &columns = collector.code[statement].instruction->operands[1];
  collector.beginSite("columns", statement);
  collector.drop(statement, statement + 1);
  collector.twice(statement);
  auto count = int64_t(columns.bits);
  const Change counts[] = {
      {"half", -count / 2}, {"double", count}, {"one-more", 1}};
  addChanges(collector, statement, 1, "", counts);
}

void attn::mutation::addTensorMutants(Collector &collector) {
  const Code &code = collector.code;
  for (size_t i = 0; i < code.size(); ++i) {
    const Node &node = code[i];
    if (!node.is("tcgen05")) {
      continue;
    }
    if (node.has(".mma")) {
      addMultiply(collector, i);
    } else if (node.has(".ld") || node.has(".st")) {
      addMove(collector, i);
    } else if (node.has(".commit")) {
      addTensorCommit(collector, i);
    } else if (node.has(".wait::ld") || node.has(".wait::st")) {
      addDrop(collector, "tensor-wait", i);
    } else if (node.has(".alloc") || node.has(".dealloc")) {
      addColumns(collector, i);
    } else if (node.has(".relinquish_alloc_permit")) {
      addDrop(collector, "permit", i);
    } else {
      addDrop(collector, "tensor-fence", i);
    }
  }
}
