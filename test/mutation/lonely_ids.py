# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Documents of which one position alone decides whether a group of keys is seen, or whether all of it is.

A launch finds the blocks of queries that may see a group of keys, by the least and the most of the
group's ids. In most inputs several positions have these, so that a fault in one position does not show.
Here there are more queries than keys, and from the bottom right no query of a group's own positions sees it.
"""

import struct

GROUP, BLOCK, SHARES = 128, 64, 4
# The two rows of each thread, eight groups apart, have eight groups each.
GROUPS = 16
KEYS = GROUPS * GROUP
QUERIES = KEYS + 4 * BLOCK
# Blocks of the last share: a loop begins with the last one, whose code is apart.
FIRST, LAST = KEYS, QUERIES - BLOCK


def places(count):
    """The four threads of a quad have the same code, for two neighbors each of eight positions: one of the four will do, but the
    first, which adds 0 for its place."""
    return [8 * eight + 2 * (1 + eight % 3) + odd for eight in range(count // 8) for odd in (0, 1)]


def ids_of_groups(sign):
    """Each group has an id of its own; behind the groups all have one beyond theirs. None is 0, which is read
    outside a tensor."""
    return [sign * (5000 + 10 * (at // GROUP) if at < KEYS else 9000000) for at in range(QUERIES)]


def lonely_keys():
    """In each group one key has the least (most) id, which is that of the last block of queries."""
    keys = places(GROUP)
    for sign in (1, -1):
        for first in range(0, len(keys), GROUPS // 2):
            ids = ids_of_groups(sign)
            ids[LAST:] = [sign * -100] * BLOCK
            for group in range(GROUPS):
                ids[group * GROUP + keys[first + group % (GROUPS // 2)]] = sign * -100
            yield ids


def lonely_queries():
    """One query of a block has the id of a group."""
    for block in (FIRST, LAST):
        ids = ids_of_groups(1)
        for group, query in enumerate(places(BLOCK)):
            ids[block + query] = ids[group * GROUP]
        yield ids


def strange_queries():
    """All ids are the same, but one query of a block of each share has another: the blocks below it need a mask.
    The first block of a loop has code of its own."""
    blocks, queries = QUERIES // BLOCK, places(BLOCK)
    of_share = blocks // SHARES
    for back in (1, 3):
        for first in range(0, len(queries), SHARES):
            ids = [7] * QUERIES
            for share in range(SHARES):
                block = (share + 1) * of_share - back
                ids[block * BLOCK + queries[first + share]] = 8
            yield ids


def strange_keys():
    """All ids are the same, but one key of each group has another. The last blocks of queries are behind all keys."""
    keys = places(GROUP)
    for first in range(0, len(keys), GROUPS):
        ids = [7] * QUERIES
        for group in range(GROUPS):
            ids[group * GROUP + keys[first + group]] = 8 - 2 * (group % 2)
        yield ids


def write(path):
    """Writes the ids as a .npy file. Returns the numbers of batches, queries and keys."""
    rows = [*lonely_keys(), *lonely_queries(), *strange_queries(), *strange_keys()]
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({len(rows)}, {QUERIES}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for row in rows:
            file.write(struct.pack(f"<{QUERIES}i", *row))
    return len(rows), QUERIES, KEYS
