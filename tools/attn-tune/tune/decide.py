# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What follows from a log: a pure function of its records, so that a log replayed
gives the same decisions."""

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


class Decision:
    """The ranking of one problem and its winner: the name of a candidate, or None
    where the table's kernel stays."""

    def __init__(self, view, problem, margin):
        self.view, self.problem, self.margin = view, problem, margin
        self.shapes = view.measured_shapes(problem)
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
        """How many times faster than the table's kernel the first is, or None."""
        table = self.standing(BASELINE)
        return self.ranking[0].mean / table.mean if table else None

    def gains(self):
        """The same by shape."""
        first, table = self.ranking[0], self.standing(BASELINE)
        return {s: table.times[s]["ms"] / first.times[s]["ms"] for s in self.shapes}

    def choose(self):
        if not self.ranking or self.ranking[0].name == BASELINE:
            return None
        gain = self.gain()
        return self.ranking[0].name if gain is None or gain >= 1 + self.margin else None

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
        lines = [f"{problem}: {len(view.compiled(problem))} compiled, {sum(refused.values())} refused" + (f" ({kinds})" if kinds else "")]
        lines += [f"  {name}: {why}" for name, why in sorted(self.excluded.items())]
        if self.ranking:
            lines.append(f"  {'mean':>6}{'worst':>7}{'spread':>8}   of {len(self.shapes)} shapes: {', '.join(self.shapes)}")
            lines += [f"  {s.mean:6.3f}{s.worst:7.3f}{s.spread:8.3f}   {s.name}" for s in self.ranking[:most]]
        return lines + [f"  {self.verdict()}"]


def decide(view, margin):
    return [Decision(view, problem, margin) for problem in view.problems]
