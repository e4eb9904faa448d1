#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unchanged kernels under many schedules of the simulator have to be right, without any report,
not even a warning.

    test/clean.py build                        # all, 64 schedules; scripts/nightly
    test/clean.py build --every=16 --seeds=4   # a sample
    test/clean.py build --only=table
    test/clean.py build --write=DIR            # only compiles, into DIR
    test/clean.py build --read=DIR             # only runs what is there

The kernels are the examples; mask functions; every entry of the compiler's table alone, whatever the
lengths that it is for, with every kind of mask that it serves; the schedule files
of test/Schedules; and the kernels of gradients of Q, K and V that the table has for some head
dims and masks, those that add in any order and those with dropout too. Every kernel runs the same few problems, checked against float64 and
for what it writes elsewhere. Prints a line a kernel and a table of the groups."""

import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [os.path.join(HERE, "Inputs"), os.path.join(HERE, "Schedules"), os.path.join(ROOT, "tools", "python")]
import attention_ir
import coinflips
import compile_all
import gradient_ir
import schedules

# Queries x heads, keys x heads, and other options of attn-run. Rings go around
# twice and more, ends are ragged, and there are items without keys.
PROBLEMS = (
    ("2x9x4", "2x1x2", []),
    ("1x70x2", "1x0x1", []),
    ("1x201x2", "1x395x1", []),
    ("1x259x1", "1x137x1", ["--pad-strides"]),
    ("1x131x1", "1x150x1", ["--inputs=spike-key:10"]),
)
# A table's name of a mask: options of Inputs/attention_ir.py.
MASKS = {"none": "--mask=none", "causal_top_left": "--mask=causal_top_left",
         "causal_bottom_right": "--mask=causal_bottom_right",
         "window": "--mask=window_bottom_right --bound=window_left --bound=window_right",
         "softcap": "--score=softcap", "alibi": "--mask=causal_bottom_right --score=alibi",
         "gathers": "--mask=causal_bottom_right --bound=window_left --score=alibi --region=documents"}
# Query heads of one head of K and V, where a kernel takes that many and no other number.
PACKED = re.compile(r"pack_gqa = (\d+)")
# Mask functions of Inputs/attention_ir.py in which the compiler finds the keys of each query.
FUNCTIONS = ("prefix", "padding", "chunks", "steps", "sinks", "strides", "starts", "spans", "turns", "begins", "stops")
GRADIENTS = "gradients"
GRADIENT_DIMS = ((64, 64), (96, 96), (128, 128), (160, 160), (192, 128), (192, 192), (256, 256))
# Between them: tiles of the next larger ones.
PADDED_DIMS = ((32, 32), (72, 72), (112, 112), (144, 144), (152, 120), (224, 224))
# Exponentials relative to an integer: that of a row's only key is not 1.
INTEGER = "row_max = integer"
# Normal inputs, and a reference that rounds P as if relative to any number.
ROUNDED = "--inputs=spike-key:0:0"
REPORT = re.compile(r"warning: |\[[a-z]+\.[a-z-]+\]")

# A kernel: IR, its path, or options of Inputs/attention_ir.py, and a schedule's text or None.
Case = collections.namedtuple("Case", "group name source schedule dim options")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def example_cases():
    for path in sorted(glob.glob(os.path.join(ROOT, "examples", "*.mlir"))):
        name = os.path.splitext(os.path.basename(path))[0]
        captures = ["--scalar=window_left=50"] if name == "window" else attention_ir.CAPTURES.get(name, [])
        yield Case("examples", name, path, None, int(re.search(r"x(\d+)xb?f16", read(path))[1]), captures)


def generated_case(group, name, dims, mask, schedule):
    options = [f"--head-dim={dims[0]}", f"--head-dim-v={dims[1]}", *MASKS[mask].split()]
    parsed = attention_ir.parse(options)
    return Case(group, f"{name}:{mask}", options, schedule, int(dims[0]), attention_ir.scalar_options(parsed))


def table_entries():
    return schedules.of().entries()


def masks_of(entry):
    """The functions that an entry runs with: the masks that it serves, and a score function without a mask."""
    return entry.masks + (["softcap"] if "none" in entry.masks else [])


def function_cases():
    for dim in (64, 128):
        for name in FUNCTIONS:
            options = [f"--head-dim={dim}", f"--region={name}"]
            yield Case("functions", f"{name}:{dim}", options, None, dim, attention_ir.CAPTURES.get(name, []))


def all_cases():
    yield from example_cases()
    yield from function_cases()
    for entry in table_entries():
        for mask in masks_of(entry):
            yield generated_case("table", entry.symbol, entry.head_dims, mask, entry.changed({}, conditional=False))
    for name, dims, path in compile_all.schedules():
        for mask in compile_all.MASKS.values():
            yield generated_case("test/Schedules", name, dims, mask, read(path))
    yield from gradient_cases()


def name_of(dims):
    return f"d{'_dv'.join(dict.fromkeys(map(str, dims)))}"


def gradient_cases():
    """Whole backward passes."""
    for dims in GRADIENT_DIMS:
        for mask in ("none", "causal_bottom_right", "window", "softcap"):
            yield generated_case(GRADIENTS, name_of(dims), dims, mask, None)
    for dims in GRADIENT_DIMS + PADDED_DIMS:  # with sums of dQ
        for mask in ("none", "causal_bottom_right", "window", "softcap"):
            yield generated_case(GRADIENTS, f"{name_of(dims)}, any order", dims, mask, None)
    for dim in (64, 96, 128):
        for mask in ("none", "causal_bottom_right"):
            yield generated_case(GRADIENTS, f"d{dim}, dropout", (dim, dim), mask, None)
        yield generated_case(GRADIENTS, f"d{dim}", (dim, dim), "alibi", None)
    for dims in ((64, 64), (128, 128), (192, 128), (256, 256)):
        yield generated_case(GRADIENTS, f"{name_of(dims)}, dropout, any order", dims, "causal_bottom_right", None)
    for dim in (128, 256):
        for places in ("", "h", "i", "bj", "hij", "difference"):
            kernel = gradient_ir.of_capture(places, (dim, dim))
            order = ", any order" if places == "difference" else ""
            yield Case(GRADIENTS, f"d{dim}, of a capture by {places or 'nothing'}{order}", kernel.ir, None, dim, kernel.options)


def edited(case, text):
    """The IR of a case of gradients, with what its name asks for."""
    if "any order" in case.name:
        text = text.replace(") {\n  %o", ") attributes {attn.any_order} {\n  %o", 1)
    if "dropout" in case.name:
        text = text.replace("%scale: f32", "%scale: f32, %rate: f32, %state: tensor<2xi64>", 1)
        text = text.replace("layout(bshd)", "layout(bshd) dropout(%rate, %state)", 1)
    return text


def compile_case(build, case, base):
    """Writes base.attn; returns what the compiler says, empty if it is well."""
    source = case.source
    if isinstance(source, list):
        source = coinflips.write(base + ".mlir", edited(case, attention_ir.write(attention_ir.parse(source))))
    elif source.startswith("func.func"):
        source = coinflips.write(base + ".mlir", source)
    command = [os.path.join(build, "bin", "attn-compile"), source, "--target=sm_90a", "-o", base + ".attn"]
    if case.group == GRADIENTS and "attn.gradient" not in case.source:
        command.append("--bwd")
    if case.schedule:
        command.append("--schedule=" + coinflips.write(base + ".schedule.mlir", case.schedule))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    return done.stdout or f"status {done.returncode}" if done.returncode else ""


def problems(case, drawn=PROBLEMS):
    """Problems as the kernel of a case serves them: with as many query heads as it packs, and
    rows of one key checked for a P that may be rounded, where it is not 1 (docs/knobs.md)."""
    schedule = case.schedule or ""
    packed = PACKED.search(schedule)
    for q, kv, more in drawn:
        _, keys, heads = kv.split("x")
        if packed:
            q = q.rsplit("x", 1)[0] + f"x{int(heads) * int(packed[1])}"
        if case.group == GRADIENTS and more and "--inputs" in more[0]:
            continue  # the reference of gradients takes normal inputs
        if "any order" in case.name:
            more = more + ["--any-order"]
        if INTEGER in schedule and keys == "1":
            more = more + [ROUNDED]
        yield q, kv, more


def fault(status, output):
    """Why a run is not clean, or None."""
    if REPORT.search(output):
        return "a report"
    return "it failed" if status or "check: passed" not in output or "guard: passed" not in output else None


def run_case(args, case, folder, number):
    """(case, warp instructions, what is wrong or None)"""
    base = os.path.join(args.read or args.write or folder, str(number))
    problem = "" if args.read else compile_case(args.build, case, base)
    if problem or args.write:
        return case, 0, problem or None
    instructions = 0
    for q, kv, more in problems(case):
        command = [os.path.join(args.build, "bin", "attn-run"), base + ".attn", "--device=sim", "--check", "--guard",
                   f"--seeds={args.seeds}", f"--q={q}x{case.dim}", f"--kv={kv}x{case.dim}", *more, *case.options]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        instructions += sum(int(n) for n in re.findall(r": (\d+) warp instructions simulated", done.stdout))
        why = fault(done.returncode, done.stdout)
        if why:
            return case, instructions, f"{why}: {' '.join(command)}\n{done.stdout}"
    return case, instructions, None


def chosen_cases(args):
    """The cases that the options select; with --read, those that --write had selected."""
    if args.read:
        with open(os.path.join(args.read, "cases.json"), encoding="utf-8") as file:
            return [Case(*fields) for fields in json.load(file)]
    cases = [case for case in all_cases() if args.only in f"{case.group} {case.name}"][::args.every]
    if args.write:
        os.makedirs(args.write, exist_ok=True)
        with open(os.path.join(args.write, "cases.json"), "w", encoding="utf-8") as file:
            json.dump(cases, file)
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--seeds", type=int, default=64, help="schedules of each problem")
    parser.add_argument("--every", type=int, default=1, help="one kernel of so many")
    parser.add_argument("--only", default="", help="kernels with this in their group and name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="kernels at a time")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--write", metavar="DIR", help="only compile, for a machine without a compiler")
    where.add_argument("--read", metavar="DIR", help="run what --write compiled")
    args = parser.parse_args()
    cases = chosen_cases(args)
    tally = collections.OrderedDict((case.group, [0, 0, 0]) for case in cases)
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for case, instructions, why in pool.map(lambda item: run_case(args, item[1], folder, item[0]), enumerate(cases)):
            print(f"{case.group} {case.name}: {'FAILED, ' + why if why else 'clean'}", flush=True)
            failed += why is not None
            counts = tally[case.group]
            counts[0] += 1
            counts[1] += len(list(problems(case))) * args.seeds
            counts[2] += instructions
    print("\n| kernels | of them | launches | warp instructions |\n|---|---|---|---|")
    for group, (kernels, launches, instructions) in tally.items():
        print(f"| {group} | {kernels} | {launches:,} | {instructions:,} |")
    print(f"{len(cases) - failed} kernels clean under {args.seeds} schedules of {len(PROBLEMS)} problems, {failed} not")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
