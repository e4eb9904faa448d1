# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every shipped binary starts, depends only on libraries that every Linux has, and exports only
the project's own names, so that it can share a process with another LLVM.

usage: binaries.py FOLDER [--installed]

FOLDER has bin/ and lib/, or one of them. One that is installed also names no
folder of the machine that built it."""

import glob
import os
import re
import subprocess
import sys

# The libraries of glibc and GCC, and the project's own.
ALLOWED = re.compile(r"^(lib(c|m|dl|rt|pthread|gcc_s|attn_jit|attn_runtime)\.so(\.\d+)*|ld-linux.*)$")
# The oldest glibc that they run with.
GLIBC = (2, 34)


def lines(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def folders_outside(path):
    """The folders that `path` has its libraries looked for in, but those beside it."""
    for line in lines("readelf", "-d", path):
        run_path = re.search(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", line)
        for folder in run_path[1].split(":") if run_path else ():
            if not re.match(r"\$ORIGIN(/\.\./lib)?$", folder):
                yield folder


def problems(build, installed):
    binaries = sorted(glob.glob(os.path.join(build, "bin", "attn-*")))
    libraries = sorted(glob.glob(os.path.join(build, "lib", "libattn_*.so")))
    for path in binaries:
        status = subprocess.run([path, "--help"], capture_output=True).returncode
        if status != 0:
            yield f"{path}: --help ends with status {status}"
    for path in filter(is_elf, binaries + libraries):
        for line in lines("readelf", "-d", path):
            needed = re.search(r"\(NEEDED\).*\[(.*)\]", line)
            if needed and not ALLOWED.match(needed[1]):
                yield f"{path}: needs {needed[1]}"
        for line in lines("objdump", "-T", path):
            version = re.search(r"\(GLIBC_(\d+)\.(\d+)\S* +(\S+)", line)
            if version and (int(version[1]), int(version[2])) > GLIBC:
                yield f"{path}: {version[3]} needs glibc {version[1]}.{version[2]}"
        for folder in folders_outside(path) if installed else ():
            yield f"{path}: looks for libraries in {folder}"
    for path in libraries:
        for line in lines("nm", "-D", "--defined-only", path):
            name = line.split()[-1].split("@")[0]
            if not name.startswith("attn_"):
                yield f"{path}: exports {name}"
    print(f"{len(binaries)} programs and {len(libraries)} libraries looked at")


found = list(problems(sys.argv[1], "--installed" in sys.argv[2:]))
print("\n".join(found))
sys.exit(1 if found else 0)
