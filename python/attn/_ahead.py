# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads that compile kernels before they are needed. The interpreter's exit gives their work up."""

from __future__ import annotations

import atexit
import os
import threading
from concurrent.futures import Future
from typing import Optional, Tuple

from . import _capi

# A module, its target, and the arguments whose gradients are compiled, with sums in any order or not.
Request = Tuple[str, Optional[str], Tuple[str, ...], bool]


class _State:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.started: dict[Request, Future[None]] = {}
        self.running: set[threading.Thread] = set()
        self.ends = False


_state = _State()


def start(request: Request) -> Future[None] | None:
    """What becomes of a thread that compiles the request, started by this call or an earlier one. None where no thread can
    start, and for a request that has failed: its next error belongs to who asks again."""
    made: Future[None] = Future()
    # A daemon, or the interpreter would wait for it before it calls `_give_up`.
    thread = threading.Thread(target=_compile, args=(_state, request, made), name="attn.compile_ahead", daemon=True)
    with _state.lock:
        found = _state.started.get(request)
        if found is not None:
            return None if found.done() and found.exception() else found
        if _state.ends:
            return None
        try:
            thread.start()
        except RuntimeError:
            return None
        _state.started[request] = made
        _state.running.add(thread)
    return made


def has_made(request: Request) -> bool:
    """Whether a thread has compiled the request."""
    found = _state.started.get(request)
    return found is not None and found.done() and not found.exception()


def _compile(state: _State, request: Request, made: Future[None]) -> None:
    ir, target, gradients, any_order = request
    try:
        _capi.Bundle(ir, target, gradients, any_order, ahead=True)
    except BaseException as error:
        made.set_exception(error)
    else:
        made.set_result(None)
    with state.lock:
        state.running.discard(threading.current_thread())


@atexit.register
def _give_up() -> None:
    """A thread must not run the compiler while the process unloads it."""
    with _state.lock:
        _state.ends, threads = True, list(_state.running)
    if threads:
        _capi.give_up_ahead()
    for thread in threads:
        thread.join()


def _forget() -> None:
    """In the child of a fork there are no such threads."""
    global _state  # noqa: PLW0603, whose lock another thread may hold
    _state = _State()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
