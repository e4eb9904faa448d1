// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V29: a schedule for each mechanism that a machine may lack, and for each
// way to use it.
#include "attn/passes/schedule/DataTables.h"
#include "small_kernel.h"
#include <gtest/gtest.h>

using namespace attn;
using namespace attn::test;

namespace {

/// A schedule that uses a mechanism, and the text of the refusal.
struct Case {
  Mechanism word;
  Edits edits;
  std::string got;
};

void PrintTo(const Case &tested, std::ostream *stream) {
  *stream << stringifyMechanism(tested.word).str();
}

/// The kernel with one place added.
Edits withPlace(const std::string &place) {
  return {{"  turn tc ring wg", "  " + place + "\n  turn tc ring wg"}};
}

/// Work items of a counter that travel through `place`.
Edits throughChannel(const std::string &place) {
  return {{"work = grid", "work = dynamic"},
          {"  remat(next)\n", ""},
          {"  chan q = q", "  chan work = w" + place + "\n  chan q = q"},
          {"body load {", "body load {\n    before { next }"}};
}

Edits joined(Edits edits, const Edits &more) {
  edits.insert(edits.end(), more.begin(), more.end());
  return edits;
}

const std::string uneven =
    "dense<\"0x" + std::string(1022, '0') + "3F\"> : tensor<128xf32>";

const std::pair<std::string, std::string> maskedFin{
    "@fin () : () -> tensor<128xf32> {",
    "@fin masked (%init) : (tensor<128xf32>) -> tensor<128xf32> {\n"
    "    ^bb0(%b: tensor<128xf32>):"};

const std::pair<std::string, std::string> finReadsQ{
    "@fin () : () -> tensor<128xf32> {",
    "@fin (%qt) : (tensor<128x64xbf16>) -> tensor<128xf32> {\n"
    "    ^bb0(%b: tensor<128x64xbf16>):"},
    qkReadsK{"@qk (%qt, %kt)", "@qk (%kt, %kt)"};

const std::vector<Case> cases = {
    {Mechanism::Parts,
     {{"cvt_o st_o", "cvt_o st_o[0] : 1"}},
     "'st_o' in parts"},
    {Mechanism::Parts,
     {{"chan k = k in smem depth 2",
       "chan k = k in smem depth 2 parts (1 of 2, 1 of 2)"}},
     "place 'k' in parts"},
    {Mechanism::OverCross, withPlace("hold s2 = s2 in reg over s[cross]"),
     "place 's2' over another sub-tile"},
    {Mechanism::ChannelOutsideSmem,
     {{"chan q = q in smem", "chan q = q in reg"}},
     "channel 'q' in 'reg'"},
    {Mechanism::SeveralValues,
     {{"  chan q = q in smem depth 1\n", ""},
      {"chan k = k in", "chan k = k + q in"}},
     "place 'k' of several values a cycle"},
    {Mechanism::FilledByThreads,
     {{"mask sum }", "mask sum put(k) }"}},
     "'put(k)'"},
    {Mechanism::FilledByThreads,
     {{"  chan q = q", "  chan on = on in smem depth 1\n  chan q = q"},
      {"  role wg", "  role other[2] warps 4 regs 112\n  role wg"},
      {"await(st_o) + 1 norm cvt_o st_o st_lse", "norm st_lse"},
      {"  body wg {",
       "  body other {\n    after { await(st_o) + 1 cvt_o st_o }\n  }\n"
       "  body wg {"}},
     "channel 'on' of 'on', which no load makes"},
    {Mechanism::SeveralHomes, withPlace("hold oe2 = oe in smem depth 1"),
     "'oe' in 'oe' and in 'oe2'"},
    {Mechanism::DeepHold,
     {{"oe in smem depth 1", "oe in smem depth 2"}},
     "hold 'oe' in 'smem' of several values or depths"},
    {Mechanism::DeepHold,
     {{"hold oe = oe in smem", "hold oe = oe | on in smem"}},
     "hold 'oe' in 'smem' of several values or depths"},
    {Mechanism::HeldByThreads, withPlace("hold m = m in smem depth 1"),
     "hold 'm' in 'smem' of 'm', which is read other than by a store"},
    {Mechanism::HeldByThreads, withPlace("hold m = s2 in smem depth 1"),
     "hold 'm' in 'smem' of 's2', which is read other than by a store"},
    {Mechanism::CopiedHold,
     {{"chan k = k in smem depth 2", "hold k = k in smem depth 1"}},
     "hold 'k' in 'smem' of 'k', which is loaded"},
    {Mechanism::BareWork, throughChannel(" in smem depth 2 free_implied"),
     "channel 'work' of work items without barriers"},
    {Mechanism::BareWork, throughChannel(" in smem depth 2 full_implied"),
     "channel 'work' of work items without barriers"},
    {Mechanism::BareWork, throughChannel(" in smem depth 2 over k"),
     "channel 'work' of work items without barriers"},
    {Mechanism::BareWork,
     joined(throughChannel(" | q in smem depth 2"),
            {{"  chan q = q in smem depth 1\n", ""}}),
     "channel 'work' of work items without barriers"},
    {Mechanism::SplitEdge,
     {{"  turn tc ring wg", "  edge e split\n  turn tc ring wg"},
      {"{ ld_k once", "{ ld_k sig(e[0]) sig(e[1]) once"},
      {"give(tc) mask", "give(tc) wait(e) mask"}},
     "split edge 'e'"},
    {Mechanism::JoinedEdge,
     {{"  turn tc ring wg", "  edge e joins k : 0\n  turn tc ring wg"},
      {"{ ld_k once", "{ ld_k sig(e) once"}},
     "joined edge 'e'"},
    {Mechanism::UnprimedTurn,
     {{"ring wg", "ring wg unprimed"}},
     "unprimed turn 'tc'"},
    {Mechanism::ReplicaBody,
     {{"  body wg {", "  body wg[0] {\n    before { fin }\n"
                      "    kv { take(tc) qk give(tc) mask sum }\n"
                      "    after { await(st_o) norm cvt_o st_o st_lse }\n  }\n"
                      "  body wg[1] {"}},
     "a body for one replica of role 'wg'"},
    {Mechanism::ListedSubtile,
     {{"st_o st_lse", "st_o[0] st_lse"}},
     "'st_o' of one sub-tile"},
    {Mechanism::NonemptyGuard,
     {{"after { await", "after { nonempty : await"}},
     "guard 'nonempty' of 'await(st_o)'"},
    {Mechanism::NonemptyGuard,
     {{"mask sum }", "mask sum last_nonempty : st_lse }"},
      {"st_o st_lse", "st_o"}},
     "guard 'last_nonempty' of 'st_lse'"},
    {Mechanism::GuardedValue,
     {{"mask sum }", "mask sum once : get(k) }"}},
     "a guard of 'get(k)', which makes a value"},
    {Mechanism::UnshiftedLast,
     {{"{ ld_k once", "{ ld_k last"}},
     "guard 'last' in a loop without shifts"},
    {Mechanism::OuterProduct,
     {{"after { await(st_o)", "after { await(qk) await(st_o)"}},
     "'await(qk)' outside the loop"},
    {Mechanism::OuterShift,
     {{"norm cvt_o", "norm cvt_o + 1"}},
     "a shift of 'cvt_o' outside the loop"},
    {Mechanism::LongShift, {{"sum }", "sum + 2 }"}}, "a shift of 2 of 'sum'"},
    {Mechanism::NoPeel,
     {{"peel first_masked", "peel none"}},
     "knob 'peel none'"},
    {Mechanism::TransposedA,
     {{"%x = tile.mma %a, %b transpose_b : tensor<128x64xbf16>,",
       "%t = builtin.unrealized_conversion_cast %a : tensor<128x64xbf16> to "
       "tensor<64x128xbf16>\n"
       "        %x = tile.mma %t, %b transpose_a transpose_b : "
       "tensor<64x128xbf16>,"}},
     "the transposed operand A of 'qk'"},
    {Mechanism::SomeReaders,
     {{"k in smem depth 2", "k in smem depth 2 for(qk)"}},
     "place 'k' 'for' some steps"},
    {Mechanism::OddChannel,
     {{"%q: tensor<?x?x?x64xbf16>", "%q: tensor<?x?x?x64xf32>"},
      {"@ld_q (%w) : (!tile.work) -> tensor<128x64xbf16>",
       "@ld_q (%w) : (!tile.work) -> tensor<128x64xf32>"},
      {"#map : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>\n"
       "      tile.yield %x : tensor<128x64xbf16>",
       "#map : tensor<?x?x?x64xf32> -> tensor<128x64xf32>\n"
       "      tile.yield %x : tensor<128x64xf32>"},
      {"@fin () : () -> tensor<128xf32> {",
       "@fin (%qt) : (tensor<128x64xf32>) -> tensor<128xf32> {\n"
       "    ^bb0(%b: tensor<128x64xf32>):"},
      qkReadsK},
     "channel 'q' of 'q', which is no tile of 16-bit elements"},
    {Mechanism::ReadByThreads,
     {finReadsQ},
     "channel 'q' of 'q', which is read other than by MMAs"},
    {Mechanism::OddCut,
     {{"whole(q)", "whole(q, inv)"}},
     "'inv' whole, which is computed"},
    {Mechanism::OddCut,
     {{"split M 2 whole(q)", "split M 2 whole(q) also(on : DV)"}},
     "sub-tiles of 'on', which are not of its rows"},
    {Mechanism::OddCut,
     {{"split M 2 whole(q)", "split M 2"},
      {"once : ld_q", "once : ld_q[0] once : ld_q[1]"}},
     "sub-tiles of 'q', which is loaded"},
    {Mechanism::OddCut,
     {{"split M 2 whole(q)", "split N 2 whole(k)"}},
     "sub-tiles along axis 'N'"},
    {Mechanism::OddCut,
     {{"%x = arith.constant dense<1.0> : tensor<128xf32>",
       "%half = arith.constant dense<1.0> : tensor<64xf32>\n"
       "      %x = arith.constant dense<1.0> : tensor<128xf32>"}},
     "'fin', which computes on other than a sub-tile's rows"},
    // Operand A in registers is odd in no forward kernel: tile_n is a multiple
    // of 16.
    {Mechanism::OddTile,
     {{"split M 2", "split M 4"}, {"role wg[2]", "role wg[4]"}},
     "the tile of 32 elements 'inv'"},
    {Mechanism::OddTile,
     {{"dense<1.0> : tensor<128xf32>", uneven}},
     "a constant of different elements in 'fin'"},
    {Mechanism::OddTile,
     {{"dense<0.0> : tensor<128xf32>", uneven}},
     "a constant of different elements outside steps"},
    {Mechanism::OddHold, withPlace("hold x = inv in smem depth 1"),
     "hold 'x' in 'smem' of 'inv', which is no tile of 16-bit elements"},
    {Mechanism::OddMasked,
     {{"%l1 = tile.step @sum (%s2, %m)",
       "%s1 = tile.step @score masked (%s2) : (tensor<128x128xf32>) -> "
       "tensor<128x128xf32> {\n"
       "      ^bb0(%a: tensor<128x128xf32>):\n"
       "        tile.yield %a : tensor<128x128xf32>\n      }\n"
       "      %l1 = tile.step @sum (%s1, %m)"},
      {"mask sum }", "mask score + 1 sum + 1 }"}},
     "a shift of the masked step 'score' other than another's"},
    {Mechanism::OddMasked,
     {maskedFin},
     "the masked step 'fin' outside the loop"},
    {Mechanism::OddMasked,
     {{"    %init =",
       "    %z = arith.constant dense<0.0> : tensor<128x128xf32>\n"
       "    %init ="},
      {"@qk (%qt, %kt) : (",
       "@qk masked (%z, %qt, %kt) : (tensor<128x128xf32>, "},
      {"^bb0(%a: tensor<128x64xbf16>, %b: tensor<128x64xbf16>)",
       "^bb0(%c: tensor<128x128xf32>, %a: tensor<128x64xbf16>, "
       "%b: tensor<128x64xbf16>)"}},
     "a channel that the masked step 'qk' reads"},
    {Mechanism::OddMasked,
     {{"%s2 = tile.step @mask masked (%s) : (tensor<128x128xf32>) -> "
       "tensor<128x128xf32> {\n      ^bb0(%a: tensor<128x128xf32>):\n"
       "        tile.yield %a : tensor<128x128xf32>\n      }",
       "%s1 = tile.step @score (%s) : (tensor<128x128xf32>) -> "
       "tensor<128x128xbf16> {\n      ^bb0(%a: tensor<128x128xf32>):\n"
       "        %x = arith.truncf %a : tensor<128x128xf32> to "
       "tensor<128x128xbf16>\n"
       "        tile.yield %x : tensor<128x128xbf16>\n      }\n"
       "      %s2 = tile.step @mask masked (%s1) : (tensor<128x128xbf16>) -> "
       "tensor<128x128xbf16> {\n      ^bb0(%a: tensor<128x128xbf16>):\n"
       "        tile.yield %a : tensor<128x128xbf16>\n      }"},
      {"@sum (%s2, %m) : (tensor<128x128xf32>, ", "@sum (%m) : ("},
      {"^bb0(%a: tensor<128x128xf32>, %b: tensor<128xf32>)",
       "^bb0(%b: tensor<128xf32>)"},
      {"mask sum }", "score mask sum }"},
      {"hold oe =", "hold s2 = s2 in smem depth 1\n  hold oe ="}},
     "the masked step 'mask' with its result in 'smem'"},
    {Mechanism::OddRole,
     {{"role load warps 1", "role load warps 4"}},
     "role 'load' of 1 x 4 warps, which one thread runs"},
    {Mechanism::OddRole,
     {{"role wg[2] warps 4", "role wg[2] warps 8"}},
     "role 'wg' of 2 x 8 warps, which works on whole tiles"},
    {Mechanism::OddRole,
     {{"  turn tc ring wg", "  sync all ring load\n  turn tc ring wg"},
      {"{ ld_k once", "{ sync(all) ld_k once"}},
     "role 'load' of 1 x 1 warps, which one thread runs"},
    {Mechanism::CarriedElsewhere,
     {{"tile.yield %l1 :", "tile.yield %m :"}},
     "'m', which no step of the loop leaves in registers"},
    {Mechanism::CarriedElsewhere, withPlace("hold l = l1 in smem depth 1"),
     "'m', which no step of the loop leaves in registers"},
    {Mechanism::GuardedFinal,
     {{"mask sum }", "mask sum + 1 last : st_lse }"}, {"st_o st_lse", "st_o"}},
     "a guard of 'st_lse', which reads what the loop ends with"},
    {Mechanism::MixedStep,
     {{"%i) #map : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>\n"
       "        tile.yield %x",
       "%i) #map : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>\n"
       "        %y = arith.addf %x, %x : tensor<128x64xbf16>\n"
       "        tile.yield %y"}},
     "more than one op's work in 'ld_k'"},
    {Mechanism::MixedStep,
     {{"%x : tensor<128x128xf32>\n      }\n      %s2",
       "%y : tensor<128x128xf32>\n      }\n      %s2"},
      {"        tile.yield %y",
       "        %y = arith.addf %x, %x : tensor<128x128xf32>\n"
       "        tile.yield %y"}},
     "more than one op's work in 'qk'"},
    {Mechanism::MixedStep,
     {{"%x = tile.mma %a, %b", "%c = arith.addf %b, %b : tensor<128x64xbf16>\n"
                               "        %x = tile.mma %a, %c"}},
     "more than one op's work in 'qk'"},
    {Mechanism::MixedStep,
     {{"to tensor<128x64xbf16>",
       "to tensor<128x64xbf16>\n      tile.store %x, %o at(%n, %n, %n) #map : "
       "tensor<128x64xbf16>, tensor<?x?x?x64xbf16>"}},
     "more than one op's work in 'cvt_o'"},
    {Mechanism::UnplacedLoad,
     {{"  chan q = q in smem depth 1\n", ""}, qkReadsK},
     "no place for what 'ld_q' loads"},
    {Mechanism::StoredElsewhere,
     {{"oe in smem", "oe in reg"}},
     "other than a hold in 'smem' for what 'st_o' stores"},
    {Mechanism::FilledByMany,
     {{"  chan q = q in smem depth 1\n", ""},
      {"chan k = k in", "chan k = k | q in"},
      {"  role wg", "  role other warps 1 regs 24\n  role wg"},
      {"{ ld_k once : ld_q }", "{ ld_k }"},
      {"  body wg {", "  body other {\n    kv { once : ld_q }\n  }\n"
                      "  body wg {"}},
     "channel 'k', which more than one thread fills"},
    {Mechanism::FilledByMany,
     {{"{ ld_k once : ld_q }",
       "{ ld_k once : ld_q } after { st_o[0] st_o[1] }"},
      {"await(st_o) + 1 norm cvt_o st_o st_lse", "st_lse"}},
     "channel 'q', which more than one thread fills"},
    {Mechanism::ManyCredits,
     {{"  turn tc ring wg", "  edge e credits 2\n  turn tc ring wg"},
      {"{ ld_k once", "{ ld_k sig(e) once"},
      {"give(tc) mask", "give(tc) wait(e) mask"}},
     "more than one credit of edge 'e'"},
    {Mechanism::RejectedStatic,
     {{"work = grid", "work = static"},
      {"      tile.store_row", "      %c = arith.constant true\n"
                               "      tile.reject %b if %c\n"
                               "      tile.store_row"}},
     "work 'static' of items that may be rejected"},
    {Mechanism::CrossedSum,
     {{"tile.yield %b : tensor<128xf32>",
       "%x = tile.reduce add %a dim 0 : tensor<128x128xf32> -> "
       "tensor<128xf32>\n        tile.yield %x : tensor<128xf32>"}},
     "a sum along the rows in 'sum'"},
    {Mechanism::CrossedSum,
     {{"tile.yield %b : tensor<128xf32>",
       "%y = tile.reduce add %a dim 0 partial : tensor<128x128xf32> -> "
       "tensor<128xf32>\n        %x = tile.complete %y : "
       "tensor<128xf32> -> tensor<128xf32>\n        tile.yield %x : "
       "tensor<128xf32>"}},
     "a sum along the rows in 'sum'"},
    {Mechanism::Anything,
     {{"machine \"sm_90a\"", "machine \"sm_100a\""},
      {"hold s = s in reg", "hold s = s in tmem"}},
     "a schedule"},
};

class Word : public testing::TestWithParam<Case> {};

TEST_P(Word, IsRefused) {
  const Case &tested = GetParam();
  std::string error = refusal(tested.edits);
  std::string end = " ('" + stringifyMechanism(tested.word).str() + "')";
  EXPECT_NE(error.find("V29: "), std::string::npos) << error;
  EXPECT_NE(error.find(", got " + tested.got), std::string::npos) << error;
  EXPECT_NE(error.find(end), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(Lowerable, Word, testing::ValuesIn(cases));

TEST(Lowerable, NothingElseIsRefused) { EXPECT_EQ(refusal({}), ""); }

TEST(Lowerable, EveryWordOfAMachineHasACase) {
  mlir::MLIRContext context;
  context.loadDialect<AttnDialect>();
  for (const char *name : {"sm_90a", "sm_100a"}) {
    auto machine = lookupMachine(&context, name, [&] {
      return mlir::emitError(mlir::UnknownLoc::get(&context));
    });
    ASSERT_TRUE(succeeded(machine));
    for (Mechanism word : machine->getLacks()) {
      EXPECT_TRUE(llvm::any_of(cases, [&](const Case &tested) {
        return tested.word == word;
      })) << stringifyMechanism(word).str();
    }
  }
}

} // namespace
