# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a C program against an installation that pkg-config finds.

usage: pkg_config.py PREFIX CC SOURCE MODULE OPTION..."""

import os
import subprocess
import sys

prefix, cc, source, module, *options = sys.argv[1:]
env = dict(os.environ, PKG_CONFIG_PATH=os.path.join(prefix, "lib", "pkgconfig"))
flags = subprocess.run(["pkg-config", "--cflags", "--libs", module], env=env, check=True, stdout=subprocess.PIPE,
                       text=True).stdout.split()
subprocess.run([cc, "-std=c11", "-Wall", "-Werror", source, *flags, *options], check=True)
