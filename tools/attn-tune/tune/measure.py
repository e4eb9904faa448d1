# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The measuring side: needs the bundles and the log, a GPU and PyTorch, or the
simulator, but no compiler."""

import concurrent.futures
import datetime
import subprocess

from racing import session as sessions

from tune import problem as problems
from tune.build import plural

PATIENCE_S = 900
# Of a line of a race's results, what a "time" record keeps.
TIMED = ("ms", "min_ms", "max_ms", "rounds", "tflops", "ghz", "ok", "note")


def tasks(view, shapes):
    """(problem, point) of all that is to be measured."""
    return [(name, problems.at_shape(problem, shape)) for name, problem in view.problems.items() for shape in shapes]


def is_measured(view, problem, point):
    shape = problems.shape_name(point)
    return all((name, problem, shape) in view.times for name in view.compiled(problem))


def variants_of(view, folder):
    """{candidate: its bundles}, of those that compiled."""
    found = {}
    for problem in view.problems:
        for name in view.compiled(problem):
            found.setdefault(name, []).append(folder.bundle(name, problem))
    return found


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def race_one(journal, session, problem, point):
    """Measures all candidates at one point, and logs them together: only figures
    of one race can be compared."""
    view = journal.view
    session.settings.skipped = {(name, point.family): note for (name, of), note in view.left_out.items() if of == problem}
    session.torch.manual_seed(session.settings.seed)
    shape = problems.shape_name(point)
    lines = {line["contender"]: line for line in sessions.measure(session, point)}
    records = []
    for name in view.compiled(problem):
        line = lines.get(name)
        timed = {key: line[key] for key in TIMED} if line else {"ok": False, "note": session.broken.get(name, "did not take part")}
        records.append({"record": "time", "candidate": name, "problem": problem, "shape": shape,
                        "session": len(view.sessions) - 1, **timed})
    journal.write(*records)
    return records


def describe(records):
    right = sorted((r for r in records if r["ok"]), key=lambda r: r["ms"])
    top = ", ".join(f"{r['candidate']} {r['tflops']:.0f} @{r['ghz']:.2f}" for r in right[:3]) or "no result"
    return f"{top}; {len(records) - len(right)} of {len(records)} left out or wrong"


def race_all(journal, folder, args, shapes, torch, restart, say):
    """Measures what the log does not have yet. A candidate that hangs or breaks the
    device is logged as such, and `restart` begins anew without it."""
    view = journal.view
    everything = tasks(view, shapes)
    left = [task for task in everything if not is_measured(view, *task)]
    say(f"{plural(len(everything), 'race')}, {len(everything) - len(left)} run before")
    if not left:
        return
    settings = {"rounds": args.rounds, "slice_ms": args.slice_ms, "drop": args.drop, "seed": args.seed}
    session = sessions.Session(torch, sessions.Settings(lib=args.lib, **settings), variants_of(view, folder))
    journal.write({"record": "session", "time": now(), "settings": settings, "environment": session.environment})
    for number, (problem, point) in enumerate(left, len(everything) - len(left) + 1):
        try:
            records = race_one(journal, session, problem, point)
        except sessions.Fatal as fatal:
            say(f"  {fatal}; starting again without it")
            journal.write({"record": "left_out", "candidate": fatal.name, "problem": problem, "note": fatal.note})
            restart()
            return
        say(f"[{number}/{len(everything)}] {point}, {problems.shape_name(point)}: {describe(records)}")


# ---- on the simulator: right or wrong, no times ----


def simulate(runner, bundle, point):
    """"" or what the simulator found wrong."""
    command = [runner, bundle, "--device=sim", f"--q={point.batch}x{point.seqlen}x{point.heads}x{point.d}",
               f"--kv={point.batch}x{point.seqlen}x{point.kv_heads}x{point.d}", "--check", "--guard", f"--timeout={PATIENCE_S // 2}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        return f"did not end within {PATIENCE_S} s"
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line]
    if done.returncode == 0:
        return ""
    return next((line for line in lines if "failed" in line), lines[-1] if lines else f"status {done.returncode}")


def simulate_all(journal, folder, runner, shapes, jobs, say):
    """Checks what the log does not have yet."""
    view = journal.view
    everything = [(name, problem, point) for problem, point in tasks(view, shapes) for name in view.compiled(problem)]
    left = [task for task in everything if (*task[:2], problems.shape_name(task[2])) not in view.checks]
    say(f"{plural(len(everything), 'check')} on the simulator, {len(everything) - len(left)} done before")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            notes = pool.map(lambda task: simulate(runner, folder.bundle(*task[:2]), task[2]), left)
            for number, ((name, problem, point), note) in enumerate(zip(left, notes), len(everything) - len(left) + 1):
                shape = problems.shape_name(point)
                journal.write({"record": "check", "candidate": name, "problem": problem, "shape": shape,
                               "device": "simulator", "ok": not note, "note": note})
                say(f"[{number}/{len(everything)}] {name}, {problem}, {shape}: {note or 'right'}")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return sum(not check["ok"] for check in view.checks.values())
