# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A search on a GPU: killed after its first race, it resumes there, and its log leads to the same
decisions every time.

ATTN_BUILD is the build. Where it has no compiler, ATTN_BUNDLES is a folder with
tune_d64, which attn-tune --compile-only wrote for the space and example below. Needs
PyTorch.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import hardware
from bundles import BUILD, BUNDLES, ROOT, run

SPACE = {"head_dims": [64, 64], "products": [{"consumers": [2, 3], "tile_n": 64, "load_registers": 40, "work": ["grid", "dynamic"]},
                                             {"consumers": 1, "tile_n": 64, "overlap": "none", "row_max": "running"}]}
SHAPES = ("8x512x8", "4x1024x8", "2x2048x8/4")
TUNE = [sys.executable, os.path.join(ROOT, "tools", "attn-tune", "attn-tune")]


@unittest.skipUnless("sm_90" in hardware.gpus(), "needs a GPU of architecture sm_90")
class Search(unittest.TestCase):
    def setUp(self):
        self.temp = self.enterContext(tempfile.TemporaryDirectory())
        self.folder = os.path.join(self.temp, "tune_d64")
        self.log = os.path.join(self.folder, "log.jsonl")
        if BUNDLES:
            shutil.copytree(os.path.join(BUNDLES, "tune_d64"), self.folder)
            return
        space = os.path.join(self.temp, "space.json")
        with open(space, "w", encoding="utf-8") as file:
            json.dump(SPACE, file)
        self.tune(os.path.join(ROOT, "examples", "full_d64.mlir"), f"--space={space}", "--compile-only", f"--out={self.folder}",
                  f"--compiler={os.path.join(BUILD, 'bin', 'attn-compile')}")

    def command(self, *options):
        return [*TUNE, *options, f"--lib={os.path.join(BUILD, 'lib', 'libattn_runtime.so')}"]

    def measure(self):
        return self.command(f"--measure={self.folder}", f"--shapes={','.join(SHAPES)}", "--rounds=1", "--slice-ms=60")

    def tune(self, *options):
        done = run(self.command(*options))
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def records(self, kind):
        with open(self.log, encoding="utf-8") as file:
            return [record for record in map(json.loads, file) if record["record"] == kind]

    def kill_after_a_race(self):
        with subprocess.Popen(self.measure(), stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if line.startswith("[1/3]"):
                    process.send_signal(signal.SIGKILL)
        self.assertEqual(process.returncode, -signal.SIGKILL)

    def test_a_search_that_was_killed_goes_on(self):
        self.kill_after_a_race()
        measured = len({record["shape"] for record in self.records("time")})
        self.assertIn(measured, (1, 2))
        done = run(self.measure())
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"3 races, {measured} run before", done.stdout)
        times = self.records("time")
        compiled = [record["candidate"] for record in self.records("build") if record["ok"]]
        self.assertGreater(len(compiled), 4)
        self.assertEqual(sorted((t["candidate"], t["shape"]) for t in times), sorted((c, s) for c in compiled for s in SHAPES))
        self.assertEqual([t for t in times if not t["ok"] or t["ms"] <= 0], [])
        self.assertEqual({t["session"] for t in times}, {0, 1})
        self.assertIn("3 races, 3 run before", run(self.measure()).stdout)
        said = [self.tune(f"--replay={self.log}", f"--table={self.temp}/table{n}", "--margin=-1") for n in (0, 1)]
        self.assertEqual(said[0].replace("table0", "table1"), said[1])
        self.assertIn("fwd_d64_none: ", said[0])


if __name__ == "__main__":
    unittest.main()
