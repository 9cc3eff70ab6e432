"""Other vjp rules and forwards in the place of the right ones, and a place to observe rules while they run.

A counterfactual or a mutant asks what the engine would answer if one of its rules were another. It must not reach into primitives for
that, and the engine must not become slower for it. So these are context managers that change what runs for the length of a ``with``
block, and outside of such a block there is nothing to check::

    with replaced_rule(OPS["sin"], 0, lambda right: lambda g, out, x: mul(right(g, out, x), two)):
        grad(...)

The blocks nest: what is right inside one is what the one around it says.
"""

from __future__ import annotations

import functools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from reference_impl.tape.primitive import OPS, Primitive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reference_impl.tape.primitive import Application

Rule: TypeAlias = "Callable[..., Any]"
"""A vjp rule, called as ``rule(g, out, *operands, **attrs)``."""

Pulled: TypeAlias = "list[tuple[int, Any]]"
"""Cotangents of operands, each with the position of its operand."""

Pull: TypeAlias = "Callable[[Application, Sequence[int], Any, Any, Sequence[Any]], Pulled]"
"""`Primitive.cotangents` of one primitive."""

Interceptor: TypeAlias = "Callable[[Pull, Primitive, Application, Sequence[int], Any, Any, Sequence[Any]], Pulled]"
"""What answers instead: it is given what would have answered, and of which primitive, and then what that would have been given."""


@contextmanager
def replaced_rule(op: Primitive, position: int, make: Callable[[Rule], Rule]) -> Iterator[None]:
    """Have the rule for one operand be what ``make`` makes of the right one; ops that share their rules with this one keep theirs."""
    before = op.rules
    right = before[position]
    if right is None:
        msg = f"{op.name}.{op.operands[position]} has no vjp rule to replace"
        raise ValueError(msg)
    op.rules = [*before[:position], make(right), *before[position + 1 :]]
    try:
        yield
    finally:
        op.rules = before


@contextmanager
def replaced_forward(op: Primitive, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Iterator[None]:
    """Have the forward of a primitive be what ``make`` makes of the right one."""
    right = op.forward
    op.forward = make(right)
    try:
        yield
    finally:
        op.forward = right


@contextmanager
def replaced_op(name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Iterator[None]:
    """Have scripts find under a name what ``make`` makes of the op that is there, a primitive or not; rules have theirs still."""
    right = OPS[name]
    OPS[name] = functools.update_wrapper(make(right), right.forward if isinstance(right, Primitive) else right)
    try:
        yield
    finally:
        OPS[name] = right


@contextmanager
def intercepted_rules(by: Interceptor) -> Iterator[None]:
    """Have ``by`` answer wherever a node asks its primitive for cotangents."""
    right = Primitive.cotangents

    def cotangents(self: Primitive, node: Application, asked: Sequence[int], g: Any, out: Any, operands: Sequence[Any]) -> Pulled:
        return by(functools.partial(right, self), self, node, asked, g, out, operands)

    Primitive.cotangents = cotangents  # type: ignore[method-assign]
    try:
        yield
    finally:
        Primitive.cotangents = right  # type: ignore[method-assign]


@contextmanager
def noted_lookups(note: Callable[[Primitive, int], None]) -> Iterator[None]:
    """Tell ``note`` of every rule that is looked up by its position, as fused ops do with those of their formula."""
    right = Primitive.rule

    def rule(self: Primitive, position: int) -> Rule | None:
        note(self, position)
        return right(self, position)

    Primitive.rule = rule  # type: ignore[method-assign]
    try:
        yield
    finally:
        Primitive.rule = right  # type: ignore[method-assign]
