# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races libraries at single problems of any batch, lengths and heads, by the GPU's time: the launches of a contender
are one CUDA graph, so that the host's time does not count.

Every contender is first checked against float64. Then they run in rounds, in an order shuffled anew each
time, until their speeds are known well enough; the median of the rounds is the result. Inputs are N(0, 1).
attn runs through its Python package, which compiles at its first call; the seconds of each contender's first call are
in the results.

Used by few_queries.py and classes.py.
"""

import argparse
import contextlib
import json
import math
import os
import random
import statistics
import sys
import time

from paths import ROOT
from racing import race
from racing.contenders import package_version
from racing.session import first_line, query_smi
from racing.unavailable import Unavailable

# More than any L2 cache of these machines.
COLD_BYTES = 256 << 20
# A graph lasts about this long or longer: the launches of a problem are repeated in it.
GRAPH_MS, MOST_REPEATS = 0.4, 20
# The number of pairs of a batch and a head of K and V that are checked, and of queries of each.
CHECKED_PAIRS, CHECKED_QUERIES = 4, 48


class Shape:
    """A problem: `heads` are those of Q and of K and V; `cold`: K and V come from memory, not from the L2 cache."""

    def __init__(self, batch, queries, keys, heads, dim, mask="none", dtype="bf16", group="", cold=False):
        self.batch, self.queries, self.keys, self.heads, self.dim = batch, queries, keys, heads, dim
        self.mask, self.dtype, self.group, self.cold = mask, dtype, group, cold

    @property
    def bytes(self):
        """Of K and V."""
        return 2 * 2 * self.batch * self.keys * self.heads[1] * self.dim

    @property
    def sets(self):
        """The number of sets of tensors that are together larger than the L2 cache."""
        return max(1, min(64, math.ceil(COLD_BYTES / self.bytes))) if self.cold else 1

    @property
    def elements(self):
        """Of all tensors, at most."""
        q = self.batch * self.queries * self.heads[0] * self.dim
        return self.sets * (self.bytes // 2 + q + 3 * Pool.ALIGNMENT)

    @property
    def flops(self):
        """Two products, 2 d operations each, for each pair of a query and a key that it sees; the last query sees all keys."""
        pairs = self.queries * self.keys
        if self.mask == "causal":
            pairs = sum(max(0, self.keys - i) for i in range(self.queries))
        return 4 * self.batch * self.heads[0] * self.dim * pairs

    def fields(self):
        return {"group": self.group, "batch": self.batch, "queries": self.queries, "keys": self.keys, "heads": list(self.heads),
                "d": self.dim, "mask": self.mask, "dtype": self.dtype}

    def key(self):
        return tuple(tuple(value) if isinstance(value, list) else value for value in self.fields().values())

    def __str__(self):
        return (f"{self.dtype} {self.mask} b{self.batch} q{self.queries} k{self.keys} h{self.heads[0]}/{self.heads[1]} d{self.dim}")


class Pool:
    """Random tensors of one element type, cut from one that is filled once."""

    ALIGNMENT = 512

    def __init__(self, torch, dtype, elements, seed):
        self.all = torch.empty(elements, device="cuda", dtype=dtype)
        generator = torch.Generator(device="cuda").manual_seed(seed)
        for part in self.all.split(1 << 28):
            part.normal_(generator=generator)
        self.used = 0

    def make(self, *shape):
        first, count = self.used, math.prod(shape)
        self.used += -(-count // self.ALIGNMENT) * self.ALIGNMENT
        return self.all[first:first + count].view(*shape)

    def tensors(self, shape):
        """Q, K and V, `shape.sets` times."""
        self.used = 0
        kv = shape.batch, shape.keys, shape.heads[1], shape.dim
        return [(self.make(shape.batch, shape.queries, shape.heads[0], shape.dim), self.make(*kv), self.make(*kv)) for _ in range(shape.sets)]


class Replay:
    """A contender's launches on all sets, as one graph."""

    def __init__(self, torch, launch, sets):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for one in sets:
                launch(*one)
        torch.cuda.synchronize()
        self.record(torch, launch, sets)
        repeats = min(MOST_REPEATS, math.ceil(GRAPH_MS / min(self.times(torch, 3))))
        if repeats > 1:
            self.record(torch, launch, list(sets) * repeats)

    def record(self, torch, launch, sets):
        self.graph, self.launches = torch.cuda.CUDAGraph(), len(sets)
        with torch.cuda.graph(self.graph):
            self.outs = [launch(*one) for one in sets]

    def replay(self, torch, replays):
        """The events before and after each of so many replays."""
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(replays)]
        for start, stop in events:
            start.record()
            self.graph.replay()
            stop.record()
        return events

    def times(self, torch, replays):
        """Milliseconds of each of so many replays."""
        events = self.replay(torch, replays)
        torch.cuda.synchronize()
        return [start.elapsed_time(stop) for start, stop in events]

    def slice(self, torch, replays, clock):
        """Milliseconds of a launch, and the clock in GHz: of the second half of so many replays."""
        events = self.replay(torch, replays)
        clocks = []
        race.wait(events[-1][1], race.PATIENCE_S, lambda: clocks.append(clock.ghz()))
        times = race.settled([start.elapsed_time(stop) for start, stop in events])
        return statistics.median(times) / self.launches, statistics.median(race.settled(clocks) or [0.0])


def launch_attn(torch, shape):
    import attn
    return lambda q, k, v: attn.flash_attn_func(q, k, v, causal=shape.mask == "causal")


def launch_cudnn(torch, shape):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    function = torch.nn.functional.scaled_dot_product_attention
    causal = shape.mask == "causal"
    if causal and shape.queries != shape.keys:
        raise Unavailable("aligns causal masks to the first key")

    def launch(q, k, v):
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            q, k, v = (t.transpose(1, 2) for t in (q, k, v))
            return function(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1]).transpose(1, 2)
    return launch


def launch_fa4(torch, shape):
    from flash_attn.cute import flash_attn_func

    def launch(q, k, v):
        out = flash_attn_func(q, k, v, causal=shape.mask == "causal")
        return out[0] if isinstance(out, tuple) else out
    return launch


LAUNCHES = {"attn": launch_attn, "cudnn": launch_cudnn, "fa4": launch_fa4}


def judge(torch, shape, tensors, out):
    """"" or the fault of an output, found by comparing samples with float64: the error of an element may be as large
    as rounding P and O to the output's type explains."""
    q, k, v = tensors
    group = shape.heads[0] // shape.heads[1]
    queries = torch.arange(shape.queries, device="cuda")[:: -(-shape.queries // CHECKED_QUERIES)]
    last_key = queries + (shape.keys - shape.queries if shape.mask == "causal" else shape.keys)
    pairs = [(b, h) for b in range(shape.batch) for h in range(shape.heads[1])]
    for b, h in pairs[:: -(-len(pairs) // CHECKED_PAIRS)]:
        heads = slice(h * group, (h + 1) * group)
        scores = torch.einsum("igd,jd->igj", q[b, queries, heads].double(), k[b, :, h].double()) / math.sqrt(shape.dim)
        unseen = torch.arange(shape.keys, device="cuda")[None, None] > last_key[:, None, None]
        p, values = torch.softmax(scores.masked_fill(unseen, -math.inf), -1), v[b, :, h].double()
        exact = p @ values
        eps = torch.finfo(out.dtype).eps
        allowed = eps * (p @ values.abs()) + eps / 2 * exact.abs()
        error = (out[b, queries, heads].double() - exact).abs()
        if not bool((error <= allowed).all()):
            return f"O: an error of {float(error.max()):.2e} at batch {b}, heads {h * group} to {(h + 1) * group - 1}"
    return ""


def spread_of(times):
    """The standard error of the mean of a contender's rounds, relative to that mean; infinite for fewer than two."""
    return statistics.stdev(times) / statistics.mean(times) / math.sqrt(len(times)) if len(times) > 1 else math.inf


def is_settled(results, error):
    """Whether attn and the fastest of the others are known to that relative error. `results`: {name: milliseconds of each round}."""
    others = [times for name, times in results.items() if name != "attn"]
    compared = [min(others, key=statistics.median)] if others else []
    compared += [times for name, times in results.items() if name == "attn"]
    return all(spread_of(times) <= error for times in compared)


def run_rounds(torch, replays, args, seed, clock):
    """{name: (milliseconds of each round, GHz of each round)}

    A first round is not counted: the card comes from a rest, and runs at a clock that it does not keep. Rounds end when their
    number is at least --rounds and the error small enough, or at --most-rounds."""
    counts = {}
    for name, replay in replays.items():
        replay.slice(torch, 1, clock)
        counts[name] = max(2, math.ceil(args.slice_ms / max(replay.slice(torch, 1, clock)[0] * replay.launches, 1e-3)))
    results = {name: ([], []) for name in replays}
    for number, order in enumerate(race.rounds_order(replays, max(args.rounds, args.most_rounds) + 1, seed)):
        for name in order:
            measured = replays[name].slice(torch, counts[name], clock)
            for values, value in zip(results[name], measured, strict=True):
                values.extend([value] if number else [])
        if number >= args.rounds and is_settled({name: ms for name, (ms, _) in results.items()}, args.error):
            break
    return results


def measure(torch, args, shape, pool, clock, environment):
    """One line of results for each contender."""
    sets = pool.tensors(shape)
    replays, notes, first_call = {}, {}, {}
    for name in args.contenders:
        try:
            launch = LAUNCHES[name](torch, shape)
            start = time.perf_counter()
            out = launch(*sets[0])
            torch.cuda.synchronize()
            first_call[name] = time.perf_counter() - start
            notes[name] = judge(torch, shape, sets[0], out)
            if not notes[name]:
                replays[name] = Replay(torch, launch, sets)
        except Exception as error:  # whatever a contender raises is its own result
            torch.cuda.synchronize()
            notes[name] = first_line(error)
    times = run_rounds(torch, replays, args, random.Random(f"{args.seed} {shape}").randrange(1 << 30), clock)
    for name, replay in replays.items():
        notes[name] = judge(torch, shape, sets[-1], replay.outs[-1])
    lines = []
    for name, note in notes.items():
        ms, ghz = times.get(name, ([], []))
        one = statistics.median(ms) if ms else 0.0
        lines.append({**shape.fields(), "contender": name, "ok": not note, "note": note, "us": round(1000 * one, 3),
                      "gbytes": round(shape.bytes / one / 1e6, 1) if one else 0.0, "tflops": round(shape.flops / one / 1e9, 1) if one else 0.0,
                      "us_of_rounds": [round(1000 * value, 3) for value in ms], "first_call_s": round(first_call.get(name, 0.0), 3),
                      "ghz": round(statistics.median(ghz), 3) if ghz else 0.0, **environment})
    return lines


def shape_of(line):
    return Shape(line["batch"], line["queries"], line["keys"], tuple(line["heads"]), line["d"], line["mask"], line["dtype"], line["group"])


def read(paths):
    """{key of a shape: its lines}, with the medians of several runs."""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in map(json.loads, file):
                found.setdefault(shape_of(line).key(), {}).setdefault(line["contender"], []).append(line)
    return {key: [median_of(lines) for lines in by_name.values()] for key, by_name in found.items()}


def median_of(lines):
    good = [line for line in lines if line["ok"]]
    if len(good) < len(lines) or not good:
        return next(line for line in lines if not line["ok"])
    middle = {field: statistics.median(line[field] for line in good) for field in ("us", "gbytes", "tflops", "first_call_s", "ghz")}
    return {**good[0], **middle}


def ratio_of(lines):
    """The speed of attn relative to the best of the others, or None."""
    times = {line["contender"]: line["us"] for line in lines if line["ok"]}
    others = [us for name, us in times.items() if name != "attn"]
    return min(others) / times["attn"] if "attn" in times and others else None


def describe(lines):
    cells = [f"{line['contender']} {line['us']:.1f} us" if line["ok"] else f"{line['contender']} -" for line in lines]
    ratio = ratio_of(lines)
    return f"{shape_of(lines[0])!s:44s} {'  '.join(cells)}" + (f"  {ratio:.3f}" if ratio else "")


def summary(ratios):
    """Of the ratios of a table."""
    if not ratios:
        return "no point has both attn and another contender"
    above = sum(ratio >= 1 for ratio in ratios) / len(ratios)
    return f"geometric mean {statistics.geometric_mean(ratios):.3f}, lowest {min(ratios):.3f}, {above:.0%} at 1.00 or more, {len(ratios)} points"


def report(paths):
    groups = {}
    for lines in read(paths).values():
        print(describe(lines))
        for line in lines:
            if line["note"]:
                print(f"    {line['contender']}: {line['note'][:150]}")
        if ratio_of(lines):
            groups.setdefault(lines[0]["group"], []).append(ratio_of(lines))
    for group, ratios in groups.items():
        print(f"{group}: {summary(ratios)}")
    print(f"all: {summary([ratio for ratios in groups.values() for ratio in ratios])}")


def add_options(parser, rounds, slice_ms):
    parser.add_argument("--contenders", type=lambda text: text.split(","), default=list(LAUNCHES))
    parser.add_argument("--rounds", type=int, default=rounds, help="at least so many, besides one that is not counted")
    parser.add_argument("--most-rounds", type=int, default=5 * rounds)
    parser.add_argument("--error", type=float, default=0.005,
                        help="rounds go on until attn and the fastest of the others are known to this relative standard error")
    parser.add_argument("--slice-ms", type=float, default=slice_ms)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most-gib", type=float, default=70.0, help="problems whose tensors take more are left out")
    parser.add_argument("--until", type=float, help="seconds after which no further problem is begun")
    parser.add_argument("--lib-dir", default=os.path.join(ROOT, "build", "lib"), help="folder of attn's libraries")
    parser.add_argument("--out", help="file of JSON lines to write; problems that it has already are left out")
    parser.add_argument("--report", metavar="FILE", nargs="+", help="prints the results of one or more runs; nothing is measured")
    parser.add_argument("--markdown", metavar="FILE", nargs="+", help="prints them as tables of a page")


def make_parser(description, rounds, slice_ms):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, rounds, slice_ms)
    return parser


def run(args, shapes, parser):
    """Measures the shapes, or prints the table of --report."""
    if args.report:
        report(args.report)
        return 0
    if not args.out:
        parser.error("expected --out=FILE, got none")
    os.environ.setdefault("ATTN_LIBRARY_DIR", os.path.abspath(args.lib_dir))
    sys.path.insert(0, os.path.join(ROOT, "python"))
    import torch
    torch.set_grad_enabled(False)
    clock = race.Clock(torch, 0)
    environment = {"gpu": torch.cuda.get_device_name(), "driver": query_smi("driver_version"), "torch": torch.__version__,
                   "cudnn": torch.backends.cudnn.version(), "fa4": package_version("flash-attn-4")}
    print(", ".join(f"{key} {value}" for key, value in environment.items()))
    done, start = set(read([args.out])) if os.path.exists(args.out) else set(), time.monotonic()
    dtypes, pool = {"bf16": torch.bfloat16, "fp16": torch.float16}, None
    shapes = [shape for shape in shapes if shape.key() not in done]
    for shape in (s for s in shapes if s.elements * 2 > args.most_gib * (1 << 30)):
        print(f"{shape}: {shape.elements * 2 / (1 << 30):.1f} GiB, at most {args.most_gib:g} are measured")
    shapes = sorted((s for s in shapes if s.elements * 2 <= args.most_gib * (1 << 30)), key=lambda s: s.dtype)
    with open(args.out, "a", encoding="utf-8") as file, contextlib.suppress(KeyboardInterrupt):
        for shape in shapes:
            if args.until and time.monotonic() - start > args.until:
                print(f"out of time before {shape}")
                break
            if pool is None or pool.all.dtype != dtypes[shape.dtype]:
                pool = None
                pool = Pool(torch, dtypes[shape.dtype], max(s.elements for s in shapes if s.dtype == shape.dtype), args.seed)
            lines = measure(torch, args, shape, pool, clock, environment)
            file.writelines(json.dumps(line) + "\n" for line in lines)
            file.flush()
            print(describe(lines), flush=True)
    report([args.out])
    return 0
