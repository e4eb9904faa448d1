// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" int attn_lsp_server_main(int argc, char **argv);

int main(int argc, char **argv) { return attn_lsp_server_main(argc, argv); }
