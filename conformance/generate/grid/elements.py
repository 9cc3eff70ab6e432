"""Elements: numbers as the generator draws them, many at once.

The grid has large tensors, and a decision for each of their elements would take longer than all else. So each kind of number is
drawn once (`POOL` of them), and a tensor takes a run of these that begins where its name says.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from conformance.generate.matrices import MATRICES, matrices
from conformance.generate.odds import SketchOdds
from conformance.generate.sketch import Sketch
from conformance.generate.sources import FastSource
from conformance.ops.dtypes import OTHER_KIND, is_complex

if TYPE_CHECKING:
    from typing import Any

POOL = 997
"""A prime, so that no axis has a period in common with it."""
DISTINCT = "distinct"
TIES = "ties"


def elements(shape: tuple[int, ...], domain: str | None, dtype: str, *, exact: bool, name: str) -> Any:
    """Return the elements of a tensor, inside a domain; the ``name`` says which."""
    if domain in MATRICES:
        return matrices(elements(shape, None, dtype, exact=exact, name=name), domain)
    if is_complex(dtype):
        parts = OTHER_KIND[dtype]
        real = elements(shape, domain, parts, exact=exact, name=name)
        return (real + 1j * elements(shape, None, parts, exact=exact, name=f"{name} i")).astype(dtype)
    odds, start, count = SketchOdds(), crc32(name.encode()), math.prod(shape)
    tied = not exact and domain is None and start % round(1 / odds.tied) == 0
    drawn = np.take(_pool(TIES if tied else domain or "", exact), np.arange(start, start + count) % POOL)
    if domain == DISTINCT:
        drawn = odds.apart * (np.argsort(np.argsort(drawn)) - count // 2)
    return drawn.astype(dtype).reshape(shape)


@functools.cache
def _pool(domain: str, exact: bool) -> Any:
    source = FastSource(crc32(domain.encode()), exact)
    odds = SketchOdds()
    if domain == DISTINCT:
        return np.array(source.shuffled(range(POOL)), np.float64)
    if domain == TIES:
        return np.array([source.choice(odds.ties) for _ in range(POOL)])
    return Sketch(source, exact=exact, dtype="float64").elements((POOL,), domain or None, "float64")
