# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Summarizes the outcomes of faults: a table by kernel, one by kind, and a file with every
fault."""

import collections
import json
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))

# (the compiler's verdict, the simulator's verdict): the outcome.
CLASSES = {(True, "bad"): "refused", (True, "clean"): "refused, clean", (True, "no program"): "refused, no program",
           (False, "bad"): "MISSED", (False, "clean"): "equivalent"}

# Why a change is no fault.
REASONS = {
    "one-item": "the CTA runs one item, and comes back to nothing that it has used",
    "commutes": "the two operations may happen in either order",
    "redundant": "the operation has no effect, or something else orders the same",
    "performance-only": "the kernel waits for more, or later, than it has to",
    "same-value": "the value is the same",
}
FIELDS = ["kernel", "stage", "number", "kind", "place", "object", "detail", "line", "class", "by", "rule", "message",
          "truth", "report", "reason"]


def explain(results):
    """Gives equivalent faults their reason from equivalents.json; errors."""
    with open(os.path.join(HERE, "equivalents.json"), encoding="utf-8") as file:
        entries = json.load(file)
    for fault in results:
        fits = [entry for entry in entries if all(re.fullmatch(entry.get(key, ".*"), fault[key]) for key in
                                                  ("kernel", "stage", "kind", "place", "object", "detail"))]
        fault["reason"] = fits[0]["reason"] if fits and fault["class"] == "equivalent" else ""
    return [f"equivalents.json: unknown reason '{e['reason']}'" for e in entries if e["reason"] not in REASONS]


def table(title, results, key):
    columns = list(CLASSES.values())
    lines = [f"| {title} | faults | " + " | ".join(columns) + " |", "|---" * (2 + len(columns)) + "|"]
    groups = collections.OrderedDict()
    for fault in results:
        groups.setdefault(key(fault), []).append(fault)
    for name, members in [*groups.items(), ("all", results)]:
        counts = collections.Counter(fault["class"] for fault in members)
        lines.append(f"| {name} | {len(members)} | " + " | ".join(str(counts[c]) for c in columns) + " |")
    return lines + [""]


def count(title, values):
    return [f"| {title} | faults |", "|---|---|"] + [
        f"| {value} | {n} |" for value, n in collections.Counter(values).most_common()] + [""]


def summarize(results):
    lines = table("kernel", results, lambda f: f["kernel"])
    lines += table("stage: kind", results, lambda f: f"{f['stage']}: {f['kind']}")
    lines += count("bad, and refused by", (f"{f['by']} {f['rule']}" for f in results if f["class"] == "refused"))
    lines += count("clean, and refused by", (f"{f['by']} {f['rule']}" for f in results if f["class"] == "refused, clean"))
    lines += count("bad, as the simulator says", (f["truth"] for f in results if f["class"] in ("refused", "MISSED")))
    return lines + count("equivalent, as", (f"{f['reason']}: {REASONS.get(f['reason'], '')}" for f in results
                                            if f["class"] == "equivalent"))


def write_report(results, folder):
    """Writes faults.tsv and summary.md, prints the summary; the exit status."""
    errors = explain(results)
    with open(os.path.join(folder, "faults.tsv"), "w", encoding="utf-8") as file:
        file.write("\t".join(FIELDS) + "\n")
        for fault in results:
            file.write("\t".join(str(fault[field]).replace("\t", " ") for field in FIELDS) + "\n")
    counted = [fault for fault in results if fault["class"] != "refused, no program"]
    classes = collections.Counter(fault["class"] for fault in counted)
    lines = summarize(results)
    if classes["MISSED"]:
        errors.append(f"expected no fault that is bad to be accepted, got {classes['MISSED']}")
    if classes["equivalent"] * 5 > len(counted):
        errors.append(f"expected at most 20 % equivalent faults, got {classes['equivalent']} of {len(counted)}")
    unexplained = sum(f["class"] == "equivalent" and not f["reason"] for f in results)
    if unexplained:
        errors.append(f"expected a reason for each equivalent fault, got none for {unexplained}")
    with open(os.path.join(folder, "summary.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    print("\n".join(lines))
    print(f"{len(counted)} faults with a program: {classes['refused']} bad and refused, {classes['MISSED']} bad and "
          f"missed, {classes['refused, clean']} refused and clean, {classes['equivalent']} equivalent")
    print("\n".join(f"error: {error}" for error in errors) or "faults: passed")
    return 1 if errors else 0
