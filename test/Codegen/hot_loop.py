#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the instructions in the steady loops of a forward kernel's PTX.

Reads PTX on standard input, finds the innermost loops that issue wgmma and
prints for each how often every opcode occurs:

    loop 2: scores untouched by setp and selp
      order: wait take qk wait pv give wait_group(1) release max ex2 ...
      ex2.approx.ftz.f32 66

Instructions between "begin inline asm" and "end inline asm" that are no wgmma,
mbarrier or vote build descriptors and polls; they count as "asm:" + opcode.
Instructions that run only when a row is rescaled (blocks of multiplications alone) count as
"rescale:" + opcode. Those that run only when a reference is updated (blocks with a logarithm, and
blocks that only they lead to) count as "look:" + opcode, those that subtract a large reference
from the scores as "large:" + opcode, and those that a branch skips in blocks without masks (setp
and selp on scores) as "mask:" + opcode. A score is a result of wgmma with A in shared memory, or
a result of fma or ex2 on one; the other operands of those two are row values. The order names
what takes part in the schedule, once where it repeats: waits for and arrivals on mbarriers (wait,
release) and named barriers (take, give), products with A in shared memory (qk) and in registers
(pv), and the softmax by its mask, look, large, max, ex2, cvt and rescale.
"""

import collections
import re
import sys

LABEL = re.compile(r"^(\$L\w+):")
REGISTER = re.compile(r"%\w+")
# How often an opcode may occur for a thread's two rows, rather than for their elements.
ROW_VALUES = 8
BRANCH = re.compile(r"^(@!?%\w+\s+)?bra(\.uni)?\s+(\$L\w+)")


def parse(lines):
    """The kernel's basic blocks, as lists of (opcode, text, is in asm)."""
    blocks, label, in_asm = {"entry": []}, "entry", False
    order = ["entry"]
    for line in (line.strip() for line in lines):
        if "begin inline asm" in line or "end inline asm" in line:
            in_asm = "begin" in line
            continue
        found = LABEL.match(line)
        if found:
            label = found[1]
            blocks[label] = []
            order.append(label)
            continue
        if not line or line[0] in "/{}.(" or line.endswith(":"):
            continue
        opcode = re.sub(r"^@!?\S+\s+", "", line).split()[0].rstrip(";")
        blocks[label].append((opcode, line, in_asm))
        if BRANCH.match(line) and not in_asm:
            # What follows a conditional branch is a block of its own.
            label = f"{label}+{len(order)}"
            blocks[label] = []
            order.append(label)
    return blocks, order


def successors(blocks, order):
    following = {}
    for label, after in zip(order, order[1:] + [None]):
        following[label] = []
        last = blocks[label][-1] if blocks[label] else ("", "", False)
        branch = None if last[2] else BRANCH.match(last[1])
        if branch:
            following[label].append(branch[3])
        conditional = branch and branch[1]
        if after and (not branch or conditional) and last[0] != "ret":
            following[label].append(after)
    return following


def in_order(header, body, following):
    """The blocks of a loop as they run: reverse postorder from its header."""
    done, seen = [], set()

    def visit(label):
        seen.add(label)
        # The block that falls through last, so that it comes first.
        for target in following[label]:
            if target in body and target not in seen:
                visit(target)
        done.append(label)

    visit(header)
    return done[::-1]


def loops(order, following):
    """Natural loops as (header, blocks), one a header."""
    place = {label: i for i, label in enumerate(order)}
    before = collections.defaultdict(list)
    for label, targets in following.items():
        for target in targets:
            before[target].append(label)
    # Depth-first, to know the back edges.
    state, back, stack = {}, collections.defaultdict(list), [("entry", iter(following["entry"]))]
    state["entry"] = 1
    while stack:
        label, rest = stack[-1]
        target = next(rest, None)
        if target is None:
            state[label] = 2
            stack.pop()
        elif state.get(target) == 1:
            back[target].append(label)
        elif target not in state:
            state[target] = 1
            stack.append((target, iter(following[target])))
    for header, latches in sorted(back.items(), key=lambda item: place[item[0]]):
        body, work = {header}, list(latches)
        while work:
            label = work.pop()
            if label not in body:
                body.add(label)
                work += before[label]
        yield header, in_order(header, body, following)


def is_qk(op, text):
    """A is a descriptor: the only list in braces is the result's."""
    return op.startswith("wgmma.mma_async") and text.count("{") == 1


def touches(op, text, held):
    return op.startswith(("setp.", "selp.")) and held & set(REGISTER.findall(text)[1:])


def is_optional(label, following):
    """Whether a branch skips a block."""
    return any(label in targets and set(following[label]) & set(targets) for targets in following.values())


def rare(body, blocks, following, held):
    """The work of blocks that run only on demand: a rescaling does nothing but multiply, only a
    search for a reference takes logarithms, a large reference is subtracted from all
    scores, and a mask leaves scores for others to use."""
    names = {}
    for label in body:
        ops = [op for op, _, _ in blocks[label] if not op.startswith("bra")]
        if ops and all(op.startswith("mul.") for op in ops):
            names[label] = "rescale"
        elif any(op.startswith("lg2.") for op in ops):
            names[label] = "look"
        elif ops.count("sub.ftz.f32") > ROW_VALUES >= ops.count("fma.rn.ftz.f32"):
            names[label] = "large"
        elif is_optional(label, following) and any(touches(op, text, held) for op, text, _ in blocks[label]):
            names[label] = "mask"
    for label in body:
        before = [names.get(other) for other in body if label in following[other]]
        if label not in names and before and set(before) <= {"look", "large"}:
            names[label] = "look"
    return names


def scores(instructions):
    """Registers that hold scores or probabilities of single elements."""
    first = next(text for op, text, _ in instructions if is_qk(op, text))
    found = set(REGISTER.findall(first.split("{")[1].split("}")[0]))
    for op, text, _ in instructions:
        if op.startswith(("fma.", "ex2.")):
            target, *operands = REGISTER.findall(text)
            if found & set(operands):
                found.add(target)
    return found


def event(op, text, voted):
    """The word for one instruction in the order of its loop, or None."""
    if op.startswith("wgmma.mma_async"):
        return "qk" if is_qk(op, text) else "pv"
    if op.startswith("wgmma.wait_group"):
        return f"wait_group({text.rstrip(';').split()[-1]})"
    if voted:
        return voted
    for start, word in (("mbarrier.try_wait", "wait"), ("mbarrier.arrive", "release"), ("bar.sync", "take"),
                        ("bar.arrive", "give"), ("max.", "max"), ("ex2.", "ex2"), ("cvt.rn.bf16x2", "cvt")):
        if op.startswith(start):
            return word
    return None


def main():
    blocks, order = parse(sys.stdin.read().splitlines())
    following = successors(blocks, order)
    number = 0
    found = [(header, body) for header, body in loops(order, following)
             if any(op.startswith("wgmma.mma_async") for label in body for op, _, _ in blocks[label])]
    for header, body in found:
        if any(other != header and other in body for other, _ in found):
            continue  # a loop around these
        instructions = [item for label in body for item in blocks[label]]
        number += 1
        held = scores(instructions)
        voted = rare(body, blocks, following, held)
        touching = sum(1 for label in body if voted.get(label) != "mask"
                       for op, text, in_asm in blocks[label] if not in_asm and touches(op, text, held))
        print(f"loop {number}: " + (f"setp and selp on scores: {touching}" if touching else
                                    "scores untouched by setp and selp"))
        counts = collections.Counter()
        events = []
        for label in body:
            for op, text, _ in blocks[label]:
                word = event(op, text, voted.get(label))
                if word and events[-1:] != [word]:
                    events.append(word)
        print("  order:", *events)
        for label in body:
            for op, _, in_asm in blocks[label]:
                helper = in_asm and not op.startswith(("wgmma.", "mbarrier.", "vote."))
                prefix = "asm:" if helper else voted[label] + ":" if label in voted else ""
                counts[prefix + op] += 1
        for op, count in sorted(counts.items()):
            print(f"  {op} {count}")
    return 0 if number else "no loop issues wgmma"


if __name__ == "__main__":
    sys.exit(main())
