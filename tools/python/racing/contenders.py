# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who takes part. A contender is made for one point and has

  scope()        a context to enter once a slice
  call()         one launch: what is timed
  poison()       overwrites the results, so that a launch that writes nothing shows
  results(out)   O and LSE (or None) as (batch, seqlen, heads, dv) and (batch,
                 heads, seqlen), from what call() returned
  visited()      the share of all pairs that it multiplies, or None; may be absent
  own_point      the point that it computes, if it is another; may be absent
"""

import contextlib
import importlib
import importlib.metadata
import importlib.util
import math
import os

from racing import flex, libattn, masks, scores, shares
from racing.unavailable import Unavailable

PEERS = ("cudnn", "torch-fa2", "fa4", "fa4-det", *flex.BACKENDS)
NAMES = ("attn",) + PEERS
# As the plans of bundles and the runtime spell them.
ELEMENT_TYPES = {"bf16": "bf16", "fp16": "f16"}
RUNTIME_TYPES = {"torch.bfloat16": "bf16", "torch.float16": "f16", "torch.float32": "f32", "torch.int32": "i32", "torch.bool": "bool"}
# The kinds of the plans that compute an operation.
PLAN_KINDS = {"fwd": ("fwd",), "bwd": ("bwd", "bwd_dk_dv", "bwd_dv"), "bwd-det": ("bwd_ordered", "bwd_dk_dv", "bwd_dv")}
PLAN_MASKS = {"none": ("none",), "causal": ("causal_top_left", "causal_bottom_right")}


def peer_mask(point):
    """The mask of a library without functions."""
    if point.score:
        raise Unavailable("has no score functions")
    if point.peer_mask is None:
        raise Unavailable("has no mask functions")
    return point.peer_mask


def flash_options(point):
    """The options of flash_attn_func for a point."""
    softcap, window = point.score and scores.SCORES[point.score].softcap, masks.MASKS[point.mask].window
    if softcap:
        return {"softmax_scale": point.scale, "causal": point.causal, "softcap": softcap}
    if window and not point.score:
        return {"softmax_scale": point.scale, "window_size": window}
    return {"softmax_scale": point.scale, "causal": peer_mask(point) == "causal"}


class TorchContender:
    """scaled_dot_product_attention with one backend, on views of the tensors."""

    def __init__(self, torch, point, inputs, backend):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        if backend == "FLASH_ATTENTION" and point.d != point.dv:
            raise Unavailable("has no kernel where V's head dim differs")
        q, k, v = (t.transpose(1, 2) for t in inputs)
        function = torch.nn.functional.scaled_dot_product_attention
        options = {"is_causal": peer_mask(point) == "causal", "scale": point.scale, "enable_gqa": point.grouped}
        self.scope = lambda: sdpa_kernel(getattr(SDPBackend, backend))
        self.call = lambda: function(q, k, v, **options)

    def poison(self):
        pass

    def results(self, out):
        return out.transpose(1, 2), None


class Fa4Contender:
    """FlashAttention-4 (the package flash-attn-4); it compiles at its first call."""

    def __init__(self, torch, point, inputs):
        try:
            from flash_attn.cute import flash_attn_func
        except ImportError as error:
            raise Unavailable(f"flash-attn-4 is not there: {error}") from error
        options = flash_options(point)
        self.scope = contextlib.nullcontext
        self.call = lambda: flash_attn_func(*inputs, **options)

    def poison(self):
        pass

    def results(self, out):
        return (out[0] if isinstance(out, tuple) else out), None


class AttnContender:
    """A bundle through the runtime, on the caller's stream. `captured`: the tensors that
    its functions read, where it has any."""

    def __init__(self, torch, point, inputs, bundle, captured=None):
        wrong = mismatch(bundle.plan["problem"], point, captured is not None)
        if wrong:
            raise RuntimeError(wrong)
        q, k, v = inputs
        self.out = torch.empty(q.shape[:3] + v.shape[3:], device=q.device, dtype=q.dtype)
        self.lse = torch.empty(point.batch, point.heads, point.seqlen, device=q.device, dtype=torch.float32)
        device = q.device.index
        own = {**libattn.by_name(bundle.plan, {"query": q, "key": k, "value": v, "output": self.out, "lse": self.lse}),
               **(captured or {})}
        tensors = {name: libattn.make_tensor(t.data_ptr(), device, RUNTIME_TYPES[str(t.dtype)], t.shape, t.stride())
                   for name, t in own.items()}
        scalars = scalars_of(bundle, point, captured or {})
        if tuple(map(set, bundle.argument_names())) != (set(tensors), set(scalars)):
            raise RuntimeError(f"expected the arguments {sorted(tensors)} and {sorted(scalars)}, got {bundle.argument_names()}")
        args = libattn.make_args(tensors, scalars, device, torch.cuda.current_stream().cuda_stream)
        bundle.prepare(device)
        self.own_point, self.plan, self.variant = point, bundle.plan, bundle.plan["variants"][bundle.choose_variant(args)]
        self.workspace = torch.zeros(max(1, bundle.workspace_size(args)), device=q.device, dtype=torch.uint8)
        args.workspace, args.workspace_size = self.workspace.data_ptr(), self.workspace.numel()
        args.flags = libattn.WORKSPACE_READY
        self.keep = (inputs, captured, args)
        self.scope = contextlib.nullcontext
        self.call = bundle.launcher(args)

    def poison(self):
        self.out.fill_(math.nan)
        self.lse.fill_(math.nan)

    def results(self, _):
        return self.out, self.lse

    def visited(self):
        tiles = shares.tiles_of(self.plan, self.variant)
        return shares.visited(self.own_point.mask, self.own_point.seqlen, tiles) if tiles else None


def scalars_of(bundle, point, captured):
    """{name: number} of a launch: the scale, and the sizes of captured tensors that its functions read."""
    sizes = {f"{name}_size{dim}": size for name, x in captured.items() for dim, size in enumerate(x.shape)}
    wanted = bundle.argument_names()[1]
    return {**libattn.by_name(bundle.plan, {"scale": point.scale}), **{name: sizes[name] for name in wanted if name in sizes}}


def attn_captured(torch, point, device):
    """The tensors that AttnContender captures for the functions of a point, None if it has none."""
    if point.score:
        return scores.tensors(torch, point, device)
    return masks.tensors(torch, point, device) if point.is_function else None


def mismatch(problem, point, has_functions=False):
    """Returns "" or the difference between the problem in a bundle's plan and the point."""
    regions = ("none", "custom") if has_functions else ("none",)
    mask_regions = ("custom",) if point.is_function else regions
    for key, allowed in (("kind", PLAN_KINDS[point.op]), ("dtype", (ELEMENT_TYPES[point.dtype],)), ("head_dim", (point.d,)),
                         ("head_dim_v", (point.dv,)), ("mask", PLAN_MASKS.get(point.mask, PLAN_MASKS["none"])),
                         ("score_region", regions), ("mask_region", mask_regions)):
        if problem[key] not in allowed:
            return f"expected a bundle whose {key} is {' or '.join(map(str, allowed))}, got {problem[key]}"
    return ""


def bundle_name(point):
    """The file of a point's bundle; lengths and heads are arguments of the launch."""
    dtype = "" if point.dtype == "bf16" else "_" + point.dtype
    dv = "" if point.dv == point.d else f"x{point.dv}"
    return f"{point.op.replace('-', '_')}{dtype}_d{point.d}{dv}_{(point.score or point.mask).replace('+', '_')}.attn"


def find_variants(folder):
    """The bundles of a folder as {variant: [path]}: a variant is a bundle, or a
    folder of bundles of different problems."""
    variants = {}
    for entry in sorted(os.listdir(folder)):
        path = os.path.join(folder, entry)
        inside = [os.path.join(path, f) for f in sorted(os.listdir(path))] if os.path.isdir(path) else [path]
        bundles = [f for f in inside if f.endswith(".attn")]
        if bundles:
            variants[entry.removesuffix(".attn")] = bundles
    return variants


def load_plugin(path):
    """A Python file that brings contenders of its own. It has
      names(point)                        who takes part at a point
      make(torch, name, point, inputs)    one of them
      describe()                          {key: text}, written beside the results
    """
    spec = importlib.util.spec_from_file_location("bench_plugin", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"expected a Python file, got '{path}'")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("names", "make", "describe"):
        if not callable(getattr(module, name, None)):
            raise ValueError(f"{path}: expected a function '{name}'")
    return module


def package_version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def make_peer(torch, name, point, inputs):
    if name == "fa4-det":
        raise Unavailable("is a backward pass")
    if name == "fa4":
        return Fa4Contender(torch, point, inputs)
    if name in flex.BACKENDS:
        return flex.FlexContender(torch, name, point, inputs)
    return TorchContender(torch, point, inputs, {"cudnn": "CUDNN_ATTENTION", "torch-fa2": "FLASH_ATTENTION"}[name])
