// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plans of roles, section by section.
#include "small_kernel.h"
#include <gtest/gtest.h>

using namespace attn::test;
using attn::sched::RolePlan;

namespace {

const char *const after = "await(st_o) + 1; norm; cvt_o; st_o; st_lse";
const char *const turn = "take(tc); wait(k); qk releases k; give(tc); "
                         "mask after qk; sum after qk";
/// `fin`, before the loop, and `norm`, after it, read Q; the product does not.
const std::pair<std::string, std::string> finReadsQ{
    "@fin () : () -> tensor<128xf32> {",
    "@fin (%qt) : (tensor<128x64xbf16>) -> tensor<128xf32> {\n"
    "    ^bb0(%b: tensor<128x64xbf16>):"},
    normReadsQ{"@norm (%mf) : (tensor<128xf32>) -> tensor<128x64xf32> {\n"
               "    ^bb0(%a: tensor<128xf32>):",
               "@norm (%mf, %qt) : (tensor<128xf32>, tensor<128x64xbf16>) -> "
               "tensor<128x64xf32> {\n"
               "    ^bb0(%a: tensor<128xf32>, %b: tensor<128x64xbf16>):"},
    qkReadsK{"@qk (%qt, %kt)", "@qk (%kt, %kt)"};
const Edits handedOut{{"work = grid", "work = dynamic"},
                      {"  remat(next)\n", ""},
                      {"  chan q = q", "  chan work = w in smem depth 2\n"
                                       "  chan q = q"},
                      {"body load {", "body load {\n    before { next }"}};

/// Plans an edited kernel, whose schedule has to be legal.
Planned plan(const Edits &edits) {
  Planned planned = planKernel(edits);
  EXPECT_EQ(planned.error, "");
  return planned;
}

TEST(Plan, LoopAndWhatItReadsOfTheItem) {
  Planned planned = plan({});
  ASSERT_TRUE(planned.plan);
  EXPECT_EQ(planned.spell("wg", &RolePlan::itemBegins), "");
  EXPECT_EQ(planned.spell("wg", &RolePlan::before), "fin; wait(q)");
  EXPECT_EQ(planned.spell("wg", &RolePlan::timeStep), turn);
  EXPECT_EQ(planned.spell("wg", &RolePlan::timeStepEnds), "await products");
  EXPECT_EQ(planned.spell("wg", &RolePlan::drain), "");
  EXPECT_EQ(planned.spell("wg", &RolePlan::skipped), "");
  EXPECT_EQ(planned.spell("wg", &RolePlan::empty), "");
  EXPECT_EQ(planned.spell("wg", &RolePlan::loopEnds), "release(q)");
  EXPECT_EQ(planned.spell("wg", &RolePlan::after), after);
  EXPECT_EQ(planned.spell("wg", &RolePlan::itemEnds), "");
}

TEST(Plan, StoresOfASecondRunWaitForThoseOfTheFirst) {
  Planned planned =
      plan({{"      tile.store_row", "      %c = arith.constant true\n"
                                     "      tile.reject %b if %c\n"
                                     "      tile.store_row"}});
  ASSERT_TRUE(planned.plan);
  EXPECT_EQ(planned.spell("wg", &RolePlan::after),
            "await(st_o) + 1; norm; cvt_o; await first run; st_o; st_lse");
}

TEST(Plan, FilledSlotsAreAcquired) {
  Planned planned = plan({});
  ASSERT_TRUE(planned.plan);
  EXPECT_EQ(planned.spell("load", &RolePlan::timeStep),
            "acquire(k); ld_k; once : acquire(q); once : ld_q");
  EXPECT_EQ(planned.spell("load", &RolePlan::empty), "acquire(q); ld_q");
  EXPECT_EQ(planned.spell("load", &RolePlan::timeStepEnds), "");
}

TEST(Plan, SlotsGoBackBeforeTheLastTurnsThatDoNotReadThem) {
  Planned planned = plan({{"mask sum }", "mask sum + 1 }"}});
  ASSERT_TRUE(planned.plan);
  EXPECT_EQ(planned.spell("wg", &RolePlan::drain), "release(q)");
  EXPECT_EQ(planned.spell("wg", &RolePlan::empty), "release(q)");
  EXPECT_EQ(planned.spell("wg", &RolePlan::loopEnds), "");
}

TEST(Plan, SlotsThatTheLastTurnsReadGoBackAfterThem) {
  Planned planned =
      plan({{"take(tc) qk give(tc) mask sum }",
             "take(tc) + 1 qk + 1 give(tc) + 1 mask + 1 sum + 1 }"}});
  ASSERT_TRUE(planned.plan);
  EXPECT_EQ(planned.spell("wg", &RolePlan::drain), "");
  EXPECT_EQ(planned.spell("wg", &RolePlan::loopEnds), "release(q)");
}

TEST(Plan, BeforeAndInTheLoop) {
  Planned planned = plan({finReadsQ});
  ASSERT_TRUE(planned.plan);
  EXPECT_EQ(planned.spell("wg", &RolePlan::before), "wait(q); fin");
  EXPECT_EQ(planned.spell("wg", &RolePlan::timeStep), turn);
  EXPECT_EQ(planned.spell("wg", &RolePlan::loopEnds), "release(q)");
}

TEST(Plan, BeforeAndAfterTheLoop) {
  Planned planned = plan({finReadsQ, normReadsQ, qkReadsK});
  ASSERT_TRUE(planned.plan);
  EXPECT_EQ(planned.spell("wg", &RolePlan::before), "wait(q); fin");
  EXPECT_EQ(planned.spell("wg", &RolePlan::loopEnds), "");
  EXPECT_EQ(planned.spell("wg", &RolePlan::after),
            "await(st_o) + 1; norm releases q; cvt_o; st_o; st_lse");
}

TEST(Plan, PinnedActsAlone) {
  Planned planned = plan({finReadsQ,
                          qkReadsK,
                          {"    before { fin }\n", ""},
                          {"kv { take(tc)", "kv { once : fin take(tc)"}});
  ASSERT_TRUE(planned.plan);
  EXPECT_EQ(planned.spell("wg", &RolePlan::before), "wait(q)");
  EXPECT_EQ(planned.spell("wg", &RolePlan::timeStep),
            std::string("once : fin releases q; ") + turn);
  EXPECT_EQ(planned.spell("wg", &RolePlan::empty), "fin releases q");
  EXPECT_EQ(planned.spell("wg", &RolePlan::loopEnds), "");
}

TEST(Plan, GetsSayWhereToWait) {
  Planned planned = plan({{"kv { take(tc) qk", "kv { get(k) take(tc) qk"},
                          {"before { fin }", "before { get(q) fin }"}});
  ASSERT_TRUE(planned.plan);
  EXPECT_EQ(planned.spell("wg", &RolePlan::before), "wait(q); fin");
  EXPECT_EQ(planned.spell("wg", &RolePlan::timeStep),
            "wait(k); take(tc); qk releases k; give(tc); mask after qk; "
            "sum after qk");
}

TEST(Plan, SkippedBlocksPassSlotsAndTurnsOn) {
  Planned planned =
      plan({{"%block, %head, %batch = tile.work_coords %a\n"
             "      tile.yield %block, %head, %batch : i32, i32, i32",
             "%row, %rows = tile.owned_rows %a\n"
             "      tile.yield %row, %rows, %row : i32, i32, i32"},
            {"knob peel first_masked", "knob peel first_masked\n"
                                       "  knob skip right"}});
  ASSERT_TRUE(planned.plan);
  EXPECT_EQ(planned.spell("wg", &RolePlan::skipped),
            "take(tc); wait(k); release(k); give(tc)");
  EXPECT_EQ(planned.spell("load", &RolePlan::skipped), "");
}

TEST(Plan, SomeRoleIsExpected) {
  Edits edits = {{"  role load warps 1 regs 24\n", ""},
                 {"  role wg[2] warps 4 regs 240\n", ""}};
  EXPECT_NE(planKernel(edits).error.find("V1: expected at least one role"),
            std::string::npos);
}

TEST(Plan, WhatIsLoadedIsAResult) {
  Edits edits = {
      {"%inv = tile.step @fin ()",
       "tile.step @ld_x (%w) : (!tile.work) -> () {\n"
       "    ^bb0(%a: !tile.work):\n"
       "      %x = tile.load %q at(%n, %n, %n) #map : tensor<?x?x?x64xbf16> -> "
       "tensor<128x64xbf16>\n"
       "      tile.yield\n    }\n"
       "    %inv = tile.step @fin ()"}};
  EXPECT_NE(planKernel(edits).error.find(
                "V1: expected step 'ld_x' to have what it loads as a result"),
            std::string::npos);
}

TEST(Plan, ItemsAreHandedOut) {
  Planned planned = plan(handedOut);
  ASSERT_TRUE(planned.plan);
  EXPECT_EQ(planned.spell("load", &RolePlan::itemBegins), "");
  EXPECT_EQ(planned.spell("load", &RolePlan::before), "acquire(work); next");
  EXPECT_EQ(planned.spell("load", &RolePlan::after), "fetch");
  EXPECT_EQ(planned.spell("wg", &RolePlan::itemBegins),
            "wait(work); read(work); release(work)");
}

TEST(Plan, RolesThatDoNotReadTheItemGetItToo) {
  Edits edits = handedOut;
  edits.push_back({"@st_o (%oe, %w) : (tensor<128x64xbf16>, !tile.work) -> () "
                   "{\n    ^bb0(%a: tensor<128x64xbf16>, %b: !tile.work):",
                   "@st_o (%oe) : (tensor<128x64xbf16>) -> () {\n"
                   "    ^bb0(%a: tensor<128x64xbf16>):"});
  edits.push_back({"@st_lse (%mf, %w) : (tensor<128xf32>, !tile.work) -> () "
                   "{\n    ^bb0(%a: tensor<128xf32>, %b: !tile.work):",
                   "@st_lse (%mf) : (tensor<128xf32>) -> () {\n"
                   "    ^bb0(%a: tensor<128xf32>):"});
  Planned planned = plan(edits);
  ASSERT_TRUE(planned.plan);
  EXPECT_EQ(planned.spell("wg", &RolePlan::itemBegins),
            "wait(work); read(work); release(work)");
}

TEST(Plan, TheNextItemIsAskedForBeforeTheLastDelayedAct) {
  Edits edits = handedOut;
  edits.push_back({"{ ld_k once", "{ ld_k + 1 once"});
  Planned planned = plan(edits);
  ASSERT_TRUE(planned.plan);
  EXPECT_EQ(planned.spell("load", &RolePlan::timeStep),
            "last : fetch; acquire(k) + 1; ld_k + 1; once : acquire(q); "
            "once : ld_q");
  EXPECT_EQ(planned.spell("load", &RolePlan::after), "");
}

TEST(Plan, CopiesIntoChannelsAreNotAwaited) {
  Planned planned = plan({{"{ ld_k once", "{ ld_k await(ld_k) + 1 once"}});
  ASSERT_TRUE(planned.plan);
  EXPECT_EQ(planned.spell("load", &RolePlan::timeStep),
            "acquire(k); ld_k; once : acquire(q); once : ld_q");
}

TEST(Plan, CarriedValuesMayStayWhatTheyAre) {
  Planned planned = plan({{"tile.yield %l1 :", "tile.yield %m :"}});
  ASSERT_TRUE(planned.plan);
  EXPECT_EQ(planned.spell("wg", &RolePlan::timeStep), turn);
}

} // namespace
