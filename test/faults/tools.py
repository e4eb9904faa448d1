# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels that faults are planted in, and the tools of a build."""

import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "test", "Schedules"))
import schedule_tools

# Where faults are planted: the passes that make the IR from that of the schedule stage, and those
# that go on from it to the roles' final programs.
TO_LOOPS = ["attn-subtile", "attn-resolve-layouts", "attn-warp-specialize", "attn-hand-out",
            "attn-plan-memory"]
EXPAND = ["attn-pipeline", "attn-drop-zero-scaling", "attn-start-fresh", "attn-overlap-last-product"]
STAGES = {"plan": ([], TO_LOOPS + EXPAND),
          "emitter": (TO_LOOPS, EXPAND),
          "program": (TO_LOOPS + EXPAND, [])}
VERIFY = ["attn-verify-sync"]
LOWER = ["attn-distribute", "attn-lower-channels", "attn-lower-to-nvvm", "attn-stage-llvm"]
# The same with the reader of lowered barriers.
VERIFY_LOWERED = ["attn-distribute", "attn-lower-channels", "attn-verify-channels", "attn-lower-to-nvvm"]


def entries(path):
    """The entries of a schedule file of this tree by name, without their conditions."""
    return schedule_tools.entries(os.path.join(ROOT, path))


class Tools(schedule_tools.Tools):
    """Without an assembler; errors are kept apart from what is printed."""

    def __init__(self, build, folder):
        super().__init__(build, folder, ATTN_PTXAS="none")

    def run(self, tool, *arguments):
        return subprocess.run([os.path.join(self.build, "bin", tool), *arguments], capture_output=True, text=True,
                              timeout=300, env=self.env, errors="replace")

    def apply(self, passes, source, to=os.devnull):
        return self.run("attn-opt", source, f"--pass-pipeline=builtin.module({','.join(passes)})", "-o", to)


def check(run):
    """The result of a command that must succeed."""
    if run.returncode:
        raise SystemExit(f"{' '.join(run.args)}\n{run.stdout}{run.stderr}")
    return run


class Kernel:
    def __init__(self, description, tools):
        self.name, self.problems = description["name"], description["problems"]
        self.tools = tools
        found = entries(description["schedule"])
        self.entry = found[description["entry"]] if "entry" in description else next(iter(found.values()))
        self.ir = description["ir"]

    def write(self, stage):
        """The kernel at a stage, as a file."""
        plan, path = self.tools.path(f"{self.name}.plan.mlir"), self.tools.path(f"{self.name}.{stage}.mlir")
        check(self.tools.compile(self.ir, self.entry, "--emit=schedule", "-o", plan))
        if STAGES[stage][0]:
            check(self.tools.apply(STAGES[stage][0], plan, path))
        return path


def load_kernels(tools, names=None):
    with open(os.path.join(HERE, "kernels.json"), encoding="utf-8") as file:
        kernels = [Kernel(description, tools) for description in json.load(file)]
    return [kernel for kernel in kernels if not names or kernel.name in names]
