"""Cross entropies of probabilities: one row per op.

Targets and weights are attributes, as in `losses`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.ops.calls import both
from conformance.ops.corners import REDUCTIONS, each_reduction
from conformance.ops.draws import nested
from conformance.ops.families.losses import SHARES, WEIGHTS
from conformance.ops.numbers import UNIMPLEMENTED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, op, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.ops.sampler import Arguments, Sampler


def _numbers(s: Sampler, shape: tuple[int, ...], numbers: Sequence[float]) -> Any:
    """Draw nested lists of a shape, of some numbers."""
    return nested(shape, lambda: s.source.choice(numbers))


def _probabilities(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: 0 not in d.shape, domain="share")
    weight = _numbers(s, x.shape, WEIGHTS) if s.source.chance(0.5) else None
    return [x], {"target": _numbers(s, x.shape, SHARES), "weight": weight, "reduction": s.source.choice(REDUCTIONS)}


ENTRIES = rows(
    "entropies",
    op(
        "binary_cross_entropy",
        rank=59,
        draw=_probabilities,
        calls=both(
            "torch.nn.functional.binary_cross_entropy(x, torch.tensor(target, dtype=x.dtype), "
            "None if weight is None else torch.tensor(weight, dtype=x.dtype), reduction=reduction)"
        ),
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        growth=Growth.UNBOUNDED,
        points=PLAIN,
        corners=each_reduction(_probabilities),
        drawn=Drawn.NAMED,
    ),
)
