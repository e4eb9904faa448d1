# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the regions that score and mask functions are traced to, and what is refused. Needs no library of tensors,
and none of the project's libraries."""

import functools
import math
import random
import re
import unittest

from package_support import HostTensor

import attn
from attn import ops
from attn._ir import Problem
from attn._trace import Trace, regions_of

TABLE = HostTensor("f32", [4], [0.0] * 4)


def region(function):
    """The region's text with its result, and the names and types of captures."""
    trace = Trace()
    found = trace.score(function)
    return "\n".join([*found.lines, f"yield {found.result}"]), trace.signature()


class Regions(unittest.TestCase):
    def test_the_text_of_a_problem(self):
        slopes = HostTensor("f32", [4], [0.0] * 4)
        trace = Trace()
        score = trace.score(lambda s, b, h, i, j: s + slopes[h])
        allow = trace.mask(lambda b, h, i, j: i >= j)
        text = Problem("bf16", 128, 64, "causal_bottom_right", ("window_left",), trace.signature(), score, allow).to_lines()
        self.assertEqual(text, """\
func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32, \
%window_left: i32, %arg.slopes: tensor<?xf32> {attn.name = "slopes"})
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      window_left(%window_left)
      captures(%arg.slopes : tensor<?xf32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %capture.slopes: tensor<?xf32>):
        %0 = arith.index_cast %h : i32 to index
        %1 = tensor.extract %capture.slopes[%0] : tensor<?xf32>
        %2 = arith.addf %s, %1 : f32
        attn.yield %2 : f32
      }
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %capture.slopes: tensor<?xf32>):
        %0 = arith.cmpi sge, %i, %j : i32
        attn.yield %0 : i1
      }
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x64xbf16>) -> \
(tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
""")

    def test_equal_ops_are_written_once(self):
        text, _ = region(lambda s, b, h, i, j: (s + TABLE[h]) * TABLE[h])
        self.assertEqual(text.count("tensor.extract"), 1)

    def test_numbers_are_exact(self):
        text, _ = region(lambda s, b, h, i, j: s * 0.1 + float("-inf"))
        self.assertIn("arith.constant 0x3DCCCCCD : f32", text)
        self.assertIn("arith.constant 0xFF800000 : f32", text)

    def test_what_is_captured_wherever_a_function_has_it(self):
        tensor, number = HostTensor("i32", [2, 2]), attn.Scalar(2)

        def by_default(s, b, h, i, j, bias=tensor):
            return s + bias[b, h]

        def inner(x):
            return x * TABLE[0]

        cases = {
            "closure": (lambda s, b, h, i, j: s + tensor[b][h], (("tensor", "tensor<?x?xi32>"),)),
            "global": (lambda s, b, h, i, j: s + TABLE[h], (("TABLE", "tensor<?xf32>"),)),
            "default": (by_default, (("bias", "tensor<?x?xi32>"),)),
            "inner": (lambda s, b, h, i, j: inner(s), (("TABLE", "tensor<?xf32>"),)),
            "partial": (functools.partial(lambda t, s, b, h, i, j: s + t[b, h], tensor), (("capture0", "tensor<?x?xi32>"),)),
            "number": (lambda s, b, h, i, j: s * number, (("number", "i32"),)),
            "unused": (lambda s, b, h, i, j: (tensor, s)[1], ()),
        }
        for name, (function, signature) in cases.items():
            with self.subTest(name):
                self.assertEqual(region(function)[1], signature)

    def test_one_object_is_captured_once(self):
        same = TABLE
        self.assertEqual(len(region(lambda s, b, h, i, j: s + TABLE[h] + same[b])[1]), 1)

    def test_a_capture_may_have_any_name(self):
        q, b, sm_count = HostTensor("f32", [4]), HostTensor("f32", [4]), attn.Scalar(2)
        text, captures = region(lambda s, batch, h, i, j: s * sm_count + q[h] + b[batch])
        self.assertEqual({name for name, _ in captures}, {"sm_count", "q", "b"})
        self.assertIn("tensor.extract %capture.b[", text)

    def test_names_of_captures_are_unique(self):
        def score(s, b, h, i, j, scale=HostTensor("f32", [4]), capture0=HostTensor("f32", [4])):
            return s + capture0[h] + scale[h]

        first = HostTensor("f32", [4])
        bound = functools.partial(lambda t, capture1, s, *ids: score(s, *ids) + t[ids[0]] + capture1[ids[0]], first,
                                  HostTensor("f32", [4]))
        names = [name for name, _ in region(bound)[1]]
        self.assertEqual(len(set(names)), 4)

    def test_a_negative_index_counts_from_the_end(self):
        text, captures = region(lambda s, b, h, i, j: s + TABLE[i - j])
        self.assertEqual(captures, (("TABLE", "tensor<?xf32>"), ("TABLE_size0", "i32")))
        self.assertIn("arith.select", text)
        text, captures = region(lambda s, b, h, i, j: s + TABLE[-1] + TABLE[-2])
        self.assertEqual(len(captures), 2)
        self.assertNotIn("arith.select", text)

    def test_an_index_that_is_not_negative_is_read_as_it_is(self):
        for index in (lambda i, j: i + 1, lambda i, j: ops.clamp(i - j, 0, 9), lambda i, j: (i - j) % 5, lambda i, j: abs(i - j),
                      lambda i, j: (i - j) & 7, lambda i, j: ops.maximum(i - j, 0) >> 1):
            self.assertEqual(region(lambda s, b, h, i, j: s + TABLE[index(i, j)])[1], (("TABLE", "tensor<?xf32>"),))

    def test_integers_are_as_wide_as_their_values(self):
        self.assertNotIn("i64", region(lambda s, b, h, i, j: s + (i > j) * 2 + (i > j))[0])
        wide = HostTensor("i64", [4], [0] * 4)
        text, captures = region(lambda s, b, h, i, j: s + ((wide[i] >> j) & 1) * 3)
        self.assertEqual(captures, (("wide", "tensor<?xi64>"),))
        self.assertEqual(text.count("i64"), 6)

    def test_divisions_of_positions_are_short(self):
        self.assertEqual(region(lambda s, b, h, i, j: i // 3)[0].count("arith"), 3)
        self.assertIn("arith.shrsi", region(lambda s, b, h, i, j: (i - j) // 4)[0])
        self.assertIn("arith.andi", region(lambda s, b, h, i, j: (i - j) % 4)[0])

    def test_functions_without_a_library(self):
        text, _ = region(lambda s, b, h, i, j: ops.where(i >= j, ops.tanh(s), ops.sigmoid(s)))
        for op in ("math.tanh", "math.exp", "arith.select"):
            self.assertIn(op, text)

    def test_a_truth_value_counts_as_a_number(self):
        self.assertIn("arith.select", region(lambda s, b, h, i, j: s + (i > j))[0])


class Numbers(unittest.TestCase):
    """Numbers of Python that functions close over."""

    def regions(self, make, values):
        """The distinct regions and captures of traced functions."""
        found = []
        for value in values:
            result = regions_of(make(value), None)
            found.append((result.score, result.trace.signature()))
        return list(dict.fromkeys(found))

    def test_one_that_changes_becomes_an_argument(self):
        def make(number):
            return lambda s, b, h, i, j: ops.where(i - j < number, s * 0.5, s)

        found = self.regions(make, range(5, 17))
        self.assertEqual([captures for _, captures in found], [(), (("number", "i32"),)])

    def test_each_that_changes(self):
        def make(numbers):
            slope, cap = numbers
            return lambda s, b, h, i, j: cap * ops.tanh((s + slope * (j - i)) / cap)

        found = self.regions(make, [(0.1, 30.0), (0.2, 30.0), (0.3, 30.0), (0.1, 30.0), (0.2, 40.0), (0.2, 50.0)])
        self.assertEqual([len(captures) for _, captures in found], [0, 1, 2])

    def test_a_launch_reads_the_value_of_its_own_trace(self):
        def make(number):
            return lambda s, b, h, i, j: s * number

        values = [regions_of(make(number), None).trace.captures for number in (1.5, 2.5, 3.5)][1:]
        self.assertEqual([[one.value.value for one in captures] for captures in values], [[2.5], [3.5]])

    def test_what_a_kernel_cannot_do_with_it_stays_in_python(self):
        for name, make in {
                "a branch": lambda n: lambda s, b, h, i, j: s if n > 2 else -s,
                "a loop": lambda n: lambda s, b, h, i, j: sum([s] * n, s),
                "math": lambda n: lambda s, b, h, i, j: s * math.sqrt(n),
                "arithmetic in double": lambda n: lambda s, b, h, i, j: s * (n / 3.0),
                "a test for truth": lambda n: lambda s, b, h, i, j: ops.where(n, s, -s),
                "a wide integer": lambda n: lambda s, b, h, i, j: ops.where(i < n * 2**20, s, -s)}.items():
            with self.subTest(name):
                self.assertTrue(all(not captures for _, captures in self.regions(make, range(1, 5))))

    def test_one_that_stays_in_python_leaves_the_others(self):
        def make(numbers):
            power, slope = numbers
            return lambda s, b, h, i, j: s * math.sqrt(power) + slope * j

        found = self.regions(make, [(1, 0.1), (2, 0.2), (2, 0.3), (2, 0.4), (1, 0.5)])
        self.assertEqual([captures for _, captures in found], [(), (("slope", "f32"),), (("slope", "f32"),)])

    def test_many_kernels_are_warned_of_once(self):
        def make(number):
            return lambda s, b, h, i, j: s * math.exp(number)

        with self.assertLogs("attn", "WARNING") as logs:
            self.regions(make, range(20))
        self.assertEqual(len(logs.output), 1)
        self.assertRegex(logs.output[0], "'number' of <lambda> at package_trace_test.py:[0-9]+ had 8 values")


class Refusals(unittest.TestCase):
    def refused(self, message, function, role="score"):
        line = function.__code__.co_firstlineno
        with self.assertRaisesRegex(attn.TraceError, message) as caught:
            getattr(Trace(), role)(function)
        return line, str(caught.exception)

    def test_integers_that_no_float_holds(self):
        self.refused("an integer that a float can hold, got one of 1329 bits", lambda s, b, h, i, j: s + 10**400)

    def test_the_line_is_named(self):
        def score(s, b, h, i, j):
            if i > j:
                return s
            return -s

        line, text = self.refused("a branch on a computed value", score)
        self.assertIn(f"at package_trace_test.py:{line + 1} cannot become part of a kernel", text)

    def test_what_python_would_have_to_know(self):
        for message, function in (
                ("a branch on a computed value", lambda s, b, h, i, j: s if i > j and j > 0 else -s),
                ("a branch on a computed value", lambda s, b, h, i, j: max(s, 0)),
                (re.escape("float() of a computed value"), lambda s, b, h, i, j: math.exp(s)),
                (re.escape("int() of a computed value"), lambda s, b, h, i, j: int(s)),
                ("an index into what is no captured tensor", lambda s, b, h, i, j: [1.0, 2.0][h]),
                ("iteration over a computed value", lambda s, b, h, i, j: sum(s)),
                ("'lgamma' at package_trace_test.py:.*supported are.*tanh", lambda s, b, h, i, j: s.lgamma()),
                ("'clamp' at .*: it got an unexpected keyword argument 'out'", lambda s, b, h, i, j: s.clamp(0, out=s)),
                ("a power.*the exponent is one of", lambda s, b, h, i, j: s**5),
                ("'//' of a float", lambda s, b, h, i, j: s // 2),
                ("'&' of a float", lambda s, b, h, i, j: s & 1),
                ("the number 4294967296 .* int32 has numbers from -2147483648", lambda s, b, h, i, j: i + 2**32),
                ("'-' of truth values", lambda s, b, h, i, j: s * ((i > j) - (j > 3))),
                ("'%'.* the divisor is 0", lambda s, b, h, i, j: i % 0),
                ("a new tensor .* only those of size", lambda s, b, h, i, j: i.new_zeros(3)),
                ("an operand of type str", lambda s, b, h, i, j: s + "1")):
            with self.subTest(message):
                self.refused(message, function)

    def test_indices(self):
        for message, function in (
                ("index all of its dims; 1 are left", lambda s, b, h, i, j: s + TABLE),
                ("2 indices are for a tensor of 1 dims", lambda s, b, h, i, j: s + TABLE[h, i]),
                ("-5 is out of bounds for dim 0 of 'TABLE', of size 4", lambda s, b, h, i, j: s + TABLE[-5]),
                ("4 is out of bounds for dim 0 of 'TABLE', of size 4", lambda s, b, h, i, j: s + TABLE[4]),
                ("a signed integer, got slice", lambda s, b, h, i, j: s + TABLE[1:]),
                ("a signed integer, got one of type bool", lambda s, b, h, i, j: s + TABLE[i > j]),
                ("a signed integer, got one of type float32", lambda s, b, h, i, j: s + TABLE[s])):
            with self.subTest(message):
                self.refused(message, function)

    def test_random_numbers(self):
        generator = random.Random(1)
        for function in (lambda s, b, h, i, j: s * random.random(), lambda s, b, h, i, j: s * generator.gauss(0, 1),
                         lambda s, b, h, i, j, draw=random.uniform: s * draw(0, 1)):
            self.refused("a random number, at package_trace_test.py:.* runs once", function)

    def test_results(self):
        self.refused("expected score_mod to return a number made of its arguments, got NoneType", lambda *a: None)
        self.refused("expected mask_mod to return a truth value made of its arguments, got one of type int32",
                     lambda b, h, i, j: i - j, role="mask")


if __name__ == "__main__":
    unittest.main()
