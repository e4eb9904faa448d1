// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/passes/schedule/Execution.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace mlir;
using namespace attn;
using llvm::formatv;
using EmitError = function_ref<InFlightDiagnostic()>;

namespace {

using Word = uint64_t;
/// A set of events that happened before a point; a row of `EventSets`.
using Row = int;

class EventSets {
public:
  EventSets(int rows, int events)
      : words((events + 63) / 64), bits(size_t(rows) * words, 0) {}

  Row make() { return used++; }
  bool has(Row row, int event) const {
    return bits[size_t(row) * words + event / 64] >> (event % 64) & 1;
  }
  void add(Row row, int event) {
    bits[size_t(row) * words + event / 64] |= Word(1) << (event % 64);
  }
  void join(Row row, Row other) {
    Word *a = &bits[size_t(row) * words], *b = &bits[size_t(other) * words];
    for (int i = 0; i < words; ++i) {
      a[i] |= b[i];
    }
  }

private:
  int words, used = 0;
  std::vector<Word> bits;
};

struct Cell {
  int writer = -1; // event
  Tag tag;
  SmallVector<int, 4> readers; // later events
};

struct Arrival {
  int source, event;
};

struct Phase {
  Row before = -1; // the events before its completion
  bool complete = false;
  SmallVector<Arrival, 4> arrivals;
  SmallVector<Arrival, 4> waits; // source: the waiting instance
};

class Executor {
public:
  Executor(const TokenPrograms &programs, EmitError emitError);

  LogicalResult run();

private:
  enum class Progress { Blocked, Moved, Failed };

  Progress step(int instance);
  LogicalResult finish(int operation);
  LogicalResult access(int instance, int item, int event, Row before,
                       ArrayRef<Access> reads, ArrayRef<Access> writes);
  LogicalResult read(const Access &access, int event, Row before);
  LogicalResult write(const Access &access, int event, Row before);
  LogicalResult arrive(Signal signal, Row before, int event);
  LogicalResult checkArrival(Signal signal, Row before, int event);
  LogicalResult checkWaiters(int barrier, int phase, int event);
  bool meet(int instance, const Token &token);
  /// Reports a violation of `rule`, and the locations of its events.
  LogicalResult refuse(StringRef rule, const std::string &message,
                       ArrayRef<Point> points = {});
  LogicalResult reportDeadlock();
  LogicalResult checkExit();

  int newEvent(Point point) {
    events.push_back(point);
    return events.size() - 1;
  }
  std::string describe(int event) const {
    return programs.describeItem(events[event]);
  }
  static int countEvents(const TokenPrograms &programs);
  static int countRows(const TokenPrograms &programs);

  const TokenPrograms &programs;
  EmitError emitError;
  EventSets sets;
  std::vector<Point> events; // the origin of each
  std::vector<Cell> cells;
  std::vector<SmallVector<Phase, 2>> phases; // by barrier
  SmallVector<Row> now;                      // by instance
  SmallVector<int> position;                 // by instance
  struct OperationState {
    Row before = -1;
    int event = -1;
    bool done = false;
  };
  std::vector<OperationState> operations;
  SmallVector<int> pending; // operations that were issued and are not complete
  llvm::DenseMap<int, int> lastOfPipe; // operation
  struct Meeting {
    BitVector arrived;
    Row before = -1;
  };
  std::map<std::pair<int, int>, Meeting> meetings; // by rendezvous and round
};

} // namespace

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

int Executor::countEvents(const TokenPrograms &programs) {
  int count = programs.signals.size();
  for (auto &program : programs.programs) {
    count += program.size();
  }
  return count;
}

int Executor::countRows(const TokenPrograms &programs) {
  int rows = programs.programs.size() + programs.operations.size();
  for (auto &phases : programs.expected) {
    rows += phases.size();
  }
  for (auto &program : programs.programs) {
    for (const Token &token : program) {
      rows += token.kind == Token::Meet;
    }
  }
  return rows;
}

Executor::Executor(const TokenPrograms &programs, EmitError emitError)
    : programs(programs), emitError(emitError),
      sets(countRows(programs), countEvents(programs)),
      cells(programs.cellCount), phases(programs.expected.size()),
      operations(programs.operations.size()) {
  for (size_t i = 0; i < programs.programs.size(); ++i) {
    now.push_back(sets.make());
    position.push_back(0);
  }
  for (auto [barrier, expected] : llvm::enumerate(programs.expected)) {
    phases[barrier].resize(expected.size());
  }
}

LogicalResult Executor::refuse(StringRef rule, const std::string &message,
                               ArrayRef<Point> points) {
  InFlightDiagnostic error = emitError();
  error << (rule + ": " + message).str();
  for (Point point : points) {
    programs.locate(point, error);
  }
  return error;
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

LogicalResult Executor::read(const Access &access, int event, Row before) {
  Cell &cell = cells[access.cell];
  if (cell.writer < 0 || !(cell.tag == access.tag)) {
    return refuse(
        "V8",
        formatv("expected {0} to find {1} where it reads, got {2}",
                describe(event), programs.describeTag(access.tag),
                cell.writer < 0 ? "nothing" : programs.describeTag(cell.tag)),
        {events[event]});
  }
  if (cell.writer != event && !sets.has(before, cell.writer)) {
    return refuse("V8",
                  formatv("expected {0} to read {1} after {2} wrote it, got no "
                          "order between them",
                          describe(event), programs.describeTag(access.tag),
                          describe(cell.writer)),
                  {events[event], events[cell.writer]});
  }
  if (!llvm::is_contained(cell.readers, event)) {
    cell.readers.push_back(event);
  }
  return success();
}

LogicalResult Executor::write(const Access &access, int event, Row before) {
  Cell &cell = cells[access.cell];
  if (cell.writer >= 0 && cell.writer != event &&
      !sets.has(before, cell.writer)) {
    return refuse("V9",
                  formatv("expected {0} to overwrite {1} with {2} after {3} "
                          "wrote it, got no order between them",
                          describe(event), programs.describeTag(cell.tag),
                          programs.describeTag(access.tag),
                          describe(cell.writer)),
                  {events[event], events[cell.writer]});
  }
  for (int reader : cell.readers) {
    if (reader != event && !sets.has(before, reader)) {
      return refuse("V9",
                    formatv("expected {0} to overwrite {1} with {2} after {3} "
                            "read it, got no order between them",
                            describe(event), programs.describeTag(cell.tag),
                            programs.describeTag(access.tag), describe(reader)),
                    {events[event], events[reader]});
    }
  }
  cell.writer = event;
  cell.tag = access.tag;
  cell.readers.clear();
  return success();
}

LogicalResult Executor::access(int instance, int item, int event, Row before,
                               ArrayRef<Access> reads,
                               ArrayRef<Access> writes) {
  for (const Access &access : reads) {
    if (failed(read(access, event, before))) {
      return failure();
    }
  }
  for (const Access &access : writes) {
    if (failed(write(access, event, before))) {
      return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// Each source arrives once in a phase, and after all other sources have
/// arrived in the phase before: otherwise two arrivals of one source could
/// complete a phase in which another arrival is missing.
LogicalResult Executor::checkArrival(Signal signal, Row before, int event) {
  auto &expected = programs.expected[signal.barrier];
  auto &known = phases[signal.barrier];
  auto describe = [&] { return programs.describeBarrier(signal.barrier); };
  bool isExpected = signal.phase < int(expected.size()) &&
                    llvm::is_contained(expected[signal.phase], signal.source);
  bool isSecond =
      isExpected &&
      llvm::any_of(known[signal.phase].arrivals, [&](const Arrival &arrival) {
        return arrival.source == signal.source;
      });
  if (!isExpected || isSecond) {
    return refuse(
        "V16",
        formatv("expected {0} to arrive once on phase {1} of {2}, got "
                "{3}",
                programs.describeSource(signal.source), signal.phase,
                describe(),
                isSecond ? "a second arrival"
                         : "an arrival that nothing waits for"),
        {events[event]});
  }
  if (signal.phase == 0) {
    return success();
  }
  for (int other : expected[signal.phase - 1]) {
    auto &arrivals = known[signal.phase - 1].arrivals;
    auto *arrival = llvm::find_if(
        arrivals, [&](const Arrival &a) { return a.source == other; });
    if (other != signal.source &&
        (arrival == arrivals.end() || !sets.has(before, arrival->event))) {
      return refuse("V16",
                    formatv("expected {0} to arrive on phase {1} of {2} after "
                            "{3} arrived on phase {4}, got no order between "
                            "them",
                            programs.describeSource(signal.source),
                            signal.phase, describe(),
                            programs.describeSource(other), signal.phase - 1),
                    {events[event]});
    }
  }
  return success();
}

/// A phase completes after all waiters have waited for the phase before: parity
/// only shows the last phase, so a late waiter would hang.
LogicalResult Executor::checkWaiters(int barrier, int phase, int event) {
  if (phase == 0) {
    return success();
  }
  auto &waits = phases[barrier][phase - 1].waits;
  for (int waiter : programs.waitersOf(barrier)) {
    auto *wait = llvm::find_if(
        waits, [&](const Arrival &w) { return w.source == waiter; });
    if (wait == waits.end() ||
        !sets.has(phases[barrier][phase].before, wait->event)) {
      return refuse("V17",
                    formatv("expected phase {0} of {1} to complete after {2} "
                            "waited for phase {3}, got no order between them",
                            phase, programs.describeBarrier(barrier),
                            programs.describeSource(waiter), phase - 1),
                    {events[event]});
    }
  }
  return success();
}

LogicalResult Executor::arrive(Signal signal, Row before, int event) {
  if (failed(checkArrival(signal, before, event))) {
    return failure();
  }
  Phase &phase = phases[signal.barrier][signal.phase];
  if (phase.before < 0) {
    phase.before = sets.make();
  }
  phase.arrivals.push_back({signal.source, event});
  sets.join(phase.before, before);
  sets.add(phase.before, event);
  phase.complete = phase.arrivals.size() ==
                   programs.expected[signal.barrier][signal.phase].size();
  return phase.complete ? checkWaiters(signal.barrier, signal.phase, event)
                        : success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

LogicalResult Executor::finish(int index) {
  const AsyncOp &operation = programs.operations[index];
  OperationState &state = operations[index];
  if (failed(access(operation.instance, operation.item, state.event,
                    state.before, programs.get(operation.reads),
                    programs.get(operation.writes)))) {
    return failure();
  }
  sets.add(state.before, state.event);
  state.done = true;
  for (int i = operation.signals.begin; i < operation.signals.end; ++i) {
    if (failed(arrive(programs.signals[i], state.before,
                      newEvent({operation.instance, operation.item})))) {
      return failure();
    }
  }
  return success();
}

/// All members pass, with the union of the events that they knew on arrival.
bool Executor::meet(int instance, const Token &token) {
  Meeting &meeting = meetings[{token.first, token.second}];
  int members = programs.membersOf(token.first);
  meeting.arrived.resize(programs.programs.size());
  meeting.arrived.set(instance);
  if (int(meeting.arrived.count()) < members) {
    return false;
  }
  if (meeting.before < 0) {
    meeting.before = sets.make();
    for (int member : meeting.arrived.set_bits()) {
      sets.join(meeting.before, now[member]);
    }
  }
  sets.join(now[instance], meeting.before);
  return true;
}

Executor::Progress Executor::step(int instance) {
  auto &program = programs.programs[instance];
  if (position[instance] == int(program.size())) {
    return Progress::Blocked;
  }
  const Token &token = program[position[instance]];
  Row before = now[instance];
  LogicalResult result = success();
  switch (token.kind) {
  case Token::Wait:
  case Token::Pass: {
    auto &known = phases[token.first];
    if (token.kind == Token::Wait) {
      if (token.second >= int(known.size()) || !known[token.second].complete) {
        return Progress::Blocked;
      }
      sets.join(before, known[token.second].before);
    } else if (token.second >= int(known.size())) {
      break; // the last phases need no arrival
    }
    int event = newEvent({instance, token.item});
    sets.add(before, event);
    known[token.second].waits.push_back({instance, event});
    break;
  }
  case Token::Arrive: {
    // Later events of the role come after it, and publish it when they arrive.
    int event = newEvent({instance, token.item});
    result = arrive({token.first, token.second, instance}, before, event);
    sets.add(before, event);
    break;
  }
  case Token::Do: {
    int event = newEvent({instance, token.item});
    result = access(instance, token.item, event, before,
                    programs.get(token.reads), programs.get(token.writes));
    sets.add(before, event);
    break;
  }
  case Token::Issue: {
    OperationState &state = operations[token.first];
    state.event = newEvent({instance, programs.operations[token.first].item});
    state.before = sets.make();
    sets.join(state.before, before);
    pending.push_back(token.first);
    break;
  }
  case Token::Await:
    if (!operations[token.first].done) {
      return Progress::Blocked;
    }
    sets.join(before, operations[token.first].before);
    break;
  case Token::Meet:
    if (!meet(instance, token)) {
      return Progress::Blocked;
    }
    break;
  }
  ++position[instance];
  return failed(result) ? Progress::Failed : Progress::Moved;
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

LogicalResult Executor::reportDeadlock() {
  std::string where;
  SmallVector<Point> points;
  for (auto [i, program] : llvm::enumerate(programs.programs)) {
    if (position[i] == int(program.size())) {
      continue;
    }
    const Token &token = program[position[i]];
    std::string what = token.kind == Token::Meet
                           ? programs.describeRendezvous(token.first)
                           : formatv("phase {0} of {1}", token.second,
                                     programs.describeBarrier(token.first));
    where += formatv("{0}{1} at {2}", where.empty() ? "" : ", ",
                     programs.describeInstance(i), what);
    points.push_back({int(i), token.item});
  }
  return refuse(
      "V18",
      formatv("expected all roles to end, got a deadlock with {0}", where),
      points);
}

LogicalResult Executor::checkExit() {
  for (int i = 0, e = operations.size(); i < e; ++i) {
    int event = operations[i].event;
    bool awaited =
        llvm::any_of(now, [&](Row row) { return sets.has(row, event); });
    if (programs.operations[i].item >= 0 && !awaited) {
      return refuse("V19",
                    formatv("expected {0} to end before some role does, got "
                            "nothing that waits for it",
                            describe(event)),
                    {events[event]});
    }
  }
  return success();
}

LogicalResult Executor::run() {
  while (true) {
    // Asynchronous operations end when every role is stuck. Operations of one
    // pipe are in order of issue, and so they end in order.
    bool moved = !pending.empty();
    for (int index : pending) {
      int pipe = programs.operations[index].pipe;
      if (pipe >= 0) {
        auto [it, isFirst] = lastOfPipe.try_emplace(pipe, index);
        if (!isFirst) {
          sets.join(operations[index].before, operations[it->second].before);
          it->second = index;
        }
      }
      if (failed(finish(index))) {
        return failure();
      }
    }
    pending.clear();
    bool ended = true;
    for (int i = 0, e = programs.programs.size(); i < e; ++i) {
      Progress progress;
      while ((progress = step(i)) == Progress::Moved) {
        moved = true;
      }
      if (progress == Progress::Failed) {
        return failure();
      }
      ended &= position[i] == int(programs.programs[i].size());
    }
    if (ended && pending.empty()) {
      return checkExit();
    }
    if (!moved && pending.empty()) {
      return reportDeadlock();
    }
  }
}

LogicalResult attn::execute(const TokenPrograms &programs,
                            EmitError emitError) {
  return Executor(programs, emitError).run();
}
