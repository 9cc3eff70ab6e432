"""Which methods of an `Engine` an adapter lacks.

A script would find that out, too, by an `AttributeError`, which no category knows: a finding of an engine that did nothing wrong.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, get_args

from conformance.case.steps import Step

if TYPE_CHECKING:
    from collections.abc import Container

ALWAYS = ("leaf", "look", "grad_of", "category")
NAMED_OTHERWISE = {
    "op": ("apply",),
    "hook": ("hook", "recording"),
    "custom": ("custom", "recording"),
    "drop": (),  # the interpreter's own
    "append_backward": (),  # of static programs, which have another protocol
}
"""The methods that a kind of step needs, where that is not one of the same name."""


def demand(engine: Any, not_offered: Container[str]) -> None:
    """Refuse an engine that has no method for something that it is said to offer.

    Raises:
        TypeError: if it has none.
    """
    if _has_all(type(engine)):  # type: ignore[arg-type]  # mypy takes the hash of its instances for that of a class
        return
    offered = {word: methods for word, methods in _needed().items() if word not in not_offered}
    lacking = {word: methods for word, methods in offered.items() if not all(hasattr(engine, method) for method in methods)}
    if always := [method for method in ALWAYS if not hasattr(engine, method)]:
        raise TypeError(f"the engine {type(engine).__name__} has no method {', '.join(always)}, which every engine needs")
    if lacking:
        wanted = dict.fromkeys(m for methods in lacking.values() for m in methods if not hasattr(engine, m))
        raise TypeError(
            f"the engine {type(engine).__name__} has no method {', '.join(wanted)}; "
            f"write what is missing, or put {', '.join(lacking)} into not_offered, with the reason"
        )


@functools.cache  # the reference is opened for every script that a judge asks it about
def _has_all(kind: type[object]) -> bool:
    """Whether a class has every method that any step needs; an adapter may have others by its instance alone."""
    return all(hasattr(kind, method) for methods in (ALWAYS, *_needed().values()) for method in methods)


@functools.cache
def _needed() -> dict[str, tuple[str, ...]]:
    """Return the methods that each kind of step needs, by the word by which it is not offered."""
    kinds = (str(kind.__struct_config__.tag) for kind in get_args(Step))
    return {f"step:{kind}": NAMED_OTHERWISE.get(kind, (kind,)) for kind in kinds} | {"no_grad": ("no_grad",)}
