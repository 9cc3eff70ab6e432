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

from conformance.generate.domains import draw_elements
from conformance.generate.matrices import MATRICES, matrices
from conformance.generate.odds import SketchOdds
from conformance.generate.sources import FastSource
from conformance.ops.dtypes import OTHER_KIND, is_complex
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from typing import Any

POOL = 997
"""A prime, so that no axis has a period in common with it."""
TIES = "ties"
"""In the place of a domain: numbers of which several are equal."""


def elements(shape: tuple[int, ...], domain: Domain | None, dtype: str, *, exact: bool, name: str) -> Any:
    """Return the elements of a tensor, inside a domain; the ``name`` says which."""
    if domain in MATRICES:
        return matrices(elements(shape, None, dtype, exact=exact, name=name), domain)
    if is_complex(dtype):
        parts = OTHER_KIND[dtype]
        real = elements(shape, domain, parts, exact=exact, name=name)
        return (real + 1j * elements(shape, None, parts, exact=exact, name=f"{name} i")).astype(dtype)
    odds, start, count = SketchOdds(), crc32(name.encode()), math.prod(shape)
    tied = not exact and domain is None and start % round(1 / odds.tied) == 0
    drawn = np.take(_pool(domain, exact, tied=tied), np.arange(start, start + count) % POOL)
    if domain == Domain.DISTINCT:
        drawn = odds.apart * (np.argsort(np.argsort(drawn)) - count // 2)
    return drawn.astype(dtype).reshape(shape)


@functools.cache
def _pool(domain: Domain | None, exact: bool, *, tied: bool) -> Any:
    source = FastSource(crc32((TIES if tied else domain or "").encode()), exact)
    odds = SketchOdds()
    if tied:
        return np.array([source.choice(odds.ties) for _ in range(POOL)])
    if domain == Domain.DISTINCT:
        return np.array(source.shuffled(range(POOL)), np.float64)
    return draw_elements(source, odds, (POOL,), domain, "float64", exact=exact)
