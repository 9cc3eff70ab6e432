"""What goes wrong at what is attached to tensors, or changes them: hooks, flags, gradients that are cleared, custom functions."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np

from conformance.case.case import input_of
from conformance.mutants.conditional.effects_of_calls import OWN, refusing, times
from conformance.mutants.conditional.effects_of_ops import applied

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from conformance.backends.interpreter import EngineTensor
    from conformance.mutants.conditional.effects_of_calls import Effect, Right
    from conformance.mutants.conditional.moment import Moment


def _hook_called(change: Callable[[Moment, EngineTensor], EngineTensor]) -> Effect:
    def effect(at: Moment, right: Right) -> Any:
        function = at.more[0]
        return right(at.given[0], lambda g: function(g if g is None else change(at, g)))

    return effect


def _answer_ignored(at: Moment, right: Right) -> Any:
    function = at.more[0]

    def called(g: EngineTensor) -> None:
        function(g)

    return right(at.given[0], called)


def _called_twice(at: Moment, right: Right) -> Any:
    function = at.more[0]

    def called(g: EngineTensor) -> EngineTensor:
        function(g)
        return function(g)

    return right(at.given[0], called)


def _called_at_first(at: Moment, right: Right) -> Any:
    function, calls = at.more[0], itertools.count()
    return right(at.given[0], lambda g: function(g) if next(calls) == 0 else None)


def _answer_detached(at: Moment, right: Right) -> Any:
    function = at.more[0]

    def called(g: EngineTensor) -> EngineTensor | None:
        answer = function(g)
        return None if answer is None else at.engine.detach(answer)

    return right(at.given[0], called)


def _answers_doubled(which: slice) -> Effect:
    """Double what a custom backward returns."""

    def effect(at: Moment, right: Right) -> Any:
        pulled = at.more[0]

        def changed(saved: list[EngineTensor], cotangents: list[EngineTensor]) -> list[EngineTensor]:
            found = list(pulled(saved, cotangents))
            for position in range(len(found))[which]:
                found[position] = None if found[position] is None else times(at, found[position], 2.0)
            return found

        return right(changed)

    return effect


def _pulled_with(
    change: Callable[[Moment, list[EngineTensor], list[EngineTensor]], tuple[list[EngineTensor], list[EngineTensor]]],
) -> Effect:
    """Hand other saved tensors and cotangents to a custom backward."""
    return lambda at, right: right(lambda saved, cotangents: at.more[0](*change(at, saved, cotangents)))


def _ones_for_zeros(at: Moment, cotangents: list[EngineTensor]) -> list[EngineTensor]:
    arrays = [at.engine.look(g).array for g in cotangents]
    return [
        g if array.any() else at.engine.leaf(input_of(OWN, np.ones_like(array))) for g, array in zip(cotangents, arrays, strict=True)
    ]


def _errors_lost(at: Moment, right: Right) -> Any:
    """Have a custom backward that raises give no gradients."""
    pulled = at.more[0]

    def called(saved: list[EngineTensor], cotangents: list[EngineTensor]) -> list[EngineTensor | None]:
        try:
            return pulled(saved, cotangents)  # type: ignore[no-any-return]
        except Exception:  # noqa: BLE001 - whatever the user's backward raises
            return [None] * len(at.given)

    return right(called)


def _unrecorded(at: Moment, right: Right) -> Any:
    with at.engine.no_grad():
        return right()


def _cleared_otherwise(at: Moment, right: Right) -> None:
    right(at.given[0], "none" if at.more[0] == "zero" else "zero")


def _with_gradient_cleared(at: Moment, right: Right) -> None:
    right()
    at.engine.clear_grad(at.given[0], "none")


def _flagged(at: Moment, right: Right) -> EngineTensor:
    made = right()
    at.engine.toggle(made, True)
    return made


OF_TENSORS: Mapping[str, Effect] = {
    "it is ignored": lambda _at, _right: None,
    "it is refused": refusing,
    "it sees twice the cotangent": _hook_called(lambda at, g: times(at, g, 2.0)),
    "its answer is ignored": _answer_ignored,
    "it is called twice": _called_twice,
    "it is called the first time alone": _called_at_first,
    "it sees no history": _hook_called(lambda at, g: at.engine.detach(g)),
    "its answer has no history": _answer_detached,
    "all its gradients are doubled": _answers_doubled(slice(None)),
    "its last gradient is doubled": _answers_doubled(slice(-1, None)),
    "the first hook is removed": lambda at, _: at.engine.remove_hook(at.past.handles[0]),
    "its unused results have ones for a cotangent": _pulled_with(lambda at, saved, given: (saved, _ones_for_zeros(at, given))),
    "what it saved has no history": _pulled_with(lambda at, saved, given: ([*map(at.engine.detach, saved)], given)),
    "what its backward raises is lost": _errors_lost,
    "it is not recorded": _unrecorded,
    "it happens twice": lambda _, right: (right(), right())[1],
    "its gradient is cleared": _with_gradient_cleared,
    "it requires a gradient": _flagged,
    "it keeps its history": lambda at, _: applied(at, "clone", at.given[0]),
    "zero and absent are swapped": _cleared_otherwise,
    "it records": lambda _at, _right: nullcontext(),
    "the flag is the other one": lambda at, right: right(at.given[0], not at.more[0]),
}
"""Effects on what is attached to tensors or changes them, by their words."""
