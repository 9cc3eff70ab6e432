"""Fused ops: one node to a framework, a formula of others to mathematics.

A framework computes `layer_norm` by one kernel and records one node for it, so it is offered, freed and kept as one. As a `composite`
it would be ten nodes that nobody has; as a primitive it would need a rule of ten lines for each operand, worked out by hand. A *fused*
op is a primitive, with a name of its own wherever an engine is asked something, and its rules are the reverse pass through its
formula. So there is nothing to work out, and the derivatives are those of the formula, at the special points too::

    @fused()
    def rms(x, *, axis): return sqrt(mean(mul(x, x), axis=[axis], keepdims=True))

The formula is written with primitives alone: it never looks at the elements of an operand.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reference_impl.primitives.arithmetic import add
from reference_impl.tape.primitive import Primitive, Symbol, register, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class _Stage(NamedTuple):
    """One application of a primitive inside a formula; its results are followed, and so are some of the operands."""

    primitive: Primitive
    operands: tuple[Any, ...]
    attrs: dict[str, Any]
    results: tuple[_Followed, ...]


class _Followed(Symbol):
    """A value of a formula: an array, a Tensor or a variable of a program. ``depends``: on the operand that the rule is for."""

    __slots__ = ("depends", "dtype", "shape", "stages", "value")

    def __init__(self, value: Any, stages: list[_Stage], *, depends: bool) -> None:
        self.value = value
        self.depends = depends
        self.shape = shape_of(value)
        self.dtype = value.dtype
        self.stages = stages

    def record(self, primitive: Primitive, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Compute ``primitive(*operands, **attrs)`` and remember what depends on the operand."""
        out = primitive(*map(unfollowed, operands), **attrs)
        depends = any(map(_depends, operands))
        results = tuple([_Followed(part, self.stages, depends=depends) for part in (out if primitive.multi_output else (out,))])
        if depends:
            self.stages.append(_Stage(primitive, operands, attrs, results))
        return results if primitive.multi_output else results[0]


def unfollowed(operand: Any) -> Any:
    """Return what an operand in a formula stands for; nothing that is made of that is followed."""
    return operand.value if isinstance(operand, _Followed) else operand


def _depends(operand: Any) -> bool:
    return isinstance(operand, _Followed) and operand.depends


def fused(**facts: Any) -> Callable[[Callable[..., Any]], Primitive]:
    """Make a primitive of a formula that is written with primitives and has one result; ``facts`` are those of `primitive`."""
    return lambda formula: fused_as(formula.__name__, formula, **facts)


def as_one(composite: Callable[..., Any], **facts: Any) -> Primitive:
    """Make a fused op of a composite, ``NAME_as_one``: one framework has several nodes for it, another has one."""
    return fused_as(f"{composite.__name__}_as_one", composite, **facts)


def of_parts(op: Primitive) -> Callable[..., Any]:
    """Make a composite of a fused op, ``NAME_of_parts``: one framework has one node for it, another has several."""
    return register(f"{op.name}_of_parts", op.forward)


def fused_as(name: str, formula: Callable[..., Any], saves: Iterable[str] | None = None, **facts: Any) -> Primitive:
    """Make the same under a name that is not that of the formula."""
    made = register(name, Primitive(formula, name, saves, fused=True, **facts))
    for position, operand in enumerate(made.operands):
        made.vjp(operand)(functools.partial(_pulled, formula, position))
    return made


def _pulled(formula: Callable[..., Any], position: int, g: Any, _: Any, *operands: Any, **attrs: Any) -> Any:
    """Return the cotangent of one operand."""
    found = pulled_through(lambda *given: (formula(*given, **attrs),), position, (g,), operands)
    return np.zeros(shape_of(operands[position]), operands[position].dtype) if found is None else found  # of what only decides a branch


def pulled_through(formula: Callable[..., Sequence[Any]], position: int, cotangents: Sequence[Any], operands: Sequence[Any]) -> Any:
    """Return the cotangent of one operand of a formula with several results: the reverse pass through what it has a part in.

    Nothing starts at results of which the cotangent is ``None``. ``None``: none of the others depends on the operand.
    """
    stages: list[_Stage] = []
    given = [_Followed(operand, stages, depends=at == position) for at, operand in enumerate(operands)]
    results = zip(formula(*given), cotangents, strict=True)
    arrived: dict[_Followed, Any] = {result: cotangent for result, cotangent in results if cotangent is not None and _depends(result)}
    for stage in reversed(stages):
        slots = [arrived.pop(result, None) for result in stage.results]
        if all(slot is None for slot in slots):
            continue
        filled = [_zeros(result) if slot is None else slot for slot, result in zip(slots, stage.results, strict=True)]
        for at, operand in enumerate(stage.operands):
            if _depends(operand) and (cotangent := _cotangent(stage, at, filled)) is not None:
                arrived[operand] = add(arrived[operand], cotangent) if operand in arrived else cotangent
    return arrived.get(given[position])


def _cotangent(stage: _Stage, position: int, arrived: list[Any]) -> Any:
    op = stage.primitive
    rule = op.rule(position)
    if rule is None:
        return None
    g, out = (tuple(parts) if op.multi_output else parts[0] for parts in (arrived, [result.value for result in stage.results]))
    attrs = {**stage.attrs, "position": position} if op.variadic else stage.attrs
    return rule(g, out, *map(unfollowed, stage.operands), **attrs)


def _zeros(result: _Followed) -> Any:
    return np.zeros(result.shape, result.dtype)
