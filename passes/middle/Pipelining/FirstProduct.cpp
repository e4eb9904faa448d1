// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-start-fresh: lets the first product of a loop ignore its accumulator.
#include "attn/dialect/Ws.h"
#include "attn/passes/middle/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"

namespace attn {
#define GEN_PASS_DEF_STARTFRESH
#include "attn/passes/middle/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// An accumulator that is carried through consecutive loops.
class Accumulator {
public:
  explicit Accumulator(scf::ForOp first) : first(first) {}

  /// Finds the products that may be the first to write the accumulator, which
  /// enters as iteration argument `index`. Returns false if any other op may
  /// read it before.
  bool collect(scf::ForOp loop, unsigned index);
  void replaceZeros(unsigned index);

private:
  scf::ForOp first, last;
  /// The products in the loops, and after them.
  SmallVector<ws::MmaOp> products;
};

/// Returns the product whose accumulator is `use`.
ws::MmaOp productOf(OpOperand &use) {
  auto mma = dyn_cast<ws::MmaOp>(use.getOwner());
  bool isAccumulator =
      mma && !mma.getAccMutable().empty() && &use == &mma.getAccMutable()[0];
  return isAccumulator ? mma : ws::MmaOp();
}

} // namespace

bool Accumulator::collect(scf::ForOp loop, unsigned index) {
  last = loop;
  BlockArgument inside = loop.getRegionIterArg(index);
  if (!inside.hasOneUse()) {
    return false;
  }
  ws::MmaOp product = productOf(*inside.use_begin());
  if (!product || product->getParentOp() != loop) {
    return false;
  }
  products.push_back(product);
  for (OpOperand &use : loop.getResult(index).getUses()) {
    auto next = dyn_cast<scf::ForOp>(use.getOwner());
    if (next && next.getLowerBound() == loop.getUpperBound()) {
      auto tied = next.getTiedLoopRegionIterArg(&use);
      if (!collect(next, tied.getArgNumber() - next.getNumInductionVars())) {
        return false;
      }
      continue;
    }
    ws::MmaOp after = productOf(use);
    if (!after || after->getBlock() != loop->getBlock()) {
      return false;
    }
    products.push_back(after);
  }
  return true;
}

/// Makes each product ignore the accumulator if it runs in the first time step.
/// Time steps continue from loop to loop, and the code after the loops comes
/// last.
void Accumulator::replaceZeros(unsigned index) {
  for (ws::MmaOp product : products) {
    OpBuilder builder(product);
    auto loop = dyn_cast<scf::ForOp>(product->getParentOp());
    Value time = loop ? loop.getInductionVar() : last.getUpperBound();
    Value fresh = arith::CmpIOp::create(builder, product.getLoc(),
                                        arith::CmpIPredicate::eq, time,
                                        first.getLowerBound());
    product.getFreshMutable().assign(fresh);
  }
  OpBuilder builder(first);
  OpOperand &init = first.getInitsMutable()[index];
  init.set(ub::PoisonOp::create(builder, first.getLoc(), init.get().getType()));
}

namespace {

class StartFreshPass : public attn::impl::StartFreshBase<StartFreshPass> {
public:
  using StartFreshBase::StartFreshBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      auto expanded = kernel.walk([](ws::ForOp loop) {
        loop.emitOpError("attn-start-fresh: expected the loop to be expanded");
        return WalkResult::interrupt();
      });
      if (expanded.wasInterrupted()) {
        return signalPassFailure();
      }
      kernel.walk([](scf::ForOp loop) { startFresh(loop); });
      kernel.walk(dropZeros);
    }
  }

private:
  /// Replaces the accumulators that enter `loop` as zeros.
  static void startFresh(scf::ForOp loop) {
    for (auto [index, init] : llvm::enumerate(loop.getInits())) {
      Accumulator accumulator(loop);
      if (matchPattern(init, m_PosZeroFloat()) &&
          accumulator.collect(loop, index)) {
        accumulator.replaceZeros(index);
      }
    }
  }

  /// Drops the accumulator of a product that adds to zeros.
  static void dropZeros(ws::MmaOp product) {
    if (product.getAcc() && matchPattern(product.getAcc(), m_PosZeroFloat())) {
      product.getAccMutable().clear();
    }
  }
};

} // namespace
