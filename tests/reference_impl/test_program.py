"""Programs: what is recorded, what `gradients` and `append_backward` append, and what a run computes."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from reference_impl import OPS, PADDLE_STATIC, SGD, AutogradError, Category, Program, Variable, append_backward, gradients, run
from reference_impl.static.transform import CURRENT_OPERATOR

add, mul, cube, chunk, topk, top = (OPS[name] for name in ("add", "mul", "pow_scalar", "split", "topk", "max"))
FED = {"x": np.array([1.0, 2.0]), "w": np.array([3.0, 4.0])}
FED_X = {"x": FED["x"]}


@pytest.fixture
def program() -> Program:
    return Program()


@pytest.fixture
def x(program: Program) -> Variable:
    return program.data("x", (2,), "float64", stop_gradient=False)


@pytest.fixture
def w(program: Program) -> Variable:
    return program.data("w", (2,), "float64", stop_gradient=False)


def elements(program: Program, *fetch: Variable | None) -> list[Any]:
    fed = {name: array for name, array in FED.items() if name in program.blocks[0].variables}
    return [None if a is None else a.tolist() for a in run(program, fed, fetch)]


# Recording.


def test_an_op_on_a_variable_is_recorded_and_not_run(x: Variable) -> None:
    y = mul(x, x)
    assert [y] == [v for op in x.program.operators for v in op.outputs]


def test_a_recorded_op_knows_its_shape_and_dtype(x: Variable) -> None:
    made = OPS["outer"](x, np.ones(3))
    assert ((2, 3), np.float64) == (made.shape, made.dtype)


def test_a_run_computes_what_is_fetched(program: Program, x: Variable, w: Variable) -> None:
    assert [[3.0, 8.0]] == elements(program, mul(x, w))


def test_a_program_runs_again_on_other_elements(program: Program, x: Variable) -> None:
    y = mul(x, x)
    assert [1.0, 9.0] == [float(run(program, {"x": np.full(2, number)}, [y])[0][0]) for number in (1.0, 3.0)]  # type: ignore[index]


def test_a_variable_that_is_not_fed_is_refused(program: Program, x: Variable) -> None:
    with pytest.raises(AutogradError, match="not fed"):
        run(program, {}, [mul(x, x)])


def test_an_array_of_another_shape_is_refused(program: Program, x: Variable) -> None:
    with pytest.raises(AutogradError, match="shape"):
        run(program, {"x": np.ones(3)}, [x])


def test_an_operator_belongs_to_the_block_that_is_open(program: Program, x: Variable) -> None:
    with program.block() as inner:
        y = mul(x, x)
    mul(x, y)
    assert ([[y]], 1) == ([list(op.outputs) for op in inner.operators], len(program.blocks[0].operators))


def test_a_variable_of_an_inner_block_stops_gradients_like_any_other(program: Program, x: Variable) -> None:
    with program.block():
        y = mul(x, x)
    y.stop_gradient = True
    assert [[1.0, 4.0]] == elements(program, *gradients(mul(y, x), x))


def test_ops_in_a_no_grad_region_stop_gradients(program: Program, x: Variable) -> None:
    with program.no_grad():
        y = mul(x, x)
    assert [[1.0, 4.0]] == elements(program, *gradients(mul(y, x), x))


# gradients.


def test_gradients_appends_and_computes_nothing(program: Program, x: Variable, monkeypatch: pytest.MonkeyPatch) -> None:
    y = mul(x, x)
    before = list(program.operators)
    monkeypatch.setattr(sys.modules["reference_impl.static.program"], "run", None)
    gradients(y, x)
    assert (before, True) == (program.operators[: len(before)], len(program.operators) > len(before))


def test_gradients_of_several_targets_add_up(program: Program, x: Variable) -> None:
    y = mul(x, x)
    assert [[3.0 + 2.0, 12.0 + 4.0]] == elements(program, *gradients([y, mul(y, x)], [x]))


def test_fan_out_is_summed(program: Program, x: Variable) -> None:
    assert [[3.0, 5.0]] == elements(program, *gradients(add(mul(x, x), x), x))


def test_a_target_that_stands_twice_counts_twice(program: Program, x: Variable) -> None:
    y = mul(x, x)
    assert [[4.0, 8.0]] == elements(program, *gradients([y, y], x))


def test_a_target_gradient_is_the_seed(program: Program, x: Variable, w: Variable) -> None:
    assert [[6.0, 16.0]] == elements(program, *gradients(mul(x, x), x, w))


def test_none_among_the_target_gradients_is_ones(program: Program, x: Variable, w: Variable) -> None:
    assert [[8.0, 20.0]] == elements(program, *gradients([mul(x, x), mul(x, x)], x, [None, w]))


def test_an_input_that_is_a_target_gets_its_seed(program: Program, x: Variable, w: Variable) -> None:
    assert [[3.0, 4.0]] == elements(program, *gradients(x, x, w))


def test_an_intermediate_input_gets_the_sum_of_its_uses(program: Program, x: Variable) -> None:
    y = mul(x, x)
    assert [[2.0, 8.0]] == elements(program, *gradients(mul(y, y), y))


def test_an_input_without_effect_has_no_gradient(x: Variable, w: Variable) -> None:
    assert [None] == gradients(mul(x, x), w)


def test_an_input_that_stops_gradients_has_none(program: Program, x: Variable) -> None:
    constant = program.data("c", (2,), "float64")
    assert [None] == gradients(mul(x, constant), constant)


def test_nothing_flows_through_the_no_grad_set(program: Program, x: Variable) -> None:
    y = mul(x, x)
    assert [[1.0, 4.0]] == elements(program, *gradients(mul(y, x), x, no_grad_set={y}))


def test_the_no_grad_set_may_hold_names(program: Program, x: Variable, w: Variable) -> None:
    assert [None, [1.0, 2.0]] == elements(program, *gradients(mul(x, w), [x, w], no_grad_set={"x"}))


def test_a_flag_set_after_the_op_was_recorded_counts(program: Program, x: Variable) -> None:
    y = mul(x, x)
    z = mul(y, x)
    y.stop_gradient = True
    assert [[1.0, 4.0]] == elements(program, *gradients(z, x))


def test_an_unused_output_of_an_op_with_several_counts_as_zero(program: Program, x: Variable) -> None:
    _, last = chunk(x, sections=(1, 1), axis=0)
    assert [[0.0, 1.0]] == elements(program, *gradients(last, x))


def test_positions_that_are_known_at_run_time_alone_lead_the_gradient(program: Program, x: Variable) -> None:
    assert [[0.0, 1.0]] == elements(program, *gradients(topk(x, k=1, axis=0), x))


def test_ties_follow_the_dialect(program: Program) -> None:
    flat = program.data("flat", (2,), "float64", stop_gradient=False)
    (gradient,) = gradients(top(flat, axis=0, keepdims=False), flat)
    (found,) = run(program, {"flat": np.ones(2)}, [gradient])
    assert found is not None
    assert found.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("base", "exponent", "by_base", "by_exponent"),
    [
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 2.0, 0.0, 0.0),
        (np.nan, 0.0, 0.0, np.nan),
        (0.0, -1.0, -np.inf, -np.inf),
        (2.0, 0.0, 0.0, np.log(2.0)),
    ],
)
def test_a_power_has_the_gradients_of_its_elements(base: float, exponent: float, by_base: float, by_exponent: float) -> None:
    program = Program()
    x, y = (program.data(name, (1,), "float64", stop_gradient=False) for name in "xy")
    with np.errstate(all="ignore"):
        found = run(program, {"x": [base], "y": [exponent]}, gradients(OPS["pow"](x, y), [x, y]))
    assert np.array_equal([[by_base], [by_exponent]], np.array(found), equal_nan=True)


def test_gradients_of_gradients_to_the_third_order(program: Program, x: Variable) -> None:
    derivative = cube(x, exponent=3.0)
    found = [derivative := gradients(derivative, x)[0] for _ in range(3)]
    assert [[3.0, 12.0], [6.0, 12.0], [6.0, 6.0]] == elements(program, *found)


def test_a_gradient_can_be_differentiated_in_its_seed(program: Program, x: Variable, w: Variable) -> None:
    (first,) = gradients(mul(x, x), x, w)
    assert first is not None
    assert [[2.0, 4.0]] == elements(program, *gradients(first, w))


@pytest.mark.parametrize(
    ("shape", "dtype", "count", "category"),
    [
        ((3,), "float64", 1, Category.SEED_SHAPE),
        ((2,), "float32", 1, Category.DTYPE),
        ((2,), "float64", 2, Category.SEED_LENGTH),
    ],
)
def test_an_unfit_target_gradient_is_refused(
    program: Program, x: Variable, shape: tuple[int, ...], dtype: str, count: int, category: Category
) -> None:
    seed = program.data("s", shape, dtype)
    with pytest.raises(AutogradError) as refused:
        gradients(mul(x, x), x, [seed] * count)
    assert refused.value.category is category


def test_a_derivative_that_is_not_offered_is_refused(x: Variable) -> None:
    (first,) = gradients(OPS["exp"](x), x)
    assert first is not None
    with pytest.raises(AutogradError) as refused:
        gradients(first, x)
    assert (Category.NOT_IMPLEMENTED, 1) == (refused.value.category, PADDLE_STATIC.conventions.highest_order("exp"))


# append_backward.


@pytest.fixture
def loss(program: Program, x: Variable) -> Variable:
    first, second = program.parameter("p", np.array([3.0, 4.0])), program.parameter("q", np.array([5.0, 6.0]))
    return OPS["sum"](mul(mul(first, x), second), axis=None, keepdims=False)  # type: ignore[no-any-return]


def test_every_parameter_comes_back_with_its_gradient(program: Program, loss: Variable) -> None:
    pairs = append_backward(loss)
    found = [p.name for p, _ in pairs], elements(program, *(g for _, g in pairs))
    assert (["p", "q"], [[5.0, 12.0], [3.0, 8.0]]) == found


def test_the_forward_part_stays_as_it_is(program: Program, loss: Variable) -> None:
    before = [(repr(op), op.attrs) for op in program.operators]
    append_backward(loss)
    assert before == [(repr(op), op.attrs) for op in program.operators[: len(before)]]


@pytest.mark.parametrize("given", ["q", None])
def test_a_parameter_list_holds_variables_or_names(program: Program, loss: Variable, given: str | None) -> None:
    pairs = append_backward(loss, [given or program.find("q")])
    assert ["q"] == [p.name for p, _ in pairs]


def test_a_parameter_that_does_not_matter_has_no_gradient(program: Program, loss: Variable) -> None:
    unused = program.parameter("r", np.ones(2))
    assert None is dict(append_backward(loss))[unused]


def test_a_name_that_no_variable_has_is_refused(loss: Variable) -> None:
    with pytest.raises(AutogradError, match="no variable"):
        append_backward(loss, ["nobody"])


@pytest.mark.parametrize("given", [1.5, "loss", None, np.ones(())])
def test_a_loss_that_is_no_variable_is_an_assertion_error(given: Any) -> None:
    with pytest.raises(AssertionError):
        append_backward(given)


def test_a_callback_is_called_once_for_every_operator_that_is_differentiated(loss: Variable) -> None:
    forward = list(loss.program.operators)
    primals = []
    append_backward(loss, callbacks=[lambda _, context: primals.append(context[CURRENT_OPERATOR].primal)])
    assert forward[::-1] == primals


def test_every_callback_is_called(loss: Variable) -> None:
    calls = []
    append_backward(loss, callbacks=[lambda *_: calls.append("a"), lambda *_: calls.append("b")])
    assert ["a", "b"] * 3 == calls


def test_the_context_maps_the_names_of_gradients_to_their_variables(program: Program, loss: Variable) -> None:
    seen: dict[str, Variable] = {}
    append_backward(loss, callbacks=[lambda _, context: seen.update({k: v for k, v in context.items() if k != CURRENT_OPERATOR})])
    primals = {program.find(name).shape == primal.shape and name.startswith(f"{primal.name}@GRAD") for name, primal in seen.items()}
    assert ({True}, {"p", "q"}) == (primals, {v.name for v in seen.values()} & {"p", "q"})


def test_the_block_is_that_of_the_differentiated_operator(program: Program, loss: Variable) -> None:
    blocks = []
    append_backward(loss, callbacks=[lambda block, _: blocks.append(block)])
    assert [program.blocks[0]] * 3 == blocks


# minimize.


def test_minimize_updates_the_parameters_in_every_run(program: Program, x: Variable) -> None:
    weight = program.parameter("p", np.array([3.0, 4.0]))
    SGD(0.5).minimize(OPS["sum"](mul(weight, x), axis=None, keepdims=False))
    values = []
    for _ in range(2):
        run(program, FED_X)
        values.append(program.values[weight].tolist())
    assert [[2.5, 3.0], [2.0, 2.0]] == values


def test_a_run_fetches_parameters_from_before_the_update(program: Program, x: Variable) -> None:
    weight = program.parameter("p", np.array([3.0, 4.0]))
    SGD(0.5).minimize(OPS["sum"](mul(weight, x), axis=None, keepdims=False))
    assert [[3.0, 4.0]] == elements(program, weight)
