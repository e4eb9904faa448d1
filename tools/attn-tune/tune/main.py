# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the fastest legal schedule of a declared space, by measuring.

  attn-tune IN.mlir... --out=DIR     compiles every candidate of the space for
                                     every IN, then measures them
  attn-tune IN.mlir... --compile-only --out=DIR
                                     only compiles: needs no GPU
  attn-tune --measure=DIR            only measures: needs no compiler
  attn-tune --write-table=DIR        writes the winners as entries of the schedule
                                     table, with where they come from
  attn-tune --replay=LOG             prints the decisions of a log again
  attn-tune IN.mlir... --list        prints the candidates that are legal

Each IN is one attention without window or regions, all of the same head dims. A
candidate that the compiler refuses, for a rule of schedules, a spill, a serialized
product or too much shared memory, is logged with the reason and dropped. The
others are checked against float64 and raced, with the table's kernel among them,
in rounds of a shuffled order; a slice is 60 to 150 ms long, of which the first
half is dropped. All is kept in DIR/log.jsonl, and a second run goes on where the
first one stopped.

Measuring on a GPU needs PyTorch. On the simulator candidates are only checked.
"""

MORE_HELP = """exit status:
  0 if all went well, 1 if something could not be compiled or measured at all, 2 if
  the options do not go together

environment:
  ATTN_PTXAS            the assembler, as attn-compile has it
  CUDA_VISIBLE_DEVICES  the driver's: the first of these GPUs is measured on

examples:
  attn-tune examples/causal.mlir --list
  attn-tune examples/causal.mlir --out=tuned
  attn-tune --write-table=tuned
"""

import argparse
import collections
import json
import os
import shutil
import sys
import tempfile

import schedules
from racing import libattn
from racing.session import replace_process
from tune import build, decide, journal, measure, problem, space, table

SPACES = os.path.join(schedules.ROOT, "tools", "attn-tune", "spaces")
# Errors from outside this program, reported in one line.
EXPECTED = (ValueError, OSError, RuntimeError, ImportError)
SHAPES = {"cuda": "paper", "sim": "1x300x2"}
SLICES_MS = (60, 150)


def say(text):
    print(text, flush=True)


def lengths(text):
    """Lengths in ascending order, as (1024, 4096) from "1024,4096"."""
    found = tuple(int(word) if word.isdigit() else 0 for word in text.split(","))
    if min(found) <= 0 or list(found) != sorted(set(found)):
        raise argparse.ArgumentTypeError(f"expected lengths of at least 1 in ascending order, got '{text}'")
    return found


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="attn-tune", description=__doc__, epilog=MORE_HELP,
                                     formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("inputs", nargs="*", metavar="IN.mlir")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--compile-only", action="store_true")
    mode.add_argument("--measure", metavar="DIR")
    mode.add_argument("--write-table", metavar="DIR")
    mode.add_argument("--replay", metavar="LOG")
    mode.add_argument("--list", action="store_true")
    parser.add_argument("--out", metavar="DIR", help="where everything is written; needed to compile")
    parser.add_argument("--log", metavar="FILE", help="log to go on with (default: DIR/log.jsonl); one that is not there "
                                                      "starts as a copy of that")
    parser.add_argument("--space", metavar="FILE", help="space of schedules (default: that of the head dims, "
                                                        "tools/attn-tune/spaces)")
    parser.add_argument("--target", help="machine (default: the compiler's)")
    parser.add_argument("--compiler", metavar="FILE", help="attn-compile")
    parser.add_argument("--lib", metavar="FILE", help="libattn_runtime.so")
    parser.add_argument("--runner", metavar="FILE", help="attn-run, for the simulator")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="compilers or simulators at a time "
                                                                                      "(default: one a core)")
    parser.add_argument("--device", choices=("cuda", "sim"), default="cuda")
    parser.add_argument("--shapes", metavar="SHAPES",
                        help="BATCHxSEQLENxHEADS[/KV_HEADS],..., or the grids paper and quick of 16384 tokens "
                             "(default: paper; 1x300x2 on the simulator)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="rounds of a race (default: 3)")
    parser.add_argument("--slice-ms", type=float, default=80.0, metavar="MS", help="length of a slice (default: 80)")
    parser.add_argument("--drop", type=float, default=0.9, metavar="RATIO",
                        help="who is slower than RATIO times the best in the first round has no further ones (default: 0.9)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the order and of the inputs (default: 0)")
    parser.add_argument("--margin", type=float, default=0.01, metavar="X",
                        help="a winner is this much faster than the table's kernel (default: 0.01)")
    parser.add_argument("--split", type=lengths, default=(), metavar="KEYS,...",
                        help="lengths of keys at which another kernel may take over: an entry for up to each, and one for the rest "
                             "(default: one entry for all lengths)")
    parser.add_argument("--table", metavar="DIR", help="where --write-table writes, below a folder of the machine's name (default: "
                                                       "DIR/table); the compiler's table is passes/schedule/data/schedules")
    parser.add_argument("--serve", choices=("all", "measured"), default="all",
                        help="masks of an entry: also windows, and regions at a position, or what was measured alone, beside an "
                             "entry for the rest (default: all)")
    args = parser.parse_args(argv)
    check_arguments(parser, args)
    return args


def check_arguments(parser, args):
    """Refuses options that exclude each other; fills in those that follow from others."""
    takes_inputs = not (args.measure or args.write_table or args.replay)
    if takes_inputs != bool(args.inputs):
        parser.error("expected IN.mlir to compile, got none" if takes_inputs else f"expected no IN.mlir here, got {args.inputs[0]}")
    if takes_inputs and not args.list and not args.out:
        parser.error("expected --out=DIR, got none")
    if args.rounds < 1 or args.jobs < 1:
        parser.error("expected --rounds and --jobs of at least 1")
    if not SLICES_MS[0] <= args.slice_ms <= SLICES_MS[1]:
        parser.error(f"expected --slice-ms in {SLICES_MS[0]}..{SLICES_MS[1]}, got {args.slice_ms:g}")
    if not 0 <= args.drop <= 1:
        parser.error(f"expected --drop in 0..1, got {args.drop:g}")
    args.compiler = args.compiler or schedules.beside("bin", "attn-compile")
    args.runner = args.runner or schedules.beside("bin", "attn-run")
    args.lib = args.lib or schedules.beside("lib", "libattn_runtime.so")
    args.shapes = problem.parse_shapes(args.shapes or SHAPES[args.device])


# ---- what is searched for ----


def read_problem(path, compiler, temp):
    """One input, as the log has it."""
    output = os.path.join(temp, "plan.json")
    reason = compiler.compile(path, output, emit="plan")
    if reason:
        raise problem.ProblemError(f"{path}: {reason['text']}")
    try:
        point = problem.point_of(json.loads(read_text(output)))
    except problem.ProblemError as error:
        raise problem.ProblemError(f"{path}: {error}") from error
    return {"name": problem.name_of(point), "mask": point.mask, "d": point.d, "dv": point.dv, "dtype": point.dtype,
            "source": read_text(path)}


def read_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def read_problems(paths, compiler):
    with tempfile.TemporaryDirectory() as temp:
        found = [read_problem(path, compiler, temp) for path in paths]
    names = [p["name"] for p in found]
    kinds = {(p["dtype"], p["d"], p["dv"]) for p in found}
    if len(set(names)) < len(names) or len(kinds) > 1:
        raise problem.ProblemError(f"expected different problems of the same type and head dims, got {', '.join(names)}")
    return found


def read_space(args, problems):
    d, dv = problems[0]["d"], problems[0]["dv"]
    default = os.path.join(SPACES, f"fwd_d{d}" + (f"_dv{dv}" if dv != d else "") + ".json")
    if not args.space and not os.path.exists(default):
        raise space.SpaceError(f"expected --space=FILE for head dims {d} and {dv}, for which there is no default")
    found = space.read(args.space or default, schedules.of(args.compiler))
    if found.head_dims != (d, dv):
        raise space.SpaceError(f"{found.origin}: expected the head dims {d} and {dv} of the problems, got "
                               f"{found.head_dims[0]} and {found.head_dims[1]}")
    return found


def enumerate_candidates(args, found):
    candidates, refused = space.enumerate_candidates(found, args.target)
    for each in refused:
        say(f"{each['name']}: {each['refused']}")
    if not candidates:
        raise space.SpaceError(f"{found.origin}: expected a candidate, got none")
    return candidates


def start(log, folder, run, candidates):
    """Writes the first record of a new log, or checks that an existing one is of this search."""
    view = log.view
    if not view.run:
        log.write(run, {"record": "candidate", "candidate": journal.BASELINE, "parameters": None, "schedule": ""})
    for key in ("target", "space", "problems", "compiler"):
        if view.run[key] != run[key]:
            raise journal.JournalError(f"{folder.log()}: expected a log of this search, got one with another {key}; "
                                       "give another --out")
    records = {c.name: {"record": "candidate", "candidate": c.name, "parameters": c.point, "schedule": c.entry} for c in candidates}
    for name in [name for name in records if name in view.candidates]:
        if view.candidates[name]["schedule"] != records.pop(name)["schedule"]:
            raise journal.JournalError(f"{folder.log()}: expected '{name}' to be the schedule that it is now, got another; "
                                       "give another --out")
    log.write(*records.values())
    for each in run["problems"]:
        folder.put(folder.source(each["name"]), each["source"])


# ---- the modes ----


def list_legal(compiler, problems, candidates):
    """Prints the candidates that are legal for a problem, and how many are not, by
    the rule; what a kernel takes beyond the rules shows when it is compiled."""
    refused = collections.Counter()
    with tempfile.TemporaryDirectory() as temp:
        folder = build.Folder(temp)
        for each in problems:
            folder.put(folder.source(each["name"]), each["source"])
        for each in candidates:
            path = folder.put(folder.schedule(each.name), each.entry)
            reasons = [compiler.compile(folder.source(p["name"]), os.path.join(temp, "out"), path, emit="schedule") for p in problems]
            if all(reasons):
                refused[reasons[0]["kind"]] += 1
            else:
                print(each.name)
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(refused.items()))
    dropped = sum(refused.values())
    print(f"{len(candidates) - dropped} legal" + (f", {dropped} refused ({kinds})" if kinds else ""))
    return 0 if dropped < len(candidates) else 1


def run_compile(args):
    args.target = args.target or schedules.of(args.compiler).default_machine
    compiler = build.Compiler(args.compiler, args.target)
    problems = read_problems(args.inputs, compiler)
    found = read_space(args, problems)
    candidates = enumerate_candidates(args, found)
    if args.list:
        return list_legal(compiler, problems, candidates)
    library = libattn.Library(args.lib)
    os.makedirs(args.out, exist_ok=True)
    folder = build.Folder(args.out)
    log = open_log(args, folder)
    run = {"record": "run", "format": journal.FORMAT, "time": measure.now(), "target": args.target, "space": found.declared,
           "problems": problems, "compiler": compiler.identity(), "version": library.version}
    start(log, folder, run, candidates)
    made = build.build_all(log, folder, compiler, lambda path: library.load(path).plan, args.jobs, say)
    say(f"{made} bundles")
    log.close()
    if all(log.view.compiled(p["name"]) in ([], [journal.BASELINE]) for p in problems):
        say("no candidate compiled")
        return 1
    return 0


def open_log(args, folder):
    path = args.log or folder.log()
    if not os.path.exists(path) and os.path.exists(folder.log()):
        shutil.copyfile(folder.log(), path)
    return journal.Journal(path)


def existing_log(args, folder):
    """The log of a search that was begun."""
    if not any(path and os.path.exists(path) for path in (args.log, folder.log())):
        raise journal.JournalError(f"{folder.log()}: expected the log of a search, got none")
    log = open_log(args, folder)
    if not log.view.run:
        raise journal.JournalError(f"{args.log or folder.log()}: expected the log of a search, got an empty one")
    return log


def run_measure(args, argv):
    folder = build.Folder(args.measure or args.out)
    log = existing_log(args, folder)
    if args.device == "sim":
        wrong = measure.simulate_all(log, folder, args.runner, args.shapes, args.jobs, say)
        say(f"{wrong} checks failed")
        return 1 if wrong else 0
    import torch
    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch finds no GPU")
    torch.set_grad_enabled(False)
    measure.race_all(log, folder, args, args.shapes, torch, lambda: replace_process(sys.argv[0], argv), say)
    report(decide.decide(log.view, args.margin, args.split))
    return 0


def report(decisions):
    for decision in decisions:
        say("\n".join(decision.lines()))


def run_write_table(args):
    folder = build.Folder(args.write_table)
    log = existing_log(args, folder)
    compiler = build.Compiler(args.compiler, log.view.run["target"])
    decisions = table.verified_decisions(log, folder, compiler, args.margin, args.split, say)
    report(decisions)
    table.write(log.view, decisions, args.table or os.path.join(folder.path, "table"), args.serve, schedules.of(args.compiler), say)
    return 0 if any(decision.ranking for decision in decisions) else 1


def run_replay(args):
    view = journal.View(journal.read(args.replay))
    decisions = decide.decide(view, args.margin, args.split)
    report(decisions)
    if args.table:
        table.write(view, decisions, args.table, args.serve, schedules.of(args.compiler), say)
    return 0


def run(args, argv):
    if args.replay:
        return run_replay(args)
    if args.write_table:
        return run_write_table(args)
    if not args.measure:
        status = run_compile(args)
        if status or args.compile_only or args.list:
            return status
    return run_measure(args, argv)


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    args = parse_arguments(argv)
    try:
        return run(args, argv)
    except EXPECTED as error:
        print(f"attn-tune: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("attn-tune: stopped; the same command goes on from here", file=sys.stderr)
        return 1
