// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "launch_buffer.h"

#include "npy.h"
#include "numbers.h"

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace attn::run;

/// The alignment of cuMemAlloc.
static constexpr size_t kAlignment = 256;
/// A NaN in all float types.
static constexpr int kPoisonByte = 0xff;

bool LaunchBuffer::createFrom(const BufferSpec &bufferSpec,
                              const Values &bufferValues, std::string &err) {
  spec = &bufferSpec;
  values = bufferValues;
  size_t rounded = (size() / kAlignment + 1) * kAlignment;
  bytes.reset(static_cast<uint8_t *>(std::aligned_alloc(kAlignment, rounded)));
  if (!bytes) {
    err = "no host memory for " + std::to_string(size()) + " bytes";
    return false;
  }
  return fill(err);
}

bool LaunchBuffer::fill(std::string &err) {
  const ElementType &type = *spec->type;
  switch (values.kind) {
  case Values::Kind::Zeros:
    std::memset(data(), 0, size());
    return true;
  case Values::Kind::Poison:
    std::memset(data(), kPoisonByte, size());
    return true;
  case Values::Kind::File:
    return readNpy(values.file, type.npy, spec->shape, data(), size(), err);
  case Values::Kind::Iota:
  case Values::Kind::Constant:
  case Values::Kind::Random:
    break;
  }
  Random random(values.seed, 0);
  for (int64_t i = 0; i < spec->elementCount(); ++i) {
    auto index = uint64_t(i);
    uint64_t bits = values.kind == Values::Kind::Iota ? toBits(type, double(i))
                    : values.kind == Values::Kind::Constant
                        ? toBits(type, values.constant)
                    : type.isFloat ? toBits(type, double(random.normal(index)))
                                   : random.bits(index);
    std::memcpy(data() + index * type.bytes, &bits, type.bytes);
  }
  return true;
}

uint64_t LaunchBuffer::bitsAt(int64_t index) const {
  uint64_t bits = 0;
  std::memcpy(&bits, data() + uint64_t(index) * spec->type->bytes,
              spec->type->bytes);
  return bits;
}

double LaunchBuffer::at(int64_t index) const {
  return fromBits(*spec->type, bitsAt(index));
}

std::string LaunchBuffer::compare(const LaunchBuffer &want, double absolute,
                                  double relative) const {
  int64_t wrong = 0;
  int64_t count = spec->elementCount();
  char first[160] = "";
  for (int64_t i = 0; i < count; ++i) {
    double expected = want.at(i);
    double error = std::fabs(at(i) - expected);
    double bound = absolute + relative * std::fabs(expected);
    // With no tolerance, the bits count: integers may not fit doubles.
    bool isGood = bitsAt(i) == want.bitsAt(i) ||
                  (error <= bound && (error > 0 || spec->type->isFloat)) ||
                  (std::isnan(expected) && std::isnan(at(i)));
    if (isGood) {
      continue;
    }
    if (wrong++ == 0) {
      std::snprintf(first, sizeof(first),
                    "expected element %lld to be %.9g within %.3g, got %.9g",
                    static_cast<long long>(i), expected, bound, at(i));
    }
  }
  return wrong == 0
             ? ""
             : std::string(first) + " (" + std::to_string(wrong) + " of " +
                   std::to_string(count) + " elements are wrong)";
}
