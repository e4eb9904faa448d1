# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Probes of instructions that work lane by lane. Each yields (opcode, text,
operands, result, rule); see kernel.elementwise for text, operands and result,
and compare.py for rules."""

EXACT = {"rule": "exact"}


def ulps(count):
    return {"rule": "ulps", "bound": count}


def relative(bound):
    return {"rule": "relative", "bound": bound}


def absolute(bound):
    return {"rule": "absolute", "bound": bound}


def form(text, operands, result, rule=None, opcode=None):
    return (opcode or text.partition(".")[0], text, operands, result, rule or EXACT)


def plain(opcode, operands, result, rule=None):
    """The instruction with all its operands in order and nothing else."""
    names = ["{d}"] + ["{%s}" % name for name in "abce"[:len(operands.split())]]
    return form("%s %s;" % (opcode, ", ".join(names)), operands, result, rule)


CARRYING = (("u32", "4"), ("s32", "4"), ("u64", "8"), ("s64", "8"))


def integer_arithmetic():
    for width in (16, 32, 64):
        bits = "b%d" % width
        size = str(width // 8)
        for sign in "us":
            kind = "%s%d" % (sign, width)
            for opcode in ("add", "sub", "mul.lo", "mul.hi", "min", "max"):
                yield plain("%s.%s" % (opcode, kind), bits + " " + bits, size)
            for opcode in ("div", "rem"):
                yield plain("%s.%s" % (opcode, kind), "%s %s!0" % (bits, bits), size)
            for opcode in ("mad.lo", "mad.hi", "sad"):
                yield plain("%s.%s" % (opcode, kind), " ".join([bits] * 3), size)
            yield plain("shr.%s" % kind, bits + " b32<70", size)
        for opcode in ("abs", "neg"):
            yield plain("%s.s%d" % (opcode, width), bits, size)
        yield plain("shl.%s" % bits, bits + " b32<70", size)
        yield plain("shr.%s" % bits, bits + " b32<70", size)
        for opcode in ("not", "cnot"):
            yield plain("%s.%s" % (opcode, bits), bits, size)
    for sign in "us":
        yield plain("mul.wide.%s16" % sign, "b16 b16", "4")
        yield plain("mul.wide.%s32" % sign, "b32 b32", "8")
        yield plain("mad.wide.%s16" % sign, "b16 b16 b32", "4")
        yield plain("mad.wide.%s32" % sign, "b32 b32 b64", "8")
        yield plain("mul24.lo.%s32" % sign, "b32 b32", "4")
        yield plain("mul24.hi.%s32" % sign, "b32 b32", "4")
        yield plain("mad24.lo.%s32" % sign, "b32 b32 b32", "4")
        yield plain("mad24.hi.%s32" % sign, "b32 b32 b32", "4")
        for opcode in ("min", "max"):
            yield plain("%s.%s16x2" % (opcode, sign), "b16x2 b16x2", "4")
        yield plain("add.%s16x2" % sign, "b16x2 b16x2", "4")
    yield plain("add.sat.s32", "b32 b32", "4")
    yield plain("sub.sat.s32", "b32 b32", "4")
    yield plain("mad.hi.sat.s32", "b32 b32 b32", "4")
    for opcode in ("min", "max"):
        yield plain("%s.relu.s32" % opcode, "b32 b32", "4")
        yield plain("%s.relu.s16x2" % opcode, "b16x2 b16x2", "4")
    for first, second in (("add.cc", "addc"), ("sub.cc", "subc")):
        for kind, size in CARRYING:
            bits = "b" + kind[1:]
            yield form("{one}.{kind} {{d}}, {{a}}, {{b}}; {two}.{kind} {{d}}, {{a}}, {{c}};".format(
                one=first, two=second, kind=kind), " ".join([bits] * 3), size)
            yield form("{one}.{kind} {{d}}, {{a}}, {{b}}; {two}.cc.{kind} {{d}}, {{a}}, {{c}}; "
                       "{two}.{kind} {{d}}, {{b}}, {{c}};".format(one=first, two=second, kind=kind),
                       " ".join([bits] * 3), size, opcode=second)
    for kind, size in CARRYING:
        for first, second in (("lo", "hi"), ("hi", "lo")):
            yield form("mad.{one}.cc.{kind} {{d}}, {{a}}, {{b}}, {{c}}; "
                       "madc.{two}.{kind} {{d}}, {{a}}, {{b}}, {{c}};".format(
                           one=first, two=second, kind=kind), " ".join(["b" + kind[1:]] * 3), size,
                       opcode="madc")
            yield form("mad.lo.cc.{kind} {{d}}, {{a}}, {{b}}, {{c}}; "
                       "madc.{one}.cc.{kind} {{d}}, {{a}}, {{b}}, {{c}}; "
                       "addc.{kind} {{d}}, {{a}}, {{d}};".format(one=first, kind=kind),
                       " ".join(["b" + kind[1:]] * 3), size, opcode="madc")


def integer_bits():
    for width in (32, 64):
        bits = "b%d" % width
        size = str(width // 8)
        for opcode in ("popc", "clz"):
            yield plain("%s.%s" % (opcode, bits), bits, "4")
        yield plain("brev.%s" % bits, bits, size)
        yield plain("bfi.%s" % bits, "%s %s b32<70 b32<70" % (bits, bits), size)
        for sign in "us":
            kind = "%s%d" % (sign, width)
            yield plain("bfind.%s" % kind, bits, "4")
            yield plain("bfind.shiftamt.%s" % kind, bits, "4")
            yield plain("bfe.%s" % kind, bits + " b32<70 b32<70", size)
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        yield plain("prmt.b32" + mode, "b32 b32 b32", "4")
    for direction in "lr":
        for mode in ("wrap", "clamp"):
            yield plain("shf.%s.%s.b32" % (direction, mode), "b32 b32 b32<70", "4")
    for table in (0x00, 0x1b, 0x80, 0xca, 0xe8, 0x96):
        yield form("lop3.b32 {d}, {a}, {b}, {c}, 0x%02x;" % table, "b32 b32 b32", "4")
    for mode in ("clamp", "wrap"):
        yield plain("bmsk.%s.b32" % mode, "b32<70 b32<70", "4")
        for sign in "us":
            yield plain("szext.%s.%s32" % (mode, sign), "b32 b32<70", "4")
    yield form("fns.b32 {d}, {a}, {b}, {c};", "b32 b32<32 b32<35", "4")
    for first in "us":
        for second in "us":
            kinds = "%s32.%s32" % (first, second)
            yield plain("dp4a." + kinds, "b32 b32 b32", "4")
            for half in ("lo", "hi"):
                yield plain("dp2a.%s.%s" % (half, kinds), "b32 b32 b32", "4")
    for width in (16, 32, 64):
        bits = "b%d" % width
        for opcode in ("and", "or", "xor"):
            yield plain("%s.%s" % (opcode, bits), bits + " " + bits, str(width // 8))


def compares():
    for width in (16, 32, 64):
        bits = "b%d" % width
        for sign, names in (("s", "eq ne lt le gt ge"), ("b", "eq ne"),
                            ("u", "eq ne lt le gt ge lo ls hi hs")):
            for name in names.split():
                yield plain("setp.%s.%s%d" % (name, sign, width), bits + " " + bits, "pred")
                yield plain("set.%s.u32.%s%d" % (name, sign, width), bits + " " + bits, "4")
    for name in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu",
                 "num", "nan"):
        for kind in ("f32", "ftz.f32", "f64", "f16", "bf16"):
            operands = " ".join([kind.replace("ftz.", "")] * 2)
            yield plain("setp.%s.%s" % (name, kind), operands, "pred")
            if kind in ("f32", "f64"):
                yield plain("set.%s.u32.%s" % (name, kind), operands, "4")
        yield plain("set.%s.ftz.u32.f32" % name, "f32 f32", "4")
        for kind in ("f16x2", "bf16x2"):
            yield form("setp.%s.%s {d}|{q}, {a}, {b};" % (name, kind), kind + " " + kind, "pred2")
            yield plain("set.%s.%s.%s" % (name, kind, kind), kind + " " + kind, "4")
        yield plain("set.%s.f32.f32" % name, "f32 f32", "4")
    yield plain("set.lt.s32.s32", "b32 b32", "4")
    yield plain("set.lt.f32.u32", "b32 b32", "4")
    for operation in ("and", "or", "xor"):
        yield form("setp.lt.u32 %%p3, {c}, 7; setp.gt.%s.s32 {d}|{q}, {a}, {b}, %%p3;" % operation,
                   "b32 b32 b32<14", "pred2")
        yield form("setp.lt.u32 %%p3, {c}, 7; setp.lt.%s.f32 {d}|{q}, {a}, {b}, !%%p3;" % operation,
                   "f32 f32 b32<14", "pred2")
    for name in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        yield plain("testp.%s.f32" % name, "f32", "pred")
        yield plain("testp.%s.f64" % name, "f64", "pred")
    for kind in ("b16", "u16", "b32", "s32", "f32", "b64", "f64"):
        operand = kind.replace("u", "b").replace("s", "b")
        yield form("setp.lt.u32 %%p3, {c}, 7; selp.%s {d}, {a}, {b}, %%p3;" % kind,
                   "%s %s b32<14" % (operand, operand), str(int(kind[1:]) // 8), opcode="selp")
    for operation in ("and", "or", "xor"):
        yield form("setp.lt.u32 %%p3, {a}, 7; setp.lt.u32 %%p4, {b}, 7; "
                   "%s.pred {d}, %%p3, %%p4;" % operation, "b32<14 b32<14", "pred",
                   opcode=operation)
    yield form("setp.lt.u32 %p3, {a}, 7; not.pred {d}, %p3;", "b32<14", "pred", opcode="not")
    yield form("setp.lt.u32 %p3, {a}, 7; mov.pred {d}, %p3;", "b32<14", "pred", opcode="mov")
    yield plain("slct.u32.s32", "b32 b32 b32", "4")
    yield plain("slct.f32.f32", "f32 f32 f32", "4")
    yield plain("slct.ftz.f32.f32", "f32 f32 f32", "4")
    yield plain("slct.b64.s32", "b64 b64 b32", "8")


def f32_arithmetic():
    for opcode in ("add", "sub", "mul"):
        for rounding in (".rn", ".rz", ".rm", ".rp"):
            for ftz in ("", ".ftz"):
                yield plain("%s%s%s.f32" % (opcode, rounding, ftz), "f32 f32", "4")
            yield plain("%s%s.f64" % (opcode, rounding), "f64 f64", "8")
        yield plain("%s.rn.sat.f32" % opcode, "f32 f32", "4")
        yield plain("%s.rn.ftz.sat.f32" % opcode, "f32 f32", "4")
    for rounding in (".rn", ".rz", ".rm", ".rp"):
        for ftz in ("", ".ftz"):
            for opcode in ("fma", "mad"):
                yield plain("%s%s%s.f32" % (opcode, rounding, ftz), "f32 f32 f32", "4")
        for opcode in ("fma", "mad"):
            yield plain("%s%s.f64" % (opcode, rounding), "f64 f64 f64", "8")
        for opcode in ("div", "rcp", "sqrt"):
            kinds = "f32 f32" if opcode == "div" else "f32"
            for ftz in ("", ".ftz"):
                yield plain("%s%s%s.f32" % (opcode, rounding, ftz), kinds, "4")
            yield plain("%s%s.f64" % (opcode, rounding), kinds.replace("32", "64"), "8")
    yield plain("fma.rn.sat.f32", "f32 f32 f32", "4")
    for opcode in ("min", "max"):
        for modifiers in ("", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".NaN.xorsign.abs"):
            yield plain("%s%s.f32" % (opcode, modifiers), "f32 f32", "4")
        yield plain("%s.f64" % opcode, "f64 f64", "8")
    for opcode in ("abs", "neg"):
        yield plain("%s.f32" % opcode, "f32", "4")
        yield plain("%s.ftz.f32" % opcode, "f32", "4")
        yield plain("%s.f64" % opcode, "f64", "8")
    yield plain("copysign.f32", "f32 f32", "4")
    yield plain("copysign.f64", "f64 f64", "8")


def approximations():
    for ftz in ("", ".ftz"):
        yield plain("ex2.approx%s.f32" % ftz, "f32", "4", ulps(2))
        yield plain("lg2.approx%s.f32" % ftz, "f32", "4",
                    {"rule": "either", "absolute": 2.0 ** -22, "relative": 2.0 ** -22})
        yield plain("rcp.approx%s.f32" % ftz, "f32", "4", ulps(1))
        yield plain("rsqrt.approx%s.f32" % ftz, "f32", "4", relative(2.0 ** -22.9))
        yield plain("sqrt.approx%s.f32" % ftz, "f32", "4", relative(2.0 ** -23 * 1.01))
        yield plain("div.approx%s.f32" % ftz, "f32 f32", "4", ulps(2))
        yield plain("div.full%s.f32" % ftz, "f32 f32", "4", ulps(2))
        for opcode in ("sin", "cos"):
            yield plain("%s.approx%s.f32" % (opcode, ftz), "f32", "4",
                        dict(absolute(2.0 ** -20.5), within=6.2831853))
    yield plain("tanh.approx.f32", "f32", "4", relative(2.0 ** -11))
    yield plain("rcp.approx.ftz.f64", "f64", "8", relative(2.0 ** -19))
    yield plain("rsqrt.approx.f64", "f64", "8", relative(2.0 ** -20))
    yield plain("rsqrt.approx.ftz.f64", "f64", "8", relative(2.0 ** -20))
    # Subnormal results have fewer bits than that.
    half = {"rule": "either", "absolute": 2.0 ** -25, "relative": 2.0 ** -9.9}
    yield plain("ex2.approx.f16", "f16", "2", half)
    yield plain("ex2.approx.f16x2", "f16x2", "4", dict(half, lanes="f16"))
    yield plain("ex2.approx.ftz.bf16", "bf16", "2", relative(2.0 ** -7))
    yield plain("ex2.approx.ftz.bf16x2", "bf16x2", "4", dict(relative(2.0 ** -7), lanes="bf16"))
    yield plain("tanh.approx.f16", "f16", "2", absolute(2.0 ** -10.987))
    yield plain("tanh.approx.bf16", "bf16", "2", relative(2.0 ** -8))
    yield plain("tanh.approx.bf16x2", "bf16x2", "4", dict(relative(2.0 ** -8), lanes="bf16"))
    yield plain("tanh.approx.f16x2", "f16x2", "4", dict(absolute(2.0 ** -10.987), lanes="f16"))


def half_arithmetic():
    for kind in ("f16", "bf16", "f16x2", "bf16x2"):
        size = "4" if kind.endswith("x2") else "2"
        two = " ".join([kind] * 2)
        three = " ".join([kind] * 3)
        is_f16 = kind.startswith("f")
        for opcode in ("add", "sub", "mul"):
            yield plain("%s.rn.%s" % (opcode, kind), two, size)
            if is_f16:
                for modifiers in (".ftz", ".sat", ".ftz.sat"):
                    yield plain("%s.rn%s.%s" % (opcode, modifiers, kind), two, size)
        for modifiers in ("", ".relu") + ((".ftz", ".sat", ".ftz.relu", ".ftz.sat") if is_f16 else ()):
            yield plain("fma.rn%s.%s" % (modifiers, kind), three, size)
        for opcode in ("min", "max"):
            for modifiers in ("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs") + (
                    (".ftz", ".ftz.NaN", ".ftz.xorsign.abs", ".ftz.NaN.xorsign.abs")
                    if is_f16 else ()):
                yield plain("%s%s.%s" % (opcode, modifiers, kind), two, size)
        for opcode in ("abs", "neg"):
            yield plain("%s.%s" % (opcode, kind), kind, size)
            if is_f16:
                yield plain("%s.ftz.%s" % (opcode, kind), kind, size)
        yield plain("fma.rn.oob.%s" % kind, three, size)


def fits(sign, width, sign2, width2):
    """Whether every value of the first integer type is one of the second's:
    .sat is illegal then."""
    return width2 >= width if sign == sign2 else sign == "u" and width2 > width


def conversions():
    integers = [(sign, width) for sign in "us" for width in (8, 16, 32, 64)]

    def register(width):
        return max(width, 16) // 8

    for sign, width in integers:
        source = "b%d" % max(width, 16)
        for sign2, width2 in (("u", 8), ("s", 8), ("u", 16), ("s", 16), ("u", 32), ("s", 32),
                              ("u", 64), ("s", 64)):
            names = "%s%d.%s%d" % (sign2, width2, sign, width)
            if (sign, width) != (sign2, width2):
                yield plain("cvt." + names, source, str(register(width2)))
                if not fits(sign, width, sign2, width2):
                    yield plain("cvt.sat." + names, source, str(register(width2)))
        for to, size in (("f16", "2"), ("bf16", "2"), ("f32", "4"), ("f64", "8")):
            if to == "bf16" and width == 8:
                continue
            for rounding in ("rn", "rz", "rm", "rp"):
                yield plain("cvt.%s.%s.%s%d" % (rounding, to, sign, width), source, size)
    for kind in ("f16", "bf16", "f32", "f64"):
        for sign, width in integers:
            if kind == "bf16" and width == 8:
                continue
            for rounding in ("rni", "rzi", "rmi", "rpi"):
                yield plain("cvt.%s.%s%d.%s" % (rounding, sign, width, kind), kind,
                            str(register(width)))
        if kind != "bf16":
            for rounding in ("rni", "rzi", "rmi", "rpi"):
                size = {"f16": "2", "f32": "4", "f64": "8"}[kind]
                yield plain("cvt.%s.%s.%s" % (rounding, kind, kind), kind, size)
    yield plain("cvt.rzi.ftz.s32.f32", "f32", "4")
    yield plain("cvt.rni.ftz.f32.f32", "f32", "4")
    for rounding in ("rn", "rz", "rm", "rp"):
        yield plain("cvt.%s.f32.f64" % rounding, "f64", "4")
        yield plain("cvt.%s.f16.f32" % rounding, "f32", "2")
        yield plain("cvt.%s.f16.f64" % rounding, "f64", "2")
        yield plain("cvt.%s.bf16.f32" % rounding, "f32", "2")
    yield plain("cvt.rn.ftz.f32.f64", "f64", "4")
    yield plain("cvt.rn.relu.f16.f32", "f32", "2")
    yield plain("cvt.rn.satfinite.f16.f32", "f32", "2")
    yield plain("cvt.rn.relu.bf16.f32", "f32", "2")
    yield plain("cvt.rn.satfinite.bf16.f32", "f32", "2")
    yield plain("cvt.sat.f32.f32", "f32", "4")
    yield plain("cvt.ftz.sat.f32.f32", "f32", "4")
    for to, source, size in (("f32", "f16", "4"), ("f64", "f16", "8"), ("f32", "bf16", "4"),
                             ("f64", "bf16", "8"), ("f64", "f32", "8")):
        yield plain("cvt.%s.%s" % (to, source), source, size)
    yield plain("cvt.ftz.f64.f32", "f32", "8")
    yield plain("cvt.rn.bf16.f16", "f16", "2")
    yield plain("cvt.rn.f16.bf16", "bf16", "2")
    for to in ("f16x2", "bf16x2"):
        for rounding in ("rn", "rz"):
            for modifiers in ("", ".relu", ".satfinite", ".relu.satfinite"):
                yield plain("cvt.%s%s.%s.f32" % (rounding, modifiers, to), "f32 f32", "4")
    for to in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            yield plain("cvt.rn.satfinite%s.%s.f32" % (relu, to), "f32 f32", "2")
            yield plain("cvt.rn.satfinite%s.%s.f16x2" % (relu, to), "f16x2", "2")
            yield plain("cvt.rn%s.f16x2.%s" % (relu, to), "b16", "4")
    for rounding in ("rna", "rn", "rz"):
        yield plain("cvt.%s.tf32.f32" % rounding, "f32", "4")
    yield plain("cvt.rna.satfinite.tf32.f32", "f32", "4")
    for rounding in ("rn", "rz"):
        yield plain("cvt.%s.relu.tf32.f32" % rounding, "f32", "4")
    for opcode in ("cvt.pack.sat.u16.s32", "cvt.pack.sat.s16.s32"):
        yield plain(opcode, "b32 b32", "4")
    for opcode in ("cvt.pack.sat.u8.s32.b32", "cvt.pack.sat.s8.s32.b32"):
        yield plain(opcode, "b32 b32 b32", "4")


def moves():
    for kind in ("b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"):
        yield plain("mov." + kind, kind.replace("u", "b").replace("s", "b"), str(int(kind[1:]) // 8))
    yield form("mov.b32 {d}, {{{a}, {b}}};", "b16 b16", "4")
    yield form("mov.b64 {d}, {{{a}, {b}}};", "b32 b32", "8")
    yield form("mov.b64 {d}, {{{a}, {b}, {c}, 7}};", "b16 b16 b16", "8")
    yield form("mov.b32 {{_, {d}}}, {a};", "b32", "2")
    yield form("mov.b64 {{{d}, %r7}}, {a};", "b64", "4")
    yield form("mov.b64 {{%h3, %h4, {d}, %h5}}, {a};", "b64", "2")
    yield form(".reg .b128 %q; mov.b128 %q, {{{a}, {b}}}; mov.b128 {{_, {d}}}, %q;", "b64 b64",
               "8", opcode="mov")


FAMILIES = [moves, integer_arithmetic, integer_bits, compares, f32_arithmetic, approximations,
            half_arithmetic, conversions]
