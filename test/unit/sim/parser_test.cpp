// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The PTX lexer, parser and printer.

#include "ptx/module.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace attn::sim;

namespace {

/// Every construct of the language that the backend and nvcc print.
const char *const kSample = R"(//
// A comment
.version 8.0
.target sm_90a
.address_size 64
/* another
   comment */
.extern .shared .align 1024 .b8 smem[];
.global .align 4 .u32 table[4] = {1, 2, 3, 4};
.const .align 8 .b8 bytes[3] = {0x01, 2, 3};

.visible .entry kernel(
	.param .align 64 .b8 kernel_param_0[128],
	.param .u64 .ptr .global .align 1 kernel_param_1,
	.param .f32 kernel_param_2
)
.maxntid 128, 1, 1
.minnctapersm 1
{
	.reg .pred %p<8>;
	.reg .b16 %rs<4>;
	.reg .b32 %r<32>, named;
	.reg .b64 %rd<8>;

	ld.param.b64 %rd1, [kernel_param_1];
	ld.param.f32 %r1, [kernel_param_2+0];
	mov.u32 %r2, %tid.x;
	mov.b32 %r3, 0f3F800000;
	mov.b64 %rd2, 0d3FF0000000000000;
	mov.b32 named, -4;
	setp.lt.and.s32 %p1|%p2, %r2, 0x10, !%p3;
	@!%p1 bra $L__BB0_2;
	{
.reg .pred p; .reg .b32 %r1;
mov.u32 %r1, 7; setp.eq.u32 p, %r1, 7;
again:
@!p bra again;
}
	{ // callseq
	.reg .pred p;
again:
	setp.ne.b32 p, 0, 0;
	@p bra again;
	}
	shfl.sync.bfly.b32 %r4|%p4, %r2, 1, 31, -1;
	mov.b64 %rd3, {%r3, 0};
	mov.b64 {%r5, _}, %rd3;
	st.global.v2.b32 [%rd1+-8], {%r4, %r5};
	st.shared.b32 [smem+16], %r4;
	ld.local.b32 %r6, [16];
	.pragma "nounroll";
$L__BB0_2:
	ret;
}
)";

std::string roundTrip(const std::string &text) {
  ptx::Module module;
  Diagnostic diagnostic;
  EXPECT_TRUE(ptx::parse(text, module, diagnostic)) << diagnostic.text();
  return ptx::print(module);
}

std::string errorOf(const std::string &text) {
  ptx::Module module;
  Diagnostic diagnostic;
  return ptx::parse(text, module, diagnostic) ? "" : diagnostic.text();
}

std::string body(const std::string &text) {
  return ".version 8.0\n.target sm_90a\n.entry k()\n{\n" + text + "\n}\n";
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

TEST(PtxParser, printedTextParsesToTheSame) {
  std::string once = roundTrip(kSample);
  EXPECT_EQ(roundTrip(once), once);
}

TEST(PtxParser, keepsWhatInstructionsSay) {
  ptx::Module module;
  Diagnostic diagnostic;
  ASSERT_TRUE(ptx::parse(kSample, module, diagnostic)) << diagnostic.text();
  ASSERT_EQ(module.functions.size(), 1u);
  const ptx::Function &function = module.functions[0];
  EXPECT_TRUE(function.isEntry);
  EXPECT_EQ(function.params.size(), 3u);
  EXPECT_EQ(function.params[0].align, 64u);
  EXPECT_EQ(ptx::print(function.instructions[0]),
            "ld.param.b64 %rd1, [kernel_param_1];");
  EXPECT_EQ(function.instructions[0].at.line, 25u);
  EXPECT_EQ(function.instructions[0].at.column, 2u);
  EXPECT_EQ(ptx::print(function.instructions[6]),
            "setp.lt.and.s32 %p1|%p2, %r2, 16, !%p3;");
}

TEST(PtxParser, keepsSourceLines) {
  ptx::Module module;
  Diagnostic diagnostic;
  std::string text = body(".loc 1 4 2\nret;\n.loc 1 5 3, function_name $L__i0, "
                          "inlined_at 1 9 3\nret;");
  ASSERT_TRUE(ptx::parse(text, module, diagnostic)) << diagnostic.text();
  EXPECT_EQ(module.functions[0].instructions[0].source.line, 4u);
  EXPECT_EQ(module.functions[0].instructions[1].source.line, 5u);
  EXPECT_EQ(module.functions[0].instructions[1].source.column, 3u);
}

TEST(PtxParser, namesTheLineAndColumnOfErrors) {
  EXPECT_EQ(errorOf(""), "1:1: expected '.version', got the end of the text");
  EXPECT_EQ(errorOf(".version 8.0\n.target sm_90a\nnonsense"),
            "3:1: expected a variable or function, got 'nonsense'");
  EXPECT_EQ(errorOf(body("add.s32 %r1, %r2")), "6:1: expected ';', got '}'");
  EXPECT_EQ(errorOf(body("mov.b32 %r1, 0f3F80;")),
            "5:14: expected 8 hexadecimal digits");
  EXPECT_EQ(errorOf(body("mov.b32 %r1, 99999999999999999999;")),
            "5:14: expected a number below 2^64");
  EXPECT_EQ(errorOf(body("ld.b32 %r1, [];")),
            "5:15: expected an address before this, got ';'");
  EXPECT_EQ(errorOf(body("mov.b32 %r1, #;")), "5:14: unexpected character");
  EXPECT_EQ(errorOf(body("/* open")),
            "5:1: expected '*/' at the end of the comment");
  EXPECT_EQ(errorOf(body(".reg .b32 %r<1000000000>;")),
            "5:24: expected at most 1048576 registers");
}

TEST(PtxParser, boundsNesting) {
  EXPECT_NE(errorOf(body(std::string(100000, '{'))), "");
  EXPECT_NE(errorOf(body("mov.b32 " + std::string(100000, '{') + ";")), "");
  EXPECT_NE(errorOf(body("call " + std::string(100000, '(') + ";")), "");
}

TEST(PtxParser, anyPrefixIsAnErrorOrGood) {
  std::string text = kSample;
  for (size_t length = 0; length < text.size(); ++length) {
    (void)errorOf(text.substr(0, length));
  }
}

TEST(PtxParser, anyChangedByteIsAnErrorOrGood) {
  uint64_t state = 1;
  for (int n = 0; n < 4000; ++n) {
    std::string text = kSample;
    for (int i = 0; i < 3; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      text[(state >> 33) % text.size()] = char(state >> 25);
    }
    ptx::Module module;
    Diagnostic diagnostic;
    if (ptx::parse(text, module, diagnostic)) {
      std::string printed = ptx::print(module);
      EXPECT_EQ(roundTrip(printed), printed);
    }
  }
}

TEST(PtxParser, printedTextAssemblesToTheSameCode) {
  if (std::system("ptxas --version > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "no ptxas";
  }
  char folder[] = "/tmp/attn_sim_XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  std::string base = folder;
  auto assemble = [&](const std::string &text) {
    std::ofstream(base + "/in.ptx") << text;
    std::string command =
        "ptxas -arch=sm_90a " + base + "/in.ptx -o " + base + "/out.cubin";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return readFile(base + "/out.cubin");
  };
  std::string original = assemble(kSample);
  EXPECT_FALSE(original.empty());
  EXPECT_EQ(assemble(roundTrip(kSample)), original);
  EXPECT_EQ(std::system(("rm -r " + base).c_str()), 0);
}
