# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The race of backward passes, as far as it needs no GPU."""

import contextlib
import io
import os
import sys
import types
import unittest
import unittest.mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import package_support  # finds the package

import attention
import make_bundles
from racing import backward, check, contenders, points, scores
from racing.session import Session, Settings

try:
    import torch
except ImportError:
    torch = None


class Points(unittest.TestCase):
    def test_flops_are_those_of_five_products(self):
        point = points.Point("none", 128, 4096, op="bwd")
        self.assertEqual(point.flops * 2, point.forward.flops * 5)
        self.assertEqual(points.Point("causal", 128, 4096, op="bwd").flops * 2, point.flops)
        self.assertEqual(points.Point("none", 192, 4096, dv=128, op="bwd").flops, 2 * 4 * 16 * 4096 * 4096 * (3 * 192 + 2 * 128))

    def test_inputs_end_with_the_gradient_of_the_output(self):
        point = points.Point("causal", 192, 4096, 128, heads=(32, 8), op="bwd-det")
        self.assertEqual(point.shapes, ((4, 4096, 32, 192), (4, 4096, 8, 192), (4, 4096, 8, 128), (4, 4096, 32, 128)))
        self.assertEqual(point.shapes[:3], point.forward.shapes)

    def test_bundles(self):
        point = points.Point("causal", 64, 4096, dtype="fp16", op="bwd-det")
        self.assertEqual(contenders.bundle_name(point), "bwd_det_fp16_d64_causal.attn")
        self.assertEqual(contenders.bundle_name(point.forward), "fwd_fp16_d64_causal.attn")
        self.assertIn("func.func @bwd_det_fp16_d64_causal(", make_bundles.source(point))
        self.assertEqual((make_bundles.options(point), make_bundles.options(point.forward)), (["--bwd=q,k,v"], []))
        self.assertEqual(make_bundles.options(points.Point("none", 64, 4096, op="bwd")), ["--bwd=q,k,v", "--any-order"])

    def test_score_functions(self):
        point = points.Point("alibi+causal", 128, 4096, op="bwd")
        self.assertEqual((point.mask, point.score, point.case, point.causal), ("causal", "alibi+causal", "alibi+causal", True))
        self.assertEqual(point.forward.case, point.case)
        self.assertEqual(point.flops, points.Point("causal", 128, 4096, op="bwd").flops)
        self.assertEqual(contenders.bundle_name(point), "bwd_d128_alibi_causal.attn")
        self.assertIn("mask(causal_bottom_right)", make_bundles.source(point))
        self.assertEqual(make_bundles.options(points.Point("relbias", 128, 4096, op="bwd")), ["--bwd=q,k,v,table", "--any-order"])

    def test_functions_of_libraries(self):
        options = {case: contenders.flash_options(points.Point(case, 128, 4096, op="bwd")) for case in ("causal", "softcap30+causal", "window1024")}
        self.assertEqual({case: (o.get("causal"), o.get("softcap"), o.get("window_size")) for case, o in options.items()},
                         {"causal": (True, None, None), "softcap30+causal": (True, 30.0, None), "window1024": (None, None, (1023, 0))})
        for case, reason in (("alibi+causal", "score"), ("relbias", "score"), ("documents", "mask")):
            with self.assertRaisesRegex(contenders.Unavailable, f"has no {reason} functions"):
                contenders.flash_options(points.Point(case, 128, 4096, op="bwd"))

    def test_what_cannot_be_raced(self):
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as errors:
            attention.parse_arguments(["--op=bwd-det", "--bundles=.", "--beside=causal"])
        self.assertIn("--beside: expected --op=fwd, got bwd-det", errors.getvalue())

    def test_variants(self):
        """A variant is raced where it has bundles of both passes; kernels of any order are no variants of bwd-det."""
        def bundle(kind):
            return types.SimpleNamespace(plan={"problem": {
                "kind": kind, "dtype": "bf16", "head_dim": 64, "head_dim_v": 64, "mask": "none", "score_region": "none", "mask_region": "none"}})

        session = object.__new__(Session)
        session.torch, session.plugins, session.is_same, session.settings = None, (), lambda *_: False, Settings("", 3, 80.0, 0)
        session.variants = {name: [bundle(kind) for kind in kinds] for name, kinds in {
            "ordered": ("fwd", "bwd_ordered"), "two": ("fwd", "bwd_dk_dv"), "any": ("fwd", "bwd"), "alone": ("bwd_ordered",)}.items()}
        entrants = session.entrants(points.Point("none", 64, 4096, op="bwd-det"))
        self.assertEqual(list(entrants), ["ordered", "two", "alone"])
        with self.assertRaisesRegex(contenders.Unavailable, "expected a bundle of the forward pass beside it, fwd_d64_none.attn"):
            entrants["alone"][1](())
        with unittest.mock.patch.object(backward, "AttnContender") as contender:
            entrants["ordered"][1](())
        self.assertEqual([b.plan["problem"]["kind"] for b in contender.call_args.args[3:]], ["bwd_ordered", "fwd"])


@unittest.skipIf(torch is None, "torch is not installed")
class Judged(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.point = points.Point("causal", 64, 160, heads=(4, 2), batch=2, op="bwd")
        self.inputs = [torch.randn(shape).bfloat16() for shape in self.point.shapes]
        self.reference = backward.Reference(torch, self.point, self.inputs)

    def gradients(self):
        doubles = [x.double() for x in self.inputs]
        attend = torch.nn.functional.scaled_dot_product_attention
        contender = backward.GraphContender(torch, doubles, lambda q, k, v: attend(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True, enable_gqa=True).transpose(1, 2))
        return [x.bfloat16() for x in contender.results(contender.call())]

    def test_right_gradients(self):
        self.assertEqual(self.reference.judge(*self.gradients()), "")

    def test_wrong_gradients(self):
        for n, name in enumerate("QKV"):
            for spoil in (lambda x: x.mul_(1.1), lambda x: x[-1, :, -1].zero_(), lambda x: x[0, 0].fill_(float("nan"))):
                gradients = self.gradients()
                spoil(gradients[n])
                self.assertRegex(self.reference.judge(*gradients), f"^d{name}")


@unittest.skipIf(torch is None, "torch is not installed")
class JudgedFunctions(unittest.TestCase):
    """Functions in a reference against torch's autograd."""

    def gradients(self, point, inputs):
        captured = {name: x.double() if x.is_floating_point() else x for name, x in scores.tensors(torch, point, "cpu").items()}
        wanted = [captured[name].requires_grad_() for name in backward.differentiated(point)]
        function = scores.function(point, torch, captured)
        batch, heads, i, j = torch.meshgrid(*(torch.arange(n) for n in (point.batch, point.heads, point.seqlen, point.seqlen)), indexing="ij")
        hidden = check.unseen(torch, point, 0, 0, torch.arange(point.seqlen))

        def attend(q, k, v):
            q, k, v = (x.transpose(1, 2) for x in (q, k, v))
            found = q @ k.transpose(2, 3) * point.scale
            found = function(found, batch, heads, i, j) if function else found
            found = found if hidden is None else found.masked_fill(hidden, -torch.inf)
            return (found.softmax(-1) @ v).transpose(1, 2)

        contender = backward.GraphContender(torch, [x.double() for x in inputs], attend, others=wanted)
        *operands, = contender.results(contender.call())
        return [x.bfloat16() if n < 3 else x.float() for n, x in enumerate(operands)]

    def test_each(self):
        for case in (*scores.SCORES, "documents", "window1024"):
            with self.subTest(case):
                torch.manual_seed(1)
                point = points.Point(case, 64, 130, heads=(2, 2), batch=2, op="bwd")
                inputs = [torch.randn(shape).bfloat16() for shape in point.shapes]
                reference = backward.Reference(torch, point, inputs)
                gradients = self.gradients(point, inputs)
                self.assertEqual(reference.judge(*gradients), "")
                gradients[-1].mul_(1.1)
                self.assertNotEqual(reference.judge(*gradients), "")


if __name__ == "__main__":
    unittest.main()
