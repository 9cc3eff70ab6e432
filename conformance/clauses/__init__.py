"""Curated cases: the promises of the source documents and the switches of the dialects, in small cases."""

from conformance.clauses import comparison, dialects, paddle_backward, paddle_grad, torch_backward
from conformance.clauses.curated import Curated

CURATED: tuple[Curated, ...] = (
    *paddle_backward.CASES,
    *paddle_grad.CASES,
    *torch_backward.CASES,
    *comparison.CASES,
    *dialects.CASES,
)

__all__ = ["CURATED", "Curated"]
