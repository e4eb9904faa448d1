// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The knobs of a schedule. A knob is a field of #attn.config, a `knob` statement
// of #attn.schedule, or a property of the schedule's roles, places and bodies.
// The rest is generated from this file: the parameters of the attributes, their
// parsers, printers, verifiers and documentation; the parameters from which
// schedules are generated; and the tables of docs/knobs.md. ScheduleWriter writes
// and ScheduleReader reads the knobs that are roles, places and bodies.
#ifndef ATTN_DIALECT_KNOBS_TD
#define ATTN_DIALECT_KNOBS_TD

include "attn/dialect/Tables.td"

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

defvar Attn_NoBound = 0x7fffffff;

/// The allowed values of a knob. Words are numbered from 0; flags are 0 and 1.
class Attn_Values<string valueKind, int from, int to, int by, string text> {
  string kind = valueKind;
  int least = from;
  int most = to;
  int step = by;
  string described = text; // for pages; messages have " instead of `
  list<string> words = [];
  string enumName = "";
  string cppType = "::attn::KnobValue";
}

class Attn_Numbers<int from, int to = Attn_NoBound, int by = 1>
    : Attn_Values<"Number", from, to, by, !cond(
          !eq(to, Attn_NoBound) : "a whole number of at least " # from,
          !eq(by, 1) : "a whole number in " # from # ".." # to,
          true : "a multiple of " # by # " in " # from # ".." # to)> {
  let cppType = "int64_t";
}
/// Their step is 0.
class Attn_Powers<int to>
    : Attn_Values<"Power", 1, to, 0, "a power of two up to " # to> {
  let cppType = "int64_t";
}
def Attn_Flag : Attn_Values<"Flag", 0, 1, 1, "true or false"> {
  let cppType = "bool";
}
def Attn_Share : Attn_Values<"Share", 0, 1, 1, "a share as `1/8`">;

/// The words of an enum of the dialect.
class Attn_Words<string cppName, string text, list<string> enumWords>
    : Attn_Values<"Word", 0, !sub(!size(enumWords), 1), 1,
                  !interleave(!foreach(w, enumWords, "`" # w # "`"), " or ")> {
  let words = enumWords;
  let enumName = cppName;
  let cppType = "::attn::" # cppName;
  string summary = text;
}
/// A part of them, from a first to a last one.
class Attn_SomeWords<Attn_Words all, string first, string last>
    : Attn_Values<"Word",
                  !foldl(0, !range(!size(all.words)), acc, i, !if(!eq(all.words[i], first), i, acc)),
                  !foldl(0, !range(!size(all.words)), acc, i, !if(!eq(all.words[i], last), i, acc)), 1, ""> {
  let words = all.words;
  let enumName = all.enumName;
  let cppType = all.cppType;
  let described = !interleave(!foreach(i, !range(least, !add(most, 1)), "`" # all.words[i] # "`"), " or ");
}

def Attn_WorkWords : Attn_Words<"WorkKind", "how work items reach CTAs", [
  "grid",      // one item a CTA
  "static",    // persistent: item += grid size
  "dynamic"]>; // persistent: a global counter
def Attn_OrderWords : Attn_Words<"WorkOrder", "order of the work items", [
  "linear",          // row block fastest, then head, then batch
  "longest_first", // the longest row block first, heads and batches of a section fastest
  "shortest_last"]>; // head by head, each from its longest row block on; the heads of the last section as with longest_first
def Attn_RowMaxWords : Attn_Words<"RowMax", "where the reference of a row's exponentials comes from", [
  "running", "first_block",
  "integer"]>; // running, from the scores' bits as integers, at least 0
def Attn_SkipWords : Attn_Words<"Skip", "which blocks a sub-tile leaves to the others", [
  "none",
  "right",   // blocks right of the last key of each of its rows
  "both"]>;  // those, and blocks left of the first key of each of its rows
def Attn_LaunchWords : Attn_Words<"Launch", "when a kernel's CTAs may start", [
  "alone",       // when the previous launch has ended
  "dependent"]>; // earlier; the CTAs themselves wait for its end
def Attn_PeelWords : Attn_Words<"Peel", "which copies of the steady body exist", [
  "none",
  "first",            // one copy, which always masks
  "first_masked",     // one copy for each range
  "first_branch",     // one copy, which masks under a branch
  "shifted_branch"]>; // the same, and no prologue in loops without shifts
def Attn_StoreHintWords : Attn_Words<"StoreHint", "the eviction hint for O in the L2 cache", ["none", "evict_first"]>;
def Attn_SpaceWords : Attn_Words<"Space", "where a place of a schedule lies", ["reg", "smem", "tmem"]>;
def Attn_RingsWords : Attn_Words<"Rings", "the rings that K and V are loaded into", ["apart", "one"]>;
def Attn_StageOWords : Attn_Words<"StageO", "where O waits to be stored", ["own", "over_q", "over_v"]>;
def Attn_StorerWords : Attn_Words<"Storer", "which role stores O", ["consumers", "warp"]>;
def Attn_OverlapWords : Attn_Words<"Overlap", "which product is issued first", ["qk_first", "pv_first", "none"]>;
def Attn_KeptPWords : Attn_Words<"KeptP", "the type in which P is kept for dX", ["f32", "f16"]>;
def Attn_ShareRowsWords : Attn_Words<"ShareRows", "what the rows of shares of dQ are", ["queries", "columns"]>;
def Attn_FirstShareWords : Attn_Words<"FirstShare", "what becomes of the first share of dQ", ["added", "stored"]>;
def Attn_RescaleWords : Attn_Words<"Rescale", "when O is rescaled", ["after_pv", "before_pv"]>;

//===----------------------------------------------------------------------===//
// Knobs
//===----------------------------------------------------------------------===//

/// The first pass that shapes the kernel by a knob, and the last stage of
/// attn-compile before that pass, at which the knob can still be edited. The
/// pass calls recordConsumed (ConsumedKnobs.h), unless it removes the kernel.
class Attn_Consumer<string passName, string stageName> {
  string pass = passName;
  string stage = stageName;
}
def Attn_ByTile : Attn_Consumer<"attn-tile", "attn">;
def Attn_ByFuseOnlineSoftmax : Attn_Consumer<"attn-fuse-online-softmax", "attn">;
def Attn_BySchedule : Attn_Consumer<"attn-schedule", "tile">;
def Attn_ByWarpSpecialize : Attn_Consumer<"attn-warp-specialize", "schedule">;
def Attn_ByPipeline : Attn_Consumer<"attn-pipeline", "schedule">;
def Attn_ByDistribute : Attn_Consumer<"attn-distribute", "ws">;
def Attn_ByLowerToNVVM : Attn_Consumer<"attn-lower-to-nvvm", "ws">;

/// A condition: another knob has a value, or has another one (`differs`).
class Attn_Where<string knobName, string knobValue, bit differs = 0> {
  string knob = knobName;
  string text = knobName # !if(differs, "!=", "=") # knobValue;
  string otherwise = "`" # knobName # "` is " # !if(differs, "", "not ") # "`" # knobValue # "`";
}

/// Tests with a value of a knob: their files, which are in test/Schedules unless
/// a folder is given, and texts in them. The text of a field or statement is
/// added to these. At least one of the tests runs the simulator.
class Attn_Shown<string shownValue, list<string> files, list<string> shownTexts = []> {
  string value = shownValue;
  list<string> tests = files;
  list<string> texts = shownTexts;
}

/// A knob, which is a property of roles, places and bodies by default.
class Attn_Knob<int value, string knobName, Attn_Values domain, string usualValue, string text> {
  bits<32> number = value; // unique; spaces are enumerated in this order
  string name = knobName;
  string symbol = Attn_Camel<name>.text;
  Attn_Values values = domain;
  string usual = usualValue; // the default of points
  string meaning = text;
  list<Attn_Shown> shown = [];
  // The knob has an effect only if all of these hold. Otherwise it is `neutral`.
  list<Attn_Where> only = [];
  string neutral = usual;

  // The spelling and the position in the names of points, which have it unless it
  // is as usual. Knobs at position 0 are in the common head of all names.
  string short = name;
  bits<32> shortAt = !add(100, value);

  // Fields and statements: their position in the text.
  string home = "Structure";
  int at = !add(100, value);
  // The values that the text may have, if schedules are generated with fewer.
  Attn_Values allowed = values;
  // The value if the text does not have it; "" if it is required. With
  // `alwaysSaid` the table has it nevertheless.
  string absent = usual;
  bit alwaysSaid = 0;
  string divides = ""; // another field, a multiple of the next power of two
  Attn_Consumer consumedBy = Attn_ByWarpSpecialize;
  string detail = meaning; // for the page of the attribute
  // Whether it follows from the problem, or has only one lowering. If so, it is
  // not a parameter of a search.
  bit follows = 0;

  // Columns of the C++ table.
  string kindCode = "KnobKind::" # values.kind;
  string homeCode = "KnobHome::" # home;
  bits<32> place = at;
  bits<32> least = values.least;
  bits<32> most = values.most;
  bits<32> step = values.step;
  string described = values.described;
  bits<32> leastAllowed = allowed.least;
  bits<32> mostAllowed = allowed.most;
  bits<32> stepAllowed = allowed.step;
  string describedAllowed = allowed.described;
  string words = !interleave(values.words, " ");
  string conditions = !interleave(!foreach(w, only, w.text), " ");
  string consumer = consumedBy.pass;
  string editableAt = consumedBy.stage;
}
/// A field of #attn.config.
class Attn_Field<int value, string knobName, Attn_Values domain, string usualValue, string text>
    : Attn_Knob<value, knobName, domain, usualValue, text> {
  let home = "Config";
  let consumedBy = Attn_ByTile;
}
/// A statement of #attn.schedule: `knob NAME VALUE`.
class Attn_Statement<int value, string knobName, Attn_Values domain, string usualValue, string text>
    : Attn_Knob<value, knobName, domain, usualValue, text> {
  let home = "Statement";
  let consumedBy = Attn_ByLowerToNVVM;
}

def Attn_Consumers
    : Attn_Knob<0, "consumers", Attn_Numbers<1, 7>, "2", "warpgroups that compute, each on 64 rows of Q"> {
  let shortAt = 0;
  let shown = [Attn_Shown<"1", ["one_consumer"], ["role wg warps 4"]>, Attn_Shown<"2", ["no_ping_pong", "cluster_d256"], ["role wg[2] warps 4"]>,
               Attn_Shown<"3", ["three_consumers"], ["role wg[3] warps 4", "tile_m = 192"]>,
               Attn_Shown<"4", ["dynamic_d64_four_consumers", "test/Tools/sim-skip.test"], ["role wg[4] warps 4"]>];
}
def Attn_TileN : Attn_Field<1, "tile_n", Attn_Numbers<16, 256, 16>, "128", "keys of a block"> {
  let at = 1;
  let allowed = Attn_Numbers<1>;
  let absent = "";
  let detail = "rows of K and of V in one step of a CTA";
  let shortAt = 0;
  let shown = [Attn_Shown<"96", ["ring_depth_3"]>, Attn_Shown<"80", ["dynamic_d128_192x80", "cluster_d256_n80"]>];
}
def Attn_LoadRegisters
    : Attn_Knob<2, "load_registers", Attn_Numbers<24, 256, 8>, "24",
                "the fewest registers per thread of the loader; the consumers share the rest"> {
  let short = "load";
  let shortAt = 1000;
  let shown = [Attn_Shown<"56", ["store_warp"], ["role load warps 1 regs 56"]>];
}
def Attn_Loaders
    : Attn_Knob<3, "loaders", Attn_Numbers<1, 2>, "1", "warps that load: one for all, or another for V"> {
  let shown = [Attn_Shown<"2", ["two_loaders"], ["role load_v warps 1"]>];
}
def Attn_KDepth : Attn_Knob<4, "k_depth", Attn_Numbers<1, 16>, "2", "blocks of K in flight"> {
  let shortAt = 0;
  let shown = [Attn_Shown<"3", ["ring_depth_3"], ["chan k = k in smem depth 3"]>];
}
def Attn_VDepth : Attn_Knob<5, "v_depth", Attn_Numbers<0, 16>, "0", "blocks of V in flight, 0: as many as of K"> {
  let shortAt = 0;
  let shown = [Attn_Shown<"3", ["ring_depth_3"], ["chan v = v in smem depth 3"]>];
}
def Attn_RingsKnob
    : Attn_Knob<6, "rings", Attn_RingsWords, "apart",
                "whether K and V have rings of their own, or share one with as many blocks as both would have"> {
  let only = [Attn_Where<"stage_o", "over_v", 1>, Attn_Where<"skip", "right", 1>, Attn_Where<"skip", "both", 1>];
  let short = "ring";
  let shortAt = 102;
  let shown = [Attn_Shown<"one", ["union_ring"], ["chan kv = k | v in smem depth 4"]>,
               Attn_Shown<"one", ["union_ring_odd"], ["chan kv = k | v in smem depth 3"]>];
}
def Attn_QDepth : Attn_Knob<7, "q_depth", Attn_Numbers<1, 4>, "1", "tiles of Q in flight"> {
  let shortAt = 0;
  let shown = [Attn_Shown<"2", ["dynamic_d128", "test/Tools/sim-dynamic.test"], ["chan q = q in smem depth 2"]>];
}
def Attn_StageOKnob
    : Attn_Knob<8, "stage_o", Attn_StageOWords, "own",
                "where O waits to be stored: in memory of its own, or in that of Q or V"> {
  let short = "o";
  let shown = [Attn_Shown<"own", ["three_consumers"], ["hold oe = oe in smem depth 1"]>,
               Attn_Shown<"over_q", ["store_warp"], ["hold oe = oe in smem over q"]>,
               Attn_Shown<"over_v", ["o_over_v", "o_over_v_one_consumer", "o_over_v_static"], ["hold oe = oe in smem over v"]>];
}
def Attn_StorerKnob
    : Attn_Knob<9, "storer", Attn_StorerWords, "consumers",
                "which role stores O and waits until its memory may be overwritten: the consumers, or a warp of its own"> {
  let shown = [Attn_Shown<"consumers", ["three_consumers"], ["await(st_o) + 1 cvt_o st_o"]>,
               Attn_Shown<"warp", ["store_warp"], ["role store warps 1", "after { wait(o_ready) st_o[0] st_o[1]",
                                                   "edge o_free credits 1 scope cluster"]>];
}
def Attn_StageP
    : Attn_Knob<10, "stage_p", Attn_SomeWords<Attn_SpaceWords, "reg", "smem">, "reg",
                "where PV finds P: in registers or in shared memory"> {
  let short = "p";
  let shown = [Attn_Shown<"reg", ["three_consumers"], ["hold p = p in reg depth 1"]>,
               Attn_Shown<"smem", ["p_in_smem"], ["hold p = p in smem depth 1"]>];
}
def Attn_Cluster : Attn_Field<11, "cluster", Attn_Numbers<1, 2>, "1", "CTAs that load each block of K and V once"> {
  let at = 9;
  let detail = "the CTAs of a cluster. They compute consecutive row blocks of one head, and each visits the blocks of keys that "
               "any of their rows needs";
  let shown = [Attn_Shown<"2", ["cluster_d128", "cluster_d192_dv128", "cluster_d256", "cluster_d256_n80", "cluster_d64",
                                "cluster_d64_small", "cluster_grid", "cluster_static"],
                          ["chan k = k in smem depth 2 scope cluster"]>];
}
def Attn_PackGqa
    : Attn_Field<12, "pack_gqa", Attn_Powers<64>, "1",
                 "query heads of one head of K and V that share a tile; launches must have this ratio of heads"> {
  let at = 12;
  let divides = "tile_m";
  let allowed = Attn_Numbers<1, 64>;
  let detail = "the number n of query heads, all of one head of K and V, that share the rows of a tile: row r is query r / m of head "
               "r mod m, where m is n rounded up to a power of two. It is for few queries. Launches must have n query heads for each head "
               "of K and V";
  let short = "pack";
  let shown = [Attn_Shown<"4", ["packed_gqa"]>];
}
def Attn_Work : Attn_Field<13, "work", Attn_WorkWords, "grid", "how items reach CTAs: one CTA for each item, a fixed stride, or a counter"> {
  let consumedBy = Attn_ByWarpSpecialize;
  let at = 2;
  let absent = "";
  let detail = "how work items reach CTAs";
  let shortAt = 0;
  let shown = [Attn_Shown<"grid", ["three_consumers"]>, Attn_Shown<"static", ["o_over_v_static"]>,
               Attn_Shown<"dynamic", ["dynamic_d128", "test/Tools/sim-dynamic.test"], ["before { next }"]>];
}
def Attn_WorkDepth : Attn_Knob<14, "work_depth", Attn_Numbers<1, 4>, "2", "items in flight, with work dynamic"> {
  let only = [Attn_Where<"work", "dynamic">];
  let short = "items";
  let shortAt = 999;
  let shown = [Attn_Shown<"2", ["dynamic_d128", "test/Tools/sim-dynamic.test"], ["chan work = w in smem depth 2"]>];
}
def Attn_LastWaveParts
    : Attn_Field<15, "last_wave_parts", Attn_Numbers<1, 64>, "1",
                 "the most parts into which an item of the last wave is cut along the side that it streams; with work dynamic, without clusters"> {
  let at = 13;
  let only = [Attn_Where<"work", "dynamic">, Attn_Where<"cluster", "1">];
  let detail = "the most parts of an item. If the last wave of items does not fill all SMs, its items are cut along the keys, or those that own keys along the queries, into "
               "parts where the launch then ends earlier; the last part of an item combines the results (1: never)";
  let short = "parts";
  let shown = [Attn_Shown<"4", ["last_wave", "test/Tools/sim-last-wave.test"], ["after { join fin"]>];
}
def Attn_Order : Attn_Field<16, "order", Attn_OrderWords, "linear", "the order of the items"> {
  let consumedBy = Attn_ByLowerToNVVM;
  let at = 3;
  let alwaysSaid = 1;
  let detail = "the order of the work items: row block by row block, head by head; the longest items first, which under a causal mask are the "
               "last row block of queries, or the first of keys; or head by head, with the shortest items of the last heads at the end";
  let shortAt = 0;
  let shown = [Attn_Shown<"linear", ["cluster_grid"]>, Attn_Shown<"longest_first", ["three_consumers"]>,
               Attn_Shown<"shortest_last", ["shortest_last", "test/Tools/sim-shortest-last.test"]>];
}
def Attn_SectionMib
    : Attn_Field<17, "section_mib", Attn_Numbers<0, 1024>, "0",
                 "MiB of K and V in a section of heads; 0: one section"> {
  let at = 4;
  let only = [Attn_Where<"order", "linear", 1>];
  let detail = "the most MiB of K and V in a section of heads. Sections are processed one after another, so that what one "
               "reads stays in the L2 cache; with shortest_last, of the heads that come last, while those before come one by one (0: all heads are one "
               "section, so that both orders are the same)";
  let shortAt = 0;
  let shown = [Attn_Shown<"16", ["dynamic_d128", "test/Tools/sim-dynamic.test"]>];
}
def Attn_LaunchKnob
    : Attn_Statement<18, "launch", Attn_LaunchWords, "alone",
                     "whether CTAs start when the launch before has ended, or while it ends"> {
  let at = 3;
  let detail = "with `dependent`, CTAs may start before the previous launch in the stream has ended, and wait for its end before they "
               "access global memory";
  let short = "";
  let shown = [Attn_Shown<"dependent", ["dependent_launch"]>];
}
def Attn_OverlapKnob
    : Attn_Knob<19, "overlap", Attn_OverlapWords, "qk_first",
                "which is issued first, QK of a block or PV of the one before; none: PV of a block comes before QK of the next"> {
  let shown = [Attn_Shown<"qk_first", ["three_consumers"], ["qk get(v) + 1 pv + 1"]>,
               Attn_Shown<"pv_first", ["pv_before_qk"], ["pv + 1 get(k) qk"]>,
               Attn_Shown<"none", ["no_overlap"], ["qk score mask stat exp sum cvt rescale pv"]>];
}
def Attn_RescaleKnob
    : Attn_Knob<20, "rescale", Attn_RescaleWords, "after_pv",
                "when O is rescaled: once PV of the block before has ended, or before the next is issued"> {
  let only = [Attn_Where<"overlap", "none", 1>];
  let shown = [Attn_Shown<"after_pv", ["three_consumers"], ["await(pv) + 1 cvt rescale"]>,
               Attn_Shown<"before_pv", ["rescale_before_pv"], ["rescale + 1 pv + 1"]>];
}
def Attn_RowMaxKnob
    : Attn_Field<21, "row_max", Attn_RowMaxWords, "first_block", "the reference of the exponentials of a row"> {
  let consumedBy = Attn_ByFuseOnlineSoftmax;
  let at = 6;
  let only = [Attn_Where<"work", "static", 1>];
  let neutral = "running";
  let absent = "running";
  let detail = "the reference of the exponentials of a row: its `running` maximum; the maximum of its `first_block` with keys, until "
               "the sum grows large; or its running maximum as an `integer`, which is at least 0. With the latter two, an item whose sum "
               "overflowed or is small is computed again with a running maximum";
  let shortAt = 0;
  let shown = [Attn_Shown<"running", ["three_consumers"]>, Attn_Shown<"integer", ["integer_max", "test/Tools/adversarial.py"]>,
               Attn_Shown<"first_block", ["dynamic_first_block", "test/Tools/sim-second-run.test", "test/Tools/adversarial.py"]>];
}
// 2^64 times any length stays far below the largest float.
def Attn_RescaleThreshold
    : Attn_Field<22, "rescale_threshold", Attn_Numbers<0, 64>, "8",
                 "log2 of how far the row maximum may grow before O is rescaled"> {
  let consumedBy = Attn_ByFuseOnlineSoftmax;
  let at = 5;
  let absent = "0";
  let alwaysSaid = 1;
  let detail = "O is rescaled only when the running maximum of a row has grown by more than this, in log2 units (0: always). "
               "Probabilities reach 2^threshold, which f32 and bf16 represent, and f16 up to a threshold of 15";
  let short = "threshold";
  let shown = [Attn_Shown<"8", ["three_consumers"]>];
}
def Attn_Exp2Soft
    : Attn_Statement<23, "exp2_soft", Attn_Share, "0/1", "share of the exponentials that polynomials compute"> {
  let consumedBy = Attn_ByDistribute;
  let at = 0;
  let alwaysSaid = 1;
  let short = "soft";
  let shown = [Attn_Shown<"1/8", ["exp2_soft_eighth"]>, Attn_Shown<"1/1", ["exp2_soft_all"]>];
}
def Attn_Exp2Degree : Attn_Field<24, "exp2_degree", Attn_Numbers<3, 5>, "3", "the degree of these polynomials"> {
  let consumedBy = Attn_ByDistribute;
  let at = 7;
  let only = [Attn_Where<"exp2_soft", "0/1", 1>];
  let detail = "degree of the polynomial for the share of exponentials that the schedule moves off the exponential unit";
  let short = "degree";
  let shown = [Attn_Shown<"5", ["exp2_soft_all"]>];
}
// `none` has no lowering, and `shifted_branch` is for schedules that are not generated.
def Attn_PeelKnob
    : Attn_Statement<25, "peel", Attn_SomeWords<Attn_PeelWords, "first", "first_branch">, "first_branch",
                     "what masks: all blocks, those of loops of their own, or a branch in each (in the first only where it seldom is "
                     "masked)"> {
  let consumedBy = Attn_ByPipeline;
  let at = 1;
  let allowed = Attn_PeelWords;
  let absent = "none";
  let alwaysSaid = 1;
  let shown = [Attn_Shown<"first", ["peel_first"]>, Attn_Shown<"first_masked", ["three_consumers"]>,
               Attn_Shown<"first_branch", ["first_branch"]>];
}
def Attn_SkipKnob
    : Attn_Statement<26, "skip", Attn_SkipWords, "none",
                     "which blocks a consumer leaves out: those right of the keys of its own rows, or on both sides of them"> {
  let consumedBy = Attn_ByWarpSpecialize;
  let at = 2;
  let only = [Attn_Where<"consumers", "1", 1>];
  let detail = "with `right`, a sub-tile skips the blocks at the right end that have no keys of its own rows; with `both`, also those at "
               "the left end";
  let shown = [Attn_Shown<"right", ["skip_right", "test/Tools/sim-skip.test"]>, Attn_Shown<"both", ["skip_both", "test/Tools/sim-skip.test"]>];
}
def Attn_Turn : Attn_Knob<27, "turn", Attn_Flag, "true", "whether consumers take turns on the tensor core"> {
  let only = [Attn_Where<"consumers", "1", 1>, Attn_Where<"overlap", "none", 1>];
  let neutral = "false";
  let shortAt = 0;
  let shown = [Attn_Shown<"true", ["three_consumers"], ["turn tc ring wg"]>,
               Attn_Shown<"false", ["no_ping_pong", "cluster_d256"], ["qk pv + 1 score"]>];
}
def Attn_StoreHintKnob
    : Attn_Statement<33, "store_hint", Attn_StoreHintWords, "none",
                     "whether the L2 cache evicts O like other data, or first"> {
  let shown = [Attn_Shown<"evict_first", ["store_hint"]>];
}

// Fields of a config that are no parameters.
def Attn_TileM : Attn_Field<28, "tile_m", Attn_Numbers<1>, "1", "rows of Q in one step of a CTA"> {
  let follows = 1;
  let at = 0;
  let absent = "";
}
def Attn_CtaGroup : Attn_Field<29, "cta_group", Attn_Numbers<1, 2>, "1", "CTAs that share one MMA"> {
  let consumedBy = Attn_BySchedule;
  let follows = 1;
  let at = 8;
}
class Attn_Columns<int value, int column, string knobName, string text>
    : Attn_Field<value, knobName, Attn_Numbers<0, 256, 16>, "0",
                 "columns of the tiles of " # text # "; those past the head dim are zero (0: as many as the head dim)"> {
  let follows = 1;
  let at = column;
}
def Attn_TileD : Attn_Columns<30, 10, "tile_d", "Q and K">;
def Attn_TileDv : Attn_Columns<31, 11, "tile_dv", "V and O">;
def Attn_Rung
    : Attn_Field<32, "rung", Attn_Numbers<0>, "0",
                 "the rung of this entry on the ladder of entries for its problem (0: the first)"> {
  let consumedBy = Attn_BySchedule;
  let follows = 1;
  let at = 14;
}
def Attn_KeptPKnob
    : Attn_Field<34, "kept_p", Attn_KeptPWords, "f32",
                 "how a kernel of gradients keeps P for dX: as it is computed, or rounded, in half the registers"> {
  let follows = 1;
  let at = 15;
}
def Attn_ShareRowsKnob
    : Attn_Field<35, "share_rows", Attn_ShareRowsWords, "queries",
                 "what the rows of the product of a share of dQ are: queries, or columns of dQ, a transposed share"> {
  let follows = 1;
  let at = 16;
}
def Attn_FirstShareKnob
    : Attn_Field<36, "first_share", Attn_FirstShareWords, "added",
                 "what becomes of the first share of a block of queries: it is added to zeros, or, if shares are added in one order and without functions and dropout, it is stored"> {
  let follows = 1;
  let at = 17;
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

// Sorted by position.
defvar Attn_Places = !range(300);
defvar Attn_Fields = !foldl([]<Attn_Knob>, Attn_Places, all, i, !listconcat(all,
    !filter(k, !instances<Attn_Knob>(), !and(!eq(k.home, "Config"), !eq(k.at, i)))));
defvar Attn_Statements = !foldl([]<Attn_Knob>, Attn_Places, all, i, !listconcat(all,
    !filter(k, !instances<Attn_Knob>(), !and(!eq(k.home, "Statement"), !eq(k.at, i)))));

// Lines for the pages of the attributes.
//
// A condition on another field is a constraint of the attribute.
class Attn_FieldLine<Attn_Knob k> {
  list<Attn_Where> needs = !filter(w, k.only, !not(!empty(!filter(f, Attn_Fields, !eq(f.name, w.knob)))));
  string text = "    - `" # k.name # "`: " # k.detail # ". It is " # k.allowed.described #
      !if(!empty(k.divides), "", " that, rounded up to a power of two, divides `" # k.divides # "`") #
      !if(!empty(needs), "", "; `" # k.neutral # "` where " # !interleave(!foreach(w, needs, w.otherwise), " or ")) #
      !if(!empty(k.absent), "", "; `" # k.absent # "` where it is not given") # ".\n";
}
defvar Attn_FieldLines = !interleave(!foreach(k, Attn_Fields, Attn_FieldLine<k>.text), "");
defvar Attn_StatementRules = !interleave(!foreach(k, Attn_Statements,
    "            | `knob` `" # k.name # "` " # !cond(
        !eq(k.values.kind, "Share") : "n `of` n",
        !eq(k.values.kind, "Flag") : "(`false` | `true`)",
        !eq(k.values.kind, "Word") : "(" # !interleave(!foreach(w, k.values.words, "`" # w # "`"), " | ") # ")",
        true : "n") # "\n"), "");
defvar Attn_StatementLines = !interleave(!foreach(k, Attn_Statements,
    "    - `" # k.name # "`: " # k.detail # "; `" # k.absent # "` where it is not given.\n"), "");

// In the order of their numbers (dialect/lib/Knobs.cpp).
def KnobTable : GenericTable {
  let FilterClass = "Attn_Knob";
  let CppTypeName = "KnobInfo";
  let Fields = ["number", "name", "kindCode", "least", "most", "step", "described", "words", "usual", "meaning", "conditions",
                "neutral", "short", "shortAt", "homeCode", "place", "leastAllowed", "mostAllowed", "stepAllowed", "describedAllowed",
                "absent", "alwaysSaid", "divides", "follows", "consumer", "editableAt"];
  string TypeOf_kindCode = "code";
  string TypeOf_homeCode = "code";
  let PrimaryKey = ["number"];
  let PrimaryKeyName = "lookUpKnob";
}

#endif // ATTN_DIALECT_KNOBS_TD
