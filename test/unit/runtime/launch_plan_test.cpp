// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "prepared_launch.h"
#include "sample_plan.h"

using namespace attn::runtime;

namespace {

std::string errorWith(const std::string &from, const std::string &to) {
  LaunchPlan plan;
  return parseLaunchPlan(samplePlanWith(from, to), plan).getMessage();
}

TEST(LaunchPlan, readsTheSample) {
  LaunchPlan plan = parsedPlan();
  EXPECT_EQ(plan.name, "causal");
  EXPECT_EQ(plan.problem.headDim, 128);
  EXPECT_EQ(plan.problem.mask, "causal_top_left");
  ASSERT_EQ(plan.args.size(), 7u);
  EXPECT_TRUE(plan.args[0].alignedRows);
  EXPECT_FALSE(plan.args[2].alignedRows);
  EXPECT_EQ(plan.args[3].kind, ArgKind::F32);
  EXPECT_EQ(plan.args[5].access, Access::Write);
  const PlanLaunch &launch = plan.variants.at(0).launches.at(0);
  EXPECT_EQ(launch.smem, 197632u);
  ASSERT_EQ(launch.params.size(), 6u);
  EXPECT_EQ(launch.params[0].dims.size(), 5u);
  EXPECT_EQ(plan.smCountSymbol, -1);
  EXPECT_EQ(plan.variants.at(0).schedule, "text");
}

TEST(LaunchPlan, findsArgumentsByRole) {
  LaunchPlan plan = parsedPlan();
  EXPECT_EQ(plan.findArg(Role::Query), 0);
  EXPECT_EQ(plan.findArg(Role::Scale), 3);
  EXPECT_EQ(plan.findArg(Role::Lse), 6);
  EXPECT_EQ(plan.findArg(Role::Bound), -1);
  EXPECT_EQ(errorWith(R"("role":"key")", R"("role":"query")"),
            "plan: args[1].role: expected one argument of role 'query', got "
            "'k' as another");
  EXPECT_EQ(errorWith(R"("role":"key")", R"("role":"keys")"),
            "plan: args[1].role: unknown role 'keys'");
}

TEST(LaunchPlan, takesArgumentsWithoutRoles) {
  LaunchPlan plan = parsedPlan(samplePlanWith(R"("role":"key",)", ""));
  EXPECT_FALSE(plan.args[1].role.has_value());
  EXPECT_EQ(plan.findArg(Role::Key), -1);
}

TEST(LaunchPlan, callsAnArgumentByItsSymbolInExpressions) {
  std::string name = R"("name":"k",)";
  EXPECT_NE(errorWith(name, name + R"("symbol":"k2",)").find("unknown symbol"),
            std::string::npos);
  EXPECT_EQ(errorWith(name, R"("name":"any.name {at all}","symbol":"k",)")
                .find("unknown symbol"),
            std::string::npos);
}

TEST(LaunchPlan, alignsRowsOfPointersThatSaySo) {
  std::string pointer = R"("kind":"pointer","tensor":"lse")";
  EXPECT_TRUE(
      parsedPlan(samplePlanWith(pointer, pointer + R"(,"aligned_rows":1)"))
          .args[6]
          .alignedRows);
  EXPECT_FALSE(parsedPlan().args[6].alignedRows);
  EXPECT_EQ(errorWith(pointer, pointer + R"(,"aligned_rows":2)"),
            "plan: variants[0].launches[0].params[2].aligned_rows: expected "
            "one of 0, 1, got 2");
}

TEST(LaunchPlan, readsNumericsOfAVariant) {
  LaunchPlan plan = parsedPlan();
  ASSERT_TRUE(plan.variants.at(0).numerics.has_value());
  const PlanNumerics &numerics = *plan.variants[0].numerics;
  EXPECT_EQ(numerics[PlanNumerics::ScoreRelative], 5e-6);
  EXPECT_EQ(numerics[PlanNumerics::ORelative], 0.0079);
  EXPECT_EQ(numerics[PlanNumerics::OPerKey], 5e-8);
  EXPECT_EQ(numerics[PlanNumerics::Flush], 1e-38);
  EXPECT_EQ(numerics[PlanNumerics::LseRelative], 2e-7);
  EXPECT_EQ(numerics[PlanNumerics::LseAbsolute], 2e-5);
  EXPECT_EQ(numerics[PlanNumerics::LsePerRootKey], 4e-7);
  EXPECT_EQ(
      errorWith("5e-6", "-1"),
      "plan: variants[0].numerics.score_relative: expected a number from 0 to "
      "below 1, got -1");
  EXPECT_EQ(errorWith(R"("o_relative":0.0079,)", ""),
            "plan: variants[0].numerics.o_relative: expected a number, got "
            "nothing");
  EXPECT_EQ(errorWith(R"("flush")", R"("flushes")"),
            "plan: variants[0].numerics: unknown key 'flushes'");
}

TEST(LaunchPlan, readsNumericsOfGradients) {
  std::string bounds =
      R"("gradient_numerics":{"score_relative":1e-6,"exponential":2e-6,)"
      R"("exponent_relative":3e-6,"flush":4e-6,"dp_relative":5e-6,)"
      R"("delta_relative":6e-6,"lse2_relative":7e-6,"operations":8e-6,)"
      R"("per_product":9e-6,"per_addition":10e-6,"rounding":11e-6,"least":12e-6,)"
      R"("kept_relative":13e-6,"kept_least":14e-6},)";
  std::string text = samplePlanWith("\"report\"", bounds + "\"report\"");
  EXPECT_FALSE(parsedPlan().variants.at(0).gradientNumerics.has_value());
  LaunchPlan plan = parsedPlan(text);
  ASSERT_TRUE(plan.variants.at(0).gradientNumerics.has_value());
  const PlanGradientNumerics &numerics = *plan.variants[0].gradientNumerics;
  double millionths = 1;
  for (double bound : numerics) {
    EXPECT_DOUBLE_EQ(bound, millionths++ * 1e-6);
  }
  bounds.replace(bounds.find("5e-6"), 4, "1");
  EXPECT_EQ(errorWith("\"report\"", bounds + "\"report\""),
            "plan: variants[0].gradient_numerics.dp_relative: expected a "
            "number from 0 to below 1, got 1");
}

TEST(LaunchPlan, readsPlansBeforeNumerics) {
  std::string text = samplePlanText();
  size_t first = text.find("\"numerics\"");
  text.erase(first, text.find("\"report\"") - first);
  EXPECT_FALSE(parsedPlan(text).variants.at(0).numerics.has_value());
}

TEST(LaunchPlan, readsVariantsInOrder) {
  LaunchPlan plan = parsedPlan(twoVariantsText(512));
  ASSERT_EQ(plan.variants.size(), 2u);
  EXPECT_EQ(plan.variants[0].launches.at(0).kernel, "short_keys");
  EXPECT_EQ(plan.variants[0].when.getLiterals(), std::vector<int64_t>{512});
  EXPECT_TRUE(plan.variants[0].when.uses(plan.symbols.lookup("sk")));
  EXPECT_EQ(plan.variants[1].launches.at(0).kernel, "causal");
}

TEST(LaunchPlan, readsProgramsOfRegions) {
  LaunchPlan plan = parsedPlan();
  ASSERT_EQ(plan.problem.scoreProgram.size(), 7u);
  EXPECT_EQ(plan.problem.scoreProgram[1],
            (std::vector<std::string>{"f32", "extract", "@slopes", "%0"}));
  EXPECT_TRUE(plan.problem.maskProgram.empty());
  EXPECT_EQ(errorWith("[\"f32\",\"yield\",\"%5\"]", "[\"f32\",\"yield\",5]"),
            "plan: problem.score_program[6][2]: expected a string, got 5");
  EXPECT_EQ(errorWith("[\"f32\",\"yield\",\"%5\"]", "[]"),
            "plan: problem.score_program[6]: expected an array of 1 to 16 "
            "values, got []");
}

TEST(LaunchPlan, noticesTheUseOfSmCount) {
  EXPECT_GE(parsedPlan(samplePlanWith("\"workspace\":0",
                                      "\"workspace\":[\"mul\",\"sm_count\",8]"))
                .smCountSymbol,
            0);
}

TEST(LaunchPlan, readsWhatHasToBeZero) {
  LaunchPlan plan = parsedPlan(
      samplePlanWith("\"workspace\":0", "\"workspace\":64,\"zeroed\":4"));
  EXPECT_EQ(plan.variants[0].zeroed, 4);
  EXPECT_EQ(parsedPlan().variants[0].zeroed, 0);
  EXPECT_EQ(errorWith("\"workspace\":0", "\"workspace\":64,\"zeroed\":0"),
            "plan: variants[0].zeroed: expected an integer from 1 to "
            "1073741824, got 0");
}

TEST(LaunchPlan, readsTheBoundsOfNumbers) {
  const std::string most = ",\"at_most\":2.3586572330881436e+38";
  PlanArg scale = parsedPlan().args[3];
  EXPECT_TRUE(scale.isBounded);
  EXPECT_EQ(scale.least, std::numeric_limits<float>::min());
  EXPECT_EQ(scale.most, 2.35865723e+38F);
  EXPECT_FALSE(
      parsedPlan(
          samplePlanWith(",\"at_least\":1.1754943508222875e-38" + most, ""))
          .args[3]
          .isBounded);
  EXPECT_EQ(errorWith(most, ",\"at_most\":0"),
            "plan: args[3]: expected 'at_least' not to be above 'at_most'");
  EXPECT_EQ(errorWith(most, ""),
            "plan: args[3].at_most: expected a number, got nothing");
}

TEST(LaunchPlan, readsValues) {
  const std::string values =
      "\"workspace\":[\"mul\",\"twice\",\"blocks\"],\"values\":["
      "{\"name\":\"blocks\",\"expr\":[\"ceildiv\",\"sq\",128]},"
      "{\"name\":\"twice\",\"expr\":[\"mul\",\"blocks\",2]}]";
  LaunchPlan plan = parsedPlan(samplePlanWith("\"workspace\":0", values));
  ASSERT_EQ(plan.variants[0].values.size(), 2u);
  BoundArguments bound(plan);
  bound.symbols.bind(plan.symbols.lookup("sq"), 300);
  const PlanVariant &variant = plan.variants[0];
  ASSERT_FALSE(bool(bindValues(plan, variant.values, bound)));
  WorkspaceNeed need;
  ASSERT_FALSE(bool(evaluateWorkspace(plan, variant, bound, need)));
  EXPECT_EQ(need.bytes, 18u);
}

TEST(LaunchPlan, refusesValuesOfOtherNames) {
  auto withName = [](const std::string &name) {
    return errorWith("\"workspace\":0",
                     "\"workspace\":0,\"values\":[{\"name\":\"one\","
                     "\"expr\":1},{\"name\":\"" +
                         name + "\",\"expr\":2}]");
  };
  const std::string place = "plan: variants[0].values[1].name: ";
  EXPECT_EQ(withName("one"), place + "expected a new name, got 'one'");
  EXPECT_EQ(withName("sq"), place + "expected a new name, got 'sq'");
  EXPECT_EQ(withName(""), place + "expected a new name, got ''");
  EXPECT_EQ(errorWith("\"workspace\":0", "\"workspace\":\"late\",\"values\":"
                                         "[{\"name\":\"x\",\"expr\":\"y\"}]"),
            "plan: variants[0].values[0].expr: unknown symbol 'y'");
}

TEST(LaunchPlan, messagesNameSymbols) {
  EXPECT_EQ(errorWith("{hk} key/value heads", "{keys} key/value heads"),
            "plan: checks[0].message: unknown symbol 'keys'");
  // A brace alone is text.
  EXPECT_EQ(errorWith("{hk} key/value heads", "{hk key/value heads"), "");
}

TEST(LaunchPlan, refusesWhatIsNotJson) {
  LaunchPlan plan;
  EXPECT_EQ(parseLaunchPlan("{", plan).getMessage(),
            "plan: expected JSON, got other text");
  EXPECT_EQ(parseLaunchPlan("", plan).getMessage(),
            "plan: expected JSON, got other text");
  EXPECT_EQ(parseLaunchPlan("[1]", plan).getMessage(),
            "plan: expected an object, got [1]");
  EXPECT_EQ(parseLaunchPlan("{}", plan).getMessage(),
            "plan: version: expected one of 1, got nothing");
  EXPECT_EQ(parseLaunchPlan(R"({"a":[{"b":{"c":1,"c":2}}],"a":3})", plan)
                .getMessage(),
            "plan: a.b: expected key 'c' once, got it twice");
}

TEST(LaunchPlan, survivesEveryTruncation) {
  const std::string text = samplePlanText();
  for (size_t size = 0; size + 2 < text.size(); ++size) {
    LaunchPlan plan;
    EXPECT_TRUE(bool(parseLaunchPlan(text.substr(0, size), plan))) << size;
  }
}

/// Any value may be of any type: nothing may be read unchecked.
TEST(LaunchPlan, survivesAnyTypeAnywhere) {
  const std::string text = samplePlanText();
  int replaced = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != ':' && text[at] != ',' && text[at] != '[') {
      continue;
    }
    size_t end = text.find_first_of(",]}:", at + 1);
    for (const char *value : {"null", "true", "-1", "1e300", "\"x\"", "[]",
                              "{}", "[[[]]]", "18446744073709551615"}) {
      LaunchPlan plan;
      (void)bool(parseLaunchPlan(
          text.substr(0, at + 1) + value + text.substr(end), plan));
      ++replaced;
    }
  }
  EXPECT_GT(replaced, 1000);
}

TEST(LaunchPlan, namesTheWrongPlace) {
  EXPECT_EQ(errorWith("\"version\":1", "\"version\":2"),
            "plan: version: expected one of 1, got 2");
  EXPECT_EQ(errorWith("\"fwd\"", "\"sideways\""),
            "plan: problem.kind: expected one of 'fwd', 'bwd', 'decode', "
            "'combine', 'custom', 'delta', 'bwd_dq', 'bwd_dk_dv', 'bwd_dk', "
            "'bwd_dv', 'bwd_rows', 'bwd_keys', 'bwd_pairs', 'sum', "
            "'bwd_elements', 'clear', 'convert', 'bwd_dq_dk', 'bwd_ordered', "
            "'bwd_seeing', got \"sideways\"");
  EXPECT_EQ(errorWith("\"head_dim\":128", "\"head_dim\":0"),
            "plan: problem.head_dim: expected an integer from 1 to 4096, "
            "got 0");
  EXPECT_EQ(errorWith("\"name\":\"k\"", "\"name\":\"q\""),
            "plan: args[1].name: expected a new name, got 'q'");
  EXPECT_EQ(errorWith("\"dtype\":\"bf16\",\"access\"",
                      "\"dtype\":\"bf17\",\"access\""),
            "plan: args[0].dtype: unknown element type 'bf17'");
  EXPECT_EQ(errorWith("\"read\"", "\"look\""),
            "plan: args[0].access: expected one of 'read', 'write', "
            "'readwrite', got \"look\"");
  EXPECT_EQ(errorWith("[384,1,1]", "[384,4,1]"),
            "plan: variants[0].launches[0].block: expected a product of at "
            "most 1024, got 1536");
  EXPECT_EQ(errorWith("197632", "232449"),
            "plan: variants[0].launches[0].smem: expected an integer from 0 "
            "to 232448, got 232449");
  EXPECT_EQ(errorWith("\"swizzle\":128", "\"swizzle\":256"),
            "plan: variants[0].launches[0].params[0].swizzle: expected one of "
            "0, 32, 64, 128, got 256");
  EXPECT_EQ(errorWith("\"tensor\":\"lse\"", "\"tensor\":\"scale\""),
            "plan: variants[0].launches[0].params[2].tensor: expected the "
            "name of a tensor argument, got 'scale'");
  EXPECT_EQ(errorWith("\"arg\":\"scale\"", "\"arg\":\"q\""),
            "plan: variants[0].launches[0].params[5].arg: expected the name "
            "of an f32 argument, got 'q'");
  EXPECT_EQ(errorWith("\"kind\":\"pointer\"", "\"kind\":\"ptr\""),
            "plan: variants[0].launches[0].params[2].kind: expected one of "
            "'tensor_map', 'pointer', 'workspace', 'i32', 'i64', 'f32', got "
            "\"ptr\"");
}

TEST(LaunchPlan, refusesUnknownKeys) {
  EXPECT_EQ(errorWith("\"smem\"", "\"launch_early\":true,\"smem\""),
            "plan: variants[0].launches[0]: unknown key 'launch_early'");
  EXPECT_EQ(errorWith("\"equals\"", "\"equal\""),
            "plan: checks[0]: unknown key 'equal'");
}

TEST(LaunchPlan, checksTensorMapBoxes) {
  EXPECT_EQ(errorWith("\"size\":64,\"box\":64", "\"size\":64,\"box\":65"),
            "plan: variants[0].launches[0].params[0].dims[0].box: expected a "
            "multiple of 16 bytes, got 130");
  EXPECT_EQ(errorWith("\"size\":64,\"box\":64", "\"size\":64,\"box\":128"),
            "plan: variants[0].launches[0].params[0].dims[0].box: expected at "
            "most the swizzle's 128 bytes, got 256");
  EXPECT_EQ(errorWith("\"box\":176", "\"box\":257"),
            "plan: variants[0].launches[0].params[1].dims[1].box: expected an "
            "integer from 1 to 256, got 257");
  EXPECT_EQ(errorWith("\"size\":64,\"box\":64",
                      "\"size\":64,\"stride\":2,\"box\":64"),
            "plan: variants[0].launches[0].params[0].dims[0]: unknown key "
            "'stride'");
}

} // namespace
