#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Encodes some thousand tensor maps with the CUDA driver and writes one JSON
object a line: the arguments of cuTensorMapEncodeTiled, its result, and the 128
bytes in hex where it succeeded. The first line describes the driver.

Most maps differ from a simple one in a single argument, so that the bits of
each field can be told; the others are random. Some are refused: the driver's
own limits are recorded too.

usage: tensor_maps.py OUT.jsonl
"""

import json
import random
import sys

from cuda import CudaError, Driver

# CUtensorMapDataType: bytes of an element, or None for the sub-byte types.
TYPE_BYTES = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, None, None, None]
MAX_RANK = 5
FIELDS = ("type", "rank", "address", "dims", "strides", "box", "steps", "interleave", "swizzle",
          "l2", "oob")


class Arguments(dict):
    """The arguments of one map, by the names of FIELDS."""

    def but(self, **changes):
        """A copy with some fields changed; "dims[2]" spells as dims_2."""
        copy = Arguments({key: list(value) if isinstance(value, list) else value
                          for key, value in self.items()})
        for key, value in changes.items():
            name, _, index = key.partition("_")
            if index:
                copy[name][int(index)] = value
            else:
                copy[name] = value
        return copy


def simple(rank, dtype=6, inner=32):
    """A valid map of rank `rank`, small in every field."""
    size = TYPE_BYTES[dtype] or 1
    dims = [512, 48, 20, 12, 6][:rank]
    strides = []
    pitch = dims[0] * size
    for extent in dims[1:]:
        strides.append(pitch)
        pitch *= extent
    return Arguments(type=dtype, rank=rank, address=0x7f0000000000, dims=dims, strides=strides,
                     box=[inner // size if TYPE_BYTES[dtype] else 128, 4, 2, 2, 2][:rank],
                     steps=[1] * rank, interleave=0, swizzle=0, l2=0, oob=0)


def type_variations():
    for dtype in range(len(TYPE_BYTES) + 1):
        for rank in range(1, MAX_RANK + 1):
            base = simple(rank, min(dtype, len(TYPE_BYTES) - 1)).but(type=dtype)
            yield base
            for oob in (0, 1):
                for l2 in range(4):
                    yield base.but(oob=oob, l2=l2)
            for swizzle in range(8):
                yield base.but(swizzle=swizzle)
                if rank >= 3:
                    for interleave in (1, 2):
                        yield base.but(swizzle=swizzle, interleave=interleave)


def number_variations(rank):
    base = simple(rank)
    for bit in range(3, 64):
        yield base.but(address=1 << bit)
        yield base.but(address=base["address"] ^ 1 << bit)
    for axis in range(rank):
        for bit in range(34):
            for value in ((1 << bit) - 1, 1 << bit, (1 << bit) + 1):
                yield base.but(**{"dims_%d" % axis: value})
        for value in list(range(18)) + [31, 32, 64, 127, 128, 129, 255, 256, 257]:
            yield base.but(**{"box_%d" % axis: value})
        for value in range(10):
            yield base.but(**{"steps_%d" % axis: value})
    for axis in range(rank - 1):
        for bit in range(3, 42):
            for value in (1 << bit, 3 << bit, (1 << bit) - 16):
                if value >= 0:
                    yield base.but(**{"strides_%d" % axis: value})


def inner_box_variations():
    """Swizzles against the inner box's bytes, for each size of an element."""
    for dtype in (0, 1, 2, 5, 7, 9, 12):
        for rank in (2, 3):
            for swizzle in range(8):
                for inner in (8, 16, 24, 32, 48, 64, 96, 128, 256):
                    yield simple(rank, dtype, inner).but(swizzle=swizzle)


def random_maps(count, generator):
    for _ in range(count):
        dtype = generator.randrange(13)
        rank = generator.randint(1, MAX_RANK)
        size = TYPE_BYTES[dtype]
        interleave = generator.choice([0, 0, 0, 0, 1, 2]) if rank >= 3 else 0
        unit = 32 if interleave == 2 else 16
        swizzle = generator.randrange(7)
        span = {0: 256, 1: 32, 2: 64}.get(swizzle, 128)
        dims = [generator.randint(1, 1 << generator.randint(0, 32)) for _ in range(rank)]
        yield Arguments(
            type=dtype, rank=rank, address=generator.randrange(1 << 44) * unit, dims=dims,
            strides=[unit * generator.randint(1, 1 << generator.randint(1, 35))
                     for _ in range(rank - 1)],
            box=[16 * generator.randint(1, span // 16) // size] +
                [generator.randint(1, 1 << generator.randint(0, 8)) for _ in range(rank - 1)],
            steps=[generator.choice([1, 1, generator.randint(1, 8)]) for _ in range(rank)],
            interleave=interleave, swizzle=swizzle, l2=generator.randrange(4),
            oob=generator.randrange(2) if 6 <= dtype <= 12 else 0)


def all_maps():
    yield from type_variations()
    for rank in range(1, MAX_RANK + 1):
        yield from number_variations(rank)
    yield from inner_box_variations()
    yield from random_maps(2500, random.Random(20240607))


def encode(driver, arguments):
    """Returns the result's number and, of a success, the 128 bytes."""
    try:
        return 0, driver.encode(arguments)
    except CudaError as error:
        return error.result, None


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip().splitlines()[-1])
    driver = Driver()
    seen = set()
    encoded = 0
    with open(sys.argv[1], "w") as out:
        out.write(json.dumps(driver.describe(), sort_keys=True) + "\n")
        for arguments in all_maps():
            key = json.dumps([arguments[field] for field in FIELDS])
            if key in seen:
                continue
            seen.add(key)
            result, image = encode(driver, arguments)
            encoded += image is not None
            line = dict(arguments, result=result)
            if image is not None:
                line["bytes"] = image.hex()
            out.write(json.dumps(line, sort_keys=True) + "\n")
    print("%d maps, %d of them encoded" % (len(seen), encoded))


if __name__ == "__main__":
    main()
