# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands of a page, in the current folder, as one shell would.

usage: commands.py PAGE

Those are the blocks marked `sh`, in order; the first command that fails ends it. The
lines of a block marked `text` are in the output of the block before it, in that order;
`...` stands for anything within a line."""

import re
import subprocess
import sys

BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.M | re.S)


def expect(lines, output, commands):
    """Raises where the lines of a `text` block are not in the output."""
    at = 0
    for line in lines:
        pattern = re.compile("^" + ".*".join(map(re.escape, line.split("..."))) + "$", re.M)
        found = pattern.search(output, at)
        if not found:
            sys.exit(f"expected the line {line!r} in the output of\n{commands}\ngot\n{output[-2000:]}")
        at = found.end()


def run(shell, text):
    """The output of a block's commands; ends the test if one fails."""
    shell.stdin.write(text + "\necho :done:\n")
    shell.stdin.flush()
    output = ""
    for line in shell.stdout:
        if line == ":done:\n":
            return output
        output += line
    sys.exit(f"a command of\n{text}\nended with status {shell.wait()}:\n{output[-2000:]}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        blocks = BLOCK.findall(file.read())
    shell = subprocess.Popen(["sh", "-eu"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, universal_newlines=True)
    count, last, output = 0, "", ""
    for kind, text in blocks:
        if kind == "text":
            expect(text.splitlines(), output, last)
        else:
            output, last, count = run(shell, text), text, count + 1
    shell.communicate()
    print(f"{count} blocks of commands")


if __name__ == "__main__":
    main()
