// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sample_call.h"

#include <cmath>

using namespace attn::runtime;

namespace {

class Arguments : public testing::Test {
protected:
  std::string error() {
    BoundArguments bound(plan);
    return bindError(plan, call, bound);
  }
  int64_t valueOf(const char *symbol) {
    BoundArguments bound(plan);
    EXPECT_EQ(bindError(plan, call, bound), "");
    int number = plan.symbols.lookup(symbol);
    EXPECT_TRUE(number >= 0 && bound.symbols.isBound(number)) << symbol;
    return bound.symbols.get(number);
  }

  LaunchPlan plan = parsedPlan();
  SampleCall call;
};

TEST_F(Arguments, bindsSymbols) {
  EXPECT_EQ(valueOf("b"), 2);
  EXPECT_EQ(valueOf("sq"), 5);
  EXPECT_EQ(valueOf("sk"), 7);
  EXPECT_EQ(valueOf("hq"), 4);
  EXPECT_EQ(valueOf("hk"), 2);
  EXPECT_EQ(valueOf("q.stride.0"), 5 * 4 * 128);
  EXPECT_EQ(valueOf("q.stride.1"), 4 * 128);
  EXPECT_EQ(valueOf("q.stride.3"), 1);
}

TEST_F(Arguments, takesNullStridesAsPacked) {
  call.q.strides.clear();
  EXPECT_EQ(valueOf("q.stride.1"), 4 * 128);
}

TEST_F(Arguments, rank) {
  call.q.shape = {2, 5, 512};
  call.q.strides = {2560, 512, 1};
  EXPECT_EQ(error(), "expected the rank of 'q' to be 4, got 3");
}

TEST_F(Arguments, elementType) {
  call.k.view.dtype = toDLPack(DataType::F16);
  EXPECT_EQ(error(), "expected the element type of 'k' to be bf16, got f16");
  call.k.view.dtype = {kDLFloat, 8, 4};
  EXPECT_EQ(error(), "expected the element type of 'k' to be bf16, got code 2 "
                     "bits 8 lanes 4");
}

TEST_F(Arguments, fixedExtent) {
  call.q.shape[3] = 64;
  EXPECT_EQ(error(), "expected dim 3 of 'q' to be 128, got 64");
}

TEST_F(Arguments, negativeExtent) {
  call.q.shape[1] = -1;
  EXPECT_EQ(error(), "expected dim 1 of 'q' to be at least 0, got -1");
}

TEST_F(Arguments, sharedExtent) {
  call.v.shape[1] = 8;
  EXPECT_EQ(error(), "expected dim 1 of 'v' to be 7 like dim 1 of 'k', got 8");
}

TEST_F(Arguments, device) {
  call.o.view.device = {kDLCPU, 0};
  EXPECT_EQ(error(), "expected the device of 'o' to be cuda:0, got cpu:0");
  call.o.view.device = {kDLCUDA, 1};
  EXPECT_EQ(error(), "expected the device of 'o' to be cuda:0, got cuda:1");
}

TEST_F(Arguments, nullData) {
  call.q.view.data = nullptr;
  EXPECT_EQ(error(),
            "expected the data of 'q' to be a device address, got null");
}

TEST_F(Arguments, contiguousLastDim) {
  call.q.strides[3] = 2;
  EXPECT_EQ(error(), "expected the stride of dim 3 of 'q' to be 1 since the "
                     "last dim has to be contiguous, got 2");
  call.q.strides[3] = 1;
  call.slopes.strides[0] = 0;
  EXPECT_EQ(error(), "expected the stride of dim 0 of 'slopes' to be 1 since "
                     "the last dim has to be contiguous, got 0");
}

TEST_F(Arguments, strideOfLastDimOfOneElementDoesNotMatter) {
  call.resize(2, 1, 7, 1, 1);
  call.slopes.strides[0] = 77;
  call.lse.strides[2] = 5;
  EXPECT_EQ(error(), "");
}

TEST_F(Arguments, alignedAddress) {
  call.q.view.byte_offset = 8;
  EXPECT_EQ(error(), "expected the address of 'q' to be a multiple of 16 "
                     "bytes, got 8 bytes past one");
  call.q.view.byte_offset = 16;
  EXPECT_EQ(error(), "");
  // Only TMA needs 16.
  call.lse.view.byte_offset = 4;
  EXPECT_EQ(error(), "");
  call.lse.view.byte_offset = 2;
  EXPECT_EQ(error(), "expected the address of 'lse' to be a multiple of 4 "
                     "bytes, got 2 bytes past one");
}

TEST_F(Arguments, alignedStrides) {
  call.k.strides[1] = 260;
  EXPECT_EQ(error(), "expected the stride of dim 1 of 'k' to be a multiple of "
                     "16 bytes (8 elements), got 260 elements");
  call.k.strides[1] = 264;
  EXPECT_EQ(error(), "");
}

TEST_F(Arguments, negativeStride) {
  call.k.strides[1] = -256;
  EXPECT_EQ(error(),
            "expected the stride of dim 1 of 'k' to be at least 0, got -256");
}

TEST_F(Arguments, strideZeroOnBatchAndHeadsOfInputs) {
  call.k.strides[0] = 0;
  EXPECT_EQ(valueOf("k.stride.0"), 0);
  call.k.strides[2] = 0;
  EXPECT_EQ(valueOf("k.stride.2"), 0);
}

TEST_F(Arguments, strideZeroWhereHeadsComeFirst) {
  plan.problem.layout = Layout::BHSD;
  call.k.strides[1] = 0;
  EXPECT_EQ(error(), "");
  call.k.strides[2] = 0;
  EXPECT_EQ(error(), "expected the stride of dim 2 of 'k' to be greater than "
                     "0 since it is no batch or head dim, got 0");
}

TEST_F(Arguments, strideZeroElsewhere) {
  call.k.strides[1] = 0;
  EXPECT_EQ(error(), "expected the stride of dim 1 of 'k' to be greater than "
                     "0 since it is no batch or head dim, got 0");
}

TEST_F(Arguments, strideZeroOfOutputs) {
  call.o.strides[0] = 0;
  EXPECT_EQ(error(), "expected the stride of dim 0 of 'o' to be greater than "
                     "0 since it is written, got 0");
}

TEST_F(Arguments, overlappingOutput) {
  call.o.strides[1] = 256;
  EXPECT_EQ(error(), "expected the stride of dim 1 of 'o' to be at least 512 "
                     "since it is written and must not overlap, got 256");
  // An input may overlap, and an output may have its dims in any order.
  call.o.strides = {5 * 4 * 128, 128, 5 * 128, 1};
  call.q.strides[1] = 256;
  EXPECT_EQ(error(), "");
}

TEST_F(Arguments, extentBeyond63Bits) {
  call.k.strides[0] = int64_t(1) << 62;
  EXPECT_EQ(error(), "expected the extent of 'k' to be less than 2^63 bytes, "
                     "got shape (2, 7, 2, 128) with strides "
                     "(4611686018427387904, 256, 128, 1)");
}

TEST_F(Arguments, addressBeyond63Bits) {
  call.lse.view.byte_offset = uint64_t(1) << 63;
  EXPECT_EQ(error(), "expected the end of 'lse' to be an address below 2^63, "
                     "got byte_offset 9223372036854775808 and 160 bytes from "
                     "address 393216");
  // The sum wraps around to a small one.
  call.lse.view.byte_offset = UINT64_MAX - 0x5ffff;
  EXPECT_NE(error(), "");
  call.lse.view.byte_offset = 0;
  call.k.strides[0] = (int64_t(1) << 62) - 0x8000;
  EXPECT_NE(error(), "");
}

TEST_F(Arguments, largeOffsetsAreFine) {
  call.k.strides[0] = int64_t(1) << 35;
  EXPECT_EQ(valueOf("k.stride.0"), int64_t(1) << 35);
}

TEST_F(Arguments, strideOfOneElementIsReplaced) {
  call.resize(1, 5, 7, 4, 2);
  call.k.strides[0] = 12345;
  call.o.strides[0] = 0;
  EXPECT_EQ(valueOf("k.stride.0"), 7 * 2 * 128);
}

TEST_F(Arguments, emptyTensorsNeedNothing) {
  call.resize(2, 5, 0, 4, 2);
  call.k.view.data = nullptr;
  call.v.view.data = nullptr;
  call.v.strides = {1, 3, -5, 9};
  EXPECT_EQ(error(), "");
}

TEST_F(Arguments, scale) {
  const std::string rule = "expected 'scale' to be from 1.17549435e-38 to "
                           "2.35865723e+38 as f32, got ";
  call.scale = 0;
  EXPECT_EQ(error(), rule + "0");
  call.scale = -1;
  EXPECT_EQ(error(), rule + "-1");
  call.scale = INFINITY;
  EXPECT_EQ(error(), rule + "inf");
  call.scale = NAN;
  EXPECT_EQ(error(), rule + "nan");
  call.scale = 1e-60;
  EXPECT_EQ(error(), rule + "1e-60");
  call.scale = 1e-39; // denormal
  EXPECT_EQ(error(), rule + "1e-39");
  call.scale = 3e38; // log2(e) times it is infinite
  EXPECT_EQ(error(), rule + "3e+38");
}

TEST_F(Arguments, planChecks) {
  call.resize(2, 5, 7, 4, 3);
  EXPECT_EQ(error(), "4 query heads are not a multiple of 3 key/value heads");
  call.resize(2, 5, 7, 4, 0);
  EXPECT_EQ(error(), "4 query heads are not a multiple of 0 key/value heads "
                     "(plan: checks[0].expr: division by zero)");
}

TEST_F(Arguments, aScalarThatIsASizeHasItsValue) {
  std::string text = samplePlanText();
  auto put = [&](const std::string &from, const std::string &to) {
    text.replace(text.find(from), from.size(), to);
  };
  put(R"({"name":"scale","role":"scale","kind":"f32","at_least":1.1754943508222875e-38,"at_most":2.3586572330881436e+38})",
      R"({"name":"sk","kind":"i32"})");
  put(R"({"kind":"f32","arg":"scale"})", R"({"kind":"i32","expr":"sk"})");
  plan = parsedPlan(text);
  call.scale = 128;
  EXPECT_EQ(error(), "expected 'sk' to be 7, the size of that name, got 128");
  call.scale = 7;
  EXPECT_EQ(error(), "");
}

TEST_F(Arguments, aSizeIsNoScalarOfItsName) {
  std::string text = samplePlanText();
  size_t at = text.find("{\"name\":\"slopes\"");
  text.insert(at, R"({"name":"sq","symbol":"sq_1","kind":"i32"},)");
  plan = parsedPlan(text);
  attn_launch_args args = call.get();
  const double scalars[] = {call.scale, 77}; // of 5 queries
  args.scalars = scalars;
  args.num_scalars = 2;
  CallValues values;
  ASSERT_FALSE(collectArguments(plan, args, values));
  BoundArguments bound(plan);
  EXPECT_EQ(bindArguments(plan, values, 0, bound).getMessage(), "");
  EXPECT_EQ(bound.symbols.get(plan.symbols.lookup("sq")), 5);
  EXPECT_EQ(bound.symbols.get(plan.symbols.lookup("sq_1")), 77);
}

TEST_F(Arguments, positionalCounts) {
  attn_launch_args args = call.get();
  CallValues values;
  args.num_tensors = 5;
  EXPECT_EQ(collectArguments(plan, args, values).getMessage(),
            "expected 6 tensor arguments (q, k, v, slopes, o, lse), got 5");
  args.num_tensors = 6;
  args.num_scalars = 0;
  EXPECT_EQ(collectArguments(plan, args, values).getMessage(),
            "expected 1 scalar arguments (scale), got 0");
  args.num_scalars = 1;
  args.scalars = nullptr;
  EXPECT_EQ(collectArguments(plan, args, values).getMessage(),
            "expected 'scalars' to be given since num_scalars is 1, got null");
  args.tensors = nullptr;
  EXPECT_EQ(collectArguments(plan, args, values).getMessage(),
            "expected 'tensors' to be given since num_tensors is 6, got null");
}

TEST_F(Arguments, byName) {
  attn_launch_args args = call.get();
  const DLTensor *tensors[] = {call.lse.get(), call.o.get(), call.slopes.get(),
                               call.v.get(),   call.k.get(), call.q.get()};
  const char *names[] = {"lse", "o", "slopes", "v", "k", "q"};
  args.tensors = tensors;
  args.tensor_names = names;
  CallValues values;
  EXPECT_EQ(collectArguments(plan, args, values).getMessage(), "");
  EXPECT_EQ(values.tensors[0], call.q.get());
  EXPECT_EQ(values.tensors[6], call.lse.get());

  names[5] = "k";
  EXPECT_EQ(collectArguments(plan, args, values).getMessage(),
            "expected argument 'k' once, got it twice");
  names[5] = "scale";
  EXPECT_EQ(collectArguments(plan, args, values).getMessage(),
            "expected the name of a tensor argument (q, k, v, slopes, o, lse), "
            "got 'scale'");
  names[5] = nullptr;
  EXPECT_EQ(collectArguments(plan, args, values).getMessage(),
            "expected the name of a tensor argument (q, k, v, slopes, o, lse), "
            "got ''");
  args.num_tensors = 5;
  EXPECT_EQ(collectArguments(plan, args, values).getMessage(),
            "expected tensor argument 'q' to be given, got none of that name");
}

TEST_F(Arguments, nullTensor) {
  attn_launch_args args = call.get();
  const DLTensor *tensors[6] = {};
  args.tensors = tensors;
  CallValues values;
  ASSERT_FALSE(bool(collectArguments(plan, args, values)));
  BoundArguments bound(plan);
  EXPECT_EQ(bindArguments(plan, values, 132, bound).getMessage(),
            "expected argument 'q' to be a tensor, got null");
}

} // namespace
