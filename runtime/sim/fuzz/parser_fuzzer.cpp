// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses any text, prints it, parses the result again, and decodes it.

#include "machine/instruction_set.h"

#include <cstdlib>

using namespace attn::sim;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto module = std::make_shared<ptx::Module>();
  Diagnostic diagnostic;
  std::string text(reinterpret_cast<const char *>(data), size);
  if (!ptx::parse(text, *module, diagnostic)) {
    return 0;
  }
  std::string printed = ptx::print(*module);
  ptx::Module again;
  if (!ptx::parse(printed, again, diagnostic) || ptx::print(again) != printed) {
    std::abort();
  }
  Program program;
  (void)decode(module, "", program, diagnostic);
  return 0;
}
