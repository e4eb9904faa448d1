# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that --help is true: every option that it names is one, every option that the program
takes is named, the environment is read, and the examples work.

usage: help.py BUILD ROOT TOOL
       help.py BUILD ROOT --scripts

Examples run in the current folder, but those that need a GPU."""

import glob
import os
import re
import subprocess
import sys

SECTIONS = ("usage", "exit status", "environment", "examples")
REFUSED = re.compile(r"unknown option|Unknown command line argument|unrecognized arguments")
# Read by the system, LLVM or the driver, and not by name in this tree.
OTHERS_VARIABLES = {"PATH", "TMPDIR", "CUDA_VISIBLE_DEVICES", "HOME", "XDG_CACHE_HOME"}


def run(command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, errors="replace", **options)


def section(text, title):
    """The lines of a section, from its title to the next."""
    found = re.search(rf"^{title}:[^\n]*\n(.*?)(?=^\S|\Z)", text, re.M | re.S | re.I)
    return found[1] if found else ""


def source_text(root):
    """All that may read an environment variable."""
    text = []
    for folder in ("codegen", "jit", "runtime", "tools", "scripts", "test", "python"):
        for path in glob.glob(os.path.join(root, folder, "**", "*"), recursive=True):
            if os.path.isfile(path) and not path.endswith((".pyc", ".md", "help.py")):
                with open(path, encoding="utf-8", errors="replace") as file:
                    text.append(re.sub(r"(?i)^#? ?environment:.*?(?=^\S)", "", file.read(), flags=re.M | re.S))
    return "\n".join(text)


def check_environment(text, root):
    sources = source_text(root)
    for name in sorted(set(re.findall(r"\b(?:ATTN_[A-Z_]+|[A-Z]+_[A-Z_]+|PATH|TMPDIR|HOME)\b", section(text, "environment")))):
        # The library makes ATTN_X of its option "x".
        option = f'"{name[len("ATTN_"):].lower()}"' if name.startswith("ATTN_") else name
        if name not in OTHERS_VARIABLES and not re.search(rf"\b{name}\b", sources) and option not in sources:
            yield f"the variable {name} is read nowhere"


def declared_options(tool, root):
    """The options that the sources of the hand-written parser compare with."""
    if tool != "attn-run":
        return set()
    with open(os.path.join(root, "tools", "attn-run", "options.cpp"), encoding="utf-8") as file:
        return set(re.findall(r'name == "(--[a-z-]+)"', file.read()))


def tool_problems(build, root, tool):
    path = os.path.join(build, "bin", tool)
    done = run([path, "--help"])
    text = done.stdout
    if done.returncode != 0:
        yield f"--help ends with status {done.returncode}"
    for title in SECTIONS:
        if not re.search(rf"^{title}:", text, re.M | re.I):
            yield f"no section '{title}'"
    # "for attn-run --trace" names the option of another tool.
    own = re.sub(rf"\b(?!{tool}\b)attn-[a-z-]+ --[a-z-]+", "", text)
    # attn-opt's passes have options further in, which are spelled --PASS=OPTION.
    own = re.sub(r"^ {8}--.*", "", own, flags=re.M)
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", own))
    for option in sorted(declared_options(tool, root) - named):
        yield f"does not name {option}"
    for option in sorted(named - {"--help"}):
        if REFUSED.search(run([path, option + "="]).stdout) and REFUSED.search(run([path, option]).stdout):
            yield f"names {option}, which is none"
    yield from check_environment(text, root)
    examples = re.findall(rf"^ +({tool} .*)$", section(text, "examples"), re.M)
    if not examples:
        yield "no example"
    env = dict(os.environ, PATH=os.path.join(build, "bin") + os.pathsep + os.environ["PATH"])
    ran = 0
    for example in examples:
        if "--device=cuda" in example or tool == "attn-tune" and "--list" not in example:
            continue
        done, ran = run(example, shell=True, env=env), ran + 1
        if done.returncode != 0:
            yield f"{example}: status {done.returncode}: {done.stdout[-300:]}"
    print(f"{tool}: {len(named)} options, {ran} examples")


def script_problems(root):
    paths = [p for p in sorted(glob.glob(os.path.join(root, "scripts", "*"))) if os.access(p, os.X_OK)]
    for path in paths:
        name = os.path.basename(path)
        done = run([path, "--help"])
        if done.returncode != 0 or f"usage: {name}" not in done.stdout.replace("scripts/", ""):
            yield f"{name}: --help says {done.stdout!r} with status {done.returncode}"
        if run([path, "--no-such-option"]).returncode == 0:
            yield f"{name}: takes an option that is none"
        yield from (f"{name}: {problem}" for problem in check_environment(done.stdout, root))
    print(f"{len(paths)} scripts")


def main():
    build, root, tool = sys.argv[1:]
    tool = os.path.basename(tool)
    problems = list(script_problems(root) if tool == "--scripts" else tool_problems(build, root, tool))
    print("\n".join(problems + [f"{len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
