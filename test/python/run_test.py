# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How test/run.py counts."""

import io
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test"))
import run
import unittest_json


class Counting(unittest.TestCase):
    def setUp(self):
        self.tally = run.Tally()

    def test_lit(self):
        def test(code, output=""):
            return {"code": code, "name": f"attn :: {code}", "output": output}
        gpu = test("UNSUPPORTED", "Test requires the following unavailable features: gpu, sm_90")
        tool = test("UNSUPPORTED", "Test requires the following unavailable features: ptxas")
        codes = ("PASS", "XFAIL", "FAIL", "XPASS", "UNRESOLVED", "TIMEOUT")
        run.count_lit({"tests": [gpu, tool] + [test(c) for c in codes]}, self.tally, "lit")
        self.assertEqual(self.tally.total(), [2, 4, 2])
        self.assertEqual(self.tally.gpu_skipped, 1)
        self.assertEqual(self.tally.failures[0], "lit: attn :: FAIL (FAIL)")

    def test_gtest(self):
        def test(name, **more):
            return {"name": name, "status": "RUN", "result": "COMPLETED", **more}
        tests = [test("a"), test("b", failures=[{"failure": "x"}]), test("c", result="SKIPPED"),
                 test("d", status="NOTRUN", result="SUPPRESSED"),
                 test("e", result="SKIPPED", skipped=[{"message": "file.cpp:1\nneeds a GPU\n"}])]
        run.count_gtest({"testsuites": [{"name": "S", "testsuite": tests}]}, self.tally, "unit")
        self.assertEqual(self.tally.total(), [1, 1, 3])
        self.assertEqual(self.tally.failures, ["unit: S.b"])
        self.assertEqual((self.tally.gpu_skipped, self.tally.reasons["needs a GPU"]), (1, 1))

    def test_unittest(self):
        class Sample(unittest.TestCase):
            def test_passes(self):
                pass

            def test_fails_twice(self):
                for i in range(2):
                    with self.subTest(i=i):
                        self.fail("on purpose")

            @unittest.skip("needs a GPU")
            def test_is_skipped(self):
                pass

        result = unittest_json.Result(unittest.runner._WritelnDecorator(io.StringIO()), False, 0)
        unittest.defaultTestLoader.loadTestsFromTestCase(Sample).run(result)
        run.count_unittest(unittest_json.counts(result), self.tally, "python")
        self.assertEqual(self.tally.total(), [1, 1, 1])
        self.assertEqual(self.tally.gpu_skipped, 1)

    def test_a_run_that_leaves_no_results_is_a_failure(self):
        command = [sys.executable, "-c", "raise SystemExit(0)"]
        run.run_jobs([("unit", command, "/nonexistent/results.json", run.count_gtest)], "build", self.tally)
        self.assertEqual(self.tally.total(), [0, 1, 0])

    def test_a_status_that_no_test_explains_is_a_failure(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as results:
            results.write('{"passed": 1, "failed": [], "skipped": []}')
            results.flush()
            command = [sys.executable, "-c", "raise SystemExit(3)"]
            run.run_jobs([("python", command, results.name, run.count_unittest)], "build", self.tally)
        self.assertEqual(self.tally.total(), [1, 1, 0])
        self.assertIn("status 3", self.tally.failures[0])

    def test_what_a_reason_is_about(self):
        self.assertTrue(run.is_about_gpu("requires the following unavailable features: ptxas, sm_90"))
        self.assertFalse(run.is_about_gpu("requires the following unavailable features: ptxas"))


if __name__ == "__main__":
    unittest.main()
