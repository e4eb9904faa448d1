#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times attention against cuDNN and PyTorch's flash backend on one GPU.

Every contender is first checked against float64. Then all of them run in
rounds; in a round each has one slice of time, in an order shuffled anew, and
the first half of the slice is dropped, because a GPU at its power cap takes
tens of milliseconds to settle on a clock. A round's time is the median of the
rest, measured by CUDA events; the result is the median of the rounds. Inputs
are N(0, 1), of 16384 tokens and hidden size 2048, with batch, seqlen, heads and
head dim outermost to innermost. Only ratios within one run mean something.

Bundles are compiled beforehand, one a head dim and mask, and named
fwd_d64_none.attn, fwd_d64_causal.attn, fwd_d128_none.attn and so on. This
program needs PyTorch and libattn_runtime.so, but no compiler.
"""

import argparse
import contextlib
import json
import math
import os
import random
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import libattn

TOKENS = 16384
HIDDEN = 2048
GRIDS = {
    "paper": (512, 1024, 2048, 4096, 8192, 16384),
    "quick": (1024, 4096, 16384),
}
CASES = ("none", "causal")
CONTENDERS = ("attn", "cudnn", "torch-fa2")
# What approximate exponentials may add to the log-sum-exp, beside rounding.
LSE_APPROXIMATION = 1e-4
MIN_LAUNCHES = 8


class Point:
    """One problem of the grid."""

    def __init__(self, case, d, seqlen):
        self.case, self.d, self.seqlen = case, d, seqlen
        self.batch = max(1, TOKENS // seqlen)
        self.heads = HIDDEN // d

    @property
    def causal(self):
        return self.case == "causal"

    @property
    def flops(self):
        """Two products of 2 s^2 d operations a head; half of it if causal."""
        full = 4 * self.batch * self.heads * self.seqlen**2 * self.d
        return full // 2 if self.causal else full

    @property
    def scale(self):
        return self.d**-0.5

    def __str__(self):
        return f"fwd bf16 {self.case} d{self.d} s{self.seqlen}"


def make_grid(grid, dims, cases, least, most):
    return [Point(c, d, s) for d in dims for c in cases for s in GRIDS[grid] if least <= s <= most]


def rounds_order(names, rounds, seed):
    """The order of the contenders in each round: seeded permutations."""
    generator = random.Random(seed)
    return [generator.sample(list(names), len(names)) for _ in range(rounds)]


def tflops(point, milliseconds):
    return point.flops / milliseconds / 1e9


def launches_for(slice_ms, one_ms):
    """How many launches fill a slice."""
    return max(MIN_LAUNCHES, math.ceil(slice_ms / max(one_ms, 1e-3)))


def settled(values):
    """The second half of a slice."""
    return values[len(values) // 2:]


def summarize(point, name, rounds_ms, rounds_ghz, ok, note, environment):
    """One line of the results."""
    ms = statistics.median(rounds_ms) if rounds_ms else 0.0
    clocks = [c for c in rounds_ghz if c]
    return {
        "op": "fwd", "dtype": "bf16", "case": point.case, "d": point.d, "dv": point.d, "seqlen": point.seqlen,
        "contender": name, "tflops": round(tflops(point, ms), 2) if ms else 0.0, "rounds": len(rounds_ms), "ok": ok,
        "ms": ms, "min_ms": min(rounds_ms, default=0.0), "max_ms": max(rounds_ms, default=0.0),
        "ghz": round(statistics.median(clocks), 3) if clocks else 0.0, "note": note, **environment,
    }


class Clock:
    """Samples the GPU's SM clock through the driver's management library."""

    def __init__(self, torch, device):
        self.nvml = None
        with contextlib.suppress(Exception):
            import pynvml
            pynvml.nvmlInit()
            # The ordinal that this process sees need not be the machine's.
            uuid = str(torch.cuda.get_device_properties(device).uuid)
            self.handle = pynvml.nvmlDeviceGetHandleByUUID(uuid if uuid.startswith("GPU-") else "GPU-" + uuid)
            pynvml.nvmlDeviceGetClockInfo(self.handle, pynvml.NVML_CLOCK_SM)
            self.nvml = pynvml

    def ghz(self):
        """The clock now, 0 where it cannot be read."""
        if not self.nvml:
            return 0.0
        try:
            return self.nvml.nvmlDeviceGetClockInfo(self.handle, self.nvml.NVML_CLOCK_SM) / 1000
        except self.nvml.NVMLError:
            return 0.0


def query_smi(field):
    """One field of nvidia-smi, "unknown" where it does not answer."""
    try:
        done = subprocess.run(["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader", "--id=0"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True, timeout=60)
        return done.stdout.strip().splitlines()[0] if done.returncode == 0 else "unknown"
    except (OSError, subprocess.TimeoutExpired, IndexError):
        return "unknown"


def describe_environment(torch, library):
    return {
        "gpu": torch.cuda.get_device_name(), "driver": query_smi("driver_version"),
        "power_limit": query_smi("power.limit"), "torch": torch.__version__,
        "cudnn": torch.backends.cudnn.version(), "attn": library.version if library else "none",
    }


# ---- correctness ----


def sample_rows(seqlen, generator):
    """Rows to check: the first, the last and some between."""
    ends = set(range(min(64, seqlen))) | set(range(max(0, seqlen - 64), seqlen))
    return sorted(ends | {generator.randrange(seqlen) for _ in range(128)})


def reference(torch, point, q, k, v, rows, rounded):
    """O and LSE of `rows` of one head in float64; `rounded` rounds S, P and O to
    the dtype, as a plain implementation in that dtype would."""
    through = (lambda t: t.to(torch.bfloat16).double()) if rounded else (lambda t: t)
    scores = through(q[rows].double() @ k.double().T) * point.scale
    if point.causal:
        columns = torch.arange(k.shape[0], device=k.device)
        scores.masked_fill_(columns[None, :] > rows[:, None], -math.inf)
    return through(through(torch.softmax(scores, -1)) @ v.double()), torch.logsumexp(scores, -1)


def judge_output(error, rounded_error):
    """The rule for O, given (max, mean) of |error|: at most 2x and 1.5x that of
    the rounded reference. Returns "" or what is wrong; NaN is wrong."""
    if not error[0] <= 2 * rounded_error[0]:
        return f"O: max error {error[0]:.2e}, at most {2 * rounded_error[0]:.2e} allowed"
    if not error[1] <= 1.5 * rounded_error[1]:
        return f"O: mean error {error[1]:.2e}, at most {1.5 * rounded_error[1]:.2e} allowed"
    return ""


def check(torch, point, inputs, contender):
    """Returns "" or what is wrong with a contender's results."""
    contender.poison()
    with contender.scope():
        out = contender.call()
    torch.cuda.synchronize()
    out, lse = contender.results(out)
    if not bool(torch.isfinite(out).all()):
        return "O is not finite everywhere"
    generator = random.Random(0)
    errors, rounded_errors = [], []
    for b, h in sorted({(0, 0), (point.batch - 1, point.heads - 1)}):
        rows = torch.tensor(sample_rows(point.seqlen, generator), device=out.device)
        q, k, v = (t[b, :, h] for t in inputs)
        exact, exact_lse = reference(torch, point, q, k, v, rows, rounded=False)
        rounded, _ = reference(torch, point, q, k, v, rows, rounded=True)
        errors.append((out[b, rows, h].double() - exact).abs())
        rounded_errors.append((rounded - exact).abs())
        if lse is not None:
            delta = (lse[b, h, rows].double() - exact_lse).abs()
            allowed = 2e-5 * exact_lse.abs().clamp(min=1) + LSE_APPROXIMATION
            if not bool((delta <= allowed).all()):
                return f"LSE: error {delta.max().item():.2e}"
    moments = [(e.max().item(), e.mean().item()) for e in (torch.cat(errors), torch.cat(rounded_errors))]
    return judge_output(*moments)


# ---- contenders: scope() is entered once a slice, call() is what is timed ----


class TorchContender:
    """scaled_dot_product_attention with one backend, on views of the tensors."""

    def __init__(self, torch, point, inputs, backend):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        q, k, v = (t.transpose(1, 2) for t in inputs)
        function = torch.nn.functional.scaled_dot_product_attention
        self.scope = lambda: sdpa_kernel(getattr(SDPBackend, backend))
        self.call = lambda: function(q, k, v, is_causal=point.causal, scale=point.scale)

    def poison(self):
        pass

    def results(self, out):
        return out.transpose(1, 2), None


class AttnContender:
    """A bundle through the runtime, on the caller's stream."""

    def __init__(self, torch, point, inputs, library, bundles):
        bundle = library.load(os.path.join(bundles, f"fwd_d{point.d}_{point.case}.attn"))
        expect_problem(bundle.plan, point)
        q, k, v = inputs
        self.out = torch.empty_like(q)
        self.lse = torch.empty(point.batch, point.heads, point.seqlen, device=q.device, dtype=torch.float32)
        device = q.device.index
        own = {"q": q, "k": k, "v": v, "o": self.out, "lse": self.lse}
        tensors = {name: libattn.make_tensor(t.data_ptr(), device, "f32" if name == "lse" else "bf16", t.shape, t.stride())
                   for name, t in own.items()}
        scalars = {"scale": point.scale}
        if tuple(map(set, bundle.argument_names())) != (set(tensors), set(scalars)):
            raise RuntimeError(f"expected the arguments {sorted(tensors)} and {sorted(scalars)}, got {bundle.argument_names()}")
        args = libattn.make_args(tensors, scalars, device, torch.cuda.current_stream().cuda_stream)
        bundle.prepare(device)
        self.workspace = torch.empty(max(1, bundle.workspace_size(args)), device=q.device, dtype=torch.uint8)
        args.workspace, args.workspace_size = self.workspace.data_ptr(), self.workspace.numel()
        self.keep = (inputs, args)
        self.scope = contextlib.nullcontext
        self.call = bundle.launcher(args)

    def poison(self):
        self.out.fill_(math.nan)
        self.lse.fill_(math.nan)

    def results(self, _):
        return self.out, self.lse


def expect_problem(plan, point):
    """Raises where a bundle was compiled for another problem."""
    problem = plan["problem"]
    masks = ("causal_top_left", "causal_bottom_right") if point.causal else ("none",)
    for key, allowed in (("kind", ("fwd",)), ("dtype", ("bf16",)), ("head_dim", (point.d,)), ("head_dim_v", (point.d,)),
                         ("mask", masks), ("score_region", ("none",)), ("mask_region", ("none",))):
        if problem[key] not in allowed:
            raise RuntimeError(f"expected a bundle whose {key} is {' or '.join(map(str, allowed))}, got {problem[key]}")


def make_contender(torch, name, point, inputs, library, bundles):
    if name == "attn":
        return AttnContender(torch, point, inputs, library, bundles)
    return TorchContender(torch, point, inputs, {"cudnn": "CUDNN_ATTENTION", "torch-fa2": "FLASH_ATTENTION"}[name])


# ---- time ----


def time_slice(torch, contender, launches, clock):
    """Runs one slice; returns the settled launches' milliseconds and clocks."""
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(launches)]
    with contender.scope():
        for start, stop in events:
            start.record()
            contender.call()
            stop.record()
    clocks = []
    while not events[-1][1].query():
        if events[launches // 2][0].query():
            clocks.append(clock.ghz())
        time.sleep(0.002)
    torch.cuda.synchronize()
    return settled([start.elapsed_time(stop) for start, stop in events]), clocks


def race(torch, contenders, rounds, slice_ms, seed, clock):
    """Returns {name: (milliseconds of each round, GHz of each round)}."""
    launches = {}
    for name, contender in contenders.items():
        warm, _ = time_slice(torch, contender, MIN_LAUNCHES, clock)
        launches[name] = launches_for(slice_ms, statistics.median(warm))
    results = {name: ([], []) for name in contenders}
    for order in rounds_order(contenders, rounds, seed):
        for name in order:
            times, clocks = time_slice(torch, contenders[name], launches[name], clock)
            results[name][0].append(statistics.median(times))
            results[name][1].append(statistics.median(clocks) if clocks else 0.0)
    return results


def measure(torch, point, args, library, clock, environment):
    """Checks and times all contenders at one point; returns lines of results."""
    shape = (point.batch, point.seqlen, point.heads, point.d)
    device = torch.device("cuda", torch.cuda.current_device())
    inputs = [torch.randn(shape, device=device, dtype=torch.bfloat16) for _ in range(3)]
    contenders, notes = {}, {}
    for name in args.contenders:
        try:
            contender = make_contender(torch, name, point, inputs, library, args.bundles)
            notes[name] = check(torch, point, inputs, contender)
            if not notes[name]:
                contenders[name] = contender
        except RuntimeError as error:
            notes[name] = str(error).splitlines()[0]
    times = race(torch, contenders, args.rounds, args.slice_ms, args.seed, clock)
    for name, contender in contenders.items():
        notes[name] = check(torch, point, inputs, contender)
        notes[name] = notes[name] and "after timing: " + notes[name]
    return [summarize(point, name, *times.get(name, ([], [])), not notes[name], notes[name], environment)
            for name in args.contenders]


def format_row(lines):
    """One row of the table; the ratio is attn to the best of the others."""
    point, ok = lines[0], {r["contender"]: r["tflops"] for r in lines if r["ok"]}
    cells = [f"{r['tflops']:6.1f} @{r['ghz']:.2f}" if r["ok"] else f"{'WRONG':>12}" for r in lines]
    peers = [t for n, t in ok.items() if n != "attn"]
    ratio = f"{ok['attn'] / max(peers):6.3f}" if "attn" in ok and peers else f"{'-':>6}"
    return f"{point['case']:7} d{point['d']:<4} {point['seqlen']:6}  " + "  ".join(cells) + f"  {ratio}"


def parse_arguments(argv):
    def several(kind, allowed=None):
        def parse(text):
            values = [kind(x) for x in text.split(",") if x]
            if not values or (allowed and set(values) - set(allowed)):
                raise argparse.ArgumentTypeError(f"expected some of {','.join(map(str, allowed or ['a number']))}, got '{text}'")
            return values
        return parse

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--op", choices=["fwd"], default="fwd")
    parser.add_argument("--grid", choices=list(GRIDS), default="paper")
    parser.add_argument("--d", type=several(int), default=[64, 128], help="head dims")
    parser.add_argument("--cases", type=several(str, CASES), default=list(CASES))
    parser.add_argument("--min-seqlen", type=int, default=0)
    parser.add_argument("--max-seqlen", type=int, default=TOKENS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slice-ms", type=float, default=80.0, help="length of a slice; shorter ones are for trying things out")
    parser.add_argument("--seed", type=int, default=0, help="of the order and of the inputs")
    parser.add_argument("--contenders", type=several(str, CONTENDERS), default=list(CONTENDERS))
    parser.add_argument("--bundles", help="folder of the bundles")
    parser.add_argument("--lib", help="libattn_runtime.so; the default is the one of build/lib")
    parser.add_argument("--out", help="file of JSON lines to write, one a measurement")
    args = parser.parse_args(argv)
    if "attn" in args.contenders and not args.bundles:
        parser.error("the contender attn needs --bundles")
    for d in args.d:
        if d <= 0 or HIDDEN % d:
            parser.error(f"expected head dims that divide {HIDDEN}, got {d}")
    if args.rounds < 1 or args.slice_ms <= 0:
        parser.error("expected at least one round and a slice longer than 0 ms")
    return args


def main(argv=None):
    args = parse_arguments(argv)
    points = make_grid(args.grid, args.d, args.cases, args.min_seqlen, args.max_seqlen)
    if not points:
        sys.exit("no point of the grid is left: see --min-seqlen and --max-seqlen")
    import torch
    if not torch.cuda.is_available():
        sys.exit("PyTorch finds no GPU")
    torch.manual_seed(args.seed)
    torch.set_grad_enabled(False)
    library = None
    if "attn" in args.contenders:
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        library = libattn.Library(args.lib or os.path.join(root, "build", "lib", "libattn_runtime.so"))
    clock = Clock(torch, torch.cuda.current_device())
    environment = describe_environment(torch, library)
    print(", ".join(f"{key} {value}" for key, value in environment.items()))
    if not clock.nvml:
        print("the SM clock cannot be read here: GHz is printed as 0")
    if args.rounds < 3 or args.slice_ms < 80:
        print("fewer than 3 rounds or slices under 80 ms: these figures are for trying things out only")
    seconds = len(points) * (1.5 + len(args.contenders) * args.rounds * args.slice_ms / 1000)
    print(f"{len(points)} points, about {seconds:.0f} s")
    print(f"{'case':7} {'d':5} {'seqlen':>6}  " + "  ".join(f"{n:>12}" for n in args.contenders) + "   ratio   (TFLOP/s @GHz)")
    started, wrong = time.monotonic(), 0
    with open(args.out, "w", encoding="utf-8") if args.out else contextlib.nullcontext() as out:
        for point in points:
            lines = measure(torch, point, args, library, clock, environment)
            print(format_row(lines), flush=True)
            for line in lines:
                if not line["ok"]:
                    wrong += 1
                    print(f"  {line['contender']} at {point}: {line['note']}")
                if out:
                    out.write(json.dumps(line) + "\n")
            if out:
                out.flush()
    print(f"{time.monotonic() - started:.0f} s, {wrong} measurements wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
