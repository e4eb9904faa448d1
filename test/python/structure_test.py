# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Limits that keep the code readable: of files, of classes, and of cycles of sources that need one another.

A cycle is found by the includes of all sources, and by the symbols in the objects of ATTN_BUILD. What this cannot see:
calls through virtual functions and pointers (which is how cycles are opened), calls that a compiler inlined from a header
(the include shows those), and methods that TableGen or a macro writes. What git does not track, and test/, is left out.
"""

import contextlib
import functools
import io
import os
import subprocess
import sys
import tempfile
import unittest

from cpp_classes import classes
from source_graph import CPP, ambiguous, cycles, graph, object_problems, objects, read_symbols

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAX_LINES = 700
MAX_METHODS = 20
MAX_CYCLE = 20
# Classes that are larger still: how many methods they have. Entries only shrink, and go with the class.
LARGE_CLASSES = {}
SOURCES = CPP + (".td", ".py", ".cmake", ".txt", ".sh")
# Symbols that a program looks for in its own objects alone.
ENTRY_POINTS = {"main", "LLVMFuzzerTestOneInput"}


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True,
                            universal_newlines=True).stdout.split("\0")
    return [path for path in listed
            if path.endswith(SOURCES) and not path.startswith("test/") and os.path.isfile(os.path.join(ROOT, path))]


def read(paths):
    files = {}
    for path in paths:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            files[path] = file.read()
    return files


def long_files(files):
    return [f"{path}: {text.count(chr(10))} lines" for path, text in sorted(files.items()) if text.count("\n") > MAX_LINES]


def large_classes(files):
    """{class: number of methods} of those above the limit."""
    large = {}
    for path, text in files.items():
        if path.endswith(CPP):
            for name, methods in classes(text).items():
                if len(methods) > MAX_METHODS:
                    large[f"{path}:{name}"] = len(methods)
    return large


def class_problems(large, allowed):
    for name, count in sorted(large.items()):
        if count > allowed.get(name, MAX_METHODS):
            yield f"{name} has {count} methods"
    for name, count in sorted(allowed.items()):
        if large.get(name, 0) < count:
            yield f"{name}: no longer {count} methods, so its entry has to be {large.get(name, 'removed')}"


def large_cycles(found):
    return [f"{len(each)} sources need one another: " + ", ".join(each) for each in found if len(each) > MAX_CYCLE]


def has_compiler(build):
    """Whether CMake was asked to build the compiler (ATTN_BUILD_COMPILER)."""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        return "ATTN_BUILD_COMPILER:BOOL=OFF\n" not in file.read()


def source_problems(sources, compiled, has_compiler):
    """The faults of the sources that a build compiles: all except fuzzers, which are built separately."""
    left = sorted(path for path in sources if path.endswith(".cpp") and "/fuzz/" not in path and path not in compiled)
    if has_compiler:
        return [f"{path} is in no target: run CMake again" for path in left]
    print(f"note: ATTN_BUILD_COMPILER is OFF: of {len(left)} sources, includes are checked and calls are not", file=sys.stderr)
    return []


@functools.lru_cache(maxsize=None)
def read_tree(build):
    """(files, symbols) of the tracked sources and of the objects of `build`, which must be up to date."""
    files = read(tracked())
    by_source = {source: paths for source, paths in objects(build, ROOT).items() if source in files}
    problems = source_problems(files, by_source, has_compiler(build)) + list(object_problems(by_source, ROOT))
    if problems:
        raise AssertionError(f"expected all of {build} to be built (ninja -C {build}), got {len(problems)} problems:\n  " +
                             "\n  ".join(problems[:10]))
    return files, read_symbols(by_source)


class Structure(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files, cls.symbols = read_tree(os.environ["ATTN_BUILD"])

    def test_files(self):
        self.assertGreater(len(self.files), 500)
        self.assertEqual(long_files(self.files), [])

    def test_classes(self):
        self.assertEqual(list(class_problems(large_classes(self.files), LARGE_CLASSES)), [])

    def test_cycles(self):
        self.assertEqual(large_cycles(cycles(self.files, self.symbols)), [])

    def test_no_include_or_symbol_is_left_out(self):
        found = ambiguous(self.files, self.symbols)
        self.assertEqual({name: paths for name, paths in found.items() if name not in ENTRY_POINTS}, {})

    def test_both_includes_and_symbols_are_seen(self):
        for files, symbols in ((self.files, {}), (dict.fromkeys(self.files, ""), self.symbols)):
            edges = graph(files, symbols)
            self.assertGreater(sum(map(len, edges.values())), len(self.symbols))


class PlantedFaults(unittest.TestCase):
    """That the checks above can fail."""

    def test_a_file_of_701_lines_is_refused(self):
        self.assertEqual(long_files({"a.cpp": "\n" * 700, "b.cpp": "\n" * 701}), ["b.cpp: 701 lines"])

    def methods(self, text):
        return {name: len(methods) for name, methods in classes(text).items()}

    def class_of(self, count):
        return "class A {\npublic:\n" + "".join(f"  int get{i}() const;\n" for i in range(count)) + "};\n"

    def test_a_class_of_21_methods_is_refused(self):
        files = {"a.h": self.class_of(20), "b.h": self.class_of(21)}
        self.assertEqual(list(class_problems(large_classes(files), {})), ["b.h:A has 21 methods"])

    def test_an_entry_of_the_list_only_shrinks(self):
        large = large_classes({"a.h": self.class_of(22)})
        self.assertEqual(list(class_problems(large, {"a.h:A": 22})), [])
        self.assertEqual(list(class_problems(large, {"a.h:A": 21})), ["a.h:A has 22 methods"])
        self.assertIn("has to be 22", "".join(class_problems(large, {"a.h:A": 23})))
        self.assertIn("has to be removed", "".join(class_problems({}, {"a.h:A": 22})))

    def test_methods_are_told_from_what_looks_like_them(self):
        text = r'''
            namespace n { struct Outer final : Base<int (*)(long)> {
              Outer(int a) : a{a}, b{f(a)}, c(2) { call(1); if (a) { other(); } }
              explicit Outer() = default;
              ~Outer();
              int twice(int a, std::map<int, long> b = {}); int twice(int a); int twice(long a); int twice(long a) const; // twice()
              template <typename T, class U> std::function<void(T)> make(U &&u) && { struct Local { void in(); }; return {}; }
              bool operator==(const Outer &other) const; bool operator()(int) const; operator bool() const;
              std::function<void(int)> field; void (*pointer)(int); int value = compute(1); long sum{add(1, 2)};
              using Call = void (int); friend void stranger(Outer &); enum class Kind { a, b }; const char *text = "f();";
              MACRO(1) auto last() -> decltype(f(1));
              class Inner { virtual void one(void) = 0; };
            }; }
            void Outer::outside() {}
        '''
        self.assertEqual(self.methods(text), {"Outer": 12, "Outer::Local": 1, "Outer::Inner": 1})

    def ring(self, count):
        """Sources each of which includes the header of the next, and whose last uses a symbol of the first."""
        files = {f"{i}.cpp": f'#include "{i + 1}.h"\n' for i in range(count - 1)}
        files.update({f"{i}.h": "" for i in range(count)}, **{f"{count - 1}.cpp": ""})
        return files, {"0.cpp": ({"f"}, set()), f"{count - 1}.cpp": (set(), {"f"})}

    def test_a_cycle_of_21_sources_is_refused(self):
        self.assertEqual(large_cycles(cycles(*self.ring(20))), [])
        self.assertEqual(len(large_cycles(cycles(*self.ring(21)))), 1)

    def test_a_header_in_another_folder_counts_as_its_source(self):
        files = {"include/attn/jit/A.h": "", "jit/lib/A.cpp": "", "jit/lib/B.cpp": '#include "attn/jit/A.h"\n'}
        self.assertEqual(cycles(files, {"jit/lib/A.cpp": (set(), {"f"}), "jit/lib/B.cpp": ({"f"}, set())}),
                         [["jit/lib/A.cpp", "jit/lib/B.cpp"]])

    def test_a_row_of_sources_is_no_cycle(self):
        self.assertEqual(cycles(self.ring(30)[0], {}), [])

    def test_what_may_mean_two_files_is_named(self):
        files = {"a/A.h": "", "b/A.h": "", "c/C.cpp": '#include "A.h"\n'}
        self.assertEqual(ambiguous(files, {"x.cpp": ({"f", "g"}, set()), "y.cpp": ({"f"}, {"g"})}),
                         {"an include of c/C.cpp": ["a/A.h", "b/A.h"], "f": ["x.cpp", "y.cpp"]})

    def test_an_object_is_there_and_no_older_than_its_source(self):
        with tempfile.TemporaryDirectory() as root:
            for time, name in enumerate(("old.o", "a.cpp", "new.o")):
                open(os.path.join(root, name), "w").close()
                os.utime(os.path.join(root, name), (time, time))
            old, new, gone = (os.path.join(root, name) for name in ("old.o", "new.o", "gone.o"))
            self.assertEqual(list(object_problems({"a.cpp": [old, new]}, root)), [])
            self.assertEqual(list(object_problems({"a.cpp": [old, gone]}, root)), ["a.cpp is newer than its object"])
            self.assertEqual(list(object_problems({"a.cpp": [gone]}, root)), ["a.cpp has no object"])

    def test_only_a_build_without_the_compiler_may_lack_sources(self):
        sources = ("a.cpp", "b.cpp", "x/fuzz/c.cpp", "d.h")
        self.assertEqual(source_problems(sources, {"a.cpp"}, has_compiler=True), ["b.cpp is in no target: run CMake again"])
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(source_problems(sources, {"a.cpp"}, has_compiler=False), [])
        self.assertIn("of 1 sources, includes are checked and calls are not", said.getvalue())


class PlantedInTheTree(unittest.TestCase):
    """That they can fail on this tree: a core of the simulator that knows its instructions makes one cycle of both."""

    @classmethod
    def setUpClass(cls):
        cls.files, cls.symbols = read_tree(os.environ["ATTN_BUILD"])

    def test_files(self):
        long = dict(self.files, **{"jit/lib/Jit.cpp": self.files["jit/lib/Jit.cpp"] * 3})
        self.assertEqual(len(long_files(long)), 1)

    def test_classes(self):
        path = "runtime/sim/core/cta.h"
        grown = self.files[path].replace("class Cta {\npublic:\n", "class Cta {\npublic:\n" + "".join(f"  int more{i}();\n" for i in range(20)))
        self.assertIn(path + ":Cta", large_classes({path: grown}))

    def test_cycles(self):
        defined, used = self.symbols["runtime/sim/core/cta.cpp"]
        rows = {name for source, (names, _) in self.symbols.items() if source.startswith("runtime/sim/ops/") for name in names}
        planted = dict(self.symbols, **{"runtime/sim/core/cta.cpp": (defined, used | rows)})
        self.assertEqual(len(large_cycles(cycles(self.files, planted))), 1)


if __name__ == "__main__":
    unittest.main()
