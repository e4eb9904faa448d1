# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A sample of the broken kernels of test/mutation: the simulator notices them.

The whole set is scripts/nightly's.
"""

import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JUDGE = os.path.join(ROOT, "test", "mutation", "judge.py")
sys.path.insert(0, os.path.dirname(JUDGE))
import judge
import runner


class SampleTest(unittest.TestCase):
    def test_most_broken_kernels_are_noticed(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-B", JUDGE, os.environ["ATTN_BUILD"], "--every=193", "--original-seeds=2",
                 "--seeds=4", "--min-rate=95", "--max-declared=16", "--min-mutants=60", f"--output={folder}"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        self.assertEqual(done.returncode, 0, done.stdout)


def mutant(**changes):
    return dict({"kernel": "k", "site": "wait.1", "operation": "drop", "id": "k:wait.1:drop", "before": "wait;",
                 "after": "", "by": "", "message": "", "reached": True, "seed": 0, "line": 1}, **changes)


class ClassifyTest(unittest.TestCase):
    def classify(self, entries, *mutants):
        equivalents = judge.Equivalents(entries)
        judge.classify(mutants, equivalents)
        equivalents.check_used(mutants)
        return [m["state"] for m in mutants], equivalents.errors

    def test_states(self):
        states, errors = self.classify([], mutant(), mutant(by="value"), mutant(by="crash"))
        self.assertEqual((states, errors), (["survived", "killed", "crashed"], []))

    def test_equivalent(self):
        entry = {"site": r"wait\..*", "reason": "redundant"}
        self.assertEqual(self.classify([entry], mutant()), (["equivalent"], []))

    def test_noticed_equivalent_is_an_error(self):
        states, errors = self.classify([{"reason": "redundant"}], mutant(by="value"))
        self.assertEqual(states, ["killed"])
        self.assertEqual(errors, ["k:wait.1:drop is declared 'redundant' and was noticed: wrong value"])

    def test_entry_that_a_run_decides(self):
        entry = {"reason": "redundant", "decided": True}
        states, errors = self.classify([entry], mutant(by="value"), mutant(), mutant(reached=False))
        self.assertEqual((states, errors), (["killed", "equivalent", "survived"], []))

    def test_entry_of_what_runs_once(self):
        entry = {"reason": "redundant", "once": True}
        states, _ = self.classify([entry], mutant(once=True), mutant(once=False))
        self.assertEqual(states, ["equivalent", "survived"])

    def test_entry_of_a_group_of_kernels(self):
        described = [{"name": "k", "loop_over": "keys"}, {"name": "other"}]
        equivalents = judge.Equivalents([{"kernels": ["gradients"], "reason": "redundant"}], described)
        self.assertEqual(equivalents.entries[0]["kernels"], ["k"])

    def test_entry_of_where_operands_come_from(self):
        entry = {"reason": "same-value", "from": r".*shr\.u32 .*, 26;"}
        states, _ = self.classify([entry], mutant(**{"from": "shr.u32 %r2, %r1, 26;"}), mutant(**{"from": ""}), mutant())
        self.assertEqual(states, ["equivalent", "survived", "survived"])

    def test_groups_of_masks_and_directions(self):
        described = [{"name": "f", "head_dim": 64}, {"name": "c", "loop_over": "keys", "gradients": {"mask": "causal_bottom_right"}},
                     {"name": "n", "loop_over": "keys", "gradients": {}}, {"name": "ptx"}]
        entries = [{"kernels": ["forward"], "reason": "redundant"}, {"kernels": ["causal"], "reason": "redundant"}]
        equivalents = judge.Equivalents(entries, described)
        self.assertEqual([entry["kernels"] for entry in equivalents.entries], [["f"], ["c"]])

    def test_entry_without_mutant_is_an_error(self):
        _, errors = self.classify([{"kernels": ["other"], "reason": "redundant"}], mutant())
        self.assertEqual(len(errors), 1)
        self.assertIn("no mutant fits", errors[0])

    def test_entry_of_kernels_that_are_absent_is_no_error(self):
        equivalents = judge.Equivalents([{"kernels": ["other"], "reason": "redundant"}])
        equivalents.check_used([mutant()], absent=["other"])
        self.assertEqual(equivalents.errors, [])

    def test_unknown_reason_is_an_error(self):
        _, errors = self.classify([{"reason": "because"}], mutant())
        self.assertIn("equivalents.json: unknown reason 'because'", errors)

    def test_unreached_needs_an_entry(self):
        states, _ = self.classify([], mutant(reached=False))
        self.assertEqual(states, ["survived"])
        states, _ = self.classify([{"reached": False, "reason": "unreachable"}], mutant(reached=False))
        self.assertEqual(states, ["unreached"])

    def test_killers(self):
        self.assertEqual(judge.killer(mutant(by="launch", message="x: races [race.shared]\n  more")), "race.shared")
        self.assertEqual(judge.killer(mutant(by="launch", message="deadlock: no warp")), "progress.deadlock")
        self.assertEqual(judge.killer(mutant(by="launch", message="[%r1] is bad")), "simulator error")
        self.assertEqual(judge.killer(mutant(by="guard")), "wrong place")

    def test_rate(self):
        mutants = [mutant(by="value"), mutant(), mutant(by="guard"), mutant(site="arrive.1")]
        judge.classify(mutants, judge.Equivalents([{"site": "arrive.1", "reason": "redundant"}]))
        tally = judge.Tally(mutants)
        self.assertEqual((tally.reached, tally.killed, tally.survived, tally.equivalent), (4, 2, 1, 1))
        self.assertAlmostEqual(tally.rate(), 200 / 3)


class KernelsTest(unittest.TestCase):
    def test_operands_are_traced(self):
        mutants = [mutant(site="mask.1", before="shr.u32 %r2, %r1, 26;"), mutant(site="mask.2", before="setp.lt.u32 %p1, %r2, %r9;"),
                   mutant(site="mask.3", before="selp.b32 %r4, %r2, 0, %p1;"), mutant(site="wait.1", before="mbarrier [%r2], %r4;")]
        definitions = runner.find_definitions(mutants)
        self.assertEqual([runner.find_sources(each, definitions) for each in mutants],
                         ["", "shr.u32 %r2, %r1, 26;", "shr.u32 %r2, %r1, 26; setp.lt.u32 %p1, %r2, %r9;", ""])

    def test_each_entry_of_gradients_is_broken(self):
        """Each entry of gradients in the table has a kernel that is broken; a run compares the names with its bundles."""
        broken = {each["entry"] for each in runner.load("kernels.json") if "entry" in each}
        folder = os.path.join(ROOT, "passes", "schedule", "data", "schedules", "sm_90a")
        table = {name[:-len(".mlir")] for name in os.listdir(folder) if name.startswith("bwd_")}
        self.assertEqual(table, broken)


if __name__ == "__main__":
    unittest.main()
