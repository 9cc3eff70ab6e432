"""Hypothesis strategies for property tests of autograd engines.

The cases are those of a campaign, but Hypothesis makes the decisions: a failing case shrinks to a short script over small numbers,
and is kept in the example database. Run a drawn case with `conformance.backends.open_backend`, or translate its steps yourself:

    @given(cases(ops=("mul", "sin", "sum"), longest=4))
    def test_my_engine_answers_as_the_reference_does(case):
        assert my_answers(case) == answers_of(open_backend("reference").run(case))

Arguments are checked when a strategy is made, not when it first draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from conformance.generate.scripts import LANES, DrawOptions, draw_case
from conformance.generate.sources import HypothesisSource
from conformance.ops import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from hypothesis.strategies import SearchStrategy

    from conformance.case.case import Case

__all__ = ["cases"]

EXACT, NUMERIC = LANES


def cases(*, lanes: Collection[str] = LANES, ops: Collection[str] | None = None, longest: int = 8) -> SearchStrategy[Case]:
    """Return a strategy for cases: a graph that is valid by construction, and autograd calls on it, some wrong on purpose.

    ``lanes``: ``"exact"`` (all arithmetic is exact, compare bitwise), ``"numeric"``, or both. ``ops``: draw from these (``None``:
    all but those that came later; ``conformance ops`` lists them); what is computed with derivatives may use ``mul`` and ``sum``
    besides. Where none of the ops is exact only the numeric lane is drawn. ``longest``: the largest number of ops before the first
    autograd call.

    Raises:
        InvalidArgument: for an argument that is not allowed; the message says what is.
    """
    drawn_lanes = _names("lanes", lanes, LANES)
    drawn_ops = None if ops is None else _names("ops", ops, catalogue())
    if type(longest) is not int or longest < 1:
        raise InvalidArgument(f"longest={longest!r} is not allowed; it is a whole number, at least 1")
    if drawn_ops and not any(catalogue()[name].exact for name in drawn_ops):
        drawn_lanes = tuple(lane for lane in drawn_lanes if lane != EXACT)
    if not drawn_lanes:
        raise InvalidArgument(f"ops={ops!r} has no exact op; the lane {EXACT!r} needs one, or use the lane {NUMERIC!r}")
    return _drawn(DrawOptions(drawn_lanes, drawn_ops, longest))


@st.composite
def _drawn(draw: Callable[[SearchStrategy[Any]], Any], options: DrawOptions) -> Case:
    return draw_case(HypothesisSource(draw), options)


def _names(argument: str, given: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    """Check a collection of names; the order of ``known`` is kept, so that shrinking ends at the simplest."""
    if isinstance(given, str) or not given:
        raise InvalidArgument(f"{argument}={given!r} is not allowed; give one or more of {', '.join(known)}")
    for name in given:
        if name not in known:
            raise InvalidArgument(f"{argument}={given!r} names {name!r}; allowed are {', '.join(known)}")
    return tuple(name for name in known if name in given)
