# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Probes of instructions in which the lanes of a warp, or the warps of a CTA,
work together."""

import re

import kernel
from scalar import EXACT

THREADS = 128
# Those of which a word says too little.
LONG_OPCODES = re.compile(r"cp\.(reduce\.)?async(\.bulk(\.prefetch)?|\.mbarrier\.arrive)?|"
                          r"(st|red)\.async|mbarrier\.\w+|barrier\.cluster|"
                          r"bar(rier)?(\.cta)?\.(sync|arrive|red)|bar\.warp\.sync|"
                          r"fence\.(proxy\.\w+|mbarrier_init)|tensormap\.replace")


def opcode_of(name):
    """The opcode that a probe's name begins with."""
    long = LONG_OPCODES.match(name)
    return long.group() if long else re.split(r"[.+]", name)[0]



def probe(name, text, operands, results=1, family="warp", shared=0, form=None, rule=None,
          directives="", parameters="", out_row=0, opcode=None):
    """`text` uses {0}, {1}... for operands; its results are in %r1, %r2..., or,
    with `out_row`, it writes that many bytes itself."""
    loads, names, row = kernel.registers(operands)
    declarations = ""
    if shared:
        declarations = ("  .shared .align 1024 .b8 smem[%d];\n"
                        "  .reg .b32 %%smem, %%lane, %%warp;\n" % shared)
        loads += ("mov.u32 %smem, smem;\nmov.u32 %lane, %laneid;\n"
                  "shr.u32 %warp, %thread, 5;\n")
    for i in range(results):
        loads += "mov.b32 %%r%d, 0;\n" % (i + 1)
    body = loads + text.format(*names) + "\n"
    body += kernel.stores("%%r%d" % (i + 1) for i in range(results))
    out_row = out_row or 4 * results
    ptx = kernel.entry(kernel.indent(body.replace("; ", ";\n")), row, out_row,
                       declarations=declarations, directives=directives,
                       parameters=parameters, words=len(names) + 64)
    return {"name": name, "family": family, "opcode": opcode or opcode_of(name),
            "form": form or name, "operands": operands, "in_row": row, "out_row": out_row,
            "result": "4", "threads": THREADS, "rule": rule or EXACT, "ptx": ptx}


def flag(predicate):
    """Puts a predicate into the top bit of %r1."""
    return "selp.b32 %%r2, 0x80000000, 0, %s; xor.b32 %%r1, %%r1, %%r2;" % predicate


def shuffles():
    for mode, clamps in (("up", (0, 0x1800, 0x1e00)), ("down", (0x1f, 0x181f, 0x1e1f, 0x0f)),
                         ("bfly", (0x1f, 0x1c1f, 0x07)), ("idx", (0x1f, 0x181f, 0x1c03))):
        for clamp in clamps:
            yield probe("shfl.sync.%s.b32+%#x" % (mode, clamp),
                        "shfl.sync.%s.b32 %%r1|%%p3, {0}, {1}, %d, -1; %s"
                        % (mode, clamp, flag("%p3")), "b32* b32<32")
    yield probe("shfl.sync.idx.b32+half", "mov.u32 %r3, %laneid; setp.lt.u32 %p4, %r3, 16; "
                "@%p4 shfl.sync.idx.b32 %r1, {0}, {1}, 31, 0xffff;", "b32* b32<16")


def votes():
    for mode in ("all", "any", "uni"):
        for limit in (1, 2):
            yield probe("vote.sync.%s.pred+%d" % (mode, limit),
                        "setp.lt.u32 %%p3, {0}, %d; vote.sync.%s.pred %%p4, %%p3, -1; "
                        "selp.b32 %%r1, 1, 0, %%p4;" % (limit, mode), "b32<2")
    yield probe("vote.sync.ballot.b32", "setp.lt.s32 %p3, {0}, 0; "
                "vote.sync.ballot.b32 %r1, !%p3, -1;", "b32*")
    for bits, operands in (("b32", "b32<4"), ("b64", "b64<4")):
        yield probe("match.any.sync." + bits, "match.any.sync.%s %%r1, {0}, -1;" % bits, operands)
    for bits in ("b32", "b64"):
        for limit in (1, 2):
            yield probe("match.all.sync.%s+%d" % (bits, limit), "match.all.sync.%s %%r1|%%p3, {0}, "
                        "-1; selp.b32 %%r2, 1, 0, %%p3;" % bits, "%s<%d" % (bits, limit),
                        results=2)
    yield probe("elect.sync", "elect.sync %r1|%p3, -1; selp.b32 %r2, 1, 0, %p3;", "b32*",
                results=2)
    yield probe("elect.sync+high", "mov.u32 %r3, %laneid; setp.ge.u32 %p4, %r3, 11; "
                "@%p4 elect.sync %r1|%p3, 0xfffff800; @%p4 selp.b32 %r2, 1, 0, %p3;", "b32*",
                results=2)


def reductions():
    for op in ("add", "min", "max"):
        for kind in ("u32", "s32"):
            yield probe("redux.sync.%s.%s" % (op, kind),
                        "redux.sync.%s.%s %%r1, {0}, -1;" % (op, kind), "b32*")
    for op in ("and", "or", "xor"):
        yield probe("redux.sync.%s.b32" % op, "redux.sync.%s.b32 %%r1, {0}, -1;" % op, "b32")
    yield probe("redux.sync.add.u32+half", "mov.u32 %r3, %laneid; setp.lt.u32 %p4, %r3, 16; "
                "@%p4 redux.sync.add.u32 %r1, {0}, 0xffff;", "b32*")
    for op, kind in (("popc", "u32"), ("and", "pred"), ("or", "pred")):
        result, read = ("%r1", "") if op == "popc" else ("%p4", "selp.b32 %r1, 1, 0, %p4;")
        for opcode, aligned in (("bar.red", ""), ("bar.cta.red", ""), ("barrier.red", ""),
                                ("barrier.red", ".aligned"), ("barrier.cta.red", ""),
                                ("barrier.cta.red", ".aligned")):
            name = "%s.%s%s.%s" % (opcode, op, aligned, kind)
            yield probe(name, "setp.lt.u32 %%p3, {0}, 8; %s %s, 1, %%p3; %s" % (name, result, read),
                        "b32<9")


def registers_of_lanes():
    yield probe("special+lanes", "mov.u32 %r1, %laneid; mov.u32 %r2, %lanemask_eq; "
                "mov.u32 %r3, %lanemask_le; mov.u32 %r4, %lanemask_lt; "
                "mov.u32 %r5, %lanemask_ge; mov.u32 %r6, %lanemask_gt;", "b32*", results=6)
    yield probe("special+grid", "mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.y; "
                "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %nctaid.x; mov.u32 %r5, %cluster_ctarank; "
                "mov.u32 %r6, %cluster_nctarank;", "b32*", results=6)
    yield probe("special+cluster", "mov.u32 %r1, %clusterid.x; mov.u32 %r2, %nclusterid.x; "
                "mov.u32 %r3, %cluster_ctaid.x; mov.u32 %r4, %cluster_nctaid.x; "
                "mov.pred %p3, %is_explicit_cluster; selp.b32 %r5, 1, 0, %p3;", "b32*", results=5)
    yield probe("special+shared", "mov.u32 %r1, %dynamic_smem_size; mov.u32 %r2, %total_smem_size; "
                "mov.u32 %r3, %smem;", "b32*", results=3, shared=256)


def probes():
    yield from shuffles()
    yield from votes()
    yield from reductions()
    yield from registers_of_lanes()
