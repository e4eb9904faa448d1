# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a contender's results are right, against float64."""

import math
import random

from racing import masks, scores

# The error of the log-sum-exp that approximate exponentials may cause, besides rounding.
LSE_APPROXIMATION = 1e-4


def torch_dtype(torch, name):
    return {"bf16": torch.bfloat16, "fp16": torch.float16}[name]


def sample_rows(seqlen, generator):
    """Rows to check: the first, the last and some between."""
    ends = set(range(min(64, seqlen))) | set(range(max(0, seqlen - 64), seqlen))
    return sorted(ends | {generator.randrange(seqlen) for _ in range(128)})


def unseen(torch, point, b, h, rows):
    """Which keys some queries of a head do not see, or None if they see all."""
    if point.mask == "none":
        return None
    function = masks.MASKS[point.mask].make(**masks.tensors(torch, point, rows.device))
    return ~function(b, h, rows[:, None], torch.arange(point.seqlen, device=rows.device)[None, :])


def score_function(torch, point, captured, b, h, rows):
    """The function (scores) of some queries of a head and all keys, in float64, or None; `captured` are tensors."""
    function = scores.function(point, torch, captured)
    keys = torch.arange(point.seqlen, device=rows.device)[None, :]
    return function and (lambda x: function(x, b, h, rows[:, None], keys))


def attend(torch, point, q, k, v, rows, score, hidden, rounded):
    """O and LSE of `rows` of one head in float64, with the function `score`, without the pairs that are `hidden`; `rounded`
    rounds S, P and O to the dtype, as a plain implementation in that dtype would."""
    dtype = torch_dtype(torch, point.dtype)
    through = (lambda t: t.to(dtype).double()) if rounded else (lambda t: t)
    scores = through(q[rows].double() @ k.double().T) * point.scale
    scores = score(scores) if score else scores
    if hidden is not None:
        scores.masked_fill_(hidden, -math.inf)
    return through(through(torch.softmax(scores, -1)) @ v.double()), torch.logsumexp(scores, -1)


def judge_output(error, rounded_error, rounding=0.0):
    """The rule for O, given (max, mean) of |error|: at most 2x and 1.5x that of
    the rounded reference. To the max, 2x `rounding` is added; it is 0 for O.
    Returns "" or what is wrong; NaN is wrong."""
    most = 2 * (rounded_error[0] + rounding)
    if not error[0] <= most:
        return f"O: max error {error[0]:.2e}, at most {most:.2e} allowed"
    if not error[1] <= 1.5 * rounded_error[1]:
        return f"O: mean error {error[1]:.2e}, at most {1.5 * rounded_error[1]:.2e} allowed"
    return ""


class Reference:
    """Samples of the right results at one point: rows of the first and the last
    head. They are made once and serve all contenders."""

    def __init__(self, torch, point, inputs):
        self.torch, self.samples = torch, []
        generator = random.Random(0)
        for b, h in sorted({(0, 0), (point.batch - 1, point.heads - 1)}):
            rows = torch.tensor(sample_rows(point.seqlen, generator), device=inputs[0].device)
            group = h * point.kv_heads // point.heads
            q, k, v = (t[b, :, head] for t, head in zip(inputs, (h, group, group)))
            hidden = unseen(torch, point, b, h, rows)
            score = score_function(torch, point, scores.tensors(torch, point, rows.device), b, h, rows)
            exact, lse = attend(torch, point, q, k, v, rows, score, hidden, rounded=False)
            rounded, _ = attend(torch, point, q, k, v, rows, score, hidden, rounded=True)
            self.samples.append((b, h, rows, exact, lse, (rounded - exact).abs()))

    def judge(self, out, lse):
        """Returns "" or what is wrong; `lse` may be None."""
        if not bool(self.torch.isfinite(out).all()):
            return "O is not finite everywhere"
        for b, h, rows, _, exact, _ in self.samples if lse is not None else ():
            delta = (lse[b, h, rows].double() - exact).abs()
            if not bool((delta <= 2e-5 * exact.abs().clamp(min=1) + LSE_APPROXIMATION).all()):
                return f"LSE: error {delta.max().item():.2e}"
        errors = [(out[b, rows, h].double() - exact).abs() for b, h, rows, exact, _, _ in self.samples]
        moments = [(e.max().item(), e.mean().item())
                   for e in (self.torch.cat(errors), self.torch.cat([s[-1] for s in self.samples]))]
        return judge_output(*moments)
