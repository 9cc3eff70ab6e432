"""Choice sources: where a generator's decisions come from.

`FastSource` is a plain random stream: case *i* of seed *s* is the same on every machine, in any order of drawing. `HypothesisSource`
draws the same decisions from Hypothesis, which can then shrink them; every choice is written so that smaller is simpler.
"""

from __future__ import annotations

import functools
import math
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.ops.sampler import T

GRAIN = 1 << 16


class FastSource:
    """A seeded random stream. Only ``random()`` is drawn from the generator: Python guarantees that its sequence never changes."""

    __slots__ = ("_random",)

    def __init__(self, seed: int, index: int) -> None:
        self._random = random.Random((seed << 64) | index).random  # noqa: S311 - reproducible, not secret

    def integer(self, low: int, high: int) -> int:
        return low + int(self._random() * (high - low + 1))

    def uniform(self, low: float, high: float) -> float:
        return low + self._random() * (high - low)

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def choice(self, options: Sequence[T]) -> T:
        return options[int(self._random() * len(options))]

    def subset(self, options: Sequence[T], at_least: int = 0) -> list[T]:
        count = self.integer(at_least, len(options))
        chosen = set(self.shuffled(range(len(options)))[:count])
        return [option for i, option in enumerate(options) if i in chosen]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        left = list(options)
        for i in range(len(left) - 1, 0, -1):
            j = int(self._random() * (i + 1))
            left[i], left[j] = left[j], left[i]
        return left


class HypothesisSource:
    """The same decisions, drawn from Hypothesis; ``draw`` is what ``@composite`` passes. Real numbers are multiples of 1 / `GRAIN`."""

    __slots__ = ("_draw", "_st")

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        from hypothesis import strategies

        self._draw = draw
        self._st = strategies

    def integer(self, low: int, high: int) -> int:
        return self._draw(_integers(low, high))  # type: ignore[no-any-return]

    def uniform(self, low: float, high: float) -> float:
        # No floats(): it draws special values (subnormal numbers, the largest), which are drawn where they are meant.
        return self.integer(math.ceil(low * GRAIN), math.floor(high * GRAIN)) / GRAIN

    def chance(self, probability: float) -> bool:
        return self._draw(_integers(0, 99)) >= 100 - round(100 * probability)  # type: ignore[no-any-return]

    def choice(self, options: Sequence[T]) -> T:
        return options[self.integer(0, len(options) - 1)]

    def subset(self, options: Sequence[T], at_least: int = 0) -> list[T]:
        if not options:
            return []
        count = self.integer(at_least, len(options))
        chosen = self._draw(self._st.lists(_integers(0, len(options) - 1), min_size=count, max_size=count, unique=True))
        return [option for i, option in enumerate(options) if i in chosen]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        return self._draw(self._st.permutations(list(options)))  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=1024)
def _integers(low: int, high: int) -> Any:
    """Return the strategy of a range; making one takes as long as drawing from it."""
    from hypothesis import strategies

    return strategies.integers(low, high)
