// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instruction descriptors of tcgen05.mma.

#include "units/umma.h"

using namespace attn::sim;

namespace {

bool isInteger(MatrixType type) {
  return type == MatrixType::S8 || type == MatrixType::U8;
}

bool isScaled(UmmaKind kind) {
  return kind == UmmaKind::MXF8F6F4 || kind == UmmaKind::MXF4 ||
         kind == UmmaKind::MXF4NVF4;
}

struct TypeCode {
  UmmaKind kind;
  uint32_t code;
  MatrixType type;
};
constexpr TypeCode kTypes[] = {{UmmaKind::F16, 0, MatrixType::F16},
                               {UmmaKind::F16, 1, MatrixType::BF16},
                               {UmmaKind::TF32, 2, MatrixType::TF32},
                               {UmmaKind::F8F6F4, 0, MatrixType::E4M3},
                               {UmmaKind::F8F6F4, 1, MatrixType::E5M2},
                               {UmmaKind::F8F6F4, 3, MatrixType::E2M3},
                               {UmmaKind::F8F6F4, 4, MatrixType::E3M2},
                               {UmmaKind::F8F6F4, 5, MatrixType::E2M1},
                               {UmmaKind::I8, 0, MatrixType::U8},
                               {UmmaKind::I8, 1, MatrixType::S8},
                               {UmmaKind::MXF8F6F4, 0, MatrixType::E4M3},
                               {UmmaKind::MXF8F6F4, 1, MatrixType::E5M2},
                               {UmmaKind::MXF8F6F4, 3, MatrixType::E2M3},
                               {UmmaKind::MXF8F6F4, 4, MatrixType::E3M2},
                               {UmmaKind::MXF8F6F4, 5, MatrixType::E2M1},
                               {UmmaKind::MXF4, 1, MatrixType::E2M1x2},
                               {UmmaKind::MXF4NVF4, 1, MatrixType::E2M1x2}};

std::string decodeType(UmmaKind kind, uint32_t code, const char *name,
                       MatrixType &type) {
  for (const TypeCode &each : kTypes) {
    if (each.kind == kind && each.code == code) {
      type = each.type;
      return "";
    }
  }
  return "the kind has no type " + std::to_string(code) + " of " + name;
}

std::string decodeAccumulator(UmmaKind kind, uint32_t code, UmmaSpec &spec) {
  bool isInt = kind == UmmaKind::I8;
  if (isInt != (code == 2) || code > 2) {
    return "the kind has no type " + std::to_string(code) + " of D";
  }
  spec.d = code == 0   ? AccumulatorType::F16
           : code == 1 ? AccumulatorType::F32
                       : AccumulatorType::S32;
  bool mayBeHalf = kind == UmmaKind::F8F6F4 ||
                   (spec.a == MatrixType::F16 && spec.b == MatrixType::F16);
  return code == 0 && !mayBeHalf ? "D is f16, which is for A and B of f16 and "
                                   "for kind::f8f6f4"
                                 : "";
}

std::string checkShape(const UmmaSpec &spec, unsigned ctas) {
  uint32_t most = 128 * ctas;
  uint32_t least = spec.scaling.count ? 128 : 64 * ctas;
  if (spec.m != least && spec.m != most) {
    return "M is " + std::to_string(spec.m) + ", expected " +
           std::to_string(least) +
           (least == most ? "" : " or " + std::to_string(most));
  }
  bool isInt = isInteger(spec.a);
  bool isTransposed = spec.transposeB && matrixTypeBytes(spec.b) == 1;
  uint32_t step = 8 * ctas;
  if (isTransposed || (isInt && (spec.n > 32 || ctas == 2))) {
    step = 16 * ctas;
  }
  if (spec.n < step || spec.n > 256 || spec.n % step != 0) {
    return "N is " + std::to_string(spec.n) + ", expected a multiple of " +
           std::to_string(step) + " up to 256";
  }
  return "";
}

std::string checkModes(UmmaKind kind, uint32_t bits, const UmmaSpec &spec) {
  if (kind == UmmaKind::I8 && (spec.negateA || spec.negateB)) {
    return "integers cannot be negated";
  }
  if (kind != UmmaKind::I8 && spec.saturate) {
    return "bit 3, saturation, is for kind::i8";
  }
  bool narrowA = spec.transposeA && matrixTypeBits(spec.a) < 8;
  bool narrowB = spec.transposeB && matrixTypeBits(spec.b) < 8;
  if (narrowA || narrowB) {
    return "types below 8 bits cannot be transposed";
  }
  bool hasShift = !isScaled(kind) && bits >> 30;
  return hasShift ? "bits 30 and 31, a shift of B, are for mma.ws" : "";
}

/// The scale types and ids that the kind and the number of scales allow.
std::string checkScaling(UmmaKind kind, const UmmaScaling &scaling) {
  bool mayBeE4M3 = kind == UmmaKind::MXF4NVF4 && scaling.count == 4;
  if (!scaling.isPower && !mayBeE4M3) {
    return "bit 23 asks for scales of ue4m3, which are for kind::mxf4nvf4 with "
           "four scales a row";
  }
  for (uint32_t id : {scaling.idA, scaling.idB}) {
    if (id % scaling.count != 0) {
      return "the id of a scale is " + std::to_string(id) + ", expected " +
             (scaling.count == 4 ? "0" : "0 or 2");
    }
  }
  return "";
}

/// The fields that only descriptors for scaled blocks have.
std::string decodeScaling(UmmaKind kind, uint32_t bits, UmmaSpec &spec) {
  bool isNarrow = kind != UmmaKind::MXF8F6F4;
  if (isNarrow && (bits >> 31 & 1)) {
    return "bit 31 asks for K = 96, which is not simulated";
  }
  spec.d = AccumulatorType::F32;
  spec.saturate = false;
  spec.scaling.idB = bits >> 4 & 3;
  spec.scaling.isPower = bits >> 23 & 1;
  spec.scaling.idA = bits >> 29 & 3;
  spec.m = (bits >> 27 & 3) << 7;
  std::string problem = checkScaling(kind, spec.scaling);
  if (problem.empty() && isNarrow && (spec.transposeA || spec.transposeB)) {
    problem = "types below 8 bits cannot be transposed";
  }
  return problem;
}

uint32_t reservedBits(UmmaKind kind) {
  constexpr uint32_t scaled = 3 | 1u << 3 | 1u << 6 | 7u << 24;
  switch (kind) {
  case UmmaKind::MXF8F6F4:
    return scaled | 1u << 31;
  case UmmaKind::MXF4:
  case UmmaKind::MXF4NVF4:
    return scaled | 1u << 12;
  default:
    return 1u << 6 | 1u << 23 | 1u << 29;
  }
}

} // namespace

std::string attn::sim::decodeUmmaInstruction(UmmaKind kind, uint32_t bits,
                                             unsigned ctas, UmmaSpec &spec) {
  if (bits & reservedBits(kind)) {
    return "reserved bits are set";
  }
  if (bits & 7) {
    return "bits 0 to 2 ask for a sparse A, which is not simulated";
  }
  spec.saturate = bits >> 3 & 1;
  spec.negateA = bits >> 13 & 1;
  spec.negateB = bits >> 14 & 1;
  spec.transposeA = bits >> 15 & 1;
  spec.transposeB = bits >> 16 & 1;
  spec.n = (bits >> 17 & 63) << 3;
  spec.m = (bits >> 24 & 31) << 4;
  std::string problem = decodeType(kind, bits >> 7 & 7, "A", spec.a);
  if (problem.empty()) {
    problem = decodeType(kind, bits >> 10 & 7, "B", spec.b);
  }
  if (problem.empty()) {
    problem = isScaled(kind) ? decodeScaling(kind, bits, spec)
                             : decodeAccumulator(kind, bits >> 4 & 3, spec);
  }
  if (problem.empty()) {
    problem = checkShape(spec, ctas);
  }
  return problem.empty() ? checkModes(kind, bits, spec) : problem;
}

const char *attn::sim::checkUmmaSwizzle(MatrixType type, bool isTransposed,
                                        Swizzle swizzle) {
  if (!isTransposed) {
    return "";
  }
  bool isWide = type == MatrixType::TF32;
  return isWide == (swizzle == Swizzle::B128Atom32) ? ""
         : isWide ? "a transposed tf32 needs the 128-byte swizzle of 32-byte "
                    "atoms"
                  : "the 128-byte swizzle of 32-byte atoms is for a transposed "
                    "tf32";
}
