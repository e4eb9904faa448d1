# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import shutil
import sys

import lit.formats
from lit.llvm import config as llvm_config

sys.path.insert(0, os.path.join(config.attn_src_root, "test"))
import hardware

config.name = "attn"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.join(config.attn_src_root, "test")
config.test_exec_root = os.path.join(config.attn_obj_root, "test")
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "unit", "device", "lib", "reference"]

config.environment["FILECHECK_OPTS"] = "-enable-var-scope"
for name in ("ATTN_PTXAS", "XDG_CACHE_HOME", "CUDA_VISIBLE_DEVICES", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Tools: this build's own first, then LLVM's. A missing one fails its tests.
bin_dir = os.path.join(config.attn_obj_root, "bin")
tools = llvm_config.LLVMConfig(lit_config, config)
tools.with_environment("PATH", [config.llvm_tools_dir, bin_dir], append_path=True)
tools.add_tool_substitutions(
    ["attn-opt", "attn-compile", "attn-lsp-server", "attn-run", "attn-tune", "plant-faults"], bin_dir)
tools.add_tool_substitutions(
    ["FileCheck", "not", "count", "split-file"], config.llvm_tools_dir)
# A kernel's values, bounds and synchronization, with no GPU.
config.substitutions.append(("%attn-sim", f"'{bin_dir}/attn-run' --device=sim --check --guard --seeds=4"))
config.substitutions.append(("%python", f"'{sys.executable}' -B"))
# A file of cases, with the aliases that they share in each of them.
config.substitutions.append(("%cases", f"'{sys.executable}' -B '{config.attn_src_root}/test/cases.py'"))
config.substitutions.append(("%examples", os.path.join(config.attn_src_root, "examples")))
# The sanitizers' run-time is in the tools, so that another program (python) cannot
# load the libraries: `UNSUPPORTED: sanitized`.
sanitized = "-fsanitize" in config.attn_c_flags
if sanitized:
    config.available_features.add("sanitized")

if shutil.which("pkg-config"):
    config.available_features.add("pkg-config")
else:
    lit_config.note("no pkg-config was found: tests that require it are not run")

# The compilers, and C with what a program needs to build against this tree.
config.substitutions.append(("%cc_path", config.attn_cc))
config.substitutions.append(("%cxx_path", config.attn_cxx))
config.substitutions.append(("%cc", f"'{config.attn_cc}' {config.attn_c_flags} -Wall -Wextra -Werror "
                             f"-I'{config.attn_src_root}/include'"))
config.substitutions.append(("%link-attn", f"-L'{config.attn_obj_root}/lib' -lattn_jit -lattn_runtime "
                             + sanitized * f"'{config.attn_src_root}/tools/asan_options.c' " +
                             f"-Wl,-rpath,'{config.attn_obj_root}/lib'"))
config.substitutions.append(("%attn_root", config.attn_src_root))
config.substitutions.append(("%attn_build", config.attn_obj_root))

# Hardware: `REQUIRES: gpu`, `REQUIRES: sm_90`, `REQUIRES: ptxas`.
architectures = hardware.gpus()
if architectures:
    config.available_features.update({"gpu"} | set(architectures))
elif os.environ.get("ATTN_REQUIRE_GPU") == "1":
    lit_config.fatal("no GPU was found, and ATTN_REQUIRE_GPU=1 demands one")
else:
    lit_config.note("no GPU was found: tests that require one are not run")

ptxas = hardware.ptxas()
if ptxas:
    config.available_features.add("ptxas")
    config.environment["ATTN_PTXAS"] = ptxas
else:
    lit_config.note("no ptxas %d.%d or newer was found: tests that require one are not run" % hardware.MIN_PTXAS)
config.substitutions.append(("%ptxas", ptxas or "ptxas-was-not-found"))
