# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiling side: every candidate of the space becomes a bundle for every
problem, or is refused by the compiler's verifier or its report of resources."""

import concurrent.futures
import hashlib
import os
import subprocess

import diagnostics
from tune.journal import BASELINE

PATIENCE_S = 300


class Compiler:
    """attn-compile, and the identity of its build."""

    def __init__(self, path, target):
        self.path, self.target = path, target

    def identity(self):
        """The hash of the program and, where it has one beside it, of its library."""
        library = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(self.path))), "lib", "libattn_jit.so")
        digest = hashlib.sha256()
        for path in (self.path, library):
            if os.path.exists(path):
                with open(path, "rb") as file:
                    while block := file.read(1 << 20):
                        digest.update(block)
        return digest.hexdigest()[:16]

    def compile(self, source, output, schedule=None, emit="bundle"):
        """Writes a bundle or another stage; returns None, or why there is none."""
        command = [self.path, source, f"--target={self.target}", f"--emit={emit}", "--json-diagnostics", "-o", output]
        if schedule:
            command.append(f"--schedule={schedule}")
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            return {"kind": "other", "text": f"the compiler did not end within {PATIENCE_S} s"}
        if done.returncode == 0:
            return None
        return diagnostics.reason_of(done.stderr or f"the compiler ended with status {done.returncode}")


class Folder:
    """Where the files of a search are."""

    def __init__(self, path):
        self.path = path

    def log(self):
        return os.path.join(self.path, "log.jsonl")

    def source(self, problem):
        return os.path.join(self.path, "problems", problem + ".mlir")

    def schedule(self, candidate):
        return os.path.join(self.path, "schedules", candidate + ".mlir")

    def bundle(self, candidate, problem):
        return os.path.join(self.path, "bundles", candidate, problem + ".attn")

    def put(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


def plural(count, what):
    return f"{count} {what}{'' if count == 1 else 's'}"


def build_one(folder, compiler, read_plan, name, problem):
    """The record of one candidate's bundle for one problem."""
    output = folder.bundle(name, problem)
    os.makedirs(os.path.dirname(output), exist_ok=True)
    schedule = None if name == BASELINE else folder.schedule(name)
    reason = compiler.compile(folder.source(problem), output, schedule)
    record = {"record": "build", "candidate": name, "problem": problem, "ok": reason is None}
    if reason:
        return {**record, "reason": reason}
    plan = read_plan(output)
    variant = plan["variants"][-1]
    return {**record, "schedule": variant["schedule"], "resources": variant["report"]}


def build_all(journal, folder, compiler, read_plan, jobs, say):
    """Compiles, in parallel, what the log does not have yet; records and prints the
    results in the order of the space."""
    view = journal.view
    for name, candidate in view.candidates.items():
        if name != BASELINE:
            folder.put(folder.schedule(name), candidate["schedule"])
    pairs = [(name, problem) for name in view.candidates for problem in view.problems]
    left = [pair for pair in pairs if pair not in view.builds]
    say(f"{plural(len(view.candidates), 'kernel')} for {plural(len(view.problems), 'problem')}, "
        f"{len(pairs) - len(left)} of {len(pairs)} compiled before")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            records = pool.map(lambda pair: build_one(folder, compiler, read_plan, *pair), left)
            for number, record in enumerate(records, len(pairs) - len(left) + 1):
                journal.write(record)
                verdict = "compiled" if record["ok"] else "refused: {kind}: {text}".format(**record["reason"])
                say(f"[{number}/{len(pairs)}] {record['candidate']}, {record['problem']}: {verdict}")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return sum(build["ok"] for build in view.builds.values())
