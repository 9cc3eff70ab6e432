"""Signatures of gradients that lie in one memory, are summed in place, or are read as other numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from conformance.backends import BackendInfo
from conformance.case.case import Case, Input
from conformance.case.outcome import Raised
from conformance.case.steps import Backward, Custom, Grad, InPlace, Op, RetainGrad
from conformance.compare.compare import Comparer
from conformance.compare.mismatch import Mismatch
from conformance.compare.promise import Promise
from conformance.deviations.counterfactuals.rules import RULES
from conformance.deviations.wrong_values import bears
from reference_impl import PADDLE, Category
from tests.conformance.engines import INFO, TOTAL
from tests.conformance.signed import PRODUCT, X, Y, Z, entry, found

if TYPE_CHECKING:
    from conformance.case.outcome import Observation, Outcome

NARROWED = "as if narrow counted from the beginning of the memory"
STEPPED = "as if copies of views were indexed by the steps of the views"
JOINED = "as if axes beside that of an index were one"
PADDLE_INFO = BackendInfo("other", "1.0", PADDLE, PADDLE.not_offered)
PAIRS = Case(
    (Z,),
    (
        Op("as_real", ("z",), ("p",)),
        Op("as_real", ("z",), ("again",)),
        Op("square", ("p",), ("q",)),
        Op("add", ("q", "again"), ("r",)),
        Op("sum", ("r",), ("y",), TOTAL),
        Grad(("y",), ("p", "z"), ("g", "h")),
    ),
    "exact",
)


def test_the_memory_of_a_complex_gradient_is_pairs_of_numbers() -> None:
    assert bears(entry("the memory of another gradient"), Promise(PAIRS, INFO), found(PAIRS, [[3.0, 5.0], [7.0, -1.0]]))


@pytest.mark.parametrize(
    ("got", "borne"),
    [
        ([2.0, 4.0], True),  # what arrives at x through the square, in the memory of the gradient of the square
        ([3.0, 5.0], True),  # all that arrives at x
        ([3.0, 4.0], False),
        ([1.5, 2.5], False),
    ],
)
def test_the_memory_of_a_gradient_is_that_of_what_lies_behind_it(got: list[float], borne: bool) -> None:
    steps = (
        Op("square", ("x",), ("q",)),
        RetainGrad("q"),
        Op("add", ("q", "x"), ("r",)),
        Op("sum", ("r",), ("l",), {"axis": None, "keepdims": False}),
        Backward(("l",)),
    )
    x = Input("x", (2,), (1.0, 2.0))
    differs = Mismatch(4, "value", "grad", "right", "wrong", "q.grad", "q", 1, np.ones(2, "float32"), np.array(got, "float32"))
    assert borne == bears(entry("the memory of another gradient"), Promise(Case((x,), steps, "exact"), INFO), differs)


@pytest.mark.parametrize(
    ("operands", "times"),
    [
        ("xxx", (4, 0)),
        ("xxy", (2, 2)),
        ("xyx", (2, 2)),
        ("xxxy", (4, 4)),
        ("xxyy", (4, 4)),
        ("xxyxx", (8, 8)),
        ("xy", (1, 1)),
        ("xx", (2, 0)),
    ],
)
def test_a_shared_gradient_is_doubled_by_each_addition_to_it(operands: str, times: tuple[int, int]) -> None:
    """As Paddle 3.3.1 does it."""
    shared = Custom(tuple(operands), ("q",), (Op("mul", ("x", operands[-1]), ("f",)),), ("f",), ("c",), ("c",) * len(operands))
    steps = (shared, Op("sum", ("q",), ("z",), TOTAL), Grad(("z",), ("x", "y"), ("g", "h"), allow_unused=True))
    values = _summed_in_place(Case((X, Y), steps, "exact")).observations[2].values  # type: ignore[union-attr]
    assert times == tuple(0 if value is None else int(value.array[0]) for value in values)


def test_a_sum_in_place_is_added_again_with_what_came_between() -> None:
    """As Paddle 3.3.1 does it: 2 (c + d) in the place of 2 c + d."""
    doubled = Op("mul_scalar", ("c",), ("d",), {"other": 10.0})
    mixed = Custom(("x", "x", "x"), ("q",), (Op("mul", ("x", "x"), ("f",)),), ("f",), ("c",), ("c", "d", "c"), (doubled,))
    case = Case((X,), (mixed, Op("sum", ("q",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",))), "exact")
    values = _summed_in_place(case).observations[2].values  # type: ignore[union-attr]
    assert [22.0, 22.0] == values[0].array.tolist()


def test_a_retained_gradient_is_the_sum_that_is_formed_in_it() -> None:
    """As Paddle 3.3.1 does it: c + d in the place of c."""
    doubled = Op("mul_scalar", ("c",), ("d",), {"other": 10.0})
    mixed = Custom(("x", "x"), ("q",), (Op("mul", ("x", "x"), ("f",)),), ("f",), ("c",), ("c", "d"), (doubled,))
    case = Case((X,), (mixed, RetainGrad("q"), Op("sum", ("q",), ("z",), TOTAL), Backward(("z",))), "exact")
    _, kept = _summed_in_place(case).observations[3].state  # type: ignore[union-attr, misc]
    assert [11.0, 11.0] == kept.array.tolist()


def test_leaves_that_share_a_gradient_are_both_added_to_twice() -> None:
    """As Paddle 3.3.1 does it: 5 after three passes; through a view of one of them, too."""
    shared = Custom(("x", "v"), ("q",), (Op("add", ("x", "v"), ("f",)),), ("f",), ("c",), ("c", "c"))
    view, total = Op("reshape", ("y",), ("v",), {"shape": [2]}), Op("sum", ("q",), ("z",), TOTAL)
    case = Case((X, Y), (view, shared, total, *(Backward(("z",), retain_graph=True) for _ in range(3))), "exact")
    assert [[5.0, 5.0], [5.0, 5.0]] == [held.array.tolist() for held in _summed_in_place(case).final if held is not None]


def test_a_shared_gradient_was_seen_before_a_later_pass_added_to_it() -> None:
    """As Paddle 3.3.1 does it: 1, then 3."""
    shared = Custom(("x", "y"), ("q",), (Op("add", ("x", "y"), ("f",)),), ("f",), ("c",), ("c", "c"))
    passes = (Backward(("z",), retain_graph=True), Backward(("z",)))
    _, _, *seen = _summed_in_place(Case((X, Y), (shared, Op("sum", ("q",), ("z",), TOTAL), *passes), "exact")).observations
    assert [[1.0, 1.0], [3.0, 3.0]] == [one.state[0].array.tolist() for one in seen]  # type: ignore[union-attr, index]


def test_sums_that_nobody_shares_are_right_in_place() -> None:
    steps = (Op("add", ("x", "x"), ("a",)), Op("mul", ("a", "x"), ("b",)), Op("sum", ("b",), ("z",), TOTAL), Backward(("z",)))
    case = Case((X,), steps, "exact")
    assert Comparer(Promise(case, PADDLE_INFO)).run(_summed_in_place(case)).mismatch is None


def test_what_is_added_to_a_shared_gradient_hangs_on_the_root_that_a_pass_begins_with() -> None:
    """As Paddle 3.3.1 does it, which begins with either root: c + c + 1 for the other operand, if the sum runs before it is used."""
    shared = Custom(("a", "b"), ("q",), (Op("mul", ("a", "b"), ("f",)),), ("f",), ("c",), ("c", "c"))
    made = (Op("clone", ("x",), ("b",)), Op("clone", ("x",), ("a",)), Op("sum", ("b",), ("z",), TOTAL), shared)
    case = Case((X,), (*made, Grad(("z", "q"), ("x",), ("g",), (None, "x"))), "exact")
    found = [_summed_in_place(case, number).observations[4].values[0].array.tolist() for number in range(2)]  # type: ignore[union-attr]
    assert found == [[6.0, 8.0], [5.0, 7.0]]


@pytest.mark.parametrize(
    ("got", "borne"),
    [
        ([[1.0, 4.0], [2.0, 5.0]], True),  # the gradient of [[1, 2], [4, 5]], written by steps of 1 and 2
        ([[1.0, 4.0], [5.0, 2.0]], False),
        ([[2.0, 8.0], [4.0, 10.0]], False),
    ],
)
def test_a_narrow_that_takes_the_steps_of_a_view_for_those_of_its_gradient_writes_there(got: list[list[float]], borne: bool) -> None:
    seed = Input("s", (2, 2), (1.0, 2.0, 4.0, 5.0), differentiable=False)
    steps = (
        Op("transpose", ("m",), ("t",), {"axis0": 0, "axis1": 1}),
        Op("narrow_view", ("t",), ("v",), {"axis": 0, "start": 0, "length": 2, "copied": False}),
        Grad(("v",), ("t",), ("g",), ("s",)),
    )
    case = Case((Input("m", (2, 2), (1.0, 2.0, 3.0, 4.0)), seed), steps, "exact")
    assert borne == bears(entry(NARROWED), Promise(case, INFO), found(case, got))


@pytest.mark.parametrize("op", ["diagonal", "narrow_view", "expand"])
def test_a_narrow_of_a_view_counts_from_the_beginning_of_the_memory_and_not_of_a_copy(op: str) -> None:
    """As Paddle 3.3.1 does it, in which an expansion is a copy."""
    attrs = {
        "diagonal": {"offset": 1},
        "narrow_view": {"axis": 1, "start": 1, "length": 2, "copied": False},
        "expand": {"shape": [2, 2, 3]},
    }
    narrow = Op("narrow_view", ("v",), ("w",), {"axis": 0, "start": 1, "length": 1, "copied": False})
    case = Case((Input("m", (2, 3), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)),), (Op(op, ("m",), ("v",), attrs[op]), narrow), "exact")
    (change,) = RULES[NARROWED](())
    with change:
        (made,) = Promise(case, PADDLE_INFO).outcome.observations[1].values  # type: ignore[union-attr]
    assert {"diagonal": [5.0], "narrow_view": [[4.0, 5.0]], "expand": [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]}[op] == made.array.tolist()  # type: ignore[union-attr]


MATRIX = Input("m", (2, 3), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
SEED = Input("s", (2, 2), (10.0, 20.0, 30.0, 40.0), differentiable=False)


@pytest.mark.parametrize(
    ("got", "borne"),
    [
        ([[30.0, 0.0, 20.0], [10.0, 40.0, 0.0]], True),  # as Paddle 3.2.2 does it: the copy [1 4 2 5 3 6] by the steps 1 and 3
        ([[30.0, 10.0, 0.0], [40.0, 20.0, 20.0]], False),
        ([[30.0, 0.0, 10.0], [20.0, 40.0, 0.0]], False),
    ],
)
def test_the_gradient_of_an_indexed_view_is_written_to_a_copy_by_the_steps_of_the_view(got: list[list[float]], borne: bool) -> None:
    steps = (
        Op("transpose", ("m",), ("t",), {"axis0": 0, "axis1": 1}),
        Op("getitem_intarray", ("t",), ("y",), {"index": [[1, 0]]}),
        Grad(("y",), ("m",), ("g",), ("s",)),
    )
    case = Case((MATRIX, SEED), steps, "exact")
    assert borne == bears(entry(STEPPED), Promise(case, INFO), found(case, got))


@pytest.mark.parametrize(
    ("got", "borne"),
    [
        ([2.0, 7.0], True),  # the copy has two elements, and the second one is looked for behind them
        ([3.0, 7.0], False),
    ],
)
def test_of_what_is_read_behind_a_copy_nobody_can_say_what_it_is_and_of_the_rest_one_can(got: list[float], borne: bool) -> None:
    steps = (
        Op("getitem_slice", ("m",), ("c",), {"key": [[0, 2, 1], [1, 2, 1]]}),
        Op("getitem_intarray", ("c",), ("y",), {"index": [[0, 1], [0, 0]]}),
    )
    case = Case((MATRIX,), steps, "exact")
    assert borne == bears(entry(STEPPED), Promise(case, INFO), found(case, got))


def test_what_lies_in_a_row_is_indexed_rightly() -> None:
    case = Case((MATRIX,), (Op("getitem_intarray", ("m",), ("y",), {"index": [[1, 0]]}),), "exact")
    (change,) = RULES[STEPPED](())
    with change:
        (made,) = Promise(case, PADDLE_INFO).outcome.observations[0].values  # type: ignore[union-attr]
    assert [[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]] == made.array.tolist()  # type: ignore[union-attr]


BLOCK = Input("b", (2, 2, 2), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0))
COLUMN = Input("c", (2, 1, 1), (10.0, 20.0))
AT = {"axis": 2, "index": [[[0]], [[1]]]}


@pytest.mark.parametrize(
    ("operands", "op", "made"),
    [
        (("b",), "gather", [1.0, 4.0]),
        (("b", "c"), "scatter", [10.0, 2.0, 3.0, 20.0, 5.0, 6.0, 7.0, 8.0]),
        (("b", "c"), "scatter_add_to", [11.0, 2.0, 3.0, 24.0, 5.0, 6.0, 7.0, 8.0]),
    ],
)
def test_an_index_that_is_smaller_in_front_of_its_axis_runs_through_the_axes_there_as_through_one(
    operands: tuple[str, ...], op: str, made: list[float]
) -> None:
    """As the kernels of Paddle 3.2.2 do it: the second row of the index is that of ``b[0, 1]``, and not of ``b[1, 0]``."""
    case = Case((BLOCK, COLUMN), (Op(op, operands, ("y",), AT),), "exact")
    (change,) = RULES[JOINED](())
    with change:
        (values,) = Promise(case, PADDLE_INFO).outcome.observations[0].values  # type: ignore[union-attr]
    assert made == values.array.reshape(-1).tolist()  # type: ignore[union-attr]


@pytest.mark.parametrize(("got", "borne"), [([2.0, 0.0, 0.0, 3.0, *[0.0] * 4], True), ([2.0, 0.0, 3.0, 0.0, *[0.0] * 4], False)])
def test_so_does_the_gradient_of_what_it_takes(got: list[float], borne: bool) -> None:
    seed = Input("s", (2, 1, 1), (2.0, 3.0), differentiable=False)
    case = Case((BLOCK, seed), (Op("gather", ("b",), ("y",), AT), Grad(("y",), ("b",), ("g",), ("s",))), "exact")
    assert borne == bears(entry(JOINED), Promise(case, INFO), found(case, np.reshape(got, (2, 2, 2))))


def _summed_in_place(case: Case, number: int = 0) -> Outcome:
    with [*RULES["as if gradients were summed in place"](())][number]:
        return Promise(case, PADDLE_INFO).outcome


@pytest.mark.parametrize("written", ["h", "v"], ids=["the base", "the view"])
def test_a_write_changes_the_history_of_the_written_tensor_alone(written: str) -> None:
    """As Paddle 3.3.1 does it: elements of after the write, and for the other one the history of before."""
    theirs, own = [12.0, 96.0], [36.0, 288.0]  # 2 · 3 x^2 · 2 x, and three times that
    assert ([own, theirs] if written == "h" else [theirs, own]) == _gradients(_written_beside("view", written))


def test_what_a_shape_op_gives_back_has_the_history_of_the_written_tensor() -> None:
    """As Paddle 3.3.1 does it, where `reshape` to the shape that a tensor has returns that."""
    assert [[36.0, 288.0], [36.0, 288.0]] == _gradients(_written_beside("reshape", "h", by_all_names=True))


def test_what_a_node_kept_is_overwritten_through_a_view_whose_history_alone_changes() -> None:
    """As Paddle 3.3.1 does it: the node that made the base keeps its result, and refuses."""
    (refused, _) = _written_beside("view", "v", of="exp")
    assert isinstance(refused, Raised)
    assert refused.category is Category.IN_PLACE_VERSION


def _written_beside(op: str, written: str, *, of: str = "square", by_all_names: bool = False) -> list[Observation]:
    steps = (
        Op(of, ("x",), ("h",)),
        Op(op, ("h",), ("v",), {"shape": [2]}),
        InPlace("mul_scalar", written, (), {"other": 3.0}),
        Op("vecdot", ("h", "h"), ("b",)),
        Op("vecdot", ("v", "v"), ("c",)),
        Grad(("b",), ("x",), ("db",), retain_graph=True),
        Grad(("c",), ("x",), ("dc",)),
    )
    case = Case((Input("x", (2,), (1.0, 2.0)),), steps, "exact")
    with [*RULES["as if a write changed the history of one tensor alone"](())][by_all_names]:
        return Promise(case, PADDLE_INFO).outcome.observations[-2:]


def _gradients(seen: list[Observation]) -> list[list[float]]:
    return [one.values[0].array.tolist() for one in seen]  # type: ignore[union-attr]


def test_integers_have_no_roundings_and_bear_a_signature_or_not() -> None:
    wanted, got = np.array([1, 2]), np.array([1, 0])
    found = Mismatch(len(PRODUCT.steps) - 1, "value", "result", "right", "wrong", "g", "g", 0, wanted, got)
    assert [True, False] == [bears(entry(words), Promise(PRODUCT, INFO), found) for words in ("zeros", "off by 2 roundings of 1")]


def accumulated(first: float, got: float) -> bool:
    """Whether 2 and then 3, accumulated as ``x.grad``, may be ``got`` where another ``.grad`` is ``first`` and then 5 more."""
    inputs = tuple(Input(name, (1,), (1.0,)) for name in "xy") + tuple(
        Input(name, (1,), (number,), differentiable=False) for name, number in (("a", 2.0), ("b", first), ("c", 3.0), ("d", 5.0))
    )
    passes = (Backward(("x", "y"), ("a", "b")), Backward(("x", "y"), ("c", "d")))
    case = Case(inputs, passes, "exact")
    mismatch = Mismatch(1, "value", "grad", "right", "wrong", "x.grad", "x", 0, np.float32([5.0]), np.float32([got]))
    return bears(entry("what several accumulate in one memory"), Promise(case, INFO), mismatch)


@pytest.mark.parametrize(
    ("first", "got", "may_be"),
    [(2.0, 10.0, True), (2.0, 8.0, False), (2.5, 10.0, False), (2.0, 7.0, False)],
    ids=["of both", "of one twice", "apart at first", "of another"],
)
def test_gradients_in_one_memory_began_alike_and_hold_what_all_of_them_accumulate(first: float, got: float, may_be: bool) -> None:
    assert accumulated(first, got) is may_be


@pytest.mark.parametrize(
    ("got", "borne"),
    [([5.0, 9.0], True), ([2.0, 5.0], True), ([5.0, 8.5], False)],
    ids=["the cross entropy comes first", "it comes last", "a little beside"],
)
def test_the_gradient_of_a_cross_entropy_lies_where_the_shares_did_and_what_comes_behind_it_is_added_there(
    got: list[float], borne: bool
) -> None:
    """The shares are p = 1/2: first there is p - t + 2, then that less t and 2 more, which ``.grad`` is added to, as it lies there."""
    attrs = {"target": [0], "weight": None, "ignore_index": -100, "reduction": "sum"}
    made = Op("cross_entropy", ("x",), ("y",), attrs), Op("mul_scalar", ("x",), ("z",), {"other": 2.0})
    case = Case((Input("x", (1, 2), (0.0, 0.0), "float64"),), (*made, *[Backward(("y", "z"), retain_graph=True)] * 2))
    there = Mismatch(3, "value", "grad", "right", "wrong", "x.grad", "x", 0, np.array([[3.0, 5.0]]), np.array([got]))
    shared = entry("as if gradients of cross entropies lay where the shares did")
    assert borne == bears(shared, Promise(case, PADDLE_INFO), there)


@pytest.mark.parametrize(
    ("got", "borne"),
    [([3.0, 4.0], True), ([1.0, 1.0], True), ([1.0, 2.0], False), ([3.0, 4.5], False), ([[3.0, 4.0]], False)],
    ids=["what is made next", "where a call starts", "what was there before", "a little beside", "in another shape"],
)
def test_where_a_removed_gradient_lay_is_what_was_made_since(got: list[float], borne: bool) -> None:
    steps = (
        Op("mul_scalar", ("x",), ("y",), {"other": 0.5}),
        Grad(("x",), ("y",), ("g",), allow_unused=True),
        Op("add_scalar", ("y",), ("z",), {"other": 2.0}),
        Grad(("z",), ("y",), ("h",)),
    )
    case = Case((Input("x", (2,), (2.0, 4.0)),), steps, "exact")
    there = Mismatch(1, "absence", "result", "absent", "present", "g", "g", 0, None, np.array(got, np.float32))
    assert borne == bears(entry("what was made since"), Promise(case, INFO), there)


@pytest.mark.parametrize(
    ("got", "borne"),
    [(14.0, True), (10.0, True), (6.0, True), (7.0, False)],
    ids=["the result", "the product in it", "a derivative that no call asks for", "what nothing computes"],
)
def test_where_a_removed_variable_lay_is_any_array_that_was_computed_since(got: float, borne: bool) -> None:
    steps = (
        Grad(("x",), ("w",), ("g",), allow_unused=True),
        Op("linear", ("x", "w", "b"), ("y",)),
        Grad(("y",), ("w",), ("h",), ("s",)),
    )
    inputs = (Input("x", (1, 1), (5.0,)), Input("w", (1, 1), (2.0,)), Input("b", (1,), (4.0,)), Input("s", (1, 1), (3.0,)))
    there = Mismatch(0, "absence", "result", "absent", "present", "g", "g", 0, None, np.array([[got]], np.float32))
    assert borne == bears(entry("what was made since"), Promise(Case(inputs, steps, "exact"), INFO), there)
