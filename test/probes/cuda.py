# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of the CUDA driver that the probes need, through ctypes."""

import ctypes

LIBRARY = "libcuda.so.1"


def pack_word(value):
    return value.to_bytes(8, "little")


def array(kind, values):
    return (kind * max(len(values), 1))(*values)


class CudaError(RuntimeError):
    """A driver function's failure; `name` is its CUDA_ERROR_ name."""

    def __init__(self, function, name, result):
        super().__init__("%s: %s" % (function, name))
        self.name = name
        self.result = result


class Driver:
    """The driver, initialized, with the primary context of one device."""

    def __init__(self, ordinal=0):
        self.driver = ctypes.CDLL(LIBRARY)
        self.call("cuInit", ctypes.c_uint(0))
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(ordinal))
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.device = device

    def error_name(self, result):
        name = ctypes.c_char_p()
        if self.driver.cuGetErrorName(ctypes.c_int(result), ctypes.byref(name)) or not name.value:
            return "CUDA error %d" % result
        return name.value.decode()

    def call(self, function, *arguments):
        result = getattr(self.driver, function)(*arguments)
        if result:
            raise CudaError(function, self.error_name(result), result)

    def describe(self):
        """Returns the device's name and architecture, and the driver's version."""
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, ctypes.c_int(len(name)), self.device)
        numbers = []
        for attribute in (75, 76):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
            value = ctypes.c_int()
            self.call("cuDeviceGetAttribute", ctypes.byref(value), ctypes.c_int(attribute),
                      self.device)
            numbers.append(value.value)
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        return {"device": name.value.decode(), "arch": "sm_%d%d" % tuple(numbers),
                "driver": version.value}

    def load(self, image):
        """Loads a cubin or PTX text; returns the module."""
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(image))
        return module

    def function(self, module, name):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module,
                  ctypes.c_char_p(name.encode()))
        return function

    def upload(self, data):
        """Returns the device address of a copy of `data`."""
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(len(data), 16)))
        self.call("cuMemcpyHtoD_v2", pointer, ctypes.c_char_p(data), ctypes.c_size_t(len(data)))
        return pointer

    def download(self, pointer, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, pointer, ctypes.c_size_t(size))
        return data.raw

    def free(self, pointer):
        self.call("cuMemFree_v2", pointer)

    def encode(self, arguments):
        """Returns the 128 bytes of a tensor map; see tensor_maps.py."""
        storage = ctypes.create_string_buffer(128 + 64)
        at = (ctypes.addressof(storage) + 63) // 64 * 64
        self.call("cuTensorMapEncodeTiled", ctypes.c_void_p(at), ctypes.c_int(arguments["type"]),
                  ctypes.c_uint32(arguments["rank"]), ctypes.c_void_p(arguments["address"]),
                  array(ctypes.c_uint64, arguments["dims"]),
                  array(ctypes.c_uint64, arguments["strides"]),
                  array(ctypes.c_uint32, arguments["box"]),
                  array(ctypes.c_uint32, arguments["steps"]), ctypes.c_int(arguments["interleave"]),
                  ctypes.c_int(arguments["swizzle"]), ctypes.c_int(arguments["l2"]),
                  ctypes.c_int(arguments["oob"]))
        return ctypes.string_at(at, 128)

    def launch(self, function, grid, block, parameters):
        """Runs `function` to its end; each parameter is its bytes."""
        storage = []
        pointers = (ctypes.c_void_p * len(parameters))()
        for i, data in enumerate(parameters):
            buffer = ctypes.create_string_buffer(len(data) + 64)
            at = (ctypes.addressof(buffer) + 63) // 64 * 64
            ctypes.memmove(at, data, len(data))
            pointers[i] = at
            storage.append(buffer)
        self.call("cuLaunchKernel", function, *[ctypes.c_uint(extent) for extent in grid],
                  *[ctypes.c_uint(extent) for extent in block], ctypes.c_uint(0), None, pointers,
                  None)
        self.call("cuCtxSynchronize")
