# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Probes of what orders threads: barriers, mbarriers, fences, and hints that
order nothing."""

from memory import MBARRIER, cluster_probe, shared_probe
from warp import probe

SYNC = ["bar.sync", "bar.cta.sync", "barrier.sync", "barrier.cta.sync", "barrier.sync.aligned",
        "barrier.cta.sync.aligned"]
ARRIVE = ["bar.arrive", "bar.cta.arrive", "barrier.arrive", "barrier.cta.arrive",
          "barrier.arrive.aligned", "barrier.cta.arrive.aligned"]
# Of all threads, and of the warp that a thread of the other half of the CTA has.
PARTNER = "xor.b32 %r31, %thread, 64; mad.lo.s32 %r31, %r31, 64, %smem; "


def barriers():
    for opcode in SYNC:
        for count in ("", ", 128"):
            yield shared_probe(opcode + count.replace(", ", "+"), PARTNER +
                               "st.shared.b32 [%%r30], {0}; %s 3%s; ld.shared.b32 %%r1, [%%r31];"
                               % (opcode, count), "b32*")
    for opcode in ARRIVE:
        sync = opcode.replace("arrive", "sync")
        yield shared_probe(opcode, PARTNER + "setp.lt.u32 %%p3, %%warp, 2; @%%p3 bra ARRIVE; "
                           "%s 4, 128; ld.shared.b32 %%r1, [%%r31]; bra DONE; ARRIVE: "
                           "st.shared.b32 [%%r30], {0}; %s 4, 128; DONE: bar.sync 0;"
                           % (sync, opcode), "b32*")
    yield shared_probe("barrier.sync+divergent", PARTNER + "and.b32 %r32, %thread, 1; "
                       "setp.eq.u32 %p3, %r32, 0; st.shared.b32 [%r30], {0}; @%p3 bra EVEN; "
                       "barrier.sync 5; bra DONE; EVEN: barrier.sync 5; DONE: "
                       "ld.shared.b32 %r1, [%r31];", "b32*")
    neighbour = "xor.b32 %r31, %r30, 64; st.shared.b32 [%r30], {0}; "
    yield shared_probe("bar.warp.sync", neighbour + "bar.warp.sync -1; "
                       "ld.shared.b32 %r1, [%r31];", "b32*")
    yield shared_probe("bar.warp.sync+half", neighbour + "setp.lt.u32 %p3, %lane, 16; @%p3 bra LOW; "
                       "bar.warp.sync 0xffff0000; bra DONE; LOW: bar.warp.sync 0xffff; DONE: "
                       "ld.shared.b32 %r1, [%r31];", "b32*")
    for aligned in ("", ".aligned"):
        for sem in ("", ".release"):
            yield cluster_probe("barrier.cluster.arrive%s%s" % (sem, aligned),
                                "st.shared.b32 [%%r30], {0}; barrier.cluster.arrive%s%s; "
                                "barrier.cluster.wait%s; ld.shared::cluster.b32 %%r1, [%%r37]; "
                                % (sem, aligned, aligned), "b32*")
        yield cluster_probe("barrier.cluster.arrive.relaxed%s" % aligned,
                            "st.shared.b32 [%%r30], {0}; fence.acq_rel.cluster; "
                            "barrier.cluster.arrive.relaxed%s; barrier.cluster.wait.acquire%s; "
                            "ld.shared::cluster.b32 %%r1, [%%r37]; " % (aligned, aligned), "b32*")


def fences():
    """Half of the threads publish a value behind a flag, the others wait for it."""
    flag = ("mov.b32 %r32, 0; st.shared.b32 [%r30+4], %r32; bar.sync 0; "
            "setp.lt.u32 %p3, %warp, 2; @%p3 bra WRITER; "
            "READ: ld.relaxed.SCOPE.shared.b32 %r32, [%r31+4]; setp.ne.u32 %p4, %r32, 1; "
            "@%p4 bra READ; GET; ld.shared.b32 %r1, [%r31]; bra DONE; WRITER: "
            "st.shared.b32 [%r30], {0}; PUT; mov.b32 %r32, 1; "
            "st.relaxed.SCOPE.shared.b32 [%r30+4], %r32; DONE: bar.sync 0;")

    def fence_probe(name, put, get, scope):
        text = PARTNER + flag.replace("SCOPE", scope).replace("PUT", put).replace("GET", get)
        return shared_probe(name, text, "b32*")

    for scope in ("cta", "cluster", "gpu", "sys"):
        for sem in ("sc", "acq_rel"):
            fence = "fence.%s.%s" % (sem, scope)
            yield fence_probe(fence, fence, fence, scope)
        fence = "fence." + scope
        yield fence_probe(fence, fence, fence, scope)
        yield fence_probe("fence.release+acquire." + scope, "fence.release." + scope,
                          "fence.acquire." + scope, scope)
    for level, scope in (("cta", "cta"), ("gl", "gpu"), ("sys", "sys")):
        yield fence_probe("membar." + level, "membar." + level, "membar." + level, scope)
    for kind in ("alias", "async", "async.global", "async.shared::cta", "async.shared::cluster",
                 "tensormap::generic.release.gpu"):
        yield shared_probe("fence.proxy." + kind, "st.shared.b32 [%%r30], {0}; fence.proxy.%s; "
                           "ld.shared.b32 %%r1, [%%r30];" % kind, "b32*")
    yield shared_probe("fence.mbarrier_init", MBARRIER.format(count=128) + "mov.b32 %r1, {0};",
                       "b32*")


def flags(*tests):
    """Puts what each test says into a bit of %r1: "token" or a parity, in front of
    them perhaps an opcode other than mbarrier.test_wait."""
    text = "shl.b32 %r1, %r1, 4; "
    for number, test in enumerate(tests):
        opcode, _, what = test.rpartition(" ")
        opcode = opcode or "mbarrier.test_wait.shared::cta.b64"
        if what == "token":
            operand = "%d3"
        else:
            operand = "%r36"
            opcode = opcode.replace("_wait", "_wait.parity", 1)
            text += "mov.b32 %%r36, %s; " % what
        text += ("%s %%p3, [mbar], %s; selp.b32 %%r2, %d, 0, %%p3; or.b32 %%r1, %%r1, %%r2; "
                 "bar.sync 0; " % (opcode, operand, 1 << number))
    return text


def mbarriers():
    def one(name, text, count=128):
        return shared_probe(name, MBARRIER.format(count=count) + text, "b32")

    half = "setp.lt.u32 %p7, %warp, 2; "
    for form in ("", ".release.cta", ".release.cluster", ".relaxed.cta", ".relaxed.cluster"):
        for space in ("", ".shared", ".shared::cta"):
            if form and space != ".shared::cta":
                continue
            address = "mbar" if space else "%d4"
            yield one("mbarrier.arrive%s%s" % (form, space),
                      "mov.u64 %%d4, mbar; cvta.shared.u64 %%d4, %%d4; "
                      "mbarrier.arrive%s%s.b64 %%d3, [%s]; bar.sync 0; %s"
                      % (form, space, address, flags("token", "0", "1")))
    yield one("mbarrier.arrive+count", "mbarrier.arrive.shared::cta.b64 %d3, [mbar], 3; "
              "bar.sync 0; " + flags("token", "0", "1"), 384)
    yield one("mbarrier.arrive+sink", "mbarrier.arrive.shared::cta.b64 _, [mbar]; bar.sync 0; " +
              flags("0", "1"), 129)
    yield one("mbarrier.arrive.expect_tx", "mbarrier.arrive.expect_tx.shared::cta.b64 %d3, [mbar], "
              "16; bar.sync 0; " + flags("token") +
              "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [mbar], 16; bar.sync 0; " +
              flags("0", "token", "1"))
    yield one("mbarrier.arrive.noComplete", half +
              "@%p7 mbarrier.arrive.noComplete.shared::cta.b64 %d3, [mbar], 1; bar.sync 0; "
              "@!%p7 mbarrier.arrive.shared::cta.b64 %d3, [mbar]; bar.sync 0; " +
              flags("token", "0", "1"))
    for form in ("", ".release.cluster"):
        yield one("mbarrier.arrive_drop" + form, half +
                  "@%%p7 mbarrier.arrive_drop%s.shared::cta.b64 %%d3, [mbar]; "
                  "@!%%p7 mbarrier.arrive.shared::cta.b64 %%d3, [mbar]; bar.sync 0; " % form +
                  flags("token", "0", "1") +
                  "@%p7 mbarrier.arrive.shared::cta.b64 %d3, [mbar]; bar.sync 0; " + flags("1"))
    yield one("mbarrier.arrive_drop.expect_tx", half +
              "@%p7 mbarrier.arrive_drop.expect_tx.shared::cta.b64 %d3, [mbar], 8; "
              "@!%p7 mbarrier.arrive.shared::cta.b64 %d3, [mbar]; bar.sync 0; " + flags("0") +
              "@%p7 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [mbar], 8; bar.sync 0; " +
              flags("token", "0", "1") +
              "@!%p7 mbarrier.arrive.shared::cta.b64 %d3, [mbar]; bar.sync 0; " +
              flags("1"))
    yield one("mbarrier.arrive_drop.noComplete", half +
              "@%p7 mbarrier.arrive_drop.noComplete.shared::cta.b64 %d3, [mbar], 1; bar.sync 0; "
              "@!%p7 mbarrier.arrive.shared::cta.b64 %d3, [mbar]; bar.sync 0; " +
              flags("token", "0", "1") +
              "@!%p7 mbarrier.arrive.shared::cta.b64 %d3, [mbar]; bar.sync 0; " + flags("1"))
    for scope in ("cta", "cluster"):
        yield one("mbarrier.expect_tx.relaxed.%s" % scope,
                  "@%%p5 mbarrier.expect_tx.relaxed.%s.shared::cta.b64 [mbar], 64; bar.sync 0; "
                  "mbarrier.arrive.shared::cta.b64 %%d3, [mbar]; bar.sync 0; " % scope +
                  flags("0") + "@%p5 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [mbar], 64; "
                  "bar.sync 0; " + flags("0", "1", "token"))
        yield one("mbarrier.complete_tx.relaxed.%s" % scope,
                  "@%%p5 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [mbar], 192; bar.sync 0; "
                  "@%%p5 mbarrier.complete_tx.relaxed.%s.shared::cta.b64 [mbar], 128; bar.sync 0; "
                  "mbarrier.arrive.shared::cta.b64 %%d3, [mbar]; bar.sync 0; " % scope +
                  flags("0") + "@%%p5 mbarrier.complete_tx.relaxed.%s.shared::cta.b64 [mbar], 64; "
                  "bar.sync 0; " % scope + flags("0", "1", "token"))
    arrived = "mbarrier.arrive.shared::cta.b64 %d3, [mbar]; bar.sync 0; "
    for opcode in ("test_wait", "try_wait"):
        for form in ("", ".acquire.cta", ".acquire.cluster", ".relaxed.cta", ".relaxed.cluster"):
            full = "mbarrier.%s%s.shared::cta.b64" % (opcode, form)
            yield one("mbarrier.%s%s" % (opcode, form), arrived + flags(full + " token"))
            yield one("mbarrier.%s.parity%s+arrived" % (opcode, form), arrived +
                      flags(full + " 0", full + " 1"))
    yield one("mbarrier.try_wait.parity+hint", arrived + "mov.b32 %r36, 0; "
              "mbarrier.try_wait.parity.shared::cta.b64 %p3, [mbar], %r36, 100; "
              "selp.b32 %r1, 1, 0, %p3;")
    yield one("mbarrier.init+again", arrived + "@%p5 mbarrier.inval.shared::cta.b64 [mbar]; "
              "@%p5 mbarrier.init.shared::cta.b64 [mbar], 256; bar.sync 0; " + arrived +
              flags("0", "1") + arrived + flags("0", "1", "token"))
    yield one("mbarrier.inval", arrived + "@%p5 mbarrier.inval.shared::cta.b64 [mbar]; bar.sync 0; "
              "@%p5 st.shared.b32 [mbar], {0}; bar.sync 0; ld.shared.b32 %r1, [mbar];")


def hints():
    for operation in ("wait", "launch_dependents"):
        yield probe("griddepcontrol." + operation, "griddepcontrol.%s; mov.b32 %%r1, {0};"
                    % operation, "b32*", family="hints")
    yield probe("nanosleep.u32", "and.b32 %r3, {0}, 255; nanosleep.u32 %r3; mov.b32 %r1, {0};",
                "b32*", family="hints")
    yield probe("activemask.b32", "setp.lt.s32 %p3, {0}, 0; @%p3 bra DONE; "
                "activemask.b32 %r1; DONE: bar.warp.sync -1;", "b32", family="hints")
    # Steps of a clock, and of nanoseconds: neither goes back.
    for register, bits in (("clock", 32), ("clock64", 64), ("globaltimer", 64),
                           ("globaltimer_lo", 32)):
        names = ("%r5", "%r6", "%r7") if bits == 32 else ("%d3", "%d4", "%d5")
        yield probe("special+" + register,
                    "mov.u{b} {0}, %{r}; nanosleep.u32 20; mov.u{b} {1}, %{r}; "
                    "sub.u{b} {2}, {1}, {0}; setp.ge.s{b} %p3, {2}, 0; selp.b32 %r1, 1, 0, %p3; "
                    .format(*names, r=register, b=bits), "b32*", family="hints")
    yield probe("special+place", "mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z; mov.u32 %r3, %ntid.z; "
                "mov.u32 %r4, %ctaid.y; mov.u32 %r5, %nctaid.z; mov.u32 %r6, %smid; "
                "mov.u32 %r7, %nsmid; setp.lt.u32 %p3, %r6, %r7; selp.b32 %r6, 1, 0, %p3; "
                "mov.u32 %r7, %nwarpid; setp.ge.u32 %p3, %r7, 4; selp.b32 %r7, 1, 0, %p3;", "b32*",
                results=7, family="hints")
    yield shared_probe("setmaxnreg", "setmaxnreg.dec.sync.aligned.u32 40; st.shared.b32 [%r30], "
                       "{0}; bar.sync 0; setmaxnreg.inc.sync.aligned.u32 64; "
                       "ld.shared.b32 %r1, [%r30];", "b32*",
                       directives=".maxntid 128, 1, 1\n.maxnreg 64\n")


def probes():
    for family in (barriers, fences, mbarriers, hints):
        yield from family()
