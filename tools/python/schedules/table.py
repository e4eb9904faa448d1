# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler's schedule table: its files, and the entries in them. What a problem is
compiled from are the entries that name its mask, each for some lengths; where there are
none, the last one of its head dims, which serves all masks."""

import glob
import os
import re

from schedules.entry import Entry, EntryError
from schedules.machine import ROOT

FOLDER = os.path.join(ROOT, "passes", "schedule", "data", "schedules")
# Where the rungs above the first are.
RUNGS = os.path.join(ROOT, "passes", "schedule", "data", "rungs")


def paths(d=None, dv=None):
    """The files of the table's first rung, or those of a pair of head dims: one by hand,
    and those that attn-tune wrote."""
    found = sorted(glob.glob(os.path.join(FOLDER, "*", "*.mlir")))
    if d:
        stem = f"fwd_d{d}" + ("" if d == dv else f"_dv{dv}")
        found = [path for path in found if re.fullmatch(stem + r"(_none|_causal)*\.mlir", os.path.basename(path))]
    return found


def rung_paths():
    """The files of the other rungs."""
    return sorted(glob.glob(os.path.join(RUNGS, "*", "*.mlir")))


def split(text, path):
    """The entries of a file's text."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if not line.startswith("//")]
    starts = [at for at, (_, line) in enumerate(lines) if line.startswith("attn.table_entry")]
    before = lines[:starts[0] if starts else len(lines)]
    for number, line in before:
        if line.strip():
            raise EntryError(f"{path}:{number}: expected 'attn.table_entry', got '{line[:60]}'")
    if not starts:
        raise EntryError(f"{path}:1: expected 'attn.table_entry', got none")
    return [Entry(path, lines[first:last]) for first, last in zip(starts, [*starts[1:], len(lines)])]


def read(path):
    with open(path, encoding="utf-8") as file:
        return split(file.read(), path)


def serving(d, dv, mask):
    """The entries that a problem without windows and regions is compiled from."""
    entries = [entry for path in paths(d, dv) for entry in read(path) if mask in entry.masks]
    return [entry for entry in entries if "window" not in entry.masks] or entries[-1:]
