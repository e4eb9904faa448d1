# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the tree is. What imports this finds the packages of tools/python, which the
bench shares with attn-tune."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tools", "python"))
