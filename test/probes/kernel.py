# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The PTX of a probe: each thread reads its row of `in`, executes the
instruction and writes its row of `out`."""

from inputs import kinds_of, offsets

HEADER = """.version 8.7
.target sm_90a
.address_size 64
"""

ENTRY = """.visible .entry probe(.param .u64 in, .param .u64 out%(parameters)s)
%(directives)s{
  .reg .pred %%p<16>;
  .reg .b16 %%h<16>;
  .reg .b32 %%r<%(words)d>;
  .reg .b64 %%d<16>;
  .reg .b64 %%in, %%out;
  .reg .b32 %%thread, %%block, %%size, %%index;
%(declarations)s  ld.param.u64 %%in, [in];
  ld.param.u64 %%out, [out];
  mov.u32 %%thread, %%tid.x;
  mov.u32 %%block, %%ctaid.x;
  mov.u32 %%size, %%ntid.x;
  mad.lo.s32 %%index, %%block, %%size, %%thread;
  mad.wide.s32 %%in, %%index, %(in_row)d, %%in;
  mad.wide.s32 %%out, %%index, %(out_row)d, %%out;
%(body)s  ret;
}
"""

PREFIX = {1: "%h", 2: "%h", 4: "%r", 8: "%d"}
RESULT_BYTES = {"pred": 4}


def entry(body, in_row, out_row, declarations="", parameters="", directives="", words=64):
    return HEADER + ENTRY % {
        "body": body, "in_row": in_row, "out_row": out_row, "declarations": declarations,
        "parameters": parameters, "directives": directives, "words": words}


def indent(text):
    return "".join("  %s\n" % line.strip() for line in text.strip().splitlines())


def load(kind, register, place):
    return "ld.global.b%d %s, [%%in+%d];\n" % (8 * kind.bytes, register, place)


def elementwise(text, operands, result):
    """The kernel for `text`, where {d} is the destination and {a}, {b}, {c}, {e}
    are operands of the kinds named in `operands`. `result` is a register's
    bytes, or "pred", or "pred2" for {d} and {q}."""
    kinds = kinds_of(operands)
    places, row = offsets(kinds)
    names = {}
    body = ""
    for number, (kind, place, name) in enumerate(zip(kinds, places, "abce")):
        names[name] = "%s%d" % (PREFIX[kind.bytes], number + 1)
        body += load(kind, names[name], place)
    if result in ("pred", "pred2"):
        names.update(d="%p1", q="%p2")
        tail = "selp.b32 %r8, 1, 0, %p1;\n"
        if result == "pred2":
            tail += "@%p2 or.b32 %r8, %r8, 2;\n"
        tail += "st.global.b32 [%out], %r8;\n"
        size = 4
    else:
        size = int(result)
        names["d"] = PREFIX[size] + "8"
        tail = "st.global.b%d [%%out], %s;\n" % (8 * size, names["d"])
    body += text.format(**names) + "\n" + tail
    return entry(indent(body), row, size), row, size


def registers(operands):
    """Loads of a row's operands and the names of their registers."""
    kinds = kinds_of(operands)
    places, row = offsets(kinds)
    names = ["%%%s%d" % ("d" if kind.bytes == 8 else "r", number + 8)
             for number, kind in enumerate(kinds)]
    loads = "".join(load(kind, name, place)
                    for kind, name, place in zip(kinds, names, places))
    return loads, names, row


def stores(names):
    return "".join("st.global.b32 [%%out+%d], %s;\n" % (4 * i, name)
                   for i, name in enumerate(names))
