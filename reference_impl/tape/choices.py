"""What a node asks at its open choices (`reference_impl.dialects.conventions`), and in which words.

A node of an op asks about that op, by the names of its operands. A node of a derivative asks about the op and order that it belongs to,
since a framework has one node for all of that; beside it stands the primitive that it is of here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from reference_impl.dialects.conventions import COMPUTED, CUT, FORMULA, LINKED, REFUSED, UNNAMED, Kind, of_order
from reference_impl.tape.primitive import Primitive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference_impl.dialects.conventions import Conventions
    from reference_impl.tape.tensor import Function, Node


STRIDED = "(strided)"
"""Ends the name of an operand of which a node may have kept a copy, since there are gaps between its elements."""


class Connections(NamedTuple):
    """On what the gradients of a node's operands count as depending, other than by formula: operands by position, ``g`` and ``out``."""

    linked: tuple[int, ...] = ()
    cut: tuple[int, ...] = ()
    to_g: bool = False
    to_out: bool = False

    def others(self, operands: Sequence[Any], g: Any, outputs: Sequence[Any]) -> list[Any]:
        """Return what the derivatives count as depending on although their formula may not use it."""
        return [*(operands[p] for p in self.linked), *([g] if self.to_g else ()), *(outputs if self.to_out else ())]


BY_FORMULA = Connections()


def connections(
    primitive: Function, derivative_of: tuple[str, int], tracked: Sequence[int], asked: Sequence[int], conventions: Conventions
) -> Connections:
    """Ask on what the gradients of the operands of a node, or of an operator of a program, count as depending.

    ``tracked``: the positions of the operands that need a gradient; ``asked``: of those that are asked for theirs now. The company of
    an operand decides, too: it is ``alone``, or another operand is ``tracked``, or even ``asked``.

    A pass asks the same of many nodes, and what it is told then is the same.
    """
    if conventions.noted is not None:
        return _connections(primitive, derivative_of, tracked, asked, conventions)
    place = (primitive.name, derivative_of, *tracked, None, *asked)
    found: Connections | None = conventions.composed.get(place)
    if found is None:
        found = conventions.composed[place] = _connections(primitive, derivative_of, tracked, asked, conventions)
    return found


def _connections(
    primitive: Function, derivative_of: tuple[str, int], tracked: Sequence[int], asked: Sequence[int], conventions: Conventions
) -> Connections:
    op, where = _place(primitive, derivative_of)
    g, out = (not primitive.multi_output and conventions.ask(Kind.CONNECTED, op, where + about, FORMULA) == LINKED for about in UNNAMED)
    found: dict[str, list[int]] = {FORMULA: [], LINKED: [], CUT: []}
    for position in tracked:
        company = "alone" if len(tracked) == 1 else "asked" if any(other != position for other in asked) else "tracked"
        found[conventions.ask(Kind.CONNECTED, op, f"{where}{operand_name(primitive, position)} {company}", FORMULA)].append(position)
    connected = Connections(tuple(found[LINKED]), tuple(found[CUT]), g, out)
    return BY_FORMULA if connected == BY_FORMULA else connected


def refuses_when_freed(node: Node, conventions: Conventions, *, in_part: bool) -> bool:
    """Ask whether a node refuses to run again after its graph was freed.

    ``in_part``: one of the passes came for the result alone. Where an op is several nodes in a framework, such a pass runs the last of
    them and frees no other; what holds of the op as a whole is then no more than what one would expect.
    """
    primitive = node.primitive
    if not isinstance(primitive, Primitive):
        return node.saves()
    op, where = _place(primitive, node.derivative_of)
    names = {operand_name(primitive, position): primitive.saves([position]) for position in node.tracked}
    if not in_part:
        return True in {conventions.refuses(Kind.FREED, op, where + name, formula=saves) for name, saves in names.items()}
    whole = {name: conventions.expects(Kind.FREED, op, where + name, REFUSED if saves else COMPUTED) for name, saves in names.items()}
    return REFUSED in {conventions.ask(Kind.FREED, op, f"{where}{name} result", formula=told) for name, told in whole.items()}


def keeps(node: Node, thing: str, conventions: Conventions, *, strided: bool = False) -> bool:
    """Ask whether a node refuses a pass because ``thing`` was written, the name of an operand or ``out``.

    ``strided``: there are gaps between the elements of the operand. Where nothing is known of that, what is known of others holds.
    """
    primitive = node.primitive
    if not isinstance(primitive, Primitive):
        return node.saves() and thing != "out"
    op, where = _place(primitive, node.derivative_of)
    by_formula = thing != "out" and node.saves()
    names = dict.fromkeys(operand_name(primitive, position) for position in node.tracked)
    kept = {f"{where}{name} {thing}": by_formula for name in names}
    if strided:
        told = {about: conventions.expects(Kind.KEPT, op, about, REFUSED if kept[about] else COMPUTED) for about in kept}
        kept = {f"{about}{STRIDED}": option == REFUSED for about, option in told.items()}
    return True in {conventions.refuses(Kind.KEPT, op, about, formula=formula) for about, formula in kept.items()}


def operand_name(primitive: Function, position: int) -> str:
    """Return the name of an operand; all of a variadic op have one."""
    return primitive.operands[min(position, len(primitive.operands) - 1)]


def _place(primitive: Function, derivative_of: tuple[str, int]) -> tuple[str, str]:
    """Return the op that a node belongs to, and what of its derivative it is."""
    op, depth = derivative_of
    return op, f"{of_order(depth + 1)} {primitive.name} " if depth else ""
