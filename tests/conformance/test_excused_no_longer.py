"""Gradients, flags and calls that an entry explained although it says of others that they are so: the engines that did more are red."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends import BackendInfo
from conformance.case.case import Case, Input
from conformance.case.files import read
from conformance.case.outcome import Computed, Event, Raised, Value
from conformance.case.rewrite import with_steps
from conformance.case.steps import Backward, Custom, Grad, Hook, InPlace, Op, RemoveHook, RetainGrad, SetRequiresGrad
from conformance.compare.promise import Promise
from conformance.deviations.counterfactuals.scripts import COUNTERFACTUALS
from conformance.deviations.findings import evidence
from conformance.judge.verdict import Bucket, judge
from reference_impl import PADDLE, PADDLE_STATIC, TORCH, Category
from tests.conformance.engines import TOTAL

if TYPE_CHECKING:
    from conformance.case.outcome import Outcome
    from conformance.case.steps import Step

INFO = BackendInfo("paddle", "3.3.1", PADDLE, PADDLE.not_offered)
OF_PROGRAMS = BackendInfo("paddle-static", "3.3.1", PADDLE_STATIC, PADDLE_STATIC.not_offered)
OF_TORCH = BackendInfo("torch", "2.13.0", TORCH, TORCH.not_offered)
X, W = Input("x", (2,), (2.0, 3.0)), Input("w", (2,), (5.0, 7.0))
RESHAPED = Op("reshape", ("x",), ("h",), {"shape": [2, 1]})
SHARING = Custom(("x", "w"), ("h",), (Op("add", ("x", "w"), ("f",)),), ("f",), ("c",), ("c", "c"))
S, R = (Input(name, (2, 1), numbers, differentiable=False) for name, numbers in (("s", (3.0, 5.0)), ("r", (0.5, 4.0))))
C, T, U = (
    Input(name, (2,), numbers, differentiable=False) for name, numbers in (("c", (2.0, 9.0)), ("t", (3.0, 5.0)), ("u", (0.5, 4.0)))
)
FIRST = {"key": [[0, 1, 1]]}
ADDED, SQUARED = Op("add", ("x", "w"), ("h",)), Op("square", ("x",), ("h",))
SET = (Op("getitem_slice", ("x",), ("q",), FIRST), Op("setitem", ("c", "q"), ("h",), FIRST))
SEEDED = [Backward(("h",), (seed,), retain_graph=True) for seed in "sr"]


def passed_twice(promise: Promise) -> Outcome:
    """Return what an engine answers whose last call adds its gradients twice to ``x.grad``."""
    *before, last = promise.outcome.observations
    states = [seen.state for seen in (*before, last) if isinstance(seen, Computed) and seen.state is not None]
    slot = promise.case.watched.index("x")
    held = states[-2][slot] if len(states) > 1 else None
    now = states[-1][slot]
    assert now is not None
    twice = replace(now, array=2 * now.array - (0 if held is None else held.array))
    state = tuple(twice if i == slot else value for i, value in enumerate(states[-1]))
    assert isinstance(last, Computed)
    return replace(promise.outcome, observations=[*before, replace(last, state=state)], final=state)


@pytest.mark.parametrize(
    ("info", "steps"),
    [
        (INFO, (RESHAPED, RetainGrad("h"), *SEEDED)),
        (INFO, (SHARING, Op("sum", ("h",), ("z",), TOTAL), Backward(("z",)))),
        (OF_TORCH, (RESHAPED, SEEDED[0], InPlace("mul_scalar", "s", (), {"other": 3.0}), SEEDED[1])),
        (OF_TORCH, (ADDED, Op("sum", ("h",), ("z",), TOTAL), Backward(("z",), retain_graph=True), Backward(("z",)))),
        (INFO, (*SET, RetainGrad("h"), Op("sum", ("h",), ("z",), TOTAL), Backward(("z",)))),
        (INFO, (SQUARED, InPlace("sub", "c", ("h",)), RetainGrad("h"), Op("sum", ("c",), ("z",), TOTAL), Backward(("z",)))),
    ],
    ids=[
        "beside a retained gradient",
        "beside a gradient that is shared",
        "behind a seed that was written",
        "beside the gradient of the other operand of a sum",
        "beside a constant with other elements",
        "beside a constant that was written",
    ],
)
def test_gradients_that_are_added_twice_are_no_other_gradient_in_their_memory(info: BackendInfo, steps: tuple[Step, ...]) -> None:
    promise = Promise(Case((X, W, S, R, C), steps, "exact"), info)
    assert Bucket.DIVERGED == judge(promise, passed_twice(promise)).bucket


def changed(promise: Promise, number: int, **fields: Any) -> Outcome:
    """Return what is promised, but for what was observed at a step."""
    observations = [*promise.outcome.observations]
    seen = observations[number]
    assert isinstance(seen, Computed)
    observations[number] = replace(seen, **fields)
    return replace(promise.outcome, observations=observations)


@pytest.mark.parametrize(("number", "bucket"), [(1.0, Bucket.UNPROMISED), (4.0, Bucket.DIVERGED)], ids=["its own", "another"])
def test_what_a_refused_backward_left_is_the_gradient_of_that_leaf(number: float, bucket: Bucket) -> None:
    promise = Promise(read(evidence("torch-partial-accumulation")), OF_TORCH)
    promise = promise.of(with_steps(promise.case, promise.case.steps[:4]))
    *before, refused = promise.outcome.observations
    assert isinstance(refused, Raised)
    assert refused.state is not None
    left = Value(np.array([number], np.float32), requires_grad=False)
    state = tuple(left if name == "c" else value for name, value in zip(promise.case.watched, refused.state, strict=True))
    answer = replace(promise.outcome, observations=[*before, replace(refused, state=state)], final=state)
    assert bucket == judge(promise, answer).bucket, judge(promise, answer)


def test_a_hook_that_runs_although_nothing_needs_it_is_not_called_twice() -> None:
    steps = (Op("square", ("x",), ("q",)), Hook("q", ("h",), "nothing"), Op("sum", ("q",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",)))
    promise = Promise(Case((X,), steps, "exact"), OF_TORCH)
    called = promise.outcome.observations[3]
    assert isinstance(called, Computed)
    assert Bucket.DIVERGED == judge(promise, changed(promise, 3, events=(*called.events, *called.events))).bucket


def test_a_hook_that_was_removed_is_not_called_where_an_input_lies_behind_the_root() -> None:
    hooked = (Op("square", ("x",), ("q",)), Hook("q", ("h",), "nothing"), RemoveHook("h"))
    steps = (*hooked, Op("sum", ("q",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",)))
    promise = Promise(Case((X,), steps, "exact"), OF_TORCH)
    event = Event("h", Value(np.ones(2, np.float32), requires_grad=False))
    assert Bucket.DIVERGED == judge(promise, changed(promise, 4, events=(event,))).bucket


@pytest.mark.parametrize(
    ("op", "name", "bucket"),
    [("solve", "m", Bucket.UNPROMISED), ("solve", "x", Bucket.DIVERGED), ("inv", "m", Bucket.DIVERGED)],
    ids=["a matrix", "a right side", "a matrix that is inverted"],
)
def test_a_hook_is_given_nothing_for_the_matrix_of_a_solution_alone(op: str, name: str, bucket: Bucket) -> None:
    matrix = Input("m", (2, 2), (2.0, 0.0, 0.0, 4.0))
    operands = ("m", "x") if op == "solve" else ("m",)
    after = (Hook(name, ("h",), "nothing"), SetRequiresGrad(name, requires_grad=False))
    steps = (Op(op, operands, ("q",)), *after, Op("sum", ("q",), ("z",), TOTAL), Backward(("z",)))
    promise = Promise(Case((X, matrix), steps, "numeric"), OF_TORCH)
    assert bucket == judge(promise, changed(promise, 4, events=(Event("h", None),))).bucket


@pytest.mark.parametrize(("base", "bucket"), [("c", Bucket.KNOWN_DEVIATION), ("h", Bucket.DIVERGED)], ids=["constant", "tracked"])
def test_a_hook_on_a_view_of_what_was_written_is_refused_where_that_was_a_constant(base: str, bucket: Bucket) -> None:
    steps = (SQUARED, Op("getitem_slice", (base,), ("q",), FIRST), InPlace("sub", base, ("w",)), Hook("q", ("k",), "nothing"))
    promise = Promise(Case((X, W, C), steps, "exact"), INFO)
    *before, _ = promise.outcome.observations
    refused = Raised(Category.NOT_DIFFERENTIABLE, "Cannot register hook on a tensor that stop gradient", None)
    assert bucket == judge(promise, replace(promise.outcome, observations=[*before, refused])).bucket


def test_a_seed_that_grad_hands_out_does_not_lose_its_gradient() -> None:
    seed = Input("s", (2,), (2.0, 3.0))
    steps = (Grad(("x",), ("x",), ("g",), ("s",)), Op("square", ("s",), ("q",)), Op("sum", ("q",), ("z",), TOTAL), Backward(("z",)))
    promise = Promise(Case((X, seed), steps, "exact"), OF_TORCH)
    lost = changed(promise, 3, state=(None,) * len(promise.case.watched))
    assert Bucket.DIVERGED == judge(promise, replace(lost, final=(None,) * len(promise.case.watched))).bucket


def test_an_operand_that_is_returned_is_the_result_from_then_on_and_the_result_is_a_leaf() -> None:
    """As Paddle 3.3.1 does it."""
    returning = Custom(("x",), ("v",), (), ("x",), ("c",), ("b",), (Op("mul_scalar", ("c",), ("b",), {"other": 7.0}),))
    roots = (Op("sum", (name,), (f"{name}_sum",), TOTAL) for name in "vx")
    steps = (returning, *roots, Backward(("v_sum",)), Backward(("x_sum",)))
    ((case, number),) = COUNTERFACTUALS["as if returned operands were the results"](Case((X,), steps, "exact"), 4, ())
    *_, by_result, by_operand = Promise(case, INFO).outcome.observations
    assert len(case.steps) - 1 == number
    assert isinstance(by_result, Computed)
    assert isinstance(by_operand, Computed)
    slot = case.watched.index("x")
    assert by_result.state is not None
    assert by_operand.state is not None
    assert by_result.state[slot] is None
    gradient = by_operand.state[slot]
    assert gradient is not None
    assert [7.0, 7.0] == gradient.array.tolist()


def with_results(promise: Promise, number: int, *results: Any) -> Outcome:
    """Return what is promised, but for these results of a step, whose flags are those that are promised."""
    seen = promise.outcome.observations[number]
    assert isinstance(seen, Computed)
    flags = (value is not None and value.requires_grad for value in seen.values)
    values = tuple(Value(np.array(array, np.float32), flag) for array, flag in zip(results, flags, strict=True))
    return changed(promise, number, values=values)


@pytest.mark.parametrize(
    ("of_filled", "of_value", "bucket"),
    [((0.0, 5.0), 0.0, Bucket.KNOWN_DEVIATION), ((0.0, 0.0), 3.0, Bucket.DIVERGED), ((0.0, 0.0), 0.0, Bucket.DIVERGED)],
    ids=["the value's", "that of what is filled", "both"],
)
def test_a_fill_may_lose_the_gradient_of_its_value_and_no_other(of_filled: Any, of_value: float, bucket: Bucket) -> None:
    value, seed = Input("v", (), (7.0,)), Input("s", (2,), (3.0, 5.0), differentiable=False)
    filled = Op("masked_fill_tensor", ("x", "v"), ("f",), {"mask": [True, False]})
    promise = Promise(Case((X, value, seed), (filled, Grad(("f",), ("x", "v"), ("g", "h"), ("s",))), "exact"), INFO)
    assert bucket == judge(promise, with_results(promise, 1, of_filled, of_value)).bucket


@pytest.mark.parametrize(
    ("of_value", "bucket"),
    [((1.0, -8.5, 3.0), Bucket.KNOWN_DEVIATION), ((2.0, 5.0, 3.0), Bucket.DIVERGED)],
    ids=["memory where the mask is false", "another number where it is true"],
)
def test_a_fill_with_several_is_right_at_the_first_places_of_the_mask(of_value: Any, bucket: Bucket) -> None:
    promise = Promise(read(evidence("paddle-masked-fill-value-uninitialised")), INFO)
    assert bucket == judge(promise, with_results(promise, 1, of_value)).bucket


@pytest.mark.parametrize(
    ("numbers", "bucket"),
    [((2.0, 3.0), Bucket.KNOWN_DEVIATION), ((4.0, 2.0), Bucket.KNOWN_DEVIATION), ((2.0, 4.0), Bucket.DIVERGED)],
    ids=["of what is read in single precision", "right ones", "others"],
)
def test_what_is_added_to_is_read_in_the_dtype_that_a_custom_function_returns(numbers: Any, bucket: Bucket) -> None:
    """As Paddle 3.3.1 does it: 2 in double precision is 0 and 2 in single precision."""
    leaf, seed = (Input(name, (2,), (2.0, 1.0), "float64", differentiable=name == "x") for name in "xs")
    cast = Op("cast", ("c",), ("b",), {"dtype": "float32"})
    function = Custom(("x",), ("y",), (Op("mul_scalar", ("x",), ("f",), {"other": 2.0}),), ("f",), ("c",), ("b",), (cast,))
    steps = (function, Op("add", ("y", "x"), ("z",)), Grad(("z",), ("x",), ("g",), ("s",)))
    promise = Promise(Case((leaf, seed), steps, "exact"), INFO)
    assert bucket == judge(promise, with_results(promise, 2, numbers)).bucket


@pytest.mark.parametrize(("of", "bucket"), [("v", Bucket.KNOWN_DEVIATION), ("k", Bucket.DIVERGED)], ids=["the view", "another"])
def test_a_flag_that_follows_its_base_is_that_of_what_is_made_of_a_view(of: str, bucket: Bucket) -> None:
    j, k = (Input(name, (2,), (2.0, 3.0), differentiable=False) for name in "jk")
    steps = (Op("reshape", ("j",), ("v",), {"shape": [2]}), SetRequiresGrad("j", requires_grad=True), Op("neg", (of,), ("n",)))
    assert bucket == _flagged(steps, (j, k), 2)


@pytest.mark.parametrize(("of", "bucket"), [("v", Bucket.KNOWN_DEVIATION), ("k", Bucket.DIVERGED)], ids=["the view", "another"])
def test_so_is_that_of_a_derivative_in_which_the_view_is(of: str, bucket: Bucket) -> None:
    j, k = (Input(name, (2,), (2.0, 3.0), differentiable=False) for name in "jk")
    viewed, toggled = Op("reshape", ("j",), ("v",), {"shape": [2]}), SetRequiresGrad("j", requires_grad=True)
    made = Op("mul", ("x", of), ("y",)), Op("sum", ("y",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",), create_graph=True)
    assert bucket == _flagged((viewed, toggled, *made), (X, j, k), 4)


def _flagged(steps: tuple[Step, ...], inputs: tuple[Input, ...], number: int) -> Bucket:
    """Return how it is judged that the result of a step requires a gradient, on PyTorch."""
    promise = Promise(Case(inputs, steps, "exact"), OF_TORCH)
    made = promise.outcome.observations[number]
    assert isinstance(made, Computed)
    (value,) = made.values
    assert value is not None
    assert not value.requires_grad
    return judge(promise, changed(promise, number, values=(replace(value, requires_grad=True),))).bucket


@pytest.mark.parametrize(
    ("lending", "roots", "bucket"),
    [
        ((Op("flatten", ("x",), ("h",), {"shape": [2]}),), ("h", "x"), Bucket.KNOWN_DEVIATION),
        ((Op("contiguous", ("x",), ("h",), {"axes": [-1]}),), ("h", "x"), Bucket.KNOWN_DEVIATION),
        ((), ("x", "x"), Bucket.DIVERGED),
        ((ADDED,), ("h", "x"), Bucket.DIVERGED),
    ],
    ids=["through a view", "through a permutation that moves nothing", "as it is", "through a sum"],
)
def test_a_seed_is_added_to_where_a_leaf_was_handed_a_view_of_it_and_nowhere_else(
    lending: tuple[Step, ...], roots: tuple[str, str], bucket: Bucket
) -> None:
    """Another seed, of which the leaf was handed a view, stands beside it in any event."""
    beside = (Op("reshape", ("w",), ("v",), {"shape": [2, 1]}), Backward(("v",), ("s",), retain_graph=True))
    passes = (Backward((root,), (seed,), retain_graph=True) for root, seed in zip(roots, "tu", strict=True))
    promise = Promise(Case((X, W, S, T, U), (*beside, *lending, *passes), "exact"), OF_TORCH)
    added = Value(np.array([3.5, 9.0], np.float32), requires_grad=False)
    assert bucket == judge(promise, replace(promise.outcome, mutated=("t",), changed=(added,))).bucket


def test_a_gradient_that_is_no_view_of_a_seed_does_not_change_with_it() -> None:
    steps = (ADDED, Backward(("h",), ("t",)), InPlace("mul_scalar", "t", (), {"other": 3.0}))
    promise = Promise(Case((X, W, T), steps, "exact"), OF_TORCH)
    written = Value(np.array([9.0, 15.0], np.float32), requires_grad=False)
    state = tuple({**dict(zip(promise.case.watched, promise.outcome.final, strict=True)), "x": written}.values())
    assert Bucket.DIVERGED == judge(promise, replace(promise.outcome, final=state)).bucket


def test_a_gradient_is_not_that_of_another_leaf_since_a_tensor_that_no_pass_is_by_retains_its_own() -> None:
    retained = (Op("sum", ("x",), ("r",), TOTAL), RetainGrad("r"))
    steps = (*retained, Op("mul", ("x", "w"), ("h",)), Op("sum", ("h",), ("z",), TOTAL), Backward(("z",)))
    promise = Promise(Case((X, W), steps, "exact"), INFO)
    held = dict(zip(promise.case.watched, promise.outcome.final, strict=True))
    state = tuple({**held, "x": held["w"]}.values())
    assert Bucket.DIVERGED == judge(promise, replace(changed(promise, 4, state=state), final=state)).bucket


def test_a_result_of_a_split_that_does_not_run_has_no_zeros() -> None:
    halves = Op("split", ("x",), ("a", "b"), {"sections": [1, 1], "axis": 0})
    steps = (halves, Op("sum", ("w",), ("z",), TOTAL), Grad(("z",), ("w", "a"), ("g", "k"), allow_unused=True))
    promise = Promise(Case((X, W), steps, "exact"), INFO)
    computed = promise.outcome.observations[2]
    assert isinstance(computed, Computed)
    zeros = Value(np.zeros(1, np.float32), requires_grad=False)
    assert Bucket.DIVERGED == judge(promise, changed(promise, 2, values=(computed.values[0], zeros))).bucket


@pytest.mark.parametrize(("left", "bucket"), [(False, Bucket.KNOWN_DEVIATION), (True, Bucket.DIVERGED)], ids=["nothing", "a gradient"])
def test_a_refused_gradient_of_a_transposed_vector_leaves_nothing_in_the_vector(left: bool, bucket: Bucket) -> None:
    a = Input("a", (2, 2), (1.0, 2.0, 3.0, 4.0))
    product = Op("matmul_transposed", ("h", "x"), ("y",), {"transpose_x": True, "transpose_y": True})
    steps = (Op("square", ("a",), ("h",)), product, Backward(("h",)), Backward(("y",)))
    promise = Promise(Case((a, X), steps, "exact"), INFO)
    *before, freed = promise.outcome.observations
    assert isinstance(freed, Raised)
    assert freed.state is not None
    state = tuple(value if left or name == "a" else None for name, value in zip(promise.case.watched, freed.state, strict=True))
    refused = replace(freed, category=Category.UNMAPPED, message="Expected numel() * SizeOf(dtype()) <= memory_size()", state=state)
    assert bucket == judge(promise, replace(promise.outcome, observations=[*before, refused], final=state)).bucket


@pytest.mark.parametrize(("length", "bucket"), [(1, Bucket.KNOWN_DEVIATION), (3, Bucket.DIVERGED)], ids=["another part", "no part"])
def test_a_part_without_elements_that_is_taken_for_another_has_the_shape_of_that(length: int, bucket: Bucket) -> None:
    split = Op("split", ("e",), ("a", "b"), {"axis": 0, "sections": [1, 2]})
    steps = (split, Op("square", ("a",), ("q",)), Grad(("q", "b"), ("b",), ("g",)))
    promise = Promise(Case((Input("e", (3, 0), ()),), steps, "exact"), INFO)
    taken = (Value(np.zeros((length, 0), np.float32), requires_grad=False),)
    assert bucket == judge(promise, changed(promise, 2, values=taken)).bucket


@pytest.mark.parametrize(("of_twin", "bucket"), [(4.0, Bucket.UNPROMISED), (2.0, Bucket.DIVERGED)], ids=["of both", "its own"])
def test_a_seed_and_its_gradient_that_are_no_duplicates_have_one_gradient(of_twin: float, bucket: Bucket) -> None:
    leaves = tuple(Input(name, (), (value,)) for name, value in (("x", 1.0), ("z", 1.0), ("v", 2.0)))
    made = Grad(("x",), ("x", "z"), ("g", "h"), ("v",), create_graph=True, allow_unused=True)
    steps = made, Op("mul", ("v", "g"), ("y",)), Grad(("y",), ("v", "g"), ("i", "k"))
    promise = Promise(Case(leaves, steps, "exact"), INFO)
    came = tuple(Value(np.array(number, np.float32), requires_grad=False) for number in (4.0, of_twin))
    observations = [*promise.outcome.observations[:-1], Computed(came, None)]
    assert bucket == judge(promise, replace(promise.outcome, observations=observations)).bucket


@pytest.mark.parametrize(("times", "bucket"), [(2.0, Bucket.KNOWN_DEVIATION), (3.0, Bucket.DIVERGED)], ids=["two passes", "three"])
def test_an_answer_of_a_hook_holds_what_passes_added_from_a_gradient_that_it_did_not_see(times: float, bucket: Bucket) -> None:
    name = "hook-that-returns-a-tensor-to-a-pass-from-a-gradient-that-it-did-not-see"
    promise = Promise(read(Path(__file__).parents[1] / "regressions" / f"{name}.json"), INFO)
    held = Value(np.array([0.5, -1.0], np.float32) * np.float32(times), requires_grad=True)
    assert bucket == judge(promise, replace(promise.outcome, mutated=("r",), changed=(held,))).bucket


def test_a_running_sum_behind_a_large_negative_number_is_known_to_roundings_of_its_own() -> None:
    x = Input("x", (2,), (-1e30, 0.5))
    promise = Promise(Case((x,), (Op("logcumsumexp", ("x",), ("y",), {"axis": 0}),), "numeric"), OF_TORCH)
    came = Value(np.array([-1e30, 100.0], np.float32), requires_grad=True)
    assert Bucket.DIVERGED == judge(promise, changed(promise, 0, values=(came,))).bucket


@pytest.mark.parametrize(
    ("flows", "bucket"), [(False, Bucket.KNOWN_DEVIATION), (True, Bucket.DIVERGED)], ids=["seed", "gradient below"]
)
@pytest.mark.parametrize("cut", [("h",), None], ids=["by the call", "by its flag"])
def test_a_target_that_is_cut_has_its_seed_and_nothing_below_it_has_a_gradient(cut: Any, flows: bool, bucket: Bucket) -> None:
    stopped = SetRequiresGrad("h", requires_grad=cut is not None)
    steps = SQUARED, stopped, Grad(("h",), ("x", "h"), ("g", "k"), ("c",), allow_unused=True, no_grad_vars=cut)
    of_x, of_h = (Value(np.float32(numbers), requires_grad=True) for numbers in ([8.0, 54.0], [2.0, 9.0]))
    promise = Promise(Case((X, C), steps, "exact"), OF_PROGRAMS)
    assert bucket == judge(promise, changed(promise, 2, values=(of_x if flows else None, of_h))).bucket


@pytest.mark.parametrize(("linked", "bucket"), [(False, Bucket.KNOWN_DEVIATION), (True, Bucket.DIVERGED)], ids=["damage", "no damage"])
def test_what_is_not_recorded_after_an_error_inside_paddle_is_known_only_if_that_stops_it(linked: bool, bucket: Bucket) -> None:
    steps = (
        Op("masked_fill_tensor", ("x", "v"), ("h",), {"mask": [True, False]}),
        Grad(("h",), ("v",), ("g",), create_graph=True),
        Grad(("g",), ("v",), ("k",), create_graph=linked, allow_unused=True),
        Op("square", ("w",), ("z",)),
    )
    promise = Promise(Case((X, W, Input("v", (), (3.0,))), steps, "exact"), INFO)
    *before, _, last = promise.outcome.observations
    assert isinstance(last, Computed)
    assert last.values[0] is not None
    failed = Raised(Category.UNMAPPED, "grad_x_grad can not be null in 'masked_fill_double_grad'")
    unrecorded = replace(last, values=(replace(last.values[0], requires_grad=False),))
    seen = replace(promise.outcome, observations=[*before, failed, unrecorded])
    assert bucket == judge(promise, seen).bucket
