# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every shipped binary starts, needs only what every Linux has, and exports only
the project's own names, so that it can share a process with another LLVM."""

import glob
import os
import re
import subprocess
import sys

# What belongs to glibc and to GCC's support library, and the project's own.
ALLOWED = re.compile(r"^(lib(c|m|dl|rt|pthread|gcc_s|attn_jit|attn_runtime)\.so(\.\d+)*|ld-linux.*)$")
# The oldest glibc that they run with.
GLIBC = (2, 34)


def lines(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def problems(build):
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
    for path in libraries:
        for line in lines("nm", "-D", "--defined-only", path):
            name = line.split()[-1].split("@")[0]
            if not name.startswith("attn_"):
                yield f"{path}: exports {name}"
    print(f"{len(binaries)} programs and {len(libraries)} libraries looked at")


found = list(problems(sys.argv[1]))
print("\n".join(found))
sys.exit(1 if found else 0)
