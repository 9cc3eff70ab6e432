"""In-place updates: elements, histories, and views. All numbers are computed by hand."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from reference_impl import (
    OPS,
    PADDLE,
    TORCH,
    Dialect,
    Tensor,
    backward,
    grad,
    no_grad,
    retain_grad,
    tensor,
    update_in_place,
)
from tests.reference_impl.vocabulary import FIRST, both, copied, elements, leaf, slope, write

VIEWS: dict[str, tuple[dict[str, Any], list[list[float]]]] = {
    "reshape": ({"shape": [4, 1]}, [[3.0, 3.0], [3.0, 3.0]]),
    "view": ({"shape": [4]}, [[3.0, 3.0], [3.0, 3.0]]),
    "permute": ({"axes": [1, 0]}, [[3.0, 3.0], [3.0, 3.0]]),
    "transpose": ({"axis0": 0, "axis1": 1}, [[3.0, 3.0], [3.0, 3.0]]),
    "t": ({}, [[3.0, 3.0], [3.0, 3.0]]),
    "unsqueeze": ({"axis": 0}, [[3.0, 3.0], [3.0, 3.0]]),
    "getitem_slice": (FIRST, [[3.0, 3.0], [1.0, 1.0]]),
    "getitem_strided": ({"key": [[0, 2, 1], [0, 2, 2]]}, [[3.0, 1.0], [3.0, 1.0]]),
    "getitem_int": ({"index": 1}, [[1.0, 1.0], [3.0, 3.0]]),
}


# The tensor that is written.


@both
def test_an_update_has_the_elements_of_the_op(dialect: Dialect) -> None:
    h = copied(leaf([1.0, 2.0]))
    write("mul_scalar", h, dialect=dialect, other=3.0)
    assert elements(h) == [3.0, 6.0]


@both
def test_a_chain_of_updates_has_the_gradient_of_what_ran(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    h = copied(x)
    write("mul_scalar", h, dialect=dialect, other=3.0)
    write("square", h, dialect=dialect)
    assert slope(h, x, dialect) == [18.0, 36.0]


@both
def test_what_was_computed_before_an_update_keeps_its_gradient(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    h = copied(x)
    y = OPS["add_scalar"](h, other=1.0)
    write("mul_scalar", h, dialect=dialect, other=3.0)
    assert slope(y, x, dialect) == [1.0, 1.0]


@both
def test_what_was_computed_before_an_update_does_not_depend_on_what_came_of_it(dialect: Dialect) -> None:
    h = copied(leaf([1.0, 2.0]))
    y = OPS["add_scalar"](h, other=1.0)
    write("mul_scalar", h, dialect=dialect, other=3.0)
    assert slope(y, h, dialect) is None


@both
def test_a_constant_that_takes_up_a_gradient_requires_one(dialect: Dialect) -> None:
    c, w = tensor([1.0, 2.0]), leaf([3.0, 4.0])
    write("mul", c, w, dialect=dialect)
    assert (True, [1.0, 2.0]) == (c.requires_grad, slope(c, w, dialect))


@both
def test_a_filled_tensor_has_gradient_zero(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    h = copied(x)
    write("fill", h, dialect=dialect, value=7.0)
    assert slope(h, x, dialect) == [0.0, 0.0]


@both
def test_an_assigned_part_takes_its_gradient_to_the_value(dialect: Dialect) -> None:
    x, w = leaf([1.0, 2.0, 3.0]), leaf(5.0)
    h = copied(x)
    write("setitem", h, w, dialect=dialect, key=[[0, 2, 1]])
    assert ([5.0, 5.0, 3.0], [0.0, 0.0, 1.0], 2.0) == (elements(h), slope(h, x, dialect), slope(h, w, dialect))


@both
def test_inside_no_grad_the_elements_change_and_the_history_stays(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    h = copied(x)
    with no_grad():
        write("mul_scalar", h, dialect=dialect, other=3.0)
    assert ([3.0, 6.0], [1.0, 1.0]) == (elements(h), slope(h, x, dialect))


@both
def test_a_leaf_written_inside_no_grad_stays_the_leaf_that_it_was(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    with no_grad():
        write("mul_scalar", x, dialect=dialect, other=3.0)
    backward([OPS["square"](x)], [tensor([1.0, 1.0])], dialect=dialect)
    assert elements(x.grad) == [6.0, 12.0]


@both
def test_the_derivative_of_an_update_can_be_differentiated(dialect: Dialect) -> None:
    x = leaf([1.0, 2.0])
    h = OPS["mul_scalar"](x, other=1.0)
    write("pow_scalar", h, dialect=dialect, exponent=3.0)
    (first,) = grad([h], [x], [tensor([1.0, 1.0])], create_graph=True, dialect=dialect)
    assert slope(first, x, dialect) == [6.0, 12.0]


# Views and bases.


@both
@pytest.mark.parametrize("op", VIEWS)
def test_a_write_to_a_view_reaches_the_base_and_its_gradient(op: str, dialect: Dialect) -> None:
    attrs, expected = VIEWS[op]
    x = leaf([[1.0, 1.0], [1.0, 1.0]])
    h = copied(x)
    write("mul_scalar", OPS[op](h, **attrs), dialect=dialect, other=3.0)
    assert (expected, expected) == (elements(h), slope(h, x, dialect))


@both
@pytest.mark.parametrize("op", VIEWS)
def test_a_write_to_a_base_reaches_the_view_and_its_gradient(op: str, dialect: Dialect) -> None:
    attrs, tripled = VIEWS[op]
    x = leaf([[1.0, 1.0], [1.0, 1.0]])
    h = copied(x)
    v = OPS[op](h, **attrs)
    write("mul_scalar", h, dialect=dialect, other=3.0)
    seen = [[3.0 if n == 3.0 else 0.0 for n in row] for row in tripled]
    assert (3.0, seen) == (v.array.max(), slope(v, x, dialect))


@both
def test_a_write_to_a_view_of_a_view_reaches_its_siblings(dialect: Dialect) -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    h = copied(x)
    row, flat = OPS["getitem_int"](h, index=1), OPS["reshape"](h, shape=[4])
    write("mul_scalar", OPS["getitem_slice"](row, **FIRST), dialect=dialect, other=10.0)
    assert ([1.0, 2.0, 30.0, 4.0], [[1.0, 1.0], [10.0, 1.0]]) == (elements(flat), slope(flat, x, dialect))


@both
def test_a_constant_base_takes_up_the_history_of_a_written_view(dialect: Dialect) -> None:
    c, w = tensor([0.0, 0.0, 0.0]), leaf([5.0, 6.0])
    write("add", OPS["getitem_slice"](c, key=[[1, 3, 1]]), w, dialect=dialect)
    assert ([0.0, 5.0, 6.0], [10.0, 12.0]) == (elements(c), slope(OPS["mul"](c, c), w, dialect))


@both
def test_a_detached_tensor_shares_elements_and_no_history(dialect: Dialect) -> None:
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    h = copied(x)
    write("mul", h.detach(), w, dialect=dialect)
    assert ([3.0, 8.0], [1.0, 1.0], None) == (elements(h), slope(h, x, dialect), slope(h, w, dialect))


@both
def test_a_copy_shares_nothing(dialect: Dialect) -> None:
    h = copied(leaf([1.0, 2.0]))
    c = copied(h)
    write("mul_scalar", c, dialect=dialect, other=3.0)
    assert elements(h) == [1.0, 2.0]


@pytest.mark.parametrize(("dialect", "expected"), [(TORCH, [3.0, 2.0]), (PADDLE, [1.0, 2.0])], ids=["torch", "paddle"])
def test_a_part_of_a_split_shares_memory_in_one_dialect(dialect: Dialect, expected: list[float]) -> None:
    c = tensor([1.0, 2.0])
    first, _ = OPS["split"](c, sections=[1, 1], axis=0)
    write("mul_scalar", first, dialect=dialect, other=3.0)
    assert elements(c) == expected


def test_a_view_that_is_gone_leaves_nothing_behind() -> None:
    h = copied(leaf([1.0, 2.0]))
    v = OPS["reshape"](h, shape=[2, 1])
    seen = weakref.ref(v)
    gc.disable()
    del v
    gc.enable()
    assert seen() is None


# Seeds, returned gradients, retained gradients.


@both
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_change_of_a_returned_gradient_changes_no_seed_and_no_other_result(create_graph: bool, dialect: Dialect) -> None:
    a, b, seed = leaf([1.0, 2.0]), leaf([3.0, 4.0]), tensor([1.0, 1.0])
    da, db = grad([OPS["add"](a, b)], [a, b], [seed], create_graph=create_graph, dialect=dialect)
    assert da is not None
    with no_grad():
        write("mul_scalar", da, dialect=dialect, other=9.0)
    assert ([9.0, 9.0], [1.0, 1.0], [1.0, 1.0]) == (elements(da), elements(db), elements(seed))


@both
def test_a_change_of_a_seed_changes_no_accumulated_gradient(dialect: Dialect) -> None:
    x, seed = leaf([1.0, 2.0]), tensor([[1.0], [1.0]])
    backward([OPS["reshape"](x, shape=[2, 1])], [seed], dialect=dialect)
    write("mul_scalar", seed, dialect=dialect, other=9.0)
    assert elements(x.grad) == [1.0, 1.0]


@pytest.mark.parametrize(("dialect", "expected"), [(TORCH, [2.0, 2.0]), (PADDLE, [20.0, 20.0])], ids=["torch", "paddle"])
def test_a_retained_gradient_is_of_the_newest_or_of_the_registered_content(dialect: Dialect, expected: list[float]) -> None:
    h = copied(leaf([1.0, 2.0]))
    retain_grad(h, dialect=dialect)
    write("mul_scalar", h, dialect=dialect, other=10.0)
    backward([OPS["mul_scalar"](h, other=2.0)], [tensor([1.0, 1.0])], dialect=dialect)
    assert elements(h.grad) == expected


@pytest.mark.parametrize(("dialect", "kept"), [(TORCH, True), (PADDLE, False)], ids=["torch", "paddle"])
def test_a_tensor_that_was_asked_to_retain_before_a_write_is_not_asked_again(dialect: Dialect, kept: bool) -> None:
    h, y = copied(leaf([1.0, 2.0])), leaf([3.0, 4.0])
    retain_grad(h, dialect=dialect)
    write("sub", h, y, dialect=dialect)
    retain_grad(h, dialect=dialect)
    grad([h], [y], [tensor([1.0, 1.0])], dialect=dialect)  # which does not come by what h was
    assert kept == (h.grad is not None)


def test_what_is_reshaped_of_a_flipped_tensor_shares_its_memory() -> None:
    flipped = OPS["flip"](Tensor(np.arange(4.0)), axis=0)
    view = OPS["reshape"](flipped, shape=[2, 2])
    update_in_place(OPS["add"], view, Tensor(np.ones((2, 2))), dialect=TORCH)
    assert np.array_equal([4.0, 3.0, 2.0, 1.0], flipped.array)
