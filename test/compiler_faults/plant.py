#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies the tree and plants faults into the copy's compiler, each behind a switch.

    test/compiler_faults/plant.py FOLDER               # this tree
    test/compiler_faults/plant.py FOLDER --every=3     # in one file of three, for a faster build
    test/compiler_faults/plant.py FOLDER --only=passes/schedule    # in files whose paths begin so
    test/compiler_faults/plant.py FOLDER --tree=OTHER  # another checkout, as of another revision

Writes FOLDER, to be built as any tree (README.md), and FOLDER/faults.json: a list of all faults,
whose positions are their numbers. A fault's key says where it is without naming a line, so that the
same fault is found in another revision.
"""

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COMPONENTS = ("dialect", "passes", "codegen")
# What is no code: comments, strings, characters.
QUIET = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
IF = re.compile(r"\bif \(")
# A statement that is one call: `walk(op);`, `builder.create(...);`, `list->add(x);`.
CALL = re.compile(r"[;{}] *\n(?P<indent> {2,})(?P<callee>[a-z][\w.]*(?:->[\w.]+|\(\)\.|\(\)->)*)\(")
RETURN = re.compile(r"\breturn (true|false);")
TERM = re.compile(r"(?<=[\w)\]]) ([-+*/%]) (\d+)(?![\w.'])")
LESS = re.compile(r"(?:(?<=\()|(?<=&& )|(?<=\|\| )|(?<=return ))([\w.]+(?:\(\))?) (<=|<|>=|>) ([\w.]+(?:\(\))?)(?=\)| &&| \|\||;)")
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}

# A piece of a file's text, from `begin` to `end`, and what is written before and after it: # is the fault's number.
Edit = collections.namedtuple("Edit", "kind begin end before after")
ACTIVE = "attn_fault::active(#)"


def masked(text):
    """The text with blanks for what is no code."""
    return QUIET.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def closing(code, begin):
    """The position of the parenthesis that closes the one at `begin`."""
    depth = 0
    for position in range(begin, len(code)):
        depth += {"(": 1, ")": -1}.get(code[position], 0)
        if depth == 0:
            return position
    return None


def conditions(code):
    """(begin, end) of each condition of an `if` that declares nothing."""
    for match in IF.finditer(code):
        end = closing(code, match.end() - 1)
        inside = code[match.end():end]
        if end and not re.search(r"[^=!<>]=[^=]|;", inside):
            yield match.end(), end


def edits(text):
    """The edits of a file. One lies within another or beside it."""
    code = masked(text)
    for begin, end in conditions(code):
        yield Edit("always", begin, end, f"{ACTIVE} || (", ")")
        yield Edit("never", begin, end, f"!{ACTIVE} && (", ")")
    for match in CALL.finditer(code):
        end = closing(code, match.end() - 1)
        if end and code[end + 1] == ";" and not match["callee"].startswith(("assert", "llvm_unreachable", "static_assert")):
            yield Edit("drop", match.start("callee"), end + 1, f"{ACTIVE} ? (void)0 : (void)(", ")")
    for match in RETURN.finditer(code):
        yield Edit("flip", match.start(1), match.end(1), f"{ACTIVE} != ", "")
    for match in TERM.finditer(code):
        line = code[code.rfind("\n", 0, match.start()) + 1:code.find("\n", match.start())]
        if line.startswith("  ") and not re.search(r"constexpr|static|case |enum", line):
            yield Edit("number", match.start(2), match.end(2), "(", f" + int({ACTIVE}))")
    for match in LESS.finditer(code):
        a, sign, b = match.groups()
        yield Edit("edge", match.start(), match.end(), f"({ACTIVE} ? {a} {OTHER[sign]} {b} : ", ")")


def key_of(path, text, edit, seen):
    """Where a fault is, in words that other revisions share: file, kind, the text that it changes and the line
    that this is in, and which of those it is."""
    line = text[text.rfind("\n", 0, edit.begin) + 1:text.find("\n", edit.end)]
    key = " | ".join([os.path.basename(path), edit.kind, " ".join(text[edit.begin:edit.end].split()), " ".join(line.split())])
    seen[key] += 1
    return f"{key} | {seen[key]}"


def plant_file(path, text, faults, excluded):
    """Returns the planted text, and appends to the list of faults."""
    seen = collections.Counter()
    insertions = collections.defaultdict(str)
    # The longer one first, so that it is around the shorter one.
    for edit in sorted(edits(text), key=lambda edit: (edit.begin, -edit.end)):
        key = key_of(path, text, edit, seen)
        if key in excluded:
            continue
        number = str(len(faults))
        insertions[edit.begin] += edit.before.replace("#", number)
        insertions[edit.end] = edit.after.replace("#", number) + insertions[edit.end]
        faults.append({"key": key, "file": path, "line": text.count("\n", 0, edit.begin) + 1, "kind": edit.kind})
    planted, position = [], 0
    for place, inserted in sorted(insertions.items()):
        planted += [text[position:place], inserted]
        position = place
    return "".join(planted) + text[position:]


def plant(folder, tree, only, every, excluded):
    faults = []
    listed = subprocess.check_output(["git", "-C", tree, "ls-files"], universal_newlines=True).split("\n")
    sources = sorted(path for path in listed if path.startswith(tuple(name + "/" for name in COMPONENTS))
                     and path.startswith(only) and path.endswith(".cpp"))
    chosen = set(sources[::every])
    for path in filter(None, listed):
        to = os.path.join(folder, path)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if path not in chosen:
            shutil.copy2(os.path.join(tree, path), to, follow_symlinks=False)
            continue
        with open(os.path.join(tree, path), encoding="utf-8") as file:
            text = file.read()
        header = os.path.relpath("switches.h", os.path.dirname(path))
        planted = f'#include "{header}"\n' + plant_file(path, text, faults, excluded)
        with open(to, "w", encoding="utf-8") as file:
            file.write(planted)
    with open(os.path.join(HERE, "switches.h"), encoding="utf-8") as file:
        switches = file.read().replace("#pragma once\n", f"#pragma once\n\n#define FAULT_COUNT {len(faults)}\n")
    with open(os.path.join(folder, "switches.h"), "w", encoding="utf-8") as file:
        file.write(switches)
    with open(os.path.join(folder, "faults.json"), "w", encoding="utf-8") as file:
        json.dump(faults, file, indent=0)
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--tree", default=ROOT)
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1, help="one file of so many")
    parser.add_argument("--without", help="a file of keys, one a line: faults that do not compile")
    args = parser.parse_args()
    excluded = set()
    if args.without:
        with open(args.without, encoding="utf-8") as file:
            excluded = set(file.read().splitlines())
    faults = plant(args.folder, args.tree, args.only, args.every, excluded)
    kinds = collections.Counter((fault["file"].split("/")[0], fault["kind"]) for fault in faults)
    for (component, kind), count in sorted(kinds.items()):
        print(f"{component:8} {kind:7} {count:5}")
    print(f"{len(faults)} faults")
    return 0


if __name__ == "__main__":
    sys.exit(main())
