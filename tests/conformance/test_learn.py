"""What an engine does at its open choices is learned: op by op, in random scripts, and so that a change shows."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import msgspec
import numpy as np
import pytest

from conformance.backends import BackendInfo, open_backend
from conformance.backends.reference import reference
from conformance.campaign.learn import PASSES, Learned, _chunks, learn
from conformance.campaign.learn import _measured as measured_before
from conformance.campaign.records import BackendRecord, CaseRecord
from conformance.campaign.records.choices import choice_of, text_of
from conformance.campaign.records.verdicts import VerdictRecord
from conformance.campaign.workers.chunk import Chunk
from conformance.campaign.workers.trial import run_case
from conformance.case.files import check
from conformance.case.outcome import plainly
from conformance.case.steps import Grad
from conformance.cli.measuring import conventions_page
from conformance.compare.promise import promised
from conformance.generate.call_probes import call_probes
from conformance.generate.probes import probes
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.verdict import CONVENTION, Bucket
from conformance.laws.judging import Judging, Sampling
from conformance.ops import catalogue
from reference_impl import PADDLE, PADDLE_STATIC, TORCH
from reference_impl.dialects.conventions import HANDED, OPTIONS, Conventions, Kind, Lock, OpenChoice, conventions, release_file
from tests.conformance.door import conformance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from reference_impl import Dialect

AROUND = tuple(case for op in ("clone", "sum") for case in probes(op))
"""Of what every probe is made, beside its op."""
PROBES = (*AROUND, *(case for op in ("mul", "sin", "cos", "exp", "abs", "mul_scalar") for case in probes(op)), *call_probes())
VERSION = "4.2"
SEEDS = range(5)
BLANK = replace(TORCH, conventions=Conventions())
PLAIN, OBSERVING = (Judging(nulls=Sampling.NONE, observing=observing) for observing in (False, True))
"""How cases are judged: nobody here looks at pairs of right answers."""


class Deciding:
    """The reference, which decides some choices otherwise; if that is said, every so many times that it runs a case in another way.

    ``flipped``: what is decided otherwise then; nothing, if that is not said.
    """

    def __init__(
        self, options: dict[OpenChoice, str], start: Dialect, flips: int = 0, flipped: Mapping[OpenChoice, str] = MappingProxyType({})
    ) -> None:
        self.info = BackendInfo("deciding", VERSION, start, start.not_offered)
        self.flips, self.runs = flips, Counter[str]()
        self.usual, self.rare = (
            reference(replace(TORCH, conventions=TORCH.conventions.but(decided)), TORCH.not_offered) for decided in (options, flipped)
        )

    def run(self, case: Case) -> Outcome:
        self.runs[case.id] += 1
        return (self.rare if self.flips and self.runs[case.id] % self.flips == 0 else self.usual).run(case)

    def shows(self, case: Case) -> bool:
        """Whether a case shows which of the two ways it is run in."""
        return plainly(self.usual.run(case)) != plainly(self.rare.run(case))


def observed(engine: Any, cases: tuple[Case, ...]) -> tuple[Learned, list[CaseRecord]]:
    records = [run_case(case, [engine], OBSERVING, index=index) for index, case in enumerate(cases)]
    learned = Learned(BackendRecord("deciding", VERSION, "torch", {}))
    for record in records:
        learned.add(Chunk(("deciding",), "", "given", 0, len(cases), cases=cases), record)
    return learned, records


class Passes:
    """Workers without processes, which note down the chunks of each pass; ``answer`` gives the records of a chunk."""

    def __init__(self, answer: Callable[[Chunk], Sequence[CaseRecord]]) -> None:
        self.answer = answer
        self.made: list[list[Chunk]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def describe(self, name: str) -> BackendRecord:
        return BackendRecord(name, VERSION, "torch", {})

    def run(self, chunks: Sequence[Chunk]) -> Iterator[Sequence[CaseRecord]]:
        self.made.append(list(chunks))
        return map(self.answer, chunks)

    def learn(self, folder: Path, chunks: Sequence[Chunk] | None = None, ops: Sequence[str] | None = None) -> Learned:
        """Learn by these workers, of these chunks, and write what was learned to a folder."""
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("conformance.campaign.learn.Workers", lambda *_: self)
            if chunks is not None:
                patched.setattr("conformance.campaign.learn._chunks", lambda *_: chunks)
            return learn("deciding", 0, 1, 1, lambda _: folder / "deciding.toml", lambda *_: None, ops)


def given(name: str, cases: tuple[Case, ...]) -> Chunk:
    return Chunk(("deciding",), "", name, 0, len(cases), OBSERVING, cases=cases)


def asking(options: dict[OpenChoice, str], start: Dialect = BLANK, **how: Any) -> Passes:
    """Return workers that ask the reference which decides these choices so, of which nothing is known but what its start says."""
    engine = Deciding(options, start, **how)

    def answer(chunk: Chunk) -> list[CaseRecord]:
        return [run_case(c, [engine], chunk.judging, index=i, expected=chunk.expected) for i, c in enumerate(chunk.cases or ())]

    return Passes(answer)


def learned_of(options: dict[OpenChoice, str], cases: tuple[Case, ...] = PROBES, **how: Any) -> Learned:
    """Learn from nothing, of these cases in this process."""
    chunks = [given(f"from {start}", cases[start : start + 10]) for start in range(0, len(cases), 10)]
    with tempfile.TemporaryDirectory() as folder:
        return asking(options, **how).learn(Path(folder), chunks)


def after_learning(options: dict[OpenChoice, str], cases: tuple[Case, ...] = PROBES) -> Dialect:
    return replace(TORCH, conventions=conventions(learned_of(options, cases).lock))


CHOICES = {
    OpenChoice(Kind.OFFERED, "sin", "order 2"): "refused",
    OpenChoice(Kind.OFFERED, "cos", "order 3"): "refused",
    OpenChoice(Kind.CONNECTED, "mul_scalar", "x alone"): "linked",
    OpenChoice(Kind.CONNECTED, "abs", "x alone"): "cut",
    OpenChoice(Kind.KEPT, "mul", "x x"): "refused",
    OpenChoice(Kind.FREED, "exp", "x"): "computed",
}


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_a_choice_is_learned_from_nothing(choice: OpenChoice) -> None:
    learned = learned_of({choice: CHOICES[choice]}, (*AROUND, *probes(choice.op)))
    assert [CHOICES[choice]] == list(learned.seen[choice])


def test_a_choice_that_an_op_asks_at_a_corner_alone_is_learned() -> None:
    choice = OpenChoice(Kind.FREED, "rfftn", "order 2 completed x")  # of two elements the half is the whole, and nothing completes it
    learned = learned_of({choice: "refused"}, (*AROUND, *probes(choice.op)))
    assert ["refused"] == list(learned.seen[choice])


OF_CALLS = {
    OpenChoice(Kind.ALLOWED, "flag", "that is no bool"): "refused",
    OpenChoice(Kind.ALLOWED, "input", "that requires no gradient"): "refused",
    OpenChoice(Kind.ALLOWED, "root", "that requires no gradient"): "refused",
    OpenChoice(Kind.ALLOWED, "seed", "of another kind"): "refused",
    OpenChoice(Kind.ALLOWED, "seed", "of another precision"): "refused",
}


@pytest.mark.parametrize("option", ["computed", "refused"])
@pytest.mark.parametrize("choice", OF_CALLS, ids=str)
def test_what_calls_go_along_with_is_learned_from_their_probes(choice: OpenChoice, option: str) -> None:
    learned = learned_of({choice: option}, call_probes())
    assert [option] == list(learned.seen[choice])


def test_many_choices_are_learned_together() -> None:
    learned = learned_of(CHOICES)
    assert CHOICES.items() <= {choice: next(iter(options)) for choice, options in learned.seen.items()}.items()


def test_an_engine_that_decides_both_ways_is_told_with_a_case_of_each() -> None:
    choice = OpenChoice(Kind.OFFERED, "sin", "order 2")
    learned = learned_of({choice: "refused"}, 6 * (*AROUND, *probes("sin")), flips=5)
    assert {"refused", "computed"} == set(learned.varying[choice])
    assert {"refused", "computed"} == {option for of, option in learned.cases if of == choice}


def drawn(seed: int) -> dict[OpenChoice, str]:
    """Conventions that nobody has: of some choices of these ops and of the calls any option; but nothing is cut, see below."""
    rng = np.random.default_rng(seed)
    options = {**OPTIONS, Kind.CONNECTED: ("formula", "linked")}
    return {choice: str(rng.choice(options[choice.kind])) for choice in known_of_reference() if rng.random() < 0.3}


@cache
def known_of_reference() -> tuple[OpenChoice, ...]:
    return tuple(learned_of({}).seen)


@cache
def learned_of_random_conventions(seed: int) -> Learned:
    return learned_of(drawn(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_an_engine_with_random_conventions_agrees_after_they_were_learned(seed: int) -> None:
    start = replace(TORCH, conventions=conventions(learned_of_random_conventions(seed).lock))
    _, records = observed(Deciding(drawn(seed), start), PROBES)
    assert {"agreed", "same_error", "not_offered"} >= {record.verdicts["deciding"].bucket for record in records}
    assert not [record for record in records if record.verdicts["deciding"].followed]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_engine_with_random_conventions_is_not_taken_for_one_that_decides_both_ways(seed: int) -> None:
    assert {} == learned_of_random_conventions(seed).varying


@pytest.mark.parametrize("seed", SEEDS)
def test_one_flip_in_a_hundred_cases_is_red_whatever_the_conventions_are(seed: int) -> None:
    options, start = drawn(seed), replace(TORCH, conventions=conventions(learned_of_random_conventions(seed).lock))
    flips = [{**options, choice: other} for choice, option in options.items() for other in OPTIONS[choice.kind][:2] if other != option]
    engines = (Deciding(options, start, flips=100, flipped=flipped) for flipped in np.random.default_rng(seed).permutation(flips))
    engine, telling = next((engine, case) for engine in engines for case in PROBES if engine.shows(case))
    verdicts = [run_case(telling, [engine], PLAIN).verdicts["deciding"] for _ in range(100)]
    assert [CONVENTION] == [verdict.mismatch.kind for verdict in verdicts if verdict.mismatch is not None]


def test_a_derivative_that_is_cut_although_it_does_not_vanish_is_no_convention_and_is_red_after_all_was_learned() -> None:
    options, cases = {OpenChoice(Kind.CONNECTED, "exp", "x alone"): "cut"}, (*AROUND, *probes("exp"))
    start = after_learning(options, cases)
    _, records = observed(Deciding(options, start), cases)
    assert "diverged" in {record.verdicts["deciding"].bucket for record in records}


@pytest.mark.parametrize("about", ["x alone", "x tracked", "x asked"])
def test_a_probe_with_a_cut_tells_what_a_derivative_depends_on_by_the_result_alone(about: str) -> None:
    asked = OpenChoice(Kind.CONNECTED, "div_by_quotient", about)
    by_result, in_any_case = (
        replace(PADDLE_STATIC, conventions=PADDLE_STATIC.conventions.but({asked: option})) for option in ("formula", "linked")
    )
    seen = ((case, *(plainly(promised(case, dialect)) for dialect in (by_result, in_any_case))) for case in probes("div"))
    assert any(one != other for case, one, other in seen if getattr(case.steps[-1], "no_grad_vars", None))


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_one_flip_in_a_hundred_cases_is_red_as_a_convention_that_changed(choice: OpenChoice) -> None:
    options, cases = {choice: CHOICES[choice]}, (*AROUND, *probes(choice.op))
    start = after_learning(options, cases)
    engine = Deciding(options, start, flips=100)
    telling = next(case for case in probes(choice.op) if engine.shows(case))
    verdicts = [run_case(telling, [engine], PLAIN).verdicts["deciding"] for _ in range(100)]
    found = [verdict.mismatch.kind for verdict in verdicts if verdict.mismatch is not None]
    assert [CONVENTION] == found


def judged(**said: Any) -> CaseRecord:
    """A record of the first probe, of which the verdict says this, and which asks nothing else."""
    asked = (*said.get("followed", {}), *said.get("observed", {}))
    verdicts = {"deciding": VerdictRecord(Bucket.AGREED, {}, asked=asked, **said)}
    return CaseRecord(0, PROBES[0].id, "numeric", 1, False, verdicts, {}, False, ())


def learned_from(*records: CaseRecord) -> Learned:
    learned = Learned(BackendRecord("deciding", VERSION, "torch", {}))
    for record in records:
        learned.add(Chunk(("deciding",), "", "given", 0, 1, cases=PROBES[:1]), record)
    return learned


@pytest.mark.parametrize("order", [1, -1])
def test_a_case_that_shows_an_option_outweighs_all_that_leave_it_open(order: int) -> None:
    choice = OpenChoice(Kind.CONNECTED, "exp", "x alone")
    open_to, told = judged(observed={str(choice): ("formula", "linked")}), judged(followed={str(choice): "linked"})
    learned = learned_from(*[open_to, open_to, told][::order])
    assert ({choice: {"linked": 1}}, {}) == (learned.seen, learned.varying)


def test_what_every_case_leaves_open_is_learned_as_expected() -> None:
    choice = OpenChoice(Kind.CONNECTED, "exp", "x alone")
    assert {choice: {"formula": 1}} == learned_from(judged(observed={str(choice): ("formula", "linked")})).seen


@pytest.mark.parametrize(("followed", "passes"), [(0, 2), (1, 2), (2, 3), (99, PASSES)])
def test_passes_are_made_until_one_ends_with_what_it_started_from(followed: int, passes: int, tmp_path: Path) -> None:
    shown = {str(OpenChoice(Kind.FREED, "mul", "x")): "computed"}
    workers = Passes(lambda _: [judged(followed=shown) if len(workers.made) <= followed else judged()])
    workers.learn(tmp_path, [given("one", PROBES[:1])])
    assert passes == len(workers.made)


def test_the_page_of_conventions_cuts_no_name_of_an_op() -> None:
    assert "\u2026" not in conventions_page(("torch", "paddle"), comparing=False, as_json=False)


def test_a_folder_that_cannot_be_made_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    workers = Passes(lambda _: [judged()])
    with pytest.raises(OSError, match="file"):
        workers.learn(tmp_path / "file", [given("one", PROBES[:1])])
    assert [] == workers.made


SINE_IS_REFUSED = {OpenChoice(Kind.OFFERED, "sin", "order 2"): "refused"}
OF_TWO_OPS = [given("of sin", (*AROUND, *probes("sin"))), given("of exp", (*AROUND, *probes("exp")))]


def test_a_later_pass_runs_what_asks_for_a_choice_that_turned_out_otherwise(tmp_path: Path) -> None:
    workers = asking(SINE_IS_REFUSED, TORCH)
    workers.learn(tmp_path, OF_TWO_OPS)
    assert [["of sin", "of exp"], ["of sin"]] == [[chunk.name for chunk in chunks] for chunks in workers.made]


def test_what_is_not_run_again_counts_as_it_did(tmp_path: Path) -> None:
    alone, beside = (asking(SINE_IS_REFUSED, TORCH).learn(tmp_path, chunks).seen for chunks in (OF_TWO_OPS[1:], OF_TWO_OPS))
    of_exp = {choice: options for choice, options in alone.items() if choice.op == "exp"}
    assert of_exp == {choice: options for choice, options in beside.items() if choice.op == "exp"} != {}


def test_a_later_pass_starts_from_what_the_one_before_said_wherever_that_is_written(tmp_path: Path) -> None:
    workers = asking(SINE_IS_REFUSED, TORCH)
    workers.learn(tmp_path / "elsewhere", OF_TWO_OPS[:1])
    ((first,), (second,)) = workers.made
    assert (None, True) == (first.expected, second.expected is not None and SINE_IS_REFUSED.items() <= second.expected.options.items())


@pytest.mark.parametrize("op", catalogue())
def test_probes_are_scripts_that_can_be_run(op: str) -> None:
    for case in probes(op):
        check(case)


def test_what_was_learned_of_paddle_says_where_derivatives_end() -> None:
    assert (1, 3) == (PADDLE.conventions.highest_order("amax"), PADDLE.conventions.highest_order("sin"))


@pytest.mark.parametrize("op", [form for form in PADDLE.spelled.values() if form.endswith("_as_one")])
def test_whether_a_kernel_of_paddle_has_a_second_derivative_was_measured(op: str) -> None:
    assert OpenChoice(Kind.OFFERED, op, "order 2") in PADDLE.conventions.options


def test_a_case_that_shows_nothing_of_a_choice_is_no_observation() -> None:
    case = case_of(1, 0, DrawOptions(ops=("add",), changing=0.0))
    learned, _ = observed(Deciding({}, TORCH), (case,))
    assert not [choice for choice in learned.seen if choice.kind is Kind.OFFERED]


# Files, and what is printed of them.

ONE = {"sin": "computed", "cos": "computed", "exp": "computed"}
OTHER = {"sin": "refused", "cos": "computed", "log": "refused"}


def test_runs_start_from_what_was_measured_in_the_folder_where_they_are_started(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    version = open_backend("reference").info.version
    choice = OpenChoice(Kind.FREED, "mul", "x")
    path = release_file("reference", version, tmp_path / "conventions")
    path.parent.mkdir()
    path.write_text(text_of(Lock("reference", version, {choice: {"computed": 3}})))
    assert {choice: "computed"} == open_backend("reference").info.dialect.conventions.options


def test_two_adapters_do_not_share_the_file_of_what_was_measured(tmp_path: Path) -> None:
    files = [release_file(f"my_package.{name}:open_backend", "1.0", tmp_path) for name in ("abacus", "slide_rule")]
    assert [tmp_path / "abacus-1.0.toml", tmp_path / "slide_rule-1.0.toml"] == files


def test_an_earlier_measurement_stays_where_nothing_is_met(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    backend, choice = BackendRecord("deciding", VERSION, "torch", {}), OpenChoice(Kind.FREED, "mul", "x")
    path = release_file("deciding", VERSION, tmp_path / "conventions")
    path.parent.mkdir()
    path.write_text(text_of(Lock("deciding", VERSION, {choice: {"computed": 3}})))
    assert ({choice: {"computed": 3}}, {}) == (
        measured_before(backend),
        measured_before(msgspec.structs.replace(backend, version="4.2.1")),
    )


def learned_alone(op: str, before: dict[OpenChoice, Any], met: dict[OpenChoice, Any], folder: Path, monkeypatch: Any) -> Any:
    """Return what a lock says after this one op was learned, of which the cases show that."""
    monkeypatch.chdir(folder)
    path = release_file("deciding", VERSION, folder / "conventions")
    path.parent.mkdir()
    path.write_text(text_of(Lock("deciding", VERSION, before)))
    records = [
        judged(observed={str(choice): (option,)}) for choice, options in met.items() for option, n in options.items() for _ in range(n)
    ]
    return Passes(lambda _: records).learn(folder / "conventions", [given("one", PROBES[:1])], [op]).seen


def test_learning_one_op_leaves_what_is_known_of_others(tmp_path: Path, monkeypatch: Any) -> None:
    mine, other = OpenChoice(Kind.FREED, "mul", "x"), OpenChoice(Kind.FREED, "sum", "x")
    before, met = {mine: {"computed": 3}, other: {"computed": 100}}, {mine: {"computed": 7}, other: {"computed": 1}}
    assert {mine: {"computed": 7}, other: {"computed": 100}} == learned_alone("mul", before, met, tmp_path, monkeypatch)


def test_learning_a_form_of_an_op_measures_what_a_framework_makes_of_it_anew(tmp_path: Path, monkeypatch: Any) -> None:
    form = OpenChoice(Kind.OFFERED, PADDLE.spelled["gru_stacked"], "order 2")
    assert {form: {"refused": 7}} == learned_alone(
        "gru_stacked", {form: {"computed": 3}}, {form: {"refused": 7}}, tmp_path, monkeypatch
    )


def test_what_calls_are_handed_is_learned_alone_where_it_is_named(tmp_path: Path, monkeypatch: Any) -> None:
    flag, seed = (OpenChoice(Kind.ALLOWED, *about) for about in (("flag", "that is no bool"), ("seed", "of another kind")))
    before, met = {flag: {"computed": 3}, seed: {"computed": 100}}, {flag: {"refused": 7}, seed: {"refused": 1}}
    assert {flag: {"refused": 7}, seed: {"computed": 100}} == learned_alone("flag", before, met, tmp_path, monkeypatch)


def test_every_choice_about_calls_can_be_named_to_learn() -> None:
    asked = {choice.op for choice in known_of_reference() if choice.kind is Kind.ALLOWED}
    assert asked == set(HANDED)


def test_the_command_learns_what_calls_are_handed_without_any_op(tmp_path: Path) -> None:
    done = conformance("learn", "--backend", "reference", "--ops", "flag", "--jobs", "1", "--out", str(tmp_path))
    assert (0, True) == (done.returncode, f": {len(OF_CALLS)} choices, {len(call_probes())} observations" in done.stdout)


def test_random_cases_are_drawn_of_ops_alone() -> None:
    named = ("flag", "mul")
    draws = [chunk.draw.ops for chunk in _chunks(BackendRecord("reference", VERSION, "torch", {}), 10, 1, named, frozenset())]
    assert ("mul",) == draws[-1]


def test_an_op_of_many_operands_has_no_more_than_some_dozens_of_probes() -> None:
    assert 100 > max(len(list(probes(op))) for op in catalogue())


def test_probes_show_the_second_derivative_of_a_kernel_that_has_all_first_ones_or_none() -> None:
    asked = [[set(step.inputs) for step in case.steps if isinstance(step, Grad)] for case in probes("gru_stacked")]
    assert any(calls == [every] * 2 for calls in asked for every in calls if len(every) > 1)


def test_a_settled_choice_is_not_tried_the_other_way() -> None:
    def seen(settled: frozenset[str]) -> set[str]:
        records = [run_case(case, [engine], OBSERVING, settled=frozenset(map(choice_of, settled))) for case in AROUND]
        return {choice for record in records for choice in record.verdicts["deciding"].observed}

    engine = Deciding({}, TORCH)
    every = seen(frozenset())
    some = frozenset(sorted(every)[::2])
    assert every - some == seen(some) != set()


def test_what_is_settled_was_known_before_the_first_pass(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    mine, other, new = (OpenChoice(Kind.FREED, op, "x") for op in ("mul", "sum", "exp"))
    path = release_file("deciding", VERSION, tmp_path / "conventions")
    path.parent.mkdir()
    path.write_text(text_of(Lock("deciding", VERSION, {mine: {"computed": 3}, other: {"computed": 100}})))
    workers, given_to_chunks = Passes(lambda _: [judged(followed={str(new): "computed"})]), []

    def chunks(*args: Any) -> list[Chunk]:
        given_to_chunks.append(set(args[-1]))
        return [given("one", PROBES[:1])]

    monkeypatch.setattr("conformance.campaign.learn._chunks", chunks)
    workers.learn(tmp_path, ops=["mul"])
    assert (True, [{other}]) == (len(workers.made) > 1, given_to_chunks)


def test_two_engines_are_compared_where_both_were_measured(tmp_path: Path) -> None:
    files = []
    for name, ops in (("one", ONE), ("other", OTHER)):
        seen = {OpenChoice(Kind.OFFERED, op, "order 2"): {option: 1} for op, option in ops.items()}
        files.append(str(tmp_path / f"{name}.toml"))
        (tmp_path / f"{name}.toml").write_text(text_of(Lock(name, "1.0", seen)))
    rows = json.loads(conventions_page(tuple(files), comparing=True, as_json=True))
    assert [{"op": "sin", "one 1.0": "at least 2", "other 1.0": "1 at most"}] == rows["How many derivatives are offered"]


@pytest.mark.parametrize("more", ["computed", "refused"])
def test_an_order_that_was_met_on_one_engine_alone_is_no_difference(tmp_path: Path, more: str) -> None:
    files = []
    for name, orders in (("one", {2: "computed"}), ("other", {2: "computed", 3: more})):
        seen = {OpenChoice(Kind.OFFERED, "sin", f"order {order}"): {option: 1} for order, option in orders.items()}
        files.append(str(tmp_path / f"{name}.toml"))
        (tmp_path / f"{name}.toml").write_text(text_of(Lock(name, "1.0", seen)))
    assert conventions_page(tuple(files), comparing=True, as_json=False) == (
        "nothing differs in what was measured of all of them, 1 choice\n"
    )


def test_the_command_prints_where_the_frameworks_differ() -> None:
    done = conformance("conventions", "torch", "paddle", "--compare")
    assert (0, True, True) == (done.returncode, "torch 2.13.0" in done.stdout, "2 at most" in done.stdout)


def test_what_was_never_measured_is_refused_in_one_line() -> None:
    done = conformance("conventions", "nobody")
    assert (2, 1, True) == (done.returncode, done.stderr.count("\n"), "nothing was measured of 'nobody'; there is " in done.stderr)


def test_a_refusal_is_put_down_to_the_node_that_refuses_wherever_it_is_met() -> None:
    choice = OpenChoice(Kind.FREED, "ihfft2", "order 2 completed x")  # beside a factor, which is there where nothing is completed, too
    learned = learned_of({choice: "refused"}, (*AROUND, *probes(choice.op)))
    assert {} == learned.varying
    assert ["refused"] == list(learned.seen[choice])
