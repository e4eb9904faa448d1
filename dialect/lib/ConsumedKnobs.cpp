// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/ConsumedKnobs.h"
#include "attn/dialect/Knobs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace attn;

static constexpr llvm::StringLiteral kStructure = "structure";

namespace {

/// A property of a kernel that a pass consumes.
struct Consumable {
  StringRef name;
  std::string value;
  StringRef home; // the attribute that has it, or "" if it is one itself
  StringRef consumer, editableAt;
};

} // namespace

template <typename Printed> static std::string print(Printed attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

/// Returns a digest of the schedule without its name and statements.
static std::string digestStructure(ScheduleAttr schedule) {
  MLIRContext *context = schedule.getContext();
  SmallVector<KnobValue> absent;
  for (Knob knob : StatementsAttr::getKnobs()) {
    absent.push_back(infoOf(knob).absent());
  }
  auto bare = ScheduleAttr::get(
      context, StringAttr::get(context, ""), schedule.getMachine(),
      schedule.getSplit(), schedule.getRemat(), schedule.getRoles(),
      schedule.getPlaces(), schedule.getEdges(), schedule.getTurns(),
      schedule.getSyncs(), StatementsAttr::fromValues(context, absent),
      schedule.getBodies());
  return llvm::utohexstr(llvm::xxh3_64bits(print(bare)), /*LowerCase=*/true);
}

template <typename KnobsAttr>
static void addKnobs(KnobsAttr attribute, StringRef home,
                     SmallVectorImpl<Consumable> &all) {
  for (auto [knob, value] :
       llvm::zip(KnobsAttr::getKnobs(), attribute.getValues())) {
    const KnobInfo &info = infoOf(knob);
    all.push_back(
        {info.name, info.spell(value), home, info.consumer, info.editableAt});
  }
}

static SmallVector<Consumable> listConsumables(Operation *kernel) {
  SmallVector<Consumable> all;
  if (auto problem = kernel->getAttrOfType<ProblemAttr>("problem")) {
    const KnobInfo &tiles = infoOf(Knob::TileM);
    all.push_back(
        {"problem", print(problem), "", tiles.consumer, tiles.editableAt});
  }
  if (auto config = kernel->getAttrOfType<ConfigAttr>("config")) {
    addKnobs(config, "config", all);
  }
  if (auto schedule = kernel->getAttrOfType<ScheduleAttr>("schedule")) {
    addKnobs(schedule.getStatements(), "schedule", all);
    const KnobInfo &roles = infoOf(Knob::Consumers);
    all.push_back({kStructure, digestStructure(schedule), "schedule",
                   roles.consumer, roles.editableAt});
  }
  return all;
}

void attn::recordConsumed(Operation *kernel, StringRef pass) {
  NamedAttrList record(kernel->getAttrOfType<DictionaryAttr>(kConsumedAttr));
  for (const Consumable &each : listConsumables(kernel)) {
    if (each.consumer == pass) {
      record.set(each.name, StringAttr::get(kernel->getContext(), each.value));
    }
  }
  kernel->setDiscardableAttr(kConsumedAttr,
                             record.getDictionary(kernel->getContext()));
}

/// Checks one entry of a record.
static LogicalResult verifyEntry(Operation *kernel, NamedAttribute entry,
                                 ArrayRef<Consumable> all) {
  auto *now = llvm::find_if(all, [&](const Consumable &each) {
    return each.name == entry.getName().getValue();
  });
  auto value = dyn_cast<StringAttr>(entry.getValue());
  if (now == all.end() || !value) {
    return kernel->emitOpError("expected '")
           << kConsumedAttr << "' to have the text of a knob of its config or "
           << "schedule, got '" << entry.getName().getValue()
           << "' = " << entry.getValue();
  }
  if (now->value == value.getValue()) {
    return success();
  }
  InFlightDiagnostic error = kernel->emitOpError("expected ");
  if (now->name == kStructure) {
    error << "the digest of the roles, places and bodies ";
  } else {
    error << "'" << now->name << "' ";
  }
  if (!now->home.empty()) {
    error << "of its '" << now->home << "' ";
  }
  return error << "to be " << value.getValue() << ", with which "
               << now->consumer << " made the kernel, got " << now->value
               << "; edit it at --emit=" << now->editableAt
               << (now->home.empty() ? "" : ", or in an entry for --schedule");
}

LogicalResult attn::verifyConsumed(Operation *kernel, Attribute record) {
  auto entries = dyn_cast<DictionaryAttr>(record);
  if (!entries) {
    return kernel->emitOpError("expected '")
           << kConsumedAttr << "' to be a dictionary, got " << record;
  }
  SmallVector<Consumable> all = listConsumables(kernel);
  for (NamedAttribute entry : entries) {
    if (failed(verifyEntry(kernel, entry, all))) {
      return failure();
    }
  }
  return success();
}
