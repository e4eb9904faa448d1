# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheel that ATTN_WHEEL names, on a machine with a GPU and without ptxas: installed
with pip into a new environment, it runs the README's program. Where there is a ptxas,
the program runs where something without permission to execute is mounted over it."""

import glob
import os
import re
import site
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.dirname(HERE)]
import hardware

WHEEL = os.environ.get("ATTN_WHEEL")
CHECK = """
import os
found = attn.sdpa(q, k, v, is_causal=True)
want = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True)
assert (found.double() - want).abs().max() < 0.05, "wrong"
assert attn.__file__.startswith(sys.prefix), attn.__file__
"""


def assemblers():
    """Every ptxas where the compiler looks for one."""
    packages = {os.path.dirname(os.path.dirname(path)) for path in sys.path if path.endswith("-packages")}
    patterns = ["/usr/local/cuda*/bin/ptxas", "/opt/cuda/bin/ptxas"]
    patterns += [f"{folder}/python3*/*-packages/nvidia/cu*/bin/ptxas" for folder in packages | {"/usr/lib", "/usr/local/lib"}]
    patterns += [os.path.join(folder, "ptxas") for folder in os.environ["PATH"].split(os.pathsep)]
    return sorted({os.path.realpath(path) for pattern in patterns for path in glob.glob(pattern)})


def without(hidden, command):
    """`command`, with other mounts than the rest of the machine: /dev/null over each of `hidden`."""
    if not hidden:
        return command
    cover = 'while [ "$1" != -- ]; do mount --bind /dev/null "$1" || exit 3; shift; done; shift; exec "$@"'
    return ["unshare", "--mount", "sh", "-c", cover, "sh", *hidden, "--", *command]


def readme_program():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        return re.search(r"```python\n(import torch, attn\n.*?)```", file.read(), re.S).group(1)


@unittest.skipUnless(WHEEL, "needs a wheel, in ATTN_WHEEL")
@unittest.skipUnless("sm_90" in hardware.gpus(), "needs a GPU of architecture sm_90")
class Wheel(unittest.TestCase):
    def install(self, folder):
        """Returns the Python of a new environment with the wheel, and with torch as here."""
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        python = os.path.join(folder, "bin", "python")
        subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", "-q",
                        os.path.abspath(WHEEL)], check=True)
        packages = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True,
                                  capture_output=True, text=True).stdout.strip()
        with open(os.path.join(packages, "outer.pth"), "w", encoding="utf-8") as file:
            file.write("\n".join(site.getsitepackages()) + "\n")
        return python

    def test_the_readmes_program_without_an_assembler(self):
        with tempfile.TemporaryDirectory() as folder:
            python = self.install(os.path.join(folder, "venv"))
            program = readme_program()
            self.assertLessEqual(len(program.strip().splitlines()), 10)
            dump = os.path.join(folder, "dump")
            env = {"PATH": f"{os.path.dirname(python)}:/usr/bin:/bin", "HOME": folder, "ATTN_DUMP_DIR": dump,
                   "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}
            os.mkdir(dump)
            subprocess.run(without(assemblers(), [python, "-c", "import sys\n" + program + CHECK]), check=True, timeout=300,
                           env=env, cwd=folder)
            made = {os.path.splitext(name)[1] for name in os.listdir(dump)}
            self.assertIn(".ptx", made)
            self.assertNotIn(".cubin", made, "an assembler was found")


if __name__ == "__main__":
    unittest.main()
