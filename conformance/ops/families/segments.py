"""Reductions of segments: one row per op."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.ops.draws import has_rows
from conformance.ops.numbers import UNIMPLEMENTED, UNORDERED, real_only
from conformance.ops.spec import PLAIN, Drawn, OpSpec, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draw, Sampler


def _segments(*steps: int) -> Draw:
    """Draw a tensor and a number for each of its rows; from row to row the number grows by one of ``steps``."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(has_rows)
        first = s.source.choice(steps) if max(steps) > 1 else 0
        return [x], {"index": np.cumsum([first, *(s.source.choice(steps) for _ in range(1, x.shape[0]))]).tolist()}

    return draw


_row = partial(op, draw=_segments(0, 1), points=PLAIN, drawn=Drawn.NAMED)


def _segment(mode: str, rank: int, **more: Any) -> OpSpec:
    return _row(
        f"segment_{mode}",
        rank=rank,
        calls={
            "torch": f"torch.segment_reduce(x, '{mode}', lengths=torch.bincount(torch.tensor(index)))",
            "paddle": f"paddle.geometric.segment_{mode}(x, paddle.to_tensor(index))",
        },
        **more,
    )


ENTRIES = rows(
    "segments",
    _segment("sum", 292, draw=_segments(0, 1, 2), exact=True, numbers=real_only(UNIMPLEMENTED)),
    _segment("mean", 293, exact=False, numbers=real_only(UNIMPLEMENTED)),
    _segment("max", 294, exact=False, numbers=real_only(UNORDERED)),
    _segment("min", 295, exact=False, numbers=real_only(UNORDERED)),
)
