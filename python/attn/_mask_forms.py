# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks as intersections of intervals of keys and of tests of single keys, in a form from which the
compiler finds the intervals. A form is hashable: tensors and numbers that change from call to
call are the elements of a tuple `values`, to which it refers by their places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, NamedTuple, Optional, Sequence, Tuple

from . import _score_ops as ops

# The first key and the end of the keys that a query sees; None is open.
_Interval = Tuple[Any, Any]


class _At(NamedTuple):
    """The positions that a mask is evaluated at. `values` are symbols."""

    b: Any
    i: Any
    j: Any
    shift: Any  # the key on a query's diagonal is that much later; None is 0
    values: Sequence[Any]
    functions: Sequence[Callable[..., Any]]

    def moved(self, position: Any, by: Any) -> Any:
        """A position plus a number. In 64 bits, so that the sum is known not to wrap."""
        return position if by is None else position.long() + by

    def value(self, place: int | None) -> Any:
        return None if place is None else self.values[place]


class Form:
    """A mask. A query sees the keys of an interval that pass a test."""

    def interval(self, at: _At) -> _Interval:
        return None, None

    def test(self, at: _At) -> Any:
        """None if every key passes."""
        return None


@dataclass(frozen=True)
class Window(Form):
    """The keys from `left` before the diagonal to `right` after it; None is open."""

    left: Optional[int]
    right: Optional[int]

    def interval(self, at: _At) -> _Interval:
        diagonal = at.moved(at.i, at.shift)
        return (None if self.left is None else diagonal - self.left,
                None if self.right is None else diagonal + (self.right + 1))


@dataclass(frozen=True)
class Chunk(Form):
    """The keys of the query's own chunk of `size` positions. The tensor `phase` has, for each batch,
    the number of positions of query 0's chunk before it. `is_causal`: no later keys are seen
    anyway."""

    size: int
    phase: int
    is_causal: bool = False

    def interval(self, at: _At) -> _Interval:
        phase = ops.clamp(at.values[self.phase][at.b], 0, self.size - 1)  # tells the compiler its range
        first = at.moved((at.i + phase) // self.size * self.size - phase, at.shift)
        return first, None if self.is_causal else first + self.size


@dataclass(frozen=True)
class Keys(Form):
    """The keys from `first` to before `end`, each a tensor with a number for each batch."""

    first: int
    end: int

    def interval(self, at: _At) -> _Interval:
        return at.values[self.first][at.b], at.values[self.end][at.b]


@dataclass(frozen=True)
class Elements(Form):
    """The keys for which a tensor (batch, key) is true."""

    seen: int

    def test(self, at: _At) -> Any:
        return at.values[self.seen][at.b, at.j]


@dataclass(frozen=True)
class Same(Form):
    """The keys that have the query's number in tensors (batch, position). `is_natural`: and only
    if it is not negative."""

    of_queries: int
    of_keys: int
    is_natural: bool = False

    def test(self, at: _At) -> Any:
        number = at.values[self.of_queries][at.b, at.i]
        same = number == at.values[self.of_keys][at.b, at.j]
        return same & (number >= 0) if self.is_natural else same


@dataclass(frozen=True)
class Function(Form):
    """A user's function (b, h, query, key). Its positions start at two numbers, None for 0. As
    from transformers, it gets int64; its head is always 0."""

    place: int
    first_query: Optional[int] = None
    first_key: Optional[int] = None

    def test(self, at: _At) -> Any:
        query, key = (at.moved(position, at.value(first)).long()
                      for position, first in ((at.i, self.first_query), (at.j, self.first_key)))
        b = at.b.long()
        seen = at.functions[self.place](b, b.new_zeros(()), query, key)
        if seen is None:
            raise TypeError("expected a mask function to return a truth value, got None")
        return seen


@dataclass(frozen=True)
class Both(Form):
    """The keys that all parts have."""

    parts: Tuple[Form, ...]

    def interval(self, at: _At) -> _Interval:
        firsts, ends = zip(*(part.interval(at) for part in self.parts))
        first, end = _combined(ops.maximum, firsts), _combined(ops.minimum, ends)
        if first is not None and end is not None and any(isinstance(part, Keys) for part in self.parts):
            # The compiler refuses kernels for intervals that could end before they start.
            first = ops.minimum(first, end)
        return first, end

    def test(self, at: _At) -> Any:
        return _combined(lambda a, b: a & b, [part.test(at) for part in self.parts])


@dataclass(frozen=True)
class Either(Form):
    """The keys that a part has."""

    parts: Tuple[Form, ...]

    def test(self, at: _At) -> Any:
        return _combined(lambda a, b: a | b, [_sees(part, at) for part in self.parts])


def both(parts: Sequence[Form]) -> Form:
    """The keys that all of the parts have, as one flat form."""
    flat: list[Form] = []
    for part in parts:
        flat += part.parts if isinstance(part, Both) else [part]
    if any(isinstance(part, Window) and part.right is not None and part.right <= 0 for part in flat):
        flat = [Chunk(part.size, part.phase, True) if isinstance(part, Chunk) else part for part in flat]
    return flat[0] if len(flat) == 1 else Both(tuple(flat))


def mask_mod(form: Form, values: Sequence[Any], shift: int | None = None,
             functions: Sequence[Callable[..., Any]] = ()) -> Callable[..., Any]:
    """The form as a function of positions. `shift`: the place of the number by which the diagonal's
    key is later than its query; None for 0."""
    values, functions = tuple(values), tuple(functions)

    def mask(b: Any, h: Any, i: Any, j: Any) -> Any:
        # The tuples have symbols in place of tensors here.
        return _sees(form, _At(b, i, j, None if shift is None else values[shift], values, functions))

    return mask


def _sees(form: Form, at: _At) -> Any:
    first, end = form.interval(at)
    tests = [None if first is None else at.j >= first, None if end is None else at.j < end, form.test(at)]
    seen = _combined(lambda a, b: a & b, tests)
    return True if seen is None else seen


def _combined(combine: Callable[..., Any], parts: Sequence[Any]) -> Any:
    """The parts that are not None as one; None if there are none."""
    found = None
    for part in parts:
        found = part if found is None else found if part is None else combine(found, part)
    return found
