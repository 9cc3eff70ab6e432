"""Matrices that a decomposition can be asked of, so that a bound of rounding means something: far from singular, spectrum separated.

The elements are drawn like any others, and made smaller beside the diagonal; on it stand 1, 2, 3 and so on in the order of what was
drawn there. By Gershgorin's theorem every eigenvalue lies near one of these, each near another one, and singular values accordingly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

DEFINITE = "definite"
MATRICES = frozenset({"dominant", DEFINITE})
UNREPEATED = MATRICES | {"distinct"}
"""Domains that no tensor lies in whose elements repeat along an axis."""
BESIDE = 0.4
"""What the elements beside the diagonal sum to in any row or column, at most: less than half of the distance of neighbours on it."""


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
