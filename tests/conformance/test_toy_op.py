"""An op costs its rule and its row: one that is defined in this file alone goes through the whole house, and no other file knows it."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends import BackendInfo, open_backend
from conformance.campaign.findings.explain import explain_case
from conformance.campaign.findings.shrink import shrink_case
from conformance.campaign.records.fingerprint import fingerprint_of
from conformance.campaign.sweep import sweep_op
from conformance.campaign.workers.pool import Workers
from conformance.campaign.workers.trial import run_case
from conformance.case.files import check, decode, encode
from conformance.case.steps import Op
from conformance.cli.listing import ops_listing
from conformance.compare.promise import Promise
from conformance.generate import scripts
from conformance.generate.scripts import DrawOptions, case_of
from conformance.generate.special_points import cases_of
from conformance.judge import verdict
from conformance.judge.reproduction import reproduction
from conformance.laws.judging import Judging, Sampling
from conformance.mutants.mutant import Kind, WrongEngine
from conformance.mutants.registry import mutants_of
from conformance.ops import catalogue
from conformance.ops.calls import both
from conformance.ops.numbers import real_only
from conformance.ops.spec import ELEMENTS, OpSpec, op
from reference_impl import OPS, PADDLE_STATIC, TORCH
from reference_impl.primitives.arithmetic import div, mul
from reference_impl.primitives.shape import sum_to
from reference_impl.tape.primitive import Primitive, primitive, shape_of
from tests.reference_impl.rule_check import ask
from tests.test_project import ROOT, tracked_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conformance.case.case import Case
    from conformance.mutants.mutant import Fault
    from conformance.ops.sampler import Arguments, Sampler

NAME = "length_of_" + "two_legs"  # in two parts, so that no search for the name finds this file
INFO = BackendInfo("toy", "0", TORCH, TORCH.not_offered)


# The rule.


def define() -> Primitive:
    """Register the op and its rules, as a module of `reference_impl.primitives` does when it is imported."""

    def forward(x: Any, y: Any, *, bias: float) -> Any:
        return np.sqrt(x * x + y * y + bias)

    forward.__name__ = NAME
    made = primitive(ulps=4)(forward)

    @made.vjp("x")
    def vjp_x(g: Any, out: Any, x: Any, y: Any, *, bias: float) -> Any:  # x / out
        return sum_to(mul(g, div(x, out)), shape_of(x))

    @made.vjp("y")
    def vjp_y(g: Any, out: Any, x: Any, y: Any, *, bias: float) -> Any:  # y / out
        return sum_to(mul(g, div(y, out)), shape_of(y))

    return made


# The row.


def draw(s: Sampler) -> Arguments | None:
    x = s.take()
    return [x, s.partner(x)], {"bias": s.source.choice([1.0, 0.5])}


ROW: OpSpec = replace(
    op(
        NAME,
        rank=999,
        draw=draw,
        calls=both("torch.sqrt(x * x + y * y + bias)"),
        exact=False,
        numbers=real_only("it is a toy"),
        points=ELEMENTS,
    ),
    family="elementary",
)


def enter() -> None:
    """Enter the op where the families enter theirs."""
    if NAME not in OPS:
        define()
        catalogue()[NAME] = ROW  # type: ignore[index]


@pytest.fixture(autouse=True)
def toy() -> Iterator[Primitive]:
    enter()
    yield OPS[NAME]  # type: ignore[misc]
    del OPS[NAME], catalogue()[NAME]  # type: ignore[attr-defined]
    scripts._offered.cache_clear()  # tests that draw come after this one, too


# Engines that are wrong in it, opened by name, in worker processes too.


@contextmanager
def negated() -> Iterator[None]:
    """The rule of the second operand has the wrong sign."""
    rules = OPS[NAME].rules  # type: ignore[attr-defined]
    right = rules[1]
    rules[1] = lambda g, out, x, y, **attrs: OPS["neg"](right(g, out, x, y, **attrs))
    try:
        yield
    finally:
        rules[1] = right


def forward_is(change: Callable[[Any, Any], Any]) -> Fault:
    """Make a fault: the output is what ``change`` makes of the first operand and the right output."""

    @contextmanager
    def fault() -> Iterator[None]:
        made = OPS[NAME]
        right = made.forward  # type: ignore[attr-defined]

        def forward(x: Any, y: Any, **attrs: Any) -> Any:
            out = right(x, y, **attrs)
            return change(x, out).astype(out.dtype)

        made.forward = forward  # type: ignore[attr-defined]
        try:
            yield
        finally:
            made.forward = right  # type: ignore[attr-defined]

    return fault


def wrong_sign() -> WrongEngine:
    enter()
    return WrongEngine("wrong_sign", negated)


def wrong_at_infinity() -> WrongEngine:
    enter()
    return WrongEngine("wrong_at_infinity", forward_is(lambda x, out: np.where(np.isinf(x), 0.0, out)))


AGREEING = frozenset(verdict.AGREEING)
HERE = "tests.conformance.test_toy_op"


# The way through the house.


def cases(**options: Any) -> list[Case]:
    """Draw scripts that use the op, among others."""
    drawn = (case_of(5, i, DrawOptions(("numeric",), ops=(NAME, "mul", "sum"), **options)) for i in range(40))
    return [case for case in drawn if any(isinstance(s, Op) and s.op == NAME for s in case.steps)]


def buckets(engine: WrongEngine, drawn: list[Case], judging: Judging | None = None) -> set[str]:
    return {run_case(case, [engine], judging).verdicts[engine.info.name].bucket for case in drawn}


def test_its_rules_agree_with_the_oracle_to_third_order(toy: Primitive) -> None:
    random = np.random.default_rng(1)

    def with_bias(x: Any, y: Any) -> Any:
        return toy(x, y, bias=0.5)

    question = ask(with_bias, [random.normal(size=(2, 3)), random.normal(size=3)], range(2), random, move_seed=True)
    assert question.is_sharp
    assert question.compare().first_wrong_order is None


def test_it_is_drawn() -> None:
    assert len(cases()) > 20


def test_a_script_that_uses_it_is_valid_and_comes_back_from_its_file() -> None:
    (first, *_) = cases()
    check(first)
    assert first == decode(encode(first))


def test_the_reference_runs_it_and_agrees_under_every_law() -> None:
    assert AGREEING >= buckets(WrongEngine("right"), cases()[:12], Judging(Sampling.EVERY))


def test_static_programs_run_it() -> None:
    assert AGREEING >= buckets(WrongEngine("right", dialect=PADDLE_STATIC), cases(static=True)[:12])


@pytest.mark.frameworks
def test_a_framework_runs_it_and_agrees() -> None:
    pytest.importorskip("torch")
    engine = open_backend("torch")
    found = {run_case(case, [engine]).verdicts["torch"].bucket for case in cases()[:12]}
    assert {*AGREEING, "known_deviation"} >= found
    assert "agreed" in found


def test_a_wrong_rule_of_it_diverges() -> None:
    assert "diverged" in buckets(WrongEngine("wrong", negated), cases())


def test_its_rounding_is_bounded_and_not_known_to_the_last_bit() -> None:
    assert not any(Promise(case, INFO).bounds.exact for case in cases()[:5])


def test_an_engine_within_its_bounds_agrees() -> None:
    assert AGREEING >= buckets(WrongEngine("rounds", forward_is(lambda _, out: np.nextafter(out, np.inf))), cases()[:12])


def test_an_engine_beyond_its_bounds_diverges() -> None:
    assert "diverged" in buckets(WrongEngine("off", forward_is(lambda _, out: out * 1.0001)), cases())


def test_a_failing_case_is_shrunk_to_the_op_and_one_call() -> None:
    name = f"{HERE}:wrong_sign"
    engine = WrongEngine(name, negated)
    judging = Judging(Sampling.NONE, timeout=60.0)
    case = next(c for c in cases() if len(c.steps) > 5 and buckets(engine, [c]) == {"diverged"})
    with Workers((name,), 1) as workers:
        explained = workers.call(explain_case, case, name, judging)
        assert explained is not None
        small = shrink_case(workers, case, fingerprint_of(name, explained.verdict), judging, math.inf).case
    assert [NAME] == [step.op for step in small.steps if isinstance(step, Op)]


def test_it_is_printed_as_the_framework_calls_it() -> None:
    text = reproduction(cases()[0], "torch")
    assert "torch.sqrt(" in text
    compile(text, "script", "exec")


def test_it_is_swept_at_its_special_points() -> None:
    assert {"agreed"} == set(sweep_op("reference", NAME).points)
    assert len(list(cases_of(NAME))) >= 4


def test_an_engine_that_is_wrong_at_a_special_point_is_caught() -> None:
    failures = sweep_op(f"{HERE}:wrong_at_infinity", NAME).failures
    assert any("inf" in line for line in failures)


def test_it_is_listed() -> None:
    assert f" {NAME} " in ops_listing(as_json=False)


def test_it_has_mutants_of_both_orders_for_each_rule_without_a_line(toy: Primitive) -> None:
    made = {(found.kind, found.rule[1]) for found in mutants_of(toy) if found.rule is not None}
    assert {(kind, position) for kind in (Kind.RULE, Kind.SECOND) for position in (0, 1)} == made


def test_its_mutants_are_found_out(toy: Primitive) -> None:
    drawn = cases()
    assert not [found.id for found in mutants_of(toy) if found.kind is Kind.RULE and "diverged" not in buckets(found.open(), drawn)]


def knows_it(path: Path) -> bool:
    return NAME in path.read_text()


def test_no_file_knows_it() -> None:
    assert not [str(path.relative_to(ROOT)) for path in tracked_texts() if knows_it(path)]
