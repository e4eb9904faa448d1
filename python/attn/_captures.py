# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stand-ins for tensors and numbers from outside a function, which become arguments of
the kernel."""

from __future__ import annotations

import operator
from typing import Any

from . import _tensors, _torch_rules, _types
from ._errors import ArgumentError
from ._symbols import Operand, Scalar, Symbol, recorder_capture, refuse, write
from ._types import I32, Range

# The types in memory and, where they differ, of numbers passed by value.
_STORED = {"bool": "i1", "u8": "ui8"}
_BY_VALUE = {"bool": "i32", "u8": "i32", "i8": "i32", "i16": "i32", "f16": "f32", "bf16": "f32"}


def value_in_region(name: str) -> str:
    """The value in a region of the capture of that name."""
    return f"%capture.{name}"


class Slot:
    """A capture whose value each call brings: a tensor of `rank`, or a number."""

    def __init__(self, dtype: str, rank: int):
        self.dtype, self.shape = dtype, (None,) * rank


class Extent(Scalar):
    """The size of a dim of a captured tensor."""

    def __init__(self, tensor: Any, dim: int):
        self._tensor, self._dim, self.kind = tensor, dim, "i32"

    @property
    def value(self) -> int:  # type: ignore[override]
        return self._tensor.shape[self._dim]


class Captured(Operand):
    """A tensor, Scalar or Slot from outside a function. The kernel calls it `name`."""

    def __init__(self, value: Any, name: str):
        _tensors.refuse_traced_by_jax(value, name)
        if _tensors.is_torch(value):
            _torch_rules.refuse_meaning(name, value)
        self.value, self.name, self.used = value, name, False
        self.type = value.kind if isinstance(value, Scalar) else _tensors.dtype_name(value)
        self.shape = () if isinstance(value, Scalar) else tuple(value.shape)
        self.device = getattr(value, "device", None)
        # A number in host memory is passed by value, whatever device the kernel runs on, unless it gets a gradient.
        is_read = _tensors.is_torch(value) and (value.is_cuda or value.requires_grad)
        by_value = not self.shape and self.type != "f64" and not is_read
        self.passed_as = _BY_VALUE.get(self.type, self.type) if by_value else "tensor"
        dims = "?x" * max(len(self.shape), 1)
        self.ir_type = self.passed_as if by_value else f"tensor<{dims}{_STORED.get(self.type, self.type)}>"
        self.bounds: set[tuple[int, str]] = set()  # dims and the coordinates that index them
        self._extents: dict[int, Extent] = {}
        if len(self.shape) > 4:
            raise refuse(f"a captured tensor of rank {len(self.shape)}", "captured tensors have at most 4 dims")

    @property
    def operand(self) -> str:
        """Its name in regions. It differs from those of other values, such as `%b`, even if the user's name is the
        same."""
        return value_in_region(self.name)

    def __getitem__(self, index: Any) -> Any:
        return Indexed(self, ())[index]

    def read(self, indices: tuple[Symbol, ...] = ()) -> Symbol:
        """The element at `indices`, one a dim."""
        self.used = True
        if self.passed_as == "tensor":
            return self._loaded(self._extract(indices or (constant_index(0),)))
        if self.type == "bool":
            return Symbol(write(f"arith.cmpi ne, {self.operand}, {constant_index(0).name} : i32"), "bool")
        if not isinstance(self.value, Scalar):
            return Symbol(self.operand, self.type)
        result = Symbol(self.operand, "i64", I32) if self.type == "i32" else Symbol(self.operand, self.type)
        result.weak, result.automatic = True, self.value.automatic
        return result

    @property
    def has_place(self) -> bool:
        """Whether the functions read the value from a variable, attribute or item that may be assigned again."""
        return not isinstance(self.value, Extent) and not getattr(self.value, "automatic", False)

    def checked(self, number: Any) -> Any:
        """The number that a launch passes by value, as a float64."""
        if self.passed_as == "i64" and abs(number) > 1 << 53:
            raise ArgumentError(f"expected the captured number '{self.name}' to be within 2^53, got {number}; a tensor on the "
                                "device of 'q' may have any")
        return number

    def extent(self, dim: int) -> Symbol:
        """The size of a dim."""
        found = self._extents.setdefault(dim, Extent(self.value, dim))
        stand_in = recorder_capture(found, f"{self.name}_size{dim}")
        stand_in.used = True
        return Symbol(stand_in.operand, "i32", Range(0, I32.high))

    def _extract(self, indices: tuple[Symbol, ...]) -> str:
        casts = [write(f"arith.index_cast {index.name} : {index.held_in} to index") for index in indices]
        self.bounds |= {(dim, index.coordinate) for dim, index in enumerate(indices) if index.coordinate}
        return write(f"tensor.extract {self.operand}[{', '.join(casts)}] : {region_type(self.ir_type)}")

    def _loaded(self, name: str) -> Symbol:
        """The element `name`, represented like symbols of its type."""
        result = Symbol(name, self.type)
        if result.type in ("f16", "bf16"):
            result.name = write(f"arith.extf {name} : {self.type} to f32")
        elif result.type in ("u8", "i8", "i16"):
            op, bits = ("extui", "i8") if self.type == "u8" else ("extsi", self.type)
            result.name = write(f"arith.{op} {name} : {bits} to i32")
        return result


def region_type(ir_type: str) -> str:
    """The type that a capture has in a region, where integers are signless."""
    return ir_type.replace("ui8", "i8")


def constant_index(value: int) -> Symbol:
    return Symbol(write(f"arith.constant {value} : i32"), "i32", Range(value, value))


class Indexed(Operand):
    """A captured tensor of which some dims are indexed, as in bias[h][i]."""

    def __init__(self, captured: Captured, indices: tuple[Symbol, ...]):
        self.captured, self.indices = captured, indices
        self.type, self.shape, self.device = captured.type, captured.shape[len(indices):], captured.device

    def __getitem__(self, index: Any) -> Any:
        given = index if isinstance(index, tuple) else (index,)
        if len(given) > len(self.shape):
            raise refuse("an index", f"{len(given)} indices are for a tensor of {len(self.shape)} dims")
        indices = self.indices
        for one in given:
            indices += (self._as_index(one, len(indices)),)
        if len(indices) == len(self.captured.shape):
            return self.captured.read(indices)
        return Indexed(self.captured, indices)

    def _as_index(self, index: Any, dim: int) -> Symbol:
        """`index` counted from the start of the dim: negative ones count from its end."""
        if isinstance(index, Captured) and not index.shape:
            index = index.read()
        if not isinstance(index, (Operand, bool)) and not _tensors.is_tensor(index) and hasattr(index, "__index__"):
            index = operator.index(index)
            size = self.captured.shape[dim]
            if size is not None and not -size <= index < size:
                raise refuse("an index", f"{index} is out of bounds for dim {dim} of '{self.captured.name}', of size {size}")
            index = constant_index(index)
        if not isinstance(index, Symbol) or index.type in ("bool", "u8", *_types.FLOATS):
            what = f"one of type {_types.LONG_NAMES[index.type]}" if isinstance(index, Symbol) else repr(index)
            raise refuse("an index", f"an index is a signed integer, got {what}")
        return index if index.range.natural else self._from_start(index, dim)

    def _from_start(self, index: Symbol, dim: int) -> Symbol:
        add, less, where = (Operand.functions[name] for name in ("add", "less", "where"))
        counted = add(index, self.captured.extent(dim))
        return counted if index.range.high < 0 else where(less(index, 0), counted, index)
