"""Whose memory is held by somebody else, which no script says: nobody's, that of one of several, or that of all but one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Held = Callable[[int], bool]
    """Whether a memory is held, by how many came before it."""

MOST = 4
"""Of so many it is tried."""


def held_by_turns() -> Iterator[Held]:
    """Yield who may be held, that nobody is first."""
    yield lambda _: False
    for i in range(MOST):
        yield partial(int.__eq__, i)
        yield partial(int.__ne__, i)
