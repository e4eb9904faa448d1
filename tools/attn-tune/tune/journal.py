# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The log of a search: one JSON object a line, each flushed as it is written, so that a stopped
search can be resumed. docs/tuning.md has the format."""

import json
import lzma
import os

FORMAT = 1
# The kernel that the compiler's own table gives, which the candidates have to beat.
BASELINE = "table"


class JournalError(ValueError):
    """A file that is no log, or the log of another search."""


def parse(data, origin):
    """The records of a log's bytes, and how many bytes they take: a last line that
    a stop cut short is left out."""
    whole = data[: data.rfind(b"\n") + 1]
    records = []
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            record = json.loads(line)
            record["record"]
        except (ValueError, TypeError, KeyError) as error:
            raise JournalError(f'{origin}:{number}: expected an object with "record", got {line[:60]!r}') from error
        records.append(record)
    if records and (records[0]["record"], records[0].get("format")) != ("run", FORMAT):
        raise JournalError(f'{origin}: expected a log that starts with a "run" of format {FORMAT}, got {str(records[0])[:60]}')
    return records, len(whole)


def read(path):
    opened = lzma.open if path.endswith(".xz") else open
    with opened(path, "rb") as file:
        records, _ = parse(file.read(), path)
    if not records:
        raise JournalError(f"{path}: expected a log, got a file without one whole record")
    return records


class Journal:
    """A log that is written on."""

    def __init__(self, path):
        data = b""
        if os.path.exists(path):
            with open(path, "rb") as file:
                data = file.read()
        records, length = parse(data, path)
        self.view = View(records)
        self.file = open(path, "ab")
        self.file.truncate(length)

    def write(self, *records):
        """Writes records together and takes them into account."""
        self.file.write("".join(json.dumps(record) + "\n" for record in records).encode())
        self.file.flush()
        os.fsync(self.file.fileno())
        for record in records:
            self.view.add(record)

    def close(self):
        self.file.close()


class View:
    """The contents of a log; a later record replaces an earlier one about the same thing."""

    def __init__(self, records=()):
        self.run, self.candidates, self.builds, self.checks, self.times = None, {}, {}, {}, {}
        self.sessions, self.left_out, self.verified = [], {}, {}
        for record in records:
            self.add(record)

    def add(self, record):
        kind = record["record"]
        if kind == "run":
            self.run = record
        elif kind == "candidate":
            self.candidates[record["candidate"]] = record
        elif kind == "build":
            self.builds[record["candidate"], record["problem"]] = record
        elif kind == "check":
            self.checks[record["candidate"], record["problem"], record["shape"]] = record
        elif kind == "session":
            self.sessions.append(record)
        elif kind == "time":
            self.times[record["candidate"], record["problem"], record["shape"]] = record
        elif kind == "left_out":
            self.left_out[record["candidate"], record["problem"]] = record["note"]
        elif kind == "verify":
            self.verified[record["candidate"], record["problem"]] = record
        else:
            raise JournalError(f"expected a record of a known kind, got '{kind}'")

    @property
    def problems(self):
        """{name: what the run says of the problem}."""
        assert self.run  # the first record
        return {problem["name"]: problem for problem in self.run["problems"]}

    def compiled(self, problem):
        """The names of the candidates that compiled, the baseline among them."""
        return [name for (name, of), build in self.builds.items() if of == problem and build["ok"]]

    def measured_shapes(self, problem):
        """The shapes at which all of them were measured."""
        names = self.compiled(problem)
        shapes = dict.fromkeys(shape for _, of, shape in self.times if of == problem)
        return [s for s in shapes if all((name, problem, s) in self.times for name in names)]
