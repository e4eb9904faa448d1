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
    failed = re.search(r"^(launch|check|guard): FAILED: (.*)$", text, re.M)
    if not failed:
        return "error", text.strip().splitlines()[-1] if text.strip() else "no output"
    if failed[1] != "launch":
        return "wrong result", failed[0]
    rule = re.search(r"\[([a-z]+(?:[.-][a-z]+)+)\]", text)
    kind = rule[1] if rule else "launch"
    return ("deadlock" if kind.startswith("progress.") else f"hazard {kind}"), failed[2]


class Truth:
    """Verdicts of the simulator, kept in a file by the hash of the lowered kernel and its problems."""

    def __init__(self, tools):
        self.tools, self.known = tools, {}
        self.file = tools.path("truth.jsonl")
        if os.path.exists(self.file):
            with open(self.file, encoding="utf-8") as file:
                for line in file:
                    if line.endswith("}\n"):
                        verdict = json.loads(line)
                        self.known[verdict["key"]] = (verdict["truth"], verdict["detail"])

    def of(self, lowered, problems):
        """The verdict on a kernel of the llvm stage."""
        digest = hashlib.sha256("\n".join([*problems, SEEDS]).encode())
        with open(lowered, "rb") as file:
            digest.update(file.read())
        key = digest.hexdigest()[:24]
        if key not in self.known:
            truth, detail = self.known[key] = self.simulate(lowered, problems)
            with open(self.file, "a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "truth": truth, "detail": detail}) + "\n")
        return self.known[key]

    def simulate(self, lowered, problems):
        bundle = self.tools.path("fault.attn")
        compiled = self.tools.run("attn-compile", lowered, "-o", bundle)
        if compiled.returncode:
            return "no program", compiled.stderr.strip().splitlines()[0]
        for problem in problems:
            verdict = read_result(self.tools.run("attn-run", bundle, "--device=sim", "--check", "--guard", SEEDS,
                                                 BUDGET, *problem.split()))
            if verdict[0] != "clean":
                return verdict
        return "clean", ""
