# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that repeat an earlier one on other memory. The earlier call's checks and results still
hold, and the runtime reads torch's tensors itself, through DLPack's exchange interface. This
keeps the CPU time of a launch below that of torch's own functions. Imported with the first torch
tensor."""

from __future__ import annotations

import operator
import threading
from typing import Any, Callable, Optional, Sequence

import torch

from . import _capi, _tensors
from ._executable import Executable, target_of
from ._gradients import Wanted, gradients_of
from ._torch_gradients import Attention, Call, Unfit, readable_rows

# The largest number of calls that a thread remembers, of 20 KB each, so that new lengths cannot fill the memory.
_MOST = 512
_NO_NEEDS: tuple[bool, ...] = (False, False, False)
_PLAIN = frozenset((type(None), bool, int, float, str))
_Tensor, _grad_enabled, _inference_mode = torch.Tensor, torch.is_grad_enabled, torch.is_inference_mode_enabled
_empty_like = torch.empty_like
_forward_ad = torch.autograd.forward_ad
# Attention.apply, for calls that no transform of functions sees.
_apply: Callable[..., Any] = super(torch.autograd.Function, Attention).apply  # type: ignore[misc]

Signature = Optional[tuple[Any, ...]]


class _Remembered(threading.local):
    """A thread's replays: each has a C struct that a launch uses."""

    def __init__(self) -> None:
        self.replays: dict[Signature, Replay] = {}
        self.gradients: dict[tuple[Call, tuple[bool, ...], bool], GradientReplay] = {}


_remembered = _Remembered()


def _find_watchers() -> list[Any]:
    """Functions that say whether something in torch looks at the operators which this
    thread calls: a mode, a transform of functions, a trace."""
    return [torch._C._is_torch_function_mode_enabled, torch._C._len_torch_dispatch_stack,
            torch._C._functorch.peek_interpreter_stack, torch._C._get_tracing_state, torch._C._is_any_autocast_enabled]


_EXCHANGE = _capi.exchange_api(_Tensor)
try:
    _function_mode, _dispatch_modes, _transform, _trace, _autocast = _find_watchers()
    # torch.autograd.graph.increment_version takes three times as long, for two tensors.
    _increment_versions = torch._C._increment_version
except AttributeError:  # a torch that is too old or too new
    _EXCHANGE = None

if _EXCHANGE is None:  # then no call is replayed

    def _function_mode() -> bool:
        return True


def repeat(options: tuple[Any, ...], q: Any, k: Any, v: Any, out: Any, lse: Any) -> tuple[Signature, Replay | None]:
    """What this call has in common with those that repeat it, None where it has to go
    through torch's operators; and the earlier call that it repeats, or None. Written
    out, because this is most of what a launch costs. The runtime checks the rest: that the shapes
    of k and v agree, and all strides."""
    if _function_mode() or _dispatch_modes() or _transform() or _trace() or _forward_ad._current_level >= 0:
        return None, None
    if not (type(q) is type(k) is type(v) is _Tensor) or q.is_neg() or k.is_neg() or v.is_neg():
        return None, None
    needs = (q.requires_grad, k.requires_grad, v.requires_grad) if _grad_enabled() else _NO_NEEDS
    if needs == _NO_NEEDS:
        needs = ()
    elif out is not None or lse is not None:
        return None, None
    try:
        if _autocast() and q.dtype != _cast_to(q.device.type):
            return None, None
        if (out is not None or lse is not None) and not _may_write(out, lse):
            return None, None
        call = options, q.shape, v.shape, q.dtype, q.get_device(), needs
        return call, _remembered.replays.get(call)
    except (TypeError, RuntimeError):  # an option that cannot be compared; a tensor without a version, or a shape
        return None, None


def _cast_to(device: str) -> torch.dtype | None:
    """The element type that torch.autocast gives attention on the device; None if it changes none."""
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None


def _may_write(out: Any, lse: Any) -> bool:
    """Whether a launch may write the tensors; the runtime checks overlaps. An inference
    tensor has no version: outside of inference mode this raises RuntimeError."""
    has_versions, has_gradients = not _inference_mode(), _grad_enabled()
    for tensor in (out, lse):
        if tensor is not None and (type(tensor) is not _Tensor or tensor.is_neg() or (has_gradients and tensor.requires_grad)
                                   or (has_versions and tensor._version < 0)):
            return False
    return True


def remember(signature: tuple[Any, ...], call: Call, executable: Executable, tensors: Sequence[Any]) -> None:
    """Makes later calls with this signature repeat the one with these tensors, which are q, k, v, out and lse as the
    kernel takes them."""
    if not _PLAIN.issuperset(map(type, signature[0])):
        return  # an object whose value may change
    if executable.plan_order != sorted(executable.plan_order):
        return  # the runtime takes tensors in the plan's order
    replays = _remembered.replays
    if len(replays) >= _MOST:
        replays.clear()
    replays[signature] = (TrainingReplay if signature[-1] else Replay)(call, executable, tensors)


class _Launch:
    """A launch, except for its tensors, stream and workspace."""

    # Whether a launch that has a workspace of its own is given one with its tensors.
    _may_give_workspace = False

    def __init__(self, call: Call, executable: Executable, tensors: Sequence[Any]):
        """The tensors are in the order of `Executable.launch`, as the kernels take them."""
        views = [_tensors.view(tensor, arg["name"]) for tensor, arg in zip(tensors, executable.tensor_args)]
        self._frame = executable.new_frame()
        self._frame.fill(views, call.floats, call.ints, None)
        self._executable, self._device = executable, views[0].device
        self._workspace_size = executable.workspace_size(self._frame)
        self._space: _tensors.View | None = None
        self._gives_workspace = self._may_give_workspace and executable.has_own_workspace(self._workspace_size)
        kind = (_capi.GIVEN_WORKSPACE if self._gives_workspace else
                _capi.KEPT_WORKSPACE if self._workspace_size else _capi.NO_WORKSPACE)
        assert _EXCHANGE is not None  # otherwise no call has a signature
        self._objects = _capi.ObjectLaunch(executable.bundle, _EXCHANGE, call.heads_first, self._frame.args, kind)
        self._launch = self._objects.function

    def _find_workspace(self, q: Any) -> bool:
        """Makes the workspace that of the current stream, if launches may share one."""
        stream = _tensors.current_stream(q)
        if stream is not None and _tensors.is_capturing(q):
            return False
        space, _ = self._executable.workspace(q, self._device, self._workspace_size, stream)
        self._space = space
        self._objects.set_workspace(space.pointer, space.shape[0], stream)
        return True


class Replay(_Launch):
    """A call of attention without gradients."""

    def __init__(self, call: Call, executable: Executable, tensors: Sequence[Any]):
        super().__init__(call, executable, tensors)
        # Packed, like the results that a call allocates: this call's outputs may be views.
        lse, out = tensors[4], torch.empty(tensors[3].shape, device="meta")
        out = out.transpose(1, 2) if call.heads_first else out
        self._out_shape, self._out_strides = out.shape, out.stride()
        # torch allocates a tensor like another one fastest. This one has a single element.
        self._like_lse = lse.new_empty(1).expand(lse.shape)

    def __call__(self, q: Any, k: Any, v: Any, out: Any = None, lse: Any = None) -> tuple[Any, Any] | None:
        """The results; None if this launch turns out not to fit the tensors."""
        given_out, given_lse = out, lse
        try:
            if out is None:
                out = q.new_empty_strided(self._out_shape, self._out_strides)
            if lse is None:
                lse = _empty_like(self._like_lse)
            launched = self._launch(q, k, v, out, lse)
            if launched is None and self._find_workspace(q):
                launched = self._launch(q, k, v, out, lse)
        except Exception:  # torch raises it: some tensors, such as sparse ones, have no memory
            return None
        if not launched:
            return None
        if given_out is not None or given_lse is not None:
            _increment_versions((out, lse))
        return out, lse

    def output(self, q: Any, k: Any, v: Any) -> Any:
        """Of the results, the output alone."""
        results = self(q, k, v)
        return results and results[0]


class TrainingReplay(Replay):
    """A call of attention that torch differentiates."""

    def __init__(self, call: Call, executable: Executable, tensors: Sequence[Any]):
        super().__init__(call, executable, tensors)
        call.again = gradients_again
        self.call, self.results = call, super().__call__

    def __call__(self, q: Any, k: Any, v: Any, out: Any = None, lse: Any = None) -> tuple[Any, Any] | None:
        try:
            return _apply(self.call, self.results, q, k, v)
        except Unfit:
            return None

    def output(self, q: Any, k: Any, v: Any) -> Any:
        try:
            return _apply_output(self, q, k, v)
        except Unfit:
            return None


class _Output(torch.autograd.Function):
    """The output of a TrainingReplay. A function with one result costs torch less time than Attention, which has two."""

    @staticmethod
    def forward(ctx: Any, replay: TrainingReplay, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
        results = replay.results(q, k, v)
        if results is None:
            raise Unfit
        out, lse = results
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.set_materialize_grads(False)
        ctx.call = replay.call
        return out

    @staticmethod
    def backward(ctx: Any, of_out: torch.Tensor | None) -> Any:
        needs = ctx.needs_input_grad
        if of_out is None:
            return (None,) * len(needs)
        return None, *ctx.call.gradients(needs[1:], (of_out, None), ctx.saved_tensors)


_apply_output: Callable[..., Any] = super(torch.autograd.Function, _Output).apply  # type: ignore[misc]


def gradients_again(call: Call, needs: tuple[bool, ...], of_results: Sequence[Any], tensors: Sequence[Any]) -> Any:
    """The gradients of a call that is repeated, None where they have to go through torch's operator."""
    if _grad_enabled() or _function_mode() or _dispatch_modes() or _transform() or _trace() or _forward_ad._current_level >= 0:
        return None
    for tensor in of_results:
        if tensor is not None and (type(tensor) is not _Tensor or tensor.is_neg()):
            return None
    q, k, v, out, lse = tensors
    if not (type(q) is type(k) is type(v) is type(out) is type(lse) is _Tensor):  # a hook may have replaced one that was saved
        return None
    key = call, needs, call.deterministic
    known = _remembered.gradients
    replay = known.get(key)
    if replay is None:
        if len(known) >= _MOST:
            known.clear()
        try:
            replay = known[key] = GradientReplay(*key, tensors)
        except Exception:  # the operator reports it
            return None
    return replay(of_results, tensors)


class GradientReplay(_Launch):
    """A call of attn::backward."""

    _may_give_workspace = True

    def __init__(self, call: Call, needs: Sequence[bool], deterministic: bool, tensors: Sequence[Any]):
        """`tensors` are q, k, v, out and lse as the user has them."""
        q, k, v, out, lse = tensors
        if not (q.numel() and k.numel() and v.numel()):
            raise Unfit
        self._wanted, self._needs, self._needs_all = Wanted.of(needs), needs, all(needs)
        self._no_gradient = readable_rows(None, lse)
        executable = gradients_of(call.ir, self._wanted, deterministic, target_of(_tensors.device_of(q)))
        written = [x for x, is_wanted in zip((q, k, v), self._wanted.each) if is_wanted]
        given = [x.transpose(1, 2) if call.heads_first and x.dim() == 4 else x
                 for x in (*tensors, out, self._no_gradient, *written)]
        super().__init__(call, executable, given)
        self._in_plan_order = operator.itemgetter(*executable.plan_order)
        if self._gives_workspace:
            self._like_workspace = _tensors.like_workspace(q, self._workspace_size)

    def _new_workspace(self) -> Any:
        memory = _empty_like(self._like_workspace)
        return memory if memory.is_cuda else _tensors.aligned(memory, self._workspace_size)

    def __call__(self, of_results: Sequence[Any], tensors: Sequence[Any]) -> Any:
        """The gradients of q, k and v; None if this launch turns out not to fit the tensors."""
        out_gradient, lse_gradient = of_results
        if out_gradient is None:
            return None
        q, k, v, out, lse = tensors
        if lse_gradient is None:
            lse_gradient = self._no_gradient
        wants_q, wants_kv, _ = self._wanted
        found: tuple[Any, Any, Any]
        if wants_q and wants_kv:
            found = of_q, of_k, of_v = _empty_like(q), _empty_like(k), _empty_like(v)
            given = self._in_plan_order((q, k, v, out, lse, out_gradient, lse_gradient, of_q, of_k, of_v))
        elif wants_q:
            found = _empty_like(q), None, None
            given = self._in_plan_order((q, k, v, out, lse, out_gradient, lse_gradient, found[0]))
        else:
            found = None, _empty_like(k), _empty_like(v)
            given = self._in_plan_order((q, k, v, out, lse, out_gradient, lse_gradient, *found[1:]))
        try:
            if self._gives_workspace:
                launched = self._launch(*given, self._new_workspace())
            else:
                launched = self._launch(*given)
                if launched is None and self._find_workspace(q):
                    launched = self._launch(*given)
        except Exception:  # torch raises it: some tensors have no memory
            return None
        if not launched:
            return None
        return found if self._needs_all else [gradient if need else None for gradient, need in zip(found, self._needs)]
