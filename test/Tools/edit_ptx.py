#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blanks one statement of a bundle's PTX, its last occurrence, and makes the
checksums good again:

    edit_ptx.py IN.attn "fence.proxy.async.shared::cta;" OUT.attn

The layout is that of include/attn/runtime/bundle.h."""

import struct
import sys

HEADER = struct.Struct("<8sIIQQ")
ENTRY = struct.Struct("<IIQQQ")


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return value


def main():
    source, statement, target = sys.argv[1], sys.argv[2].encode(), sys.argv[3]
    with open(source, "rb") as file:
        data = bytearray(file.read())
    magic, version, count, size, _ = HEADER.unpack_from(data, 0)
    at = data.rfind(statement)
    if at < 0:
        sys.exit(f"{source}: expected a statement {sys.argv[2]!r}, found none")
    data[at : at + len(statement)] = b" " * len(statement)
    table = HEADER.size
    for index in range(count):
        where = table + index * ENTRY.size
        kind, zero, offset, length, _ = ENTRY.unpack_from(data, where)
        if offset <= at < offset + length:
            ENTRY.pack_into(data, where, kind, zero, offset, length, fnv1a(data[offset : offset + length]))
    checksum = fnv1a(data[table : table + count * ENTRY.size])
    HEADER.pack_into(data, 0, magic, version, count, size, checksum)
    with open(target, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main()
