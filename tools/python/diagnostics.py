# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What attn-compile writes with --json-diagnostics."""

import json


def read(messages):
    """The diagnostics and decisions, as dictionaries. Other lines are those of the system, or of a program that the
    compiler runs: errors for no known reason."""
    found = []
    for line in messages.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            found.append({"severity": "error", "message": line, "notes": [], "reason": "other"})
    return found


def reason_of(messages):
    """{"kind", "text"} of the first error: why the compiler refuses, in a word and in its own words with the first note."""
    errors = [each for each in read(messages) if each["severity"] == "error"]
    if not errors:
        return {"kind": "other", "text": "no message"}
    first = errors[0]
    return {"kind": first["reason"], "text": "; ".join([first["message"], *first["notes"][:1]])}


def decisions_of(messages, name):
    """The decisions of the pass `name` (without "attn-"), with --explain: a dictionary each."""
    return [each["decision"] for each in read(messages) if each.get("pass") == name]
