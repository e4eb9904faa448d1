// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launch plan: the arguments of a bundle's kernels and how they are
// launched.

#ifndef ATTN_RUNTIME_LIB_LAUNCH_PLAN_H
#define ATTN_RUNTIME_LIB_LAUNCH_PLAN_H

#include "data_type.h"
#include "expr.h"
#include "plan_words.h"

#include <array>
#include <optional>

namespace attn::runtime {

constexpr int kMaxTensorRank = 8;
constexpr int kMaxTensorMapRank = 5;
constexpr int kMaxKernelParams = 64;

/// A score or mask region: an op is a list of words (docs/launch-plan.md).
using RegionProgram = std::vector<std::vector<std::string>>;

/// A bound of the mask, given at launch.
struct PlanBound {
  std::string name; // the name of an i32 argument
  int64_t least = 0;
};

/// The keys that a query sees under the built-in mask. Launches do not use it.
struct PlanKeys {
  /// Not set if the side is open.
  std::optional<Expr> first, last;
  int querySymbol = -1; // the query's position in these expressions
  std::vector<PlanBound> bounds;
};

/// The computation of the kernels. Tools use it; launches do not.
struct PlanProblem {
  Kind kind = Kind::Fwd;
  DataType dtype = DataType::BF16;
  int64_t headDim = 0;  // of Q and K
  int64_t headDimV = 0; // of V and O
  Layout layout = Layout::BSHD;
  std::string mask; // a name, for people; `keys` defines it
  PlanKeys keys;
  bool hasScoreRegion = false;
  bool hasMaskRegion = false;
  // Empty if the plan does not have them.
  RegionProgram scoreProgram;
  RegionProgram maskProgram;

  /// The dims of Q, K, V and O for positions and heads.
  int getPositionDim() const { return layout == Layout::BHSD ? 2 : 1; }
  int getHeadsDim() const { return layout == Layout::BHSD ? 1 : 2; }
};

/// One extent of a tensor: fixed, or a symbol that the first tensor with it
/// binds.
struct PlanDim {
  bool isSymbol = false;
  /// The extent, or the symbol's number.
  int64_t value = 0;
};

enum class Access { Read, Write, ReadWrite };
enum class ArgKind { Tensor, F32, I32, I64 };

struct PlanArg {
  std::string name;
  /// Unset in plans of older compilers, and of kernels without roles.
  std::optional<Role> role;
  ArgKind kind = ArgKind::Tensor;
  // For tensors:
  DataType dtype = DataType::F32;
  Access access = Access::Read;
  std::vector<PlanDim> dims;
  /// The number of the symbol of the first dim's stride; those of the other
  /// dims follow.
  int firstStrideSymbol = -1;
  /// Whether rows must begin at multiples of 16 bytes: a tensor map reads them,
  /// or threads access several elements at a time.
  bool alignedRows = false;
  /// For f32 scalars: the range of values that the kernel can compute with, if
  /// limited.
  bool isBounded = false;
  float least = 0, most = 0;
  /// For i32 and i64 scalars: their symbol in expressions.
  int symbol = -1;

  bool isTensor() const { return kind == ArgKind::Tensor; }
};

/// A tensor that one launch of a call writes and a later one reads. It is in
/// the call's workspace, row-major, and each row begins at a multiple of 16
/// bytes.
struct PlanTemporary {
  std::string name;
  DataType dtype = DataType::F32;
  std::vector<Expr> dims;
  /// The number of the symbol of the first dim's stride, as for PlanArg.
  int firstStrideSymbol = -1;
};

/// Text, or the value of a symbol.
struct MessagePart {
  std::string text;
  int symbol = -1;
};

/// A condition on the problem: `expr` must equal `equals`.
struct PlanCheck {
  Expr expr;
  int64_t equals = 0;
  std::vector<MessagePart> message;
};

/// One dimension of a tensor map, innermost first. The innermost has no stride.
struct TensorMapDim {
  Expr size;   // elements
  Expr stride; // bytes
  int64_t box = 0;
};

enum class ParamKind { TensorMap, Pointer, Workspace, I32, I64, F32 };

struct PlanParam {
  ParamKind kind = ParamKind::I32;
  /// Index into the plan's args, for TensorMap, Pointer and F32. Indices of
  /// temporaries follow those of args.
  int arg = -1;
  /// For I32 and I64.
  Expr expr;
  // For TensorMap:
  int swizzle = 0;     // bytes: 0, 32, 64, 128
  int l2Promotion = 0; // bytes: 0, 64, 128, 256
  std::vector<TensorMapDim> dims;
};

struct PlanLaunch {
  std::string kernel;
  std::array<Expr, 3> grid;
  std::array<unsigned, 3> block{1, 1, 1};
  std::array<unsigned, 3> cluster{1, 1, 1};
  unsigned smem = 0; // dynamic shared memory, bytes
  /// The kernel may start before the previous launch in the stream has ended,
  /// and waits for its end itself.
  bool dependent = false;
  std::vector<PlanParam> params;
  /// Its location in the plan, for messages.
  std::string path;
};

/// A number that expressions of a plan or a variant use by name.
struct PlanValue {
  int symbol = -1;
  Expr expr;
};

/// Kernels for the problems that `when` accepts and that no earlier variant
/// accepts.
struct PlanVariant {
  Expr when;
  /// In order: each value may use those before it.
  std::vector<PlanValue> values;
  /// The bytes that kernels need besides the temporaries.
  Expr workspace;
  /// The number of leading bytes that must be zero when a launch begins. The
  /// launch resets them to zero, so consecutive launches may share a workspace;
  /// concurrent launches may not.
  int64_t zeroed = 0;
  std::vector<PlanLaunch> launches;
  /// The schedule's text, for people.
  std::string schedule;
  /// Absent in plans of older compilers, and of kernels other than "fwd".
  std::optional<PlanNumerics> numerics;
  /// Absent in plans of older compilers, and without kernels of a backward
  /// pass.
  std::optional<PlanGradientNumerics> gradientNumerics;
};

struct LaunchPlan {
  std::string name;
  std::string target; // for example "sm_90a"
  PlanProblem problem;
  std::vector<PlanArg> args;
  /// In order: each value may use those before it.
  std::vector<PlanValue> values;
  std::vector<PlanTemporary> temporaries;
  std::vector<PlanCheck> checks;
  std::vector<PlanVariant> variants;
  SymbolTable symbols;
  /// The number of "sm_count", or -1 if nothing uses it.
  int smCountSymbol = -1;

  /// The index of an argument; -1 where there is none.
  int findArg(const std::string &argName) const;
  int findArg(Role role) const;
  /// The element type of a tensor, by its index in PlanParam.
  DataType typeOf(int tensor) const;
  /// Whether an expression needs the value of a symbol.
  bool uses(int symbol) const;
};

/// Reads a plan and checks all of it: types, ranges, names and unknown keys.
/// Errors name the location, for example "plan:
/// variants[0].launches[0].block[0]: expected ...".
Status parseLaunchPlan(const std::string &json, LaunchPlan &plan);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_LAUNCH_PLAN_H
