#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a page of measurements, performance.md or that of --name, and its plots from results of
attention.py: every number on it is a reading in those files, or a ratio or median
of readings."""

import argparse
import json
import os
import re
import sys

import paths as finds_racing  # noqa: F401
from racing import points

import kernels
import limits
import make_ablations
import results

VERSIONS = ("gpu", "driver", "power_limit", "torch", "cudnn", "fa4", "cutlass_dsl", "attn")
HEAD = """\
# {title}

<!-- Made by bench/report.py from results of bench/attention.py. Do not edit. -->

TFLOP/s of the {passes}, with the SM clock in GHz beside it. Each contender is checked
against float64 first. All run in one process and take turns, in an order that is shuffled
every round. The first half of each turn is dropped, because the clock needs time to settle.
Clocks differ from run to run, so a ratio is always between two readings of one run. Where
there are several runs, the tables show medians, and the range of the ratios. The operations
of all pairs of a query and a key are counted; with a causal mask those of half the pairs;
with a mask function those of the pairs that it admits. With a mask function, tables also
show two shares of all pairs: that which the mask admits, and that in the blocks that a
contender visits, with the TFLOP/s at which it multiplies them.
"""
PASSES = {"fwd": "forward pass", "bwd": "backward pass", "bwd-det": "backward pass by kernels that give the same bits in each run"}
# Of a page with backward passes.
BACKWARD_HEAD = """
A backward pass has five products, of which three are as wide as the head dim of Q and two as that of V, however many a contender
computes. O and the LSE are there before, and all launches from them to the gradients of Q, K and V, and of what a score function
captures where it has gradients, are timed. `fa4-det` and `bwd-det`: the same bits in each run.
"""
ABLATION_HEAD = """
## Variants

How fast the kernel is with one choice changed, {what}.{note}
A variant is left out where a class of problems has no such choice, or has made it already.
If the kernels for some lengths cannot have that choice, they are the table's.
"""
SAME_HEAD = """\
A variant has no figure at lengths where it is the same kernel as the table's.
"""
ROUNDS_HEAD = """\
In brackets: how many rounds a variant ran, if others ran more. One that was far behind in
its first round ran no other.
"""

LIMITS_HEAD = """
## What binds

How busy each unit was, at the median of the runs:

- `tensor`, `exp`, `issue`: what the SMs did in the cycles of the measured clock, as a share
  of what they could have done. In a cycle, an SM can do {flops} dense 16-bit operations on
  its tensor cores and {exps} exponentials, and each of its schedulers can issue an instruction;
- `HBM`: a share of the memory's bandwidth, if each tensor is moved once;
- `clock`: the measured clock, as a share of the highest.

Tiles under the mask count as others do. Only the loop over keys is counted
(`bench/count_instructions.py`). The rest of the time is the last wave, and the beginnings and
ends of work items, in which the tensor cores wait for the first softmax and for the last
product's results. We say that a unit binds if it is busy two thirds of the time. Where the
clock is below 0.9 the power limit binds as well: if a kernel saves cycles there, the clock
falls and takes some of them back.
"""


def markdown_table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(text) for text in file if text.strip()]


def describe_runs(paths):
    """A table of the machines and versions of the runs, which must have one GPU model."""
    lines = [line for path in paths for line in read_lines(path)]
    found = {key: sorted({str(line[key]) for line in lines if key in line}) for key in VERSIONS}
    if len(found["gpu"]) != 1:
        raise ValueError(f"expected results of one kind of GPU, got {', '.join(found['gpu']) or 'none'}")
    rounds = sorted({max((line["rounds"] for line in read_lines(path) if line["ok"]), default=0) for path in paths})
    rows = [["runs", str(len(paths))], ["rounds a run", ", ".join(map(str, rounds))]]
    return markdown_table(["", ""], rows + [[key.replace("_", " "), ", ".join(v)] for key, v in found.items() if v])


def summarize_families(families):
    rows = []
    for family, there in families.items():
        ratios = [r[0] for r in (row.peer_ratio() for row in there) if r]
        if ratios:
            rows.append([results.describe_family(family), str(len(ratios)), f"{results.geometric_mean(ratios):.3f}",
                         f"{min(ratios):.3f}", f"{max(ratios):.3f}"])
    return markdown_table(["attn to the best peer", "points", "geometric mean", "worst", "best"], rows) if rows else ""


def contenders_of(rows):
    """All groups; attn comes first."""
    groups = list(dict.fromkeys(g for row in rows for g in row.groups))
    return sorted(groups, key=lambda g: g != "attn")


def family_table(rows):
    groups, body = contenders_of(rows), []
    known = [group for group in groups if any(row.entries[group].visited is not None for row in rows if group in row.entries)]
    for row in rows:
        cells = [str(row.seqlen)]
        for group in groups:
            entry = row.entries.get(group)
            cells.append(f"{entry.tflops:.0f} @{entry.ghz:.2f}" if entry else "")
        ratio = row.peer_ratio()
        cells += [f"{ratio[0]:.3f}", f"{ratio[1]:.3f}..{ratio[2]:.3f}", ratio[3]] if ratio else ["", "", ""]
        body.append(cells + share_cells(row, known))
    shares = ["admissible", *(f"{group}: visited, TFLOP/s of it" for group in known)] if known else []
    return markdown_table(["seqlen", *groups, "ratio", "range", "to", *shares], body)


def share_cells(row, groups):
    """The admissible share of the pairs; the share that each group multiplies, and its speed."""
    entries = [row.entries.get(group) for group in groups]
    cells = [f"{entry.visited:.3f}, {entry.tflops_visited:.0f}" if entry and entry.visited is not None else "" for entry in entries]
    return [f"{row.admissible:.3f}" if row.admissible is not None else "", *cells] if groups else []


def family_plot(family, rows):
    """What plot.bar_chart() takes."""
    series = {g: [row.entries[g].tflops if g in row.entries else None for row in rows] for g in contenders_of(rows)}
    return results.describe_family(family), [row.seqlen for row in rows], series


def gaps(rows):
    """What gave no result, and why."""
    lines = results.describe_gaps(rows)
    return "\n## No result\n\n" + "".join(f"- {line}\n" for line in lines) if lines else ""


def by_family(rows):
    families = {}
    for row in rows:
        families.setdefault(row.family, []).append(row)
    return {family: sorted(there, key=lambda row: row.seqlen) for family, there in families.items()}


def file_name(family):
    return results.describe_family(family).replace(" ", "_").replace("/", "x").replace("+", "_") + ".svg"


def grid_sections(families, folder):
    """Returns the text and {file: arguments of plot.bar_chart()}."""
    text, plots = "", {}
    for family, rows in families.items():
        plots[file_name(family)] = family_plot(family, rows)
        text += f"\n## {results.describe_family(family)}\n\n![]({folder}/{file_name(family)})\n\n{family_table(rows)}"
    return text, plots


def legend(names):
    """The changes of those variants that the file of ablations has."""
    body = []
    for row in make_ablations.read_ablations():
        change = ", ".join(f"`{key}` {json.dumps(value).strip(chr(34))}" for key, value in row["change"].items())
        if row["name"] in names:
            body.append([row["name"], row["what"], change])
    return "\n" + markdown_table(["variant", "what is changed", "[parameters](tuning.md#spaces)"], body) if body else ""


def variant_cell(row, name, score):
    """A ratio, with the number of its rounds if other variants had more."""
    rounds = row.rounds_short(name)
    return f"{score:.3f}" + (f" ({rounds})" if rounds else "")


def ablation_section(rows, base, note="", same=None):
    what = f"as a ratio to `{base}`" if base else "as a ratio to the fastest variant at each length"
    text = ABLATION_HEAD.format(what=what, note=note and f" {note}") + (SAME_HEAD if same else "")
    text += ROUNDS_HEAD if any(row.rounds_short(group) for row in rows for group in row.entries) else ""
    text += legend({group for row in rows for group in row.groups})
    for family, there in by_family(rows).items():
        scores = results.score_variants(there, base)
        if not scores:
            raise ValueError(f"no result of the base '{base}' at {results.describe_family(family)}")
        body = []
        for name in results.rank_variants(scores):
            cells = [variant_cell(row, name, scores[name][row.seqlen]) if row.seqlen in scores[name] else "" for row in there]
            body.append([name, *cells, f"{results.geometric_mean(scores[name].values()):.3f}"])
        head = ["variant", *(str(row.seqlen) for row in there), "mean"]
        text += f"\n### {results.describe_family(family)}\n\n" + markdown_table(head, body)
    return text


def limits_section(families, counts, gpu):
    """The section on attn's limits, for families with counted instructions and measured clocks."""
    text = LIMITS_HEAD.format(flops=limits.TENSOR_FLOPS, exps=limits.EXPONENTIALS)
    for family, rows in families.items():
        kernels, body = counts.get(results.describe_family(family)), []
        for row in [row for row in rows if kernels and "attn" in row.entries and row.entries["attn"].ghz]:
            _, dtype, case, d, dv = family
            entry = row.entries["attn"]
            busy = limits.shares(points.Point(case, d, row.seqlen, dv, dtype), kernels, gpu, entry.tflops, entry.ghz)
            body.append([str(row.seqlen), *(f"{busy[unit]:.2f}" for unit in limits.UNITS), limits.binding(busy) or "none"])
        if body:
            text += f"\n### {results.describe_family(family)}\n\n" + markdown_table(["seqlen", *limits.UNITS, "binds"], body)
    return text


def head_of(rows):
    """What a page measures, and how."""
    ops = {row.family[0] for row in rows} or {"fwd"}
    title = "Performance" if "fwd" in ops else "Performance of backward passes"
    return HEAD.format(title=title, passes=" and of the ".join(text for op, text in PASSES.items() if op in ops)) + (BACKWARD_HEAD if ops - {"fwd"} else "")


def make_page(paths, ablations, base, folder, counts=None, note="", same=None):
    """Returns the page and {file: arguments of plot.bar_chart()}."""
    rows = results.merge([results.read_run(path) for path in sorted(paths)]) if paths else []
    page, plots = head_of(rows), {}
    page += "\n" + describe_runs(sorted(paths + ablations))
    if paths:
        families = by_family(rows)
        sections, plots = grid_sections(families, folder)
        page += "\n" + summarize_families(families) + sections
        if counts:
            page += limits_section(families, counts, read_lines(paths[0])[0]["gpu"])
    if ablations:
        runs = [results.read_run(path) for path in sorted(ablations)]
        variants = results.merge([results.leave_out(run, lambda *place: kernels.is_same(same or {}, *place)) for run in runs])
        page += ablation_section(variants, base, note, same)
        rows = rows + variants
    return page + gaps(rows), plots


def charts_of(page):
    """{file: arguments of plot.bar_chart()} of an existing page, read from its tables, whose numbers are rounded to
    integers."""
    charts = {}
    for title, file, table in re.findall(r"^## (.*?)\n\n!\[\]\(\S*/(\S+)\)\n\n((?:\|.*\n)+)", page, re.M):
        head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
        groups = head[1:head.index("ratio")]
        series = {group: [float(row[n].split("@")[0]) if row[n] else None for row in rows] for n, group in enumerate(groups, 1)}
        charts[file] = title, [row[0] for row in rows], series
    return charts


def write_charts(charts, folder):
    import plot  # which needs matplotlib
    os.makedirs(folder, exist_ok=True)
    for name, chart in charts.items():
        plot.save(plot.bar_chart(*chart), os.path.join(folder, name))


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="*", help="files of results, one a run")
    parser.add_argument("--ablation", nargs="+", default=[], metavar="FILE", help="results of attention.py --matrix, one a run")
    parser.add_argument("--base", help="the variant that the others of --ablation are held against")
    parser.add_argument("--note", default="", help="a sentence on the runs of --ablation")
    parser.add_argument("--same", metavar="FILE", help="what make_ablations.py found to be the kernel of the table: left out of --ablation")
    parser.add_argument("--loops", metavar="FILE", help="what count_instructions.py counted in the kernels of the results")
    parser.add_argument("--out", default=".", help="folder for NAME.md and NAME/*.svg")
    parser.add_argument("--name", default="performance", help="of the page")
    parser.add_argument("--redraw", metavar="PAGE", help="draw the plots of a page anew, from its tables")
    args = parser.parse_args(argv)
    if args.redraw:
        with open(args.redraw, encoding="utf-8") as file:
            charts = charts_of(file.read())
        write_charts(charts, os.path.join(args.out, args.name))
        print(f"{len(charts)} plots written to {args.out}")
        return 0
    if not args.results and not args.ablation:
        parser.error("expected files of results")
    counts = None
    if args.loops:
        with open(args.loops, encoding="utf-8") as file:
            counts = json.load(file)
    page, plots = make_page(args.results, args.ablation, args.base, args.name, counts, args.note,
                            args.same and kernels.read_same(args.same))
    os.makedirs(args.out, exist_ok=True)
    with open(os.path.join(args.out, args.name + ".md"), "w", encoding="utf-8") as file:
        file.write(page)
    write_charts(plots, os.path.join(args.out, args.name))
    print(f"{args.name}.md and {len(plots)} plots written to {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
