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

# read_options "$@": --help prints the comment at the top of the script; there is
# no other option.
read_options() {
  [ $# -gt 0 ] || return 0
  if [ "$1" = --help ]; then
    sed -n '/^# usage:/,/^[^#]/ { /^#/!q; s/^# \{0,1\}//p; }' "scripts/${0##*/}"
    exit 0
  fi
  echo "usage: scripts/${0##*/} [--help]" >&2
  exit 2
}

# find_matplotlib: prints a Python that has it; fails if there is none.
find_matplotlib() {
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'from importlib.util import find_spec; find_spec("matplotlib") or exit(1)' 2>/dev/null; then
      echo "$python"
      return 0
    fi
  done
  return 1
}
