#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs decode_d128.mlir and combine_d128.mlir on random problems and compares
every part's results, and the joined ones, with attention in float64. With --both,
one call launches both, with the parts in its workspace.

Lengths are not divided by tiles, some parts have no keys, and four query heads
share a head of K and V. On the simulator each problem runs under a schedule of
its own, and a hazard is an error."""

import argparse
import array
import math
import random
import sys

from launching import ALIGNMENT, Device, bf16, floats_of_bf16, launch, libattn

DIM, GROUP = 128, 4
# bf16 rounds by up to 2^-8 of a value: P is rounded on its way to the second product, O at
# the end. The rest is for sums in f32 and ex2.
ROUNDING = 2.0**-8
SLACK = 2.0**-12
LSE_ERROR = 2e-5


class Problem:
    """The shapes and inputs of a seed."""

    def __init__(self, seed):
        generator = random.Random(seed)
        pick = generator.randint
        self.batches, self.heads = pick(1, 2), pick(1, 2)
        self.positions = pick(1, 20) if seed % 8 == 0 else pick(1, 2)
        self.keys = pick(1, 420)
        self.parts = pick(1, 4)
        self.scale = DIM**-0.5 * generator.choice([0.5, 1, 4])
        self.words = {
            "q": [bf16(generator.gauss(0, 1)) for _ in range(self.batches * self.positions * self.heads * GROUP * DIM)]}
        for name in ("k", "v"):
            self.words[name] = [bf16(generator.gauss(0, 1)) for _ in range(self.batches * self.keys * self.heads * DIM)]
        self.values = {name: floats_of_bf16(words) for name, words in self.words.items()}

    def __str__(self):
        return (f"{self.batches} batches, {self.positions} positions, {self.heads} x {GROUP} heads, "
                f"{self.keys} keys, {self.parts} parts")

    def shapes(self):
        b, s, h, n = self.batches, self.positions, self.heads * GROUP, self.parts
        return {"q": (b, s, h, DIM), "k": (b, self.keys, self.heads, DIM), "v": (b, self.keys, self.heads, DIM),
                "o_part": (n, b, s, h, DIM), "lse_part": (n, b, h, s), "o": (b, s, h, DIM), "lse": (b, h, s)}

    def keys_of(self, part):
        """The share of a part, in blocks of 128 keys."""
        blocks = -(-self.keys // 128)
        each = -(-blocks // self.parts)
        return range(min(part * each * 128, self.keys), min((part + 1) * each * 128, self.keys))

    def expect(self, batch, position, head, keys):
        """O, a bound of its error in units of rounding, and LSE in float64."""
        q, k, v = (self.values[name] for name in "qkv")
        at = ((batch * self.positions + position) * self.heads * GROUP + head) * DIM
        query = q[at:at + DIM]
        rows = [((batch * self.keys + key) * self.heads + head // GROUP) * DIM for key in keys]
        scores = [self.scale * sum(map(float.__mul__, query, k[row:row + DIM])) for row in rows]
        if not scores:
            return [0.0] * DIM, [0.0] * DIM, -math.inf
        most = max(scores)
        weights = [math.exp(score - most) for score in scores]
        total = sum(weights)
        out, bound = [0.0] * DIM, [0.0] * DIM
        for weight, row in zip(weights, rows):
            weight /= total
            for c, value in enumerate(v[row:row + DIM]):
                out[c] += weight * value
                bound[c] += weight * abs(value)
        return out, bound, most + math.log(total)


def workspace_of(bundle, problem):
    """The bytes of the temporaries, each at a multiple of 256, with rows at multiples of 16."""
    end = 0
    for one in bundle.plan.get("temporaries", []):
        *outer, row = problem.shapes()[one["name"]]
        end = -(-end // ALIGNMENT) * ALIGNMENT + math.prod(outer) * -(-row * 4 // 16) * 16
    return end


def run(bundles, device, problem):
    """Returns {name: floats} of the results."""
    types = {"o_part": "f32", "lse_part": "f32", "o": "bf16", "lse": "f32"}
    sizes = {name: math.prod(problem.shapes()[name]) * (2 if kind == "bf16" else 4) for name, kind in types.items()}
    memory = {name: device.place(array.array("H", words).tobytes()) for name, words in problem.words.items()}
    # Elements that are not written stay NaN.
    memory.update((name, device.place(b"\xff" * size)) for name, size in sizes.items())
    scalars = {"scale": problem.scale, "parts": problem.parts}
    for bundle in bundles:
        used = launch(bundle, device, problem.shapes(), scalars, memory)
        if used != workspace_of(bundle, problem):
            sys.exit(f"{problem}: {used} bytes of workspace, expected {workspace_of(bundle, problem)}")
    results = {}
    for name, kind in types.items():
        data = device.read(memory[name], sizes[name])
        results[name] = (floats_of_bf16(array.array("H", data)) if kind == "bf16" else array.array("f", data))
    device.clear()
    return results


def largest_error(got, wanted, bound, rounding):
    """The error of a row of O in units of its bound."""
    worst = 0.0
    for value, want, weight in zip(got, wanted, bound):
        allowed = (ROUNDING + SLACK) * weight + rounding * abs(want)
        error = abs(value - want)
        worst = max(worst, error / allowed if allowed else error and math.inf) if error == error else math.inf
    return worst


def check_row(problem, results, o, lse, place, keys, rounding):
    """Compares the row `place` (batch, position, head) of a pair of results that
    begin at elements `o` and `lse` of theirs. Returns the error of O in units of
    its bound."""
    batch, position, head = place
    heads = problem.heads * GROUP
    wanted, bound, wanted_lse = problem.expect(batch, position, head, keys)
    at = o[1] + ((batch * problem.positions + position) * heads + head) * DIM
    worst = largest_error(results[o[0]][at:at + DIM], wanted, bound, rounding)
    got_lse = results[lse[0]][lse[1] + (batch * heads + head) * problem.positions + position]
    same = got_lse == wanted_lse or abs(got_lse - wanted_lse) <= LSE_ERROR * max(1.0, abs(wanted_lse))
    if worst > 1 or not same:
        sys.exit(f"{problem}: {o[0]}, batch {batch}, position {position}, head {head}, keys {keys}: error {worst:.3g} of "
                 f"its bound, LSE {got_lse}, expected {wanted_lse}")
    return worst


def check(problem, results, has_parts):
    """Returns the largest errors of a part and of O, in units of their bounds."""
    rows = problem.batches * problem.positions * problem.heads * GROUP
    worst_part = worst = 0.0
    for batch in range(problem.batches):
        for position in range(problem.positions):
            for head in range(problem.heads * GROUP):
                place = (batch, position, head)
                for part in range(problem.parts if has_parts else 0):
                    worst_part = max(worst_part, check_row(
                        problem, results, ("o_part", part * rows * DIM), ("lse_part", part * rows), place,
                        problem.keys_of(part), 0.0))
                worst = max(worst, check_row(problem, results, ("o", 0), ("lse", 0), place,
                                             range(problem.keys), ROUNDING))
    return worst_part, worst


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runtime", required=True, help="libattn_runtime.so")
    parser.add_argument("--decode", help="the bundle of decode_d128.mlir")
    parser.add_argument("--combine", help="the bundle of combine_d128.mlir")
    parser.add_argument("--both", help="the bundle of split_decode.mlir, instead of the two")
    parser.add_argument("--device", choices=["sim", "cuda"], default="sim")
    parser.add_argument("--seeds", type=int, default=64)
    parser.add_argument("--first-seed", type=int, default=0)
    args = parser.parse_args()
    library = libattn.Library(args.runtime)
    bundles = [library.load(path) for path in ([args.both] if args.both else [args.decode, args.combine])]
    device = Device(args.device)
    worst_part = worst = 0.0
    for seed in range(args.first_seed, args.first_seed + args.seeds):
        if args.device == "sim":
            library.set_simulator("seed", str(seed))
        problem = Problem(seed)
        if args.both:
            problem.parts = min(max(-(-problem.keys // 128), 1), 4)  # as split_decode.mlir says
        errors = check(problem, run(bundles, device, problem), not args.both)
        worst_part, worst = max(worst_part, errors[0]), max(worst, errors[1])
    print(f"split decode: {args.seeds} problems right; largest error of a part {worst_part:.2f} of its bound, "
          f"of O {worst:.2f}")


if __name__ == "__main__":
    main()
