"""Known deviations: entries hold what they must, lie beside their evidence, and explain no more than they say."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from conformance.backends import BackendInfo
from conformance.backends.registry import BUILT_IN
from conformance.campaign.worker import judged
from conformance.case.case import Case, Input
from conformance.case.files import read
from conformance.case.outcome import Raised, Value
from conformance.case.place import END, StepNumber
from conformance.case.queries import label
from conformance.case.steps import Backward, Grad, Hook, InPlace, Op
from conformance.compare.mismatch import Mismatch
from conformance.compare.promise import Promise
from conformance.deviations import explain as known_module
from conformance.deviations.conditions import CONDITIONS, SCOPES, holds, in_words
from conformance.deviations.conditions.calls import moves_nothing
from conformance.deviations.conditions.registry import condition, terms
from conformance.deviations.entries import Deviation, DeviationError, known
from conformance.deviations.explain import explain
from conformance.deviations.findings import evidence, findings_folders
from conformance.deviations.points import BY_ATTRIBUTE, PAIRS, VALUES, Point
from conformance.judge.canary import Ailment
from conformance.judge.verdict import Bucket, judge
from conformance.ops import catalogue
from conformance.ops.dtypes import DTYPES
from reference_impl import TORCH, Category
from tests.conformance.engines import EXACT, TOTAL, answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CASES = [path for folder in findings_folders() for path in sorted(folder.glob("*/case.json"))]
KINDS = {"value", "absence", "shape", "dtype", "flag", "error", "mutation", "crash", "poison", "events", "unreadable", "law"}
CALLS = {"append_backward", "backward", "grad", "clear_grad", "custom", "detach", "edge", "in_place", "hook", "retain_grad", "toggle"}
CALLS |= {"end"}

ENTRY = Deviation("a", "torch", "==2.13.*", ("backward",), ("value",), "because", "a", where="grad")
FOUND = Mismatch(3, "value", "grad", "right", "wrong", "x.grad: 1 of 3 elements differ")
INFO = BackendInfo("torch", "2.13.0+cpu", TORCH)


def by_id(entry: Deviation) -> str:
    return entry.id


def test_no_two_entries_have_the_same_id() -> None:
    ids = [entry.id for entry in known()]
    assert sorted(set(ids)) == sorted(ids)


@pytest.mark.parametrize("entry", known(), ids=by_id)
def test_an_entry_has_a_finding_that_proves_it(entry: Deviation) -> None:
    folder = evidence(entry.finding).parent
    assert (True, True) == ((folder / "README.md").is_file(), (folder / "case.json").is_file())


@pytest.mark.parametrize("entry", known(), ids=by_id)
def test_the_case_of_a_finding_can_be_read(entry: Deviation) -> None:
    assert read(evidence(entry.finding)).steps


@pytest.mark.parametrize("entry", known(), ids=by_id)
def test_an_entry_names_what_exists(entry: Deviation) -> None:
    steps = CALLS | {f"op:{name}" for name in catalogue()}
    unknown = {*entry.steps} - steps, {*entry.kinds} - KINDS, {*entry.above} - {*catalogue()}, {entry.backend} - {*BUILT_IN}
    assert (set(), set(), set(), set()) == unknown


@pytest.mark.parametrize("entry", known(), ids=by_id)
def test_an_entry_is_narrow_and_says_why(entry: Deviation) -> None:
    assert entry.versions
    assert entry.kinds
    assert entry.reason


def test_every_condition_is_used() -> None:
    assert set(CONDITIONS) == {name for entry in known() for words in entry.when for _, name in terms(words)}


def test_every_scope_is_used() -> None:
    assert set(SCOPES) == {scope for entry in known() for words in entry.when for scope, _ in terms(words)}


def test_every_word_for_a_value_is_used() -> None:
    used = {p.value for entry in known() for p in (*entry.meets, *entry.lost) if not p.value.startswith("at ")}
    beside = {words for words in PAIRS if any(value.startswith(words) for value in used)}
    assert {*VALUES, *BY_ATTRIBUTE} == {value for value in used if not value.startswith((*PAIRS,))}
    assert set(PAIRS) == beside


def test_every_finding_is_a_known_deviation() -> None:
    assert {entry.finding for entry in known()} == {path.parent.name for path in CASES}


WRITTEN = """
[[deviation]]
id = "mine"
backend = "torch"
versions = "==2.13.*"
steps = ["grad"]
kinds = ["value"]
reason = "because"
signature = ["zeros"]
"""


def write(folder: Path, finding: str, text: str) -> None:
    """Write a finding with its entries."""
    (folder / finding).mkdir()
    (folder / finding / "case.json").write_text("{}")
    (folder / finding / "deviation.toml").write_text(text)


def refusal(folder: Path) -> str:
    """Return the words in which the entries of a folder are refused."""
    with pytest.raises(DeviationError) as refused:
        known(folder)
    return str(refused.value)


def test_an_entry_is_read_and_its_finding_is_its_folder(tmp_path: Path) -> None:
    write(tmp_path, "mine", WRITTEN)
    assert (Deviation("mine", "torch", "==2.13.*", ("grad",), ("value",), "because", "mine", signature=("zeros",)),) == known(tmp_path)


def test_a_finding_may_have_several_entries_which_are_read_by_finding_and_then_as_written(tmp_path: Path) -> None:
    for finding, ids in {"b": ("b", "b-static"), "a": ("a",)}.items():
        write(tmp_path, finding, "".join(WRITTEN.replace('"mine"', f'"{name}"') for name in ids))
    assert [("a", "a"), ("b", "b"), ("b-static", "b")] == [(entry.id, entry.finding) for entry in known(tmp_path)]


REASON, SIGNED, KINDLY = 'reason = "because"', 'signature = ["zeros"]', 'kinds = ["value"]'
TIMES = '{ op = "hardshrink", operand = "x", times = "beta", value = "far" }'
POINT = '{ op = "hardshrink", operand = "x", value = "at bound" }'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (REASON, f'{REASON}\nwhen = ["at: full_moon"]', "mine: condition 'full_moon' is unknown; allowed are "),
        (
            REASON,
            f'{REASON}\nwhen = ["after: create_graph"]',
            "mine: scope 'after' of condition 'create_graph' is unknown; allowed are at, ",
        ),
        (
            REASON,
            f'{REASON}\nwhen = ["create_graph"]',
            "mine: the condition 'create_graph' has no scope; allowed are at, before, until, ",
        ),
        (REASON, f'{REASON}\nwhen = ["at: hooks or before: tea"]', "mine: condition 'tea' is unknown; allowed are "),
        (
            REASON,
            f'{REASON}\nwhen = ["at: size_zero"]',
            "mine: condition 'size_zero' is about a case as a whole, so its scope is 'anywhere'",
        ),
        (REASON, f"{REASON}\nmeets = [{POINT.replace('at bound', 'round')}]", "mine: value 'round' is unknown; allowed are any, "),
        (REASON, f"{REASON}\nmeets = [{POINT.replace('at bound', 'at slope')}]", "'at NUMBER', 'at bound'"),
        (REASON, f"{REASON}\nmeets = [{POINT.replace('hardshrink', 'shrink')}]", "mine: the op 'shrink' of a special point is unknown"),
        (REASON, f"{REASON}\nmeets = [{POINT.replace('x', 'y')}]", "mine: operand 'y' of hardshrink is unknown; allowed are x"),
        (
            REASON,
            f"{REASON}\nmeets = [{TIMES}]",
            "attribute 'beta' of hardshrink is unknown; allowed are bound",
        ),
        (REASON, f"{REASON}\nmeets = [{POINT.replace('value', 'valour')}]", "unknown field `valour`"),
        ("==2.13.*", "two", "mine: Invalid specifier: 'two'"),
        (REASON, f'{REASON}\nmessage = "("', "mine: missing ), unterminated subpattern"),
        (REASON, "", "mine: Object missing required field `reason`"),
        (REASON, f'{REASON}\nwhere_is = "grad"', "mine: Object contains unknown field `where_is`"),
        (REASON, f'{REASON}\nfinding = "mine"', "mine: unknown field `finding`: the folder in which the entry lies says it, 'mine'"),
        (
            REASON,
            f"{REASON}\nunpromised = true",
            "mine: unknown field `unpromised`: the folder in which the entry lies says it",
        ),
        ('steps = ["grad"]', 'steps = "grad"', "mine: Expected `array`"),
        ('steps = ["grad"]', 'steps = ["gradient"]', "mine: step 'gradient' is unknown; allowed are append_backward, backward, "),
        ('steps = ["grad"]', 'steps = ["op:sine"]', "mine: step 'op:sine' is unknown; allowed are "),
        ('backend = "torch"', 'backend = "torhc"', "mine: backend 'torhc' is unknown; allowed are reference, torch, "),
        ("[[deviation]]", "[[deviation", "mine/deviation.toml: "),
        ("[[deviation]]", "[deviation]", "has deviation at the top; allowed are tables [[deviation]]"),
        (SIGNED, "", "mine: wrong values need either a signature or, where nobody can say what they are, the reason"),
        (SIGNED, f'{SIGNED}\ninstead = ["as if so"]', "mine: 'instead' 'as if so' is unknown; allowed are as if an operand"),
        (SIGNED, f'{SIGNED}\nonly = "a tensor"', "mine: 'only' 'a tensor' is unknown; allowed are a derivative, a result of several"),
        (SIGNED, 'signature = ["twos"]', "mine: signature 'twos' is unknown; allowed are zeros, ones, nan, "),
        (KINDLY, 'kinds = ["flag"]', "mine: a signature belongs to wrong values, their absence, shape"),
        (KINDLY, 'kinds = ["value", "crash"]', "mine: a crash needs a frame, a regular expression over where the process dies, or, "),
        (
            KINDLY,
            'kinds = ["value", "events"]',
            "mine: hooks that are called otherwise need either 'actual' (fewer, more, order), a message, ",
        ),
        (KINDLY, f'{KINDLY}\nframe = "Kernel"', "mine: a frame belongs to a crash, which is not among the kinds"),
        (KINDLY, 'kinds = ["value", "crash"]\nframe = "("', "mine: missing ), unterminated subpattern"),
        (SIGNED, f'{SIGNED}\nlink = "somewhere"', "mine: the link 'somewhere' does not begin with https://"),
    ],
)
def test_a_broken_file_is_refused_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    write(tmp_path, "mine", WRITTEN.replace(old, new))
    said = refusal(tmp_path)
    assert (True, True, 1) == (said.startswith("mine/deviation.toml: "), message in said, len(said.splitlines()))


def test_an_entry_beside_another_finding_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "mine", "")
    (tmp_path / "mine" / "deviation.toml").unlink()
    write(tmp_path, "other", WRITTEN)
    assert refusal(tmp_path) == "other/deviation.toml: mine: lies beside another finding; allowed is the folder of its own name, 'mine'"


def test_an_entry_without_evidence_beside_it_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "mine", WRITTEN)
    (tmp_path / "mine" / "case.json").unlink()
    assert refusal(tmp_path).startswith("mine/deviation.toml: lies in a folder without case.json; allowed is ")


def test_two_entries_of_one_id_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "mine", WRITTEN + WRITTEN)
    assert refusal(tmp_path).startswith("mine/deviation.toml: mine: another entry has this id")


def after(name: str, *others: str) -> str:
    """Write an entry that is asked after others."""
    return WRITTEN.replace('"mine"', f'"{name}"') + f"after = [{', '.join(map(repr, others))}]\n"


def test_an_entry_is_asked_after_those_that_it_names(tmp_path: Path) -> None:
    for name, others in {"a": ("c",), "b": (), "c": (), "d": ("a",)}.items():
        write(tmp_path, name, after(name, *others))
    assert [entry.id for entry in known(tmp_path)] == ["c", "a", "b", "d"]


@pytest.mark.parametrize(
    ("others", "message"),
    [
        (("d",), "a/deviation.toml: a: comes after 'd', which is unknown; allowed are the ids of entries"),
        (("b",), "a/deviation.toml: a: comes after itself, by way of a, b; allowed is an order"),
    ],
)
def test_an_order_that_there_is_not_is_refused(tmp_path: Path, others: tuple[str, ...], message: str) -> None:
    write(tmp_path, "a", after("a", *others))
    write(tmp_path, "b", after("b", "a"))
    assert refusal(tmp_path) == message


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "absent").endswith("absent: there is no such folder of findings")


def test_an_entry_explains_what_it_describes() -> None:
    assert ENTRY.matches(INFO, EXACT, FOUND)


@pytest.mark.parametrize(
    "found",
    [
        replace(FOUND, kind="absence"),
        replace(FOUND, where="result"),
        replace(FOUND, step=2),
        replace(FOUND, step=END),
    ],
    ids=["kind", "where", "call", "end"],
)
def test_an_entry_explains_nothing_else(found: Mismatch) -> None:
    assert not ENTRY.matches(INFO, EXACT, found)


def test_an_entry_does_not_hold_for_another_backend() -> None:
    assert not ENTRY.matches(replace(INFO, name="paddle"), EXACT, FOUND)


@pytest.mark.parametrize(
    ("version", "seen"),
    [("2.12.1", False), ("2.13.0", True), ("2.13.1", True), ("2.13.0+cpu", True), ("2.13.0.dev20261101", True), ("2.14.0", False)],
)
def test_an_entry_holds_in_every_release_and_says_in_which_it_was_seen(version: str, seen: bool) -> None:
    assert ENTRY.matches(replace(INFO, version=version), EXACT, FOUND)
    assert seen == ENTRY.was_seen_in(version)


@pytest.mark.parametrize(("version", "explains"), [("2.12.1", True), ("2.13.0", False), ("3.0.0rc1", False), ("nightly", True)])
def test_an_entry_explains_nothing_in_a_release_in_which_it_was_mended(version: str, explains: bool) -> None:
    entry = msgspec.structs.replace(ENTRY, mended=">=2.13")
    assert explains is entry.matches(replace(INFO, version=version), EXACT, FOUND)


NO_GRAD = Case((Input("x", (2,), (1.0, 2.0)),), (Op("reshape", ("x",), ("y",), {"shape": [2, 1]}, no_grad=True),))
FLAG = Mismatch(0, "flag", "result", "constant", "requires_grad", "y")


@pytest.mark.parametrize(("cpu", "shows"), [("AVX512", True), ("AVX2", False), ("", False)])
def test_an_entry_of_certain_vector_instructions_holds_only_with_them(cpu: str, shows: bool) -> None:
    entry = next(e for e in known() if e.id == "torch-gelu-largest")
    case = read(evidence(entry.finding))
    found = Mismatch(0, "value", "result 0", "3.4e+38", "inf", "")
    assert entry.matches(replace(INFO, cpu=cpu), case, found) is shows


def test_a_known_deviation_is_explained_by_its_entry() -> None:
    entry = explain(Promise(NO_GRAD, INFO), FLAG)
    assert entry is not None
    assert entry.id == "torch-view-in-no-grad"


def test_a_known_deviation_is_not_explained_where_its_condition_does_not_hold() -> None:
    recorded = Case(NO_GRAD.inputs, (Op("reshape", ("x",), ("y",), {"shape": [2, 1]}),))
    assert explain(Promise(recorded, INFO), FLAG) is None


def test_a_known_deviation_is_explained_in_releases_in_which_nobody_has_seen_it_yet() -> None:
    entry = explain(Promise(NO_GRAD, replace(INFO, version="3.0.0")), FLAG)
    assert entry is not None
    assert (True, False) == (entry.was_seen_in("2.13.0"), entry.was_seen_in("3.0.0"))


@pytest.mark.parametrize(("step", "expected"), [(0, "op:mul"), (2, "grad"), (3, "backward"), (END, "end")])
def test_a_step_is_called_by_its_op_or_call(step: StepNumber, expected: str) -> None:
    assert expected == label(EXACT, step)


@functools.cache
def cases_of_findings() -> tuple[Case, ...]:
    """Return the cases of all findings."""
    return tuple(map(read, CASES))


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_holds_for_some_steps_of_the_findings_and_not_for_others(name: str) -> None:
    def answers() -> Iterator[bool]:
        return (CONDITIONS[name].holds(case, number) for case in cases_of_findings() for number in range(len(case.steps)))

    assert (True, True) == (True in answers(), False in answers())  # nobody is asked any more where both were seen


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_does_not_hold_for_an_ordinary_case(name: str) -> None:
    ordinary = Case((Input("x", (), (1.0,)),), (Op("square", ("x",), ("y",)), Backward(("y",))), "exact")
    assert [False, False] == [CONDITIONS[name].holds(ordinary, number) for number in (0, 1)]


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_can_be_asked_where_steps_before_were_refused(name: str) -> None:
    unreached = Grad(("y",), ("w",), ("g",))
    steps = (
        Op("square", ("x",), ("y",)),
        unreached,
        InPlace("mul_scalar", "g", (), {"other": 2.0}),
        Grad(("y",), ("y",), ("h",), ("g",)),
    )
    case = Case((Input("x", (), (1.0,)), Input("w", (), (1.0,))), steps, "exact")
    assert {CONDITIONS[name].holds(case, number) for number in range(len(steps))} <= {True, False}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_says_what_it_asks(name: str) -> None:
    assert CONDITIONS[name].words[:1].islower()


@pytest.mark.parametrize(("hooked", "first"), [("w", True), ("y", False)])
def test_a_hook_that_is_called_before_an_instance_norm_is_differentiated_refuses_first(hooked: str, first: bool) -> None:
    ones = (Input("x", (1, 1, 2), (1.0, 2.0), differentiable=False), Input("w", (1,), (1.0,)), Input("b", (1,), (1.0,)))
    norm = Op("instance_norm", ("x", "w", "b"), ("y",), {"eps": 1e-3})
    hook = Hook(hooked, ("k",), "another_dtype")
    steps = (norm, hook, Op("sum", ("y",), ("t",), TOTAL), Backward(("t",)))
    assert CONDITIONS["instance_norm_first"].holds(Case(ones, steps), 3) is first


@pytest.mark.parametrize(("hooked", "first"), [("t", True), ("y", False)])
def test_a_hook_that_is_called_before_a_product_of_reflections_is_differentiated_refuses_first(hooked: str, first: bool) -> None:
    factors = (Input("v", (1, 1), (0.0,)), Input("t", (1,), (3.0,)))
    made = Op("householder_product", ("v", "t"), ("y",))
    steps = (made, Hook(hooked, ("k",), "another_dtype"), Op("sum", ("y",), ("z",), TOTAL), Backward(("z",)))
    assert CONDITIONS["reflections_first"].holds(Case(factors, steps), 3) is first


@pytest.mark.parametrize(
    ("target", "reduction", "written"),
    [([0, 1], "sum", True), ([[0], [1]], "mean", True), ([1, 0], "sum", False), ([0, 1], "none", False)],
)
def test_ignored_targets_are_written_where_a_result_has_no_place_for_them(target: list[Any], reduction: str, written: bool) -> None:
    attrs = {"target": target, "weight": None, "ignore_index": 1, "reduction": reduction}
    shape = (2, 2, *np.shape(target)[1:])
    case = Case((Input("x", shape, (1.0,) * 4),), (Op("nll_loss", ("x",), ("y",), attrs),))
    assert CONDITIONS["reduced_with_ignored_targets"].holds(case, 0) is written


def test_an_entry_is_told_with_what_its_conditions_ask() -> None:
    assert in_words("before: hooks or at: batched") == "before: the step registers a hook or at: a `grad` call is batched"


def test_two_conditions_of_one_name_are_refused() -> None:
    def batched(case: Case, number: int) -> bool:
        return bool(case) and number > 0

    with pytest.raises(ValueError, match="there are two conditions of the name 'batched'"):
        condition(batched)


X = Input("x", (2,), (1.0, 2.0))
DERIVED = Case(
    (X,),
    (
        Op("square", ("x",), ("y",)),
        Op("sum", ("y",), ("z",), TOTAL),
        Grad(("z",), ("x",), ("g",), create_graph=True),
        Op("sum", ("g",), ("s",), TOTAL),
    ),
    "exact",
)
HOLDS_AT = {"at": [2, END], "before": [3, END], "until": [2, 3, END], "anywhere": [0, 1, 2, 3, END]}


@pytest.mark.parametrize("scope", SCOPES)
def test_a_scope_says_for_which_steps_a_condition_is_asked(scope: str) -> None:
    numbers = (*range(len(DERIVED.steps)), END)
    assert HOLDS_AT[scope] == [number for number in numbers if holds(f"{scope}: create_graph", DERIVED, number)]


def test_one_of_two_conditions_is_enough() -> None:
    assert [False, True] == [holds("at: batched or at: create_graph", DERIVED, number) for number in (1, 2)]


@pytest.mark.parametrize(("words", "bucket"), [("at: create_graph", Bucket.KNOWN_DEVIATION), ("before: create_graph", Bucket.DIVERGED)])
def test_an_engine_that_is_wrong_in_the_way_of_an_entry_but_out_of_its_scope_is_not_excused(
    monkeypatch: pytest.MonkeyPatch, words: str, bucket: Bucket
) -> None:
    entry = Deviation("a", "torch", "==2.13.*", ("grad",), ("value",), "because", "a", when=(words,), signature=("zeros",))
    monkeypatch.setattr(known_module, "about", lambda *_: (entry,))
    case = Case(DERIVED.inputs, DERIVED.steps[:3], "exact")
    actual = answer(case)
    actual.observations[2].values[0].array[...] = 0.0  # type: ignore[union-attr]
    assert bucket == judge(Promise(case, INFO), actual).bucket


def meeting(op: str, data: tuple[float, ...], attrs: dict[str, object] | None = None) -> Case:
    """Make a case that calls an op of one operand."""
    return Case((Input("x", (len(data),), data),), (Op(op, ("x",), ("y",), attrs or {}), Op("sum", ("y",), ("z",), TOTAL)))


TINY, LARGEST = 1.1754944e-38, 3.4028235e38
MET = {
    "zero": (0.0, 1.0),
    "nonpositive": (-1.0, 1.0),
    "nan": ("nan", 1.0),
    "infinite": ("-inf", LARGEST),
    "plus infinity": ("inf", "-inf"),
    "not finite": ("nan", LARGEST),
    "subnormal": (TINY / 2, TINY),
    "nearly subnormal": (TINY, 8 * TINY),
    "beyond one": (-1.5, 1.0),
    "nearer to 0 than 1": (0.5, -1.0),
    "below -4, of single precision": (-4.5, -4.0),
    "of infinite exponential": (-89.0, 88.0),
    "far": (-65.0, 64.0),
    "minus zero or minus infinity": (-0.0, 0.0),
    "nearly largest": (LARGEST / 2, LARGEST / 8),
    "of infinite square": (2e19, 1e19),
    "below, with an infinite square of e^-x": (-45.0, -44.0),
    "of infinite reciprocal cube": (1e-13, 1e-12),
    "minus infinity, among two or more": ("-inf", "inf"),
}
AMONG_EIGHT = "plus infinity, among eight or more of single precision"


@pytest.mark.parametrize("value", MET)
def test_an_operand_meets_a_value_or_not(value: str) -> None:
    point = Point("relu", "x", value)
    assert [True, False] == [point.met(meeting("relu", (1.0, number)), END) for number in MET[value]]


def test_a_product_overflows_along_its_axis_and_not_across_it() -> None:
    along, across = (Case((Input("x", (2, 2), (1e30, 1e30, 1.0, 1.0)),), (Op("prod", ("x",), ("y",), {"axis": a}),)) for a in (1, 0))
    point = Point("prod", "x", "of overflowing product")
    assert [True, False] == [point.met(case, END) for case in (along, across)]


def norms_of(p: float, axis: int) -> Case:
    attrs = {"p": p, "axis": axis, "keepdims": False}
    return Case((Input("x", (2, 2), (0.0, 0.0, 1.0, 2.0)),), (Op("vector_norm", ("x",), ("y",), attrs),))


@pytest.mark.parametrize(("axis", "met"), [(1, True), (0, False)])
def test_a_norm_is_that_of_zeros_along_its_axis_and_not_across_it(axis: int, met: bool) -> None:
    assert met == Point("vector_norm", "x", "among zeros alone").met(norms_of(3.0, axis), END)
    assert met == holds("until: norm_of_zeros_of_another_order", norms_of(3.0, axis), 0)


@pytest.mark.parametrize(("axis", "met"), [(0, True), (1, False)])
def test_a_slice_of_zeros_lies_at_one_place_of_its_axis(axis: int, met: bool) -> None:
    attrs = {"p": 2.0, "axis": axis, "largest": 1.0}
    case = Case((Input("x", (2, 2), (0.0, 0.0, 1.0, 2.0)),), (Op("renorm", ("x",), ("y",), attrs),))
    assert met == Point("renorm", "x", "in a slice of zeros").met(case, END)


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_the_gradient_of_a_norm_of_order_1_or_2_is_not_masked_behind_a_division(p: float) -> None:
    assert not holds("until: norm_of_zeros_of_another_order", norms_of(p, 1), 0)


OF_MATRICES = ("in a small permuted diagonal with equal singular values", "in another small matrix with equal singular values")
"""Words for what all elements of a matrix are together."""


def test_every_word_for_a_value_is_met_and_missed() -> None:
    assert {*VALUES} - {"any", "in a matrix that is halved", *OF_MATRICES, AMONG_EIGHT} == set(MET)


@pytest.mark.parametrize(("length", "met"), [(8, True), (7, False)])
def test_infinity_is_met_among_eight_numbers_and_not_among_seven(length: int, met: bool) -> None:
    assert met == Point("relu", "x", AMONG_EIGHT).met(meeting("relu", ("inf",) * length), END)


@pytest.mark.parametrize("word", VALUES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_word_for_a_value_has_an_answer_for_every_number_that_an_op_may_be_given(word: str, dtype: str) -> None:
    x = np.eye(2, dtype=dtype)
    with np.errstate(all="ignore"):
        assert x.shape == np.shape(VALUES[word](x))


ONE_ROW = {"size": [1, 1, 1, 2], "align_corners": True}
DIVISION = Point("div", "x", "of a quotient beyond the range by y")


@pytest.mark.parametrize(
    ("point", "step", "operands", "expected"),
    [
        (
            Point("normalize", "x", "of no length"),
            {"axis": 1, "eps": 1e-3},
            ([[0.0, 0.0], [0.0, 1.0]],),
            [[True, True], [False, False]],
        ),
        (Point("celu", "x", "far in the unit alpha"), {"alpha": 0.25}, ([15.0, 17.0, -17.0],), [False, True, True]),
        (Point("affine_grid", "theta", "for an axis of one place"), ONE_ROW, (np.ones((1, 2, 3)),), [[[False, True, False]] * 2]),
        (Point("relu", "x", "any"), {}, ([0.0, 1.0],), [True, True]),
        (
            Point("matrix_exp", "x", "in a matrix that is halved"),
            {},
            ([[[8.0, 0.0], [0.0, 0.0]], [[7.0, 0.0], [0.0, 0.0]]],),
            [[[True] * 2] * 2, [[False] * 2] * 2],
        ),
        (
            Point("det", "x", OF_MATRICES[0]),
            {},
            ([[[0.0, 2e-3], [-2e-3, 0.0]], [[2e-3, 0.0], [0.0, 1e-3]], [[2e-3, 2e-3], [-2e-3, 2e-3]], [[2.0, 0.0], [0.0, 2.0]]],),
            [[[True] * 2] * 2, *[[[False] * 2] * 2] * 3],
        ),
        (
            Point("det", "x", OF_MATRICES[1]),
            {},
            ([[[2e-3, 0.0], [0.0, 2e-3]], [[1e-3, 1e-3], [-1e-3, 1e-3]], [[1e-3, 2e-3], [1e-3, 1e-3]]],),
            [[[False] * 2] * 2, [[True] * 2] * 2, [[False] * 2] * 2],
        ),
        (DIVISION, {}, ([1.0, 1e38], [1e-10]), [False, True]),
        (DIVISION, {}, ([1.0, 1.0], [1e-30, 1.0]), [True, False]),
    ],
    ids=lambda found: found.op if isinstance(found, Point) else "",
)
def test_a_point_is_at_the_elements_that_its_words_are_about(point: Point, step: Any, operands: Any, expected: Any) -> None:
    given = [np.asarray(operand, np.float32) for operand in operands]
    assert expected == np.broadcast_to(point.here(given, step), given[0].shape).tolist()


@pytest.mark.parametrize(
    ("point", "met", "missed"),
    [
        (Point("hardshrink", "x", "at bound"), 0.5, -0.5),
        (Point("hardshrink", "x", "at -bound"), -0.5, 0.5),
        (Point("softplus", "x", "at 20", times="beta"), 10.0, 20.0),
    ],
)
def test_a_value_may_be_that_of_an_attribute_or_a_number(point: Point, met: float, missed: float) -> None:
    attrs: dict[str, object] = {"bound": 0.5} if point.op == "hardshrink" else {"beta": 2.0}
    assert [True, False] == [point.met(meeting(point.op, (number,), attrs), END) for number in (met, missed)]


def test_a_point_is_met_from_the_call_of_its_op_on() -> None:
    case = Case((X,), (Op("square", ("x",), ("y",)), Op("relu", ("x",), ("z",)), Op("square", ("z",), ("s",))))
    assert [False, True, True, True] == [Point("relu", "x", "at 2").met(case, number) for number in (0, 1, 2, END)]


@pytest.mark.parametrize("written", ["x", "v"], ids=["itself", "through a view"])
def test_a_point_is_met_by_what_was_written_before_and_not_by_what_is_written_later(written: str) -> None:
    view = Op("getitem_slice", ("x",), ("v",), {"key": [[0, 2, 1]]})
    write = InPlace("mul_scalar", written, (), {"other": 2.0}, no_grad=True)
    steps = (view, Op("relu", ("x",), ("a",)), write, Op("relu", ("x",), ("b",)))
    case = Case((Input("x", (2,), (1.0, 3.0), differentiable=False),), steps, "exact")
    assert [True, False] == [Point("relu", "x", value).met(case, 1) for value in ("at 1", "at 2")]
    assert [True, True] == [Point("relu", "x", value).met(case, 3) for value in ("at 1", "at 2")]


def test_a_point_of_a_second_operand_is_met_there_alone() -> None:
    case = Case((X, Input("e", (2,), (0.0, 1.0))), (Op("pow", ("x", "e"), ("y",)),))
    assert [True, False] == [Point("pow", operand, "zero").met(case, 0) for operand in ("y", "x")]


@pytest.mark.parametrize(
    ("op", "attrs", "moves"),
    [
        ("reshape", {"shape": [2, 2]}, False),
        ("reshape", {"shape": [4]}, True),
        ("view", {"shape": [2, 2]}, True),
        ("tile", {"repeats": [1, 1]}, True),
        ("expand", {"shape": [2, 2]}, True),
        ("rot90", {"k": 4, "axes": [0, 1]}, False),
        ("rot90", {"k": 2, "axes": [0, 1]}, True),
    ],
)
def test_paddle_returns_the_operand_of_few_ops_that_move_nothing(op: str, attrs: dict[str, Any], moves: bool) -> None:
    case = Case((Input("x", (2, 2), (1.0, 2.0, 3.0, 4.0)),), (Op(op, ("x",), ("y",), attrs),))
    assert moves is not moves_nothing(case, 0)


@pytest.mark.parametrize("op", ["expand", "broadcast_to"])
def test_paddle_returns_what_is_expanded_to_no_axes(op: str) -> None:
    assert moves_nothing(Case((Input("x", (), (1.0,)),), (Op(op, ("x",), ("y",), {"shape": []}),)), 0)


def test_what_a_hook_returned_is_changed_as_a_seed_is() -> None:
    inputs = (Input("x", (2,), (1.0, 2.0)), *(Input(n, (2,), (1.0, 1.0), differentiable=False) for n in "rs"))
    steps = (Op("clone", ("x",), ("y",)), Hook("y", ("k",), "tensor", tensor_returned="r"))
    case = Case(inputs, (*steps, Backward(("y",), ("s",), retain_graph=True), Backward(("y",), ("s",))), "exact")
    assert judge(Promise(case, INFO), replace(answer(case), mutated=("r",))).deviation == "torch-seed-mutated"


@pytest.mark.parametrize(
    ("held", "bucket"),
    [((3.0, 4.0), Bucket.KNOWN_DEVIATION), ((2.0, 4.0), Bucket.DIVERGED)],
    ids=["what the gradient accumulates", "twice what it was"],
)
def test_a_changed_seed_holds_what_arrived_where_it_was_handed_on(held: tuple[float, ...], bucket: Bucket) -> None:
    inputs = Input("x", (2,), (1.0, 2.0)), *(Input(n, (2,), v, differentiable=False) for n, v in (("s", (1.0, 2.0)), ("t", (2.0, 2.0))))
    twice = Backward(("y",), ("s",), retain_graph=True), Backward(("y",), ("t",))
    case = Case(inputs, (Op("clone", ("x",), ("y",)), *twice), "exact")
    changed = Value(np.array(held, np.float32), requires_grad=False)
    assert bucket is judge(Promise(case, INFO), replace(answer(case), mutated=("s",), changed=(changed,))).bucket


@pytest.mark.parametrize("finding", ["torch-seed-mutated", "paddle-seed-mutated"])
def test_an_entry_on_changed_seeds_says_what_they_hold(finding: str) -> None:
    (entry,) = (one for one in known() if one.id == finding)
    assert entry.signature == ("what arrived where it was handed on",)


def test_that_products_are_several_nodes_is_no_reason_for_a_graph_that_a_whole_pass_freed_to_run_again() -> None:
    inputs = Input("x", (1, 2), (1.0, 2.0)), Input("w", (2, 1), (3.0, 4.0)), Input("s", (1, 1), (1.0,), differentiable=False)
    product, again = Op("matmul", ("x", "w"), ("y",)), Grad(("y",), ("x",), ("g",), ("s",))
    freed, kept = (Case(inputs, (product, Backward(("y",), ("s",), flag), again), "exact") for flag in (False, True))
    actual = replace(answer(freed), observations=[*answer(freed).observations[:-1], answer(kept).observations[-1]])
    assert judge(Promise(freed, INFO), actual).bucket is Bucket.DIVERGED


def test_a_seed_that_is_a_view_is_changed_in_the_memory_of_another() -> None:
    inputs = (Input("x", (2, 1), (1.0, 2.0)), Input("s", (1, 2), (1.0, 1.0), differentiable=False))
    steps = (Op("clone", ("x",), ("y",)), Op("transpose", ("s",), ("t",), {"axis0": 0, "axis1": 1}))
    twice = (Backward(("y",), ("t",), retain_graph=True), Backward(("y",), ("t",)))
    case = Case(inputs, (*steps, *twice), "exact")
    assert judge(Promise(case, INFO), replace(answer(case), mutated=("s",))).deviation == "torch-seed-mutated"


def test_a_seed_behind_which_something_is_computed_is_not_changed() -> None:
    inputs = (Input("x", (2,), (1.0, 2.0)), Input("s", (2,), (1.0, 1.0), differentiable=False))
    twice = (Backward(("y",), ("s",), retain_graph=True), Backward(("y",), ("s",)))
    case = Case(inputs, (Op("square", ("x",), ("y",)), *twice), "exact")
    assert judge(Promise(case, INFO), replace(answer(case), mutated=("s",))).bucket is Bucket.DIVERGED


SEEDED = (Op("clone", ("x",), ("y",)), Grad(("y",), ("x",), ("g",), ("s",), retain_graph=True))
TWICE = (Backward(("y",), ("s",), retain_graph=True), Backward(("y",), ("s",)))


@pytest.mark.parametrize(
    ("steps", "name", "bucket"),
    [
        ((*SEEDED, *TWICE), "s", Bucket.KNOWN_DEVIATION),
        (SEEDED, "s", Bucket.DIVERGED),
        ((*SEEDED, *TWICE), "x", Bucket.DIVERGED),
    ],
    ids=["a seed after a second pass", "a seed of one pass", "another tensor"],
)
def test_torch_may_change_a_seed_only_where_a_later_pass_adds_to_the_gradient_that_aliases_it(
    steps: tuple[Grad | Backward | Op, ...], name: str, bucket: Bucket
) -> None:
    inputs = (Input("x", (2,), (1.0, 2.0)), Input("s", (2,), (1.0, 1.0), differentiable=False))
    case = Case(inputs, steps, "exact")
    assert bucket is judge(Promise(case, INFO), replace(answer(case), mutated=(name,))).bucket


REFUSED = Case(
    (Input("x", (2,), (1.0, 2.0)),),
    (Op("mul", ("x", "x"), ("y",)), Op("sum", ("y",), ("z",), TOTAL), Backward(("z",)), Backward(("z",))),
    "exact",
)


@pytest.mark.parametrize("flagged", [False, True], ids=["all is right", "a known deviation shows"])
def test_a_process_that_a_refusal_broke_is_a_finding_whatever_else_the_case_shows(
    monkeypatch: pytest.MonkeyPatch, flagged: bool
) -> None:
    known_flag = Deviation("a", INFO.name, "==2.13.*", ("op:mul",), ("flag",), "because", "a")
    monkeypatch.setattr(known_module, "about", lambda *_: (known_flag,))
    actual = answer(REFUSED)
    if flagged:
        actual.observations[0].values[0].requires_grad = False  # type: ignore[union-attr]
    verdict = judged(Promise(REFUSED, INFO), actual, Ailment("mul", "arithmetic", ""))
    assert verdict.mismatch is not None
    assert (Bucket.DIVERGED, "poison", 3) == (verdict.bucket, verdict.mismatch.kind, verdict.mismatch.step)


def test_the_refusal_that_broke_a_process_is_the_one_that_was_not_promised_so(monkeypatch: pytest.MonkeyPatch) -> None:
    known_refusal = Deviation("a", INFO.name, "==2.13.*", ("backward",), ("error",), "because", "a", actual=("unmapped",))
    monkeypatch.setattr(known_module, "about", lambda *_: (known_refusal,))
    case = Case(REFUSED.inputs, (*REFUSED.steps, Backward(("z",))), "exact")
    actual = answer(case)
    actual.observations[4] = replace(actual.observations[4], category="unmapped")  # type: ignore[type-var]
    verdict = judged(Promise(case, INFO), actual, Ailment("mul", "arithmetic", ""))
    assert verdict.mismatch is not None
    assert ("poison", 4) == (verdict.mismatch.kind, verdict.mismatch.step)


@pytest.mark.parametrize(("breaks", "bucket"), [("backward", Bucket.KNOWN_DEVIATION), ("retain_grad", Bucket.DIVERGED)])
def test_of_several_refusals_that_were_not_promised_one_that_is_known_to_break_a_process_did_it(
    monkeypatch: pytest.MonkeyPatch, breaks: str, bucket: Bucket
) -> None:
    refusals = Deviation("a", INFO.name, "==2.13.*", ("op:sum", "backward"), ("error",), "because", "a", actual=("unmapped",))
    breaking = Deviation("b", INFO.name, "==2.13.*", (breaks,), ("poison",), "because", "b")
    monkeypatch.setattr(known_module, "about", lambda *_: (refusals, breaking))
    steps = (
        Op("mul", ("x", "x"), ("y",)),
        Op("sum", ("y",), ("z",), TOTAL),
        Grad(("y",), ("x",), ("g",), ("x",)),
        Backward(("x",), ("x",)),
    )
    case = Case(REFUSED.inputs, steps, "exact")
    actual = answer(case)
    actual.observations[1] = actual.observations[3] = Raised(Category.UNMAPPED, "", actual.observations[3].state)  # type: ignore[union-attr]
    verdict = judged(Promise(case, INFO), actual, Ailment("mul", "arithmetic", ""))
    assert verdict.mismatch is not None
    assert (bucket, "poison") == (verdict.bucket, verdict.mismatch.kind)
