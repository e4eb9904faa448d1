# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlexAttention's BlockMask: which blocks of keys a block of queries sees, besides a
mask function. Kernels do not use it to skip blocks. If the blocks follow from the function, as
those of torch's create_block_mask do, kernels compute only the function; otherwise they read the
blocks as well."""

from __future__ import annotations

import re
import weakref
from typing import Any, Callable

from . import _tensors
from ._errors import ArgumentError
from ._symbols import Scalar
from ._trace import Regions, regions_of

_ABSENT, _PARTIAL, _FULL = 0, 1, 2
# The blocks of a mask with more elements are not compared with its function; kernels read them.
_MAX_COMPARED = 1 << 28
_COMPARED_AT_ONCE = 1 << 24
_NO_BLOCKS = 1 << 30  # torch's block size for a mask that has none

# By mask: its state when it was compared, and whether its blocks follow from its function.
_compared: weakref.WeakKeyDictionary[Any, tuple[Any, bool]] = weakref.WeakKeyDictionary()


def is_block_mask(value: Any) -> bool:
    return hasattr(value, "mask_mod") and hasattr(value, "kv_num_blocks")


def regions_with_blocks(score_mod: Callable[..., Any] | None, block_mask: Any, query: Any, key: Any) -> Regions:
    """The regions of `score_mod` and of the mask."""
    _check(block_mask, query, key)
    plain = regions_of(score_mod, block_mask.mask_mod)
    if _blocks_follow(block_mask, plain, query.shape[0], query.shape[1]):
        return plain
    return regions_of(score_mod, _reading(_blocks(block_mask), block_mask))


def _check(block_mask: Any, query: Any, key: Any) -> None:
    lengths, given = tuple(block_mask.seq_lengths), (query.shape[2], key.shape[2])
    if tuple(block_mask.BLOCK_SIZE) != (_NO_BLOCKS, _NO_BLOCKS) and lengths != given:
        raise ArgumentError(f"expected 'mask_mod' to be a BlockMask for {given[0]} queries and {given[1]} keys, got one for "
                            f"{lengths[0]} and {lengths[1]}")
    table = block_mask.kv_indices
    shape = (1,) * (4 - table.dim()) + tuple(table.shape)
    for name, size, wanted in (("batches", shape[0], query.shape[0]), ("heads", shape[1], query.shape[1])):
        if size not in (1, wanted):
            raise ArgumentError(f"expected 'mask_mod' to be a BlockMask for {wanted} {name}, got one for {size}")
    if _tensors.is_torch(query) and table.device != query.device:
        raise ArgumentError(f"expected 'mask_mod' to be a BlockMask on the device of 'query', {query.device}, got {table.device}")


def _blocks(block_mask: Any) -> Any:
    """The state of each block: (batch or 1, heads or 1, blocks of queries, blocks of keys)."""
    torch = _tensors.torch_module()
    indices = block_mask.kv_indices
    states = torch.zeros((*indices.shape[:-1], indices.shape[-1] + 1), dtype=torch.int32, device=indices.device)
    places = torch.arange(indices.shape[-1], device=indices.device)
    for state, counts, indices in ((_PARTIAL, block_mask.kv_num_blocks, block_mask.kv_indices),
                                   (_FULL, block_mask.full_kv_num_blocks, block_mask.full_kv_indices)):
        if counts is not None:
            # Entries after the listed indices go to a column of their own.
            listed = torch.where(places < counts[..., None], indices, indices.shape[-1]).long()
            states.scatter_(-1, listed, state)
    states = states[..., :-1].contiguous()
    return states.reshape((1,) * (4 - states.dim()) + tuple(states.shape))


def _reading(blocks: Any, block_mask: Any) -> Callable[..., Any]:
    """The mask function that reads the blocks."""
    mask_mod, (rows, columns) = block_mask.mask_mod, block_mask.BLOCK_SIZE
    by_batch, by_head = (size > 1 for size in blocks.shape[:2])

    def allowed(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        state = blocks[b if by_batch else 0, h if by_head else 0, q_idx // rows, kv_idx // columns]
        return (state == _FULL) | ((state == _PARTIAL) & mask_mod(b, h, q_idx, kv_idx))

    return allowed


# Whether the blocks follow from the function.


def _blocks_follow(block_mask: Any, plain: Regions, batches: int, heads: int) -> bool:
    if tuple(block_mask.BLOCK_SIZE) == (_NO_BLOCKS, _NO_BLOCKS):
        return True
    assert plain.allow is not None  # a BlockMask always has a function, which may be true everywhere
    read = set(re.findall(r"%[\w.]+", " ".join(plain.allow.lines)))
    # only once, if the mask is the same for all
    batches, heads = batches if "%b" in read else 1, heads if "%h" in read else 1
    values = [captured.value for captured in plain.trace.captures if captured.operand in read]
    state = _state(block_mask, plain, values, (batches, heads))
    if state is None:
        return False
    known = _compared.get(block_mask)
    if known is None or known[0] != state:
        tables = block_mask.kv_indices
        if tables.is_cuda and _tensors.is_capturing(tables):
            return False  # the comparison waits for the device
        known = _compared[block_mask] = state, _compare(block_mask, batches, heads)
    return known[1]


def _state(block_mask: Any, plain: Regions, captured: list[Any], sizes: tuple[int, int]) -> Any:
    """Everything that the comparison depends on; None if a change could go unnoticed."""
    tables = (block_mask.kv_num_blocks, block_mask.kv_indices, block_mask.full_kv_num_blocks, block_mask.full_kv_indices)
    state: list[Any] = [plain.allow, tuple(block_mask.BLOCK_SIZE), tuple(block_mask.seq_lengths), sizes]
    for value in (*tables, *captured):
        if isinstance(value, Scalar):
            state.append(value.value)
        elif value is None:
            state.append(None)
        elif not _tensors.is_torch(value) or value.is_inference():
            return None
        else:
            state.append((value.data_ptr(), value._version, value.dtype, tuple(value.shape), value.stride()))
    return state


def _compare(block_mask: Any, batches: int, heads: int) -> bool:
    """Whether the function is false in all absent blocks and true in all full ones."""
    from torch.nn.attention.flex_attention import create_mask

    blocks, (rows, columns) = _blocks(block_mask), block_mask.BLOCK_SIZE
    queries, keys = block_mask.seq_lengths
    if batches * heads * queries * keys > _MAX_COMPARED:
        return False
    step = max(1, _COMPARED_AT_ONCE // max(batches * heads * keys * rows, 1))  # blocks of queries
    for first in range(0, -(-queries // rows), step):
        start = first * rows
        count = min(step * rows, queries - start)

        def shifted(b: Any, h: Any, q_idx: Any, kv_idx: Any, start: int = start) -> Any:
            return block_mask.mask_mod(b, h, q_idx + start, kv_idx)

        mask = create_mask(shifted, batches, heads, count, keys, blocks.device)
        some, every = (_of_blocks(mask, rows, columns, fill) for fill in (False, True))
        states = blocks[:, :, first:first + step, :every.shape[-1]]
        if states.shape[2:] != every.shape[2:]:
            return False
        if bool(((states == _ABSENT) & some).any()) or bool(((states == _FULL) & ~every).any()):
            return False
    return True


def _of_blocks(mask: Any, rows: int, columns: int, every: bool) -> Any:
    """Whether any or every element of each block is true; elements outside the mask do not
    count."""
    torch = _tensors.torch_module()
    missing = (-mask.shape[3] % columns, -mask.shape[2] % rows)
    mask = torch.nn.functional.pad(mask, (0, missing[0], 0, missing[1]), value=every)
    mask = mask.unflatten(3, (-1, columns)).unflatten(2, (-1, rows))
    return mask.amin((3, 5)) if every else mask.amax((3, 5))
