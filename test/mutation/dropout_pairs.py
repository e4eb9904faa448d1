#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds problems in which a pair's random number is the first that dropout keeps; writes dropout_pairs.json.

    test/mutation/dropout_pairs.py > test/mutation/dropout_pairs.json     # about two minutes

A kernel keeps a pair if its number is not below `drop`. It has the numbers of queries i and i + 8 in one word, and compares
the second one with the first behind it: that number equals `drop` for one pair in 2^32 only, where the first is 0. So random
problems do not show whether the comparison is right. Each comparison of the code is for pairs of one kind: a step of the loop
that has code of its own, and the pair's place in 16 x 16. The search finds a seed, a rate and a key for each kind.
"""

import itertools
import textwrap

MASK32, MASK64, GOLDEN = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0x9E3779B97F4A7C15
# The stream of random numbers from which attn-run draws the state of dropout.
STREAM = 1002


def mix(x):
    """SplitMix64's finalizer, as in tools/attn-run/numbers.cpp."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK64
    return x ^ (x >> 31)


def state_of(seed):
    """The state of dropout in attn-run's problem of this seed."""
    key = (mix(mix(seed + GOLDEN & MASK64) + (STREAM + 1) * GOLDEN & MASK64))
    return [mix(key + (index + 1) * GOLDEN & MASK64) for index in (0, 1)]


def philox4x32(counter, key):
    """Philox4x32-10."""
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = (b >> 32 ^ counter[1] ^ key[0], b & MASK32, a >> 32 ^ counter[3] ^ key[1], a & MASK32)
        key = (key[0] + 0x9E3779B9 & MASK32, key[1] + 0xBB67AE85 & MASK32)
    return counter


def philox2x32(first, second, key):
    """Philox2x32-7."""
    for _ in range(7):
        product = 0xD256D193 * first
        first, second = product >> 32 ^ key ^ second, product & MASK32
        key = key + 0x9E3779B9 & MASK32
    return first, second


class Shape:
    """Problems of one kernel: how many queries and keys, one head, and which code a pair is for."""

    def __init__(self, queries, keys, code_of):
        self.queries, self.keys, self.code_of = queries, keys, code_of

    def words(self, seed):
        """Each word, with the query of its low half and the key."""
        low, high = state_of(seed)
        w0, w1, w2, _ = philox4x32((high & MASK32, high >> 32, 0, 0), (low & MASK32, low >> 32))
        for query in (i for i in range(self.queries) if not i & 8):
            for key in (j for j in range(self.keys) if not j & 8):
                for word, at in zip(philox2x32(key ^ w0, query ^ w1, w2), (key, key + 8)):
                    yield word, query, at

    def kind(self, query, key):
        """Which comparison is for this pair; None if the mask leaves it out."""
        if key > query + self.keys - self.queries:
            return None
        code = self.code_of(query, key)
        return None if code is None else code + (query & 8, key & 8)


def code_of_queries_gradient(query, key):
    """Blocks of 96 keys from the last one: the first, those with a mask, and those without."""
    return (key // 96, key % 96 // 16, key & 1)


def code_of_keys_gradient(query, key):
    """Blocks of 64 queries from the last one: the first, those with a mask, and those without."""
    block = query // 64
    part = "first" if block == 2 else "masked" if block == key // 64 else "whole"
    return (part, query % 64 // 16, query & 1)


SHAPES = {"keys": Shape(128, 288, code_of_queries_gradient), "queries": Shape(192, 192, code_of_keys_gradient)}


def search(shape):
    """For each kind of pairs a seed, the number of one pair, and its key; of several the pair with the greatest number: few
    others are kept."""
    kinds = {shape.kind(i, j) for i in range(shape.queries) for j in range(shape.keys)} - {None}
    found = {}

    def add(kind, number, seed, key):
        found[kind] = max(found.get(kind, (0,)), (number, seed, key))

    for word, query, key in shape.words(0):
        add(shape.kind(query, key), word & 0xFFFF, 0, key)
    for seed in itertools.count():
        for word, query, key in shape.words(seed):
            if not word & 0xFFFF:
                add(shape.kind(query + 8, key), word >> 16, seed, key)
        if kinds <= found.keys():
            return sorted([seed, number, key] for number, seed, key in (found[kind] for kind in kinds))


def spell(name, shape):
    """The problems of a kernel, in JSON."""
    pairs = ", ".join(str(pair).replace(", ", ",") for pair in search(shape))
    lines = textwrap.fill(pairs, 140, initial_indent="  ", subsequent_indent="  ")
    return f'  "{name}": {{"queries": {shape.queries}, "keys": {shape.keys}, "pairs": [\n{lines}]}}'


def main():
    print("{\n" + ",\n".join(spell(name, shape) for name, shape in SHAPES.items()) + "\n}")


if __name__ == "__main__":
    main()
