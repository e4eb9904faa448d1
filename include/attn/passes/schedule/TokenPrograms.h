// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of tokens, one for each instance of a role: barriers and their
// phases, copies, MMAs and stores as asynchronous operations, and every read
// and write of a cell. The judge of schedules derives them from a bound
// schedule, and attn-verify-sync from the emitted program.
#ifndef ATTN_PASSES_SCHEDULE_TOKENPROGRAMS_H
#define ATTN_PASSES_SCHEDULE_TOKENPROGRAMS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace attn {

/// The content of a cell, numbered by the code that derived the programs.
struct Tag {
  int what = 0, item = 0, iteration = 0, subtile = -1;
  bool operator==(const Tag &other) const {
    return what == other.what && item == other.item &&
           iteration == other.iteration && subtile == other.subtile;
  }
};

struct Access {
  int cell;
  Tag tag;
};

/// A range in one of the pools of `TokenPrograms`.
struct Span {
  int begin = 0, end = 0;
};

/// An arrival on a phase of a barrier. Sources are instances, then copies.
struct Signal {
  int barrier, phase, source;
};

/// An event of an instance: `item` is its own index.
struct Point {
  int instance = -1, item = -1;
};

struct Token {
  enum Kind {
    Wait,   // for a phase of a barrier
    Pass,   // a wait that credits satisfy
    Arrive, // on a phase of a barrier
    Do,     // read and write cells now
    Issue,  // start an asynchronous operation
    Await,  // its end
    Meet    // a rendezvous
  } kind;
  int first;      // barrier; operation; rendezvous
  int second = 0; // phase; round
  int item = -1;
  Span reads, writes;
};

struct AsyncOp {
  int instance, item; // item -1 is a commit, which only signals
  int pipe;           // operations of one pipe end in order; -1: none
  Span reads, writes, signals;
};

class TokenPrograms {
public:
  virtual ~TokenPrograms() = default;

  virtual std::string describeItem(Point point) const = 0;
  virtual std::string describeInstance(int instance) const = 0;
  virtual std::string describeBarrier(int barrier) const = 0;
  virtual std::string describeTag(const Tag &tag) const = 0;
  virtual std::string describeSource(int source) const = 0;
  virtual std::string describeRendezvous(int rendezvous) const = 0;
  /// Adds the location of the point in the program, if there is a program.
  virtual void locate(Point point, mlir::InFlightDiagnostic &error) const {}

  /// Returns the instances that wait for a barrier.
  virtual llvm::SmallVector<int> waitersOf(int barrier) const = 0;
  /// Returns the number of instances that meet at a rendezvous.
  virtual int membersOf(int rendezvous) const = 0;

  std::vector<std::vector<Token>> programs; // by instance
  std::vector<AsyncOp> operations;
  std::vector<Access> accesses;
  std::vector<Signal> signals;
  // By barrier and phase: the sources that complete it.
  std::vector<llvm::SmallVector<llvm::SmallVector<int, 2>>> expected;
  int cellCount = 0;

  llvm::ArrayRef<Access> get(Span range) const {
    return llvm::ArrayRef(accesses).slice(range.begin, range.end - range.begin);
  }
  Span store(llvm::ArrayRef<Access> list) {
    int begin = accesses.size();
    accesses.insert(accesses.end(), list.begin(), list.end());
    return {begin, int(accesses.size())};
  }
  Span store(llvm::ArrayRef<Signal> list) {
    int begin = signals.size();
    signals.insert(signals.end(), list.begin(), list.end());
    return {begin, int(signals.size())};
  }
};

} // namespace attn

#endif // ATTN_PASSES_SCHEDULE_TOKENPROGRAMS_H
