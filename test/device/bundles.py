# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples, compiled, for the tests of this folder.

ATTN_BUILD is the build. Where it has no compiler, ATTN_BUNDLES is a folder with
the examples compiled beforehand: causal.attn and so on, and their gradients: causal_bwd.attn.
"""

import glob
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ATTN_BUILD", os.path.join(ROOT, "build"))
BUNDLES = os.environ.get("ATTN_BUNDLES")
EXAMPLES = sorted(os.path.basename(f)[:-5] for f in glob.glob(os.path.join(ROOT, "examples", "*.mlir")))
RUNNER = os.path.join(BUILD, "bin", "attn-run")


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)


def bundle_of(test, name, folder, gradients=False):
    """Returns the path of the bundle of an example, or of its gradients, which may be written to `folder`."""
    file = name + ("_bwd.attn" if gradients else ".attn")
    if BUNDLES:
        return os.path.join(BUNDLES, file)
    path = os.path.join(folder, file)
    done = run([os.path.join(BUILD, "bin", "attn-compile"), os.path.join(ROOT, "examples", name + ".mlir"),
                "--target=sm_90a", "--emit=bundle", "-o", path, *(["--bwd"] if gradients else [])])
    test.assertEqual(done.returncode, 0, done.stdout)
    return path
