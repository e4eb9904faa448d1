# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How kernels are raced on a GPU: what bench/ and attn-tune share."""
