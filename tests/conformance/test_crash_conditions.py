"""Scripts that killed Paddle or PyTorch in a campaign: what an entry asks of them holds, and does not where the cause is taken away."""

from __future__ import annotations

import pytest

from conformance.case.case import Case, Input
from conformance.case.steps import Backward, Custom, Grad, Hook, Op, Step
from conformance.deviations.conditions import CONDITIONS
from tests.conformance.engines import TOTAL

X = Input("x", (1, 3), (1.0, 2.0, 3.0))
Y = Input("y", (1, 3), (3.0, 1.0, 2.0))


def holds(name: str, *steps: Step) -> bool:
    return CONDITIONS[name].holds(Case((X, Y), steps), len(steps) - 1)


@pytest.mark.parametrize(("first", "lone"), [("g", True), ("y", False)])
def test_a_derivative_may_be_a_constant_operand(first: str, lone: bool) -> None:
    derivative = Grad(("x",), ("x",), ("g",), create_graph=True)
    cross = Op("cross", (first, "x"), ("c",), {"axis": 1})
    call = Grad(("t",), ("x", "y"), ("h", "k"), allow_unused=True)
    assert holds("lone_gradient", derivative, cross, Op("sum", ("c",), ("t",), TOTAL), call) is lone


@pytest.mark.parametrize(("cut", "lone"), [(("x",), True), (("t",), False), (None, False)])
def test_no_grad_vars_cut_an_operand_off(cut: tuple[str, ...] | None, lone: bool) -> None:
    cross = Op("cross", ("x", "x"), ("c",), {"axis": 1})
    assert holds("lone_gradient", cross, Op("sum", ("c",), ("t",), TOTAL), Grad(("c",), ("x",), ("g",), no_grad_vars=cut)) is lone


@pytest.mark.parametrize("outputs", [("m", "f"), ("f",)])
@pytest.mark.parametrize("gradient", ["d", None])
def test_a_custom_function_that_returned_an_operand_made_it_for_paddle(outputs: tuple[str, ...], gradient: str | None) -> None:
    made = Op("mul", ("x", "y"), ("m",))
    forward = (Op("mul", ("m", "m"), ("f",)),)
    custom = Custom(("m",), ("p", "q")[: len(outputs)], forward, outputs, ("d", "e")[: len(outputs)], (gradient,))
    call = Grad(("t",), ("x",), ("g",))
    assert holds("custom_gives_none", made, custom, Op("sum", ("m",), ("t",), TOTAL), call) is ("m" in outputs and gradient is None)


@pytest.mark.parametrize(
    ("roots", "call", "dies"), [(("p",), Grad, True), (("p", "q"), Grad, False), (("x",), Grad, False), (("p",), Backward, False)]
)
def test_a_result_of_a_custom_function_that_no_root_uses_has_no_gradient(
    roots: tuple[str, ...], call: type[Grad | Backward], dies: bool
) -> None:
    forward = Op("sin", ("x",), ("f",)), Op("cos", ("x",), ("k",))
    custom = Custom(("x",), ("p", "q"), forward, ("f", "k"), ("d", "e"), ("d",))
    assert holds("custom_result_unused", custom, Grad(roots, ("x",), ("g",)) if call is Grad else Backward(roots)) is dies


@pytest.mark.parametrize(("create_graph", "passes", "dies"), [(True, 2, True), (False, 2, False), (True, 1, False)])
def test_a_gradient_that_was_a_seed_may_be_a_view_that_was_added_to(create_graph: bool, passes: int, dies: bool) -> None:
    turned = Op("transpose", ("x",), ("v",), {"axis0": 0, "axis1": 1})
    made = Grad(("v",), ("x",), ("g",), ("s",), create_graph=create_graph)
    added = [Backward(("x",), ("g",))] * passes
    assert holds("hook_on_view_added_to", turned, made, *added, Hook("g", ("h",), "nothing")) is dies


@pytest.mark.parametrize(("seeds", "seed", "dies"), [((), "z", True), ((), "x", False), (("x", "x"), "z", False)])
def test_an_empty_list_of_seeds_leaves_a_derivative_whose_seed_may_have_a_wrong_shape(
    seeds: tuple[str, ...], seed: str, dies: bool
) -> None:
    """Two seeds of one root are refused by Paddle, too, so there is no derivative."""
    derivative = Grad(("q",), ("x",), ("g",), seeds, create_graph=True)
    square = Op("mul", ("x", "x"), ("q",))
    total = Op("sum", ("x",), ("z",), TOTAL)
    assert holds("seed_shape_refused", square, total, derivative, Grad(("g",), ("x",), ("h",), (seed,))) is dies


@pytest.mark.parametrize("create_graph", [True, False])
def test_a_gradient_that_is_refused_and_answered_is_a_constant(create_graph: bool) -> None:
    """Paddle frees nothing, so it has a gradient where none is promised; with a graph it may require one."""
    square, total = Op("mul", ("x", "x"), ("q",)), Op("sum", ("q",), ("z",), TOTAL)
    again = Grad(("z",), ("x",), ("g",), create_graph=create_graph)
    broadcast = Op("broadcast_tensors", ("x", "g"), ("b",))
    assert holds("constant_in_grid", square, total, Grad(("z",), ("x",), ("f",)), again, broadcast) is not create_graph


@pytest.mark.parametrize(
    ("reduction", "weight", "beside"), [("none", None, True), ("none", (1.0, 1.0, 1.0), False), ("mean", None, False)]
)
def test_the_loss_of_each_sample_is_made_beside_the_softmax_where_labels_are_smoothed(
    reduction: str, weight: tuple[float, ...] | None, beside: bool
) -> None:
    """An unweighted one that is asked for by itself is read from a slot that nothing is in; see the finding paddle-slot-of-several."""
    loss = Op(
        "cross_entropy_smoothed", ("x",), ("z",), {"target": (1,), "weight": weight, "label_smoothing": 0.1, "reduction": reduction}
    )
    assert holds("input_of_several", loss, Grad(("z",), ("z",), ("g",), ("z",))) is beside


@pytest.mark.parametrize(
    ("op", "asked", "refused"), [("fmax", "g", True), ("maximum", "g", True), ("mul", "g", False), ("fmax", "z", False)]
)
def test_a_program_may_be_refused_the_gradient_of_a_derivative_that_has_none(op: str, asked: str, refused: bool) -> None:
    """What had been added to it until then stays there, and ends the process; see paddle-static-refused-leaves-operators."""
    made = Op(op, ("x", "y"), ("z",))
    derivative = Grad(("z",), ("x",), ("g",), create_graph=True)
    assert holds("gradients_refused", made, derivative, Grad((asked,), ("x",), ("h",), allow_unused=True)) is refused


def test_a_program_is_refused_the_second_derivative_of_what_is_made_by_setting_parts() -> None:
    made = Op("householder_product", ("v", "t"), ("z",))
    derivative = Grad(("z",), ("v",), ("g",), create_graph=True)
    case = Case((Input("v", (2, 1), (1.0, 3.0)), Input("t", (1,), (1.5,))), (made, derivative, Grad(("g",), ("t",), ("h",))))
    assert CONDITIONS["gradients_refused"].holds(case, 2)


@pytest.mark.parametrize(("seed", "is_operand"), [("x", True), ("s", True), ("y", True), ("t", False)])
def test_a_seed_of_a_derivative_may_be_an_operand_of_the_operator_that_made_it(seed: str, is_operand: bool) -> None:
    made = Op("sub", ("y", "x"), ("z",))
    derivative = Grad(("z",), ("x",), ("g",), ("s",), create_graph=True)
    assert holds("operand_is_seed", made, derivative, Grad(("g",), ("s",), ("h",), (seed,))) is is_operand


@pytest.mark.parametrize(
    ("op", "operands", "added"), [("add", ("x", "c"), True), ("add", ("x", "y"), False), ("sub", ("x", "c"), False)]
)
def test_a_constant_is_added_in_a_program(op: str, operands: tuple[str, ...], added: bool) -> None:
    case = Case((X, Y, Input("c", (1, 3), (1.0, 1.0, 1.0), differentiable=False)), (Op(op, operands, ("z",)),))
    assert CONDITIONS["constant_added"].holds(case, 0) is added


@pytest.mark.parametrize(("cut", "in_part"), [(("x",), True), (("x", "y"), False), (None, False)])
def test_no_grad_set_holds_what_is_joined_constant_in_part(cut: tuple[str, ...] | None, in_part: bool) -> None:
    joined = Op("stack", ("x", "y"), ("z",), {"axis": 0})
    assert holds("constant_among_several", joined, Grad(("z",), ("y",), ("g",), no_grad_vars=cut)) is in_part


@pytest.mark.parametrize(
    ("logits", "target", "roots", "seeds", "dies"),
    [
        ("v", [0, 0, 0], ("l", "t"), ("s", "t"), True),
        ("v", [0, 0, 0], ("e", "t"), ("s", "t"), True),
        ("v", [0, 0, 0], ("e", "t"), ("l", "t"), False),
        ("v", [0, 0, 0], ("l",), ("s",), False),
        ("x", [1], ("l", "t"), ("s", "t"), False),
    ],
    ids=["losses", "what is made of losses", "a seed of their shape", "no other root", "one loss"],
)
def test_another_root_adds_to_a_seed_that_has_not_the_shape_of_smoothed_losses(
    logits: str, target: list[int], roots: tuple[str, ...], seeds: tuple[str, ...], dies: bool
) -> None:
    turned = Op("transpose", ("x",), ("v",), {"axis0": 0, "axis1": 1})
    attrs = {"reduction": "none", "target": target, "weight": None, "label_smoothing": 0.25}
    made = [Op("cross_entropy_smoothed", (logits,), ("l",), attrs), Op("exp", ("l",), ("e",)), Op("sum", ("l",), ("t",), TOTAL)]
    seed = Op("sum", (logits,), ("s",), {"axis": [1], "keepdims": False})
    assert holds("seed_shape_refused", turned, *made, seed, Grad(roots, ("x",), ("g",), seeds)) is dies


@pytest.mark.parametrize(
    ("differentiable", "rows", "cut", "dies"),
    [(False, 2, None, True), (True, 2, ("w",), True), (True, 2, None, False), (False, (2, 1), None, False)],
    ids=["a constant", "what a call cuts", "no constant", "a matrix"],
)
def test_the_second_derivative_of_a_product_of_two_vectors_may_have_no_place_for_a_constant(
    differentiable: bool, rows: int | tuple[int, int], cut: tuple[str, ...] | None, dies: bool
) -> None:
    shape = (rows,) if isinstance(rows, int) else rows
    product = Op("matmul", ("x", "w"), ("y",))
    first = Grad(("y",), ("x",), ("g",), ("s",), create_graph=True)
    second = Grad(("g",), ("s",), ("h",), no_grad_vars=cut)
    inputs = (Input("x", (2,), (1.0, 2.0)), Input("w", shape, (3.0, 4.0), differentiable=differentiable), Input("s", shape[1:], (1.0,)))
    case = Case(inputs, (product, first, second))
    asked = CONDITIONS["second_of_vectors_with_constant"].holds
    assert [False, False, dies] == [asked(case, number) for number in range(3)]


@pytest.mark.parametrize(("first", "unknown"), [("x", True), ("y", False)])
def test_what_a_mask_selected_has_a_length_that_no_program_knows(first: str, unknown: bool) -> None:
    masked = Op("getitem_mask", ("x",), ("m",), {"mask": [True]})
    of_it = Op("sin", ("m",), ("s",))
    again = Op("getitem_mask", ("s" if first == "x" else first,), ("z",), {"mask": [True]})
    assert holds("length_known_to_no_program", masked, of_it, again) is unknown


@pytest.mark.parametrize(("op", "reflects"), [("householder_product", True), ("mul", False)])
def test_reflections_are_taken_off_a_constant(op: str, reflects: bool) -> None:
    assert holds("reflects", Op(op, ("x", "y"), ("z",))) is reflects


@pytest.mark.parametrize(
    ("op", "operands", "multiplies"),
    [("outer", ("x", "c"), True), ("outer", ("x", "y"), False), ("margin_ranking_loss", ("x", "y"), True), ("add", ("x", "c"), False)],
)
def test_a_product_with_a_constant_has_other_names(op: str, operands: tuple[str, ...], multiplies: bool) -> None:
    case = Case((X, Y, Input("c", (1, 3), (1.0, 1.0, 1.0), differentiable=False)), (Op(op, operands, ("z",)),))
    assert CONDITIONS["constant_factor"].holds(case, 0) is multiplies


@pytest.mark.parametrize(("op", "order", "refused"), [("abs", 3, True), ("abs", 2, False), ("sin", 3, False)])
def test_a_program_may_be_refused_a_derivative_of_a_higher_order_than_an_op_has(op: str, order: int, refused: bool) -> None:
    calls = [Grad((f"g{i}",), ("x",), (f"g{i + 1}",), create_graph=True) for i in range(order)]
    assert holds("gradients_refused", Op(op, ("x",), ("g0",)), *calls) is refused


@pytest.mark.parametrize(
    ("seeds", "constant"), [(("x", "c"), True), (("x", "y"), False), (("c", "c"), True), (("c", None), True), (("c",), False)]
)
def test_one_of_several_targets_has_a_constant_seed(seeds: tuple[str | None, ...], constant: bool) -> None:
    squares = [Op("square", (name,), (f"{name}2",)) for name in ("x", "y")]
    call = Grad(("x2", "y2")[: len(seeds)], ("x",), ("g",), seeds)
    case = Case((X, Y, Input("c", (1, 3), (1.0, 1.0, 1.0), differentiable=False)), (*squares, call))
    assert CONDITIONS["constant_seed_of_several"].holds(case, 2) is constant
