#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the trace of an instrumented kernel against the work of its roles, and prints a summary.

usage: stamps_check.py TRACE.json"""

import json
import sys

STRUCTURE = ("run", "item")


def check_nesting(events):
    """Spans of a thread nest: each ends before those that it is in."""
    open_ends = []
    for event in sorted((e for e in events if e["ph"] == "X"), key=lambda e: (e["ts"], e["args"]["order"])):
        while open_ends and open_ends[-1] <= event["ts"]:
            open_ends.pop()
        end = event["ts"] + event["dur"]
        assert not open_ends or end <= open_ends[-1], event
        open_ends.append(end)


def check_order(cta, threads):
    """A wait for a copy does not end before the copy was issued."""
    issued, waited = {}, {}
    for event in sorted(cta, key=lambda e: e["ts"]):
        kind, _, what = event["name"].partition(" ")
        if event["ph"] == "X" and kind == "copy":
            issued.setdefault(what, []).append(event["ts"])
        elif event["ph"] == "X" and kind == "wait":
            waited.setdefault((threads[event["tid"]], what), []).append(event["ts"] + event["dur"])
    for (_, what), ends in waited.items():
        for begin, end in zip(issued.get(what, []), ends):
            assert begin <= end, (what, begin, end)


def names(items):
    return ", ".join(sorted(set(items)))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file)
    other = trace["otherData"]
    events = trace["traceEvents"]
    ctas = sorted({e["pid"] for e in events})
    threads = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name" and e["pid"] == 0}
    timed = [e for e in events if e["ph"] in "Xb"]
    for pid in ctas:
        cta = [e for e in timed if e["pid"] == pid]
        check_order(cta, threads)
        for tid in threads:
            check_nesting([e for e in cta if e["tid"] == tid])
    print(f"{len(ctas)} CTAs of {other['kernel']}, unit {other['unit']}, {other['stamps not kept']} stamps not kept")
    for tid, name in threads.items():
        if name not in ("copies", "matrix ops"):
            did = names(e["name"] for e in timed if e["tid"] == tid and e["cat"] not in STRUCTURE)
            print(f"{name}: {did}")
    asynchronous = [e for e in timed if e["ph"] == "b"]
    print(f"copies of {names(e['name'] for e in asynchronous if e['cat'] == 'load')}; "
          f"matrix ops of {names(e['name'] for e in asynchronous if e['cat'] == 'mma')}")


if __name__ == "__main__":
    main()
