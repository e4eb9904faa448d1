# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests how families of models of transformers run on the simulator, by registration and by `attn.routed`:
docs/python.md has the table."""

import logging
import os
import re
import unittest

import package_support  # finds the package
from package_torch_test import TorchTest, torch

import attn

try:
    import transformers

    from package_families import FAMILIES
except ImportError:
    transformers = None

ITSELF = "its own"
UNKNOWN = "transformers refuses the name"


class Reasons(logging.Handler):
    """The warnings of the logger "attn", each once for each time it is entered."""

    def __enter__(self):
        from attn import _fallback

        _fallback._warned.cache_clear()
        self.found, self.logger = [], logging.getLogger("attn")
        self.logger.addHandler(self)
        self.propagate, self.logger.propagate = self.logger.propagate, False
        return self.found

    def __exit__(self, *_):
        self.logger.removeHandler(self)
        self.logger.propagate = self.propagate

    def emit(self, record):
        self.found.append(record.getMessage())


def blind(module, query, key, value, attention_mask, **_):
    """Attention that looks nowhere in particular."""
    mean = value.mean(2, keepdim=True).repeat_interleave(query.shape[1] // value.shape[1], 1)
    return mean.expand(-1, -1, query.shape[2], -1).transpose(1, 2).contiguous(), None


class Families(TorchTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if transformers is None:
            raise unittest.SkipTest("transformers is not installed")
        transformers.logging.set_verbosity_error()
        attn.register_with_transformers()
        transformers.AttentionInterface.register("blind", blind)
        transformers.AttentionMaskInterface.register("blind", transformers.masking_utils.sdpa_mask)

    def base(self, family):
        """The model as transformers computes it."""
        try:
            return family.model("sdpa")
        except ValueError:  # it has no "sdpa"
            return family.model("eager")

    def outputs(self, family, model):
        return [family.run(model, mask).double() for mask in family.masks()]

    def hold(self, got, usual, exact):
        """Holds the errors of attn's outputs to those of transformers'."""
        for *found, want in zip(got, usual, exact):
            of_attn, of_torch = ((each - want).square().mean().sqrt().item() for each in found)
            self.assertLessEqual(of_attn, 1.1 * of_torch + 1e-3 * want.square().mean().sqrt().item())

    def by_registration(self, family, usual, exact):
        try:
            model = family.model("attn")
        except KeyError as error:
            self.assertEqual(str(error), "'attn'")
            return UNKNOWN
        with Reasons() as reasons:
            self.hold(self.outputs(family, model), usual, exact)
        if any("takes no attention function" in reason for reason in reasons):
            return ITSELF
        unseeing = family.run(family.model("blind", torch.float32), next(family.masks()))
        off = (unseeing - exact[0]).square().mean().sqrt() / exact[0].square().mean().sqrt()
        self.assertGreater(off.item(), 0.1, "attention does not matter to it")
        return self.column(reasons)

    def by_routing(self, family, usual, exact):
        model = self.base(family)
        with Reasons() as reasons, attn.routed() as calls:
            self.hold(self.outputs(family, model), usual, exact)
        return self.column(reasons) if calls.served else ITSELF

    def column(self, reasons):
        if not reasons:
            return "attn"
        self.assertEqual(len(reasons), 1)
        return reasons[0]

    def test_the_table(self):
        found = []
        for name, family in FAMILIES.items():
            with self.subTest(name):
                exact = self.outputs(family, family.model("eager", torch.float32))
                usual = self.outputs(family, self.base(family))
                columns = [way(family, usual, exact) for way in (self.by_registration, self.by_routing)]
                found.append(f"| {name} | {' | '.join(columns)} |")
        with open(os.path.join(package_support.ROOT, "docs", "python.md"), encoding="utf-8") as file:
            section = file.read().partition("## Families of transformers")[2].partition("\n## ")[0]
        self.maxDiff = None
        self.assertEqual(re.findall(r"^\| (?!-|Family).*$", section, re.MULTILINE), found)


if __name__ == "__main__":
    unittest.main()
