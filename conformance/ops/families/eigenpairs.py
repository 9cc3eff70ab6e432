"""Eigenpairs of matrices that need not be symmetric: one row.

The matrices that are drawn have eigenvalues that differ, all of them real; those of one whose rows are shifted lie around 0, most of
them complex.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.corners import given
from conformance.ops.draws import has_matrices
from conformance.ops.numbers import UNEXAMINED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


def _square(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: has_matrices(d) and d.shape[-1] == d.shape[-2], domain=Domain.DOMINANT, shape=(3, 3))
    return [x], {"shift": s.source.integer(0, 1)}


ENTRIES = rows(
    "eigenpairs",
    op(
        "eig_invariant",
        base="eig",
        rank=324,
        draw=_square,
        calls={
            "torch": "(lambda w, v: ((v * v.conj()) @ torch.stack([torch.ones_like(w), w, w * w], -1)).real.flatten(-2))"
            "(*torch.linalg.eig(x.roll(shift, -2)))",
            "paddle": "(lambda w, v: ((v * v.conj()) @ paddle.stack([paddle.ones_like(w), w, w * w], -1)).real().flatten(-2))"
            "(*paddle.linalg.eig(x.roll(shift, -2)))",
        },
        exact=False,
        numbers=real_only(UNEXAMINED),
        growth=Growth.UNBOUNDED,
        points=PLAIN,
        corners={"real": given(_square, shift=0), "complex": given(_square, shift=1)},
        drawn=Drawn.NAMED,
    ),
)
