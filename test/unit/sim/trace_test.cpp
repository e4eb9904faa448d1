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
