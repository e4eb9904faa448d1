// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel decoded for execution: handlers and slots in place of opcodes and
// names.

#ifndef ATTN_SIM_CORE_PROGRAM_H
#define ATTN_SIM_CORE_PROGRAM_H

#include "core/target.h"
#include "hazards/register_plan.h"
#include "ptx/module.h"

namespace attn::sim {

class Warp;
struct Inst;

constexpr unsigned kLanes = 32;
/// Of a warpgroup.
constexpr unsigned kGroupWarps = 4;
constexpr uint32_t kAllLanes = 0xffffffff;
constexpr uint32_t kNone = 0xffffffff;

/// The outcome of an instruction.
enum class Step : uint8_t {
  Next,
  Jump,    // the warp's lanes have new program counters
  Blocked, // to be tried again
  Exit,    // of the executing lanes
  Fault
};

using Handler = Step (*)(Warp &, const Inst &);

/// One instruction. Slots are offsets into the warp's words; predicate slots
/// are offsets into its predicates.
struct Inst {
  Handler run = nullptr;
  uint32_t guard = kNone;
  bool guardNegated = false;
  /// Runs even if no lane does.
  bool always = false;
  /// For a predicate source written with "!".
  bool negated = false;
  /// For a wait: its result is unused.
  bool isIgnored = false;
  /// The address operand is 64 bits wide.
  bool wideAddress = false;
  /// In operand order, destinations first.
  uint32_t slots[6] = {kNone, kNone, kNone, kNone, kNone, kNone};
  /// An address offset, a branch target or an immediate.
  int64_t imm = 0;
  /// The start of more slots in Program::lists, and their number.
  uint32_t list = 0;
  uint32_t listSize = 0;
  /// Further data of the handler, in its own encoding.
  uint64_t aux = 0;
  /// Index into Program::origins.
  uint32_t origin = 0;
  /// Index into RegisterPlan::watches, or kNone.
  uint32_t watch = kNone;
};

enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NWarpId,
  ClusterCtaRank,
  ClusterNctaRank,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusteridX,
  ClusteridY,
  ClusteridZ,
  NclusteridX,
  NclusteridY,
  NclusteridZ,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  SmId,
  NSmId,
  GridId,
  DynamicSmemSize,
  TotalSmemSize
};

/// A slot that is filled before a warp starts.
struct PresetSlot {
  enum class Kind : uint8_t { Constant, SharedAddress, Special };
  Kind kind = Kind::Constant;
  bool wide = false;
  uint32_t slot = 0;
  uint64_t value = 0;
  Special special = Special::TidX;
};

struct ParamSlot {
  std::string_view name;
  uint32_t offset = 0;
  uint32_t size = 0;
};

/// Shared memory below this offset is reserved for the system.
constexpr uint32_t kSharedBase = 1024;

struct Program {
  std::shared_ptr<const ptx::Module> module;
  const ptx::Function *function = nullptr;
  Target target = kUpToSm90;
  std::vector<Inst> code;
  /// The source of the code: the instructions of the kernel and of the
  /// functions that it calls.
  std::vector<const ptx::Instruction *> origins;
  std::vector<uint32_t> lists;
  std::vector<PresetSlot> presets;
  RegisterPlan registers;
  /// Predicate slots that are always true.
  std::vector<uint32_t> truePredicates;
  uint32_t words = 0;
  uint32_t predicates = 0;
  std::vector<ParamSlot> params;
  uint32_t paramBytes = 0;
  /// The end of static and the start of dynamic shared memory.
  uint32_t dynamicShared = kSharedBase;
  uint32_t localBytes = 0;
  /// The largest number of threads of a CTA; 0 if not specified.
  uint64_t maxThreads = 0;
  /// The required number of threads of a CTA, by dimension; 0 if not specified.
  unsigned block[3] = {0, 0, 0};
  /// .maxnreg and .minnctapersm; 0 if not specified.
  uint64_t maxRegisters = 0;
  uint64_t minCtas = 0;
  /// CTAs of a cluster by dimension; 0 if not specified.
  unsigned cluster[3] = {0, 0, 0};
  bool hasExplicitCluster = false;
  /// The predicate slot of %is_explicit_cluster.
  uint32_t explicitClusterPredicate = kNone;

  const ptx::Instruction &origin(const Inst &inst) const {
    return *origins[inst.origin];
  }
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_PROGRAM_H
