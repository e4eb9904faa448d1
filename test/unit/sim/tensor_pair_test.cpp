// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of tcgen05 of a pair of CTAs: each has half of the rows of A and D,
// and of the columns of B; D of 128 rows is in both halves of the lanes, each
// half of the columns.

#include "core_kernel.h"

#include <random>

using namespace attn::sim;

namespace {

constexpr unsigned kK = 16;
/// Bytes of a CTA's A, and of its B behind that; and A again for tensor memory,
/// a lane after the other.
constexpr unsigned kBytesA = 128 * 32;
constexpr unsigned kBytesB = 128 * 32;
constexpr unsigned kImage = kBytesA + kBytesB + 128 * 32;
/// Words: D of both CTAs, 256 columns a lane.
constexpr unsigned kOut = 2 * kImage / 4;

struct PairCase {
  unsigned m = 256;
  unsigned n = 16;
  bool isAInTensor = false;
  uint64_t seed = 0;
  /// disable-output-lane of lanes 0 to 31 of each CTA.
  uint32_t masks[2] = {0, 0};
};

uint16_t bf16(int value) {
  float number = float(value);
  uint32_t bits = 0;
  std::memcpy(&bits, &number, 4);
  return uint16_t(bits >> 16);
}

std::string columns(unsigned first) {
  std::string text = "{";
  for (unsigned i = 0; i < 8; ++i) {
    text += (i ? ", %r" : "%r") + std::to_string(first + i);
  }
  return text + "}";
}

/// K-major without swizzle: the second 16 bytes of each row are behind the
/// first of all.
uint64_t offset(unsigned row, unsigned k, unsigned rows) {
  return row * 16 + k / 8 * rows * 16 + k % 8 * 2;
}

std::string descriptor(const std::string &to, unsigned at, unsigned rows) {
  return "add.u32 %r9, %r1, " + std::to_string(at) +
         ";\nshr.u32 %r9, %r9, 4;\nand.b32 %r9, %r9, 0x3fff;\nor.b32 %r9, "
         "%r9, " +
         std::to_string((rows * 16 >> 4) << 16) + ";\nmov.b64 " + to +
         ", {%r9, " + std::to_string(8 | 1 << 14) + "};\n";
}

std::string body(const PairCase &pair) {
  unsigned rows = pair.m / 2;
  uint32_t idesc =
      1 << 4 | 1 << 7 | 1 << 10 | pair.n / 8 << 17 | pair.m / 16 << 24;
  std::string text =
      "mov.u32 %r20, %cluster_ctarank;\nsetp.eq.u32 %p0, %r0, 0;\n"
      "setp.lt.u32 %p1, %r0, 32;\nsetp.eq.u32 %p4, %r20, 0;\n"
      "and.pred %p5, %p4, %p0;\n"
      "@%p0 mbarrier.init.shared.b64 [smem+8], 1;\n"
      "@%p0 fence.mbarrier_init.release.cluster;\nmul.lo.u32 %r21, %r20, " +
      std::to_string(kImage) +
      ";\ncvt.u64.u32 %rd2, %r21;\nadd.s64 %rd2, %rd2, %rd0;\n"
      "shl.b32 %r3, %r0, 4;\ncvt.u64.u32 %rd3, %r3;\nadd.s64 %rd3, %rd3, %rd2;"
      "\nmov.b32 %r1, smem;\nadd.s32 %r4, %r1, %r3;\n";
  for (unsigned at = 0; at < kBytesA + kBytesB; at += 2048) {
    text += "ld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%rd3+" +
            std::to_string(at) + "];\nst.shared.v4.b32 [%r4+" +
            std::to_string(1024 + at) + "], {%r10, %r11, %r12, %r13};\n";
  }
  text += "fence.proxy.async.shared::cta;\nbarrier.cluster.arrive.aligned;\n"
          "barrier.cluster.wait.aligned;\n"
          "@%p1 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [smem],"
          " 512;\nbar.sync 0;\nld.shared.b32 %r5, [smem];\n"
          "shr.u32 %r6, %r0, 5;\nshl.b32 %r6, %r6, 21;\n"
          "add.s32 %r6, %r6, %r5;\nmov.b32 %r7, 0xc2280000;\n"; // -42
  std::string same = "{%r7, %r7, %r7, %r7, %r7, %r7, %r7, %r7}";
  for (unsigned column = 0; column < pair.n; column += 8) {
    text += "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r6+" +
            std::to_string(column) + "], " + same + ";\n";
  }
  text += "shl.b32 %r3, %r0, 5;\ncvt.u64.u32 %rd3, %r3;\n"
          "add.s64 %rd3, %rd3, %rd2;\nld.global.v4.b32 {%r100, %r101, %r102, "
          "%r103}, [%rd3+" +
          std::to_string(kBytesA + kBytesB) +
          "];\nld.global.v4.b32 {%r104, %r105, %r106, %r107}, [%rd3+" +
          std::to_string(kBytesA + kBytesB + 16) +
          "];\ntcgen05.st.sync.aligned.32x32b.x8.b32 [%r6+256], " +
          columns(100) +
          ";\ntcgen05.wait::st.sync.aligned;\n"
          "tcgen05.fence::before_thread_sync;\nbarrier.cluster.arrive.aligned;"
          "\nbarrier.cluster.wait.aligned;\ntcgen05.fence::after_thread_sync;"
          "\nmov.b32 %r8, " +
          std::to_string(idesc) + ";\nmov.b32 %r30, 0;\nmov.b32 %r31, " +
          std::to_string(pair.masks[0]) + ";\nmov.b32 %r32, " +
          std::to_string(pair.masks[1]) + ";\nmov.b16 %rs1, 3;\n" +
          descriptor("%rd4", 1024, rows) +
          descriptor("%rd5", 1024 + kBytesA, pair.n / 2) +
          "@%p5 tcgen05.mma.cta_group::2.kind::f16 [%r5], " +
          (pair.isAInTensor ? "[%r5+256]" : "%rd4") +
          ", %rd5, %r8, {%r31, %r30, %r30, %r30, %r32, %r30, %r30, %r30}, 0;\n"
          "@%p5 tcgen05.commit.cta_group::2.mbarrier::arrive::one"
          ".shared::cluster.multicast::cluster.b64 [smem+8], %rs1;\nWAIT:\n"
          "mbarrier.try_wait.parity.shared.b64 %p3, [smem+8], 0;\n"
          "@!%p3 bra WAIT;\ntcgen05.fence::after_thread_sync;\n"
          "shl.b32 %r21, %r20, 17;\nshl.b32 %r22, %r0, 10;\n"
          "add.u32 %r21, %r21, %r22;\ncvt.u64.u32 %rd6, %r21;\n"
          "add.s64 %rd6, %rd6, %rd0;\n";
  for (unsigned column = 0; column < pair.n; column += 8) {
    text += "tcgen05.ld.sync.aligned.32x32b.x8.b32 " + columns(100) +
            ", [%r6+" + std::to_string(column) +
            "];\ntcgen05.wait::ld.sync.aligned;\n";
    for (unsigned i = 0; i < 8; ++i) {
      text += "st.global.b32 [%rd6+" + std::to_string(4 * (kOut + column + i)) +
              "], %r" + std::to_string(100 + i) + ";\n";
    }
  }
  return text +
         "tcgen05.fence::before_thread_sync;\nbarrier.cluster.arrive.aligned;\n"
         "barrier.cluster.wait.aligned;\n@%p1 tcgen05.dealloc.cta_group::2.sync"
         ".aligned.b32 %r5, 512;\n";
}

void expectPair(const PairCase &pair) {
  unsigned rows = pair.m / 2;
  std::mt19937 random(pair.n);
  std::vector<int> a(pair.m * kK);
  std::vector<int> b(pair.n * kK);
  for (std::vector<int> *each : {&a, &b}) {
    for (int &value : *each) {
      value = int(random() % 9) - 4;
    }
  }
  std::vector<uint8_t> image(2 * kImage);
  auto put = [&](uint64_t at, int value) {
    uint16_t bits = bf16(value);
    std::memcpy(image.data() + at, &bits, 2);
  };
  for (unsigned k = 0; k < kK; ++k) {
    for (unsigned row = 0; row < pair.m; ++row) {
      unsigned own = row % rows;
      uint64_t base = row / rows * kImage;
      put(base + offset(own, k, rows), a[row * kK + k]);
      // In tensor memory, 64 rows are there twice.
      for (unsigned lane = own; lane < 128; lane += rows) {
        put(base + kBytesA + kBytesB + lane * 32 + k * 2, a[row * kK + k]);
      }
    }
    for (unsigned n = 0; n < pair.n; ++n) {
      unsigned own = n % (pair.n / 2);
      put(n / (pair.n / 2) * kImage + kBytesA + offset(own, k, pair.n / 2),
          b[n * kK + k]);
    }
  }
  Kernel kernel;
  kernel.version = "8.6";
  kernel.target = "sm_100a";
  kernel.threads = 128;
  kernel.grid = kernel.cluster = 2;
  kernel.seed = pair.seed;
  kernel.dynamicShared = 1024 + kBytesA + kBytesB;
  kernel.words.resize(kOut + 2 * 128 * 256);
  std::memcpy(kernel.words.data(), image.data(), image.size());
  kernel.body = body(pair);
  kernel.run();
  ASSERT_EQ(kernel.failure, "");
  for (const auto &[key, report] : kernel.reports.get()) {
    ADD_FAILURE() << report.text;
  }
  for (unsigned row = 0; row < pair.m; ++row) {
    for (unsigned n = 0; n < pair.n; ++n) {
      int sum = 0;
      for (unsigned k = 0; k < kK; ++k) {
        sum += a[row * kK + k] * b[n * kK + k];
      }
      bool isUpper = rows == 64 && n >= pair.n / 2;
      unsigned lane = row % rows + (isUpper ? 64 : 0);
      unsigned column = isUpper ? n - pair.n / 2 : n;
      unsigned rank = row / rows;
      bool isMasked = lane < 32 && (pair.masks[rank] >> lane & 1);
      float got = 0;
      std::memcpy(&got,
                  &kernel.words[kOut + (rank * 128 + lane) * 256 + column], 4);
      ASSERT_EQ(got, isMasked ? -42.0f : float(sum))
          << "row " << row << ", column " << n << ", M " << pair.m << ", N "
          << pair.n;
    }
  }
}

} // namespace

TEST(TensorPair, hasEveryShape) {
  for (unsigned m : {128, 256}) {
    for (unsigned n = 16; n <= 256; n += 16) {
      for (bool isAInTensor : {false, true}) {
        PairCase pair;
        pair.m = m;
        pair.n = n;
        pair.isAInTensor = isAInTensor;
        pair.seed = n / 16 % 4;
        expectPair(pair);
      }
    }
  }
}

TEST(TensorPair, leavesDisabledLanes) {
  PairCase pair;
  pair.masks[0] = 0x0f0f0001;
  pair.masks[1] = 0x80000010;
  expectPair(pair);
  pair.m = 128;
  expectPair(pair);
}

TEST(TensorPair, groupsAreNotMixed) {
  Kernel kernel;
  kernel.version = "8.6";
  kernel.target = "sm_100a";
  kernel.grid = kernel.cluster = 2;
  kernel.body =
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
      "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n"
      "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n";
  kernel.run();
  EXPECT_NE(kernel.failure.find("[umma.group-mixed]"), std::string::npos)
      << kernel.failure;
  kernel.grid = kernel.cluster = 1;
  kernel.run();
  EXPECT_NE(kernel.failure.find("has no peer"), std::string::npos)
      << kernel.failure;
}
