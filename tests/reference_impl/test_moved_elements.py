"""Ops that move elements, held against NumPy's own functions and against loops over the definitions in the frameworks' pages."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from reference_impl import OPS

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.arange(1.0, 13.0).reshape(3, 4)
CUBE = np.arange(24.0).reshape(2, 3, 4)
Y = np.array([[0.5, -1.0], [2.0, 4.0], [-3.0, 0.25]])
V, W = np.array([1.0, -2.0, 3.0]), np.array([0.5, 7.0])
INDEX = [[0, 1], [2, 2], [3, 0]]
APART = [[0, 1], [2, 1], [3, 0]]
MASK = [[True, False, False, True], [False] * 4, [True] * 4]


def looped(x: Any, source: Any, index: Any, put: Callable[[float, float], float]) -> Any:
    """Return ``out[i][index[i][j]] = put(what is there, source[i][j])``, as PyTorch's page on ``scatter_`` has it for axis 1."""
    out = x.copy()
    for i, j in np.ndindex(np.shape(index)):
        out[i, index[i][j]] = put(out[i, index[i][j]], source[i, j])
    return out


def averaged(x: Any, source: Any, index: Any) -> Any:
    count = looped(np.ones_like(x), np.ones_like(source), index, lambda there, one: there + one)
    return looped(x, source, index, lambda there, new: there + new) / count


def with_rows(x: Any, rows: Any, source: Any, *, add: bool) -> Any:
    out = x.copy()
    for row, new in zip(rows, source, strict=True):
        out[row] = out[row] + new if add else new
    return out


def filled(x: Any, mask: Any, source: Any) -> Any:
    new = iter(np.ravel(source))
    return np.array([next(new) if take else there for there, take in zip(x.ravel(), np.ravel(mask), strict=True)]).reshape(x.shape)


def edited(x: Any, edit: Callable[[Any], None]) -> Any:
    out = x.copy()
    edit(out)
    return out


ROWS = np.array([[1.0, 2.0, 3.0, 4.0], [-1.0, 0.5, 0.25, 8.0], [10.0, 20.0, 30.0, 40.0]])
PUT = {"index": [[2, 0], [1, 3]]}
TWICE = {"index": [[2, 2], [1, 1]]}

CASES: tuple[tuple[str, tuple[Any, ...], dict[str, Any], Any], ...] = (
    ("expand_as", (X[:, :1],), {"shape": [3, 4]}, X[:, :1] + np.zeros((3, 4))),
    ("broadcast_to", (V,), {"shape": [2, 3]}, np.broadcast_to(V, (2, 3))),
    ("reduce_as", (CUBE,), {"shape": (3, 1)}, CUBE.sum((0, 2), keepdims=True)[0]),
    ("unflatten", (X,), {"axis": -1, "sizes": [2, -1]}, X.reshape(3, 2, 2)),
    ("swapaxes", (CUBE,), {"axis0": 0, "axis1": -1}, CUBE.swapaxes(0, 2)),
    ("moveaxis", (CUBE,), {"source": [0], "destination": [-1]}, np.moveaxis(CUBE, 0, 2)),
    ("moveaxis", (CUBE,), {"source": [-1, 0], "destination": [0, 1]}, np.moveaxis(CUBE, [-1, 0], [0, 1])),
    ("matrix_transpose", (CUBE,), {}, np.swapaxes(CUBE, -1, -2)),
    ("select", (CUBE,), {"axis": -2, "index": -1}, CUBE[:, 2]),
    ("getitem_newaxis", (CUBE,), {"index": 1}, CUBE[..., None, 1]),
    ("view_as", (X,), {"shape": [2, 6]}, X.reshape(2, 6)),
    ("ravel", (X,), {"shape": [12]}, X.ravel()),
    ("masked_select", (X,), {"mask": MASK}, X[np.array(MASK)]),
    ("getitem_mask", (X,), {"mask": [True, False, True]}, X[[0, 2]]),
    ("masked_scatter", (X, np.arange(20.0, 32.0)), {"mask": MASK}, filled(X, MASK, np.arange(20.0, 32.0))),
    ("scatter", (X, Y), {"axis": 1, "index": APART}, looped(X, Y, APART, lambda _, new: new)),
    ("scatter_add_to", (X, Y), {"axis": 1, "index": INDEX}, looped(X, Y, INDEX, lambda there, new: there + new)),
    ("scatter_reduce_sum", (X, Y), {"axis": -1, "index": INDEX}, looped(X, Y, INDEX, lambda there, new: there + new)),
    ("scatter_reduce_mean", (X, Y), {"axis": 1, "index": INDEX}, averaged(X, Y, INDEX)),
    ("index_add", (X, ROWS), {"axis": 0, "index": [2, 0, 2]}, with_rows(X, [2, 0, 2], ROWS, add=True)),
    ("index_add", (X.T, ROWS.T), {"axis": 1, "index": [2, 0, 2]}, with_rows(X, [2, 0, 2], ROWS, add=True).T),
    ("index_copy", (X, ROWS[:2]), {"axis": 0, "index": [2, 0]}, with_rows(X, [2, 0], ROWS[:2], add=False)),
    ("gather_nd", (X,), {"index": [[0, 2], [1, 3]]}, np.array([X[0, 1], X[2, 3]])),
    ("setitem_intarray", (X, W), PUT, edited(X, lambda out: out.__setitem__((np.array([2, 0]), np.array([1, 3])), W))),
    ("setitem_mask", (X, np.float64(7.5)), {"mask": (X > 2).tolist()}, np.where(X > 2, 7.5, X)),
    ("index_put", (X, W), PUT, edited(X, lambda out: out.__setitem__((np.array([2, 0]), np.array([1, 3])), W))),
    ("index_put_accumulate", (X, W), TWICE, edited(X, lambda out: out.__setitem__((2, 1), X[2, 1] + 7.5))),
    ("scatter_nd_add", (X, W), TWICE, edited(X, lambda out: out.__setitem__((2, 1), X[2, 1] + 7.5))),
    (
        "index_fill",
        (X,),
        {"axis": 1, "index": [0, 0, -1], "value": 9.0},
        edited(X, lambda out: out.__setitem__((slice(None), [0, 3]), 9.0)),
    ),
    ("take", (X,), {"index": [[0, 5], [5, -1]]}, np.take(X, [[0, 5], [5, -1]])),
    ("take_along_dim", (X,), {"axis": 1, "index": INDEX}, np.take_along_axis(X, np.array(INDEX), 1)),
    ("take_along_dim", (X,), {"axis": -2, "index": [[2], [0]]}, np.take_along_axis(X, np.array([[2], [0]]), 0)),
    (
        "diagonal_scatter",
        (X, V),
        {"offset": 1},
        edited(X, lambda out: out.__setitem__(([0, 1, 2], [1, 2, 3]), V)),
    ),
    ("select_scatter", (X, V), {"axis": 1, "index": -2}, edited(X, lambda out: out.__setitem__((slice(None), 2), V))),
    (
        "slice_scatter",
        (X, Y),
        {"axis": 1, "start": 1, "stop": 4, "step": 2},
        edited(X, lambda out: out.__setitem__((slice(None), slice(1, 4, 2)), Y)),
    ),
    ("multiplex", (X, -X), {"index": [0, 1, 0]}, X * np.array([[1.0], [-1.0], [1.0]])),
    ("meshgrid", (V, W), {}, np.stack(np.meshgrid(V, W, indexing="ij"))),
    ("cartesian_prod", (V, W), {}, np.array(list(itertools.product(V, W)))),
    ("broadcast_tensors", (Y, W), {}, np.stack([Y, np.broadcast_to(W, (3, 2))])),
    ("combinations", (V,), {"r": 2, "with_replacement": False}, np.array([[1.0, -2.0], [1.0, 3.0], [-2.0, 3.0]])),
    ("vstack", (V, np.stack([V, V])), {}, np.vstack([V, np.stack([V, V])])),
    ("row_stack", (V, V), {}, np.vstack([V, V])),
    ("hstack", (V, W), {}, np.hstack([V, W])),
    ("hstack", (X, Y), {}, np.hstack([X, Y])),
    ("dstack", (X, X), {}, np.dstack([X, X])),
    ("dstack", (V, V), {}, np.dstack([V, V])),
    ("column_stack", (V, Y), {}, np.column_stack([V, Y])),
    ("block_diag", (Y, W[None]), {}, np.block([[Y, np.zeros((3, 2))], [np.zeros((1, 2)), W[None]]])),
    ("diag_matrix", (V,), {"offset": -1}, np.diag(V, -1)),
    ("diag_embed", (V,), {"offset": 1, "dim1": -2, "dim2": -1}, np.diag(V, 1)),
    ("diag_embed", (V,), {"offset": 1, "dim1": 1, "dim2": 0}, np.diag(V, 1).T),
    ("diag_embed", (Y,), {"offset": -1, "dim1": 0, "dim2": 2}, np.stack([np.diag(row, -1) for row in Y], 1)),
    ("diag_of_matrix", (X,), {"offset": 1}, np.diag(X, 1)),
    ("diagflat", (Y,), {"offset": 2}, np.diagflat(Y, 2)),
    ("rot90", (X,), {"k": -1, "axes": [0, 1]}, X[::-1].T),
    ("rot90", (X,), {"k": 1, "axes": [0, 1]}, X.T[::-1]),
    ("atleast_1d", (np.array(3.0),), {}, np.array([3.0])),
    ("atleast_2d", (V,), {}, V[None]),
    ("atleast_3d", (X,), {}, X[:, :, None]),
    ("as_strided", (X,), {"shape": [2, 3], "strides": [1, 2], "offset": 1}, np.array([[2.0, 4.0, 6.0], [3.0, 5.0, 7.0]])),
    ("tensor_unfold", (X,), {"axis": 1, "size": 3, "step": 1}, np.stack([X[:, 0:3], X[:, 1:4]], axis=1)),
    ("repeat_interleave_each", (X,), {"repeats": [2, 0, 1], "axis": 0}, np.repeat(X, [2, 0, 1], 0)),
)


@pytest.mark.parametrize(("op", "operands", "attrs", "expected"), CASES, ids=[op for op, *_ in CASES])
def test_what_is_moved_is_where_the_definition_has_it(op: str, operands: Any, attrs: Any, expected: Any) -> None:
    found = OPS[op](*operands, **attrs)
    assert (expected.shape, expected.tolist()) == (found.shape, found.tolist())


@pytest.mark.parametrize("op", ["tensor_split", "hsplit", "vsplit", "dsplit"])
def test_parts_of_a_split_are_those_of_numpy(op: str) -> None:
    axis = {"tensor_split": 0, "hsplit": 1, "vsplit": 0, "dsplit": 2}[op]
    parts = [OPS[op](CUBE, sections=[1, CUBE.shape[axis] - 1], axis=axis, part=part) for part in (0, 1)]
    numpy = np.split(CUBE, [1], axis) if op == "tensor_split" else getattr(np, op)(CUBE, [1])
    assert [part.tolist() for part in numpy] == [part.tolist() for part in parts]


def test_narrow_counts_a_negative_start_from_the_end() -> None:
    found = OPS["narrow_view"](X, axis=-1, start=-3, length=2, copied=True)
    assert X[:, 1:3].tolist() == found.tolist()


@pytest.mark.parametrize(
    ("op", "source", "attrs"),
    [
        ("scatter_add_to", [[1.0]], {"axis": 1, "index": [[1]]}),
        ("index_add", [[1.0, 1.0]], {"axis": 0, "index": [1]}),
        ("scatter_nd_add", [1.0], {"index": [[1], [1]]}),
    ],
)
def test_a_minus_zero_at_which_nothing_arrives_stays_one(op: str, source: list[Any], attrs: dict[str, Any]) -> None:
    found = OPS[op](np.full((2, 2), -0.0), np.array(source), **attrs)
    assert np.signbit(found[0, 0])
