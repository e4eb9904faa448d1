#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random edits of schedules. A schedule that attn-verify-schedule still accepts has to compile,
to mean the same to attn-verify-schedule and in the emitted program, and to be right on the
simulator, without a hazard.

    test/Schedules/random_edits.py --build build --edits 5000     # some minutes
    test/Schedules/random_edits.py --build build --edits 200 --seed 7

Every entry of the schedule table and its rungs and every schedule of this folder is
edited as often, with each mask that it serves in turn: entries of bodies moved, also to
other roles and sections, exchanged, dropped, doubled, added, at other shifts or under other
guards; places, roles, sub-tiles, tiles, depths, credits, implied barriers and knobs changed.
Everything follows from --seed. Schedules are counted once, and kernels with the same `ws` are run
once."""

import argparse
import collections
import hashlib
import itertools
import os
import random
import re
import sys
import tempfile

from schedule_tools import Tools

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import clean

# Queries x heads, keys x heads, and other options of attn-run: CTAs run several items, some
# empty, some masked, rings wrap, and a key that lies far above the first makes items run again.
PROBLEMS = (
    ("1x300x2", "1x200x1", []),
    ("1x201x2", "1x395x1", []),
    ("1x70x2", "1x0x1", []),
    ("1x131x2", "1x300x1", ["--inputs=spike-key:200"]),
)
LIST = re.compile(r"\b(before|kv|after) \{ ([^}]*) \}")
ACT = re.compile(r"(?:\w+ : )?\w+(?:\([^)]*\))?(?:\[\d+\])?(?: \+ \d+)?")
NUMBER = re.compile(r"\b(depth|credits) (\d+)")
PLACE = re.compile(r"(?m)^ *(chan|hold) .*$")
# Words that may replace one another in a schedule.
WORDS = (("peel first_masked", "peel first_branch", "peel first", "peel shifted_branch", "peel none"), ("depth 1", "over v", "over q", "over k"))
ROLE = re.compile(r"(?m)^( *role \w+)(\[\d\])? warps (\d+) ")
SPLIT = re.compile(r"(?m)^ *split M (\d)( whole\(([^)]*)\))?.*$")
TILE = re.compile(r"\btile_([mn]) = (\d+)")
VALUES = "q k v s s1 s2 m1 alpha s3 ls p32 l1 p o1 o2 inv lse on oe m l o mf lf of".split()
RULE = re.compile(r"\b(V\d+): ")


def is_of_spills(message):
    """Whether what the compiler says is that ptxas spilled registers, and nothing else."""
    losses = re.findall(r"note: ptxas: (.*)", message)
    return message.count("error: ") == 1 and "expected no spill and no serialized instruction in '" in message and \
        bool(losses) and all(re.search(r"\b[1-9]\d* bytes spill (?:stores|loads)\b", loss) for loss in losses)


def uncommented(schedule):
    return re.sub(r"(?m)^//.*\n", "", schedule)


class Editor:
    """Makes one edit after the other to the text of a schedule."""

    def __init__(self, rng, text):
        self.rng, self.text = rng, text

    def replace(self, match, new, group=0):
        self.text = self.text[:match.start(group)] + new + self.text[match.end(group):]

    def pick(self, pattern):
        found = list(pattern.finditer(self.text))
        return self.rng.choice(found) if found else None

    def name(self, kind):
        """The name of one of the turns, edges or rendezvous that the schedule declares."""
        return self.rng.choice(re.findall(rf"(?m)^ *{kind} (\w+)", self.text) or ["none"])

    def edit(self):
        """One edit of a kind that is drawn."""
        kinds = [self.move] * 6 + [self.drop] * 3 + [self.exchange, self.double, self.add] * 2 + [self.shift] * 3
        kinds += [self.carry] * 3 + [self.place, self.role, self.split, self.tile] * 2
        self.rng.choice(kinds + [self.guard, self.number, self.number, self.implied, self.word, self.skip])()

    def edit_list(self, change):
        """Applies a change to the entries of one list, and puts them back."""
        found = self.pick(LIST)
        acts = ACT.findall(found[2]) if found else []
        if acts:
            change(acts)
            self.replace(found, " ".join(acts), 2)

    def move(self):
        def change(acts):
            act = acts.pop(self.rng.randrange(len(acts)))
            acts.insert(self.rng.randint(0, len(acts)), act)
        self.edit_list(change)

    def exchange(self):
        def change(acts):
            a, b = self.rng.randrange(len(acts)), self.rng.randrange(len(acts))
            acts[a], acts[b] = acts[b], acts[a]
        self.edit_list(change)

    def drop(self):
        self.edit_list(lambda acts: acts.pop(self.rng.randrange(len(acts))))

    def double(self):
        self.edit_list(lambda acts: acts.insert(self.rng.randint(0, len(acts)), self.rng.choice(acts)))

    def add(self):
        def change(acts):
            step = re.sub(r".* : | \+ \d+", "", self.rng.choice(acts))
            word, name = self.rng.choice([
                ("await", step), ("get", self.rng.choice("kvq")), ("take", self.name("turn")), ("give", self.name("turn")),
                ("sig", self.name("edge")), ("wait", self.name("edge")), ("sync", self.name("sync"))])
            acts.insert(self.rng.randint(0, len(acts)), f"{word}({name})" + self.rng.choice(("", " + 1")))
        self.edit_list(change)

    def shift(self):
        def change(acts):
            at = self.rng.randrange(len(acts))
            acts[at] = acts[at].split(" + ")[0] + self.rng.choice(["", " + 1", " + 1", " + 2"])
        self.edit_list(change)

    def guard(self):
        def change(acts):
            at = self.rng.randrange(len(acts))
            acts[at] = self.rng.choice(["", "once : ", "last : ", "nonempty : "]) + acts[at].split(" : ")[-1]
        self.edit_list(change)

    def number(self):
        found = self.pick(NUMBER)
        if found:
            self.replace(found, str(max(0, int(found[2]) + self.rng.choice((-1, 1, 2)))), 2)

    def implied(self):
        found = self.pick(PLACE)
        if found:
            self.replace(found, found[0] + self.rng.choice((" free_implied", " full_implied")))

    def word(self):
        words = self.rng.choice(WORDS)
        found = self.pick(re.compile("|".join(words)))
        if found:
            self.replace(found, self.rng.choice(words))

    def carry(self):
        """An entry goes into another list."""
        lists = list(LIST.finditer(self.text))
        if len(lists) < 2:
            return
        source, target = self.rng.sample(lists, 2)
        taken, given = ACT.findall(source[2]), ACT.findall(target[2])
        if not taken:
            return
        act = taken.pop(self.rng.randrange(len(taken))).split(" : ")[-1]
        given.insert(self.rng.randint(0, len(given)), self.rng.choice(["", "", "once : ", "last : "]) + act)
        for found, acts in sorted(((source, taken), (target, given)), key=lambda change: -change[0].start()):
            self.replace(found, " ".join(acts), 2)

    def place(self):
        found = self.pick(PLACE)
        if not found:
            return
        value, line = self.rng.choice(VALUES), found[0]
        self.replace(found, self.rng.choice([
            "", re.sub(r"\b(reg|smem)\b", self.rng.choice(("reg", "smem")), line, count=1), re.sub(r"= (\w+)", rf"= \1 | {value}", line, count=1),
            re.sub(r"= \w+", f"= {value}", line, count=1), line.replace("hold", "chan", 1), line.replace("chan", "hold", 1),
            f"{line}\n  hold extra = {value} in {self.rng.choice(('reg', 'smem', 'smem over q'))} depth 1"]))

    def role(self):
        found = self.pick(ROLE)
        if found:
            replicas, warps = self.rng.choice([(found[2] or "", self.rng.choice("1248")), (f"[{self.rng.randint(1, 4)}]", found[3])])
            self.replace(found, f"{found[1]}{replicas} warps {warps} ")

    def split(self):
        found = self.pick(SPLIT)
        if found:
            value, kept = self.rng.choice(VALUES), found[3] or "q"
            self.replace(found, self.rng.choice([
                f"  split M {found[1]}", f"  split M {found[1]} whole({kept}, {value})", f"  split M {self.rng.randint(1, 4)} whole({kept})",
                f"  split {self.rng.choice(('N', 'D', 'DV'))} {found[1]} whole({kept})", f"  split M {found[1]} whole({kept}) also({value} : DV)"]))

    def tile(self):
        found = self.pick(TILE)
        if found:
            self.replace(found, str(self.rng.choice((32, 64, 96, 128, 192, 256, 320) if found[1] == "m" else range(8, 184, 8))), 2)

    def skip(self):
        found = re.search(r"(?m)^  knob skip .*\n", self.text)
        if found:
            self.text = self.text.replace(found[0], "")
        else:
            line = f"  knob skip {self.rng.choice(('right', 'both'))}\n"
            self.text = re.sub(r"(?m)^(  knob peel .*\n)", r"\1" + line, self.text)


def edited(rng, text):
    """The text after one edit or a few."""
    editor = Editor(rng, text)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        editor.edit()
    return editor.text


def simulate(tools, case, bundle):
    """The fault of a bundle on the simulator, or None."""
    ctas = 2 if "cluster = 2" in case.schedule else 1
    for q, kv, more in clean.problems(case, PROBLEMS):
        done = tools.run("attn-run", bundle, "--device=sim", "--check", "--guard", "--seeds=4", f"--sm-count={ctas}",
                         "--budget=20000000", f"--q={q}x{case.dim}", f"--kv={kv}x{case.dim}", *more, *case.options)
        why = clean.fault(done.returncode, done.stdout)
        if why:
            return f"{why}: --q={q} --kv={kv} {' '.join(more)}\n{done.stdout}"
    return None


def program(ws):
    """The identity of a kernel: its `ws` without the schedule that it came from."""
    with open(ws, encoding="utf-8") as file:
        text = re.sub(r"(?s)schedule <.*?\n  }>", "", file.read())
    return hashlib.sha256(text.encode()).digest()


def refusal(message):
    """By which rule, or by what else, a schedule is refused."""
    error = next((line for line in message.split("\n") if "error: " in line), message.strip())
    rule = RULE.search(error)
    stage = re.search(r"attn-[\w-]+(?=: )", error)
    if rule:
        return rule[1] + (f" in {stage[0]}" if stage else "")
    if "spill" in message:
        return "spills"
    if stage:
        return f"no lowering in {stage[0]}"
    return "not a schedule" if "valid IR" in message or "expected" in error else "else"


class Trial:
    """Edited schedules, one at a time, and what became of them."""

    def __init__(self, tools, log):
        self.tools, self.log = tools, log
        self.refused, self.kernels, self.seen = collections.Counter(), {}, set()
        self.accepted = self.wrong = 0

    def take(self, case):
        """One edited schedule, unless it is known."""
        key = (case.name, case.schedule)
        if key not in self.seen:
            self.seen.add(key)
            message, why = self.outcome(case)
            if message:
                self.refuse(case, message)
            elif why:
                self.wrong += 1
                print(f"WRONG {case.name}: {why}\n{case.schedule}", flush=True)
            self.accepted += not message

    def outcome(self, case):
        """(why it is refused or "", what is wrong with its kernel or None)."""
        message, judged = self.compile(case, "schedule")
        if message:
            return message, None
        message, ws = self.compile(case, "ws")
        if message:
            return "", "it is legal, and a later pass refuses it\n" + message
        readings = self.tools.compare_readings(judged, ws)
        if readings.returncode:
            return "", "two readings of it differ\n" + readings.stdout
        kernel = (case.name, program(ws))
        if kernel not in self.kernels:
            message, bundle = self.compile(case, "bundle")
            if message and not is_of_spills(message):
                message, why = "", "it is legal, and a later pass refuses it\n" + message
            else:
                why = None if message else simulate(self.tools, case, bundle)
            self.kernels[kernel] = message, why
        return self.kernels[kernel]

    def compile(self, case, stage):
        """(why the compiler refuses or "", the path of what it wrote)."""
        out = self.tools.path("out." + stage)
        done = self.tools.compile(case.source, case.schedule, "--emit=" + stage, "-o", out)
        return (done.stdout or f"status {done.returncode}") if done.returncode else "", out

    def refuse(self, case, message):
        by = refusal(message)
        self.refused[by] += 1
        if self.log:
            self.log.write(f"==== {by}: {case.name}\n{message}\n{case.schedule}\n")

    def summary(self):
        lines = [f"| {count:5} | {by} |" for by, count in sorted(self.refused.items())]
        return "\n".join(["| refused | by |", "|---|---|", *lines, "",
                          f"{len(self.seen)} schedules: {sum(self.refused.values())} refused, {self.accepted} accepted as "
                          f"{len(self.kernels)} kernels, {self.wrong} accepted and wrong"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--edits", type=int, default=5000, help="schedules, no two the same")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ptxas", action="store_true", help="assemble what is accepted, so that spills are refused as well")
    parser.add_argument("--log", help="file for the schedules that are refused, with the messages")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    bases = [case._replace(schedule=uncommented(case.schedule)) for case in clean.all_cases() if case.schedule]
    rng.shuffle(bases)
    log = open(args.log, "w", encoding="utf-8") if args.log else None
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Tools(args.build, folder, **({} if args.ptxas else {"ATTN_PTXAS": "none"})), log)
        for case in itertools.islice(itertools.cycle(bases), 100 * args.edits):
            trial.take(case._replace(schedule=edited(rng, case.schedule)))
            if len(trial.seen) == args.edits:
                break
    print(trial.summary())
    return 1 if trial.wrong or not trial.accepted else 0


if __name__ == "__main__":
    sys.exit(main())
