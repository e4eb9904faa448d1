#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a rule covers each refusal in the source of the passes that schedules go through,
up to `ws`: a schedule that attn-verify-schedule accepts reaches none of them. The messages are
for hand-written IR and for single passes.

Each refusal has an input that is refused: a lit test that holds the message, or an edit that this script
runs. An edit of the small kernel of the unit tests is refused by attn-verify-schedule. Without
that pass the others refuse it: with the message, or with the covering rule, where
attn-warp-specialize checks that rule itself (V29, and the rules of binding). An edit of IR is
refused by its pass or by the verifier of `ws`.

Not covered, and counted in the last line: attn-verify-sync, whose messages are rules themselves
(V28, and rules of schedules checked on the emitted program; test/faults and test/readings have an
input for each kind); and codegen/, which reads `ws` and instructions but no schedules
(test/Codegen/*-invalid.mlir). Verifiers of `ws` are tested in test/Dialect/Ws.

Prints messages that are new in the source or gone from it, and inputs that are not refused as
their row says; exits with 1 if there are any.

usage: refusals.py ATTN-OPT"""

import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MIDDLE = os.path.join(ROOT, "passes", "middle")
RULES = os.path.join(ROOT, "docs", "schedule-rules.md")
# Not caused by a schedule: the pass is run on its own, or on the wrong IR.
INPUT = "input"
# Not reachable: the pass checks what it has written itself.
OWN = "own work"

JUDGE = ["--attn-verify-schedule"]
PASSES = ["--attn-subtile", "--attn-resolve-layouts", "--attn-warp-specialize", "--attn-hand-out", "--attn-plan-memory", "--attn-pipeline"]
# The kernel that schedules are edited in.
SMALL = os.path.join(ROOT, "test", "unit", "schedule", "small_kernel.cpp")
# More roles.
TWO_GROUPS = ("role wg[2] warps 4 regs 240", "role wg[2] warps 4 regs 112\n  role other[2] warps 4 regs 112")
UNEVEN = 'dense<"0x' + "0" * 1022 + '3F"> : tensor<128xf32>'
SUBTILE, SPECIALIZE, PIPELINE = (f"attn-{name}-invalid" for name in ("subtile", "warp-specialize", "pipeline"))
MEMORY = "attn-plan-memory-invalid.mlir"
EARLY = "attn-pipeline-early.mlir"
# A value that is read before it is computed, which ws.for refuses.
READ_BEFORE = (EARLY, [("issue 0 shift 0", "issue 0 shift 1"), ("issue 1 shift 1", "issue 1 shift 0")], "--attn-pipeline")

# file: start of a message: what stands in front (rules, words of V29, INPUT or OWN), and the input that is refused: a lit
# test that holds the message, edits of the small kernel, or (file, edits, pass).
REFUSALS = {
    "Subtile.cpp": {
        "attn-subtile: expected a tile of  rows": ("odd_cut", SUBTILE + ".mlir"),
        "attn-subtile: expected a splat constant": ("odd_tile", [("%init = arith.constant dense<0.0> : tensor<128xf32>", "%init = arith.constant " + UNEVEN)]),
        "attn-subtile: no lowering for a vector without rows": ("odd_cut", SUBTILE + ".mlir"),
        "attn-subtile: expected the split axis to be 'M'": ("odd_cut", SUBTILE + ".mlir"),
        "attn-subtile: expected  sub-tiles to divide tile_m": ("V24", SUBTILE + ".mlir"),
        "attn-subtile: expected tiles of  rows after the cut": (OWN, None),
        "attn-subtile: expected a config and a schedule": (INPUT, SUBTILE + ".mlir"),
        "attn-subtile: no lowering on a share of a product of all rows": ("odd_cut", SUBTILE + ".mlir"),
    },
    "WarpSpecialize.cpp": {
        "attn-warp-specialize: V5: expected a value of role": ("V5", [TWO_GROUPS, (" st_o st_lse", " st_o"), ("  body wg {", "  body other {\n after { st_lse }\n }\n  body wg {")]),
        "attn-warp-specialize: expected a config and a schedule": (INPUT, SPECIALIZE + ".test"),
    },
    "VerifyRanges.cpp": {
        "attn-verify-ranges: expected bounds that are integer arithmetic": (INPUT, "attn-verify-ranges.test"),
        "attn-verify-ranges: ": (INPUT, "attn-verify-ranges.test"),
    },
    "CheckedLaunches.cpp": {
        "attn-verify-ranges: expected extents that are integer arithmetic": (INPUT, "attn-verify-ranges.test"),
        "attn-verify-ranges: expected launches with work items": (INPUT, "attn-verify-ranges.test"),
    },
    "Specialization/KernelProgram.cpp": {
        "attn-warp-specialize: expected a step that holds 'tile.next_work'": ("V1", [("tile.next_work extents(%n, %n, %n)",
            "builtin.unrealized_conversion_cast %n : i32 to !tile.work")]),
        "attn-warp-specialize: ": (INPUT, SPECIALIZE + ".test"),
    },
    "Specialization/ActEmitter.cpp": {
        "V8: expected a wait for '' before its release": ("V8", [("give(tc) mask", "give(tc) get(k) mask")]),
        "expected no act 'put' or 'commit', and no await of MMAs outside the loop": ("filled_by_threads V21 outer_product",
            [("after { await(st_o)", "after { await(qk) await(st_o)")]),
    },
    "Specialization/LoopBuilder.cpp": {
        # Without a loop, what its acts would make is missing: V8.
        "V1: expected no acts in the loop of a kernel that has none": (OWN, None),
        "V5: expected carried value  to stay in registers": ("carried_elsewhere", [("tile.yield %l1 :", "tile.yield %m :")]),
        "expected each time step to end with an await of its MMAs": ("stored_elsewhere", [("oe in smem", "oe in reg")]),
        "V5: '' passes on a value": ("V5 odd_masked", [TWO_GROUPS, ("take(tc) qk give(tc) ", ""), ("ring wg", "ring other"),
            ("  body wg {", "  body other {\n    kv { take(tc) qk give(tc) }\n  }\n  body wg {")]),
        "V8: expected a wait for what '' reads": ("V8", SPECIALIZE + ".test"),
    },
    "Specialization/RoleBuilder.cpp": {
        "V26: expected it to get work items or to hand them out": ("V26", [("  remat(next)\n", "")]),
    },
    "Specialization/StepEmitter.cpp": {
        "V5: '' reads a value": ("V5 carried_elsewhere guarded_final", [TWO_GROUPS, (" st_o st_lse", " st_o"),
            ("  body wg {", "  body other {\n    after { st_lse }\n  }\n  body wg {")]),
        "expected '' to add a tile of a hold to a 'grouped' tensor": (OWN, None),
        "V30: expected '', which stores first shares": (OWN, None),
        "expected a replica for each of": ("V3 odd_cut", [("role wg[2]", "role wg"), ("  turn tc ring wg\n", ""), ("take(tc) qk give(tc)", "qk")]),
        "expected '' to make the result of its '' alone": ("mixed_step", [("tensor<128x128xf32>\n        tile.yield %x",
            "tensor<128x128xf32>\n        %y = arith.addf %x, %x : tensor<128x128xf32>\n        tile.yield %y")]),
        "expected the plan to acquire a slot": (OWN, None),
        "expected a slot of '' that the plan acquires": (OWN, None),
        "expected '', before which the plan awaits the item's first run": (OWN, None),
        "expected a channel or a place in registers": ("unplaced_load copied_hold", [("chan k = k in smem depth 2", "hold k = k in smem depth 1")]),
        "V20: expected operand B": ("V20 held_by_threads mixed_step", [("  chan k = k in smem depth 2\n", "")]),
        "expected what '' stores in a hold": ("stored_elsewhere", [("oe in smem", "oe in reg")]),
    },
    "Pipeline.cpp": {
        "attn-pipeline: expected the loop to be expanded": (OWN, None),
        "attn-pipeline: expected role '' to release": ("V1 V18", (EARLY, [("ws.release %slot : <@q, tensor<64x64xbf16>>\n", "")] * 2, "--attn-pipeline")),
    },
    "Pipelining/StepWriter.cpp": {
        "attn-pipeline: expected masked entries to read no slot": ("odd_masked", "attn-pipeline-ranges.mlir"),
        "attn-pipeline: expected a shift of at most 1": ("long_shift", PIPELINE + ".mlir"),
        "attn-pipeline: no lowering for 'last'": ("unshifted_last", PIPELINE + ".mlir"),
        "attn-pipeline: expected carried values to be made by entries": ("carried_elsewhere", PIPELINE + ".mlir"),
        "attn-pipeline: expected each operand of '' to have a value": ("V8", READ_BEFORE),
    },
    "Pipelining/SteadyLoops.cpp": {
        "V8: '' is read in the steady loop": ("V8", READ_BEFORE),
    },
    "Pipelining/LoopExpander.cpp": {
        "attn-pipeline: a carried value has no value": ("V8", READ_BEFORE),
    },
    "Pipelining/FirstProduct.cpp": {
        "attn-start-fresh: expected the loop to be expanded": (INPUT, "attn-start-fresh.mlir"),
    },
    "Pipelining/LastProduct.cpp": {
        "attn-overlap-last-product: expected the loop to be expanded": (INPUT, "attn-overlap-last-product.mlir"),
    },
    "HandOut.cpp": {
        "attn-hand-out: expected 'work' to be grid or dynamic": ("rejected_static", "attn-hand-out-invalid.mlir"),
        "attn-hand-out: expected one role to take the work items": ("V26", "attn-hand-out-invalid.mlir"),
        "attn-hand-out: expected one 'tile.next_work'": ("V26", "attn-hand-out-invalid.mlir"),
        "attn-hand-out: expected the op to be lowered": (OWN, None),
    },
    "PlanMemory.cpp": {
        "attn-plan-memory: expected '' to be a place in shared memory": ("V10", MEMORY),
        "attn-plan-memory: expected at most  bytes over": ("V10", MEMORY),
        "attn-plan-memory: expected a place within": (OWN, None),
        "attn-plan-memory: expected a multiple of": (OWN, None),
        # No machine file has other values.
        "attn-plan-memory: expected barriers of": (OWN, None),
        "attn-plan-memory: ": (INPUT, MEMORY),
        "attn-plan-memory: expected at most  bytes of shared memory": ("V11", MEMORY),
    },
}
CALL = re.compile(r"\b(?:emitOpError|emitError|error)\(\s*(?:[^\"();]*\(\),\s*)?(?=\")")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def messages(path):
    """The texts of a file's errors, without the values in them."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for call in CALL.finditer(text):
        yield "".join(LITERAL.findall(text[call.end():text.index(";", call.end())]))


def is_like(message, row):
    """Whether a row of REFUSALS is of a message; one that is a pass's name alone is of no other."""
    return message == row if row.endswith(": ") else message.startswith(row)


def pattern_of(row):
    """A pattern for the message of a row, with its values, which are between two quotes or two spaces."""
    return ".*".join(re.escape(piece) for piece in re.split(r"(?<=')(?=')|(?<= )(?= )", row))


def fronts():
    """The rules and words that may stand in front."""
    with open(RULES, encoding="utf-8") as file:
        return {INPUT, OWN} | set(re.findall(r"(?m)^\| (\w+) \|", file.read()))


def edited(text, edits):
    for old, new in edits:
        if old not in text:
            sys.exit(f"expected '{old}' in the text to edit, got none")
        text = text.replace(old, new, 1)
    return text


def small_kernel():
    with open(SMALL, encoding="utf-8") as file:
        return re.search(r'kernelText = R"\((.*?)\)";', file.read(), re.S).group(1)


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


class Refusals:
    def __init__(self, attn_opt):
        self.attn_opt = attn_opt

    def error_of(self, text, passes):
        """The errors of `passes`, or "" if they take the text."""
        run = subprocess.run([self.attn_opt, *passes, "-o", os.devnull, "-"], input=text, capture_output=True, text=True)
        return run.stderr if run.returncode == 1 else ""

    def problem_of(self, row, front, source):
        """The fault of a row's input; None if it is refused as the row says."""
        if source is None:
            return None if front == OWN else "expected an input that is refused, got none"
        wanted = pattern_of(row)
        if isinstance(source, str):
            return None if re.search(wanted, read(source)) else f"expected '{source}' to hold it"
        said = re.compile(wanted + "|" + "|".join(rf"\b{word}: |\('{word}'\)" for word in front.split()))
        if isinstance(source, tuple):
            name, edits, one = source
            error = self.error_of(edited(read(name), edits), [one])
        else:
            text = edited(small_kernel(), source)
            if not self.error_of(text, JUDGE):
                return "expected the judge to refuse its input"
            error = self.error_of(text, PASSES)
        return None if said.search(error) else f"expected it or {front}, got {error or 'no error'}"

    def problems_of(self, name):
        rows = REFUSALS.get(name, {})
        found = list(messages(os.path.join(MIDDLE, name)))
        known = fronts()
        for message in found:
            if not any(is_like(message, row) for row in rows):
                yield f"expected a rule in front of '{message}', got none"
        for row, (front, source) in rows.items():
            for word in [front] if front in (INPUT, OWN) else front.split():
                if word not in known:
                    yield f"expected a rule or a word of V29 in front of '{row}', got '{word}'"
            if not any(is_like(message, row) for message in found):
                yield f"expected the message '{row}', got none like it"
                continue
            problem = self.problem_of(row, front, source)
            if problem:
                yield f"'{row}': {problem}"


def sources():
    """The passes that schedules are an input of."""
    names = [os.path.relpath(path, MIDDLE) for pattern in ("*.cpp", "Specialization/*.cpp", "Pipelining/*.cpp")
             for path in glob.glob(os.path.join(MIDDLE, pattern))]
    return sorted(set(names) - {"Instrument.cpp", "ResolveLayouts.cpp", "VectorDims.cpp", "VerifySync.cpp"})


def count(pattern, *folder):
    """How often a pattern is in the sources below a folder."""
    total = 0
    for path in glob.glob(os.path.join(ROOT, *folder, "**", "*.cpp"), recursive=True):
        with open(path, encoding="utf-8") as file:
            total += len(re.findall(pattern, file.read()))
    return total


def main():
    refusals = Refusals(sys.argv[1])
    found = [f"{name}: {problem}" for name in sources() for problem in refusals.problems_of(name)]
    found += [f"expected the file '{name}', got none" for name in sorted(set(REFUSALS) - set(sources()))]
    rows = [row for rows in REFUSALS.values() for row in rows.values()]
    print("\n".join(found) or f"{len(rows)} refusals: {sum(source is not None for _, source in rows)} inputs are refused, "
          f"{sum(source is None for _, source in rows)} have none, as the pass checks its own work")
    of_sync = count(r'"V\d+: ', "passes", "middle", "Synchronization")
    of_codegen = count(r"\bemit(?:Op)?Error\(", "codegen")
    print(f"left out: {of_sync} messages of attn-verify-sync, {of_codegen} of codegen")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
