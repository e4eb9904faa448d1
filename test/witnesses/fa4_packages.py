# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlashAttention-4's packages without torch and a GPU: what imports torch gets a module that has any
name, and what asks for the hardware is told of one with 148 multiprocessors. Also the parameters that
kernels of these packages have in common."""

import glob
import importlib.machinery
import os
import sys
import types

HEADS = 2
LOG2_E = 1.4426950408889634
SHARED = 227 * 1024
MULTIPROCESSORS = 148


class AnyModule(types.ModuleType):
    """A module that has any name: a class if it begins as one does, otherwise such a module."""

    def __init__(self, name):
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        is_class = name[0].isupper() or name in ("dtype", "device")
        found = type(name, (), {}) if is_class else AnyModule(f"{self.__name__}.{name}")
        setattr(self, name, found)
        return found

    def __call__(self, *arguments, **_):
        """Decorators leave what they decorate."""
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) else self

    def __or__(self, _):
        return self

    __ror__ = __getitem__ = __or__


class TorchFinder:
    """Finds torch and its submodules."""

    @staticmethod
    def find_spec(name, _path=None, _target=None):
        return importlib.machinery.ModuleSpec(name, TorchFinder) if name.split(".")[0] == "torch" else None

    @staticmethod
    def create_module(spec):
        return AnyModule(spec.name)

    @staticmethod
    def exec_module(_):
        pass


class Hardware:
    """Stands for cutlass.utils.HardwareInfo."""

    def __init__(self, *_, **__):
        pass

    def get_max_active_clusters(self, cluster_size=1, **_):
        return MULTIPROCESSORS // cluster_size

    def get_device_multiprocessor_count(self):
        return MULTIPROCESSORS


def prepare(folder):
    """Before the packages are imported: those whose __init__ needs torch are imported without it."""
    os.environ.update(CUTE_DSL_ARCH="sm_100a", FLASH_ATTENTION_ARCH="sm_100", CUTE_DSL_KEEP_PTX="1",
                      CUTE_DSL_DUMP_DIR=folder)
    sys.meta_path.insert(0, TorchFinder)
    site = next(path for path in sys.path if path.endswith("site-packages"))
    for name in ("flash_attn", "flash_attn.cute", "quack"):
        module = types.ModuleType(name)
        module.__path__ = [os.path.join(site, *name.split("."))]
        sys.modules[name] = module
    import cutlass.utils
    import cutlass.utils.hardware_info
    cutlass.utils.HardwareInfo = cutlass.utils.hardware_info.HardwareInfo = Hardware
    import quack.dsl  # noqa: F401, it extends the DSL's tensors


def fake_tensor(kind, shape, alignment):
    """An argument of host code: packed, with the last extent innermost."""
    from cutlass.cute.runtime import make_fake_compact_tensor

    order = tuple(reversed(range(len(shape))))
    return make_fake_compact_tensor(kind, shape, stride_order=order, assumed_align=alignment)


def compile_kernel(folder, name, kernel, *arguments, **options):
    """Writes NAME.ptx."""
    import cutlass.cute as cute
    from cutlass.cute.runtime import make_fake_stream

    cute.compile(kernel, *arguments, **options, stream=make_fake_stream())
    (dumped,) = glob.glob(os.path.join(glob.escape(folder), "cutlass_*.ptx"))
    with open(dumped, encoding="utf-8") as file:
        text = file.read().rstrip("\0")
    os.remove(dumped)
    with open(os.path.join(folder, name + ".ptx"), "w", encoding="utf-8") as file:
        file.write(text)


def words(*values):
    return {"struct": [{"at": 4 * i, "s32": value} for i, value in enumerate(values)]}


def divider(divisor):
    """A divisor as the host passes it: for division by multiplication, and as it is."""
    bits = (divisor - 1).bit_length()
    factor = (((1 << bits) - divisor) << 32) // divisor + 1
    return ({"struct": [{"at": 0, "u32": divisor}, {"at": 4, "u32": factor % 2**32}, {"at": 8, "u8": min(bits, 1)},
                        {"at": 9, "u8": max(bits - 1, 0)}]}, {"s32": divisor})


def describe(name, dim, length, box=(64, 128), heads=HEADS, batch=1):
    """The tensor map of (batch, position, head, dim), in boxes of columns and positions."""
    row = 2 * dim
    return {"tensor_map": {"buffer": name, "type": "bf16", "sizes": [dim, length, heads, batch],
                           "strides": [heads * row, row, length * heads * row], "box": [*box, 1, 1],
                           "swizzle": 2 * box[0]}}


def strided(name, extents, strides, at=24):
    """A tensor that the kernel addresses itself, with strides `at` a place."""
    fields = [{"at": 0, "buffer": name}]
    fields += [{"at": 8 + 4 * i, "s32": extent} for i, extent in enumerate(extents)]
    fields += [{"at": at + 8 * i, "s64": stride} for i, stride in enumerate(strides)]
    return {"struct": fields}


def unused(pair):
    """Facts about a matrix instruction, which kernels do not read."""
    return {"bytes": "00" * (64 if pair else 32)}
