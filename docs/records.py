# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The definitions in .td files, as TableGen reads them."""

import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def tablegen(tool, *arguments, definitions, root=ROOT):
    """The output of a TableGen tool for a file of a tree's include/attn."""
    prefix = subprocess.run(["llvm-config-22", "--prefix"], stdout=subprocess.PIPE, check=True,
                            universal_newlines=True).stdout.strip()
    done = subprocess.run([f"{prefix}/bin/{tool}", *arguments, "-I", f"{root}/include", "-I", f"{prefix}/include",
                           f"{root}/include/attn/{definitions}"], stdout=subprocess.PIPE, universal_newlines=True)
    if done.returncode:
        sys.exit(f"docs: {tool} refuses include/attn/{definitions}")
    return done.stdout


def read_records(definitions):
    """Returns a function from the name of a class to its records, as dictionaries."""
    records = json.loads(tablegen("llvm-tblgen", "--dump-json", definitions=definitions))
    return lambda kind: [records[name] for name in records["!instanceof"][kind]]


def number(bits):
    """A field of bits."""
    return sum(bit << place for place, bit in enumerate(bits))


def math_functions():
    """The records of functions of a float, by name."""
    return sorted(read_records("dialect/ScoreOps.td")("Attn_Function"), key=lambda record: record["word"])
