"""Numbers that were written over one another in words of four bytes, where they round: which words they may have.

The gradients of assigned values are written `WORD` bytes apart. What is read then has the lower half of one number beside that of
another. One rounding of a number changes its lower half to the next one, and so what is read to something else altogether: no bound of
it says anything. But each half is that of a number of which there is a bound, and of a double number few lower halves lie within that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.answers import answers
from conformance.deviations.counterfactuals.memory import WRITTEN_APART

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise

APART = "as if gradients of assigned values were written four bytes apart"
"""The words of the signature."""
HALF = 2**32
"""How many words of four bytes there are."""
SIGN = 2**63
"""What the sign of a double number counts in its bits."""


def is_written_apart(change: AbstractContextManager[None], promise: Promise, found: Mismatch) -> bool:
    """Whether what was answered is made of words that numbers may have which round and are written over one another."""
    got = found.actual_array
    if got.dtype not in (np.float64, np.complex64):
        return False
    words = np.ascontiguousarray(got).reshape(-1).view(np.uint32 if got.dtype == np.float64 else np.float32)
    with promise.under(change) as changed:
        told = [array for _, array in answers(changed, found.step, found)]
        for one in changed.applied(WRITTEN_APART.name):
            if any(array.size == one.out.size and np.array_equal(array.ravel(), one.out.ravel(), equal_nan=True) for array in told):
                centre, radius = changed.bounds.radius_of(one.arrays[0])
                numbers = one.arrays[0].dtype.type(centre.ravel()), radius.ravel()
                fits = _real_parts if got.dtype == np.complex64 else _halves
                if all(fits(*numbers, words)):
                    return True
    return False


def _halves(centre: Any, radius: Any, words: Any) -> Iterator[bool]:
    """Say of each word that is known whether it may be the lower half of its number, and of the last one, the upper half."""
    low, high = (np.maximum(0, np.abs(centre) + end) for end in (-radius, radius))
    least, most = ([int(n) for n in end.astype(np.float64).view(np.uint64)] for end in (low, high))
    for word, one, other in zip(words[: len(centre)], least, most, strict=True):
        yield (int(word) - one) % HALF <= other - one
    sign, upper = divmod(int(words[len(centre)]) * HALF, SIGN)
    yield bool(low[-1] == 0 or sign == (centre[-1] < 0)) and least[-1] // HALF <= upper // HALF <= most[-1] // HALF


def _real_parts(centre: Any, radius: Any, words: Any) -> Iterator[bool]:
    """Say of each word that is known whether it may be the real part of its number, and of the last one whether it may be the other."""
    for word, number, off in zip(words, [*centre.real, centre[-1].imag], [*radius, radius[-1]], strict=False):
        yield bool(abs(word - number) <= off)
