"""Errors over bounds by decades: how a run tells how far right answers stay inside what rounding allows."""

from __future__ import annotations

import math

DECADES = ("none", "1/1000", "1/100", "1/10", "1", "beyond")
"""No error at all; up to that part of the bound; beyond the bound, which is a difference."""


def decade_of(ratio: float | None) -> str:
    """Return the decade of an error over its bound; ``None``: no error is allowed there and there is one."""
    if ratio is None or ratio > 1:
        return DECADES[-1]
    if ratio == 0:
        return DECADES[0]
    return DECADES[max(1, 4 + math.ceil(math.log10(ratio)))]
