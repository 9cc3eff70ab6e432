"""What a call differentiates: the ops on the ways from its roots to what it asks for, and to which order each is differentiated there.

That a script has a third derivative and a ``tanh`` does not mean that it has a third derivative of ``tanh``. For example, after
``y = tanh(x)``, ``g = grad(y, x, create_graph=True)`` and ``z = mul(g, x)`` a gradient of ``z`` is a second derivative of ``tanh`` and
a first one of ``mul``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from conformance.case.steps import AppendBackward, Backward, Custom, Detach, Edge, Grad, InPlace, Op, SetRequiresGrad, results

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.case.case import Case

Above: TypeAlias = "dict[str | int, int]"
"""The leaves and steps that a value comes from, by name and by number, with the number of derivatives on the way."""


Differentiated: TypeAlias = "Counter[tuple[str, int]]"
"""An op and the order of its derivative, with the number of gradients of the call that hang on it."""


def differentiated(case: Case) -> dict[int, Differentiated]:
    """Return for each autograd call, by step number, the ops that it differentiates."""
    above: dict[str, Above] = {entry.name: {entry.name: 0} for entry in case.inputs if entry.differentiable}
    keys: dict[str, str | int] = {name: name for name in above}
    leaves = [*above]
    below: dict[int, Above] = {}
    found: dict[int, Differentiated] = {}
    for number, step in enumerate(case.steps):
        match step:
            case Op() | Custom() | InPlace():
                changed = (step.tensor,) if isinstance(step, InPlace) else ()
                made = _merged(above[name] for name in (*changed, *step.operands) if name in above)
                if step.no_grad or not made:
                    continue
                below[number] = made = {**made, number: 0}
                above.update(dict.fromkeys((*changed, *results(step)), made))
                keys.update(dict.fromkeys((*changed, *results(step)), number))
            case Backward() | Grad() | AppendBackward():
                roots = _merged(above[name] for name in step.roots if name in above)
                asked = [keys[name] for name in (leaves if step.asked is None else step.asked) if name in keys]
                found[number] = Counter(of_op for key in asked for of_op in _between(case, roots, below, key))
                if isinstance(step, AppendBackward) or (isinstance(step, Grad) and step.create_graph):
                    seeds = (above[name] for name in step.seeds or () if name in above)
                    made = _merged([{key: derivatives + 1 for key, derivatives in roots.items()}, *seeds])
                    above.update(dict.fromkeys(results(step), made))
                    keys.update(dict.fromkeys(results(step), number))
            case Edge() if step.tensor in above:
                above[step.results[0]], keys[step.results[0]] = above[step.tensor], keys[step.tensor]
            case SetRequiresGrad() if step.requires_grad and step.tensor not in above:
                above[step.tensor], keys[step.tensor] = {step.tensor: 0}, step.tensor
                leaves.append(step.tensor)
            case Detach():
                above.pop(step.results[0], None)
            case _:
                pass
    return found


def _merged(several: Iterable[Above]) -> Above:
    merged: Above = {}
    for one in several:
        if not merged:
            merged = dict(one)
            continue
        for key, derivatives in one.items():
            if derivatives >= merged.get(key, 0):
                merged[key] = derivatives
    return merged


def _between(case: Case, roots: Above, below: dict[int, Above], asked: str | int) -> Iterator[tuple[str, int]]:
    """Yield the ops on the ways from roots to a value, each with its highest order."""
    orders: dict[str, int] = {}
    for number, above in below.items():
        step = case.steps[number]
        if number in roots and asked in above and isinstance(step, Op | InPlace):
            orders[step.op] = max(roots[number] + 1, orders.get(step.op, 0))
    yield from orders.items()
