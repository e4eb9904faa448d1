// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roles are placed so that each thread can tell its replica from its number, or
// they are refused.
#include "attn/passes/schedule/DataTables.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "target/common/RolePlacement.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace attn;

namespace {

/// What is said of a kernel whose second role has `warps` warps.
std::string errorWith(int64_t warps) {
  MLIRContext context;
  context.loadDialect<AttnDialect, tile::TileDialect, ws::WsDialect,
                      arith::ArithDialect>();
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error += diagnostic.str();
    return success();
  });
  std::string text = llvm::formatv(R"(
ws.kernel @k machine "sm_90a" args ["n"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 128, tile_n = 128, work = grid>
    schedule <"s" machine "sm_90a" {{ role wg warps 4 regs 240 }> smem 8192 {{
^bb0(%n: f32):
  ws.hold @h tensor<64x64xbf16> pieces 1 at 0
  ws.role @load warps 1 regs 24 replicas 1 {{
  ^bb0(%me: i32):
  }
  ws.role @wg warps {0} regs 24 replicas 1 {{
  ^bb0(%me: i32):
    %v = arith.constant dense<0> : vector<16xi32>
    ws.put %v in @h[%me] : vector<16xi32>
  }
})",
                                   warps)
                         .str();
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    return error;
  }
  auto kernel = *module->getOps<ws::KernelOp>().begin();
  auto machine =
      lookupMachine(&context, "sm_90a", [&] { return kernel.emitOpError(); });
  bool isRefused =
      failed(codegen::RolePlacement(kernel, *machine).check(kernel));
  EXPECT_EQ(isRefused, !error.empty());
  return error;
}

TEST(RolePlacement, threadsFindTheFirstOfTheirReplica) {
  EXPECT_EQ(errorWith(4), "");
  EXPECT_EQ(errorWith(1), "");
  EXPECT_EQ(errorWith(2),
            "'ws.role' op attn-lower-to-nvvm: expected a power of two of warps "
            "from a multiple of it on, got 2 from warp 1 on");
  EXPECT_EQ(errorWith(12),
            "'ws.role' op attn-lower-to-nvvm: expected a power of two of warps "
            "from a multiple of it on, got 12 from warp 4 on");
  // After the four warps of the group that has the first role.
  EXPECT_EQ(errorWith(8),
            "'ws.role' op attn-lower-to-nvvm: expected a power of two of warps "
            "from a multiple of it on, got 8 from warp 4 on");
}

} // namespace
