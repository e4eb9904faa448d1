# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors in the caller's words. The runtime knows tensors by the names and the dims that
the kernel has; the caller may have other names and the dims in another order."""

from __future__ import annotations

import re
from typing import NamedTuple

from ._errors import AttnError

_ATTENTION_RANK = 4


class Words(NamedTuple):
    """The caller's names of the tensors that the kernel calls q, k, v, o and lse."""

    q: str = "q"
    k: str = "k"
    v: str = "v"
    o: str = "out"
    lse: str = "lse"
    # The caller's dims are (batch, head, position, dim), the kernel's (batch, position, head, dim).
    heads_first: bool = False
    # How many dims the caller's q, k, v and o have.
    ranks: tuple[int, int, int, int] = (4, 4, 4, 4)

    def of(self, error: AttnError) -> AttnError:
        """The error of the runtime in the caller's words."""
        said = str(error)
        told = re.sub(r"dim (\d) of '([qkvo])'", lambda found: f"dim {self._dim(int(found[1]), found[2])} of '{found[2]}'", said)
        return type(error)(re.sub(r"'([qkvo])'", lambda found: f"'{getattr(self, found[1])}'", told))

    def _dim(self, dim: int, name: str) -> int:
        swapped = 3 - dim if self.heads_first and dim in (1, 2) else dim
        return swapped + self.ranks["qkvo".index(name)] - _ATTENTION_RANK
