"""Decompositions through functions of them that do not depend on the gauge, norms of matrices, and variances: one row per op.

The matrices that are drawn have singular values and eigenvalues that differ (`conformance.generate.matrices`): where they do not, the
vectors are not defined. A decomposition is asked for the squares of its elements in a row, since the signs of vectors are anybody's.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import given
from conformance.ops.draws import has_matrices
from conformance.ops.numbers import UNEXAMINED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

ORDERS = ("fro", "nuc", 2, 1, "inf")


def _is_square(x: Draft) -> bool:
    return has_matrices(x) and x.shape[-1] == x.shape[-2]


def _is_tall(x: Draft) -> bool:
    return has_matrices(x) and x.shape[-2] >= x.shape[-1]


def _matrices(test: Callable[[Draft], bool], shape: tuple[int, ...] = (3, 2)) -> Draw:
    def draw(s: Sampler) -> Arguments | None:
        return [s.take(test, domain=Domain.DOMINANT, shape=shape)], {}

    return draw


def _norm(s: Sampler) -> Arguments | None:
    order = s.source.choice(ORDERS)
    return [s.take(has_matrices, domain=Domain.DOMINANT)], {"order": order, "keepdims": s.source.chance(0.3)}


def _in_a_row(parameters: str, parts: str, call: str) -> dict[str, str]:
    """Write a call whose parts, one by one, are joined."""
    return {
        "torch": f"(lambda {parameters}: torch.cat([{parts}], -1))(*torch.{call})",
        "paddle": f"(lambda {parameters}: paddle.concat([{parts}], -1))(*paddle.{call})",
    }


_row = partial(op, exact=False, numbers=real_only(UNEXAMINED), growth=Growth.UNBOUNDED, points=PLAIN, drawn=Drawn.NAMED)
_SQUARE = _matrices(_is_square, (3, 3))
_SYMMETRIC = "(x + x.mT) * 0.5"

ENTRIES = rows(
    "spectra",
    _row(
        "qr_invariant",
        base="qr",
        rank=189,
        draw=_matrices(_is_tall),
        calls=_in_a_row("q, r", "(q * q).flatten(-2), (r * r).flatten(-2)", "linalg.qr(x)"),
    ),
    _row(
        "qr_triangle",
        base="qr",
        rank=189,
        draw=_matrices(_is_tall),
        calls=both("(lambda r: (r * r).flatten(-2))(torch.linalg.qr(x)[1])"),
    ),
    _row(
        "svd_invariant",
        base="svd",
        rank=190,
        draw=_matrices(has_matrices),
        calls=_in_a_row("u, s, v", "(u * u).flatten(-2), s, (v * v).flatten(-2)", "linalg.svd(x, full_matrices=False)"),
    ),
    _row("pinv", rank=199, draw=_matrices(has_matrices), calls=both("torch.linalg.pinv(x)")),
    _row("svdvals", rank=321, draw=_matrices(has_matrices), calls=both("torch.linalg.svdvals(x)")),
    _row(
        "eigh_invariant",
        base="eigh",
        rank=322,
        draw=_SQUARE,
        calls=_in_a_row("w, v", "w, (v * v).flatten(-2)", f"linalg.eigh({_SYMMETRIC})"),
    ),
    _row("eigvalsh", rank=323, draw=_SQUARE, calls=both(f"torch.linalg.eigvalsh({_SYMMETRIC})")),
    _row(
        "matrix_norm",
        rank=328,
        draw=_norm,
        calls=both("torch.linalg.matrix_norm(x, float(order) if order == 'inf' else order, keepdim=keepdims)"),
        corners={f"order {order}": given(_norm, order=order) for order in ORDERS},
    ),
    _row("cond", rank=329, draw=_SQUARE, calls=both("torch.linalg.cond(x)")),
)
