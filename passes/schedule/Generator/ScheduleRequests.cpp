// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/passes/schedule/ScheduleRequests.h"
#include "RequestFields.h"
#include "ScheduleReader.h"
#include "ScheduleWriter.h"
#include "attn/dialect/Masks.h"
#include "attn/passes/schedule/DataTables.h"
#include "attn/passes/schedule/EmbeddedData.h"
#include "attn/passes/schedule/ScheduleTable.h"
#include "attn/passes/schedule/SizeCover.h"
#include "attn/support/DefaultTarget.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace attn;
using namespace attn::generator;
namespace json = llvm::json;
using llvm::Error;
using llvm::Expected;

/// Collects the diagnostics in `context` during `work`.
static std::string collect(MLIRContext *context, function_ref<void()> work) {
  std::string text;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream(text) << (text.empty() ? "" : "\n") << diagnostic;
    return success();
  });
  work();
  return text;
}

/// Reads the machine of the field "machine", or of the file "machine_file".
static Expected<MachineAttr> takeMachine(Fields &fields, MLIRContext *context) {
  if (fields.has("machine") == fields.has("machine_file")) {
    return makeError("expected a field 'machine' or 'machine_file', got {0}",
                     fields.has("machine") ? "both" : "none");
  }
  std::string name, file;
  if (Error error = fields.take("machine", name)) {
    return error;
  }
  if (Error error = fields.take("machine_file", file)) {
    return error;
  }
  MachineAttr machine;
  std::string reported = collect(context, [&] {
    auto emit = [&] { return emitError(UnknownLoc::get(context)); };
    auto found = file.empty() ? lookupMachine(context, name, emit)
                              : readMachine(context, file, emit);
    machine = succeeded(found) ? *found : MachineAttr();
  });
  return machine ? Expected<MachineAttr>(machine) : makeError("{0}", reported);
}

static void write(json::OStream &out, const SchedulePoint &point) {
  out.attributeObject("parameters", [&] {
    for (const KnobInfo *parameter : parameters()) {
      out.attribute(parameter->name,
                    toJson(*parameter, point[parameter->knob()]));
    }
  });
}

/// Writes an object on one line.
static std::string writeObject(function_ref<void(json::OStream &)> content) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream out(stream);
  out.object([&] { content(out); });
  return text;
}

static StringRef nameOf(KnobKind kind) {
  switch (kind) {
  case KnobKind::Number:
    return "number";
  case KnobKind::Power:
    return "power";
  case KnobKind::Word:
    return "word";
  case KnobKind::Share:
    return "share";
  case KnobKind::Flag:
    return "flag";
  }
  llvm_unreachable("all kinds are above");
}

/// Writes the values of a parameter, its default and its meaning.
static void describe(json::OStream &out, const KnobInfo &parameter) {
  out.attribute("name", parameter.name);
  out.attribute("default", toJson(parameter, parameter.usual()));
  out.attribute("values", parameter.values().describe());
  SmallVector<StringRef> words = parameter.listWords();
  if (!words.empty()) {
    words.truncate(parameter.most + 1);
    words.erase(words.begin(), words.begin() + parameter.least);
    out.attribute("words", json::Array(words));
  }
  out.attribute("meaning", parameter.meaning);
  out.attribute("kind", nameOf(parameter.kind));
  if (parameter.kind == KnobKind::Number || parameter.kind == KnobKind::Power) {
    out.attribute("least", parameter.least);
    out.attribute("most", parameter.most);
    out.attribute("step", parameter.step);
  }
  out.attributeObject("only", [&] {
    for (const KnobCondition &condition : parameter.conditions()) {
      const KnobInfo &other = infoOf(condition.knob);
      out.attributeObject(other.name, [&] {
        out.attribute(condition.differs ? "is_not" : "is",
                      toJson(other, condition.value));
      });
    }
  });
}

// Answers with the vocabulary of requests, entries and machines.
static Expected<std::string> answerVocabulary(Fields &fields,
                                              MLIRContext *context) {
  return writeObject([&](json::OStream &out) {
    out.attributeArray("parameters", [&] {
      for (const KnobInfo *parameter : parameters()) {
        out.object([&] { describe(out, *parameter); });
      }
    });
    out.attribute("masks", json::Array(tableMaskWords()));
    out.attribute("default_machine", kDefaultTarget);
    out.attributeObject("machines", [&] {
      for (const std::string &name : listMachines()) {
        auto machine = lookupMachine(
            context, name, [&] { return emitError(UnknownLoc::get(context)); });
        out.attributeObject(name, [&] {
          out.attribute("shared_memory", machine->getSmemLimit());
        });
      }
    });
  });
}

// Answers with the name and the values of a point, for no machine.
static Expected<std::string> answerPoint(Fields &fields, MLIRContext *) {
  EntryHead head;
  if (Error error = fields.takeHeadDims(head)) {
    return error;
  }
  Expected<SchedulePoint> point = fields.takePoint();
  if (!point) {
    return point.takeError();
  }
  return writeObject([&](json::OStream &out) {
    out.attribute("name", nameOf(*point));
    write(out, *point);
  });
}

// Answers with the schedule of a point on a machine, as an entry of the table.
static Expected<std::string> answerSchedule(Fields &fields,
                                            MLIRContext *context) {
  if (!fields.has("head_dims")) {
    return makeError("expected a field 'head_dims', got none");
  }
  Expected<MachineAttr> machine = takeMachine(fields, context);
  if (!machine) {
    return machine.takeError();
  }
  Expected<SchedulePoint> point = fields.takePoint();
  if (!point) {
    return point.takeError();
  }
  EntryHead head;
  if (Error error = fields.takeHead(nameOf(*point), head)) {
    return error;
  }
  Expected<int64_t> rows = countRows(*point, *machine);
  if (!rows) {
    return rows.takeError();
  }
  auto registers = shareRegisters(*machine, point->number(Knob::Consumers),
                                  point->number(Knob::LoadRegisters));
  std::string entry;
  if (registers) {
    entry = writeEntry(*point, head, *machine, *registers, *rows);
    auto module = parseEntries(entry, "generated", context);
    if (!module) {
      return module.takeError();
    }
  }
  return writeObject([&](json::OStream &out) {
    out.attribute("name", nameOf(*point));
    write(out, *point);
    out.attribute("rows", *rows);
    if (!registers) {
      out.attribute("refused", llvm::formatv("not enough registers for {0} "
                                             "consumers",
                                             point->number(Knob::Consumers))
                                   .str());
      return;
    }
    out.attribute("registers",
                  json::Array({registers->loader, registers->consumer}));
    out.attribute("entry", entry);
  });
}

// Answers with the text of an entry under another head.
static Expected<std::string> answerRename(Fields &fields,
                                          MLIRContext *context) {
  std::string text;
  if (Error error = fields.take("entry", text)) {
    return error;
  }
  for (StringRef name : {"rung", "tile_d", "tile_dv"}) {
    if (fields.has(name)) {
      return makeError("expected no field '{0}', which stays as it is", name);
    }
  }
  if (!fields.has("head_dims") || !fields.has("symbol")) {
    return makeError("expected fields 'head_dims' and 'symbol' of the head");
  }
  EntryHead head;
  if (Error error = fields.takeHead("", head)) {
    return error;
  }
  std::string renamed = replaceHead(text, head);
  auto module = parseEntries(renamed, "entry", context);
  if (!module) {
    return module.takeError();
  }
  auto entries = (*module)->getOps<TableEntryOp>();
  if (!llvm::hasSingleElement(entries)) {
    return makeError("expected one attn.table_entry, got {0}",
                     std::distance(entries.begin(), entries.end()));
  }
  return writeObject(
      [&](json::OStream &out) { out.attribute("entry", renamed); });
}

/// Writes an entry of the table, and the point that generates it or the reason
/// why there is none.
static void write(json::OStream &out, TableEntryOp entry, StringRef file) {
  MLIRContext *context = entry.getContext();
  MachineAttr machine;
  std::string machineName = entry.getSchedule().getMachine().str();
  std::string reported = collect(context, [&] {
    auto found = lookupMachine(context, machineName, [&] {
      return emitError(UnknownLoc::get(context));
    });
    machine = succeeded(found) ? *found : MachineAttr();
  });
  Expected<SchedulePoint> point =
      machine ? readPoint(entry, machine)
              : Expected<SchedulePoint>(makeError("{0}", reported));
  out.object([&] {
    out.attribute("file", file);
    auto line = dyn_cast<FileLineColLoc>(entry.getLoc());
    out.attribute("line", line ? line.getLine() : 0);
    out.attribute("symbol", entry.getSymName());
    out.attribute("machine", machineName);
    out.attribute("head_dims", json::Array({int64_t(entry.getHeadDim()),
                                            int64_t(entry.getHeadDimV())}));
    out.attributeArray("masks", [&] {
      for (const std::string &mask : tableMaskWords(entry.getMasks())) {
        out.value(mask);
      }
    });
    if (ArrayAttr machines = entry.getMachinesAttr()) {
      out.attributeArray("machines", [&] {
        for (StringRef name : machines.getAsValueRange<StringAttr>()) {
          out.value(name);
        }
      });
    }
    if (ConditionAttr when = entry.getWhenAttr()) {
      out.attribute("when", when.getText());
      out.attributeArray("bounds", [&] {
        for (BoundAttr bound : when.getBounds()) {
          out.value(json::Object{{"size", stringifyLaunchSize(bound.getSize())},
                                 {"side", stringifyBoundSide(bound.getSide())},
                                 {"value", bound.getValue()}});
        }
      });
    }
    out.attribute("rung", entry.getConfig().getRung());
    out.attribute("tile_d", entry.getConfig().getTileD());
    out.attribute("tile_dv", entry.getConfig().getTileDv());
    out.attribute("rows", entry.getConfig().getTileM());
    if (point) {
      write(out, *point);
    } else {
      out.attribute("refused", llvm::toString(point.takeError()));
    }
  });
}

/// Checks which entries a request selects.
static Error checkChoice(const Fields &fields) {
  if (fields.has("head_dims") != fields.has("mask")) {
    return makeError("expected fields 'head_dims' and 'mask', or none of them");
  }
  if (!fields.has("head_dims")) {
    return Error::success();
  }
  if (fields.has("file") || !fields.has("machine")) {
    return makeError("expected a field 'machine' and no 'file' for a problem");
  }
  return Error::success();
}

/// Returns the files of a request: one of the user's, or all of the table.
static Expected<SmallVector<std::pair<std::string, std::string>>>
readFiles(const std::string &file) {
  SmallVector<std::pair<std::string, std::string>> files;
  if (!file.empty()) {
    auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
    if (!buffer) {
      return makeError("expected schedule file '{0}' to exist, got: {1}", file,
                       buffer.getError().message());
    }
    files.push_back({file, (*buffer)->getBuffer().str()});
    return files;
  }
  for (StringRef folder : {kScheduleFolder, kRungFolder}) {
    for (const EmbeddedFile &each : listEmbeddedFiles(folder)) {
      files.push_back({each.path.str(), each.text.str()});
    }
  }
  return files;
}

/// Returns the entries, as (file, symbol), from which a problem without windows
/// and regions is compiled.
static Expected<SmallVector<std::pair<std::string, std::string>>>
chooseEntries(MLIRContext *context, const EntryHead &head, StringRef mask,
              StringRef machine) {
  auto kind = symbolizeMaskKind(mask);
  if (!kind) {
    return makeError("expected a mask of attn.attention, got '{0}'", mask);
  }
  auto problem = ProblemAttr::get(
      context, KernelKind::Fwd, BFloat16Type::get(context), head.headDim,
      head.headDimV, LayoutKind::BSHD, *kind, attn::RegionKind::Absent,
      attn::RegionKind::Absent, MaskBounds::None, RowKeys::None,
      /*dropout=*/false);
  SmallVector<std::pair<std::string, std::string>> chosen;
  bool found = false;
  std::string reported = collect(context, [&] {
    auto entries = lookupTableEntries(context, problem, machine, "", 0, [&] {
      return emitError(UnknownLoc::get(context));
    });
    found = succeeded(entries);
    SizeCover cover;
    for (const TableEntry &entry :
         found ? *entries : SmallVector<TableEntry>()) {
      // Packed entries need static heads. Entries after one without a condition
      // are reached with other masks only.
      if (!entry.packed && cover.take(entry.when)) {
        chosen.push_back({entry.file, entry.symbol});
      }
    }
  });
  return found ? Expected<decltype(chosen)>(chosen)
               : makeError("{0}", reported);
}

// Answers with entries: of a file, of the table, or of the table for a problem.
static Expected<std::string> answerEntries(Fields &fields,
                                           MLIRContext *context) {
  if (Error error = checkChoice(fields)) {
    return error;
  }
  std::string file, machine, mask;
  EntryHead head;
  for (auto [name, value] :
       {std::pair("file", &file), {"machine", &machine}, {"mask", &mask}}) {
    if (Error error = fields.take(name, *value)) {
      return error;
    }
  }
  if (!machine.empty() && !llvm::is_contained(listMachines(), machine)) {
    return makeError("expected a machine of {0}, got '{1}'",
                     llvm::join(listMachines(), ", "), machine);
  }
  bool hasProblem = fields.has("head_dims");
  if (Error error = fields.takeHeadDims(head)) {
    return error;
  }
  auto files = readFiles(file);
  if (!files) {
    return files.takeError();
  }
  SmallVector<std::pair<std::string, std::string>> chosen;
  if (hasProblem) {
    auto found = chooseEntries(context, head, mask, machine);
    if (!found) {
      return found.takeError();
    }
    chosen = std::move(*found);
  }
  SmallVector<std::pair<std::string, OwningOpRef<ModuleOp>>> modules;
  for (auto &[path, text] : *files) {
    auto module = parseEntries(text, path, context);
    if (!module) {
      return module.takeError();
    }
    modules.push_back({path, std::move(*module)});
  }
  return writeObject([&](json::OStream &out) {
    out.attributeArray("entries", [&] {
      for (auto &[path, module] : modules) {
        for (TableEntryOp entry : module->getOps<TableEntryOp>()) {
          bool isOfMachine =
              machine.empty() ||
              machine == entry.getSchedule().getMachine().getValue();
          bool isChosen =
              !hasProblem ||
              llvm::is_contained(chosen,
                                 std::pair(path, entry.getSymName().str()));
          // Parameters are those of forward kernels.
          if (entry.getKind() == KernelKind::Fwd && isOfMachine && isChosen) {
            write(out, entry, path);
          }
        }
      }
    });
  });
}

namespace {
struct Request {
  StringRef name;
  Expected<std::string> (*answer)(Fields &, MLIRContext *);
};
} // namespace

static const Request requests[] = {{"vocabulary", answerVocabulary},
                                   {"point", answerPoint},
                                   {"schedule", answerSchedule},
                                   {"rename", answerRename},
                                   {"entries", answerEntries}};

static Expected<std::string> answerRequest(StringRef text,
                                           MLIRContext *context) {
  Expected<json::Value> value = json::parse(text);
  if (!value) {
    return value.takeError();
  }
  json::Object *object = value->getAsObject();
  if (!object) {
    return makeError("expected a request to be an object, got {0}", *value);
  }
  Fields fields(std::move(*object));
  std::string name;
  if (Error error = fields.take("ask", name)) {
    return error;
  }
  auto *found = llvm::find_if(
      requests, [&](const Request &request) { return request.name == name; });
  if (found == std::end(requests)) {
    auto names = llvm::map_range(
        requests, [](const Request &request) { return request.name.str(); });
    return makeError("expected 'ask' to be one of {0}, got '{1}'",
                     llvm::join(names, ", "), name);
  }
  Expected<std::string> reply = found->answer(fields, context);
  if (reply) {
    if (Error error = fields.expectNoMore()) {
      return error;
    }
  }
  return reply;
}

ScheduleRequests::ScheduleRequests()
    : context(MLIRContext::Threading::DISABLED) {
  context.loadDialect<AttnDialect>();
}

std::string ScheduleRequests::answer(StringRef request) {
  Expected<std::string> reply = answerRequest(request, &context);
  if (reply) {
    return *reply;
  }
  std::string error = llvm::toString(reply.takeError());
  return writeObject(
      [&](json::OStream &out) { out.attribute("error", error); });
}
