"""Losses that are differentiated in their targets, too: variants of those of which the targets are attributes, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import REDUCTIONS, each_reduction
from conformance.ops.families.losses import WEIGHT, loss_row, weight_or_none
from conformance.ops.spec import Growth, Points, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.ops.families.losses import Choice
    from conformance.ops.sampler import Arguments, Draw, Sampler

_FOLLOWING = Points(first_alone=True)


def _taught(
    more: Mapping[str, Choice] | None = None,
    *,
    domains: tuple[Domain | None, Domain | None],
    reductions: Sequence[str] = REDUCTIONS,
    axes: int = 0,
) -> Draw:
    """Draw an operand that has an element, a target of its shape, each of its domain, a reduction, and ``more`` attributes."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) >= axes and 0 not in d.shape, domain=domains[0])
        y = s.take(lambda d: d.shape == x.shape, domain=domains[1], shape=x.shape)
        attrs = {name: choose(s, x.shape) for name, choose in (more or {}).items()}
        return [x, y], {**attrs, "reduction": s.source.choice(reductions)}

    return draw


_of_shares = _taught(domains=(None, Domain.POSITIVE), reductions=(*REDUCTIONS, "batchmean"), axes=1)
_of_logs = _taught(domains=(None, None), reductions=(*REDUCTIONS, "batchmean"), axes=1)
_of_two = _taught({"weight": weight_or_none}, domains=(Domain.SHARE, Domain.SHARE))
_of_logits = _taught({"weight": weight_or_none, "pos_weight": weight_or_none}, domains=(None, Domain.SHARE))

ENTRIES = rows(
    "targets",
    loss_row(
        "kl_div_in_target",
        base="kl_div",
        rank=60,
        draw=_of_shares,
        points=_FOLLOWING,
        calls=both("torch.nn.functional.kl_div(x, y, reduction=reduction)"),
        corners=each_reduction(_of_shares, *REDUCTIONS, "batchmean"),
    ),
    loss_row(
        "kl_div_of_logs_in_target",
        base="kl_div",
        rank=60,
        draw=_of_logs,
        points=_FOLLOWING,
        calls=both("torch.nn.functional.kl_div(x, y, reduction=reduction, log_target=True)"),
        corners=each_reduction(_of_logs, *REDUCTIONS, "batchmean"),
        growth=Growth.UNBOUNDED,
    ),
    loss_row(
        "binary_cross_entropy_in_target",
        base="binary_cross_entropy",
        rank=59,
        draw=_of_two,
        calls=both(f"torch.nn.functional.binary_cross_entropy(x, y, {WEIGHT}, reduction=reduction)"),
        growth=Growth.UNBOUNDED,
    ),
    loss_row(
        "binary_cross_entropy_with_logits_in_target",
        base="binary_cross_entropy_with_logits",
        rank=42,
        draw=_of_logits,
        calls=both(
            f"torch.nn.functional.binary_cross_entropy_with_logits(x, y, {WEIGHT}, "
            "pos_weight=None if pos_weight is None else torch.tensor(pos_weight, dtype=x.dtype), reduction=reduction)"
        ),
    ),
)
