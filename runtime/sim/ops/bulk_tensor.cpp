// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.

#include "hazards/tracker.h"
#include "ops/bulk_copy.h"
#include "ops/rows.h"
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

std::string explain(const TmaResult &result) {
  return result.status == TmaStatus::Ok ? ""
         : result.status == TmaStatus::GlobalFault
             ? outOfBounds("global memory", result.address, result.bytes)
             : describe(result.status);
}

/// A bit of Inst::aux, above the reduction's.
constexpr uint64_t kFourRows = 256;

struct TensorCopy : AsyncCopy {
  TensorMap map;
  BoxMode mode = BoxMode::Tile;
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
    TmaResult result =
        gatherBox(map, coordinates, shared, port, image.data(), mode);
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
                : scatterBox(map, coordinates, shared, image, port, mode);
    cta.inFlight.finishBulk(warp, lane, group);
    return explain(result);
  }
};

/// Reads map and coordinates. Returns "" or the error. The list has the
/// addresses of the map, of shared memory and, for loads, of the mbarrier, then
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
    warp.cta.hazards->tensorMaps.useTensorMap(warp, lane, address);
  }
  problem = decodeTensorMap(bytes, copy.map);
  if (!problem.empty()) {
    return "tensor map: " + problem + ruleSuffix(Rule::TensorMapInvalid);
  }
  if (inst.aux & kFourRows) {
    copy.mode = BoxMode::FourRows;
    problem = takeFourRows(copy.map);
  }
  uint32_t count = inst.listSize - 3 * addresses;
  if (problem.empty() && countCoordinates(copy.map, copy.mode) != count) {
    problem = "a tensor map of rank " + std::to_string(copy.map.rank) +
              " for " + std::to_string(count) + " coordinates";
  }
  if (!problem.empty()) {
    return problem + ruleSuffix(Rule::TensorMapInvalid);
  }
  const uint32_t *slots = &cta.program.lists[inst.list + 3 * addresses];
  for (uint32_t i = 0; i < count; ++i) {
    copy.coordinates[i] = int32_t(warp.word(slots[i])[lane]);
  }
  copy.shared = uint32_t(readAddress(warp, inst, 1, lane));
  problem = checkCoordinates(copy.map, copy.coordinates, stores, copy.mode);
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
  action.mode = copy.mode;
  return action;
}

Step loadTensor(Warp &warp, const Inst &inst) {
  return startCopies<TensorLoad>(warp, [&](unsigned lane, TensorLoad &copy) {
    std::string problem =
        readTensorCopy(warp, inst, lane, /*stores=*/false, copy);
    if (!problem.empty()) {
      return problem;
    }
    copy.targets.address = copy.shared;
    copy.targets.barrier = uint32_t(readAddress(warp, inst, 2, lane));
    return copy.targets.read(warp, inst, lane, describe(copy));
  });
}

/// The low byte of Inst::aux: 0 stores, else reduces by operation aux - 1.
Step storeTensor(Warp &warp, const Inst &inst) {
  if (warp.cta.hazards) {
    warp.cta.hazards->bulk.beginStores();
  }
  return startCopies<TensorStore>(warp, [&](unsigned lane, TensorStore &copy) {
    std::string problem =
        readTensorCopy(warp, inst, lane, /*stores=*/true, copy);
    if (!problem.empty()) {
      return problem;
    }
    auto size = uint32_t(boxBytes(copy.map));
    if (!warp.cta.shared(copy.shared, size)) {
      return outOfBounds("shared memory", copy.shared, size);
    }
    uint8_t reduction = uint8_t(inst.aux);
    copy.reduces = reduction != 0;
    copy.op = ReduceOp(reduction ? reduction - 1 : 0);
    copy.group = joinGroup(warp, lane);
    if (warp.cta.hazards) {
      BulkAction action = describe(copy);
      action.group = copy.group;
      action.reduces = copy.reduces;
      ReduceType type = ReduceType::U32;
      action.adds = copy.reduces && reduceTypeOf(copy.map.type, type) &&
                    isFloatSum(copy.op, type);
      warp.cta.hazards->bulk.issueStore(warp, lane, action);
    }
    return problem;
  });
}

/// The address in [map, {coordinates}].
ptx::Operand mapOf(ptx::Operand operand) {
  operand.elements.resize(std::min<size_t>(operand.elements.size(), 1));
  return operand;
}

bool appendCoordinates(OperandDecoder &decoder, const ptx::Operand &operand,
                       const Match &match, Inst &inst) {
  size_t count = 0;
  for (std::string_view each : match.chosen) {
    count = each.size() == 3 && each[2] == 'd' ? size_t(each[1] - '0') : count;
  }
  if (match.has(".tile::gather4") || match.has(".tile::scatter4")) {
    inst.aux |= kFourRows;
    count = 5;
  }
  if (operand.elements.size() != 2 ||
      operand.elements[1].kind != ptx::Operand::Kind::Vector ||
      operand.elements[1].elements.size() != count) {
    return decoder.fail(operand.at, "expected [map, {" + std::to_string(count) +
                                        " coordinates}]");
  }
  return decoder.decodeSources(operand.elements[1], 4, inst);
}

/// [shared], [map, {coordinates}], [mbarrier].
bool finishLoad(OperandDecoder &decoder, const ptx::Instruction &instruction,
                const Match &match, Inst &inst) {
  const auto &operands = instruction.operands;
  inst.aux |= match.has(".cta_group::2") ? kPair : 0;
  return finishTail(decoder, instruction, match, 3, inst) &&
         appendAddress(decoder, mapOf(operands[1]), inst) &&
         appendAddress(decoder, operands[0], inst) &&
         appendAddress(decoder, operands[2], inst) &&
         appendCoordinates(decoder, operands[1], match, inst);
}

/// [map, {coordinates}], [shared] and perhaps a cache policy.
bool finishStore(OperandDecoder &decoder, const ptx::Instruction &instruction,
                 const Match &match, Inst &inst) {
  ReduceOp op;
  inst.aux = parseReduce(match, op) ? uint64_t(op) + 1 : 0;
  const auto &operands = instruction.operands;
  return finishTail(decoder, instruction, match, 2, inst) &&
         appendAddress(decoder, mapOf(operands[0]), inst) &&
         appendAddress(decoder, operands[1], inst) &&
         appendCoordinates(decoder, operands[0], match, inst);
}

bool finishPrefetch(OperandDecoder &decoder,
                    const ptx::Instruction &instruction, const Match &match,
                    Inst &inst) {
  return decoder.countOperands(instruction, 1, 2) &&
         appendAddress(decoder, mapOf(instruction.operands[0]), inst) &&
         appendCoordinates(decoder, instruction.operands[0], match, inst);
}

} // namespace

/// The forms of sm_100: an mbarrier in the pair, and rows with coordinates of
/// their own.
static void addBlackwellRows(Rows &rows) {
  const std::string signal = ".mbarrier::complete_tx::bytes";
  const std::string multicast = "[.multicast::cluster]";
  const std::string group = "{.cta_group::1|.cta_group::2}";
  const std::string optionalGroup = "[.cta_group::1|.cta_group::2]";
  const std::string hint = "[.L2::cache_hint]";
  const std::string copy = "cp.async.bulk.tensor";
  const std::string gather = ".global.tile::gather4";
  auto row = [&](const std::string &pattern, Handler handler, Finish how,
                 TargetSet targets) {
    rows.push_back({keep(pattern), "*", handler, how, 0, targets});
  };
  const std::string tile = "{.1d|.2d|.3d|.4d|.5d}"
                           "{.shared::cluster|.shared::cta}.global[.tile]";
  // LLVM prints the hint first.
  for (const std::string &tail : {group + hint, ".L2::cache_hint" + group}) {
    row(copy + tile + signal + multicast + tail, loadTensor, finishLoad,
        kFamily100);
  }
  row(copy + ".2d.shared::cta" + gather + signal + hint, loadTensor, finishLoad,
      kBlackwell);
  for (const std::string &tail :
       {optionalGroup + hint, ".L2::cache_hint" + group}) {
    row(copy + ".2d{.shared::cluster|.shared::cta}" + gather + signal +
            multicast + tail,
        loadTensor, finishLoad, kFamily100);
  }
  row(copy + ".2d.global.shared::cta.tile::scatter4.bulk_group" + hint,
      storeTensor, finishStore, kFamily100);
  row("cp.async.bulk.prefetch.tensor.2d.L2" + gather + hint, doNothing,
      finishPrefetch, kFamily100);
}

void attn::sim::addBulkTensorRows(Rows &rows) {
  addBlackwellRows(rows);
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
        "*", doNothing, finishPrefetch}});
}
