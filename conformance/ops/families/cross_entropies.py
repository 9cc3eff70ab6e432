"""Cross entropies of labels that are smoothed, and of the softmax of other scores: variants of ``cross_entropy``, one row each.

The targets of the second are made by a softmax, so that the shares of a sample are 1 together, as Paddle demands. Paddle has the
classes in the last axis; and of shares its losses have one axis more than there are samples, as it documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.corners import REDUCTIONS, each_reduction, given
from conformance.ops.draws import has_matrices
from conformance.ops.families.losses import WEIGHT, WEIGHT_OF_PADDLE, WEIGHTS, classes, loss_row, numbers_of
from conformance.ops.spec import rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler

SMOOTHING = (0.25, 0.1, 0.5)


def _weighted(s: Sampler) -> Arguments:
    """Draw scores of classes along the axis 1, and perhaps a weight of each class."""
    x = s.take(has_matrices)
    weight = numbers_of(s, x.shape[1:2], WEIGHTS[:3]) if s.source.chance(0.5) else None
    return [x], {"weight": weight, "label_smoothing": s.source.choice(SMOOTHING), "reduction": s.source.choice(REDUCTIONS)}


def _smoothed(s: Sampler) -> Arguments | None:
    (x,), attrs = _weighted(s)
    return [x], {"target": classes(s, x.shape), **attrs}


def _distilled(s: Sampler) -> Arguments | None:
    (x,), attrs = _weighted(s)
    return [x, s.take_shaped(x.shape)], attrs if s.source.chance(0.5) else {**attrs, "label_smoothing": 0.0}


_REST = "label_smoothing=label_smoothing, reduction=reduction"
_LAST = "paddle.moveaxis({}, 1, -1)"
_OF_SHARES = (
    f"paddle.nn.functional.cross_entropy({_LAST.format('x')}, paddle.nn.functional.softmax({_LAST.format('y')}, -1), "
    f"{WEIGHT_OF_PADDLE}, soft_label=True, {_REST})"
)

ENTRIES = rows(
    "cross_entropies",
    loss_row(
        "cross_entropy_smoothed",
        base="cross_entropy",
        rank=19,
        draw=_smoothed,
        calls={
            "torch": f"torch.nn.functional.cross_entropy(x, torch.tensor(target), {WEIGHT}, {_REST})",
            "paddle": f"paddle.nn.functional.cross_entropy({_LAST.format('x')}, paddle.to_tensor(target), {WEIGHT_OF_PADDLE}, {_REST})",
        },
    ),
    loss_row(
        "cross_entropy_distilled",
        base="cross_entropy",
        rank=19,
        draw=_distilled,
        calls={
            "torch": f"torch.nn.functional.cross_entropy(x, torch.softmax(y, 1), {WEIGHT}, {_REST})",
            "paddle": f"{_OF_SHARES}.squeeze(-1) if reduction == 'none' else {_OF_SHARES}",
        },
        corners={**each_reduction(_distilled), "one alone": given(_distilled, weight=None, label_smoothing=0.0)},
    ),
)
