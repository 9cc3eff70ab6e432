"""Laws of calls of second order: symmetry of second derivatives, and the derivative forwards against the derivative backwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.laws.relation import Linear, Place, Term
from conformance.laws.subject import Draft, Trial

if TYPE_CHECKING:
    from conformance.laws.subject import Subject


def symmetric_hessian(s: Subject) -> Trial | None:
    """Demand that ``<u, H v> = <v, H u>`` for ``H`` the second derivatives of ``<seed, y>`` by two inputs, or by one.

    Where a value is cut off (detached, made without recording) the gradient is not that of one function, and need not be symmetric.
    """
    if s.cut:
        return None
    source = s.source
    x, y = source.choice(s.leaves), source.choice(s.leaves)
    u, v = s.numbers(x), s.numbers(y)
    draft = Draft(s)
    seeds = draft.seeds([s.numbers(r) for r in s.roots])
    pair = (x, y) if x != y else (x,)
    first = draft.grad(s.roots, pair, seeds, create_graph=True)
    gradients = getattr(draft.steps[first], "results")  # noqa: B009 - of a Grad step
    forth = draft.grad((gradients[0],), (y,), draft.seeds([u]))
    back = draft.grad((gradients[-1],), (x,), draft.seeds([v]))
    relation = Linear((Term(Place(0, forth, 0), pairing=v), Term(Place(0, back, 0), -1.0, pairing=u)))
    return Trial((draft.case(),), (relation,))


def adjoint(s: Subject) -> Trial:
    """Demand that ``<u, J v> = <J^T u, v>``, where ``J`` is the derivative of ``w -> J^T w``, transposed."""
    x = s.source.choice(s.targets)
    v = s.numbers(x)
    u = [s.numbers(r) for r in s.roots]
    draft = Draft(s)
    w = tuple(draft.seed(s.numbers(r), differentiable=True) for r in s.roots)
    first = draft.grad(s.roots, (x,), w, create_graph=True)
    forwards = draft.grad(getattr(draft.steps[first], "results"), w, draft.seeds([v]))  # noqa: B009 - of a Grad step
    backwards = draft.grad(s.roots, (x,), draft.seeds(u))
    pushed = [Term(Place(0, forwards, i), pairing=weight) for i, weight in enumerate(u)]
    return Trial((draft.case(),), (Linear((*pushed, Term(Place(0, backwards, 0), -1.0, pairing=v))),))
