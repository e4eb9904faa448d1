# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors in the caller's words. The runtime knows tensors by the kernel's names and order of dims; the caller may use
other names, and dims in another order."""

from __future__ import annotations

import re
from typing import NamedTuple

from ._errors import AttnError

_ATTENTION_RANK = 4
_FIELDS = {"query": "q", "key": "k", "value": "v", "output": "o"}


class Words(NamedTuple):
    """The caller's names of the query, key, value, output and LSE."""

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
        """The error in the caller's words. An error of a launch has the kernel's names, and
        knows their roles; other errors have the names of this class's fields."""
        fields = {f: f for f in "qkvo"} if error.roles is None else {
            name: _FIELDS[role] for name, role in error.roles.items() if role in _FIELDS}

        def renamed(found: re.Match[str]) -> str:
            dim, name = found[1], found[2]
            if name not in fields:
                return found[0]
            place = f"dim {self._dim(int(dim), fields[name])} of " if dim else ""
            return f"{place}'{getattr(self, fields[name])}'"

        return type(error)(re.sub(r"(?:dim (\d) of )?'([^']*)'", renamed, str(error)))

    def _dim(self, dim: int, field: str) -> int:
        swapped = 3 - dim if self.heads_first and dim in (1, 2) else dim
        return swapped + self.ranks["qkvo".index(field)] - _ATTENTION_RANK
