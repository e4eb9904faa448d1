# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Winners as entries of the schedule table, with where they come from."""

import os
import textwrap

from tune import problem as problems
from tune.decide import Decision


def renamed(entry, name, symbol, masks):
    """The entry of a candidate as one called `symbol`, for other masks: the schedule that
    was measured, which the log has as text."""
    head, _, rest = entry.split("\n", 2)
    quoted = ", ".join(f'"{mask}"' for mask in masks)
    text = f"{head}\n    masks [{quoted}]\n{rest}"
    return text.replace(f"@{name} ", f"@{symbol} ", 1).replace(f'"{name}"', f'"{symbol}"', 1)


def symbol_of(view, decisions, serve):
    """The name of the entry that serves some of a log's problems."""
    d, dv = view.run["space"]["head_dims"]
    masks = [view.problems[decision.problem]["mask"] for decision in decisions]
    stem = f"fwd_d{d}" + (f"_dv{dv}" if dv != d else "")
    return stem if serve == "all" and set(masks) == set(problems.SERVED) else "_".join([stem, *masks])


def group_by_winner(decisions):
    """{winner: its decisions}."""
    groups = {}
    for decision in decisions:
        if decision.winner:
            groups.setdefault(decision.winner, []).append(decision)
    return groups


def sessions_of(view, decisions):
    """The sessions that the winners' figures are from."""
    used = {view.times[d.winner, d.problem, shape]["session"] for d in decisions for shape in d.shapes}
    return [view.sessions[number] for number in sorted(used)]


def provenance(view, decisions):
    """When and on what an entry was measured, and what it beat: sentences."""
    sentences = []
    for session in sessions_of(view, decisions):
        e, s = session["environment"], session["settings"]
        sentences.append(f"Measured {session['time'][:10]} on {e['gpu']} (driver {e['driver']}, {e['power_limit']}), "
                         f"{s['rounds']} rounds of slices of {s['slice_ms']:g} ms.")
    for decision in decisions:
        first, second = decision.ranking[0], decision.ranking[1] if len(decision.ranking) > 1 else None
        gain = decision.gain()
        if gain:
            gains = decision.gains().values()
            sentences.append(f"{decision.problem}: {gain:.3f} times as fast as the table's kernel before "
                             f"({min(gains):.3f} to {max(gains):.3f} by shape).")
        beaten = f"the next of them, {second.name}, has {second.mean / first.mean:.3f} of its speed" if second else "alone"
        sentences.append(f"{decision.problem}: first of {len(decision.ranking)} at {', '.join(decision.shapes)}; {beaten}. "
                         f"Rounds of a shape lie at most {100 * first.spread:.1f}% apart.")
    run = view.run
    return sentences + [f"Found as {decisions[0].winner} by attn-tune, compiler {run['compiler']}, attn {run['version']}."]


def comment(sentences):
    return "".join(f"// {line}\n" for sentence in sentences for line in textwrap.wrap(sentence, 84))


def entry_text(view, decisions, serve):
    """One file of the table, for all the problems that have the same winner."""
    d, dv = view.run["space"]["head_dims"]
    words = [view.problems[decision.problem]["mask"] for decision in decisions]
    served = problems.SERVED if serve == "all" else problems.MEASURED
    masks = list(dict.fromkeys(mask for word in served if word in words for mask in served[word]))
    dims = f"head dims {d}" if d == dv else f"head dims {d} of Q and K and {dv} of V"
    head = f"Forward, {dims}, {view.run['target']}, for the masks {', '.join(words)}."
    winner = decisions[0].winner
    entry = renamed(view.candidates[winner]["schedule"], winner, symbol_of(view, decisions, serve), masks)
    return comment([head, *provenance(view, decisions)]) + entry


def verify(journal, folder, compiler, name, problem, say):
    """Compiles the candidate for all that its entry will serve, once; returns
    whether it can."""
    view = journal.view
    known = view.verified.get((name, problem))
    if known:
        return known["ok"]
    note = ""
    for served, source in problems.served_sources(view.problems[problem]).items():
        path = folder.put(os.path.join(folder.path, "served", f"{problem}_{served}.mlir"), source)
        reason = compiler.compile(path, path.removesuffix(".mlir") + ".attn", folder.schedule(name))
        if reason:
            note = f"does not serve {served}: {reason['text']}"
            break
    journal.write({"record": "verify", "candidate": name, "problem": problem, "ok": not note, "note": note})
    say(f"{name}, {problem}: {note or 'serves all that its entry says'}")
    return not note


def verified_decisions(journal, folder, compiler, margin, say):
    """The decisions once every winner serves all that its entry says."""
    decisions = []
    for problem in journal.view.problems:
        decision = Decision(journal.view, problem, margin)
        while decision.winner and not verify(journal, folder, compiler, decision.winner, problem, say):
            decision = Decision(journal.view, problem, margin)
        decisions.append(decision)
    return decisions


def tables(view, decisions, serve="all"):
    """{file name: text} of the entries; `serve`: all that an entry can, or what was measured."""
    return {symbol_of(view, group, serve) + ".mlir": entry_text(view, group, serve) for group in group_by_winner(decisions).values()}


def write(view, decisions, folder, serve, say):
    """Writes the entries below a folder of the table, in that of the log's machine; returns
    their paths."""
    folder = os.path.join(folder, view.run["target"])
    os.makedirs(folder, exist_ok=True)
    paths = []
    for name, text in tables(view, decisions, serve).items():
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        paths.append(path)
        say(f"wrote {path}")
    return paths
