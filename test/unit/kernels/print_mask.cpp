// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// usage: print-random-mask SEED
//
// Prints an attention with a random mask function.
#include "random_mask.h"
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: print-random-mask SEED\n");
    return 1;
  }
  std::puts(attn::test::RandomMask(unsigned(std::atoi(argv[1]))).ir.c_str());
  return 0;
}
