"""A framework's calls, compiled from the catalogue when they are first used: what every adapter applies ops with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.ops import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Calls:
    """The calls of one framework, by the name of the op; ``own``: calls of the adapter's own that stand before the catalogue's."""

    def __init__(self, framework: str, module: Any, own: Mapping[str, Callable[..., Any]] | None = None) -> None:
        self._framework = framework
        self._module = module
        self._ops: dict[str, Callable[..., Any]] = dict(own or {})
        self._in_place: dict[str, Callable[..., Any]] = {}

    def apply(self, name: str, operands: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Apply an op and return all its results."""
        call = self._ops.get(name)
        if call is None:
            call = self._ops[name] = catalogue()[name].lower(self._framework, self._module)
        made = call(operands, **attrs) if catalogue()[name].variadic else call(*operands, **attrs)
        return tuple(made) if isinstance(made, list | tuple) else (made,)

    def change(self, name: str, tensor: Any, operands: Sequence[Any], attrs: Mapping[str, Any]) -> None:
        """Apply the in-place form of an op to a tensor."""
        call = self._in_place.get(name)
        if call is None:
            call = self._in_place[name] = catalogue()[name].lower(self._framework, self._module, in_place=True)
        call(tensor, *operands, **attrs)
