// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words of launch plans that the compiler writes and the runtime reads. The
// enums and attributes of the compiler, and the enums and tables of the runtime,
// are made of these.
#ifndef ATTN_DIALECT_PLANWORDS_TD
#define ATTN_DIALECT_PLANWORDS_TD

include "attn/dialect/Tables.td"

class Attn_PlanWord<int value, string cppName, string text> {
  bits<32> number = value;
  string symbol = cppName;
  string word = text;
}

class Attn_KindWord<int value, string cppName, string text> : Attn_PlanWord<value, cppName, text>;
def Attn_FwdKind : Attn_KindWord<0, "Fwd", "fwd">;
def Attn_BwdKind : Attn_KindWord<1, "Bwd", "bwd">; // all gradients in one kernel
def Attn_DecodeKind : Attn_KindWord<2, "Decode", "decode">;
def Attn_CombineKind : Attn_KindWord<3, "Combine", "combine">;
def Attn_CustomKind : Attn_KindWord<4, "Custom", "custom">; // its text names its values itself
def Attn_DeltaKind : Attn_KindWord<5, "Delta", "delta">;    // the row statistics of a backward pass
def Attn_BwdDQKind : Attn_KindWord<6, "BwdDQ", "bwd_dq">;
def Attn_BwdDKDVKind : Attn_KindWord<7, "BwdDKDV", "bwd_dk_dv">;
def Attn_BwdDKKind : Attn_KindWord<8, "BwdDK", "bwd_dk">;
def Attn_BwdDVKind : Attn_KindWord<9, "BwdDV", "bwd_dv">;
// Derivatives by a capture: summed over the keys of a query, or the queries of a key, or at each pair.
def Attn_BwdRowsKind : Attn_KindWord<10, "BwdRows", "bwd_rows">;
def Attn_BwdKeysKind : Attn_KindWord<11, "BwdKeys", "bwd_keys">;
def Attn_BwdPairsKind : Attn_KindWord<12, "BwdPairs", "bwd_pairs">;
def Attn_SumKind : Attn_KindWord<13, "Sum", "sum">; // of partial sums, to the gradient of a capture
def Attn_BwdElementsKind : Attn_KindWord<14, "BwdElements", "bwd_elements">; // added to any elements
def Attn_ClearKind : Attn_KindWord<15, "Clear", "clear">;       // zeros, to which gradients are added
def Attn_ConvertKind : Attn_KindWord<16, "Convert", "convert">; // the gradients of such sums
def Attn_BwdDQDKKind : Attn_KindWord<17, "BwdDQDK", "bwd_dq_dk">; // dK, and sums for dQ
def Attn_BwdOrderedKind : Attn_KindWord<18, "BwdOrdered", "bwd_ordered">; // like bwd, with one order of additions
def Attn_BwdSeeingKind : Attn_KindWord<19, "BwdSeeing", "bwd_seeing">; // the queries that see a group of keys
defvar Attn_KindWords = [Attn_FwdKind, Attn_BwdKind, Attn_DecodeKind, Attn_CombineKind, Attn_CustomKind, Attn_DeltaKind,
                         Attn_BwdDQKind, Attn_BwdDKDVKind, Attn_BwdDKKind, Attn_BwdDVKind, Attn_BwdRowsKind,
                         Attn_BwdKeysKind, Attn_BwdPairsKind,
                         Attn_SumKind, Attn_BwdElementsKind, Attn_ClearKind, Attn_ConvertKind, Attn_BwdDQDKKind,
                         Attn_BwdOrderedKind, Attn_BwdSeeingKind];

/// A kernel has one argument of a role, or any number of one with `repeats`.
class Attn_RoleWord<int value, string cppName, string text, bit repeats = 0>
    : Attn_PlanWord<value, cppName, text> {
  bit mayRepeat = repeats;
}
def Attn_QueryRole : Attn_RoleWord<0, "Query", "query">;
def Attn_KeyRole : Attn_RoleWord<1, "Key", "key">;
def Attn_ValueRole : Attn_RoleWord<2, "Value", "value">;
def Attn_ScaleRole : Attn_RoleWord<3, "Scale", "scale">;
def Attn_BoundRole : Attn_RoleWord<4, "Bound", "bound", 1>;       // of the mask
def Attn_CaptureRole : Attn_RoleWord<5, "Capture", "capture", 1>; // of a region
def Attn_OutputRole : Attn_RoleWord<6, "Output", "output">;
def Attn_LseRole : Attn_RoleWord<7, "Lse", "lse">;
def Attn_OutputGradientRole : Attn_RoleWord<8, "OutputGradient", "output_gradient">;
def Attn_LseGradientRole : Attn_RoleWord<9, "LseGradient", "lse_gradient">;
def Attn_DeltaRole : Attn_RoleWord<10, "Delta", "delta">;      // of the rows of a backward pass
def Attn_Lse2Role : Attn_RoleWord<11, "Lse2", "lse2">;         // the LSE in base 2, +inf for rows without keys
def Attn_QueryGradientRole : Attn_RoleWord<12, "QueryGradient", "query_gradient">;
def Attn_KeyGradientRole : Attn_RoleWord<13, "KeyGradient", "key_gradient">;
def Attn_ValueGradientRole : Attn_RoleWord<14, "ValueGradient", "value_gradient">;
def Attn_PartialSumsRole : Attn_RoleWord<15, "PartialSums", "partial_sums", 1>; // of the gradient of a capture
def Attn_CaptureGradientRole : Attn_RoleWord<16, "CaptureGradient", "capture_gradient", 1>; // or of the scale
def Attn_QueryGradientSumsRole : Attn_RoleWord<17, "QueryGradientSums", "query_gradient_sums">; // f32, without the scale
def Attn_DropoutRateRole : Attn_RoleWord<18, "DropoutRate", "dropout_rate">;
def Attn_DropoutStateRole : Attn_RoleWord<19, "DropoutState", "dropout_state">; // seed and offset
def Attn_SinksRole : Attn_RoleWord<20, "Sinks", "sinks">;
def Attn_TurnsRole : Attn_RoleWord<21, "Turns", "turns">;       // of the work items that add to sums
def Attn_SeeingQueriesRole : Attn_RoleWord<22, "SeeingQueries", "seeing_queries">; // of groups of keys
defvar Attn_RoleWords = [Attn_QueryRole, Attn_KeyRole, Attn_ValueRole, Attn_ScaleRole, Attn_BoundRole, Attn_CaptureRole,
                         Attn_OutputRole, Attn_LseRole, Attn_OutputGradientRole, Attn_LseGradientRole, Attn_DeltaRole,
                         Attn_Lse2Role, Attn_QueryGradientRole, Attn_KeyGradientRole, Attn_ValueGradientRole,
                         Attn_PartialSumsRole, Attn_CaptureGradientRole, Attn_QueryGradientSumsRole,
                         Attn_DropoutRateRole, Attn_DropoutStateRole, Attn_SinksRole, Attn_TurnsRole,
                         Attn_SeeingQueriesRole];

class Attn_LayoutWord<int value, string cppName, string text> : Attn_PlanWord<value, cppName, text>;
def Attn_BSHDLayout : Attn_LayoutWord<0, "BSHD", "bshd">;
def Attn_BHSDLayout : Attn_LayoutWord<1, "BHSD", "bhsd">;
defvar Attn_LayoutWords = [Attn_BSHDLayout, Attn_BHSDLayout];

// The numbers of a numerics contract. docs/launch-plan.md defines the bounds that they make up.
class Attn_ErrorBoundWord<int value, string text> : Attn_PlanWord<value, Attn_Camel<text>.text, text>;
defvar Attn_ErrorBounds = [
  "score_relative", "o_relative", "o_per_key", "flush", "lse_relative", "lse_absolute", "lse_per_root_key"];
foreach i = !range(!size(Attn_ErrorBounds)) in
  def Attn_ErrorBound # i : Attn_ErrorBoundWord<i, Attn_ErrorBounds[i]>;

// Those of the contract of a backward pass.
class Attn_GradientErrorBoundWord<int value, string text> : Attn_PlanWord<value, Attn_Camel<text>.text, text>;
defvar Attn_GradientErrorBounds = [
  "score_relative", "exponential", "exponent_relative", "flush", "dp_relative", "delta_relative", "lse2_relative",
  "operations", "per_product", "per_addition", "rounding", "least", "kept_relative", "kept_least"];
foreach i = !range(!size(Attn_GradientErrorBounds)) in
  def Attn_GradientErrorBound # i : Attn_GradientErrorBoundWord<i, Attn_GradientErrorBounds[i]>;

class Attn_PlanWordEnum<string wordClass> : GenericEnum {
  let FilterClass = wordClass;
  let NameField = "symbol";
  let ValueField = "number";
}
def PlanKind : Attn_PlanWordEnum<"Attn_KindWord">;
def PlanRole : Attn_PlanWordEnum<"Attn_RoleWord">;
def PlanLayout : Attn_PlanWordEnum<"Attn_LayoutWord">;
def ErrorBound : Attn_PlanWordEnum<"Attn_ErrorBoundWord">;
def GradientErrorBound : Attn_PlanWordEnum<"Attn_GradientErrorBoundWord">;

class Attn_PlanWordTable<string wordClass> : GenericTable {
  let FilterClass = wordClass;
  let Fields = ["number", "word"];
}
def KindWordTable : Attn_PlanWordTable<"Attn_KindWord">;
def RoleWordTable : Attn_PlanWordTable<"Attn_RoleWord"> {
  let Fields = ["number", "word", "mayRepeat"];
}
def LayoutWordTable : Attn_PlanWordTable<"Attn_LayoutWord">;
def ErrorBoundTable : Attn_PlanWordTable<"Attn_ErrorBoundWord">;
def GradientErrorBoundTable : Attn_PlanWordTable<"Attn_GradientErrorBoundWord">;

#endif // ATTN_DIALECT_PLANWORDS_TD
