// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScheduleReader.h"
#include "ScheduleWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace attn;
using namespace attn::generator;

llvm::Expected<OwningOpRef<ModuleOp>>
generator::parseEntries(StringRef text, StringRef file, MLIRContext *context) {
  std::string message;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (message.empty()) {
      llvm::raw_string_ostream stream(message);
      if (auto at = dyn_cast<FileLineColLoc>(diagnostic.getLocation())) {
        stream << at.getFilename().getValue() << ":" << at.getLine() << ":"
               << at.getColumn() << ": ";
      }
      stream << diagnostic;
    }
    return success();
  });
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(context), file);
  if (!module) {
    return makeError("{0}", message);
  }
  if (module->getOps<TableEntryOp>().empty()) {
    return makeError("{0}:1: expected an attn.table_entry, got none", file);
  }
  return module;
}

namespace {

/// Derives the parameters from the parts of a schedule.
class PointReader {
public:
  explicit PointReader(TableEntryOp entry)
      : schedule(entry.getSchedule()), config(entry.getConfig()) {}

  llvm::Expected<SchedulePoint> read();

private:
  llvm::Error readRoles();
  llvm::Error readPlaces();
  llvm::Error readRings();
  template <typename KnobsAttr> void readKnobs(KnobsAttr attr);
  void readStep();
  llvm::Error findRole(StringRef name, RoleAttr &role);
  llvm::Error findPlace(StringRef name, PlaceAttr &place);

  ScheduleAttr schedule;
  ConfigAttr config;
  SchedulePoint point;
};

} // namespace

llvm::Error PointReader::findRole(StringRef name, RoleAttr &role) {
  role = schedule.findRole(name);
  return role ? llvm::Error::success()
              : makeError("expected a role '{0}', got none", name);
}

llvm::Error PointReader::findPlace(StringRef name, PlaceAttr &place) {
  place = schedule.findPlace(name);
  return place ? llvm::Error::success()
               : makeError("expected a place '{0}', got none", name);
}

llvm::Error PointReader::readRoles() {
  RoleAttr load, consumers;
  if (llvm::Error error = findRole("load", load)) {
    return error;
  }
  if (llvm::Error error = findRole("wg", consumers)) {
    return error;
  }
  point[Knob::LoadRegisters] = load.getRegs();
  point[Knob::Consumers] = std::max<int64_t>(consumers.getReplicas(), 1);
  point[Knob::Loaders] = schedule.findRole("load_v") ? 2 : 1;
  point[Knob::Storer] =
      schedule.findRole("store") ? Storer::Warp : Storer::Consumers;
  point[Knob::Turn] = !schedule.getTurns().empty();
  return llvm::Error::success();
}

llvm::Error PointReader::readRings() {
  if (PlaceAttr both = schedule.findPlace("kv")) {
    int64_t ofV = both.getDepth() / 2;
    point[Knob::Rings] = Rings::One;
    point[Knob::VDepth] = ofV;
    point[Knob::KDepth] = both.getDepth() - ofV;
    return llvm::Error::success();
  }
  PlaceAttr k, v;
  if (llvm::Error error = findPlace("k", k)) {
    return error;
  }
  if (llvm::Error error = findPlace("v", v)) {
    return error;
  }
  point[Knob::KDepth] = k.getDepth();
  point[Knob::VDepth] = v.getDepth();
  return llvm::Error::success();
}

llvm::Error PointReader::readPlaces() {
  PlaceAttr q, p, oe;
  for (auto [name, place] :
       {std::pair("q", &q), std::pair("p", &p), std::pair("oe", &oe)}) {
    if (llvm::Error error = findPlace(name, *place)) {
      return error;
    }
  }
  point[Knob::QDepth] = q.getDepth();
  point[Knob::StageP] = p.getSpace();
  if (!oe.getOver().empty()) {
    point[Knob::StageO] =
        oe.getOver().front() == "q" ? StageO::OverQ : StageO::OverV;
  }
  if (PlaceAttr work = schedule.findPlace("work")) {
    point[Knob::WorkDepth] = work.getDepth();
  }
  return readRings();
}

template <typename KnobsAttr> void PointReader::readKnobs(KnobsAttr attr) {
  for (auto [knob, value] : llvm::zip(attr.getKnobs(), attr.getValues())) {
    point[knob] = value;
  }
}

/// Reads the order of a consumer's products and of rescaling.
void PointReader::readStep() {
  BodyAttr body = schedule.findBody("wg");
  ArrayRef<EntryAttr> step = body ? body.getKv() : ArrayRef<EntryAttr>();
  point[Knob::Overlap] = Overlap::None;
  if (!step.empty() && step.front().getAct() == Act::Get) {
    bool isKeys = step.front().getTarget().getValue() == "k";
    point[Knob::Overlap] = isKeys ? Overlap::QkFirst : Overlap::PvFirst;
  }
  bool isEarly = llvm::any_of(step, [](EntryAttr entry) {
    return entry.getTarget().getValue() == "rescale" && entry.getShift() > 0;
  });
  point[Knob::Rescale] = isEarly ? Rescale::BeforePv : Rescale::AfterPv;
}

llvm::Expected<SchedulePoint> PointReader::read() {
  if (llvm::Error error = readRoles()) {
    return error;
  }
  if (llvm::Error error = readPlaces()) {
    return error;
  }
  readKnobs(config);
  readKnobs(schedule.getStatements());
  readStep();
  if (llvm::Error error = checkValues(point)) {
    return error;
  }
  return makeCanonical(point);
}

/// Reports the first line in which an attribute differs from the expected one.
static llvm::Error compare(Attribute wanted, Attribute got) {
  if (wanted == got) {
    return llvm::Error::success();
  }
  auto linesOf = [](Attribute attr) {
    std::string text;
    llvm::raw_string_ostream(text) << attr;
    SmallVector<std::string> lines;
    for (StringRef line : llvm::split(text, '\n')) {
      lines.push_back(line.trim().str());
    }
    lines.push_back("the end");
    return lines;
  };
  for (auto [left, right] : llvm::zip(linesOf(wanted), linesOf(got))) {
    if (left != right) {
      return makeError("expected '{0}', as it is generated, got '{1}'", left,
                       right);
    }
  }
  llvm_unreachable("different attributes are printed differently");
}

llvm::Expected<SchedulePoint> generator::readPoint(TableEntryOp entry,
                                                   MachineAttr machine) {
  llvm::Expected<SchedulePoint> point = PointReader(entry).read();
  if (!point) {
    return point;
  }
  auto registers = shareRegisters(machine, point->number(Knob::Consumers),
                                  point->number(Knob::LoadRegisters));
  if (!registers) {
    return makeError("expected a machine with registers for {0} consumers, "
                     "got '{1}'",
                     point->number(Knob::Consumers),
                     machine.getName().getValue());
  }
  llvm::Expected<int64_t> rows = countRows(*point, machine);
  if (!rows) {
    return rows.takeError();
  }
  EntryHead head{entry.getSymName().str(),
                 int64_t(entry.getHeadDim()),
                 int64_t(entry.getHeadDimV()),
                 {},
                 "",
                 entry.getConfig().getRung(),
                 entry.getConfig().getTileD(),
                 entry.getConfig().getTileDv()};
  auto module =
      parseEntries(writeEntry(*point, head, machine, *registers, *rows),
                   "generated", entry.getContext());
  if (!module) {
    return module.takeError();
  }
  TableEntryOp generated = *(*module)->getOps<TableEntryOp>().begin();
  if (llvm::Error error =
          compare(generated.getConfigAttr(), entry.getConfigAttr())) {
    return error;
  }
  if (llvm::Error error =
          compare(generated.getScheduleAttr(), entry.getScheduleAttr())) {
    return error;
  }
  return point;
}
