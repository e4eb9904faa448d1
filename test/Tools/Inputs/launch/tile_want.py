#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what tile_copy should compute, as numpy would: 16 rows of 64 numbers in
turn, of which a tensor map shows 40, in tiles of 32 columns."""

import struct
import sys

values = [64 * row + column if column < 40 else 0
          for tile in (0, 1) for row in range(16) for column in range(32 * tile, 32 * tile + 32)]
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1024,), }"
header += " " * (-(len(header) + 11) % 64) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack("<1024f", *values))
