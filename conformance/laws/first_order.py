"""Metamorphic relations of calls of first order: what the seed, the roots, the inputs and the flags may and may not do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case.queries import twins
from conformance.case.rewrite import interpose
from conformance.case.steps import Detach, Grad, Op
from conformance.laws.relation import Absent, Linear, Place, Same, Term
from conformance.laws.subject import CaseBuilder, Trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.laws.relation import Relation
    from conformance.laws.subject import Subject

TWICE, LESS = 2.0, -1.0
"""The coefficients of the combined seed: powers of two, so that the products are exact."""


def linear_in_the_seed(s: Subject) -> Trial:
    """Demand that ``grad(y, x, 2 s - t) = 2 grad(y, x, s) - grad(y, x, t)``.

    A vjp is linear in its cotangent: A. Griewank and A. Walther, Evaluating Derivatives, 2nd edition, SIAM 2008, chapter 3.
    """
    builder = CaseBuilder(s)
    one, other = ([s.numbers(r) for r in s.roots] for _ in range(2))
    both = [TWICE * a + LESS * b for a, b in zip(one, other, strict=True)]
    a, b, c = (builder.grad(s.roots, s.targets, builder.seeds(arrays)) for arrays in (one, other, both))
    relations = [
        Linear((Term(Place(0, c, i)), Term(Place(0, a, i), -TWICE), Term(Place(0, b, i), -LESS))) for i in range(len(s.targets))
    ]
    return Trial((builder.case(),), tuple(relations))


def sum_over_outputs(s: Subject) -> Trial | None:
    """Demand that ``grad([y, z], x, [s, t]) = grad(y, x, s) + grad(z, x, t)``.

    Source: what the documentation of `torch.autograd.grad` says about several outputs.
    """
    made = [n for step in s.steps if isinstance(step, Op) for n in step.results]  # what `grad` made may be a seed, a root too
    others = [n for n in made if n not in s.roots and s.tracked(n)]
    roots = s.roots if len(s.roots) > 1 or not others else (*s.roots, s.source.choice(others))
    same = twins(s.steps)
    if len({same.get(r, r) for r in roots}) < max(2, len(roots)):  # a tensor that stands twice may be refused, by either of its names
        return None
    builder = CaseBuilder(s)
    seeds = builder.seeds([s.numbers(r) for r in roots])
    together = builder.grad(roots, s.targets, seeds)
    alone = [builder.grad((r,), s.targets, (seed,)) for r, seed in zip(roots, seeds, strict=True)]
    relations = [Linear((Term(Place(0, together, i)), *(Term(Place(0, one, i), -1.0) for one in alone))) for i in range(len(s.targets))]
    return Trial((builder.case(),), tuple(relations))


def backward_is_accumulated_grad(s: Subject) -> Trial | None:
    """Demand ``x.grad = grad(y, x, s)`` after `backward` with ``s``, and the sum with ``grad(y, x, t)`` after a second one with ``t``.

    Source: what the documentation of `torch.autograd.backward` says about accumulation.
    """
    builder = CaseBuilder(s)
    seeds = [builder.seeds([s.numbers(r) for r in s.roots]) for _ in range(2)]
    grads = [builder.grad(s.roots, s.leaves, given) for given in seeds]
    passes = [builder.backward(given) for given in seeds]
    if not s.offers(builder.steps[-1]):
        return None
    relations: list[Relation] = []
    for i, leaf in enumerate(s.leaves):
        once, again = (builder.grad_of(leaf, number) for number in passes)
        first, second = (Term(Place(0, number, i), -1.0) for number in grads)
        relations += [Same(first.place, once), Linear((Term(again), first, second))]
    return Trial((builder.case(),), tuple(relations))


def inputs_project(s: Subject) -> Trial | None:
    """Demand that asking for some gradients gives what asking for all gives; `backward` leaves alone what was not asked for.

    Source: the parameter ``inputs`` in the documentation of `torch.autograd.grad` and `torch.autograd.backward`.
    """
    builder = CaseBuilder(s)
    seeds = builder.seeds([s.numbers(r) for r in s.roots])
    asked = s.source.choice(s.targets)
    leaf = s.source.choice(s.leaves)
    everything = tuple(dict.fromkeys((*s.targets, *s.leaves)))
    full, part = builder.grad(s.roots, everything, seeds), builder.grad(s.roots, (asked,), seeds)
    relations: list[Relation] = []
    if len(everything) > 1:
        relations.append(Same(Place(0, full, everything.index(asked)), Place(0, part, 0)))
    number = builder.backward(seeds, (leaf,))
    if s.offers(builder.steps[-1]):
        relations.append(Same(Place(0, full, everything.index(leaf)), builder.grad_of(leaf, number)))
        others = [i.name for i in builder.inputs if i.differentiable and i.name != leaf]
        relations += [Absent(builder.grad_of(other, number)) for other in others]
    else:
        builder.steps.pop()
    return Trial((builder.case(),), tuple(relations)) if relations else None


def no_grad_vars_detach(s: Subject) -> Trial | None:
    """Demand that ``grad(..., no_grad_vars=[v])`` equals the gradient of the graph in which every use of ``v`` takes ``v.detach()``.

    It does not apply where `Grad` steps made the roots: their inputs would be other tensors, the detached ones. Nor is a value cut
    that has another name: by that it would still be used.
    Source: the parameter ``no_grad_vars`` in the documentation of `paddle.grad`.
    """
    if not s.offers(Grad(s.roots, s.leaves, s.leaves, no_grad_vars=s.leaves)) or any(isinstance(step, Grad) for step in s.steps):
        return None
    same = twins(s.steps)
    values = [n for n in s.made_from if n not in s.roots and s.tracked(n) and n not in {*same, *same.values()}]
    cut = next((v for v in s.source.shuffled(values) if _left(s, v)), None)
    asked = tuple(n for n in s.leaves if n != cut)
    if cut is None or not asked:
        return None
    one, other = CaseBuilder(s), CaseBuilder(s)
    seeds = [s.numbers(r) for r in s.roots]
    other.steps = list(interpose(s.steps, cut, Detach(cut, (other.name(),))))
    a = one.grad(s.roots, asked, one.seeds(seeds), no_grad_vars=(cut,))
    b = other.grad(s.roots, asked, other.seeds(seeds))
    return Trial((one.case(), other.case()), tuple(Same(Place(0, a, i), Place(1, b, i)) for i in range(len(asked))))


def _left(s: Subject, cut: str) -> bool:
    """Whether every root still depends on a leaf that is asked for, if nothing flows through a value."""
    alive = {i.name: i.differentiable and i.name != cut for i in s.inputs}
    for step in s.steps:
        if isinstance(step, Op):
            flows = not step.no_grad and any(alive[n] for n in step.operands)
            alive.update((n, flows and n != cut) for n in step.results)
        else:
            alive.update(dict.fromkeys(getattr(step, "results", ()), False))
    return all(alive[r] for r in s.roots)


def flags_change_no_value(s: Subject) -> Trial:
    """Demand that ``retain_graph`` and ``create_graph`` change what can be done afterwards, and no value.

    Source: both parameters in the documentation of `torch.autograd.grad` and `paddle.grad`.
    """
    builder = CaseBuilder(s)
    seeds = builder.seeds([s.numbers(r) for r in s.roots])
    options: Sequence[dict[str, bool | None]] = (
        {"retain_graph": True},
        {"retain_graph": True, "create_graph": True},
        {"retain_graph": None},
    )
    first, *others = (builder.grad(s.roots, s.targets, seeds, **flags) for flags in options)
    relations = [Same(Place(0, first, i), Place(0, number, i)) for number in others for i in range(len(s.targets))]
    return Trial((builder.case(),), tuple(relations))
