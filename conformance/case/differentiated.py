"""What a call differentiates: the ops on the ways from its roots to what it asks for, and to which order each is differentiated there.

That a script has a third derivative and a ``tanh`` does not mean that it has a third derivative of ``tanh``. For example, after
``y = tanh(x)``, ``g = grad(y, x, create_graph=True)`` and ``z = mul(g, x)`` a gradient of ``z`` is a second derivative of ``tanh`` and
a first one of ``mul``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from conformance.case.steps import AppendBackward, Backward, Custom, Detach, Edge, Grad, InPlace, Op, SetRequiresGrad, results

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.case import Case

Differentiated: TypeAlias = "Counter[tuple[str, int]]"
"""An op and the order of its derivative, with the number of gradients of the call that hang on it."""


class _Node(NamedTuple):
    """What was made: by which op, if any, and of which earlier nodes, with the number of derivatives in between."""

    op: str = ""
    parents: tuple[tuple[int, int], ...] = ()


def differentiated(case: Case) -> dict[int, Differentiated]:
    """Return for each autograd call, by step number, the ops that it differentiates; linear in the steps for each value asked for."""
    leaves = [entry.name for entry in case.inputs if entry.differentiable]
    nodes = [_Node() for _ in leaves]
    made = {name: number for number, name in enumerate(leaves)}
    found: dict[int, Differentiated] = {}
    for number, step in enumerate(case.steps):
        node, names = _Node(), results(step)
        match step:
            case Op() | Custom() | InPlace() if not step.no_grad:
                names = (step.tensor,) if isinstance(step, InPlace) else names
                operands = (*names, *step.operands) if isinstance(step, InPlace) else step.operands
                op = "" if isinstance(step, Custom) else step.op
                node = _Node(op, tuple((made[name], 0) for name in operands if name in made))
            case Backward() | Grad() | AppendBackward():
                roots = [made[name] for name in step.roots if name in made]
                asked = [made[name] for name in (leaves if step.asked is None else step.asked) if name in made]
                found[number] = Counter(_ops(nodes, roots, asked))
                if isinstance(step, AppendBackward) or (isinstance(step, Grad) and step.create_graph):
                    seeds = (made[name] for name in step.seeds or () if name in made)
                    node = _Node(parents=(*((root, 1) for root in roots), *((seed, 0) for seed in seeds)))
            case Edge() if step.tensor in made:
                made[names[0]] = made[step.tensor]
            case SetRequiresGrad() if step.requires_grad and step.tensor not in made:
                leaves.append(step.tensor)
                made[step.tensor] = len(nodes)
                nodes.append(_Node())
            case Detach():
                made.pop(names[0], None)
            case _:
                pass
        if node.parents:
            made.update(dict.fromkeys(names, len(nodes)))
            nodes.append(node)
    return found


def _ops(nodes: Sequence[_Node], roots: Sequence[int], asked: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Yield, for each value that is asked for, the ops on the ways to it, each with its highest order."""
    above = dict.fromkeys(roots, 0)
    for number in range(max(roots, default=-1), -1, -1):
        for parent, derivatives in nodes[number].parents if number in above else ():
            above[parent] = max(above.get(parent, 0), above[number] + derivatives)
    for value in asked:
        between, orders = {value}, dict[str, int]()
        for number in range(value + 1, max(roots, default=-1) + 1):
            if number in above and any(parent in between for parent, _ in nodes[number].parents):
                between.add(number)
                orders[nodes[number].op] = max(above[number] + 1, orders.get(nodes[number].op, 0))
        orders.pop("", None)
        yield from orders.items()
