#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random problems under random schedules, against float64.

    test/coinflips.py --build build --flips 4 --device sim
    test/coinflips.py --build build --flips 60 --table 2 --chosen 20 --device none --out DIR
    test/coinflips.py --build build --bundles DIR --device cuda --random 8

A case is a class of problems, drawn, and how it is scheduled: a "flip" has a
schedule of which every knob is a coin flip; a "table" case has one entry of the
compiler's table alone, whatever the lengths that it is for; a "chosen" one leaves
the choice to the compiler. Everything follows from --seed. Schedules that the compiler refuses by
a rule are drawn again, and counted.

On the simulator a case is one tiny problem in several orders of events, or with
--random that many problems of attn-run. --out keeps the bundles and manifest.json,
for a machine that has no compiler, and --bundles takes them from there."""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [os.path.join(HERE, "Inputs"), os.path.join(ROOT, "tools", "python"), os.path.join(ROOT, "tools", "attn-tune")]
import attention_ir
import schedules
from tune import build

TARGET = "sm_90a"
NATIVE = ((64, 64), (96, 96), (128, 128), (192, 192), (192, 128), (256, 256))
MOST_DRAWS = 400
RARE = 0.15
# Bytes of shared memory reserved for barriers, verdicts and mailboxes.
BARRIERS = 1024
# For --large: all scores of a size, and runs of them among others.
LARGE = ("large:1e8", "large:-1e12", "large:-1e38", "large-runs:1e30", "large-runs:-1e10")


def draw_problem(rng, dims=None, served=None):
    """Options of Inputs/attention_ir.py; with `served`, masks of a table entry, one
    that the entry serves."""
    d, dv = dims or draw_dims(rng)
    mask, bounds = draw_mask(rng)
    while served and not {attention_ir.masks.MASKS[mask].served or "window", "window" if bounds else served[0]} <= set(served):
        mask, bounds = draw_mask(rng)
    score = rng.choice([None, None, None, "softcap", "alibi"])
    region = rng.choice([None, None, None, "documents"])
    if served and "gathers" not in served:
        region = None
    options = [f"--head-dim={d}", f"--head-dim-v={dv}", f"--mask={mask}", f"--dtype={rng.choice(('bf16', 'f16'))}",
               f"--layout={rng.choice(('bshd', 'bhsd'))}", *(f"--bound={name}" for name in bounds)]
    return options + ([f"--score={score}"] if score else []) + ([f"--region={region}"] if region else [])


def draw_mask(rng):
    """A mask and the names of its bounds."""
    name = rng.choice(list(attention_ir.masks.MASKS))
    mask = attention_ir.masks.MASKS[name]
    taken = [bound for bound in mask.takes if rng.random() < 0.5]
    return name, [*mask.needs, *(taken or ([rng.choice(mask.takes)] if mask.needs_any else []))]


def draw_dims(rng):
    if rng.random() < 0.4:
        return rng.choice(NATIVE)
    d = 8 * rng.randint(1, 32)
    return (d, d) if rng.random() < 0.7 else (d, 8 * rng.randint(1, 32))


def columns(d):
    return -(-d // 16) * 16


def rarely(rng, usual, *others):
    """Mostly the first, so that most of a drawn schedule is as in the table."""
    return rng.choice(others) if rng.random() < RARE else usual


def draw_point(rng, has_region, generator):
    """A point: a value of every parameter."""
    work = rng.choice(("grid", "static", "dynamic"))
    drawn = {
        "consumers": rng.choice((1, 2, 2, 2, 3, 3, 4)), "tile_n": 16 * rng.randint(1, 16), "load_registers": rng.choice((24, 32, 40)),
        "loaders": rarely(rng, 1, 2), "k_depth": rng.randint(1, 4), "v_depth": rng.randint(1, 4), "rings": rarely(rng, "apart", "one"),
        "q_depth": rng.randint(1, 2), "stage_o": rng.choice(("own", "over_q", "over_v")),
        "storer": rarely(rng, "consumers", "warp"), "stage_p": rarely(rng, "reg", "smem"),
        "cluster": rarely(rng, 1, 2), "pack_gqa": 1 if has_region else rarely(rng, 1, 2, 4), "work": work,
        "work_depth": rng.randint(1, 3), "last_wave_parts": rarely(rng, 1, 2, 3, 8) if work == "dynamic" else 1,
        "order": rng.choice(("linear", "longest_first", "shortest_last")), "section_mib": rng.choice((0, 16)),
        "launch": rarely(rng, "alone", "dependent"), "overlap": rarely(rng, "qk_first", "pv_first", "none"),
        "rescale": rarely(rng, "after_pv", "before_pv"), "row_max": rng.choice(("running", "first_block", "first_block", "integer")),
        "rescale_threshold": rng.choice((0, 8)), "exp2_soft": rng.choice(("0/1", "0/1", "1/8", "1/2", "1/1")),
        "exp2_degree": rng.randint(3, 5), "peel": rarely(rng, "first_branch", "first_masked", "first"), "skip": rng.choice(("none", "right", "both")),
        "turn": rng.choice((False, True))}
    others = {name: rarely(rng, parameter.default, *parameter.others())
              for name, parameter in generator.parameters.items() if name not in drawn}
    return generator.canonical({**drawn, **others})


def fits(schedule, d, dv, shared_memory):
    """Whether asking the compiler is worthwhile: registers and shared memory suffice for what
    every schedule keeps in them."""
    point, rows = schedule["parameters"], schedule["rows"]
    _, registers = schedule["registers"]
    held = dv // 2 + point["tile_n"] * 3 // 4 + 24
    own = rows * dv if point["stage_o"] == "own" else 0
    elements = point["q_depth"] * rows * d + own + point["tile_n"] * (point["k_depth"] * d + point["v_depth"] * dv)
    return held <= registers and 2 * elements <= shared_memory - BARRIERS


class Case:
    """A class of problems, and the text of its schedule or None; `limits`: on the
    problems that are drawn."""

    def __init__(self, kind, number, options, schedule, knobs, limits=None):
        self.name = f"{kind}_{number:03}"
        self.kind, self.options, self.schedule, self.knobs, self.limits = kind, options, schedule, knobs, limits or {}


def limits_of(point):
    """The limits of problems: query heads for each head of K and V ("group"), and the least
    number of keys ("keys"). Relative to an integer the largest exponential is not 1 but rounded,
    which shows where the plain formula has no error at all: in a problem of one key."""
    limits = {"group": point["pack_gqa"]} if point["pack_gqa"] > 1 else {}
    return {**limits, "keys": 32} if point["row_max"] == "integer" else limits


def draw_candidate(rng, parsed, generator):
    """A schedule for a problem, or None where it would be refused."""
    d, dv = columns(parsed.head_dim), columns(parsed.head_dim_v)
    schedule = generator.schedule(TARGET, (d, dv), draw_point(rng, parsed.score or parsed.region, generator))
    shared_memory = generator.vocabulary["machines"][TARGET]["shared_memory"]
    suits = "entry" in schedule and fits(schedule, d, dv, shared_memory)
    return {**schedule, "head_dims": (d, dv)} if suits else None


def draw_peel(rng, text):
    """Now and then a word that the generator does not write: loops without shifts have no prologue."""
    return rarely(rng, text, text.replace("knob peel first_branch", "knob peel shifted_branch"))


def draw_flip(rng, number, generator):
    """Now and then problems of few keys have a schedule of their own."""
    while True:
        options = draw_problem(rng)
        parsed = attention_ir.parse(options)
        drawn = [draw_candidate(rng, parsed, generator) for _ in range(rarely(rng, 1, 2))]
        if all(drawn) and len({each["parameters"]["pack_gqa"] for each in drawn}) == 1:
            break
    few = [f"seqlen_k at_most {rng.choice((1, 64, 100))}"] * (len(drawn) - 1)
    heads = [{"symbol": f"coin_flip_{n}", "masks": generator.vocabulary["masks"]} for n in range(len(drawn))]
    for head, when in zip(heads, few):
        head["when"] = when
    texts = [draw_peel(rng, generator.schedule(TARGET, each["head_dims"], each["parameters"], **head)["entry"])
             for each, head in zip(drawn, heads)]
    limits = {key: value for each in drawn for key, value in limits_of(each["parameters"]).items()}
    return Case("flip", number, options, "\n".join(texts), "+".join(each["name"] for each in drawn), limits)


def draw_table(rng, number, entries):
    entry = entries[number % len(entries)]
    d, dv = entry.head_dims
    less = 8 * rng.randint(0, 3) if number >= len(entries) else 0
    return Case("table", number, draw_problem(rng, (d - less, dv - less), entry.masks), entry.changed({}, conditional=False), entry.symbol)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def compile_case(compiler, folder, case):
    """Why the compiler refuses the case, as tune.build has it, or None."""
    path = os.path.join(folder, case.name)
    source = write(path + ".mlir", attention_ir.write(attention_ir.parse(case.options)))
    schedule = write(path + ".schedule.mlir", case.schedule) if case.schedule else None
    return compiler.compile(source, path + ".attn", schedule)


def make_drawn(compiler, folder, draw, is_refusal):
    """A case that compiles, and why those drawn before it did not."""
    refusals = []
    for _ in range(MOST_DRAWS):
        case = draw()
        reason = compile_case(compiler, folder, case)
        if reason is None:
            return case, refusals
        refusals.append({**reason, "case": case})
        if not is_refusal(reason):
            break
    return None, refusals


def make_flip(compiler, folder, seed, number, generator):
    rng = random.Random(f"{seed} flip {number}")
    return make_drawn(compiler, folder, lambda: draw_flip(rng, number, generator), lambda reason: reason["kind"] != "other")


def make_table(compiler, folder, seed, number, entries):
    """With the rest of its ladder the compiler leaves an entry that spills for the next rung."""
    rng = random.Random(f"{seed} table {number}")
    return make_drawn(compiler, folder, lambda: draw_table(rng, number, entries), lambda reason: reason["kind"] == "spill")


class Maker:
    """Compiles the cases that are asked for."""

    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.compiler = build.Compiler(os.path.join(args.build, "bin", "attn-compile"), TARGET)
        self.refusals = collections.Counter()
        self.errors = []

    def make(self):
        args = self.args
        generator = schedules.of(self.compiler.path)
        entries = generator.entries(machine=TARGET)
        chosen = [Case("chosen", n, draw_problem(random.Random(f"{args.seed} chosen {n}")), None, "") for n in range(args.chosen)]
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            made = list(pool.map(lambda n: make_table(self.compiler, self.folder, args.seed, n, entries),
                                 range(args.table * len(entries))))
            made += pool.map(lambda case: make_drawn(self.compiler, self.folder, lambda: case, lambda _: False), chosen)
            made += pool.map(lambda n: make_flip(self.compiler, self.folder, args.seed, n, generator), range(args.flips))
        for case, refusals in made:
            last = None if case else refusals.pop(-1)
            self.refusals.update(reason["kind"] for reason in refusals)
            if last:
                drawn = last["case"]
                self.errors.append(f"{drawn.name}, {drawn.knobs or 'as chosen'}, {' '.join(drawn.options)}: {last['text']}")
        return [case for case, _ in made if case]


def tiny_problem(case, seed):
    """Options of attn-run for a problem that a simulator takes seconds for."""
    rng = random.Random(f"{seed} tiny {case.name}")
    lengths = [rng.choice((0, 1, 1, 64, 2 * rng.randint(1, 80) + 1, 2 * rng.randint(1, 80) + 1, rng.randint(2, 160)))
               for _ in range(2)]
    batch, kv_heads = rng.randint(1, 2), rng.randint(1, 2)
    heads = kv_heads * case.limits.get("group", rng.randint(1, 2))
    lengths[1] = max(lengths[1], case.limits.get("keys", 0))
    d = attention_ir.parse(case.options).head_dim
    options = [f"--q={batch}x{lengths[0]}x{heads}x{d}", f"--kv={batch}x{lengths[1]}x{kv_heads}x{d}", f"--seed={seed}",
               *[f"--scalar={name}={rng.choice((1, 3, 40))}" for name in attention_ir.parse(case.options).bound]]
    options += [flag for flag in ("--pad-strides", "--broadcast-kv") if rng.random() < 0.3]
    return options + ([f"--scale={rng.uniform(0.01, 0.5):.3f}"] if rng.random() < 0.3 else [])


def runs_of(case, args, number):
    """Options of attn-run, once or several times, and how many problems they have. Its
    own random problems know no limits."""
    schedules = ["--seeds=3"] if args.device == "sim" else []
    if args.large:
        for seed, inputs in enumerate(LARGE):
            yield ["--check", "--guard", *schedules, f"--inputs={inputs}", *tiny_problem(case, seed)], 1
    elif args.random and not case.limits:
        yield [f"--random={args.random}", f"--first-seed={number * args.random}"], args.random
    else:
        for seed in range(args.seed, args.seed + (args.random or 1)):
            yield ["--check", "--guard", *schedules, *tiny_problem(case, seed)], 1


def run_case(case, args, folder, number):
    """(problems right, the output if one was wrong)"""
    command = [os.path.join(args.build, "bin", "attn-run"), os.path.join(folder, case.name + ".attn"), f"--device={args.device}",
               *attention_ir.scalar_options(attention_ir.parse(case.options))]
    right, failures = 0, []
    for options, count in runs_of(case, args, number):
        done = subprocess.run(command + options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        counts = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", done.stdout, re.M)
        passed = int(counts[1]) if counts else int(done.returncode == 0)
        right += passed
        if done.returncode != 0 or passed != count:
            failures.append(f"{' '.join(command + options)}\n{done.stdout}")
    return right, "\n".join(failures) or None


def run_all(cases, args, folder):
    """The problems right, and the cases with a wrong one."""
    right = wrong = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = pool.map(lambda item: run_case(item[1], args, folder, item[0]), enumerate(cases))
        for case, (passed, failure) in zip(cases, results):
            right += passed
            wrong += failure is not None
            verdict = "FAILED" if failure else f"{passed} right"
            print(f"{case.name} {verdict:8} {' '.join(case.options)} {case.knobs}", flush=True)
            if failure:
                print(failure, flush=True)
    return right, wrong


def read_manifest(folder):
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        cases = []
        for entry in json.load(file):
            case = Case("", 0, entry["options"], None, entry["knobs"], entry["limits"])
            case.name, case.kind = entry["name"], entry["kind"]
            cases.append(case)
        return cases


def write_manifest(folder, cases):
    entries = [{"name": c.name, "kind": c.kind, "options": c.options, "knobs": c.knobs, "limits": c.limits} for c in cases]
    write(os.path.join(folder, "manifest.json"), json.dumps(entries, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--flips", type=int, default=0, help="schedules drawn")
    parser.add_argument("--table", type=int, default=0, help="problems an entry of the compiler's table")
    parser.add_argument("--chosen", type=int, default=0, help="problems with the compiler's choice")
    parser.add_argument("--random", type=int, default=0, help="random problems of attn-run a case")
    parser.add_argument("--large", action="store_true",
                        help="scores up to 1e38 instead, without score functions, which the reference computes in float64")
    parser.add_argument("--device", default="sim", help="sim, cuda, or none to compile only")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--out", help="folder to keep bundles in")
    parser.add_argument("--bundles", help="folder to take bundles from")
    args = parser.parse_args()
    errors, wrong = [], 0
    with tempfile.TemporaryDirectory() as temp:
        folder = args.bundles or args.out or temp
        os.makedirs(folder, exist_ok=True)
        if args.bundles:
            cases = read_manifest(folder)
        else:
            maker = Maker(args, folder)
            cases, errors = maker.make(), maker.errors
            write_manifest(folder, cases)
            refused = ", ".join(f"{n} by {kind}" for kind, n in sorted(maker.refusals.items()))
            print(f"{len(cases)} cases compiled; draws refused: {refused or 'none'}", flush=True)
        if args.large:
            cases = [case for case in cases if not any(option.startswith("--score") for option in case.options)]
        for error in errors:
            print(f"FAILED: {error}")
        if args.device != "none":
            right, wrong = run_all(cases, args, folder)
            print(f"{right} problems right under {len(cases)} schedules, {wrong} cases with wrong ones")
    return 1 if errors or wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
