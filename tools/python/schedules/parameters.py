# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parameters of a schedule: what they mean, and which values they may have. A point
is a value for each of them."""

import fractions


class Numbers:
    """Whole numbers of a range that a step divides."""

    def __init__(self, least, most, step=1):
        self.least, self.most, self.step = least, most, step

    def allows(self, value):
        return type(value) is int and self.least <= value <= self.most and value % self.step == 0

    def __str__(self):
        kind = "a whole number" if self.step == 1 else f"a multiple of {self.step}"
        return f"{kind} in {self.least}..{self.most}"


class Powers:
    """Powers of two up to one of them."""

    def __init__(self, most):
        self.most = most

    def allows(self, value):
        return type(value) is int and 1 <= value <= self.most and value & (value - 1) == 0

    def __str__(self):
        return f"a power of two up to {self.most}"


class Words:
    """Some words."""

    def __init__(self, *words):
        self.words = words

    def allows(self, value):
        return isinstance(value, str) and value in self.words

    def __str__(self):
        quoted = [f'"{word}"' for word in self.words]
        return " or ".join(quoted)


class Switch:
    """On or off."""

    def allows(self, value):
        return isinstance(value, bool)

    def __str__(self):
        return "true or false"


class Share:
    """A fraction in 0..1, as text."""

    def allows(self, value):
        try:
            numerator, denominator = value.split("/")
            return 0 <= fractions.Fraction(int(numerator), int(denominator)) <= 1
        except (AttributeError, ValueError, ZeroDivisionError):
            return False

    def __str__(self):
        return 'a share as "1/8"'


class Parameter:
    def __init__(self, domain, default, meaning):
        self.domain, self.default, self.meaning = domain, default, meaning


# In the order in which they are enumerated: the last varies fastest.
PARAMETERS = {
    "consumers": Parameter(Numbers(1, 7), 2, "warpgroups that compute, each on 64 rows of Q"),
    "tile_n": Parameter(Numbers(16, 256, 16), 128, "keys of a block"),
    "load_registers": Parameter(Numbers(24, 256, 8), 24, "registers a thread that the loader has at least; the consumers share the rest"),
    "loaders": Parameter(Numbers(1, 2), 1, "warps that load: one for all, or another for V"),
    "k_depth": Parameter(Numbers(1, 16), 2, "blocks of K in flight"),
    "v_depth": Parameter(Numbers(0, 16), 0, "blocks of V in flight, 0: as many as of K"),
    "rings": Parameter(Words("apart", "one"), "apart", "K and V in rings of their own, or in one of as many blocks as both would have"),
    "q_depth": Parameter(Numbers(1, 4), 1, "tiles of Q in flight"),
    "stage_o": Parameter(Words("own", "over_q", "over_v"), "own", "where O waits to be stored: in memory of its own, or in that of Q or V"),
    "storer": Parameter(Words("consumers", "warp"), "consumers", "who has O stored, and waits until it may be overwritten: the consumers, or a warp of its own"),
    "stage_p": Parameter(Words("reg", "smem"), "reg", "where PV finds P: in registers or in shared memory"),
    "cluster": Parameter(Numbers(1, 2), 1, "CTAs that load each block of K and V once"),
    "pack_gqa": Parameter(Powers(64), 1, "query heads of one head of K and V in a tile, for launches of that group alone"),
    "work": Parameter(Words("grid", "static", "dynamic"), "grid", "one CTA an item, items counted out, or handed out"),
    "work_depth": Parameter(Numbers(1, 4), 2, "items in flight, with work dynamic"),
    "last_wave_parts": Parameter(Numbers(1, 16), 1, "parts of an item of the last wave at most, cut along the keys; with work dynamic, without clusters"),
    "order": Parameter(Words("linear", "longest_first"), "linear", "of the items"),
    "section_mib": Parameter(Numbers(0, 1024), 0, "K and V that a section of heads takes, with order longest_first; 0: one section"),
    "launch": Parameter(Words("alone", "dependent"), "alone", "whether CTAs start when the launch before has ended, or while it ends"),
    "overlap": Parameter(Words("qk_first", "pv_first", "none"), "qk_first",
                         "which is issued first, QK of a block or PV of the one before; none: PV of a block comes before QK of the next"),
    "rescale": Parameter(Words("after_pv", "before_pv"), "after_pv", "when O is rescaled: once PV of the block before has ended, or before the next is issued"),
    "row_max": Parameter(Words("running", "first_block", "integer"), "first_block", "what exponentials are taken relative to"),
    "rescale_threshold": Parameter(Numbers(0, 64), 8, "log2 of how far the row maximum may grow before O is rescaled"),
    "exp2_soft": Parameter(Share(), "0/1", "share of the exponentials that polynomials compute"),
    "exp2_degree": Parameter(Numbers(3, 5), 3, "of these polynomials"),
    "peel": Parameter(Words("first", "first_masked", "first_branch"), "first_branch",
                      "what masks: all blocks, those of loops of their own, or a branch in each (in the first only where it seldom is masked)"),
    "skip": Parameter(Words("none", "right"), "none", "which blocks a consumer leaves out: those right of its own rows, where masked"),
    "turn": Parameter(Switch(), True, "whether consumers take turns on the tensor core"),
}


def voids(point):
    """The parameters that another makes void, and what they are then."""
    if point["work"] != "dynamic":
        yield "work_depth", PARAMETERS["work_depth"].default
    if point["work"] == "static":
        yield "row_max", "running"
    if point["work"] != "dynamic" or point["cluster"] > 1:
        yield "last_wave_parts", 1
    if point["stage_o"] == "over_v" or point["skip"] == "right":
        yield "rings", "apart"
    if point["order"] == "linear":
        yield "section_mib", 0
    if point["consumers"] == 1:
        yield from (("turn", False), ("skip", "none"))
    if point["overlap"] == "none":
        yield from (("turn", False), ("rescale", "after_pv"))
    if point["exp2_soft"] == "0/1":
        yield "exp2_degree", PARAMETERS["exp2_degree"].default


def canonical(point):
    """The point that stands for all those with the same schedule."""
    point = dict(point)
    point["v_depth"] = point["v_depth"] or point["k_depth"]
    share = fractions.Fraction(*map(int, point["exp2_soft"].split("/")))
    point["exp2_soft"] = f"{share.numerator}/{share.denominator}"
    return {**point, **dict(voids(point))}
