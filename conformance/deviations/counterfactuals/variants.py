"""The variants of a case: the counterfactual scripts that entries name, as far as they break no rule of the language.

An entry says what an engine answers by the answer to another script. Entries that stand in one another's answers ask for the same
variants again and again, so those of a case are kept, as `conformance.compare.promise.Promise.of` keeps what is promised for them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from conformance.case.files import is_right
from conformance.deviations.counterfactuals.scripts import COUNTERFACTUALS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.case import Case
    from conformance.case.place import StepNumber
    from conformance.deviations.counterfactuals.calls import Variant


def variants(said: Sequence[str], case: Case, number: StepNumber, above: tuple[str, ...]) -> Iterator[Variant]:
    """Yield the variants by the words that are ``said`` of a step, and the number that the step has in each; other words say none."""
    for words in filter(COUNTERFACTUALS.__contains__, said):
        yield from _made(words, case, number, above)


@functools.lru_cache(maxsize=1024)
def _made(words: str, case: Case, number: StepNumber, above: tuple[str, ...]) -> tuple[Variant, ...]:
    return tuple((other, moved) for other, moved in COUNTERFACTUALS[words](case, number, above) if is_right(other))
