"""Conditions: questions about a script that an entry for a known deviation may ask; each is registered where it is defined."""

from conformance.deviations.conditions import (
    batches,
    calls,
    complex,  # noqa: A004 - of complex tensors
    custom,
    hooks,
    in_place,
    layouts,
    lending,
    operands,
    points,
    programs,
    seeds,
    several,
)
from conformance.deviations.conditions.registry import CONDITIONS, SCOPES, holds, in_words, problems

__all__ = [
    "CONDITIONS",
    "SCOPES",
    "batches",
    "calls",
    "complex",
    "custom",
    "holds",
    "hooks",
    "in_place",
    "in_words",
    "layouts",
    "lending",
    "operands",
    "points",
    "problems",
    "programs",
    "seeds",
    "several",
]
