// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async.bulk and cp.async.bulk.tensor, and their groups.

#include "core/cta.h"
#include "ops/lanes.h"
#include "units/tma.h"

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
              ReduceType type) override {
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    uint8_t *to = cta.global.find(address, bytes);
    if (to) {
      applyReduceRange(op, type, to, static_cast<const uint8_t *>(from), bytes,
                       true);
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
  return text;
}

std::string explain(const TmaResult &result) {
  return result.status == TmaStatus::Ok ? ""
         : result.status == TmaStatus::GlobalFault
             ? outOfBounds("global memory", result.address, result.bytes)
             : describe(result.status);
}

/// Delivers a load's bytes to its mbarrier.
std::string signal(Cta &cta, uint32_t address, uint32_t bytes) {
  std::string problem;
  Mbarrier *barrier = cta.findMbarrier(address, problem);
  if (!barrier) {
    return problem;
  }
  MbarrierEvent event = mbarrierCompleteTx(*barrier, bytes);
  if (event.status != MbarrierStatus::Ok) {
    return std::string("mbarrier: ") + describe(event.status);
  }
  cta.storeMbarrier(address, *barrier);
  return "";
}

struct TensorCopy : AsyncCopy {
  TensorMap map;
  int32_t coordinates[kMaxTensorRank] = {0, 0, 0, 0, 0};
  uint32_t shared = 0;
};

struct TensorLoad final : TensorCopy {
  uint32_t barrier = 0;

  std::string complete(Cta &cta) override {
    std::vector<uint8_t> image(boxBytes(map));
    Port port(cta);
    TmaResult result = gatherBox(map, coordinates, shared, port, image.data());
    if (result.status != TmaStatus::Ok) {
      return explain(result);
    }
    std::memcpy(cta.shared(shared, uint32_t(image.size())), image.data(),
                image.size());
    return signal(cta, barrier, uint32_t(image.size()));
  }
};

struct TensorStore final : TensorCopy {
  uint64_t group = 0;
  bool reduces = false;
  ReduceOp op = ReduceOp::Add;

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

struct PlainCopy final : AsyncCopy {
  bool toShared = false;
  uint32_t shared = 0;
  uint64_t global = 0;
  uint32_t bytes = 0;
  uint32_t barrier = 0;
  uint64_t group = 0;

  std::string complete(Cta &cta) override {
    uint8_t *outside = cta.global.find(global, bytes);
    if (!outside) {
      return outOfBounds("global memory", global, bytes);
    }
    uint8_t *inside = cta.shared(shared, bytes);
    std::memcpy(toShared ? inside : outside, toShared ? outside : inside,
                bytes);
    if (toShared) {
      return signal(cta, barrier, bytes);
    }
    cta.finishBulk(warp, lane, group);
    return "";
  }
};

/// Addresses are three words of the instruction's list: slot, offset, whether
/// the slot is wide.
bool appendAddress(Decoder &decoder, const ptx::Operand &operand, Inst &inst) {
  Inst scratch;
  uint32_t slot = 0;
  if (!decoder.address(operand, scratch, slot)) {
    return false;
  }
  decoder.append(inst, slot);
  decoder.append(inst, uint32_t(scratch.imm));
  decoder.append(inst, scratch.wideAddress);
  return true;
}

uint64_t readAddress(Warp &warp, const Inst &inst, unsigned index,
                     unsigned lane) {
  const uint32_t *words = &warp.cta.program.lists[inst.list + 3 * index];
  uint64_t base =
      words[2] ? warp.wide(words[0])[lane] : warp.word(words[0])[lane];
  return base + uint64_t(int64_t(int32_t(words[1])));
}

/// The number that the open group of a thread will have.
uint64_t joinGroup(Warp &warp, unsigned lane) {
  BulkGroups &groups = warp.cta.bulkGroups(warp, lane);
  ++groups.open;
  return groups.oldest + groups.pending.size();
}

void place(AsyncCopy &copy, const Warp &warp, unsigned lane) {
  copy.pc = warp.now.pc;
  copy.warp = warp.index;
  copy.lane = lane;
}

/// Reads map and coordinates. Returns "" or what is wrong. The list has the
/// addresses of the map, of shared memory and perhaps of the mbarrier, then the
/// coordinates.
std::string readTensorCopy(Warp &warp, const Inst &inst, unsigned lane,
                           unsigned addresses, TensorCopy &copy) {
  Cta &cta = warp.cta;
  std::string problem;
  uint64_t address = readAddress(warp, inst, 0, lane);
  const uint8_t *bytes = cta.resolve(Space::Generic, address, kTensorMapBytes,
                                     false, warp, lane, problem);
  if (!bytes) {
    return "tensor map: " + problem;
  }
  if (address % 64 != 0 && (address & kWindowMask) != kParamWindow) {
    return "the tensor map's address is not a multiple of 64";
  }
  problem = decodeTensorMap(bytes, copy.map);
  if (!problem.empty()) {
    return "tensor map: " + problem;
  }
  uint32_t rank = inst.listSize - 3 * addresses;
  if (copy.map.rank != rank) {
    return "a tensor map of rank " + std::to_string(copy.map.rank) + " for " +
           std::to_string(rank) + " coordinates";
  }
  const uint32_t *slots = &cta.program.lists[inst.list + 3 * addresses];
  for (uint32_t i = 0; i < rank; ++i) {
    copy.coordinates[i] = int32_t(warp.word(slots[i])[lane]);
  }
  copy.shared = uint32_t(readAddress(warp, inst, 1, lane));
  TmaStatus status = checkTma(copy.map, copy.shared);
  if (status != TmaStatus::Ok) {
    return describe(status);
  }
  auto size = uint32_t(boxBytes(copy.map));
  return cta.shared(copy.shared, size)
             ? ""
             : outOfBounds("shared memory", copy.shared, size);
}

Step loadTensor(Warp &warp, const Inst &inst) {
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    auto copy = std::make_unique<TensorLoad>();
    place(*copy, warp, lane);
    std::string problem = readTensorCopy(warp, inst, lane, 3, *copy);
    if (!problem.empty()) {
      return warp.fault(problem, lane);
    }
    copy->barrier = uint32_t(readAddress(warp, inst, 2, lane));
    Mbarrier *barrier = warp.cta.findMbarrier(copy->barrier, problem);
    if (!barrier || !barrier->live) {
      return warp.fault(barrier ? "the mbarrier is not initialized" : problem,
                        lane);
    }
    auto size = uint32_t(boxBytes(copy->map));
    std::memset(warp.cta.shared(copy->shared, size), kSharedPoison, size);
    warp.cta.start(std::move(copy));
  }
  return Step::Next;
}

/// Inst::aux: 0 stores, else reduces by operation aux - 1.
Step storeTensor(Warp &warp, const Inst &inst) {
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    auto copy = std::make_unique<TensorStore>();
    place(*copy, warp, lane);
    std::string problem = readTensorCopy(warp, inst, lane, 2, *copy);
    if (!problem.empty()) {
      return warp.fault(problem, lane);
    }
    copy->reduces = inst.aux != 0;
    copy->op = ReduceOp(inst.aux ? inst.aux - 1 : 0);
    copy->group = joinGroup(warp, lane);
    warp.cta.start(std::move(copy));
  }
  return Step::Next;
}

template <bool toShared> Step copyPlain(Warp &warp, const Inst &inst) {
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    auto copy = std::make_unique<PlainCopy>();
    place(*copy, warp, lane);
    copy->toShared = toShared;
    uint64_t to = readAddress(warp, inst, 0, lane);
    uint64_t from = readAddress(warp, inst, 1, lane);
    copy->shared = uint32_t(toShared ? to : from);
    copy->global = toShared ? from : to;
    copy->bytes = warp.word(inst.slots[0])[lane];
    if (const char *problem = checkBulkCopy(to, from, copy->bytes)) {
      return warp.fault(problem, lane);
    }
    uint8_t *inside = warp.cta.shared(copy->shared, copy->bytes);
    if (!inside) {
      return warp.fault(outOfBounds("shared memory", copy->shared, copy->bytes),
                        lane);
    }
    if (toShared) {
      copy->barrier = uint32_t(readAddress(warp, inst, 2, lane));
      std::memset(inside, kSharedPoison, copy->bytes);
    } else {
      copy->group = joinGroup(warp, lane);
    }
    warp.cta.start(std::move(copy));
  }
  return Step::Next;
}

Step commit(Warp &warp, const Inst &) {
  forLanes(warp.exec, [&](unsigned lane) {
    BulkGroups &groups = warp.cta.bulkGroups(warp, lane);
    groups.pending.push_back(groups.open);
    groups.open = 0;
    while (!groups.pending.empty() && groups.pending.front() == 0) {
      groups.pending.pop_front();
      ++groups.oldest;
    }
  });
  return Step::Next;
}

Step waitGroup(Warp &warp, const Inst &inst) {
  bool done = true;
  forLanes(warp.exec, [&](unsigned lane) {
    const BulkGroups &groups = warp.cta.bulkGroups(warp, lane);
    size_t count = groups.pending.size();
    for (size_t i = 0; i + size_t(inst.imm) < count; ++i) {
      done &= groups.pending[i] == 0;
    }
  });
  return done ? Step::Next
              : warp.block(Wait::Kind::BulkGroup, 0, uint32_t(inst.imm));
}

Step nothing(Warp &, const Inst &) { return Step::Next; }

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

/// [shared], [map, {coordinates}], [mbarrier] and perhaps a cache policy.
bool finishLoad(Decoder &decoder, const ptx::Instruction &instruction,
                const Match &match, Inst &inst) {
  size_t count = match.has(".L2::cache_hint") ? 4 : 3;
  const auto &operands = instruction.operands;
  uint32_t policy = 0;
  return decoder.countOperands(instruction, count, count) &&
         appendAddress(decoder, operands[1], inst) &&
         appendAddress(decoder, operands[0], inst) &&
         appendAddress(decoder, operands[2], inst) &&
         appendCoordinates(decoder, operands[1], match, inst) &&
         (count == 3 || decoder.source(operands[3], 8, policy));
}

/// [map, {coordinates}], [shared] and perhaps a cache policy.
bool finishStore(Decoder &decoder, const ptx::Instruction &instruction,
                 const Match &match, Inst &inst) {
  static const struct {
    const char *name;
    ReduceOp op;
  } ops[] = {{".add", ReduceOp::Add}, {".min", ReduceOp::Min},
             {".max", ReduceOp::Max}, {".inc", ReduceOp::Inc},
             {".dec", ReduceOp::Dec}, {".and", ReduceOp::And},
             {".or", ReduceOp::Or},   {".xor", ReduceOp::Xor}};
  for (const auto &each : ops) {
    inst.aux = match.has(each.name) ? uint64_t(each.op) + 1 : inst.aux;
  }
  size_t count = match.has(".L2::cache_hint") ? 3 : 2;
  const auto &operands = instruction.operands;
  uint32_t policy = 0;
  return decoder.countOperands(instruction, count, count) &&
         appendAddress(decoder, operands[0], inst) &&
         appendAddress(decoder, operands[1], inst) &&
         appendCoordinates(decoder, operands[0], match, inst) &&
         (count == 2 || decoder.source(operands[2], 8, policy));
}

/// [to], [from], size and, toward shared memory, [mbarrier].
template <bool toShared>
bool finishPlain(Decoder &decoder, const ptx::Instruction &instruction,
                 const Match &match, Inst &inst) {
  size_t count = toShared ? 4 : 3;
  bool hint = match.has(".L2::cache_hint");
  const auto &operands = instruction.operands;
  uint32_t policy = 0;
  return decoder.countOperands(instruction, count + hint, count + hint) &&
         appendAddress(decoder, operands[0], inst) &&
         appendAddress(decoder, operands[1], inst) &&
         decoder.source(operands[2], 4, inst.slots[0]) &&
         (!toShared || appendAddress(decoder, operands[3], inst)) &&
         (!hint || decoder.source(operands[count], 8, policy));
}

bool finishPrefetch(Decoder &decoder, const ptx::Instruction &instruction,
                    const Match &match, Inst &inst) {
  return decoder.countOperands(instruction, 1, 2) &&
         appendAddress(decoder, instruction.operands[0], inst) &&
         appendCoordinates(decoder, instruction.operands[0], match, inst);
}

bool finishWait(Decoder &decoder, const ptx::Instruction &instruction,
                const Match &, Inst &inst) {
  return inst.imm >= 0 || decoder.fail(instruction.at, "expected at least 0");
}

} // namespace

void attn::sim::addBulkRows(Rows &rows) {
  const char *load = "cp.async.bulk.tensor{.1d|.2d|.3d|.4d|.5d}"
                     "{.shared::cluster|.shared::cta}.global[.tile]"
                     ".mbarrier::complete_tx::bytes[.L2::cache_hint]";
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
       {"cp.async.bulk{.shared::cluster|.shared::cta}.global"
        ".mbarrier::complete_tx::bytes[.L2::cache_hint]",
        "*", copyPlain<true>, finishPlain<true>},
       {"cp.async.bulk.global.shared::cta.bulk_group[.L2::cache_hint]", "*",
        copyPlain<false>, finishPlain<false>},
       {"cp.async.bulk.commit_group", "", commit},
       {"cp.async.bulk.wait_group[.read]", "i", waitGroup, finishWait}});
}
