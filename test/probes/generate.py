#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the probes: a small kernel for each form of each instruction that the
simulator executes, assembled where there is a ptxas, the tables of inputs, and
manifest.json, which says how to run each probe and what may differ.

usage: generate.py [--no-cubin] [--only REGEX] OUTDIR
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys

import inputs
import kernel
import matrix
import memory
import scalar
import sync
import tensor
import warp

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import hardware  # test/hardware.py

ROWS = {1: 1536, 2: 1536, 3: 2048, 4: 2048}
THREADS = 128


def name_of(text):
    """A file name from the instruction's text."""
    text = re.sub(r"^\.reg[^;]*;", "", text)
    words = re.sub(r"%p\d|\{\w+\}|[,;|!]", " ", text).split()
    return re.sub(r"[^\w.+-]", "_", "+".join(words))


def scalar_probes():
    for family in scalar.FAMILIES:
        for opcode, text, operands, result, rule in family():
            ptx, in_row, out_row = kernel.elementwise(text, operands, result)
            yield {"name": name_of(text), "family": family.__name__, "opcode": opcode,
                   "form": text, "operands": operands, "in_row": in_row, "out_row": out_row,
                   "result": result, "threads": THREADS, "rule": rule, "ptx": ptx}


def all_probes():
    yield from scalar_probes()
    for module in (warp, memory, sync, matrix, tensor):
        yield from module.probes()


class Tables:
    """The inputs, each written once."""

    def __init__(self, folder):
        self.folder = folder
        self.files = {}

    def add(self, probe):
        operands = probe["operands"]
        count = probe.pop("row_count", None) or ROWS[len(operands.split())]
        key = "%d rows of %s" % (count, operands)
        if key not in self.files:
            name = re.sub(r"\W+", "_", operands) + "_" + hashlib.sha256(
                key.encode()).hexdigest()[:6] + ".in"
            data = inputs.table(operands, count)
            with open(os.path.join(self.folder, name), "wb") as out:
                out.write(data)
            self.files[key] = (name, len(data))
        name, size = self.files[key]
        probe["input"] = name
        probe["rows"] = size // probe["in_row"]


def assemble(ptxas, path):
    cubin = path[:-len(".ptx")] + ".cubin"
    done = subprocess.run([ptxas, "-arch=sm_90a", path, "-o", cubin], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)
    return done.stdout if done.returncode else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", metavar="OUTDIR")
    parser.add_argument("--no-cubin", action="store_true", help="write PTX only")
    parser.add_argument("--only", default="", help="probes whose name this matches")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    tables = Tables(options.folder)
    probes = []
    for probe in all_probes():
        if not re.search(options.only, probe["name"]):
            continue
        with open(os.path.join(options.folder, probe["name"] + ".ptx"), "w") as out:
            out.write(probe.pop("ptx"))
        tables.add(probe)
        probes.append(probe)
    names = [probe["name"] for probe in probes]
    assert len(set(names)) == len(names), "two probes of one name"
    failed = []
    if not options.no_cubin:
        ptxas = hardware.ptxas() or sys.exit("no ptxas found")
        paths = [os.path.join(options.folder, name + ".ptx") for name in names]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, problem in zip(names, pool.map(lambda path: assemble(ptxas, path), paths)):
                if problem:
                    failed.append(name)
                    print("%s: %s" % (name, problem.strip()), file=sys.stderr)
    with open(os.path.join(options.folder, "manifest.json"), "w") as out:
        json.dump({"probes": [probe for probe in probes if probe["name"] not in failed]}, out,
                  indent=1, sort_keys=True)
        out.write("\n")
    print("%d probes, %d that ptxas refused" % (len(probes), len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
