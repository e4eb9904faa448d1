# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Components include only those below them, and only their public headers (docs/adr/0033,
0036)."""

import os
import re
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# From the bottom. Components of one level do not include each other.
LEVELS = (("support",), ("dialect", "runtime"), ("passes/schedule",), ("passes/kernels", "passes/middle"),
          ("codegen/launch",), ("codegen/target",), ("codegen/emit",), ("codegen/driver",), ("jit",), ("tools",))
LEVEL = {component: level for level, components in enumerate(LEVELS) for component in components}
# Components that only some of those above may include.
SEEN_BY = {"runtime": ("codegen/driver", "jit", "tools")}
# Folders of one component: those that all of them share, each of which sees only those before it. The others do not see each
# other.
SHARED = {"codegen/target": ("codegen/target/common",), "passes/kernels": ("passes/kernels", "passes/kernels/Tiling")}
# attn-run measures and simulates with the libraries inside the runtime; the fuzzers share how they edit bytes.
INSIDERS = {"tools/attn-run": "runtime", "jit/fuzz": "runtime"}
SOURCES = (".cpp", ".h", ".hpp", ".inc", ".td", ".c")
INCLUDE = re.compile(r'^\s*(?:#\s*)?include "([^"]+)"', re.M)


def component_of(path):
    """The component that a file belongs to; a public header's folder below include/attn says it."""
    path = path.removeprefix("include/attn/")
    return next((each for each in LEVEL if path.startswith(each + "/")), None)


def folder_of(path, component):
    """The folder of a component with parts that a source is in."""
    depth = component.count("/") + 2
    parts = os.path.dirname(path).split("/")
    return "/".join(parts[:depth])


def may_see(upper, lower):
    return upper == lower or LEVEL[upper] > LEVEL[lower] and upper in SEEN_BY.get(lower, (upper,))


def find(included, path, files):
    """The file that an include of `path` means, or None if it is not of this tree."""
    beside = os.path.normpath(os.path.join(os.path.dirname(path), included))
    if beside in files:
        return beside
    if included.startswith("attn/"):
        return "include/" + included
    if included.startswith(("mlir/", "llvm/")):
        return None
    found = [each for each in files if each.endswith("/" + included)]
    own = [each for each in found if component_of(each) == component_of(path)]
    return (own or found or [None])[0]


def include_problem(path, header):
    upper, lower = component_of(path), component_of(header)
    if lower is None:
        return f"{header} belongs to no component"
    if upper != lower:
        if not may_see(upper, lower):
            return f"{upper} does not see {lower}"
        if not header.startswith("include/") and INSIDERS.get(folder_of(path, upper)) != lower:
            return f"the header is private to {lower}"
    elif upper in SHARED and not header.startswith("include/"):
        here, there = folder_of(path, upper), folder_of(header, upper)
        shared = SHARED[upper]
        below = shared[:shared.index(here)] if here in shared else shared
        if there != here and there not in below:
            return f"{here} does not see {there}"
    return None


def include_problems(files):
    """One line for each include that goes up or into a component. `files`: {path: text}."""
    for path, text in files.items():
        if component_of(path) is None:
            continue
        for included in INCLUDE.findall(text):
            header = find(included, path, files)
            problem = header and include_problem(path, header)
            if problem:
                yield f"{path} includes {header}: {problem}"


def libraries(text):
    """(library, those that it links) for each command of a CMakeLists.txt that says so."""
    for _, arguments in re.findall(r"\b((?:attn_)?add_(?:library|component)|target_link_libraries)\(([^()]*(?:\([^()]*\)[^()]*)*)\)", text):
        words = re.findall(r"\w+", arguments)
        yield words[0], [word for word in words[1:] if word.startswith("attn_")]


def link_problems(files):
    """One line for each library that links one of a component above its own."""
    home = {}
    for path, text in files.items():
        for name in re.findall(r"\b(?:attn_)?add_(?:library|component)\((\w+)", text):
            home[name] = path
    for path, text in files.items():
        for name, linked in libraries(text):
            upper = component_of(home.get(name, ""))
            for each in linked if upper else ():
                lower = component_of(home.get(each, ""))
                if lower and not may_see(upper, lower):
                    yield f"{path}: {name} links {each} of {home[each]}: {upper} does not see {lower}"


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout.split("\0")
    return [path for path in listed if os.path.isfile(os.path.join(ROOT, path))]


def read(paths):
    files = {}
    for path in paths:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            files[path] = file.read()
    return files


class Components(unittest.TestCase):
    def test_includes_go_down_and_to_public_headers(self):
        files = read(path for path in tracked() if path.endswith(SOURCES))
        self.assertGreater(len(files), 400)
        self.assertEqual("\n".join(include_problems(files)), "")

    def test_libraries_link_downward(self):
        files = read(path for path in tracked() if os.path.basename(path) == "CMakeLists.txt")
        self.assertGreater(sum(len(linked) for text in files.values() for _, linked in libraries(text)), 20)
        self.assertEqual("\n".join(link_problems(files)), "")

    def test_every_source_of_passes_and_codegen_is_in_a_component_that_is_built(self):
        paths = tracked()
        for path in paths:
            if path.startswith(("passes/", "codegen/")) and path.endswith(SOURCES):
                component = component_of(path)
                self.assertIsNotNone(component, path)
                self.assertIn(component + "/CMakeLists.txt", paths)

    def problems(self, path, included, *others):
        return list(include_problems({path: f'#include "{included}"\n', **dict.fromkeys(others, "")}))

    def test_an_include_that_goes_up_is_refused(self):
        self.assertEqual(self.problems("passes/middle/A.cpp", "attn/codegen/target/Passes.h"),
                         ["passes/middle/A.cpp includes include/attn/codegen/target/Passes.h: passes/middle does not see codegen/target"])
        self.assertEqual(self.problems("codegen/target/common/A.cpp", "attn/passes/middle/Passes.h"), [])

    def test_levels_and_the_runtime_are_kept_apart(self):
        self.assertTrue(self.problems("passes/middle/A.cpp", "attn/passes/kernels/Passes.h"))
        self.assertTrue(self.problems("passes/schedule/A.cpp", "attn/runtime/bundle.h"))
        self.assertTrue(self.problems("include/attn/runtime/bundle.h", "attn/dialect/Attn.h"))
        self.assertEqual(self.problems("codegen/driver/A.cpp", "attn/runtime/bundle.h"), [])

    def test_a_private_header_of_another_component_is_refused(self):
        self.assertEqual(self.problems("jit/lib/A.cpp", "Lowering.h", "codegen/emit/Lowering.h"),
                         ["jit/lib/A.cpp includes codegen/emit/Lowering.h: the header is private to codegen/emit"])
        self.assertTrue(self.problems("passes/middle/A.cpp", "../schedule/B.h", "passes/schedule/B.h"))
        self.assertEqual(self.problems("tools/attn-run/a.h", "b.h", "runtime/lib/b.h"), [])

    def test_chips_and_kernels_are_kept_apart(self):
        self.assertTrue(self.problems("codegen/target/common/A.cpp", "../sm90/B.h", "codegen/target/sm90/B.h"))
        self.assertEqual(self.problems("codegen/target/sm90/A.cpp", "../common/B.h", "codegen/target/common/B.h"), [])
        self.assertTrue(self.problems("passes/kernels/A.cpp", "forward/B.h", "passes/kernels/forward/B.h"))
        self.assertEqual(self.problems("passes/kernels/forward/Tiling/A.cpp", "../../B.h", "passes/kernels/B.h"), [])
        self.assertTrue(self.problems("passes/kernels/A.cpp", "Tiling/B.h", "passes/kernels/Tiling/B.h"))
        self.assertTrue(self.problems("passes/kernels/Tiling/A.cpp", "../forward/B.h", "passes/kernels/forward/B.h"))
        self.assertEqual(self.problems("passes/kernels/forward/A.cpp", "../Tiling/B.h", "passes/kernels/Tiling/B.h"), [])

    def test_the_launch_plan_knows_no_target(self):
        self.assertTrue(self.problems("codegen/launch/A.cpp", "Target.h", "codegen/target/common/Target.h"))
        self.assertTrue(self.problems("include/attn/codegen/launch/A.h", "attn/codegen/target/InlineAsm.h"))
        self.assertEqual(self.problems("codegen/target/common/A.cpp", "attn/codegen/launch/A.h"), [])
        self.assertTrue(self.problems("codegen/target/common/A.cpp", "A.h", "codegen/launch/A.h"))

    def test_a_library_that_links_upward_is_refused(self):
        files = {"dialect/CMakeLists.txt": "attn_add_library(attn_low ${sources} LINK attn_high)",
                 "jit/CMakeLists.txt": "attn_add_component(attn_high LINK attn_low)"}
        self.assertEqual(list(link_problems(files)), ["dialect/CMakeLists.txt: attn_low links attn_high of "
                                                      "jit/CMakeLists.txt: dialect does not see jit"])


if __name__ == "__main__":
    unittest.main()
