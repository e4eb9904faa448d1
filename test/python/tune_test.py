# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attn-tune, with made up compilers and measurements."""

import contextlib
import glob
import io
import json
import lzma
import os
import re
import sys
import tempfile
import types
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tools", "python"), os.path.join(ROOT, "tools", "attn-tune"), os.path.join(ROOT, "test", "Inputs", "tune")]
import made_up_times
import diagnostics
import schedules
from racing import session as sessions
from tune import build, decide, journal, main, measure, problem, space, table

GENERATOR = schedules.of()
PROBLEM = {"name": "fwd_d64_causal", "mask": "causal", "d": 64, "dv": 64, "dtype": "bf16", "source": "IR"}
DECLARED = {"head_dims": [64, 64], "products": [{"consumers": [2, 3, 4], "tile_n": 64}]}
RUN = {"record": "run", "format": 1, "time": "T", "target": "sm_90a", "space": DECLARED, "problems": [PROBLEM],
       "compiler": "c0ffee", "version": "0.1.0"}


def space_of(*products, **more):
    return space.Space({"head_dims": [64, 64], "products": list(products), **more}, "s.json", GENERATOR)


def candidates_of(declared):
    return space.enumerate_candidates(space.Space(declared, "s.json", GENERATOR), "sm_90a")[0]


def head_of_log():
    """The records of a search before anything is compiled."""
    records = [RUN, {"record": "candidate", "candidate": "table", "parameters": None, "schedule": ""}]
    return records + [{"record": "candidate", "candidate": c.name, "parameters": c.point, "schedule": c.entry}
                      for c in candidates_of(DECLARED)]


def compiled_log():
    head = head_of_log()
    return head + [{"record": "build", "candidate": r["candidate"], "problem": PROBLEM["name"], "ok": True, "schedule": "",
                    "resources": {}} for r in head if r["record"] == "candidate"]


def measured_log():
    """Three candidates: each a tenth faster than the one before, the first of them
    a tenth faster than the table's kernel."""
    head = compiled_log()
    return head + list(made_up_times.made_up(head))


def faster_when_long(name):
    """The same, but one is four times as fast at 16384 keys."""
    return [{**r, "ms": r["ms"] / 4} if r["record"] == "time" and r["candidate"].startswith(name) and "x16384x" in r["shape"] else r
            for r in measured_log()]


class Spaces(unittest.TestCase):
    def test_a_product_is_all_combinations_the_last_varying_fastest(self):
        found = space_of({"consumers": [2, 3], "tile_n": [64, 128]}).points()
        self.assertEqual([(p["consumers"], p["tile_n"]) for p in found], [(2, 64), (2, 128), (3, 64), (3, 128)])
        self.assertEqual([list(p) for p in found], [list(GENERATOR.parameters)] * 4)

    def test_a_space_is_the_union_of_its_products(self):
        found = space_of({"consumers": [2, 3]}, {"consumers": [3, 4]}, common={"tile_n": 96}).points()
        self.assertEqual([(p["consumers"], p["tile_n"]) for p in found], [(2, 96), (3, 96), (4, 96)])

    def test_points_of_one_schedule_are_one(self):
        for product, count in (({"order": "linear", "section_mib": [0, 16]}, 1), ({"k_depth": 3, "v_depth": [0, 3]}, 1),
                               ({"work": ["grid", "dynamic"], "work_depth": [1, 2]}, 3), ({"consumers": 1, "turn": [True, False]}, 1),
                               ({"exp2_soft": ["1/8", "2/16", "1/4"]}, 2), ({"exp2_degree": [3, 4]}, 1),
                               ({"work": "static", "row_max": ["running", "integer"]}, 1), ({"consumers": 1, "skip": ["none", "right"]}, 1),
                               ({"work": "dynamic", "cluster": [1, 2], "last_wave_parts": [1, 2]}, 3), ({"last_wave_parts": [1, 2]}, 1),
                               ({"overlap": "none", "turn": [True, False], "rescale": ["after_pv", "before_pv"]}, 1),
                               ({"stage_o": "over_v", "rings": ["apart", "one"]}, 1), ({"skip": "right", "rings": ["apart", "one"]}, 1)):
            with self.subTest(product=product):
                self.assertEqual(len(space_of(product).points()), count)

    def test_what_is_wrong_is_named_with_what_is_expected(self):
        def one(**product):
            return {"head_dims": [64, 64], "products": [product]}
        for declared, message in (
                ([], "s.json: expected an object, got []"),
                ({"products": [{}]}, "s.json: expected 'head_dims' to be two numbers, each a multiple of 8 in 8..256, got null"),
                ({"head_dims": [64, 100], "products": [{}]}, "got [64,100]"),
                ({"head_dims": [64, 64]}, "s.json: products: expected a list of objects, got null"),
                ({**one(), "blocks": 1}, 'expected "head_dims", "common" or "products", got "blocks"'),
                (one(tile_n=[64, 100]), "s.json: products[0]: expected 'tile_n' to be a multiple of 16 in 16..256, got 100"),
                (one(tile_n=True), "products[0]: expected 'tile_n' to be a multiple of 16 in 16..256, got true"),
                (one(work="fast"), "products[0]: expected 'work' to be \"grid\" or \"static\" or \"dynamic\", got \"fast\""),
                (one(turn=1), "products[0]: expected 'turn' to be true or false, got 1"),
                (one(exp2_soft="3/2"), "products[0]: expected 'exp2_soft' to be a share as \"1/8\", got \"3/2\""),
                (one(consumers=[]), "products[0].consumers: expected at least one value, got []"),
                (one(pack_gqa=12), "products[0]: expected 'pack_gqa' to be a power of two up to 64, got 12"),
                (one(tilen=64), "products[0]: expected a parameter of consumers, tile_n, "),
                ({**one(tile_n=64), "common": {"tile_n": 64}}, 'products[0]: expected no parameter of "common", got "tile_n"')):
            with self.subTest(message=message), self.assertRaises(space.SpaceError) as caught:
                self.assertIsNone(space.Space(declared, "s.json", GENERATOR))
            self.assertIn(message, str(caught.exception))

    def test_a_file_that_names_a_parameter_twice_is_refused(self):
        with tempfile.TemporaryDirectory() as temp:
            path = os.path.join(temp, "s.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write('{"head_dims": [64, 64], "products": [{"tile_n": 64, "tile_n": 128}]}')
            with self.assertRaisesRegex(space.SpaceError, '"tile_n" stands twice'):
                self.assertIsNone(space.read(path, GENERATOR))
            with self.assertRaisesRegex(space.SpaceError, "No such file"):
                self.assertIsNone(space.read(path + ".none", GENERATOR))

    def test_the_default_spaces(self):
        paths = sorted(glob.glob(os.path.join(main.SPACES, "*.json")))
        self.assertEqual(len(paths), 13)
        for path in paths:
            with self.subTest(path=os.path.basename(path)):
                found = space.read(path, GENERATOR)
                candidates, without = space.enumerate_candidates(found, "sm_90a")
                self.assertEqual(without, [])
                self.assertEqual(len({c.name for c in candidates}), len(candidates))
                # What can be measured in minutes.
                self.assertTrue(20 <= len(candidates) <= 120, len(candidates))

    def test_the_default_spaces_vary_every_parameter(self):
        values = {name: set() for name in GENERATOR.parameters}
        for path in glob.glob(os.path.join(main.SPACES, "*.json")):
            for point in space.read(path, GENERATOR).points():
                for name, value in point.items():
                    values[name].add(value)
        self.assertEqual([name for name, found in values.items() if len(found) < 2], [])


class Registers(unittest.TestCase):
    def shares(self, consumers, least, machine="sm_90a"):
        made = GENERATOR.schedule(machine, (64, 64), {"consumers": consumers, "load_registers": least})
        return made.get("registers", made.get("refused"))

    def test_the_register_file_is_shared_out(self):
        for consumers, least, shares in ((1, 24, [24, 232]), (1, 40, [40, 216]), (1, 240, [240, 256]), (2, 24, [24, 240]), (2, 32, [40, 232]), (2, 40, [40, 232]),
                                         (3, 24, [32, 160]), (4, 32, [32, 112]), (5, 24, [40, 88])):
            with self.subTest(consumers=consumers, least=least):
                self.assertEqual(self.shares(consumers, least), shares)

    def test_a_machine_with_other_registers(self):
        path = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "poor.mlir")
        with open(os.path.join(ROOT, "passes", "schedule", "data", "machines", "sm_90a.mlir"), encoding="utf-8") as file:
            text = file.read().replace('"sm_90a"', '"poor"').replace("lowest = 24", "lowest = 40")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self.assertEqual(self.shares(7, 200, path), [232, 40])
        self.assertEqual(self.shares(7, 256, path), "not enough registers for 7 consumers")
        found, refused = space.enumerate_candidates(space_of({"consumers": 7, "load_registers": [200, 256]}), path)
        self.assertEqual((len(found), [each["name"] for each in refused]), (1, ["w7_n128_q1k2v2_grid_linear_first_load256"]))
        self.assertIn('machine "poor"', found[0].entry)

    def test_points_that_share_alike_are_one_candidate(self):
        found, _ = space.enumerate_candidates(space_of({"consumers": 3, "load_registers": [24, 32]}), "sm_90a")
        self.assertEqual(len(found), 1)

    def test_an_unknown_machine_is_named(self):
        with self.assertRaisesRegex(schedules.ScheduleError, "expected a target among .*'sm_90a', got 'sm_1'"):
            self.assertIsNone(self.shares(2, 24, "sm_1"))


class Candidates(unittest.TestCase):
    def entry_of(self, candidate, symbol, dims, **head):
        return GENERATOR.schedule("sm_90a", dims, candidate.point, symbol=symbol, **head)["entry"]

    def entry_of_table(self, name):
        """The last entry of a file, which serves what those before it do not, without the machines that share it."""
        with open(os.path.join(ROOT, "passes", "schedule", "data", "schedules", "sm_90a", name + ".mlir"), encoding="utf-8") as file:
            text = re.sub(r" machines \[[^]]*\]", "", file.read())
        return text[text.rindex("attn.table_entry"):]

    def test_a_point_becomes_the_text_of_the_table(self):
        general = {"work": "dynamic", "work_depth": 1, "order": "longest_first", "section_mib": 32, "q_depth": 2,
                   "load_registers": 40, "skip": "right"}
        for name, dims, product in (("fwd_d128", [128, 128], {}), ("fwd_d64", [64, 64], {"k_depth": 4}),
                                    ("fwd_d96", [96, 96], {})):
            with self.subTest(name=name):
                made, = candidates_of({"head_dims": dims, "products": [{**general, **product}]})
                self.assertEqual(self.entry_of(made, name, dims), self.entry_of_table(name))

    def test_pairs_of_ctas_and_o_over_v_as_in_the_table(self):
        made, = candidates_of({"head_dims": [192, 128], "products": [
            {"consumers": 2, "load_registers": 40, "stage_o": "over_v", "storer": "warp", "cluster": 2, "work": "dynamic", "work_depth": 1}]})
        path = os.path.join(ROOT, "passes", "schedule", "data", "schedules", "sm_90a", "fwd_d192_dv128.mlir")
        with open(path, encoding="utf-8") as file:
            self.assertIn(self.entry_of(made, "fwd_d192_dv128_none", dims=(192, 128), masks=["none"]), file.read())

    def test_names_are_symbols_and_tell_candidates_apart(self):
        values = {"consumers": [1, 2], "tile_n": [64, 128], "load_registers": [24, 56], "loaders": [1, 2],
                  "k_depth": [1, 2], "v_depth": [1, 2], "rings": ["apart", "one"], "q_depth": [1, 2],
                  "stage_o": ["own", "over_q", "over_v"], "storer": ["consumers", "warp"],
                  "stage_p": ["reg", "smem"], "cluster": [1, 2], "pack_gqa": [1, 2],
                  "work": ["grid", "static", "dynamic"], "work_depth": [1, 2], "last_wave_parts": [1, 2],
                  "order": ["linear", "longest_first", "shortest_last"], "section_mib": [0, 16], "launch": ["alone", "dependent"],
                  "overlap": ["qk_first", "pv_first", "none"], "rescale": ["after_pv", "before_pv"],
                  "row_max": ["running", "first_block", "integer"], "rescale_threshold": [0, 8], "exp2_soft": ["0/1", "1/8"],
                  "exp2_degree": [3, 4], "peel": ["first", "first_masked"], "skip": ["none", "right"], "turn": [True, False]}
        values = {**{name: [each.default, *each.others()] for name, each in GENERATOR.parameters.items()}, **values}
        for name, both in values.items():
            others = {"work": "dynamic", "order": "longest_first", "exp2_soft": "1/2", **GENERATOR.needs(name)}
            with self.subTest(name=name):
                names = [c.name for c in candidates_of({"head_dims": [64, 64], "products": [{**others, name: both}]})]
                self.assertEqual(len(set(names)), len(both))
                for each in names:
                    self.assertRegex(each, r"^[a-z][a-z0-9_]*$")


class Refusals(unittest.TestCase):
    def test_kinds(self):
        """What the compiler says of its error and of the first note; other lines are those of the system."""
        def said(**more):
            return json.dumps({"severity": "error", "message": "expected 5, got 6", "notes": [], "reason": "other", **more})

        remark = json.dumps({"severity": "remark", "message": "a decision", "notes": []})
        for messages, kind, text in (
                (remark + "\n" + said(reason="V13"), "V13", "expected 5, got 6"),
                (said(reason="spill", notes=["ptxas: 8 bytes", "ptxas: 9 bytes"]), "spill", "expected 5, got 6; ptxas: 8 bytes"),
                ("Segmentation fault", "other", "Segmentation fault"), ("", "other", "no message"), (remark, "other", "no message")):
            with self.subTest(kind=kind):
                self.assertEqual(diagnostics.reason_of(messages), {"kind": kind, "text": text})


class Logs(unittest.TestCase):
    def setUp(self):
        self.temp = self.enterContext(tempfile.TemporaryDirectory())
        self.path = os.path.join(self.temp, "log.jsonl")

    def put(self, text):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def test_a_line_cut_short_is_left_out_and_written_over(self):
        whole = "".join(json.dumps(record) + "\n" for record in head_of_log())
        self.put(whole + '{"record": "build", "candi')
        log = journal.Journal(self.path)
        self.assertEqual((len(log.view.candidates), log.view.builds), (4, {}))
        log.write({"record": "left_out", "candidate": "x", "problem": "y", "note": "z"})
        log.close()
        self.assertEqual(len(journal.read(self.path)), len(head_of_log()) + 1)

    def test_what_is_no_log_is_refused(self):
        for text, message in (("{}\n", "log.jsonl:1: expected an object with \"record\""), ("[]\n", "log.jsonl:1: "),
                              ('{"record": "run", "format": 2}\n', 'starts with a "run" of format 1'), ("", "without one whole record"),
                              (json.dumps(RUN) + '\n{"record": "song"}\n', "of a known kind, got 'song'")):
            with self.subTest(message=message), self.assertRaises(journal.JournalError) as caught:
                self.put(text)
                self.assertIsNone(journal.View(journal.read(self.path)))
            self.assertIn(message, str(caught.exception))

    def test_of_two_records_the_later_holds(self):
        view = journal.View(measured_log())
        first = next(iter(view.times.values()))
        view.add({**first, "ms": 7.0})
        self.assertEqual(next(iter(view.times.values()))["ms"], 7.0)

    def test_a_log_of_another_search_is_refused(self):
        log = journal.Journal(self.path)
        folder = build.Folder(self.temp)
        main.start(log, folder, RUN, candidates_of(DECLARED))
        main.start(log, folder, {**RUN, "time": "later"}, candidates_of(DECLARED))
        self.assertEqual(len(log.view.candidates), 4)
        for key in ("space", "target", "compiler", "problems"):
            with self.subTest(key=key), self.assertRaisesRegex(journal.JournalError, f"another {key}; give another --out"):
                main.start(log, folder, {**RUN, key: [{**PROBLEM, "source": "other IR"}]}, [])
        first = candidates_of(DECLARED)[0]
        with self.assertRaisesRegex(journal.JournalError, f"expected '{first.name}' to be the schedule that it is now"):
            main.start(log, folder, RUN, [first._replace(entry=first.entry.replace("first_branch", "first_masked"))])
        log.close()


class Building(unittest.TestCase):
    """Compiling with a made up compiler."""

    def setUp(self):
        self.folder = build.Folder(self.enterContext(tempfile.TemporaryDirectory()))
        self.calls, self.said = [], []

    def compile(self, source, output, schedule=None):
        self.calls.append(os.path.basename(os.path.dirname(output)))
        if len(self.calls) == self.stop_at:
            raise KeyboardInterrupt
        return {"kind": "V13", "text": "too many"} if self.calls[-1].startswith("w3") else None

    def build(self, stop_at=0):
        self.stop_at = stop_at
        log = journal.Journal(self.folder.log())
        self.addCleanup(log.close)
        main.start(log, self.folder, RUN, candidates_of(DECLARED))
        plan = {"variants": [{"schedule": "S", "report": {"threads": 384}}]}
        made = build.build_all(log, self.folder, types.SimpleNamespace(compile=self.compile), lambda path: plan, 1, self.said.append)
        return made, log.view

    def test_refused_candidates_are_logged_and_dropped(self):
        made, view = self.build()
        self.assertEqual(made, 3)
        self.assertEqual([c[:2] for c in view.compiled(PROBLEM["name"])], ["ta", "w2", "w4"])
        refused, = (b for b in view.builds.values() if not b["ok"])
        self.assertEqual((refused["candidate"][:2], refused["reason"]["kind"]), ("w3", "V13"))
        self.assertEqual(next(iter(view.builds.values()))["resources"], {"threads": 384})

    def test_a_second_run_compiles_what_the_first_did_not(self):
        with self.assertRaises(KeyboardInterrupt):
            self.assertIsNone(self.build(stop_at=3))
        before = len(journal.View(journal.read(self.folder.log())).builds)
        self.assertEqual(before, 2)
        self.calls.clear()
        made, view = self.build()
        self.assertEqual((made, len(self.calls), len(view.builds)), (3, 2, 4))
        self.calls.clear()
        self.assertEqual((self.build()[0], self.calls), (3, []))


class Shapes(unittest.TestCase):
    def test_names_of_grids_and_lists(self):
        self.assertEqual(problem.parse_shapes("quick"), [(16, 1024, None, None), (4, 4096, None, None), (1, 16384, None, None)])
        self.assertEqual(problem.parse_shapes("2x512x16,1x64x32/8"), [(2, 512, 16, 16), (1, 64, 32, 8)])
        for text in ("", "2x512", "2x512x16,", "0x512x16", "2x512x6/4", "axbxc", "paper,quick"):
            with self.subTest(text=text), self.assertRaisesRegex(problem.ProblemError, "BATCHxSEQLENxHEADS"):
                self.assertIsNone(problem.parse_shapes(text))

    def test_points(self):
        point = problem.at_shape(PROBLEM, (3, 512, 32, 8))
        self.assertEqual((point.batch, point.seqlen, point.heads, point.kv_heads, point.causal), (3, 512, 32, 8, True))
        self.assertEqual(problem.shape_name(point), "3x512x32/8")
        self.assertEqual(problem.shape_name(problem.at_shape(PROBLEM, (16, 1024, None, None))), "16x1024x32")

    def test_problems_that_cannot_be_measured_are_refused(self):
        def plan(roles=(), **problem):
            return {"args": [{"role": role} for role in ("query", "key", "value", "scale", "output", "lse", *roles)],
                    "problem": {"kind": "fwd", "dtype": "f16", "head_dim": 192, "head_dim_v": 128, "layout": "bshd", "mask": "causal_top_left",
                                "score_region": "none", "mask_region": "none", **problem}}

        self.assertEqual(problem.name_of(problem.point_of(plan())), "fwd_fp16_d192x128_causal")
        for wrong, message in ((plan(mask="window_top_left"), "without windows"), (plan(["capture"]), "lse, capture"),
                               (plan(layout="bhsd"), "layout is bshd, got bhsd"), (plan(kind="bwd"), "kind is fwd, got bwd"),
                               (plan(score_region="custom"), "score_region is none, got custom")):
            with self.subTest(message=message), self.assertRaisesRegex(problem.ProblemError, message):
                self.assertIsNone(problem.point_of(wrong))

    def test_an_entry_is_tried_on_all_that_it_says_it_serves(self):
        sources = problem.served_sources(PROBLEM)
        self.assertEqual(len(sources), 3 * 2 * 2)
        self.assertIn("window_left(%left)", sources["f16_window"])
        self.assertIn("mask(causal_top_left)", sources["bf16_causal_top_left_softcap"])


class Racing(unittest.TestCase):
    """Measuring, with a made up GPU: candidates with more consumers are faster."""

    SHAPES = [(2, 512, 4, 4), (1, 1024, 4, 4)]

    def setUp(self):
        self.folder = build.Folder(self.enterContext(tempfile.TemporaryDirectory()))
        self.raced, self.said, self.restarts, self.broken = [], [], 0, {}
        with open(self.folder.log(), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in compiled_log())
        self.enterContext(mock.patch.object(sessions, "Session", self.session))
        self.enterContext(mock.patch.object(sessions, "measure", self.measure))

    def session(self, torch, settings, variants):
        return types.SimpleNamespace(torch=torch, settings=settings, environment={"gpu": "G"}, broken=self.broken, variants=variants)

    def measure(self, session, point):
        self.raced.append((point.batch, point.seqlen))
        lines = []
        for name, bundles in session.variants.items():
            if name in session.broken:
                continue
            self.assertEqual(bundles, [self.folder.bundle(name, PROBLEM["name"])])
            skipped = session.settings.skipped.get((name, point.family))
            if name.startswith("w4") and point.seqlen == self.hangs_at and not skipped:
                raise sessions.Fatal(name, point, "did not end within 10 s")
            ms = 0.0 if skipped else 1 / (int(name[1]) if name != "table" else 1)
            lines.append({"contender": name, "ms": ms, "min_ms": ms, "max_ms": ms, "rounds": 3, "tflops": 1.0, "ghz": 1.5,
                          "ok": not skipped, "note": skipped or "", "other": 1})
        return lines

    def race(self, hangs_at=0, **more):
        self.hangs_at = hangs_at
        args = main.parse_arguments(["--measure", self.folder.path, "--lib=L", "--rounds=4", "--slice-ms=100"])
        log = journal.Journal(self.folder.log())
        torch = types.SimpleNamespace(manual_seed=lambda seed: None)

        def restart():
            self.restarts += 1
        measure.race_all(log, self.folder, args, self.SHAPES, torch, restart, self.said.append, **more)
        log.close()
        return log.view

    def test_every_candidate_at_every_shape(self):
        view = self.race()
        self.assertEqual(self.raced, [(2, 512), (1, 1024)])
        self.assertEqual(len(view.times), 4 * 2)
        time = view.times["table", PROBLEM["name"], "2x512x4"]
        self.assertEqual((time["ms"], time["session"], "other" in time), (1.0, 0, False))
        self.assertEqual(view.sessions[0]["settings"], {"rounds": 4, "slice_ms": 100.0, "drop": 0.9, "seed": 0})
        self.assertTrue(decide.decide(view, 0.01)[0].winner.startswith("w4"))

    def test_a_second_run_has_nothing_left(self):
        self.race()
        self.raced.clear()
        self.assertEqual((len(self.race().sessions), self.raced), (1, []))

    def test_a_race_whose_records_were_cut_is_run_again(self):
        self.race()
        with open(self.folder.log(), "r+b") as file:
            file.truncate(os.path.getsize(self.folder.log()) - 20)
        self.raced.clear()
        view = self.race()
        self.assertEqual((self.raced, len(view.sessions), len(view.times)), ([(1, 1024)], 2, 8))

    def test_a_candidate_that_hangs_is_left_out_from_there_on(self):
        self.race(hangs_at=1024)
        self.assertEqual((self.restarts, self.raced), (1, [(2, 512), (1, 1024)]))
        view = self.race(hangs_at=1024)
        self.assertEqual((self.restarts, self.raced[2:]), (1, [(1, 1024)]))
        decision, = decide.decide(view, 0.01)
        self.assertTrue(decision.winner.startswith("w3"))
        self.assertEqual(list(decision.excluded.values()), ["left out: did not end within 10 s"])

    def test_a_bundle_that_cannot_be_loaded_is_a_result(self):
        name = candidates_of(DECLARED)[2].name
        self.broken = {name: "status 3: checksum"}
        decision, = decide.decide(self.race(), 0.01)
        self.assertEqual((decision.excluded, decision.winner[:2]), ({name: "at 2x512x4: status 3: checksum"}, "w3"))


class Deciding(unittest.TestCase):
    def decide(self, records, margin=0.01):
        decision, = decide.decide(journal.View(records), margin)
        return decision

    def changed(self, name, **more):
        return [{**r, **more} if r["record"] == "time" and r["candidate"].startswith(name) else r for r in measured_log()]

    def test_the_fastest_on_the_geometric_mean_wins(self):
        decision = self.decide(measured_log())
        self.assertEqual([s.name[:2] for s in decision.ranking], ["w4", "w3", "w2", "ta"])
        self.assertEqual(decision.winner[:2], "w4")
        self.assertAlmostEqual(decision.gain(), 0.9**-3)
        self.assertAlmostEqual(decision.ranking[1].mean, 0.9)
        self.assertAlmostEqual(decision.ranking[0].spread, 0.02)

    def test_the_tables_kernel_stays_unless_it_is_beaten_by_the_margin(self):
        self.assertIsNone(self.decide(measured_log(), margin=0.4).winner)
        self.assertIn("1.400 is asked for", self.decide(measured_log(), margin=0.4).verdict())
        first = self.decide(self.changed("table", ms=0.1))
        self.assertIsNone(first.winner)
        self.assertIn("no candidate is faster", first.verdict())

    def test_who_is_wrong_at_one_shape_cannot_win(self):
        decision = self.decide(self.changed("w4", ok=False, note="O is not finite everywhere"))
        self.assertEqual(decision.winner[:2], "w3")
        self.assertIn("at 16x1024x32: O is not finite everywhere", list(decision.excluded.values()))

    def test_who_was_wrong_on_the_simulator_or_serves_less_cannot_win(self):
        for record in ({"record": "check", "shape": "1x300x2", "note": "LSE wrong"}, {"record": "verify", "note": "does not serve"}):
            with self.subTest(record=record["record"]):
                name = self.decide(measured_log()).winner
                decision = self.decide(measured_log() + [{**record, "candidate": name, "problem": PROBLEM["name"], "ok": False}])
                self.assertEqual(decision.winner[:2], "w3")
                self.assertIn(record["note"], decision.excluded[name])

    def test_ranges_of_lengths_have_winners_of_their_own(self):
        view = journal.View(faster_when_long("w3"))
        short, long = decide.decide(view, 0.01, (1024,))
        self.assertEqual((short.shapes, short.winner[:2]), (["16x1024x32"], "w4"))
        self.assertEqual((long.shapes, long.winner[:2]), (["1x16384x32"], "w3"))
        self.assertIn("fwd_d64_causal, up to 1024 keys: ", short.lines()[0])
        self.assertIn("fwd_d64_causal, above 1024 keys: ", long.lines()[0])

    def test_there_is_one_decision_where_the_table_is_faster_in_a_range_or_one_was_not_measured(self):
        for records, split in ((faster_when_long("table"), (1024,)), (measured_log(), (512,)), (measured_log(), (32768,))):
            with self.subTest(split=split):
                decision, = decide.decide(journal.View(records), 0.01, split)
                self.assertEqual(len(decision.shapes), 2)

    def test_shapes_that_were_not_finished_do_not_count(self):
        decision = self.decide(measured_log()[:-1])
        self.assertEqual(decision.shapes, ["16x1024x32"])
        self.assertEqual(self.decide(compiled_log()).verdict(), "nothing was measured")

    def test_a_log_replayed_gives_the_same_decisions(self):
        with tempfile.TemporaryDirectory() as temp:
            path = os.path.join(temp, "log.jsonl")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(record) + "\n" for record in measured_log())
            texts = []
            for _ in range(2):
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    self.assertEqual(main.main(["--replay", path]), 0)
                texts.append(out.getvalue())
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(texts[0].splitlines(), self.decide(measured_log()).lines())


class Tables(unittest.TestCase):
    def test_an_entry_says_where_it_comes_from(self):
        view = journal.View(measured_log())
        (name, text), = table.tables(view, decide.decide(view, 0.01), GENERATOR).items()
        self.assertEqual(name, "fwd_d64_causal.mlir")
        comment = " ".join(line[3:] for line in text.splitlines() if line.startswith("//"))
        for part in ("Measured 2026-01-02 on a made up GPU (driver 1.2, 700.00 W), 3 rounds of slices of 80 ms.",
                     "fwd_d64_causal: 1.372 times as fast as the table's kernel before (1.372 to 1.372 by shape).",
                     "first of 4 at 16x1024x32, 1x16384x32; the next of them, w3_n64_q1k2v2_grid_linear_first, has 0.900 of its speed.",
                     "Rounds of a shape lie at most 2.0% apart.", "compiler c0ffee, attn 0.1.0."):
            self.assertIn(part, comment)
        self.assertIn('masks ["causal_top_left", "causal_bottom_right", "window"]\n    config <tile_m = 256, ', text)
        self.assertLessEqual(max(len(line) for line in text.splitlines() if line.startswith("//")), 88)

    def test_an_entry_beside_one_for_the_rest_serves_what_was_measured(self):
        view = journal.View(measured_log())
        (name, text), = table.tables(view, decide.decide(view, 0.01), GENERATOR, "measured").items()
        self.assertEqual(name, "fwd_d64_causal.mlir")
        self.assertIn('@fwd_d64_causal head_dim 64, 64\n    masks ["causal_top_left", "causal_bottom_right"]\n    config', text)

    def test_each_range_of_lengths_has_an_entry(self):
        view = journal.View(faster_when_long("w3"))
        (name, text), = table.tables(view, decide.decide(view, 0.01, (1024,)), GENERATOR).items()
        self.assertEqual(name, "fwd_d64_causal.mlir")
        first, second = text.split("attn.table_entry")[1:]
        self.assertIn("@fwd_d64_causal_1024 ", first)
        self.assertIn('"window"]\n    when <seqlen_k at_most 1024>\n    config <tile_m = 256, ', first)
        self.assertIn("@fwd_d64_causal ", second)
        self.assertIn('"window"]\n    config <tile_m = 192, ', second)

    def test_neighbours_with_the_same_winner_are_one_entry(self):
        view = journal.View(measured_log())
        split, whole = (table.tables(view, decide.decide(view, 0.01, bounds), GENERATOR) for bounds in ((1024,), ()))
        self.assertEqual([text.count("attn.table_entry") for text in split.values()], [1])
        self.assertEqual([text.count("when <") for text in split.values()], [0])
        self.assertEqual(list(split), list(whole))

    def test_windows_are_served_by_the_causal_winner_alone(self):
        for words, others, masks in ((["none"], [], ["none", "window"]), (["none"], ["causal"], ["none"]),
                                     (["causal"], ["none"], ["causal_top_left", "causal_bottom_right", "window"])):
            with self.subTest(words=words, others=others):
                self.assertEqual(table.masks_of(words, others, "all"), masks)

    def test_a_compressed_log_is_read(self):
        with tempfile.TemporaryDirectory() as temp:
            path = os.path.join(temp, "log.jsonl.xz")
            with lzma.open(path, "wt", encoding="utf-8") as file:
                file.writelines(json.dumps(record) + "\n" for record in measured_log())
            self.assertEqual(len(journal.read(path)), len(measured_log()))

    def test_an_entry_has_the_schedule_that_was_measured(self):
        """The schedule of the log, even if the log is from a time when schedules had fewer parameters and more
        masks."""
        older = [{**r, "parameters": r["parameters"] and {k: v for k, v in r["parameters"].items() if k != "peel"},
                  "schedule": r["schedule"].replace("first_branch", "first_masked").replace('"window"]', '"window", "pointwise_region"]')}
                 if r["record"] == "candidate" else r for r in measured_log()]
        then, now = (table.tables(view, decide.decide(view, 0.01), GENERATOR) for view in map(journal.View, (older, measured_log())))
        self.assertEqual(then, {file: text.replace("first_branch", "first_masked") for file, text in now.items()})
        self.assertNotEqual(then, now)

    def test_what_is_found_on_one_machine_leaves_the_entries_of_another_alone(self):
        records = {target: json.loads(json.dumps(measured_log()).replace("sm_90a", target)) for target in ("sm_90a", "sm_90b")}
        with tempfile.TemporaryDirectory() as temp:
            paths = {}
            for target, found in records.items():
                view = journal.View(found)
                paths[target], = table.write(view, decide.decide(view, 0.01), temp, "all", GENERATOR, lambda text: None)
            self.assertEqual({target: os.path.relpath(path, temp) for target, path in paths.items()},
                             {target: f"{target}/fwd_d64_causal.mlir" for target in records})
            for target, path in paths.items():
                with open(path, encoding="utf-8") as file:
                    self.assertIn(f'schedule <"fwd_d64_causal" machine "{target}" {{', file.read())

    def test_machines_that_shared_an_entry_are_named(self):
        view, said = journal.View(measured_log()), []
        with tempfile.TemporaryDirectory() as temp:
            path, = table.write(view, decide.decide(view, 0.01), temp, "all", GENERATOR, said.append)
            with open(path, encoding="utf-8") as file:
                shared = file.read().replace('"window"]', '"window"] machines ["other"]')
            with open(path, "w", encoding="utf-8") as file:
                file.write(shared)
            table.write(view, decide.decide(view, 0.01), temp, "all", GENERATOR, said.append)
        self.assertEqual(said, [f"wrote {path}", f'{path} was for other too; the new entries are not', f"wrote {path}"])

    def test_where_the_table_stays_nothing_is_written(self):
        view = journal.View(measured_log())
        self.assertEqual(table.tables(view, decide.decide(view, 0.5), GENERATOR), {})

    def test_a_winner_that_does_not_serve_its_masks_gives_way(self):
        with tempfile.TemporaryDirectory() as temp:
            folder = build.Folder(temp)
            with open(folder.log(), "w", encoding="utf-8") as file:
                file.writelines(json.dumps(record) + "\n" for record in measured_log())
            log = journal.Journal(folder.log())

            def compile(source, output, schedule):
                return {"kind": "spill", "text": "spills"} if "w4" in os.path.basename(schedule) and "window" in source else None
            compiler = types.SimpleNamespace(compile=compile)
            decision, = table.verified_decisions(log, folder, compiler, 0.01, (), lambda text: None)
            log.close()
            self.assertEqual(decision.winner[:2], "w3")
            replayed, = decide.decide(journal.View(journal.read(folder.log())), 0.01)
            self.assertEqual((replayed.winner, replayed.lines()), (decision.winner, decision.lines()))


class Arguments(unittest.TestCase):
    def test_what_does_not_go_together_is_refused(self):
        for argv, message in (([], "expected IN.mlir to compile, got none"), (["a.mlir"], "expected --out=DIR, got none"),
                              (["--measure=D", "a.mlir"], "expected no IN.mlir here, got a.mlir"),
                              (["--measure=D", "--slice-ms=20"], "expected --slice-ms in 60..150, got 20"),
                              (["--measure=D", "--drop=2"], "expected --drop in 0..1, got 2"),
                              (["--measure=D", "--rounds=0"], "at least 1"),
                              (["--measure=D", "--replay=L"], "not allowed with argument")):
            with self.subTest(argv=argv), contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit):
                self.assertIsNone(main.parse_arguments(argv))
            self.assertIn(message, err.getvalue())

    def test_a_folder_without_a_log_is_refused(self):
        with tempfile.TemporaryDirectory() as temp:
            with contextlib.redirect_stderr(io.StringIO()) as err:
                self.assertEqual(main.main(["--measure", temp]), 1)
            self.assertIn("expected the log of a search, got none", err.getvalue())
            self.assertEqual(os.listdir(temp), [])

    def test_failures_are_one_line(self):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(main.main(["--replay", "/nowhere/log.jsonl"]), 1)
        self.assertRegex(err.getvalue(), r"^attn-tune: error: .*/nowhere/log.jsonl'\n$")


if __name__ == "__main__":
    unittest.main()
