# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes that keep the code readable: of files, of classes, and of circles of files that need one another.

A circle is a set of sources each of which needs each other one, by way of includes and of symbols in the objects of
ATTN_BUILD. A source and the header of its name count as one. What this cannot see: calls through virtual functions and
pointers (which is how circles are opened), calls that a compiler inlined from a header (the include shows those), and
methods that TableGen or a macro writes. test/ is left out.
"""

import collections
import os
import re
import shutil
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAX_LINES = 700
MAX_METHODS = 20
MAX_CIRCLE = 20
# Classes that are larger still: how many methods they have. Entries only shrink, and go with the class.
LARGE_CLASSES = {
}
CPP = (".cpp", ".h", ".hpp", ".inc", ".c")
SOURCES = CPP + (".td", ".py", ".cmake", ".txt", ".sh")


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout.split("\0")
    return [path for path in listed
            if path.endswith(SOURCES) and not path.startswith("test/") and os.path.isfile(os.path.join(ROOT, path))]


def read(paths):
    files = {}
    for path in paths:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            files[path] = file.read()
    return files


# Files.


def long_files(files):
    return [f"{path}: {text.count(chr(10))} lines" for path, text in sorted(files.items()) if text.count("\n") > MAX_LINES]


# Classes.

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*',
                   re.S | re.M)
TOKEN = re.compile(r"\w+|::|->|\S")
SKIPPED_GROUPS = ("alignas", "decltype", "__attribute__", "explicit", "noexcept", "requires")
NO_METHODS = ("using", "typedef", "friend", "static_assert", "enum")


def tokens_of(text):
    def blank(match):
        return '""' if match.group()[0] in "R\"'" else " "
    # Digit separators are no quotes.
    return TOKEN.findall(NOISE.sub(blank, re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F]{3})", "", text)))


def past_group(tokens, at, opening, closing):
    """The index behind the group that opens at `at`."""
    depth = 0
    while at < len(tokens):
        depth += (tokens[at] == opening) - (tokens[at] == closing)
        at += 1
        if depth == 0:
            break
    return at


def without_template(tokens):
    while tokens[:2] == ["template", "<"]:
        tokens = tokens[past_group(tokens, 1, "<", ">"):]
    return tokens


def method_of(tokens, owner):
    """(name, number of parameters) that a statement of class `owner` declares, or None."""
    tokens = without_template(tokens)
    if not tokens or tokens[0] in NO_METHODS:
        return None
    at = 0
    while at < len(tokens):
        here = tokens[at]
        if here == "operator":
            end = tokens.index("(", at + 1) if "(" in tokens[at + 1:] else at + 1
            end = end + 2 if tokens[end:end + 2] == ["(", ")"] and end == at + 1 else end
            return ("".join(tokens[at:end]), parameters(tokens, end))
        if here == "=":
            return None
        if here == "<" and at and re.match(r"\w", tokens[at - 1]):
            at = past_group(tokens, at, "<", ">")
        elif here in SKIPPED_GROUPS and tokens[at + 1:at + 2] == ["("]:
            at = past_group(tokens, at + 1, "(", ")")
        elif here == "(":
            name = tokens[at - 1] if at else ""
            if at == 1 and name != owner:
                # A macro, perhaps before a method.
                return method_of(tokens[past_group(tokens, at, "(", ")"):], owner)
            pointer = tokens[at + 1:at + 2] in (["*"], ["&"]) and tokens[at - 1] not in (owner,) and ")" in tokens[at:] \
                and tokens[tokens.index(")", at) + 1:][:1] == ["("]
            name = "~" + name if tokens[at - 2:at - 1] == ["~"] else name
            return None if pointer or not re.match(r"[A-Za-z_~]", name) else (name, parameters(tokens, at))
        else:
            at += 1
    return None


def parameters(tokens, at):
    inside = tokens[at + 1:past_group(tokens, at, "(", ")") - 1]
    if not inside or inside == ["void"]:
        return 0
    count, depth = 1, 0
    for token in inside:
        depth += (token in "(<{[") - (token in ")>}]")
        count += token == "," and depth == 0
    return count


def class_name(statement):
    """The class that a statement before "{" defines, or None."""
    tokens = without_template(statement)
    for at, token in enumerate(tokens):
        if token in ("(", "=", "enum", "namespace"):
            return None
        if token in ("class", "struct", "union"):
            # Behind macros and attributes, before bases and template arguments.
            rest = tokens[at + 1:]
            ends = [i for i, each in enumerate(rest) if each in (":", "<", "final")]
            names = [each for each in rest[:ends[0] if ends else len(rest)] if re.match(r"[A-Za-z_]", each)]
            return names[-1] if names else "(unnamed)"
    return None


def classes(text):
    """{class: its methods} of a file; a method is its name and number of parameters."""
    tokens = tokens_of(text)
    found = collections.defaultdict(set)
    scopes, statement, at = [], [], 0
    # The scope in which a method has begun whose initializers may have braces before its body.
    head = None
    while at < len(tokens):
        token = tokens[at]
        owner = scopes[-1] if scopes else None
        if token == "(":
            end = past_group(tokens, at, "(", ")")
            statement += tokens[at:end]
            at = end
            continue
        if token in "{;":
            name = class_name(statement) if token == "{" else None
            if name:
                name = "::".join([each for each in scopes if each] + [name])
                found.setdefault(name, set())
            elif owner and head != len(scopes):
                method = method_of(statement, owner.split("::")[-1])
                if method:
                    found[owner].add(method)
                    head = len(scopes) if token == "{" else None
            if token == "{":
                scopes.append(name)
            statement = []
        elif token == "}":
            if scopes:
                scopes.pop()
            statement = []
            if head == len(scopes) and tokens[at + 1:at + 2] not in ([","], ["{"]):
                head = None
        elif token == ":" and statement in (["public"], ["private"], ["protected"]):
            statement = []
        else:
            statement.append(token)
        at += 1
    return found


def large_classes(files):
    """{class: number of methods} of those above the bar."""
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


# Circles.

INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)


def rooms(paths):
    """{file: the source that it counts as}: a header counts as the source of its name."""
    sources = collections.defaultdict(list)
    for path in paths:
        if path.endswith(".cpp"):
            sources[os.path.basename(path)[:-4]].append(path)
    room = {}
    for path in paths:
        folder, name = os.path.split(path)
        same = sources[name.rsplit(".", 1)[0]]
        beside = [each for each in same if os.path.dirname(each) == folder]
        below = [each for each in same if each.startswith(folder.removeprefix("include/attn/") + "/")]
        room[path] = path if path.endswith(".cpp") else (beside + [path])[0] if beside or len(below) != 1 else below[0]
    return room


def includes(files):
    """(file, included file) for each include of a file of this tree."""
    by_end = collections.defaultdict(list)
    for path in files:
        parts = path.split("/")
        for i in range(len(parts)):
            by_end["/".join(parts[i:])].append(path)
    for path, text in files.items():
        for included in INCLUDE.findall(text):
            beside = os.path.normpath(os.path.join(os.path.dirname(path), included))
            found = [beside] if beside in files else by_end[included]
            if len(found) == 1:
                yield path, found[0]


def symbol_uses(symbols):
    """(source, source that defines a symbol it uses). `symbols`: {source: (defined, used)}."""
    home = collections.defaultdict(set)
    for path, (defined, _) in symbols.items():
        for name in defined:
            home[name].add(path)
    for path, (_, used) in symbols.items():
        for name in used:
            if len(home.get(name, ())) == 1:
                yield path, next(iter(home[name]))


def circles(files, symbols):
    """The sets of sources that need one another, largest first."""
    files = {path: text for path, text in files.items() if path.endswith(CPP)}
    room = rooms(files)
    needs = collections.defaultdict(set)
    for user, used in [*includes(files), *symbol_uses(symbols)]:
        if room[user] != room[used]:
            needs[room[user]].add(room[used])
    return sorted((each for each in components(needs) if len(each) > 1), key=len, reverse=True)


def components(needs):
    """The strongly connected components of a graph: {node: nodes}. Tarjan's algorithm, without recursion."""
    index, low, path, on_path = {}, {}, [], set()
    for root in list(needs):
        if root in index:
            continue
        work = [(root, iter(needs[root]))]
        index[root] = low[root] = len(index)
        path.append(root)
        on_path.add(root)
        while work:
            node, rest = work[-1]
            for each in rest:
                if each not in index:
                    index[each] = low[each] = len(index)
                    path.append(each)
                    on_path.add(each)
                    work.append((each, iter(needs.get(each, ()))))
                    break
                if each in on_path:
                    low[node] = min(low[node], index[each])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = path.index(node)
                    on_path.difference_update(path[at:])
                    yield sorted(path[at:])
                    del path[at:]


def large_circles(found):
    return [f"{len(each)} sources need one another: " + ", ".join(each) for each in found if len(each) > MAX_CIRCLE]


def objects(build, paths):
    """{source: its object} of what a build has compiled."""
    found = {}
    for folder, _, names in os.walk(build):
        for name in names:
            match = re.fullmatch(r"(.*?)/?CMakeFiles/[^/]+\.dir/(.*)\.o",
                                 os.path.relpath(os.path.join(folder, name), build))
            source = match and os.path.normpath(os.path.join(match.group(1), match.group(2).replace("__/", "../")))
            if source in paths:
                found.setdefault(source, os.path.join(folder, name))
    return found


def read_symbols(by_source):
    """{source: (symbols it defines, symbols it uses)}. What several objects may define is left out."""
    nm = next(filter(None, map(shutil.which, ("nm", "llvm-nm", "llvm-nm-22"))), None)
    if not nm:
        raise AssertionError("expected nm or llvm-nm on the path")
    source_of = {path: source for source, path in by_source.items()}
    listed = subprocess.run([nm, "-A", "-P", *source_of], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                            universal_newlines=True).stdout
    symbols = {source: (set(), set()) for source in by_source}
    for line in listed.splitlines():
        path, _, rest = line.partition(": ")
        name, kind = rest.split()[:2]
        if kind in "TDBRU":
            symbols[source_of[path]][kind == "U"].add(name)
    return symbols


class Structure(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = read(tracked())
        by_source = objects(os.environ["ATTN_BUILD"], cls.files)
        # Fuzzers are built apart.
        missing = [path for path in cls.files
                   if path.endswith(".cpp") and "/fuzz/" not in path and path not in by_source]
        assert not missing, f"expected an object of every source in {os.environ['ATTN_BUILD']}, got none of {missing}"
        cls.symbols = read_symbols(by_source)

    def test_files(self):
        self.assertGreater(len(self.files), 500)
        self.assertEqual(long_files(self.files), [])

    def test_classes(self):
        self.assertEqual(list(class_problems(large_classes(self.files), LARGE_CLASSES)), [])

    def test_circles(self):
        found = circles(self.files, self.symbols)
        self.assertGreater(len(found), 3)
        self.assertEqual(large_circles(found), [])


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
              int twice(int a, std::map<int, long> b = {}); int twice(int a); // twice(long)
              template <typename T, class U> std::function<void(T)> make(U &&u) && { struct Local { void in(); }; return {}; }
              bool operator==(const Outer &other) const; bool operator()(int) const; operator bool() const;
              std::function<void(int)> field; void (*pointer)(int); int value = compute(1); long sum{add(1, 2)};
              using Call = void (int); friend void stranger(Outer &); enum class Kind { a, b }; const char *text = "f();";
              MACRO(1) auto last() -> decltype(f(1));
              class Inner { virtual void one(void) = 0; };
            }; }
            void Outer::outside() {}
        '''
        self.assertEqual(self.methods(text), {"Outer": 10, "Outer::Local": 1, "Outer::Inner": 1})

    def ring(self, count):
        """Sources each of which includes the header of the next, and whose last uses a symbol of the first."""
        files = {f"{i}.cpp": f'#include "{i + 1}.h"\n' for i in range(count - 1)}
        files.update({f"{i}.h": "" for i in range(count)}, **{f"{count - 1}.cpp": ""})
        return files, {"0.cpp": ({"f"}, set()), f"{count - 1}.cpp": (set(), {"f"})}

    def test_a_circle_of_21_sources_is_refused(self):
        self.assertEqual(large_circles(circles(*self.ring(20))), [])
        self.assertEqual(len(large_circles(circles(*self.ring(21)))), 1)

    def test_a_header_in_another_folder_counts_as_its_source(self):
        files = {"include/attn/jit/A.h": "", "jit/lib/A.cpp": "", "jit/lib/B.cpp": '#include "attn/jit/A.h"\n'}
        self.assertEqual(circles(files, {"jit/lib/A.cpp": (set(), {"f"}), "jit/lib/B.cpp": ({"f"}, set())}),
                         [["jit/lib/A.cpp", "jit/lib/B.cpp"]])

    def test_a_row_of_sources_is_no_circle(self):
        self.assertEqual(circles(self.ring(30)[0], {}), [])


class PlantedInTheTree(Structure):
    """A core of the simulator that knows its instructions makes one circle of both."""

    def test_files(self):
        long = dict(self.files, **{"jit/lib/Jit.cpp": self.files["jit/lib/Jit.cpp"] * 3})
        self.assertEqual(len(long_files(long)), 1)

    def test_classes(self):
        path = "runtime/sim/core/cta.h"
        grown = self.files[path].replace("class Cta {\npublic:\n", "class Cta {\npublic:\n" + "".join(f"  int more{i}();\n" for i in range(20)))
        self.assertIn(path + ":Cta", large_classes({path: grown}))

    def test_circles(self):
        defined, used = self.symbols["runtime/sim/core/cta.cpp"]
        rows = {name for source, (names, _) in self.symbols.items() if source.startswith("runtime/sim/ops/") for name in names}
        planted = dict(self.symbols, **{"runtime/sim/core/cta.cpp": (defined, used | rows)})
        self.assertEqual(len(large_circles(circles(self.files, planted))), 1)


if __name__ == "__main__":
    unittest.main()
