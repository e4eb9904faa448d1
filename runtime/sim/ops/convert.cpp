// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt.

#include "units/convert.h"
#include "ops/lanes.h"
#include "ops/rows.h"
#include "units/int_math.h"

using namespace attn::sim;

namespace {

enum class Form : uint8_t { Unsigned, Signed, F16, BF16, F32, F64 };

struct Type {
  Form form = Form::Unsigned;
  uint8_t bits = 32;
  bool isInteger() const {
    return form == Form::Unsigned || form == Form::Signed;
  }
};

/// Modifiers of cvt to floating-point formats.
constexpr uint64_t kRelu = 8;
constexpr uint64_t kSatFinite = 16;

/// The conversion of a scalar cvt; packed into Inst::aux.
struct Conversion {
  Type to;
  Type from;
  Rounding rounding = Rounding::RN;
  bool ftz = false;
  bool sat = false;
  /// kRelu and kSatFinite.
  uint8_t range = 0;
};
static_assert(sizeof(Conversion) == 8, "fits Inst::aux");

/// An f16 NaN as double, with its bits.
double widenNaN(uint64_t bits) {
  return f64FromBits((bits & 0x8000) << 48 | uint64_t(0x7ff8) << 48 |
                     (bits & 0x3ff) << 42);
}

double widen(uint64_t bits, Form form) {
  switch (form) {
  case Form::F16:
    return (bits & 0x7fff) > 0x7c00 ? widenNaN(bits)
                                    : fromFormat(uint32_t(bits) & 0xffff, kF16);
  case Form::BF16:
    return f32FromBits(uint32_t(bits) << 16);
  case Form::F32:
    return f32FromBits(uint32_t(bits));
  default:
    return f64FromBits(bits);
  }
}

uint64_t narrow(double value, const Conversion &how) {
  switch (how.to.form) {
  case Form::F16:
    return roundToFormat(value, kF16, how.rounding, how.range & kSatFinite,
                         how.range & kRelu);
  case Form::BF16:
    return roundToFormat(value, kBF16, how.rounding, how.range & kSatFinite,
                         how.range & kRelu);
  case Form::F32: {
    float result = roundToF32(value, how.rounding);
    result = how.ftz ? flushF32(result) : result;
    return toBits(how.sat ? saturateF32(result) : result);
  }
  default:
    return toBits(value);
  }
}

/// Cases in which H200s keep some of a NaN's bits, which PTX does not specify:
/// from f64, and from bf16 to f32. Returns false if the result is a canonical
/// NaN.
bool keepNaN(uint64_t bits, const Conversion &how, uint64_t &result) {
  if (how.from.form == Form::BF16 && how.to.form == Form::F32) {
    result = bits << 16;
    return !how.ftz && !how.sat && !how.range;
  }
  if (how.from.form != Form::F64 || how.sat || how.range) {
    return false;
  }
  uint64_t sign = bits >> 63;
  if (how.to.form == Form::F32) {
    result = sign << 31 | 0x7fc00000 | (bits >> 29 & 0x7fffff);
  } else {
    result = sign << 15 | 0x7e00 | (bits >> 42 & 0x3ff);
  }
  return how.to.form == Form::F32 || how.to.form == Form::F16;
}

uint64_t fromFloat(uint64_t bits, const Conversion &how, bool integral) {
  if (how.from.form == Form::F32 && how.ftz) {
    bits = toBits(canonicalF32(flushF32(f32FromBits(uint32_t(bits)))));
  }
  double value = widen(bits, how.from.form);
  if (how.to.isInteger()) {
    bool isSigned = how.to.form == Form::Signed;
    return how.from.form == Form::F64
               ? f64ToInteger(value, how.rounding, how.to.bits, isSigned)
               : f32ToInteger(float(value), how.rounding, how.to.bits, isSigned,
                              how.ftz);
  }
  uint64_t kept = 0;
  if (value != value && keepNaN(bits, how, kept)) {
    return kept;
  }
  if (integral) {
    Conversion exact = how;
    exact.rounding = Rounding::RN;
    return narrow(roundToIntegralF64(value, how.rounding), exact);
  }
  return narrow(value, how);
}

uint64_t fromInteger(uint64_t bits, const Conversion &how) {
  bool isSigned = how.from.form == Form::Signed;
  switch (how.to.form) {
  case Form::Unsigned:
  case Form::Signed:
    return convertInteger(bits, how.from.bits, isSigned, how.to.bits,
                          how.to.form == Form::Signed, how.sat);
  case Form::F16:
    return integerToFormat(bits, how.from.bits, isSigned, kF16, how.rounding);
  case Form::BF16:
    return integerToFormat(bits, how.from.bits, isSigned, kBF16, how.rounding);
  case Form::F32:
    return toBits(integerToF32(bits, how.from.bits, isSigned, how.rounding));
  case Form::F64:
    return toBits(integerToF64(bits, how.from.bits, isSigned, how.rounding));
  }
  return 0;
}

/// Inst::imm of a scalar cvt.
constexpr int64_t kWideSource = 1;
constexpr int64_t kWideResult = 2;
constexpr int64_t kIntegral = 4;

Step convertScalar(Warp &warp, const Inst &inst) {
  Conversion how = bitCast<Conversion>(inst.aux);
  uint64_t results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint64_t bits = inst.imm & kWideSource ? warp.wide(inst.slots[1])[lane]
                                           : warp.word(inst.slots[1])[lane];
    uint64_t result = how.from.isInteger()
                          ? fromInteger(bits, how)
                          : fromFloat(bits, how, inst.imm & kIntegral);
    // A wider register gets the value extended.
    results[lane] = how.to.form == Form::Signed
                        ? uint64_t(signExtend(result, how.to.bits))
                        : result;
  }
  if (inst.imm & kWideResult) {
    store(warp, inst.slots[0], results);
    return Step::Next;
  }
  uint32_t narrowed[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    narrowed[lane] = uint32_t(results[lane]);
  }
  store(warp, inst.slots[0], narrowed);
  return Step::Next;
}

bool parseType(std::string_view name, Type &type) {
  static const struct {
    const char *name;
    Type type;
  } types[] = {{".u8", {Form::Unsigned, 8}},   {".s8", {Form::Signed, 8}},
               {".u16", {Form::Unsigned, 16}}, {".s16", {Form::Signed, 16}},
               {".u32", {Form::Unsigned, 32}}, {".s32", {Form::Signed, 32}},
               {".u64", {Form::Unsigned, 64}}, {".s64", {Form::Signed, 64}},
               {".f16", {Form::F16, 16}},      {".bf16", {Form::BF16, 16}},
               {".f32", {Form::F32, 32}},      {".f64", {Form::F64, 64}}};
  for (const auto &each : types) {
    if (name == each.name) {
      type = each.type;
      return true;
    }
  }
  return false;
}

/// The bytes of the register that `operand` names, at least the type's.
unsigned registerBytes(OperandDecoder &decoder, const ptx::Operand &operand,
                       const Type &type) {
  const Register *found = decoder.findRegister(operand);
  unsigned least = unsigned(type.bits) / 8;
  return std::max(found ? bytesOf(found->width) : 2, least);
}

bool finishScalar(OperandDecoder &decoder, const ptx::Instruction &instruction,
                  const Match &match, Inst &inst) {
  Conversion how;
  size_t types = match.chosen.size();
  if (!decoder.countOperands(instruction, 2, 2) ||
      !parseType(match.chosen[types - 2], how.to) ||
      !parseType(match.chosen[types - 1], how.from)) {
    return false;
  }
  std::string_view rounding = match.chosen[0];
  bool integral = rounding.size() == 4 && rounding[3] == 'i';
  how.rounding = rounding.substr(0, 3) == ".rz"   ? Rounding::RZ
                 : rounding.substr(0, 3) == ".rm" ? Rounding::RM
                 : rounding.substr(0, 3) == ".rp" ? Rounding::RP
                                                  : Rounding::RN;
  how.ftz = match.has(".ftz");
  how.sat = match.has(".sat");
  how.range = uint8_t((match.has(".relu") ? kRelu : 0) |
                      (match.has(".satfinite") ? kSatFinite : 0));
  if (!how.from.isInteger() && how.to.isInteger() && !integral) {
    return decoder.fail(instruction.at, "expected .rni, .rzi, .rmi or .rpi");
  }
  unsigned toBytes = registerBytes(decoder, instruction.operands[0], how.to);
  unsigned fromBytes =
      registerBytes(decoder, instruction.operands[1], how.from);
  inst.aux = bitCast<uint64_t>(how);
  inst.imm = (fromBytes == 8 ? kWideSource : 0) |
             (toBytes == 8 ? kWideResult : 0) | (integral ? kIntegral : 0);
  return decoder.decodeDestination(instruction.operands[0], toBytes,
                                   inst.slots[0]) &&
         decoder.decodeSource(instruction.operands[1], fromBytes, inst.slots[1],
                              !how.from.isInteger() && how.from.bits >= 32);
}

/// Inst::aux of cvt to packed formats: a rounding with kRelu and kSatFinite.
template <uint32_t (*function)(float, float, Rounding, bool, bool)>
Step packHalves(Warp &warp, const Inst &inst) {
  Rounding rounding = Rounding(inst.aux & 7);
  uint32_t results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] = function(warp.at<float>(inst.slots[1])[lane],
                             warp.at<float>(inst.slots[2])[lane], rounding,
                             inst.aux & kSatFinite, inst.aux & kRelu);
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

bool finishPacked(OperandDecoder &, const ptx::Instruction &,
                  const Match &match, Inst &inst) {
  Rounding rounding = match.has(".rz")    ? Rounding::RZ
                      : match.has(".rna") ? Rounding::RNA
                                          : Rounding::RN;
  inst.aux = uint64_t(rounding) | (match.has(".relu") ? kRelu : 0) |
             (match.has(".satfinite") ? kSatFinite : 0);
  return true;
}

/// The common one, made to be inlined: two f32 to bf16 by the nearest.
uint32_t nearestBF16x2(float high, float low) {
  auto round = [](float value) {
    uint32_t bits = toBits(value);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return value != value ? 0x7fffu : rounded;
  };
  return round(high) << 16 | round(low);
}

Step convertTF32(Warp &warp, const Inst &inst) {
  uint32_t results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] =
        toTF32(warp.at<float>(inst.slots[1])[lane], Rounding(inst.aux & 7),
               inst.aux & kSatFinite, inst.aux & kRelu);
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

/// cvt.pack.sat: two integers, clamped.
template <typename T> uint32_t pack16(int32_t high, int32_t low) {
  auto clamp = [](int32_t value) {
    return uint32_t(uint16_t(convertInteger(uint32_t(value), 32, true, 16,
                                            std::is_signed_v<T>, true)));
  };
  return clamp(high) << 16 | clamp(low);
}

/// cvt.pack.sat with a third operand, whose low half moves up.
template <typename T> uint32_t pack8(int32_t high, int32_t low, uint32_t rest) {
  auto clamp = [](int32_t value) {
    return uint32_t(uint8_t(convertInteger(uint32_t(value), 32, true, 8,
                                           std::is_signed_v<T>, true)));
  };
  return rest << 16 | clamp(high) << 8 | clamp(low);
}

} // namespace

void attn::sim::addConvertRows(Rows &rows) {
  constexpr const char *types =
      "{.u8|.s8|.u16|.s16|.u32|.s32|.u64|.s64|.f16|.bf16|.f32|.f64}";
  rows.push_back({keep(std::string("cvt[.rn|.rz|.rm|.rp|.rni|.rzi|.rmi|.rpi]"
                                   "[.relu][.satfinite][.ftz][.sat]") +
                       types + types),
                  "*", convertScalar, finishScalar});
  rows.insert(
      rows.end(),
      {{"cvt.rn.bf16x2.f32", "d4 f4 f4", lanewise<&nearestBF16x2>},
       {"cvt{.rn|.rz}[.relu][.satfinite].bf16x2.f32", "d4 f4 f4",
        packHalves<toBF16x2>, finishPacked},
       {"cvt{.rn|.rz}[.relu][.satfinite].f16x2.f32", "d4 f4 f4",
        packHalves<toF16x2>, finishPacked},
       {"cvt.rna[.satfinite].tf32.f32", "d4 f4", convertTF32, finishPacked},
       {"cvt{.rn|.rz}[.relu].tf32.f32", "d4 f4", convertTF32, finishPacked},
       {"cvt{.rn|.rz}[.relu].satfinite.tf32.f32", "d4 f4", convertTF32,
        finishPacked, 0, kBlackwell},
       {"cvt{.rn|.rz}.satfinite.relu.tf32.f32", "d4 f4", convertTF32,
        finishPacked, 0, kBlackwell}});
  rows.insert(
      rows.end(),
      {{"cvt.pack.sat.u16.s32", "d4 4 4", lanewise<&pack16<uint16_t>>},
       {"cvt.pack.sat.s16.s32", "d4 4 4", lanewise<&pack16<int16_t>>},
       {"cvt.pack.sat.u8.s32.b32", "d4 4 4 4", lanewise<&pack8<uint8_t>>},
       {"cvt.pack.sat.s8.s32.b32", "d4 4 4 4", lanewise<&pack8<int8_t>>}});
}
