"""An engine that knows no rule: it differentiates functions by differences, exactly where they are quadratic."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from conformance.backends import BackendInfo
from conformance.backends.calls import Calls, Spelling
from conformance.backends.interpreter import Interpreter
from examples.engines.functional import FUNCTIONAL, Functional
from examples.engines.numpy_ops import NUMPY


class Numbers:
    """A mode that differentiates numerically: right to some digits, of every op that the table has."""

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def array(self, elements: Any) -> Any:
        return elements

    def plain(self, array: Any) -> Any:
        return np.array(array)

    def ones_like(self, array: Any) -> Any:
        return np.ones_like(array)

    def gradient(self, function: Any, x: Any, seeded: Any) -> Any:
        """Of quadratic functions a difference over two steps of 1 is exact."""
        seeds = seeded(function(x))
        found = np.zeros_like(x)
        for place in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[place] = 1.0
            ends = zip(function(x + step), function(x - step), seeds, strict=True)
            found[place] = self.factor * sum(np.sum((up - down) / 2 * seed) for up, down, seed in ends)
        return found


def numbers(factor: float = 1.0, **facts: Any) -> Interpreter:
    calls = Calls(Spelling("np", NUMPY), np)
    info = BackendInfo("numbers", "1", FUNCTIONAL, {**FUNCTIONAL.not_offered, **calls.lacking()})
    return Interpreter(replace(info, **facts), Functional(calls, Numbers(factor), ()))
