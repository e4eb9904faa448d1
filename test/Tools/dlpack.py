# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attn.h beside DLPack's own header: programs that include both, in either order,
compile as C and as C++, and the tensors of one are the other's.

usage: dlpack.py ROOT CC CXX

The header is this tree's copy under another name, as projects have one, and torch's
where Python finds torch."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM = """
#include <stddef.h>
#include "{first}"
#include "{second}"

/* What only the whole header has. */
int flags(const DLManagedTensorVersioned *managed);
int flags(const DLManagedTensorVersioned *managed) {{
  return (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0 && DLPACK_MAJOR_VERSION == 1;
}}

attn_status launch(attn_bundle *bundle, attn_launch_args *args, DLManagedTensorVersioned *managed);
attn_status launch(attn_bundle *bundle, attn_launch_args *args, DLManagedTensorVersioned *managed) {{
  const DLTensor *tensor = &managed->dl_tensor;
  args->tensors = &tensor;
  return attn_launch(bundle, args);
}}
"""


def headers(root, temp):
    """Include paths of DLPack's header, by where it is from."""
    os.makedirs(os.path.join(temp, "dlpack"))
    shutil.copy(os.path.join(root, "include", "attn", "runtime", "dlpack.h"), os.path.join(temp, "dlpack"))
    yield "a copy", temp, "dlpack/dlpack.h"
    torch = importlib.util.find_spec("torch")
    for place in torch.submodule_search_locations if torch else ():
        yield "torch", os.path.join(place, "include"), "ATen/dlpack.h"


def main():
    root, cc, cxx = sys.argv[1:]
    ours = "attn/runtime/attn.h"
    with tempfile.TemporaryDirectory() as temp:
        for name, folder, theirs in headers(root, temp):
            for first, second in ((ours, theirs), (theirs, ours)):
                for command in ([cc, "-xc", "-std=c99"], [cxx, "-xc++", "-std=c++17"]):
                    subprocess.run([*command, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{root}/include",
                                    f"-I{folder}", "-"],
                                   input=PROGRAM.format(first=first, second=second), text=True, check=True)
            print(f"{name}: both orders compile")


main()
