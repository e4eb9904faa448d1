# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests what the ops of regions compute in each element type, on the simulator.

A mask region admits the pairs for which an op gives what Python says; where it does for
all, the log-sum-exp of as many equal scores tells."""

import math
import os
import struct
import unittest

# Only the simulator runs these kernels, from their PTX; test/Tools/region-types.test assembles all ops.
os.environ["ATTN_PTXAS"] = "none"

import package_support  # finds the package
from package_support import HostTensor, bf16_bits, from_bf16

from attn import ArgumentError
from attn._executable import Executable

N = 8  # queries, and keys


def wrap(value, bits):
    """The signed number that the low bits of `value` are."""
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def unsigned(value, bits):
    return value % (1 << bits)


def operands(bits):
    """Ends of the range, and counts that a shift has and has not."""
    low = -(1 << bits - 1)
    return [0, 1, -1, bits - 1, bits, low, -low - 1, -7]


def divide(a, b):
    """Towards zero, and by 1 where there is no quotient."""
    return a if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INTEGERS = {
    "addi": lambda a, b, n: a + b, "subi": lambda a, b, n: a - b, "muli": lambda a, b, n: a * b,
    "andi": lambda a, b, n: a & b, "ori": lambda a, b, n: a | b, "xori": lambda a, b, n: a ^ b,
    "maxsi": lambda a, b, n: max(a, b), "minsi": lambda a, b, n: min(a, b),
    "maxui": lambda a, b, n: max(unsigned(a, n), unsigned(b, n)),
    "minui": lambda a, b, n: min(unsigned(a, n), unsigned(b, n)),
    "divsi": lambda a, b, n: divide(a, b), "remsi": lambda a, b, n: a - divide(a, b) * (b or 1),
    "divui": lambda a, b, n: divide(unsigned(a, n), unsigned(b, n)),
    "remui": lambda a, b, n: unsigned(a, n) - divide(unsigned(a, n), unsigned(b, n)) * (unsigned(b, n) or 1),
    "shli": lambda a, b, n: a << b if 0 <= b < n else 0,
    "shrui": lambda a, b, n: unsigned(a, n) >> b if 0 <= b < n else 0,
    "shrsi": lambda a, b, n: a >> b if 0 <= b < n else a >> n - 1,
}


def admit(captures, region, heads=1):
    """Which share of the pairs a mask region admits, by query: `captures` are (type in IR, tensor)."""
    formals = "".join(f", %c{n}: {kind.replace('xui8', 'xi8')}" for n, (kind, _) in enumerate(captures))
    arguments = "".join(f", %t{n}: {kind}" for n, (kind, _) in enumerate(captures))
    names = ", ".join(f"%t{n}" for n in range(len(captures)))
    tile = "tensor<?x?x?x64xf16>"
    kernel = Executable.get(f"""
func.func @f(%q: {tile}, %k: {tile}, %v: {tile}, %scale: f32{arguments}) -> ({tile}, tensor<?x?x?xf32>) {{
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures({names} : {', '.join(kind for kind, _ in captures)})
      mask_region {{
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32{formals}):
        %row = arith.index_cast %i : i32 to index
        %column = arith.index_cast %j : i32 to index
        %head = arith.index_cast %h : i32 to index
{region}
        attn.yield %ok : i1
      }} : ({tile}, {tile}, {tile}) -> ({tile}, tensor<?x?x?xf32>)
  return %o, %lse : {tile}, tensor<?x?x?xf32>
}}""")
    q = HostTensor("f16", [1, N, heads, 64])
    lse = HostTensor("f32", [1, heads, N])
    scalars = [value for kind, value in captures if not isinstance(value, HostTensor)]
    tensors = [value for _, value in captures if isinstance(value, HostTensor)]
    kernel.launch([q, q, q, *tensors, HostTensor("f16", [1, N, heads, 64]), lse], [1.0], scalars)
    return [[math.exp(lse[0, h, i]) / N for i in range(N)] for h in range(heads)]


class Regions(unittest.TestCase):
    def admits_all(self, *arguments, **options):
        for shares in admit(*arguments, **options):
            for share in shares:
                self.assertAlmostEqual(share, 1.0, places=5)

    def test_integers_of_heads(self):
        for bits in (8, 16, 32, 64):
            pairs = [(a, b) for a in operands(bits) for b in operands(bits)]
            for name, op in INTEGERS.items():
                want = [wrap(op(a, b, bits), bits) for a, b in pairs]
                columns = [HostTensor(f"i{bits}", [len(pairs)], column) for column in (*zip(*pairs), want)]
                with self.subTest(op=name, bits=bits):
                    self.admits_all([(f"tensor<?xi{bits}>", column) for column in columns], f"""
        %x = tensor.extract %c0[%head] : tensor<?xi{bits}>
        %y = tensor.extract %c1[%head] : tensor<?xi{bits}>
        %want = tensor.extract %c2[%head] : tensor<?xi{bits}>
        %r = arith.{name} %x, %y : i{bits}
        %ok = arith.cmpi eq, %r, %want : i{bits}""", heads=len(pairs))

    def test_integers_of_rows_and_columns(self):
        for bits in (8, 16, 32, 64):
            for name in ("muli", "shli", "shrui", "shrsi"):
                want = [wrap(INTEGERS[name](a, b, bits), bits) for a in operands(bits) for b in operands(bits)]
                operand = HostTensor(f"i{bits}", [N], operands(bits))
                with self.subTest(op=name, bits=bits):
                    self.admits_all([(f"tensor<?xi{bits}>", operand),
                                     (f"tensor<?x?xi{bits}>", HostTensor(f"i{bits}", [N, N], want))], f"""
        %x = tensor.extract %c0[%row] : tensor<?xi{bits}>
        %y = tensor.extract %c0[%column] : tensor<?xi{bits}>
        %want = tensor.extract %c1[%row, %column] : tensor<?x?xi{bits}>
        %r = arith.{name} %x, %y : i{bits}
        %ok = arith.cmpi eq, %r, %want : i{bits}""")


    def test_shift_counts_of_any_size_are_constants_too(self):
        for op, want in (("shli", 0), ("shrui", 0), ("shrsi", -1)):
            with self.subTest(op=op):
                self.admits_all([("tensor<?xi32>", HostTensor("i32", [1], [-5]))], f"""
        %zero = arith.constant 0 : index
        %x = tensor.extract %c0[%zero] : tensor<?xi32>
        %by = arith.constant 32 : i32
        %y = arith.{op} %x, %by : i32
        %want = arith.constant {want} : i32
        %ok = arith.cmpi eq, %y, %want : i32""")

    def test_packed_masks_of_64_bits(self):
        bits = [1 << 63 | 1 << 40 | 1, (1 << 64) - 1, 0b1010, 0, 1 << 32, 1 << 31, 1 << 2, 1 << 7]
        shares, = admit([("tensor<?xi64>", HostTensor("i64", [N], [wrap(word, 64) for word in bits]))], """
        %word = tensor.extract %c0[%row] : tensor<?xi64>
        %j64 = arith.extsi %j : i32 to i64
        %shifted = arith.shrui %word, %j64 : i64
        %ok = arith.trunci %shifted : i64 to i1""")
        for word, share in zip(bits, shares):
            seen = sum(word >> j & 1 for j in range(N))
            self.assertAlmostEqual(share, seen / N, places=5)

    def test_bools_are_bytes(self):
        allowed = [[(i * 5 + j * 3) % 4 != 0 for j in range(N)] for i in range(N)]
        mask = HostTensor("bool", [N, N], [x for row in allowed for x in row])
        shares, = admit([("tensor<?x?xi1>", mask)], """
        %ok = tensor.extract %c0[%row, %column] : tensor<?x?xi1>""")
        for row, share in zip(allowed, shares):
            self.assertAlmostEqual(share, sum(row) / N, places=5)

    def test_bytes_without_a_sign_and_conversions_of_integers(self):
        values = [0, 1, 127, 128, 200, 255, 3, 4]
        self.admits_all([("tensor<?xui8>", HostTensor("u8", [N], values)),
                         ("tensor<?xi64>", HostTensor("i64", [N], values)),
                         ("tensor<?xi16>", HostTensor("i16", [N], [wrap(value, 8) for value in values])),
                         ("tensor<?xf32>", HostTensor("f32", [N], values))], """
        %x = tensor.extract %c0[%row] : tensor<?xi8>
        %wide = arith.extui %x : i8 to i64
        %want = tensor.extract %c1[%row] : tensor<?xi64>
        %ok0 = arith.cmpi eq, %wide, %want : i64
        %signed = arith.extsi %x : i8 to i16
        %wants = tensor.extract %c2[%row] : tensor<?xi16>
        %ok1 = arith.cmpi eq, %signed, %wants : i16
        %float = arith.uitofp %x : i8 to f32
        %wantf = tensor.extract %c3[%row] : tensor<?xf32>
        %ok2 = arith.cmpf oeq, %float, %wantf : f32
        %back = arith.fptoui %float : f32 to i8
        %ok3 = arith.cmpi eq, %back, %x : i8
        %narrow = arith.trunci %want : i64 to i8
        %ok4 = arith.cmpi eq, %narrow, %x : i8
        %a = arith.andi %ok0, %ok1 : i1
        %b2 = arith.andi %ok2, %ok3 : i1
        %c = arith.andi %a, %b2 : i1
        %ok = arith.andi %c, %ok4 : i1""")

    def test_floats_are_read_and_rounded_in_their_type(self):
        values = [0.0, -1.0, 1 / 3, 1e-7, 3.0000001, 65520.0, 1234567.0, -0.1]
        for element, pack in (("f16", "e"), ("bf16", None)):
            def rounded(value):
                if pack is None:
                    return from_bf16(bf16_bits(value))
                return math.copysign(math.inf, value) if abs(value) >= 65520 else struct.unpack("e", struct.pack("e", value))[0]
            want = [rounded(value) for value in values]
            kept = [value if math.isfinite(value) else 0.0 for value in want]
            with self.subTest(element=element):
                self.admits_all([("tensor<?xf32>", HostTensor("f32", [N], values)),
                                 ("tensor<?xf32>", HostTensor("f32", [N], want)),
                                 (f"tensor<?x{element}>", HostTensor(element, [N], kept)),
                                 ("tensor<?xf32>", HostTensor("f32", [N], kept))], f"""
        %x = tensor.extract %c0[%row] : tensor<?xf32>
        %narrow = arith.truncf %x : f32 to {element}
        %r = arith.extf %narrow : {element} to f32
        %want = tensor.extract %c1[%row] : tensor<?xf32>
        %ok0 = arith.cmpf oeq, %r, %want : f32
        %y = tensor.extract %c2[%row] : tensor<?x{element}>
        %z = arith.extf %y : {element} to f32
        %wanty = tensor.extract %c3[%row] : tensor<?xf32>
        %ok1 = arith.cmpf oeq, %z, %wanty : f32
        %ok = arith.andi %ok0, %ok1 : i1""")

    def test_doubles_are_not_narrowed(self):
        base = [1.0 + 2.0**-40 * n for n in range(N)]
        shares, = admit([("tensor<?xf64>", HostTensor("f64", [N], base)),
                         ("tensor<?xf64>", HostTensor("f64", [N], base))], """
        %x = tensor.extract %c0[%row] : tensor<?xf64>
        %y = tensor.extract %c1[%column] : tensor<?xf64>
        %ok = arith.cmpf ogt, %x, %y : f64""")
        for i, share in enumerate(shares):
            self.assertAlmostEqual(share, i / N, places=5)

    def test_arithmetic_of_doubles(self):
        a = [1.0, -2.5, 1e-300, 1e300, 3.0, 0.1, 7.0, 2.0]
        b = [3.0, 0.3, 1e-9, 1e-5, 7.0, 0.2, 1e100, 2.0**-53]
        for op, want in (("arith.addf", lambda x, y: x + y), ("arith.subf", lambda x, y: x - y),
                         ("arith.mulf", lambda x, y: x * y), ("arith.divf", lambda x, y: x / y),
                         ("arith.maximumf", max), ("arith.minnumf", min)):
            columns = [HostTensor("f64", [N], column) for column in (a, b, list(map(want, a, b)))]
            with self.subTest(op=op):
                self.admits_all([("tensor<?xf64>", column) for column in columns], f"""
        %x = tensor.extract %c0[%head] : tensor<?xf64>
        %y = tensor.extract %c1[%head] : tensor<?xf64>
        %want = tensor.extract %c2[%head] : tensor<?xf64>
        %r = {op} %x, %y : f64
        %ok = arith.cmpf oeq, %r, %want : f64""", heads=N)

    def test_indices_beyond_32_bits_are_out_of_bounds(self):
        at = [0, 1, 2**32, 2**32 + 1, -1, -2**32, 2**63 - 1, 1]
        shares, = admit([("tensor<?xi64>", HostTensor("i64", [N], at)),
                         ("tensor<?xi1>", HostTensor("bool", [2], [True, True]))], """
        %n = tensor.extract %c0[%row] : tensor<?xi64>
        %index = arith.index_cast %n : i64 to index
        %ok = tensor.extract %c1[%index] : tensor<?xi1>""")
        for index, share in zip(at, shares):
            self.assertAlmostEqual(share, 1.0 if index in (0, 1) else 0.0, places=5)

    def test_scalars_of_64_bits(self):
        at = [2**40 + n for n in range(N)]
        shares, = admit([("tensor<?xi64>", HostTensor("i64", [N], at)), ("i64", 2**40 + 3)], """
        %x = tensor.extract %c0[%row] : tensor<?xi64>
        %ok = arith.cmpi slt, %x, %c1 : i64""")
        for i, share in enumerate(shares):
            self.assertAlmostEqual(share, 1.0 if i < 3 else 0.0, places=5)

    def test_no_type_is_taken_for_another(self):
        region = """
        %x = tensor.extract %c0[%row] : tensor<?xi8>
        %zero = arith.constant 0 : i8
        %ok = arith.cmpi eq, %x, %zero : i8"""
        for given, kind in (("i8", "ui8"), ("u8", "i8"), ("bool", "ui8"), ("i16", "i8")):
            with self.assertRaisesRegex(ArgumentError, f"element type of 'c0' to be {kind.replace('ui', 'u')}, got {given}"):
                admit([(f"tensor<?x{kind}>", HostTensor(given, [N]))], region)


if __name__ == "__main__":
    unittest.main()
