# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tools on schedules that tests write, in a folder of their own."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "Inputs"))
import attention_ir

ENTRY = re.compile(r"(?m)^(?=attn\.table_entry fwd)")


def entries(path):
    """The forward entries of a schedule file by name, for all launches: without conditions, and not packed."""
    with open(path, encoding="utf-8") as file:
        parts = ENTRY.split(re.sub(r"\n *when <[^>]*>| packed(?=\n)", "", file.read()))[1:]
    return {re.search(r"@(\w+)", part)[1]: part for part in parts}


class Tools:
    """The tools of a build, with `env` in their environment, and the files that they work on."""

    def __init__(self, build, folder, **env):
        self.build, self.folder, self.env = build, folder, {**os.environ, **env}
        os.makedirs(folder, exist_ok=True)

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def run(self, tool, *arguments):
        return subprocess.run([os.path.join(self.build, "bin", tool), *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True, env=self.env, timeout=300)

    def compile(self, problem, schedule, *options):
        """A problem, as options of attention_ir, with a schedule's text."""
        ir = attention_ir.write(attention_ir.parse(problem))
        return self.run("attn-compile", self.path("in.mlir", ir), "--schedule=" + self.path("schedule.mlir", schedule), *options)

    def compare_readings(self, judged, emitted):
        """Holds IR after attn-schedule, as the judge reads it, against that after attn-pipeline."""
        return self.run(os.path.join("..", "test", "readings", "compare-readings"), judged, emitted)
