// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads a bundle: attn::runtime has all that needs no compiler.
#include <attn/runtime/attn.hpp>

#include <iostream>

int main(int, char **argv) {
  try {
    std::cout << attn::Bundle::load(argv[1]).getPlan().substr(0, 1) << "\n";
  } catch (const attn::Error &error) {
    std::cout << "status " << error.getStatus() << ": " << error.what() << "\n";
  }
}
