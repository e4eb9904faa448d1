# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions compute in torch's types: every operation on every pair of types, on random
numbers, against torch itself."""

import operator
import random
import unittest

import package_support  # finds the package

import attn
from attn import _types
from attn._trace import Trace

try:
    import torch
    from region_fold import fold
except ImportError:
    torch = None

COUNT = 600
SPECIAL = {"f": [0.0, -0.0, 1.0, -1.0, float("inf"), -float("inf"), float("nan"), 65504.0, 1e-8, 0.1, 3e38]}
DTYPES = ("bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64")
# A number of Python on either side.
NUMBERS = (True, 0, 3, -2, 8, 200, 70000, 2**40, 0.0, 0.1, -2.5, float("inf"))

BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "where": lambda a, b: torch.where(a == a, a, b), "other": lambda a, b: torch.where(a != a, a, b),
    "where of truths": lambda a, b: (a == b).where(a != b, b),
}
TENSORS_ONLY = {
    "maximum": lambda a, b: torch.maximum(a, b), "minimum": lambda a, b: torch.minimum(a, b),
    "logical_and": lambda a, b: torch.logical_and(a, b), "logical_xor": lambda a, b: torch.logical_xor(a, b),
}
UNARY = {
    "-": operator.neg, "~": operator.invert, "abs": abs, "square": lambda a: torch.square(a), "**2": lambda a: a**2,
    "**3": lambda a: a**3, "**2.0": lambda a: a**2.0, "**0.5": lambda a: a**0.5, "**-1": lambda a: a**-1,
    "sqrt": lambda a: torch.sqrt(a), "exp": lambda a: torch.exp(a), "reciprocal": lambda a: torch.reciprocal(a),
    "relu": lambda a: torch.relu(a), "logical_not": lambda a: torch.logical_not(a), "clamp": lambda a: a.clamp(-3, 5),
    "clamp to floats": lambda a: a.clamp(max=2.5), "zeros_like": lambda a: torch.zeros_like(a),
    "ones of another type": lambda a: torch.ones_like(a, dtype=torch.int16),
    "full_like": lambda a: torch.full_like(a, 0.5), "full of floats": lambda a: torch.full_like(a, 0.5, dtype=torch.float32),
    "of two": lambda a: a + a * a,
    **{f"to {name}": (lambda long: lambda a: a.to(getattr(torch, long)))(long) for name, long in _types.LONG_NAMES.items()},
}


def torch_divide(a, b):
    if not isinstance(b, torch.Tensor):
        return a / b
    exact = isinstance(a, float) and b.dtype is torch.float64
    return torch.true_divide(torch.tensor(a, dtype=torch.float64 if exact else None), b)


# What torch computes and attn refuses, by name.
REFUSED = (
    "'//' of a float", "'%' of a float", "to an integer", "has numbers from", "the divisor is 0", "' of float64",
)
# Operations that torch refuses, or whose result it leaves open, and that attn computes.
MORE = {"-": "differences of numbers and truth values", "where of truths": "torch asks for the same type"}


def randoms(dtype, generator):
    if dtype == "bool":
        return torch.tensor([generator.random() < 0.5 for _ in range(COUNT)])
    if dtype in _types.INTEGERS:
        low, high = _types.INTEGERS[dtype]
        edges = [low, low + 1, -1, 0, 1, 2, 3, 31, 32, 63, 64, high - 1, high]
        numbers = [generator.randint(low, high) if n % 2 else generator.randint(max(low, -70), min(high, 70)) for n in range(COUNT)]
        numbers[:len(edges)] = [edge for edge in edges if low <= edge <= high] + [1] * (len(edges) - sum(low <= e <= high for e in edges))
        generator.shuffle(numbers)
    else:
        numbers = [generator.gauss(0, 1) * 10 ** generator.uniform(-9, 9) for _ in range(COUNT)]
        numbers[:len(SPECIAL["f"])] = SPECIAL["f"]
        generator.shuffle(numbers)
    return torch.tensor(numbers, dtype=getattr(torch, _types.LONG_NAMES[dtype]))


def computed(function, *operands):
    """The type and the values of `function` on elements of the operands, as a region does it."""
    trace, results = Trace(), []
    captured = {n: operand for n, operand in enumerate(operands) if isinstance(operand, torch.Tensor)}

    def score(s, b, h, i, j):
        results.append(function(*(captured[n][i] if n in captured else operand for n, operand in enumerate(operands))))
        return s

    region = trace.score(score)
    result = results[0]
    values = {one.operand: one.value.view(torch.int8) if one.type == "u8" else one.value for one in trace.captures}
    values.update({f"%{name}": torch.arange(COUNT, dtype=torch.int32) for name in "bhij"}, **{"%s": torch.zeros(COUNT)})
    return result.type, fold(region.lines, values)[result.name]


def same(got, want):
    """Where the two are equal, or both no number."""
    got, want = torch.broadcast_tensors(got, want)
    if want.dtype.is_floating_point:
        got, want = got.double(), want.double()
    return (got == want) | (got.isnan() & want.isnan())


def without_zeros(x):
    return torch.where(x == 0, torch.ones((), dtype=x.dtype), x)


@unittest.skipIf(torch is None, "torch is not installed")
class Types(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(1)

    def check(self, name, function, *operands):
        try:
            want = function(*operands)
        except (RuntimeError, TypeError, ZeroDivisionError) as error:
            want = error
        try:
            dtype, got = computed(function, *operands)
        except attn.TraceError as error:
            if isinstance(want, torch.Tensor) and not any(reason in str(error) for reason in REFUSED):
                self.fail(f"refused: {error}")
            return
        if not isinstance(want, torch.Tensor):
            self.assertIn(name, MORE, f"torch refuses: {want}")
            return
        self.assertEqual(_types.LONG_NAMES[dtype], str(want.dtype)[6:])
        right = same(got, want)
        if dtype in ("f16", "bf16"):
            # torch computes in f32 and rounds the result: on GPUs always, on CPUs not with numbers of Python.
            wide = function(*(one.float() if isinstance(one, torch.Tensor) and one.is_floating_point() else one
                              for one in operands))
            right |= same(got, wide.to(want.dtype))
        if not right.all():
            n = int((~right).nonzero()[0])
            self.fail(f"expected {want.expand(COUNT)[n]}, got {got.expand(COUNT)[n]} at {n}")

    def test_of_two_types(self):
        for name, function in {**BINARY, **TENSORS_ONLY}.items():
            for a in DTYPES:
                for b in DTYPES:
                    x, y = randoms(a, self.random), randoms(b, self.random)
                    y = without_zeros(y) if name in ("//", "%") else y
                    with self.subTest(f"{a} {name} {b}"):
                        self.check(name, function, x, y)

    def test_with_a_number(self):
        for name, function in BINARY.items():
            for dtype in DTYPES:
                for number in NUMBERS:
                    if name == "where of truths" or name in ("//", "%") and not number:
                        continue
                    x = randoms(dtype, self.random)
                    with self.subTest(f"{dtype} {name} {number!r}"):
                        self.check(name, function, x, number)
                    x = without_zeros(x) if name in ("//", "%") else x
                    if name not in ("where", "other"):
                        with self.subTest(f"{number!r} {name} {dtype}"):
                            # torch's own `number / x` multiplies by the reciprocal.
                            self.check(name, torch_divide if name == "/" else function, number, x)

    def test_of_one(self):
        for name, function in UNARY.items():
            for dtype in DTYPES:
                with self.subTest(f"{name} {dtype}"):
                    self.check(name, function, randoms(dtype, self.random))


if __name__ == "__main__":
    unittest.main()
