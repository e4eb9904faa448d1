// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph that a stream records, and its end.

#include "graph_capture.h"

#include "fake_driver.h"

#include <gtest/gtest.h>

using namespace attn::runtime;

namespace {

class GraphCapture : public testing::Test {
protected:
  void SetUp() override {
    driver = makeFakeDriver();
    ASSERT_EQ(CudaDevice::open(driver, 0, device).getMessage(), "");
    fakeState().captured = static_cast<CUstream>(stream);
  }

  void *stream = reinterpret_cast<void *>(0x77);
  CudaDriver driver;
  std::unique_ptr<CudaDevice> device;
};

TEST_F(GraphCapture, hasTheNumberOfTheCapture) {
  EXPECT_EQ(findCapture(*device, stream).id, 5u);
  EXPECT_NE(findCapture(*device, stream).graph, nullptr);
}

TEST_F(GraphCapture, isNoneOnOtherStreams) {
  EXPECT_EQ(findCapture(*device, reinterpret_cast<void *>(0x78)).id, 0u);
  EXPECT_EQ(findCapture(*device, nullptr).id, 0u);
}

TEST_F(GraphCapture, isNoneIfTheDriverFails) {
  fakeState().failing = "cuStreamGetCaptureInfo";
  EXPECT_EQ(findCapture(*device, stream).id, 0u);
}

TEST_F(GraphCapture, tellsWhenTheGraphIsGone) {
  auto *isGone = watchGraph(*device, findCapture(*device, stream).graph);
  ASSERT_NE(isGone, nullptr);
  EXPECT_TRUE(fakeState().objectIsOfGraph);
  EXPECT_EQ(*isGone, 0);
  fakeState().destroyed(fakeState().destroyedObject);
  EXPECT_EQ(*isGone, 1);
}

TEST_F(GraphCapture, isNotWatchedIfTheDriverRefuses) {
  for (const char *function :
       {"cuUserObjectCreate", "cuGraphRetainUserObject"}) {
    fakeState().failing = function;
    EXPECT_EQ(watchGraph(*device, findCapture(*device, stream).graph), nullptr)
        << function;
  }
}

} // namespace
