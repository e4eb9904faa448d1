# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__version__ = "0.1.0"
