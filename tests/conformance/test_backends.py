"""What an adapter must keep, the same for every engine."""

from __future__ import annotations

from functools import cache, partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends import BackendError, names, open_backend
from conformance.backends.calls import Calls, Spelling
from conformance.backends.registry import BUILT_IN, registration
from conformance.campaign.records import BackendRecord
from conformance.campaign.workers.backend_cache import backend, describe_backend
from conformance.case.case import Case, Input
from conformance.case.outcome import Blocked, Computed, NotOffered, Outcome, Raised
from conformance.case.prose import observation_text
from conformance.case.steps import Backward, ClearGrad, Detach, Drop, Edge, Grad, Hook, Op, RetainGrad
from conformance.clauses import CURATED, Curated
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.reproduction import reproduction
from conformance.ops import catalogue
from reference_impl import Category
from tests.conformance import judged
from tests.conformance.engines import EXACT, NUMERIC, TOTAL

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.campaign.workers.pool import Workers

FRAMEWORKS = ("torch", "paddle")
BACKENDS = ("reference", *FRAMEWORKS)

X = Input("x", (2,), (1.0, 2.0))
W = Input("w", (2,), (3.0, 4.0))
Z = Op("sum", ("x",), ("z",), TOTAL)
MISFIT = Op("add", ("x", "m"), ("y",))
THREE = Input("m", (3,), (1.0, 2.0, 3.0))


def outcome_of(case: Case, name: str) -> Outcome:
    """Run a case on a backend, in whatever process this is called."""
    return backend(name).run(case)


def outcomes_of(case: Case, name: str, times: int) -> list[Outcome]:
    return [backend(name).run(case) for _ in range(times)]


@pytest.fixture(params=BACKENDS)
def run(request: pytest.FixtureRequest, workers: Workers) -> Callable[[Case], Any]:
    """Return what runs a case on one backend, in a process of its own."""
    return partial(_in_worker, workers, request.param)


def _in_worker(workers: Workers, name: str, case: Case) -> Any:
    found = workers.call(outcome_of, case, name)
    assert found is not None, f"{name} took its process down"
    return found


def array(value: Any) -> list[Any]:
    return value.array.tolist()  # type: ignore[no-any-return]


def test_a_result_of_an_op_is_observed(run: Callable[[Case], Any]) -> None:
    (seen, *_) = run(EXACT).observations
    assert [1.0, 4.0, 9.0] == array(seen.values[0])


def test_shape_dtype_and_flag_are_those_of_the_tensor(run: Callable[[Case], Any]) -> None:
    value = run(Case((Input("x", (1, 2), (1.0, 2.0), "float64"),), (Op("mul", ("x", "x"), ("y",)),))).observations[0].values[0]
    assert ((1, 2), "float64", True) == (value.array.shape, str(value.array.dtype), value.requires_grad)


def test_a_gradient_is_observed(run: Callable[[Case], Any]) -> None:
    assert [2.0, 4.0, 6.0] == array(run(EXACT).observations[2].values[0])


def test_an_absent_gradient_is_none_and_not_zeros(run: Callable[[Case], Any]) -> None:
    assert run(EXACT).observations[2].values[1] is None


def test_an_absent_grad_of_a_leaf_is_none_and_not_zeros(run: Callable[[Case], Any]) -> None:
    grads = run(EXACT).observations[3].state
    assert ([2.0, 4.0, 6.0], None) == (array(grads[0]), grads[1])


def test_a_refusal_has_a_category(run: Callable[[Case], Any]) -> None:
    seen = run(EXACT).observations[4]
    assert (Raised, Category.GRAPH_FREED) == (type(seen), seen.category)


def test_an_error_of_an_op_is_observed(run: Callable[[Case], Any]) -> None:
    (seen,) = run(Case((X, THREE), (MISFIT,))).observations
    assert (Raised, True) == (type(seen), bool(seen.message))


def test_a_script_goes_on_after_an_error(run: Callable[[Case], Any]) -> None:
    seen = run(Case((X, THREE), (MISFIT, Op("mul", ("x", "x"), ("q",))))).observations[1]
    assert [1.0, 4.0] == array(seen.values[0])


def test_a_step_that_needs_what_failed_is_blocked(run: Callable[[Case], Any]) -> None:
    seen = run(Case((X, THREE), (MISFIT, Op("sin", ("y",), ("q",)), Backward(("q",))))).observations
    assert [Blocked("y"), Blocked("q")] == seen[1:]


def test_a_step_that_needs_an_absent_gradient_is_blocked(run: Callable[[Case], Any]) -> None:
    steps = (Z, Grad(("z",), ("x", "w"), ("g", "h"), allow_unused=True), Op("sin", ("h",), ("q",)))
    assert Blocked("h") == run(Case((X, W), steps)).observations[2]


@pytest.mark.parametrize("case", [EXACT, NUMERIC], ids=["exact", "numeric"])
def test_inputs_are_left_as_they_were(run: Callable[[Case], Any], case: Case) -> None:
    assert () == run(case).mutated


@pytest.mark.parametrize("name", BACKENDS)
def test_a_case_leaves_nothing_behind(workers: Workers, name: str) -> None:
    first, second = (
        [observation_text(EXACT, step, seen) for step, seen in zip(EXACT.steps, outcome.observations, strict=True)]
        for outcome in workers.call(outcomes_of, EXACT, name, 2)
    )
    assert first == second


def test_an_observation_does_not_change_afterwards(run: Callable[[Case], Any]) -> None:
    case = Case((X,), (Op("mul", ("x", "x"), ("y",)), Op("sum", ("y",), ("z",), TOTAL), *[Backward(("z",), retain_graph=True)] * 2))
    first, second = run(case).observations[2:]
    assert ([2.0, 4.0], [4.0, 8.0]) == (array(first.state[0]), array(second.state[0]))


def test_detach_keeps_the_elements_and_drops_the_flag(run: Callable[[Case], Any]) -> None:
    value = run(Case((X,), (Detach("x", ("d",)),))).observations[0].values[0]
    assert ([1.0, 2.0], False) == (array(value), value.requires_grad)


@pytest.mark.parametrize("to", ["none", "zero"])
def test_clearing_makes_a_gradient_absent_or_zero(run: Callable[[Case], Any], to: Any) -> None:
    held = run(Case((X,), (Z, Backward(("z",)), ClearGrad("x", to)))).final[0]
    assert {"none": None, "zero": [0.0, 0.0]}[to] == (None if held is None else array(held))


def test_nothing_is_recorded_inside_no_grad(run: Callable[[Case], Any]) -> None:
    value = run(Case((X,), (Op("mul", ("x", "x"), ("y",), no_grad=True),))).observations[0].values[0]
    assert value.requires_grad is False


def test_derivatives_of_third_order_are_right(run: Callable[[Case], Any]) -> None:
    steps = (
        Op("mul", ("x", "x"), ("q",)),
        Op("mul", ("q", "q"), ("y",)),
        Grad(("y",), ("x",), ("a",), create_graph=True),
        Grad(("a",), ("x",), ("b",), create_graph=True),
        Grad(("b",), ("x",), ("c",)),
    )
    seen = run(Case((Input("x", (), (2.0,)),), steps, "exact")).observations
    assert [32.0, 48.0, 48.0] == [array(o.values[0]) for o in seen[2:]]


def test_nan_and_infinities_come_through(run: Callable[[Case], Any]) -> None:
    case = Case((Input("x", (3,), ("nan", "inf", "-inf")),), (Op("neg", ("x",), ("y",)),))
    value = run(case).observations[0].values[0]
    assert np.array_equal([np.nan, -np.inf, np.inf], value.array, equal_nan=True)


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("torch", Grad(("z",), ("x",), ("g",), no_grad_vars=("w",))),
        ("reference", Grad(("z",), ("x",), ("g",), no_grad_vars=("w",))),
        ("paddle", Grad(("z",), ("x",), ("g",), materialize_grads=True)),
        ("paddle", Backward(("z",), inputs=("x",))),
        ("paddle", Backward(("z",), create_graph=True)),
    ],
)
def test_a_parameter_that_the_backend_lacks_is_not_offered(workers: Workers, name: str, step: Any) -> None:
    seen = _in_worker(workers, name, Case((X, W), (Z, step))).observations[1]
    assert (NotOffered, True) == (type(seen), bool(seen.reason))


@pytest.mark.parametrize("name", BACKENDS)
def test_a_backend_describes_itself(workers: Workers, name: str) -> None:
    described = workers.call(describe_backend, name)
    assert (BackendRecord, name) == (type(described), described.name)


def one_line(error: pytest.ExceptionInfo[BackendError]) -> str:
    (line,) = str(error.value).splitlines()
    return line


def test_an_unknown_backend_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BackendError) as refused:
        open_backend("tensorflow")
    assert "'tensorflow' is unknown; known are reference, torch, paddle" in one_line(refused)


@pytest.mark.parametrize("name", ["no_such_package.engine:open_backend", "conformance.backends.reference:no_such_thing"])
def test_a_backend_that_cannot_be_imported_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(BackendError) as refused:
        open_backend(name)
    assert f"backend {name!r} cannot be opened" in one_line(refused)


@pytest.mark.parametrize("name", [name for name in BUILT_IN if registration(name).requires])
def test_a_missing_framework_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    package = registration(name).requires
    monkeypatch.setattr("importlib.util.find_spec", lambda wanted: None)
    with pytest.raises(BackendError) as refused:
        open_backend(name)
    assert (
        f"backend {name!r} cannot be opened: there is no package {package!r}; "
        f"install its framework (pip install 'autograd-conformance[{package}]')"
    ) == one_line(refused)


def test_a_backend_is_known_by_the_name_that_it_was_opened_by() -> None:
    assert open_backend("tests.wrong_engines:correct").info.name == "tests.wrong_engines:correct"


def test_the_built_in_backends_can_be_named() -> None:
    assert set(BACKENDS) <= set(names())


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("name", [name for name in catalogue() if name != "rms_norm"])  # of which Paddle has no kernel for the CPU
def test_an_op_is_lowered_to_every_framework(name: str, framework: str) -> None:
    op = catalogue()[name]
    call = op.lower(framework, None)
    assert (*op.operands, *op.attrs) == call.__code__.co_varnames[: call.__code__.co_argcount]


def forward_of(name: str) -> Case:
    """Draw a case that uses an op, and keep the ops that do not stand on derivatives."""
    drawn = (case_of(7, i, DrawOptions(ops=(name,))) for i in range(100))
    case = next(case for case in drawn if any(getattr(s, "op", "") == name for s in case.steps))
    made = {entry.name for entry in case.inputs}
    steps = []
    for step in case.steps:
        if isinstance(step, Op) and made.issuperset(step.operands):
            steps.append(step)
            made.update(step.results)
    return Case(case.inputs, tuple(steps), case.lane)


@cache
def forwards() -> dict[str, Case]:
    """Draw such a case for each op, once for both frameworks."""
    return {name: forward_of(name) for name in catalogue()}


REFUSED = {"torch": set(), "paddle": {"fftshift", "ifftshift", "dropout_downscaled", "istft", "rms_norm"}}
"""By the findings `paddle-fftshift-one-axis`, `paddle-dropout-downscale-vector` and `paddle-istft-odd`."""


def refused_ops(framework: str, cases: dict[str, Case]) -> list[tuple[str, str]]:
    """Run a case of every op; say which are refused, and how."""
    refused = []
    for name, case in cases.items():
        seen = backend(framework).run(case).observations
        refused += [(name, str(o)) for o in seen if not isinstance(o, Computed)]
    return refused


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_op_runs_on_every_framework(workers: Workers, framework: str) -> None:
    refused = workers.call(refused_ops, framework, forwards())
    assert REFUSED[framework] == {name for name, _ in refused or ()}


def by_name(curated: Curated) -> str:
    return curated.name


@pytest.mark.parametrize("curated", CURATED, ids=by_name)
def test_the_reference_gives_the_numbers_that_the_document_prints(curated: Curated) -> None:
    assert not curated.disagreement()


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("curated", CURATED, ids=by_name)
def test_a_backend_keeps_what_its_document_promises(workers: Workers, curated: Curated, name: str) -> None:
    assert judged.verdicts(workers, name, judged.CURATED)[curated.name].bucket in (
        "agreed",
        "same_error",
        "not_offered",
        "known_deviation",
    )


def test_a_value_that_was_let_go_blocks_what_needs_it(run: Callable[[Case], Any]) -> None:
    observations = run(Case((X,), (Drop("x"), Op("mul", ("x", "x"), ("y",))))).observations
    assert [Computed(), Blocked("x")] == observations


def test_a_value_that_was_let_go_lives_on_where_a_cycle_holds_it() -> None:
    steps = (Op("mul", ("x", "x"), ("y",)), Op("sum", ("y",), ("z",), TOTAL), Backward(("z",), create_graph=True))
    outcome = backend("torch").run(Case((X,), (*steps, Drop("z"), Drop("y"), Drop("x"))))
    assert [(), (), ("x lives on",)] == [tuple(e.name for e in seen.events) for seen in outcome.observations[-3:]]


def test_a_script_for_one_framework_does_not_name_the_other() -> None:
    case = Case((X,), (Op("mul", ("x", "x"), ("y",)), Edge("y", ("e",)), Hook("y", ("h",), "another_dtype"), RetainGrad("y")))
    assert [False, False] == ["paddle" in reproduction(case, "torch"), "torch" in reproduction(case, "paddle")]


def test_what_a_release_lacks_is_not_offered_and_named() -> None:
    old = SimpleNamespace(add=None, nn=SimpleNamespace(functional=SimpleNamespace(relu=None)))
    lacking = Calls("torch", old).lacking()
    assert "this release has no torch.sin" == lacking["op:sin"]
    assert {"op:add", "op:relu"}.isdisjoint(lacking)


def test_a_parameter_that_a_release_lacks_is_not_offered_and_named() -> None:
    def older(x: float, y: float) -> None: ...

    def newer(x: float, y: float, *, alpha: int = 1) -> None: ...

    texts = {"add": "toy.add(x, y, alpha=1)", "sub": "toy.maths.sub(x, y, alpha=1)", "mul": "toy.mul(x, y, alpha=1).real"}
    calls = Calls(Spelling("toy", texts), SimpleNamespace(add=older, maths=SimpleNamespace(sub=newer), mul=lambda **known: None))
    calls.apply("sub", [1.0, 2.0], {})  # what was compiled is looked at, too
    lacking = calls.lacking()
    assert "this release has no parameter alpha of toy.add" == lacking["op:add"]
    assert {"op:sub", "op:mul"}.isdisjoint(lacking)


def test_what_a_release_lacks_is_found_although_all_calls_were_compiled() -> None:
    calls = Calls("torch", SimpleNamespace())
    calls.compile_all()
    assert "this release has no torch.sin" == calls.lacking()["op:sin"]


def test_an_op_of_paddle_whose_kernel_is_for_the_gpu_alone_is_not_offered(monkeypatch: Any) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise NotImplementedError("(Unimplemented) Softmax mask fuse op only supports GPU now.")

    op, offered = "op:scaled_dot_product_attention_causal", []
    for _ in range(2):
        offered.append(op not in open_backend("paddle").info.not_offered)
        monkeypatch.setattr("paddle.nn.functional.scaled_dot_product_attention", refused)
    assert [True, False] == offered


@pytest.mark.parametrize(("casts", "expected"), [(True, Category.UNMAPPED), (False, Category.DTYPE)])
def test_only_a_release_of_paddle_that_casts_no_seeds_refuses_them_by_dtype(casts: bool, expected: Category, monkeypatch: Any) -> None:
    refusal = ValueError(
        "(InvalidArgument) The type of data we are trying to retrieve (float64) does not match the type of data (float32)"
    )

    def refused(*_: Any, **__: Any) -> None:
        raise refusal

    if not casts:
        monkeypatch.setattr("paddle.grad", refused)
    assert expected == open_backend("paddle").engine.category(refusal)
