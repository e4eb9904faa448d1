// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of regions: the meaning of their ops, and invalid programs.

#include "reference.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace attn;
using namespace attn::run;
using runtime::RegionProgram;

namespace {

/// Captures f32 `cap`, f32 `slopes` and i32 `ids`, of ranks 0, 1 and 2.
runtime::LaunchPlan makePlan() {
  runtime::LaunchPlan plan;
  plan.args.resize(3);
  plan.args[0].name = "cap";
  plan.args[0].kind = runtime::ArgKind::F32;
  plan.args[1].name = "slopes";
  plan.args[1].dims.resize(1);
  plan.args[2].name = "ids";
  plan.args[2].dtype = runtime::DataType::I32;
  plan.args[2].dims.resize(2);
  return plan;
}

Captures makeCaptures() {
  Captures captures(3);
  captures[0].floats = {1.5};
  captures[1].shape = {2};
  captures[1].floats = {0.5, 0.25};
  captures[2].shape = {2, 5};
  captures[2].integers = {0, 0, 1, 1, 2, 3, 3, 3, 3, 3};
  return captures;
}

Region makeRegion(const RegionProgram &program, bool isScore = true) {
  Region region;
  std::string err;
  EXPECT_TRUE(Region::read(makePlan(), program, isScore, region, err)) << err;
  return region;
}

std::string errorOf(const RegionProgram &program) {
  Region region;
  std::string err;
  EXPECT_FALSE(Region::read(makePlan(), program, true, region, err));
  return err;
}

/// The exact score of one key.
double scoreOf(const RegionProgram &program, double s, const Row &row = {},
               int64_t j = 0) {
  std::array<std::vector<double>, kLanes> scores;
  scores.fill({s});
  makeRegion(program).foldScores(makeCaptures(), row, {j}, scores);
  return scores[Exact][0];
}

/// `op` of two integers of a type, which go in and out through casts.
int64_t integerOf(const char *type, const char *op, int64_t a, int64_t b) {
  return int64_t(scoreOf({{type, "constant", std::to_string(a)},
                          {type, "constant", std::to_string(b)},
                          {type, op, "%0", "%1"},
                          {"f64", "sitofp", "%2"},
                          {"f32", "truncf", "%3"},
                          {"f32", "yield", "%4"}},
                         0));
}

TEST(Region, integersWrapInTheirOwnWidths) {
  EXPECT_EQ(integerOf("i8", "addi", 127, 1), -128);
  EXPECT_EQ(integerOf("i16", "subi", -32768, 1), 32767);
  EXPECT_EQ(integerOf("i32", "muli", 65536, 65536), 0);
  EXPECT_EQ(integerOf("i64", "muli", 65536, 65536), int64_t(1) << 32);
  EXPECT_EQ(integerOf("index", "muli", 65536, 32768), INT32_MIN);
  EXPECT_EQ(integerOf("i32", "divsi", -7, 2), -3);
  EXPECT_EQ(integerOf("i32", "remsi", -7, 2), -1);
  EXPECT_EQ(integerOf("i32", "divsi", INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(integerOf("i1", "addi", -1, -1), 0);
  EXPECT_EQ(integerOf("i8", "xori", -1, 5), -6);
  EXPECT_EQ(integerOf("i32", "maxsi", -3, 2), 2);
  EXPECT_EQ(integerOf("i32", "minsi", -3, 2), -3);
}

TEST(Region, divisionsAreDefined) {
  EXPECT_EQ(integerOf("i32", "divsi", 7, 0), 7);
  EXPECT_EQ(integerOf("i32", "remsi", 7, 0), 0);
  EXPECT_EQ(integerOf("i32", "remsi", INT32_MIN, -1), 0);
  EXPECT_EQ(integerOf("i8", "divui", -1, 2), 127);
  EXPECT_EQ(integerOf("i8", "divui", -1, 0), -1);
  EXPECT_EQ(integerOf("i8", "remui", -1, 16), 15);
  EXPECT_EQ(integerOf("i8", "maxui", -1, 1), -1);
  EXPECT_EQ(integerOf("i8", "minui", -1, 1), 1);
}

TEST(Region, indicesBeyond32BitsStayOutOfBounds) {
  EXPECT_EQ(scoreOf({{"i64", "constant", "4294967296"},
                     {"index", "index_cast", "%0"},
                     {"f32", "extract", "@slopes", "%1"},
                     {"f32", "yield", "%2"}},
                    0),
            0);
}

TEST(Region, shiftsBeyondTheWidthLeaveTheSignAlone) {
  EXPECT_EQ(integerOf("i32", "shli", 1, 31), INT32_MIN);
  EXPECT_EQ(integerOf("i32", "shli", 1, 32), 0);
  EXPECT_EQ(integerOf("i32", "shli", 1, -1), 0);
  EXPECT_EQ(integerOf("i32", "shrsi", -8, 1), -4);
  EXPECT_EQ(integerOf("i32", "shrsi", -8, 40), -1);
  EXPECT_EQ(integerOf("i8", "shrui", -1, 4), 15);
  EXPECT_EQ(integerOf("i8", "shrui", -1, 8), 0);
}

/// A comparison of constants of `type`, as 0 or 1.
bool compares(const char *type, const std::string &op, const char *a,
              const char *b) {
  Region region = makeRegion({{type, "constant", a},
                              {type, "constant", b},
                              {"i1", op, "%0", "%1"},
                              {"i1", "yield", "%2"}},
                             /*isScore=*/false);
  bool holds = false;
  region.foldMask(makeCaptures(), {}, 0, 1, &holds);
  return holds;
}

TEST(Region, comparisonsKnowSignsAndNaNs) {
  EXPECT_TRUE(compares("i32", "cmpi.slt", "-1", "1"));
  EXPECT_FALSE(compares("i32", "cmpi.ult", "-1", "1"));
  EXPECT_TRUE(compares("i8", "cmpi.uge", "-1", "127"));
  EXPECT_TRUE(compares("i32", "cmpi.ne", "3", "4"));
  const char *nan = "0x7FC00000", *one = "0x3F800000", *two = "0x40000000";
  for (const char *relation : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    EXPECT_FALSE(compares("f32", std::string("cmpf.o") + relation, nan, one));
    EXPECT_TRUE(compares("f32", std::string("cmpf.u") + relation, nan, one));
  }
  EXPECT_TRUE(compares("f32", "cmpf.olt", one, two));
  EXPECT_FALSE(compares("f32", "cmpf.ueq", one, two));
  EXPECT_TRUE(compares("f32", "cmpf.uno", one, nan));
  EXPECT_TRUE(compares("f32", "cmpf.ord", one, two));
}

TEST(Region, floatsAreFoldedInDouble) {
  EXPECT_EQ(scoreOf({{"f32", "tanh", "s"}, {"f32", "yield", "%0"}}, 0.3),
            std::tanh(0.3));
  EXPECT_EQ(
      scoreOf({{"f32", "fma", "s", "s", "@cap"}, {"f32", "yield", "%0"}}, 0.3),
      std::fma(0.3, 0.3, 1.5));
  // One maximum propagates a NaN, the other ignores it.
  RegionProgram maximum = {{"f32", "constant", "0x7FC00000"},
                           {"f32", "maximumf", "s", "%0"},
                           {"f32", "yield", "%1"}};
  EXPECT_TRUE(std::isnan(scoreOf(maximum, 2)));
  maximum[1][1] = "maxnumf";
  EXPECT_EQ(scoreOf(maximum, 2), 2);
  // Results outside a type's range are as the type has them.
  EXPECT_EQ(scoreOf({{"f32", "exp", "s"}, {"f32", "yield", "%0"}}, 100),
            INFINITY);
  // So are 16 bits: 1 + 2^-9 is 1.
  RegionProgram narrow = {
      {"bf16", "truncf", "s"}, {"f32", "extf", "%0"}, {"f32", "yield", "%1"}};
  EXPECT_EQ(scoreOf(narrow, 1 + 0x1p-9), 1);
}

TEST(Region, decisionsAreTakenInTheValuesType) {
  // In f32 1 + 2^-30 is 1, so that it is not greater.
  RegionProgram program = {{"f32", "constant", "0x3F800000"},
                           {"i1", "cmpf.ogt", "s", "%0"},
                           {"f32", "select", "%1", "@cap", "s"},
                           {"f32", "yield", "%2"}};
  Region region = makeRegion(program);
  std::array<std::vector<double>, kLanes> scores;
  scores[Exact] = {1 + 0x1p-30};
  scores[Single] = {1};
  scores[Rounded] = scores[Shifted] = {1.25};
  region.foldScores(makeCaptures(), {}, {0}, scores);
  EXPECT_EQ(scores[Exact][0], 1 + 0x1p-30);
  EXPECT_EQ(scores[Rounded][0], 1.25); // by the other lane's decision
}

TEST(Region, denormalNumbersAreZero) {
  RegionProgram half = {{"f32", "constant", "0x3F000000"},
                        {"f32", "mulf", "s", "%0"},
                        {"f32", "yield", "%1"}};
  EXPECT_EQ(scoreOf(half, 0x1p-126), 0);
  EXPECT_EQ(scoreOf(half, 0x1p-125), 0x1p-126);
  // A denormal operand counts as 0 too; f64 keeps its own.
  EXPECT_EQ(scoreOf({{"f32", "log2", "s"}, {"f32", "yield", "%0"}}, 0x1p-130),
            -INFINITY);
  EXPECT_EQ(scoreOf({{"f64", "constant", "0x0000000000000001"},
                     {"f64", "divf", "%0", "%0"},
                     {"f32", "truncf", "%1"},
                     {"f32", "yield", "%2"}},
                    0),
            1);
}

TEST(Region, functionsAreOffByAsMuchAsTheMachines) {
  auto off = [](const char *function, double s) {
    std::array<std::vector<double>, kLanes> scores;
    scores.fill({s});
    makeRegion({{"f32", function, "s"}, {"f32", "yield", "%0"}})
        .foldScores(makeCaptures(), {}, {0}, scores);
    return std::fabs(scores[Shifted][0] / scores[Exact][0] - 1);
  };
  EXPECT_NEAR(off("exp2", 0.3), 0x1p-22, 0x1p-23);
  EXPECT_NEAR(off("exp", 40), 40 * 0x1p-23 + 0x1p-22, 0x1p-23);
  EXPECT_NEAR(off("tanh", 0.3), 0x1p-18, 0x1p-23);
  EXPECT_NEAR(off("tanh.afn", 0.3), 0x1p-11, 0x1p-23);
  EXPECT_NEAR(off("absf", 0.25), 0, 0);
}

TEST(Region, roundingsToFewBitsMayGoEitherWay) {
  // Just above half of the way from 1 to the next bf16.
  constexpr double half = 1 + 0x1p-8;
  std::array<std::vector<double>, kLanes> scores;
  scores.fill({half + 0x1p-20});
  scores[Shifted] = {half + 0x1p-18};
  makeRegion(
      {{"bf16", "truncf", "s"}, {"f32", "extf", "%0"}, {"f32", "yield", "%1"}})
      .foldScores(makeCaptures(), {}, {0}, scores);
  EXPECT_EQ(scores[Exact][0], 1 + 0x1p-7);
  EXPECT_EQ(scores[Shifted][0], 1);
}

TEST(Region, integersOfAFloatSaturate) {
  RegionProgram program = {
      {"i8", "fptosi", "s"}, {"f32", "sitofp", "%0"}, {"f32", "yield", "%1"}};
  EXPECT_EQ(scoreOf(program, -2.9), -2);
  EXPECT_EQ(scoreOf(program, 1e30), 127);
  EXPECT_EQ(scoreOf(program, -1e30), -128);
  EXPECT_EQ(scoreOf(program, NAN), 0);
  program = {{"i8", "fptosi", "s"},
             {"i32", "extui", "%0"},
             {"f32", "sitofp", "%1"},
             {"f32", "yield", "%2"}};
  EXPECT_EQ(scoreOf(program, -1), 255);
}

TEST(Region, capturesAreReadAndZeroBeyondTheirEnds) {
  RegionProgram program = {{"f32", "extract", "@slopes", "j"},
                           {"f32", "addf", "s", "%0"},
                           {"f32", "yield", "%1"}};
  EXPECT_EQ(scoreOf(program, 1, {}, 1), 1.25);
  EXPECT_EQ(scoreOf(program, 1, {}, 2), 1);
  EXPECT_EQ(scoreOf(program, 1, {}, -1), 1);
  Region region = makeRegion({{"i32", "extract", "@ids", "b", "i"},
                              {"i32", "extract", "@ids", "b", "j"},
                              {"i1", "cmpi.eq", "%0", "%1"},
                              {"i1", "yield", "%2"}},
                             /*isScore=*/false);
  bool allowed[5];
  region.foldMask(makeCaptures(), {0, 0, 2}, 0, 5, allowed);
  EXPECT_EQ((std::vector<bool>(allowed, allowed + 5)),
            (std::vector<bool>{false, false, true, true, false}));
  EXPECT_FALSE(region.usesHead());
  EXPECT_EQ(region.indicesOf(2, 1),
            (std::vector<Position>{Position::Query, Position::Key}));
}

TEST(Region, runsAreAsLongAsTheyAre) {
  Region region = makeRegion({{"f32", "sitofp", "j"}, {"f32", "yield", "%0"}});
  std::vector<int64_t> keys;
  for (int64_t j = 0; j < 700; ++j) {
    keys.push_back(j);
  }
  std::array<std::vector<double>, kLanes> scores;
  scores.fill(std::vector<double>(keys.size()));
  region.foldScores(makeCaptures(), {}, keys, scores);
  EXPECT_EQ(scores[Exact], std::vector<double>(keys.begin(), keys.end()));
}

TEST(Region, refusesWhatIsNoProgram) {
  EXPECT_EQ(errorOf({{"f32", "gamma", "s"}, {"f32", "yield", "%0"}}),
            "score_program[0]: unknown op 'gamma'");
  EXPECT_EQ(errorOf({{"f32", "addf", "s"}, {"f32", "yield", "%0"}}),
            "score_program[0]: expected 'addf' to have 2 operands, got 1");
  EXPECT_EQ(errorOf({{"f32", "addf", "s", "i"}, {"f32", "yield", "%0"}}),
            "score_program[0]: expected 'addf' of other types");
  EXPECT_EQ(errorOf({{"f32", "negf", "%0"}, {"f32", "yield", "%0"}}),
            "score_program[0]: expected the result of an earlier op, got '%0'");
  EXPECT_EQ(errorOf({{"f32", "negf", "@ids"}, {"f32", "yield", "%0"}}),
            "score_program[0]: expected a captured scalar, got '@ids'");
  EXPECT_EQ(
      errorOf({{"f32", "extract", "@ids", "b", "i"}, {"f32", "yield", "%0"}}),
      "score_program[0]: expected an element of 'ids' by an integer for "
      "each of its dims");
  EXPECT_EQ(errorOf({{"f32", "negf", "s"}}),
            "score_program[0]: expected one 'yield', at the end");
  EXPECT_EQ(errorOf({{"i32", "yield", "i"}}),
            "score_program[0]: expected to yield f32, got i32");
  EXPECT_EQ(errorOf({{"f8", "negf", "s"}}),
            "score_program[0]: expected a type, an op and its operands, got "
            "'f8'");
  EXPECT_EQ(errorOf({}),
            "the plan does not say what the score region computes");
}

/// Rows of zeros, so that the region alone makes the scores.
TEST(Reference, scoresAreTheRegions) {
  ReferenceInputs in;
  Problem &p = in.problem;
  p.batch = 1;
  p.seqQ = 5;
  p.seqK = 7;
  p.headsQ = p.headsK = 2;
  p.dim = p.dimV = 16;
  p.scale = 0.25f;
  in.q.resize(5 * 2 * 16);
  in.k.resize(7 * 2 * 16);
  in.v.resize(7 * 2 * 16);
  in.captures = makeCaptures();
  p.score =
      std::make_shared<Region>(makeRegion({{"f32", "extract", "@slopes", "h"},
                                           {"i32", "subi", "j", "i"},
                                           {"f32", "sitofp", "%1"},
                                           {"f32", "mulf", "%0", "%2"},
                                           {"f32", "addf", "s", "%3"},
                                           {"f32", "yield", "%4"}}));
  RowResult row;
  computeRow(in, {0, 1, 4}, row);
  double sum = 0;
  for (int64_t j = 0; j < 7; ++j) {
    sum += std::exp(0.25 * double(j - 4));
  }
  EXPECT_NEAR(row.lse, std::log(sum), 1e-12);

  // The query's own document.
  p.score = nullptr;
  p.allow =
      std::make_shared<Region>(makeRegion({{"i32", "extract", "@ids", "b", "i"},
                                           {"i32", "extract", "@ids", "b", "j"},
                                           {"i1", "cmpi.eq", "%0", "%1"},
                                           {"i1", "yield", "%2"}},
                                          /*isScore=*/false));
  EXPECT_TRUE(isAdmissible(in, {0, 0, 2}, 3));
  EXPECT_FALSE(isAdmissible(in, {0, 0, 2}, 4));
  // Ids beyond the end are 0, as the first two are.
  EXPECT_TRUE(isAdmissible(in, {0, 0, 0}, 6));
  EXPECT_EQ(countAdmissiblePairs(in), 2 * (4 + 4 + 2 + 2 + 1));
  computeRow(in, {0, 0, 3}, row);
  EXPECT_NEAR(row.lse, std::log(2.0), 1e-12);
}

} // namespace
