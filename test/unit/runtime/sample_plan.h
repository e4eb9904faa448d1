// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan like the compiler's, which tests use and break.

#ifndef ATTN_TEST_UNIT_RUNTIME_SAMPLE_PLAN_H
#define ATTN_TEST_UNIT_RUNTIME_SAMPLE_PLAN_H

#include "launch_plan.h"

#include <gtest/gtest.h>

namespace attn::runtime {

inline std::string samplePlanText() {
  return R"({
 "version":1, "name":"causal", "target":"sm_90a",
 "problem":{"kind":"fwd","dtype":"bf16","head_dim":128,"head_dim_v":128,
   "layout":"bshd","mask":"causal_top_left",
   "keys":{"last":"i","bounds":[]},"score_region":"custom",
   "mask_region":"none",
   "score_program":[["index","index_cast","h"],["f32","extract","@slopes","%0"],
     ["i32","subi","j","i"],["f32","sitofp","%2"],["f32","mulf","%1","%3"],
     ["f32","addf","s","%4"],["f32","yield","%5"]]},
 "args":[
  {"name":"q","role":"query","kind":"tensor","dtype":"bf16","access":"read","dims":["b","sq","hq",128]},
  {"name":"k","role":"key","kind":"tensor","dtype":"bf16","access":"read","dims":["b","sk","hk",128]},
  {"name":"v","role":"value","kind":"tensor","dtype":"bf16","access":"read","dims":["b","sk","hk",128]},
  {"name":"scale","role":"scale","kind":"f32","at_least":1.1754943508222875e-38,"at_most":2.3586572330881436e+38},
  {"name":"slopes","role":"capture","kind":"tensor","dtype":"f32","access":"read","dims":["hq"]},
  {"name":"o","role":"output","kind":"tensor","dtype":"bf16","access":"write","dims":["b","sq","hq",128]},
  {"name":"lse","role":"lse","kind":"tensor","dtype":"f32","access":"write","dims":["b","hq","sq"]}],
 "checks":[{"expr":["mod","hq","hk"],"equals":0,
   "message":"{hq} query heads are not a multiple of {hk} key/value heads"}],
 "variants":[{"when":["lt","sq",1000000],"workspace":0,"launches":[{
   "kernel":"causal",
   "grid":[["mul",["ceildiv","sq",128],"hq","b"],1,1],
   "block":[384,1,1],"cluster":[1,1,1],"smem":197632,
   "params":[
    {"kind":"tensor_map","tensor":"q","swizzle":128,"l2_promotion":256,"dims":[
      {"size":64,"box":64},
      {"size":"sq","stride":["mul","q.stride.1",2],"box":128},
      {"size":2,"stride":128,"box":2},
      {"size":"hq","stride":["mul","q.stride.2",2],"box":1},
      {"size":"b","stride":["mul","q.stride.0",2],"box":1}]},
    {"kind":"tensor_map","tensor":"k","swizzle":64,"l2_promotion":128,"dims":[
      {"size":32,"box":32},
      {"size":"sk","stride":["mul","k.stride.1",2],"box":176},
      {"size":"hk","stride":["mul","k.stride.2",2],"box":1},
      {"size":"b","stride":["mul","k.stride.0",2],"box":1}]},
    {"kind":"pointer","tensor":"lse"},
    {"kind":"i32","expr":"sq"},
    {"kind":"i64","expr":["mul","slopes.stride.0",4]},
    {"kind":"f32","arg":"scale"}]}],
  "numerics":{"score_relative":5e-6,"o_relative":0.0079,"o_per_key":5e-8,"flush":1e-38,
   "lse_relative":2e-7,"lse_absolute":2e-5,"lse_per_root_key":4e-7},
  "report":{"anything":[1,2]}, "schedule":"text"}]
})";
}

/// The sample with its first `from` replaced.
inline std::string samplePlanWith(const std::string &from,
                                  const std::string &to) {
  std::string text = samplePlanText();
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// The sample with two variants: kernel `short_keys` with 64 bytes of workspace
/// where there are at most `border` keys, and the sample's kernel.
inline std::string twoVariantsText(int border) {
  std::string text = samplePlanText();
  size_t begin = text.find("\"variants\":[") + 12;
  size_t end = text.rfind(']');
  std::string last = text.substr(begin, end - begin);
  std::string first = last;
  auto put = [](std::string &variant, const std::string &from,
                const std::string &to) {
    variant.replace(variant.find(from), from.size(), to);
  };
  put(last, "[\"lt\",\"sq\",1000000]", "1");
  put(first, "[\"lt\",\"sq\",1000000]",
      "[\"ge\"," + std::to_string(border) + ",\"sk\"]");
  put(first, "\"workspace\":0", "\"workspace\":64");
  put(first, "\"kernel\":\"causal\"", "\"kernel\":\"short_keys\"");
  return text.substr(0, begin) + first + "," + last + text.substr(end);
}

/// The sample with two launches and with temporaries `t` and `u`: kernel
/// `before` writes them, and the sample's kernel reads `t`.
inline std::string twoLaunchesText() {
  std::string text = samplePlanWith(R"("checks":[)", R"("values":[
   {"name":"rows","expr":["mul",["ceildiv","sq",128],128]}],
 "temporaries":[{"name":"t","dtype":"f32","dims":["b","hq","rows"]},
   {"name":"u","dtype":"bf16","dims":[3,"sq"]}],
 "checks":[)");
  auto put = [&](const std::string &from, const std::string &to) {
    text.replace(text.find(from), from.size(), to);
  };
  put(R"("workspace":0)", R"("workspace":100,"zeroed":4)");
  put(R"({"kind":"pointer","tensor":"lse"})",
      R"({"kind":"pointer","tensor":"t"})");
  put(R"("launches":[)", R"("launches":[{"kernel":"before",
   "grid":["b",1,1],"block":[128,1,1],"cluster":[1,1,1],"smem":0,
   "schedule":"text","report":{"anything":1},
   "params":[{"kind":"pointer","tensor":"t"},
     {"kind":"pointer","tensor":"u","aligned_rows":1},{"kind":"workspace"},
     {"kind":"i32","expr":"rows"},{"kind":"i64","expr":"t.stride.0"},
     {"kind":"i64","expr":"u.stride.0"}]},)");
  return text;
}

inline LaunchPlan parsedPlan(const std::string &text = samplePlanText()) {
  LaunchPlan plan;
  Status status = parseLaunchPlan(text, plan);
  EXPECT_FALSE(bool(status)) << status.getMessage();
  return plan;
}

} // namespace attn::runtime

#endif // ATTN_TEST_UNIT_RUNTIME_SAMPLE_PLAN_H
