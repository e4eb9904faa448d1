// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of --help besides the list of options.
#ifndef ATTN_TOOLS_HELP_H
#define ATTN_TOOLS_HELP_H

namespace attn {

/// Hides the options of LLVM's libraries: --help-hidden shows them. Call it
/// before a tool adds its own options.
void hideOptionsOfLibraries();

extern const char kCompileHelp[];
extern const char kOptHelp[];
extern const char kLspServerHelp[];

} // namespace attn

#endif // ATTN_TOOLS_HELP_H
