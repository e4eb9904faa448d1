// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/slots.h"

using namespace attn::sim;

unsigned attn::sim::typeSize(std::string_view type) {
  if (type.size() < 2) {
    return 0;
  }
  std::string_view bits =
      type.substr(type.find_first_of("0123456789") == std::string_view::npos
                      ? type.size()
                      : type.find_first_of("0123456789"));
  return bits == "8"                      ? 1
         : bits == "16"                   ? 2
         : bits == "32" || bits == "16x2" ? 4
         : bits == "64" || bits == "32x2" ? 8
         : bits == "128"                  ? 16
                                          : 0;
}

uint32_t Slots::allocate(Width width) {
  if (width == Width::Predicate) {
    return program.predicates++;
  }
  uint32_t slot = program.words;
  program.words += kLanes * (width == Width::B128  ? 4
                             : width == Width::B64 ? 2
                                                   : 1);
  return slot;
}

uint32_t Slots::preset(const PresetSlot &slot) {
  PresetSlot placed = slot;
  placed.slot = allocate(slot.wide ? Width::B64 : Width::B32);
  program.presets.push_back(placed);
  return placed.slot;
}

uint32_t Slots::constant(uint64_t value, unsigned bytes) {
  bool wide = bytes == 8;
  value &= bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << 8 * bytes) - 1;
  auto [entry, fresh] = constants.try_emplace({value, wide}, kNone);
  if (fresh) {
    PresetSlot slot;
    slot.wide = wide;
    slot.value = value;
    entry->second = preset(slot);
  }
  return entry->second;
}

uint32_t Slots::sharedAddress(uint64_t address, unsigned bytes) {
  auto [entry, fresh] =
      sharedAddresses.try_emplace({address, bytes == 8}, kNone);
  if (fresh) {
    PresetSlot slot;
    slot.kind = PresetSlot::Kind::SharedAddress;
    slot.wide = bytes == 8;
    slot.value = address;
    entry->second = preset(slot);
  }
  return entry->second;
}

uint32_t Slots::special(Special special, unsigned bytes) {
  auto [entry, fresh] = specials.try_emplace({special, bytes == 8}, kNone);
  if (fresh) {
    PresetSlot slot;
    slot.kind = PresetSlot::Kind::Special;
    slot.special = special;
    slot.wide = bytes == 8;
    entry->second = preset(slot);
  }
  return entry->second;
}

uint32_t Slots::truePredicate() {
  if (program.truePredicates.empty()) {
    program.truePredicates.push_back(allocate(Width::Predicate));
  }
  return program.truePredicates[0];
}

uint32_t Slots::explicitCluster() {
  uint32_t &slot = program.explicitClusterPredicate;
  slot = slot == kNone ? allocate(Width::Predicate) : slot;
  return slot;
}
