# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`attn.compile`, and the kernels that it returns."""

from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple, Sequence, Tuple

from . import _capi
from ._call import attend, bind, outside_of_compile, repeat
from ._captures import Captured
from ._checks import integer, mask_bound, number
from ._errors import ArgumentError, AttnError, UnsupportedError
from ._executable import Executable, target_of
from ._ir import Problem
from ._masks import BOUNDS, MASKS
from ._sources import Place, places_of
from ._torch_rules import accept, accept_operands
from ._trace import MAX_POSITIONS, regions_of
from ._words import Words

_DTYPES = {"bf16": "bf16", "bfloat16": "bf16", "f16": "f16", "float16": "f16", "half": "f16"}
_LAYOUTS = ("bshd", "bhsd")

# The options that are fixed when a kernel is compiled, and the tensors that its functions read.
Traced = Tuple[Problem, "list[Captured]"]


class _Program(NamedTuple):
    """The result of tracing the functions, as one value, because another thread may trace them
    again."""

    problem: Problem
    captures: list[Captured]
    ir: str
    name: str  # identifies it in the signature of an earlier call
    sources: list[tuple[Any, Any, list[Place]]]  # values, their kinds, and the places they are read from

    def is_stale(self) -> bool:
        """Whether a tensor that the functions read may have been replaced, or may have changed
        its element type or rank. A tensor that a function computes itself may differ in every
        call."""
        for value, kind, places in self.sources:
            if not places or kind != _kind(value):
                return True
            for place in places:
                if not place.holds(value):
                    return True
        return False


def _kind(value: Any) -> Any:
    """The properties of a captured tensor that a kernel is compiled for."""
    if not hasattr(value, "shape"):
        return None
    rank = len(value.shape)
    return value.dtype, rank, rank == 0 and getattr(value, "requires_grad", False)


class Kernel:
    """One compiled attention. Call it with q, k and v; `attn.compile` makes it.

    Attributes:
        problem: what was fixed when it was compiled.
        ir: the same as the compiler's input, in MLIR's text.
        layout: "bshd" or "bhsd", how tensors are passed.
    """

    def __init__(self, problem: Problem, captures: list[Captured], layout: str,
                 functions: Sequence[Callable[..., Any]] = (), trace: Callable[[], Traced] | None = None):
        """`trace` traces the functions again, for later calls."""
        self.layout, self._functions, self._trace = layout, functions, trace
        self._program = self._make_program(problem, captures)
        self._heads_first = layout == "bhsd"
        self._words = Words(heads_first=self._heads_first)
        self._scale = 1 / math.sqrt(problem.head_dim)
        # (dim of the capture, coordinate) pairs, and the dim of q or k that bounds the
        # coordinate.
        position, head = (2, 1) if self._heads_first else (1, 2)
        self._extents = {"b": (0, 0), "h": (0, head), "i": (0, position), "j": (1, position)}

    def _make_program(self, problem: Problem, captures: list[Captured]) -> _Program:
        ir = problem.to_ir()
        placed = [captured for captured in captures if captured.has_place] if self._trace else []
        values = [captured.value for captured in placed]
        kinds = [_kind(value) for value in values]
        sources = list(zip(values, kinds, places_of(self._functions, values)))
        return _Program(problem, captures, ir, f"{self.layout} {ir}", sources)

    def _trace_again(self) -> None:
        """Makes the kernel read the tensors and numbers that the functions read now. Compiles another kernel if
        element
        types or ranks have changed."""
        if self._trace:
            self._program = self._make_program(*self._trace())

    @property
    def problem(self) -> Problem:
        return self._program.problem

    @property
    def ir(self) -> str:
        return self.problem.to_lines()

    def __repr__(self) -> str:
        p = self.problem
        return f"<attn.Kernel {p.dtype} head_dim {p.head_dim}, {p.head_dim_v} mask {p.mask} layout {self.layout}>"

    def __call__(self, q: Any, k: Any, v: Any, *, scale: float | None = None, out: Any = None, lse: Any = None,
                 **bounds: int) -> tuple[Any, Any]:
        """Computes attention on the current stream of the tensors' device.

        Args:
            q: (batch, seqlen_q, heads, head_dim) in layout "bshd", (batch, heads,
                seqlen_q, head_dim) in layout "bhsd"; bf16 or f16, the last dim
                contiguous, rows aligned to 16 bytes.
            k: the same with seqlen_k and kv_heads, a divisor of heads.
            v: as `k`, with head_dim_v; in bf16 at most 1.3e36 / seqlen_k, or the output
                may be infinite.
            scale: multiplies the scores, greater than 0; 1 / sqrt(head_dim) if None.
            out: where to write the output; a new tensor if None.
            lse: where to write the log-sum-exp, f32; a new tensor if None.
            bounds: those of the kernel's mask, by name, such as `window_left`
                (docs/dialects/attn.md has all of them).

        Returns:
            (out, lse): out as `q` with head_dim_v, lse (batch, heads, seqlen_q) in
            f32, natural logarithms. A query that sees no key has out 0 and lse -inf.

        Raises:
            ArgumentError: a tensor or number breaks a rule; the message names it.
            UnsupportedError: a gradient that does not exist (docs/python.md has all).
            DeviceError: the device failed.
        """
        call, program = None, self._program
        if not program.captures:
            call, again = repeat((program.name, scale, *bounds.items()), q, k, v, out, lse)
            done = again and again(q, k, v, out, lse)
            if done:
                return done
        if program.is_stale():
            outside_of_compile(self._trace_again)
            program = self._program
        accept_operands(q=q, k=k, v=v)
        accept(scale=scale, out=out, lse=lse)
        self._check_bounds(program, q, k)
        tensors, floats, ints = bind(program.captures, q)
        given = self._bounds(bounds)
        return attend(program.ir, q, k, v, tensors, [self._scale if scale is None else number("scale", scale), *floats],
                      given + ints, out, lse, self._words, call)

    def prepare(self, device: int = 0) -> None:
        """Compiles the kernels for all sizes and loads them onto CUDA device number `device` now rather than
        in the first call that needs each. A call under CUDA graph capture needs this, or an earlier call with its sizes."""
        Executable.get(self._program.ir, target_of((_capi.CUDA, device))).prepare(device)

    def _bounds(self, bounds: dict[str, int]) -> list[int]:
        """The bounds of a call, in the order of the kernel's arguments."""
        wanted = self.problem.bounds
        for name in (*wanted, *bounds):
            if name not in BOUNDS:
                raise TypeError(f"unexpected argument '{name}'")
            if (name in wanted) != (bounds.get(name) is not None):
                raise ArgumentError(f"expected '{name}' {'' if name in wanted else 'not '}to be given: the kernel was "
                                    f"compiled with {name}={name in wanted}")
        return [mask_bound(name, bounds[name]) for name in BOUNDS if name in wanted]

    def _check_bounds(self, program: _Program, q: Any, k: Any) -> None:
        """Checks that captures are as long as the coordinates that index them, and that
        coordinates are within the ranges that tracing assumed."""
        if program.problem.score or program.problem.allow:
            for name, tensor in (("q", q), ("k", k)):
                if max(tensor.shape) > MAX_POSITIONS:
                    raise UnsupportedError(f"expected the dims of '{name}' to be at most {MAX_POSITIONS} for a kernel with "
                                           f"functions, got {tuple(tensor.shape)}")
        for captured in program.captures:
            for dim, coordinate in captured.bounds:
                which, axis = self._extents[coordinate]
                needed = (q, k)[which].shape[axis]
                if captured.value.shape[dim] < needed:
                    raise ArgumentError(f"expected dim {dim} of the captured tensor '{captured.name}' to be at least "
                                        f"{needed}, dim {axis} of '{'qk'[which]}', got {captured.value.shape[dim]}")


def compile(*, head_dim: int, head_dim_v: int | None = None, dtype: str = "bf16", mask: str = "none",
            score_mod: Callable[..., Any] | None = None, mask_mod: Callable[..., Any] | None = None,
            layout: str = "bshd", target: str | None = None, **bounds: bool) -> Kernel:
    """Compiles attention for all batch sizes, lengths, head counts and strides.

    Args:
        head_dim: of queries and keys; a multiple of 8, at most 256.
        head_dim_v: of values; head_dim if None.
        dtype: "bf16" or "f16", or a dtype of torch or numpy of that name.
        mask: a built-in mask, such as "none" or "causal_bottom_right" (docs/dialects/attn.md
            has all of them). "top_left" puts the diagonal through query 0 and key 0,
            "bottom_right" through the last query and the last key.
        score_mod: (score, b, h, q_idx, kv_idx) -> score, as for FlexAttention;
            applied after the scale and before the mask. See docs/python.md.
        mask_mod: (b, h, q_idx, kv_idx) -> whether the query sees the key; narrows
            `mask`. Tensors that the two close over become arguments of the kernel.
        layout: of tensors: "bshd" or "bhsd".
        target: the machine, such as "sm_90a"; the compiler's default if None.
        bounds: the optional bounds of the mask that calls give, by name: window_left=True. Calls
            always give the required ones.

    Raises:
        ArgumentError: an argument has none of these values.
        TraceError: a function uses an operation that cannot become part of a kernel.
        UnsupportedError: the compiler has no way to compile it; the message says what
            is missing.
        CompileError: the compiler failed on a problem that it should compile.
    """
    kernel = _kernel(head_dim, head_dim_v, dtype, mask, bounds, score_mod, mask_mod, layout)
    Executable.get(kernel._program.ir, target)
    return kernel


def why_unsupported(*, head_dim: int, head_dim_v: int | None = None, dtype: str = "bf16", mask: str = "none",
                    score_mod: Callable[..., Any] | None = None, mask_mod: Callable[..., Any] | None = None,
                    layout: str = "bshd", target: str | None = None, **bounds: bool) -> str:
    """The reason why `attn.compile` would refuse the same arguments, "" if it would not.
    Generates no code: only the passes before instruction selection run."""
    try:
        kernel = _kernel(head_dim, head_dim_v, dtype, mask, bounds, score_mod, mask_mod, layout)
    except AttnError as error:
        return str(error)
    return _capi.support_error(kernel._program.ir, target)


def explain(mask_mod: Callable[..., Any] | None = None, *, head_dim: int = 128, head_dim_v: int | None = None,
            dtype: str = "bf16", mask: str = "none", score_mod: Callable[..., Any] | None = None, layout: str = "bshd",
            target: str | None = None, **bounds: bool) -> str:
    """What the compiler decides about a mask function, or about any arguments of `attn.compile`, a
    decision a line: the mask or the interval of keys that it found in the function, the
    operations that stood in the way, and the schedule. See docs/mask-functions.md.

    Raises:
        As `attn.compile`, with the reason why the arguments cannot be compiled.
    """
    kernel = _kernel(head_dim, head_dim_v, dtype, mask, bounds, score_mod, mask_mod, layout)
    return _capi.explain(kernel._program.ir, target)


def _kernel(head_dim: int, head_dim_v: int | None, dtype: Any, mask: str, bounds: dict[str, bool],
            score_mod: Callable[..., Any] | None, mask_mod: Callable[..., Any] | None, layout: str) -> Kernel:
    for name, value, known in (("mask", mask, tuple(MASKS)), ("layout", layout, _LAYOUTS)):
        if value not in known:
            raise ArgumentError(f"expected '{name}' to be one of {', '.join(known)}, got {value!r}")
    head_dim = integer("head_dim", head_dim)
    head_dim_v = head_dim if head_dim_v is None else integer("head_dim_v", head_dim_v)
    for name, bound in bounds.items():
        if name not in BOUNDS:
            raise TypeError(f"unexpected argument '{name}'")
        if not isinstance(bound, bool):
            raise ArgumentError(f"expected '{name}' to be True or False, whether calls bring that bound, got {bound!r}")
    for name, function in (("score_mod", score_mod), ("mask_mod", mask_mod)):
        if function is not None and not callable(function):
            raise ArgumentError(f"expected '{name}' to be a function, got {function!r}")
    short = _DTYPES.get(str(getattr(dtype, "__name__", dtype)).rpartition(".")[2])
    if short is None:
        raise ArgumentError(f"expected 'dtype' to be bf16 or f16, got {dtype!r}")

    def traced() -> Traced:
        trace, score, allow = regions_of(score_mod, mask_mod)
        given = tuple(name for name in BOUNDS if name in MASKS[mask].needs or bounds.get(name))
        return Problem(short, head_dim, head_dim_v, mask, given, trace.signature(), score, allow), trace.captures

    return Kernel(*traced(), layout, [function for function in (score_mod, mask_mod) if function], traced)
