# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Documents of which one position alone decides whether a group of keys is seen.

A launch finds the blocks of queries that may see a group of keys, by the least and the most of the
group's ids. In most inputs several positions have these, so that a fault in one position does not show.
"""

import struct

GROUP, BLOCK = 128, 64
GROUPS = 10
LENGTH = GROUPS * GROUP
# Groups whose keys, or whose queries in the last block, are lonely: more than eight, which have a row of a
# fragment each.
OF_KEYS, OF_QUERIES = 9, 7


def ids_of_groups(count, sign):
    """No group's ids are seen by queries of later groups, nor by those whose id is 0."""
    return [sign * (5000 + 10 * group) if group < count else 0 for group in range(GROUPS) for _ in range(GROUP)]


def lonely_keys():
    """In each group one key has the least (most) id, which is that of the last block of queries."""
    for sign in (1, -1):
        for first in range(0, GROUP, OF_KEYS):
            ids = ids_of_groups(OF_KEYS, sign)
            ids[LENGTH - BLOCK:] = [sign * 100] * BLOCK
            for group in range(OF_KEYS):
                ids[group * GROUP + (first + group) % GROUP] = sign * 100
            yield ids


def lonely_queries():
    """One query of the first block of the last share, and of the last block, has the id of a group."""
    for first in range(0, BLOCK, OF_QUERIES):
        ids = ids_of_groups(OF_QUERIES, 1)
        for group in range(OF_QUERIES):
            for block in (LENGTH // 4 * 3, LENGTH - BLOCK):
                ids[block + (first + group) % BLOCK] = ids[group * GROUP]
        yield ids


def write(path):
    """Writes the ids as a .npy file. Returns its shape: batches, positions."""
    rows = [*lonely_keys(), *lonely_queries()]
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({len(rows)}, {LENGTH}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for row in rows:
            file.write(struct.pack(f"<{LENGTH}i", *row))
    return len(rows), LENGTH
