# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The built-in masks and the bounds that launches give them. docs/generate.py writes this file
from include/attn/dialect/Masks.td."""

from __future__ import annotations

from typing import NamedTuple


class Bound(NamedTuple):
    least: int
    meaning: str


class Mask(NamedTuple):
    meaning: str
    needs: tuple[str, ...]  # names of bounds
    takes: tuple[str, ...]
    needs_any: bool  # of those that it takes
    served: str  # the word of schedule tables for it


BOUNDS = {
    "window_left": Bound(0, "keys before the diagonal that a query sees"),
    "window_right": Bound(0, "keys after the diagonal that a query sees"),
    "chunk": Bound(1, "positions of a chunk"),
}
MASKS = {
    "none": Mask(
        "every key",
        (), (), False, "none"),
    "causal_top_left": Mask(
        "no key after the diagonal",
        (), ("window_left",), False, "causal_top_left"),
    "causal_bottom_right": Mask(
        "no key after the diagonal",
        (), ("window_left",), False, "causal_bottom_right"),
    "window_top_left": Mask(
        "no key outside its bounds",
        (), ("window_left", "window_right"), True, ""),
    "window_bottom_right": Mask(
        "no key outside its bounds",
        (), ("window_left", "window_right"), True, ""),
    "chunked_top_left": Mask(
        "no key after the diagonal, nor one of an earlier chunk: positions of keys are cut into chunks from key 0",
        ("chunk",), (), False, "causal_top_left"),
    "chunked_bottom_right": Mask(
        "no key after the diagonal, nor one of an earlier chunk: positions of keys are cut into chunks from key 0",
        ("chunk",), (), False, "causal_bottom_right"),
}
