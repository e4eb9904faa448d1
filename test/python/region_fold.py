# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The meaning of a region, on torch tensors of many positions at once: each op by its own
definition, in the types that the text says."""

import re
import struct

import torch

TYPES = {
    "i1": torch.bool, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "index": torch.int64,
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
}


def _unsigned(x):
    return x.to(torch.int64) & ((1 << 8 * x.element_size()) - 1)


def _divided(a, b, quotient):
    b = torch.where(b == 0, 1, b)  # as regions do
    whole = torch.div(a, b, rounding_mode="trunc")
    return whole if quotient else a - whole * b


_BINARY = {
    "addi": torch.add, "subi": torch.sub, "muli": torch.mul, "addf": torch.add, "subf": torch.sub, "mulf": torch.mul,
    "divf": torch.div, "andi": torch.bitwise_and, "ori": torch.bitwise_or, "xori": torch.bitwise_xor, "maxsi": torch.maximum,
    "minsi": torch.minimum, "maximumf": torch.maximum, "minimumf": torch.minimum,
    "divsi": lambda a, b: _divided(a, b, True), "remsi": lambda a, b: _divided(a, b, False),
    "shli": torch.bitwise_left_shift, "shrsi": torch.bitwise_right_shift,
}
_COMPARE = {"lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge, "eq": torch.eq, "ne": torch.ne}
_CAST = {"extf": None, "truncf": None, "sitofp": None, "extsi": None, "trunci": None, "index_cast": None, "extui": _unsigned}


def _constant(text, dtype):
    if dtype == "i1":
        return text == "true"
    if dtype in ("f32", "f64"):
        return struct.unpack({"f32": ">f", "f64": ">d"}[dtype], bytes.fromhex(text[2:]))[0]
    return int(text)


def _extract(table, indices):
    """Zero out of bounds."""
    sizes = torch.tensor(table.shape)
    flat = torch.stack(torch.broadcast_tensors(*indices))
    inside = ((flat >= 0) & (flat < sizes[:, None])).all(0)
    return torch.where(inside, table[tuple(torch.where(inside, flat, 0))], torch.zeros((), dtype=table.dtype))


def fold(lines, values):
    """All values of the region by name. `values` has its arguments: tensors (positions,),
    and captured tensors as they are."""
    values = dict(values)

    def typed(name, dtype):
        found = values[name]
        assert found.dtype == TYPES[dtype], f"{name} is {found.dtype}, and used as {dtype}"
        return found

    for line in lines:
        result, op, rest, kind = re.fullmatch(r"(%\w+) = \w+\.(\w+) (.*) : (.*)", line).groups() if "true" not in line and \
            "false" not in line else (*re.fullmatch(r"(%\w+) = \w+\.(\w+) (.*)", line).groups(), "i1")
        operands = re.findall(r"%[\w.]+", rest)
        if op == "constant":
            value = torch.tensor(_constant(rest, kind), dtype=TYPES[kind])
        elif op == "extract":
            value = _extract(values[operands[0]], [typed(name, "index") for name in operands[1:]])
            assert value.dtype == TYPES[re.search(r"x(\w+)>", kind).group(1).replace("?x", "").split("x")[-1]], line
        elif op in ("cmpi", "cmpf"):
            value = _COMPARE[rest.partition(",")[0][-2:]](*(typed(name, kind) for name in operands))
        elif op == "select":
            value = torch.where(typed(operands[0], "i1"), *(typed(name, kind) for name in operands[1:]))
        elif op in _CAST:
            source, target = kind.split(" to ")
            value = (_CAST[op] or (lambda x: x))(typed(operands[0], source)).to(TYPES[target])
        elif op in _BINARY:
            value = _BINARY[op](*(typed(name, kind) for name in operands))
        else:
            value = getattr(torch, {"negf": "neg", "absf": "abs"}.get(op, op))(typed(operands[0], kind))
        values[result] = value
    return values
