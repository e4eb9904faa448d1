// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the text form of #attn.schedule. There is one canonical order: split,
// remat, roles, places, turns, syncs, edges, knobs, bodies.
#include "attn/dialect/Knobs.h"

using namespace mlir;
using namespace attn;

namespace {

class SchedulePrinter {
public:
  SchedulePrinter(AsmPrinter &printer) : printer(printer) {}
  void print(ScheduleAttr schedule);

private:
  void print(StatementsAttr statements);
  void print(SplitAttr split);
  void print(RoleAttr role);
  void print(PlaceAttr place);
  void print(EdgeAttr edge);
  void print(TurnAttr turn);
  void print(SyncAttr sync);
  void print(BodyAttr body);
  void print(EntryAttr entry);
  void printEntries(StringRef word, ArrayRef<EntryAttr> entries);
  void printName(StringAttr name) {
    // A name that would be read as a guard keeps its quotes.
    if (symbolizeGuard(name.getValue())) {
      printer << '"' << name.getValue() << '"';
    } else {
      printer.printKeywordOrString(name.getValue());
    }
  }
  void printNames(ArrayRef<StringAttr> names) {
    printer << '(';
    llvm::interleaveComma(names, printer.getStream(),
                          [&](StringAttr name) { printName(name); });
    printer << ')';
  }
  template <typename T> void printAll(ArrayRef<T> items) {
    for (T item : items) {
      printer.printNewline();
      print(item);
    }
  }

  AsmPrinter &printer;
};

} // namespace

void SchedulePrinter::print(ScheduleAttr schedule) {
  printer << '<';
  printer.printString(schedule.getName().getValue());
  printer << " machine ";
  printer.printString(schedule.getMachine().getValue());
  printer << " {";
  printer.increaseIndent();
  if (schedule.getSplit()) {
    printAll(ArrayRef(schedule.getSplit()));
  }
  if (!schedule.getRemat().empty()) {
    printer.printNewline();
    printer << "remat";
    printNames(schedule.getRemat());
  }
  printAll(schedule.getRoles());
  printAll(schedule.getPlaces());
  printAll(schedule.getTurns());
  printAll(schedule.getSyncs());
  printAll(schedule.getEdges());
  print(schedule.getStatements());
  printAll(schedule.getBodies());
  printer.decreaseIndent();
  printer.printNewline();
  printer << "}>";
}

void SchedulePrinter::print(StatementsAttr statements) {
  for (auto [knob, value] :
       llvm::zip(StatementsAttr::getKnobs(), statements.getValues())) {
    const KnobInfo &info = infoOf(knob);
    if (info.alwaysSaid || value != info.absent()) {
      printer.printNewline();
      printer << info.state(value);
    }
  }
}

void SchedulePrinter::print(SplitAttr split) {
  printer << "split ";
  printName(split.getAxis());
  printer << ' ' << split.getCount();
  if (!split.getWhole().empty()) {
    printer << " whole";
    printNames(split.getWhole());
  }
  if (!split.getAlsoValues().empty()) {
    printer << " also(";
    llvm::interleaveComma(llvm::zip(split.getAlsoValues(), split.getAlsoAxes()),
                          printer.getStream(), [&](auto pair) {
                            printName(std::get<0>(pair));
                            printer << " : ";
                            printName(std::get<1>(pair));
                          });
    printer << ')';
  }
}

void SchedulePrinter::print(RoleAttr role) {
  printer << "role ";
  printName(role.getName());
  if (role.getReplicas() > 0) {
    printer << '[' << role.getReplicas() << ']';
  }
  printer << " warps " << role.getWarps() << " regs " << role.getRegs()
          << (role.getOnLeader() ? " on leader" : "");
}

void SchedulePrinter::print(PlaceAttr place) {
  printer << (place.getChannel() ? "chan " : "hold ");
  printName(place.getName());
  printer << " = ";
  llvm::interleave(
      place.getCycles(), printer.getStream(),
      [&](ArrayAttr cycle) {
        llvm::interleave(
            cycle.getAsRange<StringAttr>(), printer.getStream(),
            [&](StringAttr value) { printName(value); }, " + ");
      },
      " | ");
  printer << " in " << stringifySpace(place.getSpace()) << " depth "
          << place.getDepth();
  if (ArrayRef<int64_t> parts = place.getParts(); !parts.empty()) {
    printer << " parts(";
    for (size_t i = 0; i < parts.size(); i += 2) {
      printer << (i ? ", " : "") << parts[i] << " of " << parts[i + 1];
    }
    printer << ')';
  }
  if (!place.getOver().empty()) {
    printer << " over ";
    llvm::interleave(
        place.getOver(), printer.getStream(),
        [&](StringAttr host) { printName(host); }, " + ");
    printer << (place.getOverCross() ? "[cross]" : "");
  }
  if (!place.getOnly().empty()) {
    printer << " for";
    printNames(place.getOnly());
  }
  printer << (place.getFullImplied() ? " full_implied" : "")
          << (place.getFreeImplied() ? " free_implied" : "");
  if (place.getGranularity() != Granularity::Warpgroup) {
    printer << " gran " << stringifyGranularity(place.getGranularity());
  }
  if (place.getScope() != Scope::Cta) {
    printer << " scope " << stringifyScope(place.getScope());
  }
}

void SchedulePrinter::print(EdgeAttr edge) {
  printer << "edge ";
  printName(edge.getName());
  printer << (edge.getSplit() ? " split" : "");
  if (edge.getJoinsPlace()) {
    printer << " joins ";
    printName(edge.getJoinsPlace());
    printer << " : " << edge.getJoinsPart();
  }
  if (edge.getCredits()) {
    printer << " credits " << edge.getCredits();
  }
  if (edge.getScope() != Scope::Cta) {
    printer << " scope " << stringifyScope(edge.getScope());
  }
}

void SchedulePrinter::print(TurnAttr turn) {
  printer << "turn ";
  printName(turn.getName());
  printer << " ring ";
  printName(turn.getRing());
  printer << (turn.getUnprimed() ? " unprimed" : "");
}

void SchedulePrinter::print(SyncAttr sync) {
  printer << "sync ";
  printName(sync.getName());
  printer << " ring ";
  printName(sync.getRing());
}

void SchedulePrinter::print(BodyAttr body) {
  printer << "body ";
  printName(body.getRole());
  if (body.getReplica() >= 0) {
    printer << '[' << body.getReplica() << ']';
  }
  printer << " {";
  printer.increaseIndent();
  printEntries("before", body.getBefore());
  printEntries("kv", body.getKv());
  printEntries("after", body.getAfter());
  printer.decreaseIndent();
  printer.printNewline();
  printer << '}';
}

void SchedulePrinter::printEntries(StringRef word,
                                   ArrayRef<EntryAttr> entries) {
  if (entries.empty()) {
    return;
  }
  printer.printNewline();
  printer << word << " {";
  for (EntryAttr entry : entries) {
    printer << ' ';
    print(entry);
  }
  printer << " }";
}

void SchedulePrinter::print(EntryAttr entry) {
  if (entry.getGuard() != Guard::Always) {
    printer << stringifyGuard(entry.getGuard()) << " : ";
  }
  bool called = entry.getAct() != Act::Op;
  if (called) {
    printer << stringifyAct(entry.getAct()) << '(';
  }
  printName(entry.getTarget());
  if (entry.getSubtile() >= 0) {
    printer << '[' << entry.getSubtile() << ']';
  }
  printer << (called ? ")" : "");
  if (entry.getPart() >= 0) {
    printer << " : " << entry.getPart();
  }
  if (entry.getShift() > 0) {
    printer << " + " << entry.getShift();
  }
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  SchedulePrinter(printer).print(*this);
}
