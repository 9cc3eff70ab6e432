"""What goes wrong at an op: terms that are zero, and whose derivative is not.

What the op answers is right, to the bit. From it is subtracted a term in ``u = r - detach(r)``, made with the engine's own ops, which
is zero and has the derivative of the result ``r``: ``c u`` makes the first derivative wrong by the factor ``1 - c``, ``u u`` the second
one alone, and ``u u u`` the third. Where the gradient of one operand is to be wrong alone, the op is applied again with all others
detached; the product of two such terms makes the mixed derivative wrong. ``u - cast(u)``, where the cast is to fewer bits and back,
makes the gradients as if they had been rounded. Whose memory a result lies in is no term: there the op answers with a copy, or with a
view of its operand.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from conformance.case.steps import Op
from conformance.ops.dtypes import SINGLE, is_complex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    from conformance.backends.interpreter import EngineTensor
    from conformance.mutants.conditional.moment import Moment

    Made: TypeAlias = tuple[EngineTensor, ...]
    Effect: TypeAlias = Callable[[Moment, Made], Made]

BLOCK = 8


def applied(at: Moment, op: str, *operands: EngineTensor, **attrs: Any) -> EngineTensor:
    """Apply an op of the engine, with no fault."""
    return at.engine.apply(Op(op, (), (), attrs), list(operands))[0]


def _again(at: Moment, made: Made, position: int | None) -> Made:
    """Return the results once more, computed from one operand alone if a ``position`` is given."""
    if position is None:
        return made
    position %= len(at.given)
    return at.engine.apply(at.step, [x if i == position else at.engine.detach(x) for i, x in enumerate(at.given)])


def _minus(at: Moment, made: Made, terms: Made) -> Made:
    """Subtract zeros, which changes no number, nor the sign of one."""
    if not all(np.isfinite(at.engine.look(r).array).all() for r in made):
        return made
    return tuple(applied(at, "sub", r, term) for r, term in zip(made, terms, strict=True))


def _zero(at: Moment, result: EngineTensor) -> EngineTensor:
    """Return a zero that has the derivative of a result."""
    return applied(at, "sub", result, at.engine.detach(result))


def scaled(at: Moment, made: Made, by: float, position: int | None = None) -> Made:
    """Make first derivatives, of all operands or of one, too large by the factor ``1 + by``."""
    terms = []
    for r in _again(at, made, position):
        constant = at.engine.detach(r)
        zero = applied(at, "sub", constant, r) if by > 0 else applied(at, "sub", r, constant)
        terms.append(applied(at, "mul_scalar", zero, other=abs(by)))
    return _minus(at, made, tuple(terms))


def raised(at: Moment, made: Made, power: int, position: int | None = None) -> Made:
    """Make the derivatives of one order wrong, by all operands or by one."""
    terms = []
    for r in _again(at, made, position):
        zero = term = _zero(at, r)
        for _ in range(power - 1):
            term = applied(at, "mul", term, zero)
        terms.append(term)
    return _minus(at, made, tuple(terms))


def mixed(at: Moment, made: Made) -> Made:
    """Make the second derivative by the first operand and the last wrong, and no other."""
    ends = zip(_again(at, made, 0), _again(at, made, -1), strict=True)
    return _minus(at, made, tuple(applied(at, "mul", *(_zero(at, r) for r in both)) for both in ends))


def rounded(at: Moment, made: Made) -> Made:
    """Round gradients to single precision, if they have more."""
    terms = []
    for zero in (_zero(at, r) for r in made):
        dtype = str(at.engine.look(zero).array.dtype)
        narrow = applied(at, "cast", applied(at, "cast", zero, dtype=SINGLE.get(dtype, dtype)), dtype=dtype)
        terms.append(applied(at, "sub", zero, narrow))
    return _minus(at, made, tuple(terms))


def conjugated(at: Moment, made: Made) -> Made:
    """Hand complex cotangents back conjugated."""
    terms = []
    for zero in (_zero(at, r) for r in made):
        other = applied(at, "conj", zero) if is_complex(str(at.engine.look(zero).array.dtype)) else zero
        terms.append(applied(at, "sub", zero, other))
    return _minus(at, made, tuple(terms))


def spilled(at: Moment, made: Made, cut: Callable[[int], tuple[int, int]]) -> Made:
    """Make first derivatives wrong by what flows through some of the elements of a result, in row-major order."""
    terms = []
    for r in made:
        part = _zero(at, r)
        size = at.engine.look(r).array.size
        if size:
            start, stop = cut(size)
            part = applied(at, "getitem_slice", applied(at, "reshape", part, shape=[size]), key=[[start, stop, 1]])
        terms.append(applied(at, "sum", part, axis=None, keepdims=False))
    return _minus(at, made, tuple(terms))


def transposed(at: Moment, made: Made, position: int | None = None) -> Made:
    """Hand the cotangents of square matrices back transposed, as what sums over the wrong axis does."""
    terms = []
    for r in _again(at, made, position):
        zero = _zero(at, r)
        high, wide = (1, 2, *at.engine.look(r).array.shape)[-2:]
        terms.append(applied(at, "sub", zero, applied(at, "transpose", zero, axis0=-2, axis1=-1) if high == wide else zero))
    return _minus(at, made, tuple(terms))


def _copied(at: Moment, made: Made) -> Made:
    return tuple(applied(at, "clone", r) for r in made)


def _shared(at: Moment, made: Made) -> Made:
    """Return the operand, which the result is equal to, by another name."""
    del made
    return (applied(at, "reshape", at.given[0], shape=[*at.operands[0].shape]),)


def _last_block(size: int) -> tuple[int, int]:
    return max(0, size - (size % BLOCK or 1)), size


EFFECTS: Mapping[str, Effect] = {
    "its gradients are doubled": partial(scaled, by=1.0),
    "its gradients have the wrong sign": partial(scaled, by=-2.0),
    "its gradients are zero": partial(scaled, by=-1.0),
    "its gradients are wrong in the tenth bit": partial(scaled, by=2.0**-10),
    "its gradients are wrong in the twentieth bit": partial(scaled, by=2.0**-20),
    "its gradients are rounded to single precision": rounded,
    "its gradients are conjugated": conjugated,
    "the gradient of its first operand is doubled": partial(scaled, by=1.0, position=0),
    "the gradient of its last operand is doubled": partial(scaled, by=1.0, position=-1),
    "the gradient of its last operand is zero": partial(scaled, by=-1.0, position=-1),
    "its gradients are transposed": transposed,
    "the gradient of its last operand is summed over the wrong axis": partial(transposed, position=-1),
    "gradients leak from its last block": partial(spilled, cut=_last_block),
    "gradients leak from its first element": partial(spilled, cut=lambda size: (0, min(size, 1))),
    "its second derivatives are wrong": partial(raised, power=2),
    "the second derivative of its last operand is wrong": partial(raised, power=2, position=-1),
    "its mixed second derivative is wrong": mixed,
    "its third derivatives are wrong": partial(raised, power=3),
    "its fourth derivatives are wrong": partial(raised, power=4),
    "it is a copy": _copied,
    "it shares the memory of its operand": _shared,
    "it is not recorded": lambda at, made: tuple(map(at.engine.detach, made)),
}
"""Effects by their words."""
ORDERS = {
    "its second derivatives are wrong": 2,
    "the second derivative of its last operand is wrong": 2,
    "its mixed second derivative is wrong": 2,
    "its third derivatives are wrong": 3,
    "its fourth derivatives are wrong": 4,
}
"""The order of derivative at which an effect shows, where it is not the first."""
OF_MEMORY = frozenset({"it is a copy", "it shares the memory of its operand"})
"""Effects that show where something is written, and nowhere else."""
