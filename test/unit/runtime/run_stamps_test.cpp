// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stamps in a workspace, and the trace made of them.

#include "stamps.h"
#include "trace.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace attn;
using namespace attn::run;
using trace::Event;
using trace::Kind;
using trace::Track;

namespace {

const char *kPlan = R"({"variants": [{},
  {"launches": [{"kernel": "causal"}], "report": {
  "roles": [{"name": "load", "replicas": 1, "warps": 1},
            {"name": "wg", "replicas": 2, "warps": 4}],
  "stamps": {"offset": 256, "events": 8, "ctas": 1,
             "names": [["item", ""], ["copy", "k"], ["run", ""],
                       ["wait", "k"], ["mma", "k"], ["await", "k"]]}}}]})";

enum Id : uint32_t { Item = 1, Copy, Compute, Wait, Mma, Await };

StampPlan readPlan(const std::string &text = kPlan) {
  StampPlan plan;
  std::string err;
  EXPECT_TRUE(readStampPlan(text, 1, plan, err)) << err;
  return plan;
}

/// A workspace as a kernel leaves it.
class Workspace {
public:
  explicit Workspace(const StampPlan &plan)
      : plan(plan), bytes(size_t(plan.end())) {}

  void begin(uint64_t ring, uint32_t clock, uint32_t sm, uint64_t time) {
    mark(plan.offset + 32 * ring, clock, sm, time);
  }
  void end(uint64_t ring, uint32_t clock, uint32_t count, uint64_t time) {
    mark(plan.offset + 32 * ring + 16, clock, count, time);
  }
  void stamp(uint64_t ring, uint64_t number, uint32_t clock, uint32_t id) {
    uint32_t words[] = {clock, id};
    std::memcpy(&bytes[plan.offset + 32 * plan.ringCount() +
                       8 * (number * plan.ringCount() + ring)],
                words, sizeof(words));
  }
  trace::Timeline decode() const { return decodeStamps(plan, bytes); }

private:
  void mark(uint64_t at, uint32_t clock, uint32_t word, uint64_t time) {
    uint32_t words[] = {clock, word, uint32_t(time), uint32_t(time >> 32)};
    std::memcpy(&bytes[at], words, sizeof(words));
  }

  StampPlan plan;
  std::vector<unsigned char> bytes;
};

std::string text(const Event &event) {
  return event.name + " " + std::to_string(event.begin) + " " +
         std::to_string(event.end);
}

std::vector<std::string> texts(const Track &track) {
  std::vector<std::string> result;
  for (const Event &event : track.events) {
    result.push_back(text(event));
  }
  return result;
}

using Texts = std::vector<std::string>;

TEST(RunStamps, readsThePlan) {
  StampPlan plan = readPlan();
  EXPECT_EQ(plan.kernel, "causal");
  EXPECT_EQ(plan.offset, 256u);
  EXPECT_EQ(plan.roles, (Texts{"load", "wg[0]", "wg[1]"}));
  EXPECT_EQ(plan.ringCount(), 6u);
  EXPECT_EQ(plan.end(), 256u + 6 * (32 + 8 * 8));
  EXPECT_EQ(plan.names[3].activity, "wait");
  EXPECT_EQ(plan.names[3].object, "k");
}

TEST(RunStamps, readsThePlanOfTheLaunchThatRecords) {
  StampPlan plan = readPlan(R"({"variants": [{}, {"launches": [
    {"kernel": "delta", "report": {
      "roles": [{"name": "main", "replicas": 4, "warps": 4}]}},
    {"kernel": "gradients", "report": {
      "roles": [{"name": "wg", "replicas": 2, "warps": 4}],
      "stamps": {"offset": 256, "events": 8, "ctas": 1,
                 "names": [["item", ""]]}}}]}]})");
  EXPECT_EQ(plan.kernel, "gradients");
  EXPECT_EQ(plan.roles, (Texts{"wg[0]", "wg[1]"}));
}

TEST(RunStamps, tracesTheFirstLaunchWithTheMostRoles) {
  TracedKernel traced = readTracedKernel(R"({"variants": [{"launches": [
    {"kernel": "delta", "report": {"roles": [{"name": "main", "replicas": 1}]}},
    {"kernel": "dk", "report": {"roles": [{"name": "wg", "replicas": 2}]}},
    {"kernel": "dq", "report": {"roles": [{"name": "wg", "replicas": 2}]}},
    {"kernel": "unreported"}]}]})",
                                         0);
  EXPECT_EQ(traced.name, "dk");
}

TEST(RunStamps, refusesPlansThatMakeNoSense) {
  std::string err;
  StampPlan plan;
  EXPECT_FALSE(readStampPlan(kPlan, 0, plan, err));
  EXPECT_EQ(err, "");
  auto replaced = [](const char *from, const char *to) {
    std::string plan = kPlan;
    return plan.replace(plan.find(from), std::strlen(from), to);
  };
  for (const std::string &bad :
       {replaced("\"offset\": 256", "\"offset\": -1"),
        replaced("\"events\": 8", "\"events\": 0"),
        replaced("\"events\": 8", "\"events\": 1048577"),
        replaced("\"ctas\": 1", "\"ctas\": 65"), replaced("item", "sleep"),
        replaced("\"roles\"", "\"rolls\""),
        replaced("[\"run\", \"\"]", "[\"run\"]")}) {
    err.clear();
    EXPECT_FALSE(readStampPlan(bad, 1, plan = {}, err));
    EXPECT_EQ(err, "plan: report.stamps: expected offset, events, ctas and "
                   "names of known activities, and roles beside them")
        << bad;
  }
}

TEST(RunStamps, drawsRoles) {
  Workspace space(readPlan());
  // The clock wraps between the first two stamps.
  space.begin(0, 0xfffffff0u, 7, 1000);
  space.stamp(0, 0, 0xfffffff8u, Item);
  space.stamp(0, 1, 4, Copy);
  space.stamp(0, 2, 10, Compute);
  space.end(0, 100, 3, 1100);
  // wg[0] began 4 cycles before it.
  space.begin(1, 0xffffffecu, 7, 1000);
  space.stamp(1, 0, 0xfffffff0u, Item);
  space.stamp(1, 1, 0, Wait);
  space.stamp(1, 2, 40, Mma);
  space.stamp(1, 3, 44, Mma);
  space.stamp(1, 4, 50, Await);
  space.stamp(1, 5, 70, Await);
  space.stamp(1, 6, 75, Compute);
  space.stamp(1, 7, 80, Item);
  space.end(1, 102, 8, 1100);
  trace::Timeline timeline = space.decode();
  ASSERT_EQ(timeline.ctas.size(), 1u);
  EXPECT_EQ(timeline.ctas[0].name, "CTA 0 on SM 7");
  const std::vector<Track> &tracks = timeline.ctas[0].tracks;
  ASSERT_EQ(tracks.size(), 4u);
  EXPECT_EQ(tracks[0].name, "load");
  EXPECT_EQ(texts(tracks[0]),
            (Texts{"load 4 120", "item 0 12 120", "copy k 24 30"}));
  EXPECT_EQ(texts(tracks[1]),
            (Texts{"wg[0] 0 122", "item 0 4 100", "wait k 20 60", "mma k 60 64",
                   "mma k 64 70", "await k 70 90", "await k 90 95",
                   "item 1 100 122"}));
  EXPECT_EQ(tracks[1].events[2].kind, Kind::WaitMbarrier);
  // The copy until it was waited for; the matrix ops in their order.
  EXPECT_EQ(tracks[2].name, "copies");
  EXPECT_EQ(texts(tracks[2]), (Texts{"k 24 60"}));
  EXPECT_EQ(tracks[3].name, "matrix ops");
  EXPECT_EQ(texts(tracks[3]), (Texts{"wg[0] 60 90", "wg[0] 64 95"}));
}

TEST(RunStamps, saysWhatWasNotKept) {
  Workspace space(readPlan());
  space.begin(2, 100, 1, 5);
  for (uint32_t i = 0; i < 8; ++i) {
    space.stamp(2, i, 200 + 10 * i, i == 0 ? Item : Compute);
  }
  space.end(2, 1100, 20, 505);
  trace::Timeline timeline = space.decode();
  ASSERT_EQ(timeline.ctas.size(), 1u);
  EXPECT_EQ(
      texts(timeline.ctas[0].tracks[0]),
      (Texts{"wg[1] 0 1000", "item 0 100 170", "stamps not kept 170 1000"}));
  EXPECT_EQ(timeline.details[1].second, "8");
  EXPECT_EQ(timeline.details[2].second, "12");
}

TEST(RunStamps, placesCtasByTheGlobalClock) {
  Workspace space(readPlan());
  space.begin(0, 10, 0, 1000);
  space.end(0, 2010, 0, 2000); // two cycles a nanosecond
  space.begin(3, 500, 9, 1250);
  space.end(3, 600, 0, 1300);
  trace::Timeline timeline = space.decode();
  ASSERT_EQ(timeline.ctas.size(), 2u);
  EXPECT_EQ(timeline.ctas[1].name, "the last CTA on SM 9");
  EXPECT_EQ(texts(timeline.ctas[1].tracks[0]), (Texts{"load 500 600"}));
  EXPECT_EQ(timeline.details[0].second, "2.00");
}

TEST(RunStamps, drawsRolesThatDidNotEnd) {
  Workspace space(readPlan());
  space.begin(0, 10, 0, 1000);
  space.stamp(0, 0, 20, Item);
  space.stamp(0, 1, 30, Copy);
  trace::Timeline timeline = space.decode();
  ASSERT_EQ(timeline.ctas.size(), 1u);
  const Track &load = timeline.ctas[0].tracks[0];
  EXPECT_EQ(texts(load), (Texts{"load 0 20", "item 0 10 20"}));
  EXPECT_EQ(load.events[0].details.back().second, "never");
  EXPECT_TRUE(Workspace(readPlan()).decode().ctas.empty());
}

} // namespace
