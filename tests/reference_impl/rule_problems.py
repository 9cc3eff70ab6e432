"""The problems at which the rules of an op are checked: what is written down, and what the generator draws."""

from __future__ import annotations

import functools
import zlib
from typing import TYPE_CHECKING

import numpy as np

from conformance.case.steps import Op
from conformance.generate.sketch import Sketch
from conformance.generate.sources import FastSource
from conformance.ops import catalogue
from reference_impl import OPS
from tests.reference_impl.rule_arguments import FUNCTIONS, ROWS, operands_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.reference_impl.rule_check import Problem

DRAWS = 6
"""How many draws of an op are checked."""
ATTEMPTS = 60

NOT_DRAWN = {
    "cast": "its draws go to float32, whose rounding is larger than any stencil's; checked by a row of its own",
    "gaussian_nll_loss": "its derivative knows nothing of the bound of the variance, which draws are below; checked by a row above it",
}
"""Ops of the catalogue whose draws are not used, with the reason."""

WRITTEN = {op for op, *_ in (*ROWS, *FUNCTIONS)}
DRAWN = set(catalogue()) - set(NOT_DRAWN)
CHECKED = [op for op in OPS if op in WRITTEN | DRAWN]


def random_of(op: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(op.encode()))


def written_problems(op: str) -> Iterator[Problem]:
    random = random_of(op)
    for name, shapes, attrs in ROWS:
        if name == op:
            yield functools.partial(OPS[op], **attrs), operands_for(op, shapes, random)
    for name, function, shapes in FUNCTIONS:
        if name == op:
            yield function, operands_for(op, shapes, random)


def drawn_problems(op: str, dtype: str | None = None) -> Iterator[Problem]:
    """Yield what the generator draws, without the draws that have no element to check."""
    if op not in DRAWN:
        return
    on_complex = catalogue()[op].family == "complex" or catalogue()[op].numbers.taken == "complex"
    dtype = dtype or ("complex128" if on_complex else "float64")
    for attempt in range(ATTEMPTS):
        sketch = Sketch(FastSource(zlib.crc32(op.encode()), attempt), exact=False, dtype=dtype)
        if not sketch.add_op(op):
            continue
        step = sketch.steps[-1]
        assert isinstance(step, Op)
        arrays = {made.name: made.array() for made in sketch.inputs}
        results = [value.array for value in sketch.values if value.name in step.results]
        if all(result.size for result in results) and all(arrays[name].size for name in step.operands):
            yield functools.partial(OPS[op], **step.attrs), [arrays[name] for name in step.operands]
