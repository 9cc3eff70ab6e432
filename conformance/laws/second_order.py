"""Metamorphic relations of calls of second order: the symmetric Hessian, and the jvp as the transpose of the vjp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.laws.relation import Linear, Place, Term
from conformance.laws.subject import CaseBuilder, Trial

if TYPE_CHECKING:
    from conformance.laws.subject import Subject


def symmetric_hessian(s: Subject) -> Trial | None:
    """Demand that ``<u, H v> = <v, H u>`` for ``H`` the second derivatives of ``<seed, y>`` by two inputs, or by one.

    Where a value is cut off (detached, made without recording) the gradient is not that of one function, and need not be symmetric.
    Source: the theorem of H. A. Schwarz, 1873.
    """
    if s.cut:
        return None
    source = s.source
    x, y = source.choice(s.leaves), source.choice(s.leaves)
    u, v = s.numbers(x), s.numbers(y)
    builder = CaseBuilder(s)
    seeds = builder.seeds([s.numbers(r) for r in s.roots])
    pair = (x, y) if x != y else (x,)
    first = builder.grad(s.roots, pair, seeds, create_graph=True)
    gradients = getattr(builder.steps[first], "results")  # noqa: B009 - of a Grad step
    forth = builder.grad((gradients[0],), (y,), builder.seeds([u]))
    back = builder.grad((gradients[-1],), (x,), builder.seeds([v]))
    relation = Linear((Term(Place(0, forth, 0), pairing=v), Term(Place(0, back, 0), -1.0, pairing=u)))
    return Trial((builder.case(),), (relation,))


def adjoint(s: Subject) -> Trial:
    """Demand that ``<u, J v> = <J^T u, v>``, where ``J v`` is the derivative of the vjp ``w -> J^T w`` in its cotangent ``w``.

    Sources: the dot-product test of J. F. Claerbout, Earth Soundings Analysis, 1992; the jvp as the vjp of a vjp of J. Townsend, "A new
    trick for calculating Jacobian vector products", 2017.
    """
    x = s.source.choice(s.targets)
    v = s.numbers(x)
    u = [s.numbers(r) for r in s.roots]
    builder = CaseBuilder(s)
    w = tuple(builder.seed(s.numbers(r), differentiable=True) for r in s.roots)
    first = builder.grad(s.roots, (x,), w, create_graph=True)
    forwards = builder.grad(getattr(builder.steps[first], "results"), w, builder.seeds([v]))  # noqa: B009 - of a Grad step
    backwards = builder.grad(s.roots, (x,), builder.seeds(u))
    pushed = [Term(Place(0, forwards, i), pairing=weight) for i, weight in enumerate(u)]
    return Trial((builder.case(),), (Linear((*pushed, Term(Place(0, backwards, 0), -1.0, pairing=v))),))
