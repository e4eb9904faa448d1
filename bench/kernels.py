# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds variants that are the same kernel at a point: a knob may change nothing there, or change only other lengths.
make_ablations.py writes the result into SAME, as {family: {variant: [lengths]}}."""

import json
import os
import re
import struct

import paths  # noqa: F401 (finds racing)
from racing import contenders, libattn, masks, points

SAME = "same.json"
# As in attn/runtime/bundle.h: the header, a section, and the kind of the section with PTX.
HEADER, SECTION, PTX = struct.Struct("<8sIIQQ"), struct.Struct("<IIQQQ"), 2
# The fields of a plan's variant that have no effect once it is chosen.
IDLE = ("schedule", "report", "when")


def ptx_of(path):
    with open(path, "rb") as file:
        content = file.read()
    _, _, count, _, _ = HEADER.unpack_from(content)
    for number in range(count):
        kind, _, offset, size, _ = SECTION.unpack_from(content, HEADER.size + number * SECTION.size)
        if kind == PTX:
            return content[offset:offset + size].decode()
    raise ValueError(f"{path}: expected a bundle with PTX, got one without")


def anonymous(text, kernel):
    """The text without the kernel's name and its position in the module."""
    text = re.sub(rf"\b{re.escape(kernel)}(?=_smem\b|_param_\d|\b)", "kernel", text)
    return re.sub(r"\$L__BB\d+_", "$L__BB_", text)


def kernel_text(ptx, kernel):
    """What a module of PTX says of one of its kernels."""
    head, *functions = re.split(r"^(?=\.visible \.entry )", re.sub(r"^\s*//.*\n", "", ptx, flags=re.M), flags=re.M)
    own = [text for text in functions if text.startswith(f".visible .entry {kernel}(")]
    own += [line for line in head.splitlines() if f" {kernel}_smem[" in line]
    return anonymous("\n".join(own), kernel)


def arguments(plan, point):
    """The arguments of a launch at the point; their addresses are invented."""
    q, k, v = point.shapes
    shapes = {"query": q, "key": k, "value": v, "output": q[:3] + v[3:], "lse": (point.batch, point.heads, point.seqlen)}
    device, address, tensors = libattn.DLDevice(libattn.CPU, 0), 1 << 40, {}
    for role, shape in shapes.items():
        strides = [1]
        for size in reversed(shape[1:]):
            strides.insert(0, strides[0] * size)
        element = "f32" if role == "lse" else contenders.ELEMENT_TYPES[point.dtype]
        tensors[role] = libattn.make_tensor(address, device, element, shape, strides)
        address += 1 << 40
    own = libattn.by_name(plan, tensors)
    for name, numbers in masks.MASKS[point.mask].captured(point.batch, point.seqlen).items():
        own[name] = libattn.make_tensor(address, device, "i32", numbers.shape, (1,))
        address += 1 << 40
    return libattn.make_args(own, libattn.by_name(plan, {"scale": point.scale}), device, None)


class Kernels:
    """The kernels of a bundle."""

    def __init__(self, library, path):
        self.bundle, self.ptx = library.load(path), ptx_of(path)

    def at(self, point):
        """Everything that determines what a launch at the point does."""
        variant = self.bundle.plan["variants"][self.bundle.choose_variant(arguments(self.bundle.plan, point))]
        plan = json.dumps({key: value for key, value in variant.items() if key not in IDLE})
        names = [launch["kernel"] for launch in variant["launches"]]
        for number, name in enumerate(names):
            plan = plan.replace(f'"kernel": "{name}"', f'"kernel": {number}')
        return plan, [kernel_text(self.ptx, name) for name in names]


def read_same(path):
    """The content of a file SAME; empty if there is no such file."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def is_same(same, name, family, seqlen):
    """Whether a variant is the same kernel as the table's at the point."""
    return seqlen in same.get(points.describe_family(family), {}).get(name, ())
