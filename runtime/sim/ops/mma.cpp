// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sync of f16, bf16, tf32 and 8-bit integers, m16n8, A by rows and B by
// columns. Sums are computed like those of wgmma; this has not been compared
// with hardware. Other forms (fp8, sub-byte, f64, sparse) are refused.

#include "units/float_format.h"
#include "units/wgmma.h"

#include "core/cta.h"
#include "ops/lanes.h"
#include "ops/rows.h"

using namespace attn::sim;

namespace {

constexpr uint32_t kRows = 16;
constexpr uint32_t kColumns = 8;
constexpr uint32_t kMaxBytes = 32;

/// Packed into Inst::aux.
struct Shape {
  MatrixType a = MatrixType::F16;
  MatrixType b = MatrixType::F16;
  AccumulatorType d = AccumulatorType::F32;
  /// Bytes of a row of A, of a column of B: k elements.
  uint8_t bytes = 32;
  bool saturate = false;
  uint8_t padding[3] = {0, 0, 0};

  uint32_t registersA() const { return bytes / 8; }
  uint32_t registersB() const { return bytes / 16; }
  uint32_t registersD() const { return d == AccumulatorType::F16 ? 2 : 4; }
};
static_assert(sizeof(Shape) == 8, "fits Inst::aux");

/// Register `index` of A in lane `lane` is 4 bytes of a row.
void readA(Warp &warp, const uint32_t *slots, const Shape &shape,
           uint8_t a[kRows][kMaxBytes]) {
  for (uint32_t i = 0; i < shape.registersA(); ++i) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint32_t row = lane / 4 + 8 * (i & 1);
      uint32_t at = 4 * (lane % 4) + 16 * (i >> 1);
      std::memcpy(&a[row][at], &warp.word(slots[i])[lane], 4);
    }
  }
}

void readB(Warp &warp, const uint32_t *slots, const Shape &shape,
           uint8_t b[kColumns][kMaxBytes]) {
  for (uint32_t i = 0; i < shape.registersB(); ++i) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint32_t at = 4 * (lane % 4) + 16 * i;
      std::memcpy(&b[lane / 4][at], &warp.word(slots[i])[lane], 4);
    }
  }
}

int64_t integerAt(MatrixType type, uint8_t byte) {
  return type == MatrixType::S8 ? int64_t(int8_t(byte)) : int64_t(byte);
}

uint32_t integerDot(const Shape &shape, const uint8_t *a, const uint8_t *b,
                    uint32_t c) {
  int64_t sum = int32_t(c);
  for (uint32_t k = 0; k < shape.bytes; ++k) {
    sum += integerAt(shape.a, a[k]) * integerAt(shape.b, b[k]);
  }
  if (shape.saturate) {
    sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
  }
  return uint32_t(sum);
}

/// One element; `c` and the result are bits of D's type.
uint32_t dot(const Shape &shape, WgmmaArithmetic sums, const uint8_t *a,
             const uint8_t *b, uint32_t c) {
  if (shape.d == AccumulatorType::S32) {
    return integerDot(shape, a, b, c);
  }
  bool half = shape.d == AccumulatorType::F16;
  float start = half ? fromF16(uint16_t(c)) : f32FromBits(c);
  uint32_t k = shape.bytes / matrixTypeBytes(shape.a);
  return sums == WgmmaArithmetic::Exact
             ? exactDot(shape.a, shape.b, a, b, k, start, half)
             : hardwareDot(shape.a, shape.b, a, b, k, start, false, half);
}

/// The list has the registers of D, A, B and C.
Step multiply(Warp &warp, const Inst &inst) {
  if (warp.live != kAllLanes) {
    return warp.fault(Rule::WarpDivergent, "expected a warp of 32 lanes");
  }
  Step step = Step::Next;
  if (!warp.gather(kAllLanes, Rule::WarpDivergent, step)) {
    return step;
  }
  Shape shape = bitCast<Shape>(inst.aux);
  const uint32_t *d = &warp.cta.program.lists[inst.list];
  const uint32_t *a = d + shape.registersD();
  const uint32_t *b = a + shape.registersA();
  const uint32_t *c = b + shape.registersB();
  uint8_t rows[kRows][kMaxBytes];
  uint8_t columns[kColumns][kMaxBytes];
  readA(warp, a, shape, rows);
  readB(warp, b, shape, columns);
  uint32_t results[4][kLanes];
  for (uint32_t i = 0; i < shape.registersD(); ++i) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint32_t start = warp.word(c[i])[lane];
      uint32_t column = 2 * (lane % 4);
      if (shape.d == AccumulatorType::F16) {
        const uint8_t *row = rows[lane / 4 + 8 * i];
        results[i][lane] =
            dot(shape, warp.cta.sums, row, columns[column], start & 0xffff) |
            dot(shape, warp.cta.sums, row, columns[column + 1], start >> 16)
                << 16;
      } else {
        const uint8_t *row = rows[lane / 4 + 8 * (i >> 1)];
        results[i][lane] =
            dot(shape, warp.cta.sums, row, columns[column + (i & 1)], start);
      }
    }
  }
  for (uint32_t i = 0; i < shape.registersD(); ++i) {
    store(warp, d[i], results[i]);
  }
  return Step::Next;
}

template <MatrixType a, MatrixType b, AccumulatorType d, uint8_t bytes>
bool finish(OperandDecoder &decoder, const ptx::Instruction &instruction,
            const Match &match, Inst &inst) {
  Shape shape;
  shape.a = a;
  shape.b = b;
  shape.d = d;
  shape.bytes = bytes;
  shape.saturate = match.has(".satfinite");
  inst.aux = bitCast<uint64_t>(shape);
  const auto &operands = instruction.operands;
  if (!decoder.countOperands(instruction, 4, 4) ||
      !decoder.decodeDestinations(operands[0], 4, inst) ||
      !decoder.decodeSources(operands[1], 4, inst) ||
      !decoder.decodeSources(operands[2], 4, inst) ||
      !decoder.decodeSources(operands[3], 4, inst)) {
    return false;
  }
  const uint32_t counts[] = {shape.registersD(), shape.registersA(),
                             shape.registersB(), shape.registersD()};
  for (size_t i = 0; i < 4; ++i) {
    bool isVector = operands[i].kind == ptx::Operand::Kind::Vector;
    if ((isVector ? operands[i].elements.size() : 1) != counts[i]) {
      return decoder.fail(operands[i].at, "expected " +
                                              std::to_string(counts[i]) +
                                              " registers");
    }
  }
  return true;
}

template <MatrixType a, MatrixType b, AccumulatorType d>
void addType(Rows &rows, const std::string &types, uint32_t elementBytes,
             const std::string &saturate = "") {
  auto row = [&](uint32_t bytes, Finish how) {
    rows.push_back(
        {keep("mma.sync.aligned.m16n8k" + std::to_string(bytes / elementBytes) +
              ".row.col" + saturate + types),
         "*", multiply, how});
  };
  row(16, finish<a, b, d, 16>);
  row(32, finish<a, b, d, 32>);
}

} // namespace

void attn::sim::addMmaRows(Rows &rows) {
  using M = MatrixType;
  using D = AccumulatorType;
  const std::string saturate = "[.satfinite]";
  addType<M::F16, M::F16, D::F32>(rows, ".f32.f16.f16.f32", 2);
  addType<M::F16, M::F16, D::F16>(rows, ".f16.f16.f16.f16", 2);
  addType<M::BF16, M::BF16, D::F32>(rows, ".f32.bf16.bf16.f32", 2);
  addType<M::TF32, M::TF32, D::F32>(rows, ".f32.tf32.tf32.f32", 4);
  addType<M::S8, M::S8, D::S32>(rows, ".s32.s8.s8.s32", 1, saturate);
  addType<M::S8, M::U8, D::S32>(rows, ".s32.s8.u8.s32", 1, saturate);
  addType<M::U8, M::S8, D::S32>(rows, ".s32.u8.s8.s32", 1, saturate);
  addType<M::U8, M::U8, D::S32>(rows, ".s32.u8.u8.s32", 1, saturate);
}
