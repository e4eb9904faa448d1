// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sample_plan.h"
#include "tensors.h"

#include <cmath>
#include <set>

using namespace attn;
using namespace attn::run;

namespace {

TEST(RunProblem, randomProblemsCoverTheEdges) {
  runtime::LaunchPlan plan = runtime::parsedPlan();
  int emptyQ = 0, emptyK = 0, ones = 0, padded = 0, broadcast = 0, scaled = 0,
      patterns = 0;
  std::set<int64_t> groups;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Problem p = makeRandomProblem(plan, {}, seed);
    ASSERT_LE(p.seqQ, 701);
    ASSERT_LE(p.seqK, 701);
    ASSERT_EQ(p.headsQ % p.headsK, 0);
    ASSERT_GT(p.scale, 0);
    emptyQ += p.seqQ == 0;
    emptyK += p.seqK == 0;
    ones += p.seqQ == 1 || p.seqK == 1;
    padded += p.padStrides;
    broadcast += p.broadcastKv;
    patterns += p.inputs.pattern != Pattern::Normal;
    EXPECT_EQ(p.inputs.pattern != Pattern::Normal,
              p.describe().find(" inputs=" + p.inputs.spell()) !=
                  std::string::npos);
    scaled += p.scale != float(1 / std::sqrt(128.0));
    groups.insert(p.headsQ / p.headsK);
  }
  EXPECT_GT(emptyQ, 5);
  EXPECT_GT(emptyK, 5);
  EXPECT_GT(ones, 20);
  EXPECT_GT(padded, 100);
  EXPECT_GT(broadcast, 20);
  EXPECT_GT(scaled, 50);
  EXPECT_GT(patterns, 30);
  EXPECT_LT(patterns, 120);
  EXPECT_GE(groups.size(), 8u);
  EXPECT_TRUE(groups.count(16));
  EXPECT_EQ(makeRandomProblem(plan, {}, 7).describe(),
            makeRandomProblem(plan, {}, 7).describe());
}

TEST(RunProblem, randomProblemsMeetTheBordersOfVariants) {
  runtime::LaunchPlan plan =
      runtime::parsedPlan(runtime::twoVariantsText(4096));
  int below = 0, at = 0, above = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Problem p = makeRandomProblem(plan, {}, seed);
    ASSERT_LE(p.seqK, 4097);
    if (p.seqK > 701) {
      ASSERT_LE(p.batch * p.headsQ, 2);
    }
    below += p.seqK == 4095;
    at += p.seqK == 4096;
    above += p.seqK == 4097;
  }
  EXPECT_GT(below, 5);
  EXPECT_GT(at, 5);
  EXPECT_GT(above, 5);
}

TEST(RunProblem, tensorsFollowThePlan) {
  runtime::LaunchPlan plan = runtime::parsedPlan();
  Options options;
  options.q = {2, 5, 4, 128};
  options.kv = {2, 7, 2, 128};
  options.padStrides = options.broadcastKv = true;
  ASSERT_TRUE(parseTensor("slopes=slopes", options.captures));
  Problem problem = makeProblem(plan, options);
  EXPECT_NE(problem.score, nullptr);
  EXPECT_EQ(problem.endKey(2), 3); // causal
  std::vector<HostTensor> tensors;
  std::string err;
  ASSERT_TRUE(makeTensors(plan, problem, tensors, err)) << err;
  ASSERT_EQ(tensors.size(), 6u);
  EXPECT_EQ(tensors[0].strides, (std::vector<int64_t>{2768, 552, 136, 1}));
  EXPECT_EQ(findTensor(tensors, runtime::Role::Key)->strides[0], 0);
  EXPECT_EQ(findTensor(tensors, "slopes")->shape, std::vector<int64_t>{4});
  EXPECT_FLOAT_EQ(findTensor(tensors, "slopes")->get(3), 1.0f / 256);
  EXPECT_EQ(findTensor(tensors, runtime::Role::Lse)->strides,
            (std::vector<int64_t>{35, 8, 1}));
  // Both batches see the same keys.
  EXPECT_EQ(findTensor(tensors, runtime::Role::Key)->get(100),
            findTensor(tensors, runtime::Role::Key)->get(7 * 2 * 128 + 100));
  // Padding is poison, values do not depend on it.
  EXPECT_EQ(tensors[0].bytes[kGuardBytes + 128 * 2], kPoison);
  problem.padStrides = false;
  std::vector<HostTensor> packed;
  ASSERT_TRUE(makeTensors(plan, problem, packed, err)) << err;
  EXPECT_EQ(packed[0].toFloats(), tensors[0].toFloats());
}

TEST(RunProblem, headsMayComeFirst) {
  runtime::LaunchPlan plan = runtime::parsedPlan(
      runtime::samplePlanWith("\"layout\":\"bshd\"", "\"layout\":\"bhsd\""));
  Options options;
  options.q = {2, 5, 4, 128};
  options.kv = {2, 7, 2, 128};
  Problem problem = makeProblem(plan, options);
  EXPECT_TRUE(problem.headsFirst);
  std::vector<HostTensor> tensors;
  std::string err;
  ASSERT_TRUE(makeTensors(plan, problem, tensors, err)) << err;
  EXPECT_EQ(tensors[0].shape, (std::vector<int64_t>{2, 4, 5, 128}));
  EXPECT_EQ(findTensor(tensors, runtime::Role::Key)->shape,
            (std::vector<int64_t>{2, 2, 7, 128}));
  EXPECT_EQ(findTensor(tensors, runtime::Role::Lse)->shape,
            (std::vector<int64_t>{2, 4, 5}));
}

TEST(RunProblem, masksHaveBounds) {
  std::string text = runtime::samplePlanWith(
      R"("keys":{"last":"i","bounds":[]})",
      R"("keys":{"first":["sub",["add","i",["sub","sk","sq"]],"window_left"],)"
      R"("bounds":[{"name":"window_left","at_least":1}]})");
  size_t at = text.find("{\"name\":\"scale\"");
  ASSERT_NE(at, std::string::npos);
  text.insert(at, R"({"name":"window_left","role":"bound","kind":"i32"},)");
  runtime::LaunchPlan plan = runtime::parsedPlan(text);
  Options options;
  options.q = {2, 5, 4, 128};
  options.kv = {2, 7, 4, 128};
  EXPECT_NE(makeProblem(plan, options).describe().find(" window_left=1"),
            std::string::npos);
  ASSERT_TRUE(parseScalar("window_left=2.5", options.captures));
  EXPECT_EQ(checkCaptures(plan, options.captures)
                .rfind("option '--scalar': expected an integer for the bound "
                       "'window_left', got 2.5",
                       0),
            0u);
  ASSERT_TRUE(parseScalar("window_left=3", options.captures));
  Problem problem = makeProblem(plan, options);
  EXPECT_EQ(problem.firstKey(0), 0);
  EXPECT_EQ(problem.firstKey(4), 3);
  EXPECT_EQ(problem.endKey(0), 7); // open on the right
  int ones = 0, huge = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Problem random = makeRandomProblem(plan, {}, seed);
    ASSERT_EQ(random.bounds.size(), 1u);
    ASSERT_GE(random.bounds[0].second, 1);
    ones += random.bounds[0].second == 1;
    huge += random.bounds[0].second > 700;
  }
  EXPECT_GT(ones, 10);
  EXPECT_GT(huge, 10);
}

TEST(RunProblem, regionsTellTheExtentsOfCaptures) {
  // The sample's region indexes `slopes` by the head.
  runtime::LaunchPlan plan = runtime::parsedPlan(
      runtime::samplePlanWith("\"access\":\"read\",\"dims\":[\"hq\"]",
                              "\"access\":\"read\",\"dims\":[\"n\"]"));
  Options options;
  options.q = {2, 5, 6, 128};
  options.kv = {2, 9, 3, 128};
  int slopes = plan.findArg("slopes");
  std::vector<int64_t> shape;
  std::string err;
  ASSERT_TRUE(
      captureShape(plan, slopes, makeProblem(plan, options), shape, err));
  EXPECT_EQ(shape, std::vector<int64_t>{6});
  ASSERT_TRUE(parseTensor("slopes=17", options.captures));
  shape.clear();
  ASSERT_TRUE(
      captureShape(plan, slopes, makeProblem(plan, options), shape, err));
  EXPECT_EQ(shape, std::vector<int64_t>{17});
  ASSERT_TRUE(parseTensor("slopes=17x2", options.captures));
  EXPECT_FALSE(
      captureShape(plan, slopes, makeProblem(plan, options), shape, err));
  EXPECT_EQ(err, "option '--tensor': expected 1 extents of 'slopes', got 2");
}

TEST(RunProblem, refusesCapturesOfUnknownExtent) {
  runtime::LaunchPlan plan = runtime::parsedPlan(
      runtime::samplePlanWith("\"access\":\"read\",\"dims\":[\"hq\"]",
                              "\"access\":\"read\",\"dims\":[\"n\",3]"));
  plan.problem.scoreProgram.clear();
  Options options;
  options.q = options.kv = {2, 5, 4, 128};
  std::vector<HostTensor> tensors;
  std::string err;
  EXPECT_FALSE(makeTensors(plan, makeProblem(plan, options), tensors, err));
  EXPECT_EQ(err,
            "cannot tell the extent of 'n', a dim of 'slopes'; see --tensor");
}

TEST(RunProblem, capturesHaveTheContentThatIsGiven) {
  runtime::LaunchPlan plan = runtime::parsedPlan();
  Options options;
  options.q = options.kv = {1, 5, 4, 128};
  for (const char *text : {"slopes=integers:3:5", "slopes=4:integers:3:5"}) {
    ASSERT_TRUE(parseTensor(text, options.captures));
    EXPECT_EQ(options.captures.spell(), std::string(" --tensor=") + text);
    std::vector<HostTensor> tensors;
    std::string err;
    ASSERT_TRUE(makeTensors(plan, makeProblem(plan, options), tensors, err))
        << err;
    for (int64_t h = 0; h < 4; ++h) {
      float slope = findTensor(tensors, "slopes")->get(h);
      EXPECT_TRUE(slope == 3 || slope == 4 || slope == 5) << slope;
    }
  }
  for (const char *text : {"slopes", "slopes=", "=4", "slopes=integers:5:3",
                           "slopes=ones", "slopes=4:"}) {
    EXPECT_FALSE(parseTensor(text, options.captures)) << text;
  }
  ASSERT_TRUE(parseScalar("cap=1.5", options.captures));
  EXPECT_EQ(checkCaptures(plan, options.captures),
            "option '--scalar': expected a captured scalar or a bound of the "
            "kernel (it has none), got 'cap'");
}

TEST(RunProblem, documentsAreSorted) {
  HostTensor ids;
  ids.name = "ids";
  ids.dtype = runtime::DataType::I32;
  ids.shape = {2, 300};
  ids.layOut(3, -1);
  ids.allocate();
  std::string err;
  Problem problem;
  problem.seed = 1;
  ASSERT_TRUE(fillCapture(problem, 1, ids, err)) << err;
  for (int64_t row : {0, 1}) {
    EXPECT_EQ(ids.getInteger(row * 300), 0);
    EXPECT_GT(ids.getInteger(row * 300 + 299), 0);
    for (int64_t i = 1; i < 300; ++i) {
      EXPECT_LE(ids.getInteger(row * 300 + i - 1),
                ids.getInteger(row * 300 + i));
    }
  }
}

TEST(RunProblem, plansWithoutNumericsHaveNoBounds) {
  runtime::LaunchPlan plan = runtime::parsedPlan();
  EXPECT_EQ(whyNotCheckable(plan), "");
  plan.variants.at(0).numerics.reset();
  EXPECT_EQ(whyNotCheckable(plan),
            "there are no bounds: the plan has no 'numerics', which compilers "
            "before it did not write");
}

TEST(RunProblem, gradientsHaveBoundsOfTheirOwn) {
  runtime::LaunchPlan plan = runtime::parsedPlan();
  plan.problem.kind = runtime::Kind::BwdDQ;
  EXPECT_EQ(whyNotCheckable(plan),
            "there are no bounds: the plan has no 'gradient_numerics', which "
            "compilers before it did not write");
  plan.variants.at(0).gradientNumerics.emplace();
  plan.variants.at(0).numerics.reset();
  EXPECT_EQ(whyNotCheckable(plan), "");
}

TEST(RunProblem, argumentsWithoutRolesHaveNoReference) {
  runtime::LaunchPlan plan =
      runtime::parsedPlan(runtime::samplePlanWith(R"("role":"key",)", ""));
  EXPECT_EQ(whyNotCheckable(plan),
            "there is no reference: argument 'k' has no 'role', which "
            "compilers before it did not write");
}

TEST(RunProblem, regionsWithoutAProgramHaveNoReference) {
  EXPECT_EQ(whyNotCheckable(runtime::parsedPlan()), "");
  runtime::LaunchPlan plan = runtime::parsedPlan();
  plan.problem.scoreProgram.clear();
  EXPECT_EQ(whyNotCheckable(plan),
            "there is no reference: the plan does not say what the score "
            "region computes");
  plan.problem.scoreProgram = {{"f32", "gamma", "s"}, {"f32", "yield", "%0"}};
  EXPECT_EQ(whyNotCheckable(plan),
            "there is no reference: score_program[0]: unknown op 'gamma'");
}

} // namespace
