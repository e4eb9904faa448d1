// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" int attn_compile_main(int argc, char **argv);

int main(int argc, char **argv) { return attn_compile_main(argc, argv); }
