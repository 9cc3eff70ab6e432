"""Cross entropies of probabilities, and divergences of their logarithms: one row per op.

Targets and weights are attributes, as in `losses`.
"""

from __future__ import annotations

from conformance.ops.calls import both
from conformance.ops.corners import REDUCTIONS
from conformance.ops.families.losses import SHARES, TARGET, WEIGHT, loss, loss_row, weight_or_none
from conformance.ops.spec import ELEMENTS, Growth, rows
from reference_impl.tape.primitive import Domain

LOGARITHMS = (0.0, -0.5, -2.0, -30.0)
"""Logarithms of probabilities: of 1, and of one that is nearly 0."""

ENTRIES = rows(
    "entropies",
    loss_row(
        "binary_cross_entropy",
        rank=59,
        draw=loss({"weight": weight_or_none}, target=SHARES, domain=Domain.SHARE),
        calls=both(f"torch.nn.functional.binary_cross_entropy(x, {TARGET}, {WEIGHT}, reduction=reduction)"),
        growth=Growth.UNBOUNDED,
    ),
    loss_row(
        "kl_div_of_logs",
        base="kl_div",
        rank=60,
        draw=loss(target=LOGARITHMS, reductions=(*REDUCTIONS, "batchmean"), axes=1),
        points=ELEMENTS,
        calls=both(f"torch.nn.functional.kl_div(x, {TARGET}, reduction=reduction, log_target=True)"),
    ),
)
