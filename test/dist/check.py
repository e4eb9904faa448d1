#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tries an archive and a wheel of scripts/dist in fresh folders.

usage: check.py ARCHIVE WHEEL"""

import ast
import glob
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import venv
import zipfile

MAX_BYTES = {"archive": 20_000_000, "wheel": 25_000_000}  # a wheel's compression is weaker
HERE = os.path.dirname(os.path.abspath(__file__))
ARCHIVE, WHEEL = sys.argv.pop(1), sys.argv.pop(1)
PROGRAM = """
import attn, sys
from package_support import gaussian, HostTensor, expected_row
assert attn.__file__.startswith(sys.prefix), attn.__file__
q, k, v = (gaussian([1, 20, 2, 64], seed) for seed in (1, 2, 3))
out, lse = HostTensor("f16", q.shape), HostTensor("f32", [1, 2, 20])
kernel = attn.compile(head_dim=64, dtype="f16", mask="causal_top_left")
kernel(q, k, v, out=out, lse=lse)
want, want_lse = expected_row(q, k, v, 0, 1, 11, allow=lambda j: j <= 11)
assert max(abs(out[0, 11, 1, c] - want[c]) for c in range(64)) < 2e-3
assert abs(lse[0, 1, 11] - want_lse) < 1e-4
print("attn", attn.__version__, attn.version(), "is right")
"""


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, universal_newlines=True, **options).stdout


class Dist(unittest.TestCase):
    def setUp(self):
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.temp = temp.name
        # No library of this machine's builds, and no kernel of its cache.
        self.env = {n: v for n, v in os.environ.items() if n not in ("LD_LIBRARY_PATH", "PYTHONPATH", "ATTN_LIBRARY_DIR")}
        self.env["ATTN_CACHE_DIR"] = os.path.join(self.temp, "cache")

    def unpack(self):
        with tarfile.open(ARCHIVE) as file:
            file.extractall(self.temp)
        return glob.glob(os.path.join(self.temp, "attn-*"))[0]

    def unpack_wheel(self):
        with zipfile.ZipFile(WHEEL) as file:
            file.extractall(self.temp)
        return os.path.join(self.temp, "attn")

    def test_sizes(self):
        for name, path in (("archive", ARCHIVE), ("wheel", WHEEL)):
            with self.subTest(name):
                self.assertLessEqual(os.path.getsize(path), MAX_BYTES[name])

    def test_binaries(self):
        binaries = os.path.join(os.path.dirname(HERE), "Tools", "binaries.py")
        for folder, text in ((self.unpack(), "5 programs and 2 libraries"), (self.unpack_wheel(), "0 programs and 2 libraries")):
            with self.subTest(folder):
                self.assertIn(text, run(sys.executable, binaries, folder, "--installed"))

    def test_nothing_names_this_machine(self):
        """Two machines' builds are the same bytes."""
        self.unpack(), self.unpack_wheel()
        source = os.path.dirname(os.path.dirname(HERE)).encode()
        found = []
        for folder, _, names in os.walk(self.temp):
            for path in (os.path.join(folder, name) for name in names):
                if not os.path.islink(path):
                    with open(path, "rb") as file:
                        found += [path] * (source in file.read())
        self.assertEqual(found, [])

    def test_the_wheel_is_for_every_python(self):
        """The libraries are loaded with ctypes; the oldest Python is 3.9."""
        self.assertRegex(WHEEL, r"-py3-none-manylinux_2_34_x86_64\.whl$")
        sources = glob.glob(os.path.join(self.unpack_wheel(), "*.py"))
        self.assertGreater(len(sources), 10)
        for path in sources:
            with self.subTest(path), open(path, encoding="utf-8") as file:
                ast.parse(file.read(), path, feature_version=(3, 9))
        metadata = glob.glob(os.path.join(self.temp, "attn-*.dist-info", "METADATA"))[0]
        with open(metadata, encoding="utf-8") as file:
            self.assertRegex(file.read(), re.compile("^Requires-Python: >=3.9$", re.M))

    def test_programs_of_the_archive(self):
        tree = self.unpack()
        bundle = os.path.join(self.temp, "softcap.attn")
        example = os.path.join(tree, "share", "attn", "examples", "softcap.mlir")
        run(os.path.join(tree, "bin", "attn-compile"), example, "-o", bundle, env=self.env)
        text = run(os.path.join(tree, "bin", "attn-run"), bundle, "--device=sim", "--q=1x20x2x72", "--kv=1x20x2x72",
                   "--check", "--scalar=softcap=1.5", env=self.env)
        self.assertIn("check: passed", text)
        for program in ("attn-tune", "attn-timeline"):
            run(sys.executable, os.path.join(tree, "bin", program), "--help", env=self.env)

    def test_device_tests_of_the_archive(self):
        tree = self.unpack()
        done = subprocess.run([sys.executable, os.path.join(tree, "share", "attn", "test", "run.py"), tree, "--suites=device"],
                              stdout=subprocess.PIPE, universal_newlines=True, env=self.env)
        self.assertRegex(done.stdout.splitlines()[-1], r"^[0-9]+ passed, 0 failed, [0-9]+ skipped$")

    def test_find_package(self):
        tree, build = self.unpack(), os.path.join(self.temp, "build")
        source = os.path.join(os.path.dirname(HERE), "Tools", "Inputs", "consumer")
        run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={tree}",
            f"-DEXAMPLES={tree}/share/attn/examples", env=self.env)
        run("cmake", "--build", build, env=self.env)
        run(os.path.join(build, "compiles"), f"{tree}/share/attn/examples/full_d64.mlir", env=self.env)
        self.assertIn("cannot", run(os.path.join(build, "launches"), os.path.join(self.temp, "absent.attn"), env=self.env))

    def test_commands_of_the_example(self):
        """The lines at the top of attention.c, as they are."""
        tree = self.unpack()
        with open(os.path.join(tree, "share", "attn", "examples", "attention.c"), encoding="utf-8") as file:
            commands = re.search(r"In the archive.*?:\n(.*?) \* In the source tree", file.read(), re.S)[1]
        script = "set -e\n" + re.sub(r"^ \* *", "", commands, flags=re.M)
        self.assertIn("O is 9.50", run("sh", "-c", script, env=self.env, cwd=tree))

    def test_docs_of_the_archive(self):
        """The manual is there, and its links to the headers and the example lead somewhere."""
        folder = os.path.join(self.unpack(), "share", "attn", "docs")
        with open(os.path.join(folder, "c-api.md"), encoding="utf-8") as file:
            links = re.findall(r"\]\(((?:\.\./(?:include|examples)/|[a-z-]+\.md)[^)#]*)", file.read())
        self.assertGreater(len(links), 4)
        for link in links:
            with self.subTest(link):
                self.assertTrue(os.path.exists(os.path.join(folder, link)))

    def test_the_wheel(self):
        folder = os.path.join(self.temp, "venv")
        venv.create(folder, with_pip=True)
        python = os.path.join(folder, "bin", "python")
        run(python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", WHEEL, env=self.env)
        # Of the test's helper, but with the package that is installed.
        self.env["ATTN_INSTALLED"] = "1"
        self.env["PYTHONPATH"] = os.path.join(os.path.dirname(HERE), "python")
        self.assertIn("is right", run(python, "-c", PROGRAM, env=self.env, cwd=self.temp))
        # With neither an assembler nor any other program.
        self.env.update(ATTN_PTXAS="none", PATH="", ATTN_DUMP_DIR=self.temp)
        self.assertIn("is right", run(python, "-c", PROGRAM, env=self.env, cwd=self.temp))
        self.assertEqual((len(glob.glob(self.temp + "/*.ptx")), glob.glob(self.temp + "/*.cubin")), (1, []))


if __name__ == "__main__":
    unittest.main()
