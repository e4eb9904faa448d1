#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times attention against other libraries on one GPU.

Every contender is first checked against float64. Then all of them run in
rounds; in a round each has one slice of time, in an order shuffled anew, and
the first half of the slice is dropped, because a GPU at its power cap takes
tens of milliseconds to settle on a clock. A round's time is the median of the
rest, measured by CUDA events; the result is the median of the rounds. Inputs
are N(0, 1), of 16384 tokens and hidden size 2048 (or --heads), with batch,
seqlen, heads and head dim outermost to innermost. Only ratios within one run
mean something.

With --op=bwd backward passes race: of attn a bundle beside that of the forward pass, of libraries what torch records (cudnn
and torch-fa2: scaled_dot_product_attention; fa4). --op=bwd-det is for kernels that give the same bits in each run.

Cases are the masks none and causal, and functions (--cases prefix1024,padding,...,relbias, tools/python/racing/masks.py
and scores.py have them), which attn and FlexAttention have kernels for: the contenders flex and fa4-flex. TFLOP/s are of the pairs that a
function admits; beside them are shares of all pairs, and TFLOP/s of the blocks that a contender visits. --beside causal,window1024
races attn's kernels of other masks at the same points: how much a mask costs beyond the blocks that it visits.

Bundles are compiled beforehand by make_bundles.py, one a head dim and mask, and
named fwd_d64_none.attn, fwd_d192x128_causal.attn, fwd_fp16_d128_none.attn and so
on. This program needs PyTorch and libattn_runtime.so, but no compiler.

  --bundles DIR    races the contender attn against the others
  --matrix DIR     races variants of the same kernel against each other: each
                   bundle DIR/NAME.attn, or folder of bundles DIR/NAME, is one;
                   not where they are one kernel, as make_ablations.py found. With --op=bwd
                   a variant is a folder that also has the bundle of the forward pass
  --report FILE... prints the table of one or more runs, with their medians

A contender that hangs or breaks the device is left out from then on, for its head dim and mask:
the program restarts itself and continues.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time

from paths import ROOT
from racing import contenders, points
from racing.session import Fatal, Session, measure, replace_process

import kernels
import results

DEFAULT_CONTENDERS = {"fwd": ("attn", "cudnn", "torch-fa2"), "bwd": ("attn", "cudnn", "torch-fa2"),
                      "bwd-det": ("attn", "cudnn", "fa4-det")}
DEFAULT_DIMS = ((64, 64), (128, 128))
DEFAULT_DTYPES = ("bf16",)


def chosen_variants(args):
    """The variants of --matrix that --only lets through."""
    found = contenders.find_variants(args.matrix) if args.matrix else {}
    return {name: files for name, files in found.items() if args.only.search(name)}


def grid(session, args):
    """The points to measure; head dims and types that are not asked for are those of
    the variants."""
    problems = session.problems()
    spelled = {element: dtype for dtype, element in contenders.ELEMENT_TYPES.items()}
    dims = args.d or sorted({(p["head_dim"], p["head_dim_v"]) for p in problems}) or DEFAULT_DIMS
    dtypes = args.dtype or sorted({spelled[p["dtype"]] for p in problems}) or DEFAULT_DTYPES
    found = points.make_grid(args.grid, dims, args.cases, args.min_seqlen, args.max_seqlen, dtypes, args.heads,
                             args.op)
    return [p for p in found if not args.matrix or any(kind == "variant" for kind, _ in session.entrants(p).values())]


def sameness(folder):
    """Returns the function of Session that says whether a variant of a folder is the table's kernel at a point."""
    same = kernels.read_same(os.path.join(folder, kernels.SAME)) if folder else {}
    return lambda name, point: kernels.is_same(same, name, point.family, point.seqlen)


def start_again(argv, args, fatal):
    """Replaces this process by one that leaves the culprit out and continues."""
    skipped = [[*key, note] for key, note in args.skipped.items()] + [[fatal.name, fatal.family, fatal.note]]
    replace_process(__file__, [*argv, "--resume", json.dumps({"skipped": skipped, "out": args.out})])


def parse_arguments(argv):
    def several(kind, allowed=None):
        def parse(text):
            try:
                values = [kind(x) for x in text.split(",") if x]
            except ValueError:
                values = []
            if not values or (allowed and set(values) - set(allowed)):
                raise argparse.ArgumentTypeError(f"expected some of {','.join(map(str, allowed or ['a number']))}, got '{text}'")
            return values
        return parse

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--bundles", help="folder of the bundles of the contender attn")
    mode.add_argument("--matrix", metavar="DIR", help="folder of variants")
    mode.add_argument("--report", nargs="+", metavar="FILE", help="files of results; nothing is measured")
    parser.add_argument("--op", choices=points.OPS, default="fwd", help="bwd-det: backward by kernels that give the same bits in each run")
    parser.add_argument("--grid", choices=list(points.GRIDS), default="paper")
    parser.add_argument("--d", type=several(points.pair), help="head dims, as 64,128,192/128; the default is 64,128, or what the variants have")
    parser.add_argument("--cases", type=several(str, points.CASES), default=list(points.MASKS), help="masks and functions")
    parser.add_argument("--dtype", type=several(str, points.DTYPES), help="the default is bf16, or what the variants have")
    parser.add_argument("--heads", type=several(points.pair), default=[None], help="heads of Q and of K and V, as 32/8,64/8")
    parser.add_argument("--min-seqlen", type=int, default=0)
    parser.add_argument("--max-seqlen", type=int, default=points.TOKENS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slice-ms", type=float, default=80.0, help="length of a slice; shorter ones are for trying things out")
    parser.add_argument("--seed", type=int, default=0, help="of the order and of the inputs")
    parser.add_argument("--contenders", type=several(str, contenders.NAMES),
                        help="the default is attn,cudnn,torch-fa2, and none beside --matrix")
    parser.add_argument("--beside", type=several(str, points.CASES), default=[], metavar="MASKS",
                        help="also race attn's kernels of these masks at each point; ratios to them are of visited pairs")
    parser.add_argument("--only", type=re.compile, default=re.compile(""), metavar="REGEX", help="only these variants")
    parser.add_argument("--drop", type=float, default=0.0, metavar="RATIO",
                        help="a variant slower than RATIO times the best in the first round has no further rounds at that point")
    parser.add_argument("--plugin", action="append", default=[], metavar="FILE", help="Python file with further contenders")
    parser.add_argument("--lib", default=os.path.join(ROOT, "build", "lib", "libattn_runtime.so"), help="libattn_runtime.so")
    parser.add_argument("--out", help="file of JSON lines to write, one a measurement")
    parser.add_argument("--resume", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.contenders is None:
        args.contenders = [] if args.matrix else list(DEFAULT_CONTENDERS[args.op])
    if "attn" in args.contenders and args.matrix:
        parser.error("--matrix has the variants in place of the contender attn")
    if "attn" in args.contenders and not (args.bundles or args.report):
        parser.error("the contender attn needs --bundles")
    for _, dv in args.d or ():
        if args.heads == [None] and points.HIDDEN % dv:
            parser.error(f"expected head dims that divide {points.HIDDEN}, got {dv}; or say --heads")
    for group in args.heads:
        if group and group[0] % group[1]:
            parser.error(f"expected heads of Q in multiples of those of K and V, got {group[0]}/{group[1]}")
    if args.rounds < 1 or args.slice_ms <= 0:
        parser.error("expected at least one round and a slice longer than 0 ms")
    if args.op != "fwd" and args.beside:
        parser.error(f"--beside: expected --op=fwd, got {args.op}")
    args.skipped = {}
    if args.resume:
        args.out = args.resume["out"]
        args.skipped = {(name, tuple(family)): note for name, family, note in args.resume["skipped"]}
    return args


def announce(session, count):
    print(", ".join(f"{key} {value}" for key, value in session.environment.items()))
    if not session.clock.nvml:
        print("the SM clock cannot be read here: GHz is printed as 0")
    if session.settings.rounds < 3 or session.settings.slice_ms < 80:
        print("fewer than 3 rounds or slices under 80 ms: these figures are for trying things out only")
    for name, note in session.broken.items():
        print(f"  {name} cannot be loaded: {note}")
    print(f"{count} points", flush=True)


def print_point(lines, started):
    """The results of one point."""
    row = results.merge([{(results.family_of(lines[0]), lines[0]["seqlen"]): {r["contender"]: r for r in lines}}])[0]
    if any(r["kind"] == "variant" for r in lines):
        right = sorted((r for r in lines if r["ok"]), key=lambda r: -r["tflops"])
        top = ", ".join(f"{r['contender']} {r['tflops']:.0f} @{r['ghz']:.2f}" for r in right[:3])
        text = f"{results.describe_family(row.family)} s{row.seqlen}: {top or 'no result'}"
    else:
        text = results.format_row(row, row.groups)
    print(f"{text}   [{time.monotonic() - started:.0f} s]", flush=True)
    for r in lines:
        if not r["ok"]:
            print(f"  {r['contender']}: {r['note']}", flush=True)


def run(args, argv, torch):
    """Measures all points that --out does not hold yet; returns its rows, and how
    many variants could not be loaded."""
    session = Session(torch, args, chosen_variants(args), sameness(args.matrix))
    done = results.read_run(args.out) if args.resume else {}
    left = [p for p in grid(session, args) if (p.family, p.seqlen) not in done]
    if not left and not done:
        sys.exit("no point of the grid is left: see --d, --cases, --min-seqlen and --max-seqlen")
    if not args.resume:
        announce(session, len(left))
        if not args.matrix:
            print(results.format_header(list(session.entrants(left[0]))))
    started = time.monotonic()
    with open(args.out, "a" if args.resume else "w", encoding="utf-8") as out:
        for point in left:
            try:
                lines = measure(session, point)
            except Fatal as fatal:
                print(f"  {fatal}; starting again without it", flush=True)
                out.close()
                start_again(argv, args, fatal)
            print_point(lines, started)
            out.writelines(json.dumps(line) + "\n" for line in lines)
            out.flush()
    return results.merge([results.read_run(args.out)]), len(session.broken)


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    args = parse_arguments(argv)
    if args.report:
        rows = results.merge([results.read_run(path) for path in args.report])
        print(results.format_tables(rows))
        return 0
    import torch
    if not torch.cuda.is_available():
        sys.exit("PyTorch finds no GPU")
    torch.manual_seed(args.seed)
    torch.set_grad_enabled(False)
    if not args.out:
        args.out = os.path.join(tempfile.mkdtemp(prefix="attention-"), "results.jsonl")
    rows, broken = run(args, argv, torch)
    print("\n" + results.format_tables(rows))
    wrong = sum(len(row.wrong) for row in rows)
    print(f"{wrong} measurements wrong" + (f", {broken} variants that cannot be loaded" if broken else ""))
    return 1 if wrong or broken else 0


if __name__ == "__main__":
    sys.exit(main())
