# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sourced by the other scripts, from the root of the tree.

# Object files are shared between checkouts and between build directories.
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

# build PRESET: configures and builds; configuring is quiet unless it fails.
build() {
  log=$(cmake --preset "$1" 2>&1) || {
    echo "$log" >&2
    return 1
  }
  cmake --build --preset "$1"
}
