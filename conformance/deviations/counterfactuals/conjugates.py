"""Counterfactual rules of complex numbers: factors and seeds that are not conjugated where they should be, or that are elsewhere.

An entry of a ``deviation.toml`` names these like the other counterfactual rules.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from reference_impl import OPS
from reference_impl.primitives.arithmetic import add, div, mul, neg
from reference_impl.primitives.complex import conjugate
from reference_impl.primitives.promotion import to_operand
from reference_impl.tape.primitive import Primitive, array_of, shape_of
from reference_impl.tape.rules import intercepted_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Pull, Pulled, Rule


def _not_conjugated(right: Rule, _: int, g: Any, *given: Any, **attrs: Any) -> Any:
    return conjugate(right(conjugate(g), *given, **attrs))


def factors_not_conjugated(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the rules of ops leave their factors as they are."""
    yield changed_rules(ops, _not_conjugated)


def seeds_conjugated(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the rules of ops conjugate what arrives."""
    yield changed_rules(ops, _seed_conjugated)


def _seed_conjugated(right: Rule, _: int, g: Any, *given: Any, **attrs: Any) -> Any:
    return right(conjugate(g), *given, **attrs)


QUOTIENTS = ("div", "div_by_quotient")
"""The ops of which the derivatives divide by a tensor once more."""


def derivatives_not_conjugated(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have derivatives of derivatives send their seed through the factors as if these were real: nothing is conjugated on the way.

    A factor that is a constant may do that, too, or none does: what conjugated it is not on the tape. Or this is so of second
    derivatives alone, and those of higher order are right of what these say.
    """
    yield intercepted_rules(_unconjugated)
    yield intercepted_rules(partial(_unconjugated, constants_right=True))
    yield intercepted_rules(_plain_in_second)


def derivatives_conjugate_nothing(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have derivatives of the derivatives of ops conjugate nothing, neither on the way to the factors nor to the seed.

    Those of other ops are right, or leave their factors alone. Or the second derivatives of log are such formulas, of which the third
    ones are right.
    """
    yield intercepted_rules(partial(_plain, ops))
    yield intercepted_rules(partial(_plain_beside_unconjugated, ops))
    yield intercepted_rules(_plain_formula_of_log)


def derivatives_of_quotients_half_conjugated(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have what a derivative of a quotient divides by once more be divided by the divisor, and not by its conjugate.

    The seed of that derivative is conjugated, or is not.
    """
    yield intercepted_rules(_divided)
    yield intercepted_rules(partial(_divided, seed_conjugated=False))


def derivatives_of_broadcast_quotients_conjugate_nothing(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of a quotient in a dividend that was broadcast depend on the divisor as if nothing were conjugated."""
    yield changed_rules(("div",), _unconjugated_slope)


def _unconjugated_slope(right: Rule, position: int, g: Any, out: Any, x: Any, y: Any) -> Any:
    """Return what a rule says, with the derivative ``-r g / y^2`` in ``y`` for a seed ``r``."""
    if position or shape_of(x) == shape_of(out):
        return right(g, out, x, y)
    with np.errstate(all="ignore"):
        slope = np.conj(-array_of(g) / (array_of(y) * array_of(y)))
    linear = mul(y, slope.astype(array_of(out).dtype))
    return add(right(g, out, x, array_of(y)), to_operand(add(linear, -array_of(linear)), x))


def derivatives_in_divisors_conjugate_nothing(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of a quotient in its divisor depend on the divisor and on the quotient as if nothing were conjugated.

    That is what comes where the gradient in the dividend was asked for, too, of which the one in the divisor is then made. Where both
    are differentiated, the one in the dividend depends on the divisor in the same way.
    """
    yield changed_rules(("div",), partial(_unconjugated_in, (1,)))
    yield changed_rules(("div",), partial(_unconjugated_in, (0, 1)))


def _unconjugated_in(positions: Sequence[int], right: Rule, position: int, g: Any, out: Any, x: Any, y: Any) -> Any:
    """Return what a rule says, with the derivatives for a seed ``r`` that Paddle has.

    They are ``-r d / y`` in ``y`` of the gradient ``d`` in ``x``; of that in ``y``, ``-r d`` in ``out`` and ``r d out / y`` in ``y``.
    """
    if position not in positions or shape_of(out) != shape_of(x):
        return right(g, out, x, y)
    quotient, divisor = array_of(out), array_of(y)
    with np.errstate(all="ignore"):
        of_dividend = array_of(g) / np.conj(divisor)
        of_divisor = {0: -of_dividend / divisor, 1: of_dividend * quotient / divisor}
    slopes = [(y, of_divisor[position]), *([(out, -of_dividend)] if position else [])]
    made = right(g, quotient, array_of(x), divisor)
    for operand, slope in slopes:
        linear = mul(operand, np.conj(slope).astype(quotient.dtype))
        made = add(made, to_operand(add(linear, -array_of(linear)), (x, y)[position]))
    return made


def _unconjugated(
    right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, *given: Any, constants_right: bool = False
) -> Pulled:
    if not node.derivative_of[1] or node.derivative_of[0] == "conj" or _between_kinds(node):
        return right(node, asked, g, *given)
    if primitive is OPS["conj"]:
        return [(position, g) for position in asked]
    if not primitive.saving:  # linear: nothing that it is given is a factor
        return right(node, asked, g, *given)
    factors = _factors(node, constants=constants_right)
    made = right(node, [p for p in asked if p not in factors], g, *given)
    plain = right(node, [p for p in asked if p in factors], conjugate(g), *given)
    return [*made, *((position, conjugate(c)) for position, c in plain)]


def _plain(ops: Sequence[str], right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, *given: Any) -> Pulled:
    op, order = node.derivative_of
    if not order or op not in ops:
        return right(node, asked, g, *given)
    if primitive is OPS["conj"]:
        return [(position, g) for position in asked]
    return [(position, conjugate(c)) for position, c in right(node, asked, conjugate(g), *given)]


def _plain_formula_of_log(right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, *given: Any) -> Pulled:
    """Have the derivative ``s / conj(x)`` of log be differentiated as a real quotient, by a formula of its operands alone."""
    if node.derivative_of != ("log", 1) or primitive is not OPS["div"]:
        return right(node, asked, g, *given)
    seed, divisor = node.operands
    of_each = div(g, divisor), conjugate(neg(div(mul(g, seed), mul(divisor, divisor))))  # its conj conjugates that once more
    return [(position, of_each[position]) for position in asked]


def _plain_in_second(right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, *given: Any) -> Pulled:
    """Conjugate nothing in the derivative of a derivative; what the tape has of that conjugates a factor itself, as it should later."""
    if node.derivative_of[1] != 1 or primitive is OPS["conj"] or _between_kinds(node):
        return right(node, asked, g, *given)
    made = right(node, asked, conjugate(g), *given)
    return [(p, c if _conjugated(node.operands[p]) else conjugate(c)) for p, c in made]


def _plain_beside_unconjugated(
    ops: Sequence[str], right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, *given: Any
) -> Pulled:
    if node.derivative_of[0] in ops:
        return _plain(ops, right, primitive, node, asked, g, *given)
    return _unconjugated(right, primitive, node, asked, g, *given)


def _divided(
    right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, *given: Any, seed_conjugated: bool = True
) -> Pulled:
    if not seed_conjugated and primitive is OPS["conj"] and node.derivative_of[1] and node.derivative_of[0] in QUOTIENTS:
        return [(position, g) for position in asked]
    if primitive is not OPS["div"] or not node.derivative_of[1]:
        return right(node, asked, g, *given)
    made = right(node, [p for p in asked if p == 0], g, *given)
    if 1 not in asked:
        return made
    out, (_, divisor) = given
    slope = to_operand(neg(div(mul(g, out), conjugate(divisor))), divisor)
    return [*made, (1, conjugate(slope) if _conjugated(node.operands[1]) else slope)]


def _between_kinds(node: Any) -> bool:
    """Whether a node makes real numbers of complex ones, or complex ones of real ones alone: it has no factor."""
    out = node.out[0] if node.primitive.multi_output else node.out
    return bool(np.iscomplexobj(out)) is not any(map(np.iscomplexobj, node.arrays))


def _factors(node: Any, *, constants: bool) -> list[int]:
    """Return the operands of a node in a derivative that are part of its factor; the other one is the cotangent.

    Where none was conjugated on the tape, ``constants`` are, if there are some; else it may be any of them.
    """
    positions = range(len(node.operands))
    given = [p for p in positions if constants and not getattr(node.operands[p], "requires_grad", False)]
    return [p for p in positions if _conjugated(node.operands[p])] or given or list(positions)


def _conjugated(operand: Any) -> bool:
    """Whether a derivative conjugated what a node is given, as a factor: that of conj does so to the cotangent."""
    maker = getattr(operand, "node", None)
    if maker is None or maker.primitive is not OPS["conj"]:
        return False
    op, order = maker.derivative_of
    return bool(order and op != "conj")
