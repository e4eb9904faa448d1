// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_SUPPORT_DEFAULTTARGET_H
#define ATTN_SUPPORT_DEFAULTTARGET_H

namespace attn {

/// The machine to compile for if none is named.
constexpr const char *kDefaultTarget = "sm_90a";

} // namespace attn

#endif // ATTN_SUPPORT_DEFAULTTARGET_H
