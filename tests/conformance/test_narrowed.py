"""Entries that excused more than they say, each with the engine that it no longer excuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conformance.backends import BackendInfo
from conformance.case.case import Case, Input, input_of
from conformance.case.files import read
from conformance.case.outcome import Computed, Event, Outcome, Raised, Value
from conformance.case.steps import Backward, Grad, Hook, Op, SetRequiresGrad
from conformance.compare.promise import Promise
from conformance.deviations.asked import an_output_or_below
from conformance.deviations.entries import known
from conformance.deviations.findings import evidence
from conformance.judge.verdict import Bucket, judge
from reference_impl import PADDLE, PADDLE_STATIC, TORCH, Category
from reference_impl.dialects.dialect import PADDLE_STATIC_LEGACY

INFO = BackendInfo("paddle", "3.3.1", PADDLE, PADDLE.not_offered)
STATIC = BackendInfo("paddle-static", "3.3.1", PADDLE_STATIC, PADDLE_STATIC.not_offered)
LEGACY = BackendInfo("paddle-static-legacy", "3.3.1", PADDLE_STATIC_LEGACY, PADDLE_STATIC_LEGACY.not_offered)
OF_TORCH = BackendInfo("torch", "2.13.0", TORCH, TORCH.not_offered)
X, W = Input("x", (2,), (2.0, 3.0)), Input("w", (2,), (5.0, 7.0))


def aborted(promise: Promise, left: float) -> Outcome:
    """Return what an engine answers whose aborted pass leaves this in ``w.grad``."""
    observations = [*promise.outcome.observations]
    seen = observations[4]
    assert isinstance(seen, Raised)
    assert seen.state is not None
    value = Value(np.array(left, np.float32), requires_grad=False)
    state = tuple(value if name == "w" else v for name, v in zip(promise.case.watched, seen.state, strict=True))
    observations[4] = replace(seen, state=state)
    return replace(promise.outcome, observations=observations)


@pytest.mark.parametrize(("more", "bucket"), [(0.0, Bucket.UNPROMISED), (1.0, Bucket.DIVERGED)], ids=["whole", "and another term"])
def test_an_aborted_pass_has_left_a_whole_gradient(more: float, bucket: Bucket) -> None:
    promise = Promise(read(evidence("paddle-composite-order")), INFO)
    assert bucket == judge(promise, aborted(promise, float(np.exp(np.float32(2.0))) + more)).bucket


@pytest.mark.parametrize(("asked", "may"), [("y", True), ("x", True), ("w", False)])
def test_beside_an_output_that_is_an_input_only_what_lies_below_it_is_lost(asked: str, may: bool) -> None:
    call = Grad(("z", "y"), ("y", asked), ("g", "h"))
    case = Case((X, W), (Op("mul", ("x", "x"), ("y",)), Op("mul", ("y", "w"), ("z",)), call), "exact")
    assert [True, may] == [an_output_or_below(case, 2, name) for name in ("y", asked)]
    (entry,) = (one for one in known() if one.id == "paddle-output-among-inputs")
    assert entry.only == "an output, or what lies below one"


def answered(promise: Promise, step: int, numbers: float | tuple[float, ...]) -> Outcome:
    """Return what an engine answers whose call has these numbers for its first result."""
    value = Value(np.array(numbers, np.float32), requires_grad=False)
    seen = promise.outcome.observations[step]
    assert isinstance(seen, Computed)
    observations = [*promise.outcome.observations]
    observations[step] = replace(seen, values=(value, *seen.values[1:]))
    return replace(promise.outcome, observations=observations)


@pytest.mark.parametrize(
    ("of_last", "bucket"), [(24.0, Bucket.UNPROMISED), (25.0, Bucket.DIVERGED)], ids=["what one pass computes", "another number"]
)
def test_a_batch_may_depend_on_another_one_of_its_call_as_one_pass_has_it(of_last: float, bucket: Bucket) -> None:
    promise = Promise(read(evidence("torch-batched-chain")), OF_TORCH)
    came = Value(np.array([[4.0, 12.0], [12.0, of_last]], np.float32), requires_grad=False)
    observations = [*promise.outcome.observations[:-1], Computed((came,), None)]
    assert bucket == judge(promise, replace(promise.outcome, observations=observations)).bucket


@pytest.mark.parametrize(("number", "bucket"), [(2.0, Bucket.KNOWN_DEVIATION), (3.0, Bucket.DIVERGED)])
def test_a_gradient_that_should_be_absent_may_have_a_known_wrong_dtype_and_no_other_numbers(number: float, bucket: Bucket) -> None:
    leaf, seed = (Input(name, (1,), (1.0,), "float64", differentiable=tracked) for name, tracked in (("x", True), ("s", False)))
    single = Input("t", (1,), (2.0,), differentiable=False)
    calls = Grad(("x",), ("x",), ("g",), ("s",), create_graph=True), Grad(("g",), ("s",), ("h",), ("t",), allow_unused=True)
    promise = Promise(Case((leaf, seed, single), calls), INFO)
    assert bucket == judge(promise, answered(promise, 1, (number,))).bucket


@pytest.mark.parametrize(
    ("numbers", "bucket"),
    [((5.0, 7.0), Bucket.KNOWN_DEVIATION), ((1.0, 1.0), Bucket.DIVERGED), ((5.0, 8.0), Bucket.DIVERGED)],
    ids=["its own seed is lost", "the other path is lost", "its own seed is lost in one element"],
)
def test_an_output_that_is_an_input_misses_its_own_seed_and_nothing_else(numbers: tuple[float, ...], bucket: Bucket) -> None:
    steps = Op("mul", ("x", "x"), ("y",)), Op("mul", ("y", "w"), ("z",)), Grad(("z", "y"), ("y",), ("g",))
    promise = Promise(Case((X, W), steps, "exact"), INFO)
    assert bucket == judge(promise, answered(promise, 2, numbers)).bucket


@pytest.mark.parametrize(
    ("category", "bucket"), [(Category.UNREACHABLE_INPUT, Bucket.KNOWN_DEVIATION), (Category.NOT_DIFFERENTIABLE, Bucket.DIVERGED)]
)
def test_what_lies_below_an_output_that_is_an_input_is_refused_as_unreachable(category: Category, bucket: Bucket) -> None:
    promise = Promise(Case((X,), (Op("mul", ("x", "x"), ("y",)), Grad(("y",), ("x", "y"), ("g", "h"))), "exact"), INFO)
    observations = [*promise.outcome.observations[:1], Raised(category, "", None)]
    assert bucket == judge(promise, replace(promise.outcome, observations=observations)).bucket


@pytest.mark.parametrize(("off", "bucket"), [(1.0, Bucket.KNOWN_DEVIATION), (1.001, Bucket.DIVERGED)], ids=["rounded", "wrong"])
def test_what_two_hooks_cast_and_cast_back_is_rounded_and_no_further_off(off: float, bucket: Bucket) -> None:
    seed = np.array([0.1, 0.3])
    hooks = Hook("y", ("h",), "another_dtype"), Hook("y", ("k",), "another_dtype")
    inputs = Input("x", (2,), (2.0, 3.0), "float64"), input_of("s", seed)
    steps = Op("mul_scalar", ("x",), ("y",), {"other": 2.0}), *hooks, Grad(("y",), ("x",), ("g",), ("s",))
    promise = Promise(Case(inputs, steps, "numeric"), INFO)
    single = seed.astype(np.float32)
    given = (Value(array, requires_grad=False) for array in (seed, single))
    called = tuple(Event(name, value, recording=True) for name, value in zip(("h", "k"), given, strict=True))
    came = Value(single.astype(np.float64) * 2.0 * off, requires_grad=False)
    observations = [*promise.outcome.observations[:3], Computed((came,), None, called)]
    assert bucket == judge(promise, replace(promise.outcome, observations=observations)).bucket


@pytest.mark.parametrize(("called", "bucket"), [(("h",), Bucket.KNOWN_DEVIATION), ((), Bucket.DIVERGED)], ids=["called", "lost"])
def test_what_was_computed_is_no_leaf_whose_hook_is_lost_because_its_flag_was_set_again(
    called: tuple[str, ...], bucket: Bucket
) -> None:
    hooks = SetRequiresGrad("y", requires_grad=True), Hook("y", ("h",), "nothing"), Hook("w", ("k",), "nothing")
    steps = Op("mul", ("x", "x"), ("y",)), *hooks, Op("mul", ("y", "w"), ("z",)), Grad(("z",), ("x", "w"), ("g", "i"))
    promise = Promise(Case((X, W), steps, "exact"), INFO)
    seen = promise.outcome.observations[5]
    assert isinstance(seen, Computed)
    assert {"h", "k"} == {event.name for event in seen.events}
    came = replace(seen, events=tuple(event for event in seen.events if event.name in called))
    observations = [*promise.outcome.observations[:5], came]
    assert bucket == judge(promise, replace(promise.outcome, observations=observations)).bucket


@pytest.mark.parametrize(("calls", "bucket"), [(0, Bucket.KNOWN_DEVIATION), (1, Bucket.DIVERGED)], ids=["not called", "called halfway"])
def test_a_gradient_of_another_dtype_is_a_constant_to_all_that_lies_behind_it(calls: int, bucket: Bucket) -> None:
    case = read(Path(__file__).parents[1] / "regressions" / "gradient-of-another-dtype-that-a-derivative-depends-on.json")
    promise = Promise(case, INFO)
    *before, seen = promise.outcome.observations
    assert isinstance(seen, Computed)
    assert len(seen.events) == 2
    came = replace(seen, events=seen.events[:calls])
    assert bucket == judge(promise, replace(promise.outcome, observations=[*before, came])).bucket


@pytest.mark.parametrize(("times", "bucket"), [(1, Bucket.KNOWN_DEVIATION), (2, Bucket.DIVERGED)])
def test_a_hook_behind_a_sibling_is_called_once(times: int, bucket: Bucket) -> None:
    promise = Promise(read(evidence("paddle-siblings-still-run")), INFO)
    seen = promise.outcome.observations[6]
    assert isinstance(seen, Computed)
    call = Event("h9_b", Value(np.zeros(3, np.float32), requires_grad=False), recording=True)
    observations = [*promise.outcome.observations]
    observations[6] = replace(seen, events=(call,) * times)
    assert bucket == judge(promise, replace(promise.outcome, observations=observations)).bucket


SPLIT = Case(
    (X, W),
    (
        Op("split", ("x",), ("a", "b"), {"axis": 0, "sections": [1, 1]}),
        Op("mul", ("a", "b"), ("z",)),
        Grad(("z",), ("a", "b", "w"), ("ga", "gb", "gw"), retain_graph=True, allow_unused=True),
    ),
    "exact",
)


@pytest.mark.parametrize(("number", "bucket"), [(2.0, Bucket.KNOWN_DEVIATION), (6.0, Bucket.DIVERGED)], ids=["sibling's", "another"])
def test_of_several_results_paddle_answers_the_gradient_of_another_one(number: float, bucket: Bucket) -> None:
    promise = Promise(SPLIT, INFO)
    seen = promise.outcome.observations[2]
    assert isinstance(seen, Computed)
    wrong = Value(np.array([number], np.float32), requires_grad=False)
    observations = [*promise.outcome.observations[:2], replace(seen, values=(wrong, *seen.values[1:]))]
    assert bucket == judge(promise, replace(promise.outcome, observations=observations)).bucket


MISFIT = Case(
    (X, W, Input("s", (3,), (1.0, 2.0, 3.0), differentiable=False), Input("t", (2,), (3.0, 4.0), differentiable=False)),
    (
        Op("square", ("x",), ("y",)),
        Op("square", ("w",), ("v",)),
        Grad(("y", "v"), ("x", "w"), ("gx", "gw"), ("s", "t")),
    ),
    "exact",
)


@pytest.mark.parametrize(
    ("other", "bucket"), [((30.0, 56.0), Bucket.KNOWN_DEVIATION), ((30.0, 57.0), Bucket.DIVERGED)], ids=["right", "wrong"]
)
def test_beside_a_root_whose_seed_does_not_fit_gradients_are_right(other: tuple[float, float], bucket: Bucket) -> None:
    promise = Promise(MISFIT, INFO)
    spoilt, beside = (Value(np.array(array, np.float32), requires_grad=False) for array in ((7.0, 7.0), other))
    observations = [*promise.outcome.observations[:2], Computed((spoilt, beside))]
    assert bucket == judge(promise, replace(promise.outcome, observations=observations)).bucket


@pytest.mark.parametrize(("axes", "may"), [((0, 1), True), ((1, 0), False), ((-2, -1), True)])
def test_only_a_transposition_that_moves_nothing_is_known_to_spoil_second_derivatives(axes: tuple[int, int], may: bool) -> None:
    case = Case((Input("x", (1, 2), (2.0, 3.0)),), (Op("permute", ("x",), ("y",), {"axes": list(axes)}),), "exact")
    (entry,) = (one for one in known() if one.id == "paddle-identity-transpose-double")
    assert may == any(point.met(case, 0) for point in entry.meets)


@pytest.mark.parametrize(
    ("other", "bucket"), [((2.0, 4.0, 6.0), Bucket.KNOWN_DEVIATION), ((2.0, 4.0, 7.0), Bucket.DIVERGED)], ids=["right", "wrong"]
)
def test_beside_a_hook_that_returns_another_shape_gradients_are_right(other: tuple[float, ...], bucket: Bucket) -> None:
    promise = Promise(read(evidence("paddle-hook-shape-unchecked")), INFO)
    case = promise.case
    left = {"v4": np.ones((1, 3, 2), np.float32), "u12": np.array(other, np.float32)}
    state = tuple(Value(left[name], requires_grad=False) if name in left else None for name in case.watched)
    seen = promise.outcome.observations[3]
    assert isinstance(seen, Raised)
    observations = [*promise.outcome.observations]
    observations[3] = Computed((), state, seen.events)
    assert bucket == judge(promise, replace(promise.outcome, observations=observations)).bucket


@pytest.mark.parametrize(
    ("other", "bucket"), [((2.0, 2.0), Bucket.KNOWN_DEVIATION), ((2.0, 2.5), Bucket.DIVERGED)], ids=["right", "wrong"]
)
def test_beside_a_custom_backward_that_returns_another_shape_gradients_are_right(other: tuple[float, ...], bucket: Bucket) -> None:
    promise = Promise(read(evidence("paddle-custom-gradient-shape-unchecked")), INFO)
    seen = promise.outcome.observations[2]
    assert isinstance(seen, Raised)
    spoilt, beside = (Value(np.array(array, np.float32), requires_grad=False) for array in ((7.0, 7.0), other))
    observations = [*promise.outcome.observations]
    observations[2] = Computed((spoilt, beside), seen.state, seen.events)
    assert bucket == judge(promise, replace(promise.outcome, observations=observations)).bucket


@pytest.mark.parametrize(("number", "bucket"), [(1.0, Bucket.KNOWN_DEVIATION), (2.0, Bucket.DIVERGED)], ids=["returned", "another"])
def test_before_a_hook_is_refused_what_it_returned_is_retained_and_no_other_number(number: float, bucket: Bucket) -> None:
    promise = Promise(read(evidence("paddle-hook-checked-late")), INFO)
    seen = promise.outcome.observations[4]
    assert isinstance(seen, Raised)
    left = (None, Value(np.array(number), requires_grad=True))
    observations = [*promise.outcome.observations[:4], replace(seen, state=left)]
    assert bucket == judge(promise, replace(promise.outcome, observations=observations, final=left)).bucket


@pytest.mark.parametrize(("number", "bucket"), [(1.0, Bucket.KNOWN_DEVIATION), (3.0, Bucket.DIVERGED)], ids=["the first", "another"])
def test_a_third_derivative_of_a_product_in_programs_is_the_first_number_that_should_be_summed(number: float, bucket: Bucket) -> None:
    promise = Promise(read(evidence("paddle-static-mul-triple-broadcast")), STATIC)
    assert bucket == judge(promise, answered(promise, 3, (number,))).bucket


@pytest.mark.parametrize(
    ("numbers", "bucket"),
    [((2.0, 1e30), Bucket.KNOWN_DEVIATION), ((3.0, 1e30), Bucket.DIVERGED)],
    ids=["with one", "with another number"],
)
def test_a_loss_of_several_elements_is_seeded_with_one_in_the_first(numbers: tuple[float, ...], bucket: Bucket) -> None:
    promise = Promise(read(evidence("paddle-static-legacy-loss-filled-in-part")), LEGACY)
    assert bucket == judge(promise, answered(promise, 1, numbers)).bucket


@pytest.mark.parametrize(
    ("number", "bucket"),
    [(-0.65625, Bucket.KNOWN_DEVIATION), (-0.6875, Bucket.DIVERGED)],
    ids=["of the last root", "of the one before it"],
)
def test_of_three_roots_with_views_between_them_the_gradient_of_the_last_lies_where_those_of_all_did(
    number: float, bucket: Bucket
) -> None:
    views = [Op("reshape", (f"r{i}",), (f"v{i}",), {"shape": [1, 1]}) for i in range(2)]
    roots = [Op("sqrt", (name,), (f"r{i}",)) for i, name in enumerate(("x", "v0", "v1"))]
    seeds = Input("x", (1,), (1.0,), "float64"), Input("s", (1, 1), (8.0,), "float64"), Input("t", (1,), (1.0,), "float64")
    made = roots[0], views[0], roots[1], views[1], roots[2]
    calls = Grad(("r2",), ("x",), ("g",), ("s",), create_graph=True), Grad(("g",), ("x",), ("h",), ("t",))
    promise = Promise(Case(seeds, (*made, *calls), "numeric"), INFO)
    came = Computed((Value(np.array([number]), requires_grad=False),))
    assert bucket == judge(promise, replace(promise.outcome, observations=[*promise.outcome.observations[:6], came])).bucket


@pytest.mark.parametrize(
    ("asked", "category", "bucket"),
    [("e", Category.UNREACHABLE_INPUT, Bucket.KNOWN_DEVIATION), ("x", Category.NOT_IMPLEMENTED, Bucket.DIVERGED)],
    ids=["for the weight", "for another operand"],
)
def test_a_weight_without_a_gradient_is_out_of_reach_and_no_reason_to_refuse_another(
    asked: str, category: Category, bucket: Bucket
) -> None:
    steps = Op("lerp", ("x", "w", "e"), ("y",)), Grad(("y",), (asked,), ("g",))
    promise = Promise(Case((X, W, Input("e", (2,), (0.5, 0.25))), steps, "exact"), INFO)
    observations = [*promise.outcome.observations[:1], Raised(category, "", None)]
    assert bucket == judge(promise, replace(promise.outcome, observations=observations)).bucket


@pytest.mark.parametrize(("exponent", "bucket"), [(3.0, Bucket.DIVERGED), (1.0, Bucket.UNPROMISED)], ids=["by chance", "identically"])
def test_a_derivative_is_absent_only_where_it_vanishes_with_other_inputs_too(exponent: float, bucket: Bucket) -> None:
    inputs = Input("x", (2,), (0.0, 0.0), differentiable=True), Input("s", (2,), (1.0, 2.0), differentiable=True)
    made = Op("pow_scalar", ("x",), ("y",), {"exponent": exponent}), Grad(("y",), ("x",), ("g",), ("s",), create_graph=True)
    promise = Promise(Case(inputs, (*made, Grad(("g",), ("x",), ("h",), ("s",), allow_unused=True)), "exact"), INFO)
    seen = promise.outcome.observations[2]
    assert isinstance(seen, Computed)
    observations = [*promise.outcome.observations[:2], replace(seen, values=(None,))]
    assert bucket == judge(promise, replace(promise.outcome, observations=observations)).bucket


@pytest.mark.parametrize(
    ("numbers", "bucket"), [((10.0, 14.0), Bucket.AGREED), ((5.0, 7.0), Bucket.DIVERGED)], ids=["it is not", "it is"]
)
def test_beside_a_shape_op_that_moves_nothing_no_other_op_may_be_ignored(numbers: tuple[float, float], bucket: Bucket) -> None:
    steps = (
        Op("reshape", ("x",), ("v",), {"shape": [2]}),
        Op("mul_scalar", ("v",), ("q",), {"other": 2.0}),
        Grad(("q",), ("x",), ("g",), ("w",)),
    )
    promise = Promise(Case((X, W), steps, "exact"), INFO)
    assert bucket == judge(promise, answered(promise, 2, numbers)).bucket


@pytest.mark.parametrize(("number", "bucket"), [(3.0, Bucket.KNOWN_DEVIATION), (4.5, Bucket.DIVERGED)])
def test_a_gradient_of_a_known_wrong_dtype_may_have_known_wrong_numbers_and_no_others(number: float, bucket: Bucket) -> None:
    steps = (
        Op("pad_constant", ("x",), ("p",), {"before": [2], "after": [4], "value": -1.5}),
        Op("sum", ("p",), ("z",), {"axis": None, "keepdims": False}),
        Grad(("z",), ("x",), ("g",), ("s",), create_graph=True),
        Backward(("g",), ("w",)),
    )
    case = Case((X, W, Input("s", (), (2.0,), "float64")), steps, "exact")  # the border adds 6 · -1.5 to the 12 that are right
    promise = Promise(case, INFO)
    seen = promise.outcome.observations[3]
    assert isinstance(seen, Computed)
    value = Value(np.array(number, np.float32), requires_grad=True)
    state = tuple(value if name == "s" else v for name, v in zip(case.watched, seen.state, strict=True))
    observations = [*promise.outcome.observations[:3], replace(seen, state=state)]
    assert bucket == judge(promise, replace(promise.outcome, observations=observations, final=state)).bucket


@pytest.mark.parametrize(("seed", "bucket"), [("s", Bucket.KNOWN_DEVIATION), ("r", Bucket.DIVERGED)], ids=["another part", "alone"])
def test_memory_is_read_in_the_dtype_of_a_cast_gradient_where_another_one_is_added(seed: str, bucket: Bucket) -> None:
    seeds = Input("s", (2,), (1.0, 2.0)), Input("r", (2,), (1.0, 2.0))
    call = Grad(("x", "y"), ("x",), ("g",), (seed, "s"), create_graph=True)
    steps = Op("cast", ("x",), ("y",), {"dtype": "float64"}), call, Grad(("g",), ("s",), ("h",))
    promise = Promise(Case((X, *seeds), steps, "numeric"), INFO)
    *before, seen = promise.outcome.observations
    assert isinstance(seen, Computed)
    came = replace(seen, values=(Value(np.array([1.0, 3e250]), requires_grad=False),))
    assert bucket == judge(promise, replace(promise.outcome, observations=[*before, came])).bucket


def test_a_lost_hook_is_not_known_because_copysign_lies_above_it() -> None:
    steps = Op("copysign", ("x", "w"), ("y",)), Hook("y", ("h",), "nothing"), Grad(("y",), ("x",), ("g",))
    promise = Promise(Case((X, W), steps, "numeric"), INFO)
    *before, seen = promise.outcome.observations
    assert isinstance(seen, Computed)
    came = replace(promise.outcome, observations=[*before, replace(seen, events=())])
    assert Bucket.DIVERGED == judge(promise, came).bucket


@pytest.mark.parametrize(("number", "bucket"), [(18.0, Bucket.KNOWN_DEVIATION), (0.0, Bucket.DIVERGED), (17.0, Bucket.DIVERGED)])
def test_a_value_under_a_larger_mask_has_a_sum_over_what_arrived_with_the_other_gradient_in_front(
    number: float, bucket: Bucket
) -> None:
    inputs = Input("x", (2, 1), (0.5, 2.0)), Input("v", (), (1.5,)), Input("h", (2, 3), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
    fill = Op("masked_fill_tensor", ("x", "v"), ("y",), {"mask": [[False, True, True], [True, False, False]]})
    promise = Promise(Case(inputs, (fill, Grad(("y",), ("v", "x"), ("g", "k"), ("h",)))), INFO)
    assert bucket == judge(promise, answered(promise, 1, number)).bucket


@pytest.mark.parametrize(("numbers", "bucket"), [((0.0, 20.5, 7.0), Bucket.KNOWN_DEVIATION), ((0.0, 21.5, 7.0), Bucket.DIVERGED)])
def test_of_the_gradient_of_assigned_doubles_the_second_half_may_be_anything(numbers: tuple[float, ...], bucket: Bucket) -> None:
    promise = Promise(read(evidence("paddle-setitem-index-wide")), INFO)
    seen = promise.outcome.observations[1]
    assert isinstance(seen, Computed)
    other = replace(seen, values=(Value(np.array(numbers), requires_grad=False),))
    assert bucket == judge(promise, replace(promise.outcome, observations=[promise.outcome.observations[0], other])).bucket
