"""Curated cases: the promises of the source documents and the switches of the dialects, in small cases."""

from conformance.clauses import append_backward, comparison, dialects, gradients, paddle_backward, paddle_grad, torch_backward
from conformance.clauses.curated import Curated

CURATED: tuple[Curated, ...] = (
    *paddle_backward.CASES,
    *paddle_grad.CASES,
    *torch_backward.CASES,
    *comparison.CASES,
    *append_backward.CASES,
    *gradients.CASES,
    *dialects.CASES,
)

__all__ = ["CURATED", "Curated"]
