// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions that kernels of other compilers use.

#include "core_kernel.h"

using namespace attn::sim;

namespace {

const char *const kCallee =
    ".func (.param .b32 q) twice(.param .b32 x)\n{\n"
    ".reg .b32 %a;\n.reg .pred %p;\nld.param.b32 %a, [x];\n"
    "setp.gt.u32 %p, %a, 100;\n@%p st.param.b32 [q], 100;\n@%p ret;\n"
    "add.u32 %a, %a, %a;\nst.param.b32 [q], %a;\nret;\n}\n"
    ".func (.param .b32 q) fourfold(.param .b32 x)\n{\n"
    ".reg .b32 %a;\n.param .b32 r;\n"
    "call.uni (r), twice, (x);\ncall (q), twice, (r);\nret;\n}\n";

Kernel runWithFunctions(const std::string &functions, const std::string &body) {
  Kernel kernel;
  kernel.functions = functions;
  kernel.body = body;
  kernel.run();
  return kernel;
}

TEST(Calls, returnByWayOfParameters) {
  Kernel kernel = runWithFunctions(
      kCallee, "mul.lo.u32 %r1, %r0, 9;\nsetp.ne.u32 %p1, %r0, 3;\n"
               "mov.u32 %r2, 7;\n{\n.param .b32 a;\n.param .b32 b;\n"
               "st.param.b32 [a], %r1;\nst.param.b32 [b], %r2;\n"
               "@%p1 call (b), fourfold, (a);\nld.param.b32 %r2, [b];\n}\n"
               "st.global.b32 [%rd1], %r2;\n");
  ASSERT_EQ(kernel.failure, "");
  EXPECT_EQ(kernel.words[2], 4 * 18u);
  EXPECT_EQ(kernel.words[3], 7u);
  EXPECT_EQ(kernel.words[6], 100u);
  EXPECT_EQ(kernel.words[31], 200u);
}

TEST(Calls, seeTheSharedVariablesOfTheModule) {
  Kernel kernel = runWithFunctions(
      ".shared .align 4 .b32 box;\n"
      ".func (.param .b32 q) look()\n{\n.reg .b32 %a;\n"
      "ld.shared.b32 %a, [box];\nst.param.b32 [q], %a;\nret;\n}\n",
      ".shared .align 4 .b32 own;\nst.shared.b32 [own], 5;\n"
      "st.shared.b32 [box], 7;\nbar.warp.sync -1;\n{\n.param .b32 a;\ncall "
      "(a), look;\n"
      "ld.param.b32 %r1, [a];\n}\nst.global.b32 [%rd1], %r1;\n");
  ASSERT_EQ(kernel.failure, "");
  EXPECT_EQ(kernel.words[0], 7u);
}

TEST(Calls, refuseSharedVariablesOfFunctions) {
  Kernel kernel = runWithFunctions(
      ".func f()\n{\n.shared .align 4 .b32 own;\nret;\n}\n", "call f;\n");
  EXPECT_NE(kernel.failure.find("shared variables of called functions are not "
                                "supported"),
            std::string::npos)
      << kernel.failure;
}

TEST(Calls, refuseRecursionAndMissingBodies) {
  Kernel recursive =
      runWithFunctions(".func f()\n{\ncall f;\nret;\n}\n", "call f;\n");
  EXPECT_NE(recursive.failure.find("'f' cannot be inlined: it is recursive"),
            std::string::npos)
      << recursive.failure;
  Kernel missing = runWithFunctions(".extern .func g();\n", "call g;\n");
  EXPECT_NE(missing.failure.find("no function 'g' with a body"),
            std::string::npos)
      << missing.failure;
}

/// Functions f1 to f11, each of which calls the next one `calls` times.
std::string makeChain(int calls) {
  std::string functions;
  for (int i = 1; i <= 11; ++i) {
    functions += ".func f" + std::to_string(i) + "()\n{\n.reg .b32 %a;\n";
    for (int n = 0; n < calls && i < 11; ++n) {
      functions += "call f" + std::to_string(i + 1) + ";\n";
    }
    functions += "mov.b32 %a, 1;\nret;\n}\n";
  }
  return functions;
}

TEST(Calls, refuseMoreThanCanBeChecked) {
  EXPECT_EQ(runWithFunctions(makeChain(1), "call f1;\n").failure, "");
  Kernel large = runWithFunctions(makeChain(3), "call f1;\n");
  EXPECT_NE(large.failure.find("expected a kernel of at most 8589934592 "
                               "registers times blocks of instructions, got "),
            std::string::npos)
      << large.failure;
  large.hazards = HazardMode::Off;
  EXPECT_EQ(large.run(), "");
  EXPECT_NE(runWithFunctions(makeChain(4), "call f1;\n")
                .failure.find("'f1' cannot be inlined: it is recursive"),
            std::string::npos);
}

TEST(AsyncCopies, arriveAndFillWithZeros) {
  for (uint64_t seed : {0, 1, 2, 3, 4}) {
    Kernel kernel =
        runKernel("add.u32 %r1, %r0, 5;\nst.global.b32 [%rd1], %r1;\n"
                  "mov.u32 %r2, smem;\nmad.lo.u32 %r3, %r0, 4, %r2;\n"
                  "and.b32 %r4, %r0, 4;\n"
                  "cp.async.ca.shared.global [%r3], [%rd1], 4, %r4;\n"
                  "cp.async.commit_group;\ncp.async.wait_group 0;\n"
                  "ld.shared.b32 %r5, [%r3];\nst.global.b32 [%rd1+128], %r5;\n",
                  32, seed);
    ASSERT_EQ(kernel.failure, "");
    EXPECT_EQ(kernel.words[32 + 3], 0u);
    EXPECT_EQ(kernel.words[32 + 4], 9u);
  }
}

TEST(AsyncCopies, arePoisonBeforeTheWait) {
  Kernel kernel;
  kernel.body = "mov.u32 %r2, smem;\nmad.lo.u32 %r3, %r0, 4, %r2;\n"
                "cp.async.ca.shared.global [%r3], [%rd1], 4;\n"
                "ld.shared.b32 %r5, [%r3];\nst.global.b32 [%rd1+128], %r5;\n";
  kernel.hazards = HazardMode::Off;
  kernel.run();
  ASSERT_EQ(kernel.failure, "");
  EXPECT_EQ(kernel.words[32], 0xffffffffu);
}

TEST(AsyncCopies, countTheirArrivals) {
  const std::string start =
      "mov.u32 %r2, smem;\nadd.u32 %r6, %r2, 1024;\nsetp.eq.u32 %p1, %r0, 0;\n"
      "@%p1 mbarrier.init.shared::cta.b64 [%r6], 32;\nbar.warp.sync -1;\n"
      "mad.lo.u32 %r3, %r0, 4, %r2;\nst.global.b32 [%rd1], %r0;\n"
      "cp.async.ca.shared.global [%r3], [%rd1], 4;\n";
  const std::string wait =
      "mov.u32 %r7, 0;\nW: mbarrier.try_wait.parity.shared::cta.b64 %p2, "
      "[%r6], %r7;\n@!%p2 bra W;\nxor.b32 %r8, %r3, 4;\n"
      "ld.shared.b32 %r5, [%r8];\nst.global.b32 [%rd1+128], %r5;\n";
  for (uint64_t seed : {0, 1, 2, 3}) {
    Kernel one = runKernel(
        start + "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r6];\n" +
            wait,
        32, seed);
    ASSERT_EQ(one.failure, "");
    EXPECT_EQ(one.words[32 + 6], 7u);
    Kernel both =
        runKernel(start +
                      "cp.async.mbarrier.arrive.shared::cta.b64 [%r6];\n"
                      "mbarrier.arrive.shared::cta.b64 _, [%r6];\n" +
                      wait,
                  32, seed);
    ASSERT_EQ(both.failure, "");
    EXPECT_EQ(both.words[32 + 6], 7u);
  }
}

TEST(NamedBarriers, reduce) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    Kernel kernel = runKernel(
        "setp.lt.u32 %p1, %r0, 40;\nbar.red.popc.u32 %r1, 1, %p1;\n"
        "barrier.cta.red.and.aligned.pred %p2, 2, %p1;\n"
        "bar.red.or.pred %p3, 2, 64, !%p1;\nselp.b32 %r2, 100, 0, %p2;\n"
        "selp.b32 %r3, 1000, 0, %p3;\nadd.u32 %r1, %r1, %r2;\n"
        "add.u32 %r1, %r1, %r3;\nst.global.b32 [%rd1], %r1;\n",
        64, seed);
    ASSERT_EQ(kernel.failure, "");
    EXPECT_EQ(kernel.words[0], 1040u);
    EXPECT_EQ(kernel.words[63], 1040u);
  }
}

TEST(Integers, carry) {
  Kernel kernel = runKernel(
      "mov.u32 %r1, -1;\nadd.cc.u32 %r2, %r1, %r0;\naddc.u32 %r3, %r1, 0;\n"
      "sub.cc.u32 %r4, 0, %r0;\nsubc.u32 %r5, 10, 2;\n"
      "mad.lo.cc.u32 %r6, %r1, 2, %r1;\nmadc.hi.u32 %r7, %r1, 2, 0;\n"
      "shl.b32 %r5, %r5, 8;\nor.b32 %r3, %r3, %r5;\n"
      "shl.b32 %r7, %r7, 16;\nor.b32 %r3, %r3, %r7;\n"
      "st.global.b32 [%rd1], %r3;\n");
  ASSERT_EQ(kernel.failure, "");
  EXPECT_EQ(kernel.words[0], 0xffffffffu);
  EXPECT_EQ(kernel.words[1], 0x00020700u);
}

TEST(Polling, seesCopiesComplete) {
  Kernel kernel = runKernel(
      "mov.u32 %r2, smem;\nadd.u32 %r6, %r2, 1024;\nsetp.eq.u32 %p1, %r0, 0;\n"
      "@!%p1 exit;\nmbarrier.init.shared::cta.b64 [%r6], 1;\n"
      "fence.mbarrier_init.release.cluster;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r6], 16;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%r2], [%rd0], 16, [%r6];\nmov.u32 %r7, 0;\n"
      "W: mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r6], %r7;\n"
      "@!%p2 bra W;\nmov.u32 %r8, 5;\nst.global.b32 [%rd0], %r8;\n");
  ASSERT_EQ(kernel.failure, "");
  EXPECT_EQ(kernel.words[0], 5u);
}

/// A has element (row, k) = row + 2k, B (k, n) = k - n, C is 1.
TEST(MatrixMultiply, putsFragmentsInPlace) {
  Kernel kernel = runKernel(
      "shr.u32 %r1, %r0, 2;\nand.b32 %r2, %r0, 3;\nshl.b32 %r2, %r2, 2;\n"
      // Four bytes of A from k = 4 (lane % 4): row + 2k and on by 2.
      "shl.b32 %r3, %r2, 1;\nadd.u32 %r3, %r3, %r1;\n"
      "mad.lo.u32 %r4, %r3, 0x01010101, 0x06040200;\n"
      "mad.lo.u32 %r5, 8, 0x01010101, %r4;\n"
      // Of B: k - n as signed bytes, k from 16 to stay positive.
      "sub.u32 %r6, %r2, %r1;\nadd.u32 %r6, %r6, 16;\n"
      "mad.lo.u32 %r7, %r6, 0x01010101, 0x03020100;\n"
      "mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 "
      "{%r10, %r11, %r12, %r13}, {%r4, %r5}, {%r7}, {1, 1, 1, 1};\n"
      "mad.lo.u32 %r20, %r0, 12, 0;\ncvt.u64.u32 %rd3, %r20;\n"
      "add.s64 %rd3, %rd1, %rd3;\n"
      "st.global.v4.b32 [%rd3], {%r10, %r11, %r12, %r13};\n");
  ASSERT_EQ(kernel.failure, "");
  for (uint32_t row = 0; row < 16; ++row) {
    for (uint32_t n = 0; n < 8; ++n) {
      uint32_t sum = 1;
      for (uint32_t k = 0; k < 16; ++k) {
        sum += (row + 2 * k) * (16 + k - n);
      }
      uint32_t lane = row % 8 * 4 + n / 2;
      EXPECT_EQ(kernel.words[lane * 4 + row / 8 * 2 + n % 2], sum);
    }
  }
}

TEST(MatrixMultiply, refusesOtherShapes) {
  Kernel kernel = runKernel("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 "
                            "{%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, "
                            "{%r1, %r2}, {%r1, %r2, %r3, %r4};\n");
  EXPECT_NE(kernel.failure.find("unsupported form 'mma"), std::string::npos)
      << kernel.failure;
}

TEST(Hints, checkTheirAddresses) {
  Kernel kernel = runKernel("createpolicy.fractional.L2::evict_last.b64 %rd5, "
                            "0.5;\nld.global.L2::cache_hint.b32 %r1, [%rd1], "
                            "%rd5;\nprefetch.global.L2 [%rd1];\n"
                            "add.s64 %rd6, %rd0, 4;\n"
                            "discard.global.L2 [%rd6+1], 128;\n");
  EXPECT_NE(kernel.failure.find("not a multiple of 128"), std::string::npos)
      << kernel.failure;
}

TEST(Atomics, changeEachElementOfAVector) {
  Kernel kernel = runKernel(
      "and.b32 %r9, %r0, 1;\nmul.wide.u32 %rd2, %r9, 16;\n"
      "add.s64 %rd2, %rd2, %rd0;\nmov.b32 %r1, 0f3f800000;\n"
      "mov.b32 %r2, 0f40000000;\n"
      "red.global.add.v4.f32 [%rd2], {%r1, %r2, %r1, %r2};\n"
      "mov.b32 %r3, 0x40003c00;\n"
      "atom.global.v2.f16x2.max.noftz {%r4, %r5}, [%rd0+64], {%r3, %r3};\n");
  ASSERT_EQ(kernel.failure, "");
  EXPECT_EQ(kernel.words[0], 0x41800000u); // 16
  EXPECT_EQ(kernel.words[5], 0x42000000u); // 32
  EXPECT_EQ(kernel.words[17], 0x40003c00u);
}

TEST(Atomics, refuseOtherVectors) {
  for (const char *text :
       {"red.global.add.v8.f32 [%rd0], {%r1};\n",
        "red.global.v2.f16.inc.noftz [%rd0], {%rs1, %rs2};\n",
        "red.global.min.v2.f32 [%rd0], {%r1, %r2};\n",
        "red.global.add.v2.f32 [%rd0], {%r1, %r2, %r3};\n",
        "red.shared.add.v2.f32 [%r0], {%r1, %r2};\n"}) {
    EXPECT_NE(runKernel(text).failure, "") << text;
  }
  EXPECT_EQ(runKernel("red.global.add.v4.f32 [%rd0+8], {%r0, %r0, %r0, %r0};\n")
                    .failure.find("misaligned") == std::string::npos,
            false);
}

TEST(Wide, movesLoadsAndExchanges) {
  Kernel kernel = runKernel(
      ".reg .b128 %q<4>;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 ret;\nmov.b64 %rd2, "
      "0x1111222233334444;\n"
      "mov.b64 %rd3, 0x5555666677778888;\nmov.b128 %q0, {%rd2, %rd3};\n"
      "mov.b128 %q1, %q0;\nst.global.b128 [%rd0], %q1;\n"
      "ld.global.b128 %q2, [%rd0];\nmov.b128 {%rd4, %rd5}, %q2;\n"
      "mov.b128 %q3, {%rd5, %rd4};\n"
      "atom.global.exch.b128 %q1, [%rd0+16], %q3;\n"
      "atom.global.cas.b128 %q1, [%rd0+16], %q3, %q0;\n"
      "atom.global.cas.b128 %q1, [%rd0+16], %q3, %q3;\n"
      "st.global.b128 [%rd0+32], %q1;\n");
  ASSERT_EQ(kernel.failure, "");
  const uint32_t given[] = {0x33334444, 0x11112222, 0x77778888, 0x55556666};
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(kernel.words[i], given[i]);
    EXPECT_EQ(kernel.words[4 + i], given[i]);
    EXPECT_EQ(kernel.words[8 + i], given[i]);
  }
}

TEST(Wide, operandsAreRegisters) {
  for (const char *text :
       {"st.global.b128 [%rd0], 7;\n", "st.global.b128 [%rd0], smem;\n",
        "st.global.b128 [%rd0], %rd1;\n",
        "ld.global.v2.b128 {%rd1, %rd2}, [%rd0];\n"}) {
    EXPECT_NE(runKernel(text).failure, "") << text;
  }
}

TEST(Opcodes, areErrorsWhereUnknown) {
  Kernel kernel = runKernel("add.u32 %r1, %r0, 1;\nfrobnicate.b32 %r1, %r0;\n");
  EXPECT_EQ(kernel.failure, "16:1: unknown opcode 'frobnicate'");
}

} // namespace
