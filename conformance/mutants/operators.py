"""Mutation operators: mistakes that any vjp rule can have, whatever the op.

An operator makes a wrong rule of a right one by changing what the rule is given or what it answers, and knows nothing of what the rule
says. Whether it changes anything is found out at samples, see `derived`; ``fits`` leaves out where the mistake would make no sense.
Most of what goes wrong in a rule is one of these: a sign, a sum over broadcast axes, a conjugate, an operand taken for another one,
a slot that is forgotten. What only one op can get wrong is written by hand, see `rules_pointwise` and its like.

Within each list, the operators that say most stand first: a rule gets the first few that change it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from reference_impl import OPS, Variable
from reference_impl.primitives.complex import conjugate
from reference_impl.primitives.fused import unfollowed
from reference_impl.tape.primitive import Primitive, array_of, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.mutants.samples import Sample

    Samples: TypeAlias = Sequence[Sample]
    Mistake: TypeAlias = Callable[..., Any]
    """Called as ``mistake(place, right, g, out, *operands, **attrs)``."""

add, mul, neg, clone, mul_scalar = (OPS[name] for name in ("add", "mul", "neg", "clone", "mul_scalar"))
expand, reshape, roll, transpose, mean = (OPS[name] for name in ("expand", "reshape", "roll", "transpose", "mean"))


FAR = 1e6
"""Numbers from here on are no constant of an op, and no bound."""


class Place(NamedTuple):
    """Which rule it is: of which op, for which of its operands."""

    op: Primitive
    position: int

    def own(self, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Return the operand that the rule is for."""
        return operands[attrs["position"] if self.op.variadic else self.position]


@dataclass(frozen=True)
class Operator:
    """A mistake: its name, what is wrong then ("the gradient of mul.x ..."), the wrong rule, and where it would make sense."""

    name: str
    what: str
    mistake: Mistake
    fits: Callable[[Primitive, Samples], bool]


FIRST: list[Operator] = []
"""What shows in the gradient."""
CURVED: list[Operator] = []
"""What shows in the derivative of a gradient that depends on the operands."""
LINEAR: list[Operator] = []
"""What shows in the derivative of any other gradient."""


def _anywhere(_: Primitive, __: Samples) -> bool:
    return True


def operator(entered: list[Operator], what: str, fits: Callable[[Primitive, Samples], bool] = _anywhere) -> Callable[..., Any]:
    """Enter an operator under the name of its function."""

    def enter(mistake: Mistake) -> Mistake:
        entered.append(Operator(mistake.__name__, what, mistake, fits))
        return mistake

    return enter


def _says_where(_: Primitive, samples: Samples) -> bool:
    """Whether an attribute of the op is about axes, lengths or indices."""
    return any(isinstance(value, int | list | tuple) and not isinstance(value, bool) for s in samples for value in s.attrs.values())


def _moves_elements(op: Primitive, _: Samples) -> bool:
    """Whether the results are elements of the operand."""
    return op.ulps == 0 and len(op.operands) == 1 and not (op.variadic or op.multi_output)


def _has_a_transpose(op: Primitive, samples: Samples) -> bool:
    """Whether the op says where elements go and the rule keeps nothing of them."""
    return not op.saving and len(op.operands) == 1 and not (op.variadic or op.multi_output) and _says_where(op, samples)


def _has_operands(op: Primitive, _: Samples) -> bool:
    return len(op.operands) > 1 and not op.variadic


def _sums_products(op: Primitive, samples: Samples) -> bool:
    return op.summands is not None and _has_operands(op, samples)


def _has_slots(op: Primitive, _: Samples) -> bool:
    return op.multi_output


def _is_variadic(op: Primitive, _: Samples) -> bool:
    return op.variadic


# What shows in the gradient.


@operator(FIRST, "has the wrong sign")
def sign(_: Place, right: Any, *given: Any, **attrs: Any) -> Any:
    return neg(right(*given, **attrs))


@operator(FIRST, "has the last of repeated elements alone", _moves_elements)
def last_wins(place: Place, right: Any, g: Any, out: Any, x: Any, **attrs: Any) -> Any:
    # Where the elements go is read off the op itself, applied to numbers that are all different.
    numbers = FAR + np.arange(float(np.prod(shape_of(x)))).reshape(shape_of(x))
    went = np.asarray(place.op.forward(numbers, **attrs))
    if not np.isin(went, numbers).all():
        return right(g, out, x, **attrs)
    _, lasts = np.unique(np.ravel(went)[::-1], return_index=True)
    last = np.zeros(went.size, array_of(g).dtype)
    last[went.size - 1 - lasts] = 1
    return right(mul(g, last.reshape(went.shape)), out, x, **attrs)


@operator(FIRST, "lacks the last of the results", _has_slots)
def last_part_lost(_: Place, right: Any, g: Any, *given: Any, **attrs: Any) -> Any:
    lost = None if g[-1] is None else mul_scalar(g[-1], other=0.0)
    return right((*g[:-1], lost), *given, **attrs)


@operator(FIRST, "is that of the first operand", _is_variadic)
def of_the_first_operand(_: Place, right: Any, *given: Any, position: int, **attrs: Any) -> Any:
    return right(*given, position=0, **attrs)


@operator(FIRST, "is the op once more, not its transpose", _has_a_transpose)
def not_inverted(place: Place, right: Any, g: Any, out: Any, x: Any, **attrs: Any) -> Any:
    return place.op(g, **attrs) if shape_of(g) == shape_of(x) else right(g, out, x, **attrs)


@operator(FIRST, "does not conjugate its factor")
def not_conjugated(_: Place, right: Any, g: Any, *given: Any, **attrs: Any) -> Any:
    return conjugate(right(_of_each(conjugate, g), *given, **attrs))


@operator(FIRST, "takes square factors for their transposes", _sums_products)
def factors_transposed(_: Place, right: Any, g: Any, out: Any, *operands: Any, **attrs: Any) -> Any:
    return right(g, out, *map(_transposed, operands), **attrs)


@operator(FIRST, "is not summed over broadcast axes", _has_operands)
def not_summed(place: Place, right: Any, g: Any, out: Any, *operands: Any, **attrs: Any) -> Any:
    given = list(operands)
    try:
        given[place.position] = expand(given[place.position], shape=shape_of(g))
    except ValueError:  # operands do not broadcast here
        return right(g, out, *operands, **attrs)
    return right(g, out, *given, **attrs)


@operator(FIRST, "takes the operand itself for the other one", _has_operands)
def wrong_operand(place: Place, right: Any, g: Any, out: Any, *operands: Any, **attrs: Any) -> Any:
    other = (place.position + 1) % len(operands)
    if not _alike(operands[place.position], operands[other]):
        return right(g, out, *operands, **attrs)
    given = list(operands)
    given[place.position], given[other] = given[other], given[place.position]
    return right(g, out, *given, **attrs)


@operator(FIRST, "uses the operand for the result", lambda op, samples: not op.variadic)
def operand_for_result(place: Place, right: Any, g: Any, out: Any, *operands: Any, **attrs: Any) -> Any:
    own = operands[place.position]
    return right(g, own if _alike(own, out) else out, *operands, **attrs)


@operator(FIRST, "uses the result for the operand", lambda op, samples: not op.variadic)
def result_for_operand(place: Place, right: Any, g: Any, out: Any, *operands: Any, **attrs: Any) -> Any:
    given = list(operands)
    if _alike(given[place.position], out):
        given[place.position] = out
    return right(g, out, *given, **attrs)


@operator(FIRST, "is transposed where it is square", _says_where)
def transposed(_: Place, right: Any, *given: Any, **attrs: Any) -> Any:
    return _transposed(right(*given, **attrs))


@operator(FIRST, "is off by one along an axis", _says_where)
def off_by_one(_: Place, right: Any, *given: Any, **attrs: Any) -> Any:
    made = right(*given, **attrs)
    axis = attrs.get("axis")
    rank = len(shape_of(made))
    return roll(made, shift=1, axis=axis if isinstance(axis, int) and -rank <= axis < rank else rank - 1) if rank else made


@operator(FIRST, "is the cotangent as it came", lambda op, samples: not op.multi_output)
def passed_on(place: Place, right: Any, g: Any, out: Any, *operands: Any, **attrs: Any) -> Any:
    shape = shape_of(place.own(operands, attrs))
    if np.prod(shape) != np.prod(shape_of(g)):
        return right(g, out, *operands, **attrs)
    return g if shape_of(g) == shape else reshape(g, shape=shape)


@operator(FIRST, "has the mean of the cotangent everywhere")
def averaged(_: Place, right: Any, g: Any, *given: Any, **attrs: Any) -> Any:
    return right(_of_each(_average, g), *given, **attrs)


@operator(FIRST, "is off by a factor of 2")
def factor(_: Place, right: Any, *given: Any, **attrs: Any) -> Any:
    return mul_scalar(right(*given, **attrs), other=2.0)


# What shows at order 2 only: the gradient is right, and what it counts as depending on is not.


@operator(CURVED, "forgets half of how it depends on the operands")
def half_linked(_: Place, right: Any, g: Any, out: Any, *operands: Any, **attrs: Any) -> Any:
    return _middle(right(g, out, *operands, **attrs), right(g, detached(out), *map(detached, operands), **attrs))


@operator(CURVED, "counts the result as a constant")
def constant_result(_: Place, right: Any, g: Any, out: Any, *operands: Any, **attrs: Any) -> Any:
    return right(g, detached(out), *operands, **attrs)


@operator(CURVED, "counts the other operands as constants", _has_operands)
def constant_others(place: Place, right: Any, g: Any, out: Any, *operands: Any, **attrs: Any) -> Any:
    given = [x if i == place.position else detached(x) for i, x in enumerate(operands)]
    return right(g, out, *given, **attrs)


@operator(CURVED, "counts the operands as constants", _has_operands)
def constant_operands(_: Place, right: Any, g: Any, out: Any, *operands: Any, **attrs: Any) -> Any:
    return right(g, out, *map(detached, operands), **attrs)


@operator(CURVED, "counts the cotangent as a constant")
def constant_cotangent(_: Place, right: Any, g: Any, *given: Any, **attrs: Any) -> Any:
    return right(detached(g), *given, **attrs)


@operator(LINEAR, "forgets half of how it depends on the cotangent")
def half_of_the_cotangent(_: Place, right: Any, g: Any, *given: Any, **attrs: Any) -> Any:
    return _middle(right(g, *given, **attrs), right(detached(g), *given, **attrs))


def detached(x: Any) -> Any:
    """Return what an operand, an output or a cotangent is, without what it was made of."""
    if isinstance(x, tuple):
        return tuple(map(detached, x))
    if isinstance(x, Variable):
        copy = clone(x)
        copy.stop_gradient = True
        return copy
    return array_of(unfollowed(x))


def _middle(one: Any, other: Any) -> Any:
    return mul_scalar(add(one, other), other=0.5)


def _of_each(change: Callable[[Any], Any], g: Any) -> Any:
    return tuple([part if part is None else change(part) for part in g]) if isinstance(g, tuple) else change(g)


def _average(g: Any) -> Any:
    return expand(mean(g, axis=None, keepdims=False), shape=shape_of(g))


def _transposed(x: Any) -> Any:
    shape = shape_of(x)
    return transpose(x, axis0=-1, axis1=-2) if len(shape) > 1 and shape[-1] == shape[-2] else x


def _alike(x: Any, y: Any) -> bool:
    """Whether one can be taken for the other without anything else being noticed."""
    return not isinstance(y, tuple) and shape_of(x) == shape_of(y) and x.dtype == y.dtype
