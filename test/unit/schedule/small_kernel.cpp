// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "small_kernel.h"
#include "attn/dialect/Tile.h"
#include "attn/passes/schedule/ScheduleRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace attn;
using namespace attn::test;
using sched::PlannedAct;

static const char *const kernelText = R"(
#map = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
tile.kernel @small args ["q", "k", "o" write, "lse" write]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 128, tile_n = 128, work = grid>
    schedule <"small" machine "sm_90a" {
  split M 2 whole(q)
  remat(next)
  role load warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  hold s = s in reg depth 1
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_k once : ld_q }
  }
  body wg {
    before { fin }
    kv { take(tc) qk give(tc) mask sum }
    after { await(st_o) + 1 norm cvt_o st_o st_lse }
  }
}> {
^bb0(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>):
  %n = arith.constant 128 : i32
  tile.work {
    %init = arith.constant dense<0.0> : tensor<128xf32>
    %w = tile.step @next () : () -> !tile.work {
      %x = tile.next_work extents(%n, %n, %n)
      tile.yield %x : !tile.work
    }
    %qt = tile.step @ld_q (%w) : (!tile.work) -> tensor<128x64xbf16> {
    ^bb0(%a: !tile.work):
      %x = tile.load %q at(%n, %n, %n) #map : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
      tile.yield %x : tensor<128x64xbf16>
    }
    %inv = tile.step @fin () : () -> tensor<128xf32> {
      %x = arith.constant dense<1.0> : tensor<128xf32>
      tile.yield %x : tensor<128xf32>
    }
    %top, %mid, %end = tile.bounds %w : i32, i32, i32 {
    ^bb0(%a: !tile.work):
      %block, %head, %batch = tile.work_coords %a
      tile.yield %block, %head, %batch : i32, i32, i32
    }
    %mf = tile.for ranges <down [masked, full]> bounds(%top, %mid, %end) init(%init) : (tensor<128xf32>) -> tensor<128xf32> {
    ^bb0(%i: i32, %m: tensor<128xf32>):
      %kt = tile.step @ld_k (%w) : (!tile.work) -> tensor<128x64xbf16> {
      ^bb0(%a: !tile.work):
        %x = tile.load %k at(%n, %n, %i) #map : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
        tile.yield %x : tensor<128x64xbf16>
      }
      %s = tile.step @qk (%qt, %kt) : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<128x128xf32> {
      ^bb0(%a: tensor<128x64xbf16>, %b: tensor<128x64xbf16>):
        %x = tile.mma %a, %b transpose_b : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
        tile.yield %x : tensor<128x128xf32>
      }
      %s2 = tile.step @mask masked (%s) : (tensor<128x128xf32>) -> tensor<128x128xf32> {
      ^bb0(%a: tensor<128x128xf32>):
        tile.yield %a : tensor<128x128xf32>
      }
      %l1 = tile.step @sum (%s2, %m) : (tensor<128x128xf32>, tensor<128xf32>) -> tensor<128xf32> {
      ^bb0(%a: tensor<128x128xf32>, %b: tensor<128xf32>):
        tile.yield %b : tensor<128xf32>
      }
      tile.yield %l1 : tensor<128xf32>
    }
    %on = tile.step @norm (%mf) : (tensor<128xf32>) -> tensor<128x64xf32> {
    ^bb0(%a: tensor<128xf32>):
      %x = arith.constant dense<0.0> : tensor<128x64xf32>
      tile.yield %x : tensor<128x64xf32>
    }
    %oe = tile.step @cvt_o (%on) : (tensor<128x64xf32>) -> tensor<128x64xbf16> {
    ^bb0(%a: tensor<128x64xf32>):
      %x = arith.truncf %a : tensor<128x64xf32> to tensor<128x64xbf16>
      tile.yield %x : tensor<128x64xbf16>
    }
    tile.step @st_o (%oe, %w) : (tensor<128x64xbf16>, !tile.work) -> () {
    ^bb0(%a: tensor<128x64xbf16>, %b: !tile.work):
      tile.store %a, %o at(%n, %n, %n) #map : tensor<128x64xbf16>, tensor<?x?x?x64xbf16>
      tile.yield
    }
    tile.step @st_lse (%mf, %w) : (tensor<128xf32>, !tile.work) -> () {
    ^bb0(%a: tensor<128xf32>, %b: !tile.work):
      tile.store_row %a, %lse at(%n, %n, %n) : tensor<128xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}
)";

static MLIRContext &context() {
  static MLIRContext *shared = [] {
    auto *made = new MLIRContext;
    made->loadDialect<AttnDialect, tile::TileDialect, arith::ArithDialect,
                      tensor::TensorDialect>();
    return made;
  }();
  return *shared;
}

static std::string edited(const Edits &edits) {
  std::string text = kernelText;
  for (const auto &[old, replacement] : edits) {
    size_t at = text.find(old);
    if (at == std::string::npos) {
      ADD_FAILURE() << "expected the kernel to have '" << old << "'";
      continue;
    }
    text.replace(at, old.size(), replacement);
  }
  return text;
}

Planned test::planKernel(const Edits &edits) {
  Planned planned;
  ScopedDiagnosticHandler handler(&context(), [&](Diagnostic &diagnostic) {
    if (planned.error.empty()) {
      planned.error = diagnostic.str();
    }
    return success();
  });
  planned.module =
      parseSourceString<ModuleOp>(edited(edits), ParserConfig(&context()));
  if (!planned.module) {
    ADD_FAILURE() << planned.error;
    return planned;
  }
  auto kernel = *planned.module->getOps<tile::KernelOp>().begin();
  auto plan = sched::KernelPlan::build(
      kernel, *kernel.getConfig(), *kernel.getSchedule(), sched::Tiles::Whole,
      [&] { return kernel.emitError(); });
  if (succeeded(plan)) {
    planned.plan = std::move(*plan);
  }
  return planned;
}

std::string test::refusal(const Edits &edits) {
  Planned planned = planKernel(edits);
  if (!planned.plan) {
    return planned.error;
  }
  std::string error;
  ScopedDiagnosticHandler handler(&context(), [&](Diagnostic &diagnostic) {
    error = diagnostic.str();
    return success();
  });
  (void)sched::checkLowering(planned.plan->bound,
                             [&] { return planned.module->emitError(); });
  return error;
}

//===----------------------------------------------------------------------===//
// Spelling
//===----------------------------------------------------------------------===//

static std::string kindOf(const sched::KernelPlan &plan,
                          const PlannedAct &act) {
  auto place = [&] { return plan.bound.places[act.slot.place].name.str(); };
  auto step = [&] { return plan.model.steps[act.target].name.str(); };
  switch (act.kind) {
  case PlannedAct::Run:
    return step();
  case PlannedAct::Wait:
    return "wait(" + place() + ")";
  case PlannedAct::Acquire:
    return "acquire(" + place() + ")";
  case PlannedAct::Release:
    return "release(" + place() + ")";
  case PlannedAct::ReadItem:
    return "read(" + place() + ")";
  case PlannedAct::Await:
    return "await(" + step() + ")";
  case PlannedAct::AwaitProducts:
    return "await products";
  case PlannedAct::AwaitFirstRun:
    return "await first run";
  case PlannedAct::FetchItem:
    return "fetch";
  default:
    return (stringifyAct(act.entry->attr.getAct()) + "(" +
            act.entry->attr.getTarget().getValue() + ")")
        .str();
  }
}

std::string Planned::spell(StringRef role,
                           sched::PlannedActs sched::RolePlan::*section) const {
  const sched::BoundSchedule &bound = plan->bound;
  for (auto [index, instance] : llvm::enumerate(bound.instances)) {
    if (bound.roles[instance.role].name != role || instance.replica > 0) {
      continue;
    }
    std::string text;
    const sched::PlannedActs &acts = bound.plans[index].*section;
    for (const PlannedAct &act : acts) {
      text += text.empty() ? "" : "; ";
      if (act.guard != Guard::Always) {
        text += (stringifyGuard(act.guard) + " : ").str();
      }
      text += kindOf(*plan, act);
      text += act.shift ? " + " + std::to_string(act.shift) : "";
      for (int product : act.awaited) {
        text += " after " + kindOf(*plan, acts[product]);
      }
      for (const sched::SlotRef &slot : act.releases) {
        text += " releases " + bound.places[slot.place].name.str();
      }
    }
    return text;
  }
  return "no role " + role.str();
}
