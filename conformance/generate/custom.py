"""Random custom functions: a small forward over values that exist, and a backward that is any formula of the right shape.

The backward need not be the derivative of the forward: an engine has to treat it the same, and a wrong formula shows more (that the
engine really calls it, with which cotangents, and differentiates *it* for the second order). Now and then it is the derivative. A few
per cent of the functions break a rule on purpose: a backward that raises, a gradient too few or too many, of a wrong shape or dtype,
for a constant, or an output that is an operand.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from conformance.case.steps import Custom, Op
from conformance.ops.dtypes import OTHER_PRECISION
from conformance.ops.sampler import Draft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.generate.sketch import Sketch

UNARY = ("neg", "mul_scalar", "square", "add_scalar", "rsub_scalar", "clone")
BINARY = ("mul", "add", "sub", "mul")
SMOOTH = ("sin", "cos", "tanh", "sigmoid")
WITH_NUMBER = ("mul_scalar", "add_scalar", "rsub_scalar")

DERIVATIVES: dict[str, tuple[tuple[tuple[str, str, dict[str, Any]], ...], ...]] = {
    "mul": ((("mul", "y", {}),), (("mul", "x", {}),)),
    "sub": ((("clone", "", {}),), (("neg", "", {}),)),
    "square": ((("mul", "x", {}), ("mul_scalar", "", {"other": 2.0})),),
}
"""The derivatives of forwards of one op: per operand, a chain of ops that starts from the cotangent.

Each link has the op, its second operand (empty: it has none) and its attributes."""


class _Body:
    """The ops of a forward or a backward, with what is known of its values."""

    def __init__(self, sketch: Sketch, known: Sequence[Draft], letter: str) -> None:
        self.sketch = sketch
        self.given = list(known)
        self.known = list(known)
        self.letter = letter
        self.ops: list[Op] = []

    def apply(self, name: str, operands: Sequence[Draft], **attrs: Any) -> Draft | None:
        """Add an op; ``None`` if its result would not stay of moderate size."""
        made = self.sketch.compute(name, list(operands), attrs)
        if made is None:
            return None
        label = self.sketch.name(self.letter)
        self.ops.append(Op(name, tuple(d.name for d in operands), (label,), attrs))
        known = all(d.array is not None for d in operands)
        draft = Draft(label, made[0].shape, str(made[0].dtype), made[0] if known else None, False, frozenset())
        self.known.append(draft)
        return draft

    def step(self, operand: Draft) -> Draft:
        """Add a random elementwise op on a value; the value itself if the op does not fit."""
        source, odds = self.sketch.source, self.sketch.odds.custom
        if source.chance(odds.binary):
            partners = [d for d in self.known if d.shape == operand.shape and d.dtype == operand.dtype]
            return self.apply(source.choice(BINARY), [operand, source.choice(partners)]) or operand
        name = source.choice(UNARY if self.sketch.exact or source.chance(odds.polynomial) else SMOOTH)
        attrs = {"other": self.sketch.number()} if name in WITH_NUMBER else {}
        return self.apply(name, [operand], **attrs) or operand

    def fail(self) -> None:
        """Add an op that no engine can apply: a shape for one element more than there are."""
        cotangent = self.given[-1]
        self.ops.append(Op("reshape", (cotangent.name,), (self.sketch.name(self.letter),), {"shape": [math.prod(cotangent.shape) + 1]}))


def draw_custom(sketch: Sketch) -> bool:
    """Add one custom function; return whether one fitted."""
    source, odds = sketch.source, sketch.odds.custom
    tracked = [d for d in sketch.values if d.tracked]
    first = source.choice((tracked if tracked and source.chance(odds.tracked) else sketch.values)[-odds.recent :])
    alike = [d for d in sketch.values if d.shape == first.shape and d.dtype == first.dtype]
    operands = [first, *(source.choice(alike) for _ in range(source.choice(odds.more_operands)))]
    forward = _Body(sketch, operands, "f")
    if source.chance(odds.derivative):
        op = source.choice([name for name, chains in DERIVATIVES.items() if len(chains) <= len(operands)])
        del operands[len(DERIVATIVES[op]) :]
        made = forward.apply(op, operands)
        outputs, saved = [] if made is None else [made], _distinct(operands)
        backward = _Body(sketch, [*saved, *(_cotangent(sketch, d) for d in outputs)], "b")
        gradients = _derivative(backward, op, operands) if outputs else []
    else:
        outputs = _distinct([_output(forward, source.choice(operands)) for _ in range(2 if source.chance(odds.two_outputs) else 1)])
        saved = source.subset(_distinct(forward.known))
        backward = _Body(sketch, [*saved, *(_cotangent(sketch, d) for d in outputs)], "b")
        gradients = [_gradient(backward, operand, len(outputs)) for operand in operands]
    if not outputs:
        return False
    if source.chance(odds.raises):
        backward.fail()
    step = Custom(
        tuple(d.name for d in operands),
        tuple(sketch.name("v") for _ in outputs),
        tuple(forward.ops),
        tuple(d.name for d in outputs),
        tuple(d.name for d in backward.given[len(saved) :]),
        _miscounted(sketch, gradients),
        tuple(backward.ops),
        tuple(d.name for d in saved),
        no_grad=source.chance(odds.no_grad),
    )
    results = (Draft(name, d.shape, d.dtype, d.array, False, frozenset()) for name, d in zip(step.results, outputs, strict=True))
    sketch.enter(results, operands, no_grad=step.no_grad)
    sketch.steps.append(step)
    return True


def _distinct(drafts: Sequence[Draft]) -> list[Draft]:
    return list({d.name: d for d in drafts}.values())


def _cotangent(sketch: Sketch, output: Draft) -> Draft:
    return Draft(sketch.name("c"), output.shape, output.dtype, None, False, frozenset())


def _output(body: _Body, operand: Draft) -> Draft:
    source, odds = body.sketch.source, body.sketch.odds.custom
    if source.chance(odds.output_is_operand):
        return operand
    draft = operand
    for _ in range(source.integer(*odds.forward)):
        draft = body.step(draft)
    return (body.apply("clone", [operand]) or operand) if draft is operand else draft


def _derivative(body: _Body, op: str, operands: Sequence[Draft]) -> list[str | None]:
    gradients: list[str | None] = []
    for operand, chain in zip(operands, DERIVATIVES[op], strict=True):
        draft = body.given[-1]
        for name, other, attrs in chain:
            factors = [operands["xy".index(other)]] if other else []
            draft = body.apply(name, [draft, *factors], **attrs) or draft
        gradients.append(draft.name if operand.tracked else None)
    return gradients


def _gradient(body: _Body, operand: Draft, outputs: int) -> str | None:
    """Draw a formula for one operand: of one cotangent or all of them, and what was saved."""
    source, odds = body.sketch.source, body.sketch.odds.custom
    if source.chance(odds.no_gradient if operand.tracked else odds.no_gradient_of_constant):
        return None
    cotangents = body.given[len(body.given) - outputs :]
    draft = source.choice(cotangents)
    for other in cotangents:
        if other is not draft and source.chance(odds.further_cotangent):
            draft = body.apply("add", [draft, other]) or draft
    for _ in range(source.integer(*odds.backward)):
        draft = body.step(draft)
    if source.chance(odds.gradient_precision):
        dtype = OTHER_PRECISION[draft.dtype]
        draft = body.apply("cast", [draft], dtype=dtype) or draft
    if source.chance(odds.gradient_with_axis):
        draft = body.apply("unsqueeze", [draft], axis=0) or draft
    elif source.chance(odds.gradient_summed):
        draft = body.apply("sum", [draft], axis=None, keepdims=False) or draft
    return draft.name


def _miscounted(sketch: Sketch, gradients: list[str | None]) -> tuple[str | None, ...]:
    source, odds = sketch.source, sketch.odds.custom
    of_constant = gradients[-1] is None
    if source.chance(odds.too_few_of_constant if of_constant else odds.too_few):
        return tuple(gradients[:-1])
    if source.chance(odds.too_many):
        return (*gradients, None if source.chance(odds.too_many_is_none) else gradients[0])
    return tuple(gradients)
