// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTNENUMS_TD
#define ATTN_DIALECT_ATTNENUMS_TD

include "attn/dialect/AttnDialect.td"
include "attn/dialect/Knobs.td"
include "attn/dialect/Masks.td"
include "attn/dialect/PlanWords.td"

class Attn_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}

// The knobs of a schedule, and the words that they may be set to.
def Attn_KnobEnum : Attn_Enum<"Knob", "a choice about how a kernel runs",
  !foreach(knob, !instances<Attn_Knob>(), I32EnumAttrCase<knob.symbol, !cast<int>(knob.number), knob.name>)>;
foreach all = !instances<Attn_Words>() in
  def Attn_ # all.enumName : Attn_Enum<all.enumName, all.summary,
    !foreach(i, !range(!size(all.words)), I32EnumAttrCase<Attn_Camel<all.words[i]>.text, i, all.words[i]>)>;

def Attn_KernelKind : Attn_Enum<"KernelKind", "the computation of a kernel",
  !foreach(word, Attn_KindWords, I32EnumAttrCase<word.symbol, !cast<int>(word.number), word.word>)>;

def Attn_MaskKind : Attn_Enum<"MaskKind", "built-in mask and its alignment",
  !foreach(mask, !instances<Attn_Mask>(), I32EnumAttrCase<mask.symbol, !cast<int>(mask.number), mask.name>)>;
def Attn_MaskKindAttr : EnumAttr<Attn_Dialect, Attn_MaskKind, "mask"> {
  let assemblyFormat = "$value";
}

def Attn_MaskBounds : I32BitEnumAttr<"MaskBounds", "the bounds of a mask that launches give",
  !listconcat([I32BitEnumAttrCaseNone<"None", "none">],
    !foreach(bound, !instances<Attn_Bound>(), I32BitEnumAttrCaseBit<bound.symbol, !cast<int>(bound.number), bound.name>))> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}
def Attn_MaskBoundsAttr : EnumAttr<Attn_Dialect, Attn_MaskBounds, "mask_bounds">;

// An entry that serves a mask also serves the masks whose `served` names it. `gathers`:
// regions that read captured tensors at positions, which need registers for addresses.
def Attn_TableMasks : I32BitEnumAttr<"TableMasks", "what entries of a schedule table serve",
  !listconcat([I32BitEnumAttrCaseNone<"Nothing", "nothing">],
    !foreach(mask, !filter(m, !instances<Attn_Mask>(), !eq(m.served, m.name)),
             I32BitEnumAttrCaseBit<mask.symbol, !cast<int>(mask.number), mask.name>),
    [I32BitEnumAttrCaseBit<"Window", 29, "window">, // bounds of masks
     I32BitEnumAttrCaseBit<"Gathers", 30, "gathers">])> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}
def Attn_TableMasksAttr : EnumAttr<Attn_Dialect, Attn_TableMasks, "table_masks">;

def Attn_LayoutKind : Attn_Enum<"LayoutKind", "order of the dimensions of Q, K, V and O",
  !foreach(word, Attn_LayoutWords, I32EnumAttrCase<word.symbol, !cast<int>(word.number), word.word>)>;
def Attn_LayoutKindAttr : EnumAttr<Attn_Dialect, Attn_LayoutKind, "layout"> {
  let assemblyFormat = "$value";
}

def Attn_RegionKind : Attn_Enum<"RegionKind", "whether the user gave a region", [
  I32EnumAttrCase<"Absent", 0, "absent">, I32EnumAttrCase<"Present", 1, "present">,
  // present, and reads captured tensors at a query or key position
  I32EnumAttrCase<"Gathering", 2, "gathering">]>;

def Attn_Gradients : Attn_Enum<"Gradients", "the gradients that an op computes", [
  I32EnumAttrCase<"All", 0, "all">, I32EnumAttrCase<"DQ", 1, "dq">, I32EnumAttrCase<"DKDV", 2, "dk_dv">,
  I32EnumAttrCase<"DK", 3, "dk">, I32EnumAttrCase<"DV", 4, "dv">,
  // of a capture: its sums over the keys of each query, over the queries of each key, or its elements
  I32EnumAttrCase<"RowSums", 5, "row_sums">, I32EnumAttrCase<"KeySums", 6, "key_sums">,
  I32EnumAttrCase<"Pairs", 7, "pairs">, I32EnumAttrCase<"Elements", 8, "elements">,
  // all, dQ as sums in f32 that the kernel adds to
  I32EnumAttrCase<"Sums", 9, "sums">,
  // dQ as such sums, and dK
  I32EnumAttrCase<"SumsDK", 10, "sums_dk">,
  // none, but the queries that see a group of keys
  I32EnumAttrCase<"Seeing", 11, "seeing">]>;
def Attn_GradientsAttr : EnumAttr<Attn_Dialect, Attn_Gradients, "gradients">;

// The ends of the keys that `row_keys` of attn.attention yields.
def Attn_RowKeys : I32BitEnumAttr<"RowKeys", "the sides on which `row_keys` bounds the keys of a query", [
  I32BitEnumAttrCaseNone<"None", "none">, I32BitEnumAttrCaseBit<"First", 0, "first">,
  I32BitEnumAttrCaseBit<"End", 1, "end">,
  // and they are those of all queries of a batch and head
  I32BitEnumAttrCaseBit<"Alike", 2, "alike">]> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}

def Attn_ArgumentAccess : Attn_Enum<"ArgumentAccess", "what a kernel does with an argument", [
  I32EnumAttrCase<"Read", 0, "read">, I32EnumAttrCase<"Write", 1, "write">,
  I32EnumAttrCase<"Accumulate", 2, "accumulate">]>;

def Attn_ArgumentRole : Attn_Enum<"ArgumentRole", "what an argument is to the computation",
  !foreach(word, Attn_RoleWords, I32EnumAttrCase<word.symbol, !cast<int>(word.number), word.word>)>;

// Conditions on a launch.
def Attn_LaunchOp : Attn_Enum<"LaunchOp", "an operator in expressions of launch plans", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Sub", 1, "sub">,
  I32EnumAttrCase<"Mul", 2, "mul">, I32EnumAttrCase<"Div", 3, "div">,
  I32EnumAttrCase<"Mod", 4, "mod">, I32EnumAttrCase<"CeilDiv", 5, "ceildiv">,
  I32EnumAttrCase<"Min", 6, "min">, I32EnumAttrCase<"Max", 7, "max">,
  I32EnumAttrCase<"Eq", 8, "eq">, I32EnumAttrCase<"Ge", 9, "ge">,
  I32EnumAttrCase<"Lt", 10, "lt">, I32EnumAttrCase<"Select", 11, "select">]>;
def Attn_LaunchSize : Attn_Enum<"LaunchSize", "a size that a condition bounds", [
  I32EnumAttrCase<"SeqlenQ", 0, "seqlen_q">, I32EnumAttrCase<"SeqlenK", 1, "seqlen_k">,
  I32EnumAttrCase<"Rows", 2, "rows">]>;
def Attn_BoundSide : Attn_Enum<"BoundSide", "the side of a bound that a size is on", [
  I32EnumAttrCase<"AtMost", 0, "at_most">, I32EnumAttrCase<"Above", 1, "above">]>;

def Attn_Mechanism : Attn_Enum<"Mechanism", "a feature of schedules that a machine may have no lowering for", [
  I32EnumAttrCase<"Parts", 0, "parts">,                        // parts of a place or of a step
  I32EnumAttrCase<"OverCross", 1, "over_cross">,               // a place 'over' another sub-tile
  I32EnumAttrCase<"ChannelOutsideSmem", 2, "channel_outside_smem">,
  I32EnumAttrCase<"SeveralValues", 3, "several_values">,       // places of several values a cycle
  I32EnumAttrCase<"FilledByThreads", 4, "filled_by_threads">,  // channels that threads fill, not copies
  I32EnumAttrCase<"SeveralHomes", 5, "several_homes">,         // several places for one value in shared memory
  I32EnumAttrCase<"DeepHold", 6, "deep_hold">,                 // holds of several values or depths in shared memory
  I32EnumAttrCase<"HeldByThreads", 7, "held_by_threads">,      // holds that neither a store, an addition to memory nor an MMA (as A) reads
  I32EnumAttrCase<"CopiedHold", 8, "copied_hold">,             // holds that a copy fills
  I32EnumAttrCase<"BareWork", 9, "bare_work">,                 // channels of work items without barriers of their own, or beyond the CTA
  I32EnumAttrCase<"SplitEdge", 10, "split_edge">,
  I32EnumAttrCase<"JoinedEdge", 11, "joined_edge">,
  I32EnumAttrCase<"UnprimedTurn", 12, "unprimed_turn">,
  I32EnumAttrCase<"ReplicaBody", 13, "replica_body">,          // a body for one replica
  I32EnumAttrCase<"ListedSubtile", 14, "listed_subtile">,      // acts of one sub-tile, except stores outside the loop
  I32EnumAttrCase<"NonemptyGuard", 15, "nonempty_guard">,
  I32EnumAttrCase<"GuardedValue", 16, "guarded_value">,        // guards of acts that make a value
  I32EnumAttrCase<"UnshiftedLast", 17, "unshifted_last">,      // guard 'last' in a loop without shifts
  I32EnumAttrCase<"OuterProduct", 18, "outer_product">,        // MMAs outside the loop
  I32EnumAttrCase<"OuterShift", 19, "outer_shift">,            // shifts outside the loop, except of awaits of stores
  I32EnumAttrCase<"LongShift", 20, "long_shift">,              // shifts above 1; of awaits of stores, above 2
  I32EnumAttrCase<"NoPeel", 21, "no_peel">,
  I32EnumAttrCase<"TransposedA", 22, "transposed_a">,          // a transposed operand A
  I32EnumAttrCase<"SomeReaders", 23, "some_readers">,          // places 'for' some steps only
  I32EnumAttrCase<"OddChannel", 24, "odd_channel">,            // channels of cut row vectors, or of tiles of other than 16-bit elements
  I32EnumAttrCase<"ReadByThreads", 25, "read_by_threads">,     // tiles in channels that threads read, not MMAs
  I32EnumAttrCase<"OddCut", 26, "odd_cut">,                    // sub-tiles, except along the rows of computed tiles
  I32EnumAttrCase<"OddTile", 27, "odd_tile">,                  // tile shapes that 'tiles' does not allow
  I32EnumAttrCase<"OddHold", 28, "odd_hold">,                  // holds in shared memory of other tiles than of 16-bit elements, or of f32 that are added
  I32EnumAttrCase<"OddMasked", 29, "odd_masked">,              // masked steps at two shifts, or outside registers
  I32EnumAttrCase<"OddRole", 30, "odd_role">,                  // roles with a number of warps or replicas that their steps cannot use
  I32EnumAttrCase<"CarriedElsewhere", 31, "carried_elsewhere">, // carried values that no step of the loop leaves in registers
  I32EnumAttrCase<"GuardedFinal", 32, "guarded_final">,        // guarded steps that read results of the loop
  I32EnumAttrCase<"MixedStep", 33, "mixed_step">,              // steps that copy, multiply or store, and do something else too
  I32EnumAttrCase<"UnplacedLoad", 34, "unplaced_load">,
  I32EnumAttrCase<"StoredElsewhere", 35, "stored_elsewhere">,  // stores of anything but a hold, additions by warps of what others put
  I32EnumAttrCase<"FilledByMany", 36, "filled_by_many">,       // channels that more than one thread fills
  I32EnumAttrCase<"ManyCredits", 37, "many_credits">,          // edges with several credits
  I32EnumAttrCase<"RejectedStatic", 38, "rejected_static">,    // work 'static' in a kernel that may reject items
  I32EnumAttrCase<"CrossedSum", 39, "crossed_sum">,            // sums down columns, which lie in several warps
  I32EnumAttrCase<"Anything", 40, "anything">]>;               // every schedule

// The schedule's vocabulary.
def Attn_Guard : Attn_Enum<"Guard", "when a guarded entry runs", [
  I32EnumAttrCase<"Always", 0, "always">, I32EnumAttrCase<"Once", 1, "once">,
  I32EnumAttrCase<"Last", 2, "last">, I32EnumAttrCase<"LastNonempty", 3, "last_nonempty">,
  I32EnumAttrCase<"Nonempty", 4, "nonempty">]>;
def Attn_GuardAttr : EnumAttr<Attn_Dialect, Attn_Guard, "guard"> {
  let assemblyFormat = "$value";
}
def Attn_Act : Attn_Enum<"Act", "what an entry of a role's body does", [
  I32EnumAttrCase<"Op", 0, "op">, I32EnumAttrCase<"Await", 1, "await">,
  I32EnumAttrCase<"Get", 2, "get">, I32EnumAttrCase<"Put", 3, "put">,
  I32EnumAttrCase<"Sig", 4, "sig">, I32EnumAttrCase<"Commit", 5, "commit">,
  I32EnumAttrCase<"Wait", 6, "wait">, I32EnumAttrCase<"Take", 7, "take">,
  I32EnumAttrCase<"Give", 8, "give">, I32EnumAttrCase<"Sync", 9, "sync">,
  I32EnumAttrCase<"Read", 10, "read">]>;
def Attn_Granularity : Attn_Enum<"Granularity", "who arrives on a channel's barrier", [
  I32EnumAttrCase<"Warpgroup", 0, "wg">, I32EnumAttrCase<"Warp", 1, "warp">,
  I32EnumAttrCase<"Thread", 2, "thread">]>;
def Attn_Scope : Attn_Enum<"Scope", "which CTAs share a channel", [
  I32EnumAttrCase<"Cta", 0, "cta">, I32EnumAttrCase<"Cluster", 1, "cluster">,
  I32EnumAttrCase<"Pair", 2, "pair">]>;

#endif // ATTN_DIALECT_ATTNENUMS_TD
