"""Covariances and correlations of rows: one row per op."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.corners import given
from conformance.ops.draws import is_matrix
from conformance.ops.numbers import UNEXAMINED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Sampler


def _has_observations(x: Draft, least: int = 2) -> bool:
    return 0 < len(x.shape) <= 2 and 0 not in x.shape and x.shape[-1] >= least


def _observed(s: Sampler) -> Arguments | None:
    return [s.take(_has_observations, shape=(2, 3))], {"correction": s.source.integer(0, 1)}


def _spread(s: Sampler) -> Arguments | None:
    """Draw rows that are not constant: of others a correlation is 0/0."""
    return [s.take(lambda d: _has_observations(d, 3), domain=Domain.DISTINCT, shape=(2, 4))], {}


def _weighted(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: is_matrix(d) and min(d.shape) > 1, shape=(2, 3))
    return [x, s.fresh(x.shape[1:], domain=Domain.POSITIVE)], {}


_row = partial(op, exact=False, numbers=real_only(UNEXAMINED), points=PLAIN, drawn=Drawn.NAMED)

ENTRIES = rows(
    "covariance",
    _row(
        "cov",
        rank=231,
        draw=_observed,
        growth=Growth.COMPOUNDS,
        calls={"torch": "torch.cov(x, correction=correction)", "paddle": "paddle.linalg.cov(x, ddof=correction == 1)"},
        corners={f"correction {n}": given(_observed, correction=n) for n in (0, 1)},
    ),
    _row(
        "cov_weighted",
        base="cov",
        rank=231,
        draw=_weighted,
        growth=Growth.UNBOUNDED,
        calls={"torch": "torch.cov(x, aweights=weights)", "paddle": "paddle.linalg.cov(x, aweights=weights)"},
    ),
    _row(
        "corrcoef",
        rank=232,
        draw=_spread,
        growth=Growth.UNBOUNDED,
        calls={"torch": "torch.corrcoef(x)", "paddle": "paddle.linalg.corrcoef(x)"},
    ),
)
