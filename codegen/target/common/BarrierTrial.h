// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the warps of a kernel together on barriers that count like the
// machine's.
#ifndef ATTN_CODEGEN_BARRIERTRIAL_H
#define ATTN_CODEGEN_BARRIERTRIAL_H

#include "HoldTrial.h"
#include <map>

namespace attn::codegen {

/// The properties of a kernel that are read once: its roles, and the memory
/// that setup initializes.
class BarrierProgram {
public:
  BarrierProgram(ws::KernelOp kernel, MachineAttr machine);

  /// Reports barriers that overlap other data.
  mlir::LogicalResult readSetup();

  ws::KernelOp kernel;
  int64_t namedBarriers; // of the machine
  std::vector<std::pair<ws::RoleOp, RoleSlice>> roles;
  struct Barrier {
    int64_t arrivals; // of a phase
    mlir::Operation *init;
  };
  llvm::MapVector<int32_t, Barrier> barriers; // by offset

private:
  mlir::LogicalResult checkMemory(llvm::ArrayRef<BarrierEvent> setup);
};

/// One run for given work items.
class BarrierTrial {
public:
  BarrierTrial(const BarrierProgram &program, llvm::ArrayRef<TrialItem> items)
      : program(program), items(items) {}

  mlir::LogicalResult run();

private:
  struct Barrier {
    int64_t count = 0, pending = 0, bytes = 0, phase = 0;
    int64_t awaited = 0; // phases of the furthest participant
    bool isOfCopies = false;
  };
  /// A named barrier, in one CTA.
  struct Meeting {
    int64_t threads = 0, arrived = 0, phase = 0;
    llvm::SmallVector<unsigned> passed; // warps, in this phase
  };
  enum class Step { Done, Blocked, Failed };

  mlir::LogicalResult unroll();
  mlir::LogicalResult unrollRole(ws::RoleOp role, const RoleSlice &slice,
                                 int64_t cta);
  void restart();
  mlir::LogicalResult runInTurn(bool lastFirst);
  /// Runs a warp until it waits; returns whether it made progress.
  mlir::FailureOr<bool> runWarp(TrialWarp &warp);
  Step step(TrialWarp &warp);
  Step arrive(TrialWarp &warp, const BarrierEvent &event);
  Step copy(const BarrierEvent &event);
  Step wait(TrialWarp &warp, const BarrierEvent &event);
  Step meet(TrialWarp &warp, const BarrierEvent &event);
  /// Returns the barrier at an event's address, or null with an error.
  Barrier *find(const BarrierEvent &event);
  static void settle(Barrier &barrier);
  mlir::InFlightDiagnostic error(const BarrierEvent &event);
  mlir::LogicalResult reportDeadlock();
  mlir::LogicalResult checkEnd();
  mlir::LogicalResult checkBarrier(const Barrier &barrier,
                                   mlir::Operation *init, int64_t offset);

  const BarrierProgram &program;
  llvm::ArrayRef<TrialItem> items;
  std::vector<TrialWarp> warps;
  HoldTrial holds{warps};
  llvm::DenseMap<int32_t, Barrier> barriers;               // by address
  std::map<std::pair<int64_t, int32_t>, Meeting> meetings; // by CTA and id
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_BARRIERTRIAL_H
