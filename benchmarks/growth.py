"""How the reference's time grows with the graph: per node, a long graph against a short one. Twice as many nodes take twice as long."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from timing import Figure, interleaved, ratio

import reference_impl
from reference_impl import OPS, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHORT, LONG = 1_000, 10_000
AIM = "<= 1.5"


def figures(repeats: int) -> Iterator[Figure]:
    """Yield the time per node of 10,000 nodes / of 1,000, for a chain and for a value with as many consumers."""
    shapes: dict[str, Callable[[Tensor, int], Tensor]] = {"chain": _chain, "fan-out": _fan_out}
    for name, make in shapes.items():
        for order in (1, 2):
            works = {
                "long": functools.partial(_differentiate, make, LONG, order),
                "short": lambda make=make, order=order: [_differentiate(make, SHORT, order) for _ in range(LONG // SHORT)],
            }
            figure = ratio(interleaved(works, repeats), "long", "short", per=LONG, what="", aim=AIM)
            yield figure._replace(name=f"time per node, {name} of {LONG} nodes / of {SHORT}, order {order}")


def _chain(x: Tensor, nodes: int) -> Tensor:
    for _ in range(nodes):
        x = OPS["sin"](x)
    return x


def _fan_out(x: Tensor, nodes: int) -> Tensor:
    total = x
    for _ in range(nodes // 2):
        total = OPS["add"](total, OPS["sin"](x))
    return total


def _differentiate(make: Callable[[Tensor, int], Tensor], nodes: int, order: int) -> None:
    x = reference_impl.tensor(np.ones((3, 3)), requires_grad=True)
    seed = reference_impl.tensor(np.ones((3, 3)))
    (slope,) = reference_impl.grad([make(x, nodes)], [x], [seed], None, order > 1)
    if order > 1:
        reference_impl.grad([slope], [x], [seed])
