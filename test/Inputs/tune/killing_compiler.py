#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""killing_compiler.py COUNT N COMPILER ARGUMENTS...: attn-compile, except that the N-th call,
counted in COUNT, kills its caller, like a power cut."""

import os
import signal
import subprocess
import sys

count, last, *command = sys.argv[1:]
with open(count, "a", encoding="utf-8") as file:
    file.write("call\n")
with open(count, encoding="utf-8") as file:
    calls = len(file.readlines())
if calls == int(last):
    os.kill(os.getppid(), signal.SIGKILL)
    sys.exit(1)
sys.exit(subprocess.run(command).returncode)
