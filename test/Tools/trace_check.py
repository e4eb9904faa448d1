#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the format of a trace of attn-run, and prints a summary.

usage: trace_check.py TRACE.json"""

import json
import sys


def check_nesting(events):
    """Spans of a thread nest: each ends before those that it is in."""
    open_ends = []
    for event in sorted((e for e in events if e["ph"] == "X"), key=lambda e: (e["ts"], -e["dur"])):
        while open_ends and open_ends[-1] <= event["ts"]:
            open_ends.pop()
        end = event["ts"] + event["dur"]
        assert not open_ends or end <= open_ends[-1], event
        open_ends.append(end)


def names(events):
    return ", ".join(sorted(set(events)))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file)
    events = trace["traceEvents"]
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    ctas = {e["pid"] for e in events if e["name"] == "process_name"}
    assert "not a measurement" in trace["otherData"]["source"]
    for key in threads:
        check_nesting([e for e in events if (e["pid"], e["tid"]) == key])
    begun = sorted(e["id"] for e in events if e["ph"] == "b")
    assert begun == sorted(e["id"] for e in events if e["ph"] == "e") == sorted(set(begun))

    def of(kind):
        return [e for e in events if e.get("cat") == kind and e["ph"] == "b"]

    def issuers(kind):
        return names(threads[e["pid"], int(e["args"]["warp"])].split(",")[0] for e in of(kind))

    print(f"{len(ctas)} CTAs of {trace['otherData']['kernel']}, unit {trace['otherData']['unit']}")
    print(f"loads of {names(e['name'] for e in of('load'))} by {issuers('load')}, "
          f"stores to {names(e['name'] for e in of('store'))} by {issuers('store')}")
    print(f"mma of {names(e['name'] for e in of('mma'))} with {names(e['args']['with'] for e in of('mma'))}")
    main = [e["args"]["name"] for e in events if e["name"] == "thread_name" and e["pid"] == 0 and e["args"].get("main", True)]
    print(f"main rows: {', '.join(main)}")


if __name__ == "__main__":
    main()
