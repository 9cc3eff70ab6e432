"""Counterfactual rules of masked_fill and of assignments by a mask: a kernel writes one gradient before it has read what arrived.

The gradient in what is filled is written where the cotangent arrived, if nobody else holds that, from its first element on; then the
gradient in the value is read there. Of a value of one element it is the sum over the mask. One of several elements is written at the
first places of the mask alone, as many as it has, and what else is in its memory nobody can say: NaN stands for that.

Earlier releases multiply what arrives by the mask, so infinity becomes NaN where the mask is 0.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from conformance.deviations.counterfactuals.turns import held_by_turns
from reference_impl.primitives.arithmetic import mul
from reference_impl.primitives.shape import sum_to
from reference_impl.tape.primitive import Primitive, array_of, shape_of, straight_through
from reference_impl.tape.rules import intercepted_rules
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from conformance.deviations.counterfactuals.turns import Held
    from reference_impl.tape.rules import Pull, Pulled, Rule


FILL = "masked_fill_tensor"
ASSIGNMENT = "setitem_mask"
"""The op that writes to what it is applied to, which counts as requiring a gradient from then on, also if it is a constant."""


def masks_multiplied(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradients of what a mask chooses, and of what it does not choose, be products with the mask, or with what it leaves."""
    yield _masks_multiplied()


@contextmanager
def _masks_multiplied() -> Iterator[None]:
    with changed_rules(("where",), partial(_times_mask, False)), changed_rules((FILL, "masked_fill"), partial(_times_mask, True)):
        yield


def _times_mask(filling: bool, _: Rule, position: int, g: Any, out: Any, *operands: Any, mask: Any, **__: Any) -> Any:
    chosen = np.asarray(mask, bool) == (bool(position) == filling)  # what is filled has the elements that the mask leaves
    return sum_to(mul(g, chosen.astype(array_of(out).dtype)), shape_of(operands[position]))


def arriving_at_fills_overwritten(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient in a single value be read where that in what it fills was written: at all fills, at one, or at all but one."""
    yield from _fillings(several=False)


def fills_of_first_places(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient in a value of several elements be written at the first places of the mask alone, besides."""
    yield from _fillings(several=True)
    yield intercepted_rules(_Filling(lambda _: True, several=True))


def _fillings(*, several: bool) -> Iterator[AbstractContextManager[None]]:
    first: list[_Filling] = []
    for held in held_by_turns(lambda: first[0].fills):
        first.append(_Filling(held, several=several))
        yield intercepted_rules(first[-1])


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
        single = 1 in made and int(np.prod(shape_of(made[1]))) == 1
        if 1 not in made or primitive.name not in (FILL, ASSIGNMENT) or not (single or (self.several and primitive.name == FILL)):
            return [*made.items()]
        held = self.held(self.fills)
        self.fills += 1
        memory = np.array(array_of(g), order="C")
        if (0 in made or primitive.name == ASSIGNMENT) and not held:
            filled = array_of(dict(right(node, [0], g, out, operands))[0])
            memory.reshape(-1)[: filled.size] = np.ravel(filled)
        read = dict(right(node, [1], memory, out, operands))[1] if single else _at_first_places(memory, node, shape_of(made[1]))
        wrong = array_of(read).astype(array_of(made[1]).dtype)
        made[1] = _read(made[1], wrong=wrong) if type(made[1]) is Tensor else wrong
        return [*made.items()]


def _wrong(x: Any, *, wrong: Any) -> Any:  # noqa: ARG001 - what is right has the history alone
    return wrong


_read = straight_through(Primitive(_wrong, "read_where_it_was_overwritten", ()))
"""What was read, in the place of the right gradient: its history is that of the right one, which may be infinite."""


def _at_first_places(memory: Any, node: Any, shape: tuple[int, ...]) -> Any:
    """Return the gradient in a value of several elements."""
    read, mask = memory.reshape(-1), np.broadcast_to(node.attrs["mask"], memory.shape).reshape(-1)
    written = np.full(int(np.prod(shape)), np.nan, read.dtype)
    there = min(written.size, read.size)
    written[:there] = np.where(mask[:there], read[:there], np.nan)
    return written.reshape(shape)
