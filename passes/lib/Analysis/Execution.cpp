// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Execution.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

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
  SmallVector<int, 4> readers; // events since
};

struct Arrival {
  int source, event;
};

struct Phase {
  Row before = -1; // what happened before its completion
  bool complete = false;
  SmallVector<Arrival, 4> arrivals;
  SmallVector<Arrival, 4> waits; // source: the waiting instance
};

/// Where an event comes from, for messages.
struct Event {
  int instance = -1, item = -1;
};

class Executor {
public:
  Executor(const Protocol &protocol, EmitError emitError);

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
  LogicalResult checkArrival(Signal signal, Row before);
  LogicalResult checkWaiters(int barrier, int phase);
  bool meet(int instance, const Token &token);
  LogicalResult reportDeadlock();
  LogicalResult checkExit();

  int newEvent(int instance = -1, int item = -1) {
    events.push_back({instance, item});
    return events.size() - 1;
  }
  std::string describe(int event) const {
    return protocol.describeItem(events[event].instance, events[event].item);
  }
  static int countEvents(const Protocol &protocol);
  static int countRows(const Protocol &protocol);

  const Protocol &protocol;
  EmitError emitError;
  EventSets sets;
  std::vector<Event> events;
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
  SmallVector<int> pending;            // operations issued, not done
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

int Executor::countEvents(const Protocol &protocol) {
  int count = protocol.signals.size();
  for (auto &program : protocol.programs) {
    count += program.size();
  }
  return count;
}

int Executor::countRows(const Protocol &protocol) {
  int rows = protocol.programs.size() + protocol.operations.size();
  for (auto &phases : protocol.expected) {
    rows += phases.size();
  }
  for (auto &program : protocol.programs) {
    for (const Token &token : program) {
      rows += token.kind == Token::Meet;
    }
  }
  return rows;
}

Executor::Executor(const Protocol &protocol, EmitError emitError)
    : protocol(protocol), emitError(emitError),
      sets(countRows(protocol), countEvents(protocol)),
      cells(protocol.cellCount), phases(protocol.expected.size()),
      operations(protocol.operations.size()) {
  for (size_t i = 0; i < protocol.programs.size(); ++i) {
    now.push_back(sets.make());
    position.push_back(0);
  }
  for (auto [barrier, expected] : llvm::enumerate(protocol.expected)) {
    phases[barrier].resize(expected.size());
  }
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

LogicalResult Executor::read(const Access &access, int event, Row before) {
  Cell &cell = cells[access.cell];
  if (cell.writer < 0 || !(cell.tag == access.tag)) {
    return reject(
        emitError, "V8",
        formatv("expected {0} to find {1} where it reads, got {2}",
                describe(event), protocol.describeTag(access.tag),
                cell.writer < 0 ? "nothing" : protocol.describeTag(cell.tag)));
  }
  if (cell.writer != event && !sets.has(before, cell.writer)) {
    return reject(emitError, "V8",
                  formatv("expected {0} to read {1} after {2} wrote it, got no "
                          "order between them",
                          describe(event), protocol.describeTag(access.tag),
                          describe(cell.writer)));
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
    return reject(emitError, "V9",
                  formatv("expected {0} to overwrite {1} with {2} after {3} "
                          "wrote it, got no order between them",
                          describe(event), protocol.describeTag(cell.tag),
                          protocol.describeTag(access.tag),
                          describe(cell.writer)));
  }
  for (int reader : cell.readers) {
    if (reader != event && !sets.has(before, reader)) {
      return reject(emitError, "V9",
                    formatv("expected {0} to overwrite {1} with {2} after {3} "
                            "read it, got no order between them",
                            describe(event), protocol.describeTag(cell.tag),
                            protocol.describeTag(access.tag),
                            describe(reader)));
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

/// Each source arrives once a phase, and after all others have arrived on the
/// phase before: else two arrivals of one could complete a phase that another
/// still owes.
LogicalResult Executor::checkArrival(Signal signal, Row before) {
  auto &expected = protocol.expected[signal.barrier];
  auto &known = phases[signal.barrier];
  auto describe = [&] { return protocol.describeBarrier(signal.barrier); };
  bool isExpected = signal.phase < int(expected.size()) &&
                    llvm::is_contained(expected[signal.phase], signal.source);
  bool isSecond =
      isExpected &&
      llvm::any_of(known[signal.phase].arrivals, [&](const Arrival &arrival) {
        return arrival.source == signal.source;
      });
  if (!isExpected || isSecond) {
    return reject(
        emitError, "V16",
        formatv("expected {0} to arrive once on phase {1} of {2}, got "
                "{3}",
                protocol.describeSource(signal.source), signal.phase,
                describe(),
                isSecond ? "a second arrival"
                         : "an arrival that nothing waits for"));
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
      return reject(emitError, "V16",
                    formatv("expected {0} to arrive on phase {1} of {2} after "
                            "{3} arrived on phase {4}, got no order between "
                            "them",
                            protocol.describeSource(signal.source),
                            signal.phase, describe(),
                            protocol.describeSource(other), signal.phase - 1));
    }
  }
  return success();
}

/// A phase completes after everyone has waited for the one before: parity
/// shows only the last, and a late waiter would sleep.
LogicalResult Executor::checkWaiters(int barrier, int phase) {
  if (phase == 0) {
    return success();
  }
  auto &waits = phases[barrier][phase - 1].waits;
  for (int waiter : protocol.waitersOf(barrier)) {
    auto *wait = llvm::find_if(
        waits, [&](const Arrival &w) { return w.source == waiter; });
    if (wait == waits.end() ||
        !sets.has(phases[barrier][phase].before, wait->event)) {
      return reject(emitError, "V17",
                    formatv("expected phase {0} of {1} to complete after {2} "
                            "waited for phase {3}, got no order between them",
                            phase, protocol.describeBarrier(barrier),
                            protocol.describeSource(waiter), phase - 1));
    }
  }
  return success();
}

LogicalResult Executor::arrive(Signal signal, Row before, int event) {
  if (failed(checkArrival(signal, before))) {
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
                   protocol.expected[signal.barrier][signal.phase].size();
  return phase.complete ? checkWaiters(signal.barrier, signal.phase)
                        : success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

LogicalResult Executor::finish(int index) {
  const AsyncOp &operation = protocol.operations[index];
  OperationState &state = operations[index];
  if (failed(access(operation.instance, operation.item, state.event,
                    state.before, protocol.get(operation.reads),
                    protocol.get(operation.writes)))) {
    return failure();
  }
  sets.add(state.before, state.event);
  state.done = true;
  for (int i = operation.signals.begin; i < operation.signals.end; ++i) {
    if (failed(arrive(protocol.signals[i], state.before, newEvent()))) {
      return failure();
    }
  }
  return success();
}

/// All members pass with what all of them knew when they came.
bool Executor::meet(int instance, const Token &token) {
  Meeting &meeting = meetings[{token.first, token.second}];
  int members = protocol.rendezvousOf(token.first).members;
  meeting.arrived.resize(protocol.programs.size());
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
  auto &program = protocol.programs[instance];
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
    int event = newEvent();
    sets.add(before, event);
    known[token.second].waits.push_back({instance, event});
    break;
  }
  case Token::Arrive: {
    // What the role does later comes after it, and says so when it arrives.
    int event = newEvent();
    result = arrive({token.first, token.second, instance}, before, event);
    sets.add(before, event);
    break;
  }
  case Token::Do: {
    int event = newEvent(instance, token.item);
    result = access(instance, token.item, event, before,
                    protocol.get(token.reads), protocol.get(token.writes));
    sets.add(before, event);
    break;
  }
  case Token::Issue: {
    OperationState &state = operations[token.first];
    state.event = newEvent(instance, protocol.operations[token.first].item);
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
  for (auto [i, program] : llvm::enumerate(protocol.programs)) {
    if (position[i] == int(program.size())) {
      continue;
    }
    const Token &token = program[position[i]];
    std::string what;
    if (token.kind == Token::Meet) {
      what =
          formatv("rendezvous '{0}'", protocol.rendezvousOf(token.first).name);
    } else {
      what = formatv("phase {0} of {1}", token.second,
                     protocol.describeBarrier(token.first));
    }
    where += formatv("{0}{1} at {2}", where.empty() ? "" : ", ",
                     protocol.describeInstance(i), what);
  }
  return reject(
      emitError, "V18",
      formatv("expected all roles to end, got a deadlock with {0}", where));
}

LogicalResult Executor::checkExit() {
  for (int i = 0, e = operations.size(); i < e; ++i) {
    int event = operations[i].event;
    bool awaited =
        llvm::any_of(now, [&](Row row) { return sets.has(row, event); });
    if (protocol.operations[i].item >= 0 && !awaited) {
      return reject(emitError, "V19",
                    formatv("expected {0} to end before some role does, got "
                            "nothing that waits for it",
                            describe(event)));
    }
  }
  return success();
}

LogicalResult Executor::run() {
  while (true) {
    // Asynchronous operations end as soon as every role is stuck. Those of one
    // pipe are in the order of their issue, and so end in order.
    bool moved = !pending.empty();
    for (int index : pending) {
      int pipe = protocol.operations[index].pipe;
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
    for (int i = 0, e = protocol.programs.size(); i < e; ++i) {
      Progress progress;
      while ((progress = step(i)) == Progress::Moved) {
        moved = true;
      }
      if (progress == Progress::Failed) {
        return failure();
      }
      ended &= position[i] == int(protocol.programs[i].size());
    }
    if (ended && pending.empty()) {
      return checkExit();
    }
    if (!moved && pending.empty()) {
      return reportDeadlock();
    }
  }
}

LogicalResult sched::execute(const Protocol &protocol, EmitError emitError) {
  return Executor(protocol, emitError).run();
}
