# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every knob of a schedule is a parameter of attn-tune's spaces, a row of docs/knobs.md, a
variant among the ablations and a coin flip of the random schedules."""

import os
import random
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "test")]
import coinflips
import make_ablations
import schedules

# Of the configuration, what is no choice on the machine that schedules are drawn for: CTAs
# that share a product, columns, which follow from the head dims, and the rung of a ladder.
NO_CHOICE = {"cta_group", "tile_d", "tile_dv", "rung"}
# Of the words, what has no lowering.
NO_LOWERING = {"peel none"}
GENERATOR = schedules.of()


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def words_of(enum):
    """The words of an enumeration of the dialect."""
    text = re.search(rf"def Attn_{enum} :.*?\]>;", read("include", "attn", "dialect", "AttnEnums.td"), re.S)[0]
    return re.findall(r'I32EnumAttrCase<"\w+", \d+, "(\w+)">', text)


def drawn_points(count=400):
    rng = random.Random(0)
    return [coinflips.draw_point(rng, False, GENERATOR) for _ in range(count)]


def entry_of(point):
    return GENERATOR.schedule("sm_90a", (64, 64), point, symbol="drawn")["entry"]


class Knobs(unittest.TestCase):
    def test_the_page_has_every_parameter(self):
        named = re.findall(r"^\|.*\| ((?:`\w+` ?)+) \|[^|]*\|$", read("docs", "knobs.md"), re.M)
        self.assertEqual({name for cell in named for name in re.findall(r"`(\w+)`", cell)}, set(GENERATOR.parameters))

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


    def test_variants_by_length_are_drawn(self):
        flips = [coinflips.draw_flip(random.Random(seed), seed, GENERATOR).schedule for seed in range(60)]
        self.assertTrue(0 < sum("when <seqlen_k at_most" in text for text in flips) < len(flips))


class Dialect(unittest.TestCase):
    """What the attributes can say, the drawn schedules do."""

    def setUp(self):
        self.text = "".join(map(entry_of, drawn_points()))

    def test_every_field_of_the_configuration_is_drawn(self):
        definition = re.search(r"def Attn_ConfigAttr.*?let parameters = \(ins(.*?)\);", read("include", "attn", "dialect", "ScheduleAttrs.td"), re.S)[1]
        fields = re.findall(r":\$(\w+)", definition)
        self.assertGreater(len(fields), 10)
        self.assertEqual({field for field in fields if f"{field} = " not in self.text}, NO_CHOICE)

    def test_every_word_of_the_configuration_is_drawn(self):
        for enum, field in (("WorkKind", "work"), ("WorkOrder", "order"), ("RowMax", "row_max")):
            default = {"running"} if field == "row_max" else set()
            with self.subTest(field=field):
                self.assertEqual({w for w in words_of(enum) if f"{field} = {w}" not in self.text}, default)

    def test_every_knob_of_the_schedule_is_drawn(self):
        grammar = re.search(r"item   :=.*?option :=", read("include", "attn", "dialect", "ScheduleAttrs.td"), re.S)[0]
        knobs = re.findall(r"`knob` `(\w+)`", grammar)
        self.assertEqual(knobs, ["exp2_soft", "peel", "skip", "launch"])
        for knob, enum, default in (("peel", "Peel", None), ("skip", "Skip", "none"), ("launch", "Launch", "alone")):
            with self.subTest(knob=knob):
                missing = {f"{knob} {w}" for w in words_of(enum) if f"knob {knob} {w}" not in self.text and w != default}
                self.assertLessEqual(missing, NO_LOWERING)

    def test_every_item_of_the_schedule_is_drawn(self):
        for item in ("split M ", "remat(", "chan kv = k | v", " free_implied", " scope cluster", " over q", " over v", "turn tc", "sync drain",
                     "edge o_free", "hold p = p in smem"):
            with self.subTest(item=item):
                self.assertIn(item, self.text)


if __name__ == "__main__":
    unittest.main()
