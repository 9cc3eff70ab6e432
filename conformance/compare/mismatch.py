"""One difference between what was expected and what came, and how it is said in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.case.outcome import Blocked, Computed, NotOffered, Raised
from reference_impl import Category

if TYPE_CHECKING:
    from conformance.case.outcome import Observation
    from conformance.case.place import StepNumber


KINDS = ("value", "absence", "shape", "dtype", "flag", "error", "mutation", "events", "unreadable")
"""What a comparison of steps finds to differ."""
POISON = "poison"
"""The kind of a mismatch that a canary shows, where a case has left the process damaged; ``where`` it is, is the family of the op."""
BASIC = "arithmetic"
"""The family of ops that the first canary is of: where these are differentiated wrongly, nothing in the process can be relied upon."""
ALL_ZEROS = " (all zeros)"
ZEROS_FOR_NONE = " (zeros for what is unreachable, the rest as promised)"
WITH_NAN = " (with nan)"
AMID = (Category.NOT_IMPLEMENTED, Category.GRAPH_FREED, Category.IN_PLACE_VERSION)
"""Refusals in the middle of a pass. Which hooks it had called before depends on the order of nodes that were ready at the same time,
which nobody promises, and which in Paddle is not always the same."""
IN_A_PASS = (*AMID, Category.CALLBACK, Category.CALLBACK_RESULT, Category.UNREACHABLE_INPUT)
"""What a pass is refused for on its way, or at its end. A node that refuses it for something else may come first."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One difference. Its words are short, and always the same for the same kind of difference; ``detail`` has the numbers.

    Attributes:
        kind: one of `KINDS`. Differences that no comparison of steps found have other kinds: ``crash``, ``law``, ``poison``,
            ``convention``, ``oracle``, ``harness``.
        where: ``result``, ``grad`` (that is ``.grad``), ``event`` or ``step``; or ``seed``, where nothing was changed but seeds and
            what hooks return.
        name: which value differs.
        slot: the same by its number.
        expected_array, actual_array: its elements, where a side has some.
        answer: what was observed of the step as a whole, where that differs.
        ratio: of a wrong value, the error over what rounding allows; infinite where no error is allowed.
        tainted: the values of whose ``.grad`` nothing can be said any more, since it may be the consequence of a known deviation.

    What is said of elements, of the answer and of taint is not recorded.
    """

    step: StepNumber
    kind: str
    where: str
    expected: str
    actual: str
    detail: str
    name: str = ""
    slot: int = 0
    expected_array: Any = field(default=None, compare=False, repr=False)
    actual_array: Any = field(default=None, compare=False, repr=False)
    answer: Observation | None = field(default=None, compare=False, repr=False)
    ratio: float = field(default=np.inf, compare=False)
    tainted: frozenset[str] = field(default=frozenset(), compare=False, repr=False)


def word_of(seen: Observation) -> str:
    """Say in one word what was observed at a step: ``computed``, ``not_offered``, ``blocked``, or the category of a refusal."""
    match seen:
        case Computed():
            return "computed"
        case Raised():
            return str(seen.category)
        case NotOffered():
            return "not_offered"
        case Blocked():
            return "blocked"


def describe(name: str, expected: Any, actual: Any, ratios: Any = None) -> str:
    """Say how many elements differ, where worst, what was got and what was expected.

    ``ratios``: the error of each element over what rounding allows, if that is known: a small number may be further off, by that
    measure, than a large one.
    """
    with np.errstate(all="ignore"):
        error = np.abs(actual.astype(np.result_type(actual, np.float64)) - expected)
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    error = np.where(same, 0.0, np.where(np.isnan(error), np.inf, error))
    measure = error if ratios is None or not (ratios > 1).any() else np.where(ratios > 1, ratios, 0.0)
    place = tuple(int(i) for i in np.unravel_index(int(np.argmax(measure)), error.shape)) if error.ndim else ()
    differing = int(np.count_nonzero(measure))
    return (
        f"{name}: {differing} of {error.size} elements differ; worst at {place}: "
        f"got {actual[place].item():.9g}, expected {expected[place].item():.9g}, off by {error[place]:.3g}"
    )
