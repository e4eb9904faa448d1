// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resources are counted once, in the same way for a schedule and for the kernel
// that it becomes.
#include "attn/passes/schedule/DataTables.h"
#include "attn/passes/schedule/ResourcePlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Parser/Parser.h"
#include "small_kernel.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace attn;
using namespace attn::test;

namespace {

/// The plan of the small kernel, after edits that leave it a legal schedule.
ResourcePlan planOf(const Edits &edits) {
  Planned planned = planKernel(edits);
  EXPECT_EQ(planned.error, "");
  return planned.plan ? ResourcePlan(ResourceNeeds::of(planned.plan->bound),
                                     planned.plan->bound.machine)
                      : ResourcePlan();
}

const Edits handedOut{{"work = grid", "work = dynamic"},
                      {"  remat(next)\n", ""},
                      {"  chan q = q", "  chan work = w in smem depth 2\n"
                                       "  chan q = q"},
                      {"body load {", "body load {\n    before { next }"}};
const std::pair<std::string, std::string> rejects{
    "      tile.store_row", "      %c = arith.constant true\n"
                            "      tile.reject %b if %c\n"
                            "      tile.store_row"};

TEST(ResourcePlan, ListsPlacesAndBarriers) {
  ResourcePlan plan = planOf({});
  ASSERT_EQ(plan.places.size(), 3u);
  EXPECT_EQ(plan.findPlace("q")->bytes, 16384);
  EXPECT_EQ(plan.findPlace("k")->offset, 16384);
  EXPECT_EQ(plan.findPlace("oe")->offset, 49152);
  EXPECT_EQ(plan.findPlace("s"), nullptr);
  EXPECT_EQ(plan.placesEnd, 65536);
  // A full and a free barrier a slot.
  EXPECT_EQ(plan.findBarriers("q")->offset, 65536);
  EXPECT_EQ(plan.findBarriers("k")->count, 4);
  EXPECT_EQ(plan.mbarriers, 6);
  EXPECT_EQ(plan.end, 65584);
  // One of the CTA, one a replica for its stores, and one for its turn.
  EXPECT_EQ(plan.findIds("wg")->first, 1);
  EXPECT_EQ(plan.findIds("tc")->first, 3);
  EXPECT_EQ(plan.findIds("load"), nullptr);
  EXPECT_EQ(plan.namedBarriers, 5);
}

TEST(ResourcePlan, ImpliedBarriersAreCounted) {
  EXPECT_EQ(planOf({{"k in smem depth 2", "k in smem depth 2 free_implied"}})
                .mbarriers,
            6);
}

TEST(ResourcePlan, WorkItemsComeAfterTiles) {
  ResourcePlan plan = planOf(handedOut);
  EXPECT_EQ(plan.places.front().name, "work");
  EXPECT_EQ(plan.findPlace("work")->offset, 65536);
  EXPECT_EQ(plan.findPlace("q")->offset, 0);
  EXPECT_EQ(plan.placesEnd, 65568);
  // Barriers are in the order of the schedule.
  EXPECT_EQ(plan.findBarriers("work")->offset, 65568);
  EXPECT_EQ(plan.mbarriers, 10);
}

TEST(ResourcePlan, VerdictsAndMailboxesHaveBarriers) {
  ResourcePlan plan = planOf({rejects});
  EXPECT_EQ(plan.mbarriers, 6 + 2);
  EXPECT_EQ(plan.items.verdict, 65584);
  EXPECT_EQ(plan.end, 65584 + 2 * 8 + 2 * 4 + 4 * 4);
  Edits shared = handedOut;
  shared.emplace_back("work = dynamic", "work = dynamic, cluster = 2");
  plan = planOf(shared);
  EXPECT_EQ(plan.mbarriers, 10 + 2);
  EXPECT_EQ(plan.items.mailbox, 65648);
  EXPECT_EQ(plan.end, 65648 + 2 * 8 + 16 + 16);
}

TEST(ResourcePlan, APlaceOverAnotherTakesNoMemory) {
  ResourcePlan plan =
      planOf({{"hold oe = oe in smem depth 1", "hold oe = oe in smem over q"}});
  EXPECT_EQ(plan.findPlace("oe")->offset, 0);
  EXPECT_EQ(plan.placesEnd, 49152);
}

TEST(ResourcePlan, NeighborsShareAGroupOfWarps) {
  Planned planned = planKernel({});
  ASSERT_EQ(planned.error, "");
  MachineAttr machine = planned.plan->bound.machine;
  ResourceNeeds::Role load{"load", 1, 1, 24}, other{"other", 1, 1, 24},
      wide{"wide", 2, 1, 40}, wg{"wg", 4, 2, 240};
  WarpPlan beside({load, other, wg}, machine);
  EXPECT_EQ(beside.getRoles()[1].firstWarp, 1);
  EXPECT_EQ(beside.getRoles()[2].firstWarp, 4);
  EXPECT_EQ(beside.threads(), 384);
  EXPECT_EQ(beside.registersOf(0), 24);
  EXPECT_EQ(beside.registers(), 128 * (24 + 2 * 240));
  EXPECT_EQ(beside.launchRegisters(), 168);
  EXPECT_EQ(beside.disagreeing().first, nullptr);
  WarpPlan apart({load, wg, wide}, machine);
  EXPECT_EQ(apart.getRoles()[2].firstWarp, 12);
  EXPECT_EQ(apart.threads(), 512);
  EXPECT_EQ(apart.registers(), 128 * (24 + 2 * 240 + 40));
  // Only those of one group have to agree.
  EXPECT_EQ(apart.disagreeing().first, nullptr);
  WarpPlan together({load, wide, wg}, machine);
  ASSERT_NE(together.disagreeing().first, nullptr);
  EXPECT_EQ(together.disagreeing().second->name, "wide");
}

TEST(ResourcePlan, ALaunchTakesNoMoreRegistersThanSeveralCtasNeed) {
  Planned planned = planKernel({});
  ASSERT_EQ(planned.error, "");
  MachineAttr machine = planned.plan->bound.machine;
  auto launched = [&](int64_t load, int64_t consumer) {
    return WarpPlan({{"load", 1, 1, load}, {"wg", 4, 1, consumer}}, machine)
        .launchRegisters();
  };
  EXPECT_EQ(launched(88, 168), 128); // half of the registers: two CTAs
  EXPECT_EQ(launched(96, 168), 248);
  EXPECT_EQ(launched(64, 104), 80); // a third
}

/// The kernel that the schedule of the small kernel becomes.
const char *const kernelText = R"(
ws.kernel @k machine "sm_90a" args []
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 128, tile_n = 128, work = grid>
    schedule <"s" machine "sm_90a" { role wg warps 4 regs 240 }> {
  ws.channel @q [tensor<128x64xbf16>] depth 1
  ws.channel @k [tensor<128x64xbf16>] depth 2
  ws.hold @oe tensor<64x64xbf16> pieces 2
  ws.turn @tc ring @wg
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %v = arith.constant dense<0> : vector<16xi32>
    %k = ws.wait : <@k, tensor<128x64xbf16>>
    %held = ws.held @oe[%me] : !ws.slot<@oe, tensor<64x64xbf16>>
    %s, %t = ws.mma %held, %k transpose_b : !ws.slot<@oe, tensor<64x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
    %done = ws.await %s, %t : tensor<64x128xf32>
    ws.put %v in @oe[%me] : vector<16xi32>
    ws.release %k : <@k, tensor<128x64xbf16>>
  }
})";

ResourcePlan planOfKernel(StringRef old = "", StringRef replacement = "") {
  static MLIRContext context;
  context.loadDialect<AttnDialect, tile::TileDialect, ws::WsDialect,
                      arith::ArithDialect>();
  std::string text = kernelText;
  text.replace(text.find(old), old.size(), replacement);
  auto module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  if (!module) {
    return {};
  }
  auto kernel = *module->getOps<ws::KernelOp>().begin();
  auto machine =
      lookupMachine(&context, "sm_90a", [&] { return kernel.emitOpError(); });
  ResourcePlan plan(ResourceNeeds::of(kernel), *machine);
  EXPECT_EQ(plan.findPlace("oe")->offset, 49152);
  EXPECT_EQ(plan.findBarriers("k")->offset, 65536 + 16);
  EXPECT_EQ(plan.warps.getRoles()[1].firstWarp, 4);
  // The warps of a replica meet before they overwrite what MMAs have read.
  EXPECT_EQ(plan.findIds("wg")->first, 1);
  EXPECT_EQ(plan.namedBarriers, 5);
  return plan;
}

TEST(ResourcePlan, AKernelTakesWhatItsScheduleDoes) {
  ResourcePlan plan = planOfKernel();
  EXPECT_EQ(plan.end, planOf({}).end);
  EXPECT_EQ(plan.mbarriers, planOf({}).mbarriers);
  EXPECT_EQ(plan.stampBytes, 0);
}

TEST(ResourcePlan, StampsHaveAWordAReplica) {
  ResourcePlan plan = planOfKernel(
      "  ws.role @load", "  ws.stamps events 4 ctas 1\n  ws.role @load");
  EXPECT_EQ(plan.stampBytes, 3 * 4);
  EXPECT_EQ(plan.end, planOf({}).end + 12);
}

} // namespace
