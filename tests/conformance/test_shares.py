"""Shares: a run shows every known deviation as often as was measured, or it is red although each single mismatch is explained."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace

from conformance.campaign import shares as module
from conformance.campaign.records import RecordError, RunVerdict
from conformance.campaign.records.files import Writer
from conformance.campaign.records.shares import DrawnRecord
from conformance.campaign.shares import (
    LEVEL,
    Count,
    Measured,
    MeasuredBackend,
    counts,
    interval,
    measured,
    read_shares,
    same_share,
    write_shares,
)
from conformance.cli.gate import check_after
from conformance.report.terminal import Checked
from tests.report.samples import FOOTER, HEADER

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.campaign.records import Footer, Header

OFTEN, RARE = "torch-too-many-seeds", "torch-silu-underflow"
SHOWN = {OFTEN: 300, RARE: 0}
RATES = Measured({"longest": 8.0}, (11, 12), {"torch": MeasuredBackend("2.13.0+cpu", "", 30000, SHOWN)})
DRAWN = replace(HEADER, odds={"longest": 8.0}, backends=HEADER.backends[:1], cases=6000)


@pytest.fixture(autouse=True)
def rates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Have `RATES` be what was measured; return its file."""
    path = tmp_path / "shares.json"
    path.write_bytes(msgspec.json.encode(RATES))
    monkeypatch.setattr(module, "shares_file", lambda: path)
    return path


def ended(shown: dict[str, int], cases: int = 6000) -> Footer:
    """Make the footer of a run in which so many of the drawn cases showed these entries."""
    return replace(FOOTER, verdict=RunVerdict.CONFORMS, drawn={"torch": DrawnRecord(cases, shown)})


def checked(shown: dict[str, int], header: Header = DRAWN, cases: int = 6000) -> Checked:
    """Hold such a run against what was measured, as the gate does."""
    said = Checked()
    check_after(header, ended(shown, cases), said)
    return said


@pytest.mark.parametrize("seen", [40, 60, 80])
def test_a_right_release_is_within_the_usual_range(seen: int) -> None:
    assert checked({OFTEN: seen}).broken == []


@pytest.mark.parametrize(("seen", "how"), [({OFTEN: 600}, "more"), ({}, "less"), ({OFTEN: 60, RARE: 30}, "more")])
def test_an_engine_that_shows_a_known_deviation_too_often_or_no_longer_is_caught(seen: dict[str, int], how: str) -> None:
    (line,) = checked(seen).broken
    assert f": shows {how} often than was measured: in " in line


def test_the_words_say_what_was_seen_what_is_usual_and_what_was_measured() -> None:
    (line,) = checked({OFTEN: 600}).broken
    said = "in 600 of 6000 cases where 24 to 107 are usual (1.00% measured, between 0.89% and 1.12%; 300 of 30,000 cases)"
    assert f"{OFTEN}: shows more often than was measured: {said}" == line


def test_a_smaller_run_is_judged_by_its_size() -> None:
    assert [0, 1] == [len(checked({OFTEN: seen}, cases=300).broken) for seen in (3, 60)]


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (replace(DRAWN, backends=(replace(DRAWN.backends[0], version="2.14.0"),)), "measured on 2.13.0+cpu, and this is 2.14.0"),
        (replace(DRAWN, ops=("mul",)), "measured over other cases than these"),
        (replace(DRAWN, odds={"longest": 9.0}), "measured over other cases than these"),
    ],
    ids=["release", "ops", "odds"],
)
def test_what_was_measured_of_something_else_is_a_notice_and_no_failure(header: Header, why: str) -> None:
    said = checked({OFTEN: 6000}, header)
    assert ([], [f"counts of torch: {why}"]) == (said.broken, said.measures)


def test_without_anything_measured_there_is_a_notice(rates: Path) -> None:
    rates.unlink()
    assert checked({OFTEN: 6000}).measures == ["counts of torch: nothing was measured"]


def test_a_broken_file_is_refused_in_one_line(rates: Path) -> None:
    rates.write_text("{}")
    with pytest.raises(RecordError, match=r"shares\.json: Object missing required field"):
        read_shares()


def test_the_probability_is_that_of_fisher() -> None:
    """Of the lady who tastes tea: 3 of 4 right has a tail of 17/70."""
    assert same_share(3, 4, 1, 4) == pytest.approx(2 * 17 / 70)


@pytest.mark.parametrize(("cases", "of"), [(6000, 30000), (300, 30000), (30000, 6000)])
def test_a_right_release_is_called_unusual_no_more_often_than_the_level_says(cases: int, of: int) -> None:
    """Summed over all ways in which what was seen may fall on the two samples."""
    both = 40
    likely = [same(one, cases, both - one, of) for one in range(both + 1)]
    unusual = sum(p for one, p in enumerate(likely) if same_share(one, cases, both - one, of) < LEVEL)
    assert unusual <= LEVEL


def same(one: int, cases: int, other: int, of: int) -> float:
    """Return the probability of just this."""
    return math.comb(cases, one) * math.comb(of, other) / math.comb(cases + of, one + other)


def test_the_usual_range_ends_where_a_number_is_unusual() -> None:
    count = Count(OFTEN, 60, 6000, 300, 30000)
    fewest, most = count.expected
    assert [True, True, False, False] == [replace(count, seen=n).usual for n in (fewest, most, fewest - 1, most + 1)]


def test_the_interval_holds_the_share() -> None:
    low, high = interval(3, 1000)
    assert 0 < low < 0.003 < high < 0.01


def test_runs_of_several_seeds_are_added_up() -> None:
    made = measured([(replace(DRAWN, seed=seed), ended({OFTEN: seed})) for seed in (31, 42)])
    torch = made.backends["torch"]
    assert ((31, 42), 12000, 73, 0) == (made.seeds, torch.cases, torch.shown[OFTEN], torch.shown[RARE])


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({}, "several seeds, each another one; these have 1, 1"),
        ({"seed": 2, "ops": ("mul",)}, "the run of seed 2 draws some cases alone"),
        ({"seed": 2, "odds": {}}, "the run of seed 2 has another generator than the first"),
        ({"seed": 2, "backends": ()}, "the run of seed 2 has other backends, or other versions, than the first"),
    ],
)
def test_runs_that_cannot_be_added_up_are_refused(other: dict[str, object], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        measured([(DRAWN, ended({})), (replace(DRAWN, **other), ended({}))])


@pytest.mark.parametrize("verdict", [RunVerdict.SUITE_ERROR, RunVerdict.NO_RESULT])
def test_a_run_that_is_no_result_measures_nothing(verdict: RunVerdict) -> None:
    with pytest.raises(RecordError, match="is no result, and says nothing"):
        measured([(DRAWN, replace(ended({}), verdict=verdict))])


def test_shares_are_written_from_records_and_read_again(tmp_path: Path, rates: Path) -> None:
    paths = []
    for seed in (5, 6):
        paths.append(tmp_path / f"{seed}.ndjson")
        with Writer(paths[-1]) as out:
            out.write(replace(DRAWN, seed=seed))
            out.write(ended({OFTEN: seed}))
    said = write_shares(paths)
    again = read_shares()
    assert again is not None
    assert (f"{rates}: torch 2.13.0+cpu: 12000 cases; seeds 5, 6", 11) == (said, again.backends["torch"].shown[OFTEN])


def test_a_run_that_did_not_end_measures_nothing(tmp_path: Path) -> None:
    with Writer(tmp_path / "run.ndjson") as out:
        out.write(DRAWN)
    with pytest.raises(RecordError, match=r"run\.ndjson: has no footer: the run did not end"):
        write_shares([tmp_path / "run.ndjson"])


def test_entries_of_other_vector_instructions_are_not_counted() -> None:
    counted = {count.entry for count in counts(DRAWN, ended({}).drawn, RATES)}
    assert (True, False) == (OFTEN in counted, "torch-gelu-largest" in counted)
