"""Random graphs of small ops that every engine has.

A graph is a list of calls over 3x3 matrices in SSA form: values below ``LEAVES`` are the leaves, call ``i`` makes value
``LEAVES + i``. Every call uses the newest value, so nothing is dead; a second operand is any earlier value, so values are
shared. Bounds are carried along, and a call is drawn only where its result stays small. The last two calls are a product with
itself and a sum: a scalar that has second derivatives.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LEAVES = 3
SIDE = 3
LARGEST = 20.0
BOUNDS: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "matmul": lambda a, b: SIDE * a * b,
    "sin": lambda a: min(a, 1.0),
    "tanh": lambda a: min(a, 1.0),
    "exp": math.exp,
}


class Call(NamedTuple):
    """One op on earlier values, by number."""

    op: str
    operands: tuple[int, ...]


class Graph(NamedTuple):
    """A graph, the leaves that it uses, and the elements of all leaves."""

    calls: tuple[Call, ...]
    used: tuple[int, ...]
    arrays: tuple[np.ndarray[Any, Any], ...]

    def compute(self, ops: Mapping[str, Callable[..., Any]], leaves: Mapping[int, Any]) -> Any:
        """Run the graph on the used leaves and return its scalar root."""
        values: dict[int, Any] = dict(leaves)
        for number, (op, operands) in enumerate(self.calls, start=LEAVES):
            values[number] = ops[op](*[values[i] for i in operands])
        return values[LEAVES + len(self.calls) - 1]


def random_graphs(count: int) -> list[Graph]:
    """Draw graphs of 5 to 30 calls; the same every time."""
    return [_random_graph(random.Random(seed)) for seed in range(count)]  # noqa: S311 - reproducible, not secret


def _random_graph(rng: random.Random) -> Graph:
    calls: list[Call] = []
    bounds = [1.0] * LEAVES
    size = rng.randint(5, 30)
    while len(calls) < size - 2:
        op = rng.choice(list(BOUNDS))
        newest = len(bounds) - 1
        operands = (newest,) if op in ("sin", "tanh", "exp") else (newest, rng.randrange(len(bounds)))
        bound = BOUNDS[op](*[bounds[i] for i in operands])
        if bound <= LARGEST:
            calls.append(Call(op, operands))
            bounds.append(bound)
    newest = len(bounds) - 1
    calls += [Call("mul", (newest, newest)), Call("sum", (newest + 1,))]
    used = tuple(sorted({i for call in calls for i in call.operands if i < LEAVES}))
    arrays = tuple(np.array([[rng.uniform(-1, 1) for _ in range(SIDE)] for _ in range(SIDE)]) for _ in range(LEAVES))
    return Graph(tuple(calls), used, arrays)
