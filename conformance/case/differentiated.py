"""What a call differentiates: the ops on the ways from its roots to what it asks for, and to which order each is differentiated there.

That a script has a third derivative and a ``tanh`` does not mean that it has a third derivative of ``tanh``. For example, after
``y = tanh(x)``, ``g = grad(y, x, create_graph=True)`` and ``z = mul(g, x)`` a gradient of ``z`` is a second derivative of ``tanh`` and
a first one of ``mul``.

The way to a seed leads through the gradient, which is linear in it: a gradient of ``g`` in the seed of its call is a second derivative
of ``tanh``, too, since it is computed by the derivative of what the engine computed the first one by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from conformance.case.steps import AppendBackward, Backward, Custom, Detach, Edge, Grad, InPlace, Op, SetRequiresGrad, results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case.case import Case

Differentiated: TypeAlias = dict[str, dict[str, int]]
"""For each value that a call asks for, the ops on whose derivatives its gradient hangs, each with the highest order of these."""


class _Node(NamedTuple):
    """What was made: by which op, if any, and of which earlier nodes, with the number of derivatives in between.

    Of a gradient, ``seeds`` are the nodes of the seeds, each with that of its root, and ``of`` is that of what the gradient is of.
    """

    op: str = ""
    parents: tuple[tuple[int, int], ...] = ()
    seeds: tuple[tuple[int, int], ...] = ()
    of: int = -1


def differentiated(case: Case) -> dict[int, Differentiated]:
    """Return for each autograd call, by step number, what it differentiates; linear in the steps for each value asked for."""
    leaves = [entry.name for entry in case.inputs if entry.differentiable]
    nodes = [_Node() for _ in leaves]
    made = {name: number for number, name in enumerate(leaves)}
    ways = _Ways(nodes)
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
                asked = tuple(leaves) if step.asked is None else step.asked
                found[number] = {name: ways.between(tuple(roots), made[name]) for name in asked if name in made}
                if isinstance(step, AppendBackward) or (isinstance(step, Grad) and step.create_graph):
                    pairs = zip(step.seeds or (), step.roots, strict=False)
                    seeds = tuple((made[seed], made[root]) for seed, root in pairs if seed in made and root in made)
                    parents = (*((root, 1) for root in roots), *((seed, 0) for seed, _ in seeds))
                    for name, value in zip(names, asked, strict=False) if parents else ():
                        made[name] = len(nodes)
                        nodes.append(_Node("", parents, seeds if value in made else (), made.get(value, -1)))
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


class _Ways:
    """The ops on the ways between nodes, each pair of roots and value walked once."""

    def __init__(self, nodes: Sequence[_Node]) -> None:
        self.nodes = nodes
        self._above: dict[tuple[int, ...], dict[int, int]] = {}
        self._between: dict[tuple[tuple[int, ...], int], dict[str, int]] = {}

    def between(self, roots: tuple[int, ...], value: int) -> dict[str, int]:
        """Return the ops on the ways from roots to a value, each with the highest order of its derivative."""
        if (roots, value) not in self._between:
            self._between[roots, value] = self._walk(self._of(roots), value, max(roots, default=-1))
        return self._between[roots, value]

    def _of(self, roots: tuple[int, ...]) -> dict[int, int]:
        """Return what lies above roots, with the greatest number of derivatives in between."""
        if roots not in self._above:
            above = self._above[roots] = dict.fromkeys(roots, 0)
            for number in range(max(roots, default=-1), -1, -1):
                for parent, derivatives in self.nodes[number].parents if number in above else ():
                    above[parent] = max(above.get(parent, 0), above[number] + derivatives)
        return self._above[roots]

    def _walk(self, above: dict[int, int], value: int, last: int) -> dict[str, int]:
        between, orders = {value}, dict[str, int]()
        for number in range(value + 1, last + 1):
            node = self.nodes[number]
            if number not in above or not any(parent in between for parent, _ in node.parents):
                continue
            between.add(number)
            if node.op:
                orders[node.op] = max(above[number] + 1, orders.get(node.op, 0))
            for seed, root in node.seeds:
                for op, order in self.between((root,), node.of).items() if seed in between else ():
                    orders[op] = max(above[number] + 1 + order, orders.get(op, 0))
        return orders
