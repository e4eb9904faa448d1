#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times attention against other libraries on one GPU at every head dim between the usual ones, and at the
classes of problems that differ from the grid of attention.py by more than their length: launches with fewer row blocks than
multiprocessors, many short sequences, few queries on many keys (the chunks of a prefill), cross attention, and one long
sequence. A quarter of the problems is measured in fp16 as well. shapes.py describes the method.
"""

import sys

import shapes

HEAD_DIMS = (32, 40, 48, 72, 80, 96, 104, 112, 160, 192, 224)
LENGTHS = (512, 1024, 4096, 16384)
TOKENS, HEADS = 16384, (16, 16)
# By group: batch, queries, keys, heads, masks. Causal masks are aligned to the last key.
CLASSES = {
    "few items": [(1, 512, 512, HEADS, "both"), (1, 1024, 1024, HEADS, "both"), (1, 2048, 2048, (8, 8), "both"), (2, 512, 512, (8, 8), "both")],
    "short sequences": [(128, 128, 128, HEADS, "both"), (64, 256, 256, HEADS, "both"), (256, 128, 128, (8, 8), "both")],
    "chunks": [(1, 64, 8192, (32, 8), "both"), (1, 128, 8192, (32, 8), "both"), (1, 256, 8192, (32, 8), "both"), (1, 512, 8192, (32, 8), "both"),
               (1, 512, 32768, (32, 8), "both"), (4, 128, 8192, HEADS, "both"), (4, 512, 8192, HEADS, "both")],
    "cross attention": [(4, 4096, 77, HEADS, "none"), (16, 1024, 77, HEADS, "none"), (4, 4096, 256, HEADS, "none"), (16, 1024, 256, HEADS, "none")],
    "long sequences": [(1, 32768, 32768, HEADS, "both"), (1, 65536, 65536, HEADS, "both"), (1, 131072, 131072, HEADS, "both")],
}
CLASS_DIMS = (64, 128)
MASKS = ("none", "causal")


def problems(dtype="bf16"):
    for d in HEAD_DIMS:
        for mask in MASKS:
            for length in LENGTHS:
                yield shapes.Shape(TOKENS // length, length, length, HEADS, d, mask, dtype, f"head dim {d}")
    for group, members in CLASSES.items():
        for d in CLASS_DIMS:
            for batch, queries, keys, heads, masks in members:
                for mask in MASKS if masks == "both" else (masks,):
                    yield shapes.Shape(batch, queries, keys, heads, d, mask, dtype, group)


def make_shapes(args):
    # One length in four is measured in fp16; in each row of four lengths it is another one.
    halves = [shape for i, shape in enumerate(problems("fp16")) if i % 4 == i // 4 % 4]
    return [shape for shape in [*problems(), *halves] if args.only in f"{shape.group} {shape}"]


def markdown(paths):
    """Prints a table of the head dims by the length, and one of the other groups: TFLOP/s of attn, and its ratio to the
    best of the others."""
    found = list(shapes.read(paths).values())
    for dtype in sorted({lines[0]["dtype"] for lines in found}):
        rows, others, ratios = {}, [], []
        for lines in (lines for lines in found if lines[0]["dtype"] == dtype):
            line = lines[0]
            ratios.append(shapes.ratio_of(lines))
            if line["group"].startswith("head dim"):
                rows.setdefault((line["d"], -MASKS.index(line["mask"])), {})[line["keys"]] = cell(lines)
            else:
                others.append(f"| {line['group']} | {line['batch']} | {line['queries']} | {line['keys']} | {line['heads'][0]}/{line['heads'][1]} | "
                              f"{line['d']} | {line['mask']} | {cell(lines)} |")
        print(f"{dtype}: {shapes.summary([ratio for ratio in ratios if ratio])}.\n")
        print("| head dim | mask | " + " | ".join(map(str, LENGTHS)) + " |")
        print("|---|---|" + "---|" * len(LENGTHS))
        for (d, mask), row in sorted(rows.items(), key=lambda item: (item[0][0], -item[0][1])):
            print(f"| {d} | {MASKS[-mask]} | " + " | ".join(row.get(length, "-") for length in LENGTHS) + " |")
        print("\n| class | batch | queries | keys | heads | head dim | mask | TFLOP/s, ratio |\n|---|---|---|---|---|---|---|---|")
        print("\n".join(others) + "\n")


def cell(lines):
    speed, ratio = next((line["tflops"] for line in lines if line["contender"] == "attn" and line["ok"]), None), shapes.ratio_of(lines)
    return "-" if speed is None else f"{speed:.0f}" + (f" {ratio:.2f}" if ratio else "")


def main(argv):
    parser = shapes.make_parser(__doc__, rounds=3, slice_ms=30.0)
    parser.add_argument("--only", default="", help="measures problems whose name contains this, 'chunks' or 'd72' for example")
    args = parser.parse_args(argv)
    if args.markdown:
        markdown(args.markdown)
        return 0
    return shapes.run(args, make_shapes(args), parser)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
