# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Problems as IR: what is fixed when a kernel is compiled, and its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ._captures import region_type, value_in_region
from ._masks import BOUNDS


# Tensors of a launch before those that functions read, whose names have no dots.
DROPOUT_STATE, SINKS = "attn.dropout_state", "attn.sinks"
_OPERANDS = ("q", "k", "v")
# The texts of problems, and the names of their tensors.
_written: dict[str, tuple[str, ...]] = {}


def tensor_names(ir: str) -> tuple[str, ...] | None:
    """The names of q, k, v and captured tensors of a problem, in the order of a launch; None if this process did not write it."""
    return _written.get(ir)


@dataclass(frozen=True)
class Region:
    """The body of a score or mask region; `%s`, `%b`, `%h`, `%i`, `%j` and the
    captures are its arguments."""

    lines: tuple[str, ...]
    result: str


class Sizes(NamedTuple):
    """Sizes for which a kernel is compiled alone."""

    queries: int
    heads: int
    kv_heads: int


@dataclass(frozen=True)
class Problem:
    """What is fixed when a kernel is compiled. Tensors are (batch, position,
    head, dim). Lengths, strides, scale, bounds of windows and captures are
    arguments of the launch; heads and the number of queries too, unless `sizes`
    has them."""

    dtype: str
    head_dim: int
    head_dim_v: int
    mask: str = "none"
    bounds: tuple[str, ...] = ()  # of the mask: which ones launches give, in any order
    captures: tuple[tuple[str, str], ...] = ()  # names and IR types
    score: Region | None = None
    allow: Region | None = None
    dropout: bool = False  # launches give the rate and the random state
    sinks: bool = False  # launches give a logit of each head
    sizes: Sizes | None = None

    def to_ir(self) -> str:
        """On one line, which identifies the problem. Programs that print operators with their
        arguments, as torch's inductor does in comments, expect no line ends in them."""
        ir = " ".join(line.strip() for line in _function(self))
        _written[ir] = self.tensor_names
        return ir

    @property
    def tensor_names(self) -> tuple[str, ...]:
        """Of q, k, v and captured tensors, in the order of a launch."""
        captured = [name for name, kind in self.captures if kind.startswith("tensor")]
        return (*_OPERANDS, *([DROPOUT_STATE] if self.dropout else []), *([SINKS] if self.sinks else []), *captured)

    def to_lines(self, name: str = "attention") -> str:
        """The same text, formatted for readers. `name`: of the function."""
        return "\n".join(_function(self, name)) + "\n"


def _function(problem: Problem, name: str = "attention") -> list[str]:
    queries, heads, kv_heads = problem.sizes or "???"

    def tensor(*dims: int | str) -> str:
        return f"tensor<{'x'.join(map(str, dims))}x{problem.dtype}>"

    q, o = (tensor("?", queries, heads, dim) for dim in (problem.head_dim, problem.head_dim_v))
    k, v = (tensor("?", "?", kv_heads, dim) for dim in (problem.head_dim, problem.head_dim_v))
    lse = f"tensor<?x{heads}x{queries}xf32>"
    bounds = [bound for bound in BOUNDS if bound in problem.bounds]
    arguments = [f"%{name}: {kind}" for name, kind in zip(_OPERANDS, (q, k, v))] + ["%scale: f32"]
    arguments += [f"%{bound}: i32" for bound in bounds]
    if problem.dropout:
        arguments += ["%dropout_rate: f32", f'%arg.{DROPOUT_STATE}: tensor<2xi64> {{attn.name = "{DROPOUT_STATE}"}}']
    if problem.sinks:
        arguments += [f'%arg.{SINKS}: tensor<?xf32> {{attn.name = "{SINKS}"}}']
    arguments += [f'%arg.{capture}: {kind} {{attn.name = "{capture}"}}' for capture, kind in problem.captures]
    return [
        f"func.func @{name}({', '.join(arguments)})",
        f"    -> ({o}, {lse}) {{",
        f"  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask({problem.mask}) layout(bshd)",
        *[f"      {bound}(%{bound})" for bound in bounds],
        *[f"      dropout(%dropout_rate, %arg.{DROPOUT_STATE})"] * problem.dropout,
        *[f"      sinks(%arg.{SINKS} : tensor<?xf32>)"] * problem.sinks,
        *_captures(problem),
        *_region("score_region", problem.score, ["%s: f32"], "f32", problem.captures),
        *_region("mask_region", problem.allow, [], "i1", problem.captures),
        f"      : ({q}, {k}, {v}) -> ({o}, {lse})",
        f"  return %o, %lse : {o}, {lse}",
        "}",
    ]


def _captures(problem: Problem) -> list[str]:
    if not problem.captures:
        return []
    names, kinds = zip(*problem.captures)
    return [f"      captures({', '.join('%arg.' + name for name in names)} : {', '.join(kinds)})"]


def _region(keyword: str, region: Region | None, first: list[str], result: str,
            captures: tuple[tuple[str, str], ...]) -> list[str]:
    if region is None:
        return []
    arguments = first + ["%b: i32", "%h: i32", "%i: i32", "%j: i32"]
    arguments += [f"{value_in_region(name)}: {region_type(kind)}" for name, kind in captures]
    return [
        f"      {keyword} {{",
        f"      ^bb0({', '.join(arguments)}):",
        *[f"        {line}" for line in region.lines],
        f"        attn.yield {region.result} : {result}",
        "      }",
    ]
