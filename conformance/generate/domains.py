"""Domains: numbers that an op can be asked of, drawn from a source, and whether given numbers are such.

What an op needs of its operands is said beside its forward (`reference_impl.tape.primitive.Domain`). Every domain keeps a margin from
the numbers at which an op is not defined or not smooth, since rounding may carry across what is too near.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.generate.matrices import MATRICES, are_matrices, matrices
from conformance.ops.dtypes import OTHER_KIND, is_complex
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.generate.odds import SketchOdds
    from conformance.ops.sampler import Source

UNBOUNDED = frozenset({None, Domain.NONZERO, Domain.POSITIVE})
"""Domains that infinity lies in. NaN lies in none, and an op is asked of it as of infinity."""
ONE = 1.0
"""Where the domains "unit" and "beyond one" meet, by their names."""


def draw_elements(
    source: Source, odds: SketchOdds, shape: tuple[int, ...], domain: Domain | None, dtype: str, *, exact: bool
) -> np.ndarray[Any, Any]:
    """Draw the elements of a tensor inside a domain; of a complex one the real parts lie in it."""
    if domain in MATRICES:
        made: np.ndarray[Any, Any] = matrices(draw_elements(source, odds, shape, None, dtype, exact=exact), domain)
        return made
    if is_complex(dtype):
        imaginary = draw_elements(source, odds, shape, None, OTHER_KIND[dtype], exact=exact)
        real = draw_elements(source, odds, shape, domain, OTHER_KIND[dtype], exact=exact)
        return (real + 1j * imaginary).astype(dtype)
    numbers = _draw_numbers(source, odds, domain, math.prod(shape), exact=exact)
    if domain == Domain.POSITIVE:
        numbers = [abs(x) + odds.margin for x in numbers]
    elif domain == Domain.NONZERO:
        numbers = [x + odds.margin if x >= 0 else x - odds.margin for x in numbers]
    return np.array(numbers, dtype=dtype).reshape(shape)


def _draw_numbers(source: Source, odds: SketchOdds, domain: Domain | None, count: int, *, exact: bool) -> list[float]:
    if domain == Domain.DISTINCT:
        return [odds.apart * k for k in source.shuffled(range(-(count // 2), count - count // 2))]
    if exact:
        return [source.integer(*odds.exact_numerators) / source.choice(odds.exact_denominators) for _ in range(count)]
    if domain == Domain.COUNT:
        return [float(source.integer(*odds.counts)) for _ in range(count)]
    if domain is None and source.chance(odds.tied):
        return [source.choice(odds.ties) for _ in range(count)]
    low, high = _interval(odds, domain)
    return [source.uniform(low, high) for _ in range(count)]


def _interval(odds: SketchOdds, domain: Domain | None) -> tuple[float, float]:
    """Return between which numbers the elements of a domain are drawn; what is positive is then moved by the margin."""
    match domain:
        case Domain.POSITIVE:
            return odds.positive_from, odds.positive_to
        case Domain.UNIT:
            return -(ONE - odds.margin), ONE - odds.margin
        case Domain.SHARE:
            return odds.margin, ONE - odds.margin
        case Domain.BEYOND_ONE:
            return ONE + odds.margin, ONE + odds.positive_to
        case _:
            return -odds.reach, odds.reach


def lies_in(array: np.ndarray[Any, Any], domain: Domain, margin: float) -> bool:
    """Whether the elements of an array are known to lie in a domain."""
    if array.size == 0:
        return True
    match domain:
        case Domain.DOMINANT | Domain.DEFINITE | Domain.PIVOTED:
            return are_matrices(array, margin, domain)
        case Domain.POSITIVE:
            return bool(array.real.min() >= margin)
        case Domain.NONZERO:
            return bool(np.abs(array).min() >= margin)
        case Domain.UNIT:
            return bool(np.abs(array).max() <= ONE - margin)
        case Domain.SHARE:
            return bool(array.min() >= margin and array.max() <= ONE - margin)
        case Domain.BEYOND_ONE:
            return bool(array.real.min() >= ONE + margin)
        case Domain.COUNT:
            return bool((array.real == np.rint(array.real)).all() and array.real.min() >= 0)
        case Domain.DISTINCT:
            ordered = np.sort(array, axis=None)
            return bool(array.size < 2 or (ordered[1:] - ordered[:-1]).min() >= margin)
