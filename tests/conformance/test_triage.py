"""Triage: what begins at one op is one finding, wherever it shows, and what begins at five is five."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from conformance.campaign.fingerprint import Fingerprint
from conformance.campaign.pool import Workers
from conformance.campaign.tally import Failure, Tally
from conformance.campaign.triage import absorbed, is_open, triaged
from conformance.campaign.worker import run_case
from conformance.case.case import Case, Input
from conformance.case.steps import Backward, Grad, Op
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.localise import named_op
from conformance.judge.verdict import Bucket
from tests.conformance.engines import TOTAL
from tests.wrong_engines import five_wrong_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "tests.wrong_engines:five_wrong_rules"
WRONG = {"tanh", "sigmoid", "exp", "sin", "log"}
DRAWN = [case_of(1, i, DrawOptions(("numeric",), ("mul", "sum", *sorted(WRONG)), longest=6, changing=0.0)) for i in range(80)]
X = Input("x", (2,), (0.5, 1.5))


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers((NAME,), 1) as opened:
        yield opened


def tally_of(cases: list[Case]) -> Tally:
    """Run cases on the engine with five wrong rules, under the name by which workers open it."""
    engine = five_wrong_rules()
    engine.info = type(engine.info)(NAME, engine.info.version, engine.info.dialect, engine.info.not_offered)
    tally = Tally((NAME,))
    for index, case in enumerate(cases):
        tally.add(run_case(case, [engine], index=index))
    return tally


def test_five_wrong_rules_are_five_findings_that_name_them(workers: Workers) -> None:
    tally = tally_of(DRAWN)
    found = triaged(tally, workers, None)
    assert Counter(WRONG) == Counter(fingerprint.op for fingerprint in found if fingerprint.op)
    assert sum(failure.count for failure in found.values()) == sum(failure.count for failure in tally.failures.values())


def test_a_rule_that_is_wrong_in_several_places_is_one_finding(workers: Workers) -> None:
    forward = Op("sin", ("x",), ("y",)), Op("sum", ("y",), ("z",), TOTAL)
    several = [Case((X,), (*forward, Backward(("z",)))), Case((X,), (*forward, Grad(("z",), ("x",), ("g",))))]
    tally = tally_of(several)
    assert len(tally.failures) == 2
    ((fingerprint, failure),) = triaged(tally, workers, None).items()
    assert ("sin", 2) == (fingerprint.op, failure.count)


def test_what_is_localised_when_it_is_small_is_no_finding_of_its_own() -> None:
    value = Fingerprint(NAME, Bucket.DIVERGED, "grad", "value", "result", "right", "wrong")
    law = Fingerprint(NAME, Bucket.DIVERGED, "grad", "law", "slope", "held", "broken")
    case = Case((X,), (Op("sin", ("x",), ("y",)),))
    found = {value._replace(op="sin"): Failure(case, 7, None, 2), value: Failure(case, 8, None, 3), law: Failure(case, 9, None)}
    assert value._replace(op="sin") == absorbed(found, value, "sin")
    assert law._replace(op="exp") == absorbed(found, law, "exp")
    assert {"sin": 5, "exp": 1} == {fingerprint.op: failure.count for fingerprint, failure in found.items()}


ASKED_AGAIN = [("value", "", True), ("law", "", True), ("value", "sin", False), ("error", "", False), ("flag", "", False)]


@pytest.mark.parametrize(("kind", "op", "asked"), ASKED_AGAIN)
def test_only_numbers_and_laws_of_which_nobody_knows_where_they_begin_are_asked_again(kind: str, op: str, asked: bool) -> None:
    assert asked == is_open(Fingerprint(NAME, Bucket.DIVERGED, "grad", kind, op=op))


def test_without_time_nothing_is_localised_and_nothing_lost(workers: Workers) -> None:
    tally = tally_of(DRAWN)
    assert tally.failures == triaged(tally, workers, 0.0)


@pytest.mark.parametrize(
    ("node", "op"),
    [
        ("step 6 (op:linear): what arrives at v15 is right, what leaves for v5 is not", "linear"),
        ("step 2 (op:exp): its forward", "exp"),
        ("step 3 (grad): the derivative of a derivative, the derivative of the rule of tanh (step 1) for its operand x", "tanh"),
        ("step 4 (grad): whether it is refused, and how", ""),
        ("not named: the difference is in the state after the last step", ""),
    ],
)
def test_an_op_is_read_off_the_words_that_name_a_node(node: str, op: str) -> None:
    assert op == named_op(node)
