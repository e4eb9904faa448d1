# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One wheel for every Python 3: the libraries are loaded with ctypes. scripts/dist
puts them in attn/lib and builds it."""

import os
import re

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))


class BinaryDistribution(Distribution):
    """Has files for one platform, although no extension module."""

    def has_ext_modules(self):
        return True


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", "manylinux_2_34_x86_64"


def version():
    with open(os.path.join(HERE, "attn", "_version.py"), encoding="utf-8") as file:
        return re.search(r'"(.+)"', file.read()).group(1)


setup(version=version(), distclass=BinaryDistribution, cmdclass={"bdist_wheel": PlatformWheel})
