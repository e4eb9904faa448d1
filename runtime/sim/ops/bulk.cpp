// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async.bulk, cp.reduce.async.bulk and their tensor forms, and their groups.

#include "core/cluster.h"
#include "ops/address_list.h"
#include "ops/async_signal.h"
#include "ops/lanes.h"
#include "units/tma.h"

#include <algorithm>
#include <mutex>

using namespace attn::sim;

namespace {

/// Global memory for the tensor unit.
class Port final : public GlobalPort {
public:
  explicit Port(Cta &cta) : cta(cta) {}

  bool read(uint64_t address, void *to, uint32_t bytes) override {
    const uint8_t *from = cta.global.find(address, bytes);
    if (from) {
      std::memcpy(to, from, bytes);
    }
    return from;
  }
  bool write(uint64_t address, const void *from, uint32_t bytes) override {
    uint8_t *to = cta.global.find(address, bytes);
    if (to) {
      std::memcpy(to, from, bytes);
    }
    return to;
  }
  bool reduce(uint64_t address, const void *from, uint32_t bytes, ReduceOp op,
              ReduceType type, ReduceMode mode) override {
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    uint8_t *to = cta.global.find(address, bytes);
    if (to) {
      applyReduceRange(op, type, to, static_cast<const uint8_t *>(from), bytes,
                       mode);
    }
    return to;
  }

private:
  Cta &cta;
};

std::string outOfBounds(const char *what, uint64_t address, uint64_t bytes) {
  char text[96];
  std::snprintf(text, sizeof(text),
                "%s: %llu bytes at address 0x%llx are out of bounds", what,
                static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(address));
  return text + ruleSuffix(Rule::Bounds);
}

std::string explain(const TmaResult &result) {
  return result.status == TmaStatus::Ok ? ""
         : result.status == TmaStatus::GlobalFault
             ? outOfBounds("global memory", result.address, result.bytes)
             : describe(result.status);
}

/// Bits of Inst::aux of what writes shared memory.
constexpr uint64_t kMulticast = 1;

/// Where a copy to shared memory goes: the same place in each of some CTAs.
struct Targets {
  uint32_t address = 0;
  uint32_t barrier = 0;
  std::vector<uint32_t> ranks;
  /// By rank, HazardTracker's numbers.
  std::vector<uint32_t> hazards;

  /// Reads the CTAs of a multicast, from the mask in slot 1, or the address's
  /// own. `action` is what one of them sees. Returns "" or what is wrong.
  std::string read(Warp &warp, const Inst &inst, unsigned lane,
                   BulkAction action);
  /// Calls `write(memory)` in each CTA and signals there.
  template <typename Write>
  std::string deliver(const AsyncCopy &copy, Cta &from, uint32_t bytes,
                      Write write) const;

private:
  /// Poisons the place in `cta`.
  std::string begin(Warp &warp, unsigned lane, Cta &cta, BulkAction action);
};

std::string Targets::begin(Warp &warp, unsigned lane, Cta &cta,
                           BulkAction action) {
  std::string problem;
  action.shared = cta.ownAddress(address);
  action.mbarrier = cta.ownAddress(barrier);
  uint8_t *to = cta.shared(action.shared, action.bytes);
  if (!to) {
    return outOfBounds("shared memory", address, action.bytes);
  }
  if (!findSignalled(warp.cta, action.mbarrier, problem)) {
    return problem;
  }
  if (warp.cta.hazards) {
    hazards.push_back(warp.cta.hazards->issueLoad(warp, lane, action));
  }
  if (!action.reduces) {
    std::memset(to, kSharedPoison, action.bytes);
  }
  return "";
}

std::string Targets::read(Warp &warp, const Inst &inst, unsigned lane,
                          BulkAction action) {
  uint32_t own = address >> kSharedRankShift;
  uint32_t mask = 1u << own % 32;
  if (inst.aux & kMulticast) {
    mask = warp.word(inst.slots[1])[lane] & 0xffff;
  } else if (barrier >> kSharedRankShift != own) {
    return "expected the mbarrier in the CTA of the destination" +
           ruleSuffix(Rule::MbarrierAddress);
  }
  forLanes(mask, [&](unsigned rank) { ranks.push_back(rank); });
  std::string problem;
  for (size_t i = 0; i < ranks.size() && problem.empty(); ++i) {
    Cta *cta = warp.cta.findOwner(ranks[i] << kSharedRankShift, problem);
    if (cta) {
      problem = begin(warp, lane, *cta, action);
    }
  }
  return problem;
}

template <typename Write>
std::string Targets::deliver(const AsyncCopy &copy, Cta &from, uint32_t bytes,
                             Write write) const {
  std::string problem;
  for (size_t i = 0; i < ranks.size() && problem.empty(); ++i) {
    Cta *cta = from.findOwner(ranks[i] << kSharedRankShift, problem);
    if (cta) {
      write(cta->shared(cta->ownAddress(address), bytes));
      problem = signalBytes(copy, from, cta->ownAddress(barrier), bytes,
                            hazards.empty() ? 0 : hazards[i]);
    }
  }
  return problem;
}

struct TensorCopy : AsyncCopy {
  TensorMap map;
  int32_t coordinates[kMaxTensorRank] = {0, 0, 0, 0, 0};
  uint32_t shared = 0;
};

struct TensorLoad final : TensorCopy {
  Targets targets;

  CopyFacts facts() const override {
    return {true, map.globalAddress, shared, uint32_t(boxBytes(map))};
  }

  std::string complete(Cta &cta) override {
    std::vector<uint8_t> image(boxBytes(map));
    Port port(cta);
    TmaResult result = gatherBox(map, coordinates, shared, port, image.data());
    if (result.status != TmaStatus::Ok) {
      return explain(result);
    }
    auto bytes = uint32_t(image.size());
    return targets.deliver(*this, cta, bytes, [&](uint8_t *to) {
      std::memcpy(to, image.data(), bytes);
    });
  }
};

struct TensorStore final : TensorCopy {
  uint64_t group = 0;
  bool reduces = false;
  ReduceOp op = ReduceOp::Add;

  CopyFacts facts() const override {
    return {false, map.globalAddress, shared, uint32_t(boxBytes(map))};
  }

  std::string complete(Cta &cta) override {
    const uint8_t *image = cta.shared(shared, uint32_t(boxBytes(map)));
    Port port(cta);
    TmaResult result =
        reduces ? reduceBox(map, coordinates, shared, image, op, port)
                : scatterBox(map, coordinates, shared, image, port);
    cta.finishBulk(warp, lane, group);
    return explain(result);
  }
};

/// What a bulk copy does with each element; as it is, or reduced into it.
struct Reduction {
  bool reduces = false;
  ReduceOp op = ReduceOp::Add;
  ReduceType type = ReduceType::U32;

  /// Unlike red, this keeps subnormals of f32 in global memory, on an H200.
  void apply(uint8_t *to, const uint8_t *from, uint32_t bytes) const {
    static std::mutex mutex;
    if (!reduces) {
      std::memcpy(to, from, bytes);
      return;
    }
    std::lock_guard<std::mutex> lock(mutex);
    applyReduceRange(op, type, to, from, bytes);
  }
};

/// From global to shared memory, or from this CTA's to another's.
struct SharedCopy final : AsyncCopy {
  Targets targets;
  bool fromGlobal = false;
  uint64_t source = 0;
  uint32_t bytes = 0;
  Reduction reduction;

  CopyFacts facts() const override {
    return {true, fromGlobal ? source : 0, targets.address, bytes};
  }

  std::string complete(Cta &cta) override {
    const uint8_t *from = fromGlobal ? cta.global.find(source, bytes)
                                     : cta.shared(uint32_t(source), bytes);
    if (!from) {
      return outOfBounds("global memory", source, bytes);
    }
    return targets.deliver(*this, cta, bytes, [&](uint8_t *to) {
      reduction.apply(to, from, bytes);
    });
  }
};

struct GlobalCopy final : AsyncCopy {
  uint32_t shared = 0;
  uint64_t global = 0;
  uint32_t bytes = 0;
  uint64_t group = 0;
  Reduction reduction;

  CopyFacts facts() const override { return {false, global, shared, bytes}; }

  std::string complete(Cta &cta) override {
    uint8_t *to = cta.global.find(global, bytes);
    cta.finishBulk(warp, lane, group);
    if (!to) {
      return outOfBounds("global memory", global, bytes);
    }
    reduction.apply(to, cta.shared(shared, bytes), bytes);
    return "";
  }
};

/// The number that the open group of a thread will have.
uint64_t joinGroup(Warp &warp, unsigned lane) {
  BulkGroups &groups = warp.cta.bulkGroups(warp, lane);
  ++groups.open;
  return groups.oldest + groups.pending.size();
}

/// Reads map and coordinates. Returns "" or what is wrong. The list has the
/// addresses of the map, of shared memory and, of loads, of the mbarrier, then
/// the coordinates.
std::string readTensorCopy(Warp &warp, const Inst &inst, unsigned lane,
                           bool stores, TensorCopy &copy) {
  const unsigned addresses = stores ? 2 : 3;
  Cta &cta = warp.cta;
  std::string problem;
  uint64_t address = readAddress(warp, inst, 0, lane);
  uint64_t window = address & kWindowMask;
  if (window == kLocalWindow || window == kSharedWindow) {
    return "the tensor map is neither a parameter nor in global memory" +
           ruleSuffix(Rule::TensorMapSpace);
  }
  const uint8_t *bytes = cta.resolve(Space::Generic, address, kTensorMapBytes,
                                     false, warp, lane, problem);
  if (!bytes) {
    return "tensor map: " + problem;
  }
  if (address % 64 != 0 && window != kParamWindow) {
    return "the tensor map's address is not a multiple of 64" +
           ruleSuffix(Rule::Align);
  }
  if (warp.cta.hazards && window == 0) {
    warp.cta.hazards->useTensorMap(warp, lane, address);
  }
  problem = decodeTensorMap(bytes, copy.map);
  if (!problem.empty()) {
    return "tensor map: " + problem + ruleSuffix(Rule::TensorMapInvalid);
  }
  uint32_t rank = inst.listSize - 3 * addresses;
  if (copy.map.rank != rank) {
    return "a tensor map of rank " + std::to_string(copy.map.rank) + " for " +
           std::to_string(rank) + " coordinates" +
           ruleSuffix(Rule::TensorMapInvalid);
  }
  const uint32_t *slots = &cta.program.lists[inst.list + 3 * addresses];
  for (uint32_t i = 0; i < rank; ++i) {
    copy.coordinates[i] = int32_t(warp.word(slots[i])[lane]);
  }
  copy.shared = uint32_t(readAddress(warp, inst, 1, lane));
  problem = checkCoordinates(copy.map, copy.coordinates, stores);
  if (!problem.empty()) {
    return problem + ruleSuffix(Rule::TensorMapCoordinates);
  }
  TmaStatus status = checkTma(copy.map, copy.shared);
  if (status != TmaStatus::Ok) {
    return describe(status) + ruleSuffix(status == TmaStatus::MisalignedShared
                                             ? Rule::Align
                                             : Rule::TensorMapInvalid);
  }
  return "";
}

BulkAction describe(const TensorCopy &copy) {
  BulkAction action;
  action.shared = copy.shared;
  action.bytes = boxBytes(copy.map);
  action.map = &copy.map;
  action.coordinates = copy.coordinates;
  return action;
}

Step loadTensor(Warp &warp, const Inst &inst) {
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    auto copy = std::make_unique<TensorLoad>();
    placeCopy(*copy, warp, lane);
    std::string problem =
        readTensorCopy(warp, inst, lane, /*stores=*/false, *copy);
    if (!problem.empty()) {
      return warp.fault(problem, lane);
    }
    copy->targets.address = copy->shared;
    copy->targets.barrier = uint32_t(readAddress(warp, inst, 2, lane));
    problem = copy->targets.read(warp, inst, lane, describe(*copy));
    if (!problem.empty()) {
      return warp.fault(problem, lane);
    }
    warp.cta.start(std::move(copy));
  }
  return Step::Next;
}

/// Inst::aux: 0 stores, else reduces by operation aux - 1.
Step storeTensor(Warp &warp, const Inst &inst) {
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    auto copy = std::make_unique<TensorStore>();
    placeCopy(*copy, warp, lane);
    std::string problem =
        readTensorCopy(warp, inst, lane, /*stores=*/true, *copy);
    if (!problem.empty()) {
      return warp.fault(problem, lane);
    }
    auto size = uint32_t(boxBytes(copy->map));
    if (!warp.cta.shared(copy->shared, size)) {
      return warp.fault(outOfBounds("shared memory", copy->shared, size), lane);
    }
    copy->reduces = inst.aux != 0;
    copy->op = ReduceOp(inst.aux ? inst.aux - 1 : 0);
    copy->group = joinGroup(warp, lane);
    if (warp.cta.hazards) {
      BulkAction action = describe(*copy);
      action.group = copy->group;
      action.reduces = copy->reduces;
      warp.cta.hazards->issueStore(warp, lane, action);
    }
    warp.cta.start(std::move(copy));
  }
  return Step::Next;
}

/// Inst::aux of bulk copies: kMulticast, and a reduction.
constexpr uint64_t kReduces = 2;
constexpr unsigned kOpShift = 8;
constexpr unsigned kTypeShift = 16;

Reduction reductionOf(const Inst &inst) {
  return {(inst.aux & kReduces) != 0, ReduceOp(inst.aux >> kOpShift & 0xff),
          ReduceType(inst.aux >> kTypeShift & 0xff)};
}

/// Slots: bytes, and the mask of a multicast.
template <bool fromGlobal> Step copyToShared(Warp &warp, const Inst &inst) {
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    auto copy = std::make_unique<SharedCopy>();
    placeCopy(*copy, warp, lane);
    uint64_t to = readAddress(warp, inst, 0, lane);
    copy->fromGlobal = fromGlobal;
    copy->source = readAddress(warp, inst, 1, lane);
    copy->bytes = warp.word(inst.slots[0])[lane];
    copy->reduction = reductionOf(inst);
    if (const char *problem = checkBulkCopy(to, copy->source, copy->bytes)) {
      return warp.fault(Rule::Align, problem, lane);
    }
    if (!fromGlobal && !warp.cta.shared(uint32_t(copy->source), copy->bytes)) {
      return warp.fault(outOfBounds("shared memory", copy->source, copy->bytes),
                        lane);
    }
    copy->targets.address = uint32_t(to);
    copy->targets.barrier = uint32_t(readAddress(warp, inst, 2, lane));
    BulkAction action;
    action.bytes = copy->bytes;
    action.source =
        fromGlobal ? BulkAction::Source::Global : BulkAction::Source::Shared;
    action.global = copy->source;
    action.reduces = copy->reduction.reduces;
    std::string problem = copy->targets.read(warp, inst, lane, action);
    if (!problem.empty()) {
      return warp.fault(problem, lane);
    }
    warp.cta.start(std::move(copy));
  }
  return Step::Next;
}

Step copyToGlobal(Warp &warp, const Inst &inst) {
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    auto copy = std::make_unique<GlobalCopy>();
    placeCopy(*copy, warp, lane);
    copy->global = readAddress(warp, inst, 0, lane);
    copy->shared = uint32_t(readAddress(warp, inst, 1, lane));
    copy->bytes = warp.word(inst.slots[0])[lane];
    copy->reduction = reductionOf(inst);
    if (const char *problem =
            checkBulkCopy(copy->global, copy->shared, copy->bytes)) {
      return warp.fault(Rule::Align, problem, lane);
    }
    if (!warp.cta.shared(copy->shared, copy->bytes)) {
      return warp.fault(outOfBounds("shared memory", copy->shared, copy->bytes),
                        lane);
    }
    copy->group = joinGroup(warp, lane);
    if (warp.cta.hazards) {
      BulkAction action;
      action.shared = copy->shared;
      action.bytes = copy->bytes;
      action.global = copy->global;
      action.group = copy->group;
      action.reduces = copy->reduction.reduces;
      warp.cta.hazards->issueStore(warp, lane, action);
    }
    warp.cta.start(std::move(copy));
  }
  return Step::Next;
}

Step commit(Warp &warp, const Inst &) {
  forLanes(warp.exec, [&](unsigned lane) {
    commitGroup(warp.cta.bulkGroups(warp, lane));
  });
  if (warp.cta.observer) {
    warp.cta.observer->onCommit(warp, Wait::Kind::BulkGroup);
  }
  return Step::Next;
}

Step waitGroup(Warp &warp, const Inst &inst) {
  bool done = true;
  forLanes(warp.exec, [&](unsigned lane) {
    done &= isGroupDone(warp.cta.bulkGroups(warp, lane), size_t(inst.imm));
  });
  if (!done) {
    return warp.block(Wait::Kind::BulkGroup, 0, uint32_t(inst.imm));
  }
  if (warp.cta.hazards) {
    forLanes(warp.exec, [&](unsigned lane) {
      const BulkGroups &groups = warp.cta.bulkGroups(warp, lane);
      uint64_t committed = groups.oldest + groups.pending.size();
      uint64_t pending = std::min(committed, uint64_t(inst.imm));
      warp.cta.hazards->waitStores(warp, lane, committed - pending, inst.aux);
    });
  }
  return warp.pass(Wait::Kind::BulkGroup, 0, uint32_t(inst.imm));
}

Step nothing(Warp &, const Inst &) { return Step::Next; }

/// The address in [map, {coordinates}].
ptx::Operand mapOf(ptx::Operand operand) {
  operand.elements.resize(std::min<size_t>(operand.elements.size(), 1));
  return operand;
}

bool appendCoordinates(Decoder &decoder, const ptx::Operand &operand,
                       const Match &match, Inst &inst) {
  size_t rank = 0;
  for (std::string_view each : match.chosen) {
    rank = each.size() == 3 && each[2] == 'd' ? size_t(each[1] - '0') : rank;
  }
  if (operand.elements.size() != 2 ||
      operand.elements[1].kind != ptx::Operand::Kind::Vector ||
      operand.elements[1].elements.size() != rank) {
    return decoder.fail(operand.at, "expected [map, {" + std::to_string(rank) +
                                        " coordinates}]");
  }
  return decoder.sources(operand.elements[1], 4, inst);
}

/// What may follow the other operands, from number `first` on: the mask of a
/// multicast, then a cache policy.
bool finishTail(Decoder &decoder, const ptx::Instruction &instruction,
                const Match &match, size_t first, Inst &inst) {
  bool multicast = match.has(".multicast::cluster");
  bool hint = match.has(".L2::cache_hint");
  size_t count = first + multicast + hint;
  const auto &operands = instruction.operands;
  uint32_t policy = 0;
  inst.aux |= multicast ? kMulticast : 0;
  return decoder.countOperands(instruction, count, count) &&
         (!multicast || decoder.source(operands[first], 2, inst.slots[1])) &&
         (!hint || decoder.source(operands[count - 1], 8, policy));
}

/// [shared], [map, {coordinates}], [mbarrier].
bool finishLoad(Decoder &decoder, const ptx::Instruction &instruction,
                const Match &match, Inst &inst) {
  const auto &operands = instruction.operands;
  return finishTail(decoder, instruction, match, 3, inst) &&
         appendAddress(decoder, mapOf(operands[1]), inst) &&
         appendAddress(decoder, operands[0], inst) &&
         appendAddress(decoder, operands[2], inst) &&
         appendCoordinates(decoder, operands[1], match, inst);
}

/// [map, {coordinates}], [shared] and perhaps a cache policy.
bool finishStore(Decoder &decoder, const ptx::Instruction &instruction,
                 const Match &match, Inst &inst) {
  ReduceOp op;
  inst.aux = parseReduce(match, op) ? uint64_t(op) + 1 : 0;
  const auto &operands = instruction.operands;
  return finishTail(decoder, instruction, match, 2, inst) &&
         appendAddress(decoder, mapOf(operands[0]), inst) &&
         appendAddress(decoder, operands[1], inst) &&
         appendCoordinates(decoder, operands[0], match, inst);
}

bool finishReduction(Decoder &decoder, const ptx::Instruction &instruction,
                     const Match &match, Inst &inst) {
  ReduceOp op;
  ReduceType type;
  if (!parseReduce(match, op)) {
    return true;
  }
  if (!parseReduceType(match.chosen.back(), type) || !isReduceLegal(op, type)) {
    return decoder.fail(instruction.at, "there is no such operation");
  }
  inst.aux |=
      kReduces | uint64_t(op) << kOpShift | uint64_t(type) << kTypeShift;
  return true;
}

/// [to], [from], size and, toward shared memory, [mbarrier].
template <bool toShared>
bool finishPlain(Decoder &decoder, const ptx::Instruction &instruction,
                 const Match &match, Inst &inst) {
  const auto &operands = instruction.operands;
  return finishTail(decoder, instruction, match, toShared ? 4 : 3, inst) &&
         finishReduction(decoder, instruction, match, inst) &&
         appendAddress(decoder, operands[0], inst) &&
         appendAddress(decoder, operands[1], inst) &&
         decoder.source(operands[2], 4, inst.slots[0]) &&
         (!toShared || appendAddress(decoder, operands[3], inst));
}

bool finishPrefetch(Decoder &decoder, const ptx::Instruction &instruction,
                    const Match &match, Inst &inst) {
  return decoder.countOperands(instruction, 1, 2) &&
         appendAddress(decoder, mapOf(instruction.operands[0]), inst) &&
         appendCoordinates(decoder, instruction.operands[0], match, inst);
}

/// [from], size and perhaps a cache policy.
bool finishPrefetchPlain(Decoder &decoder, const ptx::Instruction &instruction,
                         const Match &match, Inst &inst) {
  return finishTail(decoder, instruction, match, 2, inst) &&
         appendAddress(decoder, instruction.operands[0], inst) &&
         decoder.source(instruction.operands[1], 4, inst.slots[0]);
}

bool finishWait(Decoder &decoder, const ptx::Instruction &instruction,
                const Match &match, Inst &inst) {
  inst.aux = match.has(".read");
  return inst.imm >= 0 || decoder.fail(instruction.at, "expected at least 0");
}

} // namespace

static void addPlainRows(Rows &rows) {
  const std::string hint = "[.L2::cache_hint]";
  const std::string signal = ".mbarrier::complete_tx::bytes";
  const std::string op = "{.add|.min|.max|.inc|.dec|.and|.or|.xor}";
  auto row = [&](const std::string &pattern, Handler handler, Finish how) {
    rows.push_back({keep(pattern), "*", handler, how});
  };
  row("cp.async.bulk{.shared::cluster|.shared::cta}.global" + signal +
          "[.multicast::cluster]" + hint,
      copyToShared<true>, finishPlain<true>);
  row("cp.async.bulk.shared::cluster.shared::cta" + signal, copyToShared<false>,
      finishPlain<true>);
  row("cp.async.bulk.global.shared::cta.bulk_group" + hint, copyToGlobal,
      finishPlain<false>);
  row("cp.reduce.async.bulk.shared::cluster.shared::cta" + signal + op +
          "{.u32|.s32|.u64|.b32}",
      copyToShared<false>, finishPlain<true>);
  row("cp.reduce.async.bulk.global.shared::cta.bulk_group" + hint + op +
          "[.noftz]{.u32|.s32|.u64|.s64|.b32|.b64|.f16|.bf16|.f32|.f64}",
      copyToGlobal, finishPlain<false>);
  row("cp.async.bulk.prefetch.L2.global" + hint, nothing, finishPrefetchPlain);
}

void attn::sim::addBulkRows(Rows &rows) {
  const char *load = "cp.async.bulk.tensor{.1d|.2d|.3d|.4d|.5d}"
                     "{.shared::cluster|.shared::cta}.global[.tile]"
                     ".mbarrier::complete_tx::bytes[.multicast::cluster]"
                     "[.L2::cache_hint]";
  const char *storing = "cp.async.bulk.tensor{.1d|.2d|.3d|.4d|.5d}.global"
                        ".shared::cta[.tile].bulk_group[.L2::cache_hint]";
  const char *reducing = "cp.reduce.async.bulk.tensor{.1d|.2d|.3d|.4d|.5d}"
                         ".global.shared::cta{.add|.min|.max|.inc|.dec|.and|"
                         ".or|.xor}[.tile].bulk_group[.L2::cache_hint]";
  rows.insert(
      rows.end(),
      {{load, "*", loadTensor, finishLoad},
       {storing, "*", storeTensor, finishStore},
       {reducing, "*", storeTensor, finishStore},
       {"cp.async.bulk.prefetch.tensor{.1d|.2d|.3d|.4d|.5d}.L2.global[.tile]"
        "[.L2::cache_hint]",
        "*", nothing, finishPrefetch},
       {"cp.async.bulk.commit_group", "", commit},
       {"cp.async.bulk.wait_group[.read]", "i", waitGroup, finishWait}});
  addPlainRows(rows);
}
