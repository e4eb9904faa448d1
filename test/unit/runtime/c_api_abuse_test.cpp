// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Callers' errors: every misuse of the C interface ends with its status and a
// message that names the argument, the rule and both values. Undefined behavior
// is not tested: a handle or memory that was given back, a size larger than the
// memory, a string without an end.

#include "scale_call.h"

#include <climits>
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <memory>

using namespace attn::runtime;

namespace {

/// A bundle and a correct call of it; each test breaks one thing.
class Abuse : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(attn_launch(bundle.get(), &args), ATTN_SUCCESS)
        << attn_last_error();
  }

  /// Expects that the launch is refused, and so are the queries that check the
  /// same arguments.
  void expectRefused(attn_status want, const std::string &message,
                     bool byQueries = true) {
    EXPECT_EQ(attn_launch(bundle.get(), &args), want);
    EXPECT_EQ(attn_last_error(), message);
    if (byQueries) {
      size_t answer = 0;
      EXPECT_EQ(attn_workspace_size(bundle.get(), &args, &answer), want);
      EXPECT_EQ(attn_last_error(), message);
      EXPECT_EQ(attn_choose_variant(bundle.get(), &args, &answer), want);
      EXPECT_EQ(attn_last_error(), message);
    }
  }
  void expectRefused(const std::string &message) {
    expectRefused(ATTN_INVALID_ARGUMENT, message);
  }

  ScaleCall call;
  std::unique_ptr<attn_bundle, decltype(&attn_bundle_destroy)> bundle{
      call.load(), attn_bundle_destroy};
  attn_launch_args args = call.getArgs();
};

TEST_F(Abuse, nullPointers) {
  attn_bundle *loaded = bundle.get(), *none = nullptr;
  attn_argument argument = {};
  argument.size = sizeof(argument);
  size_t size = 0;
  const struct {
    std::function<attn_status()> abuse;
    std::string missing;
  } cases[] = {
      {[&] { return attn_bundle_load("x", nullptr, 0, nullptr); }, "bundle"},
      {[&] { return attn_bundle_save(nullptr, "x"); }, "bundle"},
      {[&] { return attn_bundle_save(loaded, nullptr); }, "path"},
      {[&] { return attn_bundle_serialize(nullptr, nullptr, 0, &size); },
       "bundle"},
      {[&] { return attn_bundle_serialize(loaded, nullptr, 0, nullptr); },
       "size"},
      {[&] { return attn_bundle_argument_count(nullptr, &size); }, "bundle"},
      {[&] { return attn_bundle_argument_count(loaded, nullptr); }, "count"},
      {[&] { return attn_bundle_argument(nullptr, 0, &argument); }, "bundle"},
      {[&] { return attn_bundle_argument(loaded, 0, nullptr); }, "argument"},
      {[&] { return attn_bundle_prepare(nullptr, {kDLCPU, 0}); }, "bundle"},
      {[&] { return attn_choose_variant(nullptr, &args, &size); }, "bundle"},
      {[&] { return attn_choose_variant(loaded, &args, nullptr); }, "variant"},
      {[&] { return attn_workspace_size(nullptr, &args, &size); }, "bundle"},
      {[&] { return attn_workspace_size(loaded, &args, nullptr); }, "bytes"},
      {[&] { return attn_launch(nullptr, &args); }, "bundle"},
      {[&] { return attn_simulator_option(nullptr, "0"); }, "name"},
      {[&] { return attn_simulator_option("seed", nullptr); }, "value"},
  };
  for (const auto &each : cases) {
    EXPECT_EQ(each.abuse(), ATTN_INVALID_ARGUMENT);
    EXPECT_EQ(attn_last_error(),
              "expected '" + each.missing + "' to be given, got null");
  }
  EXPECT_EQ(attn_bundle_load(nullptr, nullptr, 0, &none),
            ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(),
               "expected 'path' or 'data' to be given, got null");
  EXPECT_EQ(attn_bundle_serialize(loaded, nullptr, 7, &size),
            ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(),
               "expected 'capacity' to be 0 since 'data' is null, got 7");
  EXPECT_STREQ(attn_bundle_plan(nullptr), "");
  attn_bundle_retain(nullptr);
  attn_bundle_destroy(nullptr);
}

TEST_F(Abuse, files) {
  const struct {
    const char *path;
    attn_status want;
    const char *message;
  } cases[] = {
      {"", ATTN_IO_ERROR, "bundle: cannot open '': No such file or directory"},
      {"/nonexistent", ATTN_IO_ERROR,
       "bundle: cannot open '/nonexistent': No such file or directory"},
      {"/", ATTN_IO_ERROR,
       "bundle: expected '/' to be a regular file, got a directory"},
      {"/dev/zero", ATTN_IO_ERROR,
       "bundle: expected '/dev/zero' to be a regular file, got a character "
       "device"},
      {"/proc/self/status", ATTN_INVALID_BUNDLE,
       "bundle: expected the file size to be at least 32, got 0"},
  };
  for (const auto &each : cases) {
    attn_bundle *loaded = bundle.get();
    EXPECT_EQ(attn_bundle_load(each.path, nullptr, 0, &loaded), each.want);
    EXPECT_STREQ(attn_last_error(), each.message);
    EXPECT_EQ(loaded, nullptr);
  }
  EXPECT_EQ(attn_bundle_save(bundle.get(), "/nonexistent/x"), ATTN_IO_ERROR);
  EXPECT_STREQ(attn_last_error(),
               "bundle: cannot create a temporary file beside "
               "'/nonexistent/x': No such file or directory");
}

TEST_F(Abuse, damagedBundles) {
  std::vector<char> image = writeBundle(call.content);
  for (size_t size : {size_t(0), size_t(31), image.size() - 1}) {
    attn_bundle *loaded = bundle.get();
    EXPECT_EQ(attn_bundle_load(nullptr, image.data(), size, &loaded),
              ATTN_INVALID_BUNDLE);
    EXPECT_EQ(loaded, nullptr);
    EXPECT_EQ(std::string(attn_last_error()).find("bundle: expected "), 0u);
  }
  call.content.plan = "{\"version\":2}";
  EXPECT_EQ(call.launch(), ATTN_INVALID_BUNDLE);
  EXPECT_STREQ(attn_last_error(), "plan: version: expected one of 1, got 2");
}

TEST_F(Abuse, sizesOfStructs) {
  const std::string rule =
      "expected attn_launch_args.size to be from 88 to 4096, got ";
  for (size_t size : {size_t(0), size_t(87), size_t(4097), SIZE_MAX}) {
    args.size = size;
    expectRefused(rule + std::to_string(size));
  }
  EXPECT_EQ(attn_launch(bundle.get(), nullptr), ATTN_INVALID_ARGUMENT);
  EXPECT_EQ(attn_last_error(), rule + "a null struct");

  attn_argument argument = {};
  EXPECT_EQ(attn_bundle_argument(bundle.get(), 0, &argument),
            ATTN_INVALID_ARGUMENT);
  EXPECT_EQ(attn_last_error(),
            "expected attn_argument.size to be from " +
                std::to_string(offsetof(attn_argument, role)) +
                " to 4096, got 0");
  argument.size = sizeof(argument);
  EXPECT_EQ(attn_bundle_argument(bundle.get(), 3, &argument),
            ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(), "expected 'index' to be below 3, got 3");
}

TEST_F(Abuse, devices) {
  args.device = {kDLCPU, 1};
  expectRefused(ATTN_INVALID_ARGUMENT,
                "expected the simulator's device id to be 0, got 1", false);
  args.device = {DLDeviceType(77), 0};
  expectRefused(ATTN_INVALID_ARGUMENT,
                "expected the device type to be 2 (cuda) or 1 (cpu, the "
                "simulator), got 77",
                false);
  args.device = {kDLCPU, 0};
  call.in.device = {DLDeviceType(-1), INT_MIN};
  expectRefused("expected the device of 'x' to be cpu:0, got device type "
                "-1:-2147483648");
}

TEST_F(Abuse, numbersOfArguments) {
  args.num_tensors = 1;
  expectRefused("expected 2 tensor arguments (x, y), got 1");
  args.num_tensors = SIZE_MAX;
  expectRefused("expected 2 tensor arguments (x, y), got " +
                std::to_string(SIZE_MAX));
  args.num_tensors = 2;
  args.tensors = nullptr;
  expectRefused("expected 'tensors' to be given since num_tensors is 2, got "
                "null");
  args.tensors = call.tensors;
  args.num_scalars = 2;
  expectRefused("expected 1 scalar arguments (factor), got 2");
  args.num_scalars = 1;
  args.scalars = nullptr;
  expectRefused("expected 'scalars' to be given since num_scalars is 1, got "
                "null");
}

TEST_F(Abuse, names) {
  const char *names[] = {"x", "z"};
  args.tensor_names = names;
  expectRefused("expected the name of a tensor argument (x, y), got 'z'");
  names[1] = "factor";
  expectRefused("expected the name of a tensor argument (x, y), got 'factor'");
  names[1] = nullptr;
  expectRefused("expected the name of a tensor argument (x, y), got ''");
  names[1] = "x";
  expectRefused("expected argument 'x' once, got it twice");
  args.num_tensors = 1;
  expectRefused("expected tensor argument 'y' to be given, got none of that "
                "name");
}

TEST_F(Abuse, scalars) {
  // Any number is a factor; a scale has rules (Arguments.scale).
  for (double value : {0.0, -1.0, 1e300, double(NAN)}) {
    call.factor = value;
    EXPECT_EQ(attn_launch(bundle.get(), &args), ATTN_SUCCESS)
        << attn_last_error();
  }
}

TEST_F(Abuse, kindsOfTensors) {
  call.tensors[1] = nullptr;
  expectRefused("expected argument 'y' to be a tensor, got null");
  call.tensors[1] = &call.out;
  for (int32_t rank : {INT_MIN, -1, 0, 1, 3, INT_MAX}) {
    call.out.ndim = rank;
    expectRefused("expected the rank of 'y' to be 2, got " +
                  std::to_string(rank));
  }
  call.out.ndim = 2;
  call.out.shape = nullptr;
  expectRefused("expected the shape of 'y' to be an array, got null");
  call.out.shape = call.yShape;
  call.out.dtype = {kDLFloat, 16, 1};
  expectRefused("expected the element type of 'y' to be f32, got f16");
  call.out.dtype = {255, 255, 65535};
  expectRefused("expected the element type of 'y' to be f32, got code 255 bits "
                "255 lanes 65535");
}

TEST_F(Abuse, extents) {
  for (int64_t size : {INT64_MIN, int64_t(-1), int64_t(31), INT64_MAX}) {
    call.yShape[0] = size;
    expectRefused("expected dim 0 of 'y' to be " +
                  std::string(size < 0 ? "at least 0" : "32") + ", got " +
                  std::to_string(size));
  }
}

TEST_F(Abuse, strides) {
  const struct {
    int64_t stride;
    const char *rule;
  } cases[] = {
      {INT64_MIN, "at least 0"},
      {-1, "at least 0"},
      {0, "greater than 0 since it is written"},
  };
  for (const auto &each : cases) {
    call.yStrides[0] = each.stride;
    expectRefused("expected the stride of dim 0 of 'y' to be " +
                  std::string(each.rule) + ", got " +
                  std::to_string(each.stride));
  }
  call.yStrides[0] = INT64_MAX;
  expectRefused("expected the extent of 'y' to be less than 2^63 bytes, got "
                "shape (32, 1) with strides (9223372036854775807, 1)");
}

TEST_F(Abuse, addresses) {
  call.out.data = nullptr;
  expectRefused("expected the data of 'y' to be a device address, got null");
  call.out.data = call.y;
  call.out.byte_offset = 2;
  expectRefused("expected the address of 'y' to be a multiple of 4 bytes, got "
                "2 bytes past one");
  std::string from = " and 252 bytes from address " +
                     std::to_string(reinterpret_cast<uintptr_t>(call.y));
  for (uint64_t offset : {uint64_t(1) << 63, UINT64_MAX - 3}) {
    call.out.byte_offset = offset;
    expectRefused("expected the end of 'y' to be an address below 2^63, got "
                  "byte_offset " +
                  std::to_string(offset) + from);
  }
}

TEST_F(Abuse, memoryThatIsNotThere) {
  auto expectNone = [&](const std::string &range, const char *use) {
    EXPECT_EQ(attn_launch(bundle.get(), &args), ATTN_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(attn_last_error()).find("expected the " + range), 0u)
        << attn_last_error();
    EXPECT_NE(std::string(attn_last_error())
                  .find("to be host memory that can be " + std::string(use) +
                        ", got none at address "),
              std::string::npos)
        << attn_last_error();
  };
  call.out.byte_offset = uint64_t(1) << 62;
  expectNone("252 bytes of 'y' at address ", "written");
  call.out.byte_offset = 0;
  call.out.data = const_cast<char *>("a string of the program, which has none "
                                     "of the rights");
  call.out.data = reinterpret_cast<void *>(
      reinterpret_cast<uintptr_t>(call.out.data) / 4 * 4);
  expectNone("252 bytes of 'y' at address ", "written");
  call.out.data = call.y;
  call.yStrides[0] = int64_t(1) << 30;
  expectNone("133143986180 bytes of 'y' at address ", "written");
  call.yStrides[0] = 2;
  call.in.data = reinterpret_cast<void *>(uintptr_t(64));
  expectNone("128 bytes of 'x' at address 64 ", "read");
}

TEST_F(Abuse, flags) {
  args.flags = 6;
  expectRefused(ATTN_UNSUPPORTED,
                "expected attn_launch_args.flags to have bits of 1 alone, got "
                "6");
}

TEST_F(Abuse, workspaces) {
  std::string &plan = call.content.plan;
  plan.replace(plan.find("\"workspace\":0"), 13,
               "\"workspace\":512,\"zeroed\":256");
  bundle.reset(call.load());
  expectRefused(ATTN_INVALID_ARGUMENT,
                "expected the workspace to be at least 512 bytes, got 0",
                false);
  args.workspace_size = 512;
  expectRefused(ATTN_INVALID_ARGUMENT,
                "expected the workspace's address to be a multiple of 256 and "
                "not null, got 0",
                false);
  args.workspace = reinterpret_cast<void *>(uintptr_t(264));
  expectRefused(ATTN_INVALID_ARGUMENT,
                "expected the workspace's address to be a multiple of 256 and "
                "not null, got 264",
                false);
  args.workspace = reinterpret_cast<void *>(uintptr_t(256));
  expectRefused(ATTN_INVALID_ARGUMENT,
                "expected the 512 bytes of the workspace at address 256 to be "
                "host memory that can be written, got none at address 256",
                false);
}

} // namespace
