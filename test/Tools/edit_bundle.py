#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blanks one statement of a bundle's PTX, its last occurrence, and makes the
checksums good again:

    edit_bundle.py IN.attn "fence.proxy.async.shared::cta;" OUT.attn

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


def replace(data, old, new):
    """The bundle with the last occurrence of `old` replaced by `new` and spaces."""
    data = bytearray(data)
    magic, version, count, size, _ = HEADER.unpack_from(data, 0)
    at = data.rfind(old)
    if at < 0:
        raise ValueError(f"expected {old!r}, found none")
    if len(new) > len(old):
        raise ValueError(f"expected at most {len(old)} bytes, got {new!r}")
    data[at : at + len(old)] = new.ljust(len(old))
    table = HEADER.size
    for index in range(count):
        where = table + index * ENTRY.size
        kind, zero, offset, length, _ = ENTRY.unpack_from(data, where)
        if offset <= at < offset + length:
            ENTRY.pack_into(data, where, kind, zero, offset, length, fnv1a(data[offset : offset + length]))
    checksum = fnv1a(data[table : table + count * ENTRY.size])
    HEADER.pack_into(data, 0, magic, version, count, size, checksum)
    return data


def main():
    source, statement, target = sys.argv[1], sys.argv[2].encode(), sys.argv[3]
    with open(source, "rb") as file:
        data = file.read()
    with open(target, "wb") as file:
        file.write(replace(data, statement, b""))


if __name__ == "__main__":
    main()
