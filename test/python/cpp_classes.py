# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The classes of a C++ file and the methods that each declares, read without a compiler."""

import collections
import re

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
    """(name, parameters, whether it is const) of the method that a statement of class `owner` declares, or None."""
    tokens = without_template(tokens)
    if not tokens or tokens[0] in NO_METHODS:
        return None
    at = 0
    while at < len(tokens):
        here = tokens[at]
        if here == "operator":
            end = tokens.index("(", at + 1) if "(" in tokens[at + 1:] else at + 1
            end = end + 2 if tokens[end:end + 2] == ["(", ")"] and end == at + 1 else end
            return signature("".join(tokens[at:end]), tokens, end)
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
            return None if pointer or not re.match(r"[A-Za-z_~]", name) else signature(name, tokens, at)
        else:
            at += 1
    return None


def signature(name, tokens, at):
    """The name and parameters of a method, which distinguish it in its class; the parameters begin at `at`."""
    end = past_group(tokens, at, "(", ")")
    return name, " ".join(tokens[at:end]), tokens[end:end + 1] == ["const"]


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
    """{class: its methods} of a file. Overloads are methods of their own."""
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
