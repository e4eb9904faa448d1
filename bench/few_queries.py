#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times attention of few queries on many keys (decode, speculative decoding) against other
libraries on one GPU, by the bytes of K and V that are read in a second.

    bench/few_queries.py --lib-dir build/lib --out few.jsonl
    bench/few_queries.py --report few.jsonl
    bench/few_queries.py --markdown few.jsonl    the table of docs/few-queries.md

Each contender launches on several sets of tensors in turn, which together are larger than the
L2 cache, so that K and V come from memory. The launches are one CUDA graph: times are
the GPU's, without what the host needs for a call. Every contender is first checked against
float64; then they run in rounds, as in attention.py, with the median of the rounds as the
result. Inputs are N(0, 1), without a mask. Needs PyTorch; attn runs through its Python
package, which compiles at its first call, by the time of which is in the results.
"""

import argparse
import contextlib
import itertools
import json
import math
import os
import statistics
import sys
import time

from paths import ROOT
from racing import race
from racing.session import query_smi, first_line
from racing.contenders import package_version

BATCHES = (1, 16, 64, 128)
QUERIES = (1, 4, 8, 16)
KEYS = (2048, 8192, 65536)
HEADS = ((32, 8), (28, 4), (32, 32))
DIMS = (64, 128)
# More than any L2 cache of these machines, and the most memory of one point.
COLD_BYTES, MOST_BYTES = 256 << 20, 70 << 30
# Pairs of a batch and a head of K and V whose rows are checked.
CHECKED = 4


class Point:
    def __init__(self, batch, queries, keys, heads, dim):
        self.batch, self.queries, self.keys, self.heads, self.dim = batch, queries, keys, heads, dim

    @property
    def bytes(self):
        """Of K and V."""
        return 2 * 2 * self.batch * self.keys * self.heads[1] * self.dim

    @property
    def sets(self):
        """How many tensors make a round trip larger than the L2 cache."""
        return max(1, min(64, math.ceil(COLD_BYTES / self.bytes)))

    def __str__(self):
        return f"b{self.batch} q{self.queries} k{self.keys} h{self.heads[0]}/{self.heads[1]} d{self.dim}"

    def fields(self):
        return {"batch": self.batch, "queries": self.queries, "keys": self.keys, "heads": list(self.heads), "d": self.dim}


class Replay:
    """A contender's launches on all sets, as one graph."""

    def __init__(self, torch, launch, sets):
        self.scope, self.outs = contextlib.nullcontext, []
        launch(*sets[0])
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for one in sets:
                launch(*one)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.outs = [launch(*one) for one in sets]
        self.call = self.graph.replay


def launch_attn(torch):
    import attn
    return lambda q, k, v: attn.flash_attn_func(q, k, v)


def launch_cudnn(torch):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    function = torch.nn.functional.scaled_dot_product_attention

    def launch(q, k, v):
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            q, k, v = (t.transpose(1, 2) for t in (q, k, v))
            return function(q, k, v, enable_gqa=q.shape[1] != k.shape[1]).transpose(1, 2)
    return launch


def launch_fa4(torch):
    from flash_attn.cute import flash_attn_func

    def launch(q, k, v):
        out = flash_attn_func(q, k, v)
        return out[0] if isinstance(out, tuple) else out
    return launch


LAUNCHES = {"attn": launch_attn, "cudnn": launch_cudnn, "fa4": launch_fa4}


def judge(torch, point, tensors, out):
    """"" or what is wrong with an output, in samples against float64: each element may be off by
    what rounding P and O to the outputs' type explains."""
    q, k, v = tensors
    group = point.heads[0] // point.heads[1]
    pairs = list(itertools.product(range(point.batch), range(point.heads[1])))
    for b, h in pairs[:: max(1, len(pairs) // CHECKED)]:
        rows = q[b, :, h * group:(h + 1) * group].double().flatten(0, 1)
        p = torch.softmax(rows @ k[b, :, h].double().T / math.sqrt(point.dim), -1)
        values = v[b, :, h].double()
        exact = p @ values
        eps = torch.finfo(out.dtype).eps
        allowed = eps * (p @ values.abs()) + eps / 2 * exact.abs()
        error = (out[b, :, h * group:(h + 1) * group].flatten(0, 1).double() - exact).abs()
        if not bool((error <= allowed).all()):
            return f"O: an error of {float(error.max()):.2e} at batch {b}, head {h * group} to {(h + 1) * group - 1}"
    return ""


def measure(torch, args, point, launches, clock, environment):
    generator = torch.Generator(device="cuda").manual_seed(args.seed)

    def make(*shape):
        dtype = torch.bfloat16 if args.dtype == "bf16" else torch.float16
        return torch.randn(*shape, device="cuda", dtype=dtype, generator=generator)

    kv = point.batch, point.keys, point.heads[1], point.dim
    sets = [(make(point.batch, point.queries, point.heads[0], point.dim), make(*kv), make(*kv)) for _ in range(point.sets)]
    racing, notes, first_call = {}, {}, {}
    for name, launch in launches.items():
        try:
            start = time.perf_counter()
            notes[name] = judge(torch, point, sets[0], launch(*sets[0]))
            torch.cuda.synchronize()
            first_call[name] = time.perf_counter() - start
            if not notes[name]:
                racing[name] = Replay(torch, launch, sets)
        except Exception as error:  # whatever a contender raises is its own result
            torch.cuda.synchronize()
            notes[name] = first_line(error)
    times = race.race(torch, racing, args.rounds, args.slice_ms, args.seed, clock)
    for name, replay in racing.items():
        notes[name] = judge(torch, point, sets[-1], replay.outs[-1])
    lines = []
    for name in launches:
        ms, ghz = times.get(name, ([], []))
        one = statistics.median(ms) / point.sets if ms else 0.0
        lines.append({**point.fields(), "contender": name, "ok": not notes[name], "note": notes[name], "us": round(1000 * one, 3),
                      "gbytes": round(point.bytes / one / 1e6, 1) if one else 0.0, "rounds": len(ms),
                      "first_call_s": round(first_call.get(name, 0.0), 3),
                      "ghz": round(statistics.median(ghz), 3) if ghz else 0.0, **environment})
    return lines


def describe(lines):
    """One row of the table: GB/s of each, and attn's ratio to the best of the others."""
    row = lines[0]
    head = f"b{row['batch']:<4} q{row['queries']:<3} k{row['keys']:<6} h{row['heads'][0]}/{row['heads'][1]:<3} d{row['d']:<4}"
    cells = [f"{line['contender']} {line['gbytes']:6.0f} ({line['us']:.1f} us)" if line["ok"] else f"{line['contender']} -" for line in lines]
    ratio = ratio_of(lines)
    return f"{head} {'  '.join(cells)}" + (f"  {ratio:.3f}" if ratio else "")


def ratio_of(lines):
    speeds = {line["contender"]: line["gbytes"] for line in lines if line["ok"]}
    others = [speed for name, speed in speeds.items() if name != "attn"]
    return speeds["attn"] / max(others) if "attn" in speeds and others else None


def report(path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    groups = {}
    for line in lines:
        groups.setdefault((line["batch"], line["queries"], line["keys"], *line["heads"], line["d"]), []).append(line)
    ratios = []
    for group in groups.values():
        print(describe(group))
        for line in group:
            if line["note"]:
                print(f"    {line['contender']}: {line['note'][:150]}")
        if ratio_of(group):
            ratios.append(ratio_of(group))
    if ratios:
        print(f"attn to the best peer: geometric mean {statistics.geometric_mean(ratios):.3f}, worst {min(ratios):.3f}, {len(ratios)} points")


def markdown(path):
    """Prints a row for each head dim, heads, keys and queries, with a cell for each batch: GB/s of attn, and
    its ratio to the best of the others."""
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    batches = sorted({line["batch"] for line in lines})
    rows = {}
    for line in lines:
        row = rows.setdefault((line["d"], *line["heads"], line["keys"], line["queries"]), {})
        row.setdefault(line["batch"], []).append(line)
    print("| head dim | heads | keys | queries |" + "".join(f" batch {batch} |" for batch in batches))
    print("|---|---|---|---|" + "---|" * len(batches))
    for (d, heads, kv_heads, keys, queries), row in sorted(rows.items()):
        cells = []
        for batch in batches:
            group = row.get(batch, [])
            speed = next((line["gbytes"] for line in group if line["contender"] == "attn" and line["ok"]), None)
            ratio = ratio_of(group)
            cells.append("-" if speed is None else f"{speed:.0f}" + (f" {ratio:.2f}" if ratio else ""))
        print(f"| {d} | {heads}/{kv_heads} | {keys} | {queries} | " + " | ".join(cells) + " |")


def parse_arguments(argv):
    def numbers(text):
        return [int(word) for word in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=numbers, default=BATCHES)
    parser.add_argument("--queries", type=numbers, default=QUERIES)
    parser.add_argument("--keys", type=numbers, default=KEYS)
    parser.add_argument("--heads", type=lambda text: [tuple(map(int, pair.split("/"))) for pair in text.split(",")], default=HEADS)
    parser.add_argument("--d", type=numbers, default=DIMS)
    parser.add_argument("--contenders", type=lambda text: text.split(","), default=list(LAUNCHES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slice-ms", type=float, default=40.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lib-dir", default=os.path.join(ROOT, "build", "lib"), help="folder of attn's libraries")
    parser.add_argument("--out", help="file of JSON lines to write")
    parser.add_argument("--dtype", choices=("bf16", "fp16"), default="bf16")
    parser.add_argument("--report", metavar="FILE", help="prints the results of a file; nothing is measured")
    parser.add_argument("--markdown", metavar="FILE", help="prints them as a table of a page")
    args = parser.parse_args(argv)
    if not args.report and not args.markdown and not args.out:
        parser.error("expected --out=FILE, got none")
    return args


def main(argv):
    args = parse_arguments(argv)
    if args.report or args.markdown:
        (report if args.report else markdown)(args.report or args.markdown)
        return 0
    os.environ.setdefault("ATTN_LIBRARY_DIR", os.path.abspath(args.lib_dir))
    sys.path.insert(0, os.path.join(ROOT, "python"))
    import torch
    torch.set_grad_enabled(False)
    clock = race.Clock(torch, 0)
    launches = {}
    for name in args.contenders:
        try:
            launches[name] = LAUNCHES[name](torch)
        except ImportError as error:
            print(f"{name} cannot take part: {first_line(error)}")
    environment = {"dtype": args.dtype, "gpu": torch.cuda.get_device_name(), "driver": query_smi("driver_version"), "torch": torch.__version__,
                   "cudnn": torch.backends.cudnn.version(), "fa4": package_version("flash-attn-4")}
    print(", ".join(f"{key} {value}" for key, value in environment.items()))
    with open(args.out, "w", encoding="utf-8") as file:
        for d, heads, keys, queries, batch in itertools.product(args.d, args.heads, args.keys, args.queries, args.batches):
            point = Point(batch, queries, keys, heads, d)
            if point.bytes * point.sets > MOST_BYTES:
                print(f"{point}: K and V take {point.bytes >> 30} GiB, at most {MOST_BYTES >> 30} are measured")
                continue
            lines = measure(torch, args, point, launches, clock, environment)
            file.writelines(json.dumps(line) + "\n" for line in lines)
            file.flush()
            print(describe(lines), flush=True)
    report(args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
