#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attn-run's errors for invalid launch files and PTX: exit status 1, one message, no output of
the kernel.

usage: launch_errors.py ATTN-RUN FOLDER"""

import copy
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
INPUTS = os.path.join(HERE, "Inputs", "launch")


def read(name):
    with open(os.path.join(INPUTS, name), encoding="utf-8") as file:
        return file.read()


ROW_SUM = json.loads(read("row_sum.json"))
TILE_COPY = json.loads(read("tile_copy.json"))
PTX = read("row_sum.ptx")


def having(base, path, value):
    """`base` with the value at `path`, "a.0.b"; None removes it."""
    result = copy.deepcopy(base)
    *before, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    at = result
    for key in before:
        at = at[key]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return result


# (path, value, the message after "launch: "), on row_sum.json.
KEYS = [
    ("blok", [1], "unknown key 'blok'"),
    ("grid", None, "grid: expected an array of 1 to 3 values, got nothing"),
    ("grid", [0], "grid[0]: expected an integer from 1 to 2147483647, got 0"),
    ("grid", [1, 65536], "grid[1]: expected an integer from 1 to 65535, got 65536"),
    ("grid", [2097152], "grid: expected at most 1048576 CTAs, got [2097152]"),
    ("grid", ["5"], 'grid[0]: expected an integer from 1 to 2147483647, got "5"'),
    ("block", [32, 64], "block: expected at most 1024 threads, got [32,64]"),
    ("cluster", [2], "grid: expected multiples of 'cluster', got [5]"),
    ("shared", 300000, "shared: expected an integer from 0 to 232448, got 300000"),
    ("kernel", 3, "kernel: expected a string, got 3"),
    ("buffers", [], "buffers: expected an object of buffers, got []"),
    ("buffers.in.type", "float", "buffers.in.type: expected one of 'u8', 's8', 'u16', 's16', 'u32', 's32', 'u64', "
     "'s64', 'f16', 'bf16', 'f32', 'f64', 'e4m3', 'e5m2', got \"float\""),
    ("buffers.in.shape", [2000000000, 2000000000],
     "buffers.in.shape: expected at most 4294967296 bytes, got [2000000000,2000000000]"),
    ("buffers.in.shape", [-1], "buffers.in.shape[0]: expected an integer from 0 to 2147483647, got -1"),
    ("buffers.more", {"type": "u8", "shape": [4294967200 // 2, 2]},
     "buffers: expected at most 4294967296 bytes of buffers, got 4294970224"),
    ("buffers.in.fill", "ones", "buffers.in.fill: expected one of 'zeros', 'iota', 'poison', got \"ones\""),
    ("buffers.in.fill", {"random": 1, "constant": 2},
     "buffers.in.fill: expected one of 'constant', 'random' and 'file', got {\"constant\":2,\"random\":1}"),
    ("buffers.in.fill", {"file": "/nonexistent.npy"},
     "buffers.in: cannot read '/nonexistent.npy': No such file or directory"),
    ("buffers.in.fill", {"file": "/"}, "buffers.in: cannot read '/': Is a directory"),
    ("buffers.in.fill", {"file": "/dev/null"}, "buffers.in: '/dev/null': expected a .npy file of version 1"),
    ("params", [], "params: expected 4 values for the parameters of kernel 'row_sum', got 0"),
    ("params.0", {"f32": 1}, "params[0]: expected 8 bytes for parameter 'row_sum_param_0', got 4"),
    ("params.0", {"buffer": "x"}, "params[0].buffer: unknown buffer 'x'"),
    ("params.0", {"buffer": "in", "offset": 3001},
     "params[0].offset: expected an integer from 0 to 3000, got 3001"),
    ("params.0", {"pointer": "in"}, "params[0]: unknown key 'pointer', expected one among 'buffer', 'tensor_map', "
     "'bytes', 'struct', 'u8', 's8', 'u16', 's16', 'u32', 's32', 'u64', 's64', 'f16', 'bf16', 'f32', 'f64', 'e4m3', "
     "'e5m2'"),
    ("params.0", {"buffer": "in", "f32": 1}, "params[0]: expected one value, got 'buffer' and 'f32'"),
    ("params.2", {"f32": "1"}, 'params[2].f32: expected a number, got "1"'),
    ("params.2", {"s32": 2147483648}, "params[2].s32: expected an integer of type 's32', got 2147483648"),
    ("params.2", {"u32": -1}, "params[2].u32: expected an integer of type 'u32', got -1"),
    ("params.2", {"bytes": "0g"}, 'params[2].bytes: expected pairs of the digits 0 to f, got "0g"'),
    ("params.3.struct.1.at", 12, "params[3].struct[1]: expected 'at' and 8 bytes to lie within the 16 of parameter "
     "'row_sum_param_3', got 12"),
    ("params.3.struct.1.at", None, "params[3].struct[1].at: expected an integer from 0 to 32764, got nothing"),
    ("outputs.0", {"buffer": "out"}, "outputs[0]: expected 'expect' or 'dump'"),
    ("outputs.0.absolute", -1, "outputs[0].absolute: expected a number of at least 0 beside 'expect', got -1"),
    ("outputs.0.dump", "/nonexistent/x.npy",
     "outputs[0].dump: cannot write '/nonexistent/x.npy': No such file or directory"),
    ("roles.0.warps", 0, "roles[0].warps: expected an integer from 1 to 32, got 0"),
]

# The same of tile_copy.json's tensor map.
MAP_KEYS = [
    ("sizes", [1, 1, 1, 1, 1, 1], "sizes: expected an array of 1 to 5 values, got [1,1,1,1,1,1]"),
    ("strides", [256, 256], "strides: expected an array of 1 values, got [256,256]"),
    ("box", [512, 1], "box[0]: expected an integer from 1 to 256, got 512"),
    ("swizzle", 16, "swizzle: expected one of 0, 32, 64, 128, got 16"),
    ("type", "u4", "type: expected one of 'u8', 'u16', 'u32', 's32', 'u64', 's64', 'f16', 'f32', 'f64', 'bf16', "
     "'f32_ftz', 'tf32', 'tf32_ftz', got \"u4\""),
    ("oob_fill", "ones", "oob_fill: expected one of 'zeros', 'nan', got \"ones\""),
    ("pitch", 3, "unknown key 'pitch'"),
]

# (a change of the PTX, a part of the message)
PTX_CHANGES = [
    (("add.s32", "addd.s32"), "unknown opcode 'addd'"),
    ((".entry row_sum(", ".entry other("), "row_sum"),
    ((".b8 _ZZ7row_sumE7partial[32]", ".b8 other[32]"), "_ZZ7row_sumE7partial"),
    (("bra \t$L__BB0_3;", "bra \t$L__BB0_99;"), "$L__BB0_99"),
    (("ld.param.u64 \t%rd2", "ld.param.u64 \t%rd99"), "%rd99"),
    ((PTX[len(PTX) // 2:], ""), "expected"),
    ((".address_size 64", ".address_size 32"), "k.ptx: expected '.address_size 64', got 32"),
    ((".version 9.0", ".version 9.2"), "k.ptx: expected '.version' 3.2 to 9.1, got 9.2"),
    ((".version 9.0", ".version 3.1"), "k.ptx: expected '.version' 3.2 to 9.1, got 3.1"),
    ((".target sm_90a", ".target sm_120a"), "k.ptx: expected '.target' sm_50 to sm_90, or one of sm_90a, sm_100, sm_100f, "
     "sm_100a, sm_103, sm_103f, sm_103a, got sm_120a"),
    ((".target sm_90a", ".target sm_90a, fast"), "sm_103a, got fast"),
    ((".visible .entry", ".visible .func"), "k.ptx: no kernel 'row_sum'"),
    (("mov.u32 \t%r1,", "mov.u32 \t[%r1+4],"), "expected a register, got '[%r1+4]'"),
    (("bra \t$L__BB0_3;", "bra \t3;"), "no label '3'"),
    (("[row_sum_param_0];", "[row_sum_param_0, %rd2];"), "expected one address in brackets, got 2"),
    ((".reg .f32 \t%f<43>;", ".reg .f32 \t%f<43>, %p<4>;"), "register '%p' is there twice"),
    (("partial[32];", "partial[32] = {1};"),
     "expected no initializer of '_ZZ7row_sumE7partial', which is in '.shared'"),
    (("partial[32];", "partial[1000000];"), "expected at most 232448 bytes of shared memory, got 1000000"),
    (("partial[32];", "partial[8589934592];"), "expected at most 1 MiB of shared memory"),
    (("[16]\n)", "[16]\n) .reqntid 64"), "expected CTAs of 64 threads in dimension 0 as the kernel says, got 128"),
    ((PTX, ""), ".version"),
]


# A tensor map whose packed strides no 64 bits hold.
HUGE_MAP = {"buffer": "in", "type": "bf16", "sizes": [1 << 32, 1 << 31, 2], "box": [8, 1, 1]}

# What all threads of a cluster of 5 CTAs have in memory of their own.
STACKS = (PTX.replace("// demoted variable", ".local .b8 stack[1048576];", 1),
          dict(ROW_SUM, block=[1024], cluster=[5], roles=[]))


# ((old, new), message after "launch: ") on row_sum.json's text: keys that it has twice.
TWICE = [
    (('{"', '{"grid": [1], "'), "expected key 'grid' once, got it twice"),
    (('"fill":', '"fill": "zeros", "fill":'), "buffers.in: expected key 'fill' once, got it twice"),
]


class Checker:
    def __init__(self, tool, folder):
        self.tool = tool
        self.folder = folder
        self.runs = 0
        self.failures = 0

    def path(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run(self, ptx, launch, want):
        done = subprocess.run([self.tool, self.path("k.ptx", ptx), "--device=sim",
                               "--launch=" + self.path("k.json", launch)], capture_output=True, text=True, timeout=60)
        got = done.stderr.strip()
        self.runs += 1
        if done.returncode != 1 or not got.startswith("attn-run: error: ") or want not in got:
            self.failures += 1
            print(f"status {done.returncode}\n  expected {want}\n  got      {got}")


def main():
    checker = Checker(sys.argv[1], sys.argv[2])
    for path, value, want in KEYS:
        checker.run(PTX, json.dumps(having(ROW_SUM, path, value)), "launch: " + want)
    for path, value, want in MAP_KEYS:
        changed = having(TILE_COPY, "params.0.tensor_map." + path, value)
        checker.run(read("tile_copy.ptx"), json.dumps(changed), "launch: params[0].tensor_map" +
                    (": " if " key " in want else ".") + want)
    checker.run(read("tile_copy.ptx"), json.dumps(having(TILE_COPY, "params.0.tensor_map", HUGE_MAP)),
                "launch: params[0].tensor_map: globalStrides[1]: expected a multiple of 16 below 2^40, got ")
    checker.run(STACKS[0], json.dumps(STACKS[1]),
                "expected at most 4294967296 bytes of registers and local memory a cluster, got 53")
    for address in (0, 4096, 0x7F0000000000):
        no_buffers = {"grid": [1], "block": [32],
                      "params": [{"u64": address}, {"u64": 0}, {"f32": 1}, {"struct": [{"at": 0, "s32": 32}]}]}
        checker.run(PTX, json.dumps(no_buffers), "is out of bounds")
    for text in ("", "{", "[1]", "{\"grid\":[1],", "\xff", "[" * 100000):
        checker.run(PTX, text, "launch: expected ")
    for (old, new), want in TWICE:
        launch = json.dumps(ROW_SUM)
        assert old in launch, old
        checker.run(PTX, launch.replace(old, new, 1), "launch: " + want)
    for (old, new), want in PTX_CHANGES:
        assert old in PTX, old
        checker.run(PTX.replace(old, new, 1), json.dumps(ROW_SUM), want)
    print(f"{checker.runs} runs, {checker.failures} failures")
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
