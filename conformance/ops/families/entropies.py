"""Cross entropies of probabilities: one row per op.

Targets and weights are attributes, as in `losses`.
"""

from __future__ import annotations

from conformance.ops.calls import both
from conformance.ops.families.losses import SHARES, TARGET, WEIGHT, loss, loss_row, weight_or_none
from conformance.ops.spec import Growth, rows

ENTRIES = rows(
    "entropies",
    loss_row(
        "binary_cross_entropy",
        rank=59,
        draw=loss({"weight": weight_or_none}, target=SHARES, domain="share"),
        calls=both(f"torch.nn.functional.binary_cross_entropy(x, {TARGET}, {WEIGHT}, reduction=reduction)"),
        growth=Growth.UNBOUNDED,
    ),
)
