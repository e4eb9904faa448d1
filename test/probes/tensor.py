# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Probes of tensor copies: what a box looks like in shared memory, and what a
store or reduction of it leaves in global memory."""

import memory
from tensor_maps import TYPE_BYTES, Arguments
from warp import probe

U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32_FTZ, TF32, TF32_FTZ = range(13)

# The map at %d3; %p5 holds in thread 0; %r31 is a thread's 64 bytes of shared memory.
START = ("mov.u64 %d3, map; cvta.param.u64 %d3, %d3; setp.eq.u32 %p5, %thread, 0; "
         "mad.lo.s32 %r31, %thread, 64, %smem; ")
PIECES = range(0, 64, 16)


def tensor(dtype, dims, box, swizzle=0, steps=None, interleave=0, oob=0, gap=0):
    """The arguments of a map of a tensor whose rows are `gap` bytes apart."""
    strides = []
    pitch = -(-dims[0] * TYPE_BYTES[dtype] // 16) * 16 + gap
    for extent in dims[1:]:
        strides.append(pitch)
        pitch *= extent
    return Arguments(type=dtype, rank=len(dims), dims=dims, strides=strides, box=box,
                     steps=steps or [1] * len(dims), interleave=interleave, swizzle=swizzle, l2=0,
                     oob=oob)


def loaded_bytes(arguments):
    size = TYPE_BYTES[arguments["type"]]
    for axis, (extent, step) in enumerate(zip(arguments["box"], arguments["steps"])):
        size *= extent if axis == 0 else -(-extent // step)
    return size


def vector(first):
    return "{{" + ", ".join("%%r%d" % (first + i) for i in range(4)) + "}}"


LOAD, REDUCE = "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor"


def tensor_probe(name, text, operands, arguments, base, out_row=64, opcode=LOAD, rows=128, **more):
    made = probe(name, text, operands, 0, "tensor", 8192, out_row=out_row, opcode=opcode,
                 parameters=", .param .align 64 .b8 map[128]", **more)
    made.update(map=arguments, map_of=base, row_count=rows)
    return made


def place(at):
    return "[%d3, {{" + ", ".join(map(str, at)) + "}}]"


READ_BOX = "".join("ld.shared.v4.b32 %s, [%%r31+%d]; st.global.v4.b32 [%%out+%d], %s; " % (
    vector(50), piece, piece, vector(50)) for piece in PIECES)
# Only so long: the bytes are of interest even where they are not as many as was
# thought.
WAIT = ("mov.b32 %r41, 0; mov.b32 %r42, 0; WAIT: add.u32 %r41, %r41, 1; "
        "setp.gt.u32 %p7, %r41, 100000; @%p7 bra DONE; "
        "mbarrier.test_wait.parity.shared::cta.b64 %p6, [mbar], %r42; @!%p6 bra WAIT; "
        "DONE: bar.sync 0; ")


def clear(arguments):
    """Fills the box's place, and expects a load into it."""
    text = ".shared .align 8 .b64 mbar; " + START + "mov.b32 %r40, 0x5a5a5a5a; "
    for piece in PIECES:
        text += "st.shared.v4.b32 [%%r31+%d], {{%%r40, %%r40, %%r40, %%r40}}; " % piece
    return text + ("@%%p5 mbarrier.init.shared::cta.b64 [mbar], 1; fence.proxy.async; bar.sync 0; "
                   "@%%p5 mbarrier.arrive.expect_tx.shared::cta.b64 _, [mbar], %d; "
                   % loaded_bytes(arguments))


def load_box(at, hint="", guard="%p5", operands=""):
    return ("@%s cp.async.bulk.tensor.%dd.shared::cluster.global.tile"
            ".mbarrier::complete_tx::bytes%s [%%smem], %s, [mbar]%s; " % (
                guard, len(at), hint, place(at), operands))


def load(name, arguments, at, operands="16x(b32*)"):
    """What comes into 8192 bytes of shared memory."""
    return tensor_probe("tensor.load." + name, clear(arguments) + load_box(at) + WAIT + READ_BOX,
                        operands, arguments, "in")


def store(name, arguments, at, operands="16x(b32*)", reduction=None):
    """Global memory holds each thread's row of the table, shared memory the
    neighbour's; a store starts from what the runner left."""
    text = START + "xor.b32 %r43, %r31, 64; "
    count = 8 if operands.startswith("8x") else 16
    for piece in PIECES:
        names = ["{%d}" % (piece // 4 + i) for i in range(4)]
        if count == 8:
            low = piece // 8
            text += "mov.b64 {{%%r50, %%r51}}, {%d}; mov.b64 {{%%r52, %%r53}}, {%d}; " % (
                low, low + 1)
            names = ["%r50", "%r51", "%r52", "%r53"]
        values = "{{" + ", ".join(names) + "}}"
        text += "st.shared.v4.b32 [%%r43+%d], %s; " % (piece, values)
        if reduction:
            text += "st.global.v4.b32 [%%out+%d], %s; " % (piece, values)
    opcode = "cp.reduce.async.bulk" if reduction else "cp.async.bulk"
    text += ("fence.proxy.async; bar.sync 0; @%%p5 %s.tensor.%dd.global.shared::cta%s.tile"
             ".bulk_group %s, [%%smem]; @%%p5 cp.async.bulk.commit_group; "
             "@%%p5 cp.async.bulk.wait_group 0;" % (
                 opcode, len(at), "." + reduction if reduction else "", place(at)))
    return tensor_probe("tensor.%s.%s" % ("reduce" if reduction else "store", name), text, operands,
                        arguments, "out", opcode=opcode + ".tensor")


def shapes():
    """name, map and coordinates for loads and stores alike."""
    for swizzle, span in ((0, 64), (1, 32), (2, 64), (3, 128)):
        yield "2d-swizzle%d" % swizzle, tensor(F16, [128, 28], [span // 2, 16], swizzle), (32, 5)
        yield ("2d-swizzle%d-narrow" % swizzle,
               tensor(F16, [128, 28], [span // 4, 16], swizzle), (32, 5))
    for axis, at in (("low", (-8, 3)), ("high", (120, 3)), ("rows-low", (8, -5)),
                     ("rows-high", (8, 20)), ("all", (500, 3))):
        for oob in (0, 1):
            yield "2d-outside-%s-oob%d" % (axis, oob), tensor(F16, [125, 28], [32, 16], oob=oob), at
    for dtype in (F32, F32_FTZ, TF32, TF32_FTZ, BF16, F64):
        yield "2d-oob-type%d" % dtype, tensor(dtype, [256 // TYPE_BYTES[dtype], 28],
                                              [64 // TYPE_BYTES[dtype], 16], oob=1), (-2, 20)
    for dtype in (U8, U16, U32, S32, U64, S64):
        yield "2d-type%d" % dtype, tensor(dtype, [256 // TYPE_BYTES[dtype], 28],
                                          [64 // TYPE_BYTES[dtype], 16]), (-1, 20)
    yield "1d", tensor(F32, [1500], [256]), (1400,)
    yield "1d-odd", tensor(U8, [4097], [240]), (3999,)
    yield "2d-gap", tensor(F16, [100, 20], [32, 16], gap=48), (80, 7)
    yield "3d", tensor(F16, [16, 12, 9], [16, 4, 5]), (4, 10, -1)
    yield "3d-swizzle3", tensor(F16, [64, 6, 9], [64, 4, 5], 3), (-8, 3, 6)
    yield "4d", tensor(F32, [8, 5, 6, 7], [8, 3, 2, 4]), (2, -1, 5, 4)
    yield "5d", tensor(F16, [8, 4, 5, 3, 6], [8, 3, 2, 2, 4]), (-3, 2, -1, 2, 4)
    yield "5d-swizzle1", tensor(F16, [16, 4, 5, 2, 6], [16, 3, 2, 2, 4], 1), (5, 2, 4, -1, -2)


def steps():
    """Boxes that take every second or third element."""
    for name, step in (("2", [1, 2]), ("3", [1, 3]), ("inner2", [2, 1]), ("both", [2, 3])):
        yield "2d-step-" + name, tensor(F16, [128, 28], [32, 16], steps=step), (-4, 3)
    yield "3d-step", tensor(F16, [16, 12, 9], [16, 7, 5], steps=[1, 2, 3]), (4, 3, -1)


def interleaves():
    yield "3d-interleave1", tensor(F16, [64, 12, 2], [8, 8, 2], interleave=1), (0, 3, 0)
    yield ("3d-interleave2-swizzle1",
           tensor(F16, [64, 12, 2], [16, 8, 2], 1, interleave=2), (0, 3, 0))


def reductions():
    box = {"b32*": (U32, [16, 28], [16, 16]), "f16~": (F16, [32, 28], [32, 16]),
           "bf16~": (BF16, [32, 28], [32, 16]), "f32": (F32, [16, 28], [16, 16])}
    for kind, dtype, ops in (
            ("b32*", U32, "add min max inc dec and or xor"), ("b32*", S32, "add min max"),
            ("b32*", U64, "add min max and or xor"), ("b32*", S64, "min max"),
            ("f16~", F16, "add min max"), ("bf16~", BF16, "add min max"), ("f32", F32, "add"),
            ("f32", F32_FTZ, "add"), ("f32", TF32, "add")):
        _, dims, extents = box[kind]
        if TYPE_BYTES[dtype] == 8:
            dims, extents = [8, 28], [8, 16]
        for op in ops.split():
            arguments = tensor(dtype, dims, extents)
            for suffix, corner in corners(arguments, (3, -2), stores=True):
                yield store("%s.type%d%s" % (op, dtype, suffix), arguments, corner,
                            "16x(%s)" % kind, op)
    arguments = tensor(F64, [8, 28], [8, 16])
    for suffix, corner in corners(arguments, (3, -2), stores=True):
        yield store("add.f64" + suffix, arguments, corner, "8x(f64)", "add")
    for dtype, kind, dims, extents in ((F16, "f16~", [29, 28], [32, 16]),
                                       (U32, "b32*", [15, 28], [16, 16])):
        yield store("add.type%d-over-the-end" % dtype, tensor(dtype, dims, extents), (0, 2),
                    "16x(%s)" % kind, "add")
    yield store("add.type12", tensor(TF32_FTZ, [16, 28], [16, 16]), (0, 2), "16x(f32)", "add")
    yield store("add.swizzle3", tensor(F16, [64, 28], [64, 16], 3), (0, 4), "16x(f16~)", "add")


def corners(arguments, at, stores):
    """The coordinates as they are and, where an H200 refuses those, near ones
    that it should take: a suffix for the name and the coordinates."""
    yield "", at
    per_piece = 16 // TYPE_BYTES[arguments["type"]]
    legal = (at[0] // per_piece * per_piece,) + at[1:]
    if stores:
        legal = tuple(max(coordinate, 0) for coordinate in legal)
    if legal != at:
        yield "-taken", legal


def ties():
    """Numbers in the middle of two of TF32, and subnormal ones, read from where the
    results go afterwards."""
    for dtype in (TF32, TF32_FTZ):
        arguments = tensor(dtype, [16, 128], [16, 128])
        text = ""
        for i in range(16):
            text += ("and.b32 %%r50, {%d}, %s; or.b32 %%r50, %%r50, 0x1000; "
                     "st.global.b32 [%%out+%d], %%r50; " % (
                         i, "0xffffe000" if i < 8 else "0x807fe000", 4 * i))
        made = tensor_probe("tensor.load.ties-type%d" % dtype, text + clear(arguments) +
                            load_box((0, 0)) + WAIT + READ_BOX, "16x(b32*)", arguments, "out")
        yield made


def signals():
    """Whether a load signals as many bytes as it is thought to."""
    for name, arguments, at in steps():
        at = (0,) + at[1:]
        yield tensor_probe("tensor.signal." + name, clear(arguments) + load_box(at) + WAIT +
                           "selp.b32 %r41, 1, 0, %p6; st.global.b32 [%out], %r41;", "16x(b32*)",
                           arguments, "in", out_row=4)


def variants():
    """Forms of copies and prefetches other than the plain ones."""
    arguments = tensor(F16, [128, 28], [32, 16])
    policy = "createpolicy.fractional.L2::evict_last.b64 %d4, 1.0; "
    yield tensor_probe("tensor.load.cache_hint", policy + clear(arguments) +
                       load_box((32, 5), ".L2::cache_hint", operands=", %d4") + WAIT + READ_BOX,
                       "16x(b32*)", arguments, "in")
    for name, text in (
            ("prefetch.tensormap", "prefetch.tensormap [%d3]; "),
            ("cp.async.bulk.prefetch.tensor",
             "@%p5 cp.async.bulk.prefetch.tensor.2d.L2.global.tile " + place((32, 5)) + "; ")):
        yield tensor_probe(name, clear(arguments) + text + load_box((32, 5)) + WAIT + READ_BOX,
                           "16x(b32*)", arguments, "in", opcode=name)
    for corner in ((32, 5), (96, 20)):
        text = (clear(arguments) + memory.BOTH + "mov.u32 %r44, %cluster_ctarank; "
                "setp.eq.u32 %p8, %r44, 1; and.pred %p8, %p8, %p5; mov.b16 %h3, 3; " +
                load_box(corner, ".multicast::cluster", "%p8", ", %h3") + WAIT + READ_BOX +
                memory.BOTH)
        made = tensor_probe("tensor.load.multicast+%d" % corner[0], text, "16x(b32*)", arguments,
                            "in", directives=memory.IN_PAIRS, rows=256)
        made["cluster"] = 2
        yield made


# field, its bits, "ORDINAL, VALUE", the map's arguments other than MAP's, dimensions
MAP = {"dtype": F16, "dims": [128, 28], "box": [32, 16]}
FIELDS = [("box_dim", "b32", "1, 8", {}), ("box_dim", "b32", "0, 16", {}),
          ("global_dim", "b32", "0, 48", {}), ("global_dim", "b32", "1, 9", {}),
          ("global_stride", "b64", "0, 128", {}), ("global_stride", "b64", "0, 8", {}),
          ("element_stride", "b32", "1, 2", {}), ("elemtype", "b32", "1", {}),
          ("elemtype", "b32", "10", {}), ("elemtype", "b32", "11", {"dtype": F32, "dims": [64, 28], "box": [16, 16]}),
          ("swizzle_mode", "b32", "2", {}), ("swizzle_mode", "b32", "3", {}),
          ("swizzle_mode", "b32", "0", {"swizzle": 2}), ("fill_mode", "b32", "1", {}),
          ("interleave_layout", "b32", "0", {}), ("rank", "b32", "1", {}),
          ("rank", "b32", "1", {"dims": [32, 20, 4], "box": [32, 16, 1]})]
AFTER = 64  # bytes of a row: what became of the box
# The map in shared memory at %r45 becomes one in global memory at %d6, where
# the results of threads 96 and 97 go later.
TO_GLOBAL = ("mov.u64 %d5, %out; add.s64 %d6, %d5, 12288; bar.sync 0; setp.lt.u32 %p8, %thread, 32; "
             "mov.b64 {{%r46, %r47}}, %d6; shfl.sync.idx.b32 %r46, %r46, 0, 31, -1; "
             "shfl.sync.idx.b32 %r47, %r47, 0, 31, -1; mov.b64 %d6, {{%r46, %r47}}; "
             "@!%p8 bra COPIED; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic"
             ".release.gpu.sync.aligned [%d6], [%r45], 128; COPIED: bar.sync 0; "
             "@%p5 fence.proxy.tensormap::generic.acquire.gpu [%d6], 128; ")


def replaced(name, text, arguments, at):
    """`text` changes the map at %r45 in shared memory: a row is what the changed
    map loads, then by how much a word of it differs from what it was."""
    copy = (".shared .align 128 .b8 changed[128]; mov.u32 %r45, changed; "
            "setp.lt.u32 %p8, %thread, 32; mad.lo.s32 %r43, %lane, 4, %r45; "
            "mul.wide.u32 %d4, %lane, 4; add.s64 %d4, %d4, %d3; ld.b32 %r44, [%d4]; "
            "@%p8 st.shared.b32 [%r43], %r44; bar.sync 0; ")
    differ = ("ld.shared.b32 %r46, [%r43]; sub.u32 %r46, %r46, %r44; @!%p8 mov.b32 %r46, 0; "
              "bar.sync 0; ")
    for piece in PIECES:
        differ += "st.global.v4.b32 [%%out+%d], {{%%r46, 0, 0, 0}}; " % (AFTER + piece)
    text = (clear(arguments) + copy + text + TO_GLOBAL + load_box(at).replace("%d3", "%d6") +
            WAIT + READ_BOX + differ)
    return tensor_probe("tensormap.replace." + name, text, "16x(b32*)", arguments, "in",
                        out_row=128)


def replacements():
    for field, bits, value, other in FIELDS:
        arguments = tensor(**dict(MAP, **other))
        at = (32 if arguments["dims"][0] > 32 else 0, 5)
        yield replaced(field + "+" + value.replace(", ", "+") + "".join(
            "+%s" % key for key in other), "@%%p5 tensormap.replace.tile.%s.shared::cta.b1024.%s "
            "[%%r45], %s; " % (field, bits, value), arguments, at)
    address = ("ld.shared.b64 %d7, [%r45]; add.s64 %d7, %d7, 512; bar.sync 0; "
               "@%p5 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r45], %d7; ")
    yield replaced("global_address", address, tensor(**MAP), (32, 5))


def probes():
    yield from ties()
    yield from signals()
    yield from variants()
    yield from replacements()
    for name, arguments, at in shapes():
        operands = {F32: "16x(f32)", F32_FTZ: "16x(f32)", TF32: "16x(f32)",
                    TF32_FTZ: "16x(f32)"}.get(arguments["type"], "16x(b32*)")
        for suffix, corner in corners(arguments, at, stores=False):
            yield load(name + suffix, arguments, corner, operands)
        for suffix, corner in corners(arguments, at, stores=True):
            yield store(name + suffix, arguments.but(oob=0), corner, operands)
    for name, arguments, at in steps():
        for suffix, corner in corners(arguments, at, stores=False):
            yield load(name + suffix, arguments, corner)
        for suffix, corner in corners(arguments, at, stores=True):
            yield store(name + suffix, arguments, corner)
    for name, arguments, at in interleaves():
        yield load(name, arguments, at)
    yield from reductions()
