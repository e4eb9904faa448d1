#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Moves the awaits of stores to other positions in schedules. Every schedule that attn-compile
then accepts has to be right on the simulator, without a hazard. In the entries of the schedule
table, an await moved too late has to be refused.

    test/Schedules/awaits.py --build build --temp /tmp/awaits"""

import argparse
import os
import re

from schedule_tools import Tools, entries

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TABLE = os.path.join(ROOT, "passes", "schedule", "data", "schedules", "sm_90a")

# Schedules whose awaits are moved about, and the mask that they are tried on: O of its own,
# from a counter, counted out and an item a CTA; O over V; a role that stores.
MOVED = [("dynamic_d128", "causal_bottom_right"), ("pv_before_qk", "none"), ("o_over_v", "causal_bottom_right"),
         ("store_warp", "causal_top_left")]
AFTER = re.compile(r"after \{ ([^}]*) \}")
AWAIT = re.compile(r"await\(st_o(?:\[\d\])?\)")


def serves(entry, mask):
    masks = re.search(r"masks \[(.*?)\]", entry, re.S)[1]
    return f'"{"window" if mask.startswith("window") else mask}"' in masks


def moves(entry):
    """(what is done, the entry after it) for each await of a store: dropped, and put at every place
    of its list, of this work item, the one before and the one before that."""
    for after in AFTER.finditer(entry):
        acts = re.findall(r"\S+(?: \+ \d+)?", after[1])
        for n, act in enumerate(acts):
            if not AWAIT.match(act):
                continue
            others, name = acts[:n] + acts[n + 1:], AWAIT.match(act)[0]
            lists = {f"{name} dropped": others}
            for shift in range(3):
                shifted = name + f" + {shift}" * (shift > 0)
                for place in range(len(others) + 1):
                    lists[f"{shifted} at {place}"] = others[:place] + [shifted] + others[place:]
            for what, changed in lists.items():
                if changed != acts:
                    yield what, entry[:after.start(1)] + " ".join(changed) + entry[after.end(1):]


def compile_entry(tools, entry, mask, *options):
    head_dim, head_dim_v = re.search(r"head_dim (\d+), (\d+)", entry).groups()
    problem = [f"--head-dim={head_dim}", f"--head-dim-v={head_dim_v}", f"--mask={mask}"]
    return tools.compile(problem + ["--bound=window_left"] * mask.startswith("window"), entry, *options)


def simulate(tools, bundle, entry):
    """The fault of a bundle, or None. CTAs run several items, some without keys."""
    head_dim = re.search(r"head_dim (\d+)", entry)[1]
    ctas = 2 if "cluster = 2" in entry else 1
    for keys in (200, 0):
        run = tools.run("attn-run", bundle, "--device=sim", "--check", "--guard", f"--sm-count={ctas}",
                        f"--q=1x300x2x{head_dim}", f"--kv=1x{keys}x1x{head_dim}")
        if run.returncode:
            return run.stdout
    return None


def move_awaits(tools):
    """Prints what is accepted and wrong; how many moves were refused, and how many were right."""
    refused = right = wrong = 0
    for name, mask in MOVED:
        entry = next(e for e in entries(os.path.join(HERE, name + ".mlir")).values() if serves(e, mask))
        for what, moved in moves(entry):
            bundle = tools.path("moved.attn")
            compiled = compile_entry(tools, moved, mask, "-o", bundle)
            if compiled.returncode:
                refused += 1
                continue
            problem = simulate(tools, bundle, moved)
            if problem:
                print(f"WRONG {name}: {what}\n{problem}")
            wrong, right = wrong + bool(problem), right + (not problem)
    print(f"{refused} moves refused, {right} right, {wrong} accepted and wrong")


def swap_table(tools):
    """Checks that the entries of the table are refused with the await after the tile is
    overwritten."""
    late, accepted = "cvt_o await(st_o) + 1", 0
    swapped = []
    for name in sorted(os.listdir(TABLE)):
        for entry in entries(os.path.join(TABLE, name)).values():
            if "await(st_o) + 1 cvt_o" in entry:
                swapped.append(entry.replace("await(st_o) + 1 cvt_o", late))
    for entry in swapped:
        mask = next(m for m in ("none", "causal_bottom_right", "causal_top_left", "window_bottom_right") if serves(entry, m))
        run = compile_entry(tools, entry, mask, "--emit=schedule", "-o", os.devnull)
        if not re.search("V[89]: expected '(st_o|cvt_o)", run.stdout):
            accepted += 1
            print(f"WRONG {re.search(r'@(.*?) ', entry)[1]}: {run.stdout or 'accepted'}")
    print(f"{len(swapped)} entries of the table with a late await, {accepted} not refused")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--temp", required=True, help="folder to write into")
    args = parser.parse_args()
    tools = Tools(args.build, args.temp, ATTN_PTXAS="none")
    move_awaits(tools)
    swap_table(tools)


if __name__ == "__main__":
    main()
