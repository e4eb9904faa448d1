#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replaces the first OLD in a bundle's PTX by NEW and makes its checksums right.

usage: respell.py BUNDLE OUT OLD NEW"""

import struct
import sys

HEADER = struct.Struct("<8sIIQQ")
SECTION = struct.Struct("<IIQQQ")
PTX = 2


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def main():
    source, out, old, new = sys.argv[1:]
    with open(source, "rb") as file:
        data = file.read()
    magic, version, count, _, _ = HEADER.unpack_from(data)
    contents = []
    for i in range(count):
        kind, _, offset, size, _ = SECTION.unpack_from(data, HEADER.size + i * SECTION.size)
        content = data[offset:offset + size]
        if kind == PTX:
            assert old.encode() in content, old
            content = content.replace(old.encode(), new.encode(), 1)
        contents.append((kind, content))

    table, body = b"", b""
    start = HEADER.size + count * SECTION.size
    for kind, content in contents:
        body += b"\0" * (-(start + len(body)) % 16)
        table += SECTION.pack(kind, 0, start + len(body), len(content), fnv1a(content))
        body += content
    with open(out, "wb") as file:
        file.write(HEADER.pack(magic, version, count, start + len(body), fnv1a(table)) + table + body)


if __name__ == "__main__":
    main()
