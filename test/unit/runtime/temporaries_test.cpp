// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls with several launches, and what these leave to one another in the
// workspace.

#include "cuda_device.h"
#include "fake_driver.h"
#include "loaded_bundle.h"
#include "sample_call.h"

using namespace attn::runtime;

namespace {

// Of the sample call: 128 rows of 2 x 4 heads, and 3 rows of 5 elements of 2
// bytes, each at a multiple of 16 bytes.
constexpr size_t kBytesOfT = 4096;
constexpr size_t kBytesOfU = 48;
constexpr size_t kPlaceOfT = 256;
constexpr size_t kPlaceOfU = kPlaceOfT + kBytesOfT;
constexpr uintptr_t kWorkspace = 0x800000;

std::string twoLaunchesWith(const std::string &from, const std::string &to) {
  std::string text = twoLaunchesText();
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string errorWith(const std::string &from, const std::string &to) {
  LaunchPlan plan;
  return parseLaunchPlan(twoLaunchesWith(from, to), plan).getMessage();
}

TEST(Temporaries, areRead) {
  LaunchPlan plan = parsedPlan(twoLaunchesText());
  ASSERT_EQ(plan.values.size(), 1u);
  ASSERT_EQ(plan.temporaries.size(), 2u);
  EXPECT_EQ(plan.temporaries[0].name, "t");
  EXPECT_EQ(plan.temporaries[0].dims.size(), 3u);
  EXPECT_EQ(plan.temporaries[1].dtype, DataType::BF16);
  ASSERT_EQ(plan.variants.at(0).launches.size(), 2u);
  const std::vector<PlanParam> &params = plan.variants[0].launches[0].params;
  EXPECT_EQ(params[0].arg, 7);
  EXPECT_EQ(params[1].arg, 8);
  EXPECT_EQ(plan.typeOf(8), DataType::BF16);
  EXPECT_EQ(plan.typeOf(3), DataType::F32);
}

TEST(Temporaries, haveNewNames) {
  const std::string name = R"({"name":"u",)";
  EXPECT_EQ(errorWith(name, R"({"name":"lse",)"),
            "plan: temporaries[1].name: expected a new name, got 'lse'");
  EXPECT_EQ(errorWith(name, R"({"name":"t",)"),
            "plan: temporaries[1].name: expected a new name, got 't'");
  EXPECT_EQ(errorWith(R"("name":"rows")", R"("name":"u.stride.1")"),
            "plan: temporaries[0].dims[2]: unknown symbol 'rows'");
  EXPECT_EQ(errorWith(R"("values":[)",
                      R"("values":[{"name":"u.stride.1","expr":1},)"),
            "plan: temporaries[1].name: expected 'u.stride.1' to be no other "
            "symbol");
}

TEST(Temporaries, areWellFormed) {
  EXPECT_EQ(errorWith(R"("dtype":"f32","dims":["b","hq","rows"])",
                      R"("dtype":"f33","dims":["b","hq","rows"])"),
            "plan: temporaries[0].dtype: unknown element type 'f33'");
  EXPECT_EQ(errorWith(R"("dims":["b","hq","rows"])", R"("dims":[])"),
            "plan: temporaries[0].dims: expected an array of 1 to 8 values, "
            "got []");
  EXPECT_EQ(errorWith(R"("dims":["b","hq","rows"])",
                      R"("dims":["b"],"access":"read")"),
            "plan: temporaries[0]: unknown key 'access'");
  EXPECT_EQ(errorWith(R"("tensor":"t"})", R"("tensor":"w"})"),
            "plan: variants[0].launches[0].params[0].tensor: expected the name "
            "of a tensor argument, got 'w'");
  EXPECT_EQ(errorWith(R"("expr":"t.stride.0")", R"("expr":"t.stride.3")"),
            "plan: variants[0].launches[0].params[4].expr: unknown symbol "
            "'t.stride.3'");
  EXPECT_EQ(errorWith(R"("expr":["mul",["ceildiv","sq",128],128])",
                      R"("expr":["mul","late",128])"),
            "plan: values[0].expr[1]: unknown symbol 'late'");
}

TEST(Temporaries, mayDependOnTheMachine) {
  EXPECT_LT(parsedPlan(twoLaunchesText()).smCountSymbol, 0);
  EXPECT_GE(parsedPlan(twoLaunchesWith(R"("dims":[3,"sq"])",
                                       R"("dims":["sm_count","sq"])"))
                .smCountSymbol,
            0);
  EXPECT_GE(parsedPlan(twoLaunchesWith(R"(["ceildiv","sq",128])",
                                       R"(["ceildiv","sq","sm_count"])"))
                .smCountSymbol,
            0);
}

TEST(Temporaries, haveSizesAndStrides) {
  LaunchPlan plan = parsedPlan(twoLaunchesText());
  SampleCall call;
  BoundArguments bound(plan);
  ASSERT_EQ(bindError(plan, call, bound), "");
  auto valueOf = [&](const char *name) {
    return bound.symbols.get(plan.symbols.lookup(name));
  };
  EXPECT_EQ(valueOf("rows"), 128);
  EXPECT_EQ(valueOf("t.stride.0"), 512);
  EXPECT_EQ(valueOf("t.stride.1"), 128);
  EXPECT_EQ(valueOf("t.stride.2"), 1);
  EXPECT_EQ(valueOf("u.stride.0"), 8);
  EXPECT_EQ(bound.temporaryBytes, (std::vector<int64_t>{kBytesOfT, kBytesOfU}));
  WorkspaceNeed need;
  ASSERT_FALSE(bool(evaluateWorkspace(plan, plan.variants[0], bound, need)));
  EXPECT_EQ(need.temporaries, (std::vector<size_t>{kPlaceOfT, kPlaceOfU}));
  EXPECT_EQ(need.bytes, kPlaceOfU + kBytesOfU);
  EXPECT_EQ(need.zeroed, 4u);
}

TEST(Temporaries, comeAfterTheBytesThatStayZero) {
  // They belong to another variant, which may run next in this workspace.
  std::string text = twoLaunchesText();
  size_t begin = text.find(R"("variants":[)") + 12;
  std::string other = R"({"when":0,"workspace":1000,"zeroed":900,"launches":[
    {"kernel":"other","grid":[1,1,1],"block":[1,1,1],"cluster":[1,1,1],
     "smem":0,"params":[]}]},)";
  LaunchPlan plan = parsedPlan(text.insert(begin, other));
  SampleCall call;
  BoundArguments bound(plan);
  ASSERT_EQ(bindError(plan, call, bound), "");
  WorkspaceNeed need;
  ASSERT_FALSE(bool(evaluateWorkspace(plan, plan.variants[1], bound, need)));
  EXPECT_EQ(need.temporaries[0], 1024u);
  EXPECT_EQ(need.zeroed, 900u);
}

TEST(Temporaries, refuseSizesThatMakeNoSense) {
  auto bindWith = [](const std::string &size) {
    LaunchPlan plan = parsedPlan(
        twoLaunchesWith(R"("dims":[3,"sq"])", R"("dims":[)" + size + "]"));
    SampleCall call;
    BoundArguments bound(plan);
    return bindError(plan, call, bound);
  };
  EXPECT_EQ(bindWith(R"(3,["sub","sq",6])"),
            "expected dim 1 of temporary 'u' to be at least 0, got -1");
  EXPECT_EQ(bindWith(R"(4611686018427387904,"sq")"),
            "expected the extent of temporary 'u' to be less than 2^62 bytes, "
            "got dim 0 of size 4611686018427387904");
  EXPECT_EQ(bindWith(R"(["div","sq",0],"sq")"),
            "plan: temporaries[1].dims[0]: division by zero");
  EXPECT_EQ(bindWith(R"(0,"sq")"), "");
}

class TwoLaunches : public testing::Test {
protected:
  std::string load(const std::string &plan = twoLaunchesText()) {
    driver = makeFakeDriver();
    fakeState().paramCount = 6;
    Bundle bundle;
    bundle.plan = plan;
    bundle.cubin = {'\x7f', 'E', 'L', 'F'};
    loaded.reset(); // before its device
    if (Status status = CudaDevice::open(driver, 0, device)) {
      return status.getMessage();
    }
    if (Status status = LoadedBundle::create(bundle, loaded)) {
      return status.getMessage();
    }
    return loaded->prepare(*device).getMessage();
  }

  std::string launch(uintptr_t workspace = kWorkspace, size_t bytes = 8192) {
    attn_launch_args args = call.get();
    args.workspace = reinterpret_cast<void *>(workspace);
    args.workspace_size = bytes;
    return loaded->launch(*device, args).getMessage();
  }

  CudaDriver driver;
  std::unique_ptr<CudaDevice> device;
  std::unique_ptr<LoadedBundle> loaded;
  SampleCall call;
};

TEST_F(TwoLaunches, runInOrder) {
  ASSERT_EQ(load(), "");
  EXPECT_EQ(fakeState().functions,
            (std::vector<std::string>{"before", "causal"}));
  size_t bytes = 0;
  ASSERT_EQ(loaded->workspaceSize(call.get(), 0, bytes).getMessage(), "");
  EXPECT_EQ(bytes, kPlaceOfU + kBytesOfU);
  EXPECT_EQ(launch(kWorkspace, bytes - 1),
            "expected the workspace to be at least 4400 bytes, got 4399");
  ASSERT_EQ(launch(kWorkspace, bytes), "");
  ASSERT_EQ(fakeState().launches.size(), 2u);
  const RecordedLaunch &first = fakeState().launches[0];
  EXPECT_EQ(first.config.blockDimX, 128u);
  EXPECT_EQ(first.words[0], kWorkspace + kPlaceOfT);
  EXPECT_EQ(first.words[1], kWorkspace + kPlaceOfU);
  EXPECT_EQ(first.words[2], kWorkspace);
  EXPECT_EQ(uint32_t(first.words[3]), 128u);
  EXPECT_EQ(first.words[4], 512u);
  EXPECT_EQ(first.words[5], 8u);
  const RecordedLaunch &second = fakeState().launches[1];
  EXPECT_EQ(second.config.blockDimX, 384u);
  EXPECT_EQ(second.words[2], kWorkspace + kPlaceOfT);
  ASSERT_EQ(fakeState().clears.size(), 1u);
  EXPECT_EQ(fakeState().clears[0].bytes, 4u);
  EXPECT_EQ(fakeState().clears[0].launchesBefore, 0u);
}

TEST_F(TwoLaunches, repeatOnOtherMemory) {
  ASSERT_EQ(load(), "");
  ASSERT_EQ(launch(), "");
  size_t maps = fakeState().maps.size();
  constexpr uintptr_t other = 0xa00000;
  ASSERT_EQ(launch(other), "");
  EXPECT_EQ(fakeState().maps.size(), maps);
  ASSERT_EQ(fakeState().launches.size(), 4u);
  EXPECT_EQ(fakeState().launches[2].words[0], other + kPlaceOfT);
  EXPECT_EQ(fakeState().launches[2].words[1], other + kPlaceOfU);
  EXPECT_EQ(fakeState().launches[2].words[2], other);
  EXPECT_EQ(fakeState().launches[3].words[2], other + kPlaceOfT);
}

TEST_F(TwoLaunches, haveTensorMapsOfTemporaries) {
  std::string map = R"({"kind":"tensor_map","tensor":"t","swizzle":0,
    "l2_promotion":0,"dims":[{"size":"rows","box":64},
    {"size":"hq","stride":["mul","t.stride.1",4],"box":1}]})";
  ASSERT_EQ(load(twoLaunchesWith(R"({"kind":"pointer","tensor":"t"})", map)),
            "");
  ASSERT_EQ(launch(), "");
  ASSERT_FALSE(fakeState().maps.empty());
  const RecordedMap &made = fakeState().maps[0];
  EXPECT_EQ(made.address, reinterpret_cast<void *>(kWorkspace + kPlaceOfT));
  EXPECT_EQ(made.dataType, 7);
  EXPECT_EQ(made.sizes, (std::vector<uint64_t>{128, 4}));
  EXPECT_EQ(made.strides, (std::vector<uint64_t>{512}));
  ASSERT_EQ(launch(0xa00000), "");
  ASSERT_FALSE(fakeState().moves.empty());
  EXPECT_EQ(fakeState().moves[0].address,
            reinterpret_cast<void *>(0xa00000 + kPlaceOfT));
}

TEST_F(TwoLaunches, launchNothingIfTheSecondCannotBe) {
  ASSERT_EQ(
      load(twoLaunchesWith("[\"ceildiv\",\"sq\",128],\"hq\",\"b\"],1,1]",
                           "[\"ceildiv\",\"sq\",128],\"hq\",\"b\"],1,65536]")),
      "");
  EXPECT_EQ(launch(), "plan: variants[0].launches[1].grid[2]: expected 0 to "
                      "65535, got 65536");
  EXPECT_EQ(fakeState().launches.size(), 0u);
  EXPECT_EQ(fakeState().clears.size(), 0u);

  // Only the second launch has tensor maps.
  ASSERT_EQ(load(), "");
  fakeState().failing = "cuTensorMapEncodeTiled";
  EXPECT_EQ(launch(), "cuTensorMapEncodeTiled of kernel 'causal' failed with "
                      "CUDA_ERROR_INVALID_VALUE");
  EXPECT_EQ(fakeState().launches.size(), 0u);
  EXPECT_EQ(fakeState().clears.size(), 0u);
}

TEST_F(TwoLaunches, refuseARepeatedCallAsAWhole) {
  ASSERT_EQ(load(), "");
  ASSERT_EQ(launch(), "");
  size_t launches = fakeState().launches.size();
  size_t clears = fakeState().clears.size();
  fakeState().failing = "cuTensorMapReplaceAddress";
  call.k.view.data = reinterpret_cast<void *>(0x90000);
  EXPECT_EQ(launch(), "cuTensorMapReplaceAddress of kernel 'causal' failed "
                      "with CUDA_ERROR_INVALID_VALUE");
  EXPECT_EQ(fakeState().launches.size(), launches);
  EXPECT_EQ(fakeState().clears.size(), clears);
}

TEST_F(TwoLaunches, runTheSecondAloneIfTheFirstIsEmpty) {
  ASSERT_EQ(load(twoLaunchesWith(R"("grid":["b",1,1])",
                                 R"("grid":[["sub","b",2],1,1])")),
            "");
  ASSERT_EQ(launch(), "");
  ASSERT_EQ(fakeState().launches.size(), 1u);
  EXPECT_EQ(fakeState().launches[0].config.blockDimX, 384u);
}

} // namespace
