# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package in processes that fork, import other compilers, and continue after the compiler
failed."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import package_support

import attn
from attn import _capi

HERE = os.path.dirname(os.path.abspath(__file__))
# LLVM's NVPTX backend has no logarithm of f64.
UNSELECTABLE = """gpu.module @m [#nvvm.target<chip = "sm_90">] {
  llvm.func @f(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.intr.log2(%x) : (f64) -> f64
    llvm.store %0, %p : f64, !llvm.ptr<1>
    llvm.return
  }
}"""
RIGHT = """
import package_support
from package_support import HostTensor, expected_row, gaussian
import attn

def check(seed, dim=64):
    q, k, v = (gaussian([1, 5, 1, dim], seed + n) for n in range(3))
    out, lse = HostTensor("f16", q.shape), HostTensor("f32", [1, 1, 5])
    attn.compile(head_dim=dim, dtype="f16", mask="causal_top_left")(q, k, v, out=out, lse=lse)
    want, _ = expected_row(q, k, v, 0, 0, 4, allow=lambda j: j <= 4)
    assert max(abs(out[0, 4, 0, c] - want[c]) for c in range(dim)) < 2e-3, "wrong"
"""


class Failures(unittest.TestCase):
    def test_the_next_compilation_works(self):
        """After one that LLVM gives up on, which names a file that reproduces it."""
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(attn.set_compiler_option, "dump_dir", "")
            attn.set_compiler_option("dump_dir", folder)
            for _ in range(2):
                with self.assertRaisesRegex(attn.CompileError, "Cannot select") as caught:
                    _capi.Bundle(UNSELECTABLE, "sm_90a")
                reproducer = re.search(r"reproducer: llc .*?(\S+\.ll)", str(caught.exception)).group(1)
                self.assertEqual(os.path.dirname(reproducer), folder)
                with open(reproducer, encoding="utf-8") as file:
                    self.assertIn("llvm.log2.f64", file.read())
            attn.set_compiler_option("dump_dir", "")
            exec(RIGHT + "check(1)", {})


# An assembler that never ends, and says that it has begun.
ENDLESS = """#!/bin/sh
case "$*" in *--version*) echo "Cuda compilation tools, release 13.0, V13.0.88"; exit;; esac
echo $$ > "$0.pid.new"; mv "$0.pid.new" "$0.pid"
exec sleep 1000
"""
AHEAD = """
import os, sys, time
import attn
from attn import _executable
ir = attn.compile(head_dim=48).ir
attn.set_compiler_option("ptxas", sys.argv[1])
attn.set_compiler_option("disable_cache", "1")
_executable.Executable.compile_ahead(ir, None, ("q", "k", "v"), True)
while sys.argv[2] == "wait" and not os.path.exists(sys.argv[1] + ".pid"):
    time.sleep(0.01)
"""


class Processes(unittest.TestCase):
    def test_the_exit_gives_up_what_is_compiled_ahead(self):
        for wait in ("wait", "at once"):
            with self.subTest(wait), tempfile.TemporaryDirectory() as folder:
                ptxas = os.path.join(folder, "ptxas")
                with open(ptxas, "w", encoding="utf-8") as file:
                    file.write(ENDLESS)
                os.chmod(ptxas, 0o755)
                done = subprocess.run([sys.executable, "-c", AHEAD, ptxas, wait], timeout=300, capture_output=True, text=True,
                                      env={**os.environ, "PYTHONPATH": os.pathsep.join([HERE, *sys.path])})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                if wait == "wait":
                    with open(ptxas + ".pid", encoding="utf-8") as file:
                        self.assertRaises(ProcessLookupError, os.kill, int(file.read()), 0)

    def run_script(self, script, **env):
        subprocess.run([sys.executable, "-c", script], check=True, timeout=300,
                       env={**os.environ, "PYTHONPATH": os.pathsep.join([HERE, *sys.path]), **env})

    def test_children_of_a_fork_compile_and_launch(self):
        """After the import, and after the parent has compiled and launched."""
        self.run_script(RIGHT + """
import os
for used in (False, True):
    if used:
        check(1)
    child = os.fork()
    check(2)
    check(3, 72)
    if not child:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, "the child failed"
""", ATTN_CACHE_DIR="", ATTN_DISABLE_CACHE="1")

    def test_threads_compile_and_launch_together(self):
        self.run_script(RIGHT + """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    for done in [pool.submit(check, n, 64 + 8 * (n % 3)) for n in range(16)]:
        done.result()
assert attn._executable.Executable.count() == 3
""")

    def test_beside_other_compilers(self):
        """torch, Triton and JAX, which bring an LLVM each, in either order."""
        for name in ("torch", "triton", "jax"):
            if subprocess.run([sys.executable, "-c", f"import {name}"], stderr=subprocess.DEVNULL).returncode:
                self.skipTest(f"{name} is not installed")
        for names in (["torch", "triton", "jax", "attn"], ["attn", "jax", "triton", "torch"]):
            subprocess.run([sys.executable, os.path.join(HERE, "frameworks.py"), "cpu", *names], check=True, timeout=300)


if __name__ == "__main__":
    unittest.main()
