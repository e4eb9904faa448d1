// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "problem.h"

#include "numbers.h"
#include "tensors.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace attn;
using namespace attn::run;

/// Returns a dim of the tensor of that role; null if there is none.
static const runtime::PlanDim *findDim(const runtime::LaunchPlan &plan,
                                       runtime::Role role, size_t dim) {
  int arg = plan.findArg(role);
  return arg < 0 || plan.args[size_t(arg)].dims.size() <= dim
             ? nullptr
             : &plan.args[size_t(arg)].dims[dim];
}

/// Evaluates the keys that the mask leaves to each query. If the plan's
/// expressions cannot be evaluated, it leaves none, and every result is wrong.
static void seeKeys(const runtime::LaunchPlan &plan, Problem &problem) {
  const runtime::PlanKeys &keys = plan.problem.keys;
  // Q and O have at least 8 elements of 2 bytes for each position; longer
  // sequences are refused before their keys are computed.
  bool isTooLong = double(problem.seqQ) * 32 > mostTensorBytes();
  if ((!keys.first && !keys.last) || isTooLong) {
    return;
  }
  runtime::SymbolValues values(plan.symbols.size());
  auto bind = [&](runtime::Role role, int64_t length) {
    const runtime::PlanDim *dim =
        findDim(plan, role, size_t(plan.problem.getPositionDim()));
    if (dim && dim->isSymbol) {
      values.bind(int(dim->value), length);
    }
  };
  bind(runtime::Role::Query, problem.seqQ);
  bind(runtime::Role::Key, problem.seqK);
  for (const auto &[name, value] : problem.bounds) {
    values.bind(plan.args[size_t(plan.findArg(name))].symbol, value);
  }
  auto evaluate = [&](const std::optional<runtime::Expr> &key, int64_t open) {
    int64_t value = open;
    bool isKnown = !key || !key->evaluate(plan.symbols, values, value);
    return isKnown ? std::clamp<int64_t>(value, -1, problem.seqK) : -1;
  };
  for (int64_t i = 0; i < problem.seqQ; ++i) {
    values.bind(keys.querySymbol, i);
    int64_t first = evaluate(keys.first, 0);
    int64_t last = evaluate(keys.last, problem.seqK - 1);
    problem.keys.emplace_back(std::max<int64_t>(first, 0),
                              std::min(last + 1, problem.seqK));
  }
}

std::string Problem::describe() const {
  char text[320];
  std::string pattern;
  if (inputs.pattern != Pattern::Normal) {
    pattern = " inputs=" + inputs.spell();
  }
  std::string given;
  for (const auto &[name, value] : bounds) {
    given += " " + name + "=" + std::to_string(value);
  }
  auto number = [](int64_t value) { return static_cast<long long>(value); };
  std::snprintf(text, sizeof(text),
                "q=%lldx%lldx%lldx%lld kv=%lldx%lldx%lldx%lld scale=%g%s%s%s%s",
                number(batch), number(seqQ), number(headsQ), number(dim),
                number(batch), number(seqK), number(headsK), number(dim),
                double(scale), given.c_str(), padStrides ? " padded" : "",
                broadcastKv ? " broadcast-kv" : "", pattern.c_str());
  return text;
}

/// Returns the properties that the kernels fix.
static Problem fromPlan(const runtime::LaunchPlan &plan) {
  const runtime::PlanProblem &fixed = plan.problem;
  Problem problem;
  problem.dim = fixed.headDim;
  problem.dimV = fixed.headDimV;
  problem.dtype = fixed.dtype;
  problem.headsFirst = fixed.layout == runtime::Layout::BHSD;
  // whyNotCheckable() reports why a region is missing.
  auto read = [&](const runtime::RegionProgram &program, bool isScore) {
    auto region = std::make_shared<Region>();
    std::string err;
    bool good = Region::read(plan, program, isScore, *region, err);
    return good ? region : nullptr;
  };
  problem.score = read(fixed.scoreProgram, true);
  problem.allow = read(fixed.maskProgram, false);
  return problem;
}

/// Draws the state of dropout, if the kernels have it, and the sinks.
static void drawDropoutAndSinks(const runtime::LaunchPlan &plan,
                                double defaultRate, Problem &problem) {
  Random random(problem.seed, 1002);
  int rate = plan.findArg(runtime::Role::DropoutRate);
  if (rate >= 0) {
    auto given = problem.captures.scalars.find(plan.args[size_t(rate)].name);
    bool isGiven = given != problem.captures.scalars.end();
    problem.dropout = Dropout(isGiven ? given->second : defaultRate,
                              {random.bits(0), random.bits(1)});
  }
  if (plan.findArg(runtime::Role::Sinks) >= 0) {
    for (int64_t head = 0; head < problem.headsQ; ++head) {
      bool isNone = random.uniform(uint64_t(2 + 2 * head)) < 0.2;
      problem.sinks.push_back(
          isNone ? -INFINITY : 2 * random.normal(uint64_t(3 + 2 * head)));
    }
  }
}

/// Whether the plan's checks allow statistics of so many rows. Those that other
/// sizes decide, too, are left to the launch.
static bool admitsRows(const runtime::LaunchPlan &plan, int64_t rows) {
  const runtime::PlanDim *dim = findDim(plan, runtime::Role::Delta, 2);
  if (!dim || !dim->isSymbol) {
    return true;
  }
  runtime::SymbolValues values(plan.symbols.size());
  values.bind(int(dim->value), rows);
  return std::all_of(plan.checks.begin(), plan.checks.end(),
                     [&](const runtime::PlanCheck &check) {
                       int64_t value = 0;
                       bool isKnown =
                           !check.expr.evaluate(plan.symbols, values, value);
                       return !isKnown || value == check.equals;
                     });
}

/// Sets the rows of statistics, which end within a block or after it; sums of
/// dQ have full blocks. Without queries there are none.
static void padRows(const runtime::LaunchPlan &plan, Problem &problem) {
  constexpr int64_t largestBlock = 512;
  Random random(problem.seed, 1001);
  int64_t after = problem.seqQ == 0 ? 0 : random.integer(0, 0, 130);
  int64_t least = problem.seqQ + after;
  problem.statisticRows = least;
  while (!admitsRows(plan, problem.statisticRows) &&
         problem.statisticRows < least + largestBlock) {
    ++problem.statisticRows;
  }
}

static float defaultScale(const Problem &problem) {
  return float(1 / std::sqrt(double(problem.dim)));
}

Problem attn::run::makeProblem(const runtime::LaunchPlan &plan,
                               const Options &options) {
  Problem problem = fromPlan(plan);
  // The runtime refuses a head dim that the kernels do not have.
  if (options.q[3] != problem.dim) {
    problem.dim = options.q[3];
  }
  problem.batch = options.q[0];
  problem.seqQ = options.q[1];
  problem.headsQ = options.q[2];
  problem.seqK = options.kv[1];
  problem.headsK = options.kv[2];
  problem.scale =
      options.scale > 0 ? float(options.scale) : defaultScale(problem);
  problem.seed = options.seed;
  padRows(plan, problem);
  problem.hasTrueStatistics = options.check;
  problem.padStrides = options.padStrides;
  problem.broadcastKv = options.broadcastKv;
  problem.inputs = options.inputs;
  problem.captures = options.captures;
  drawDropoutAndSinks(plan, /*defaultRate=*/0.25, problem);
  for (const runtime::PlanBound &bound : plan.problem.keys.bounds) {
    auto given = options.captures.scalars.find(bound.name);
    problem.bounds.emplace_back(bound.name,
                                given == options.captures.scalars.end()
                                    ? bound.least
                                    : int64_t(given->second));
  }
  seeKeys(plan, problem);
  return problem;
}

/// Draws a mask bound: often within a block, sometimes beyond all keys.
static int64_t randomBound(const Random &random, uint64_t index,
                           int64_t least) {
  static const int64_t most[] = {0, 1, 16, 128, 400, 2000, INT32_MAX};
  int64_t limit = most[random.integer(index, 0, std::size(most) - 1)];
  return random.integer(index + 1, least, std::max(limit, least));
}

/// Draws a length: sometimes 0 or 1, otherwise small, round, prime or any.
static int64_t randomLength(const Random &random, uint64_t index) {
  static const int64_t primes[] = {2,   3,   5,   7,   13,  31,  61,  67,  127,
                                   131, 191, 193, 257, 383, 389, 509, 641, 701};
  static const int64_t round[] = {64, 128, 176, 192, 256, 352, 384, 512, 640};
  double kind = random.uniform(index);
  if (kind < 0.05) {
    return 0;
  }
  if (kind < 0.12) {
    return 1;
  }
  if (kind < 0.25) {
    return random.integer(index + 1, 2, 64);
  }
  if (kind < 0.50) {
    return primes[random.integer(index + 1, 0, std::size(primes) - 1)];
  }
  if (kind < 0.65) {
    return round[random.integer(index + 1, 0, std::size(round) - 1)];
  }
  return random.integer(index + 1, 2, 700);
}

/// Returns the lengths of the tensor of that role at which the plan's
/// conditions change, up to the largest that the reference can handle.
static std::vector<int64_t> borderLengths(const runtime::LaunchPlan &plan,
                                          runtime::Role role) {
  constexpr int64_t longest = 8192;
  std::vector<int64_t> borders;
  const runtime::PlanDim *length =
      findDim(plan, role, size_t(plan.problem.getPositionDim()));
  if (!length || !length->isSymbol) {
    return borders;
  }
  for (const runtime::PlanVariant &variant : plan.variants) {
    if (!variant.when.uses(int(length->value))) {
      continue;
    }
    for (int64_t border : variant.when.getLiterals()) {
      if (border > 0 && border <= longest) {
        borders.push_back(border);
      }
    }
  }
  return borders;
}

/// Sometimes moves `length` to a border between variants, or next to one.
static bool moveToBorder(const std::vector<int64_t> &borders,
                         const Random &random, uint64_t index,
                         int64_t &length) {
  if (borders.empty() || random.uniform(index) < 0.5) {
    return false;
  }
  size_t chosen =
      size_t(random.integer(index + 1, 0, int64_t(borders.size()) - 1));
  length = borders[chosen] + random.integer(index + 2, -1, 1);
  return true;
}

/// Returns a dim of the tensor of that role if the plan fixes it, otherwise
/// `value`.
static int64_t fixedOr(const runtime::LaunchPlan &plan, runtime::Role role,
                       size_t dim, int64_t value) {
  const runtime::PlanDim *known = findDim(plan, role, dim);
  return known && !known->isSymbol ? known->value : value;
}

Problem attn::run::makeRandomProblem(const runtime::LaunchPlan &plan,
                                     const GivenCaptures &captures,
                                     uint64_t seed) {
  using runtime::Role;
  static const int64_t groups[] = {1, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16};
  Random random(seed, 1000);
  Problem problem = fromPlan(plan);
  problem.captures = captures;
  problem.seed = seed;
  problem.batch = fixedOr(plan, Role::Query, 0, random.integer(0, 1, 3));
  size_t position = plan.problem.getPositionDim();
  size_t heads = plan.problem.getHeadsDim();
  int64_t lengthQ = randomLength(random, 10);
  int64_t lengthK = randomLength(random, 20);
  bool atBorder =
      moveToBorder(borderLengths(plan, Role::Query), random, 50, lengthQ);
  atBorder |= moveToBorder(borderLengths(plan, Role::Key), random, 60, lengthK);
  problem.seqQ = fixedOr(plan, Role::Query, position, lengthQ);
  problem.seqK = fixedOr(plan, Role::Key, position, lengthK);
  if (!atBorder && random.uniform(1) < 0.3) {
    problem.seqK = fixedOr(plan, Role::Key, position, problem.seqQ);
  }
  // Lengths at borders are large: use few heads, for the reference and a
  // simulator.
  int64_t mostHeads = atBorder ? 2 : 24;
  if (atBorder) {
    problem.batch = fixedOr(plan, Role::Query, 0, 1);
  }
  problem.headsK =
      fixedOr(plan, Role::Key, heads, random.integer(2, 1, atBorder ? 1 : 4));
  int64_t group = groups[random.integer(3, 0, std::size(groups) - 1)];
  group = std::min<int64_t>(group,
                            std::max<int64_t>(1, mostHeads / problem.headsK));
  problem.headsQ = fixedOr(plan, Role::Query, heads, problem.headsK * group);
  problem.scale = random.uniform(4) < 0.7
                      ? defaultScale(problem)
                      : float(0.01 + 0.5 * random.uniform(5));
  problem.padStrides = random.uniform(6) < 0.5;
  problem.broadcastKv = random.uniform(7) < 0.15;
  for (const runtime::PlanBound &bound : plan.problem.keys.bounds) {
    uint64_t index = 30 + 10 * uint64_t(problem.bounds.size());
    auto given = captures.scalars.find(bound.name);
    problem.bounds.emplace_back(bound.name,
                                given == captures.scalars.end()
                                    ? randomBound(random, index, bound.least)
                                    : int64_t(given->second));
  }
  seeKeys(plan, problem);
  padRows(plan, problem);
  static const double rates[] = {0, 0.1, 0.25, 0.5, 0.9, 1};
  drawDropoutAndSinks(plan, rates[random.integer(80, 0, std::size(rates) - 1)],
                      problem);
  if (plan.problem.kind == runtime::Kind::Fwd && random.uniform(8) < 0.15) {
    int64_t last = std::max<int64_t>(problem.seqK, 1) - 1;
    problem.inputs =
        chooseInputs(random.uniform(9), random.integer(30, 0, last),
                     2 * random.uniform(70) - 1);
    // The reference evaluates score functions in float64, which rounds less
    // than f32 if scores are large.
    if (problem.inputs.isLarge() && problem.score) {
      problem.inputs = Inputs();
    }
  }
  return problem;
}

std::vector<runtime::Role> attn::run::gradientsOf(runtime::Kind kind) {
  using runtime::Kind, runtime::Role;
  static const std::pair<Kind, std::vector<Role>> kinds[] = {
      {Kind::Bwd,
       {Role::QueryGradient, Role::KeyGradient, Role::ValueGradient}},
      {Kind::BwdOrdered,
       {Role::QueryGradient, Role::KeyGradient, Role::ValueGradient}},
      {Kind::BwdDQ, {Role::QueryGradient}},
      {Kind::BwdDKDV, {Role::KeyGradient, Role::ValueGradient}},
      {Kind::BwdDK, {Role::KeyGradient}},
      {Kind::BwdDV, {Role::ValueGradient}}};
  for (const auto &[each, gradients] : kinds) {
    if (kind == each) {
      return gradients;
    }
  }
  return {};
}

bool attn::run::isWholeBackward(const runtime::LaunchPlan &plan) {
  return plan.findArg(runtime::Role::Query) >= 0 &&
         plan.findArg(runtime::Role::LseGradient) >= 0;
}

std::vector<runtime::Role>
attn::run::neededRoles(const runtime::LaunchPlan &plan) {
  using runtime::Kind, runtime::Role;
  if (plan.problem.kind == Kind::Fwd) {
    return {Role::Query, Role::Key, Role::Value, Role::Output};
  }
  if (isWholeBackward(plan)) {
    return {Role::Query,          Role::Key, Role::Value,      Role::Output,
            Role::OutputGradient, Role::Lse, Role::LseGradient};
  }
  if (plan.problem.kind == Kind::Delta) {
    return {Role::Output,      Role::OutputGradient, Role::Lse,
            Role::LseGradient, Role::Delta,          Role::Lse2};
  }
  std::vector<Role> inputs = {Role::Query,          Role::Key,   Role::Value,
                              Role::OutputGradient, Role::Delta, Role::Lse2};
  std::vector<Role> results = gradientsOf(plan.problem.kind);
  if (results.empty()) {
    return {};
  }
  inputs.insert(inputs.end(), results.begin(), results.end());
  return inputs;
}

std::string attn::run::whyNotCheckable(const runtime::LaunchPlan &plan) {
  const runtime::PlanProblem &problem = plan.problem;
  if (neededRoles(plan).empty()) {
    return std::string("there is no reference for kind '") +
           runtime::nameOf(problem.kind) + "'";
  }
  for (const runtime::PlanArg &arg : plan.args) {
    if (!arg.role) {
      return "there is no reference: argument '" + arg.name +
             "' has no 'role', which compilers before it did not write";
    }
  }
  Region region;
  std::string err;
  if (problem.hasScoreRegion) {
    Region::read(plan, problem.scoreProgram, true, region, err);
  }
  if (err.empty() && problem.hasMaskRegion) {
    Region::read(plan, problem.maskProgram, false, region, err);
  }
  if (!err.empty()) {
    return "there is no reference: " + err;
  }
  bool isForward = problem.kind == runtime::Kind::Fwd;
  for (const runtime::PlanVariant &variant : plan.variants) {
    if (isForward ? variant.numerics.has_value()
                  : variant.gradientNumerics.has_value()) {
      continue;
    }
    return std::string("there are no bounds: the plan has no '") +
           (isForward ? "numerics" : "gradient_numerics") +
           "', which compilers before it did not write";
  }
  return "";
}
