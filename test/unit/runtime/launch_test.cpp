// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launch path down to the driver's functions.

#include "cuda_device.h"
#include "fake_driver.h"
#include "loaded_bundle.h"
#include "sample_call.h"

using namespace attn::runtime;

namespace {

class Launch : public testing::Test {
protected:
  void SetUp() override {
    driver = makeFakeDriver();
    fakeState().paramCount = 6;
  }

  /// Opens the device and loads the bundle; returns the first message.
  std::string load(const std::string &plan = samplePlanText(),
                   bool withCubin = true) {
    Bundle bundle;
    bundle.plan = plan;
    bundle.ptx = ".version 8.0";
    if (withCubin) {
      bundle.cubin = {'\x7f', 'E', 'L', 'F'};
    }
    loaded.reset(); // before its device
    if (Status status = CudaDevice::open(driver, 0, device)) {
      return status.getMessage();
    }
    if (Status status = LoadedBundle::create(bundle, loaded)) {
      return status.getMessage();
    }
    return loaded->prepare(*device).getMessage();
  }

  std::string launch() {
    attn_launch_args args = call.get();
    args.stream = reinterpret_cast<void *>(0x77);
    return loaded->launch(*device, args).getMessage();
  }

  CudaDriver driver;
  std::unique_ptr<CudaDevice> device;
  std::unique_ptr<LoadedBundle> loaded;
  SampleCall call;
};

using U64s = std::vector<uint64_t>;
using U32s = std::vector<uint32_t>;

TEST_F(Launch, encodesTensorMaps) {
  ASSERT_EQ(load(), "");
  call.k.view.byte_offset = 64;
  call.k.strides = {4000, 264, 128, 1};
  ASSERT_EQ(launch(), "");
  ASSERT_EQ(fakeState().maps.size(), 2u);
  const RecordedMap &q = fakeState().maps[0];
  EXPECT_EQ(q.dataType, 9);
  EXPECT_EQ(q.address, reinterpret_cast<void *>(0x10000));
  EXPECT_EQ(q.sizes, (U64s{64, 5, 2, 4, 2}));
  EXPECT_EQ(q.strides, (U64s{1024, 128, 256, 5120}));
  EXPECT_EQ(q.box, (U32s{64, 128, 2, 1, 1}));
  EXPECT_EQ(q.swizzle, 3);
  EXPECT_EQ(q.l2Promotion, 3);
  const RecordedMap &k = fakeState().maps[1];
  EXPECT_EQ(k.address, reinterpret_cast<void *>(0x20040));
  EXPECT_EQ(k.sizes, (U64s{32, 7, 2, 2}));
  EXPECT_EQ(k.strides, (U64s{528, 256, 8000}));
  EXPECT_EQ(k.swizzle, 2);
  EXPECT_EQ(k.l2Promotion, 2);
}

TEST_F(Launch, passesConfigurationAndParameters) {
  ASSERT_EQ(load(), "");
  EXPECT_EQ(fakeState().sharedSizes, std::vector<int>{197632});
  EXPECT_EQ(fakeState().functions, std::vector<std::string>{"causal"});
  ASSERT_EQ(launch(), "");
  ASSERT_EQ(fakeState().launches.size(), 1u);
  const RecordedLaunch &made = fakeState().launches[0];
  EXPECT_EQ(made.config.gridDimX, 8u);
  EXPECT_EQ(made.config.gridDimY, 1u);
  EXPECT_EQ(made.config.blockDimX, 384u);
  EXPECT_EQ(made.config.sharedMemBytes, 197632u);
  EXPECT_EQ(made.config.hStream, reinterpret_cast<CUstream>(0x77));
  EXPECT_EQ(made.config.numAttrs, 0u);
  // Maps by value, aligned to 64 bytes.
  EXPECT_EQ(made.params[0], fakeState().maps[0].target);
  EXPECT_EQ(made.words[0], 1u);
  EXPECT_EQ(made.words[1], 2u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(made.params[1]) % 64, 0u);
  EXPECT_EQ(made.words[2], 0x60000u);
  EXPECT_EQ(uint32_t(made.words[3]), 5u);
  EXPECT_EQ(made.words[4], 4u);
  EXPECT_EQ(uint32_t(made.words[5]), 0x3f000000u);
}

TEST_F(Launch, makesThePrimaryContextCurrentAndRestores) {
  ASSERT_EQ(load(), "");
  ASSERT_EQ(launch(), "");
  EXPECT_EQ(fakeState().launches[0].context, device->getCudaContext());
  EXPECT_EQ(fakeState().pushes, fakeState().pops);
  int before = fakeState().pushes;
  fakeState().current = device->getCudaContext();
  ASSERT_EQ(launch(), "");
  EXPECT_EQ(fakeState().pushes, before);
}

TEST_F(Launch, passesClusters) {
  ASSERT_EQ(load(samplePlanWith("\"cluster\":[1,1,1]", "\"cluster\":[2,1,1]")),
            "");
  ASSERT_EQ(launch(), "");
  EXPECT_EQ(fakeState().launches[0].cluster, (U32s{2, 1, 1}));
  call.resize(1, 5, 7, 3, 3);
  EXPECT_EQ(launch(), "plan: variants[0].launches[0].grid[0]: expected a "
                      "multiple of the cluster's 2, got 3");
}

TEST_F(Launch, mayStartEarly) {
  ASSERT_EQ(load(), "");
  ASSERT_EQ(launch(), "");
  EXPECT_FALSE(fakeState().launches[0].dependent);
  EXPECT_EQ(fakeState().launches[0].config.numAttrs, 0u);
  ASSERT_EQ(load(samplePlanWith("\"cluster\":[1,1,1]",
                                "\"cluster\":[2,1,1],\"dependent\":1")),
            "");
  ASSERT_EQ(launch(), "");
  EXPECT_TRUE(fakeState().launches[1].dependent);
  EXPECT_EQ(fakeState().launches[1].cluster, (U32s{2, 1, 1}));
}

TEST_F(Launch, encodesStrideZero) {
  ASSERT_EQ(load(), "");
  call.k.strides[0] = 0;
  ASSERT_EQ(launch(), "");
  EXPECT_EQ(fakeState().maps[1].strides, (U64s{512, 256, 0}));
  EXPECT_EQ(fakeState().maps[1].sizes, (U64s{32, 7, 2, 2}));
}

TEST_F(Launch, emptyGridIsSkipped) {
  ASSERT_EQ(load(), "");
  call.resize(2, 0, 7, 4, 2);
  call.q.view.data = nullptr;
  EXPECT_EQ(launch(), "");
  call.resize(0, 5, 7, 4, 2);
  EXPECT_EQ(launch(), "");
  EXPECT_TRUE(fakeState().launches.empty());
  EXPECT_TRUE(fakeState().maps.empty());
}

TEST_F(Launch, emptyKeysAreEncodedAsOne) {
  ASSERT_EQ(load(), "");
  call.resize(2, 5, 0, 4, 2);
  call.k.view.data = nullptr;
  call.v.view.data = nullptr;
  ASSERT_EQ(launch(), "");
  const RecordedMap &k = fakeState().maps[1];
  EXPECT_EQ(k.sizes, (U64s{32, 1, 2, 2}));
  EXPECT_NE(k.address, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(k.address) % 16, 0u);
  for (uint64_t stride : k.strides) {
    EXPECT_EQ(stride % 16, 0u);
  }
  EXPECT_EQ(fakeState().launches.size(), 1u);
}

TEST_F(Launch, loadsPtxWithoutCubin) {
  ASSERT_EQ(load(samplePlanText(), /*withCubin=*/false), "");
  EXPECT_EQ(fakeState().image, ".ver");
  loaded.reset();
  EXPECT_EQ(fakeState().unloads, 1);
}

TEST_F(Launch, loadsNothingWhileAGraphIsCaptured) {
  ASSERT_EQ(load(), "");
  Bundle bundle = *loaded->getContent();
  ASSERT_EQ(LoadedBundle::create(bundle, loaded).getMessage(), "");
  fakeState().image.clear();
  fakeState().captured = reinterpret_cast<CUstream>(0x77);
  EXPECT_EQ(launch(), "expected attn_bundle_prepare, or a launch, before the "
                      "first launch under CUDA graph capture: kernels cannot "
                      "be loaded there");
  EXPECT_EQ(fakeState().image + std::to_string(fakeState().launches.size()),
            "0");
  EXPECT_EQ(loaded->prepare(*device).getMessage(), "");
  EXPECT_EQ(launch(), "");
  EXPECT_EQ(fakeState().launches.size(), 1u);
}

TEST_F(Launch, prefersTheCubin) {
  ASSERT_EQ(load(), "");
  EXPECT_EQ(fakeState().image, "\x7f"
                               "ELF");
}

TEST_F(Launch, refusesOtherTargets) {
  const std::string text = "expected compute capability 9.0 for target "
                           "sm_90a, got ";
  fakeState().major = 8;
  EXPECT_EQ(load(), text + "8.0");
  fakeState().major = 10;
  EXPECT_EQ(load(), text + "10.0");
  EXPECT_EQ(load(samplePlanWith("sm_90a", "sm_90")), "");
  EXPECT_EQ(load(samplePlanWith("sm_90a", "sm_100f")), "");
  fakeState().minor = 3;
  EXPECT_EQ(load(samplePlanWith("sm_90a", "sm_100f")), "");
  EXPECT_EQ(load(samplePlanWith("sm_90a", "sm_100a")),
            "expected compute capability 10.0 for target sm_100a, got 10.3");
  fakeState().major = 12;
  EXPECT_EQ(load(samplePlanWith("sm_90a", "sm_100f")),
            "expected compute capability 10.0 for target sm_100f, got 12.3");
  EXPECT_EQ(load(samplePlanWith("sm_90a", "gfx942")),
            "plan: target: expected sm_<number>[a|f], got 'gfx942'");
}

TEST_F(Launch, namesTheErrorAndTheKernel) {
  fakeState().failing = "cuModuleLoadDataEx";
  fakeState().failure = 209;
  fakeState().jitLog = "ptxas fatal";
  EXPECT_EQ(load(), "cuModuleLoadDataEx (cubin) of kernel 'causal' failed "
                    "with CUDA_ERROR_NO_BINARY_FOR_GPU: ptxas fatal");
  fakeState().failing = "cuModuleGetFunction";
  fakeState().failure = 500;
  EXPECT_EQ(load(), "cuModuleGetFunction of kernel 'causal' failed with CUDA "
                    "error 500");
  fakeState().failing = "cuFuncSetAttribute";
  fakeState().failure = 1;
  EXPECT_EQ(load(), "cuFuncSetAttribute (197632 bytes of shared memory) of "
                    "kernel 'causal' failed with CUDA_ERROR_INVALID_VALUE");
  fakeState().failing = "";
  ASSERT_EQ(load(), "");
  fakeState().failing = "cuTensorMapEncodeTiled";
  EXPECT_EQ(launch(), "cuTensorMapEncodeTiled of kernel 'causal' failed with "
                      "CUDA_ERROR_INVALID_VALUE");
  fakeState().failing = "cuLaunchKernelEx";
  EXPECT_EQ(launch(), "cuLaunchKernelEx of kernel 'causal' failed with "
                      "CUDA_ERROR_INVALID_VALUE");
}

TEST_F(Launch, refusesOrdinalsThatAreNotThere) {
  std::unique_ptr<CudaDevice> none;
  EXPECT_EQ(CudaDevice::open(driver, 1, none).getMessage(),
            "expected a CUDA device ordinal from 0 to 0, got 1");
  fakeState().deviceCount = 0;
  EXPECT_EQ(CudaDevice::open(driver, 0, none).getMessage(), "no CUDA device");
}

TEST_F(Launch, refusesProblemsWithoutVariant) {
  ASSERT_EQ(load(samplePlanWith("1000000", "3")), "");
  EXPECT_EQ(launch(), "no variant of 'causal' accepts this problem: b = 2, "
                      "sq = 5, hq = 4, sk = 7, hk = 2");
}

TEST_F(Launch, runsTheFirstVariantWhoseConditionHolds) {
  ASSERT_EQ(load(twoVariantsText(7)), "");
  EXPECT_EQ(fakeState().functions,
            (std::vector<std::string>{"short_keys", "causal"}));
  for (int keys : {0, 6, 7, 8, 100}) {
    call.resize(2, 5, keys, 4, 2);
    size_t index = 9, bytes = 9;
    ASSERT_EQ(loaded->variantIndex(call.get(), 0, index).getMessage(), "");
    EXPECT_EQ(index, keys <= 7 ? 0u : 1u) << keys;
    ASSERT_EQ(loaded->workspaceSize(call.get(), 0, bytes).getMessage(), "");
    EXPECT_EQ(bytes, keys <= 7 ? 64u : 0u) << keys;
  }
}

TEST_F(Launch, wantsTheWorkspaceOfTheVariantThatRuns) {
  ASSERT_EQ(load(twoVariantsText(7)), "");
  call.resize(2, 5, 7, 4, 2);
  EXPECT_EQ(launch(), "expected the workspace to be at least 64 bytes, got 0");
  call.resize(2, 5, 8, 4, 2);
  EXPECT_EQ(launch(), "");
  EXPECT_EQ(fakeState().launches.size(), 1u);
}

TEST_F(Launch, refusesParametersThatDoNotFit) {
  ASSERT_EQ(load(samplePlanWith("\"kind\":\"i32\",\"expr\":\"sq\"",
                                "\"kind\":\"i32\",\"expr\":[\"mul\",\"sq\","
                                "1000000000]")),
            "");
  EXPECT_EQ(launch(), "plan: variants[0].launches[0].params[3].expr: expected "
                      "a 32-bit integer, got 5000000000");
  ASSERT_EQ(load(samplePlanWith("\"stride\":128", "\"stride\":130")), "");
  EXPECT_EQ(launch(), "plan: variants[0].launches[0].params[0].dims[2].stride:"
                      " expected a multiple of 16 bytes from 0 to below 2^40,"
                      " got 130");
  ASSERT_EQ(load(samplePlanWith("[\"mul\",[\"ceildiv\",\"sq\",128],\"hq\","
                                "\"b\"],1,1]",
                                "1,1,65536]")),
            "");
  EXPECT_EQ(launch(), "plan: variants[0].launches[0].grid[2]: expected 0 to "
                      "65535, got 65536");
}

TEST_F(Launch, asksForWorkspace) {
  ASSERT_EQ(load(samplePlanWith("\"workspace\":0",
                                "\"workspace\":[\"mul\",\"sm_count\",16]")),
            "");
  EXPECT_TRUE(loaded->needsMultiprocessorCount());
  size_t bytes = 0;
  EXPECT_EQ(loaded->workspaceSize(call.get(), 132, bytes).getMessage(), "");
  EXPECT_EQ(bytes, 2112u);
  EXPECT_EQ(launch(),
            "expected the workspace to be at least 2112 bytes, got 0");
  attn_launch_args args = call.get();
  args.workspace_size = 4096;
  args.workspace = reinterpret_cast<void *>(0x80);
  EXPECT_EQ(loaded->launch(*device, args).getMessage(),
            "expected the workspace's address to be a multiple of 256 and not "
            "null, got 128");
  args.workspace = reinterpret_cast<void *>(0x100);
  EXPECT_EQ(loaded->launch(*device, args).getMessage(), "");
}

TEST_F(Launch, repeatsACallOnOtherMemory) {
  ASSERT_EQ(load(), "");
  ASSERT_EQ(launch(), "");
  call.k.view.data = reinterpret_cast<void *>(0x90000);
  call.lse.view.data = reinterpret_cast<void *>(0xa0000);
  ASSERT_EQ(launch(), "");
  EXPECT_EQ(fakeState().maps.size(), 2u);
  ASSERT_EQ(fakeState().moves.size(), 1u);
  EXPECT_EQ(fakeState().moves[0].map, fakeState().maps[1].target);
  EXPECT_EQ(fakeState().moves[0].address, reinterpret_cast<void *>(0x90000));
  ASSERT_EQ(fakeState().launches.size(), 2u);
  const RecordedLaunch &first = fakeState().launches[0];
  const RecordedLaunch &again = fakeState().launches[1];
  EXPECT_EQ(again.params, first.params);
  EXPECT_EQ(again.config.gridDimX, first.config.gridDimX);
  EXPECT_EQ(again.words[2], 0xa0000u);
  EXPECT_EQ(again.words[4], first.words[4]);
}

TEST_F(Launch, evaluatesAnewWhateverElseChanged) {
  ASSERT_EQ(load(), "");
  auto encodes = [&](const char *what) {
    size_t before = fakeState().maps.size();
    EXPECT_EQ(launch(), "") << what;
    EXPECT_EQ(fakeState().maps.size(), before + 2) << what;
    EXPECT_EQ(launch(), "") << what;
    EXPECT_EQ(fakeState().maps.size(), before + 2) << what << ", again";
  };
  encodes("the first");
  call.scale = 0.25;
  encodes("a scalar");
  EXPECT_EQ(uint32_t(fakeState().launches.back().words[5]), 0x3e800000u);
  call.k.strides = {4000, 264, 128, 1};
  encodes("a stride");
  call.resize(2, 5, 9, 4, 2);
  encodes("a length");
  EXPECT_EQ(fakeState().maps.back().sizes, (U64s{32, 9, 2, 2}));
  call.o.strides.clear();
  encodes("no strides");
  ASSERT_EQ(load(), "");
  encodes("another bundle");
}

TEST_F(Launch, remembersCallsThatDifferInAScalar) {
  ASSERT_EQ(load(), "");
  for (int round = 0; round < 2; ++round) {
    for (float scale : {0.125F, 0.25F, 0.5F, 1.0F}) {
      call.scale = scale;
      ASSERT_EQ(launch(), "");
    }
  }
  EXPECT_EQ(fakeState().maps.size(), 4 * 2u);
}

TEST_F(Launch, checksTheMemoryOfRepeatedCalls) {
  ASSERT_EQ(load(samplePlanWith("\"workspace\":0", "\"workspace\":64")), "");
  attn_launch_args args = call.get();
  args.workspace_size = 64;
  args.workspace = reinterpret_cast<void *>(0x100);
  auto launchArgs = [&] { return loaded->launch(*device, args).getMessage(); };
  ASSERT_EQ(launchArgs(), "");
  call.q.view.data = reinterpret_cast<void *>(0x10008);
  EXPECT_EQ(launchArgs(), "expected the address of 'q' to be a multiple of 16 "
                          "bytes, got 8 bytes past one");
  call.q.view.data = nullptr;
  EXPECT_EQ(launchArgs(),
            "expected the data of 'q' to be a device address, got null");
  call.q.view.data = reinterpret_cast<void *>(0x10000);
  args.workspace_size = 63;
  EXPECT_EQ(launchArgs(),
            "expected the workspace to be at least 64 bytes, got 63");
  args.workspace_size = 64;
  fakeState().failing = "cuLaunchKernelEx";
  EXPECT_EQ(launchArgs(), "cuLaunchKernelEx of kernel 'causal' failed with "
                          "CUDA_ERROR_INVALID_VALUE");
  fakeState().failing = "cuTensorMapReplaceAddress";
  call.q.view.data = reinterpret_cast<void *>(0x20000);
  EXPECT_EQ(launchArgs(), "cuTensorMapReplaceAddress of kernel 'causal' failed "
                          "with CUDA_ERROR_INVALID_VALUE");
  fakeState().failing = "";
  EXPECT_EQ(launchArgs(), "");
  EXPECT_EQ(fakeState().moves.back().address,
            reinterpret_cast<void *>(0x20000));
}

TEST_F(Launch, repeatsCallsByName) {
  ASSERT_EQ(load(), "");
  attn_launch_args args = call.get();
  std::vector<const DLTensor *> tensors(args.tensors, args.tensors + 6);
  const char *names[] = {"q", "k", "v", "slopes", "o", "lse"};
  const char *scalars[] = {"scale"};
  args.tensors = tensors.data();
  args.tensor_names = names;
  args.scalar_names = scalars;
  ASSERT_EQ(loaded->launch(*device, args).getMessage(), "");
  std::swap(names[1], names[2]);
  ASSERT_EQ(loaded->launch(*device, args).getMessage(), "");
  ASSERT_EQ(fakeState().maps.size(), 4u);
  EXPECT_EQ(fakeState().maps[3].address, call.v.view.data);
  std::swap(tensors[1], tensors[2]);
  ASSERT_EQ(loaded->launch(*device, args).getMessage(), "");
  EXPECT_EQ(fakeState().maps.size(), 4u);
  EXPECT_EQ(fakeState().moves.back().address, call.k.view.data);
}

TEST_F(Launch, takesNoNamesForNone) {
  ASSERT_EQ(load(), "");
  ASSERT_EQ(launch(), "");
  attn_launch_args args = call.get();
  const char *tensors[] = {"", "", "", "", "", ""};
  args.tensor_names = tensors;
  EXPECT_EQ(loaded->launch(*device, args).getMessage(),
            "expected the name of a tensor argument (q, k, v, slopes, o, lse), "
            "got ''");
  args.tensor_names = nullptr;
  const char *scalars[] = {""};
  args.scalar_names = scalars;
  EXPECT_EQ(loaded->launch(*device, args).getMessage(),
            "expected the name of a scalar argument (scale), got ''");
}

/// The sample with a counter of 64 bytes in a workspace of 96.
std::string withCounter() {
  return samplePlanWith("\"workspace\":0", "\"workspace\":96,\"zeroed\":64");
}

TEST_F(Launch, clearsTheWorkspaceUnlessItIsReady) {
  ASSERT_EQ(load(withCounter()), "");
  attn_launch_args args = call.get();
  args.stream = reinterpret_cast<void *>(0x77);
  args.workspace = reinterpret_cast<void *>(0x100);
  args.workspace_size = 1000;
  // The second launch repeats the first.
  for (size_t i : {0, 1}) {
    ASSERT_EQ(loaded->launch(*device, args).getMessage(), "");
    ASSERT_EQ(fakeState().clears.size(), i + 1);
    const RecordedClear &clear = fakeState().clears[i];
    EXPECT_EQ(clear.address, 0x100u);
    EXPECT_EQ(clear.bytes, 64u);
    EXPECT_EQ(clear.stream, reinterpret_cast<CUstream>(0x77));
    EXPECT_EQ(clear.launchesBefore, i);
  }
  args.flags = ATTN_LAUNCH_WORKSPACE_READY;
  ASSERT_EQ(loaded->launch(*device, args).getMessage(), "");
  EXPECT_EQ(fakeState().clears.size(), 2u);
  EXPECT_EQ(fakeState().launches.size(), 3u);
}

TEST_F(Launch, clearsNothingWhereNothingHasToBeZero) {
  ASSERT_EQ(load(samplePlanWith("\"workspace\":0", "\"workspace\":96")), "");
  attn_launch_args args = call.get();
  args.workspace = reinterpret_cast<void *>(0x100);
  args.workspace_size = 96;
  ASSERT_EQ(loaded->launch(*device, args).getMessage(), "");
  EXPECT_EQ(fakeState().launches.size(), 1u);
  EXPECT_EQ(fakeState().clears.size(), 0u);
}

TEST_F(Launch, clearsWhatOtherVariantsNeedZero) {
  std::string text = twoVariantsText(7);
  text.replace(text.find("\"workspace\":64"), 14,
               "\"workspace\":64,\"zeroed\":64");
  text.replace(text.find("\"workspace\":0"), 13,
               "\"workspace\":512,\"zeroed\":512");
  ASSERT_EQ(load(text), "");
  attn_launch_args args = call.get();
  args.workspace = reinterpret_cast<void *>(0x100);
  for (size_t size : {64, 300, 600}) {
    args.workspace_size = size;
    ASSERT_EQ(loaded->launch(*device, args).getMessage(), "");
    EXPECT_EQ(fakeState().clears.back().bytes, std::min<size_t>(size, 512));
  }
}

TEST_F(Launch, waitsForItsMemset) {
  std::string text = withCounter();
  text.replace(text.find("\"cluster\":[1,1,1]"), 17,
               "\"cluster\":[1,1,1],\"dependent\":1");
  ASSERT_EQ(load(text), "");
  attn_launch_args args = call.get();
  args.workspace = reinterpret_cast<void *>(0x100);
  args.workspace_size = 96;
  for (bool ready : {false, true, false}) {
    args.flags = ready ? ATTN_LAUNCH_WORKSPACE_READY : 0;
    ASSERT_EQ(loaded->launch(*device, args).getMessage(), "");
    EXPECT_EQ(fakeState().launches.back().dependent, ready);
  }
}

TEST_F(Launch, saysWhenTheMemsetFails) {
  ASSERT_EQ(load(withCounter()), "");
  attn_launch_args args = call.get();
  args.workspace = reinterpret_cast<void *>(0x100);
  args.workspace_size = 96;
  fakeState().failing = "cuMemsetD8Async";
  EXPECT_EQ(loaded->launch(*device, args).getMessage(),
            "cuMemsetD8Async of 64 bytes of workspace failed with "
            "CUDA_ERROR_INVALID_VALUE");
  EXPECT_EQ(fakeState().launches.size(), 0u);
}

TEST_F(Launch, refusesAddressesThatDoNotExist) {
  ASSERT_EQ(load(), "");
  ASSERT_EQ(launch(), "");
  // A repeated call has the same rules.
  for (uint64_t offset : {uint64_t(1) << 63, ~uint64_t(15)}) {
    call.lse.view.byte_offset = offset;
    EXPECT_EQ(launch(), "expected the end of 'lse' to be an address below "
                        "2^63, got byte_offset " +
                            std::to_string(offset) +
                            " and 160 bytes from address 393216");
  }
  EXPECT_EQ(fakeState().launches.size(), 1u);
}

} // namespace
