"""What the report must show of a run and of its findings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from conformance.campaign.records import RunVerdict, StepRecord
from conformance.campaign.records.clauses import ClauseCell, ClauseRow
from conformance.campaign.records.gate import ClausesRecord
from conformance.campaign.records.verdicts import MismatchRecord
from conformance.case.place import END, recorded
from conformance.generate.scripts import LATER, DrawOptions, odds_of
from conformance.judge.dispute import Blame, Opinion, Vote
from conformance.judge.verdict import Bucket

from .outline import Outline
from .samples import CASE, EVERY_KIND, STEPS, differing, finding

if TYPE_CHECKING:
    from conformance.campaign.records import Footer, Header, Record

    from .conftest import Write


@pytest.mark.parametrize("number", ["18,211", "17,650", "913", "1,021", "590", "20,000"])
def test_the_ledgers_numbers_appear(write: Write, records: list[Record], number: str) -> None:
    assert f">{number}</td>" in write(records).split('id="ledger"')[1].split("</section>")[0]


@pytest.mark.parametrize(
    ("ops", "later", "named"), [(None, LATER, False), (("mul",), 0, False), (None, 0, True)], ids=["all ops", "some ops", "unusual"]
)
def test_odds_are_named_where_they_are_not_those_of_such_a_run(
    ops: tuple[str, ...] | None, later: int, named: bool, write: Write, header: Header, footer: Footer
) -> None:
    drawn = replace(header, ops=ops, odds=odds_of(DrawOptions(ops=ops, later=later)))
    assert named is ("odds other than usual" in write([drawn, finding(), footer]))


def test_what_a_gate_found_broken_stands_below_the_verdict(write: Write, header: Header, footer: Footer) -> None:
    red = replace(footer, verdict=RunVerdict.DIVERGES, reasons=(), broken=("mul-vjp: stale",), findings=0)
    assert "<li>mul-vjp: stale</li>" in write([header, red])


def test_a_backend_without_cases_does_not_hide_what_was_compared_of_the_others(write: Write, header: Header, footer: Footer) -> None:
    page = Outline(write([header, finding(), replace(footer, ledger={**footer.ledger, "paddle": {}})]))
    place = page.texts.index("really compared")
    assert "98.9 %" in page.texts[place - 3 : place]


def test_the_fraction_really_compared_is_rounded_down(write: Write, records: list[Record], footer: Footer) -> None:
    ledgers = {**footer.ledger, "torch": {"agreed": 19999, "near_kink": 1}}
    ledger = write([*records[:-1], replace(footer, ledger=ledgers)]).split('id="ledger"')[1].split("</section>")[0]
    assert ">99.9 %</td>" in ledger


def test_the_speed_ratio_is_all_workers_time_over_the_frameworks_alone(write: Write, records: list[Record]) -> None:
    assert f"<b>{2 * 131.0 / (20000 * (0.00015 + 0.0002)):.1f} times</b>" in write(records)


def test_a_script_is_not_said_to_be_for_a_backend_that_prints_none(write: Write, header: Header, footer: Footer) -> None:
    page = write([header, finding(backend="mine_engine:made", script="import torch"), footer])
    (summary,) = re.findall(r"<summary>([^<]*script[^<]*)</summary><pre>import torch", page)
    assert "mine" not in summary


def test_a_known_deviation_is_shown_with_its_reason(write: Write, records: list[Record]) -> None:
    assert "A view made in no_grad of a tracked base requires a gradient." in write(records)


def test_every_step_has_its_own_anchor(write: Write, records: list[Record]) -> None:
    page = write(records)
    assert all(f'id="finding-torch-3fa2c1d0-step-{number}"' in page for number in range(len(STEPS)))


def test_the_diverging_step_is_highlighted_in_the_script(write: Write, records: list[Record]) -> None:
    assert re.findall(r'<tr id="(\S+)" class="diverging">', write(records)) == ["finding-torch-3fa2c1d0-step-1"]


def test_what_differs_in_the_diverging_step_is_marked(write: Write, records: list[Record]) -> None:
    row = write(records).split('class="diverging">')[1].split("</tr>")[0]
    assert re.findall(r"<mark>(.*?)</mark>", row) == ["requires_grad"]


def test_a_difference_after_the_last_step_has_a_line_of_its_own(write: Write, header: Header, footer: Footer) -> None:
    mismatch = MismatchRecord(recorded(END), "end", "value", "grad", "right", "wrong", "x0.grad")
    page = write([header, finding(at="end", mismatch=mismatch), footer])
    assert re.findall(r'<tr id="(\S+)" class="diverging">', page) == ["finding-torch-3fa2c1d0-end"]


def test_a_crash_is_shown_without_a_diverging_step(write: Write, header: Header, footer: Footer) -> None:
    page = write([header, finding(bucket=Bucket.CRASHED, mismatch=None), footer])
    assert "the process died" in page
    assert 'class="diverging">' not in page


def test_the_list_of_findings_names_the_node_at_which_each_begins(write: Write, header: Header, footer: Footer) -> None:
    blamed = finding(blame=Blame("accused", (), "step 2 (op:mul): what arrives at v2 is right, what leaves for v0 is not"))
    assert '<div class="soft">node: step 2 (op:mul)</div>' in write([header, blamed, footer]).split("</table>")[0]


def test_a_finding_tells_who_is_wrong_and_lists_the_votes_with_their_reasons(write: Write, header: Header, footer: Footer) -> None:
    votes = (Vote("torch", Opinion.WRONG, Opinion.RIGHT, "promises the same, and keeps it"),)
    page = write([header, finding(blame=Blame("accused", votes, "step 2 (op:mul)")), footer])
    assert "<p><b>The engine is wrong.</b> Place: step 2 (op:mul).</p>" in page
    assert '<th scope="row">torch</th><td>wrong</td><td>right</td><td class="said">promises the same, and keeps it</td>' in page


def test_a_finding_that_nobody_was_asked_about_has_no_votes(write: Write, records: list[Record]) -> None:
    assert '<th scope="col">Voter</th>' not in write(records)


def test_a_long_name_of_a_backend_may_be_broken_between_its_parts(write: Write, header: Header, footer: Footer) -> None:
    page = write([header, finding(backend="tests.wrong_engines:slow_on_sin"), footer])
    assert "<td>tests.<wbr>wrong_<wbr>engines:<wbr>slow_<wbr>on_<wbr>sin</td>" in page


def test_a_case_with_every_kind_of_step_has_a_picture(write: Write, header: Header, footer: Footer) -> None:
    picture = write([header, finding(case=EVERY_KIND), footer]).split('aria-label="Graph of')[1].split("</svg>")[0]
    assert picture.count('<g class="node') == len(EVERY_KIND.inputs) + len(EVERY_KIND.steps)


def test_the_legend_names_what_the_picture_has(write: Write, header: Header, footer: Footer) -> None:
    legends = [write([header, finding(case=case), footer]).split('class="legend">')[1].split("</p>")[0] for case in (CASE, EVERY_KIND)]
    assert [False, True] == ["in-place change" in legend for legend in legends]


def test_a_finding_says_by_what_its_case_was_shrunk(write: Write, records: list[Record]) -> None:
    assert "shrunk in 9 rounds: drop steps 7, cut values 2" in write(records)


def test_the_same_records_give_the_same_page(write: Write, records: list[Record]) -> None:
    assert write(records) == write(records)


@pytest.mark.parametrize(
    ("detail", "said"),
    [("v1", "flag of v1:"), ("x0.grad: 1 of 3 elements differ", "flag of x0.grad:"), ("somewhere else", "flag of the result:")],
)
def test_the_value_that_differs_is_named(write: Write, header: Header, footer: Footer, detail: str, said: str) -> None:
    assert said in write([header, differing(detail=detail), footer])


def test_a_refusals_message_is_shown(write: Write, header: Header, footer: Footer) -> None:
    record = differing(kind="error", where="step", expected="computed", actual="freed", detail="RuntimeError: freed twice")
    page = write([header, record, footer])
    assert "error: expected computed, actual freed" in page
    assert "RuntimeError: freed twice" in page


def test_what_a_hook_saw_has_a_line_of_its_own(write: Write, header: Header, footer: Footer) -> None:
    seen = "h0 saw float32[] 1; x0.grad = float32[] 2"
    page = write([header, finding(steps=(StepRecord("backward([x0])", seen, seen),)), footer])
    assert "<td>h0 saw float32[] 1\nx0.grad = float32[] 2</td>" in page


@pytest.mark.parametrize(
    ("mismatch", "said"),
    [
        ({"kind": "events", "expected": "as promised", "actual": "fewer", "detail": "called [], expected ['h0']"}, "fewer events"),
        ({"kind": "value", "detail": "h0: 1 of 3 elements differ"}, "wrong value of what h0 saw"),
        ({"kind": "value", "detail": "v1: 1 of 3 elements differ", "at": "in_place"}, "wrong value of v1"),
    ],
)
def test_a_difference_in_what_happened_is_in_words(
    write: Write, header: Header, footer: Footer, mismatch: dict[str, Any], said: str
) -> None:
    record = differing(**{"at": "backward", "where": "event", **mismatch})
    assert f'<p class="what">{said}' in write([header, record, footer])


def test_every_clause_is_shown_with_what_each_backend_makes_of_it(write: Write, records: list[Record]) -> None:
    cells = {
        "torch": ClauseCell("conforms", "conforms in its dialect (duplicates)", ()),
        "paddle": ClauseCell("deviates", "deviates (f)", ()),
    }
    row = ClauseRow("PB-02", "no root twice", "paddle.autograd.backward", cells)
    page = write([*records[:1], ClausesRecord((row,), ()), *records[1:]])
    texts = Outline(page).texts
    wanted = [
        "Promises and switches",
        "paddle.autograd.backward",
        "PB-02",
        "no root twice",
        "conforms in its dialect (duplicates)",
        "deviates (f)",
    ]
    assert not [text for text in wanted if text not in texts]


def test_a_run_without_a_clause_table_shows_none(write: Write, records: list[Record]) -> None:
    assert 'id="clauses"' not in write(records)


def test_how_alike_two_runs_are_is_shown_as_the_engine_says(write: Write, records: list[Record]) -> None:
    page = write(records)
    assert ["to the last bit", "as far as rounding goes"] == re.findall(r"dialect, repeatable ([a-z ]+)<", page)


@pytest.mark.parametrize(
    ("counts", "tone"), [({}, "none"), ({"held": 3}, "good"), ({"held": 3, "broken": 1}, "bad"), ({"unsettled": 1}, "good")]
)
def test_a_law_is_green_only_where_it_was_tried(
    write: Write, header: Header, footer: Footer, counts: dict[str, int], tone: str
) -> None:
    laws = {"torch": {"hessian": counts, "adjoint": {"held": 1}}, "paddle": {}}
    page = write([header, finding(), replace(footer, laws=laws)])
    assert re.findall(r'<span class="dot (\w+)"></span>hessian<', page) == [tone]


def test_what_was_followed_is_on_the_page(write: Write, header: Header, footer: Footer) -> None:
    page = write([header, finding(), replace(footer, followed={"torch": {"offered: sin order 2: refused": 3}})])
    assert "offered: sin order 2: refused" in Outline(page).texts
