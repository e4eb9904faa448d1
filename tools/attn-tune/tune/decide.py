# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derives decisions from a log, by a pure function of its records: replaying a log gives the same decisions."""

import statistics

from tune.journal import BASELINE


class Standing:
    """One candidate at all shapes of a problem."""

    def __init__(self, name, times, best):
        self.name, self.times = name, times
        self.ratios = {shape: best[shape] / time["ms"] for shape, time in times.items()}
        self.mean = statistics.geometric_mean(self.ratios.values())
        self.worst = min(self.ratios.values())
        # The largest spread of the rounds of one shape.
        self.spread = max((time["max_ms"] - time["min_ms"]) / time["ms"] for time in times.values())


def why_not(view, problem, name, shapes):
    """"" or why a candidate cannot win."""
    if (name, problem) in view.left_out:
        return "left out: " + view.left_out[name, problem]
    for shape in shapes:
        time = view.times[name, problem, shape]
        if not time["ok"]:
            return f"at {shape}: {time['note']}"
    failed = [check for check in view.checks.values() if (check["candidate"], check["problem"]) == (name, problem) and not check["ok"]]
    if failed:
        return f"at {failed[0]['shape']} on the simulator: {failed[0]['note']}"
    verified = view.verified.get((name, problem), {"ok": True})
    return "" if verified["ok"] else verified["note"]


def keys_of(shape):
    """How many keys a measured shape has."""
    return int(shape.split("x")[1])


class Decision:
    """The ranking of one problem, at shapes of more than `least` and at most `most` keys, and
    its winner: the name of a candidate, or None where the table's kernel stays. Where a problem
    has several decisions, by length, each needs a winner: the table cannot keep its entry for
    some of the lengths."""

    def __init__(self, view, problem, margin, least=0, most=None):
        self.view, self.problem, self.margin, self.least, self.most = view, problem, margin, least, most
        self.shapes = [s for s in view.measured_shapes(problem) if least < keys_of(s) and (most is None or keys_of(s) <= most)]
        names = view.compiled(problem)
        self.excluded = {n: why for n in names if (why := why_not(view, problem, n, self.shapes))}
        self.ranking = self.rank([n for n in names if n not in self.excluded]) if self.shapes else []
        self.winner = self.choose()

    def rank(self, names):
        times = {n: {s: self.view.times[n, self.problem, s] for s in self.shapes} for n in names}
        best = {s: min(t[s]["ms"] for t in times.values()) for s in self.shapes} if times else {}
        return sorted((Standing(n, t, best) for n, t in times.items()), key=lambda s: (-s.mean, s.name))

    def standing(self, name):
        return next((s for s in self.ranking if s.name == name), None)

    def gain(self):
        """How many times faster than the table's kernel first() is, or None."""
        table = self.standing(BASELINE)
        return self.first().mean / table.mean if table else None

    def gains(self):
        """The same by shape."""
        first, table = self.first(), self.standing(BASELINE)
        return {s: table.times[s]["ms"] / first.times[s]["ms"] for s in self.shapes}

    def first(self):
        """The standing of the winner if this is a part, otherwise that of the fastest."""
        return self.standing(self.choose()) if self.is_part else self.ranking[0]

    @property
    def word(self):
        """Of the problem's mask."""
        return self.view.problems[self.problem]["mask"]

    @property
    def is_part(self):
        return self.least > 0 or self.most is not None

    def choose(self):
        if self.is_part:
            return next((s.name for s in self.ranking if s.name != BASELINE), None)
        if not self.ranking or self.ranking[0].name == BASELINE:
            return None
        gain = self.gain()
        return self.ranking[0].name if gain is None or gain >= 1 + self.margin else None

    def words(self):
        """Which lengths a part is for."""
        above = f"above {self.least} keys" if self.least else ""
        return " and ".join(filter(None, [above, "" if self.most is None else f"up to {self.most} keys"]))

    def verdict(self):
        if not self.ranking:
            return "no result" if self.shapes else "nothing was measured"
        gain = self.gain()
        first = self.ranking[0].name
        if self.winner:
            return f"{self.winner} wins" + (f", {gain:.3f} times as fast as the table's kernel" if gain else "; the table's kernel has no result")
        if first == BASELINE:
            return "the table's kernel stays: no candidate is faster"
        return f"the table's kernel stays: {first} is {gain:.3f} times as fast, {1 + self.margin:.3f} is asked for"

    def lines(self, most=10):
        """The decision in words."""
        view, problem = self.view, self.problem
        refused = {}
        for (_, of), build in view.builds.items():
            if of == problem and not build["ok"]:
                refused[build["reason"]["kind"]] = refused.get(build["reason"]["kind"], 0) + 1
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(refused.items()))
        lengths = f", {self.words()}" if self.is_part else ""
        lines = [f"{problem}{lengths}: {len(view.compiled(problem))} compiled, {sum(refused.values())} refused" + (f" ({kinds})" if kinds else "")]
        lines += [f"  {name}: {why}" for name, why in sorted(self.excluded.items())]
        if self.ranking:
            lines.append(f"  {'mean':>6}{'worst':>7}{'spread':>8}   of {len(self.shapes)} shapes: {', '.join(self.shapes)}")
            lines += [f"  {s.mean:6.3f}{s.worst:7.3f}{s.spread:8.3f}   {s.name}" for s in self.ranking[:most]]
        return lines + [f"  {self.verdict()}"]


def decide_parts(view, problem, margin, split):
    """One decision for each range of lengths between the bounds of `split`; for all lengths
    together where some range was not measured, or where the table's kernel is faster in one
    than all candidates."""
    parts = [Decision(view, problem, margin, least, most) for least, most in zip((0, *split), (*split, None))]
    if split and all(part.winner and (part.gain() is None or part.gain() >= 1) for part in parts):
        return parts
    return [Decision(view, problem, margin)]


def decide(view, margin, split=()):
    return [decision for problem in view.problems for decision in decide_parts(view, problem, margin, split)]
