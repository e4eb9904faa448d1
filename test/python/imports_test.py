# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No module imports itself through others, not even inside a function."""

import ast
import glob
import graphlib
import os
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Folders of modules that find one another, and the package that each is.
SHARED = [("", ("tools", "python")), ("racing", ("tools", "python", "racing"))]
WORLDS = {"the package": [("attn", ("python", "attn"))],
          "the tuner": [*SHARED, ("tune", ("tools", "attn-tune", "tune"))],
          "the bench": [*SHARED, ("", ("bench",))]}


def modules(world):
    """{name: path} of a world."""
    found = {}
    for package, folder in WORLDS[world]:
        for path in glob.glob(os.path.join(ROOT, *folder, "*.py")):
            stem = os.path.basename(path).removesuffix(".py")
            name = package if stem == "__init__" else f"{package}.{stem}".lstrip(".")
            found[name] = path
    return found


def imported(name, path):
    """What a module may mean by its imports, in full."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    package = name if path.endswith("__init__.py") else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(part for part in (package if node.level else "", node.module) if part)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def graph(known):
    # A package's own __init__ is imported by each of its modules, which is no cycle to break.
    return {name: {each for each in imported(name, path) if each in known and not name.startswith(each + ".")} - {name}
            for name, path in known.items()}


class Imports(unittest.TestCase):
    def test_there_is_no_cycle(self):
        for world in WORLDS:
            with self.subTest(world=world):
                edges = graph(modules(world))
                self.assertGreater(sum(map(len, edges.values())), 20)
                try:
                    graphlib.TopologicalSorter(edges).prepare()
                except graphlib.CycleError as error:
                    self.fail(" -> ".join(error.args[1]))

    def test_late_and_relative_imports_count(self):
        edges = graph(modules("the package"))
        self.assertIn("attn._torch_ops", edges["attn._call"])
        self.assertIn("racing.session", graph(modules("the tuner"))["tune.measure"])

    def test_the_tuner_stands_on_nothing_of_the_bench(self):
        bench = set(modules("the bench")) - set(modules("the tuner"))
        self.assertIn("attention", bench)
        for name, path in modules("the tuner").items():
            with self.subTest(module=name):
                self.assertEqual(bench & set(imported(name, path)), set())


if __name__ == "__main__":
    unittest.main()
