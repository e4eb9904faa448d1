#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds each refusal in the source of the passes that schedules go through, up to `ws`, to the rule
that stands in front of it: what the judge of schedules calls legal reaches none of them. The messages
are for hand-written IR and for single passes.

Prints what is new in the source or gone from it, and ends with 1."""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MIDDLE = os.path.join(ROOT, "passes", "middle")
RULES = os.path.join(ROOT, "docs", "schedule-rules.md")
# Not a schedule's doing: the pass is run on its own, or on the wrong IR.
INPUT = "input"
# Not reachable: the pass checks what it has written itself.
OWN = "own work"

# file: start of a message, and what stands in front: rules, words of V29, INPUT or OWN
REFUSALS = {
    "Subtile.cpp": {
        "attn-subtile: expected a tile of  rows": "odd_cut",
        "attn-subtile: expected a splat constant": "odd_tile",
        "attn-subtile: no lowering for a vector without rows": "odd_cut",
        "attn-subtile: expected the split axis to be 'M'": "odd_cut",
        "attn-subtile: expected  sub-tiles to divide tile_m": "V24",
        "attn-subtile: expected tiles of  rows after the cut": OWN,
        "attn-subtile: expected a config and a schedule": INPUT,
    },
    "WarpSpecialize.cpp": {
        "attn-warp-specialize: V5: expected a value of role": "V5",
        "attn-warp-specialize: expected a config and a schedule": INPUT,
    },
    "VerifyRanges.cpp": {
        "attn-verify-ranges: expected bounds that are integer arithmetic": INPUT,
        "attn-verify-ranges: ": INPUT,
    },
    "Specialization/KernelProgram.cpp": {
        "attn-warp-specialize: expected one streaming loop": "V1",
        "attn-warp-specialize: expected a step that holds 'tile.next_work'": "V1",
        "attn-warp-specialize: ": INPUT,
    },
    "Specialization/ActEmitter.cpp": {
        "V8: expected a wait for '' before its release": "V8",
        "expected no act 'put' or 'commit' and no MMA outside the loop": "filled_by_threads V21 outer_product",
    },
    "Specialization/LoopBuilder.cpp": {
        "V5: expected carried value  to stay in registers": "carried_elsewhere",
        "expected each turn to end with an await of its MMAs": "stored_elsewhere",
        "V5: '' passes on a value": "V5 odd_masked",
        "V8: expected a wait for what '' reads": "V8",
    },
    "Specialization/RoleBuilder.cpp": {
        "V26: expected it to get work items or to hand them out": "V26",
    },
    "Specialization/StepEmitter.cpp": {
        "V5: '' reads a value": "V5 carried_elsewhere guarded_final",
        "expected a replica for each of": "V3 odd_cut",
        "expected '' to make the result of its '' alone": "mixed_step",
        "expected the plan to acquire a slot": OWN,
        "expected a slot of '' that the plan acquires": OWN,
        "expected a channel or a place in registers": "unplaced_load copied_hold",
        "V20: expected operand B": "V20 held_by_threads mixed_step",
        "expected what '' stores in a hold": "stored_elsewhere",
    },
    "Pipeline.cpp": {
        "attn-pipeline: expected the loop to be expanded": OWN,
        "attn-pipeline: expected role '' to release": "V1 V18",
    },
    "Pipelining/StepWriter.cpp": {
        "attn-pipeline: expected masked entries to read no slot": "odd_masked",
        "attn-pipeline: expected a shift of at most 1": "long_shift",
        "attn-pipeline: no lowering for 'last'": "unshifted_last",
        "attn-pipeline: expected carried values to be made by entries": "carried_elsewhere",
        "attn-pipeline: expected what '' reads to have a value": "V8",
    },
    "Pipelining/SteadyLoops.cpp": {
        "V8: '' is read in the steady loop": "V8",
    },
    "Pipelining/LoopExpander.cpp": {
        "attn-pipeline: a carried value has no value": "V8",
    },
    "Pipelining/FirstProduct.cpp": {
        "attn-start-fresh: expected the loop to be expanded": INPUT,
    },
    "Pipelining/LastProduct.cpp": {
        "attn-overlap-last-product: expected the loop to be expanded": INPUT,
    },
    "HandOut.cpp": {
        "attn-hand-out: expected 'work' to be grid or dynamic": "rejected_static",
        "attn-hand-out: expected one role to take the work items": "V26",
        "attn-hand-out: expected the op to be written out": OWN,
    },
    "PlanMemory.cpp": {
        "attn-plan-memory: expected '' to be a place in shared memory": "V10",
        "attn-plan-memory: expected at most  bytes over": "V10",
        "attn-plan-memory: expected a place within": OWN,
        "attn-plan-memory: expected a multiple of": OWN,
        "attn-plan-memory: expected barriers of": INPUT,
        "attn-plan-memory: ": INPUT,
        "attn-plan-memory: expected at most  bytes of shared memory": "V11",
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


def fronts():
    """The rules and words that may stand in front."""
    with open(RULES, encoding="utf-8") as file:
        return {INPUT, OWN} | set(re.findall(r"(?m)^\| (\w+) \|", file.read()))


def faults():
    names = [os.path.relpath(path, MIDDLE) for pattern in ("*.cpp", "Specialization/*.cpp", "Pipelining/*.cpp")
             for path in glob.glob(os.path.join(MIDDLE, pattern))]
    # Passes that schedules are no input of.
    others = {"Instrument.cpp", "ResolveLayouts.cpp", "VectorDims.cpp", "VerifySync.cpp"}
    known = fronts()
    for name in sorted(set(names) - others):
        rows = REFUSALS.get(name, {})
        found = list(messages(os.path.join(MIDDLE, name)))
        for message in found:
            if not any(is_like(message, row) for row in rows):
                yield f"{name}: expected a rule in front of '{message}', got none"
        for row, front in rows.items():
            if not any(is_like(message, row) for message in found):
                yield f"{name}: expected the message '{row}', got none like it"
            for word in [front] if front in (INPUT, OWN) else front.split():
                if word not in known:
                    yield f"{name}: expected a rule or a word of V29 in front of '{row}', got '{word}'"
    for name in sorted(set(REFUSALS) - set(names)):
        yield f"expected the file '{name}', got none"


def main():
    found = list(faults())
    print("\n".join(found) or f"{sum(map(len, REFUSALS.values()))} refusals, each behind a rule")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
