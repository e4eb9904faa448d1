#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sizes that a launch plan may have: a kernel at each limit, and one beyond it.

usage: launch_limits.py ATTN_OPT
"""

import subprocess
import sys

KERNEL = """\
#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["n"] problem #p config #c schedule #s smem 0 attributes {attn.checks = [%(checks)s]} {
^bb0(%%n: i32):
  %%x0 = arith.constant 1 : i32
%(sums)s
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%%me: i32):
    ws.work_loop extents(%%x%(count)d, %%n, %%n) {
    }
  }
}
"""


def kernel(checks=(), sums=0):
    """Returns a kernel with these checks, whose number of items is `sums` sums deep."""
    lines = [f"  %x{i + 1} = arith.addi %x{i}, %n : i32" for i in range(sums)]
    return KERNEL % {"checks": ", ".join(checks), "sums": "\n".join(lines), "count": sums}


def nested(depth):
    """Returns an expression that is `depth` operators deep."""
    return "min(0, " * depth + "n" + ")" * depth


def check_of(expression):
    return f'{{expr = #launch.apply<{expression}>, equals = 1, message = "m"}}'


# A limit, a kernel of a given size, the largest accepted size, and the message for one more.
LIMITS = [
    ("the operands of a check", lambda n: kernel([check_of(f"min({', '.join('1' * n)})")]), 255,
     "expected 'min' to have at most 255 operands, got 256"),
    # The other two checks are those of the number of items.
    ("the checks of a launch", lambda n: kernel(f'{{expr = "n", equals = {i}, message = "m"}}' for i in range(n)), 254,
     "'launch.plan' op expected at most 256 checks, got 257"),
    ("the depth of a check", lambda n: kernel([check_of(nested(n))]), 31,
     "'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be at most 32 deep, got more"),
    ("the depth of the number of items", lambda n: kernel(sums=n), 29,
     "'launch.check' op expected an expression that is at most 32 deep, got 33"),
    ("the depth of both", lambda n: kernel([check_of("lt(add(add(items, 1), 1), 100)")], n), 27,
     "'launch.check' op expected an expression that is at most 32 deep, got 33"),
]


def main():
    failures = 0
    for name, make, largest, message in LIMITS:
        for size in (largest, largest + 1):
            done = subprocess.run([sys.argv[1], "--attn-lower-to-nvvm", "-o", "/dev/null"], input=make(size),
                                  capture_output=True, text=True, check=False)
            expected = size > largest
            refused = done.returncode == 1 and done.stderr.count("error: ") == 1 and f"error: {message}\n" in done.stderr
            taken = done.returncode == 0 and not done.stderr
            if not (refused if expected else taken):
                failures += 1
                print(f"{name}, {size}: expected it to be {'refused: ' + message if expected else 'taken'}, "
                      f"got status {done.returncode}: {done.stderr.splitlines()[:1]}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
