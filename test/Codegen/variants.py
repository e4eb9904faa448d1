#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the variants of the launch plan in the IR on standard input."""

import json
import re
import sys

text, *_ = re.findall(r'attn\.plan = "([^"]*)"', sys.stdin.read())
plan = json.loads(re.sub(r"\\(\\|[0-9A-F]{2})", lambda code: "\\" if code[1] == "\\" else chr(int(code[1], 16)), text))
print(f"{plan['name']}: {len(plan['variants'])} variants of {len(plan['args'])} args")
for variant in plan["variants"]:
    launch = variant["launches"][0]
    print(launch["kernel"], re.findall('"[^"]*"', variant["schedule"])[0], "when", json.dumps(variant["when"]),
          f"({json.dumps(variant['report']['when']) if 'when' in variant['report'] else None}), smem {launch['smem']}")
blocks = [check["expr"][1][1][2] for check in plan["checks"] if "row blocks" in check["message"]]
print("checks of row blocks:", blocks)
