// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the program of one role as its schedule lists it.
#ifndef ATTN_PASSES_SPECIALIZATION_ROLEBUILDER_H
#define ATTN_PASSES_SPECIALIZATION_ROLEBUILDER_H

#include "KernelProgram.h"
#include "attn/dialect/Ws.h"

namespace attn {

/// One line of a role's body, after the waits have been put in.
struct BodyItem {
  enum Kind { Step, WaitFull, Fetch, Other } kind;
  EntryAttr entry;          // null for a derived wait
  tile::StepOp step;        // of Step
  mlir::Value channelValue; // of WaitFull
  int64_t shift, slot;
  mlir::StringAttr guard; // null: always
  std::string name;
};

class RoleBuilder {
public:
  RoleBuilder(KernelProgram &program, RoleAttr role, mlir::OpBuilder &builder,
              const mlir::IRMapping &outer)
      : program(program), role(role), builder(builder), env(outer) {}

  mlir::LogicalResult build();

private:
  // RoleBuilder.cpp
  mlir::LogicalResult checkShare(EntryAttr entry, bool inLoop);
  mlir::Value ownSubtile();
  mlir::LogicalResult buildWork();
  mlir::LogicalResult emitEntries(llvm::ArrayRef<EntryAttr> entries);
  mlir::LogicalResult checkOutside(EntryAttr entry);
  mlir::LogicalResult emitAct(EntryAttr entry);
  bool runs(tile::StepOp step);

  // RoleWorkItems.cpp
  bool handsOut() const;
  mlir::LogicalResult checkNext();
  mlir::LogicalResult emitNext(tile::StepOp next);
  void emitFetch();
  void insertFetch(llvm::SmallVectorImpl<BodyItem> &items);

  // RoleLoop.cpp
  mlir::LogicalResult buildLoop();
  void waitForOuterChannels();
  void releaseOuterChannels();
  llvm::SmallVector<unsigned> carriedByRole();
  mlir::LogicalResult collectItems(llvm::SmallVectorImpl<BodyItem> &items);
  void insertWaits(llvm::SmallVectorImpl<BodyItem> &items);
  std::pair<llvm::SmallVector<mlir::Value>, mlir::ArrayAttr> rangesOfRole();
  mlir::LogicalResult emitItem(BodyItem &item);

  // RoleSteps.cpp
  mlir::LogicalResult emitStep(tile::StepOp step);
  mlir::LogicalResult cloneBody(tile::StepOp step, mlir::Operation *except);
  PlaceAttr holdOfArgument(mlir::Value value);
  bool readsHold(mlir::Operation *op);
  mlir::Value emitHeld(PlaceAttr hold, mlir::RankedTensorType type);
  mlir::LogicalResult checkPassesOn(tile::StepOp step, mlir::Operation *op);
  mlir::LogicalResult emitLoad(tile::StepOp step, tile::LoadOp load);
  mlir::LogicalResult emitMma(tile::StepOp step, tile::MmaOp mma);
  mlir::LogicalResult emitStore(tile::StepOp step, tile::StoreOp store);
  mlir::LogicalResult emitCompute(tile::StepOp step);

  mlir::InFlightDiagnostic error(const llvm::Twine &message) {
    return program.kernel.emitOpError("attn-warp-specialize: role '")
           << role.getName().getValue() << "': " << message;
  }
  mlir::StringAttr str(llvm::StringRef text) {
    return builder.getStringAttr(text);
  }
  mlir::FlatSymbolRefAttr symbol(llvm::StringRef name) {
    return mlir::FlatSymbolRefAttr::get(builder.getContext(), name);
  }
  ws::SlotType slotType(mlir::Value value) {
    return ws::SlotType::get(
        builder.getContext(),
        symbol(program.channelOf[value].getName().getValue()),
        llvm::cast<mlir::RankedTensorType>(value.getType()));
  }
  mlir::Location loc() { return program.kernel.getLoc(); }

  KernelProgram &program;
  RoleAttr role;
  mlir::OpBuilder &builder;
  mlir::IRMapping env;
  BodyAttr body;
  mlir::Value replica;
  std::optional<int64_t> subtile; // of the entry that is being emitted
  tile::NextWorkOp nextWork;
  bool fetched = false; // the next work item has been asked for
  /// Steps that this role runs, and the outer channel values that it reads.
  llvm::DenseSet<llvm::StringRef> ownSteps;
  llvm::SetVector<mlir::Value> outerChannelValues;
};

} // namespace attn

#endif // ATTN_PASSES_SPECIALIZATION_ROLEBUILDER_H
