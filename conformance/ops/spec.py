"""What a catalogue entry is: how to draw an op's arguments, and what each framework calls it.

The framework calls are Python expressions over the op's operands and attributes. The same text is compiled for the adapters and
printed in standalone reproductions, so a reproduction runs what the adapter ran.
"""

from __future__ import annotations

import ast
import functools
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.ops.in_place import IN_PLACE
from reference_impl import OPS
from reference_impl.primitive import Primitive

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from conformance.generate.sketch import Draft, Sketch

    Draw = Callable[[Sketch], tuple[list[Draft], dict[str, Any]] | None]


@dataclass(frozen=True, slots=True)
class OpSpec:
    """One op of the catalogue.

    Attributes:
        name: as in the reference engine.
        base_op: what the op universe groups it under; rank: its place there by use in public models.
        draw: choose operands and attributes from a sketch; ``None`` where the sketch offers nothing that fits.
        calls: per framework, the expression; operands and attributes stand under their own names.
        exact: whether dyadic operands of small size give dyadic results and gradients.
        eager: whether eager campaigns use it unasked; programs use every op.
    """

    name: str
    family: str
    base_op: str
    rank: int
    draw: Draw
    calls: Mapping[str, str]
    exact: bool = True
    eager: bool = True

    @property
    def operands(self) -> tuple[str, ...]:
        """Names of the differentiable operands."""
        return signature(self.name)[0]

    @property
    def attrs(self) -> tuple[str, ...]:
        """Names of the attributes (plain data)."""
        return signature(self.name)[1]

    @property
    def several(self) -> bool:
        """Whether the op returns a list of results (which may have one element)."""
        op = OPS[self.name]
        return isinstance(op, Primitive) and op.several

    @property
    def variadic(self) -> bool:
        """Whether the op takes any number of operands."""
        return signature(self.name)[2]

    def lower(self, framework: str, module: Any, *, in_place: bool = False) -> Callable[..., Any]:
        """Compile the framework's call; operands are passed in order, attributes by name."""
        names = [*self.operands, *self.attrs]
        source = f"lambda {', '.join(names)}: {(IN_PLACE[self.name] if in_place else self.calls)[framework]}"
        return eval(source, {framework: module})  # type: ignore[no-any-return]  # noqa: S307 - text of this package, not of a user

    def text(self, framework: str, operands: list[str], attrs: Mapping[str, Any], *, in_place: bool = False) -> str:
        """Write the framework's call with the given operand names and attribute values."""
        filled: dict[str, str] = {name: repr(value) for name, value in attrs.items()}
        if self.variadic:
            filled[self.operands[0]] = f"[{', '.join(operands)}]"
        else:
            filled.update(zip(self.operands, operands, strict=True))
        return ast.unparse(_Fill(filled).visit(ast.parse((IN_PLACE[self.name] if in_place else self.calls)[framework], mode="eval")))


def rows(
    family: str, *entries: tuple[str, str, int, Draw, str, str], inexact: Collection[str] = (), eager: bool = True
) -> list[OpSpec]:
    """Make the entries of a family from rows of name, base op, rank, draw, torch call, Paddle call."""
    return [
        OpSpec(name, family, base, rank, draw, {"torch": torch, "paddle": paddle}, name not in inexact, eager)
        for name, base, rank, draw, torch, paddle in entries
    ]


class _Fill(ast.NodeTransformer):
    def __init__(self, filled: Mapping[str, str]) -> None:
        self.filled = filled

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.filled:
            return ast.parse(self.filled[node.id], mode="eval").body
        return node


@functools.cache
def signature(name: str) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """Return the names of an op's operands and of its attributes, and whether it takes any number of operands."""
    op = OPS[name]
    parameters = inspect.signature(op.forward if isinstance(op, Primitive) else op).parameters.values()
    return (
        tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY),
        tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY),
        any(p.kind is p.VAR_POSITIONAL for p in parameters),
    )
