// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of tensor copies of sm_100: mbarriers in a pair of CTAs, and rows with
// coordinates of their own.

#include "core_kernel.h"
#include "units/tensor_map.h"

#include <algorithm>

using namespace attn::sim;

namespace {

/// A tensor of rows of 32 words each, from this word on; the map is before it.
constexpr unsigned kRow = 32;
constexpr unsigned kRows = 16;
constexpr unsigned kTensor = 512;
constexpr unsigned kOut = 2048;

/// Of a kernel that finds the map at %rd2, and the word of its thread and CTA
/// in a part of the output at %rd3.
Kernel runCopy(const std::string &body, unsigned boxRows, unsigned cluster,
               uint64_t seed) {
  Kernel kernel;
  kernel.version = "8.8";
  kernel.target = "sm_100a";
  kernel.grid = cluster;
  kernel.cluster = cluster;
  kernel.seed = seed;
  kernel.threads = 128;
  auto start = reinterpret_cast<uintptr_t>(kernel.words.data());
  const unsigned skipped = (64 - start % 64) % 64 / 4;
  TensorMap map;
  map.type = TensorType::U32;
  map.rank = 2;
  map.globalAddress = start + 4 * (skipped + kTensor);
  map.globalDim[0] = kRow;
  map.globalDim[1] = kRows;
  map.globalStrides[0] = 4 * kRow;
  map.boxDim[0] = kRow;
  map.boxDim[1] = boxRows;
  map.swizzle = Swizzle::B128;
  EXPECT_EQ(
      encodeTensorMap(map, reinterpret_cast<uint8_t *>(&kernel.words[skipped])),
      "");
  for (unsigned i = 0; i < kRow * kRows; ++i) {
    kernel.words[skipped + kTensor + i] = 1000 + i;
  }
  kernel.body =
      "add.s64 %rd2, %rd0, " + std::to_string(4 * skipped) +
      ";\nmov.u32 %r1, %cluster_ctarank;\nmad.lo.u32 %r2, %r1, 128, %r0;\n"
      "mul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd3, %rd2, %rd3;\n"
      "add.s64 %rd3, %rd3, " +
      std::to_string(4 * kOut) +
      ";\nmov.u32 %r3, smem;\nsetp.ne.u32 %p1, %r0, 0;\n"
      "@%p1 bra made;\nmbarrier.init.shared::cta.b64 [smem+1024], 1;\n"
      "fence.mbarrier_init.release.cluster;\nmade:\n"
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
      // Word %r0 of a tile whose rows are swizzled.
      "shl.b32 %r4, %r0, 2;\nshr.u32 %r5, %r4, 3;\nand.b32 %r5, %r5, 0x70;\n"
      "xor.b32 %r4, %r4, %r5;\nadd.u32 %r4, %r4, %r3;\n" +
      body;
  kernel.run();
  kernel.words.erase(kernel.words.begin(), kernel.words.begin() + skipped);
  return kernel;
}

const std::string kWait =
    "wait:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, "
    "[smem+1024], 0;\n@!%p2 bra wait;\n";
const std::string kMeet =
    "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
const std::string kStoreTile =
    "ld.shared.u32 %r9, [%r4];\nst.global.u32 [%rd3], %r9;\n" + kMeet +
    "ret;\n";

/// A copy of 4 rows each by the CTAs of two pairs, of which the second CTA
/// counts the bytes.
TEST(PairCopy, signalsTheOtherCta) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Kernel kernel = runCopy(
        "and.b32 %r10, %r1, 1;\nsetp.eq.u32 %p3, %r10, 0;\n"
        "or.pred %p4, %p1, %p3;\n"
        "@!%p4 mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem+1024], "
        "1024;\nor.b32 %r11, %r3, 0x1000000;\nshl.b32 %r12, %r1, 2;\n"
        "mov.u32 %r13, 0;\n"
        "@!%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile."
        "mbarrier::complete_tx::bytes.cta_group::2 [smem], "
        "[%rd2, {%r13, %r12}], [%r11+1024];\n"
        "@%p3 bra waited;\n" +
            kWait + "waited:\n" + kMeet + kStoreTile,
        4, 4, seed);
    ASSERT_EQ(kernel.failure, "");
    for (unsigned i = 0; i < 4 * 128; ++i) {
      ASSERT_EQ(kernel.words[kOut + i], 1000 + i);
    }
  }
}

/// A multicast to four CTAs signals the first of each pair, for both.
TEST(PairCopy, signalsOneCtaOfEachPair) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Kernel kernel = runCopy(
        "and.b32 %r10, %r1, 1;\nsetp.ne.u32 %p3, %r10, 0;\n"
        "or.pred %p4, %p1, %p3;\n"
        "@!%p4 mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem+1024], "
        "1024;\n" +
            kMeet +
            "mov.u32 %r13, 0;\nmov.u32 %r14, 8;\nmov.u16 %rs1, 15;\n"
            "setp.ne.u32 %p5, %r1, 2;\nor.pred %p5, %p5, %p1;\n"
            "@!%p5 cp.async.bulk.tensor.2d.shared::cluster.global.tile."
            "mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2 "
            "[smem], [%rd2, {%r13, %r14}], [smem+1024], %rs1;\n"
            "@%p3 bra waited;\n" +
            kWait + "waited:\n" + kMeet + kStoreTile,
        4, 4, seed);
    ASSERT_EQ(kernel.failure, "");
    for (unsigned i = 0; i < 4 * 128; ++i) {
      ASSERT_EQ(kernel.words[kOut + i], 1000 + 8 * kRow + i % 128);
    }
  }
}

const std::string kFourRows = "mov.u32 %r20, 0;\nmov.u32 %r21, 7;\n"
                              "mov.u32 %r22, 2;\nmov.u32 %r23, 16;\n"
                              "mov.u32 %r24, 11;\n";
const unsigned kWanted[4] = {7, 2, 16, 11};

TEST(FourRows, areGathered) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Kernel kernel = runCopy(
        kFourRows +
            "@!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem+1024], "
            "512;\n"
            "@!%p1 cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4."
            "mbarrier::complete_tx::bytes [smem], "
            "[%rd2, {%r20, %r21, %r22, %r23, %r24}], [smem+1024];\n" +
            kWait + kStoreTile,
        1, 1, seed);
    ASSERT_EQ(kernel.failure, "");
    for (unsigned i = 0; i < 128; ++i) {
      unsigned row = kWanted[i / kRow];
      unsigned value = row < kRows ? 1000 + row * kRow + i % kRow : 0;
      ASSERT_EQ(kernel.words[kOut + i], value) << i;
    }
  }
}

TEST(FourRows, areScattered) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Kernel kernel = runCopy(
        kFourRows +
            "st.shared.u32 [%r4], %r0;\nfence.proxy.async.shared::cta;\n"
            "bar.sync 0;\n"
            "@!%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4."
            "bulk_group [%rd2, {%r20, %r21, %r22, %r23, %r24}], [smem];\n"
            "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n",
        1, 1, seed);
    ASSERT_EQ(kernel.failure, "");
    for (unsigned i = 0; i < kRow * kRows; ++i) {
      const unsigned *found =
          std::find(kWanted, kWanted + 4, unsigned(i / kRow));
      bool isWritten = found != kWanted + 4;
      unsigned value =
          isWritten ? unsigned(found - kWanted) * kRow + i % kRow : 1000 + i;
      ASSERT_EQ(kernel.words[kTensor + i], value) << i;
    }
  }
}

TEST(FourRows, needATensorMapOfOneRow) {
  auto run = [](const std::string &body, unsigned boxRows) {
    return runCopy(kFourRows + body, boxRows, 1, 0).failure;
  };
  const std::string copy =
      "@!%p1 cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4."
      "mbarrier::complete_tx::bytes [smem], ";
  EXPECT_NE(run(copy + "[%rd2, {%r20, %r21, %r22, %r23, %r24}], "
                       "[smem+1024];\nret;\n",
                4)
                .find("expected a tensor map of rank 2 with a box of one row, "
                      "got rank 2 and 4 rows [tensormap.invalid]"),
            std::string::npos);
  EXPECT_NE(run(copy + "[%rd2, {%r20, %r21}], [smem+1024];\nret;\n", 1)
                .find("expected [map, {5 coordinates}]"),
            std::string::npos);
}

} // namespace
