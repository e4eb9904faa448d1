# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Probes of matrix instructions: mma.sync, ldmatrix and its kin, wgmma."""

import kernel
from scalar import EXACT
from warp import probe

THREADS = 128


def moves():
    own = ("mad.lo.s32 %r30, %warp, 2048, %smem; mad.lo.s32 %r31, %lane, 16, %r30; "
           "xor.b32 %r32, %lane, 13; mad.lo.s32 %r32, %r32, 16, %r30; ")
    fill = own + "st.shared.v4.b32 [%r31], {{{0}, {1}, {2}, {3}}}; bar.warp.sync -1; "
    for count in (1, 2, 4):
        results = ", ".join("%%r%d" % (i + 1) for i in range(count))
        values = ", ".join("{%d}" % i for i in range(count))
        for trans in ("", ".trans"):
            yield probe("ldmatrix.x%d%s" % (count, trans), fill +
                        "ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 {{%s}}, [%%r32];"
                        % (count, trans, results), "4x(b32*)", count, "matrix", 8192)
            yield probe("stmatrix.x%d%s" % (count, trans), fill +
                        "stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%r32+512], {{%s}}; "
                        "bar.warp.sync -1; ld.shared.v4.b32 {{%%r1, %%r2, %%r3, %%r4}}, "
                        "[%%r31+512];" % (count, trans, values) if count == 4 else fill +
                        "st.shared.v4.b32 [%%r31+512], {{{0}, {1}, {2}, {3}}}; "
                        "bar.warp.sync -1; "
                        "stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%r32+512], {{%s}}; "
                        "bar.warp.sync -1; ld.shared.v4.b32 {{%%r1, %%r2, %%r3, %%r4}}, "
                        "[%%r31+512];" % (count, trans, values), "4x(b32*)", 4, "matrix", 8192)
    yield probe("movmatrix.trans", "movmatrix.sync.aligned.m8n8.trans.b16 %r1, {0};", "b32*",
                family="matrix")


# shape, A, B, D, registers of A and B, words of C and D
MMA = [("m16n8k8", "f16", "f16", "f16", 2, 1, 2), ("m16n8k8", "f16", "f16", "f32", 2, 1, 4),
       ("m16n8k16", "f16", "f16", "f16", 4, 2, 2), ("m16n8k16", "f16", "f16", "f32", 4, 2, 4),
       ("m16n8k8", "bf16", "bf16", "f32", 2, 1, 4),
       ("m16n8k16", "bf16", "bf16", "f32", 4, 2, 4),
       ("m16n8k4", "tf32", "tf32", "f32", 2, 1, 4), ("m16n8k8", "tf32", "tf32", "f32", 4, 2, 4),
       ("m16n8k16", "e4m3", "e4m3", "f32", 2, 1, 4), ("m16n8k32", "e4m3", "e4m3", "f32", 4, 2, 4),
       ("m16n8k32", "e5m2", "e4m3", "f32", 4, 2, 4), ("m16n8k32", "e5m2", "e5m2", "f16", 4, 2, 2),
       ("m8n8k16", "s8", "s8", "s32", 1, 1, 2), ("m16n8k16", "u8", "s8", "s32", 2, 1, 4),
       ("m16n8k16", "s8", "s8", "s32", 2, 1, 4), ("m16n8k16", "s8", "u8", "s32", 2, 1, 4),
       ("m16n8k16", "u8", "u8", "s32", 2, 1, 4), ("m16n8k32", "s8", "u8", "s32", 4, 2, 4),
       ("m16n8k32", "u8", "s8", "s32", 4, 2, 4),
       ("m16n8k32", "s8", "s8", "s32", 4, 2, 4), ("m16n8k32", "u8", "u8", "s32", 4, 2, 4),
       ("m16n8k32", "s4", "s4", "s32", 2, 1, 4), ("m16n8k64", "u4", "s4", "s32", 4, 2, 4),
       ("m16n8k256", "b1", "b1", "s32", 4, 2, 4)]


def filler(kind, how):
    """The words of a matrix of such elements; see inputs.Filler."""
    if kind in ("f16", "bf16", "e4m3", "e5m2"):
        return kind + how
    return "f32" + how if kind in ("tf32", "f32") else "b32*"


def products():
    for shape, a, b, d, a_count, b_count, d_count in MMA:
        for how in "~^":
            if how == "^" and filler(a, how) == "b32*":
                continue
            operands = "%dx(%s) %dx(%s) %dx(%s)" % (
                a_count, filler(a, how), b_count, filler(b, how), d_count, filler(d, how))
            numbers = iter(range(a_count + b_count + d_count))
            vectors = ["{{" + ", ".join("{%d}" % next(numbers) for _ in range(count)) + "}}"
                       for count in (a_count, b_count, d_count)]
            to = "{{" + ", ".join("%%r%d" % (i + 1) for i in range(d_count)) + "}}"
            extra = ".xor.popc" if a == "b1" else ""
            for satfinite in ("", ".satfinite") if a in ("s8", "s4") else ("",):
                name = "mma.sync.aligned.%s.row.col%s.%s.%s.%s.%s%s" % (
                    shape, satfinite, d, a, b, d, extra)
                made = probe(name + ("+wide" if how == "^" else ""),
                             "%s %s, %s;" % (name, to, ", ".join(vectors)), operands, d_count,
                             "matrix")
                yield measure(made, d)


def measure(made, kind):
    """Results are held to be exact, and differences counted in their format."""
    made["rule"] = dict(EXACT) if kind == "s32" else dict(EXACT, format=kind)
    made["row_count"] = 256
    return made


class Wgmma:
    """One wgmma of a warpgroup, on `a_bytes` and `b_bytes` bytes of shared
    memory that its threads fill in order with words of their rows."""

    def __init__(self, name, n, d, a, b, a_layout=None, b_layout=None, how="~", scale_a=1,
                 scale_b=1, scale_d=1, satfinite="", accumulator="~"):
        self.name, self.n, self.d, self.a, self.b = name, n, d, a, b
        self.size = {"f16": 2, "bf16": 2, "tf32": 4}.get(a, 1)
        self.a_layout, self.b_layout = a_layout, b_layout or K_PLAIN
        self.how, self.accumulator = how, accumulator
        self.scales = (scale_a, scale_b)
        self.scale_d, self.satfinite = scale_d, satfinite

    def words(self, layout, rows):
        """Words that each thread brings, so that 128 threads fill the tile."""
        return 4 * -(-layout.bytes(rows, self.size) // 2048)

    def build(self):
        words_a = self.words(self.a_layout, 64) if self.a_layout else 4
        words_b = self.words(self.b_layout, self.n)
        words_d = self.n // 4 if self.d == "f16" else self.n // 2
        operands = "%dx(%s) %dx(%s) %dx(%s)" % (
            words_a, filler(self.a, self.how), words_b, filler(self.b, self.how), words_d,
            filler(self.d, self.accumulator))
        loads, names, row = kernel.registers(operands)
        a_names, b_names = names[:words_a], names[words_a:words_a + words_b]
        d_names = names[words_a + words_b:]
        body = loads + "mov.u32 %smem, smem;\nmad.lo.s32 %r1, %thread, 16, %smem;\n"
        body += self.fill(a_names if self.a_layout else [], 0)
        body += self.fill(b_names, 16384)
        body += "fence.proxy.async;\nbar.sync 0;\n"
        body += self.descriptor("%d1", self.a_layout, 0) if self.a_layout else ""
        body += self.descriptor("%d2", self.b_layout, 16384)
        body += "setp.ne.b32 %%p1, %d, 0;\nwgmma.fence.sync.aligned;\n" % self.scale_d
        body += self.instruction(d_names, a_names) + ";\n"
        body += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
        body += kernel.stores(d_names)
        ptx = kernel.entry(kernel.indent(body), row, 4 * words_d,
                           declarations="  .shared .align 1024 .b8 smem[40960];\n"
                           "  .reg .b32 %smem;\n", words=len(names) + 64)
        made = {"name": self.name, "family": "wgmma", "opcode": "wgmma.mma_async", "form": self.name,
                "operands": operands, "in_row": row, "out_row": 4 * words_d, "result": "4",
                "threads": THREADS, "ptx": ptx}
        made = measure(made, self.d)
        made["row_count"] = 128
        return made

    def fill(self, names, offset):
        return "".join("st.shared.v4.b32 [%%r1+%d], {%s};\n" % (
            offset + 512 * i, ", ".join(names[i:i + 4])) for i in range(0, len(names), 4))

    def descriptor(self, register, layout, offset):
        return ("cvt.u64.u32 %%d3, %%smem;\nadd.s64 %%d3, %%d3, %d;\nshr.u64 %%d3, %%d3, 4;\n"
                "and.b64 %%d3, %%d3, 0x3fff;\nor.b64 %s, %%d3, %d;\n" % (
                    offset, register, layout.descriptor()))

    def instruction(self, d_names, a_names):
        a = "%d1" if self.a_layout else "{%s}" % ", ".join(a_names)
        integer = self.d == "s32"
        words = ["{%s}" % ", ".join(d_names), a, "%d2", "%p1"]
        words += [] if integer else [str(scale) for scale in self.scales]
        if self.size == 2:
            words += [str(int(layout.mn)) for layout in (self.a_layout, self.b_layout) if layout]
        k = 32 // self.size
        return "wgmma.mma_async.sync.aligned.m64n%dk%d%s.%s.%s.%s %s" % (
            self.n, k, self.satfinite, self.d, self.a, self.b, ", ".join(words))


class Layout:
    """The layout of an operand in shared memory: bytes between core matrices along
    the leading (LBO) and the other dimension (SBO), and the swizzle's span."""

    MODES = {0: 0, 128: 1, 64: 2, 32: 3}

    def __init__(self, lbo, sbo, span=0, mn=False):
        self.lbo, self.sbo, self.span, self.mn = lbo, sbo, span, mn

    def descriptor(self):
        return self.lbo >> 4 << 16 | self.sbo >> 4 << 32 | self.MODES[self.span] << 62

    def bytes(self, rows, size):
        """Enough for all that the descriptor may reach."""
        if self.mn:
            atoms = -(-rows * size // (self.span or 16))
            return atoms * self.lbo + 4 * self.sbo + 1024 if self.span else \
                atoms * self.sbo + 4 * self.lbo
        return rows // 8 * self.sbo + (2 * self.lbo if not self.span else 0)


K_PLAIN = Layout(128, 256)
LAYOUTS = {
    "k-plain": K_PLAIN, "k-plain-far": Layout(1024, 128), "k-32": Layout(16, 256, 32),
    "k-64": Layout(16, 512, 64), "k-128": Layout(16, 1024, 128),
    "k-128-gap": Layout(16, 1280, 128),
    "mn-plain": Layout(128, 256, 0, True), "mn-32": Layout(512, 256, 32, True),
    "mn-64": Layout(1024, 512, 64, True), "mn-128": Layout(2048, 1024, 128, True)}


def wgmmas():
    for n in (8, 16, 24, 40, 64, 96, 128, 192, 256):
        yield Wgmma("wgmma.n%d.f32.bf16" % n, n, "f32", "bf16", "bf16", K_PLAIN)
        yield Wgmma("wgmma.n%d.f32.f16+registers" % n, n, "f32", "f16", "f16")
    for n in (8, 48, 256):
        yield Wgmma("wgmma.n%d.f16.f16" % n, n, "f16", "f16", "f16", K_PLAIN)
        yield Wgmma("wgmma.n%d.f32.tf32" % n, n, "f32", "tf32", "tf32", K_PLAIN)
        yield Wgmma("wgmma.n%d.f32.tf32+registers" % n, n, "f32", "tf32", "tf32")
        for a in ("e4m3", "e5m2"):
            for b in ("e4m3", "e5m2"):
                for d in ("f32", "f16"):
                    yield Wgmma("wgmma.n%d.%s.%s.%s" % (n, d, a, b), n, d, a, b, K_PLAIN)
        yield Wgmma("wgmma.n%d.f32.e4m3+registers" % n, n, "f32", "e4m3", "e4m3")
    for n in (8, 24, 32, 48, 96, 256):
        for a in ("s8", "u8"):
            for b in ("s8", "u8"):
                yield Wgmma("wgmma.n%d.s32.%s.%s" % (n, a, b), n, "s32", a, b, K_PLAIN)
    yield Wgmma("wgmma.satfinite.s32.s8", 32, "s32", "s8", "s8", K_PLAIN, satfinite=".satfinite")
    yield Wgmma("wgmma.s32.s8+registers", 32, "s32", "s8", "u8")
    for kind in ("f16", "bf16"):
        for name, layout in LAYOUTS.items():
            yield Wgmma("wgmma.a-%s.%s" % (name, kind), 32, "f32", kind, kind, layout)
            yield Wgmma("wgmma.b-%s.%s" % (name, kind), 128, "f32", kind, kind, K_PLAIN, layout)
    for kind in ("tf32", "e4m3", "s8"):
        d = "s32" if kind == "s8" else "f32"
        for name, layout in LAYOUTS.items():
            if not layout.mn:
                yield Wgmma("wgmma.ab-%s.%s" % (name, kind), 64, d, kind, kind, layout, layout)
    for kind in ("f16", "bf16", "tf32", "e4m3", "e5m2"):
        yield Wgmma("wgmma.wide.f32." + kind, 32, "f32", kind, kind, K_PLAIN, how="^")
        yield Wgmma("wgmma.wide+c.f32." + kind, 32, "f32", kind, kind, K_PLAIN, how="^",
                    accumulator="^")
        yield Wgmma("wgmma.no-c.f32." + kind, 32, "f32", kind, kind, K_PLAIN, scale_d=0)
        yield Wgmma("wgmma.negated.f32." + kind, 32, "f32", kind, kind, K_PLAIN, scale_a=-1)
        yield Wgmma("wgmma.negated2.f32." + kind, 32, "f32", kind, kind, K_PLAIN, scale_a=-1,
                    scale_b=-1)
    yield Wgmma("wgmma.wide.f16.f16", 32, "f16", "f16", "f16", K_PLAIN, how="^")


def probes():
    yield from moves()
    yield from products()
    for each in wgmmas():
        yield each.build()
