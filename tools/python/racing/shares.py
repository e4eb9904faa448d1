# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many of all pairs of a query and a key a mask admits, and how many are in the blocks that a kernel multiplies:
counted by evaluating the function, by PyTorch where it is there."""

import functools
import re
import typing

from racing import masks

ROWS = 64  # of a warpgroup
STEP = 16  # keys: all blocks are some of them
# What is counted without PyTorch: more pairs take minutes.
PLAIN_LENGTH = 2048


class Tiles(typing.NamedTuple):
    """What a variant of a plan multiplies at once."""

    rows: int
    keys: int
    skips: bool  # whether each warpgroup leaves out blocks right of its own rows
    skips_left: bool = False  # and those left of its own rows


def box(launch, tensor, size, parts=1):
    """The number of positions of a tensor that one of `parts` copies of a tile moves, times the parts that have other
    positions; or None. Parts are panels of columns, if there are enough."""
    for param in launch["params"]:
        if param["kind"] == "tensor_map" and param["tensor"] == tensor:
            columns, *others = param["dims"]
            panels = -(-columns["size"] // columns["box"])  # each a copy, if they have no dimension
            has_panels = panels % parts == 0 or any(dim["size"] == parts * dim["box"] for dim in others[1:])
            positions = next((dim["box"] for dim in param["dims"] if dim["size"] == size), None)
            return positions and positions * (1 if has_panels else parts)
    return None


def shares_keys(launch, variant):
    """Whether each CTA of a cluster copies a part of the tiles of K for all."""
    schedule = launch["schedule"] if "schedule" in launch else variant["schedule"]
    return re.search(r"chan \w+ = k\b[^\n]* scope cluster", schedule) is not None


def tiles_of(plan, variant):
    """The Tiles of a variant; None where its kernel reads Q or K in another way."""
    names = {role: next(arg for arg in plan["args"] if arg.get("role") == role) for role in ("query", "key")}
    position = plan["problem"]["layout"].index("s")
    for launch in variant["launches"]:
        query, key = names["query"], names["key"]
        parts = launch["cluster"][0] if shares_keys(launch, variant) else 1
        rows = box(launch, query["name"], query["dims"][position])
        keys = box(launch, key["name"], key["dims"][position], parts)
        if rows and keys:
            report = launch if "report" in launch else variant  # that of a single kernel is the variant's
            skip = report["report"]["knobs"]["skip"]
            return Tiles(rows * launch["cluster"][0], keys, skip != "none", skip == "both")
    return None


class TorchRows:
    """What some queries see, by PyTorch."""

    def __init__(self, torch, function, rows, seqlen):
        i, j = (torch.arange(r.start, r.stop, dtype=torch.int32) for r in (rows, range(seqlen)))
        self.torch, self.seen = torch, torch.broadcast_to(function(0, 0, i[:, None], j[None, :]), (len(rows), seqlen))

    def count(self):
        return int(self.seen.sum())

    def steps(self):
        """Whether one of the queries sees one of the keys, for each STEP of keys."""
        columns = self.torch.nn.functional.pad(self.seen.any(0), (0, -self.seen.shape[1] % STEP))
        return columns.view(-1, STEP).any(1).tolist()


class PlainRows:
    """The same without PyTorch."""

    def __init__(self, function, rows, seqlen):
        if seqlen > PLAIN_LENGTH:
            raise RuntimeError(f"expected PyTorch, or at most {PLAIN_LENGTH} keys to count without it, got {seqlen}")
        self.seen = [[bool(function(0, 0, i, j)) for j in range(seqlen)] for i in rows]

    def count(self):
        return sum(map(sum, self.seen))

    def steps(self):
        columns = [any(column) for column in zip(*self.seen)]
        return blocks_of(columns, STEP)


def blocks_of(flags, size):
    """Whether one is true, for each block of so many."""
    return [any(flags[first:first + size]) for first in range(0, len(flags), size)]


@functools.cache
def pytorch():
    try:
        import torch
        return torch
    except ImportError:
        return None


def survey(function, captured, seqlen, torch=None):
    """How many pairs a function admits, and the steps() of each warpgroup's rows."""
    function = function(**captured(1, seqlen, lambda numbers: torch.tensor(numbers, dtype=torch.int32)) if torch else captured(1, seqlen))
    pairs, steps = 0, []
    for first in range(0, seqlen, ROWS):
        rows = range(first, min(first + ROWS, seqlen))
        seen = TorchRows(torch, function, rows, seqlen) if torch else PlainRows(function, rows, seqlen)
        pairs += seen.count()
        steps.append(seen.steps())
    return pairs, steps


@functools.cache
def survey_mask(name, seqlen):
    return survey(masks.MASKS[name].make, masks.MASKS[name].captured, seqlen, pytorch())


@functools.cache
def survey_blocks(name, seqlen):
    """The steps() that kernels can tell from those that no query sees."""
    intervals = masks.MASKS[name].intervals
    return (survey(intervals, lambda *_: {}, seqlen, pytorch()) if intervals else survey_mask(name, seqlen))[1]


def admissible_pairs(name, seqlen):
    """How many pairs of a head a mask admits."""
    if name in masks.BUILT_IN:
        return seqlen**2 if name == "none" else seqlen * (seqlen + 1) // 2
    return survey_mask(name, seqlen)[0]


def admissible(name, seqlen):
    """As a share of all pairs."""
    return admissible_pairs(name, seqlen) / seqlen**2


def visited(name, seqlen, tiles):
    """Pairs in the blocks that a kernel multiplies, as a share of all pairs. Rows and keys beyond the length that fill
    the last tiles count: they take as long."""
    return sum(visited_blocks(survey_blocks(name, seqlen), tiles)) * ROWS * tiles.keys / seqlen**2


def visited_blocks(steps, tiles):
    """How many blocks of keys each warpgroup multiplies, in the order of rows; `steps` as survey() returns them."""
    if tiles.keys % STEP or tiles.rows % ROWS:
        raise ValueError(f"expected tiles of multiples of {ROWS} x {STEP}, got {tiles.rows} x {tiles.keys}")
    seen = [blocks_of(flags, tiles.keys // STEP) for flags in steps]
    together, found = tiles.rows // ROWS, []
    for first in range(0, len(seen), together):
        own = seen[first:first + together]
        loaded = [any(column) for column in zip(*own)]
        # Warpgroups whose rows are all beyond the length skip nothing.
        own += [loaded] * (together - len(own))
        for blocks in own:
            seen_by_own = [number for number, one in enumerate(blocks) if one]
            start = min(seen_by_own, default=0) if tiles.skips_left else 0
            end = max(seen_by_own, default=-1) + 1 if tiles.skips else len(blocks)
            found.append(sum(loaded[start:end]))
    return found
