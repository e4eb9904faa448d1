# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Probes of loads, stores, atomics, asynchronous copies, calls and clusters."""

from warp import probe

# Which NaN it is may differ.
NANS = {"rule": "ulps", "bound": 0, "format": "f64"}
# %r30 is the address of a thread's 64 bytes of shared memory.
OWN = "mad.lo.s32 %r30, %thread, 64, %smem; "


def shared_probe(name, text, operands, results=1, **more):
    return probe(name, OWN + text, operands, results, family="memory", shared=64 * 128, **more)


# An mbarrier; %p5 holds in thread 0, which initializes it.
MBARRIER = (".shared .align 8 .b64 mbar; setp.eq.u32 %p5, %thread, 0; mov.b32 %r36, 0; "
            "@%p5 mbarrier.init.shared::cta.b64 [mbar], {count}; "
            "@%p5 fence.mbarrier_init.release.cluster; bar.sync 0; ")
CLUSTER_SETUP = (
    ".shared .align 8 .b64 mbar; mov.u32 %r35, %cluster_ctarank; xor.b32 %r34, %r35, 1; "
    "mapa.shared::cluster.u32 %r37, %r30, %r34; mov.u32 %r33, mbar; "
    "mapa.shared::cluster.u32 %r38, %r33, %r34; setp.eq.u32 %p5, %thread, 0; "
    "@%p5 mbarrier.init.shared::cta.b64 [mbar], {count}; "
    "@%p5 fence.mbarrier_init.release.cluster; "
    "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; ")
BOTH = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; "
IN_PAIRS = ".reqntid 128, 1, 1\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n"


def cluster_probe(name, text, operands, results=1, count=1, **more):
    """In clusters of two: the neighbour's shared memory at %r37, its barrier at
    %r38, by ranks %r35 (own) and %r34."""
    made = shared_probe(name, CLUSTER_SETUP.format(count=count) + text + BOTH, operands, results,
                        directives=IN_PAIRS, **more)
    made["cluster"] = 2
    made["family"] = "cluster"
    return made


def loads_and_stores():
    for kind in ("u8", "s8", "u16", "s16", "b32"):
        yield shared_probe("ld.shared." + kind, "st.shared.b32 [%%r30], {0}; "
                           "ld.shared.%s %%r1, [%%r30];" % kind, "b32")
        yield shared_probe("st.shared." + kind, "mov.b32 %%r31, 0x5a5a5a5a; "
                           "st.shared.b32 [%%r30], %%r31; st.shared.%s [%%r30], {0}; "
                           "ld.shared.b32 %%r1, [%%r30];" % kind.replace("s", "b"), "b32")
    for kind in ("s8", "u32", "s32"):
        yield shared_probe("ld.shared.%s+wide" % kind, "st.shared.b32 [%%r30], {0}; "
                           "ld.shared.%s %%d3, [%%r30]; mov.b64 {{%%r1, %%r2}}, %%d3;" % kind,
                           "b32", 2)
    yield shared_probe("ld.shared.v2.b32", "st.shared.v2.b32 [%r30], {{{0}, {1}}}; "
                       "ld.shared.v2.b32 {{%r2, %r1}}, [%r30];", "b32 b32", 2)
    yield shared_probe("ld.shared.v4.b32", "st.shared.v4.b32 [%r30+16], {{{0}, {1}, {1}, {0}}}; "
                       "ld.shared.v4.b32 {{%r4, %r3, %r2, %r1}}, [%r30+16];", "b32 b32", 4)
    yield shared_probe("ld.shared.v2.b64", "mov.b64 %d3, {{{0}, {1}}}; mov.b64 %d4, {{{1}, {0}}}; "
                       "st.shared.v2.b64 [%r30], {{%d3, %d4}}; "
                       "ld.shared.v4.b32 {{%r1, %r2, %r3, %r4}}, [%r30];", "b32 b32", 4)
    yield shared_probe("ld.shared.v4.u8", "st.shared.b32 [%r30], {0}; "
                       "ld.shared.v4.u8 {{%r1, %r2, %r3, %r4}}, [%r30];", "b32", 4)
    yield shared_probe("ld.shared.v4.s16", "st.shared.v2.b32 [%r30], {{{0}, {1}}}; "
                       "ld.shared.v4.s16 {{%r1, %r2, %r3, %r4}}, [%r30];", "b32 b32", 4)
    yield shared_probe("ld.shared.b128", "st.shared.v4.b32 [%r30], {{{0}, {1}, {1}, {0}}}; "
                       ".reg .b128 %q; ld.shared.b128 %q, [%r30]; mov.b128 {{%d3, %d4}}, %q; "
                       "mov.b64 {{%r1, %r2}}, %d3; mov.b64 {{%r3, %r4}}, %d4;", "b32 b32", 4)
    yield shared_probe("ld.generic+shared", "st.shared.b32 [%r30], {0}; cvt.u64.u32 %d3, %r30; "
                       "cvta.shared.u64 %d3, %d3; ld.b32 %r1, [%d3]; isspacep.shared %p3, %d3; "
                       "selp.b32 %r2, 1, 0, %p3; isspacep.global %p3, %d3; "
                       "selp.b32 %r3, 1, 0, %p3; isspacep.local %p3, %in; "
                       "selp.b32 %r4, 1, 0, %p3;", "b32", 4)
    for hint in ("nc", "ca", "cg", "cs", "lu", "cv", "L1::no_allocate", "L1::evict_last",
                 "nc.L1::no_allocate.L2::128B", "relaxed.gpu", "acquire.sys", "volatile"):
        name = "ld.%s.b32" % hint
        text = "ld.%s.global.b32" % hint if hint in ("relaxed.gpu", "acquire.sys", "volatile") \
            else "ld.global.%s.b32" % hint
        yield probe(text, text + " %r1, [%in];", "b32", family="memory", form=name)
    for text in ("st.global.wb.b32", "st.global.cg.b32", "st.global.cs.b32", "st.global.wt.b32",
                 "st.relaxed.gpu.global.b32", "st.release.gpu.global.b32",
                 "st.volatile.global.b32", "st.global.L1::no_allocate.b32"):
        yield probe(text, text + " [%out+4], {0}; ld.global.b32 %r2, [%out+4];", "b32", 2,
                    family="memory")
    for text in ("prefetch.global.L1 [%in]", "prefetch.global.L2 [%in]",
                 "prefetch.global.L2::evict_last [%in]", "prefetchu.L1 [%in]",
                 "applypriority.global.L2::evict_normal [%d3], 128"):
        yield probe(text.split()[0], "and.b64 %%d3, %%out, -128; %s; mov.b32 %%r1, {0};" % text,
                    "b32", family="memory")
    yield probe("cp.async.bulk.prefetch.L2", "cp.async.bulk.prefetch.L2.global [%in], 16; "
                "ld.global.b32 %r1, [%in];", "b32 b32 b32 b32", family="memory")
    # What is thrown away is written again.
    yield probe("discard", "and.b64 %d3, %out, -128; discard.global.L2 [%d3], 128; bar.sync 0; "
                "mov.b32 %r1, {0};", "b32", family="memory")
    for text in ("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %d3, 0.5",
                 "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d3, [%in], 64, 128",
                 "createpolicy.cvt.L2.b64 %d3, 0x10f0000000000000"):
        yield probe(text.split()[0], text + "; ld.global.L2::cache_hint.b32 %r1, [%in], %d3;",
                    "b32", family="memory")
    yield shared_probe("cvta", "st.shared.b32 [%r30], {0}; cvt.u64.u32 %d3, %r30; "
                       "cvta.shared::cta.u64 %d4, %d3; cvta.to.shared::cta.u64 %d5, %d4; "
                       "sub.s64 %d5, %d5, %d3; cvt.u32.u64 %r2, %d5; ld.b32 %r1, [%d4]; "
                       "cvta.to.shared.u64 %d5, %d4; sub.s64 %d5, %d5, %d3; cvt.u32.u64 %r3, %d5; "
                       "cvta.global.u64 %d5, %in; cvta.to.global.u64 %d5, %d5; "
                       "sub.s64 %d5, %d5, %in; cvt.u32.u64 %r4, %d5;", "b32", 4)
    yield probe("cvta.local", ".local .align 4 .b32 own; mov.u64 %d3, own; cvta.local.u64 %d4, %d3; "
                "st.b32 [%d4], {0}; ld.local.b32 %r1, [own]; isspacep.local %p3, %d4; "
                "selp.b32 %r2, 1, 0, %p3; cvta.to.local.u64 %d5, %d4; ld.local.b32 %r3, [%d5];",
                "b32", 3, family="memory")
    yield probe("isspacep", "mov.u64 %d3, in; cvta.param.u64 %d4, %d3; isspacep.param %p3, %d4; "
                "selp.b32 %r1, 1, 0, %p3; isspacep.param %p3, %in; selp.b32 %r2, 1, 0, %p3; "
                "isspacep.global %p3, %in; selp.b32 %r3, 1, 0, %p3; isspacep.shared %p3, %in; "
                "selp.b32 %r4, 1, 0, %p3;", "b32", 4, family="memory")
    yield probe("createpolicy", "createpolicy.fractional.L2::evict_first.b64 %d3, 1.0; "
                "ld.global.L2::cache_hint.b32 %r1, [%in], %d3;", "b32", family="memory")


ATOMICS = [("u32", 4, "add min max inc dec"), ("s32", 4, "add min max"), ("b32", 4, "and or xor"),
           ("u64", 8, "add min max"), ("s64", 8, "min max"), ("b64", 8, "and or xor"),
           ("f32", 4, "add"), ("f64", 8, "add"), ("noftz.f16", 2, "add"),
           ("noftz.bf16", 2, "add"), ("noftz.f16x2", 4, "add"), ("noftz.bf16x2", 4, "add")]


def atomics():
    """On memory of shared or global kind that holds the first operand; the old
    and the new value are the results."""
    forms = [(op, kind, size) for kind, size, ops in ATOMICS for op in ops.split()]
    forms += [("exch", "b32", 4), ("exch", "b64", 8), ("cas", "b16", 2), ("cas", "b32", 4),
              ("cas", "b64", 8)]
    for space in ("shared", "global"):
        place = "%r30" if space == "shared" else "%out+8"
        for op, kind, size in forms:
            bits = kind.split(".")[-1]
            bits = bits if bits[0] in "fb" and bits[1] != "f" or bits.startswith("bf") else \
                "b%d" % (8 * size)
            registers = {2: ("%h3", "%h4", "%h5"), 4: ("%r31", "%r32", "%r33"),
                         8: ("%d3", "%d4", "%d5")}[size]
            operands = "%s %s" % (bits, bits)
            load = "".join("ld.global.b%d %s, [%%in+%d]; " % (8 * size, register, size * i)
                           for i, register in enumerate(registers[:2]))
            # A quarter of the comparisons succeed at least.
            third = ", " + registers[1] if op == "cas" else ""
            if op == "cas":
                load += ("and.b32 %%r34, %%thread, 3; setp.eq.u32 %%p3, %%r34, 0; "
                         "mov.b%d %s, %s; @%%p3 mov.b%d %s, %s; " % (
                             8 * size, registers[2], registers[1], 8 * size, registers[2],
                             registers[0]))
                third = ", %s" % registers[1]
            operand = registers[2] if op == "cas" else registers[1]
            text = load + "st.{s}.b{b} [{p}], {a}; atom.{s}.{op}.{k} {d}, [{p}], {o}{t}; ".format(
                s=space, b=8 * size, p=place, a=registers[0], op=op, k=kind, d=registers[0],
                o=operand, t=third)
            text += "ld.{s}.b{b} {d}, [{p}]; ".format(s=space, b=8 * size, p=place,
                                                      d=registers[1])
            if size == 8:
                text += ("mov.b64 {{%%r1, %%r2}}, %s; mov.b64 {{%%r3, %%r4}}, %s;" %
                         registers[:2])
            else:
                convert = "cvt.u32.u16" if size == 2 else "mov.b32"
                text += "%s %%r1, %s; %s %%r2, %s;" % (convert, registers[0], convert,
                                                       registers[1])
            yield shared_probe("atom.%s.%s.%s" % (space, op, kind), text, operands, 4,
                               rule=NANS if kind == "f64" else None)
    for vector, kind in (("v2", "f32"), ("v2", "f16"), ("v4", "f16"), ("v8", "f16"),
                         ("v4", "bf16"), ("v2", "f16x2"), ("v4", "f16x2"), ("v4", "bf16x2")):
        for op in ("add",) if kind == "f32" else ("add", "min", "max"):
            yield vector_atomic(vector, kind, op, "red")
            yield vector_atomic(vector, kind, op, "atom")
    yield vector_atomic("v4", "f32", "add", "atom")
    yield probe("red.global.add.v4.f32", "st.global.v4.b32 [%out+16], {{{0}, {0}, {1}, {1}}}; "
                "red.global.v4.f32.add [%out+16], {{{1}, {0}, {1}, {0}}}; "
                "ld.global.v4.b32 {{%r5, %r6, %r7, %r40}}, [%out+16]; mov.b32 %r8, %r40;",
                "f32 f32", 8, family="memory", form="red.global.v4.f32.add")
    for op, kind in (("add", "u32"), ("min", "s32"), ("or", "b32"), ("add", "f32")):
        yield shared_probe("red.shared.%s.%s" % (op, kind), "st.shared.b32 [%%r30], {0}; "
                           "red.shared.%s.%s [%%r30], {1}; ld.shared.b32 %%r1, [%%r30];"
                           % (op, kind), "b32 b32")


def vector_atomic(vector, kind, op, opcode):
    """On 16 bytes of global memory that hold a row: 32 bytes, what an atom gives
    and what memory holds then."""
    count = int(vector[1:])
    size = 2 if kind in ("f16", "bf16") else 4
    words = ["%%r%d" % (i + 1) for i in range(count * size // 4)]
    names = words if size == 4 else ["%%h%d" % (4 + i) for i in range(count)]
    values = "{{" + ", ".join(names) + "}}"
    # The other operand: the words of the row from the other end.
    text = "".join("st.global.b32 [%%out+%d], {%d}; " % (16 + 4 * i, i) for i in range(4))
    for i, word in enumerate(words):
        text += "mov.b32 %s, {%d}; " % (word, 3 - i)
        if size == 2:
            text += "mov.b32 {{%s, %s}}, %s; " % (names[2 * i], names[2 * i + 1], word)
    noftz = "" if kind == "f32" else ".noftz"
    result = values + ", " if opcode == "atom" else ""
    text += "%s.global.%s.%s.%s%s %s[%%out+16], %s; " % (opcode, vector, kind, op, noftz, result,
                                                        values)
    if opcode == "atom" and size == 2:
        text += "".join("mov.b32 %s, {{%s, %s}}; " % (word, names[2 * i], names[2 * i + 1])
                        for i, word in enumerate(words))
    operand = {"f": "f16x2", "b": "bf16x2"}[kind[0]] if kind != "f32" else kind
    return probe("%s.global.%s%s.%s.%s" % (opcode, op, noftz, vector, kind), text,
                 " ".join([operand] * 4), 4, family="memory", out_row=32)


def copies():
    for size in (4, 8, 16):
        for cache in ("ca",) + (("cg",) if size == 16 else ()):
            yield shared_probe("cp.async.%s.%d" % (cache, size), "mov.b32 %%r31, 0x5a5a5a5a; "
                               "st.shared.v4.b32 [%%r30], {{%%r31, %%r31, %%r31, %%r31}}; "
                               "cp.async.%s.shared.global [%%r30], [%%in], %d; "
                               "cp.async.commit_group; cp.async.wait_group 0; "
                               "ld.shared.v4.b32 {{%%r1, %%r2, %%r3, %%r4}}, [%%r30];"
                               % (cache, size), "b32 b32 b32 b32", 4)
    yield shared_probe("cp.async.ca.16+size", "and.b32 %r31, %thread, 15; "
                       "cp.async.ca.shared.global [%r30], [%in], 16, %r31; cp.async.wait_all; "
                       "ld.shared.v4.b32 {{%r1, %r2, %r3, %r4}}, [%r30];", "b32 b32 b32 b32", 4)
    yield shared_probe("cp.async.ca.8+ignore", "and.b32 %r31, %thread, 1; "
                       "setp.eq.u32 %p3, %r31, 0; "
                       "cp.async.ca.shared.global [%r30], [%in], 8, %p3; cp.async.wait_all; "
                       "ld.shared.v2.b32 {{%r1, %r2}}, [%r30];", "b32 b32", 2)
    first = "setp.eq.u32 %p5, %thread, 0; mov.b32 %r36, 0; "
    wait = ("WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p6, [mbar], %r36; "
            "@!%p6 bra WAIT; ")
    setup = MBARRIER
    yield shared_probe("cp.async.mbarrier.arrive.noinc", setup.format(count=128) +
                       "cp.async.ca.shared.global [%r30], [%in], 4; "
                       "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [mbar]; " + wait +
                       "ld.shared.b32 %r1, [%r30];", "b32")
    yield shared_probe("cp.async.mbarrier.arrive", setup.format(count=128) +
                       "cp.async.ca.shared.global [%r30], [%in], 4; "
                       "cp.async.mbarrier.arrive.shared::cta.b64 [mbar]; "
                       "mbarrier.arrive.shared::cta.b64 _, [mbar]; " + wait +
                       "ld.shared.b32 %r1, [%r30];", "b32")
    yield shared_probe("cp.async.bulk.shared::cluster.global", setup.format(count=1) +
                       "@%p5 mbarrier.arrive.expect_tx.shared::cta.b64 _, [mbar], 2048; "
                       "@%p5 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                       "[%smem], [%in], 2048, [mbar]; " + wait +
                       "mad.lo.s32 %r31, %thread, 16, %smem; "
                       "ld.shared.v4.b32 {{%r1, %r2, %r3, %r4}}, [%r31];", "b32 b32 b32 b32", 4)
    store = ("mad.lo.s32 %r31, %thread, 16, %smem; "
             "st.shared.v4.b32 [%r31], {{{0}, {1}, {2}, {3}}}; "
             "fence.proxy.async.shared::cta; bar.sync 0; " + first)
    # Thread 0 copies the CTA's rows; every thread reads its own back.
    yield shared_probe("cp.async.bulk.global.shared::cta", store +
                       "@%p5 cp.async.bulk.global.shared::cta.bulk_group [%out], [%smem], 2048; "
                       "@%p5 cp.async.bulk.commit_group; @%p5 cp.async.bulk.wait_group 0; "
                       "fence.proxy.async; bar.sync 0; "
                       "ld.global.v4.b32 {{%r1, %r2, %r3, %r4}}, [%out];", "b32 b32 b32 b32", 4)
    for op, kind, operands in (
            ("add", "u32", "b32"), ("add", "s32", "b32"), ("add", "u64", "b32"),
            ("min", "s32", "b32"), ("max", "u32", "b32"), ("inc", "u32", "b32"),
            ("dec", "u32", "b32"), ("and", "b32", "b32"), ("or", "b64", "b32"),
            ("xor", "b32", "b32"), ("min", "u64", "b32"), ("max", "s64", "b32"),
            ("add.noftz", "f16", "f16x2"), ("min", "f16", "f16x2"), ("max", "f16", "f16x2"),
            ("add.noftz", "bf16", "bf16x2"), ("min", "bf16", "bf16x2"),
            ("max", "bf16", "bf16x2"), ("add", "f32", "f32"), ("add", "f64", "f64")):
        count = 2 if operands == "f64" else 4
        values = "{{{0}, {1}, {2}, {3}}}" if count == 4 else "{{%r32, %r33, %r34, %r35}}"
        split = "" if count == 4 else "mov.b64 {{%r32, %r33}}, {0}; mov.b64 {{%r34, %r35}}, {1}; "
        # Memory holds the neighbouring row: thread t's is t^1's.
        yield shared_probe(
            "cp.reduce.async.bulk.%s.%s" % (op, kind),
            split + "st.global.v4.b32 [%%out], %s; mad.lo.s32 %%r31, %%thread, 16, %%smem; "
            "xor.b32 %%r31, %%r31, 16; st.shared.v4.b32 [%%r31], %s; "
            "fence.proxy.async; bar.sync 0; " % (values, values) + first +
            "@%%p5 cp.reduce.async.bulk.global.shared::cta.bulk_group.%s.%s [%%out], [%%smem], "
            "2048; @%%p5 cp.async.bulk.commit_group; @%%p5 cp.async.bulk.wait_group 0; "
            "fence.proxy.async; bar.sync 0; "
            "ld.global.v4.b32 {{%%r1, %%r2, %%r3, %%r4}}, [%%out];" % (op, kind),
            " ".join([operands] * count), 4, rule=NANS if kind == "f64" else None)
    yield shared_probe("mbarrier.pending_count", setup.format(count=200) +
                       "@%p5 mbarrier.arrive.shared::cta.b64 %d3, [mbar], 30; "
                       "@%p5 mbarrier.pending_count.b64 %r1, %d3; "
                       "@%p5 mbarrier.arrive.noComplete.shared::cta.b64 %d3, [mbar], 7; "
                       "@%p5 mbarrier.pending_count.b64 %r2, %d3;", "b32", 2)
    yield shared_probe("mbarrier.test_wait.parity", setup.format(count=128) +
                       "mbarrier.test_wait.parity.shared::cta.b64 %p3, [mbar], 0; "
                       "selp.b32 %r1, 1, 0, %p3; "
                       "mbarrier.test_wait.parity.shared::cta.b64 %p3, [mbar], 1; "
                       "selp.b32 %r2, 1, 0, %p3; bar.sync 0; "
                       "mbarrier.arrive.shared::cta.b64 %d3, [mbar]; bar.sync 0; "
                       "mbarrier.test_wait.shared::cta.b64 %p3, [mbar], %d3; "
                       "selp.b32 %r3, 1, 0, %p3; "
                       "mbarrier.test_wait.parity.shared::cta.b64 %p3, [mbar], 1; "
                       "selp.b32 %r4, 1, 0, %p3;", "b32", 4)


CALLEE = """.func (.param .b32 result) combine(.param .b32 x, .param .b32 y)
{
  .local .align 16 .b8 stack[32];
  .reg .b32 %r<6>;
  .reg .b64 %d<3>;
  .reg .pred %p;
  ld.param.b32 %r0, [x];
  ld.param.b32 %r1, [y];
  mov.u64 %d0, stack;
  and.b32 %r2, %r0, 7;
  mad.wide.u32 %d1, %r2, 4, %d0;
  mov.b32 %r3, 0;
CLEAR:
  mad.wide.u32 %d2, %r3, 4, %d0;
  st.local.b32 [%d2], %r1;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p, %r3, 8;
  @%p bra CLEAR;
  st.local.b32 [%d1], %r0;
  ld.local.b32 %r4, [stack+12];
  setp.gt.s32 %p, %r4, 0;
  @%p st.param.b32 [result], %r4;
  @%p ret;
  not.b32 %r4, %r4;
  st.param.b32 [result], %r4;
  ret;
}
"""


def with_callee(made):
    made["ptx"] = made["ptx"].replace(".visible", CALLEE + ".visible")
    return made


def calls():
    call = ("{{ .param .b32 p0; .param .b32 p1; .param .b32 q; st.param.b32 [p0], %s; "
            "st.param.b32 [p1], %s; call%s (q), combine, (p0, p1); ld.param.b32 %s, [q]; }} ")
    for uni in (".uni", ""):
        yield with_callee(probe("call" + uni, call % ("{0}", "{1}", uni, "%r1") +
                                call % ("%r1", "{0}", uni, "%r2"), "b32 b32", 2,
                                family="memory"))
    yield with_callee(probe("call+divergent", "setp.lt.s32 %p3, {0}, {1}; @%p3 bra SKIP; " +
                            call % ("{0}", "{1}", "", "%r1") + "SKIP: add.u32 %r1, %r1, 1;",
                            "b32 b32", family="memory"))
    yield probe("brx.idx", "T: .branchtargets A, B, C; brx.idx {0}, T; A: mov.b32 %r1, 5; "
                "bra.uni E; B: mov.b32 %r1, 6; C: add.u32 %r1, %r1, 7; E: add.u32 %r1, %r1, 1;",
                "b32<3", family="memory")


def ends():
    for opcode in ("exit", "ret"):
        yield probe(opcode, "setp.lt.s32 %%p3, {0}, 0; st.global.b32 [%%out], {0}; @%%p3 %s; "
                    "add.u32 %%r1, {0}, 1;" % opcode, "b32*", family="memory")
    for uni, guard in (("", "@%p3 "), (".uni", "")):
        yield probe("bra" + uni, "setp.lt.s32 %%p3, {0}, 0; mov.b32 %%r1, 1; %sbra%s LOW; "
                    "add.u32 %%r1, {0}, 1; LOW: add.u32 %%r1, %%r1, {0};" % (guard, uni), "b32*",
                    family="memory")


def clusters():
    both = BOTH
    wait = ("mov.b32 %r36, 0; WAIT: "
            "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p6, [mbar], %r36; "
            "@!%p6 bra WAIT; ")

    yield cluster_probe("mapa", "sub.u32 %r1, %r37, %r30; and.b32 %r1, %r1, 0xffffff; "
                        "getctarank.shared::cluster.u32 %r2, %r37; xor.b32 %r2, %r2, %r34;",
                        "b32*", 2)
    yield cluster_probe("mapa.u64", "cvt.u64.u32 %d3, %r30; cvta.shared.u64 %d3, %d3; "
                        "mapa.u64 %d4, %d3, %r34; getctarank.u64 %r1, %d4; st.b32 [%d4], {0}; " +
                        both + "ld.shared.b32 %r2, [%r30]; isspacep.shared::cluster %p3, %d4; "
                        "selp.b32 %r3, 1, 0, %p3; isspacep.shared::cta %p3, %d4; "
                        "selp.b32 %r4, 1, 0, %p3;", "b32*", 4)
    yield cluster_probe("mapa.shared::cluster.u64", "cvt.u64.u32 %d3, %r30; "
                        "mapa.shared::cluster.u64 %d4, %d3, %r34; st.shared::cluster.b32 [%d4], "
                        "{0}; getctarank.shared::cluster.u64 %r1, %d4; " + both +
                        "ld.shared.b32 %r2, [%r30];", "b32*", 2)
    yield cluster_probe("special+in-cluster", "mov.u32 %r1, %clusterid.x; "
                        "mov.u32 %r2, %nclusterid.x; mov.u32 %r3, %cluster_ctaid.x; "
                        "mov.u32 %r4, %cluster_nctaid.x; mov.u32 %r5, %cluster_ctarank; "
                        "mov.u32 %r6, %cluster_nctarank; mov.pred %p3, %is_explicit_cluster; "
                        "selp.b32 %r7, 1, 0, %p3;", "b32*", 7)
    yield cluster_probe("special+shared-rank", "shr.u32 %r1, %smem, 24; shr.u32 %r2, %r37, 24;",
                        "b32*", 2)
    yield cluster_probe("ld.shared::cluster", "st.shared.v2.b32 [%r30], {{{0}, {1}}}; " + both +
                        "ld.shared::cluster.v2.b32 {{%r1, %r2}}, [%r37];", "b32* b32*", 2)
    yield cluster_probe("st.shared::cluster", "st.shared::cluster.b32 [%r37], {0}; " + both +
                        "ld.shared.b32 %r1, [%r30];", "b32*")
    yield cluster_probe("atom.shared::cluster.add.u32", "st.shared.b32 [%r30], {0}; " + both +
                        "atom.shared::cluster.add.u32 %r2, [%r37], {1}; " + both +
                        "ld.shared.b32 %r1, [%r30];", "b32* b32*", 2)
    yield cluster_probe("red.shared::cluster.max.s32", "st.shared.b32 [%r30], {0}; " + both +
                        "red.relaxed.cluster.shared::cluster.max.s32 [%r37], {1}; " + both +
                        "ld.shared.b32 %r1, [%r30];", "b32* b32*")
    yield cluster_probe("mbarrier.arrive.shared::cluster", "st.shared::cluster.b32 [%r37], {0}; "
                        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r38]; " + wait +
                        "ld.shared.b32 %r1, [%r30];", "b32*", count=128)
    for vector, bits, size, values in (
            ("", "b32", 4, "{0}"), (".v2", "b32", 8, "{{{0}, {1}}}"),
            (".v4", "b32", 16, "{{{0}, {1}, {1}, {0}}}"), ("", "b64", 8, "%d3"),
            (".v2", "b64", 16, "{{%d3, %d4}}")):
        yield cluster_probe(
            "st.async%s.%s" % (vector, bits),
            "mov.b64 %d3, {{{0}, {1}}}; mov.b64 %d4, {{{1}, {0}}}; mov.b32 %r39, 0; "
            "st.shared.v4.b32 [%r30], {{%r39, %r39, %r39, %r39}}; @%p5 "
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [mbar], " + "%d; " % (128 * size) +
            both + "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes%s.%s "
            "[%%r37], %s, [%%r38]; " % (vector, bits, values) + wait +
            "ld.shared.v4.b32 {{%r1, %r2, %r3, %r4}}, [%r30];", "b32* b32*", 4)
    for op, kind in (("add", "u32"), ("add", "s32"), ("inc", "u32"), ("dec", "u32"),
                     ("min", "s32"), ("max", "u32"), ("and", "b32"), ("or", "b32"),
                     ("xor", "b32"), ("add", "u64")):
        size = 8 if kind == "u64" else 4
        yield cluster_probe(
            "red.async.%s.%s" % (op, kind),
            "mov.b64 %d3, {{{0}, {1}}}; mov.b64 %d4, {{{1}, {0}}}; "
            "st.shared.b64 [%r30], %d4; @%p5 "
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [mbar], " + "%d; " % (128 * size) +
            both + "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.%s.%s "
            "[%%r37], %s, [%%r38]; " % (op, kind, "%d3" if size == 8 else "{0}") + wait +
            "ld.shared.v2.b32 {{%r1, %r2}}, [%r30];", "b32* b32*", 2)
    bulk = ("@%%p5 mbarrier.arrive.expect_tx.shared::cta.b64 _, [mbar], 2048; %s"
            "mad.lo.s32 %%r31, %%thread, 16, %%smem; ")
    yield cluster_probe(
        "cp.async.bulk.shared::cluster.shared::cta",
        "mad.lo.s32 %r31, %thread, 16, %smem; st.shared.v4.b32 [%r31], {{{0}, {1}, {2}, {3}}}; "
        "fence.proxy.async; " + both + bulk % (
            "mapa.shared::cluster.u32 %r40, %smem, %r34; add.u32 %r40, %r40, 4096; @%p5 "
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r40], "
            "[%smem], 2048, [%r38]; ") + wait +
        "ld.shared.v4.b32 {{%r1, %r2, %r3, %r4}}, [%r31+4096];", "4x(b32*)", 4)
    for op, kind in (("add", "u32"), ("add", "s32"), ("add", "u64"), ("inc", "u32"),
                     ("dec", "u32"), ("min", "s32"), ("max", "u32"), ("and", "b32"),
                     ("or", "b32"), ("xor", "b32")):
        yield cluster_probe(
            "cp.reduce.async.bulk.shared::cluster.shared::cta.%s.%s" % (op, kind),
            "mad.lo.s32 %r31, %thread, 16, %smem; st.shared.v4.b32 [%r31], {{{0}, {1}, {2}, {3}}}; "
            "st.shared.v4.b32 [%r31+4096], {{{3}, {0}, {1}, {2}}}; "
            "fence.proxy.async; " + both + bulk % (
                "mapa.shared::cluster.u32 %%r40, %%smem, %%r34; add.u32 %%r40, %%r40, 4096; @%%p5 "
                "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
                ".%s.%s [%%r40], [%%smem], 2048, [%%r38]; " % (op, kind)) + wait +
            "ld.shared.v4.b32 {{%r1, %r2, %r3, %r4}}, [%r31+4096];", "4x(b32*)", 4)
    yield cluster_probe(
        "cp.async.bulk.multicast::cluster", bulk % (
            "setp.eq.u32 %p7, %r35, 0; and.pred %p7, %p7, %p5; mov.b16 %h3, 3; @%p7 "
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
            ".multicast::cluster [%smem], [%in], 2048, [mbar], %h3; ") + wait +
        "ld.shared.v4.b32 {{%r1, %r2, %r3, %r4}}, [%r31];", "4x(b32*)", 4)


def probes():
    for family in (loads_and_stores, atomics, copies, calls, ends, clusters):
        yield from family()
