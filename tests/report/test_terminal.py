"""The terminal: a few lines that say all that one must know, at 80 columns, and the tables for those who ask."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from conformance.campaign.records import BackendRecord, CaseRecord, ExitReason, FindingRecord, Footer, NullSummary, RunVerdict
from conformance.campaign.records.verdicts import MismatchRecord, VerdictRecord
from conformance.case.prose import counted
from conformance.compare.kinks import SUBGRADIENT
from conformance.deviations.entries import CRASH
from conformance.judge.canary import BIRD
from conformance.judge.dispute import Blame
from conformance.judge.verdict import CONVENTION, Bucket
from conformance.report.details import show_details
from conformance.report.terminal import Checked, Run, run_of, short_names, show_summary
from tests.report.samples import FOOTER, HEADER, differing, finding

PAGE = Path("reports/report.html")
GREEN = replace(FOOTER, verdict=RunVerdict.CONFORMS, reasons=(), nulls=NullSummary(31000, 0, 3, 96.6, {}))
MEASURES = ["curated 186/186", "deviations 162/162 still show", "points 1696/1696", "power 330/489"]
BLAME = Blame("accused", (), "step 2 (op:mul): what arrives at v2 is right, what leaves for v0 is not")


def run(footer: Footer = GREEN, *findings: FindingRecord) -> Run:
    return Run(HEADER, footer, [*findings])


def printed(of: Run, checked: Checked | None = None, *, width: int = 80, colours: bool = False) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, force_terminal=colours, color_system="standard" if colours else None)
    show_summary(console, of, PAGE, checked or Checked())
    return [line.rstrip() for line in out.getvalue().splitlines()]


def died(bucket: Bucket) -> CaseRecord:
    mismatch = MismatchRecord(-1, "end", "crash", "step", "computed", bucket, "the process died")
    return CaseRecord(0, "a", "exact", 1, False, {"torch": VerdictRecord(bucket, {}, mismatch=mismatch)}, {}, False, ())


def test_a_green_gate_is_a_few_lines() -> None:
    assert printed(run(), Checked(measures=MEASURES)) == [
        "              cases  agree  known deviations  new findings  compared",
        "torch 2.13.0  20000  18852     913 (1 entry)             0    98.9 %",
        "paddle 3.4.0  20000  18352              1021             0    96.8 %",
        "curated 186/186   deviations 162/162 still show   points 1696/1696",
        "power 330/489   false alarms < 97 per million   131.0 s   153 cases/s, 2 workers",
        "conforms.  Details: reports/report.html",
    ]


def test_a_new_finding_says_the_difference_the_ops_the_node_who_is_wrong_and_how_to_run_it_again() -> None:
    lines = printed(run(FOOTER, finding(blame=BLAME)), width=300)
    what = "diverged at op:reshape with mul, reshape, sum, unsqueeze, 17 cases: flag of v1: expected constant, actual requires_grad"
    assert [
        f"torch-3fa2c1d0: {what}; node: step 2 (op:mul); the engine is wrong",
        "  conformance replay reports/cases/torch-3fa2c1d0.json --backend torch",
        "diverges.  Details: reports/report.html",
    ] == lines[-3:]


def test_a_wrong_dtype_of_the_results_of_several_ops_says_how_many() -> None:
    lines = printed(run(FOOTER, replace(finding(blame=BLAME), also_at=("op:add", "op:mul"))), width=300)
    assert "diverged at op:reshape and 2 other ops with" in " ".join(lines)


def test_a_choice_that_changed_for_several_ops_says_of_how_many() -> None:
    words = "freed: mul y: computed; measured of torch 2.13.0: refused"
    changed = MismatchRecord(2, "grad", CONVENTION, "step", "refused", "computed", words)
    fingerprint = finding().fingerprint._replace(kind=CONVENTION)
    others = ("freed: exp x: computed", "freed: sin x: computed")
    lines = printed(run(FOOTER, replace(finding(), fingerprint=fingerprint, mismatch=changed, also_at=others)), width=300)
    assert f"convention changed: {words}; 2 other choices changed like it" in " ".join(lines)


@pytest.mark.parametrize(
    ("node", "said"), [("step 2 (grad)", "step 2 (grad), the rule of mul"), ("step 2 (op:mul)", "step 2 (op:mul)")]
)
def test_a_finding_names_the_op_at_which_it_begins_once(node: str, said: str) -> None:
    begins = replace(finding(blame=Blame("accused", (), f"{node}: why")), fingerprint=finding().fingerprint._replace(op="mul"))
    assert f"; node: {said}; the engine is wrong" in " ".join(printed(run(FOOTER, begins), width=300))


def test_a_finding_that_other_cases_show_without_an_op_of_its_case_is_not_put_down_to_that() -> None:
    lines = printed(run(FOOTER, replace(finding(blame=BLAME), ops=("mul", "reshape"), in_some=("mul",))), width=300)
    assert "requires_grad; other cases show it without mul; node" in " ".join(lines)


@pytest.mark.parametrize(
    ("ops", "suspects", "said"),
    [
        (
            ("reshape",),
            {"reshape": 0.02},
            "diverged at op:reshape, 17 cases: flag of v1: expected constant, actual requires_grad; node",
        ),
        (("mul", "reshape"), {"mul": 0.02}, "requires_grad; suspects, in all 17 cases: mul (in 2.0% of the other cases); node"),
    ],
)
def test_an_op_at_which_a_finding_shows_is_named_once(ops: tuple[str, ...], suspects: dict[str, float], said: str) -> None:
    one = replace(finding(blame=BLAME), ops=ops, suspects=suspects)
    assert any(said in line for line in printed(run(FOOTER, one), width=300))


def test_what_is_not_all_compared_never_reads_as_all() -> None:
    ledger = {**GREEN.ledger, "torch": {"agreed": 19999, "near_kink": 1}}
    assert any(line.startswith("torch") and line.endswith(" 99.9 %") for line in printed(run(replace(GREEN, ledger=ledger))))


def test_a_backend_with_a_new_finding_has_it_in_its_line() -> None:
    assert "torch 2.13.0  20000  18852     913 (1 entry)             1    98.9 %" in printed(run(FOOTER, finding()))


BROKEN = replace(FOOTER, broken=("word " * 40,))


@pytest.mark.parametrize("of", [run(), run(BROKEN, finding(blame=BLAME))], ids=["green", "red"])
def test_two_backends_fit_80_columns(of: Run) -> None:
    assert max(map(len, printed(of, Checked(measures=MEASURES)))) <= 80


@pytest.mark.parametrize("names", [("torch", "paddle"), ("my.package.of_adapters:open_backend", "paddle-static")])
def test_the_tables_of_two_backends_fit_80_columns(names: tuple[str, str]) -> None:
    def renamed(of: dict[str, object]) -> dict[str, object]:
        return dict(zip(names, of.values(), strict=True))

    fields = ("ledger", "counts", "deviations", "laws", "ratios", "not_offered")
    footer = replace(GREEN, worst={}, bare={}, **{field: renamed(getattr(GREEN, field)) for field in fields})
    header = replace(HEADER, backends=tuple(replace(b, name=n) for b, n in zip(HEADER.backends, names, strict=True)))
    out = io.StringIO()
    show_details(Console(file=out, width=80), Run(header, footer))
    rows = [line for line in out.getvalue().splitlines() if line.startswith("backward dump_backward_graph_path=given")]
    assert (True, True) == (max(map(len, out.getvalue().splitlines())) <= 80, all("/" in row for row in rows))


VERDICTS = [
    (RunVerdict.CONFORMS, "conforms", 32),
    (RunVerdict.DIVERGES, "diverges", 31),
    (RunVerdict.NO_RESULT, "no result: too little was compared", 33),
    (RunVerdict.SUITE_ERROR, "fault of the suite", 35),
]


@pytest.mark.parametrize(("verdict", "words", "colour"), VERDICTS)
def test_the_verdict_is_coloured_on_a_terminal(verdict: RunVerdict, words: str, colour: int) -> None:
    last = printed(run(replace(GREEN, verdict=verdict)), colours=True)[-1]
    assert f"\x1b[1;{colour}m{words}\x1b[0m.  Details: reports/report.html" == last


def test_what_a_gate_found_broken_stands_above_its_verdict() -> None:
    red = replace(GREEN, verdict=RunVerdict.DIVERGES, broken=("mul-vjp: stale",))
    assert ["mul-vjp: stale", "diverges.  Details: reports/report.html"] == printed(run(red))[-2:]


def test_a_note_of_a_gate_stands_above_its_verdict_and_breaks_nothing() -> None:
    assert ["a note", "conforms.  Details: reports/report.html"] == printed(run(), Checked(notes=["a note"]))[-2:]


def test_of_very_much_that_is_broken_the_rest_is_on_the_page() -> None:
    lines = printed(run(replace(GREEN, broken=tuple(f"entry {number}" for number in range(50)))))
    assert ["entry 19", "and 30 more, in reports/report.html"] == lines[-3:-1]


@pytest.mark.parametrize("verdict", [RunVerdict.SUITE_ERROR, RunVerdict.NO_RESULT])
def test_a_run_that_is_no_result_says_its_reasons(verdict: RunVerdict) -> None:
    faulty = replace(GREEN, verdict=verdict, reasons=("torch: only 12.0% of the cases were compared; the floor is 90%",))
    assert "torch: only 12.0% of the cases were compared; the floor is 90%" in printed(run(faulty))


LACKING = {"paddle": {"op:erf": 7, "grad.again": 583}}


def test_a_run_that_compared_too_little_says_for_what_is_not_offered_the_most_frequent_first() -> None:
    lines = printed(run(replace(GREEN, verdict=RunVerdict.NO_RESULT, lacking=LACKING)), width=300)
    assert "paddle: 590 cases compared nothing, since it does not offer grad.again (583), op:erf (7)" in lines


def test_of_very_much_that_is_not_offered_the_line_says_how_much_more_there_is() -> None:
    lacking = {"paddle": {f"op:{number}": 1 for number in range(100)}}
    lines = printed(run(replace(GREEN, verdict=RunVerdict.NO_RESULT, lacking=lacking)), width=300)
    assert any(line.endswith("and 88 more") for line in lines)


def test_where_enough_was_compared_what_is_not_offered_is_a_detail() -> None:
    green, out = run(replace(GREEN, lacking=LACKING)), io.StringIO()
    show_details(Console(file=out, width=300), green)
    assert [False, True] == ["compared nothing" in text for text in (" ".join(printed(green)), out.getvalue())]


def test_the_summary_says_that_the_budget_ended_the_run() -> None:
    said = ["the budget is spent" in " ".join(printed(run(replace(GREEN, exit_reason=reason)))) for reason in ExitReason]
    assert [False, True] == said


def test_false_alarms_are_counted_where_there_are_any() -> None:
    line = printed(run(replace(GREEN, nulls=NullSummary(31000, 1, 0, 153.0, {}))))[3]
    assert line.startswith("1 false alarm in 31000   131.0 s   ")


def test_processes_that_were_replaced_are_told_in_one_line_with_the_reasons() -> None:
    poisoned = replace(died(Bucket.AGREED), verdicts={}, poisoned=True, deaths=2)
    of = run_of([HEADER, died(Bucket.CRASHED), died(Bucket.CRASHED), died(Bucket.TIMED_OUT), poisoned, GREEN])
    expected = "processes replaced: 2 crashed, 1 did not come back, 1 left damaged, 2 died and did not die again alone"
    assert expected in " ".join(printed(of, width=200))


def test_where_no_process_was_replaced_nothing_is_said_of_it() -> None:
    assert "replaced" not in " ".join(printed(run()))


def backend(name: str, title: str = "") -> BackendRecord:
    return BackendRecord(name, "1.0", "torch", {}, title=title)


@pytest.mark.parametrize(
    ("backends", "names"),
    [
        ([backend("torch"), backend("paddle-static")], ["torch", "paddle-static"]),
        ([backend("my.adapter:open_backend", "mine")], ["mine"]),
        ([backend("my.adapter:open_backend")], ["adapter"]),
        ([backend("my.adapter")], ["adapter"]),
        ([backend("my.adapter:copy", "torch"), backend("torch")], ["copy", "torch"]),
        ([backend("a:copy"), backend("b:copy")], ["copy", "b:copy"]),
    ],
)
def test_a_backend_given_by_its_module_has_a_short_name_of_its_own(backends: list[BackendRecord], names: list[str]) -> None:
    short = short_names(backends)
    assert names == [short[b.name] for b in backends]


def test_one_is_no_plural() -> None:
    assert ["0 cases", "1 case", "2 cases"] == [counted(number, "case") for number in range(3)]


CHOICE = "offered: sin order 2: refused"


def test_a_convention_that_changed_is_named_with_what_was_measured() -> None:
    detail = f"{CHOICE}; measured of torch 2.13.0: computed"
    changed = differing(kind=CONVENTION, where="step", expected="computed", actual="refused", detail=detail)
    assert f"convention changed: {detail}" in " ".join(line.strip() for line in printed(run(FOOTER, changed)))


def test_what_was_followed_is_among_the_tables() -> None:
    out = io.StringIO()
    show_details(Console(file=out, width=200), run(replace(GREEN, followed={"torch": {CHOICE: 3}})))
    assert f"torch: {CHOICE}, where no document says what is right: 3 cases" in out.getvalue()


@pytest.mark.parametrize(
    ("expected", "actual", "shown"),
    [("computed", "unmapped", True), ("seed_shape", "unmapped", True), ("computed", "dtype", True), ("seed_shape", "dtype", False)],
)
def test_the_message_is_shown_of_a_refusal_that_no_category_knows_or_where_nothing_is_to_be_refused(
    expected: str, actual: str, shown: bool
) -> None:
    refused = differing(kind="error", where="step", expected=expected, actual=actual, detail="KeyError: 'neg'")
    said, message = " ".join(line.strip() for line in printed(run(FOOTER, refused))), " (KeyError: 'neg')"
    assert f"error: expected {expected}, actual {actual}{message if shown else ''};" in said


@pytest.mark.parametrize(
    ("ended", "where", "words"),
    [
        ("crashed", "step", "the process died: SIGSEGV in f; "),
        ("crashed", BIRD, "the process died in a canary, after what was refused: SIGSEGV in f; "),
        ("timed_out", "slope", "the time was up in a case of the law slope: SIGSEGV in f; "),
    ],
)
def test_a_process_that_died_or_hung_is_told_in_words(ended: str, where: str, words: str) -> None:
    dead = differing(kind=CRASH, where=where, expected="computed", actual=ended, detail="the process died: SIGSEGV in f")
    assert words in " ".join(line.strip() for line in printed(run(FOOTER, dead)))


@pytest.mark.parametrize(
    ("actual", "words"), [("wrong", "wrong value of g"), (SUBGRADIENT, "value of g: another subgradient than is promised")]
)
def test_another_subgradient_is_not_called_a_wrong_value(actual: str, words: str) -> None:
    differs = differing(kind="value", where="result", expected="right", actual=actual, detail="g: 1 of 3 elements differ")
    assert f": {words};" in " ".join(line.strip() for line in printed(run(FOOTER, differs)))


@pytest.mark.parametrize(
    ("actual", "told"),
    [("unmapped", ["torch: 1 finding is an exception without a category (unmapped): name what is"]), ("seed_shape", [])],
)
def test_an_exception_without_a_category_brings_a_hint_where_to_name_it(actual: str, told: list[str]) -> None:
    lines = printed(run(FOOTER, differing(kind="error", where="step", expected="computed", actual=actual)), width=120)
    assert told == [line[: len(told[0])] for line in lines if "without a category" in line]


@pytest.mark.parametrize(
    ("known", "hint"), [("0.1", "the adapter knows in which words 0.1 refuses"), ("2.13.0", "name what is meant as a refusal")]
)
def test_whose_words_an_exception_without_a_category_may_be_depends_on_the_release(known: str, hint: str) -> None:
    of = run(FOOTER, differing(kind="error", where="step", expected="computed", actual="unmapped"))
    of.header = replace(HEADER, backends=[replace(b, conventions=f"{b.name} {known} a1b2c3d4") for b in HEADER.backends])
    assert hint in " ".join(printed(of, width=300))


@pytest.mark.parametrize(("bound", "said"), [(13773.4, "< 13,773 per"), (96.6, "< 97 per"), (0.031, "< 0.031 per")])
def test_a_bound_on_false_alarms_is_never_rounded_to_nothing(bound: float, said: str) -> None:
    assert any(said in line for line in printed(run(replace(GREEN, nulls=NullSummary(31000, 0, 3, bound, {})))))


def test_no_name_is_broken_at_a_hyphen() -> None:
    broken = differing(kind="law", where="sum-of-outputs", expected="held", actual="broken")
    assert all(any("sum-of-outputs" in line for line in printed(run(FOOTER, broken), width=width)) for width in range(60, 100))


@pytest.mark.parametrize(
    ("version", "told"),
    [("2.12.1+cpu", ["torch 2.13.0 is what the suite knows; what is new in 2.12.1 may not be there in 2.13.0"]), ("2.13.0+cpu", [])],
)
def test_findings_of_another_release_than_the_suite_knows_are_said_to_be_so(version: str, told: list[str]) -> None:
    of = run(FOOTER, finding())
    torch = replace(HEADER.backends[0], version=version, conventions="torch 2.13.0 a1b2c3d4")
    of.header = replace(HEADER, backends=[torch, *HEADER.backends[1:]])
    assert told == [line for line in printed(of, width=120) if "knows" in line]


def test_nothing_is_said_of_another_release_that_shows_nothing_new() -> None:
    of = run()
    of.header = replace(HEADER, backends=[replace(b, conventions=f"{b.name} 0.1 a1b2c3d4") for b in HEADER.backends])
    assert "knows" not in " ".join(printed(of))
