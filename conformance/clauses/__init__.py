"""Curated cases: the promises of the source documents, one small case each."""

from conformance.clauses import comparison, paddle_backward, paddle_grad, torch_backward
from conformance.clauses.curated import Curated

CURATED: tuple[Curated, ...] = (
    *paddle_backward.CASES,
    *paddle_grad.CASES,
    *torch_backward.CASES,
    *comparison.CASES,
)

__all__ = ["CURATED", "Curated"]
