"""Counterfactual rules of masked_fill: what a kernel makes of a gradient that it writes before it has read what arrived.

The gradient in what is filled is written where the cotangent arrived, if nobody else holds that, from its first element on; then the
gradient in the value is read there. Of a value of one element it is the sum over the mask. One of several elements is written at the
first places of the mask alone, as many as it has, and what else is in its memory nobody can say: NaN stands for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.counterfactuals.turns import held_by_turns
from reference_impl import OPS
from reference_impl.primitives.arithmetic import add
from reference_impl.tape.primitive import Primitive, array_of, shape_of
from reference_impl.tape.rules import intercepted_rules
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from conformance.deviations.counterfactuals.turns import Held
    from reference_impl.tape.rules import Pull, Pulled


def arriving_at_fills_overwritten(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient in a single value be read where that in what it fills was written: at all fills, at one, or at all but one."""
    for held in held_by_turns():
        yield intercepted_rules(_Filling(held, several=False))


def fills_of_first_places(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient in a value of several elements be written at the first places of the mask alone, besides."""
    for held in (*held_by_turns(), lambda _: True):
        yield intercepted_rules(_Filling(held, several=True))


class _Filling:
    """The rules of fills, which are counted. ``several``: of values of several elements, too."""

    def __init__(self, held: Held, *, several: bool) -> None:
        self.held = held
        self.several = several
        self.fills = 0

    def __call__(
        self, right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, out: Any, operands: Sequence[Any]
    ) -> Pulled:
        """Answer as the kernel does."""
        made = dict(right(node, asked, g, out, operands))
        if primitive is not OPS["masked_fill_tensor"] or 1 not in made:
            return [*made.items()]
        held = self.held(self.fills)
        self.fills += 1
        memory = np.array(array_of(g)).reshape(-1)
        if 0 in made and not held:
            filled = array_of(made[0]).reshape(-1)
            memory[: filled.size] = filled
        wrong = _read(memory, np.broadcast_to(node.attrs["mask"], shape_of(g)).reshape(-1), shape_of(made[1]), several=self.several)
        if wrong is not None:
            wrong = wrong.astype(array_of(made[1]).dtype)
            made[1] = add(made[1], wrong - array_of(made[1])) if type(made[1]) is Tensor else wrong
        return [*made.items()]


def _read(memory: Any, mask: Any, shape: tuple[int, ...], *, several: bool) -> Any:
    """Return the gradient in a value of some shape; ``None``: it is right."""
    size = int(np.prod(shape))
    if size == 1:
        return np.add.reduce(memory[mask.astype(bool)]).reshape(shape)
    if not several:
        return None
    written = np.full(size, np.nan, memory.dtype)
    there = min(size, memory.size)
    written[:there] = np.where(mask[:there], memory[:there], np.nan)
    return written.reshape(shape)
