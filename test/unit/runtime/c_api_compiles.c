/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The public header has to be C99. */

#include "attn/runtime/attn.h"

const char *attnVersionFromC(void);
const char *attnVersionFromC(void) {
  attn_launch_args args;
  args.size = sizeof(args);
  return args.size ? attn_version() : "";
}
