# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds out whether a kernel with a fault is right: on the simulator, on small problems."""

import hashlib
import json
import os
import re

# Warp instructions after which a CTA hangs; the problems need some ten thousand.
BUDGET = "--budget=2000000"
SEEDS = "--seeds=3"


def read_result(run):
    """"clean", or the kind of failure and its first line."""
    text = run.stdout + run.stderr
    if run.returncode == 0:
        return "clean", ""
    if run.returncode < 0:
        return "crash", f"signal {-run.returncode}"
    failed = re.search(r"^(launch|seeds|check|guard): FAILED: (.*)$", text, re.M)
    if not failed:
        return "error", text.strip().splitlines()[-1] if text.strip() else "no output"
    if failed[1] in ("check", "guard"):
        return "wrong result", failed[0]
    rule = re.search(r"\[([a-z]+(?:[.-][a-z]+)+)\]", text)
    kind = rule[1] if rule else failed[1]
    return ("deadlock" if kind.startswith("progress.") else f"hazard {kind}"), failed[2]


class Truth:
    """Verdicts of the simulator, kept in a file by a hash of the lowered kernel and the problem."""

    def __init__(self, tools):
        self.tools, self.known = tools, {}
        self.file = tools.path("truth.jsonl")
        if os.path.exists(self.file):
            with open(self.file, encoding="utf-8") as file:
                self.known = {v["key"]: (v["truth"], v["report"]) for v in map(json.loads, file)}

    def of(self, lowered, problems):
        """The first verdict on a kernel of the llvm stage that is not "clean", and the report."""
        with open(lowered, "rb") as file:
            text = file.read()
        # The shape that shows a fault, if any does, is not always the first.
        keys = {problem: hashlib.sha256(f"{problem} {SEEDS}".encode() + text).hexdigest()[:24] for problem in problems}
        found = [self.known[key] for key in keys.values() if key in self.known]
        bad = [verdict for verdict in found if verdict[0] != "clean"]
        if bad or len(found) == len(problems):
            return bad[0] if bad else ("clean", "")
        bundle = self.tools.path("fault.attn")
        compiled = self.tools.run("attn-compile", lowered, "-o", bundle)
        if compiled.returncode:
            return "no program", compiled.stderr.strip().splitlines()[0]
        for problem, key in keys.items():
            if key not in self.known:
                self.keep(key, *self.simulate(bundle, problem))
            if self.known[key][0] != "clean":
                return self.known[key]
        return "clean", ""

    def simulate(self, bundle, problem):
        return read_result(self.tools.run("attn-run", bundle, "--device=sim", "--check", "--guard", SEEDS, BUDGET,
                                          *problem.split()))

    def keep(self, key, truth, report):
        self.known[key] = (truth, report)
        with open(self.file, "a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "truth": truth, "report": report}) + "\n")
