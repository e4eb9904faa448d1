# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which sources depend on which, by their includes and by the symbols of their objects in a
build."""

import collections
import json
import os
import re
import shlex
import shutil
import subprocess

CPP = (".cpp", ".h", ".hpp", ".inc", ".c")
INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)


# Objects.


def objects(build, root):
    """{source: its objects} of what `build` compiles of the tree `root`. One that several targets compile has several."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    found = collections.defaultdict(list)
    for command in commands:
        source = os.path.relpath(os.path.join(command["directory"], command["file"]), root)
        words = shlex.split(command["command"])
        found[source].append(os.path.join(command["directory"], words[words.index("-o") + 1]))
    return dict(found)


def object_problems(by_source, root):
    """The faults of a build's objects: sources without an object, or with an object that is older than the source."""
    for source, paths in sorted(by_source.items()):
        built = [os.path.getmtime(path) for path in paths if os.path.exists(path)]
        if not built:
            yield f"{source} has no object"
        elif max(built) < os.path.getmtime(os.path.join(root, source)):
            yield f"{source} is newer than its object"


def read_symbols(by_source):
    """{source: (symbols it defines, symbols it uses)}. What the linker takes from any object (weak) is left out."""
    nm = next(filter(None, map(shutil.which, ("nm", "llvm-nm", "llvm-nm-22"))), None)
    if not nm:
        raise AssertionError("expected nm or llvm-nm on the path")
    source_of = {path: source for source, paths in by_source.items() for path in paths if os.path.exists(path)}
    listed = subprocess.run([nm, "-A", "-P", *source_of], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                            universal_newlines=True).stdout
    symbols = {source: (set(), set()) for source in by_source}
    for line in listed.splitlines():
        path, _, rest = line.partition(": ")
        name, kind = rest.split()[:2]
        if kind in "TDBRU":
            symbols[source_of[path]][kind == "U"].add(name)
    return symbols


# Edges.


INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)


def units(paths):
    """{file: its unit}: a source is a unit, and a header is part of the source of its name, if there is one."""
    sources = collections.defaultdict(list)
    for path in paths:
        if path.endswith(".cpp"):
            sources[os.path.basename(path)[:-4]].append(path)
    unit = {}
    for path in paths:
        folder, name = os.path.split(path)
        same = sources[name.rsplit(".", 1)[0]]
        beside = [each for each in same if os.path.dirname(each) == folder]
        below = [each for each in same if each.startswith(folder.removeprefix("include/attn/") + "/")]
        unit[path] = path if path.endswith(".cpp") else (beside + [path])[0] if beside or len(below) != 1 else below[0]
    return unit


def included(files):
    """(file, the files that it may mean) for each include of a file of this tree."""
    by_end = collections.defaultdict(list)
    for path in files:
        parts = path.split("/")
        for i in range(len(parts)):
            by_end["/".join(parts[i:])].append(path)
    for path, text in files.items():
        for name in INCLUDE.findall(text):
            beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
            found = [beside] if beside in files else by_end[name]
            if found:
                yield path, found


def defined(symbols):
    """{symbol: the sources that define it}. `symbols`: {source: (defined, used)}."""
    found = collections.defaultdict(set)
    for path, (names, _) in symbols.items():
        for name in names:
            found[name].add(path)
    return found


def needs(files, symbols):
    """(file, file that it needs), by includes and by symbols. What may mean several files is left out; see ambiguous()."""
    yield from ((path, found[0]) for path, found in included(files) if len(found) == 1)
    home = {name: next(iter(paths)) for name, paths in defined(symbols).items() if len(paths) == 1}
    yield from ((path, home[name]) for path, (_, used) in symbols.items() for name in used if name in home)


def ambiguous(files, symbols):
    """{include or symbol that may mean several files: these files}."""
    found = {f"an include of {path}": paths for path, paths in included(files) if len(paths) > 1}
    found.update({name: sorted(paths) for name, paths in defined(symbols).items() if len(paths) > 1})
    return found


def graph(files, symbols):
    """{unit: the units that it needs}."""
    files = {path: text for path, text in files.items() if path.endswith(CPP)}
    unit = units(files)
    found = collections.defaultdict(set)
    for user, used in needs(files, symbols):
        if unit[user] != unit[used]:
            found[unit[user]].add(unit[used])
    return found


def cycles(files, symbols):
    """The sets of units that need one another, largest first."""
    return sorted((each for each in components(graph(files, symbols)) if len(each) > 1), key=len, reverse=True)


def components(edges):
    """The strongly connected components of a graph {node: nodes}: Tarjan's algorithm, without recursion."""
    index, low, path, on_path = {}, {}, [], set()
    for root in list(edges):
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
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
                    work.append((each, iter(edges.get(each, ()))))
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
