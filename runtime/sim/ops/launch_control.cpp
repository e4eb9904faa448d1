// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clusterlaunchcontrol: a cluster cancels the launch of one that has not
// started, and does its work. The ISA leaves the response's bits open.

#include "hazards/tracker.h"
#include "ops/bulk_copy.h"
#include "ops/rows.h"

#include <array>

using namespace attn::sim;

namespace {

/// A bit of Inst::aux, beside kMulticast.
constexpr uint64_t kGeneric = 2;

constexpr uint32_t kResponseBytes = 16;
/// The highest words of responses. Other data hardly has these values by
/// accident.
constexpr uint32_t kCanceled = 0xc1c0'0001;
constexpr uint32_t kFailed = 0xc1c0'0000;

/// A coordinate of a response that failed.
constexpr uint32_t kNowhere = ~0u;

using Response = std::array<uint32_t, 4>;
static_assert(sizeof(Response) == kResponseBytes);

/// try_cancel between issue and response.
struct CancelRequest final : AsyncCopy {
  Targets targets;

  CopyFacts facts() const override {
    return {true, 0, targets.address, kResponseBytes};
  }

  std::string complete(Cta &cta) override {
    Response response = request(cta);
    return targets.deliver(*this, cta, kResponseBytes, [&](uint8_t *to) {
      std::memcpy(to, response.data(), kResponseBytes);
    });
  }

private:
  static Response request(Cta &cta) {
    std::optional<uint64_t> number = cta.cluster.cancelNext(cta);
    if (!number) {
      return {kNowhere, kNowhere, kNowhere, kFailed};
    }
    std::array<uint32_t, 3> first = findPosition(cta.launch, *number, 0);
    return {first[0], first[1], first[2], kCanceled};
  }
};

std::string checkRequest(const Cta &cta, uint64_t response, uint64_t barrier,
                         bool isGeneric) {
  for (uint64_t address : {response, barrier}) {
    if (isGeneric && (address & kWindowMask) != kSharedWindow) {
      return "the generic address is not of shared memory" +
             ruleSuffix(Rule::Bounds);
    }
    if (uint32_t(address) >> kSharedRankShift != cta.rank) {
      return "expected the response and the mbarrier in the thread's own CTA" +
             ruleSuffix(Rule::Bounds);
    }
  }
  if (response % kResponseBytes != 0) {
    return "the address of a response is not 16-byte aligned" +
           ruleSuffix(Rule::Align);
  }
  return cta.sawFailedCancel
             ? "the CTA has seen that a request failed: another is undefined" +
                   ruleSuffix(Rule::ClcAfterFailure)
             : "";
}

/// [response], [mbarrier].
Step tryCancel(Warp &warp, const Inst &inst) {
  return startCopies<CancelRequest>(
      warp, [&](unsigned lane, CancelRequest &request) {
        uint64_t response = readAddress(warp, inst, 0, lane);
        uint64_t barrier = readAddress(warp, inst, 1, lane);
        std::string problem =
            checkRequest(warp.cta, response, barrier, inst.aux & kGeneric);
        if (!problem.empty()) {
          return problem;
        }
        request.targets.address = uint32_t(response);
        request.targets.barrier = uint32_t(barrier);
        BulkAction action;
        action.source = BulkAction::Source::None;
        action.bytes = kResponseBytes;
        uint32_t all = (1u << warp.cta.cluster.size()) - 1;
        uint32_t mask = inst.aux & kMulticast ? all : 1u << warp.cta.rank;
        return request.targets.begin(warp, lane, mask, action);
      });
}

/// The response in a register; null after a fault.
const Response *readResponse(Warp &warp, const Inst &inst, unsigned lane,
                             Response &response) {
  std::memcpy(&response, &warp.at<Wide128>(inst.slots[0])[lane],
              kResponseBytes);
  if (response[3] == kCanceled || response[3] == kFailed) {
    return &response;
  }
  warp.fault(Rule::ClcResponse, "the operand is not a response", lane);
  return nullptr;
}

/// Slots: the response, p.
Step isCanceled(Warp &warp, const Inst &inst) {
  uint32_t lanes = 0;
  Response response;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    if (!readResponse(warp, inst, lane, response)) {
      return Step::Fault;
    }
    lanes |= uint32_t(response[3] == kCanceled) << lane;
    warp.cta.sawFailedCancel |= response[3] == kFailed;
  }
  warp.writePredicate(inst.slots[1], lanes);
  return Step::Next;
}

/// Slots: the response. The list has the destinations; Inst::aux is the first
/// one's dimension.
Step firstCta(Warp &warp, const Inst &inst) {
  const uint32_t *to = &warp.cta.program.lists[inst.list];
  Response responses[kLanes] = {};
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    if (!readResponse(warp, inst, lane, responses[lane])) {
      return Step::Fault;
    }
    if (responses[lane][3] == kFailed &&
        !warp.report(Rule::ClcFailed,
                     "the request failed: the response names no CTA", lane)) {
      return Step::Fault;
    }
  }
  for (uint32_t i = 0; i < inst.listSize; ++i) {
    uint32_t values[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      values[lane] = responses[lane][inst.aux + i];
    }
    store(warp, to[i], values);
  }
  return Step::Next;
}

bool finishTry(OperandDecoder &decoder, const ptx::Instruction &instruction,
               const Match &match, Inst &inst) {
  inst.aux = (match.has(".multicast::cluster::all") ? kMulticast : 0) |
             (match.has(".shared::cta") ? 0 : kGeneric);
  return decoder.countOperands(instruction, 2, 2) &&
         appendAddress(decoder, instruction.operands[0], inst) &&
         appendAddress(decoder, instruction.operands[1], inst);
}

bool finishCanceled(OperandDecoder &decoder,
                    const ptx::Instruction &instruction, const Match &,
                    Inst &inst) {
  const auto &operands = instruction.operands;
  return decoder.countOperands(instruction, 2, 2) &&
         decoder.decodeSource(operands[1], kResponseBytes, inst.slots[0]) &&
         decoder.decodeDestination(operands[0], 0, inst.slots[1]);
}

bool finishFirst(OperandDecoder &decoder, const ptx::Instruction &instruction,
                 const Match &match, Inst &inst) {
  const auto &operands = instruction.operands;
  bool isVector = match.has(".v4");
  inst.aux = match.has(".get_first_ctaid::y")   ? 1
             : match.has(".get_first_ctaid::z") ? 2
                                                : 0;
  return decoder.countOperands(instruction, 2, 2) &&
         decoder.decodeSource(operands[1], kResponseBytes, inst.slots[0]) &&
         decoder.decodeDestinations(operands[0], 4, inst) &&
         (inst.listSize == (isVector ? 4 : 1) ||
          decoder.fail(operands[0].at, isVector ? "expected four registers"
                                                : "expected one register"));
}

} // namespace

void attn::sim::addLaunchControlRows(Rows &rows) {
  const std::string request = "clusterlaunchcontrol.try_cancel.async"
                              "[.shared::cta].mbarrier::complete_tx::bytes";
  const std::string query = "clusterlaunchcontrol.query_cancel";
  auto row = [&](const std::string &pattern, Handler handler, Finish how,
                 TargetSet targets) {
    rows.push_back({keep(pattern), "*", handler, how, 0, targets});
  };
  row(request + ".b128", tryCancel, finishTry, kBlackwell);
  row(request + ".multicast::cluster::all.b128", tryCancel, finishTry,
      kFamily100);
  row(query + ".is_canceled.pred.b128", isCanceled, finishCanceled, kBlackwell);
  row(query + ".get_first_ctaid.v4.b32.b128", firstCta, finishFirst,
      kBlackwell);
  row(query + "{.get_first_ctaid::x|.get_first_ctaid::y|.get_first_ctaid::z}"
              ".b32.b128",
      firstCta, finishFirst, kBlackwell);
}
