"""How a framework writes the ops: text that is compiled for its adapter and printed in its reproductions.

A reproduction is worth something only if it runs what the adapter ran. So both take an op's expression from the same `Spelling`: the
framework's own, or else the one that the catalogue has for it.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from conformance.ops import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.ops.spec import OpSpec


@dataclass(frozen=True)
class Spelling:
    """The expressions of one framework, in which operands and attributes stand under the names that the catalogue gives them.

    ``framework``: the name of its module in the expressions, and of its calls in the catalogue. ``own``: expressions that stand before
    the catalogue's, by the name of the op; ``own_in_place``: those that change their first operand. For example, a framework of which
    the catalogue knows nothing and that has two ops::

        Spelling("toy", {"mul": "toy.times(x, y)", "sum": "toy.total(x, axis, keepdims)"})
    """

    framework: str
    own: Mapping[str, str] = field(default_factory=dict)
    own_in_place: Mapping[str, str] = field(default_factory=dict)

    def lower(self, name: str, module: Any, *, in_place: bool = False) -> Callable[..., Any]:
        """Compile the call of an op; operands are passed in order, attributes by name."""
        row, of_catalogue = self._row(name, in_place)
        return row.lower(self.framework, module, in_place=of_catalogue)

    def text(self, name: str, operands: Sequence[str], attrs: Mapping[str, Any], *, in_place: bool = False) -> str:
        """Write the call of an op with the given operand names and attribute values."""
        row, of_catalogue = self._row(name, in_place)
        return row.text(self.framework, list(operands), attrs, in_place=of_catalogue)

    def call(self, name: str, *, in_place: bool = False) -> str | None:
        """Return the expression of an op; ``None`` if there is none."""
        row, of_catalogue = self._row(name, in_place)
        calls = row.calls if not of_catalogue else {} if row.form is None else row.form.calls
        return calls.get(self.framework)

    def _row(self, name: str, in_place: bool) -> tuple[OpSpec, bool]:
        """Return the op with the call that counts, and whether that is its in-place form of the catalogue."""
        row = catalogue()[name]
        own = (self.own_in_place if in_place else self.own).get(name)
        return (row, in_place) if own is None else (replace(row, calls={self.framework: own}), False)


class Calls:
    """The calls of one framework, by the name of the op, compiled when they are first used: what its adapter applies ops with.

    ``own``: calls that have no text and stand before all others, such as those of an engine that is written for a test.
    """

    def __init__(self, spelling: Spelling | str, module: Any, own: Mapping[str, Callable[..., Any]] | None = None) -> None:
        self._spelling = Spelling(spelling) if isinstance(spelling, str) else spelling
        self._framework, self._module = self._spelling.framework, module
        self._own = frozenset(own or ())
        self._ops: dict[str, Callable[..., Any]] = dict(own or {})
        self._in_place: dict[str, Callable[..., Any]] = {}

    def apply(self, name: str, operands: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Apply an op and return all its results."""
        call = self._ops.get(name) or self._compiled(name)
        made = call(operands, **attrs) if catalogue()[name].variadic else call(*operands, **attrs)
        return tuple(made) if isinstance(made, list | tuple) else (made,)

    def compile_all(self) -> None:
        """Compile the calls of all ops now, so that no process has to that is forked from this one."""
        for name in catalogue():
            if name not in self._ops and self._spelling.call(name) is not None:
                self._compiled(name)

    def _compiled(self, name: str) -> Callable[..., Any]:
        call = self._ops[name] = self._spelling.lower(name, self._module)
        return call

    def lacking(self) -> dict[str, str]:
        """Return the ops that this release does not have, as `BackendInfo.not_offered` says it, with the name that is missing.

        So are those of which nobody says how the framework writes them.
        """
        found = {}
        for name, row in catalogue().items():
            for kind, in_place in (("op", False), ("in_place", True)):
                if (in_place and row.form is None) or (not in_place and name in self._own):
                    continue
                call = self._spelling.call(name, in_place=in_place)
                if call is None:
                    found[f"{kind}:{name}"] = f"there is no call of {self._framework} for it"
                elif missing := next(self._missing(call), None):
                    found[f"{kind}:{name}"] = f"this release has no {missing}"
        return found

    def _missing(self, call: str) -> Iterator[str]:
        """Yield the names in a call that this release does not have: of functions, and of their parameters."""
        for node in ast.walk(ast.parse(call, mode="eval")):
            path, keywords = (node.func, node.keywords) if isinstance(node, ast.Call) else (node, [])
            text = ast.unparse(path)
            framework, *names = text.split(".")
            if framework != self._framework or not names or not all(map(str.isidentifier, names)):
                continue
            try:
                function = attrgetter(".".join(names))(self._module)
            except AttributeError:
                yield text
            else:
                yield from (f"parameter {given.arg} of {text}" for given in keywords if given.arg and not _takes(function, given.arg))

    def alike(self) -> dict[str, str]:
        """Return the ops that are written as another one, but for the names of operands, each with the first that is written so."""
        first: dict[str, str] = {}
        found = {}
        for name, row in catalogue().items():
            call = None if name in self._own else self._spelling.call(name)
            if call is not None and (other := first.setdefault(_nameless(call, row.operands), name)) != name:
                found[name] = other
        return found

    def change(self, name: str, tensor: Any, operands: Sequence[Any], attrs: Mapping[str, Any]) -> None:
        """Apply the in-place form of an op to a tensor."""
        call = self._in_place.get(name)
        if call is None:
            call = self._in_place[name] = self._spelling.lower(name, self._module, in_place=True)
        call(tensor, *operands, **attrs)


def _nameless(call: str, operands: Sequence[str]) -> str:
    """Return an expression with numbers for the names of operands, in the order in which they come."""
    tree = ast.parse(call, mode="eval")
    numbers: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in operands:
            node.id = numbers.setdefault(node.id, f"operand_{len(numbers)}")
    return ast.unparse(tree)


def _takes(function: Any, parameter: str) -> bool:
    """Whether a function has a parameter of a name, as far as it says which ones it has."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled functions need not have a signature
        return True
    return parameter in parameters or any(known.kind is inspect.Parameter.VAR_KEYWORD for known in parameters.values())
