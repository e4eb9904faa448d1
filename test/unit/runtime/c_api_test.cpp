// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface as a program outside sees it: this file links the shared
// library and uses none of its internals except the plan's text.

#include "attn/runtime/attn.h"
#include "attn/runtime/bundle.h"
#include "sample_call.h"

using namespace attn::runtime;

extern "C" const char *attnVersionFromC(void);

namespace {

std::vector<char> sampleImage() {
  Bundle bundle;
  bundle.plan = samplePlanText();
  bundle.ptx = ".version 8.0";
  return writeBundle(bundle);
}

attn_bundle *loadSample() {
  std::vector<char> image = sampleImage();
  attn_bundle *bundle = nullptr;
  EXPECT_EQ(attn_bundle_load(nullptr, image.data(), image.size(), &bundle),
            ATTN_SUCCESS)
      << attn_last_error();
  return bundle;
}

TEST(CApi, isC) { EXPECT_STREQ(attnVersionFromC(), attn_version()); }

TEST(CApi, loadsAndGivesThePlan) {
  attn_bundle *bundle = loadSample();
  EXPECT_EQ(attn_bundle_plan(bundle), samplePlanText());
  attn_bundle_destroy(bundle);
  attn_bundle_destroy(nullptr);
}

TEST(CApi, countsReferences) {
  attn_bundle *bundle = loadSample();
  attn_bundle_retain(bundle);
  attn_bundle_destroy(bundle);
  EXPECT_EQ(attn_bundle_plan(bundle), samplePlanText());
  attn_bundle_destroy(bundle);
  attn_bundle_retain(nullptr);
}

TEST(CApi, serializesWhatItLoaded) {
  attn_bundle *bundle = loadSample();
  std::vector<char> want = sampleImage(), got(want.size());
  size_t size = 0;
  EXPECT_EQ(attn_bundle_serialize(bundle, got.data(), got.size() - 1, &size),
            ATTN_SUCCESS);
  EXPECT_EQ(size, want.size());
  EXPECT_EQ(got, std::vector<char>(want.size()));
  EXPECT_EQ(attn_bundle_serialize(bundle, got.data(), got.size(), &size),
            ATTN_SUCCESS);
  EXPECT_EQ(got, want);
  EXPECT_EQ(attn_bundle_serialize(bundle, nullptr, 1, &size),
            ATTN_INVALID_ARGUMENT);
  EXPECT_EQ(attn_bundle_serialize(bundle, nullptr, 0, nullptr),
            ATTN_INVALID_ARGUMENT);
  attn_bundle_destroy(bundle);
}

TEST(CApi, savesWhatItLoaded) {
  attn_bundle *bundle = loadSample(), *again = nullptr;
  std::string path = testing::TempDir() + "attn_saves_what_it_loaded.attn";
  EXPECT_EQ(attn_bundle_save(bundle, path.c_str()), ATTN_SUCCESS)
      << attn_last_error();
  EXPECT_EQ(attn_bundle_load(path.c_str(), nullptr, 0, &again), ATTN_SUCCESS);
  EXPECT_STREQ(attn_bundle_plan(again), attn_bundle_plan(bundle));
  attn_bundle_destroy(again);
  std::remove(path.c_str());
  EXPECT_EQ(attn_bundle_save(bundle, "/nowhere/a.attn"), ATTN_IO_ERROR);
  EXPECT_NE(std::string(attn_last_error()).find("'/nowhere/a.attn'"),
            std::string::npos);
  EXPECT_EQ(attn_bundle_save(bundle, nullptr), ATTN_INVALID_ARGUMENT);
  attn_bundle_destroy(bundle);
}

TEST(CApi, reportsDamagedBundles) {
  std::vector<char> image = sampleImage();
  image[200] ^= 1;
  attn_bundle *bundle = reinterpret_cast<attn_bundle *>(1);
  EXPECT_EQ(attn_bundle_load(nullptr, image.data(), image.size(), &bundle),
            ATTN_INVALID_BUNDLE);
  EXPECT_EQ(bundle, nullptr);
  EXPECT_NE(std::string(attn_last_error()).find("checksum"), std::string::npos);
}

TEST(CApi, workspaceIsAPureQuery) {
  attn_bundle *bundle = loadSample();
  SampleCall call;
  attn_launch_args args = call.get();
  size_t bytes = 1;
  EXPECT_EQ(attn_workspace_size(bundle, &args, &bytes), ATTN_SUCCESS)
      << attn_last_error();
  EXPECT_EQ(bytes, 0u);
  call.scale = -1;
  EXPECT_EQ(attn_workspace_size(bundle, &args, &bytes), ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(), "expected 'scale' to be from 1.17549435e-38 "
                                  "to 2.35865723e+38 as f32, got "
                                  "-1");
  attn_bundle_destroy(bundle);
}

TEST(CApi, tellsTheVariant) {
  Bundle content;
  content.plan = twoVariantsText(7);
  content.ptx = ".version 8.0";
  std::vector<char> image = writeBundle(content);
  attn_bundle *bundle = nullptr;
  ASSERT_EQ(attn_bundle_load(nullptr, image.data(), image.size(), &bundle),
            ATTN_SUCCESS)
      << attn_last_error();
  SampleCall call;
  for (int keys : {7, 8}) {
    call.resize(2, 5, keys, 4, 2);
    attn_launch_args args = call.get();
    size_t variant = 9;
    EXPECT_EQ(attn_choose_variant(bundle, &args, &variant), ATTN_SUCCESS)
        << attn_last_error();
    EXPECT_EQ(variant, keys == 7 ? 0u : 1u);
  }
  attn_bundle_destroy(bundle);
}

} // namespace
