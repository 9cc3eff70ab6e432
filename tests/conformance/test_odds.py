"""The odds of the generator: each has a name and a reason, the record names them, and other odds draw other cases."""

from __future__ import annotations

import ast
import json
import math
import pickle
import re
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.campaign.options import Options
from conformance.campaign.records.files import read
from conformance.campaign.run import run_campaign
from conformance.case.steps import Backward, Custom, InPlace, Op
from conformance.generate.odds import CustomOdds, InPlaceOdds, Odds, ScriptOdds, SketchOdds, named
from conformance.generate.scripts import LATER, DrawOptions, case_of, draw_case, odds_of
from conformance.generate.sketch import Sketch
from conformance.generate.sources import FastSource, HypothesisSource
from conformance.report import write_html
from tests.conformance.engines import ROOT

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

GENERATOR = sorted((ROOT / "conformance" / "generate").glob("*.py")) + sorted(
    (ROOT / "conformance" / "generate" / "profiles").glob("*.py")
)
DECISIONS = {"chance", "maybe", "uniform"}
ALWAYS = Odds(scripts=ScriptOdds(deep=0.0, by_backward=1.0), sketch=SketchOdds(no_grad_op=0.0))


def is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def unnamed_numbers(source: str) -> list[str]:
    """Calls of a source with a number, or with a constant of the module, where the record of odds should stand."""
    bad = []
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        inside = [node for argument in (*call.args, *(k.value for k in call.keywords)) for node in ast.walk(argument)]
        numbers = [node for node in inside if is_number(node)]
        constants = [node for node in inside if isinstance(node, ast.Name) and node.id.isupper()]
        match call.func.attr:
            case name if name in DECISIONS:
                wrong = bool(numbers or constants)
            case "integer":
                wrong = all(map(is_number, call.args))
            case "choice":
                wrong = bool(numbers)
            case _:
                wrong = False
        if wrong:
            bad.append(ast.unparse(call))
    return bad


@pytest.mark.parametrize("path", [p for p in GENERATOR if p.name != "odds.py"], ids=lambda path: path.stem)
def test_no_decision_of_the_generator_hangs_on_an_unnamed_number(path: Path) -> None:
    assert not unnamed_numbers(path.read_text())


@pytest.mark.parametrize(
    "call",
    [
        "s.chance(0.3)",
        "self.source.chance(odds.deep if deep else 0.1)",
        "source.chance(2 * state)",
        "source.chance(probability=0.5)",
        "source.chance(CHANGE)",
        "s.maybe(1.0)",
        "source.uniform(-2, 2)",
        "source.integer(0, 3)",
        "source.choice((1, 1, 2))",
    ],
)
def test_an_unnamed_number_is_caught(call: str) -> None:
    assert [call] == unnamed_numbers(f"def draw(s):\n    return {call}")


def without_reason(source: str) -> list[str]:
    """Fields of the records of odds that have no ``#:`` on their line or above it."""
    lines = source.splitlines()
    classes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef) and node.name.endswith("Odds")]
    odds = [field for record in classes if record.name != "Odds" for field in record.body if isinstance(field, ast.AnnAssign)]
    return [
        ast.unparse(field.target)
        for field in odds
        if "#: " not in lines[field.lineno - 1] and not lines[field.lineno - 2].startswith("    #: ")
    ]


@pytest.mark.parametrize("path", [p for p in GENERATOR if p.name == "odds.py"], ids=lambda path: path.parent.stem)
def test_each_of_the_odds_has_a_reason(path: Path) -> None:
    assert not without_reason(path.read_text())


def test_odds_without_a_reason_are_caught() -> None:
    assert ["b"] == without_reason("class SomeOdds:\n    a: int = 1  #: Why.\n    b: int = 2\n    #: Why.\n    c: int = 3\n")


def test_all_odds_are_named_as_numbers() -> None:
    records = [getattr(Odds(), part.name) for part in fields(Odds)]
    names = {".".join(name.split(".")[:2]) for name in named(Odds())}
    assert sum(len(fields(record)) for record in records) == len(names)
    assert all(math.isfinite(number) for number in named(Odds()).values())


def test_what_is_chosen_from_is_named_by_shares() -> None:
    shares = {name: share for name, share in named(Odds()).items() if name.startswith("sketch.lengths.")}
    assert {2: 0.35, 3: 0.35, 1: 0.15, 4: 0.1, 0: 0.05} == {int(name.rpartition(".")[2]): share for name, share in shares.items()}


def test_options_name_their_own_odds_too() -> None:
    assert 0.7 == odds_of(DrawOptions(changing=0.7))["changing"]


def test_odds_reach_a_worker_whole() -> None:
    options = DrawOptions(odds=ALWAYS)
    assert options == pickle.loads(pickle.dumps(options))  # noqa: S301 - written by the line


def calls_alone_by_backward(options: DrawOptions) -> bool:
    steps = [step for i in range(50) for step in case_of(1, i, options).steps]
    return all(isinstance(step, Backward) for step in steps if hasattr(step, "create_graph"))


@pytest.mark.parametrize(("odds", "expected"), [(ALWAYS, True), (Odds(), False)])
def test_a_campaign_is_drawn_with_the_odds_that_it_is_given(odds: Odds, expected: bool) -> None:
    assert expected == calls_alone_by_backward(DrawOptions(odds=odds))


IMPOSSIBLE = [
    (Odds(sketch=SketchOdds(no_grad_op=0.0)), Op),
    (Odds(in_place=InPlaceOdds(no_grad=0.0, no_grad_leaf=0.0)), InPlace),
    (Odds(custom=CustomOdds(no_grad=0.0)), Custom),
    (Odds(scripts=ScriptOdds(no_grad_call=0.0)), Backward),
]


def under_no_grad(kind: type, odds: Odds) -> list[Any]:
    options = DrawOptions(changing=0.5, customs=0.2, odds=odds)
    return [step for i in range(200) for step in case_of(1, i, options).steps if isinstance(step, kind) and step.no_grad]


@pytest.mark.parametrize(("odds", "kind"), IMPOSSIBLE, ids=lambda value: getattr(value, "__name__", ""))
def test_what_has_no_chance_is_not_drawn(odds: Odds, kind: type) -> None:
    assert under_no_grad(kind, Odds())
    assert not under_no_grad(kind, odds)


@given(data=st.data())
def test_hypothesis_draws_with_the_odds_that_it_is_given(data: st.DataObject) -> None:
    case = draw_case(HypothesisSource(data.draw), DrawOptions(odds=ALWAYS))
    assert not [step for step in case.steps if isinstance(step, Op) and step.no_grad]


class Unwilling(FastSource):
    """A source that must not be asked."""

    def chance(self, probability: float) -> bool:
        raise AssertionError(probability)


@pytest.mark.parametrize(("probability", "expected"), [(0.0, False), (1.0, True)])
def test_what_is_certain_costs_no_decision(probability: float, expected: bool) -> None:
    assert expected == Sketch(Unwilling(1, 0), Odds(), exact=True, dtype="float32").maybe(probability)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a run with other odds than usual."""
    out = tmp_path_factory.mktemp("odds")
    run_campaign(Options(("reference",), 1, draw=DrawOptions(later=LATER, odds=ALWAYS), out=out))
    return out / "run.ndjson"


def test_the_header_of_a_record_says_with_which_odds_it_was_drawn(record: Path) -> None:
    with record.open() as lines:
        assert odds_of(DrawOptions(later=LATER, odds=ALWAYS)) == json.loads(next(lines))["odds"]


def test_the_page_shows_the_odds_that_are_not_the_usual_ones_alone(record: Path, tmp_path: Path) -> None:
    write_html(read(record), tmp_path / "report.html")
    (shown,) = re.findall(r"<dt>odds other than usual</dt><dd>(.*?)</dd>", (tmp_path / "report.html").read_text())
    assert "sketch.no_grad_op = 0, scripts.deep = 0, scripts.by_backward = 1" == shown
