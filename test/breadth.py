#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests all that the forward pass supports: every case is compiled, run and checked.

    test/breadth.py --build build --device sim --group windows

A case is run on a ragged problem with --check and --guard, with padded strides
too, and on random problems. With --out the bundles are kept, and with --bundles
taken from there, for a machine that has no compiler."""

import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "Inputs"))
import attention_ir

CAUSAL = "--mask=causal_bottom_right"
BOTH = "--mask=window_bottom_right --bound=window_left --bound=window_right"
# Group: options of Inputs/attention_ir.py, a line a case.
GROUPS = {
    "types": ["--dtype=f16 --head-dim=64 " + CAUSAL, "--dtype=f16", "--layout=bhsd " + CAUSAL,
              "--dtype=f16 --layout=bhsd --head-dim=72 --mask=causal_top_left",
              "--dtype=f16 --head-dim=256", "--dtype=f16 --head-dim=192 --head-dim-v=128 " + CAUSAL],
    "head_dims": [f"--head-dim={d} {CAUSAL}" for d in (8, 40, 64, 72, 80, 96, 104, 120, 128)],
    "large_head_dims": [f"--head-dim={d}" for d in (136, 160, 192, 200, 224, 248, 256)],
    "head_dim_pairs": [f"--head-dim={d} --head-dim-v={dv} {CAUSAL}"
                       for d, dv in ((192, 128), (192, 72), (184, 128), (72, 40), (64, 128), (104, 256))],
    "windows": [BOTH, BOTH + " --head-dim=64 --layout=bhsd", BOTH + " --head-dim=256",
                "--mask=window_top_left --bound=window_left --bound=window_right --head-dim=96",
                "--mask=window_top_left --bound=window_right", "--mask=window_bottom_right --bound=window_left --head-dim=64",
                CAUSAL + " --bound=window_left --head-dim=192 --head-dim-v=128", "--mask=causal_top_left --bound=window_left",
                "--mask=chunked_bottom_right --bound=chunk", "--mask=chunked_top_left --bound=chunk --head-dim=64",
                ],
    "regions": ["--score=softcap", f"--score=softcap {BOTH} --head-dim=64 --dtype=f16",
                f"--score=alibi {CAUSAL} --bound=window_left --region=documents",
                f"--score=alibi {BOTH} --region=documents --head-dim=64 --dtype=f16 --layout=bhsd",
                f"--score=softcap {CAUSAL} --bound=window_left --region=documents --head-dim=96"],
    "captures": [f"--head-dim=64 --score=alibi --slopes={slopes} --region=documents --ids={ids}"
                 for slopes, ids in (("f64", "i8"), ("f32", "ui8"), ("f64", "i16"), ("f32", "i64"))],
    "large_regions": [f"--score=alibi {CAUSAL} --bound=window_left --region=documents {dims}"
                      for dims in ("--head-dim=192", "--head-dim=192 --head-dim-v=128", "--head-dim=256",
                                   "--head-dim=200 --dtype=f16")],
}


def cases(group):
    return [case.split() for case in GROUPS[group]]


def name_of(case):
    return re.sub(r"[^a-z0-9]+", "_", " ".join(case)).strip("_") or "default"


def compile_case(case, compiler, path):
    source = path + ".mlir"
    with open(source, "w", encoding="utf-8") as file:
        file.write(attention_ir.write(attention_ir.parse(case)))
    return subprocess.run([compiler, source, "--emit=bundle", "-o", path], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)


def run_case(case, runner, bundle, device, random):
    """The output of the first run that failed, or None."""
    parsed = attention_ir.parse(case)
    d, captures = parsed.head_dim, attention_ir.scalar_options(parsed)
    problem = ["--check", "--guard"]
    runs = [[f"--q=1x131x2x{d}", f"--kv=1x197x1x{d}"] + problem,
            [f"--q=2x70x3x{d}", f"--kv=2x33x1x{d}", "--pad-strides"] + problem]
    runs += [[f"--random={random}"]] if random else []
    for options in runs:
        done = subprocess.run([runner, bundle, f"--device={device}"] + captures + options,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        if done.returncode != 0:
            return " ".join(done.args) + "\n" + done.stdout
    return None


def check_case(case, args, folder):
    """An error, or None."""
    bundle = os.path.join(args.bundles or folder, name_of(case) + ".attn")
    if not args.bundles:
        done = compile_case(case, os.path.join(args.build, "bin", "attn-compile"), bundle)
        if done.returncode != 0:
            return done.stdout
    if args.device == "none":
        return None
    return run_case(case, os.path.join(args.build, "bin", "attn-run"), bundle, args.device, args.random)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--device", default="sim", help="sim, cuda, or none to compile only")
    parser.add_argument("--group", choices=GROUPS, help="default: all")
    parser.add_argument("--random", type=int, default=0, help="random problems a case")
    parser.add_argument("--out", help="folder to keep bundles in")
    parser.add_argument("--bundles", help="folder to take bundles from")
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temp:
        if args.out:
            os.makedirs(args.out, exist_ok=True)
        for group in [args.group] if args.group else GROUPS:
            for case in cases(group):
                error = check_case(case, args, args.out or temp)
                passed += error is None
                failed += error is not None
                if error:
                    print(f"FAILED: {' '.join(case)}\n{error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
