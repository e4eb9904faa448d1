// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients of the reference against central differences of its results,
// and against identities.

#include "gradients.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace attn;
using namespace attn::run;
using runtime::RegionProgram;

namespace {

struct FloatWord {
  const char *name;
  size_t operands;
  double (*value)(double a, double b, double c);
  double (*error)(double operand, double value);
};
#define GET_FloatWordTable_IMPL
#include "score_ops.inc"

/// Captures f32 `cap`, and f32 `bias` with an element for each pair of
/// positions.
runtime::LaunchPlan makePlan() {
  runtime::LaunchPlan plan;
  plan.args.resize(2);
  plan.args[0].name = "cap";
  plan.args[0].kind = runtime::ArgKind::F32;
  plan.args[1].name = "bias";
  plan.args[1].dims.resize(2);
  return plan;
}

std::shared_ptr<const Region> makeRegion(const RegionProgram &program,
                                         bool isScore) {
  auto region = std::make_shared<Region>();
  std::string err;
  EXPECT_TRUE(Region::read(makePlan(), program, isScore, *region, err)) << err;
  return region;
}

/// Multiples of 2^-5, which small steps of a float can change exactly.
std::vector<float> randomFloats(uint64_t stream, int64_t count) {
  Random random(7, stream);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(float(std::round(32 * random.normal(uint64_t(i))) / 32));
  }
  return values;
}

/// A problem with its inputs, and gradients of its results.
struct Case {
  ReferenceInputs in;
  ResultGradients of;

  explicit Case(int64_t seqQ = 5, int64_t seqK = 4) {
    Problem &p = in.problem;
    p.batch = 2;
    p.seqQ = seqQ;
    p.seqK = seqK;
    p.headsQ = 4;
    p.headsK = 2;
    p.dim = 8;
    p.dimV = 16;
    p.scale = 0.25f;
    in.q = randomFloats(0, p.rows() * p.dim);
    in.k = randomFloats(1, p.batch * p.seqK * p.headsK * p.dim);
    in.v = randomFloats(2, p.batch * p.seqK * p.headsK * p.dimV);
    in.captures.resize(2);
    in.captures[0].floats = {1.5};
    in.captures[1].shape = {p.seqQ, p.seqK};
    for (float value : randomFloats(3, p.seqQ * p.seqK)) {
      in.captures[1].floats.push_back(double(value));
    }
    of.o = randomFloats(4, p.rows() * p.dimV);
    of.lse = randomFloats(5, p.rows());
    setType(runtime::DataType::BF16);
  }

  /// Sets the type of the elements, and a contract that allows its roundings.
  void setType(runtime::DataType dtype) {
    in.problem.dtype = dtype;
    bool isHalf = dtype == runtime::DataType::F16;
    of.numerics = {};
    of.numerics[runtime::PlanGradientNumerics::Rounding] =
        isHalf ? 0x1p-11 : 0x1p-8;
    of.numerics[runtime::PlanGradientNumerics::Least] =
        isHalf ? 0x1p-25 : 0x1p-126;
    of.numerics[runtime::PlanGradientNumerics::Flush] = 0x1p-126;
    of.numerics[runtime::PlanGradientNumerics::Operations] = 0x1p-21;
  }

  void score(const RegionProgram &program) {
    in.problem.score = makeRegion(program, /*isScore=*/true);
  }
  void mask(const RegionProgram &program) {
    in.problem.allow = makeRegion(program, /*isScore=*/false);
  }
  /// Query i sees the keys from i + offset - left to i + offset + right.
  void window(int64_t offset, int64_t left, int64_t right) {
    Problem &p = in.problem;
    for (int64_t i = 0; i < p.seqQ; ++i) {
      int64_t diagonal = i + offset;
      p.keys.emplace_back(std::max<int64_t>(diagonal - left, 0),
                          std::clamp<int64_t>(diagonal + right + 1, 0, p.seqK));
    }
  }

  /// The sum of the results, weighted by their gradients.
  double loss() const {
    const Problem &p = in.problem;
    RowResult row;
    double sum = 0;
    for (int64_t at = 0; at < p.rows(); ++at) {
      Row which = {at / (p.headsQ * p.seqQ), at / p.seqQ % p.headsQ,
                   at % p.seqQ};
      computeRow(in, which, row);
      if (row.lse == -INFINITY) {
        continue;
      }
      size_t first = size_t(
          p.rowIndex(which.batch, which.i, which.head, p.seqQ, p.headsQ) *
          p.dimV);
      for (size_t c = 0; c < size_t(p.dimV); ++c) {
        sum += double(of.o[first + c]) * row.exact[c];
      }
      sum += of.lse.empty() ? 0 : double(of.lse[size_t(at)]) * row.lse;
    }
    return sum;
  }

  template <typename Number> double difference(Number &input) {
    constexpr Number step = Number(0x1p-11);
    Number before = input;
    input = before + step;
    double above = loss();
    input = before - step;
    double below = loss();
    input = before;
    return (above - below) / (2 * double(step));
  }

  void expectDifferences(std::vector<float> &inputs,
                         const std::vector<double> &gradients,
                         const std::string &name, size_t stride) {
    ASSERT_EQ(inputs.size(), gradients.size());
    for (size_t n = 0; n < inputs.size(); n += stride) {
      double want = difference(inputs[n]);
      EXPECT_NEAR(gradients[n], want, 2e-5 * (1 + std::fabs(want)))
          << name << "[" << n << "]";
    }
  }

  /// Compares the gradients of the captures and of the scale.
  void expectDifferencesOfCaptures(const std::string &name) {
    of.ofCaptures = true;
    Gradients gradients = computeGradients(in, of);
    auto expect = [&](double is, double want, const std::string &what) {
      EXPECT_NEAR(is, want, 2e-5 * (1 + std::fabs(want))) << name << what;
    };
    for (size_t n = 0; n < in.captures.size(); ++n) {
      std::vector<double> &elements = in.captures[n].floats;
      ASSERT_EQ(gradients.captures[n].exact.size(), elements.size());
      for (size_t at = 0; at < elements.size(); ++at) {
        expect(gradients.captures[n].exact[at], difference(elements[at]),
               ": capture " + std::to_string(n) + "[" + std::to_string(at) +
                   "]");
      }
    }
    expect(gradients.scale.exact[0], difference(in.problem.scale), ": scale");
  }

  /// Compares every `stride`th element.
  void expectDifferences(const std::string &name, size_t stride = 1) {
    Gradients gradients = computeGradients(in, of);
    expectDifferences(in.q, gradients.q, name + ": dQ", stride);
    expectDifferences(in.k, gradients.k, name + ": dK", stride);
    expectDifferences(in.v, gradients.v, name + ": dV", stride);
  }
};

TEST(Gradients, areQuotientsOfSmallDifferences) {
  Case().expectDifferences("no mask");
  Case alone;
  alone.of.lse.clear();
  alone.expectDifferences("no gradient of the LSE");
  Case headsFirst;
  headsFirst.in.problem.headsFirst = true;
  headsFirst.expectDifferences("heads first");
  Case single(1, 1);
  single.expectDifferences("one key");
}

TEST(Gradients, followTheMask) {
  Case causal;
  causal.window(0, 100, 0);
  causal.expectDifferences("causal");
  Case bottomRight; // no key for the first query
  bottomRight.window(-1, 100, 0);
  bottomRight.expectDifferences("causal, bottom right");
  Case window;
  window.window(0, 1, 1);
  window.expectDifferences("window");
  Case none;
  none.window(-100, 0, 0);
  for (double gradient : computeGradients(none.in, none.of).v) {
    EXPECT_EQ(gradient, 0);
  }
  Case region; // keys of other parity, from the third on, for the second head
  region.mask({{"i32", "addi", "i", "j"},
               {"i32", "constant", "1"},
               {"i32", "andi", "%0", "%1"},
               {"i32", "constant", "0"},
               {"i1", "cmpi.eq", "%2", "%3"},
               {"i1", "cmpi.ne", "h", "%1"},
               {"i1", "ori", "%4", "%5"},
               {"i1", "yield", "%6"}});
  region.expectDifferences("mask region");
}

TEST(Gradients, leaveOutWhatDropoutDrops) {
  Case half;
  half.in.problem.dropout = Dropout(0.5, {3, 4});
  half.expectDifferences("half of the pairs");
  Case softcap;
  softcap.in.problem.dropout = Dropout(0.25, {5, 6});
  softcap.score({{"f32", "divf", "s", "@cap"},
                 {"f32", "tanh", "%0"},
                 {"f32", "mulf", "%1", "@cap"},
                 {"f32", "yield", "%2"}});
  softcap.expectDifferences("dropout and softcap");
  softcap.expectDifferencesOfCaptures("dropout and softcap");
  Case all;
  all.in.problem.dropout = Dropout(1, {5, 6});
  all.expectDifferences("all pairs");
}

TEST(Gradients, followSinks) {
  Case sinks;
  sinks.in.problem.sinks = {0.5f, -INFINITY, 3.0f, -2.0f};
  sinks.window(-1, 100, 0); // no key for the first query
  sinks.expectDifferences("sinks");
  sinks.of.ofCaptures = true;
  sinks.expectDifferences(sinks.in.problem.sinks,
                          computeGradients(sinks.in, sinks.of).sinks.exact,
                          "gradient of sinks", /*stride=*/1);
}

TEST(Gradients, followScoreFunctions) {
  Case softcap;
  softcap.score({{"f32", "divf", "s", "@cap"},
                 {"f32", "tanh", "%0"},
                 {"f32", "mulf", "%1", "@cap"},
                 {"f32", "yield", "%2"}});
  softcap.window(0, 100, 0);
  softcap.expectDifferences("softcap, causal");
  Case bias;
  bias.score({{"f32", "extract", "@bias", "i", "j"},
              {"f32", "addf", "s", "%0"},
              {"f32", "yield", "%1"}});
  bias.expectDifferences("bias");
  Case constant;
  constant.score(
      {{"f32", "extract", "@bias", "i", "j"}, {"f32", "yield", "%0"}});
  constant.expectDifferences("a score that is no function of the product");
  Case wide; // in f64, for some keys
  wide.score({{"f64", "extf", "s"},
              {"f64", "mulf", "%0", "%0"},
              {"f32", "truncf", "%1"},
              {"i1", "cmpi.slt", "i", "j"},
              {"f32", "select", "%3", "%2", "s"},
              {"f32", "yield", "%4"}});
  wide.expectDifferences("f64 and a choice");
}

TEST(Gradients, ofCapturesAreQuotientsOfSmallDifferences) {
  Case().expectDifferencesOfCaptures("no function");
  Case softcap;
  softcap.score({{"f32", "divf", "s", "@cap"},
                 {"f32", "tanh", "%0"},
                 {"f32", "mulf", "%1", "@cap"},
                 {"f32", "yield", "%2"}});
  softcap.window(0, 100, 0);
  softcap.expectDifferencesOfCaptures("softcap, causal");
  // Elements at each pair, each query, each key, each head and a difference,
  // some of which are out of bounds.
  const std::vector<std::vector<std::string>> places = {
      {"i", "j"}, {"i", "%0"}, {"%0", "j"}, {"h", "%0"}, {"%1", "%0"}};
  for (const std::vector<std::string> &at : places) {
    Case of;
    of.window(1, 2, 1);
    of.score({{"i32", "constant", "0"},
              {"i32", "subi", "i", "j"},
              {"f32", "extract", "@bias", at[0], at[1]},
              {"f32", "mulf", "%2", "%2"},
              {"f32", "mulf", "%3", "s"},
              {"f32", "addf", "%4", "@cap"},
              {"f32", "yield", "%5"}});
    of.expectDifferencesOfCaptures("bias at " + at[0] + " and " + at[1]);
  }
  Case twice;
  twice.score({{"i32", "constant", "0"},
               {"f32", "extract", "@bias", "i", "%0"},
               {"f32", "extract", "@bias", "%0", "j"},
               {"f32", "mulf", "%1", "%2"},
               {"f32", "addf", "s", "%3"},
               {"f32", "yield", "%4"}});
  twice.expectDifferencesOfCaptures("two elements of one capture");
}

TEST(Gradients, ofCapturesLeaveOutWhatIsNotChosen) {
  // The root is infinitely steep where it is not chosen.
  Case root;
  std::fill(root.in.captures[1].floats.begin(),
            root.in.captures[1].floats.end(), 0.0);
  root.score({{"f32", "extract", "@bias", "i", "j"},
              {"f32", "sqrt", "%0"},
              {"f32", "constant", "0x0"},
              {"i1", "cmpf.ogt", "%0", "%2"},
              {"f32", "select", "%3", "%1", "%2"},
              {"f32", "addf", "s", "%4"},
              {"f32", "yield", "%5"}});
  root.of.ofCaptures = true;
  Gradients gradients = computeGradients(root.in, root.of);
  for (double gradient : gradients.captures[1].exact) {
    EXPECT_EQ(gradient, 0);
  }
}

TEST(Gradients, followEachFunctionOfFloats) {
  for (const FloatWord &word : FloatWordTable) {
    // Of (s^2 + 0.75, 1.6 s, 0.75), where all are smooth and finite.
    RegionProgram program = {{"f32", "mulf", "s", "s"},
                             {"f32", "constant", "0x3f400000"},
                             {"f32", "addf", "%0", "%1"},
                             {"f32", "constant", "0x3fcccccd"},
                             {"f32", "mulf", "s", "%3"}};
    std::vector<std::string> op = {"f32", word.name, "%2", "%4", "%1"};
    op.resize(2 + word.operands);
    program.push_back(op);
    program.push_back({"f32", "yield", "%5"});
    Case of(2, 3);
    of.in.problem.scale = 0.125f;
    of.score(program);
    of.expectDifferences(word.name, /*stride=*/3);
  }
}

/// The slope of a region for a score of `s` that may be off by `scoreError`,
/// and the estimate of its error.
std::pair<double, double> slopeAndError(const RegionProgram &program, double s,
                                        double scoreError = 0) {
  std::vector<double> slopes, errors;
  Case captures;
  makeRegion(program, true)
      ->foldSlopes(captures.in.captures, {}, {0}, {s}, {scoreError}, slopes,
                   errors);
  return {slopes[0], errors[0]};
}

double slopeOf(const RegionProgram &program, double s) {
  return slopeAndError(program, s).first;
}

/// Kernels compute 1 - y^2 of a y that has the error of tanh.
TEST(Gradients, haveTheErrorsOfSlopesWhereFunctionsAreFlat) {
  const RegionProgram tanh = {{"f32", "tanh", "s"}, {"f32", "yield", "%0"}};
  auto [steep, ofSteep] = slopeAndError(tanh, 0.01);
  EXPECT_NEAR(steep, 1, 1e-3);
  EXPECT_LT(ofSteep, 0x1p-20);
  auto [flat, ofFlat] = slopeAndError(tanh, 6);
  EXPECT_NEAR(flat, 2.4577e-5, 1e-8);
  EXPECT_GT(ofFlat, 0x1p-19);
  EXPECT_LT(ofFlat, 0x1p-15);
}

/// A kernel's score may be on the other side of the kink.
TEST(Gradients, haveTheErrorsOfSlopesBesideKinks) {
  const RegionProgram least = {{"f32", "constant", "0x00000000"},
                               {"f32", "minimumf", "s", "%0"},
                               {"f32", "yield", "%1"}};
  EXPECT_EQ(slopeAndError(least, -1e-7, 1e-6), std::pair(1.0, 1.0));
  EXPECT_EQ(slopeAndError(least, 1e-7, 1e-6), std::pair(0.0, 1.0));
  EXPECT_EQ(slopeAndError(least, -1e-5, 1e-6), std::pair(1.0, 0.0));
}

/// The slope of `op` by the score, which is its operand number `n`; the other
/// one is 1.5.
double slopeByOperand(const char *op, size_t n, double s) {
  std::vector<std::string> apply = {"f32", op, "@cap", "@cap"};
  apply[2 + n] = "s";
  return slopeOf({apply, {"f32", "yield", "%0"}}, s);
}

TEST(Gradients, haveTheSlopesOfTorchAtKinks) {
  for (const char *op : {"maximumf", "minimumf"}) {
    EXPECT_EQ(slopeByOperand(op, 0, 1.5), 0.5);
    EXPECT_EQ(slopeByOperand(op, 1, 1.5), 0.5);
  }
  for (const char *op : {"maxnumf", "minnumf"}) {
    EXPECT_EQ(slopeByOperand(op, 0, 1.5), 1);
    EXPECT_EQ(slopeByOperand(op, 1, 1.5), 0);
    EXPECT_EQ(slopeByOperand(op, 0, NAN), 0);
  }
  EXPECT_EQ(slopeByOperand("maximumf", 1, 2), 1);
  EXPECT_EQ(slopeByOperand("maxnumf", 1, 2), 1);
  EXPECT_EQ(slopeByOperand("minnumf", 1, 2), 0);
  for (double s : {-1.0, 0.0, 1.0}) {
    EXPECT_EQ(slopeOf({{"f32", "absf", "s"}, {"f32", "yield", "%0"}}, s), s);
  }
}

TEST(Gradients, passThroughARounding) {
  EXPECT_EQ(slopeOf({{"bf16", "truncf", "s"},
                     {"f32", "extf", "%0"},
                     {"f32", "mulf", "%1", "@cap"},
                     {"f32", "yield", "%2"}},
                    0.3),
            1.5);
  EXPECT_EQ(slopeOf({{"i32", "fptosi", "s"},
                     {"f32", "sitofp", "%0"},
                     {"f32", "yield", "%1"}},
                    3.5),
            0);
}

TEST(Gradients, leaveOutWhatIsNotChosen) {
  const RegionProgram root = {{"f32", "constant", "0x0"},
                              {"i1", "cmpf.ogt", "s", "%0"},
                              {"f32", "sqrt", "s"},
                              {"f32", "select", "%1", "%2", "%0"},
                              {"f32", "yield", "%3"}};
  EXPECT_EQ(slopeOf(root, 0), 0); // the root is infinitely steep there
  EXPECT_EQ(slopeOf(root, 4), 0.25);
  EXPECT_EQ(slopeOf({{"f32", "constant", "0x0"},
                     {"i1", "cmpf.ogt", "s", "%0"},
                     {"f32", "select", "%1", "s", "%0"},
                     {"f32", "sqrt", "%2"},
                     {"f32", "yield", "%3"}},
                    -1),
            0);
}

TEST(Gradients, doNotChangeWhenAllScoresShift) {
  // If all keys are one vector, dQ is a multiple of the sum of the gradients of
  // a row's scores, which is 0.
  Case same;
  same.of.lse.clear();
  std::vector<float> &k = same.in.k;
  for (size_t n = size_t(same.in.problem.dim); n < k.size(); ++n) {
    k[n] = k[n % size_t(same.in.problem.dim)];
  }
  for (double gradient : computeGradients(same.in, same.of).q) {
    EXPECT_NEAR(gradient, 0, 1e-12);
  }
}

TEST(Gradients, ofTheLseAloneDoNotReachV) {
  Case alone;
  std::fill(alone.of.o.begin(), alone.of.o.end(), 0.0f);
  Gradients gradients = computeGradients(alone.in, alone.of);
  for (double gradient : gradients.v) {
    EXPECT_EQ(gradient, 0);
  }
  for (size_t n = 0; n < gradients.delta.size(); ++n) {
    EXPECT_EQ(gradients.delta[n], -double(alone.of.lse[n]));
  }
  alone.expectDifferences("LSE alone");
}

void expectBounds(const Gradients &gradients,
                  std::vector<double> GradientElements::*elements) {
  const std::vector<double> &exact = gradients.*elements,
                            &rounded = gradients.rounded.*elements,
                            &bound = gradients.bound.*elements;
  double error = 0, most = 0;
  for (size_t n = 0; n < exact.size(); ++n) {
    EXPECT_LE(std::fabs(rounded[n] - exact[n]), bound[n]) << n;
    error += std::fabs(rounded[n] - exact[n]);
    most += bound[n];
  }
  EXPECT_GT(error, 0);
  EXPECT_LT(most, 30 * error);
}

/// The reference that rounds like a kernel is within the bounds, which are not
/// much larger than its errors.
TEST(Gradients, roundWithinTheirBounds) {
  using runtime::DataType;
  for (DataType dtype : {DataType::BF16, DataType::F16}) {
    Case some(30, 20);
    some.setType(dtype);
    some.in.numerics[runtime::PlanNumerics::ScoreRelative] = 0x1p-20;
    some.window(0, 10, 3);
    Gradients gradients = computeGradients(some.in, some.of);
    expectBounds(gradients, &GradientElements::q);
    expectBounds(gradients, &GradientElements::k);
    expectBounds(gradients, &GradientElements::v);
  }
}

/// Each number of the contract allows more, and those of the scores and of dP
/// nothing more in dV, or in a kernel without scores.
TEST(Gradients, areAllowedWhatTheContractSays) {
  using Numerics = runtime::PlanGradientNumerics;
  const struct {
    Numerics::GradientErrorBound bound;
    bool changesV;
  } terms[] = {
      {Numerics::Exponential, true},    {Numerics::ExponentRelative, true},
      {Numerics::Flush, true},          {Numerics::DpRelative, false},
      {Numerics::DeltaRelative, false}, {Numerics::Operations, true},
      {Numerics::PerProduct, true},     {Numerics::Rounding, true},
      {Numerics::Least, true}};
  Case some;
  Gradients before = computeGradients(some.in, some.of);
  for (const auto &term : terms) {
    Case other;
    other.of.numerics[term.bound] += 0x1p-10;
    Gradients after = computeGradients(other.in, other.of);
    EXPECT_GT(after.bound.q[0], before.bound.q[0]);
    EXPECT_GT(after.bound.k[0], before.bound.k[0]);
    EXPECT_EQ(after.bound.v[0] > before.bound.v[0], term.changesV);
    EXPECT_EQ(after.q, before.q);
  }
}

/// dV and dK are sums over the queries of all heads of a group, dQ over keys.
TEST(Gradients, areAllowedMoreForLongerSums) {
  auto boundsOf = [](int64_t queries, int64_t keys) {
    Case some(queries, keys);
    some.of.numerics = {};
    some.of.numerics[runtime::PlanGradientNumerics::PerProduct] = 0x1p-20;
    return computeGradients(some.in, some.of);
  };
  auto total = [](const std::vector<double> &values) {
    double sum = 0;
    for (double value : values) {
      sum += std::fabs(value);
    }
    return sum;
  };
  Gradients one = boundsOf(1, 1);
  // With one key each probability is 1, and dV is the sum of dO.
  EXPECT_GE(total(one.bound.v), 2 * 0x1p-20 * total(one.v));
  Gradients many = boundsOf(30, 1);
  EXPECT_GE(total(many.bound.v), 60 * 0x1p-20 * total(many.v));
}

/// A sum that is below the smallest normal number may be flushed before the
/// scale, or the factor of dropout, makes it larger.
TEST(Gradients, areAllowedToFlushSums) {
  Case tiny(1, 1);
  tiny.of.numerics = {};
  tiny.of.numerics[runtime::PlanGradientNumerics::Flush] = 0x1p-126;
  tiny.in.problem.scale = 16;
  tiny.in.problem.dropout = Dropout(0.75, {3, 5});
  for (std::vector<float> *values : {&tiny.in.q, &tiny.in.k, &tiny.of.o}) {
    std::fill(values->begin(), values->end(), 0x1p-20f);
  }
  Gradients gradients = computeGradients(tiny.in, tiny.of);
  EXPECT_GE(gradients.bound.q[0], 16 * 0x1p-126);
  EXPECT_LT(gradients.bound.q[0], 17 * 0x1p-126);
  // Two queries of a group.
  EXPECT_GE(gradients.bound.k[0], 2 * 16 * 0x1p-126);
  double most =
      *std::max_element(gradients.bound.v.begin(), gradients.bound.v.end());
  EXPECT_GE(most, 2 * 4 * 0x1p-126);
  EXPECT_LT(most, 9 * 0x1p-126);
}

/// What has no part in a score is exactly 0.
TEST(Gradients, haveNoErrorWithoutKeys) {
  Case some(5, 4);
  some.window(-2, 1, 0); // queries 0 and 1 see no keys
  Gradients gradients = computeGradients(some.in, some.of);
  for (size_t n = 0;
       n < 2 * size_t(some.in.problem.headsQ * some.in.problem.dim); ++n) {
    EXPECT_EQ(gradients.q[n], 0);
    EXPECT_EQ(gradients.bound.q[n], 0);
  }
  EXPECT_EQ(gradients.lse[0], -INFINITY);
  EXPECT_GT(gradients.bound.q.back(), 0);
}

/// The sum of the probabilities times the gradients of the probabilities is the
/// product of the rows of dO and O.
TEST(Gradients, sumUpToDelta) {
  Case some;
  some.of.lse.clear();
  some.window(-1, 100, 0);
  const Problem &p = some.in.problem;
  Gradients gradients = computeGradients(some.in, some.of);
  RowResult row;
  for (int64_t i = 0; i < p.seqQ; ++i) {
    computeRow(some.in, {1, 3, i}, row);
    double sum = 0, weights = 0;
    for (size_t n = 0; n < row.keys.size(); ++n) {
      double product = 0;
      for (int64_t c = 0; c < p.dimV; ++c) {
        int64_t query = p.rowIndex(1, i, 3, p.seqQ, p.headsQ);
        int64_t key = p.rowIndex(1, row.keys[n], 1, p.seqK, p.headsK);
        product += double(some.of.o[size_t(query * p.dimV + c)]) *
                   double(some.in.v[size_t(key * p.dimV + c)]);
      }
      sum += row.scores[Exact][n] * product;
      weights += row.scores[Exact][n];
    }
    double want = row.hasKeys ? sum / weights : 0;
    EXPECT_NEAR(gradients.delta[size_t((p.headsQ + 3) * p.seqQ + i)], want,
                1e-12);
  }
}

} // namespace
