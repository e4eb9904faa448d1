// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers `nvx` to inline assembly and intrinsics, with one pattern for each op.
#include "attn/codegen/target/NvxToLLVM.h"
#include "attn/codegen/target/InlineAsm.h"
#include "attn/dialect/Nvx.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

namespace {

/// Writes the text of one GEMM: fence, k steps of all parts, commit.
class WgmmaText {
public:
  WgmmaText(nvx::WgmmaOp op, const InlineAsm &code) : op(op), code(code) {}

  std::string write() {
    openScope();
    for (int64_t step = 0; step < op.getSteps(); ++step) {
      if (!op.isAInRegisters()) {
        writeDescriptor('a', (*op.getAOffsets())[step]);
      }
      for (int64_t part = 0; part < op.getParts(); ++part) {
        writeInstruction(step, part);
      }
    }
    os << "wgmma.commit_group.sync.aligned;\n}";
    return os.str();
  }

private:
  void openScope() {
    os << "{\n.reg .pred no, yes" << (op.getFresh() ? ", adds" : "")
       << ";\n.reg .b32 high;\n"
          ".reg .b64 base_a, base_b, desc_a, desc_b;\n";
    if (op.getADescHi()) {
      writeBase('a', code.input(0, 0), *op.getADescHi());
    }
    writeBase('b', code.input(1, 0), op.getBDescHi());
    os << "setp.ne.b32 no, 0, 0;\nsetp.eq.b32 yes, 0, 0;\n";
    if (op.getFresh()) {
      os << "setp.eq.b32 adds, " << code.input(2, 0) << ", 0;\n";
    }
    os << "wgmma.fence.sync.aligned;\n";
  }

  /// Returns whether a k step adds to the old contents of D's registers.
  StringRef addsTo(int64_t step) {
    if (step > 0) {
      return "yes";
    }
    return op.getFresh() ? "adds" : op.getAcc() ? "yes" : "no";
  }

  /// Writes an operand's descriptor without the offset of a step. Each step
  /// adds its offset to all 64 bits: ptxas keeps a descriptor in two uniform
  /// registers, and copies the high one wherever only the low one is added to.
  void writeBase(char operand, const std::string &low, uint32_t high) {
    os << "mov.b32 high, " << high << ";\n"
       << "mov.b64 base_" << operand << ", {" << low << ", high};\n";
  }

  void writeDescriptor(char operand, int32_t offset) {
    os << "add.s64 desc_" << operand << ", base_" << operand << ", " << offset
       << ";\n";
  }

  void writeList(int64_t count, llvm::function_ref<std::string(int64_t)> name) {
    os << "{";
    for (int64_t i = 0; i < count; ++i) {
      os << (i ? ", " : "") << name(i);
    }
    os << "}, ";
  }

  void writeInstruction(int64_t step, int64_t part) {
    bool shared = !op.isAInRegisters();
    bool half = op.getElement() == nvx::ElementType::BF16 ||
                op.getElement() == nvx::ElementType::F16;
    int64_t columns = op.getN() / op.getParts();
    writeDescriptor('b', op.getBOffsets()[step] +
                             (op.getBParts() ? (*op.getBParts())[part] : 0));
    StringRef kind = nvx::stringifyElementType(op.getElement());
    os << "wgmma.mma_async.sync.aligned.m64n" << columns << "k"
       << (half ? 16 : 32) << ".f32." << kind << "." << kind << " ";
    writeList(columns / 2, [&](int64_t i) {
      return code.result(0, part * columns / 2 + i);
    });
    if (shared) {
      os << "desc_a, ";
    } else {
      writeList(4, [&](int64_t i) { return code.input(0, 4 * step + i); });
    }
    os << "desc_b, " << addsTo(step) << ", 1, 1";
    if (half && shared) {
      os << ", " << op.getTransposeA();
    }
    if (half) {
      os << ", " << op.getTransposeB();
    }
    os << ";\n";
  }

  nvx::WgmmaOp op;
  const InlineAsm &code;
  std::string buffer;
  llvm::raw_string_ostream os{buffer};
};

struct LowerWgmma : OpRewritePattern<nvx::WgmmaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nvx::WgmmaOp op,
                                PatternRewriter &rewriter) const override {
    InlineAsm code(rewriter, op.getLoc());
    if (op.getAcc()) {
      code.addReadWrite(op.getAcc());
    } else {
      code.addResult(op.getResult().getType());
    }
    code.addInput(op.getA());
    code.addInput(op.getB());
    if (op.getFresh()) {
      code.addInput(LLVM::ZExtOp::create(rewriter, op.getLoc(),
                                         rewriter.getI32Type(), op.getFresh()));
    }
    rewriter.replaceOp(op, code.create(WgmmaText(op, code).write()));
    return success();
  }
};

struct LowerWgmmaWait : OpRewritePattern<nvx::WgmmaWaitOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nvx::WgmmaWaitOp op,
                                PatternRewriter &rewriter) const override {
    InlineAsm code(rewriter, op.getLoc());
    for (Value value : op.getValues()) {
      code.addReadWrite(value);
    }
    rewriter.replaceOp(op, code.create("wgmma.wait_group.sync.aligned " +
                                       std::to_string(op.getPending()) + ";"));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

struct LowerPack : OpRewritePattern<nvx::PackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nvx::PackOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    bool bf16 = op.getElement() == nvx::ElementType::BF16;
    Type half = bf16 ? Type(rewriter.getBF16Type()) : rewriter.getF16Type();
    StringRef intrinsic =
        bf16 ? "llvm.nvvm.ff2bf16x2.rn" : "llvm.nvvm.ff2f16x2.rn";
    SmallVector<Value> source = unpackElements(rewriter, loc, op.getSource());
    SmallVector<Value> packed;
    for (size_t i = 0; i < source.size(); i += 2) {
      // The first operand of the instruction becomes the high half.
      Value pair =
          LLVM::CallIntrinsicOp::create(rewriter, loc, VectorType::get(2, half),
                                        rewriter.getStringAttr(intrinsic),
                                        ValueRange{source[i + 1], source[i]})
              .getResults();
      packed.push_back(
          LLVM::BitcastOp::create(rewriter, loc, rewriter.getI32Type(), pair));
    }
    rewriter.replaceOp(
        op, packElements(rewriter, loc, op.getResult().getType(), packed));
    return success();
  }
};

struct LowerReduceAdd : OpRewritePattern<nvx::ReduceAddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nvx::ReduceAddOp op,
                                PatternRewriter &rewriter) const override {
    InlineAsm code(rewriter, op.getLoc());
    code.addInput(op.getAddress());
    code.addInput(op.getValues());
    bool isPair =
        cast<VectorType>(op.getValues().getType()).getNumElements() == 2;
    code.create(isPair ? "red.relaxed.gpu.global.add.v2.f32 [$0], {$1, $2};"
                       : "red.relaxed.gpu.global.add.v4.f32 [$0], {$1, $2, "
                         "$3, $4};");
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerBulkReduceAdd : OpRewritePattern<nvx::BulkReduceAddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nvx::BulkReduceAddOp op,
                                PatternRewriter &rewriter) const override {
    InlineAsm code(rewriter, op.getLoc());
    code.addInput(op.getAddress());
    code.addInput(op.getSource());
    code.create(llvm::formatv("cp.reduce.async.bulk.global.shared::cta."
                              "bulk_group.add.f32 [$0], [$1], {0};",
                              op.getBytes())
                    .str());
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerTurnWait : OpRewritePattern<nvx::TurnWaitOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nvx::TurnWaitOp op,
                                PatternRewriter &rewriter) const override {
    InlineAsm code(rewriter, op.getLoc());
    code.addInput(op.getAddress());
    code.addInput(op.getTurn());
    code.addInput(LLVM::ZExtOp::create(rewriter, op.getLoc(),
                                       rewriter.getI32Type(), op.getWaits()));
    code.create("{\n.reg .pred waits;\n.reg .b32 now;\n"
                "setp.ne.b32 waits, $2, 0;\nagain:\n"
                "@waits ld.acquire.gpu.global.b32 now, [$0];\n"
                "@waits setp.ne.b32 waits, now, $1;\n"
                "@waits bra again;\n}");
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerTurnPass : OpRewritePattern<nvx::TurnPassOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nvx::TurnPassOp op,
                                PatternRewriter &rewriter) const override {
    InlineAsm code(rewriter, op.getLoc());
    code.addInput(op.getAddress());
    code.addInput(op.getTurn());
    code.create("st.release.gpu.global.b32 [$0], $1;");
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerMbarrierWait : OpRewritePattern<nvx::MbarrierWaitOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nvx::MbarrierWaitOp op,
                                PatternRewriter &rewriter) const override {
    InlineAsm code(rewriter, op.getLoc());
    code.addInput(op.getAddress());
    code.addInput(op.getParity());
    code.create("{\n.reg .pred done;\nagain:\n"
                "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\n"
                "@!done bra again;\n}");
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerSmemBase : OpRewritePattern<nvx::SmemBaseOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nvx::SmemBaseOp op,
                                PatternRewriter &rewriter) const override {
    InlineAsm code(rewriter, op.getLoc());
    code.addResult(op.getType());
    std::string text = ("mov.b32 $0, " + op.getVariable() + ";").str();
    rewriter.replaceOp(op, code.create(text));
    return success();
  }
};

struct LowerClusterRank : OpRewritePattern<nvx::ClusterRankOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nvx::ClusterRankOp op,
                                PatternRewriter &rewriter) const override {
    InlineAsm code(rewriter, op.getLoc());
    code.addResult(op.getType());
    rewriter.replaceOp(op, code.create("mov.u32 $0, %cluster_ctarank;"));
    return success();
  }
};

struct LowerStamp : OpRewritePattern<nvx::StampOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nvx::StampOp op,
                                PatternRewriter &rewriter) const override {
    InlineAsm code(rewriter, op.getLoc());
    code.addReadWrite(op.getCursor());
    code.addInput(op.getBase());
    std::string cursor = code.result(0, 0);
    std::string text =
        llvm::formatv("{{\n.reg .pred kept, counted;\n.reg .b32 now, id;\n"
                      ".reg .b64 at;\n"
                      "mov.u32 now, %clock;\n"
                      "mov.b32 id, {0};\n"
                      "setp.lt.u32 kept, {1}, {2};\n"
                      "setp.ge.s32 counted, {1}, 0;\n"
                      "cvt.u64.u32 at, {1};\n"
                      "add.s64 at, at, {3};\n"
                      "@kept st.global.v2.b32 [at], {{now, id};\n"
                      "@counted add.s32 {1}, {1}, {4};\n}",
                      op.getId(), cursor, op.getLimit(), code.input(0, 0),
                      op.getStride())
            .str();
    rewriter.replaceOp(op, code.create(text));
    return success();
  }
};

/// Upstream writes assembly, whose operands must be registers; the intrinsic
/// also takes constants.
struct LowerBarrierArrive : OpRewritePattern<NVVM::BarrierArriveOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NVVM::BarrierArriveOp op,
                                PatternRewriter &rewriter) const override {
    Value id = op.getBarrierId();
    if (!id) {
      id = LLVM::ConstantOp::create(rewriter, op.getLoc(),
                                    rewriter.getI32IntegerAttr(0));
    }
    LLVM::CallIntrinsicOp::create(
        rewriter, op.getLoc(),
        rewriter.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
        ValueRange{id, op.getNumberOfThreads()});
    rewriter.eraseOp(op);
    return success();
  }
};

/// A CTA's own shared memory has the same address in the cluster's window; LLVM
/// would convert through the generic address space.
struct LowerClusterCast : OpRewritePattern<LLVM::AddrSpaceCastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LLVM::AddrSpaceCastOp op,
                                PatternRewriter &rewriter) const override {
    auto from = dyn_cast<LLVM::LLVMPointerType>(op.getArg().getType());
    auto to = dyn_cast<LLVM::LLVMPointerType>(op.getType());
    if (!from || !to || from.getAddressSpace() != 3 ||
        to.getAddressSpace() != 7) {
      return rewriter.notifyMatchFailure(op, "not shared::cta to cluster");
    }
    Value address = LLVM::PtrToIntOp::create(
        rewriter, op.getLoc(), rewriter.getI32Type(), op.getArg());
    rewriter.replaceOpWithNewOp<LLVM::IntToPtrOp>(op, to, address);
    return success();
  }
};

} // namespace

void attn::codegen::populateNvxToLLVMPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerWgmma, LowerWgmmaWait, LowerPack, LowerReduceAdd,
               LowerBulkReduceAdd, LowerTurnWait, LowerTurnPass,
               LowerMbarrierWait, LowerSmemBase, LowerClusterRank, LowerStamp,
               LowerBarrierArrive, LowerClusterCast>(patterns.getContext());
}
