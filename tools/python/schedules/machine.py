# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The register file of a machine, and how the roles of a kernel share it."""

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FOLDER = os.path.join(ROOT, "passes", "schedule", "data", "machines")


class Machine:
    """What the file of a machine says of warps and registers."""

    def __init__(self, text):
        registers, warps = (self.numbers(text, key) for key in ("registers", "warps"))
        self.total, self.lowest, self.highest = registers["total"], registers["lowest"], registers["highest"]
        self.granule = registers["granule"]
        self.group_threads = warps["lanes"] * warps["group"]

    @staticmethod
    def numbers(text, key):
        found = re.search(rf"^\s*{key} <([^>]*)>", text, re.M)
        if not found:
            raise ValueError(f"expected a machine with '{key} <...>', got none")
        return {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", found[1])}

    def round_down(self, registers):
        return registers // self.granule * self.granule

    def share(self, consumers, least):
        """Registers a thread of (the loader, each of the consumer warpgroups):
        consumers have as many as leave the loader `least`; it has the rest. None
        where that cannot be. A warp alone takes the registers of a whole group,
        and all that is shared out is what the CTA is launched with."""
        groups = consumers + 1
        # A thread is launched with fewer than the highest count it can be given later.
        launched = self.round_down(min(self.total // (groups * self.group_threads), self.highest - 1))
        budget = groups * launched
        each = min(self.round_down((budget - least) // consumers), self.highest)
        loader = min(budget - consumers * each, self.highest)
        return (loader, each) if self.lowest <= min(each, least) else None


def load(target):
    path = os.path.join(FOLDER, target + ".mlir")
    if not os.path.exists(path):
        known = sorted(name.removesuffix(".mlir") for name in os.listdir(FOLDER))
        raise ValueError(f"expected a machine of {', '.join(known)}, got '{target}'")
    with open(path, encoding="utf-8") as file:
        return Machine(file.read())
