"""Known deviations: entries hold what they must, lie beside their evidence, and explain no more than they say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from conformance.backends import BackendInfo
from conformance.backends.registry import BUILT_IN
from conformance.case.case import Case, Input
from conformance.case.files import read
from conformance.case.outcome import Raised
from conformance.case.place import END
from conformance.case.steps import Backward, Grad, Op
from conformance.compare.mismatch import IN_A_PASS, Mismatch
from conformance.compare.promise import Promise
from conformance.deviations import explain as known_module
from conformance.deviations.conditions import CONDITIONS, SCOPES
from conformance.deviations.conditions.registry import terms
from conformance.deviations.entries import Deviation, DeviationError, known
from conformance.deviations.explain import explain
from conformance.deviations.findings import evidence
from conformance.deviations.points import BY_ATTRIBUTE, PAIRS, VALUES
from conformance.judge.canary import Ailment
from conformance.judge.judgement import judged
from conformance.judge.verdict import Bucket
from conformance.ops import catalogue
from reference_impl import PADDLE, Category
from tests.conformance.engines import EXACT, TOTAL, answer

if TYPE_CHECKING:
    from pathlib import Path
from tests.conformance.described import CASES, INFO, write

KINDS = {"value", "absence", "shape", "dtype", "flag", "error", "mutation", "crash", "poison", "events", "unreadable", "law"}
CALLS = {"append_backward", "backward", "grad", "clear_grad", "custom", "detach", "edge", "in_place", "hook", "retain_grad", "toggle"}


CALLS |= {"end"}


ENTRY = Deviation("a", "torch", "==2.13.*", ("backward",), ("value",), "because", "a", where="grad")
FOUND = Mismatch(3, "value", "grad", "right", "wrong", "x.grad: 1 of 3 elements differ")


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
        (REASON, f'{REASON}\nwhere_is = "grad"', "mine: Object contains unknown field `where_is`; allowed are id, backend, versions, "),
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
        (KINDLY, 'kinds = ["valeu"]', "mine: kind 'valeu' is unknown; allowed are value, absence, "),
        (KINDLY, 'kinds = ["value", "harness"]', "mine: kind 'harness' is unknown; allowed are value, absence, "),
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


def raised_in_a_pass(**told: str) -> bool:
    """Say whether the entry for what the node of a second derivative raises explains it where the call was to be refused otherwise."""
    entry = next(e for e in known() if e.id == "paddle-max-pool-double")
    case = read(evidence(entry.finding))
    number = next(i for i, step in reversed([*enumerate(case.steps)]) if isinstance(step, Grad | Backward))
    detail = "Pool op grad grad only supports avgpool"
    found = Mismatch(number, "error", "step", "graph_freed", "unmapped", detail)
    return entry.matches(BackendInfo("paddle", "3.3.1", PADDLE), case, replace(found, **told))


@pytest.mark.parametrize("refusal", IN_A_PASS)
def test_what_a_node_raises_may_come_before_what_the_pass_is_refused_for(refusal: str) -> None:
    assert raised_in_a_pass(expected=refusal)


@pytest.mark.parametrize(
    "told",
    [{"expected": "seed_shape"}, {"actual": "not_implemented"}, {"actual": "computed"}, {"detail": "another message"}],
    ids=["refused before any node runs", "another refusal", "computed", "another message"],
)
def test_it_does_not_come_in_the_place_of(told: dict[str, str]) -> None:
    assert not raised_in_a_pass(**told)


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
