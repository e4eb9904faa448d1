// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes stamps. Each thread has a cursor, the offset of its next stamp, in a
// register. In threads that write no stamps it is beyond the end, so that no
// stamp branches. Roles of one thread have few registers and are seldom
// critical: their cursors are in shared memory.
#ifndef ATTN_CODEGEN_STAMPWRITER_H
#define ATTN_CODEGEN_STAMPWRITER_H

#include "ParamValues.h"
#include "attn/codegen/launch/StampLayout.h"

namespace attn::codegen {

class StampWriter {
public:
  /// Surrounds the programs of the kernel's roles, if it has stamps, with the
  /// code that starts and ends their rings.
  StampWriter(ws::KernelOp kernel, const ParamValues &params);

  /// Writes one stamp at `builder`, in place of `stamp`.
  void write(mlir::OpBuilder &builder, ws::StampOp stamp) const;

private:
  void begin(mlir::OpBuilder &builder, ws::RoleOp role);
  void end(mlir::OpBuilder &builder, ws::RoleOp role) const;
  mlir::Value ringOf(mlir::OpBuilder &builder, ws::RoleOp role) const;
  void writeHeader(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value ring, int64_t half, mlir::Value word) const;
  mlir::Value cursorOf(mlir::OpBuilder &builder, mlir::Location loc,
                       ws::RoleOp role) const;

  std::optional<StampLayout> layout;
  mlir::Value workspace;
  int64_t sharedCursors = 0; // the offset of those in shared memory
  /// The variable of each role whose cursors are in registers.
  llvm::DenseMap<mlir::Operation *, mlir::Value> cursors;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_STAMPWRITER_H
