# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every knob of a schedule is shown on docs/knobs.md, a variant among the ablations and a
coin flip of the random schedules, and the compiler refuses what it may not be."""

import os
import random
import re
import subprocess
import sys
import types
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "test")]
import coinflips
import make_ablations
import schedules

# Fields of the configuration that are not a choice on the machine for which schedules are drawn: CTAs that share a
# product, columns, which follow from the head dims, the rung of a ladder, and what only gradients have.
NO_CHOICE = {"cta_group", "tile_d", "tile_dv", "rung", "kept_p", "share_rows", "first_share"}
GENERATOR = schedules.of()


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def parameters_of(attribute):
    """The parameters of an attribute that the reference page lists."""
    section = re.search(rf"^### {attribute}$.*?(?=^### )", read("docs", "dialects", "attn.md"), re.M | re.S)[0]
    return re.findall(r"^\| (\w+) \| `", section, re.M)


def spelled(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def drawn_points(count=400):
    rng = random.Random(0)
    return [coinflips.draw_point(rng, False, GENERATOR) for _ in range(count)]


def entry_of(point):
    return GENERATOR.schedule("sm_90a", (64, 64), point, symbol="drawn")["entry"]


class Knobs(unittest.TestCase):
    def test_the_page_shows_every_parameter_and_word(self):
        shown = re.findall(r"^\| `(\w+)` \| `(\S+)` \|[^|]*(?:\\\|[^|]*)*\| test/", read("docs", "knobs.md"), re.M)
        self.assertEqual({name for name, _ in shown}, set(GENERATOR.parameters))
        for name, parameter in GENERATOR.parameters.items():
            with self.subTest(parameter=name):
                words = {spelled(value) for value in parameter.others()} if parameter.kind in ("word", "flag") else set()
                self.assertLessEqual(words, {value for each, value in shown if each == name})

    def test_every_parameter_is_changed_by_an_ablation(self):
        changed = {name for row in make_ablations.read_ablations() for name in row["change"]}
        self.assertEqual(changed, set(GENERATOR.parameters))

    def test_every_parameter_is_a_coin_flip(self):
        points = drawn_points()
        self.assertEqual([name for name in GENERATOR.parameters if len({point[name] for point in points}) < 2], [])

    def test_every_word_of_a_parameter_is_drawn(self):
        points = drawn_points()
        for name, parameter in GENERATOR.parameters.items():
            if parameter.words:
                with self.subTest(parameter=name):
                    self.assertEqual({point[name] for point in points}, set(parameter.words))

    def test_a_new_parameter_is_a_coin_flip(self):
        said = {"name": "hint", "default": 4, "values": "", "meaning": "", "kind": "number", "only": {}, "least": 4, "most": 9, "step": 1}
        generator = types.SimpleNamespace(parameters={**GENERATOR.parameters, "hint": schedules.Parameter(said)}, canonical=dict)
        rng = random.Random(0)
        self.assertEqual({coinflips.draw_point(rng, False, generator)["hint"] for _ in range(200)}, {4, 5})

    def test_variants_by_length_and_words_that_are_not_generated_are_drawn(self):
        flips = [coinflips.draw_flip(random.Random(seed), seed, GENERATOR).schedule for seed in range(60)]
        for words in ("when <seqlen_k at_most", "knob peel shifted_branch"):
            with self.subTest(words=words):
                self.assertTrue(0 < sum(words in text for text in flips) < len(flips))


class Dialect(unittest.TestCase):
    """Tests that the drawn schedules use everything that the attributes can state."""

    def setUp(self):
        self.text = "".join(map(entry_of, drawn_points()))

    def test_every_field_of_the_configuration_is_drawn(self):
        fields = parameters_of("ConfigAttr")
        self.assertGreater(len(fields), 10)
        self.assertEqual({field for field in fields if f"{field} = " not in self.text}, NO_CHOICE)

    def test_every_statement_is_drawn(self):
        statements = parameters_of("StatementsAttr")
        self.assertLessEqual({"exp2_soft", "peel", "skip", "launch"}, set(statements))
        self.assertEqual([name for name in statements if f"knob {name} " not in self.text], [])

    def test_every_word_is_drawn(self):
        for name in (*parameters_of("ConfigAttr"), *parameters_of("StatementsAttr")):
            parameter = GENERATOR.parameters.get(name)
            said = f"knob {name} " if name in parameters_of("StatementsAttr") else f"{name} = "
            missing = {word for word in (parameter and parameter.words) or () if said + word not in self.text}
            with self.subTest(parameter=name):
                self.assertLessEqual(missing, {parameter and parameter.default, "running"})

    def test_no_field_may_be_more_than_it_may(self):
        """For numbers that are no sizes: a schedule states what it is generated from."""
        for name in set(parameters_of("ConfigAttr")) & set(GENERATOR.parameters) - {"tile_n"}:
            parameter = GENERATOR.parameters[name]
            for value in (parameter.least - 1, parameter.most + 1) if parameter.kind in ("number", "power") else ():
                fields = {"tile_m": 256, "tile_n": 64, "work": "dynamic", "order": "longest_first", name: value}
                text = ", ".join(f"{key} = {each}" for key, each in fields.items())
                done = subprocess.run([schedules.beside("bin", "attn-opt")], input=f"module attributes {{a = #attn.config<{text}>}} {{}}",
                                      stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
                # A config may have any number where the generator has only powers.
                values = parameter.values if parameter.kind == "number" else f"a whole number in {parameter.least}..{parameter.most}"
                with self.subTest(parameter=name, value=value):
                    self.assertIn(f"expected '{name}' to be {values}, got {value}", done.stderr)

    def test_every_item_of_the_schedule_is_drawn(self):
        for item in ("split M ", "remat(", "chan kv = k | v", " free_implied", " scope cluster", " over q", " over v", "turn tc", "sync drain",
                     "edge o_free", "hold p = p in smem"):
            with self.subTest(item=item):
                self.assertIn(item, self.text)


if __name__ == "__main__":
    unittest.main()
