"""Counterfactual rules of derivatives that overwrite what they saved: a later pass starts from what an earlier one left there.

The node of a gradient keeps the cotangent that it was made of. In Paddle a pass that accumulates writes a gradient of its own into that
memory: `batch_norm_double_grad` that in the cotangent itself, and `sigmoid_triple_grad` that in the cotangent of the derivative before.
If this is the gradient of a leaf, its ``.grad`` lies there from then on, and is added to there; a seed is such a leaf, whether or not
the script wants its gradient. The graph may be kept, and every further pass takes for the cotangent what it finds.

Nobody writes where somebody else holds the memory, so it is tried whether one of the cotangents is held, or all but one.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from conformance.deviations.counterfactuals.turns import held_by_turns
from conformance.deviations.shared_gradients import gradients_in_memories
from reference_impl.primitives.arithmetic import add_scalar, clone, mul, mul_scalar
from reference_impl.primitives.elementary import logistic_slope
from reference_impl.primitives.fused import pulled_through
from reference_impl.primitives.nn import batch_norm_train
from reference_impl.reverse.overwritten import noted_accumulation
from reference_impl.reverse.summed import same
from reference_impl.tape.primitive import Primitive, array_of, zeros_like
from reference_impl.tape.rules import intercepted_rules
from reference_impl.tape.tensor import Mode, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from conformance.deviations.counterfactuals.turns import Held
    from reference_impl.tape.rules import Pull, Pulled, Rule


def cotangents_of_normalizations_overwritten(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have a pass through the gradients of a batch norm leave the gradient in their cotangent in the place of that."""
    yield from _overwritten(_normalized)


def cotangents_of_slopes_overwritten(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have a pass through the second derivative of a sigmoid leave that in the first cotangent in the place of the second one."""
    for change in _overwritten(_bent):
        yield _with_slopes(change)


@contextmanager
def _with_slopes(change: AbstractContextManager[None]) -> Iterator[None]:
    with changed_rules(("sigmoid",), _sloped), change:
        yield


def _overwritten(rules: Callable[..., Pulled]) -> Iterator[AbstractContextManager[None]]:
    """Yield what may come of memory: others hold some, or what is behind writes there, too, or a ``.grad`` lies elsewhere."""
    known: list[Any] = []
    for held in held_by_turns(lambda: len(known)):
        yield _with_overwritten(rules, held, known)
    for words in ("handed on", "apart"):
        yield _with_overwritten(rules, lambda _: False, [], words)


@contextmanager
def _with_overwritten(rules: Callable[..., Pulled], held: Held, memories: list[Any], words: str = "") -> Iterator[None]:
    memories.clear()
    with noted_accumulation() as accumulates, intercepted_rules(partial(rules, _Kept(held, accumulates, memories))):
        if words == "apart":
            yield
            return
        handing = intercepted_rules(partial(_handed_on, memories)) if words else nullcontext()
        with handing, gradients_in_memories(memories):
            yield


def _handed_on(memories: Sequence[Any], right: Pull, _: Primitive, node: Any, asked: Sequence[int], g: Any, *given: Any) -> Pulled:
    """Have the gradient in the first operand of a node be written where the cotangent arrived, if that is one of these memories."""
    made = right(node, asked, g, *given)
    if type(g) is not np.ndarray:
        return made
    memory = next((one for one in memories if one.shape == g.shape and np.may_share_memory(one, g)), None)
    return made if memory is None else [(position, c if position else _written_to(memory, c)) for position, c in made]


def _written_to(memory: Any, made: Any) -> Any:
    if made.shape != memory.shape or made is memory:
        return made
    memory[...] = made
    return same(memory, made)


@dataclass
class _Memory:
    """Where a cotangent lies that a node keeps, and whether the pass that is running writes there."""

    is_written: Callable[[], bool]
    known: list[Any]
    array: Any = None

    def of(self, cotangent: Any) -> Any:
        """Return a cotangent that lies there from now on."""
        lying = _LYING(cotangent)
        self.array = array_of(lying)
        self.known.append(self.array)
        return lying


class _Kept:
    """The memories of the cotangents that nodes keep, which are counted."""

    def __init__(self, held: Held, accumulates: Callable[[], bool], memories: list[Any]) -> None:
        self.held = held
        self.accumulates = accumulates
        self.memories = memories
        self.leaves: list[Tensor] = []
        self.nodes = 0

    def of(self, g: Any) -> tuple[Any, _Memory | None]:
        """Return a cotangent that a node keeps, which requires a gradient, and its memory; ``None``: nobody may write there."""
        held = self.held(self.nodes)
        self.nodes += 1
        return self.tracked(g), None if held else _Memory(self.accumulates, self.memories)

    def tracked(self, g: Any) -> Tensor:
        """Return a cotangent that requires a gradient; where one without a history comes again, as a seed may, it is the same leaf."""
        if type(g) is Tensor and g.requires_grad and g.node is not None:
            return g
        array = array_of(g)
        leaf = next((leaf for leaf in self.leaves if leaf.array is array), None)
        if leaf is None:
            leaf = g if type(g) is Tensor and g.requires_grad else Tensor(array, requires_grad=True)
            self.leaves.append(leaf)
        return leaf


def _pulled_through(formula: Callable[..., Sequence[Any]], v: Sequence[Any], operands: Sequence[Any], position: int) -> Any:
    found = pulled_through(formula, position, v, operands)
    return zeros_like(operands[position]) if found is None else found


_LYING = replace(clone, name="lying", keeping=())
_LYING.vjp("x")(lambda v, *_: v)
"""A cotangent where a node keeps it."""

_WRITING = Primitive(lambda g, *, memory: g, "writing")  # noqa: ARG005
"""Something whose gradient is written to the memory of a cotangent by a pass that accumulates."""


@_WRITING.vjp("g")
def _written(v: Any, _: Any, __: Any, *, memory: _Memory) -> Any:
    if type(v) is Tensor or not memory.is_written():
        return v
    return _written_to(memory.array, v)


def _normalized(
    kept: _Kept, right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, out: Any, operands: Any
) -> Pulled:
    if primitive is not batch_norm_train or not Mode.recording:
        return right(node, asked, g, out, operands)
    cotangent, memory = kept.of(g)
    if memory is not None:
        cotangent = memory.of(_WRITING(cotangent, memory=memory))
    return [(position, GRADIENTS_OF_NORMALIZED[position](cotangent, *operands, **node.attrs)) for position in asked]


def _gradient_of(op: Primitive, position: int) -> Primitive:
    """Make one op of the gradient in an operand, ``gradient(g, *operands)``, so that its derivatives ask what lies in ``g`` by then."""
    rule = op.rules[position]
    assert rule is not None  # noqa: S101 - the gradient in every operand of a normalization has one

    def formula(g: Any, *operands: Any, **attrs: Any) -> Any:
        return rule(g, None, *operands, **attrs)

    gradient = Primitive(formula, f"gradient_of_{op.name}_{op.operands[position]}", fused=True)

    def pulled(v: Any, _: Any, *given: Any, position: int, **attrs: Any) -> Any:
        return _pulled_through(lambda *operands: (formula(*operands, **attrs),), (v,), given, position)

    gradient.rules = [pulled] * len(gradient.operands)
    return gradient


GRADIENTS_OF_NORMALIZED = [_gradient_of(batch_norm_train, position) for position in range(len(batch_norm_train.operands))]


def _sloped(right: Rule, _: int, g: Any, out: Any, x: Any) -> Any:
    return _SLOPED(g, out) if Mode.recording else right(g, out, x)


def _bent(kept: _Kept, right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, out: Any, operands: Any) -> Pulled:
    if primitive is not _SLOPED or not Mode.recording:
        return right(node, asked, g, out, operands)
    first, result = operands
    second, memory = kept.of(g)
    if memory is not None:
        second = memory.of(second)
        first = _WRITING(kept.tracked(first), memory=memory)  # whose gradient comes before that of the second
    return [(position, c) for position, c in enumerate(_BENT(first, second, result)) if position in asked]


def _slope(g: Any, out: Any) -> Any:
    return mul(g, logistic_slope(out))


def _bend(g: Any, v: Any, out: Any) -> tuple[Any, Any]:
    return _slope(v, out), mul(mul(v, g), add_scalar(mul_scalar(out, other=-2.0), other=1.0))


_SLOPED = Primitive(_slope, "gradient_of_sigmoid", fused=True)
_SLOPED.vjp("g")(lambda v, _, __, out: _slope(v, out))
_SLOPED.vjp("out")(lambda v, _, g, out: _bend(g, v, out)[1])
_BENT = Primitive(_bend, "gradients_of_gradient_of_sigmoid", multi_output=True, fused=True)
for _position, _operand in enumerate(_BENT.operands):
    _BENT.vjp(_operand)(lambda v, _, *given, at=_position: _pulled_through(_bend, v, given, at))
