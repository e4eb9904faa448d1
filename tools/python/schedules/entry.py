# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An entry of the schedule table, read from its text: what its head says, and the point
that it stands for, so that one parameter of it can be changed."""

import functools
import itertools
import re

from schedules import machine
from schedules.parameters import PARAMETERS, Numbers, canonical
from schedules.schedule import MASKS, Schedule

HEAD = re.compile(r'attn\.table_entry fwd @(\w+) head_dim (\d{1,9}), (\d{1,9})\n    masks \["(\w+(?:", "\w+)*)"\]\n'
                  r"(?:    when <([^>]*)>\n)?    config <")
HEAD_DIM = Numbers(8, 256, 8)
KNOWN_MASKS = MASKS + ("gathers",)
KINDS = {"NUMBER": r"(\d{1,9})", "WORD": r"(\w+)", "SHARE": r"(\d{1,9} of \d{1,9})"}
# How an entry spells a parameter, and what it is where the entry does not have it.
NEEDED = object()
SPELLINGS = {
    "consumers": ("role wg[NUMBER]", 1),
    "tile_n": ("tile_n = NUMBER", NEEDED),
    "load_registers": ("role load warps 1 regs NUMBER", NEEDED),
    "q_depth": ("chan q = q in smem depth NUMBER", NEEDED),
    "stage_o": ("hold oe = oe in smem over WORD", "own"),
    "stage_p": ("hold p = p in WORD", NEEDED),
    "cluster": ("cluster = NUMBER", 1),
    "pack_gqa": ("pack_gqa = NUMBER", 1),
    "work": (", work = WORD", NEEDED),
    "work_depth": ("chan work = w in smem depth NUMBER", PARAMETERS["work_depth"].default),
    "last_wave_parts": ("last_wave_parts = NUMBER", 1),
    "order": ("order = WORD", "linear"),
    "section_mib": ("section_mib = NUMBER", 0),
    "launch": ("knob launch WORD", "alone"),
    "row_max": ("row_max = WORD", "running"),
    "rescale_threshold": ("rescale_threshold = NUMBER", 0),
    "exp2_soft": ("knob exp2_soft SHARE", NEEDED),
    "exp2_degree": ("exp2_degree = NUMBER", 3),
    "peel": ("knob peel WORD", NEEDED),
    "skip": ("knob skip WORD", "none"),
}


class EntryError(ValueError):
    """An entry that is not as attn-tune writes them: file and line, what is expected,
    what it has."""


def search(spelling, text):
    """The match of a spelling, with what stands for NUMBER, WORD or SHARE in it."""
    pattern = re.escape(spelling)
    for kind, stands_for in KINDS.items():
        pattern = pattern.replace(kind, stands_for)
    return re.search(pattern, text)


class Entry:
    """An entry, of lines as (number in the file, text). What its head says is known at
    once; `point` and `changed` refuse what no point stands for."""

    def __init__(self, path, lines):
        self.path, self.numbers = path, [number for number, _ in lines]
        self.text = "\n".join(line for _, line in lines).rstrip() + "\n"
        found = HEAD.match(self.text)
        if not found:
            raise self.error(0, "an entry 'attn.table_entry fwd @NAME head_dim NUMBER, NUMBER' with lines 'masks [...]' and 'config <...>'",
                             f"'{self.text[:60].rstrip()}'")
        self.symbol, self.head_dims, self.condition = found[1], (int(found[2]), int(found[3])), found[5]
        self.masks = found[4].split('", "')
        for dim in self.head_dims:
            if not HEAD_DIM.allows(dim):
                raise self.error(0, f"head dims that are each {HEAD_DIM}", dim)
        for mask in self.masks:
            if mask not in KNOWN_MASKS:
                raise self.error(found.start(4), f"masks of {', '.join(KNOWN_MASKS)}", f"'{mask}'")

    def error(self, offset, wanted, got):
        """What is wrong at an offset of the text."""
        line = self.numbers[min(self.text.count("\n", 0, offset), len(self.numbers) - 1)]
        return EntryError(f"{self.path}:{line}: expected {wanted}, got {got}")

    @property
    def unconditional(self):
        """The text as that of an entry for every length."""
        return self.text.replace(f"    when <{self.condition}>\n", "", 1)

    def find(self, spelling, absent=NEEDED):
        """What the text has for a spelling."""
        found = search(spelling, self.text)
        if found:
            return int(found[1]) if "NUMBER" in spelling else found[1]
        if absent is NEEDED:
            raise self.error(0, f"'{spelling}' in '{self.symbol}'", "none")
        return absent

    @functools.cached_property
    def target(self):
        return self.find('machine "WORD"')

    @property
    def rung(self):
        return self.find("rung = NUMBER", 0)

    @functools.cached_property
    def chip(self):
        target = self.target
        try:
            return machine.load(target)
        except ValueError as error:
            raise EntryError(f"{self.path}:{self.numbers[0]}: {error}") from error

    def rings(self):
        """Where K and V are, and how many blocks of each."""
        both = self.find("chan kv = k | v in smem depth NUMBER", None)
        if both is not None:
            return {"k_depth": both - both // 2, "v_depth": both // 2, "rings": "one"}
        return {**{f"{x}_depth": self.find(f"chan {x} = {x} in smem depth NUMBER") for x in "kv"}, "rings": "apart"}

    def step(self):
        """How a consumer takes the products and rescales."""
        found = re.search(r"body wg \{\s*kv \{ ([^}]*) \}", self.text)
        step = found[1] if found else ""
        overlap = "qk_first" if step.startswith("get(k)") else "pv_first" if step.startswith("get(v)") else "none"
        return {"overlap": overlap, "rescale": "before_pv" if "rescale + 1" in step else "after_pv"}

    @functools.cached_property
    def point(self):
        """What the text says of each parameter."""
        point = {name: self.find(*spelling) for name, spelling in SPELLINGS.items()}
        point.update(self.rings(), **self.step(), turn="turn tc" in self.text, loaders=2 if "role load_v" in self.text else 1,
                     storer="warp" if "role store" in self.text else "consumers")
        point["stage_o"] = "own" if point["stage_o"] == "own" else "over_" + point["stage_o"]
        point["exp2_soft"] = point["exp2_soft"].replace(" of ", "/")
        for name, parameter in PARAMETERS.items():
            if not parameter.domain.allows(point[name]):
                found = name in SPELLINGS and search(SPELLINGS[name][0], self.text)
                raise self.error(found.start() if found else 0, f"'{name}' to be {parameter.domain}", point[name])
        point = canonical({name: point[name] for name in PARAMETERS})
        self.compare(self.written(point, self.condition))
        return point

    def compare(self, written):
        """Raises an error at the first line that is not as the point has it."""
        offset = 0
        for has, wanted in itertools.zip_longest(self.text.split("\n"), written.split("\n"), fillvalue=""):
            if has != wanted:
                what = f"'{wanted.strip()}'" if wanted else "the end"
                raise self.error(offset, f"{what}, as attn-tune writes '{self.symbol}'", f"'{has.strip()}'")
            offset += len(has) + 1

    def written(self, point, condition):
        """The text for a point."""
        registers = self.chip.share(point["consumers"], point["load_registers"])
        if not registers:
            raise self.error(0, f"a machine with registers for {point['consumers']} consumers", self.target)
        return Schedule(point, self.head_dims, self.target, registers, self.rung).entry(self.symbol, self.masks, condition)

    def changed(self, parameters, conditional=True):
        """The text with other values of some parameters."""
        for name, value in parameters.items():
            if name not in PARAMETERS:
                raise ValueError(f"expected a parameter of {', '.join(PARAMETERS)}, got '{name}'")
            if not PARAMETERS[name].domain.allows(value):
                raise ValueError(f"expected '{name}' to be {PARAMETERS[name].domain}, got {value}")
        return self.written(canonical({**self.point, **parameters}), self.condition if conditional else None)
