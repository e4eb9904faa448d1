# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What score and mask functions become, and what is refused. Needs no library of
tensors, and none of the project's."""

import functools
import math
import re
import unittest

from package_support import HostTensor

import attn
from attn import ops
from attn._ir import Problem
from attn._trace import Trace

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
        text = Problem("bf16", 128, 64, "causal_bottom_right", True, False, trace.signature(), score, allow).to_lines()
        self.assertEqual(text, """\
func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32, \
%window_left: i32, %arg.slopes: tensor<?xf32> {attn.name = "slopes"})
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      window_left(%window_left)
      captures(%arg.slopes : tensor<?xf32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %slopes: tensor<?xf32>):
        %0 = arith.index_cast %h : i32 to index
        %1 = tensor.extract %slopes[%0] : tensor<?xf32>
        %2 = arith.addf %s, %1 : f32
        attn.yield %2 : f32
      }
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %slopes: tensor<?xf32>):
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

    def test_names_that_the_ir_needs_itself_are_not_taken(self):
        scale = HostTensor("f32", [4])
        self.assertEqual(region(lambda s, b, h, i, j: s + scale[h])[1], (("capture0", "tensor<?xf32>"),))

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


class Refusals(unittest.TestCase):
    def refused(self, message, function, role="score"):
        line = function.__code__.co_firstlineno
        with self.assertRaisesRegex(attn.TraceError, message) as caught:
            getattr(Trace(), role)(function)
        return line, str(caught.exception)

    def test_the_line_is_named(self):
        def score(s, b, h, i, j):
            if i > j:
                return s
            return -s

        line, text = self.refused("a branch on a computed value", score)
        self.assertIn(f"at package_trace_test.py:{line + 1} cannot become part of a kernel", text)

    def test_what_python_would_have_to_know(self):
        for message, function in (
                ("a branch on a computed value", lambda s, b, h, i, j: s if i > j and j > 0 else s),
                ("a branch on a computed value", lambda s, b, h, i, j: max(s, 0)),
                (re.escape("float() of a computed value"), lambda s, b, h, i, j: math.exp(s)),
                (re.escape("int() of a computed value"), lambda s, b, h, i, j: int(s)),
                ("an index into what is no captured tensor", lambda s, b, h, i, j: [1.0, 2.0][h]),
                ("iteration over a computed value", lambda s, b, h, i, j: sum(s)),
                ("'erf' at package_trace_test.py:.*supported are.*tanh", lambda s, b, h, i, j: s.erf()),
                ("a power.*the exponent is one of", lambda s, b, h, i, j: s**5),
                ("'//' of a float", lambda s, b, h, i, j: s // 2),
                ("'&' of a float", lambda s, b, h, i, j: s & 1),
                ("the integer 4294967296", lambda s, b, h, i, j: i + 2**32),
                ("an operand of type str", lambda s, b, h, i, j: s + "1")):
            with self.subTest(message):
                self.refused(message, function)

    def test_indices(self):
        for message, function in (
                ("index all of its dims; 1 are left", lambda s, b, h, i, j: s + TABLE),
                ("2 indices are for a tensor of 1 dims", lambda s, b, h, i, j: s + TABLE[h, i]),
                ("at least 0, got -1", lambda s, b, h, i, j: s + TABLE[-1]),
                ("got slice", lambda s, b, h, i, j: s + TABLE[1:]),
                ("got one of type f32", lambda s, b, h, i, j: s + TABLE[s])):
            with self.subTest(message):
                self.refused(message, function)

    def test_results(self):
        self.refused("expected score_mod to return a number made of its arguments, got NoneType", lambda *a: None)
        self.refused("expected mask_mod to return a truth value made of its arguments, got one of type i32",
                     lambda b, h, i, j: i - j, role="mask")


if __name__ == "__main__":
    unittest.main()
