# ruff: noqa: SLF001 - it changes what only this room knows
"""What an engine answers that writes a gradient over what its node saved for it, although the graph is kept for further passes.

Each pass that accumulates leaves the gradient there, and the next one takes that for what was saved. `overwritten` makes the reference
such an engine for the length of a ``with`` block.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from reference_impl.primitives.arithmetic import add
from reference_impl.reverse import engine
from reference_impl.reverse.summed import same
from reference_impl.tape.primitive import array_of
from reference_impl.tape.rules import intercepted_rules
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reference_impl.reverse.walk import ReversePass
    from reference_impl.tape.primitive import Application, Primitive
    from reference_impl.tape.rules import Pull, Pulled

    Saved = Callable[..., Any]
    Gradient = Callable[..., Any]


@contextmanager
def noted_accumulation() -> Iterator[Callable[[], bool]]:
    """Have a function say whether the pass that is running accumulates, inside a ``with`` block."""
    walk, accumulating = engine._walk, [False]

    def noted(*given: Any, accumulates: bool, **options: Any) -> ReversePass:
        accumulating[0] = accumulates
        return walk(*given, accumulates=accumulates, **options)

    with patch.object(engine, "_walk", noted):
        yield lambda: accumulating[0]


@contextmanager
def overwritten(ops: Mapping[str, tuple[Saved, Gradient]], memories: list[Any]) -> Iterator[None]:
    """Have ops keep the gradient of their first operand in the place of what they saved, inside a ``with`` block.

    ``ops``: by its name what an op saves, ``saved(*operands, **attrs)``, and what it makes of that, ``gradient(saved, g, *operands,
    **attrs)``. The first gradient is the right one. ``memories``: where these lie, to which each of them is added.
    """
    memory: dict[Application, Any] = {}

    def made(
        right: Pull, primitive: Primitive, node: Application, asked: Sequence[int], g: Any, out: Any, operands: Sequence[Any]
    ) -> Pulled:
        pulled = right(node, asked, g, out, operands)
        if primitive.name not in ops or 0 not in asked or type(out) is Tensor:
            return pulled
        saved, gradient = ops[primitive.name]
        arrays = [array_of(x) for x in operands]
        if node not in memory:
            if not accumulates():
                return pulled
            first = saved(*arrays, **node.attrs)
            memory[node] = same(first.copy(), first)
            memories.append(memory[node])
        kept = memory[node]
        wrong = gradient(kept, array_of(g), *arrays, **node.attrs)
        if accumulates():
            kept[...] = wrong
            same(kept, wrong)
        if type(g) is not Tensor:
            return [(position, (kept if accumulates() else wrong) if position == 0 else c) for position, c in pulled]
        return [(position, add(c, wrong - array_of(c)) if position == 0 else c) for position, c in pulled]

    with noted_accumulation() as accumulates, intercepted_rules(made):
        yield
