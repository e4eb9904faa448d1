#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds made up measurements to a log of attn-tune: of the candidates that compiled,
in the order of the log, each is a tenth faster than the one before."""

import json
import sys

SHAPES = ("16x1024x32", "1x16384x32")
SETTINGS = {"rounds": 3, "slice_ms": 80.0, "drop": 0.9, "seed": 0}
ENVIRONMENT = {"gpu": "a made up GPU", "driver": "1.2", "power_limit": "700.00 W", "attn": "0.1.0"}


def time_record(build, shape, ms):
    return {"record": "time", "candidate": build["candidate"], "problem": build["problem"], "shape": shape, "session": 0,
            "ms": ms, "min_ms": ms * 0.99, "max_ms": ms * 1.01, "rounds": 3, "tflops": 600 / ms, "ghz": 1.5, "ok": True, "note": ""}


def made_up(records):
    """The records to add."""
    yield {"record": "session", "time": "2026-01-02T03:04:05Z", "settings": SETTINGS, "environment": ENVIRONMENT}
    place = {}
    for build in records:
        if build["record"] == "build" and build["ok"]:
            place[build["problem"]] = place.get(build["problem"], -1) + 1
            for shape in SHAPES:
                yield time_record(build, shape, 0.9 ** place[build["problem"]])


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        known = [json.loads(line) for line in file]
    with open(sys.argv[1], "a", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in made_up(known))
