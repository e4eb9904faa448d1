#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An assembler that reports what a test asks for: its n-th run spills the n-th number of
FAKE_SPILLS bytes in each kernel ("w": it serializes wgmma), the last number once there are
no more; with FAKE_KERNELS only kernels whose names match this. FAKE_LOG gets a line a run."""

import os
import re
import sys

SPILL = """ptxas info    : Compiling entry function '{name}' for 'sm_90a'
ptxas info    : Function properties for {name}
    {bytes} bytes stack frame, {bytes} bytes spill stores, {bytes} bytes spill loads
ptxas info    : Used 168 registers, used 4 barriers"""
SERIALIZED = "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to a test"

if "--version" in sys.argv:
    print("ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 13.0, V13.0.88")
    sys.exit(0)
log = os.environ["FAKE_LOG"]
with open(log, "a+", encoding="utf-8") as file:
    file.seek(0)
    run = len(file.readlines())
    file.write("run\n")
wanted = os.environ["FAKE_SPILLS"].split(",")
asked = wanted[min(run, len(wanted) - 1)]
source = next(argument for argument in sys.argv[1:] if argument.endswith(".ptx"))
with open(source, encoding="utf-8") as file:
    for name in re.findall(r"\.visible \.entry (\w+)", file.read()):
        spills = asked != "w" and re.search(os.environ.get("FAKE_KERNELS", ""), name)
        print(SPILL.format(name=name, bytes=asked if spills else 0))
if asked == "w":
    print(SERIALIZED)
with open(sys.argv[sys.argv.index("-o") + 1], "w", encoding="utf-8") as file:
    file.write("machine code")
