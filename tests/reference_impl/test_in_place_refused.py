"""In-place updates that are refused, and passes that are refused after them."""

from __future__ import annotations

import numpy as np
import pytest

from reference_impl import (
    OPS,
    PADDLE,
    TORCH,
    Category,
    Dialect,
    set_requires_grad,
    tensor,
)
from tests.reference_impl.vocabulary import FIRST, both, copied, elements, leaf, refusal, slope, write

# What a pass refuses.


@both
@pytest.mark.parametrize("op", ["square", "sin", "log", "cos", "abs"])
def test_a_pass_refuses_what_kept_an_operand_that_was_written_since(op: str, dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    h = copied(x)
    y = OPS[op](h)
    write("add_scalar", h, dialect=dialect, other=1.0)
    assert refusal(lambda: slope(y, x, dialect)) == Category.IN_PLACE_VERSION


@both
@pytest.mark.parametrize("op", ["exp", "tanh", "sqrt", "sigmoid", "relu"])
def test_a_pass_refuses_what_kept_a_result_that_was_written_since(op: str, dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    y = OPS[op](x)
    write("add_scalar", y, dialect=dialect, other=1.0)
    assert refusal(lambda: slope(y, x, dialect)) == Category.IN_PLACE_VERSION


@both
@pytest.mark.parametrize("op", ["exp", "tanh", "sin", "square"])
def test_an_update_keeps_what_it_needs_of_its_own_operand(op: str, dialect: Dialect) -> None:
    x = leaf([0.0, 0.0])
    h = copied(x)
    write(op, h, dialect=dialect)
    expected = {"exp": 1.0, "tanh": 1.0, "sin": 1.0, "square": 0.0}[op]
    assert slope(h, x, dialect) == [expected, expected]


@both
def test_a_tensor_times_itself_in_place_is_refused_in_the_pass(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    h = copied(x)
    write("mul", h, h, dialect=dialect)
    assert refusal(lambda: slope(h, x, dialect)) == Category.IN_PLACE_VERSION


@both
def test_a_write_through_a_view_counts_for_what_kept_the_base(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    h = copied(x)
    v, y = OPS["getitem_slice"](h, **FIRST), OPS["square"](h)
    write("add_scalar", v, dialect=dialect, other=1.0)
    assert refusal(lambda: slope(y, x, dialect)) == Category.IN_PLACE_VERSION


@both
def test_a_write_through_a_detached_tensor_counts_too(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    y = OPS["square"](x)
    write("add_scalar", x.detach(), dialect=dialect, other=1.0)
    assert refusal(lambda: slope(y, x, dialect)) == Category.IN_PLACE_VERSION


@both
def test_a_result_that_an_updated_view_holds_counts_when_the_base_is_written(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    h = copied(x)
    write("exp", OPS["getitem_slice"](h, **FIRST), dialect=dialect)
    write("add_scalar", h, dialect=dialect, other=1.0)
    assert refusal(lambda: slope(h, x, dialect)) == Category.IN_PLACE_VERSION


@pytest.mark.parametrize(("dialect", "expected"), [(TORCH, None), (PADDLE, Category.IN_PLACE_VERSION)], ids=["torch", "paddle"])
def test_what_a_product_keeps_is_a_convention(dialect: Dialect, expected: Category | None) -> None:
    x = leaf([1.0, 2.0])
    h = copied(x)
    y = OPS["mul"](h, tensor([3.0, 4.0]))
    write("add_scalar", h, dialect=dialect, other=1.0)
    assert refusal(lambda: slope(y, x, dialect)) == expected


@both
def test_a_refusal_does_not_spoil_another_path(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    h = copied(x)
    y = OPS["square"](h)
    write("add_scalar", h, dialect=dialect, other=1.0)
    assert (Category.IN_PLACE_VERSION, [1.0, 1.0]) == (refusal(lambda: slope(y, x, dialect)), slope(h, x, dialect))


# What an update refuses.


@both
def test_a_leaf_that_requires_a_gradient_is_not_written(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    assert refusal(lambda: write("exp", x, dialect=dialect)) == Category.IN_PLACE_LEAF


@both
def test_a_refused_update_changes_nothing(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    refusal(lambda: write("exp", x, dialect=dialect))
    assert elements(x) == [1.0, 2.0]


@both
def test_a_view_of_a_leaf_that_requires_a_gradient_is_not_written(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    assert refusal(lambda: write("exp", OPS["getitem_slice"](x, **FIRST), dialect=dialect)) == Category.IN_PLACE_LEAF


def test_pytorch_asks_the_flag_of_the_view_and_not_that_of_its_base() -> None:
    x = leaf([1.0, 2.0])
    view = OPS["getitem_slice"](x, **FIRST)
    set_requires_grad(x, False, dialect=TORCH)
    assert refusal(lambda: write("exp", view)) == Category.IN_PLACE_LEAF


@both
def test_a_view_of_a_constant_that_was_made_a_leaf_cannot_be_changed(dialect: Dialect) -> None:
    view = OPS["getitem_slice"](tensor([1.0, 2.0]), **FIRST)
    set_requires_grad(view, True, dialect=dialect)
    assert refusal(lambda: write("exp", view, dialect=dialect)) == Category.IN_PLACE_LEAF


def test_a_view_of_what_was_a_leaf_can_be_changed_in_paddle() -> None:
    x = leaf([1.0, 2.0])
    view = OPS["getitem_slice"](x, **FIRST)
    set_requires_grad(x, False, dialect=PADDLE)
    write("exp", view, dialect=PADDLE)
    assert view.requires_grad


def test_what_pytorch_reverses_is_a_copy_which_can_be_written() -> None:
    x = leaf([1.0, 2.0])
    write("mul_scalar", OPS["getitem_reversed"](x, axis=0), other=3.0)
    assert elements(x) == [1.0, 2.0]


def test_an_expanded_tensor_is_not_written() -> None:
    wide = OPS["expand"](tensor([1.0]), shape=[3])
    assert refusal(lambda: write("exp", wide)) == Category.IN_PLACE_VIEW


def test_an_expanded_tensor_is_filled_and_so_is_what_it_is_made_of() -> None:
    x = leaf([1.0, 2.0])
    base = copied(x)
    wide = OPS["expand"](base, shape=[3, 2])
    write("fill", wide, value=4.0)
    assert (elements(base), elements(wide)) == ([4.0, 4.0], [[4.0, 4.0]] * 3)


@pytest.mark.parametrize("op", ["expand", "broadcast_to", "expand_as"])
def test_what_was_expanded_to_its_own_shape_is_written(op: str) -> None:
    x = tensor([1.0, 2.0])
    write("mul_scalar", OPS[op](x, shape=[2]), other=3.0)
    assert elements(x) == [3.0, 6.0]


@pytest.mark.parametrize(("dialect", "expected"), [(TORCH, Category.IN_PLACE_VIEW), (PADDLE, None)], ids=["torch", "paddle"])
def test_one_of_several_views_is_written_in_one_dialect(dialect: Dialect, expected: Category | None) -> None:
    first, _ = OPS["unbind"](copied(leaf([1.0, 2.0])), axis=0)
    assert refusal(lambda: write("exp", first, dialect=dialect)) == expected


@both
@pytest.mark.parametrize("shape", [(2, 2), (3,)])
def test_a_result_of_another_shape_is_refused(shape: tuple[int, ...], dialect: Dialect) -> None:
    h = copied(leaf([1.0, 2.0]))
    assert refusal(lambda: write("add", h, tensor(np.ones(shape)), dialect=dialect)) == Category.OP_SHAPE


@both
def test_a_result_of_another_dtype_is_refused(dialect: Dialect) -> None:
    h = copied(leaf([1.0, 2.0], "float32"))
    assert refusal(lambda: write("add", h, tensor([1.0, 2.0], dtype="float64"), dialect=dialect)) == Category.DTYPE
