#include "attn/passes/ValueNames.h"
#include "attn/passes/MachineInfo.h"
using namespace attn;
llvm::SmallVector<llvm::StringRef> attn::getResultNames(tile::StepOp step) {
  llvm::SmallVector<llvm::StringRef> r = llvm::StringSwitch<llvm::SmallVector<llvm::StringRef>>(step.getName())
   .Case("next",{"w"}).Case("ld_q",{"q"}).Case("ld_k",{"k"}).Case("ld_v",{"v"}).Case("qk",{"s"}).Case("score",{"s1"}).Case("mask",{"s2"}).Case("stat",{"m1","alpha"}).Case("exp",{"p32"}).Case("sum",{"l1"}).Case("cvt",{"p"}).Case("rescale",{"o1"}).Case("pv",{"o2"}).Case("fin",{"inv","lse"}).Case("norm",{"on"}).Case("cvt_o",{"oe"}).Default({});
  return r; }
mlir::FailureOr<MachineInfo> attn::getMachineInfo(mlir::MLIRContext *, llvm::StringRef, llvm::function_ref<mlir::InFlightDiagnostic()>) { return MachineInfo{232448,65536}; }
