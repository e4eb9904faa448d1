# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results: one JSON line a measurement, one file a run; and tables of them.

Clocks differ from run to run, so only ratios within a run mean something: over
several runs the median of the ratios is shown, beside the median of the rates.
"""

import json
import math
import statistics

import paths  # noqa: F401 (finds racing)
from racing.points import describe_family

# The kind of a contender: the compiler's kernel, a library to compare it with, a kernel that is only shown beside
# them (a mark), or one of several variants of the compiler's kernel.
KINDS = ("attn", "peer", "mark", "variant")


def family_of(line):
    return line["op"], line["dtype"], line["case"], line["d"], line["dv"]


def read_run(path):
    """The lines of one file as {(family, seqlen): {contender: line}}."""
    run = {}
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            if not text.strip():
                continue
            line = {"ran": True, "note": "", "ghz": 0.0, **json.loads(text)}
            line.setdefault("kind", "attn" if line["contender"] == "attn" else "peer")
            at_point = run.setdefault((family_of(line), line["seqlen"]), {})
            if line["contender"] in at_point:
                raise ValueError(f"{path}:{number}: '{line['contender']}' stands twice at one point: a file is one run")
            at_point[line["contender"]] = line
    return run


def leave_out(run, is_left_out):
    """A run without the lines for which a function of (contender, family, seqlen) is true."""
    kept = {key: {name: line for name, line in lines.items() if not is_left_out(name, *key)} for key, lines in run.items()}
    return {key: lines for key, lines in kept.items() if lines}


def group_of(name):
    """Contenders NAME/CONFIGURATION are one: the best of them counts."""
    return name.split("/")[0]


def best_of_groups(lines):
    """The fastest right line of each group of contenders, in the order of names."""
    best = {}
    for line in lines:
        group = group_of(line["contender"])
        if line["ok"] and (group not in best or line["tflops"] > best[group]["tflops"]):
            best[group] = line
    return best


class Entry:
    """One group of contenders at one point, over all runs: medians."""

    def __init__(self, lines):
        self.kind = lines[0]["kind"]
        self.runs = len(lines)
        self.tflops = statistics.median(line["tflops"] for line in lines)
        self.ghz = statistics.median(line["ghz"] for line in lines)
        self.name = max(lines, key=lambda line: line["tflops"])["contender"]
        # The share of pairs that is multiplied is not known for all contenders, nor in older results.
        known = [line for line in lines if "visited" in line]
        self.visited = statistics.median(line["visited"] for line in known) if known else None
        self.tflops_visited = statistics.median(line["tflops_visited"] for line in known) if known else None


class Row:
    """One point over all runs."""

    def __init__(self, family, seqlen, runs):
        self.family, self.seqlen = family, seqlen
        everyone = [line for run in runs for line in run.values()]
        self.admissible = next((line["admissible"] for line in everyone if "admissible" in line), None)
        self.groups = list(dict.fromkeys(group_of(line["contender"]) for line in everyone))
        self.notes = sorted({(line["contender"], line["note"]) for line in everyone if not line["ok"]})
        self.wrong = sorted({line["contender"] for line in everyone if line["ran"] and not line["ok"]})
        self.bests = [best_of_groups(run.values()) for run in runs]
        self.entries = {g: Entry([b[g] for b in self.bests if g in b]) for g in self.groups if any(g in b for b in self.bests)}

    def rounds_short(self, group):
        """The number of rounds of a group if others had more, otherwise None."""
        there = [(best[group]["rounds"], max(line["rounds"] for line in best.values())) for best in self.bests if group in best]
        return min((own for own, most in there if own < most), default=None)

    def groups_of(self, kind):
        return [g for g, entry in self.entries.items() if entry.kind == kind]

    def ratio(self, rivals, of="tflops"):
        """The ratio of attn to the best of some groups, computed in each run: (median, smallest, largest, the best
        group in the run of the median), or None."""
        found = []
        for best in self.bests:
            others = [best[g] for g in rivals if of in best.get(g, {})]
            if others and of in best.get("attn", {}):
                top = max(others, key=lambda line: line[of])
                found.append((best["attn"][of] / top[of], top["contender"]))
        found.sort()
        values = [r for r, _ in found]
        return (statistics.median(values), values[0], values[-1], found[len(found) // 2][1]) if found else None

    def peer_ratio(self):
        return self.ratio(self.groups_of("peer"))

    def mark_ratio(self, mark):
        """The ratio to a mark, by multiplied pairs if they are known for both, since a mark may be a kernel with
        another mask."""
        return self.ratio([mark], "tflops_visited") or self.ratio([mark])


def merge(runs):
    """The rows of several runs, as read_run() returns them, in the order of the first."""
    keys = dict.fromkeys(key for run in runs for key in run)
    return [Row(family, seqlen, [run[family, seqlen] for run in runs if (family, seqlen) in run]) for family, seqlen in keys]


def geometric_mean(values):
    values = list(values)
    return math.exp(statistics.fmean(map(math.log, values))) if values else 0.0


# ---- tables of text ----


def describe_gaps(rows):
    """The points without a result, a line for each contender and reason."""
    places = {}
    for row in rows:
        for name, note in row.notes:
            places.setdefault((name, note), []).append(f"{describe_family(row.family)} s{row.seqlen}")
    lines = []
    for (name, note), there in places.items():
        more = f" and {len(there) - 3} more points" if len(there) > 3 else ""
        lines.append(f"{name}: {note} (at {', '.join(there[:3])}{more})")
    return lines


def format_header(groups):
    return f"{'point':34}" + "".join(f"{g:>15}" for g in groups) + "   attn to the best peer, and to marks; the admissible share; TFLOP/s of visited pairs and their share"


def format_ratio(ratio):
    return f"{ratio[0]:6.3f} ({ratio[1]:.3f}-{ratio[2]:.3f}) {ratio[3]}"


def format_row(row, groups):
    """One point: TFLOP/s @GHz of each, and attn's ratios."""
    cells = []
    for group in groups:
        entry = row.entries.get(group)
        cells.append(f"{entry.tflops:7.1f} @{entry.ghz:.2f}" if entry else "-" if group not in row.groups else "no result")
    ratios = [row.peer_ratio()] + [row.mark_ratio(mark) for mark in row.groups_of("mark")]
    label = f"{describe_family(row.family)} s{row.seqlen}"
    found = ", ".join(format_ratio(r) for r in ratios if r)
    return f"{label:34}" + "".join(f"{c:>15}" for c in cells) + "   " + found + format_shares(row)


def format_shares(row):
    """The admissible share of the pairs, and the multiplied share with its TFLOP/s, if it is known."""
    known = [f"{group} {entry.tflops_visited:.1f} ({entry.visited:.3f})" for group, entry in row.entries.items() if entry.visited is not None]
    return f"   admissible {row.admissible:.3f}, visited: {', '.join(known)}" if known and row.admissible is not None else ""


def summarize_ratios(what, ratios):
    """A line about ratios, of which some may be None."""
    values = [r[0] for r in ratios if r]
    if not values:
        return []
    return [f"attn to {what}: geometric mean {geometric_mean(values):.3f}, worst {min(values):.3f}, {len(values)} points"]


def format_report(rows):
    """The table of several runs: medians."""
    groups = list(dict.fromkeys(g for row in rows for g in row.groups))
    lines = [format_header(groups)] + [format_row(row, groups) for row in rows]
    lines += summarize_ratios("the best peer", [row.peer_ratio() for row in rows])
    for mark in dict.fromkeys(g for row in rows for g in row.groups_of("mark")):
        lines += summarize_ratios(mark, [row.mark_ratio(mark) for row in rows])
    return "\n".join(lines + describe_gaps(rows))


# ---- variants ----


def score_variants(rows, base=None):
    """{variant: {seqlen: ratio}} of one family's rows: to the best variant of the
    point, or to the one called `base`, in each run; the median of the runs."""
    scores = {}
    for row in rows:
        found = {}
        for best in row.bests:
            rates = {g: line["tflops"] for g, line in best.items() if line["kind"] == "variant"}
            mark = rates.get(base, 0.0) if base else max(rates.values(), default=0.0)
            for name, rate in rates.items() if mark else ():
                found.setdefault(name, []).append(rate / mark)
        for name, ratios in found.items():
            scores.setdefault(name, {})[row.seqlen] = statistics.median(ratios)
    return scores


def rank_variants(scores):
    """Names by their geometric mean, best first; those with gaps come last."""
    return sorted(scores, key=lambda n: (-len(scores[n]), -geometric_mean(scores[n].values()), n))


def best_variant(row):
    """The entry of the fastest variant, or None."""
    return max((e for e in row.entries.values() if e.kind == "variant"), key=lambda e: e.tflops, default=None)


def format_matrix(rows):
    """Variants against lengths, one block a family: the ratio to the best variant there."""
    blocks = []
    for family in dict.fromkeys(row.family for row in rows):
        there = [row for row in rows if row.family == family]
        scores, bests = score_variants(there), [best_variant(row) for row in there]
        others = [g for g in dict.fromkeys(g for row in there for g in row.groups) if g not in scores]
        width = max([len(name) for name in [*scores, *others]] + [16])
        block = [f"{describe_family(family):{width}}" + "".join(f"{row.seqlen:>8}" for row in there) + f"{'mean':>8}",
                 f"{'best, TFLOP/s':{width}}" + "".join(f"{b.tflops:8.1f}" if b else f"{'-':>8}" for b in bests),
                 f"{'at GHz':{width}}" + "".join(f"{b.ghz:8.2f}" if b else f"{'-':>8}" for b in bests)]
        for name in rank_variants(scores):
            cells = "".join(f"{scores[name][row.seqlen]:8.3f}" if row.seqlen in scores[name] else f"{'-':>8}" for row in there)
            block.append(f"{name:{width}}{cells}{geometric_mean(scores[name].values()):8.3f}")
        for name in others:
            rates = [row.entries[name].tflops / b.tflops if name in row.entries and b else 0.0 for row, b in zip(there, bests)]
            block.append(f"{name:{width}}" + "".join(f"{rate:8.3f}" if rate else f"{'-':>8}" for rate in rates))
        blocks.append("\n".join(block + describe_gaps(there)))
    return "\n\n".join(blocks)


def format_tables(rows):
    """The table that fits the rows: of variants where there are any."""
    variants = [row for row in rows if any(e.kind == "variant" for e in row.entries.values())]
    raced = [row for row in rows if row not in variants]
    return "\n\n".join(([format_matrix(variants)] if variants else []) + ([format_report(raced)] if raced else []))
