#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures how many broken kernels the simulator notices.

Compiles the kernels of kernels.json, lets attn-mutate break each in every way
it knows, and writes BUILD/mutation/report.md and report.json. Fails if

- an unchanged kernel is reported, or wrong, on any of its schedules,
- the simulator crashes,
- fewer mutants than --min-rate percent are noticed, not counting those that
  equivalents.json says are no faults, and those at the sites BESIDE,
- more than --max-declared percent are said to be no faults there, or not reached,
- or an entry of equivalents.json fits one that is noticed, unless it says that
  this decides, or, with all mutants, none.
"""

import argparse
import collections
import json
import os
import re
import sys

import runner

# Why a mutant may be no fault.
REASONS = {
    "commutes": "the two operations may happen in either order",
    "dead-field": "hardware ignores the field that was changed",
    "dominated-by-stronger-sync": "something else orders the same operations",
    "performance-only": "the kernel does more, or waits for more, than it has to",
    "renamed": "another barrier serves as well",
    "redundant": "what was removed or repeated has no effect",
    "same-value": "the result is the same for all values that arguments may have",
    "unreachable": "no argument leads to this instruction",
    "unused-result": "nothing uses the result",
}
# Sites of which mutants are made and reported, but not counted: those that decide where data is
# and which way control goes. Only wrong values can reveal such a mutant, and many changes leave
# the values unchanged.
BESIDE = ("address", "branch", "coordinate", "guard")


def killer(mutant):
    """The check that noticed a mutant: a rule of the simulator, by its id, or another one."""
    message = mutant["message"]
    rule = re.search(r"\[([a-z]+(?:[.-][a-z]+)+)\]", message)
    if mutant["by"] in ("launch", "warning", "load") and rule:
        return rule.group(1)
    if mutant["by"] == "launch":
        return ("progress.deadlock" if "deadlock" in message else
                "progress.livelock" if "livelock" in message else "simulator error")
    return {"load": "not accepted", "value": "wrong value", "guard": "wrong place"}.get(mutant["by"], mutant["by"])


class Equivalents:
    """The entries of equivalents.json: mutants that are no faults."""

    def __init__(self, entries, described=()):
        self.entries = entries
        self.errors = []
        groups = {"gradients": [each["name"] for each in described if "loop_over" in each],
                  "passes": [each["name"] for each in described if "gradients" in each],
                  "forward": [each["name"] for each in described if "head_dim" in each and "loop_over" not in each],
                  "causal": [each["name"] for each in described
                             if each.get("gradients", {}).get("mask") == "causal_bottom_right"]}
        for entry in entries:
            if "kernels" in entry:
                entry["kernels"] = [name for each in entry["kernels"] for name in groups.get(each, [each])]
            if entry["reason"] not in REASONS:
                self.errors.append(f"equivalents.json: unknown reason '{entry['reason']}'")

    @staticmethod
    def fits(entry, mutant):
        kernels = entry.get("kernels", [mutant["kernel"]])
        if "reached" in mutant and entry.get("reached", True) != mutant["reached"]:
            return False
        if entry.get("once") and not mutant.get("once"):
            return False
        first, last = entry.get("numbers", [0, sys.maxsize])
        number = int(mutant["site"].split(".")[1])
        return mutant["kernel"] in kernels and first <= number <= last and all(
            re.fullmatch(entry.get(key, ".*"), mutant.get(key, ""), re.DOTALL) for key in
            ("site", "operation", "before", "after", "from"))

    def find(self, mutant):
        return next((entry for entry in self.entries if self.fits(entry, mutant)), None)

    def check_used(self, everything, absent=()):
        """Every entry has to fit a mutant, but those for `absent` kernels alone."""
        for entry in self.entries:
            if "kernels" in entry and set(entry["kernels"]) <= set(absent):
                continue
            if not any(self.fits(entry, mutant) for mutant in everything):
                self.errors.append(f"equivalents.json: no mutant fits {json.dumps(entry)}")


def classify(results, equivalents):
    """Gives every mutant a "state"."""
    for mutant in results:
        entry = equivalents.find(mutant)
        mutant["killer"] = killer(mutant) if mutant["by"] else ""
        if mutant["by"] == "crash":
            mutant["state"] = "crashed"
        elif mutant["by"]:
            mutant["state"] = "killed"
            if entry and not entry.get("decided"):
                equivalents.errors.append(f"{mutant['id']} is declared '{entry['reason']}' and was noticed: "
                                          f"{mutant['killer']}")
        elif entry:
            mutant["state"] = "equivalent"
            mutant["reason"] = entry["reason"]
        else:
            mutant["state"] = "survived"
        if not mutant["reached"] and mutant["state"] == "equivalent":
            mutant["state"] = "unreached"


class Tally:
    def __init__(self, mutants):
        states = collections.Counter(mutant["state"] for mutant in mutants)
        self.killed = states["killed"]
        self.survived = states["survived"] + states["crashed"]
        self.equivalent = states["equivalent"]
        self.unreached = states["unreached"]
        self.reached = len(mutants) - self.unreached

    def rate(self):
        counted = self.killed + self.survived
        return 100 * self.killed / counted if counted else 100.0

    def row(self, name):
        return (f"| {name} | {self.reached} | {self.killed} | {self.survived} | {self.equivalent} | "
                f"{self.rate():.1f} % | {self.unreached} |")


def is_counted(mutant):
    return site_class(mutant) not in BESIDE


def site_class(mutant):
    return mutant["site"].split(".")[0]


def table(title, groups):
    lines = [f"| {title} | mutants | noticed | missed | no fault | rate | not reached |",
             "|---|---|---|---|---|---|---|"]
    return lines + [Tally(mutants).row(name) for name, mutants in groups] + [""]


def group(results, key):
    groups = collections.OrderedDict()
    for mutant in results:
        groups.setdefault(key(mutant), []).append(mutant)
    return list(groups.items())


def short(text):
    text = " ".join(text.split())
    text = text if len(text) <= 110 else text[:80] + " ... " + text[-25:]
    return f"`{text}`" if text else "nothing"


def describe(mutant):
    return f"- {mutant['id']} (PTX line {mutant['line']}): {short(mutant['before'])} becomes {short(mutant['after'])}"


def summary(results):
    """The counted mutants, by kernel, and those that are not counted."""
    counted = [m for m in results if is_counted(m)]
    beside = [m for m in results if not is_counted(m)]
    return table("kernel", group(counted, lambda m: m["kernel"]) + [("all", counted)]) + table(
        "beside", sorted(group(beside, site_class)))


def write_report(results, errors, args):
    killed = [mutant for mutant in results if mutant["state"] == "killed"]
    lines = ["# What the simulator notices", ""]
    lines += summary(results)
    lines += table("site", sorted(group(results, site_class)))
    lines += table("operation", sorted(group(results, lambda m: site_class(m) + ": " + m["operation"])))
    lines += ["| noticed by | mutants |", "|---|---|"]
    lines += [f"| {name} | {n} |" for name, n in collections.Counter(m["killer"] for m in killed).most_common()]
    lines += ["", "| first noticed on schedule | mutants |", "|---|---|"]
    lines += [f"| {seed} | {n} |" for seed, n in sorted(collections.Counter(m["seed"] for m in killed).items())]
    lines += ["", "## Missed", ""]
    lines += [describe(m) for m in results if m["state"] in ("survived", "crashed")]
    lines += ["", "## No faults", ""]
    for reason, mutants in sorted(group([m for m in results if m["state"] == "equivalent"], lambda m: m["reason"])):
        lines += [f"{reason}: {REASONS[reason]}", ""] + [describe(m) for m in mutants] + [""]
    lines += ["## Errors", ""] + [f"- {error}" for error in errors]
    with open(os.path.join(args.output, "report.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    with open(os.path.join(args.output, "report.json"), "w", encoding="utf-8") as file:
        json.dump({"mutants": results, "errors": errors}, file, indent=1)


def find_errors(results, equivalents, args):
    counted = [m for m in results if is_counted(m)]
    tally = Tally(counted)
    errors = [f"{m['id']}: {m['message']}" for m in results if m["state"] == "crashed"]
    errors += equivalents.errors
    if tally.rate() < args.min_rate:
        errors.append(f"expected at least {args.min_rate} % to be noticed, got {tally.rate():.2f} %")
    declared = tally.equivalent + tally.unreached
    if declared * 100 > args.max_declared * len(counted):
        errors.append(f"expected at most {args.max_declared} % to be no faults or not reached, got {declared} of "
                      f"{len(counted)}")
    if len(counted) < args.min_mutants:
        errors.append(f"expected at least {args.min_mutants} mutants, got {len(counted)}")
    return errors


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--kernels", help='the names of some, with commas between; "gradients" for all that make gradients')
    parser.add_argument("--sites", default="", help="classes of sites, with commas between")
    parser.add_argument("--every", type=int, default=1, help="one mutant of so many")
    parser.add_argument("--sample", type=int, help="so many mutants of each kernel, drawn with --draw")
    parser.add_argument("--draw", type=int, default=0, help="the seed of --sample")
    parser.add_argument("--seeds", type=int, default=8, help="schedules a mutant gets at most")
    parser.add_argument("--original-seeds", type=int, default=64, help="schedules that a kernel itself has to pass")
    parser.add_argument("--min-rate", type=float, default=95, help="percent")
    parser.add_argument("--max-declared", type=int, default=10, help="percent that may be no faults or not reached")
    parser.add_argument("--min-mutants", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--resume", action="store_true", help="go on where the same run was interrupted")
    parser.add_argument("--bundles", help="a folder of KERNEL.attn: nothing is compiled")
    parser.add_argument("--output", help="a folder; BUILD/mutation")
    args = parser.parse_args()
    args.output = args.output or os.path.join(args.build, "mutation")
    return args


def is_asked_for(kernel, args):
    """Kernels of gradients only by name, or all of them as "gradients"."""
    makes_gradients = "loop_over" in kernel
    names = args.kernels.split(",") if args.kernels else []
    return kernel["name"] in names or makes_gradients and "gradients" in names or not names and not makes_gradients


def main():
    args = parse_arguments()
    os.makedirs(args.output, exist_ok=True)
    described = runner.load("kernels.json")
    kernels = [runner.Kernel(each, args) for each in described if is_asked_for(each, args)]
    equivalents = Equivalents(runner.load("equivalents.json"), described)
    results, errors = runner.run_all(kernels, args)
    classify(results, equivalents)
    if not args.kernels and not args.sites and args.every == 1 and not args.sample:
        absent = [each["name"] for each in described if not is_asked_for(each, args)]
        equivalents.check_used([mutant for kernel in kernels for mutant in kernel.mutants], absent)
    errors += find_errors(results, equivalents, args)
    write_report(results, errors, args)
    print("\n".join(summary(results)))
    print(f"report: {os.path.join(args.output, 'report.md')}")
    for error in errors:
        print(f"error: {error}")
    print("mutation: FAILED" if errors else "mutation: passed")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
