// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Timelines: the units' schedules, the recorder's events of a kernel, and the
// format of the result.

#include "core_kernel.h"
#include "trace/recorder.h"
#include "trace/unit_schedule.h"

#include <nlohmann/json.hpp>

using namespace attn;
using namespace attn::sim;
using trace::Event;
using trace::Timeline;
using trace::Track;

namespace {

TEST(UnitSchedule, fillsGaps) {
  UnitSchedule unit;
  EXPECT_EQ(unit.reserve(100, 10), 100u);
  EXPECT_EQ(unit.reserve(95, 10), 110u);
  EXPECT_EQ(unit.reserve(85, 15), 85u);
  EXPECT_EQ(unit.reserve(0, 86), 120u);
  EXPECT_EQ(unit.reserve(0, 85), 0u);
  EXPECT_EQ(unit.reserve(3, 1), 206u);
}

/// Warp 0 copies 512 bytes to shared memory; warp 1 waits for them.
const char *kCopies = R"(
  .shared .align 8 .b64 full;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra READY;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
READY:
  bar.sync 0;
  @%p0 bra WAIT;
  mbarrier.arrive.expect_tx.shared::cta.b64 %rd2, [full], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [smem], [%rd0], 512, [full];
WAIT:
  setp.lt.u32 %p1, %r0, 32;
  @%p1 bra END;
AGAIN:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;
  @!%p2 bra AGAIN;
END:
  ret;)";

Timeline record(Kernel &kernel, std::vector<TraceRole> roles = {},
                uint64_t most = 16) {
  Recorder recorder(std::move(roles), most);
  kernel.observers = &recorder;
  kernel.run();
  return recorder.take();
}

Kernel copyKernel(uint64_t seed = 0) {
  Kernel kernel;
  kernel.body = kCopies;
  kernel.threads = 64;
  kernel.seed = seed;
  return kernel;
}

const Event *find(const Track &track, trace::Kind kind) {
  for (const Event &event : track.events) {
    if (event.kind == kind) {
      return &event;
    }
  }
  return nullptr;
}

TEST(Recorder, waitsEndWithTheCopy) {
  Kernel kernel = copyKernel();
  Timeline timeline = record(kernel);
  ASSERT_EQ(kernel.failure, "");
  ASSERT_EQ(timeline.ctas.size(), 1u);
  const std::vector<Track> &tracks = timeline.ctas[0].tracks;
  ASSERT_EQ(tracks.size(), 4u);
  EXPECT_EQ(tracks[2].name, "copies");
  EXPECT_EQ(tracks[3].name, "mbarriers");
  const Event *load = find(tracks[2], trace::Kind::Load);
  const Event *wait = find(tracks[1], trace::Kind::WaitMbarrier);
  const Event *phase = find(tracks[3], trace::Kind::Phase);
  ASSERT_TRUE(load && wait && phase);
  EXPECT_EQ(load->name, "out");
  EXPECT_EQ(load->end - load->begin, 512u / 64 + 400);
  EXPECT_LT(wait->begin, wait->end);
  EXPECT_EQ(wait->end, load->end);
  EXPECT_EQ(phase->end, load->end);
  EXPECT_EQ(find(tracks[0], trace::Kind::WaitMbarrier), nullptr);
  // Warp 1 reaches the named barrier first, because it sets nothing up.
  EXPECT_NE(find(tracks[1], trace::Kind::WaitBarrier), nullptr);
  EXPECT_EQ(find(tracks[0], trace::Kind::WaitBarrier), nullptr);
}

TEST(Recorder, timesDoNotDependOnTheSchedule) {
  for (uint64_t seed = 1; seed < 12; ++seed) {
    Kernel first = copyKernel(0);
    Kernel other = copyKernel(seed);
    Timeline a = record(first);
    Timeline b = record(other);
    const Event *loadA = find(a.ctas[0].tracks[2], trace::Kind::Load);
    const Event *loadB = find(b.ctas[0].tracks[2], trace::Kind::Load);
    EXPECT_EQ(loadA->begin, loadB->begin) << seed;
    EXPECT_EQ(loadA->end, loadB->end) << seed;
  }
}

TEST(Recorder, doesNotChangeTheSchedule) {
  for (uint64_t seed : {0, 1, 5}) {
    Kernel watched = copyKernel(seed);
    Kernel alone = copyKernel(seed);
    record(watched);
    alone.run();
    EXPECT_EQ(watched.failure, alone.failure);
    EXPECT_EQ(watched.instructions, alone.instructions) << seed;
  }
}

TEST(Recorder, namesRolesAndLimitsCtas) {
  Kernel kernel = copyKernel();
  kernel.grid = 5;
  Timeline timeline = record(kernel, {{"load", 0, 1}, {"math", 1, 1}}, 3);
  ASSERT_EQ(timeline.ctas.size(), 3u);
  EXPECT_EQ(timeline.ctas[2].name, "kernel, CTA (2,0,0)");
  EXPECT_EQ(timeline.ctas[0].tracks[0].name, "load");
  EXPECT_EQ(timeline.ctas[0].tracks[1].name, "math");
}

TEST(Recorder, showsADeadlock) {
  Kernel kernel = copyKernel();
  size_t at = kernel.body.find("full], 512;");
  kernel.body.replace(at, 11, "full], 528;");
  Timeline timeline = record(kernel);
  EXPECT_NE(kernel.failure.find("deadlock"), std::string::npos);
  const Event *wait =
      find(timeline.ctas.at(0).tracks[1], trace::Kind::WaitMbarrier);
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->details.back(),
            (std::pair<std::string, std::string>("ends", "never")));
}

/// A cp, two mma with what it copies as A, a shift, a commit and a load.
const char *kTensor = R"(
  mov.b32 %r1, smem;
  setp.eq.u32 %p0, %r0, 0;
  setp.lt.u32 %p1, %r0, 32;
  and.b32 %r4, %r0, 127;
  shl.b32 %r4, %r4, 5;
  add.s32 %r4, %r4, %r1;
  mov.b32 %r5, 0x3f803f80;
  st.shared.v4.b32 [%r4+1024], {%r5, %r5, %r5, %r5};
  st.shared.v4.b32 [%r4+1040], {%r5, %r5, %r5, %r5};
  setp.lt.u32 %p2, %r0, 8;
  @%p2 st.shared.v4.b32 [%r4+5120], {%r5, %r5, %r5, %r5};
  @%p2 st.shared.v4.b32 [%r4+5136], {%r5, %r5, %r5, %r5};
  fence.proxy.async.shared::cta;
  @%p0 mbarrier.init.shared.b64 [smem+8], 1;
  @%p0 mbarrier.init.shared.b64 [smem+16], 1;
  @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem], 64;
  bar.sync 0;
  ld.shared.b32 %r6, [smem];
  shr.u32 %r2, %r0, 5;
  and.b32 %r2, %r2, 3;
  shl.b32 %r3, %r2, 21;
  add.s32 %r7, %r6, %r3;
  mov.b32 %r8, 0x08020490;
  add.s32 %r9, %r1, 1024;
  shr.u32 %r9, %r9, 4;
  or.b32 %r9, %r9, 0x80000;
  mov.b64 %rd2, {%r9, 0x4010};
  add.s32 %r10, %r9, 256;
  mov.b64 %rd3, {%r10, 0x4010};
  setp.ne.b32 %p3, 0, 0;
  @%p0 tcgen05.cp.cta_group::1.128x256b [%r6+16], %rd2;
  @%p0 tcgen05.mma.cta_group::1.kind::f16 [%r6], [%r6+16], %rd3, %r8, %p3;
  @%p0 tcgen05.mma.cta_group::1.kind::f16 [%r6], [%r6+16], %rd3, %r8, 1;
  @%p0 tcgen05.shift.cta_group::1.down [%r6+16];
  @%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [smem+8];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p7, [smem+8], 0;
  @!%p7 bra WAIT;
  tcgen05.fence::after_thread_sync;
  tcgen05.ld.sync.aligned.32x32b.x8.b32 {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}, [%r7];
  tcgen05.wait::ld.sync.aligned;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r6, 64;
  ret;)";

Kernel tensorKernel(uint64_t seed) {
  Kernel kernel;
  kernel.version = "8.6";
  kernel.target = "sm_100a";
  kernel.body = kTensor;
  kernel.threads = 128;
  kernel.dynamicShared = 8192;
  kernel.seed = seed;
  return kernel;
}

const Track *findTrack(const Timeline &timeline, const std::string &name) {
  for (const Track &track : timeline.ctas.at(0).tracks) {
    if (track.name == name) {
      return &track;
    }
  }
  return nullptr;
}

TEST(Recorder, showsTheTensorQueue) {
  for (uint64_t seed : {0, 1, 7}) {
    Kernel kernel = tensorKernel(seed);
    Timeline timeline = record(kernel, {{"mma", 0, 1}});
    ASSERT_EQ(kernel.failure, "");
    const Track *queue = findTrack(timeline, "tensor queue");
    ASSERT_TRUE(queue);
    const trace::Kind kinds[] = {trace::Kind::TensorCopy, trace::Kind::Mma,
                                 trace::Kind::Mma, trace::Kind::TensorShift,
                                 trace::Kind::Commit};
    ASSERT_EQ(queue->events.size(), std::size(kinds));
    for (size_t i = 0; i < queue->events.size(); ++i) {
      const Event &event = queue->events[i];
      EXPECT_EQ(event.kind, kinds[i]);
      EXPECT_EQ(event.name, "mma");
      EXPECT_LE(event.begin, event.started);
      bool isOperation = i > 0 && i < 4;
      EXPECT_TRUE(!isOperation || event.started >= queue->events[i - 1].end);
    }
    const Event &commit = queue->events.back();
    EXPECT_EQ(commit.end, queue->events[3].end);
    EXPECT_EQ(commit.details.back(),
              (std::pair<std::string, std::string>("to", "mbarrier smem+0x8")));
    const Event *wait =
        find(timeline.ctas[0].tracks[1], trace::Kind::WaitMbarrier);
    ASSERT_TRUE(wait);
    EXPECT_EQ(wait->end, commit.end);
  }
}

TEST(Recorder, showsTheColumnsOfTensorMemory) {
  Kernel kernel = tensorKernel(/*seed=*/1); // columns from 0 on
  Timeline timeline = record(kernel);
  ASSERT_EQ(kernel.failure, "");
  const Track *memory = findTrack(timeline, "tensor memory");
  ASSERT_TRUE(memory);
  const Event &all = memory->events.front();
  EXPECT_EQ(all.kind, trace::Kind::Columns);
  EXPECT_EQ(all.name, "columns 0 to 63");
  std::map<std::string, int> uses;
  for (const Event &event : memory->events) {
    EXPECT_LE(all.begin, event.begin);
    EXPECT_GE(all.end, event.end);
    if (event.kind != trace::Kind::Columns) {
      ++uses[event.details.at(0).second + " " + nameOf(event.kind) + " " +
             event.name];
    }
  }
  const std::map<std::string, int> expected = {
      {"cp write-columns columns 16 to 23", 1},
      {"mma read-columns columns 16 to 23", 2},
      {"mma read-columns columns 0 to 7", 1},
      {"mma write-columns columns 0 to 7", 2},
      {"shift read-columns columns 16 to 23", 1},
      {"shift write-columns columns 16 to 23", 1},
      {"ld read-columns columns 0 to 7", 4}};
  EXPECT_EQ(uses, expected);
}

TEST(Recorder, showsColumnsThatAreNotFreed) {
  Kernel kernel;
  kernel.version = "8.6";
  kernel.target = "sm_100a";
  kernel.body = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
                "[smem], 32;\nret;";
  Timeline timeline = record(kernel);
  const Track *memory = findTrack(timeline, "tensor memory");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->events.at(0).details.back(),
            (std::pair<std::string, std::string>("ends", "never")));
}

TEST(Timeline, isATraceOfNestedAndMatchedEvents) {
  Kernel kernel = copyKernel();
  Timeline timeline = record(kernel);
  auto json = nlohmann::json::parse(writeChromeTrace(timeline), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["otherData"]["unit"], "steps");
  EXPECT_NE(json["otherData"]["source"].dump().find("not a measurement"),
            std::string::npos);
  std::map<uint64_t, int> open;
  int spans = 0;
  for (const auto &event : json["traceEvents"]) {
    spans += event["ph"] == "X";
    if (event["ph"] == "b") {
      ++open[event["id"]];
    } else if (event["ph"] == "e") {
      --open[event["id"]];
    }
  }
  EXPECT_EQ(spans, 4); // two warps, and a wait of each kind of one
  EXPECT_EQ(open.size(), 2u);
  for (const auto &[id, count] : open) {
    EXPECT_EQ(count, 0) << id;
  }
}

TEST(Timeline, isTheSameForTheSameLaunch) {
  Kernel first = copyKernel();
  Kernel second = copyKernel();
  EXPECT_EQ(writeChromeTrace(record(first)), writeChromeTrace(record(second)));
}

} // namespace
