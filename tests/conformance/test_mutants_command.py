"""``conformance mutants`` and the gate's floor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from click.testing import CliRunner

from conformance.campaign.records.files import read_as
from conformance.cli.commands import cli
from conformance.cli.gate import MUTANTS_FLOOR, weak
from conformance.compare import rounding
from conformance.mutants.hunt import Kill
from conformance.mutants.measure import Power
from conformance.mutants.records import MutantRecord, PowerFooter, PowerHeader, PowerRecord
from conformance.mutants.registry import mutants
from conformance.mutants.sharpness import AIMS, sharpness

if TYPE_CHECKING:
    from pathlib import Path

ONE = ("--only", "none_for_zeros")


def command(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["mutants", *arguments], standalone_mode=False)


@pytest.mark.parametrize(("cases", "code"), [("60", 0), ("1", 1)])
def test_the_exit_code_says_whether_the_targets_hold(cases: str, code: int) -> None:
    assert code == command(*ONE, "--cases", cases).return_value


def test_a_survivor_is_named_with_what_is_wrong() -> None:
    assert "none_for_zeros (engine): a gradient that is zero is absent: survives" in command(*ONE, "--cases", "1").output


def test_the_json_has_every_mutant_with_its_number_of_cases() -> None:
    (found,) = msgspec.json.decode(command(*ONE, "--cases", "60", "--json").stdout)["mutants"]
    assert ("none_for_zeros", True) == (found["id"], 1 <= found["cases"] <= 60)


def test_the_record_has_a_header_a_line_for_each_mutant_and_a_footer(tmp_path: Path) -> None:
    command(*ONE, "--cases", "60", "--out", str(tmp_path))
    assert [PowerHeader, MutantRecord, PowerFooter] == [
        type(r) for r in read_as(tmp_path / "mutants.ndjson", msgspec.json.Decoder(PowerRecord))
    ]


def test_the_list_names_all_mutants() -> None:
    assert list(mutants()) == [line.split()[0] for line in command("--list").output.splitlines()]


def test_an_unknown_pattern_is_a_usage_error_of_one_line() -> None:
    error = command("--only", "no-such").exception
    assert "no mutant is called like 'no-such'" in error.format_message()


@pytest.mark.parametrize(("op", "dtype", "bits"), [("mul", "float32", 23), ("sum", "float32", 23), ("matmul", "float64", 52)])
def test_where_arithmetic_is_exact_the_last_bit_is_seen(op: str, dtype: str, bits: int) -> None:
    assert bits == sharpness(op, dtype).bits


def test_a_judge_with_wider_tolerances_is_less_sharp(monkeypatch: pytest.MonkeyPatch) -> None:
    sharp = sharpness("exp", "float32").bits
    monkeypatch.setattr(rounding, "UNITS", 64 * rounding.UNITS)
    monkeypatch.setattr(rounding, "ESTIMATED", 64 * rounding.ESTIMATED)
    blunt = sharpness("exp", "float32").bits
    assert sharp is not None
    assert blunt is not None
    assert 5 <= sharp - blunt <= 7


def test_of_a_few_roundings_the_worst_is_known_whatever_is_allowed_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounding, "UNITS", 64 * rounding.UNITS)
    assert AIMS["float32"]["div"] <= sharpness("div", "float32").bits


def test_the_sharpness_is_printed_beside_what_is_aimed_at_and_the_exit_code_says_whether_it_is_reached() -> None:
    shown = command("--sharpness")
    lines = [line.split() for line in shown.output.splitlines()]
    blunt = any(int(found.removeprefix("2^-")) < int(aim.removeprefix("2^-")) for _, _, found, _, aim in lines)
    assert (int(blunt), sum(map(len, AIMS.values()))) == (shown.return_value, len(lines)), shown.output


def test_the_sharpness_goes_with_no_mutants() -> None:
    assert "leave --only" in command("--sharpness", *ONE).exception.format_message()


def power(killed: int) -> Power:
    ids = tuple(mutants())[:100]
    return Power(dict.fromkeys(ids[:killed], Kill(0, "diverged", "grad")), ids, 400, 1, 1.0)


@pytest.mark.parametrize(("killed", "count"), [(round(100 * MUTANTS_FLOOR[False]), 0), (round(100 * MUTANTS_FLOOR[False]) - 1, 1)])
def test_the_gate_is_red_below_the_floor(killed: int, count: int) -> None:
    assert count == len(weak(power(killed)))
