// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of tcgen05.mma with scaled blocks. The scales of row r are at lane r %
// 32 of each quadrant, column r / 32, the first at the descriptor's id; a pair
// with 64 rows of D a CTA has those of either half of the columns in the
// quadrants where that half of D is.

#include "core_kernel.h"
#include "units/float_format.h"
#include "units/umma.h"

#include <random>

using namespace attn::sim;

namespace {

constexpr unsigned kBytesA = 128 * 32;
constexpr unsigned kBytesB = 256 * 32;
/// Behind the operands: A for tensor memory, 32 bytes a lane; scales, 64 bytes
/// a lane; and those for tcgen05.cp, three times 512 bytes.
constexpr unsigned kLanesOfA = kBytesA + kBytesB;
constexpr unsigned kScales = kLanesOfA + 128 * 32;
constexpr unsigned kAtoms = kScales + 128 * 64;
constexpr unsigned kImage = kAtoms + 2048;
/// In words: D of both CTAs, 256 columns a lane.
constexpr unsigned kOut = 2 * kImage / 4;

struct ScaleCase {
  std::string kind = "mxf8f6f4";
  std::string blocks = ".block32";
  unsigned count = 1;
  const FloatFormat *a = &kE4M3;
  const FloatFormat *b = &kE4M3;
  unsigned codeA = 0;
  unsigned codeB = 0;
  bool isPower = true;
  unsigned idA = 0;
  unsigned idB = 0;
  unsigned group = 1;
  unsigned m = 128;
  unsigned n = 32;
  bool isAInTensor = false;
  bool accumulates = false;
  bool negates = false;
  bool copies = false; // scales by tcgen05.cp
  uint64_t seed = 0;

  bool isNarrow() const { return kind != "mxf8f6f4"; }
  unsigned k() const { return isNarrow() ? 64 : 32; }
  unsigned rows() const { return m / group; }
  unsigned parts() const { return group == 2 && m == 128 ? 2 : 1; }
};

struct Matrix {
  unsigned rows;
  std::vector<uint32_t> bits;
  std::vector<double> value;
  std::vector<uint32_t> scaleBits;
  std::vector<double> scale;
};

Matrix makeMatrix(const ScaleCase &test, const FloatFormat &format,
                  unsigned rows, std::mt19937 &random) {
  Matrix matrix = {rows, {}, {}, {}, {}};
  for (unsigned i = 0; i < rows * test.k(); ++i) {
    uint32_t bits = roundToFormat(int(random() % 9) - 4, format);
    matrix.bits.push_back(bits);
    matrix.value.push_back(fromFormat(bits, format));
  }
  constexpr double scales[] = {0.5, 1, 1.5, 2, 3};
  for (unsigned i = 0; i < rows * test.count; ++i) {
    unsigned power = random() % 5;
    double scale =
        test.isPower ? std::ldexp(1.0, int(power) - 2) : scales[power];
    matrix.scale.push_back(scale);
    matrix.scaleBits.push_back(test.isPower ? 125 + power
                                            : roundToFormat(scale, kE4M3));
  }
  return matrix;
}

/// A row's 32 bytes: bytes, containers of 16 elements in 16 bytes, or pairs.
void putRow(const ScaleCase &test, const Matrix &matrix, unsigned row,
            unsigned bits, bool inTensor, uint8_t *to) {
  for (unsigned k = 0; k < test.k(); ++k) {
    uint32_t element = matrix.bits[row * test.k() + k];
    unsigned at = test.isNarrow() ? k * 4
                  : bits == 8     ? k * 8
                  : inTensor      ? k * 8 + (bits == 4 ? 2 : 0)
                                  : k / 16 * 128 + k % 16 * bits;
    for (unsigned i = 0; i < bits; ++i) {
      to[(at + i) / 8] |= uint8_t((element >> i & 1) << (at + i) % 8);
    }
  }
}

unsigned bitsOf(const FloatFormat &format) {
  return unsigned(1 + format.exponentBits + format.fractionBits);
}

/// The word of a row's scales; the other bytes are NaN.
uint32_t scaleWord(const ScaleCase &test, const Matrix &matrix, unsigned row,
                   unsigned id) {
  uint32_t word = test.isPower ? ~0u : 0x7f7f7f7f;
  auto *bytes = reinterpret_cast<uint8_t *>(&word);
  for (unsigned i = 0; i < test.count && row < matrix.rows; ++i) {
    bytes[id + i] = uint8_t(matrix.scaleBits[row * test.count + i]);
  }
  return word;
}

/// What one CTA has.
void putImage(const ScaleCase &test, const Matrix &a, const Matrix &b,
              unsigned side, uint8_t *to) {
  unsigned rowsOfB = test.n / test.group;
  auto putShared = [&](const Matrix &matrix, unsigned row, unsigned local,
                       unsigned rows, unsigned bits, uint8_t *base) {
    uint8_t bytes[32] = {};
    putRow(test, matrix, row, bits, false, bytes);
    for (unsigned chunk = 0; chunk < 2; ++chunk) {
      std::memcpy(base + local * 16 + chunk * rows * 16, bytes + chunk * 16,
                  16);
    }
  };
  for (unsigned row = 0; row < test.rows(); ++row) {
    unsigned whole = side * test.rows() + row;
    putShared(a, whole, row, test.rows(), bitsOf(*test.a), to);
    for (unsigned part = 0; part < test.parts(); ++part) {
      putRow(test, a, whole, bitsOf(*test.a), true,
             to + kLanesOfA + (row + part * 64) * 32);
    }
  }
  for (unsigned row = 0; row < rowsOfB; ++row) {
    putShared(b, side * rowsOfB + row, row, rowsOfB, bitsOf(*test.b),
              to + kBytesA);
  }
  for (unsigned lane = 0; lane < 128; ++lane) {
    unsigned part = test.parts() == 2 ? lane / 64 : 0;
    for (unsigned column = 0; column < 8; ++column) {
      unsigned row = column * 32 + lane % 32;
      uint32_t words[2] = {
          row < test.rows()
              ? scaleWord(test, a, side * test.rows() + row, test.idA)
              : 0x7f7f7f7f,
          scaleWord(test, b, part * test.n / 2 + row, test.idB)};
      uint8_t *at = to + kScales + lane * 64 + column * 4;
      std::memcpy(at, words, 4);
      std::memcpy(at + 32, words + 1, 4);
      uint8_t *atom = to + kAtoms + lane % 32 * 16 + column % 4 * 4;
      std::memcpy(atom, column < 4 ? words : words + 1, column < 4 ? 4 : 0);
      std::memcpy(atom + 512 + column / 4 * 512, words + 1, 4);
    }
  }
}

std::string vector(unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) {
    text += (i ? ", %r" : "%r") + std::to_string(first + i);
  }
  return text + "}";
}

std::string descriptor(const std::string &to, unsigned at, unsigned leading) {
  return "add.u32 %r9, %r1, " + std::to_string(at) +
         ";\nshr.u32 %r9, %r9, 4;\nand.b32 %r9, %r9, 0x3fff;\nor.b32 %r9, "
         "%r9, " +
         std::to_string(leading >> 4 << 16) + ";\nmov.b64 " + to + ", {%r9, " +
         std::to_string(8 | 1 << 14) + "};\n";
}

/// Stores 8 words of the lane's `bytes` to tensor memory.
std::string storeLane(unsigned at, unsigned bytes, unsigned column) {
  std::string offset = std::to_string(bytes);
  std::string text = "mul.lo.u32 %r3, %r0, " + offset +
                     ";\ncvt.u64.u32 %rd3, %r3;\nadd.s64 %rd3, %rd3, %rd2;\n";
  for (unsigned first = 0; first < bytes; first += 32) {
    for (unsigned i = 0; i < 2; ++i) {
      text += "ld.global.v4.b32 " + vector(100 + 4 * i, 4) + ", [%rd3+" +
              std::to_string(at + first + 16 * i) + "];\n";
    }
    text += "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r6+" +
            std::to_string(column + first / 4) + "], " + vector(100, 8) + ";\n";
  }
  return text;
}

std::string prepare(const ScaleCase &test) {
  std::string group = std::to_string(test.group);
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
  for (unsigned at = 0; at < kImage; at += 2048) {
    text += "ld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%rd3+" +
            std::to_string(at) + "];\nst.shared.v4.b32 [%r4+" +
            std::to_string(1024 + at) + "], {%r10, %r11, %r12, %r13};\n";
  }
  text += "fence.proxy.async.shared::cta;\nbarrier.cluster.arrive.aligned;\n"
          "barrier.cluster.wait.aligned;\n@%p1 tcgen05.alloc.cta_group::" +
          group +
          ".sync.aligned.shared::cta.b32 [smem], 512;\nbar.sync 0;\n"
          "ld.shared.b32 %r5, [smem];\nshr.u32 %r6, %r0, 5;\n"
          "shl.b32 %r6, %r6, 21;\nadd.s32 %r6, %r6, %r5;\n"
          "mov.b32 %r7, 0xc2280000;\n"; // -42
  std::string same = "{%r7, %r7, %r7, %r7, %r7, %r7, %r7, %r7}";
  for (unsigned column = 0; column < test.n; column += 8) {
    text += "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r6+" +
            std::to_string(column) + "], " + same + ";\n";
  }
  text += storeLane(kLanesOfA, 32, 256);
  text += test.copies ? "" : storeLane(kScales, 64, 264);
  return text + "tcgen05.wait::st.sync.aligned;\n"
                "tcgen05.fence::before_thread_sync;\n"
                "barrier.cluster.arrive.aligned;\n"
                "barrier.cluster.wait.aligned;\n"
                "tcgen05.fence::after_thread_sync;\n";
}

std::string multiply(const ScaleCase &test) {
  uint32_t idesc = test.idB << 4 | test.codeA << 7 | test.codeB << 10 |
                   uint32_t(test.negates) << 13 | test.n / 8 << 17 |
                   uint32_t(test.isPower) << 23 | test.m / 128 << 27 |
                   test.idA << 29;
  std::string group = std::to_string(test.group);
  std::string text =
      "mov.b32 %r8, " + std::to_string(idesc) + ";\n" +
      descriptor("%rd4", 1024, test.rows() * 16) +
      descriptor("%rd5", 1024 + kBytesA, test.n / test.group * 16);
  for (unsigned i = 0; test.copies && i < 3; ++i) {
    text += descriptor("%rd6", 1024 + kAtoms + i * 512, 0) +
            "@%p5 tcgen05.cp.cta_group::" + group + ".32x128b.warpx4 [%r5+" +
            std::to_string(i ? 268 + 4 * i : 264) + "], %rd6;\n";
  }
  text += "@%p5 tcgen05.mma.cta_group::" + group + ".kind::" + test.kind +
          ".block_scale" + test.blocks + " [%r5], " +
          (test.isAInTensor ? "[%r5+256]" : "%rd4") +
          ", %rd5, %r8, [%r5+264], [%r5+272], " +
          (test.accumulates ? "1" : "0") + ";\n";
  return test.group == 2
             ? text + "mov.b16 %rs1, 3;\n@%p5 tcgen05.commit.cta_group::2"
                      ".mbarrier::arrive::one.shared::cluster"
                      ".multicast::cluster.b64 [smem+8], %rs1;\n"
             : text + "@%p5 tcgen05.commit.cta_group::1"
                      ".mbarrier::arrive::one.shared::cluster.b64 [smem+8];\n";
}

std::string readBack(const ScaleCase &test) {
  std::string text =
      "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p3, [smem+8], 0;\n"
      "@!%p3 bra WAIT;\ntcgen05.fence::after_thread_sync;\n"
      "shl.b32 %r21, %r20, 17;\nshl.b32 %r22, %r0, 10;\n"
      "add.u32 %r21, %r21, %r22;\ncvt.u64.u32 %rd6, %r21;\n"
      "add.s64 %rd6, %rd6, %rd0;\n";
  for (unsigned column = 0; column < test.n / test.parts(); column += 8) {
    text += "tcgen05.ld.sync.aligned.32x32b.x8.b32 " + vector(100, 8) +
            ", [%r6+" + std::to_string(column) +
            "];\ntcgen05.wait::ld.sync.aligned;\n";
    for (unsigned i = 0; i < 8; ++i) {
      text += "st.global.b32 [%rd6+" + std::to_string(4 * (kOut + column + i)) +
              "], %r" + std::to_string(100 + i) + ";\n";
    }
  }
  return text +
         "tcgen05.fence::before_thread_sync;\nbarrier.cluster.arrive.aligned;\n"
         "barrier.cluster.wait.aligned;\n@%p1 tcgen05.dealloc.cta_group::" +
         std::to_string(test.group) + ".sync.aligned.b32 %r5, 512;\n";
}

double expectedSum(const ScaleCase &test, const Matrix &a, const Matrix &b,
                   unsigned row, unsigned column) {
  double sum = 0;
  unsigned k = test.k();
  for (unsigned i = 0; i < k; ++i) {
    unsigned block = i / (k / test.count);
    sum += a.value[row * k + i] * b.value[column * k + i] *
           a.scale[row * test.count + block] *
           b.scale[column * test.count + block];
  }
  return (test.negates ? -sum : sum) + (test.accumulates ? -42 : 0);
}

void expectScaled(const ScaleCase &test) {
  std::mt19937 random(test.n + test.count);
  Matrix a = makeMatrix(test, *test.a, test.m, random);
  Matrix b = makeMatrix(test, *test.b, test.n, random);
  Kernel kernel;
  kernel.version = "8.8";
  kernel.target = "sm_100a";
  kernel.threads = 128;
  kernel.grid = kernel.cluster = test.group;
  kernel.seed = test.seed;
  kernel.dynamicShared = 1024 + kImage;
  kernel.words.resize(kOut + 2 * 128 * 256);
  for (unsigned side = 0; side < test.group; ++side) {
    putImage(test, a, b, side,
             reinterpret_cast<uint8_t *>(kernel.words.data()) + side * kImage);
  }
  kernel.body = prepare(test) + multiply(test) + readBack(test);
  ASSERT_EQ(kernel.run(), "") << kernel.body;
  for (const auto &[key, report] : kernel.reports.get()) {
    ADD_FAILURE() << report.text;
  }
  for (unsigned row = 0; row < test.m; ++row) {
    for (unsigned column = 0; column < test.n; ++column) {
      unsigned part = column / (test.n / test.parts());
      unsigned lane = row / test.rows() * 128 + row % test.rows() + part * 64;
      unsigned at = kOut + lane * 256 + column % (test.n / test.parts());
      ASSERT_EQ(f32FromBits(kernel.words[at]),
                expectedSum(test, a, b, row, column))
          << test.kind << test.blocks << ", row " << row << ", column "
          << column << ", N " << test.n;
    }
  }
}

/// Runs a case in the forms that all kinds have.
void expectForms(ScaleCase test) {
  for (unsigned n : {8, 40, 256}) {
    test.n = n;
    test.isAInTensor = n == 40;
    test.accumulates = n != 8;
    test.negates = n == 256;
    test.copies = n == 256;
    expectScaled(test);
  }
  test.copies = false;
  test.group = 2;
  for (unsigned m : {128, 256}) {
    for (unsigned n : {32, 96, 256}) {
      test.m = m;
      test.n = n;
      test.isAInTensor = n == 96;
      expectScaled(test);
    }
  }
}

ScaleCase narrowCase(const std::string &kind, const std::string &blocks,
                     unsigned count, bool isPower) {
  ScaleCase test;
  test.kind = kind;
  test.blocks = blocks;
  test.count = count;
  test.isPower = isPower;
  test.a = test.b = &kE2M1;
  test.codeA = test.codeB = 1;
  return test;
}

} // namespace

TEST(TensorScale, scalesBytes) {
  for (const char *blocks : {"", ".block32", ".scale_vec::1X"}) {
    ScaleCase test;
    test.blocks = blocks;
    test.idA = 3;
    test.idB = 1;
    expectForms(test);
  }
  const struct {
    const FloatFormat *format;
    unsigned code;
  } types[] = {{&kE4M3, 0}, {&kE5M2, 1}, {&kE2M3, 3}, {&kE3M2, 4}, {&kE2M1, 5}};
  for (const auto &a : types) {
    for (const auto &b : types) {
      ScaleCase test;
      test.a = a.format;
      test.b = b.format;
      test.codeA = a.code;
      test.codeB = b.code;
      for (bool isAInTensor : {false, true}) {
        test.isAInTensor = isAInTensor;
        expectScaled(test);
      }
    }
  }
}

TEST(TensorScale, scalesPairsOfNarrowElements) {
  for (const char *blocks : {"", ".block32", ".scale_vec::2X"}) {
    expectForms(narrowCase("mxf4", blocks, 2, true));
  }
  for (const char *blocks : {".block32", ".scale_vec::2X"}) {
    ScaleCase test = narrowCase("mxf4nvf4", blocks, 2, true);
    test.idA = 2;
    expectForms(test);
    test.idA = 0;
    test.idB = 2;
    expectScaled(test);
  }
  for (const char *blocks : {".block16", ".scale_vec::4X"}) {
    for (bool isPower : {false, true}) {
      expectForms(narrowCase("mxf4nvf4", blocks, 4, isPower));
    }
  }
}

TEST(TensorScale, isTheSameUnderEverySchedule) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    ScaleCase test;
    test.copies = true;
    test.accumulates = true;
    test.seed = seed;
    expectScaled(test);
    test.copies = false;
    test.group = 2;
    expectScaled(test);
  }
}

namespace {

std::string decodeProblem(UmmaKind kind, unsigned count, uint32_t bits,
                          unsigned ctas = 1) {
  UmmaSpec spec;
  spec.scaling.count = count;
  return decodeUmmaInstruction(kind, bits, ctas, spec);
}

} // namespace

TEST(TensorScale, checksInstructionDescriptors) {
  // M = 128, N = 64, scales of ue8m0.
  constexpr uint32_t wide = 8 << 17 | 1 << 23 | 1 << 27;
  constexpr uint32_t narrow = wide | 1 << 7 | 1 << 10;
  EXPECT_EQ(decodeProblem(UmmaKind::MXF8F6F4, 1, wide), "");
  EXPECT_EQ(decodeProblem(UmmaKind::MXF4, 2, narrow), "");
  EXPECT_EQ(decodeProblem(UmmaKind::MXF4NVF4, 4, narrow & ~(1u << 23)), "");
  EXPECT_EQ(decodeProblem(UmmaKind::MXF8F6F4, 1, wide, 2), "");
  const struct {
    UmmaKind kind;
    unsigned count;
    uint32_t bits;
    const char *problem;
  } cases[] = {
      {UmmaKind::MXF8F6F4, 1, wide & ~(1u << 23), "ue4m3"},
      {UmmaKind::MXF4, 2, narrow & ~(1u << 23), "ue4m3"},
      {UmmaKind::MXF4NVF4, 2, narrow & ~(1u << 23), "ue4m3"},
      {UmmaKind::MXF4, 2, narrow | 1 << 4, "is 1, expected 0 or 2"},
      {UmmaKind::MXF4, 2, narrow | 3u << 29, "is 3, expected 0 or 2"},
      {UmmaKind::MXF4NVF4, 4, narrow | 2 << 4, "is 2, expected 0"},
      {UmmaKind::MXF4, 2, narrow | 1u << 31, "K = 96"},
      {UmmaKind::MXF8F6F4, 1, wide | 1u << 31, "reserved"},
      {UmmaKind::MXF4, 2, narrow | 1 << 12, "reserved"},
      {UmmaKind::MXF4, 2, narrow | 1 << 24, "reserved"},
      {UmmaKind::MXF8F6F4, 1, wide | 1 << 3, "reserved"},
      {UmmaKind::MXF8F6F4, 1, wide | 1 << 2, "sparse"},
      {UmmaKind::MXF4, 2, narrow | 1 << 15, "cannot be transposed"},
      {UmmaKind::MXF8F6F4, 1, wide | 5 << 7 | 1 << 15, "cannot be transposed"},
      {UmmaKind::MXF4, 2, wide, "no type 0 of A"},
      {UmmaKind::MXF8F6F4, 1, wide ^ 3 << 27, "M is 256, expected 128"},
      {UmmaKind::MXF8F6F4, 1, wide ^ 1 << 27, "M is 0, expected 128"},
      {UmmaKind::MXF8F6F4, 1, wide | 1 << 16 | 1 << 17, "N is 72"},
      {UmmaKind::MXF8F6F4, 1, wide | 63u << 17, "N is 504"}};
  for (const auto &each : cases) {
    EXPECT_NE(
        decodeProblem(each.kind, each.count, each.bits).find(each.problem),
        std::string::npos)
        << each.problem
        << ", got: " << decodeProblem(each.kind, each.count, each.bits);
  }
}

TEST(TensorScale, cutsTerms) {
  // One row of A is 1 and 0.5, each scaled; D begins with a large number.
  UmmaSpec spec;
  spec.n = 8;
  spec.scaling.count = 1;
  spec.a = spec.b = MatrixType::E4M3;
  uint8_t a[16 * 32] = {0x38, 0x30};
  uint8_t b[8 * 32] = {0x38, 0x38};
  uint8_t scales[16 * 4];
  std::memset(scales, 127, sizeof(scales));
  auto run = [&](float d) {
    uint32_t cells[8 * 16] = {toBits(d)};
    scaledUmma(spec, a, b, scales, scales, cells, 16);
    return f32FromBits(cells[0]);
  };
  EXPECT_EQ(run(0), 1.5f);
  // 0.5 is cut off at 2^26 as it has 25 bits below: the sum is 2^26 + 1, which
  // f32 does not have either.
  EXPECT_EQ(run(0x1p26f), 0x1p26f);
  EXPECT_EQ(run(-0x1p24f), -0x1p24f + 2); // -2^24 + 1.5, toward zero
  spec.arithmetic = WgmmaArithmetic::Exact;
  EXPECT_EQ(run(-0x1p24f), -0x1p24f + 2);
  EXPECT_EQ(run(0x1p23f), 0x1p23f + 2); // 2^23 + 1.5, to even
  spec.arithmetic = WgmmaArithmetic::Hardware;
  EXPECT_EQ(run(0x1p23f), 0x1p23f + 1);
  // Scales of 2^13 and 2^13: 1.5 * 2^26.
  scales[0] = 127 + 13;
  EXPECT_EQ(run(-0x1p26f), 0x1p25f);
  scales[0] = 0xff;
  EXPECT_TRUE(std::isnan(run(1)));
}

TEST(TensorScale, needsAChipOrItsFamily) {
  auto failureOf = [](const std::string &target, const std::string &form) {
    Kernel kernel;
    kernel.version = "8.8";
    kernel.target = target;
    kernel.body = "tcgen05.mma.cta_group::1.kind::" + form +
                  " [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;";
    return kernel.run();
  };
  EXPECT_NE(failureOf("sm_100f", "mxf4.block_scale.scale_vec::2X")
                .find("expected '.target' sm_100a, sm_103a for"),
            std::string::npos);
  EXPECT_EQ(failureOf("sm_100f", "mxf4.block_scale.block32").find("target"),
            std::string::npos);
  for (const char *form :
       {"mxf8f6f4.block_scale.block16", "mxf4nvf4.block_scale", "mxf8f6f4",
        "mxf4.block_scale.scale_vec::4X"}) {
    EXPECT_NE(failureOf("sm_100a", form).find("unsupported form"),
              std::string::npos)
        << form;
  }
}
