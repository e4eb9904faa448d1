#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Spells the reference schedules as MLIR, and checks the compiler's verdicts.

reference/*.tile are programs, reference/*.sched schedules for them, and
reference/mutations.txt edits of the schedules with the rules that must reject
them ("legal": none does).

  spell.py --list                  names of all cases
  spell.py CASE...                 their modules
  spell.py --check ATTN_OPT        one run over all cases, verdicts compared
  spell.py --words ATTN_OPT        the words of rule V29 that stop the legal schedules for Hopper
"""
import os
import re
import subprocess
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference")


# ------------------------------------------------------------------ programs
class Program:
    """A *.tile file: ops with their region, and the loop around some of them."""

    OP = re.compile(r"\s*(?:(%[\w, %]+?) = )?tile\.(\w+)\s+(.*?)\s*\{id = @(\w+)(, in = masked)?\}(?:\s*:\s*(.*))?$")

    def __init__(self, text):
        self.before, self.loop, self.after = [], [], []
        self.carried = self.final = self.yielded = ()
        where = self.before
        for line in text.splitlines():
            if m := re.search(r"(%[\w, %]+?) = tile\.for %(\w+) .*ranges\(([^)]*)\).*iter_args\(([^)]*)\)", line):
                self.final = re.findall(r"%(\w+)", m[1])
                self.counter = m[2]
                self.inits = dict(re.findall(r"%(\w+) = ([-\w]+)", m[4]))
                self.carried = list(self.inits)
                where = self.loop
            elif "tile.yield" in line:
                self.yielded = re.findall(r"%(\w+)", line)
                where = self.after
            elif m := self.OP.match(line):
                results = re.findall(r"%(\w+)", m[1] or "")
                types = re.findall(r"\w+<[^>]*>|work", m[6] or "")
                accumulator = re.search(r"acc\(%(\w+)\)", m[3])
                reads = [x for x in re.findall(r"%(\w+)", m[3]) if x[0].islower() and x not in ("i", "j")]
                where.append(dict(op=m[2], name=m[4], masked=bool(m[5]), results=list(zip(results, types)),
                                  reads=reads, args=re.findall(r"%([A-Z]\w*)", m[3]),
                                  acc=accumulator and accumulator[1]))


class Speller:
    """One program for one configuration."""

    def __init__(self, program, kind, config):
        self.p, self.kind, self.config = program, kind, config
        self.types, self.lines, self.count, self.arguments = {}, [], 0, {}
        self.access = {}

    def type(self, text):
        if text == "work":
            return "!tile.work"
        names = re.findall(r"\w+", text)
        element = "f32"
        if names[0] == "tile":
            element = {"e": "bf16", "4": "f32"}[names.pop()]
        size = [self.config[x] for x in names[1:]]
        return "tensor<" + "".join(f"{x}x" for x in size) + element + ">"

    def fresh(self, prefix="x"):
        self.count += 1
        return f"%{prefix}_{self.count}"

    def argument(self, name, tile):
        """The tensor in memory that a tile of this type comes from."""
        shape = tile[7:-1].split("x")
        dims = "?x?x?x" + "x".join(shape[1:])
        self.arguments[name] = f"tensor<{dims}>"
        return self.arguments[name]

    # -- bodies
    def body(self, op, inner):
        """Lines of a step's body and the values that it yields. `inner`: operand to block argument."""
        kind, lines, operands = op["op"], [], [(inner[r], self.types[r]) for r in op["reads"]]
        tiles = [o for o in operands if o[1] != "!tile.work"]
        results = [self.type(t) for _, t in op["results"]]
        if kind == "next_work":
            lines.append("%y_0 = tile.next_work extents(%c1, %c1, %c1)")
            return lines, ["%y_0"]
        if kind in ("load", "load_row", "store", "store_row", "store_reg", "reduce_add"):
            work = next(o for o in operands if o[1] == "!tile.work")[0]
            lines.append(f"%b_0, %h_0, %i_0 = tile.work_coords {work}")
            loads = kind.startswith("load")
            tile = results[0] if loads else tiles[0][1]
            memory = self.argument(op["args"][0], tile)
            self.access[op["args"][0]] = "" if loads else " accumulate" if kind == "reduce_add" else " write"
            where = "at(%i_0, %h_0, %b_0)" + ("" if kind.endswith("row") else " #bshd")
            if loads:
                lines.append(f"%y_0 = tile.{kind} %{op['args'][0]} {where} : {memory} -> {tile}")
                return lines, ["%y_0"]
            lines.append(f"tile.{kind} {tiles[0][0]}, %{op['args'][0]} {where} : {tile}, {memory}")
            return lines, []
        if kind == "mma":
            return self.mma(op, inner, results[0])
        outs = []
        for n, result in enumerate(results):
            y = f"%y_{n}"
            same = next((o for o in tiles if o[1] == result), None)
            if kind == "cast":
                lines.append(f"{y} = arith.truncf {tiles[0][0]} : {tiles[0][1]} to {result}")
            elif kind == "rowsum":
                lines.append(f"%sum_0 = tile.reduce add {tiles[0][0]} dim 1 partial : {tiles[0][1]} -> {result}")
                lines.append(f"{y} = math.fma {tiles[1][0]}, {tiles[2][0]}, %sum_0 : {result}")
            elif same:
                lines.append(f"{y} = math.exp2 {same[0]} : {result}")
            else:
                lines.append(f"{y} = arith.constant dense<1.0> : {result}")
            outs.append(y)
        return lines, outs

    def mma(self, op, inner, result):
        lines, (a, b) = [], op["reads"][:2]
        shape = lambda t: t[7:-1].split("x")[:2]
        rows, columns = shape(result)
        a_name, a_type = inner[a], self.types[a]
        contracted = shape(a_type)[1]
        if shape(a_type)[0] != rows or contracted not in shape(self.types[b]):
            contracted = shape(a_type)[0]
            a_type = f"tensor<{rows}x{contracted}xbf16>"
            lines.append(f"%turned_0 = builtin.unrealized_conversion_cast {a_name} : {self.types[a]} to {a_type}")
            a_name = "%turned_0"
        transposed = shape(self.types[b]) == [columns, contracted] and op["name"] in ("qk", "dp")
        acc = f" acc({inner[op['acc']]} : {result})" if op["acc"] else ""
        lines.append(f"%y_0 = tile.mma {a_name}, {inner[b]}{acc}{' transpose_b' if transposed else ''}"
                     f" : {a_type}, {self.types[b]} -> {result}")
        return lines, ["%y_0"]

    # -- structure
    def step(self, op, indent):
        for name, text in op["results"]:
            self.types[name] = self.type(text)
        reads = list(dict.fromkeys(op["reads"]))
        inner = {r: f"%in_{n}" for n, r in enumerate(reads)}
        lines, outs = self.body(op, inner)
        results = [self.types[n] for n, _ in op["results"]]
        left = ", ".join(f"%{n}" for n, _ in op["results"])
        pad = " " * indent
        self.lines.append(f"{pad}{left + ' = ' if left else ''}tile.step @{op['name']} {'masked ' if op['masked'] else ''}"
                          f"({', '.join('%' + r for r in reads)}) : ({', '.join(self.types[r] for r in reads)}) -> "
                          f"({', '.join(results)}) {{")
        if reads:
            self.lines.append(f"{pad}^bb0({', '.join(f'{inner[r]}: {self.types[r]}' for r in reads)}):")
        self.lines += [f"{pad}  {x}" for x in lines]
        self.lines.append(f"{pad}  tile.yield {', '.join(outs) + ' : ' + ', '.join(results) if outs else ''}".rstrip())
        self.lines.append(pad + "}")

    def loop(self):
        p, body_types = self.p, {n: t for op in self.p.loop for n, t in op["results"]}
        for arg, final, value in zip(p.carried, p.final, p.yielded):
            self.types[arg] = self.types[final] = self.type(body_types[value])
        types = [self.types[a] for a in p.carried]
        for a in p.carried:
            value = {"-inf": "0xFF800000"}.get(p.inits[a], "0.0")
            self.lines.append(f"      %{a}_init = arith.constant dense<{value}> : {self.types[a]}")
        kinds = ["full"] if self.kind == "combine" else ["masked", "full"]
        bounds = [f"%end_{n}" for n in range(len(kinds) + 1)]
        self.lines.append(f"      {', '.join(bounds)} = tile.bounds %w : {', '.join(['i32'] * len(bounds))} {{")
        self.lines.append("      ^bb0(%in_0: !tile.work):")
        self.lines.append(f"        tile.yield {', '.join(['%c1'] * len(bounds))} : {', '.join(['i32'] * len(bounds))}")
        self.lines.append("      }")
        self.lines.append(f"      {', '.join('%' + f for f in p.final)} = tile.for ranges <down [{', '.join(kinds)}]> bounds({', '.join(bounds)})"
                          f" init({', '.join(f'%{a}_init' for a in p.carried)}) : ({', '.join(types)}) -> ({', '.join(types)}) {{")
        self.lines.append(f"      ^bb0(%{p.counter}: i32, {', '.join(f'%{a}: {t}' for a, t in zip(p.carried, types))}):")
        for op in p.loop:
            self.step(op, 8)
        self.lines.append(f"        tile.yield {', '.join('%' + y for y in p.yielded)} : {', '.join(types)}")
        self.lines.append("      }")

    def names(self):
        """The names of the values, where they are not those of the kernels of the kind: in a backward program M counts queries."""
        return f"attributes {{attn.values = {read('bwd.names').strip()}}} " if self.kind == "bwd" else ""

    def kernel(self, name, schedule):
        for op in self.p.before:
            self.step(op, 6)
        self.loop()
        for op in self.p.after:
            self.step(op, 6)
        c = self.config
        args = ", ".join(f'"{a.lower()}"{self.access[a]}' for a in self.arguments)
        head = (f"  tile.kernel @{name} args [{args}]\n"
                f"      problem <kind = {self.kind}, dtype = bf16, head_dim = {c['D']}, head_dim_v = {c['DV']}, layout = bshd,"
                f" mask = {'causal_bottom_right' if c['mask'] == 'causal' else 'none'}, score_region = absent, mask_region = absent>\n"
                f"      config <tile_m = {c['M']}, tile_n = {c['N']}, work = {c['work'].split('(')[0]}>\n"
                f"      schedule {schedule} {self.names()}{{")
        block = "  ^bb0(" + ", ".join(f"%{a}: {t}" for a, t in self.arguments.items()) + "):"
        return "\n".join([head, block, "    %c1 = arith.constant 1 : i32", "    tile.work {"] + self.lines +
                         ["    }", "  }"])


# ----------------------------------------------------------------- schedules
ENTRY = re.compile(r"^(?:(once|last\+|last|some):)?(?:(get|put|take|give|sync|sig|wait|commit|await)\()?(\w+)(?:\[(\d)\])?"
                   r"(?:\.(\d))?\)?(?:@(\d+))?$")
GUARD = {"once": "once", "last": "last", "last+": "last_nonempty", "some": "nonempty"}


def spell_entry(text):
    guard, act, name, tile, part, shift = ENTRY.match(text).groups()
    out = name + (f"[{tile}]" if tile else "")
    out = f"{act}({out})" if act else out + (f" : {part}" if part else "")
    return (f"{GUARD[guard]} : " if guard else "") + out + (f" + {shift}" if shift and shift != "0" else "")


def spell_place(text):
    text = re.sub(r"parts (\S+)", lambda m: "parts(" + ", ".join(x.replace("/", " of ") for x in m[1].split(",")) + ")", text)
    text = re.sub(r"for (\S+)", lambda m: "for(" + m[1].replace(",", ", ") + ")", text)
    text = text.replace("[1-t]", "[cross]").replace("full implied", "full_implied").replace("free implied", "free_implied")
    return re.sub(r"\s+", " ", text.replace("|", " | ").replace("+", " + "))


def spell_split(text):
    text = re.sub(r"whole (\S+)", lambda m: "whole(" + m[1].replace(",", ", ") + ")", text)
    return re.sub(r"also (\S+)", lambda m: "also(" + m[1].replace(":", " : ").replace(",", ", ") + ")", text)


def spell_knobs(words):
    for word in words:
        key, value = word.split("=")
        if key == "peel":
            yield "knob peel " + value.replace(",", "_")
        else:
            n, d = (value.split("/") + ["1"])[:2]
            yield f"knob exp2_soft {n} of {d}"


def spell_schedule(text):
    """The schedule as an attribute, its kernel's name and its configuration."""
    head = re.search(r"#attn.schedule @(\w+) kernel (\w+) machine (\w+)", text)
    config = dict(re.findall(r"(\w+)=(\S+)", re.search(r"^config (.*)$", text, re.M)[1]))
    out = [f'<"{head[1]}" machine "{head[3]}" {{']
    for line in text.splitlines():
        line = re.sub(r"\s+", " ", line.split("//")[0]).strip()
        words = line.split()
        if not words or words[0] in ("config", "{") or words[0].startswith("#"):
            continue
        if words[0] == "split":
            out.append(spell_split(line))
        elif words[0] == "remat":
            out.append("remat(" + ", ".join(words[1:]) + ")")
        elif words[0] in ("chan", "hold"):
            out.append(spell_place(line))
        elif words[0] == "edge":
            out.append(re.sub(r"(joins \w+)\.", r"\1 : ", line))
        elif words[0] == "knob":
            out += spell_knobs(words[1:])
        elif words[0] in ("before", "kv", "after"):
            out.append(words[0] + " { " + " ".join(spell_entry(x) for x in words[1:]) + " }")
        else:
            out.append(line)
    out[-1] += ">"
    return "\n        ".join(out), head[2], config


# --------------------------------------------------------------------- cases
def read(name):
    with open(os.path.join(HERE, name)) as f:
        return f.read()


def cases():
    """(name, why, text of the schedule, rules: empty for a legal one)"""
    texts = {f[:-6]: read(f) for f in sorted(os.listdir(HERE)) if f.endswith(".sched")}
    out = [(n, "as written", t, []) for n, t in texts.items()]
    for number, row in enumerate(r for r in read("mutations.txt").split("\n\n") if r.strip()):
        f = dict(x.split(": ", 1) if ": " in x else (x.rstrip(": "), "") for x in row.strip().splitlines())
        text = texts[f["in"]]
        for x in ("", "2", "3", "4", "5", "6"):
            if "old" + x in f:
                assert f["old" + x] in text, f["old" + x]
                new = f.get("new" + x, "").replace("<none>", "").replace("; ", "\n  ")
                text = text.replace(f["old" + x], new, 1)
        rules = [] if f["rule"] == "legal" else f["rule"].split("/")
        out.append((f"{f['in']}_m{number}", f["why"], text, rules))
    return out


def spell(name, text):
    schedule, kind, config = spell_schedule(text)
    return Speller(Program(read(kind + ".tile")), kind, config).kernel(name, schedule)


def module(chosen):
    text, starts = "#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>\nmodule {\n", {}
    for name, _, schedule, _ in chosen:
        starts[text.count("\n") + 1] = name
        text += spell(name, schedule) + "\n"
    return text + "}\n", starts


def check(opt):
    every = cases()
    text, starts = module(every)
    run = subprocess.run([opt, "-attn-verify-schedule=lowering=false", "-o", os.devnull, "-"], input=text, capture_output=True, text=True)
    got = {}
    for line, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", run.stderr, re.M):
        name = starts.get(int(line))
        if name is None:
            sys.exit(f"an error outside the schedules: line {line}: {message}")
        got.setdefault(name, message)
    wrong = 0
    for name, why, _, rules in every:
        message = got.get(name, "")
        rule = (re.search(r"\b(V\d+): ", message) or ["", ""])[1]
        ok = (rule in rules) if rules else not message
        wrong += not ok
        expected = "/".join(rules) or "legal"
        print(f"{'ok   ' if ok else 'WRONG'} {name}: {why}: expected {expected}, got {message or 'legal'}")
    if run.returncode not in (0, 1):
        sys.exit(f"attn-opt ended with {run.returncode}:\n{run.stderr[-2000:]}")
    rejected = sum(1 for c in every if c[3])
    print(f"{rejected} illegal and {len(every) - rejected} legal schedules, {wrong} verdicts wrong")
    sys.exit(1 if wrong else 0)


def words(opt):
    """Prints what stops each legal schedule of a machine that the compiler has lowerings for."""
    legal = [case for case in cases() if not case[3]]
    text, starts = module(legal)
    run = subprocess.run([opt, "-attn-verify-schedule", "-o", os.devnull, "-"], input=text, capture_output=True, text=True)
    got = {}
    for line, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", run.stderr, re.M):
        got.setdefault(starts[int(line)], message)
    for name, *_ in legal:
        word = re.search(r"V29: .*\('(\w+)'\)$", got.get(name, ""))
        if not word or word[1] != "anything":
            print(f"{name}: {word[1] if word else got.get(name, 'none')}")


def main():
    if sys.argv[1:2] == ["--words"]:
        return words(sys.argv[2])
    if sys.argv[1:2] == ["--check"]:
        check(sys.argv[2])
    names = {c[0]: c for c in cases()}
    if sys.argv[1:] == ["--list"]:
        print("\n".join(names))
    else:
        print(module([names[n] for n in sys.argv[1:]])[0], end="")


if __name__ == "__main__":
    main()
