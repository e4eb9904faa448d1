#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the documents of 1100 positions as a .npy file: one document, but for a position in each of four shares of the
blocks of 64 positions, which has one of its own."""

import struct
import sys

POSITIONS, STRANGE = 1100, (130, 450, 770, 1030)

header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': (1, {POSITIONS}), }}"
header += " " * (-(len(header) + 11) % 64) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack(f"<{POSITIONS}i", *(int(at in STRANGE) for at in range(POSITIONS))))
