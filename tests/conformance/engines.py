"""What the tests of this folder share: two small cases, and how to run and judge one in this process."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from conformance.backends import BackendInfo
from conformance.backends.reference import reference
from conformance.case.case import Case, Input
from conformance.case.steps import Backward, Grad, Op
from conformance.compare.compare import Comparer
from conformance.compare.promise import Promise
from reference_impl import TORCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.case.outcome import Outcome
    from conformance.compare.mismatch import Mismatch

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
INFO = BackendInfo("other", "1.0", TORCH, TORCH.not_offered)
TOTAL = {"axis": None, "keepdims": False}

EXACT = Case(
    (Input("x", (3,), (1.0, 2.0, 3.0)), Input("w", (3,), (4.0, 5.0, 6.0))),
    (
        Op("mul", ("x", "x"), ("y",)),
        Op("sum", ("y",), ("z",), TOTAL),
        Grad(("z",), ("x", "w"), ("g", "h"), retain_graph=True, allow_unused=True),
        Backward(("z",)),
        Backward(("z",)),
    ),
    "exact",
)
NUMERIC = Case(
    (Input("x", (3,), (0.1, 0.7, -1.3)),),
    (
        Op("sin", ("x",), ("y",)),
        Op("exp", ("y",), ("e",)),
        Op("sum", ("e",), ("z",), TOTAL),
        Grad(("z",), ("x",), ("g",)),
    ),
)


def answer(case: Case) -> Outcome:
    """Run a case on the reference, as PyTorch would."""
    return reference(TORCH, TORCH.not_offered).run(case)


def mismatch_of(case: Case, change: Callable[[Any], None]) -> Mismatch | None:
    """Change a copy of the right answer and compare."""
    actual = copy.deepcopy(answer(case))
    change(actual)
    return Comparer(Promise(case, INFO)).run(actual).mismatch


def unseen(expected: Iterable[T], seen: Iterable[T]) -> set[T]:
    """Return what is expected and not seen; looks no further once all is seen."""
    left = set(expected)
    for found in seen:
        left.discard(found)
        if not left:
            break
    return left
