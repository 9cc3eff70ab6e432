"""The canary: whether a process still differentiates correctly after an engine refused something.

An engine that raises may leave its graph, its grad mode or its memory damaged, and every later case of the process would be red or
green for the wrong reason. So after each refusal small cases are run whose answers are known: a product, whose gradient is written
down here, and then cases of one op each, which are points of the grid and are judged as such, by the reference. The damage may be that
of a single op, so the ops of the case that was refused are asked; and it may be elsewhere, so one family of ops has its turn, which
the case's id decides. Example: a refusal that spoils the rule of ``sum`` shows at once in a case that sums, and in another one as soon
as the reductions have their turn.
"""

from __future__ import annotations

import functools
from contextlib import suppress
from itertools import product
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from conformance.backends import BackendInfo
from conformance.case.case import Case, Input
from conformance.case.outcome import Computed, NotOffered, Raised, plainly
from conformance.case.queries import ops_in
from conformance.case.steps import Backward, Grad, Op
from conformance.compare.promise import Promise
from conformance.generate.grid import Point
from conformance.generate.grid.places import DRAWN
from conformance.judge.verdict import FAILING, judge
from conformance.ops import catalogue
from conformance.ops.dtypes import COMPLEX, REAL
from reference_impl import Category

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.backends import Backend
    from conformance.case.outcome import Outcome, Value
    from reference_impl import Dialect

CANARY = Case(
    (Input("x", (2,), (2.0, 3.0)), Input("s", (2,), (1.0, 1.0), differentiable=False)),
    (Op("mul", ("x", "x"), ("y",)), Grad(("y",), ("x",), ("g",), ("s",), retain_graph=True), Backward(("y",), ("s",))),
    "exact",
)
"""One op and its gradient, by both calls; every backend offers the op, and one of the calls."""

FIRST = "mul"
"""The op of it, which is asked before any other."""

TURN = 2
"""How many ops of the family whose turn it is are asked; damage stays, and in some dozens of refusals all ops have their turn."""

EVERY = "every"
"""In the place of a family: all ops are asked."""

BIRD = "canary"
"""Who was under way, where the process dies in a canary and not in the case."""

PLAIN = {"beside": "same", "layout": "contiguous", "seed": "contiguous", "order": "1", "call": "grad", "asked": "all"}
"""The point of the grid at which an op is asked."""
RANKS = ("2", "1", "3", "4", "0", "5")
"""Of the operands; an op is asked at the first that it takes."""
SIZES = ("few", "16+")
"""How many elements they have; the same."""


class Ailment(NamedTuple):
    """What a canary died of: the op, its family, and what came instead of the right answer."""

    op: str
    family: str
    detail: str


def read_past_its_end(expected: Outcome, actual: Outcome) -> bool:
    """Whether a seed or gradient of the wrong shape was taken: memory may be damaged, so nothing more may be concluded here."""
    return any(
        isinstance(e, Raised) and e.category in (Category.SEED_SHAPE, Category.CALLBACK_RESULT) and not isinstance(a, Raised)
        for e, a in zip(expected.observations, actual.observations, strict=True)
    )


def ailment_after(
    case: Case,
    actual: Outcome,
    engine: Backend,
    family: str = "",
    spares: Callable[[str], bool] = lambda _: False,
    entering: Callable[[str], None] = lambda _: None,
) -> Ailment | None:
    """If any step was refused, run the canaries; return what the first one died of, ``None`` if the engine is as right as before.

    ``family``: that whose ops are asked, or `EVERY`; empty: the ops of the case, and the family whose turn it is. ``spares``: whether
    an op is not asked, because it is wrong where nothing was refused, too. ``entering`` is told each op before its canary runs.
    """
    if not any(isinstance(seen, Raised) for seen in actual.observations):
        return None
    if not spares(FIRST):
        entering(FIRST)
        if not healthy(engine):
            return _unhealthy()
    return _first([op for op in (ops_of(family) if family else _turn(case)) if not spares(op)], engine, entering)


def ailment_of(family: str, engine: Backend) -> Ailment | None:
    """Run the canaries of a family in any case."""
    return _first(ops_of(family), engine) if healthy(engine) else _unhealthy()


def is_ill(op: str, engine: Backend) -> bool:
    """Whether the canary of an op dies, whatever was before."""
    return (op == FIRST and not healthy(engine)) or _ailment(op, engine) is not None


def _unhealthy() -> Ailment:
    return Ailment(FIRST, catalogue()[FIRST].family, "the derivative of x * x is not 2 x")


def _first(asked: list[str], engine: Backend, entering: Callable[[str], None] = lambda _: None) -> Ailment | None:
    for op in asked:
        entering(op)
        if (found := _ailment(op, engine)) is not None:
            return found
    return None


def healthy(engine: Backend) -> bool:
    """Run the first canary: whether the engine, after whatever it refused, still finds that the derivative of ``x * x`` is ``2 x``.

    A call that is not offered tells nothing: an engine that has no `grad` is asked by `backward` alone.
    """
    with suppress(Exception):
        outcome = engine.run(CANARY)
        _, by_grad, by_backward = outcome.observations
        return (isinstance(by_grad, NotOffered) or (isinstance(by_grad, Computed) and _right(by_grad.values[0]))) and (
            isinstance(by_backward, NotOffered) or _right(outcome.final[0])
        )
    return False


def _right(gradient: Value | None) -> bool:
    return gradient is not None and np.array_equal(gradient.array, 2.0 * CANARY.inputs[0].array())


def _turn(case: Case) -> list[str]:
    """Return the ops of a case, and some of the family whose turn it is by the case's id."""
    families = _families()
    turn, family = divmod(int(case.id, 16), len(families))
    members = families[family]
    start = turn % len(members)
    return list(dict.fromkeys([*ops_in(case), *(members[start:] + members[:start])[:TURN]]))


@functools.cache
def _families() -> tuple[list[str], ...]:
    """Return the ops of each family, in the order of the catalogue."""
    return tuple(map(ops_of, dict.fromkeys(map(attrgetter("family"), catalogue().values()))))


def ops_of(family: str) -> list[str]:
    """Return the ops of a family, or of every one."""
    return [op for op, row in catalogue().items() if row.family == family] if family != EVERY else list(catalogue())


_well: dict[tuple[str, ...], Any] = {}
"""By backend and op what a canary answered that was judged to be well: the same to the last bit is not judged again."""


def well() -> dict[tuple[str, ...], Any]:
    """Return what canaries answered in this process that were well."""
    return dict(_well)


def trust(answers: Mapping[tuple[str, ...], Any]) -> None:
    """Take the word of another process for what canaries answer that are well."""
    _well.update(answers)
    _families()  # found out here, as the cases are made here, so that no child has to
    for *_, op in answers:
        if (asked := canary_of(op)) is not None:
            asked.prepare()


def _ailment(op: str, engine: Backend) -> Ailment | None:
    asked = canary_of(op)
    if asked is None:
        return None
    info = engine.info
    place = info.name, info.version, info.dialect.name, op
    try:
        actual = engine.run(asked)
        if plainly(actual) == _well.get(place):
            return None
        verdict = judge(Promise(asked, info, _answer(op, info.dialect, frozenset(info.not_offered))), actual)
    except Exception as error:  # noqa: BLE001 - an adapter that breaks after a refusal is no more of use than its engine
        return Ailment(op, catalogue()[op].family, f"{type(error).__name__}: {error}")
    found = verdict.mismatch
    if verdict.bucket not in FAILING or found is None:
        _well[place] = plainly(actual)
        return None
    return Ailment(op, catalogue()[op].family, f"expected {found.expected}, got {found.actual}: {found.detail}")


@functools.cache
def canary_of(op: str) -> Case | None:
    """Return the canary of an op: the simplest point of its grid, exact if the op is; ``None`` if it has no such point."""
    row = catalogue()[op]
    for kind, size, rank in product(("real", "complex"), SIZES, RANKS):
        lane = "exact" if row.is_exact(on_complex=kind == "complex") else "numeric"
        dtype = (REAL if kind == "real" else COMPLEX)[0]
        if row.numbers.taken in ("both", kind):
            point = Point(
                op,
                {
                    **PLAIN,
                    "argument": DRAWN,
                    "rank": rank,
                    "size": size if rank != "0" else "one",
                    "lane": lane,
                    "kind": kind,
                    "dtype": dtype,
                },
            )
            with suppress(LookupError):
                return point.case()
    return None


@functools.cache
def _answer(op: str, dialect: Dialect, not_offered: frozenset[str]) -> Outcome:
    """Run the reference on a canary, once for all processes that a worker forks."""
    case = canary_of(op)
    assert case is not None, "it was asked"  # noqa: S101
    return Promise(case, BackendInfo(dialect.name, "", dialect, dict.fromkeys(not_offered, "not offered"))).outcome
