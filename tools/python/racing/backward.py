# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Backward passes: who takes part, and whether gradients are right. Inputs are Q, K, V and dO; results are dQ, dK
and dV, all as (batch, seqlen, heads, head dim), and the gradients of captured tensors that the score function of a point
has."""

import contextlib
import math

from racing import check, contenders, flex, libattn, scores
from racing.unavailable import Unavailable

# Rows of queries that the reference computes at a time.
_ROWS = 1024


class GraphContender:
    """The backward pass that torch records in a forward pass. `forward(q, k, v)` returns O; `others` are further tensors
    whose gradients are wanted."""

    def __init__(self, torch, inputs, forward, scope=contextlib.nullcontext, others=()):
        *operands, of_out = inputs
        with torch.enable_grad(), scope():
            leaves = [x.detach().requires_grad_() for x in operands]
            out = forward(*leaves)
            leaves += others
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
    options = {"is_causal": contenders.peer_mask(point) == "causal", "scale": point.scale, "enable_gqa": point.grouped}

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
    options = {**contenders.flash_options(point), "deterministic": deterministic}

    def forward(q, k, v):
        out = flash_attn_func(q, k, v, **options)
        return out[0] if isinstance(out, tuple) else out

    return GraphContender(torch, inputs, forward)


class FlexContender(GraphContender):
    """That of flex_attention."""

    def __init__(self, torch, name, point, inputs, wrap=None):
        from torch._functorch import config
        # A graph that runs more than once must not give its buffers away.
        config.donated_buffer = False
        captured = scores.tensors(torch, point, inputs[0].device)
        others = [captured[name].requires_grad_() for name in differentiated(point)]
        self.forward = flex.FlexForward(torch, name, point, inputs[0].device, captured, wrap)
        try:
            super().__init__(torch, inputs, self.forward, others=others)
            self.call()
        except torch._dynamo.exc.BackendCompilerFailed as error:
            raise flex.does_not_compile(error) from error

    def visited(self):
        return self.forward.visited()


def rounding_of(exact, dtype):
    """What rounding to `dtype` alone may change, as FlashAttention's rule measures it: the most that adding and
    subtracting 0.3 changes an element."""
    x = exact.to(dtype)
    return (x + 0.3 - 0.3 - x).abs().max().item()


def differentiated(point):
    """The captured tensors whose gradients are computed."""
    return scores.SCORES[point.score].differentiated if point.score else ()


def make_peer(torch, name, point, inputs):
    if name in flex.BACKENDS:
        return FlexContender(torch, name, point, inputs)
    if name in ("fa4", "fa4-det"):
        return fa4_contender(torch, point, inputs, name == "fa4-det")
    backends = {"cudnn": "CUDNN_ATTENTION", "torch-fa2": "FLASH_ATTENTION"}
    if name not in backends:
        raise Unavailable("has no backward pass here")
    return torch_contender(torch, point, inputs, backends[name])


class AttnContender:
    """A bundle of gradients through the runtime, on the caller's stream; O and LSE are those of the bundle `forward`.
    `captured`: the tensors that their functions read, None where they have no functions."""

    def __init__(self, torch, point, inputs, bundle, forward, captured=None):
        q, k, v, of_out = inputs
        wrong = contenders.mismatch(bundle.plan["problem"], point, captured is not None)
        if wrong:
            raise RuntimeError(wrong)
        first = contenders.AttnContender(torch, point.forward, [q, k, v], forward, captured)
        first.call()
        of_captured = {f"d{name}": torch.empty_like(captured[name]) for name in differentiated(point)}
        self.gradients = [*(torch.empty_like(x) for x in (q, k, v)), *of_captured.values()]
        tensors = {"query": q, "key": k, "value": v, "output": first.out, "lse": first.lse, "output_gradient": of_out,
                   "lse_gradient": torch.zeros_like(first.lse),
                   **dict(zip(("query_gradient", "key_gradient", "value_gradient"), self.gradients))}
        device = q.device.index
        self.keep = tensors, first
        named = {**libattn.by_name(bundle.plan, tensors), **(captured or {}), **of_captured}
        views = {name: libattn.make_tensor(t.data_ptr(), device, contenders.RUNTIME_TYPES[str(t.dtype)], t.shape, t.stride())
                 for name, t in named.items()}
        args = libattn.make_args(views, contenders.scalars_of(bundle, point, captured or {}), device, torch.cuda.current_stream().cuda_stream)
        bundle.prepare(device)
        self.workspace = torch.zeros(max(1, bundle.workspace_size(args)), device=q.device, dtype=torch.uint8)
        args.workspace, args.workspace_size = self.workspace.data_ptr(), self.workspace.numel()
        args.flags = libattn.WORKSPACE_READY
        self.scope = contextlib.nullcontext
        added_to = [named[arg["name"]] for arg in bundle.plan["args"] if arg.get("access") == "readwrite"]
        self.call = self.launcher(bundle.launcher(args), added_to)

    @staticmethod
    def launcher(launch, added_to):
        """`launch`, after the tensors that it adds to are cleared."""
        if not added_to:
            return launch

        def call():
            for tensor in added_to:
                tensor.zero_()
            launch()

        return call

    def poison(self):
        for gradient in self.gradients:
            gradient.fill_(math.nan)

    def results(self, _):
        return self.gradients


class Reference:
    """The right gradients of the first and the last head of K and V, in float64, and the same with scores, P, dX and
    results rounded to the dtype. They are computed once, for all contenders."""

    def __init__(self, torch, point, inputs):
        self.torch, self.point, self.samples = torch, point, []
        for b, kv in sorted({(0, 0), (point.batch - 1, point.kv_heads - 1)}):
            exact, rounded = (self.gradients(inputs, b, kv, through) for through in (lambda x: x, self.through(torch, point)))
            self.samples.append((b, kv, exact, self.errors(exact, rounded)))
        self.of_captured = [self.captured_gradients(inputs)] if differentiated(point) else []

    @staticmethod
    def errors(exact, rounded):
        """(max, mean) of the error of each."""
        errors = [(got - want).abs() for got, want in zip(rounded, exact)]
        return [(error.max().item(), error.mean().item()) for error in errors]

    def captured_gradients(self, inputs):
        """(head, exact gradients of captured tensors for that head, their errors): of the last head, in all batches."""
        point, head = self.point, self.point.heads - 1
        group = point.heads // point.kv_heads
        sums = []
        for through in (lambda x: x, self.through(self.torch, point)):
            found = [self.shares(inputs, b, head // group, head % group, through)[3:] for b in range(point.batch)]
            sums.append([sum(parts)[head] for parts in zip(*found)])
        return head, sums[0], self.errors(*sums)

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
        group = self.point.heads // self.point.kv_heads
        d_q, d_k, d_v = zip(*(self.shares(inputs, b, kv, g, through)[:3] for g in range(group)))
        scale = self.point.scale
        return through(self.torch.stack(d_q, 1) * scale), through(sum(d_k) * scale), through(sum(d_v))

    def shares(self, inputs, b, kv, g, through):
        """What query head `g` of a group adds to dQ, dK, dV and the gradients of captured tensors; dQ and dK without the
        scale."""
        torch, point = self.torch, self.point
        head = self.heads_of(kv).start + g
        q, of_out = (x[b, :, head].double() for x in (inputs[0], inputs[3]))
        k, v = (x[b, :, kv].double() for x in inputs[1:3])
        d_q, d_k, d_v = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
        captured = scores.tensors(torch, point, q.device)
        wanted = {name: captured[name].double().requires_grad_() for name in differentiated(point)}
        of_captured = [torch.zeros_like(x) for x in wanted.values()]
        for first in range(0, point.seqlen, _ROWS):
            rows = torch.arange(first, min(first + _ROWS, point.seqlen), device=q.device)
            plain = through(q[rows] @ k.T) * point.scale
            score = check.score_function(torch, point, {**captured, **wanted}, b, head, rows)
            with torch.enable_grad():
                plain.requires_grad_(score is not None)
                capped = score(plain) if score else plain
            hidden = check.unseen(torch, point, b, head, rows)
            seen = capped.detach() if hidden is None else capped.detach().masked_fill(hidden, -math.inf)
            weights = torch.softmax(seen, -1)
            out = through(through(weights) @ v)
            of_weights = through(of_out[rows] @ v.T)
            delta = (out * of_out[rows]).sum(-1, keepdim=True)
            of_scores = weights * (of_weights - delta)
            if score:
                of_scores, *more = torch.autograd.grad(capped, [plain, *wanted.values()], of_scores)
                of_captured = [total + part for total, part in zip(of_captured, more)]
            of_scores = through(of_scores)
            d_q[rows] = of_scores @ k
            d_k += of_scores.T @ q[rows]
            d_v += through(weights).T @ of_out[rows]
        return d_q, d_k, d_v, *of_captured

    def judge(self, *gradients):
        """Returns "" or what is wrong, by FlashAttention's rule for gradients. That rule bounds the largest errors
        only; mean errors have the bound of outputs."""
        names = [*"QKV", *differentiated(self.point)]
        for name, gradient in zip(names, gradients):
            if not bool(self.torch.isfinite(gradient).all()):
                return f"d{name} is not finite everywhere"
        for head, exact, limits in self.of_captured:
            wrong = self.compare(names[3:], [gradient[head] for gradient in gradients[3:]], exact, limits)
            if wrong:
                return wrong
        for b, kv, exact, limits in self.samples:
            picked = gradients[0][b, :, self.heads_of(kv)], gradients[1][b, :, kv], gradients[2][b, :, kv]
            wrong = self.compare(names, picked, exact, limits)
            if wrong:
                return wrong
        return ""

    @staticmethod
    def compare(names, gradients, exact, limits):
        for name, got, want, limit in zip(names, gradients, exact, limits):
            error = (got.double() - want).abs()
            wrong = check.judge_output((error.max().item(), error.mean().item()), limit, rounding_of(want, got.dtype))
            if wrong:
                return f"d{name}{wrong[1:]}"
        return ""
