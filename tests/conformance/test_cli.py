"""The command: exit codes, one line for every mistake, and what each command prints."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from conformance.backends import Registration
from conformance.campaign.records import SCHEMA
from conformance.campaign.records.files import Writer
from conformance.case.case import Case, Input
from conformance.case.files import encode
from conformance.case.steps import InPlace, Op
from conformance.cli.commands import cli
from conformance.cli.options import enumerated
from conformance.compare.promise import Promise
from conformance.judge.verdict import Bucket, judge
from conformance.ops import catalogue
from reference_impl import PADDLE, TORCH
from reference_impl.dialects.switches import SWITCHES
from tests.conformance.door import conformance
from tests.conformance.engines import EXACT, INFO, ROOT, answer
from tests.report.samples import HEADER

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """Write a case file."""
    path = tmp_path / "case.json"
    path.write_text(encode(EXACT))
    return path


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Write a case file that names an op that does not exist."""
    path = tmp_path / "broken.json"
    path.write_text(encode(Case((Input("x", (), (1.0,)),), (Op("sine", ("x",), ("y",)),))))
    return path


@pytest.fixture
def impossible(tmp_path: Path) -> dict[str, Path]:
    """Write a case file for every step of `IMPOSSIBLE`."""
    paths = {name: tmp_path / f"{name}.json" for name in IMPOSSIBLE}
    for name, path in paths.items():
        path.write_text(encode(Case((X, Input("y", (2,), (1.0, 2.0))), (IMPOSSIBLE[name],))))
    return paths


@pytest.fixture
def unfinished(tmp_path: Path) -> Path:
    """Write a run record that has no footer."""
    path = tmp_path / "run.ndjson"
    with Writer(path) as writer:
        writer.write(HEADER)
    return path


ADAPTERS = "tests.conformance.broken_adapters:"
BROKE = "instead of answering: ValueError: no leaf for x"
X = Input("x", (3,), (1.0, 2.0, 3.0))
IMPOSSIBLE = {
    "shapes": Op("mul", ("x", "y"), ("z",)),
    "axis": Op("sum", ("x",), ("z",), {"axis": 5, "keepdims": False}),
    "index": Op("getitem_int", ("x",), ("z",), {"index": 9}),
    "in_place": InPlace("reshape", "x", (), {"shape": [3]}),
}
"""Steps that nobody can run on three numbers ``x`` and two numbers ``y``."""


def replayed_on(backend: str, case: str = "{case}") -> tuple[str, ...]:
    return "replay", case, "--backend", backend


MISTAKES: dict[str, tuple[tuple[str, ...], str]] = {
    "unknown op": (
        ("run", "--ops", "sine", "--out", "{tmp}"),
        "'sine' is unknown; did you mean sin; 'conformance ops' lists what is allowed",
    ),
    "a grid with a number of cases": (
        ("run", "--grid", "--cases", "5", "--out", "{tmp}"),
        "--cases says nothing beside --grid: it has as many cases as it needs",
    ),
    "a grid with a seed": (("run", "--grid", "--seed", "5", "--out", "{tmp}"), "--seed says nothing beside --grid: no seed draws it"),
    "a grid in one lane": (
        ("run", "--grid", "--lane", "exact", "--out", "{tmp}"),
        "--lane says nothing beside --grid: both lanes are in it",
    ),
    "a grid of programs": (
        ("run", "--grid", "--backends", "reference,paddle-static", "--out", "{tmp}"),
        "--grid is of eager scripts, and paddle-static runs programs; leave it out",
    ),
    "no op": (("run", "--ops", ",", "--out", "{tmp}"), "',' is unknown; 'conformance ops' lists what is allowed"),
    "unknown lane": (("run", "--lane", "fast", "--out", "{tmp}"), "'fast' is unknown; allowed are exact, numeric"),
    "unknown backend": (("run", "--backends", "tensorflow", "--cases", "1", "--out", "{tmp}"), "'tensorflow' is unknown; known are "),
    "both lanes by one word": (("run", "--lane", "both", "--out", "{tmp}"), "'both' is unknown; allowed are exact, numeric"),
    "a lane without an op": (
        ("run", "--backends", "reference", "--lane", "exact", "--ops", "tanh", "--cases", "1", "--out", "{tmp}"),
        "the lane 'exact' needs an exact op, and tanh has none",
    ),
    "a backend without a name": (replayed_on(""), "backend '' is unknown; known are "),
    "a backend that is a colon": (replayed_on(":"), "backend ':' is unknown; known are "),
    "a backend that is no callable": (
        replayed_on(ADAPTERS + "NO_CALLABLE"),
        "is a float; what opens a backend is a",
    ),
    "an opener that gives no backend": (
        replayed_on(ADAPTERS + "gives_none"),
        "opens as a dict; a backend has 'info'",
    ),
    "an opener that raises": (replayed_on(ADAPTERS + "raises"), "cannot be opened: RuntimeError: no licence"),
    "a version that is no text": (
        replayed_on(ADAPTERS + "has_no_version"),
        "has 2 as its version, which is a str",
    ),
    "a repeatability that is none": (
        replayed_on(ADAPTERS + "is_repeatable_sometimes"),
        "has 'sometimes' as its repeatable, which is one of bitwise, rounding",
    ),
    "an adapter that raises in replay": (replayed_on(ADAPTERS + "breaks"), BROKE),
    "no attribute": (replayed_on("json:nope"), "module 'json' has no attribute 'nope'\n"),
    "a module for which nothing is to be installed": (replayed_on("no_such:x"), "No module named 'no_such'\n"),
    "shapes that do not fit": (
        replayed_on("reference", "{shapes}"),
        "shapes.json: steps[0]: nobody can run it: ValueError: ",
    ),
    "an axis that is none": (replayed_on("reference", "{axis}"), "axis.json: steps[0]: nobody can run it: AxisError: "),
    "an index out of range": (replayed_on("reference", "{index}"), "index.json: steps[0]: nobody can run it: IndexError: "),
    "no form in place": (("repro", "{in_place}", "--backend", "torch"), "steps[0].op: reshape has no form in place"),
    "no backend": (("run", "--backends", ",", "--cases", "1", "--out", "{tmp}"), "',' names no backend"),
    "missing module": (("run", "--backends", "no_such:engine", "--cases", "1", "--out", "{tmp}"), "No module named 'no_such'"),
    "bad budget": (("run", "--budget", "soon", "--out", "{tmp}"), "'soon' is no time; write it like 90s, 10m or 1h"),
    "no budget": (("run", "--budget", "nan", "--out", "{tmp}"), "'nan' is no time"),
    "negative budget": (("run", "--budget=-5m", "--out", "{tmp}"), "'-5m' is no time"),
    "nothing to spend": (("run", "--budget", "0", "--out", "{tmp}"), "'0' is no time; write it like 90s, 10m or 1h, more than nothing"),
    "no whole number": (("run", "--cases", "1e3", "--out", "{tmp}"), "'1e3' is no whole number"),
    "no cases": (("run", "--cases", "0", "--out", "{tmp}"), "0 is not in the range"),
    "negative seed": (("run", "--seed", "-1", "--out", "{tmp}"), "-1 is not in the range"),
    "unknown option": (("run", "--quick", "--out", "{tmp}"), "No such option"),
    "unknown command": (("walk",), "No such command 'walk'"),
    "missing record": (("report", "{tmp}/absent.ndjson"), "absent.ndjson: No such file or directory"),
    "missing case": (("show", "{tmp}/absent.json"), "absent.json: No such file or directory"),
    "broken case to show": (("show", "{broken}"), "broken.json: steps[0].op: 'sine' is unknown"),
    "broken case to replay": (("replay", "{broken}", "--backend", "reference"), "broken.json: steps[0].op: 'sine' is unknown"),
    "broken case to repro": (("repro", "{broken}", "--backend", "torch"), "broken.json: steps[0].op: 'sine' is unknown"),
    "replay on an unknown backend": (replayed_on("jax"), "backend 'jax' is unknown"),
    "replay without a backend": (("replay", "{case}"), "Missing option '--backend'"),
    "unknown framework": (("repro", "{case}", "--framework", "jax"), "'jax' is not one of 'torch', 'paddle'"),
    "unknown dialect": (("dialects", "--compare", "torch", "jax"), "'jax' is unknown; allowed are torch, paddle"),
    "clauses of an unknown backend": (("clauses", "--backends", "jax"), "backend 'jax' is unknown"),
    "out that is a file": (("run", "--backends", "reference", "--cases", "1", "--out", "{case}"), "is a file"),
}


@pytest.mark.parametrize(("arguments", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str, case: Path, broken: Path, impossible: dict[str, Path], tmp_path: Path
) -> None:
    done = conformance(*(a.format(case=case, broken=broken, tmp=tmp_path, **impossible) for a in arguments))
    lines = done.stderr.splitlines()
    assert (2, 1, True) == (done.returncode, len(lines), message in done.stderr), done.stderr + done.stdout


def test_the_grid_is_asked_of_programs_where_nothing_else_is_named() -> None:
    programs = ("paddle-static", "examples.engines.hips")
    assert {"cases": 0, "backends": programs} == enumerated({"backends"}, programs)


def test_a_record_without_its_footer_is_reported_as_invalid(unfinished: Path) -> None:
    conformance("report", unfinished)
    assert "INVALID" in unfinished.with_name("report.html").read_text()


def test_a_record_without_its_footer_is_no_success(unfinished: Path) -> None:
    assert conformance("report", unfinished).returncode != 0


def test_a_record_that_is_none_is_refused_with_the_line(unfinished: Path) -> None:
    unfinished.write_text(unfinished.read_text() + '{"kind":\n')
    done = conformance("report", unfinished)
    assert (2, True) == (done.returncode, "run.ndjson: line 2: " in done.stderr), done.stderr


def test_a_record_of_an_older_schema_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    path.write_text('{"kind": "header", "schema": 1, "suite": "2026.10", "cases": 10}\n')
    done = conformance("report", path)
    assert (2, 1) == (done.returncode, len(done.stderr.splitlines()))
    assert f"line 1: written in schema 1 of the records, and this version reads schema {SCHEMA}" in done.stderr


def test_show_prints_a_case_in_words(case: Path) -> None:
    expected = (
        f"case {EXACT.id} (exact lane)\n"
        "      x = float32[3] [1, 2, 3]\n"
        "      w = float32[3] [4, 5, 6]\n"
        "   0  y = mul(x, x)\n"
        "   1  z = sum(y, axis=None, keepdims=False)\n"
        "   2  g, h = grad([z], [x, w], retain_graph=True, allow_unused=True)\n"
        "   3  backward([z])\n"
        "   4  backward([z])\n"
    )
    assert expected == conformance("show", case).stdout


def test_replay_of_a_case_that_agrees_is_a_success(case: Path) -> None:
    done = conformance("replay", case, "--backend", "torch")
    assert (0, True) == (done.returncode, "verdict: agreed" in done.stdout), done.stderr


def test_replay_of_a_case_that_kills_the_process_says_where(case: Path) -> None:
    done = conformance("replay", case, "--backend", "tests.wrong_engines:aborts_as_paddle")
    assert (1, True) == (done.returncode, "the process died: SIGABRT in tests/wrong_engines.py run" in done.stdout), done.stdout


def test_replay_of_a_case_that_dies_when_laws_are_tried_says_of_which(case: Path) -> None:
    done = conformance("replay", case, "--backend", "tests.wrong_engines:aborts_in_laws")
    told = re.search(
        r"verdict: crashed\n.*\n  the process died, under the law [a-z-]+: SIGABRT in tests/wrong_engines.py run", done.stdout
    )
    assert (1, True) == (done.returncode, told is not None), done.stdout


def test_replay_shows_the_inputs_before_the_steps(case: Path) -> None:
    before, _, _ = conformance("replay", case, "--backend", "reference").stdout.partition("   0  ")
    assert ["      x = float32[3] [1, 2, 3]", "      w = float32[3] [4, 5, 6]"] == before.splitlines()[1:]


@pytest.mark.parametrize("framework", ["torch", "paddle"])
def test_a_reproduction_runs_by_itself(case: Path, framework: str, tmp_path: Path) -> None:
    path = tmp_path / "repro.py"
    path.write_text(conformance("repro", case, "--backend", framework).stdout)
    done = subprocess.run([sys.executable, "-I", path], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (0, True) == (done.returncode, "refused:" in done.stdout), done.stdout + done.stderr


def test_a_reproduction_imports_one_framework_and_numpy(case: Path) -> None:
    lines = conformance("repro", case, "--backend", "paddle").stdout.splitlines()
    assert ["import numpy as np", "import paddle"] == [line for line in lines if "import" in line]


def test_ops_lists_the_catalogue_as_json() -> None:
    listed = json.loads(conformance("ops", "--json").stdout)
    assert set(catalogue()) == {op["name"] for op in listed["ops"]}


def test_ops_lists_the_catalogue_as_text() -> None:
    text = conformance("ops").stdout
    assert not [name for name in catalogue() if f" {name} " not in text]


def test_backends_lists_what_opens_here_as_json() -> None:
    listed: list[dict[str, Any]] = json.loads(conformance("backends", "--json").stdout)
    everything = ["paddle", "paddle-static", "paddle-static-legacy", "reference", "torch"]
    assert everything == sorted(entry["name"] for entry in listed if entry.get("repeatable") == "bitwise")


def test_backends_says_a_reason_for_which_much_is_not_offered_once() -> None:
    lines = [line for line in conformance("backends").stdout.splitlines() if "paddle.grad has no such parameter" in line]
    assert ["not offered, since paddle.grad has no such parameter: materialize_grads, is_grads_batched"] == [*map(str.strip, lines)]


def test_dialects_lists_what_differs_as_json() -> None:
    listed = json.loads(conformance("dialects", "--compare", "torch", "paddle", "--json").stdout)
    differing = [s.field for s in SWITCHES if getattr(TORCH, s.field) != getattr(PADDLE, s.field)]
    assert differing == [row["switch"] for row in listed]


def test_dialects_are_compared_at_the_width_of_a_page() -> None:
    lines = conformance("dialects").stdout.splitlines()
    assert (True, True) == ("Roots and seeds" in lines, max(map(len, lines)) <= 100)


def test_a_dialect_does_not_differ_from_itself() -> None:
    assert conformance("dialects", "--compare", "paddle", "paddle").stdout == "The dialects paddle and paddle do not differ.\n"


@pytest.mark.parametrize(
    "command", ["run", "gate", "report", "show", "replay", "repro", "ops", "clauses", "dialects", "backends", "deviations"]
)
def test_a_command_explains_itself(command: str) -> None:
    done = conformance(command, "--help")
    assert (0, True) == (done.returncode, done.stdout.startswith("Usage: "))


def test_the_command_lists_its_commands_and_exit_codes() -> None:
    text = " ".join(conformance("--help").stdout.split())
    assert "Exit codes: 0 conforms, 1 divergence, 2 usage or configuration, 3 no result: too little" in text


@pytest.mark.parametrize(("command", "cases"), [("run", 2000), ("gate", 6000), ("laws", 300), ("mutants", 20000)])
def test_help_shows_the_defaults(command: str, cases: int) -> None:
    assert f"[default: {cases}; x>=1]" in " ".join(conformance(command, "--help").stdout.split())


def test_a_campaign_that_conforms_is_a_success_in_a_few_lines_of_80_columns(tmp_path: Path) -> None:
    done = conformance("run", "--backends", "torch,paddle", "--cases", "100", "--out", tmp_path)
    files, lines = {"run.ndjson", "report.html"}, done.stdout.splitlines()
    assert (0, True) == (done.returncode, files <= {p.name for p in tmp_path.iterdir()}), done.stdout + done.stderr
    assert (True, True) == (len(lines) <= 7, max(map(len, lines[:-1])) <= 80), done.stdout
    assert lines[-1].startswith("conforms.  Details: ")


def test_an_adapter_that_raises_in_a_run_is_a_finding_with_its_case(tmp_path: Path) -> None:
    done = conformance("run", "--backends", ADAPTERS + "breaks", "--cases", "1", "--out", tmp_path)
    assert (3, True, 1) == (done.returncode, "actual BackendError" in done.stdout, len(list(tmp_path.glob("cases/*.json")))), (
        done.stdout
    )


def test_a_run_prints_its_tables_where_they_are_asked_for(tmp_path: Path) -> None:
    done = conformance("run", "--backends", "reference", "--cases", "3", "--out", tmp_path, "-v")
    assert (0, True) == (done.returncode, "Ledger (cases)" in done.stdout), done.stderr


def test_a_comma_too_many_is_ignored(tmp_path: Path) -> None:
    done = conformance("run", "--backends", "reference,", "--ops", "mul,", "--cases", "1", "--out", tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_version_may_be_more_than_a_str(tmp_path: Path) -> None:
    done = conformance("run", "--backends", ADAPTERS + "has_a_special_version", "--cases", "1", "--out", tmp_path)
    assert (0, "special 2.13.0") == (done.returncode, done.stdout.splitlines()[1][:14]), done.stderr


def test_a_run_owns_its_case_files_and_leaves_those_that_a_person_named(tmp_path: Path) -> None:
    earlier, mine = tmp_path / "cases" / "torch-0123abcd.json", tmp_path / "cases" / "smaller.json"
    earlier.parent.mkdir()
    for path in (earlier, mine):
        path.write_text("{}")
    conformance("run", "--backends", "reference", "--cases", "1", "--out", tmp_path)
    assert (False, True) == (earlier.exists(), mine.exists())


def test_output_that_nobody_reads_is_no_divergence() -> None:
    command = [sys.executable, "-m", "conformance", "ops", "--json"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert (141, b"") == (process.returncode, said)


def test_where_a_framework_is_missing_the_default_says_what_to_give(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Registration, "installed", property(lambda facts: facts.requires != "paddle"))
    said = CliRunner().invoke(cli, ["run", "--out", str(tmp_path)])
    assert (2, True) == (said.exit_code, "paddle is not installed here; give --backends torch" in said.output)


def test_a_run_that_is_resumed_asks_for_no_framework_that_its_record_does_not_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Registration, "installed", property(lambda facts: facts.requires != "paddle"))
    said = CliRunner().invoke(cli, ["run", "--resume", str(tmp_path)])
    assert ("not installed" in said.output, "run.ndjson" in f"{said.output}{said.exception}") == (False, True)


@pytest.mark.parametrize("step", ["shapes", "axis", "index"])
def test_that_both_refuse_what_nobody_can_run_is_no_agreement(step: str) -> None:
    case = Case((X, Input("y", (2,), (1.0, 2.0))), (IMPOSSIBLE[step],))
    assert judge(Promise(case, INFO), answer(case)).bucket is Bucket.HARNESS_ERROR


def test_the_help_says_in_a_line_of_80_columns_what_each_command_does() -> None:
    said = CliRunner().invoke(cli, ["--help"], terminal_width=80).output
    assert (set(), False) == ({name for name in cli.commands if f"  {name} " not in said}, "..." in said.partition("Commands:")[2])
