#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds a trace and a picture of attn-run to their formats and says what they
show.

usage: trace_check.py TRACE.json PICTURE.svg"""

import json
import sys
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"


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
    print(f"mma of {names(e['name'] for e in of('mma'))}")
    texts = xml.etree.ElementTree.parse(sys.argv[2]).getroot().iter(SVG + "text")
    rows = [t.text for t in texts if t.get("x") == "8.0" and t.text in threads.values()]
    print(f"rows of the picture: {', '.join(rows)}")


if __name__ == "__main__":
    main()
