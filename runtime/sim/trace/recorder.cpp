// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace/recorder.h"

#include "core/cta.h"
#include "trace/event_maker.h"
#include "trace/loaded_tensors.h"
#include "trace/tensor_recorder.h"
#include "trace/unit_schedule.h"

#include <algorithm>
#include <tuple>

using namespace attn::sim;
using attn::trace::CtaTimeline;
using attn::trace::Event;
using attn::trace::Kind;
using attn::trace::Track;
using attn::trace::TrackKind;

namespace {

// The durations of asynchronous operations, in steps. They have the right order
// of magnitude relative to one step per instruction, and no more than that.
constexpr uint64_t kCopyBytesAStep = 64;
constexpr uint64_t kCopyLatency = 400;
constexpr uint64_t kMmaColumnsAStep = 2;

struct WarpState {
  /// Its time minus the number of its executed instructions.
  int64_t shift = 0;
  bool isWaiting = false;
  Wait wait;
  uint64_t waitBegin = 0;
  bool hasExited = false;
  uint64_t end = 0;
  /// For each commit, the operations issued before it.
  std::vector<uint64_t> mmaCommits;
  /// When each group of copies is complete, and the open one.
  std::vector<uint64_t> copyGroups;
  uint64_t openGroup = 0;
  std::vector<Event> events;
};

struct BarrierState {
  /// The latest arrival in this phase, and the end of the one before.
  uint64_t latest = 0;
  uint64_t done = 0;
  uint64_t phases = 0;
};

struct MmaState {
  uint64_t issued = 0;
  uint64_t started = 0;
  uint64_t end = 0;
  /// The warps that have issued it, a bit each.
  uint32_t warps = 0;
  std::string shape;
  /// The tensor that the B operand was loaded from.
  std::string operand;
};

class CtaRecorder final : public Observer {
public:
  CtaRecorder(Recorder &recorder, const Cta &cta, uint64_t place)
      : recorder(recorder), cta(cta), place(place),
        warps((cta.threads + kLanes - 1) / kLanes),
        mmas((cta.threads + 127) / 128), tensor(maker) {}
  ~CtaRecorder() override;

  void onWait(const Warp &warp, const Wait &wait) override;
  void onPass(const Warp &warp, const Wait &wait) override;
  void onArrive(const Warp *warp, Wait::Kind kind, uint32_t object,
                bool completes) override;
  void onIssue(const Warp &warp, const AsyncCopy &copy) override;
  void onComplete(const AsyncCopy &copy) override;
  void onIssue(const Warp &warp, const WgmmaOp &op, uint64_t index) override;
  void onIssue(const Warp &warp, TensorOp &op) override;
  void onComplete(const TensorOp &op) override { arrivalTime = op.end; }
  void onIssue(const Warp &warp, const TensorMove &move) override;
  void onAllocate(const TmemAllocation &columns) override;
  void onRelease(const TmemAllocation &columns) override;
  void onCommit(const Warp &warp, Wait::Kind kind) override;
  void onExit(const Warp &warp) override;

private:
  WarpState &stateOf(const Warp &warp) { return warps[warp.index]; }
  uint64_t timeOf(const Warp &warp) {
    return uint64_t(int64_t(warp.steps) + stateOf(warp).shift);
  }
  uint64_t readyTime(const Warp &warp, const Wait &wait);
  Track makeWarpTrack(uint32_t warp);
  Track makeMmaTrack();

  Recorder &recorder;
  const Cta &cta;
  uint64_t place;
  std::vector<WarpState> warps;
  /// By warpgroup.
  std::vector<std::vector<MmaState>> mmas;
  std::map<std::pair<Wait::Kind, uint32_t>, BarrierState> barriers;
  std::map<const AsyncCopy *, uint64_t> copyEnds;
  LoadedTensors loaded;
  UnitSchedule copyUnit;
  UnitSchedule tensorCore;
  /// The time at which the arriving copy is complete.
  uint64_t arrivalTime = 0;
  EventMaker maker;
  TensorRecorder tensor;
  std::vector<Event> copies;
  std::vector<Event> phases;
};

} // namespace

static std::string nameWarp(const Recorder &recorder, uint32_t warp) {
  for (const TraceRole &role : recorder.getRoles()) {
    if (warp >= role.firstWarp && warp - role.firstWarp < role.warps) {
      return role.name;
    }
  }
  return "warp " + std::to_string(warp);
}

/// "mbarrier smem+0x30": relative to dynamic shared memory where it is there.
static std::string nameBarrier(const Cta &cta, uint32_t address) {
  address &= kSharedOffsetMask;
  bool isDynamic = address >= cta.program.dynamicShared;
  char text[48];
  std::snprintf(text, sizeof(text), "mbarrier %s0x%x", isDynamic ? "smem+" : "",
                isDynamic ? address - cta.program.dynamicShared : address);
  return text;
}

static Event makeWait(EventMaker &maker, const Cta &cta, const Wait &wait,
                      uint64_t begin, uint64_t end) {
  std::string most = "at most " + std::to_string(wait.value) + " groups";
  switch (wait.kind) {
  case Wait::Kind::Mbarrier:
    return maker.make(Kind::WaitMbarrier,
                      nameBarrier(cta, wait.object) + " parity " +
                          std::to_string(wait.value),
                      begin, end);
  case Wait::Kind::NamedBarrier:
    return maker.make(Kind::WaitBarrier,
                      "barrier " + std::to_string(wait.object), begin, end);
  case Wait::Kind::Wgmma:
    return maker.make(Kind::WaitMma, "wgmma: " + most, begin, end);
  case Wait::Kind::BulkGroup:
    return maker.make(Kind::WaitCopy, "bulk copies: " + most, begin, end);
  case Wait::Kind::AsyncGroup:
    return maker.make(Kind::WaitCopy, "cp.async: " + most, begin, end);
  case Wait::Kind::ClusterBarrier:
    return maker.make(Kind::WaitBarrier, "cluster barrier", begin, end);
  case Wait::Kind::Registers:
    return maker.make(Kind::WaitOther, "registers", begin, end);
  case Wait::Kind::TensorMemory:
    return maker.make(Kind::WaitOther, "tensor memory", begin, end);
  default:
    return maker.make(Kind::WaitOther, "other lanes", begin, end);
  }
}

void CtaRecorder::onWait(const Warp &warp, const Wait &wait) {
  WarpState &state = stateOf(warp);
  bool isSame = state.isWaiting && state.wait.kind == wait.kind &&
                state.wait.object == wait.object;
  // The lanes of a warp that meet again are of no interest.
  if (isSame || wait.kind == Wait::Kind::Convergence) {
    return;
  }
  state.isWaiting = true;
  state.wait = wait;
  state.waitBegin = timeOf(warp);
}

/// Returns the earliest time at which a finished wait can have ended.
uint64_t CtaRecorder::readyTime(const Warp &warp, const Wait &wait) {
  const WarpState &state = stateOf(warp);
  uint64_t ready = 0;
  if (wait.kind == Wait::Kind::Wgmma) {
    if (state.mmaCommits.size() > wait.value) {
      uint64_t count =
          state.mmaCommits[state.mmaCommits.size() - wait.value - 1];
      ready = count ? mmas[warp.index / 4][count - 1].end : 0;
    }
  } else if (wait.kind == Wait::Kind::BulkGroup) {
    for (size_t i = 0; i + wait.value < state.copyGroups.size(); ++i) {
      ready = std::max(ready, state.copyGroups[i]);
    }
  } else {
    ready = barriers[{wait.kind, wait.object}].done;
  }
  return ready;
}

void CtaRecorder::onPass(const Warp &warp, const Wait &wait) {
  WarpState &state = stateOf(warp);
  // The instructions in between polled the barrier without success.
  uint64_t begin = state.isWaiting ? state.waitBegin : timeOf(warp);
  uint64_t end = std::max(begin, readyTime(warp, wait));
  state.isWaiting = false;
  state.shift = int64_t(end) - int64_t(warp.steps);
  if (end > begin) {
    state.events.push_back(makeWait(maker, cta, wait, begin, end));
  }
}

void CtaRecorder::onArrive(const Warp *warp, Wait::Kind kind, uint32_t object,
                           bool completes) {
  BarrierState &barrier = barriers[{kind, object}];
  uint64_t time = warp ? timeOf(*warp) : arrivalTime;
  barrier.latest = std::max(barrier.latest, time);
  bool isMbarrier = kind == Wait::Kind::Mbarrier;
  if (warp && isMbarrier) {
    stateOf(*warp).events.push_back(
        maker.make(Kind::Signal, nameBarrier(cta, object), time, time));
  }
  if (!completes) {
    return;
  }
  if (isMbarrier) {
    phases.push_back(maker.make(Kind::Phase,
                                nameBarrier(cta, object) + " phase " +
                                    std::to_string(barrier.phases++),
                                barrier.done, barrier.latest));
  }
  barrier.done = barrier.latest;
  barrier.latest = 0;
}

void CtaRecorder::onIssue(const Warp &warp, const AsyncCopy &copy) {
  CopyFacts facts = copy.facts();
  uint64_t issued = timeOf(warp);
  if (facts.bytes == 0) {
    copyEnds[&copy] = issued;
    return;
  }
  uint64_t busy = std::max<uint64_t>(1, facts.bytes / kCopyBytesAStep);
  uint64_t started = copyUnit.reserve(issued, busy);
  uint64_t end = started + busy + kCopyLatency;
  std::string name = cta.global.nameAt(facts.global);
  if (facts.toShared) {
    loaded.add(facts.shared, facts.bytes, name);
  }
  Event event = maker.make(facts.toShared ? Kind::Load : Kind::Store,
                           name.empty() ? "copy" : name, issued, end);
  event.started = started;
  event.details.push_back({"bytes", std::to_string(facts.bytes)});
  event.details.push_back({"shared address", std::to_string(facts.shared)});
  event.details.push_back({"warp", std::to_string(warp.index)});
  copies.push_back(std::move(event));
  copyEnds[&copy] = end;
  uint64_t &open = stateOf(warp).openGroup;
  open = std::max(open, facts.toShared ? 0 : end);
}

void CtaRecorder::onComplete(const AsyncCopy &copy) {
  arrivalTime = copyEnds[&copy];
  copyEnds.erase(&copy);
}

void CtaRecorder::onIssue(const Warp &warp, const WgmmaOp &op, uint64_t index) {
  std::vector<MmaState> &queue = mmas[warp.index / 4];
  if (index >= queue.size()) {
    queue.resize(index + 1);
  }
  MmaState &mma = queue[index];
  mma.issued = std::max(mma.issued, timeOf(warp));
  mma.warps |= 1u << warp.index % 4;
  if (mma.warps != 0xf) {
    return;
  }
  uint64_t before = index ? queue[index - 1].end : 0;
  uint64_t length = std::max<uint64_t>(1, op.spec.n / kMmaColumnsAStep);
  mma.started = tensorCore.reserve(std::max(mma.issued, before), length);
  mma.end = mma.started + length;
  // The address in units of 16 bytes is the descriptor's low end.
  constexpr uint64_t addressMask = 0x3fff;
  mma.operand = loaded.nameAt((op.descriptors[1] & addressMask) * 16);
  mma.shape = "m64n" + std::to_string(op.spec.n) +
              (op.aInRegisters ? ", A in registers" : ", A in shared memory");
}

void CtaRecorder::onIssue(const Warp &warp, TensorOp &op) {
  uint32_t address = op.facts().shared;
  std::string with = op.isCommit ? nameBarrier(cta, address)
                                 : loaded.nameAt(cta.ownAddress(address));
  tensor.issue(op, nameWarp(recorder, warp.index), with, timeOf(warp));
}

void CtaRecorder::onIssue(const Warp &warp, const TensorMove &move) {
  tensor.issue(move, nameWarp(recorder, warp.index), timeOf(warp));
}

void CtaRecorder::onAllocate(const TmemAllocation &columns) {
  const Warp &warp = *cta.getWarps()[columns.warp];
  tensor.allocate(columns, timeOf(warp));
}

void CtaRecorder::onRelease(const TmemAllocation &columns) {
  const Warp &warp = *cta.getWarps()[columns.warp];
  tensor.release(columns, timeOf(warp));
}

void CtaRecorder::onCommit(const Warp &warp, Wait::Kind kind) {
  WarpState &state = stateOf(warp);
  if (kind == Wait::Kind::Wgmma) {
    const std::vector<MmaState> &queue = mmas[warp.index / 4];
    uint64_t count = queue.size();
    // Other warps may have issued more operations.
    while (count && !(queue[count - 1].warps >> warp.index % 4 & 1)) {
      --count;
    }
    state.mmaCommits.push_back(count);
  } else {
    state.copyGroups.push_back(state.openGroup);
    state.openGroup = 0;
  }
}

void CtaRecorder::onExit(const Warp &warp) {
  WarpState &state = stateOf(warp);
  state.hasExited = true;
  state.end = timeOf(warp);
  maker.lastTime = std::max(maker.lastTime, state.end);
}

/// Ends the waits of a kernel that did not finish.
/// Ends the waits that the launch has left open.
static void endOpenWaits(std::vector<WarpState> &warps, EventMaker &maker,
                         const Cta &cta) {
  for (WarpState &state : warps) {
    if (state.hasExited) {
      continue;
    }
    state.end = maker.lastTime + 1;
    if (state.isWaiting) {
      Event event =
          makeWait(maker, cta, state.wait, state.waitBegin, state.end);
      event.details.push_back({"ends", "never"});
      state.events.push_back(std::move(event));
    }
  }
}

static void sortByBegin(std::vector<Event> &events) {
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return std::tie(a.begin, a.order) < std::tie(b.begin, b.order);
  });
}

/// By its role if it has one.
Track CtaRecorder::makeWarpTrack(uint32_t warp) {
  Track track;
  track.name = nameWarp(recorder, warp);
  // Without roles: all warps if there are few, or one of each warpgroup.
  constexpr size_t few = 8;
  track.isMain =
      recorder.getRoles().empty() && (warps.size() <= few || warp % 4 == 0);
  for (const TraceRole &role : recorder.getRoles()) {
    if (warp >= role.firstWarp && warp - role.firstWarp < role.warps) {
      track.isMain = warp == role.firstWarp;
      track.name += role.warps > 1 ? ", warp " + std::to_string(warp) : "";
    }
  }
  WarpState &state = warps[warp];
  track.events.push_back(maker.make(Kind::Run, track.name, 0, state.end));
  sortByBegin(state.events);
  std::move(state.events.begin(), state.events.end(),
            std::back_inserter(track.events));
  return track;
}

/// An event for each group that a warpgroup's first warp committed.
Track CtaRecorder::makeMmaTrack() {
  Track track;
  track.kind = TrackKind::TensorCore;
  track.name = "tensor core";
  for (size_t group = 0; group < mmas.size(); ++group) {
    uint64_t first = 0;
    for (uint64_t end : warps[4 * group].mmaCommits) {
      // The other warps may not have reached the last ones.
      while (end > first && mmas[group][end - 1].warps != 0xf) {
        --end;
      }
      if (end <= first) {
        continue;
      }
      const MmaState &begin = mmas[group][first];
      Event event =
          maker.make(Kind::Mma, nameWarp(recorder, uint32_t(4 * group)),
                     begin.issued, mmas[group][end - 1].end);
      event.started = begin.started;
      event.details.push_back({"instructions", std::to_string(end - first)});
      event.details.push_back({"shape", begin.shape});
      if (!begin.operand.empty()) {
        event.details.push_back({"with", begin.operand});
      }
      track.events.push_back(std::move(event));
      first = end;
    }
  }
  sortByBegin(track.events);
  return track;
}

CtaRecorder::~CtaRecorder() {
  endOpenWaits(warps, maker, cta);
  CtaTimeline timeline;
  timeline.name = std::string(cta.program.function->name) + ", CTA (" +
                  std::to_string(cta.position[0]) + "," +
                  std::to_string(cta.position[1]) + "," +
                  std::to_string(cta.position[2]) + ")";
  for (uint32_t warp = 0; warp < warps.size(); ++warp) {
    timeline.tracks.push_back(makeWarpTrack(warp));
  }
  sortByBegin(copies);
  sortByBegin(phases);
  Track copyTrack;
  copyTrack.kind = TrackKind::CopyUnit;
  copyTrack.name = "copies";
  copyTrack.events = std::move(copies);
  Track phaseTrack;
  phaseTrack.kind = TrackKind::Barriers;
  phaseTrack.name = "mbarriers";
  phaseTrack.events = std::move(phases);
  Track mmaTrack = makeMmaTrack();
  Track queueTrack = tensor.takeQueue();
  Track columnTrack = tensor.takeColumns();
  sortByBegin(queueTrack.events);
  sortByBegin(columnTrack.events);
  for (Track *track :
       {&copyTrack, &mmaTrack, &queueTrack, &columnTrack, &phaseTrack}) {
    if (!track->events.empty()) {
      timeline.tracks.push_back(std::move(*track));
    }
  }
  recorder.add(place, std::move(timeline));
}

std::unique_ptr<Observer> Recorder::watch(const Cta &cta) {
  const unsigned *grid = cta.launch.grid;
  uint64_t number = cta.position[0] +
                    uint64_t(grid[0]) *
                        (cta.position[1] + uint64_t(grid[1]) * cta.position[2]);
  if (number >= most) {
    return nullptr;
  }
  std::lock_guard<std::mutex> lock(mutex);
  std::string kernel(cta.program.function->name);
  auto found = std::find(kernels.begin(), kernels.end(), kernel);
  size_t index = size_t(found - kernels.begin());
  if (found == kernels.end()) {
    kernels.push_back(std::move(kernel));
  }
  return std::make_unique<CtaRecorder>(*this, cta, index * most + number);
}

void Recorder::add(uint64_t place, attn::trace::CtaTimeline timeline) {
  std::lock_guard<std::mutex> lock(mutex);
  done.push_back({place, std::move(timeline)});
}

attn::trace::Timeline Recorder::take() {
  // CTAs finish in any order.
  std::sort(done.begin(), done.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  trace::Timeline timeline;
  timeline.unit = "steps";
  timeline.source =
      "Simulated steps, not a measurement: one instruction of each warp a "
      "step, nominal times of copies and mma.";
  for (auto &each : done) {
    timeline.ctas.push_back(std::move(each.second));
  }
  done.clear();
  return timeline;
}
