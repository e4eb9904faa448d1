# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the hardware and tools that tests need on this machine: GPUs and a PTX assembler."""

import glob
import os
import re
import shutil
import subprocess
import sys

MIN_PTXAS = (12, 8)


def _output(command):
    """Returns the standard output of `command`, or None where it failed."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              universal_newlines=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def gpus():
    """Returns the architectures ("sm_90", ...) of the GPUs that the driver's own tool finds."""
    text = _output(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
    return ["sm_" + a + b for a, b in re.findall(r"^(\d+)\.(\d+)$", text or "", re.M)]


def ptxas_version(path):
    """Returns (major, minor) of the assembler at `path`, or None."""
    found = re.search(r"release (\d+)\.(\d+)", _output([path, "--version"]) or "")
    return found and (int(found.group(1)), int(found.group(2)))


def ptxas_candidates():
    """Where an assembler may be, in the order in which the compiler looks."""
    yield os.environ.get("ATTN_PTXAS")
    yield shutil.which("ptxas")
    yield from sorted(glob.glob("/usr/local/cuda*/bin/ptxas"), reverse=True)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    yield os.path.join(cache, "attn", "bin", "ptxas")


def ptxas():
    """Returns the path of the first assembler that is new enough, or None."""
    for path in ptxas_candidates():
        if path and os.access(path, os.X_OK) and (ptxas_version(path) or (0, 0)) >= MIN_PTXAS:
            return path
    return None


if __name__ == "__main__":
    # hardware.py gpus | ptxas: one line each; status 1 for none.
    what = sys.argv[1:]
    if what == ["gpus"]:
        found = gpus()
    elif what == ["ptxas"]:
        found = list(filter(None, [ptxas()]))
    else:
        sys.exit("usage: hardware.py gpus | ptxas")
    print("\n".join(found))
    sys.exit(0 if found else 1)
