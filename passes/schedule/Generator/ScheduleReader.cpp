// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScheduleReader.h"
#include "ScheduleWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace attn;
using namespace attn::generator;
using llvm::formatv;

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
  void readConfig();
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
  point.loadRegisters = load.getRegs();
  point.consumers = std::max<int64_t>(consumers.getReplicas(), 1);
  point.loaders = schedule.findRole("load_v") ? 2 : 1;
  point.storer = schedule.findRole("store") ? "warp" : "consumers";
  point.turn = !schedule.getTurns().empty();
  return llvm::Error::success();
}

llvm::Error PointReader::readRings() {
  if (PlaceAttr both = schedule.findPlace("kv")) {
    point.rings = "one";
    point.vDepth = both.getDepth() / 2;
    point.kDepth = both.getDepth() - point.vDepth;
    return llvm::Error::success();
  }
  PlaceAttr k, v;
  if (llvm::Error error = findPlace("k", k)) {
    return error;
  }
  if (llvm::Error error = findPlace("v", v)) {
    return error;
  }
  point.kDepth = k.getDepth();
  point.vDepth = v.getDepth();
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
  point.qDepth = q.getDepth();
  point.stageP = stringifySpace(p.getSpace());
  point.stageO =
      oe.getOver() ? ("over_" + oe.getOver().getValue()).str() : "own";
  if (PlaceAttr work = schedule.findPlace("work")) {
    point.workDepth = work.getDepth();
  }
  return readRings();
}

void PointReader::readConfig() {
  point.tileN = config.getTileN();
  point.cluster = config.getCluster();
  point.packGqa = config.getPackGqa();
  point.work = stringifyWorkKind(config.getWork());
  point.lastWaveParts = config.getLastWaveParts();
  point.order = stringifyWorkOrder(config.getOrder());
  point.sectionMib = config.getSectionMib();
  point.rowMax = stringifyRowMax(config.getRowMax());
  point.rescaleThreshold = config.getRescaleThreshold();
  point.exp2Degree = config.getExp2Degree();
  point.launch = stringifyLaunch(schedule.getLaunch());
  point.peel = stringifyPeel(schedule.getPeel());
  point.skip = stringifySkip(schedule.getSkip());
  point.exp2Soft = formatv("{0}/{1}", schedule.getExp2SoftNumerator(),
                           schedule.getExp2SoftDenominator());
}

/// Reads the order of a consumer's products and of rescaling.
void PointReader::readStep() {
  BodyAttr body = schedule.findBody("wg");
  ArrayRef<EntryAttr> step = body ? body.getKv() : ArrayRef<EntryAttr>();
  point.overlap = "none";
  if (!step.empty() && step.front().getAct() == Act::Get) {
    bool isKeys = step.front().getTarget().getValue() == "k";
    point.overlap = isKeys ? "qk_first" : "pv_first";
  }
  bool isEarly = llvm::any_of(step, [](EntryAttr entry) {
    return entry.getTarget().getValue() == "rescale" && entry.getShift() > 0;
  });
  point.rescale = isEarly ? "before_pv" : "after_pv";
}

llvm::Expected<SchedulePoint> PointReader::read() {
  if (llvm::Error error = readRoles()) {
    return error;
  }
  if (llvm::Error error = readPlaces()) {
    return error;
  }
  readConfig();
  readStep();
  for (const Parameter &parameter : parameters()) {
    if (llvm::Error error = parameter.set(point, parameter.get(point))) {
      return error;
    }
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
  auto registers =
      shareRegisters(machine, point->consumers, point->loadRegisters);
  if (!registers) {
    return makeError("expected a machine with registers for {0} consumers, "
                     "got '{1}'",
                     point->consumers, machine.getName().getValue());
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
                 entry.getConfig().getRung()};
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
