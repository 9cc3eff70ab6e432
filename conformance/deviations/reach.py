"""What special points reach: the elements that an engine can lose by them, and no others.

An entry that says no more of its wrong elements than that they are NaN would excuse an engine that loses any element of a script in
which the point is met somewhere. But a number is lost where it is computed from a special one. So the reference runs with ops whose
special elements have the factor NaN, and the others 1. What is computed from them is NaN then, in both directions, since the gradient
of a product has the factor, too. What is not NaN does not depend on them.

Where the reference has the rounding of a difference, an engine may have a 0, which is a special point of many ops. So it runs once more
with everything 0 that may be 0.

What one op loses is no special number of the next one any more, which may lose it once more where it has a number for NaN (a power 0).
So where the special numbers are is noted before, in a run in which nothing is lost.

An op may have a number for NaN: it leaves that out (nanquantile), or drops everything (a dropout of all). So its result has such a
factor, too, where it changes or the special elements stand. A script may differentiate by the result that a derivative was computed
with, which behind a factor is another tensor; so there are runs without.

Behind an op that is constant in pieces the reference has zeros, whatever arrives. An engine may multiply that by a slope of 0, and a
number that was lost stays lost. So it does here.
"""

from __future__ import annotations

import functools
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from conformance.case.outcome import Raised
from conformance.case.rewrite import each_step
from conformance.compare.kinks import cancelled, disturbing
from conformance.deviations.answers import answers
from conformance.deviations.counterfactuals.calls import keeping_its_graph
from conformance.ops.spec import signature
from reference_impl import DIALECTS, Category
from reference_impl.primitives import piecewise
from reference_impl.primitives.arithmetic import mul, mul_scalar, pow_scalar
from reference_impl.primitives.dropout import dropout_all, dropout_all_unsigned
from reference_impl.tape.primitive import Primitive, array_of
from reference_impl.tape.rules import replaced_op, replaced_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise
    from conformance.deviations.entries import Deviation
    from conformance.deviations.points import Point
    from reference_impl.tape.rules import Rule


Lost: TypeAlias = "Callable[[Any], Any]"
"""Says which elements of an operand are lost, where these are special."""

CONSTANT_IN_PIECES = (piecewise.ceil, piecewise.floor, piecewise.round, piecewise.sign, dropout_all, dropout_all_unsigned)
"""The ops that scripts apply, and whose derivative is 0 everywhere."""


def spoilt_runs(points: Sequence[Point], promise: Promise) -> Iterator[Promise]:
    """Yield what is promised of a script if all that comes of special points is NaN: as it is, and with 0 for all that may be 0."""
    disturbances = (None, disturbing(cancelled))
    for script in (promise, *_unfreed(promise)):
        met = [_met(points, script, disturb) for disturb in disturbances]
        for results in (True, False):
            for disturb, places in zip(disturbances, met, strict=True):
                with spoilt(points, places, results=results):
                    yield script.answered(script.info, script.run(disturb))


def _unfreed(promise: Promise) -> Iterator[Promise]:
    """Yield the script in which no graph is freed, if a pass ends at a freed one: with more nodes it may end before a point."""
    freed = (isinstance(seen, Raised) and seen.category is Category.GRAPH_FREED for seen in promise.outcome.observations)
    if any(freed):
        yield promise.of(each_step(promise.case, keeping_its_graph))


@functools.lru_cache(maxsize=16)
def _spoilt_runs(points: tuple[Point, ...], promise: Promise) -> tuple[Promise, ...]:
    """Keep these runs for the next entry, difference or pair of entries that asks for them: a promise is one of rules and branches."""
    return tuple(spoilt_runs(points, promise))


def _met(points: Sequence[Point], promise: Promise, disturb: Any) -> list[Any]:
    """Return where special operands are in a run in which nothing is lost, in the order of the calls."""
    met: list[Any] = []

    def noted(here: Any) -> Any:
        met.append(here)
        return np.zeros_like(here)

    with _applied(points, noted, results=False):
        promise.run(disturb)
    return met


@contextmanager
def spoilt(points: Sequence[Point], met: Sequence[Any] = (), *, results: bool = True) -> Iterator[None]:
    """Have everything that comes of special points be NaN: of the ops that a script, a program or a custom function applies.

    ``met``: where they are, of each call, beside those that are seen when it comes; ``results``: their results have factors, too.
    """
    places = iter(met)

    def lost(here: Any) -> Any:
        noted = next(places, here)
        return here | noted if noted.shape == here.shape else here  # a run that is refused where something is lost has fewer calls

    with _applied(points, lost, results=results):
        yield


@contextmanager
def _applied(points: Sequence[Point], lost: Lost, *, results: bool) -> Iterator[None]:
    with ExitStack() as stack:
        for primitive in CONSTANT_IN_PIECES:
            stack.enter_context(replaced_rule(primitive, 0, lambda _: _times_zero))
        if any(point.op == "pow_scalar" for point in points):
            stack.enter_context(replaced_rule(pow_scalar, 0, _with_slopes_of_ones))
        for op in dict.fromkeys(point.op for point in points):
            mine = [point for point in points if point.op == op]
            for spelled in dict.fromkeys(dialect.spelled.get(op, op) for dialect in DIALECTS.values()):
                stack.enter_context(replaced_op(spelled, functools.partial(_spoiling, mine, lost, results)))
        yield


def reached(entry: Deviation, promise: Promise, found: Mismatch) -> Any:
    """Return which elements the special points of an entry reach; all of them, if it names none, or nothing is promised."""
    points = entry.lost or entry.meets
    if not points or found.expected_array is None:
        return np.ones(found.actual_array.shape, bool)
    lost = [np.isnan(array) for run in _spoilt_runs(points, promise) for _, array in answers(run, found.step, found)]
    return np.any(lost, axis=0) if lost else np.zeros(found.actual_array.shape, bool)


def _times_zero(g: Any, *_: Any) -> Any:
    return _ZEROS(array_of(g))


def _with_slopes_of_ones(right: Rule) -> Rule:
    """Have the slope of a power 0 be ``0 x^-1``, which has a slope of its own and keeps what was lost; the reference has a constant."""

    def rule(g: Any, out: Any, x: Any, *, exponent: float) -> Any:
        return right(g, out, x, exponent=exponent) if exponent else mul(g, mul_scalar(pow_scalar(x, exponent=-1.0), other=0.0))

    return rule


def _zeros(g: Any) -> Any:
    return np.where(np.isnan(g), g, np.zeros_like(g))


_ZEROS = Primitive(_zeros, "zeros")


def _times(x: Any, factor: Any) -> Any:
    return np.multiply(x, factor)


_TIMES = Primitive(_times, "times", keeping=())  # that keeps nothing, so that a script may go through it as often as without


@_TIMES.vjp("x")
def _times_vjp_x(g: Any, *given: Any) -> Any:
    return _TIMES(g, given[-1])


def _spoiling(points: Sequence[Point], lost: Lost, results: bool, right: Callable[..., Any]) -> Callable[..., Any]:
    """Return an op with factors at its special operands and at its results; no gradient flows to these, in a program neither."""

    def spoiling(*operands: Any, **attrs: Any) -> Any:
        plain, given, places = [*map(array_of, operands)], [*operands], _Places()
        for position in {signature(point.op)[0].index(point.operand) for point in points}:
            meant = [point for point in points if signature(point.op)[0].index(point.operand) == position]
            factor = Primitive(functools.partial(places.factor, meant, position, lost, attrs), "factor")
            given[position] = _TIMES(operands[position], factor(*plain))
        out = right(*given, **attrs)
        if not results or isinstance(out, tuple):
            return out
        factor = Primitive(functools.partial(places.factor_of_result, functools.partial(right, **attrs)), "factor")
        return _TIMES(out, factor(array_of(out), *plain))

    return spoiling


class _Places:
    """Where the elements of one call are lost, by the position of the operand."""

    def __init__(self) -> None:
        self.lost: dict[int, Any] = {}

    def factor(self, points: Sequence[Point], position: int, lost: Lost, attrs: Mapping[str, Any], /, *operands: Any) -> Any:
        """Return NaN where an operand is special, and 1 elsewhere."""
        self.lost[position] = lost(np.any([point.here(operands, attrs) for point in points], axis=0))
        return _lost(operands[position], self.lost[position])

    def factor_of_result(self, op: Callable[..., Any], /, spoilt_result: Any, *operands: Any) -> Any:
        """Return NaN where a result changed, or stands at the place of a special operand, and 1 elsewhere."""
        right = op(*operands)
        lost = ~((spoilt_result == right) | (np.isnan(spoilt_result) & np.isnan(right)))
        for here in self.lost.values():
            if here.shape == right.shape:
                lost |= here
        return _lost(right, lost)


def _lost(array: Any, where: Any) -> Any:
    return np.where(where, np.asarray(np.nan, array.dtype), np.ones_like(array))
