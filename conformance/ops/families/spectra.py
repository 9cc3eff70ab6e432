"""Decompositions through functions of them that do not depend on the gauge, norms of matrices, and variances: one row per op.

The matrices that are drawn have singular values and eigenvalues that differ (`conformance.generate.matrices`): where they do not, the
vectors are not defined. A decomposition is asked for the squares of its elements in a row, since the signs of vectors are anybody's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.ops.corners import given
from conformance.ops.numbers import real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, OpSpec, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

COMPLEX_LATER = real_only("what the frameworks make of complex ones has not been looked at yet")
ORDERS = ("fro", "nuc", 2, 1, "inf")


def _is_stack(x: Draft) -> bool:
    return len(x.shape) >= 2 and 0 not in x.shape


def _is_square(x: Draft) -> bool:
    return _is_stack(x) and x.shape[-1] == x.shape[-2]


def _is_tall(x: Draft) -> bool:
    return _is_stack(x) and x.shape[-2] >= x.shape[-1]


def _matrices(test: Callable[[Draft], bool], shape: tuple[int, ...] = (3, 2)) -> Draw:
    def draw(s: Sampler) -> Arguments | None:
        return [s.take(test, domain=Domain.DOMINANT, shape=shape)], {}

    return draw


def _norm(s: Sampler) -> Arguments | None:
    order = s.source.choice(ORDERS)
    return [s.take(_is_stack, domain=Domain.DOMINANT)], {"order": order, "keepdims": s.source.chance(0.3)}


def _row(name: str, rank: int, draw: Draw, torch: str, paddle: str, base: str = "", **more: Any) -> OpSpec:
    given = {
        "exact": False,
        "points": PLAIN,
        "growth": Growth.UNBOUNDED,
        "drawn": Drawn.NAMED,
        "torch": torch,
        "paddle": paddle,
        **more,
    }
    return op(name, rank=rank, base=base or name, draw=draw, numbers=COMPLEX_LATER, **given)


def _both(call: str) -> tuple[str, str]:
    return f"torch.{call}", f"paddle.{call}"


def _in_a_row(parameters: str, parts: str, call: str) -> tuple[str, str]:
    """Write a call whose parts, one by one, are joined."""
    return (
        f"(lambda {parameters}: torch.cat([{parts}], -1))(*torch.{call})",
        f"(lambda {parameters}: paddle.concat([{parts}], -1))(*paddle.{call})",
    )


_SQUARE = _matrices(_is_square, (3, 3))
_ALONE = _matrices(lambda x: _is_square(x) and len(x.shape) == 2, (3, 3))
_SYMMETRIC = "(x + x.mT) * 0.5"

ENTRIES = rows(
    "spectra",
    _row(
        "qr_invariant",
        189,
        _matrices(_is_tall),
        *_in_a_row("q, r", "(q * q).flatten(-2), (r * r).flatten(-2)", "linalg.qr(x)"),
        base="qr",
    ),
    _row(
        "svd_invariant",
        190,
        _matrices(_is_stack),
        *_in_a_row("u, s, v", "(u * u).flatten(-2), s, (v * v).flatten(-2)", "linalg.svd(x, full_matrices=False)"),
        base="svd",
    ),
    _row("pinv", 199, _matrices(_is_stack), *_both("linalg.pinv(x)")),
    _row("svdvals", 321, _matrices(_is_stack), *_both("linalg.svdvals(x)")),
    _row(
        "eigh_invariant",
        322,
        _ALONE,
        *_in_a_row("w, v", "w, (v * v).flatten(-2)", f"linalg.eigh({_SYMMETRIC})"),
        base="eigh",
    ),
    _row("eigvalsh", 323, _ALONE, *_both(f"linalg.eigvalsh({_SYMMETRIC})")),
    _row(
        "matrix_norm",
        328,
        _norm,
        "torch.linalg.matrix_norm(x, float(order) if order == 'inf' else order, keepdim=keepdims)",
        "paddle.linalg.matrix_norm(x, float(order) if order == 'inf' else order, keepdim=keepdims)",
        corners={f"order {order}": given(_norm, order=order) for order in ORDERS},
    ),
    _row("cond", 329, _SQUARE, *_both("linalg.cond(x)")),
)
