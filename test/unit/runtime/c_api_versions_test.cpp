// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Callers that were compiled with an older or a newer header, versions, the
// names of statuses, and a bundle's arguments.

#include "sample_plan.h"
#include "scale_call.h"

#include <cstring>

using namespace attn::runtime;

namespace {

/// The struct of a newer header.
struct NewerArgs {
  attn_launch_args known;
  unsigned char unknown[16] = {};
};

TEST(CApiVersions, aNewerCallerIsServedUnlessItAsksForMore) {
  ScaleCall call;
  attn_bundle *bundle = call.load();
  NewerArgs args = {call.getArgs()};
  args.known.size = sizeof(args);
  EXPECT_EQ(attn_launch(bundle, &args.known), ATTN_SUCCESS)
      << attn_last_error();
  args.unknown[5] = 7;
  EXPECT_EQ(attn_launch(bundle, &args.known), ATTN_UNSUPPORTED);
  EXPECT_STREQ(attn_last_error(),
               "expected attn_launch_args to be zero from byte 96 on, which "
               "version " ATTN_VERSION
               " of the library does not know, got 7 at byte 101");
  attn_bundle_destroy(bundle);
}

TEST(CApiVersions, anOlderCallersMissingFieldsAreZero) {
  ScaleCall call;
  std::string &plan = call.content.plan;
  plan.replace(plan.find("\"workspace\":0"), 13,
               "\"workspace\":256,\"zeroed\":256");
  attn_bundle *bundle = call.load();
  alignas(256) unsigned char workspace[256];
  std::memset(workspace, 0xff, sizeof(workspace));
  attn_launch_args args = call.getArgs();
  args.workspace = workspace;
  args.workspace_size = sizeof(workspace);
  // The memory after the older struct holds something else.
  args.size = offsetof(attn_launch_args, flags);
  args.flags = ~uint64_t(0);
  EXPECT_EQ(attn_launch(bundle, &args), ATTN_SUCCESS) << attn_last_error();
  EXPECT_EQ(workspace[0], 0);
  EXPECT_EQ(workspace[255], 0);
  attn_bundle_destroy(bundle);
}

TEST(CApiVersions, numbersAndTextAgree) {
  EXPECT_STREQ(attn_version(), ATTN_VERSION);
  EXPECT_EQ(attn_version_number(), ATTN_VERSION_NUMBER);
  EXPECT_EQ(std::to_string(ATTN_VERSION_NUMBER / 10000) + "." +
                std::to_string(ATTN_VERSION_NUMBER / 100 % 100) + "." +
                std::to_string(ATTN_VERSION_NUMBER % 100),
            ATTN_VERSION);
}

TEST(CApiVersions, statusesHaveNames) {
  EXPECT_STREQ(attn_status_name(ATTN_SUCCESS), "ATTN_SUCCESS");
  EXPECT_STREQ(attn_status_name(ATTN_IO_ERROR), "ATTN_IO_ERROR");
  for (int status = ATTN_SUCCESS; status <= ATTN_IO_ERROR; ++status) {
    EXPECT_EQ(std::string(attn_status_name(attn_status(status))).find("ATTN_"),
              0u);
  }
  EXPECT_STREQ(attn_status_name(attn_status(ATTN_IO_ERROR + 1)),
               "unknown status");
}

class CApiArguments : public testing::Test {
protected:
  void SetUp() override {
    std::vector<char> image =
        writeBundle({samplePlanText(), ".version 8.0", {}});
    ASSERT_EQ(attn_bundle_load(nullptr, image.data(), image.size(), &bundle),
              ATTN_SUCCESS)
        << attn_last_error();
  }
  void TearDown() override { attn_bundle_destroy(bundle); }

  attn_argument get(size_t index) {
    attn_argument argument;
    argument.size = sizeof(argument);
    EXPECT_EQ(attn_bundle_argument(bundle, index, &argument), ATTN_SUCCESS)
        << attn_last_error();
    return argument;
  }

  attn_bundle *bundle = nullptr;
};

TEST_F(CApiArguments, areThoseOfThePlan) {
  size_t count = 0;
  ASSERT_EQ(attn_bundle_argument_count(bundle, &count), ATTN_SUCCESS);
  std::string names;
  for (size_t i = 0; i < count; ++i) {
    names += std::string(get(i).name) + " ";
  }
  EXPECT_EQ(names, "q k v scale slopes o lse ");
}

TEST_F(CApiArguments, haveRoles) {
  const attn_role roles[] = {
      ATTN_ROLE_QUERY,   ATTN_ROLE_KEY,    ATTN_ROLE_VALUE, ATTN_ROLE_SCALE,
      ATTN_ROLE_CAPTURE, ATTN_ROLE_OUTPUT, ATTN_ROLE_LSE};
  for (size_t i = 0; i < std::size(roles); ++i) {
    EXPECT_EQ(get(i).role, roles[i]);
  }
}

TEST_F(CApiArguments, anOlderCallerGetsNoRole) {
  attn_argument argument;
  std::memset(&argument, 0xff, sizeof(argument));
  argument.size = offsetof(attn_argument, role);
  EXPECT_EQ(attn_bundle_argument(bundle, 0, &argument), ATTN_SUCCESS);
  EXPECT_EQ(argument.size, offsetof(attn_argument, role));
  EXPECT_STREQ(argument.name, "q");
  // No value of the enum.
  int role = 0;
  std::memcpy(&role, &argument.role, sizeof(role));
  EXPECT_EQ(role, -1);
}

TEST_F(CApiArguments, tensors) {
  attn_argument q = get(0), slopes = get(4), o = get(5);
  EXPECT_EQ(q.kind, ATTN_ARGUMENT_TENSOR);
  EXPECT_EQ(q.access, ATTN_ACCESS_READ);
  EXPECT_EQ(o.access, ATTN_ACCESS_WRITE);
  EXPECT_EQ(q.dtype.code, kDLBfloat);
  EXPECT_EQ(q.dtype.bits, 16);
  EXPECT_EQ(q.dtype.lanes, 1);
  ASSERT_EQ(q.rank, 4);
  EXPECT_EQ(q.dims[0], -1);
  EXPECT_STREQ(q.dim_names[1], "sq");
  EXPECT_EQ(q.dims[3], 128);
  EXPECT_EQ(q.dim_names[3], nullptr);
  EXPECT_STREQ(slopes.dim_names[0], q.dim_names[2]);
  // TMA reads q, and nothing else of these.
  EXPECT_EQ(q.alignment, 16u);
  EXPECT_EQ(slopes.alignment, 4u);
}

TEST_F(CApiArguments, scalars) {
  attn_argument scale = get(3);
  EXPECT_EQ(scale.kind, ATTN_ARGUMENT_SCALAR);
  EXPECT_EQ(scale.dtype.code, kDLFloat);
  EXPECT_EQ(scale.dtype.bits, 32);
  EXPECT_EQ(scale.rank, 0);
}

TEST_F(CApiArguments, aNewerCallerGetsZeros) {
  struct {
    attn_argument known;
    unsigned char unknown[8];
  } argument;
  std::memset(&argument, 0xff, sizeof(argument));
  argument.known.size = sizeof(argument);
  EXPECT_EQ(attn_bundle_argument(bundle, 0, &argument.known), ATTN_SUCCESS);
  EXPECT_EQ(argument.known.size, sizeof(argument));
  EXPECT_STREQ(argument.known.name, "q");
  for (unsigned char byte : argument.unknown) {
    EXPECT_EQ(byte, 0);
  }
}

} // namespace
