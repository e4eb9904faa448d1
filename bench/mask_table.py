#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the tables of docs/mask-functions.md: of each mask function that attention.py measures, what the compiler
finds in it, the schedule and its tiles, and the shares of the pairs that are admissible and that the kernels visit.
Compiles the bundles, and needs no GPU; PyTorch counts the pairs. With --speeds it writes the table of speeds instead,
from results of attention.py --beside causal,window1024.

    bench/mask_table.py                        # writes the page
    bench/mask_table.py --out FILE             # writes another copy of it
    bench/mask_table.py --speeds RUN.jsonl...  # medians of several runs
"""

import argparse
import os
import subprocess
import sys
import tempfile

from paths import ROOT
import diagnostics
from racing import libattn, masks, points, shares

import kernels
import make_bundles
import results

DIMS, SEQLENS = (64, 128), (4096, 16384)
BEGIN, END = "<!-- shares -->\n", "<!-- end of shares -->\n"
SPEEDS_BEGIN, SPEEDS_END = "<!-- speeds -->\n", "<!-- end of speeds -->\n"
PEERS = ("flex", "fa4-flex")
# The masks of the kernels of attn that others are compared with, by visited pairs.
BESIDE = ("causal", "window1024")
SPEEDS_HEAD = ["function", "head dim", "positions", "attn, TFLOP/s", "FlexAttention", "FlashAttention-4", "attn to the faster", *(f"to {mask}, visited" for mask in BESIDE)]
HEAD = ["function", "found", "head dim", "schedule", "tiles", *(f"{what}, {seqlen // 1024}k" for what in ("admissible", "visited") for seqlen in SEQLENS)]
PAGE = os.path.join(ROOT, "docs", "mask-functions.md")


def found_in(compiler, source):
    """What the compiler finds in the mask function of IR."""
    command = [compiler, "--emit=attn", "--explain", "--json-diagnostics", "-o", os.devnull]
    done = subprocess.run(command, check=True, input=source, stderr=subprocess.PIPE, text=True)
    return diagnostics.decisions_of(done.stderr, "infer-mask")[0]


def found_in_words(decision):
    """The interval or mask that was found, and the operations that stay."""
    stays = decision.get("Staying")
    return f"`{decision['Mask']}`" + (f"; stays: {stays}" if stays else "")


def variant_at(bundle, point):
    """The plan's variant that a launch runs."""
    return bundle.plan["variants"][bundle.choose_variant(kernels.arguments(bundle.plan, point))]


def describe_variant(plan, variant):
    """(its schedule's name, its tiles)"""
    tiles = shares.tiles_of(plan, variant)
    if not tiles:
        raise ValueError(f"expected a kernel with tiles, got {variant['schedule']}")
    return variant["report"]["schedule"], tiles


def row_of(args, bundle, mask, d):
    """The cells of a function and a head dim."""
    there = [points.Point(mask, d, seqlen) for seqlen in SEQLENS]
    chosen = [describe_variant(bundle.plan, variant_at(bundle, point)) for point in there]
    names, tiles = zip(*chosen)
    admissible = [f"{shares.admissible(mask, seqlen):.3f}" for seqlen in SEQLENS]
    visited = [f"{shares.visited(mask, seqlen, each):.3f}" for seqlen, each in zip(SEQLENS, tiles)]
    sizes = dict.fromkeys(f"{each.rows} x {each.keys}" for each in tiles)
    return [mask, found_in_words(found_in(args.compiler, make_bundles.source(there[0]))), str(d), ", ".join(f"`{name}`" for name in dict.fromkeys(names)),
            ", ".join(sizes), *admissible, *visited]


def compile_point(args, point, folder):
    """The loaded bundle of a point."""
    source, path = (os.path.join(folder, make_bundles.stem(point) + end) for end in (".mlir", ".attn"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(make_bundles.source(point))
    target = [f"--target={args.target}"] if args.target else []
    subprocess.run([args.compiler, source, *target, "--emit=bundle", "-o", path], check=True)
    return libattn.Library(args.lib).load(path)


def format_ratio(ratio):
    """The median, and the range of several runs."""
    if ratio is None:
        return "-"
    median, least, most, _ = ratio
    return f"{median:.2f}" if least == most else f"{median:.2f} ({least:.2f} to {most:.2f})"


def speeds_of(row):
    """The cells of one point."""
    rates = [f"{row.entries[name].tflops:.0f}" if name in row.entries else "-" for name in ("attn", *PEERS)]
    beside = [row.ratio([f"attn:{mask}"], "tflops_visited") for mask in BESIDE]
    _, _, case, d, _ = row.family
    return [case, str(d), str(row.seqlen), *rates, *map(format_ratio, (row.peer_ratio(), *beside))]


def speeds(paths):
    """The table of speeds, and a line about the runs."""
    runs = [results.read_run(path) for path in paths]
    rows = sorted((row for row in results.merge(runs) if "attn" in row.entries), key=lambda row: (list(masks.MASKS).index(row.family[2]), row.family[3], row.seqlen))
    first = next(iter(next(iter(runs[0].values())).values()))
    words = ", ".join(f"{name} {first[key]}" for name, key in (("driver", "driver"), ("PyTorch", "torch"), ("flash-attn-4", "fa4")) if key in first)
    gpus = dict.fromkeys(line["gpu"] for run in runs for lines in run.values() for line in lines.values())
    return table([speeds_of(row) for row in rows], SPEEDS_HEAD) + f"\n{len(runs)} {'run' if len(runs) == 1 else 'runs'} on {' and '.join(gpus)}, {words}.\n"


def table(rows, head=HEAD):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def with_table(page, text, begin=BEGIN, end=END):
    head, rest = page.split(begin)
    return head + begin + text + end + rest.split(end)[1]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(masks.FUNCTIONS), help="the functions; the page has all of them")
    parser.add_argument("--out", default=PAGE, help="the page to write")
    parser.add_argument("--compiler", default=os.path.join(ROOT, "build", "bin", "attn-compile"))
    parser.add_argument("--target", help="the machine (default: the compiler's)")
    parser.add_argument("--lib", default=os.path.join(ROOT, "build", "lib", "libattn_runtime.so"), help="libattn_runtime.so")
    parser.add_argument("--speeds", nargs="+", metavar="FILE", help="results of attention.py, a file a run")
    args = parser.parse_args(argv)
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    if args.speeds:
        page = with_table(page, speeds(args.speeds), SPEEDS_BEGIN, SPEEDS_END)
        with open(args.out, "w", encoding="utf-8") as file:
            file.write(page)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        rows = [row_of(args, compile_point(args, points.Point(mask, d, points.TOKENS), folder), mask, d)
                for mask in args.cases.split(",") for d in DIMS]
    with open(args.out, "w", encoding="utf-8") as file:
        file.write(with_table(page, table(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
