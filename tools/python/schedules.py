# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asks the compiler about schedules: the parameters that they are generated from, the entry of a point, and the
entries of the table. docs/tuning.md has the requests."""

import atexit
import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Parameter:
    """A parameter of schedules. `values`: the allowed ones, in words; `words`: all of
    them where they are words. `only`: {another: {"is": or "is_not": a value}}, where it
    matters."""

    def __init__(self, said):
        self.default, self.values, self.words, self.meaning = said["default"], said["values"], said.get("words"), said["meaning"]
        self.kind, self.only = said["kind"], said["only"]
        self.least, self.most, self.step = (said.get(key) for key in ("least", "most", "step"))

    def others(self):
        """Some values that are not the default: all words, and what is next to a number."""
        if self.kind == "number":
            near = [self.default - self.step, self.default + self.step]
            return [value for value in near if self.least <= value <= self.most]
        return {"word": [word for word in self.words or () if word != self.default], "flag": [not self.default],
                "share": ["1/8"], "power": [2 * self.default]}[self.kind]


class ScheduleError(ValueError):
    """The compiler's message about a request that it cannot answer, or about an entry that corresponds to no
    point."""


def beside(*path):
    """A file of the build or installation that this program was started from, else of the
    build folder, else a program on PATH."""
    started = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))
    for folder in (os.environ.get("ATTN_BUILD", started), started, os.path.join(ROOT, "build")):
        found = os.path.join(folder, *path)
        if os.path.exists(found):
            return found
    return shutil.which(path[-1]) or found


class Schedules:
    """A compiler that answers, from the first request on, in a process of its own."""

    def __init__(self, compiler=None):
        self.compiler = compiler or beside("bin", "attn-compile")
        self.process, self.known, self.lock = None, None, threading.Lock()

    def reply(self, line):
        """What the compiler replies to one line."""
        with self.lock:
            if not self.process:
                self.process = subprocess.Popen([self.compiler, "--ask-schedules"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                atexit.register(self.close)
            requests, replies = self.process.stdin, self.process.stdout
            assert requests and replies, "both are pipes"
            with contextlib.suppress(BrokenPipeError):
                requests.write(line + "\n")
                requests.flush()
            found = replies.readline()
            if not found:
                raise RuntimeError(f"{self.compiler} ended with status {self.process.wait()} before it replied")
        return json.loads(found)

    def ask(self, what, **fields):
        """The reply to one request; raises ScheduleError where there is none."""
        reply = self.reply(json.dumps({"ask": what, **fields}))
        if "error" in reply:
            raise ScheduleError(reply["error"])
        return reply

    def close(self):
        """Ends the process; the next request starts another."""
        if self.process:
            with contextlib.suppress(BrokenPipeError):
                self.process.communicate()
            self.process = None
            atexit.unregister(self.close)

    @property
    def vocabulary(self):
        """What requests, entries and machines can say."""
        self.known = self.known or self.ask("vocabulary")
        return self.known

    @property
    def default_machine(self):
        """The machine that is compiled for if none is named."""
        return self.vocabulary["default_machine"]

    @property
    def parameters(self):
        """{name: Parameter}, in the order in which a space is enumerated."""
        return {each["name"]: Parameter(each) for each in self.vocabulary["parameters"]}

    def needs(self, name):
        """Values of other parameters with which a parameter matters."""
        parameters, needs = self.parameters, {}
        for other, asked in parameters[name].only.items():
            allowed = [parameters[other].default, *parameters[other].others()]
            needs[other] = asked["is"] if "is" in asked else next(value for value in allowed if value != asked["is_not"])
        return needs

    def canonical(self, parameters):
        """All parameters of the point that stands for those with the same schedule."""
        return self.ask("point", parameters=parameters)["parameters"]

    def schedule(self, machine, head_dims, parameters, **head):
        """A point's schedule on a machine: "name", "parameters", "rows", and "entry" with
        "registers" or why it is "refused". `head`: symbol, masks, when, rung, tile_d, tile_dv."""
        return self.ask("schedule", head_dims=head_dims, parameters=parameters, **machine_field(machine), **head)

    def renamed(self, entry, symbol, head_dims, masks, when=None):
        """The text of an entry with another name, for other masks and launches."""
        launches = {"when": when} if when else {}
        return self.ask("rename", entry=entry, symbol=symbol, head_dims=head_dims, masks=masks, **launches)["entry"]

    def entries(self, **which):
        """The entries of the table; of a `machine`; of a `file`; or those that the problem
        `head_dims` and `mask` is compiled from on a machine."""
        return [Entry(self, each) for each in self.ask("entries", **which)["entries"]]


@functools.cache
def of(compiler=None):
    """The Schedules of a compiler, of which there is one a program."""
    return Schedules(compiler)


def machine_field(machine):
    """A machine is a name, or the path of a file."""
    return {"machine_file" if machine.endswith(".mlir") else "machine": machine}


class Entry:
    """An entry of the table, as the compiler has read it. `point` and `changed` refuse an entry that corresponds to
    no point."""

    def __init__(self, schedules, read):
        self.schedules, self.read = schedules, read
        self.symbol, self.machine, self.rung, self.rows = (read[key] for key in ("symbol", "machine", "rung", "rows"))
        self.head_dims, self.masks, self.condition = tuple(read["head_dims"]), read["masks"], read.get("when")
        self.machines = read.get("machines", [self.machine])  # those that share it

    @property
    def keys_at_most(self):
        """The number of keys up to which it is chosen; None without such a limit."""
        limits = [bound["value"] for bound in self.read.get("bounds", ()) if (bound["size"], bound["side"]) == ("seqlen_k", "at_most")]
        return limits[0] if limits else None

    @property
    def point(self):
        """{parameter: value}"""
        if "refused" in self.read:
            raise ScheduleError("{file}:{line}: '@{symbol}': {refused}".format(**self.read))
        return self.read["parameters"]

    def changed(self, parameters, conditional=True):
        """The text with other values of some parameters."""
        head = {key: self.read[key] for key in ("symbol", "masks", "rung", "tile_d", "tile_dv")}
        if self.condition and conditional:
            head["when"] = self.condition
        reply = self.schedules.schedule(self.machine, self.head_dims, {**self.point, **parameters}, **head)
        if "refused" in reply:
            raise ScheduleError(f"'@{self.symbol}' on {self.machine}: {reply['refused']}")
        return reply["entry"]
