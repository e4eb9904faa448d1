#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times attention of a few queries on many keys, as a decoding step or a speculative one
has, against other libraries on one GPU: GB/s of K and V.

Every contender launches on several sets of tensors in turn, which together are larger than the
L2 cache, so that K and V come from memory. There is no mask. shapes.py describes the method.
"""

import itertools
import sys

import shapes

BATCHES = (1, 16, 64, 128)
QUERIES = (1, 4, 8, 16)
KEYS = (2048, 8192, 65536)
HEADS = ((32, 8), (28, 4), (32, 32))
DIMS = (64, 128)


def make_shapes(args):
    return [shapes.Shape(batch, queries, keys, heads, d, dtype=args.dtype, group=f"d{d}", cold=True)
            for d, heads, keys, queries, batch in itertools.product(args.d, args.heads, args.keys, args.queries, args.batches)]


def markdown(paths):
    """Prints a row for each head dim, heads, keys and queries, with a cell for each batch: GB/s of attn, and
    its ratio to the best of the others."""
    found = list(shapes.read(paths).values())
    batches = sorted({lines[0]["batch"] for lines in found})
    rows = {}
    for lines in found:
        line = lines[0]
        rows.setdefault((line["d"], *line["heads"], line["keys"], line["queries"]), {})[line["batch"]] = lines
    print("| head dim | heads | keys | queries |" + "".join(f" batch {batch} |" for batch in batches))
    print("|---|---|---|---|" + "---|" * len(batches))
    for (d, heads, kv_heads, keys, queries), row in sorted(rows.items()):
        cells = []
        for batch in batches:
            lines = row.get(batch, [])
            speed = next((line["gbytes"] for line in lines if line["contender"] == "attn" and line["ok"]), None)
            ratio = shapes.ratio_of(lines)
            cells.append("-" if speed is None else f"{speed:.0f}" + (f" {ratio:.2f}" if ratio else ""))
        print(f"| {d} | {heads}/{kv_heads} | {keys} | {queries} | " + " | ".join(cells) + " |")


def parse_arguments(argv):
    def numbers(text):
        return [int(word) for word in text.split(",")]

    parser = shapes.make_parser(__doc__, rounds=3, slice_ms=10.0)
    parser.add_argument("--batches", type=numbers, default=BATCHES)
    parser.add_argument("--queries", type=numbers, default=QUERIES)
    parser.add_argument("--keys", type=numbers, default=KEYS)
    parser.add_argument("--heads", type=lambda text: [tuple(map(int, pair.split("/"))) for pair in text.split(",")], default=HEADS)
    parser.add_argument("--d", type=numbers, default=DIMS)
    parser.add_argument("--dtype", choices=("bf16", "fp16"), default="bf16")
    return parser, parser.parse_args(argv)


def main(argv):
    parser, args = parse_arguments(argv)
    if args.markdown:
        markdown(args.markdown)
        return 0
    return shapes.run(args, make_shapes(args), parser)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
