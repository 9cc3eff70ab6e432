"""Of which ops a call takes a derivative, and of which order: by the ways from its roots to what it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conformance.backends import open_backend
from conformance.campaign.records import BackendRecord
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input
from conformance.case.differentiated import differentiated
from conformance.case.steps import Backward, Detach, Grad, InPlace, Op, SetRequiresGrad
from conformance.ops.orders import OF_PARTS
from conformance.report.derivatives import Derivatives, derivatives_of, in_words
from tests.report.samples import FOOTER, HEADER
from tests.wrong_engines import correct

if TYPE_CHECKING:
    from conformance.backends import Backend

X = Input("x", (2,), (0.5, 1.5))
W = Input("w", (2,), (1.0, 2.0))
TANH = Op("tanh", ("x",), ("y",))


def test_a_call_differentiates_the_ops_that_lead_from_its_roots_to_what_it_asks_for() -> None:
    case = Case((X, W), (TANH, Op("sin", ("w",), ("u",)), Op("mul", ("y", "u"), ("z",)), Grad(("z",), ("x",), ("g",))))
    assert {3: {"x": {"tanh": 1, "mul": 1}}} == differentiated(case)


def test_a_gradient_of_a_gradient_is_a_second_derivative_of_what_was_differentiated_and_a_first_one_of_the_rest() -> None:
    first = Grad(("y",), ("x",), ("g",), create_graph=True)
    case = Case((X,), (TANH, first, Op("mul", ("g", "x"), ("z",)), Backward(("z",))))
    assert {1: {"x": {"tanh": 1}}, 3: {"x": {"mul": 1, "tanh": 2}}} == differentiated(case)


def test_a_gradient_in_a_seed_is_a_derivative_of_what_the_seed_went_through() -> None:
    seeds = tuple(Input(name, (2,), (1.0, 2.0)) for name in "stu")
    first = Grad(("y", "c"), ("x", "w"), ("g", "b"), ("s", "t"), create_graph=True)
    second = Grad(("g",), ("s", "t"), ("h", "k"), ("u",), create_graph=True)
    case = Case((X, W, *seeds), (TANH, Op("cos", ("w",), ("c",)), first, second, Grad(("h",), ("u", "x"), ("p", "q"))))
    assert {3: {"s": {"tanh": 2}, "t": {}}, 4: {"u": {"tanh": 3}, "x": {"tanh": 3}}} == {
        number: call for number, call in differentiated(case).items() if number > 2
    }


def test_a_root_beside_a_gradient_is_differentiated_once() -> None:
    first = Grad(("y",), ("x",), ("g",), create_graph=True)
    case = Case((X,), (TANH, first, Op("cos", ("x",), ("c",)), Grad(("g", "c"), ("x",), ("h",))))
    assert {"x": {"tanh": 2, "cos": 1}} == differentiated(case)[3]


def test_a_gradient_without_a_graph_ends_the_way() -> None:
    case = Case((X,), (TANH, Grad(("y",), ("x",), ("g",)), Op("mul", ("g", "x"), ("z",)), Backward(("z",))))
    assert {"x": {"mul": 1}} == differentiated(case)[3]


def test_what_is_detached_or_computed_inside_no_grad_is_not_differentiated() -> None:
    quiet = Op("sin", ("x",), ("s",), no_grad=True)
    case = Case(
        (X,), (TANH, Detach("y", ("d",)), quiet, Op("mul", ("d", "x"), ("p",)), Op("mul", ("p", "s"), ("z",)), Backward(("z",)))
    )
    assert {5: {"x": {"mul": 1}}} == differentiated(case)


def test_an_update_in_place_is_differentiated_with_what_was_before_it() -> None:
    case = Case((X,), (TANH, InPlace("exp", "y"), Backward(("y",))))
    assert {2: {"x": {"tanh": 1, "exp": 1}}} == differentiated(case)


def test_a_constant_that_is_told_to_be_a_leaf_is_one() -> None:
    constant = Input("x", (2,), (0.5, 1.5), differentiable=False)
    case = Case((constant,), (SetRequiresGrad("x", True), TANH, Backward(("y",), ("x",))))
    assert {2: {"x": {"tanh": 1}}} == differentiated(case)


def test_the_op_that_made_what_is_asked_for_is_not_differentiated() -> None:
    case = Case((X,), (TANH, Op("sin", ("y",), ("z",)), Grad(("z",), ("y",), ("g",))))
    assert {2: {"y": {"sin": 1}}} == differentiated(case)


def test_each_gradient_hangs_on_the_ops_between_the_root_and_what_it_is_of() -> None:
    case = Case((X, W), (TANH, Op("mul", ("y", "w"), ("z",)), Grad(("z",), ("x", "w"), ("g", "h"))))
    assert {2: {"x": {"tanh": 1, "mul": 1}, "w": {"mul": 1}}} == differentiated(case)


def counted(case: Case, engine: Backend) -> dict[str, int]:
    counts = run_case(case, [engine]).verdicts[engine.info.name].counts
    return {key.removeprefix("derivative of "): count for key, count in counts.items() if key.startswith("derivative of ")}


def test_a_run_counts_no_call_that_is_refused() -> None:
    refused = Backward(("y",), ("x",))
    case = Case((X,), (TANH, Backward(("y",), ("x",), retain_graph=True), Backward(("y",), ("x",)), refused))
    assert {"tanh @1": 2} == counted(case, correct())


def test_a_run_counts_each_gradient_that_hangs_on_a_derivative_of_an_op() -> None:
    case = Case((X, W), (TANH, Op("mul", ("y", "w"), ("z",)), Grad(("z",), ("x", "w"), ("g", "h"), ("w",))))
    assert {"tanh @1": 1, "mul @1": 2} == counted(case, correct())


def test_a_run_counts_no_gradient_that_is_absent() -> None:
    first = Grad(("y",), ("x",), ("g",), ("s",), create_graph=True)
    second = Grad(("g",), ("x", "s"), ("h", "k"), ("w",), allow_unused=True)
    seed = Input("s", (2,), (1.0, 2.0))
    assert {"neg @1": 1, "neg @2": 1} == counted(Case((X, W, seed), (Op("neg", ("x",), ("y",)), first, second)), correct())


def test_a_gradient_counts_that_agrees_beside_one_that_does_not() -> None:
    engine = open_backend("conformance.mutants.engines:mul-x-sign")
    case = Case((X, W), (Op("mul", ("x", "w"), ("y",)), Grad(("y",), ("w", "x"), ("h", "g"), ("w",))))
    assert {"mul @1": 1} == counted(case, engine)


def test_the_op_with_the_fewest_cases_is_named_for_each_order() -> None:
    found = Derivatives(["torch"], [("exp", [1, 0, 0]), ("sin", [2, 1, 0]), ("tanh", [9, 3, 1])], [])
    assert [
        "  torch: derivatives of order 1 of 3 ops: half of them in 2 gradients or more, exp in 1",
        "  torch: derivatives of order 2 of 2 ops: half of them in 2 gradients or more, sin in 1",
        "  torch: derivatives of order 3+ of 1 op: half of them in 1 gradient or more, tanh in 1",
    ] == [*in_words(found, ["torch"])]


def compared(**counts: int) -> Derivatives:
    keys = {f"derivative of {op.replace('_', ' @')}": count for op, count in counts.items()}
    described = BackendRecord("torch", "1", "torch", {}, orders={"exp": 2, "sin": 1, "vstack": OF_PARTS})
    footer, header = (msgspec.structs.replace(FOOTER, counts={"torch": keys}), msgspec.structs.replace(HEADER, backends=(described,)))
    return derivatives_of(footer, ["torch"], header)


def test_pairs_that_were_compared_too_seldom_are_named_also_where_nothing_was() -> None:
    (pairs,) = compared(exp_1=300, sin_1=299).pairs
    assert "1 of 4 pairs of op and order were compared in 300 gradients or more" == pairs.in_words()
    assert [(0, "exp", 2), (0, "vstack", 1), (299, "sin", 1)] == pairs.seldom
    assert "  PyTorch: 1 of 4 pairs" in (line := [*in_words(compared(exp_1=300, sin_1=299), ["PyTorch"])][-1])
    assert line.endswith("; the others: exp @2 in 0, vstack @1 in 0, sin @1 in 299")


def test_of_a_run_of_some_ops_no_others_are_missed() -> None:
    header = msgspec.structs.replace(
        HEADER, ops=("exp",), backends=(BackendRecord("torch", "1", "torch", {}, orders={"exp": 2, "sin": 1}),)
    )
    (pairs,) = derivatives_of(msgspec.structs.replace(FOOTER, counts={"torch": {"derivative of sin @1": 2}}), ["torch"], header).pairs
    assert [(0, "exp", 1), (0, "exp", 2)] == pairs.seldom


def test_an_order_beyond_those_of_an_op_is_not_missed_where_it_was_compared_now_and_then() -> None:
    assert [4, 4] == [compared(exp_3=count).pairs[0].offered for count in (0, 7)]


def test_a_formula_has_the_orders_that_were_compared() -> None:
    assert [4, 5] == [compared(vstack_2=count).pairs[0].offered for count in (0, 7)]


def test_the_page_marks_what_was_compared_too_seldom() -> None:
    assert [(300, ""), (0, "gap"), (0, "soft")] == dict(compared(exp_1=300).cells())["exp"]
