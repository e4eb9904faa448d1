# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of attn-tune; docs/tuning.md has the formats."""
