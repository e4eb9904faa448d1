#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a lit test, with the parts that its cases share repeated in each case.

usage: cases.py FILE

`// -----` cuts FILE into cases. The lines before the first cut are their frame: a case comes
after its frame, or replaces the frame's line `...`. A frame may have several such lines; then
lines `...` divide a case into parts for them, and a case with fewer parts fills the last ones.
After `// =====` comes another frame, with its own cases; the aliases of the first frame hold for
them too. Frames are printed on the lines of the cuts, so that a diagnostic's line number is that
of FILE; one of the frame itself is expected `@above`, on the line after the cut.
"""

import re
import sys

PLACE = re.compile(r"^\.\.\.$", re.MULTILINE)


def code_of(text):
    """Returns `text` on one line, without comments."""
    lines = [line.strip() for line in text.splitlines()]
    return " ".join(line for line in lines if line and not line.startswith("//"))


def framed(frame, case):
    """Returns `case` with the pieces of the frame around its parts."""
    parts = PLACE.split(case)
    places = max(len(frame) - 1, 1)
    if len(parts) > places:
        raise SystemExit(f"expected a case of at most {places} parts, got {len(parts)}:{case}")
    parts = [""] * (places - len(parts)) + parts
    return "".join(f"{piece}{part}" for piece, part in zip(frame, parts)) + "".join(frame[places:])


def written_out(section, aliases):
    """Returns the cases of `section`, each in the section's frame."""
    frame, *cases = re.split(r"^// -----$", section, flags=re.MULTILINE)
    pieces = [code_of(piece) for piece in PLACE.split(aliases + frame)]
    return "\n" * frame.count("\n") + "".join(f"// ----- {framed(pieces, case)}" for case in cases)


def all_cases(text):
    """Returns what a tool is to read of the test `text`."""
    first, *others = re.split(r"^// =====$", text, flags=re.MULTILINE)
    aliases = re.findall(r"^[#!].*\n", first.split("// -----")[0], flags=re.MULTILINE)
    return written_out(first, "") + "".join(written_out(section, "".join(aliases)) for section in others)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if "--help" in sys.argv else 2
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(all_cases(file.read()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
