# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The places that functions read tensors from. A function is traced once, and reads `self.bias`
only then. Finding the place allows noticing later that it holds another tensor."""

from __future__ import annotations

import functools
import types
from typing import Any, Callable, Iterator, NamedTuple, Sequence

from ._rebinding import names_in

# The walk ends after this many objects. A function that reaches more is traced at every call.
_MOST = 20000
_LIBRARIES = ("torch", "numpy", "jax", "attn", "builtins")
_LEAVES = (type(None), bool, int, float, complex, str, bytes)


class Place(NamedTuple):
    """A variable of a closure, an item of a dict or sequence, or an attribute."""

    kind: str  # "cell", "item" or "attribute"
    container: Any
    key: Any

    def holds(self, value: Any) -> bool:
        """Whether the place still has the value that it had."""
        if self.kind == "attribute":
            return getattr(self.container, self.key, None) is value
        if self.kind == "cell":
            try:
                return self.container.cell_contents is value
            except ValueError:  # the variable was deleted
                return False
        if isinstance(self.container, dict):
            return self.container.get(self.key) is value
        return len(self.container) > self.key and self.container[self.key] is value


def places_of(functions: Sequence[Callable[..., Any]], values: Sequence[Any]) -> list[list[Place]]:
    """Returns, for each value, all places that the functions may have read it from; none if a
    function computed it."""
    found: list[list[Place]] = [[] for _ in values]
    order = {id(value): n for n, value in enumerate(values)}
    names = {"forward", "__call__"}
    while True:
        walk = _Walk(names)
        places = list(walk.places(functions))
        if walk.names == names:
            break
        names = walk.names  # The walk met functions with more names in their code.
    for place, value in places:
        if id(value) in order:
            found[order[id(value)]].append(place)
    return found


class _Walk:
    """One walk through the objects that functions reach by the names in their code."""

    def __init__(self, names: set[str]):
        self.names = set(names)
        self._looked_for = frozenset(names)
        self._seen: set[int] = set()

    def places(self, roots: Sequence[Any]) -> Iterator[tuple[Place, Any]]:
        waiting = list(roots)
        while waiting and len(self._seen) < _MOST:
            one = waiting.pop()
            if id(one) in self._seen or isinstance(one, _LEAVES):
                continue
            self._seen.add(id(one))
            for place, value in self._inside(one):
                yield place, value
                waiting.append(value)

    def _inside(self, one: Any) -> Iterator[tuple[Place, Any]]:
        if isinstance(one, types.FunctionType):
            yield from self._of_function(one)
        elif isinstance(one, functools.partial):
            yield from self._items({"func": one.func, "args": one.args, "keywords": one.keywords})
        elif isinstance(one, types.MethodType):
            yield from self._items({"function": one.__func__, "self": one.__self__})
        elif isinstance(one, (dict, list, tuple)):
            yield from self._items(one)
        elif isinstance(one, types.ModuleType):
            if not _is_of_library(one.__name__):
                yield from self._named(vars(one))
        elif isinstance(one, type):
            yield from self._of_class(one)
        else:
            yield from self._of_object(one)

    def _of_function(self, function: types.FunctionType) -> Iterator[tuple[Place, Any]]:
        if _is_of_library(function.__module__ or ""):
            return
        self.names |= names_in(function.__code__)
        for cell in function.__closure__ or ():
            try:
                yield Place("cell", cell, None), cell.cell_contents
            except ValueError:  # not assigned yet
                pass
        yield from self._named(function.__globals__)
        yield from self._items(function.__defaults__ or ())
        yield from self._items(function.__kwdefaults__ or {})

    def _of_class(self, one: type) -> Iterator[tuple[Place, Any]]:
        for each in one.__mro__:
            if not _is_of_library(each.__module__):
                for name in self._looked_for.intersection(vars(each)):
                    yield Place("attribute", each, name), vars(each)[name]

    def _of_object(self, one: Any) -> Iterator[tuple[Place, Any]]:
        yield from self._of_class(type(one))
        attributes = getattr(one, "__dict__", {})
        yield from self._named(attributes)
        for group in ("_parameters", "_buffers", "_modules"):  # of torch.nn.Module
            if isinstance(attributes.get(group), dict):
                yield from self._named(attributes[group])
        for each in type(one).__mro__:
            slots = getattr(each, "__slots__", ())
            for slot in self._looked_for.intersection([slots] if isinstance(slots, str) else slots):
                if hasattr(one, slot):
                    yield Place("attribute", one, slot), getattr(one, slot)

    def _named(self, known: dict[str, Any]) -> Iterator[tuple[Place, Any]]:
        for name in self._looked_for.intersection(known):
            yield Place("item", known, name), known[name]

    @staticmethod
    def _items(container: Any) -> Iterator[tuple[Place, Any]]:
        keys = list(container) if isinstance(container, dict) else range(len(container))
        for key in keys:
            yield Place("item", container, key), container[key]


def _is_of_library(module: str) -> bool:
    return module.partition(".")[0] in _LIBRARIES
