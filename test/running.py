# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Commands that scripts of this folder run."""

import subprocess


def output(command, **more):
    """(exit status, standard output and standard error together)"""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    return done.returncode, done.stdout
