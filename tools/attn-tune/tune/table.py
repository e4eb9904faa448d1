# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Winners as entries of the schedule table, with where they come from."""

import os
import textwrap

from tune import problem as problems
from tune.decide import decide_parts


def symbol_of(view, words, serve):
    """The name of the file, and of its last entry, that serves the problems called `words`."""
    d, dv = view.run["space"]["head_dims"]
    stem = f"fwd_d{d}" + (f"_dv{dv}" if dv != d else "")
    return stem if serve == "all" and set(words) == set(problems.SERVED) else "_".join([stem, *words])


def merged(decisions):
    """Decisions of one problem, in the order of its lengths, as (most keys, decisions): one
    for neighbours with the same winner."""
    parts = []
    for decision in decisions:
        if parts and parts[-1][1][-1].winner == decision.winner:
            parts[-1] = decision.most, parts[-1][1] + [decision]
        else:
            parts.append((decision.most, [decision]))
    return parts


def group_problems(decisions):
    """[(words, parts)]: problems with the same winners are one group, that is one file; its
    parts are pairs of most keys and the decisions of all of its problems."""
    by_problem, groups = {}, {}
    for decision in decisions:
        if decision.winner:
            by_problem.setdefault(decision.problem, []).append(decision)
    for problem, found in by_problem.items():
        parts = merged(found)
        winners = tuple((most, part[0].winner) for most, part in parts)
        groups.setdefault(winners, []).append((problem, parts))
    return [([parts[0][1][0].word for _, parts in members],
             [(most, [d for _, parts in members for d in parts[i][1]]) for i, (most, _) in enumerate(winners)])
            for winners, members in groups.items()]


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
        first = decision.first()
        second = next((standing for standing in decision.ranking if standing is not first), None)
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


def masks_of(words, others, serve):
    """The masks of an entry for the problems called `words`, if there is another for `others`.
    Only one of the two serves windows: that for the causal problem, which skips blocks, too."""
    served = problems.SERVED if serve == "all" and "causal" not in others else problems.MEASURED
    masks = dict.fromkeys(mask for word in served if word in words for mask in served[word])
    return sorted(masks, key=lambda mask: mask == "window")


def file_text(view, words, parts, masks, serve, generator):
    """One file of the table: an entry for each range of lengths, the last of them for the rest. The schedules are those that
    were measured, whose text the log has."""
    d, dv = view.run["space"]["head_dims"]
    dims = f"head dims {d}" if d == dv else f"head dims {d} of Q and K and {dv} of V"
    texts = []
    for most, decisions in parts:
        lengths = "" if most is None else f", up to {most} keys"
        head = f"Forward, {dims}, {view.run['target']}, for the masks {', '.join(words)}{lengths}."
        winner = decisions[0].winner
        symbol = symbol_of(view, words, serve) + ("" if most is None else f"_{most}")
        when = None if most is None else f"seqlen_k at_most {most}"
        entry = generator.renamed(view.candidates[winner]["schedule"], symbol, [d, dv], masks, when)
        texts.append(comment([head, *provenance(view, decisions)]) + entry)
    return "".join(texts)


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


def verified_decisions(journal, folder, compiler, margin, split, say):
    """The decisions, made again until every winner serves all that its entry says."""
    decisions = []
    for problem in journal.view.problems:
        serves = False
        while not serves:
            parts = decide_parts(journal.view, problem, margin, split)
            winners = dict.fromkeys(part.winner for part in parts if part.winner)
            serves = all(verify(journal, folder, compiler, winner, problem, say) for winner in winners)
        decisions += parts
    return decisions


def tables(view, decisions, generator, serve="all"):
    """{file name: text} of the entries; `serve`: all that an entry can, or what was measured. `generator`: a
    schedules.Schedules."""
    groups = group_problems(decisions)
    files = {}
    for words, parts in groups:
        others = [word for other, _ in groups if other is not words for word in other]
        files[symbol_of(view, words, serve) + ".mlir"] = file_text(view, words, parts, masks_of(words, others, serve), serve, generator)
    return files


def others_of(path, target, generator):
    """The other machines that share the entries of a file; none if there is no file."""
    if not os.path.exists(path):
        return []
    return sorted({machine for entry in generator.entries(file=path) for machine in entry.machines} - {target})


def write(view, decisions, folder, serve, generator, say):
    """Writes the entries below a folder of the table, in that of the log's machine; returns
    their paths."""
    target = view.run["target"]
    folder = os.path.join(folder, target)
    os.makedirs(folder, exist_ok=True)
    paths = []
    for name, text in tables(view, decisions, generator, serve).items():
        path = os.path.join(folder, name)
        others = others_of(path, target, generator)
        if others:
            say(f"{path} was for {', '.join(others)} too; the new entries are not")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        paths.append(path)
        say(f"wrote {path}")
    return paths
