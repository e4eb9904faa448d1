# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From an entry of the schedule table back to the point of a space that it is, so that
one parameter of it can be changed."""

import re

from tune.candidate import Candidate
from tune.space import canonical

HEAD = re.compile(r'attn\.table_entry fwd @(\w+) head_dim (\d+), (\d+)\n    masks \[([^]]*)\]\n(?:    when <([^>]*)>\n)?')


class EntryError(ValueError):
    """An entry that no point of a space stands for."""


def match(pattern, text, default=None):
    found = re.search(pattern, text)
    return found[1] if found else default


def number(pattern, text, default=None):
    return int(match(pattern, text, default))


def rings_of(text):
    """Where K and V are, and how many blocks of each."""
    both = match(r"chan kv = k \| v in smem depth (\d+)", text)
    if both:
        return {"k_depth": int(both) - int(both) // 2, "v_depth": int(both) // 2, "rings": "one"}
    return {**{f"{x}_depth": number(rf"chan {x} = {x} in smem depth (\d+)", text) for x in "kv"}, "rings": "apart"}


def step_of(text):
    """How a consumer takes the products and rescales."""
    step = match(r"body wg \{\s*kv \{ ([^}]*) \}", text, "")
    overlap = "qk_first" if step.startswith("get(k)") else "pv_first" if step.startswith("get(v)") else "none"
    return {"overlap": overlap, "rescale": "before_pv" if "rescale + 1" in step else "after_pv"}


def point_of(text):
    """What an entry's text says of each parameter."""
    over = match(r"hold oe = oe in smem over (\w)", text)
    return canonical({
        "consumers": number(r"role wg\[(\d+)\]", text, 1), "tile_n": number(r"tile_n = (\d+)", text),
        "load_registers": number(r"role load warps 1 regs (\d+)", text), "loaders": 2 if "role load_v" in text else 1,
        **rings_of(text), "q_depth": number(r"chan q = q in smem depth (\d+)", text),
        "stage_o": f"over_{over}" if over else "own", "stage_p": match(r"hold p = p in (\w+)", text),
        "cluster": number(r"cluster = (\d+)", text, 1), "pack_gqa": number(r"pack_gqa = (\d+)", text, 1),
        "work": match(r"work = (\w+)", text), "work_depth": number(r"chan work = w in smem depth (\d+)", text, 2),
        "last_wave_parts": number(r"last_wave_parts = (\d+)", text, 1), "order": match(r"order = (\w+)", text, "linear"),
        "section_mib": number(r"section_mib = (\d+)", text, 0), "launch": match(r"knob launch (\w+)", text, "alone"), **step_of(text),
        "row_max": match(r"row_max = (\w+)", text, "running"), "rescale_threshold": number(r"rescale_threshold = (\d+)", text, 0),
        "exp2_soft": match(r"knob exp2_soft (\d+ of \d+)", text).replace(" of ", "/"),
        "exp2_degree": number(r"exp2_degree = (\d+)", text, 3), "peel": match(r"knob peel (\w+)", text),
        "skip": match(r"knob skip (\w+)", text, "none"), "turn": "turn tc" in text})


class Entry:
    """An entry of the table, read from its text."""

    def __init__(self, text, target, chip):
        found = HEAD.match(text)
        if not found:
            raise EntryError(f"expected an entry of the table, got '{text[:60]}'")
        self.symbol, self.head_dims, self.condition = found[1], (int(found[2]), int(found[3])), found[5]
        self.masks = re.findall(r'"(\w+)"', found[4])
        self.target, self.chip = target, chip
        self.point = point_of(text)
        if self.changed({}) != text:
            raise EntryError(f"expected '{self.symbol}' to be as attn-tune writes entries")

    def changed(self, parameters, conditional=True):
        """The text with other values of some parameters."""
        point = canonical({**self.point, **parameters})
        registers = self.chip.share(point["consumers"], point["load_registers"])
        if not registers:
            raise EntryError(f"expected a machine with registers for {point['consumers']} consumers, got {self.target}")
        condition = self.condition if conditional else None
        return Candidate(point, self.head_dims, self.target, registers).entry(self.symbol, self.masks, condition)


def read_all(text, target, chip):
    """The entries of a file of the table."""
    parts = re.split(r"^(?=attn\.table_entry)", text, flags=re.M)[1:]
    return [Entry(part.rstrip() + "\n", target, chip) for part in parts]
