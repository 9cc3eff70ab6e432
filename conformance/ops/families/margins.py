"""Losses of margins between classes: one row per op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.ops.calls import both
from conformance.ops.corners import REDUCTIONS, each_reduction, given
from conformance.ops.draws import is_matrix
from conformance.ops.families.losses import WEIGHT, WEIGHTS, classes, loss_row, numbers_of
from conformance.ops.spec import rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


def _one_class(s: Sampler) -> Arguments | None:
    """Draw rows of scores, a target for each, and perhaps a weight of each class."""
    x = s.take(is_matrix)
    attrs: dict[str, Any] = {"target": classes(s, x.shape), "p": s.source.choice((1, 2))}
    attrs["margin"] = s.source.choice((1.0, 0.5, 2.0))
    attrs["weight"] = numbers_of(s, x.shape[1:], WEIGHTS[:3]) if s.source.chance(0.5) else None
    return [x], {**attrs, "reduction": s.source.choice(REDUCTIONS)}


def _several_classes(s: Sampler) -> Arguments | None:
    """Draw rows of scores, and for each some classes in any order, a -1, and what does not count."""
    x = s.take(is_matrix)
    target = []
    for _ in range(x.shape[0]):
        found = s.source.shuffled(range(x.shape[1]))
        count = s.source.integer(1, x.shape[1])
        target.append([*found[:count], -1, *found[count:]][: x.shape[1]])
    return [x], {"target": target, "reduction": s.source.choice(REDUCTIONS)}


ENTRIES = rows(
    "margins",
    loss_row(
        "multi_margin_loss",
        rank=248,
        draw=_one_class,
        calls=both(f"torch.nn.functional.multi_margin_loss(x, torch.tensor(target), p, margin, {WEIGHT}, reduction=reduction)"),
        corners={**each_reduction(_one_class), "squares": given(_one_class, p=2, weight=None)},
    ),
    loss_row(
        "multilabel_margin_loss",
        rank=249,
        draw=_several_classes,
        calls={
            "torch": "torch.nn.functional.multilabel_margin_loss(x, torch.tensor(target), reduction=reduction)",
            "paddle": "paddle.nn.functional.multi_label_margin_loss(x, paddle.to_tensor(target), reduction)",
        },
    ),
)
