// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScheduleWriter.h"
#include "attn/dialect/RegisterBudget.h"
#include "llvm/ADT/StringExtras.h"

using namespace attn;
using namespace attn::generator;
using llvm::formatv;
using llvm::SmallVector;

std::optional<RoleRegisters> generator::shareRegisters(MachineAttr machine,
                                                       int64_t consumers,
                                                       int64_t least) {
  RegisterInfoAttr registers = machine.getRegisters();
  WarpInfoAttr warps = machine.getWarps();
  // A single warp uses the registers of a whole group.
  int64_t groups = consumers + 1;
  int64_t threads = groups * warps.getLanes() * warps.getGroup();
  int64_t budget = groups * launchRegisters(machine, threads);
  if (budget - least > consumers * registers.getHighest()) {
    // One CTA cannot use all registers: two share them if their roles can.
    int64_t ofTwo = groups * launchRegisters(machine, 2 * threads);
    budget = ofTwo - least < consumers * registers.getLowest() ? budget : ofTwo;
  }
  int64_t consumer =
      std::min(roundDown(registers, (budget - least) / consumers),
               registers.getHighest());
  int64_t loader =
      std::min(budget - consumers * consumer, registers.getHighest());
  if (std::min(consumer, least) < registers.getLowest()) {
    return std::nullopt;
  }
  return RoleRegisters{loader, consumer};
}

llvm::Expected<int64_t> generator::countRows(const SchedulePoint &point,
                                             MachineAttr machine) {
  if (!machine.getTiles()) {
    return makeError("expected a machine with 'tiles', whose rows a consumer "
                     "computes, got '{0}' without",
                     machine.getName().getValue());
  }
  return point.number(Knob::Consumers) * machine.getTiles().getRows();
}

namespace {

/// Writes the items of one schedule.
class ScheduleWriter {
public:
  ScheduleWriter(const SchedulePoint &point, RoleRegisters registers)
      : point(point), registers(registers) {}

  SmallVector<std::string> write();

private:
  bool isDynamic() const { return point[Knob::Work] == WorkKind::Dynamic; }
  bool hasStoreWarp() const { return point[Knob::Storer] == Storer::Warp; }
  bool isInCluster() const { return point.number(Knob::Cluster) > 1; }
  bool hasOver(StageO stage) const { return point[Knob::StageO] == stage; }
  /// Whether O overlaps a tile that the loader loads again later.
  bool waitsForO() const { return !hasOver(StageO::Own); }

  void writeRoles();
  void writePlaces();
  void writeOrder();
  void writeStatements();
  void writeLoads();
  void writeStores();
  void writeConsumer();
  std::string step() const;
  std::string stored() const;

  template <typename... Args> void add(const char *format, Args &&...args) {
    lines.push_back(formatv(format, std::forward<Args>(args)...));
  }
  void addBody(StringRef role, ArrayRef<std::string> lists);

  const SchedulePoint &point;
  int64_t consumers = point.number(Knob::Consumers);
  int64_t loaders = point.number(Knob::Loaders);
  RoleRegisters registers;
  SmallVector<std::string> lines;
};

} // namespace

SmallVector<std::string> ScheduleWriter::write() {
  writeRoles();
  writePlaces();
  writeOrder();
  writeStatements();
  writeLoads();
  writeStores();
  writeConsumer();
  return std::move(lines);
}

void ScheduleWriter::writeRoles() {
  std::string several;
  if (consumers > 1) {
    several = formatv("[{0}]", consumers);
    add("split M {0} whole(q)", consumers);
  }
  if (!isDynamic()) {
    add("remat(next)");
  }
  add("role load warps 1 regs {0}", registers.loader);
  if (loaders > 1) {
    add("role load_v warps 1 regs {0}", registers.loader);
  }
  if (hasStoreWarp()) {
    add("role store warps 1 regs {0}", registers.loader);
  }
  add("role wg{0} warps 4 regs {1}", several, registers.consumer);
}

void ScheduleWriter::writePlaces() {
  StringRef shared = isInCluster() ? " scope cluster" : "";
  if (isDynamic()) {
    add("chan work = w in smem depth {0}", point.number(Knob::WorkDepth));
  }
  add("chan q = q in smem depth {0}{1}", point.number(Knob::QDepth),
      hasOver(StageO::OverQ) ? " free_implied" : "");
  if (point[Knob::Rings] == Rings::One) {
    add("chan kv = k | v in smem depth {0}{1}",
        point.number(Knob::KDepth) + point.number(Knob::VDepth), shared);
  } else {
    add("chan k = k in smem depth {0}{1}", point.number(Knob::KDepth), shared);
    add("chan v = v in smem depth {0}{1}", point.number(Knob::VDepth), shared);
  }
  add("hold p = p in {0} depth 1", point.spell(Knob::StageP));
  add("hold s = s in reg depth 1");
  add("hold o = o in reg");
  add("hold oe = oe in smem {0}", hasOver(StageO::Own)     ? "depth 1"
                                  : hasOver(StageO::OverQ) ? "over q"
                                                           : "over v");
}

void ScheduleWriter::writeOrder() {
  if (point.number(Knob::Turn)) {
    add("turn tc ring wg");
  }
  if (waitsForO()) {
    add("sync drain ring wg");
  }
  if (hasStoreWarp()) {
    add("edge o_ready");
  }
  if (waitsForO() || hasStoreWarp()) {
    bool inCluster = isInCluster() && hasOver(StageO::OverV);
    add("edge o_free credits 1{0}", inCluster ? " scope cluster" : "");
  }
}

void ScheduleWriter::writeStatements() {
  for (Knob knob : StatementsAttr::getKnobs()) {
    const KnobInfo &info = infoOf(knob);
    if (info.alwaysSaid || point[knob] != info.absent()) {
      lines.push_back(info.state(point[knob]));
    }
  }
}

void ScheduleWriter::addBody(StringRef role, ArrayRef<std::string> lists) {
  add("body {0} {{", role);
  for (const std::string &list : lists) {
    add("  {0}", list);
  }
  add("}");
}

/// Writes the loads, in the order in which the products need them.
void ScheduleWriter::writeLoads() {
  StringRef wait = "once : wait(o_free) ";
  std::string q = ((hasOver(StageO::OverQ) ? wait : "") + "once : ld_q").str();
  // A separate loader runs as far ahead as there is space.
  bool isAhead = point[Knob::Overlap] != Overlap::None && loaders == 1;
  std::string v =
      ((hasOver(StageO::OverV) ? wait : "") + (isAhead ? "ld_v + 1" : "ld_v"))
          .str();
  SmallVector<std::string> lists;
  if (isDynamic()) {
    lists.push_back("before { next }");
  }
  if (loaders > 1) {
    lists.push_back("kv { ld_k " + q + " }");
  } else if (point[Knob::Overlap] == Overlap::PvFirst) {
    lists.push_back("kv { " + q + " " + v + " ld_k }");
  } else {
    lists.push_back("kv { ld_k " + q + " " + v + " }");
  }
  addBody("load", lists);
  if (loaders > 1) {
    addBody("load_v", {"kv { " + v + " }"});
  }
}

/// Writes the body of the warp that stores, if there is one.
void ScheduleWriter::writeStores() {
  if (!hasStoreWarp()) {
    return;
  }
  std::string stores, awaits;
  for (int64_t i = 0; i < consumers; ++i) {
    std::string o = consumers > 1 ? formatv("st_o[{0}]", i).str() : "st_o";
    stores += o + " ";
    awaits += "await(" + o + ") ";
  }
  addBody("store",
          {"after { wait(o_ready) " + stores + awaits + "sig(o_free) }"});
}

/// Returns a consumer's entries for a block of keys.
std::string ScheduleWriter::step() const {
  if (point[Knob::Overlap] == Overlap::None) {
    return "qk score mask stat exp sum cvt rescale pv";
  }
  StringRef take = point.number(Knob::Turn) ? "take(tc) + 1 " : "";
  StringRef give = point.number(Knob::Turn) ? "give(tc) + 1 " : "";
  bool isEarly = point[Knob::Rescale] == Rescale::BeforePv;
  StringRef early = isEarly ? "rescale + 1 " : "";
  std::string products =
      point[Knob::Overlap] == Overlap::QkFirst
          ? formatv("get(k) {0}qk get(v) + 1 {1}pv + 1", take, early)
          : formatv("get(v) + 1 {0}{1}pv + 1 get(k) qk", take, early);
  return formatv("{0} {1}score mask stat exp sum await(pv) + 1 cvt{2}",
                 products, give, isEarly ? "" : " rescale");
}

/// Returns how a consumer stores O.
std::string ScheduleWriter::stored() const {
  if (hasStoreWarp()) {
    return formatv("{0} cvt_o sig(o_ready) st_lse",
                   waitsForO() ? "sync(drain)" : "wait(o_free)");
  }
  return waitsForO() ? "sync(drain) cvt_o st_o st_lse await(st_o) sig(o_free)"
                     : "await(st_o) + 1 cvt_o st_o st_lse";
}

void ScheduleWriter::writeConsumer() {
  std::string after =
      formatv("after {{ {0}fin {1}norm {2} }",
              point.number(Knob::LastWaveParts) > 1 ? "join " : "",
              point[Knob::RowMax] != RowMax::Running ? "check " : "", stored());
  addBody("wg", {"kv { " + step() + " }", after});
}

/// Writes the config's fields, without those that have common defaults.
static std::string writeConfig(const SchedulePoint &point, int64_t rows,
                               const EntryHead &head) {
  SmallVector<std::string> fields;
  for (Knob knob : ConfigAttr::getKnobs()) {
    const KnobInfo &info = infoOf(knob);
    KnobValue value = knob == Knob::TileM    ? rows
                      : knob == Knob::Rung   ? head.rung
                      : knob == Knob::TileD  ? head.tileD
                      : knob == Knob::TileDv ? head.tileDv
                      : info.follows         ? info.absent()
                                             : point[knob];
    if (info.alwaysSaid || info.absentText.empty() || value != info.absent()) {
      fields.push_back(formatv("{0} = {1}", info.name, info.spell(value)));
    }
  }
  return llvm::join(fields, ", ");
}

static std::string writeHead(const EntryHead &head) {
  std::string text =
      formatv("attn.table_entry fwd @{0} head_dim {1}, {2}\n    masks [{3}]\n",
              head.symbol, head.headDim, head.headDimV,
              llvm::join(llvm::map_range(head.masks,
                                         [](const std::string &mask) {
                                           return '"' + mask + '"';
                                         }),
                         ", "));
  if (!head.when.empty()) {
    text += "    when <" + head.when + ">\n";
  }
  return text;
}

std::string generator::replaceHead(StringRef entry, const EntryHead &head) {
  StringRef config = entry.substr(entry.find("config <"));
  auto [before, rest] = config.split("schedule <\"");
  StringRef schedule = rest.substr(rest.find('"'));
  return llvm::join_items("", writeHead(head), "    ", before, "schedule <\"",
                          head.symbol, schedule);
}

std::string generator::writeEntry(const SchedulePoint &point,
                                  const EntryHead &head, MachineAttr machine,
                                  RoleRegisters registers, int64_t rows) {
  std::string text = writeHead(head);
  text += "    config <" + writeConfig(point, rows, head) + ">\n";
  text += formatv("    schedule <\"{0}\" machine \"{1}\" {{\n", head.symbol,
                  machine.getName().getValue());
  for (const std::string &line : ScheduleWriter(point, registers).write()) {
    text += "  " + line + "\n";
  }
  return text + "}>\n";
}
