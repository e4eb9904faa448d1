// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of tcgen05.mma, cp and shift: operands are laid out in shared memory
// as the ISA's table of canonical layouts says, results are looked for at the
// lanes that its figures of data paths show.

#include "core_kernel.h"
#include "units/float_format.h"
#include "units/swizzle.h"
#include "units/umma.h"

#include <random>

using namespace attn::sim;

namespace {

constexpr uint32_t kAt = 1024;             // A, in shared memory
constexpr uint32_t kBAt = kAt + 32 * 1024; // B
constexpr uint32_t kImage = 64 * 1024;     // bytes of both
constexpr unsigned kOut = 64 * 1024;       // words: D, 256 columns a lane
constexpr unsigned kWords = kOut + 128 * 256;

struct Type {
  const char *kind;
  uint32_t code;
  uint32_t bits;
  /// Null for integers.
  const FloatFormat *format;
};
constexpr Type kTypeF16 = {"f16", 0, 16, &kF16};
constexpr Type kTypeBF16 = {"f16", 1, 16, &kBF16};
constexpr Type kTypeTF32 = {"tf32", 2, 32, &kTF32};
constexpr Type kTypeE4M3 = {"f8f6f4", 0, 8, &kE4M3};
constexpr Type kTypeE5M2 = {"f8f6f4", 1, 8, &kE5M2};
constexpr Type kTypeE2M3 = {"f8f6f4", 3, 6, &kE2M3};
constexpr Type kTypeE3M2 = {"f8f6f4", 4, 6, &kE3M2};
constexpr Type kTypeE2M1 = {"f8f6f4", 5, 4, &kE2M1};
constexpr Type kTypeU8 = {"i8", 0, 8, nullptr};
constexpr Type kTypeS8 = {"i8", 1, 8, nullptr};

struct Layout {
  Swizzle swizzle = Swizzle::None;
  bool isTransposed = false;
};

/// A matrix and where its elements are in shared memory.
struct Operand {
  Type type;
  uint32_t rows;
  Layout layout;
  uint32_t start;
  /// Rows of K elements: raw bits, and values.
  std::vector<uint32_t> raw;
  std::vector<double> value;

  uint32_t bytes() const { return type.bits <= 8 ? 1 : type.bits / 8; }
  uint32_t k() const { return 32 / bytes(); }
  /// Along K, of the pattern.
  uint32_t group() const {
    return layout.swizzle == Swizzle::B128Atom32 ? 4 : 8;
  }
  uint32_t stride() const {
    uint32_t span = swizzleSpan(layout.swizzle);
    return layout.isTransposed && span ? group() * span : span ? 8 * span : 128;
  }
  uint32_t leading() const {
    uint32_t span = swizzleSpan(layout.swizzle);
    if (!layout.isTransposed) {
      return span ? 16 : rows * 16;
    }
    return span ? stride() * (k() / group()) : stride() * (rows * bytes() / 16);
  }

  /// The byte of element (row, column): the ISA's table, in units of T = 16
  /// bytes; then Swizzle<n, 4, 3>, or <2, 5, 2> of atoms of 32 bytes.
  uint32_t place(uint32_t row, uint32_t column) const {
    uint32_t size = bytes();
    uint32_t t = 16 / size;
    uint32_t units = std::max(1u, swizzleSpan(layout.swizzle) / 16);
    uint32_t at = 0;
    if (!layout.isTransposed) {
      // ((8,m),(T,2k)):((units T,SBO),(1,T or LBO))
      uint32_t chunk = layout.swizzle == Swizzle::None ? leading() : 16;
      at = row % 8 * units * 16 + row / 8 * stride() + column % t * size +
           column / t * chunk;
    } else if (layout.swizzle == Swizzle::None) {
      // ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))
      at = row % t * size + row / t * stride() + column % 8 * 16 +
           column / 8 * leading();
    } else {
      // ((T,units,m),(8,k)):((1,T,LBO),(units T,SBO))
      at = row % t * size + row / t % units * 16 +
           row / (t * units) * leading() + column % group() * units * 16 +
           column / group() * stride();
    }
    at += start;
    uint32_t rowBits = at >> 7;
    switch (layout.swizzle) {
    case Swizzle::B32:
      return at ^ (rowBits & 1) << 4;
    case Swizzle::B64:
      return at ^ (rowBits & 3) << 4;
    case Swizzle::B128:
      return at ^ (rowBits & 7) << 4;
    case Swizzle::B128Atom32:
      return at ^ (rowBits & 3) << 5;
    default:
      return at;
    }
  }

  void fill(std::mt19937 &random) {
    for (uint32_t i = 0; i < rows * k(); ++i) {
      int number = int(random() % 9) - 4;
      uint32_t bits = uint32_t(type.code ? number : number + 4);
      double exact = type.code ? number : number + 4;
      if (type.format) {
        bits = roundToFormat(number, *type.format);
        exact = fromFormat(bits, *type.format);
      }
      raw.push_back(uint32_t(bits & ((uint64_t(1) << type.bits) - 1)));
      value.push_back(exact);
    }
  }

  /// Writes the elements to what is at `base`; those below 8 bits, 16 in a row
  /// to 16 bytes.
  void store(uint8_t *shared, uint32_t base) const {
    for (uint32_t row = 0; row < rows; ++row) {
      for (uint32_t column = 0; column < k(); ++column) {
        uint32_t bits = raw[row * k() + column];
        uint32_t at = place(row, column) - base;
        if (type.format == &kTF32) {
          bits <<= 13;
        }
        if (type.bits >= 8) {
          std::memcpy(shared + at, &bits, bytes());
          continue;
        }
        uint32_t first = place(row, column / 16 * 16) - base;
        for (uint32_t i = 0; i < type.bits; ++i) {
          uint32_t bit = column % 16 * type.bits + i;
          shared[first + bit / 8] |= uint8_t((bits >> i & 1) << bit % 8);
        }
      }
    }
  }

  uint64_t descriptor() const {
    constexpr uint64_t codes[] = {0, 6, 4, 2, 1};
    return uint64_t(start >> 4) | uint64_t(leading() >> 4) << 16 |
           uint64_t(stride() >> 4) << 32 | uint64_t(1) << 46 |
           codes[int(layout.swizzle)] << 61;
  }
};

struct Mma {
  Type a = kTypeBF16;
  Type b = kTypeBF16;
  uint32_t m = 128;
  uint32_t n = 16;
  Layout layoutA;
  Layout layoutB;
  bool isAInTensor = false;
  bool accumulates = true;
  bool isHalf = false; // D
  bool negatesA = false;
  bool negatesB = false;
  uint32_t scale = 0;
  /// M of 64: the upper half of each quadrant.
  bool isUpper = false;
  bool hasMask = false;
  std::string collector;
  uint64_t seed = 0;
};

constexpr uint32_t kMask[4] = {0x0000ffff, 0x80000001, 0, 0x12345678};

uint32_t instructionDescriptor(const Mma &mma) {
  uint32_t d = !mma.a.format ? 2 : mma.isHalf ? 0 : 1;
  return d << 4 | mma.a.code << 7 | mma.b.code << 10 |
         uint32_t(mma.negatesA) << 13 | uint32_t(mma.negatesB) << 14 |
         uint32_t(mma.layoutA.isTransposed) << 15 |
         uint32_t(mma.layoutB.isTransposed) << 16 | mma.n / 8 << 17 |
         mma.m / 16 << 24;
}

std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

/// The thread's lane of D begins as tid * 2 + column, in D's type, and of A in
/// tensor memory (column 256) as words at `out` + 65536 - 4096 bytes give it.
std::string prepare(const Mma &mma) {
  bool isInt = !mma.a.format;
  std::string text =
      "setp.eq.u32 %p0, %r0, 0;\nsetp.lt.u32 %p1, %r0, 32;\n"
      "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem], "
      "512;\n@%p0 mbarrier.init.shared.b64 [smem+8], 1;\n"
      // Shared memory from 1024 on.
      "mov.b32 %r1, smem;\nshl.b32 %r3, %r0, 4;\nadd.s32 %r1, %r1, %r3;\n"
      "cvt.u64.u32 %rd2, %r3;\nadd.s64 %rd2, %rd2, %rd0;\nmov.b32 %r4, 0;\n"
      "COPY:\nld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%rd2];\n"
      "st.shared.v4.b32 [%r1+1024], {%r10, %r11, %r12, %r13};\n"
      "add.s32 %r1, %r1, 2048;\nadd.s64 %rd2, %rd2, 2048;\n"
      "add.s32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 32;\n@%p2 bra COPY;\n"
      "fence.proxy.async.shared::cta;\nbar.sync 0;\nld.shared.b32 %r5, [smem];"
      "\nshr.u32 %r6, %r0, 5;\nshl.b32 %r6, %r6, 21;\nadd.s32 %r6, %r6, %r5;\n"
      "shl.b32 %r7, %r0, 1;\n";
  for (uint32_t column = 0; column < mma.n; column += 8) {
    for (uint32_t i = 0; i < 8; ++i) {
      std::string to = "%r" + std::to_string(100 + i);
      text += "add.u32 " + to + ", %r7, " + std::to_string(column + i) + ";\n";
      text += isInt ? "" : "cvt.rn.f32.u32 " + to + ", " + to + ";\n";
      text += mma.isHalf ? "cvt.rn.f16.f32 %rs1, " + to + ";\ncvt.u32.u16 " +
                               to + ", %rs1;\n"
                         : "";
    }
    text += "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r6+" +
            std::to_string(column) +
            "], {%r100, %r101, %r102, %r103, %r104, %r105, %r106, %r107};\n";
  }
  if (mma.isAInTensor) {
    text += "shl.b32 %r8, %r0, 5;\ncvt.u64.u32 %rd5, %r8;\n"
            "add.s64 %rd5, %rd5, %rd0;\n"
            "ld.global.v4.b32 {%r100, %r101, %r102, %r103}, [%rd5+" +
            std::to_string(kImage) +
            "];\nld.global.v4.b32 {%r104, %r105, %r106, %r107}, [%rd5+" +
            std::to_string(kImage + 16) +
            "];\ntcgen05.st.sync.aligned.32x32b.x8.b32 [%r6+256], {%r100, "
            "%r101, %r102, %r103, %r104, %r105, %r106, %r107};\n";
  }
  return text + "tcgen05.wait::st.sync.aligned;\n"
                "tcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
                "tcgen05.fence::after_thread_sync;\n";
}

std::string readBack(uint32_t columns) {
  std::string text =
      "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster"
      ".b64 [smem+8];\nWAIT:\nmbarrier.try_wait.parity.shared.b64 %p3, "
      "[smem+8], 0;\n@!%p3 bra WAIT;\ntcgen05.fence::after_thread_sync;\n"
      "shl.b32 %r8, %r0, 10;\ncvt.u64.u32 %rd5, %r8;\n"
      "add.s64 %rd5, %rd5, %rd0;\n";
  for (uint32_t column = 0; column < columns; column += 8) {
    text += "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%r100, %r101, %r102, "
            "%r103, %r104, %r105, %r106, %r107}, [%r6+" +
            std::to_string(column) + "];\ntcgen05.wait::ld.sync.aligned;\n";
    for (uint32_t i = 0; i < 8; ++i) {
      text += "st.global.b32 [%rd5+" + std::to_string(4 * (kOut + column + i)) +
              "], %r" + std::to_string(100 + i) + ";\n";
    }
  }
  return text + "tcgen05.fence::before_thread_sync;\nbar.sync 0;\n@%p1 "
                "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 512;\n";
}

Kernel runBody(const std::string &body, const std::vector<uint8_t> &image,
               uint64_t seed,
               WgmmaArithmetic sums = WgmmaArithmetic::Hardware) {
  Kernel kernel;
  kernel.sums = sums;
  kernel.version = "8.6";
  kernel.target = "sm_100a";
  kernel.threads = 128;
  kernel.seed = seed;
  kernel.dynamicShared = kAt + kImage;
  kernel.words.resize(kWords);
  std::memcpy(kernel.words.data(), image.data(), image.size());
  kernel.body = body;
  kernel.run();
  EXPECT_EQ(kernel.failure, "");
  for (const auto &[key, report] : kernel.reports.get()) {
    ADD_FAILURE() << report.text;
  }
  return kernel;
}

uint32_t laneOf(const Mma &mma, uint32_t row) {
  return mma.m == 128 ? row : row / 16 * 32 + row % 16 + (mma.isUpper ? 16 : 0);
}

double decode(const Mma &mma, uint32_t bits) {
  return !mma.a.format ? double(int32_t(bits))
         : mma.isHalf  ? fromFormat(bits, kF16)
                       : double(f32FromBits(bits));
}

void expectProduct(const Mma &mma) {
  std::mt19937 random(unsigned(mma.n + mma.m));
  uint32_t base = kSharedBase + kAt;
  Operand a{mma.a, mma.m, mma.layoutA, base, {}, {}};
  Operand b{mma.b, mma.n, mma.layoutB, base + (kBAt - kAt), {}, {}};
  a.fill(random);
  b.fill(random);
  std::vector<uint8_t> image(kImage + 128 * 32);
  a.store(image.data(), base);
  b.store(image.data(), base);
  for (uint32_t row = 0; row < mma.m; ++row) {
    uint8_t *to = image.data() + kImage + laneOf(mma, row) * 32;
    for (uint32_t i = 0; i < a.k(); ++i) {
      uint32_t bits = a.raw[row * a.k() + i];
      bits = mma.a.bits == 32 ? bits << 13 : mma.a.bits == 4 ? bits << 2 : bits;
      std::memcpy(to + i * a.bytes(), &bits, a.bytes());
    }
  }
  std::string lane = mma.isUpper ? std::to_string(16 << 16) : "0";
  std::string body = prepare(mma);
  body +=
      "mov.b64 %rd6, " + hex(a.descriptor()) + ";\nmov.b64 %rd7, " +
      hex(b.descriptor()) + ";\nmov.b32 %r9, " +
      hex(instructionDescriptor(mma)) + ";\nmov.b32 %r20, " + hex(kMask[0]) +
      ";\nmov.b32 %r21, " + hex(kMask[1]) + ";\nmov.b32 %r22, " +
      hex(kMask[2]) + ";\nmov.b32 %r23, " + hex(kMask[3]) +
      ";\n@%p0 tcgen05.mma.cta_group::1.kind::" + mma.a.kind + mma.collector +
      " [%r5+" + lane + "], " +
      (mma.isAInTensor
           ? "[%r5+" + std::to_string(256 + (mma.isUpper ? 16 << 16 : 0)) + "]"
           : std::string("%rd6")) +
      ", %rd7, %r9" + (mma.hasMask ? ", {%r20, %r21, %r22, %r23}" : "") +
      (mma.accumulates ? ", 1" : ", 0") +
      (mma.scale ? ", " + std::to_string(mma.scale) : "") + ";\n";
  body += readBack(mma.n);
  Kernel kernel = runBody(body, image, mma.seed);
  std::vector<bool> written(128);
  for (uint32_t row = 0; row < mma.m; ++row) {
    uint32_t at = laneOf(mma, row);
    bool isMasked = mma.hasMask && (kMask[at / 32] >> at % 32 & 1);
    written[at] = !isMasked;
    for (uint32_t n = 0; !isMasked && n < mma.n; ++n) {
      double sum =
          mma.accumulates ? std::ldexp(2.0 * at + n, -int(mma.scale)) : 0;
      double sign = mma.negatesA != mma.negatesB ? -1 : 1;
      for (uint32_t i = 0; i < a.k(); ++i) {
        sum += sign * a.value[row * a.k() + i] * b.value[n * a.k() + i];
      }
      ASSERT_EQ(decode(mma, kernel.words[kOut + at * 256 + n]), sum)
          << "row " << row << ", column " << n << ", M " << mma.m << ", N "
          << mma.n << "\n"
          << body;
    }
  }
  for (uint32_t at = 0; at < 128; ++at) {
    for (uint32_t n = 0; !written[at] && n < mma.n; ++n) {
      ASSERT_EQ(decode(mma, kernel.words[kOut + at * 256 + n]), 2 * at + n)
          << "lane " << at << " is not to be written";
    }
  }
}

constexpr Swizzle kSwizzles[] = {Swizzle::None, Swizzle::B32, Swizzle::B64,
                                 Swizzle::B128};

} // namespace

TEST(TensorMma, hasEveryShape) {
  for (uint32_t m : {64, 128}) {
    for (uint32_t n = 8; n <= 256; n += 8) {
      Mma mma;
      mma.m = m;
      mma.n = n;
      expectProduct(mma);
      mma.isAInTensor = true;
      mma.a = mma.b = kTypeF16;
      mma.isUpper = m == 64;
      expectProduct(mma);
    }
  }
}

TEST(TensorMma, hasEveryLayout) {
  for (Swizzle swizzle : kSwizzles) {
    for (int transposed = 0; transposed < 4; ++transposed) {
      for (uint32_t m : {64, 128}) {
        for (uint32_t n : {16, 72, 256}) {
          Mma mma;
          mma.m = m;
          mma.n = n;
          mma.layoutA = {swizzle, (transposed & 1) != 0};
          mma.layoutB = {swizzle, (transposed & 2) != 0};
          expectProduct(mma);
        }
      }
    }
  }
  Mma mma;
  mma.layoutA = {Swizzle::B128, false};
  mma.layoutB = {Swizzle::B32, true};
  expectProduct(mma);
}

TEST(TensorMma, hasEveryTypeOfEachKind) {
  auto run = [](const Type &a, const Type &b, Mma mma = {}) {
    mma.a = a;
    mma.b = b;
    mma.n = 32;
    for (bool isAInTensor : {false, true}) {
      mma.isAInTensor = isAInTensor;
      for (Swizzle swizzle : kSwizzles) {
        mma.layoutA.swizzle = mma.layoutB.swizzle = swizzle;
        expectProduct(mma);
      }
    }
  };
  run(kTypeF16, kTypeF16);
  run(kTypeTF32, kTypeTF32);
  Mma half;
  half.isHalf = true;
  run(kTypeF16, kTypeF16, half);
  run(kTypeE4M3, kTypeE5M2, half);
  const Type narrow[] = {kTypeE4M3, kTypeE5M2, kTypeE2M3, kTypeE3M2, kTypeE2M1};
  for (const Type &a : narrow) {
    for (const Type &b : narrow) {
      run(a, b);
    }
  }
  for (const Type &a : {kTypeU8, kTypeS8}) {
    for (const Type &b : {kTypeU8, kTypeS8}) {
      run(a, b);
    }
  }
}

TEST(TensorMma, transposesOtherTypes) {
  Mma mma;
  mma.n = 64;
  for (Swizzle swizzle : kSwizzles) {
    mma.layoutA = mma.layoutB = {swizzle, true};
    mma.a = mma.b = kTypeE4M3;
    expectProduct(mma);
    mma.a = mma.b = kTypeS8;
    expectProduct(mma);
  }
  mma.a = mma.b = kTypeTF32;
  mma.layoutA = mma.layoutB = {Swizzle::B128Atom32, true};
  expectProduct(mma);
  mma.layoutA = mma.layoutB = {Swizzle::B128Atom32, false};
  expectProduct(mma);
}

TEST(TensorMma, hasItsModes) {
  for (uint64_t seed : {0, 1, 5}) {
    Mma mma;
    mma.seed = seed;
    mma.n = 40;
    mma.accumulates = false;
    expectProduct(mma);
    mma.negatesA = true;
    expectProduct(mma);
    mma.accumulates = true;
    mma.negatesB = true;
    expectProduct(mma);
    mma.negatesA = false;
    mma.scale = 3;
    expectProduct(mma);
    mma.a = mma.b = kTypeTF32;
    expectProduct(mma);
    mma.hasMask = true;
    expectProduct(mma);
    mma.m = 64;
    mma.scale = 0;
    expectProduct(mma);
    mma.a = mma.b = kTypeE4M3;
    expectProduct(mma);
    for (const char *op : {"fill", "use", "lastuse", "discard"}) {
      mma.collector = std::string(".collector::a::") + op;
      expectProduct(mma);
    }
  }
}

TEST(TensorMma, addsAsHardwareOrExactly) {
  // Of 2^26 + 15 + 13, hardware keeps multiples of 2 of each term.
  for (const Type &type : {kTypeBF16, kTypeE5M2}) {
    Mma mma;
    mma.a = mma.b = type;
    uint32_t base = kSharedBase + kAt;
    Operand a{type, mma.m, {}, base, {}, {}};
    Operand b{type, mma.n, {}, base + (kBAt - kAt), {}, {}};
    for (Operand *each : {&a, &b}) {
      for (uint32_t i = 0; i < each->rows * each->k(); ++i) {
        uint32_t at = i % each->k();
        double value = at == 0 ? 0x1p13 : at < 16 ? 1 : 0;
        each->raw.push_back(roundToFormat(value, *type.format));
      }
    }
    std::vector<uint8_t> image(kImage);
    a.store(image.data(), base);
    b.store(image.data(), base);
    std::string body = prepare(mma) + "mov.b64 %rd6, " + hex(a.descriptor()) +
                       ";\nmov.b64 %rd7, " + hex(b.descriptor()) +
                       ";\nmov.b32 %r9, " + hex(instructionDescriptor(mma)) +
                       ";\n@%p0 tcgen05.mma.cta_group::1.kind::" + type.kind +
                       " [%r5], %rd6, %rd7, %r9, 1;\n" + readBack(mma.n);
    auto run = [&](WgmmaArithmetic sums) {
      Kernel kernel = runBody(body, image, 0, sums);
      return f32FromBits(kernel.words[kOut + 5 * 256 + 3]);
    };
    EXPECT_EQ(run(WgmmaArithmetic::Hardware), 0x1p26f + 8);
    EXPECT_EQ(run(WgmmaArithmetic::Exact), 0x1p26f + 32);
  }
}

namespace {

/// What a cp leaves in each lane, from a source of numbered words: the row of
/// the source, or -1.
void expectCopy(const std::string &form, uint32_t columns,
                int (*rowOf)(uint32_t lane)) {
  std::vector<uint8_t> image(kImage);
  uint32_t base = kSharedBase + kAt;
  uint32_t rows = 128;
  // K-major without swizzle: rows of 16 bytes, chunks of columns behind all.
  auto place = [&](uint32_t row, uint32_t column) {
    return row * 16 + column / 4 * rows * 16 + column % 4 * 4;
  };
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = 0; column < columns; ++column) {
      uint32_t word = 1000 * row + column + 7;
      std::memcpy(image.data() + place(row, column), &word, 4);
    }
  }
  Mma mma;
  mma.n = 16;
  uint64_t descriptor = uint64_t(base >> 4) | uint64_t(rows * 16 >> 4) << 16 |
                        uint64_t(128 >> 4) << 32 | uint64_t(1) << 46;
  std::string body = prepare(mma) + "mov.b64 %rd6, " + hex(descriptor) +
                     ";\n@%p0 tcgen05.cp.cta_group::1." + form +
                     " [%r5+8], %rd6;\n" + readBack(16);
  Kernel kernel = runBody(body, image, 0);
  for (uint32_t lane = 0; lane < 128; ++lane) {
    for (uint32_t column = 0; column < 16; ++column) {
      bool isTarget = column >= 8 && column < 8 + columns && rowOf(lane) >= 0;
      uint32_t copied = 1000 * uint32_t(rowOf(lane)) + column - 8 + 7;
      uint32_t bits = kernel.words[kOut + lane * 256 + column];
      ASSERT_EQ(isTarget ? bits : uint32_t(f32FromBits(bits)),
                isTarget ? copied : 2 * lane + column)
          << form << ", lane " << lane << ", column " << column;
    }
  }
}

} // namespace

TEST(TensorCopy, putsRowsInTheirLanes) {
  auto own = [](uint32_t lane) { return int(lane); };
  expectCopy("128x256b", 8, own);
  expectCopy("128x128b", 4, own);
  expectCopy("4x256b", 8,
             [](uint32_t lane) { return lane % 32 ? -1 : int(lane / 32); });
  expectCopy("32x128b.warpx4", 4, [](uint32_t lane) { return int(lane % 32); });
  expectCopy("64x128b.warpx2::02_13", 4,
             [](uint32_t lane) { return int(lane % 64); });
  expectCopy("64x128b.warpx2::01_23", 4,
             [](uint32_t lane) { return int(lane / 64 * 32 + lane % 32); });
}

TEST(TensorCopy, spreadsNarrowElements) {
  for (uint32_t bits : {4, 6}) {
    std::vector<uint8_t> image(kImage);
    auto element = [&](uint32_t row, uint32_t i) {
      return (row * 5 + i * 3 + 1) % (1u << bits);
    };
    for (uint32_t row = 0; row < 128; ++row) {
      for (uint32_t i = 0; i < 16 * bits; ++i) {
        uint32_t bit = element(row, i / bits) >> i % bits & 1;
        image[row * 16 + i / 8] |= uint8_t(bit << i % 8);
      }
    }
    Mma mma;
    uint64_t descriptor = uint64_t((kSharedBase + kAt) >> 4) |
                          uint64_t(128 >> 4) << 32 | uint64_t(1) << 46;
    Kernel kernel =
        runBody(prepare(mma) + "mov.b64 %rd6, " + hex(descriptor) +
                    ";\n@%p0 tcgen05.cp.cta_group::1.128x128b.b8x16." +
                    (bits == 4 ? "b4x16_p64" : "b6x16_p32") +
                    " [%r5], %rd6;\n" + readBack(8),
                image, 0);
    for (uint32_t lane = 0; lane < 128; ++lane) {
      for (uint32_t i = 0; i < 16; ++i) {
        uint32_t word = kernel.words[kOut + lane * 256 + i / 4];
        uint32_t byte = word >> i % 4 * 8 & 0xff;
        ASSERT_EQ(byte, element(lane, i) << (bits == 4 ? 2 : 0))
            << "lane " << lane << ", element " << i;
      }
    }
  }
}

TEST(TensorCopy, shiftsRowsDown) {
  Mma mma;
  Kernel kernel =
      runBody(prepare(mma) + "@%p0 tcgen05.shift.cta_group::1.down [%r5+" +
                  std::to_string((32 << 16) + 8) + "];\n" + readBack(16),
              std::vector<uint8_t>(kImage), 0);
  for (uint32_t lane = 0; lane < 128; ++lane) {
    for (uint32_t column = 0; column < 16; ++column) {
      bool moves = lane > 32 && lane < 64 && column >= 8;
      ASSERT_EQ(f32FromBits(kernel.words[kOut + lane * 256 + column]),
                float(2 * (moves ? lane - 1 : lane) + column));
    }
  }
}

TEST(TensorRefusals, nameWhatIsNotSimulated) {
  auto failureOf = [](const std::string &line) {
    Kernel kernel;
    kernel.version = "8.8";
    kernel.target = "sm_100a";
    kernel.body = line;
    kernel.run();
    return kernel.failure;
  };
  auto refuses = [&](const std::string &form, const std::string &operands) {
    std::string failure = failureOf(form + operands);
    EXPECT_NE(failure.find("unsupported form '" + form + "'"),
              std::string::npos)
        << form << ": " << failure;
  };
  for (const char *form :
       {"mma.sp.cta_group::1.kind::f16", "mma.ws.cta_group::1.kind::f16",
        "mma.sp.cta_group::1.kind::mxf4.block_scale.block32",
        "mma.cta_group::1.kind::f16.ashift"}) {
    refuses("tcgen05." + std::string(form), " [%r1], %rd1, %rd2, %r2, %p1;");
  }
  refuses("tcgen05.ld.red.sync.aligned.32x32b.x2.min.f32",
          " {%r1, %r2}, %r3, [%r4];");
  for (const char *mode : {"im2col", "tile::im2col::w", "im2col::w::128"}) {
    refuses("cp.async.bulk.tensor.3d.shared::cta.global." + std::string(mode) +
                ".mbarrier::complete_tx::bytes",
            " [%r1], [%rd1, {%r2, %r3, %r4}], [%r5], {%r6};");
  }
}
