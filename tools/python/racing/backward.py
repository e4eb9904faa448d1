# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Backward passes: who takes part, and whether gradients are right. Inputs are Q, K, V and dO; results are dQ, dK
and dV, all as (batch, seqlen, heads, head dim)."""

import contextlib
import math

from racing import check, contenders, libattn
from racing.unavailable import Unavailable

# Rows of queries that the reference computes at a time.
_ROWS = 1024


class GraphContender:
    """The backward pass that torch records in a forward pass. `forward(q, k, v)` returns O."""

    def __init__(self, torch, inputs, forward, scope=contextlib.nullcontext):
        *operands, of_out = inputs
        with torch.enable_grad(), scope():
            leaves = [x.detach().requires_grad_() for x in operands]
            out = forward(*leaves)
        self.scope = contextlib.nullcontext
        self.call = lambda: torch.autograd.grad(out, leaves, of_out, retain_graph=True)

    def poison(self):
        pass

    def results(self, gradients):
        return gradients


def torch_contender(torch, point, inputs, backend):
    """The backward pass of scaled_dot_product_attention with one backend."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    if backend == "FLASH_ATTENTION" and point.d != point.dv:
        raise Unavailable("has no kernel where V's head dim differs")
    options = {"is_causal": contenders.library_mask(point) == "causal", "scale": point.scale, "enable_gqa": point.grouped}

    def forward(q, k, v):
        swapped = (x.transpose(1, 2) for x in (q, k, v))
        return torch.nn.functional.scaled_dot_product_attention(*swapped, **options).transpose(1, 2)

    return GraphContender(torch, inputs, forward, lambda: sdpa_kernel(getattr(SDPBackend, backend)))


def fa4_contender(torch, point, inputs, deterministic):
    """That of FlashAttention-4."""
    try:
        from flash_attn.cute import flash_attn_func
    except ImportError as error:
        raise Unavailable(f"flash-attn-4 is not there: {error}") from error
    options = {"softmax_scale": point.scale, "causal": contenders.library_mask(point) == "causal", "deterministic": deterministic}

    def forward(q, k, v):
        out = flash_attn_func(q, k, v, **options)
        return out[0] if isinstance(out, tuple) else out

    return GraphContender(torch, inputs, forward)


def make_peer(torch, name, point, inputs):
    if name in ("fa4", "fa4-det"):
        return fa4_contender(torch, point, inputs, name == "fa4-det")
    backends = {"cudnn": "CUDNN_ATTENTION", "torch-fa2": "FLASH_ATTENTION"}
    if name not in backends:
        raise Unavailable("has no backward pass here")
    return torch_contender(torch, point, inputs, backends[name])


class AttnContender:
    """A bundle of gradients through the runtime, on the caller's stream; O and LSE are those of the bundle `forward`."""

    def __init__(self, torch, point, inputs, bundle, forward):
        q, k, v, of_out = inputs
        wrong = contenders.mismatch(bundle.plan["problem"], point)
        if wrong:
            raise RuntimeError(wrong)
        first = contenders.AttnContender(torch, point.forward, [q, k, v], forward)
        first.call()
        self.gradients = [torch.empty_like(x) for x in (q, k, v)]
        tensors = {"query": q, "key": k, "value": v, "output": first.out, "lse": first.lse, "output_gradient": of_out,
                   "lse_gradient": torch.zeros_like(first.lse),
                   **dict(zip(("query_gradient", "key_gradient", "value_gradient"), self.gradients))}
        device = q.device.index
        self.keep = tensors, first
        views = {name: libattn.make_tensor(t.data_ptr(), device, contenders.RUNTIME_TYPES[str(t.dtype)], t.shape, t.stride())
                 for name, t in libattn.by_name(bundle.plan, tensors).items()}
        args = libattn.make_args(views, libattn.by_name(bundle.plan, {"scale": point.scale}), device,
                                 torch.cuda.current_stream().cuda_stream)
        bundle.prepare(device)
        self.workspace = torch.zeros(max(1, bundle.workspace_size(args)), device=q.device, dtype=torch.uint8)
        args.workspace, args.workspace_size = self.workspace.data_ptr(), self.workspace.numel()
        args.flags = libattn.WORKSPACE_READY
        self.scope, self.call = contextlib.nullcontext, bundle.launcher(args)

    def poison(self):
        for gradient in self.gradients:
            gradient.fill_(math.nan)

    def results(self, _):
        return self.gradients


class Reference:
    """The right gradients of the first and the last head of K and V, in float64, and what rounding scores, P, dX and
    results to the dtype makes of them. They are made once and serve all contenders."""

    def __init__(self, torch, point, inputs):
        self.torch, self.point, self.samples = torch, point, []
        for b, kv in sorted({(0, 0), (point.batch - 1, point.kv_heads - 1)}):
            exact, rounded = (self.gradients(inputs, b, kv, through) for through in (lambda x: x, self.through(torch, point)))
            errors = [(a - e).abs() for a, e in zip(rounded, exact)]
            self.samples.append((b, kv, exact, [(e.max().item(), e.mean().item()) for e in errors]))

    @staticmethod
    def through(torch, point):
        dtype = check.torch_dtype(torch, point.dtype)
        return lambda x: x.to(dtype).double()

    def heads_of(self, kv):
        """The query heads of a head of K and V."""
        group = self.point.heads // self.point.kv_heads
        return slice(kv * group, (kv + 1) * group)

    def gradients(self, inputs, b, kv, through):
        """dQ (queries, group, d), dK and dV (keys, d) of a head of K and V."""
        torch, point = self.torch, self.point
        heads = self.heads_of(kv)
        q, of_out = (x[b, :, heads].double() for x in (inputs[0], inputs[3]))
        k, v = (x[b, :, kv].double() for x in inputs[1:3])
        d_q, d_k, d_v = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
        keys = torch.arange(point.seqlen, device=q.device)
        for first in range(0, point.seqlen, _ROWS):
            rows = slice(first, min(first + _ROWS, point.seqlen))
            for g in range(q.shape[1]):
                scores = through(q[rows, g] @ k.T) * point.scale
                if point.causal:
                    scores.masked_fill_(keys[rows, None] < keys, -math.inf)
                weights = torch.softmax(scores, -1)
                out = through(through(weights) @ v)
                of_weights = through(of_out[rows, g] @ v.T)
                delta = (out * of_out[rows, g]).sum(-1, keepdim=True)
                of_scores = through(weights * (of_weights - delta))
                d_q[rows, g] = of_scores @ k
                d_k += of_scores.T @ q[rows, g]
                d_v += through(weights).T @ of_out[rows, g]
        return through(d_q * point.scale), through(d_k * point.scale), through(d_v)

    def judge(self, *gradients):
        """Returns "" or what is wrong, by the rule of outputs."""
        for name, gradient in zip("QKV", gradients):
            if not bool(self.torch.isfinite(gradient).all()):
                return f"d{name} is not finite everywhere"
        for b, kv, exact, limits in self.samples:
            picked = gradients[0][b, :, self.heads_of(kv)], gradients[1][b, :, kv], gradients[2][b, :, kv]
            for name, got, want, limit in zip("QKV", picked, exact, limits):
                error = (got.double() - want).abs()
                wrong = check.judge_output((error.max().item(), error.mean().item()), limit)
                if wrong:
                    return f"d{name}{wrong[1:]}"
        return ""
