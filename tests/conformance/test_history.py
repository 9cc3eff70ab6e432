"""What fails only after other cases of its process is a finding with these cases; what never fails again says so."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from conformance.backends import open_backend
from conformance.campaign.findings.explain import explain_case
from conformance.campaign.findings.shrink import FEWER, shrink_case
from conformance.campaign.findings.write_up import Writing, findings
from conformance.campaign.options import Options
from conformance.campaign.records import Again, CaseRecord, FindingRecord
from conformance.campaign.records.fingerprint import fingerprint_of
from conformance.campaign.records.tally import Tally
from conformance.campaign.workers.chunk import chunk_of
from conformance.campaign.workers.pool import Workers
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input
from conformance.case.files import read as read_case
from conformance.case.steps import Grad, Op
from conformance.generate.scripts import DrawOptions, case_of
from conformance.laws.judging import Judging
from conformance.report.terminal import finding_line
from conformance.report.words import again_text
from tests.conformance.runs import finish
from tests.wrong_engines import remembers_tanh

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

NAME = "tests.wrong_engines:remembers_tanh"
X = Input("x", (2,), (0.5, 1.5))
SIN, TANH, COS = (Case((X,), (Op(op, ("x",), ("y",)), Grad(("y",), ("x",), ("g",), ("x",)))) for op in ("sin", "tanh", "cos"))
JUDGING = Judging(timeout=20.0)
OTHERS = [Case((Input("x", (2,), (0.5, n / 8)),), COS.steps) for n in range(30)]
LONG_TANH = Case((X,), (Op("cos", ("x",), ("c",)), Op("tanh", ("c",), ("e",)), Op("mul", ("e", "x"), ("m",))))
LONG_SIN = Case((X,), (Op("cos", ("x",), ("c",)), *SIN.steps, Op("mul", ("c", "g"), ("m",))))


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers((NAME,), 1) as opened:
        yield opened


def written(workers: Workers, cases: Sequence[Case], records: Iterable[CaseRecord], out: Path, name: str = NAME) -> list[FindingRecord]:
    """Write the findings of a run of some cases; nobody else is asked for a vote."""
    tally = Tally([name])
    for record in records:
        tally.add(record)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("conformance.campaign.findings.write_up.voters", tuple)
        return list(findings(tally, Writing(workers, workers, (name,), JUDGING, out, case_at=cases.__getitem__)))


@pytest.fixture(scope="module")
def found(workers: Workers, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FindingRecord]:
    """Run cases on an engine whose fault needs an earlier case, and write its finding."""
    out = tmp_path_factory.mktemp("remembering")
    cases = (*OTHERS[:9], LONG_TANH, *OTHERS[9:], LONG_SIN)
    (records,) = workers.run([chunk_of(cases, (NAME,), out, JUDGING)])
    (record,) = written(workers, cases, records, out)
    return out, record


def uses(op: str, case: Case) -> bool:
    return any(isinstance(step, Op) and step.op == op for step in case.steps)


def test_what_needs_an_earlier_case_is_a_finding_with_its_history(found: tuple[Path, FindingRecord]) -> None:
    _, record = found
    assert (Again.AFTER, 0, len(OTHERS) + 1) == (record.again, record.since, record.index)
    assert [True] == [uses("tanh", case) for case in record.before]


def test_its_cases_are_small(found: tuple[Path, FindingRecord]) -> None:
    _, record = found
    assert ([1], ["sin", "grad"]) == (
        [len(case.steps) for case in record.before],
        [getattr(s, "op", "grad") for s in record.case.steps],
    )
    assert FEWER in record.shrink_rounds


def test_its_files_are_replayed_in_their_order(found: tuple[Path, FindingRecord]) -> None:
    out, record = found
    paths = [out / "cases" / f"{record.id}{end}" for end in ("-before-1.json", ".json")]
    assert f"conformance replay {paths[0]} {paths[1]} --backend {NAME}" == record.replay
    assert (*record.before, record.case) == tuple(map(read_case, paths))


def test_a_replay_of_its_files_shows_it(found: tuple[Path, FindingRecord]) -> None:
    assert (1, []) == finish(*found[1].replay.split()[1:])


def test_a_replay_of_the_last_one_alone_does_not(workers: Workers, found: tuple[Path, FindingRecord]) -> None:
    assert workers.call(explain_case, found[1].case, NAME).verdict.mismatch is None


def test_the_engine_is_blamed_after_the_history(found: tuple[Path, FindingRecord]) -> None:
    blame = found[1].blame
    assert blame is not None
    assert ("accused", True) == (blame.who, "(op:sin)" in blame.node)


def test_page_and_terminal_say_that_it_does_not_fail_alone(found: tuple[Path, FindingRecord]) -> None:
    _, record = found
    said = again_text(record)
    assert said == (
        "It does not fail alone: 1 case must run before it in the same process. "
        f"Its process had run cases 0 to {record.index - 1} of the run before."
    )
    assert "; only after other cases in its process; " in finding_line(record)


def test_a_sequence_is_shrunk_to_the_cases_that_it_needs(workers: Workers) -> None:
    shown = workers.call(explain_case, SIN, NAME, None, (TANH,))
    fingerprint = fingerprint_of(NAME, shown.verdict)
    small = shrink_case(workers, SIN, fingerprint, JUDGING, math.inf, before=(COS, COS, TANH, COS, COS))
    assert [["tanh"], ["sin", "grad"]] == [[getattr(step, "op", "grad") for step in case.steps] for case in small.cases]


def test_what_does_not_fail_again_says_so_and_keeps_what_ran_before_it(workers: Workers, tmp_path: Path) -> None:
    engine = remembers_tanh()
    engine.run(TANH)  # which the record of the run does not know
    verdict = run_case(SIN, [engine]).verdicts[engine.info.name]
    failed = CaseRecord(2, SIN.id, "numeric", 1, False, {NAME: verdict}, {}, False, (), case=SIN, since=0)
    (record,) = written(workers, (COS, COS, SIN), [failed], tmp_path)
    assert (Again.NEVER, 0, (), SIN) == (record.again, record.since, record.before, record.case)
    assert again_text(record) == (
        "It did not fail again in a fresh process. Its process had run cases 0 to 1 of the run before. "
        "Running them again did not bring it back."
    )
    assert "; not again in a fresh process; " in finding_line(record)


def test_what_fails_alone_has_no_history(workers: Workers, tmp_path: Path) -> None:
    engine = "conformance.mutants.engines:sin-x-sign"
    (verdict,) = run_case(SIN, [open_backend(engine)]).verdicts.values()
    failed = CaseRecord(0, SIN.id, "numeric", 1, False, {engine: verdict}, {}, False, (), case=SIN, since=0)
    (record,) = written(workers, (SIN,), [failed], tmp_path, engine)
    assert (Again.ALONE, (), "") == (record.again, record.before, again_text(record))


def test_the_cases_of_a_run_are_found_again_by_their_index() -> None:
    options = Options((NAME,), 3, seed=2, draw=DrawOptions(ops=("sin",)), grid=True)
    assert [case_of(2, 1, options.draw), options.points[0].case()] == [options.case_at(1), options.case_at(3)]
