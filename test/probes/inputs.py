# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of inputs for probes, the same on every run.

A table is for a tuple of kinds, one an operand: edge values of each kind
against those of the others, then random ones."""

import itertools
import random
import struct


def f32_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def f64_bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def float_edges(exponent_bits, fraction_bits):
    """Bit patterns of both signs: zeros, subnormals, ones, halves, boundaries,
    infinities and NaNs."""
    one = (1 << exponent_bits - 1) - 1
    top = (1 << exponent_bits) - 1
    fraction = (1 << fraction_bits) - 1

    def bits(exponent, low=0):
        return exponent << fraction_bits | low

    positive = [0, 1, fraction, bits(1), bits(1, fraction), bits(one - 1), bits(one - 1, fraction),
                bits(one), bits(one, 1), bits(one, fraction >> 1), bits(one, fraction),
                bits(one + 1), bits(one + 1, fraction >> 1 | 1),
                bits(min(one + fraction_bits, top - 1), 1),
                bits(top - 2), bits(top - 1, fraction), bits(top), bits(top, 1),
                bits(top, fraction >> 1 | 1), bits(top, fraction)]
    sign = 1 << exponent_bits + fraction_bits
    return [pattern | each for pattern in positive for each in (0, sign)]


def integer_edges(bits):
    top = 1 << bits - 1
    return [0, 1, 2, 3, 7, 31, 32, 33, 0x5a, (1 << bits // 2) - 1, 1 << bits // 2, top - 1, top,
            top + 1, (1 << bits) - 2, (1 << bits) - 1]


# name: (bytes, edge values, exponent bits, fraction bits or None of integers)
FLOATS = {"e4m3": (1, 4, 3), "e5m2": (1, 5, 2), "f16": (2, 5, 10), "bf16": (2, 8, 7),
          "f32": (4, 8, 23), "f64": (8, 11, 52)}
PAIRS = {"f16x2": "f16", "bf16x2": "bf16", "b16x2": "b16"}
BITS = {"b8": 1, "b16": 2, "b32": 4, "b64": 8}


class Filler:
    """A word of a matrix: "f16~" numbers about 1 in magnitude and some zeros,
    "f16^" any finite numbers, "b32*" any bits."""

    limited = nonzero = False

    def __init__(self, name):
        self.name = name
        self.bytes = 4
        self.base, self.how = name[:-1], name[-1]

    def draw_element(self, generator):
        if self.how == "*":
            return generator.getrandbits(32)
        size, exponent_bits, fraction_bits = FLOATS[self.base]
        one = (1 << exponent_bits - 1) - 1
        reach = min(4, one - 1)
        exponent = generator.randint(one - reach, one + reach)
        if self.how == "^":
            # The largest exponent of e4m3 has numbers too, but also a NaN.
            exponent = generator.randint(0, 2 * one)
        if self.how == "~" and generator.randrange(8) == 0:
            return 0
        return (generator.getrandbits(1) << 8 * size - 1 | exponent << fraction_bits |
                generator.getrandbits(fraction_bits))

    def edges(self):
        generator = random.Random(self.name)
        return [self.draw(generator) for _ in range(32)]

    def near(self, value, generator):
        return self.draw(generator)

    def draw(self, generator):
        bits = 32 if self.how == "*" else 8 * FLOATS[self.base][0]
        return sum(self.draw_element(generator) << at for at in range(0, 32, bits))


class Kind:
    """What one operand may be."""

    def __init__(self, name):
        self.name = name
        base = PAIRS.get(name, name)
        self.pair = name in PAIRS
        if base in FLOATS:
            self.bytes, exponent, self.fraction = FLOATS[base]
            self.values = float_edges(exponent, self.fraction)
            self.one = (1 << exponent - 1) - 1
        elif base in BITS:
            self.bytes, self.fraction = BITS[base], None
            self.values = integer_edges(8 * self.bytes)
        else:
            # "b32<70": integers below 70; "b32!0": other than 0.
            width, below, limit = base.partition("<")
            width = width.partition("!")[0]
            self.bytes, self.fraction = BITS[width], None
            self.values = [value for value in integer_edges(8 * self.bytes) if value != 0]
            if below:
                self.values = list(range(int(limit)))
        self.limited = "<" in name
        self.nonzero = "!" in name
        self.element = self.bytes
        self.bytes *= 2 if self.pair else 1

    def edges(self):
        if not self.pair:
            return self.values
        shift = 8 * self.element
        return [low | self.values[(7 * i + 3) % len(self.values)] << shift
                for i, low in enumerate(self.values)]

    def draw_element(self, generator):
        bits = 8 * self.element
        choice = generator.randrange(4)
        if self.limited or choice == 0:
            return generator.choice(self.values)
        if self.fraction is None:
            value = generator.getrandbits(generator.randint(1, bits))
            return value or 1 if self.nonzero else value
        if choice == 1:
            return generator.getrandbits(bits)
        exponent = self.one + generator.randint(-9, 9)
        exponent = min(max(exponent, 1), 2 * self.one)
        return (generator.getrandbits(1) << bits - 1 | exponent << self.fraction |
                generator.getrandbits(self.fraction))

    def draw(self, generator):
        value = self.draw_element(generator)
        if self.pair:
            value |= self.draw_element(generator) << 8 * self.element
        return value

    def near(self, value, generator):
        """A value close to `value`, or to its negative."""
        mask = (1 << 8 * self.bytes) - 1
        sign = 1 << 8 * self.bytes - 1
        if self.limited or self.nonzero:
            return self.draw(generator)
        return (value + generator.randint(-2, 2) & mask) ^ generator.choice([0, sign])


def rows_of(kinds, count):
    generator = random.Random("probes " + " ".join(kind.name for kind in kinds))
    if all(isinstance(kind, Filler) for kind in kinds):
        return [tuple(kind.draw(generator) for kind in kinds) for _ in range(count)]
    if len(kinds) == 1 and kinds[0].bytes <= 2 and not kinds[0].limited:
        first = 1 if kinds[0].nonzero else 0
        return [(value,) for value in range(first, 1 << 8 * kinds[0].bytes)]
    if len(kinds) <= 2:
        rows = list(itertools.product(*[kind.edges() for kind in kinds]))
        if len(rows) > count * 3 // 4:
            rows = generator.sample(rows, count * 3 // 4)
    else:
        rows = [tuple(generator.choice(kind.edges()) for kind in kinds)
                for _ in range(count // 2)]
    while len(rows) < count:
        row = [kind.draw(generator) for kind in kinds]
        if len(kinds) > 1 and kinds[0].bytes == kinds[1].bytes and generator.randrange(3) == 0:
            row[1] = kinds[1].near(row[0], generator)
        rows.append(tuple(row))
    return rows


def kinds_of(names):
    """The kinds in "f32 b32<70 4x(f16~)", in which 4x() repeats."""
    kinds = []
    for name in names.split():
        times, _, rest = name.partition("x(")
        repeated = rest.rstrip(")") if rest else name
        kind = Filler if repeated[-1] in "~^*" else Kind
        kinds += [kind(repeated)] * (int(times) if rest else 1)
    return kinds


def offsets(kinds):
    """Where each operand lies in a row, and the row's size: a multiple of 8."""
    places = []
    at = 0
    for kind in kinds:
        at = -(-at // kind.bytes) * kind.bytes
        places.append(at)
        at += kind.bytes
    return places, -(-at // 8) * 8


def table(names, count):
    """Returns the bytes of a table of at least `count` rows, a multiple of 128."""
    kinds = kinds_of(names)
    places, size = offsets(kinds)
    rows = rows_of(kinds, count)
    rows += rows[:-len(rows) % 128]
    data = bytearray(size * len(rows))
    for number, row in enumerate(rows):
        for kind, place, value in zip(kinds, places, row):
            at = number * size + place
            data[at:at + kind.bytes] = value.to_bytes(kind.bytes, "little")
    return bytes(data)
