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
MOST_OF_TWO = 2
"""Of so many all but one are the other one."""


def held_by_turns(several: Callable[[], int]) -> Iterator[Held]:
    """Yield who may be held, nobody first; then it is known how many there are, ``several``. One alone is right if it is held."""
    yield lambda _: False
    known = several()
    for i in range(min(known, MOST) if known > 1 else 0):
        yield partial(int.__eq__, i)
        if known > MOST_OF_TWO:
            yield partial(int.__ne__, i)
