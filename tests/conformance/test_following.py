"""Where nobody promises anything, what an engine did is followed; and no open choice explains what is wrong."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends import BackendInfo, open_backend
from conformance.backends.reference import reference
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input
from conformance.case.files import read
from conformance.case.outcome import Computed, Value
from conformance.case.steps import Backward, Grad, InPlace, Op, RetainGrad
from conformance.compare.following import asked, decisive
from conformance.compare.promise import Promise
from conformance.deviations import explain as explaining
from conformance.deviations.entries import Deviation
from conformance.deviations.findings import evidence
from conformance.generate.probes import probes
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.verdict import CONVENTION, Bucket, judge
from conformance.mutants.mutant import WrongEngine, patch
from reference_impl import PADDLE, PADDLE_STATIC, TORCH, Tensor
from reference_impl.dialects.conventions import Conventions, Kind, OpenChoice
from reference_impl.reverse import engine as reverse
from tests.conformance.engines import TOTAL

if TYPE_CHECKING:
    from conformance.case.outcome import Outcome
    from conformance.judge.verdict import Verdict
    from reference_impl import Dialect

X = Input("x", (3,), (0.5, 1.5, -2.0))
W = Input("w", (3,), (1.0, 2.0, 3.0))
TWICE = {"other": 2.0}


def differentiated(*ops: Op, last: str, upto: int = 2) -> Case:
    """The derivatives of a sum in x, up to an order, each of the sum of the one before."""
    steps: list[Any] = [*ops, Op("sum", (last,), ("z0",), TOTAL)]
    for order in range(1, upto + 1):
        steps.append(Grad((f"z{order - 1}",), ("x",), (f"g{order}",), create_graph=order < upto, allow_unused=True))
        steps += [Op("sum", (f"g{order}",), (f"z{order}",), TOTAL)] if order < upto else []
    return Case((X, W), tuple(steps))


SIN = differentiated(Op("sin", ("x",), ("y",)), last="y")
SCALED = differentiated(Op("mul_scalar", ("x",), ("y",), TWICE), last="y")
ABS = differentiated(Op("square", ("x",), ("h",)), Op("abs", ("h",), ("y",)), Op("mul", ("y", "w"), ("v",)), last="v")
PIECEWISE = differentiated(Op("abs", ("x",), ("y",)), last="y")
FREED = Case((X,), (Op("sin", ("x",), ("y",)), Op("sum", ("y",), ("z",), TOTAL), Backward(("z",)), Backward(("z",))))
BEHIND = Case(
    (X,),
    (
        Op("sin", ("x",), ("y",)),
        Grad(("y",), ("x",), ("g",), ("x",), create_graph=True),
        Backward(("y",), ("x",)),
        Grad(("g",), ("x",), ("h",), ("x",)),
    ),
)
"""The graph of the second derivative stands, that of the first was freed."""

C = Input("c", (3,), (1.0, 2.0, 3.0), differentiable=False)
PRODUCT = Op("mul", ("x", "c"), ("y",)), Op("sum", ("y",), ("z",), TOTAL)
CONSTANT = Case((X, C), (*PRODUCT, Grad(("z",), ("x", "c"), ("g", "h"), allow_unused=True)))
PRECISE = Case((X, C, Input("s", (), (2.0,), "float64", differentiable=False)), (*PRODUCT, Grad(("z",), ("x",), ("g",), ("s",))))


def written(op: str) -> Case:
    """The second operand of an op is a constant that is written to before the pass."""
    steps = (Op(op, ("x", "c"), ("y",)), Op("sum", ("y",), ("z",), TOTAL), InPlace("mul_scalar", "c", (), TWICE), Backward(("z",)))
    return Case((X, C), steps)


CHOICES: dict[str, tuple[Case, OpenChoice, str]] = {
    "no second derivative": (SIN, OpenChoice(Kind.OFFERED, "sin", "order 2"), "refused"),
    "zeros for what vanishes": (SCALED, OpenChoice(Kind.CONNECTED, "mul_scalar", "x alone"), "linked"),
    "nothing for what vanishes": (PIECEWISE, OpenChoice(Kind.CONNECTED, "abs", "x alone"), "cut"),
    "a derivative is made of a result, of which the graph was freed": (BEHIND, OpenChoice(Kind.CONNECTED, "sin", "out"), "linked"),
    "a freed graph computes": (FREED, OpenChoice(Kind.FREED, "sin", "x"), "computed"),
    "a write is minded": (written("add"), OpenChoice(Kind.KEPT, "add", "x y"), "refused"),
    "a write is not minded": (written("mul"), OpenChoice(Kind.KEPT, "mul", "x y"), "computed"),
    "an input that is a constant is not minded": (CONSTANT, OpenChoice(Kind.ALLOWED, "input", "that requires no gradient"), "computed"),
    "a seed of another precision is minded": (PRECISE, OpenChoice(Kind.ALLOWED, "seed", "of another precision"), "refused"),
}


def deciding(options: dict[OpenChoice, str], dialect: Dialect = TORCH) -> Dialect:
    return replace(dialect, conventions=dialect.conventions.but(options))


def judged(case: Case, behaves: Dialect, claims: Dialect = TORCH, version: str = "1.0") -> Verdict:
    """Judge the reference that decides its choices so, beside what is expected of a dialect."""
    actual = reference(behaves, claims.not_offered).run(case)
    return judge(Promise(case, BackendInfo("other", version, claims, claims.not_offered)), actual)


def wrong(case: Case, fault: Any, claims: Dialect = TORCH) -> Verdict:
    engine = WrongEngine("wrong", fault, claims)
    return judge(Promise(case, engine.info), engine.run(case))


def decided(name: str) -> tuple[Case, OpenChoice, dict[OpenChoice, str]]:
    case, choice, option = CHOICES[name]
    return case, choice, {choice: option}


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_that_is_decided_otherwise_is_followed(name: str) -> None:
    case, _, options = decided(name)
    verdict = judged(case, deciding(options))
    assert (options, True) == (verdict.followed, verdict.bucket in (Bucket.AGREED, Bucket.SAME_ERROR))


@pytest.mark.parametrize("name", CHOICES)
def test_what_is_decided_as_expected_is_not_followed(name: str) -> None:
    case, _, options = decided(name)
    dialect = deciding(options)
    assert {} == judged(case, dialect, dialect).followed


def test_the_rest_of_a_script_is_predicted_under_what_was_followed() -> None:
    again = Case(SCALED.inputs, (*SCALED.steps, Op("sum", ("g2",), ("s",), TOTAL)))
    choice = CHOICES["zeros for what vanishes"][1]
    verdict = judged(again, deciding({choice: "linked"}))
    assert (Bucket.AGREED, len(again.steps)) == (verdict.bucket, len(verdict.steps))


def test_a_node_that_is_several_here_computes_behind_the_first_of_them_too() -> None:
    case = Case(
        (Input("x", (1, 1, 2, 1), (1.0, 2.0)), Input("s", (1, 1, 1, 1), (1.0,))),
        (
            Op("avg_pool2d_exclusive", ("x",), ("y",), {"kernel": [2, 1], "padding": [0, 0], "stride": [2, 2]}),
            Grad(("y",), ("x",), ("g",), ("s",), create_graph=True),
            Op("sum", ("g",), ("z",), TOTAL),
            Backward(("z",)),
            Backward(("z",)),
        ),
    )
    bare = replace(TORCH, conventions=Conventions())
    parts = ("index_add_rows g", "div x")
    options = {OpenChoice(Kind.FREED, "avg_pool2d_exclusive", f"order 2 {part}"): "computed" for part in parts}
    assert options == judged(case, deciding(options, bare), bare).followed


def test_two_connections_explain_what_neither_does_alone() -> None:
    """A derivative depends on a seed beside its own if the first one depends on its result, and what is made of that on the seed."""
    leaves = tuple(Input(name, (1, 1), (2.0,)) for name in "xystu")
    steps = (
        Op("mm", ("x", "y"), ("z",)),
        Grad(("z",), ("x", "y"), ("g", "h"), ("s",), create_graph=True),
        Grad(("h", "g"), ("x",), ("k",), ("t", "u"), create_graph=True),
        Grad(("k",), ("u", "t"), ("l", "m"), allow_unused=True),
    )
    linked = {OpenChoice(Kind.CONNECTED, "mm", about): "linked" for about in ("out", "order 2 link g")}
    verdict = judged(Case(leaves, steps), deciding(linked, PADDLE_STATIC), PADDLE_STATIC)
    assert (Bucket.AGREED, True) == (verdict.bucket, len(verdict.followed) > 1)


def test_a_choice_that_is_decided_both_ways_in_one_script_diverges() -> None:
    case = Case(SIN.inputs, (*SIN.steps[:4], *(Grad(("z1",), ("x",), (f"again{i}",), retain_graph=True) for i in (1, 2))))
    refusing = deciding({OpenChoice(Kind.OFFERED, "sin", "order 2"): "refused"})
    right, refused = (reference(dialect, TORCH.not_offered).run(case) for dialect in (TORCH, refusing))
    mixed = replace(right, observations=(*right.observations[:-1], refused.observations[-1]))
    verdict = judge(Promise(case, BackendInfo("other", "1.0", TORCH, TORCH.not_offered)), mixed)
    assert Bucket.DIVERGED is verdict.bucket


# What is wrong is explained by no choice.

_gradients = reverse._gradients


def _zeros(*given: Any) -> list[Any]:
    found = _gradients(*given)
    return [g if g is None else Tensor(np.zeros_like(g.array), requires_grad=g.requires_grad, node=g.node, slot=g.slot) for g in found]


def _nothing(*given: Any) -> list[Any]:
    return [None] * len(_gradients(*given))


@pytest.mark.parametrize("lie", [_zeros, _nothing], ids=["zeros", "nothing"])
@pytest.mark.parametrize("case", [SIN, ABS], ids=["sin", "abs"])
def test_a_gradient_that_does_not_vanish_is_not_explained(case: Case, lie: Any) -> None:
    verdict = wrong(case, patch((reverse, "_gradients", lie)), replace(TORCH, conventions=Conventions()))
    assert Bucket.DIVERGED is verdict.bucket


def test_a_second_derivative_that_is_lost_is_not_explained() -> None:
    losing = deciding({OpenChoice(Kind.CONNECTED, "sin", "x alone"): "cut"})
    assert Bucket.DIVERGED is judged(SIN, losing).bucket


def test_a_derivative_that_vanishes_at_these_inputs_alone_is_not_explained() -> None:
    here = Case((Input("x", (3,), (0.0, 0.0, 0.0)), W), SIN.steps)
    losing = deciding({OpenChoice(Kind.CONNECTED, "sin", "x alone"): "cut"})
    assert Bucket.DIVERGED is judged(here, losing).bucket


def test_a_refusal_of_another_kind_than_the_choice_names_is_not_explained() -> None:
    case, _, options = decided("no second derivative")
    actual = reference(deciding(options), TORCH.not_offered).run(case)
    seen = [replace(o, category="graph_freed") if getattr(o, "category", None) == "not_implemented" else o for o in actual.observations]
    verdict = judge(Promise(case, BackendInfo("other", "1.0", TORCH, TORCH.not_offered)), replace(actual, observations=tuple(seen)))
    assert Bucket.DIVERGED is verdict.bucket


REASON = Deviation("a", "other", "==1.*", ("grad",), ("error",), "because", "a", expected=("computed",), actual=("unmapped",))


@pytest.mark.parametrize(("known", "bucket"), [((REASON,), Bucket.KNOWN_DEVIATION), ((), Bucket.DIVERGED)], ids=["known", "unknown"])
def test_what_is_refused_for_another_reason_is_not_offered_for_all_that_shows(
    known: tuple[Deviation, ...], bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explaining, "about", lambda *_: known)
    case, choice, options = decided("no second derivative")
    claims = replace(TORCH, conventions=Conventions(options, release=("torch", "1.0")))
    actual = reference(claims, TORCH.not_offered).run(case)
    seen = [replace(o, category="unmapped") if getattr(o, "category", None) == "not_implemented" else o for o in actual.observations]
    verdict = judge(Promise(case, BackendInfo("other", "1.0", claims, claims.not_offered)), replace(actual, observations=seen))
    assert (bucket, {}) == (verdict.bucket, verdict.followed)
    assert choice not in verdict.observed


@pytest.mark.frameworks
def test_no_choice_explains_a_number_by_making_it_a_consequence_of_what_is_known() -> None:
    """In another release a graph of more zeros would do: a known deviation of `backward` shadows them, and whatever `s8.grad` is."""
    engine, case = open_backend("paddle"), read(evidence("paddle-seed-flag-changed"))
    info, actual = replace(engine.info, version="0.0"), engine.run(case)
    second = [number for number, step in enumerate(case.steps) if isinstance(step, Backward)][1]
    seen, filled = actual.observations[second], case.watched.index("s8")
    assert isinstance(seen, Computed)
    assert seen.state is not None
    state = [Value(value.array + 1, value.requires_grad) if i == filled and value else value for i, value in enumerate(seen.state)]
    observations = [replace(seen, state=tuple(state)) if o is seen else o for o in actual.observations]
    verdicts = [judge(Promise(case, info), replace(actual, observations=some)) for some in (actual.observations, observations)]
    assert [Bucket.KNOWN_DEVIATION, Bucket.DIVERGED] == [verdict.bucket for verdict in verdicts]


OFFERED, FREE = OpenChoice(Kind.OFFERED, "sin", "order 2"), OpenChoice(Kind.FREED, "cos", "x")
BOTH = {OFFERED: "refused", FREE: "refused"}


def refused_twice(**computed: OpenChoice) -> tuple[Outcome, Verdict]:
    """A pass over two nodes, of which both refuse: one has no second derivative, the graph of the other is freed.

    The engine minds all but the choices that are given, and is held to mind both.
    """
    steps = (
        *(Op("sin", ("x",), ("y",)), Op("cos", ("x",), ("v",)), Op("sum", ("y",), ("z",), TOTAL), Op("sum", ("v",), ("u",), TOTAL)),
        *(Backward(("u",)), Grad(("z", "u"), ("x",), ("g",), create_graph=True)),
    )
    claims = replace(TORCH, unoffered="when_recorded", conventions=Conventions(BOTH, release=("other", "1.0")))
    actual = reference(deciding(dict.fromkeys(computed.values(), "computed"), claims), {}).run(Case((X,), steps))
    return actual, judge(Promise(Case((X,), steps), BackendInfo("other", "1.0", claims, {})), actual)


@pytest.mark.parametrize(("skipped", "refusal"), [(OFFERED, "graph_freed"), (FREE, "not_implemented")])
def test_which_of_two_nodes_refuses_a_pass_first_is_no_change_of_a_convention(skipped: OpenChoice, refusal: str) -> None:
    actual, verdict = refused_twice(first=skipped)
    assert (refusal, Bucket.AGREED) == (getattr(actual.observations[-1], "category", None), verdict.bucket)


def test_a_pass_that_is_refused_by_neither_of_two_nodes_diverges() -> None:
    assert refused_twice(first=OFFERED, second=FREE)[1].bucket is Bucket.DIVERGED


HIGHER, LOWER = OpenChoice(Kind.OFFERED, "sin", "order 2"), OpenChoice(Kind.OFFERED, "exp", "order 2")


def refused_above_what_is_retained(measured: dict[OpenChoice, str]) -> Verdict:
    """A pass that the engine refuses at the node above a tensor that retains its gradient, where one below it is known to refuse."""
    steps = (Op("exp", ("x",), ("y",)), RetainGrad("y"), Op("sin", ("y",), ("v",)), Op("sum", ("v",), ("z",), TOTAL))
    case = Case((X,), (*steps, Grad(("z",), ("x",), ("g",), create_graph=True)))
    claims = replace(
        TORCH, unoffered="when_recorded", conventions=Conventions({LOWER: "refused", **measured}, release=("other", "1.0"))
    )
    actual = reference(deciding({LOWER: "refused", HIGHER: "refused"}, claims), {}).run(case)
    return judge(Promise(case, BackendInfo("other", "1.0", claims, {})), actual)


def test_which_node_refuses_first_is_followed_by_what_the_call_had_reached() -> None:
    verdict = refused_above_what_is_retained({})
    assert (Bucket.SAME_ERROR, {HIGHER: "refused"}) == (verdict.bucket, verdict.followed)


def test_a_call_that_had_to_reach_a_tensor_before_it_was_refused_diverges_if_it_did_not() -> None:
    measured = dict.fromkeys((HIGHER, OpenChoice(Kind.OFFERED, "sum", "order 2")), "computed")
    assert Bucket.DIVERGED is refused_above_what_is_retained(measured).bucket


# A release that was measured is held to what was measured.


@pytest.mark.parametrize("name", CHOICES)
def test_the_release_that_was_measured_may_not_change_its_conventions(name: str) -> None:
    case, choice, options = decided(name)
    measured = deciding({choice: {"refused": "computed", "computed": "refused"}.get(options[choice], "formula")})
    verdict = judged(case, deciding(options), measured, version=TORCH.conventions.release[1] + "+cpu")
    found = verdict.mismatch
    assert (Bucket.DIVERGED, CONVENTION, options[choice]) == (verdict.bucket, found and found.kind, found and found.actual)


def test_a_choice_of_which_nothing_was_measured_is_no_change() -> None:
    case, _, options = decided("no second derivative")
    unknown = replace(TORCH, conventions=Conventions(release=("torch", "1.0")))
    assert (Bucket.AGREED, options) == ((verdict := judged(case, deciding(options), unknown)).bucket, verdict.followed)


def test_an_option_that_was_seen_of_the_release_is_no_change() -> None:
    case, choice, options = decided("no second derivative")
    known = Conventions({choice: "computed"}, varying={choice: ("computed", "refused")}, release=("torch", "1.0"))
    verdict = judged(case, deciding(options), replace(TORCH, conventions=known))
    assert (Bucket.AGREED, options) == (verdict.bucket, verdict.followed)


@pytest.mark.parametrize(
    ("kind", "dialect"), [(Kind.OFFERED, PADDLE), (Kind.CONNECTED, PADDLE), (Kind.KEPT, TORCH)], ids=["offered", "connected", "kept"]
)
def test_without_what_was_measured_hardly_anything_differs(kind: Kind, dialect: Dialect) -> None:
    blank = replace(dialect, conventions=Conventions(dialect.conventions.without(kind).options))
    cases = [case_of(5, index, DrawOptions(changing=0.5)) for index in range(150)]
    verdicts = [judged(case, dialect, blank) for case in cases]
    diverged = sum(verdict.bucket is Bucket.DIVERGED for verdict in verdicts)
    assert (True, True) == (any(verdict.followed for verdict in verdicts), diverged <= 1)


def test_what_was_followed_is_recorded() -> None:
    engine = WrongEngine("other", dialect=TORCH, behaves=deciding({CHOICES["no second derivative"][1]: "refused"}))
    engine.info = replace(engine.info, version="1.0")
    assert {"offered: sin order 2": "refused"} == run_case(SIN, [engine]).verdicts["other"].followed


@pytest.mark.parametrize("dialect", [TORCH, PADDLE], ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("case", [SIN, SCALED, ABS, PIECEWISE, FREED, BEHIND, *islice(probes("mul"), 6), *islice(probes("lerp"), 6)])
def test_what_a_case_shows_of_a_choice_hangs_on_no_other_choice_that_is_tried(case: Case, dialect: Dialect) -> None:
    promise = Promise(case, BackendInfo("any", "1.0", dialect, dialect.not_offered))
    every = asked(promise)

    def shown(settled: set[OpenChoice]) -> dict[OpenChoice, tuple[str, ...]]:
        unsettled = {choice: option for choice, option in every.items() if choice not in settled}
        return decisive(promise, promise.outcome, explaining.excuse, unsettled)

    alone = {choice: options for each in every for choice, options in shown(every.keys() - {each}).items()}
    assert alone == shown(set())
