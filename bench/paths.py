# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The root of the source tree. Importing this module makes the packages of tools/python available, which the bench
shares with attn-tune."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tools", "python"))
