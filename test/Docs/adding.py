# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Applies the changes of docs/adding.md, by git. A change that the tree has is taken back from a copy of its files: the
definitions of that copy lack just the records that the change adds, and applying the change again gives today's files, byte for
byte. Any other change adds only what the tree does not have yet. IR files that a change adds are valid.

    adding.py ROOT FOLDER    copies of files are made in the FOLDER"""

import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs"))
import records


class Wrong(Exception):
    """What is wrong with a change."""


def changes(page):
    """{heading: the diff of all changes below it}"""
    sections = re.findall(r"^## (.*)\n((?:(?!^## ).*\n)*)", page, re.M)
    return {title: with_counts("".join(re.findall(r"^```diff\n(.*?)^```$", text, re.M | re.S))) for title, text in sections}


def with_counts(diff):
    """The diff with the numbers that the page leaves out of the heads of hunks: git finds the lines wherever they are."""
    def head(found):
        signs = [line[0] for line in found[1].splitlines()]
        added, removed = (len(signs) - signs.count(sign) for sign in "-+")
        return f"@@ -{min(removed, 1)},{removed} +{min(added, 1)},{added} @@\n{found[1]}"

    return re.sub(r"^@@\n((?:(?!--- )[ +-].*\n)*)", head, diff, flags=re.M)


def paths(diff):
    return list(dict.fromkeys(re.findall(r"^\+\+\+ b/(.*)$", diff, re.M)))


def apply(diff, folder, *options):
    """Applies the diff to the files in the folder; returns git's message if that fails, else "". Without --unidiff-zero, a hunk
    without lines before or after it would have to be at an end of its file."""
    above = {**os.environ, "GIT_CEILING_DIRECTORIES": os.path.dirname(os.path.abspath(folder))}
    done = subprocess.run(["git", "apply", "--unidiff-zero", *options, "-"], cwd=folder, env=above, input=diff, capture_output=True, text=True)
    return done.stderr


def read(*path):
    """The text of a file; None if there is none."""
    path = os.path.join(*path)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def check_places(diff, root):
    """git takes the first place that fits a hunk: there has to be only one."""
    for part in re.split(r"^(?=--- )", diff, flags=re.M)[1:]:
        path, text = paths(part)[0], read(root, paths(part)[0])
        for hunk in re.split(r"^@@.*\n", part, flags=re.M)[1:]:
            after = "".join(line[1:] for line in hunk.splitlines(keepends=True) if line[0] != "-")
            if text is not None and text.count(after) > 1:
                raise Wrong(f"{path}: expected one place for the hunk, got {text.count(after)}:\n{hunk}")


def records_of(root, path):
    """The names of the records of a .td file."""
    try:
        text = records.tablegen("llvm-tblgen", "--dump-json", definitions=os.path.relpath(path, "include/attn"), root=root)
    except SystemExit as refused:
        raise Wrong(f"without the change, {refused}") from None
    return {name for name in json.loads(text) if not name.startswith("!")}


def check_records(diff, root, copy):
    """Requires: of the copy's definitions, just those are missing that the change adds."""
    for path in paths(diff):
        if path.endswith(".td"):
            added = set(re.findall(r"^\+def (\w+)", diff, re.M))
            missing = records_of(root, path) - records_of(copy, path)
            if not added or {name for name in missing if not name.startswith("anonymous")} != added:
                raise Wrong(f"{path}: expected to define {', '.join(sorted(added))} by the change, got {', '.join(sorted(missing))}")


def check_ir(diff, folder):
    """Requires: the files of IR are valid, and so are machines."""
    for path in paths(diff):
        if path.endswith(".mlir"):
            path = os.path.join(folder, path)
            expect_success(["attn-opt", path, "-o", os.devnull])
            if os.path.basename(os.path.dirname(path)) == "machines":
                request = {"ask": "schedule", "machine_file": path, "head_dims": [128, 128], "parameters": {}}
                reply = json.loads(expect_success(["attn-compile", "--ask-schedules"], json.dumps(request)))
                if "entry" not in reply:
                    raise Wrong(f"{path}: expected a machine for which schedules are generated, got {reply}")


def expect_success(command, given=""):
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    if done.returncode:
        raise Wrong(done.stderr)
    return done.stdout


def copy_files(root, folder, diff):
    """Copies what the definitions include, and what the diff changes."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(root, "include"), os.path.join(folder, "include"))
    for path in paths(diff):
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.exists(os.path.join(root, path)):
            shutil.copy(os.path.join(root, path), target)


def adds_to(diff, root):
    """Whether the change adds a file that the tree does not have."""
    return any(not os.path.exists(os.path.join(root, path)) for path in re.findall(r"^--- /dev/null\n\+\+\+ b/(.*)$", diff, re.M))


def make(diff, folder, *options):
    message = apply(diff, folder, *options)
    if message:
        raise Wrong(message)


def check(diff, root, folder):
    """Takes one change back and makes it again, or only makes it; returns which."""
    if not paths(diff):
        raise Wrong("expected a change, got none")
    copy_files(root, folder, diff)
    is_new = adds_to(diff, root)
    if not is_new:
        check_places(diff, root)
        make(diff, folder, "-R")
        check_records(diff, root, folder)
    make(diff, folder)
    different = [path for path in paths(diff) if read(folder, path) != read(root, path)]
    if different and not is_new:
        raise Wrong(f"expected today's files again, got others: {', '.join(different)}")
    check_ir(diff, folder)
    return "makes what is new" if is_new else "makes today's files"


def main(root, folder):
    errors, found = 0, {}
    for title, diff in changes(read(root, "docs", "adding.md")).items():
        try:
            found[title] = check(diff, root, os.path.join(folder, "copy"))
        except Wrong as wrong:
            errors += 1
            found[title] = f"wrong: {wrong}"
    print("".join(f"{title}: {verdict}\n" for title, verdict in found.items()) + f"{len(found)} changes, {errors} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
