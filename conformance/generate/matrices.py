"""Matrices that a decomposition can be asked of, so that a bound of rounding means something: far from singular, spectrum separated.

The elements are drawn like any others, and made smaller beside the diagonal; on it stand 1, 2, 3 and so on in the order of what was
drawn there. By Gershgorin's theorem every eigenvalue lies near one of these, each near another one, and singular values accordingly.
Where pivots matter the rows are in another order, so that there is something to exchange, and no two candidates are close.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.tape.primitive import Domain

MATRICES = frozenset({Domain.DOMINANT, Domain.DEFINITE, Domain.PIVOTED})
UNREPEATED = MATRICES | {Domain.DISTINCT}
"""Domains that no tensor lies in whose elements repeat along an axis."""
BESIDE = 0.4
"""What the elements beside the diagonal sum to in any row or column, at most: less than half of the distance of neighbours on it."""


def matrices(drawn: Any, domain: Domain) -> Any:
    """Return matrices of a domain, of the shape and dtype of ``drawn``."""
    made = dominant(drawn, definite=domain == Domain.DEFINITE)
    if domain != Domain.PIVOTED or drawn.ndim < 2 or 0 in drawn.shape:
        return made
    return _with_rows(made, np.argsort(drawn[..., 0].real, axis=-1, kind="stable"))


def are_matrices(array: Any, margin: float, domain: Domain) -> bool:
    """Whether an array is known to be of a domain of matrices."""
    if domain == Domain.PIVOTED and array.ndim >= 2:
        count = min(array.shape[-2:])
        turn = np.full(array.shape[:-1], count)
        np.put_along_axis(turn, np.abs(array).argmax(-2)[..., :count], np.arange(count), -1)
        array = _with_rows(array, np.argsort(turn, axis=-1, kind="stable"))
    return is_dominant(array, margin, definite=domain == Domain.DEFINITE)


def _with_rows(array: Any, order: Any) -> Any:
    return np.take_along_axis(array, order[..., None], -2)


def dominant(drawn: Any, *, definite: bool) -> Any:
    """Return matrices of the shape and dtype of ``drawn``; ``definite``: all elements on the diagonal are positive."""
    if drawn.ndim < 2 or 0 in drawn.shape:
        return drawn
    made = drawn * (BESIDE / (max(drawn.shape[-2:]) * np.maximum(1.0, np.abs(drawn).max())))
    on = np.arange(min(drawn.shape[-2:]))
    diagonal = drawn[..., on, on].real
    sizes = 1.0 + np.argsort(np.argsort(diagonal, axis=-1), axis=-1)
    made[..., on, on] = sizes if definite else np.where(diagonal < 0, -sizes, sizes)
    return made.astype(drawn.dtype)


def is_dominant(array: Any, margin: float, *, definite: bool) -> bool:
    """Whether matrices are known to be of that kind: by how much their diagonal outweighs the rest."""
    if array.ndim < 2:
        return False
    on = np.arange(min(array.shape[-2:]))
    diagonal = array[..., on, on]
    rest = np.abs(array)
    rest[..., on, on] = 0
    beside = np.maximum(rest.sum(-1).max(-1), rest.sum(-2).max(-1))[..., None]
    sizes = np.sort(np.abs(diagonal), axis=-1)
    apart = np.diff(sizes, axis=-1)
    positive = not definite or bool((diagonal.real == np.abs(diagonal)).all())
    return positive and bool((sizes >= beside + margin).all()) and bool((apart >= 2 * beside + margin).all())
