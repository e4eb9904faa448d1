// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and stores of 256 bits.

#include "lanes_kernel.h"

using namespace attn::sim;

namespace {

uint32_t filled(size_t i) { return uint32_t(i * 0x01000193); }

/// The words of a kernel from a multiple of 32 bytes on.
struct Wide {
  std::string failure;
  std::vector<uint32_t> words;
};

/// Each thread has 32 bytes of the first kilobyte, at %rd2, and as many of the
/// second, at %rd3; %rd0 is their start.
Wide runWide(const std::string &body, const std::string &target = "sm_100a",
             unsigned fresh = 0) {
  Kernel kernel;
  kernel.version = "9.0";
  kernel.target = target;
  auto start = reinterpret_cast<uintptr_t>(kernel.words.data());
  size_t skipped = (32 - start % 32) % 32 / 4;
  kernel.freshWords = fresh ? unsigned(skipped) + fresh : 0;
  for (size_t i = 0; i < 512; ++i) {
    kernel.words[skipped + i] = filled(i);
  }
  kernel.body = "add.s64 %rd0, %rd0, " + std::to_string(4 * skipped) +
                ";\nmul.wide.u32 %rd2, %r0, 32;\nadd.s64 %rd2, %rd0, %rd2;\n"
                "add.s64 %rd3, %rd2, 1024;\n" +
                body;
  kernel.run();
  return {kernel.failure,
          {kernel.words.begin() + ptrdiff_t(skipped), kernel.words.end()}};
}

const std::string kLoad =
    "{%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%rd2];\n";
const std::string kStore =
    " [%rd3], {%r17, %r16, %r15, %r14, %r13, %r12, %r11, %r10};\n";

TEST(WideAccesses, moveEightWords) {
  for (const char *target : {"sm_100", "sm_100f", "sm_100a", "sm_103a"}) {
    for (const char *load :
         {"ld.global.v8.b32 ", "ld.v8.f32 ", "ld.global.nc.v8.u32 ",
          "ld.relaxed.gpu.global.v8.b32 ",
          "ld.global.L1::no_allocate.L2::evict_first.v8.b32 "}) {
      Wide kernel = runWide(
          load + kLoad + "st.global.L2::evict_last.v8.b32" + kStore, target);
      ASSERT_EQ(kernel.failure, "");
      for (size_t i = 0; i < 256; ++i) {
        ASSERT_EQ(kernel.words[256 + i], filled(i ^ 7));
      }
    }
  }
}

TEST(WideAccesses, moveFourWordsOf64Bits) {
  Wide kernel = runWide("ld.global.v4.b64 {%rd4, %rd5, %rd6, %rd7}, [%rd2];\n"
                        "st.v4.f64 [%rd3], {%rd7, %rd6, %rd5, %rd4};\n");
  ASSERT_EQ(kernel.failure, "");
  for (size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(kernel.words[256 + i], filled(i ^ 6));
  }
}

TEST(WideAccesses, leaveOutWhatHasNoRegister) {
  Wide kernel = runWide("ld.global.v8.b32 {%r10, _, %r11, %r12, _, %r13, "
                        "%r14, _}, [%rd2];\n"
                        "st.global.v8.b32 [%rd3], {_, %r10, %r11, _, _, "
                        "%r12, 7, _};\n");
  ASSERT_EQ(kernel.failure, "");
  for (size_t i = 0; i < 256; i += 8) {
    const uint32_t *got = &kernel.words[256 + i];
    for (size_t kept : {0, 3, 4, 7}) {
      EXPECT_EQ(got[kept], filled(256 + i + kept));
    }
    EXPECT_EQ(got[1], filled(i));
    EXPECT_EQ(got[2], filled(i + 2));
    EXPECT_EQ(got[5], filled(i + 3));
    EXPECT_EQ(got[6], 7u);
  }
}

/// Two threads share 32 bytes, and each has its own half.
TEST(WideAccesses, accessOnlyWhatHasARegister) {
  const std::string shared =
      "and.b32 %r20, %r0, 30;\nmul.wide.u32 %rd4, %r20, 32;\n"
      "add.s64 %rd4, %rd0, %rd4;\nand.b32 %r21, %r0, 1;\n"
      "setp.eq.u32 %p1, %r21, 0;\n";
  Wide kernel = runWide(
      shared +
      "@%p1 st.global.v8.b32 [%rd4], {%r0, %r0, %r0, %r0, _, _, _, _};\n"
      "@!%p1 st.global.v8.b32 [%rd4], {_, _, _, _, %r0, %r0, %r0, %r0};\n");
  ASSERT_EQ(kernel.failure, "");
  for (uint32_t i = 0; i < 256; ++i) {
    EXPECT_EQ(kernel.words[i], i / 8 % 2   ? filled(i)
                               : i % 8 < 4 ? i / 8
                                           : i / 8 + 1);
  }
  kernel = runWide(
      shared +
      "@%p1 st.global.v8.b32 [%rd4], {%r0, %r0, %r0, %r0, %r0, _, _, _};\n"
      "@!%p1 st.global.v8.b32 [%rd4], {_, _, _, _, %r0, %r0, %r0, %r0};\n");
  EXPECT_NE(kernel.failure.find("[race.global]"), std::string::npos)
      << kernel.failure;
}

TEST(WideAccesses, readWhatIsWritten) {
  Wide kernel = runWide("ld.global.v8.b32 " + kLoad, "sm_100a", 8);
  EXPECT_NE(kernel.failure.find("[uninit.global]"), std::string::npos)
      << kernel.failure;
  EXPECT_EQ(runWide("setp.eq.u32 %p1, %r0, 0;\n@%p1 ld.global.v8.b32 "
                    "{_, _, _, _, %r10, %r11, %r12, %r13}, [%rd2];\n",
                    "sm_100a", 4)
                .failure,
            "");
}

TEST(WideAccesses, areAligned) {
  Wide kernel = runWide("add.s64 %rd2, %rd2, 16;\nld.global.v8.b32 " + kLoad);
  EXPECT_NE(kernel.failure.find("is not a multiple of 32 [memory.align]"),
            std::string::npos)
      << kernel.failure;
}

TEST(WideAccesses, reachGlobalMemoryAlone) {
  Wide kernel = runWide("mov.u32 %r1, smem;\ncvt.u64.u32 %rd4, %r1;\n"
                        "cvta.shared.u64 %rd4, %rd4;\n"
                        "setp.eq.u32 %p1, %r0, 0;\n"
                        "@%p1 st.v4.b64 [%rd4], {%rd2, %rd2, %rd2, %rd2};\n");
  EXPECT_NE(kernel.failure.find("expected global memory"), std::string::npos)
      << kernel.failure;
}

TEST(WideAccesses, refuseWhatIsNoForm) {
  const std::string eight = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}";
  EXPECT_EQ(refusal("ld.shared.v8.b32 " + eight + ", [smem];"),
            "expected global memory of an access of 256 bits");
  EXPECT_EQ(refusal("st.shared::cta.v4.b64 [smem], {%rd1, %rd2, %rd3, %rd4};"),
            "expected global memory of an access of 256 bits");
  EXPECT_EQ(refusal("ld.global.v8.b16 {%rs1, %rs2, %rs3, %rs4, %rs5, %rs6, "
                    "%rs7, %rs8}, [%rd0];"),
            "expected elements of 32 bits with .v8");
  EXPECT_EQ(refusal("ld.global.L2::evict_first.v4.b32 {%r1, %r2, %r3, %r4}, "
                    "[%rd0];"),
            "expected .v8 of 32 bits or .v4 of 64 bits with an eviction "
            "priority of L2");
  EXPECT_EQ(refusal("st.global.v4.b32 [%rd0], {%r1, _, %r3, %r4};"),
            "expected a register or an immediate");
  EXPECT_EQ(refusal("ld.global.v8.b32 " + eight + ", [%rd0];", "sm_90a"),
            "expected '.target' sm_100, sm_100f, sm_100a, sm_103, sm_103f, "
            "sm_103a for 'ld.global.v8.b32', got sm_90a");
}

} // namespace
