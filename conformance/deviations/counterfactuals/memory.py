"""What a kernel reads that takes the elements of an array to lie where they do not: other numbers of the same memory.

The arrays of the reference lie in memory as the tensors of an engine do, since both are views where both make views. So what is read
can be said as far as the memory goes. What lies behind its end nobody can say: NaN stands for that.
"""

from __future__ import annotations

import math
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from reference_impl import OPS, PADDLE
from reference_impl.primitives.indexing import as_arrays, getitem_intarray
from reference_impl.primitives.scatter import getitem_mask
from reference_impl.primitives.shape import cat, reshape, sum_to
from reference_impl.primitives.views import narrow_view
from reference_impl.tape.primitive import Primitive, array_of, shape_of
from reference_impl.tape.rules import replaced_forward, replaced_op, replaced_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule


def _owner(array: Any) -> Any:
    """Return the array that owns the memory in which an array lies."""
    while hasattr(array.base, "__array_interface__"):  # what `as_strided` makes is based on one that is no ``ndarray``
        array = array.base
    return array


def read_in_a_row(array: Any) -> Any:
    """Return an array of the same shape whose elements are those that lie one behind another from the first one on."""
    size = array.itemsize
    end = np.lib.array_utils.byte_bounds(_owner(array))[1]
    there = max(0, min(array.size, (end - array.ctypes.data) // size))
    row = np.full(array.size, np.nan, array.dtype)
    row[:there] = np.lib.stride_tricks.as_strided(array, (there,), (size,))
    return row.reshape(array.shape)


def read_as_one_number(array: Any) -> Any:
    """Return an array of which there is the first element alone, if all of them are equal: it may be an expansion of a number."""
    row = array.reshape(-1)
    if not (row == row[:1]).all():
        return array
    return np.where(np.arange(row.size) > 0, np.nan, row).astype(array.dtype).reshape(array.shape)


def narrowed_from_the_beginning(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have narrow count from the beginning of the memory, and lay its gradient out by the steps of what it narrows.

    The memory of the gradient is a new one, of as many elements as the operand has; what falls beyond that is lost.
    """
    yield _narrowed()


@contextmanager
def _narrowed() -> Iterator[None]:
    with _copies(), replaced_forward(narrow_view, _from_the_beginning), replaced_rule(narrow_view, 0, _laid_out):
        yield


@contextmanager
def _copies() -> Iterator[None]:
    """Have ops that copy in Paddle copy, whatever they do here."""
    with ExitStack() as stack:
        for op in (OPS[name] for name in PADDLE.copies - {narrow_view.name}):
            if isinstance(op, Primitive) and not op.multi_output:
                stack.enter_context(replaced_forward(op, _copying))
        yield


def _copying(right: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands, **attrs: np.array(right(*operands, **attrs))


def _places(x: Any, axis: int, start: int, length: int) -> Any:
    """Return where the elements are that narrow takes, counted from the beginning of some memory."""
    steps = [stride // x.itemsize for stride in x.strides]
    shape = [length if i == axis % x.ndim else n for i, n in enumerate(x.shape)]
    along = (step * np.arange(n) for step, n in zip(steps, shape, strict=True))
    return start % x.shape[axis] * steps[axis] + sum(np.ix_(*along))


def indexed_by_the_steps_of_views(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have a view that is indexed by tensors be copied, and the copy be read, and its gradient written, by the steps of the view."""
    yield _indexed()


@contextmanager
def _indexed() -> Iterator[None]:
    with _copies(), replaced_op(getitem_intarray.name, _by_steps):
        yield


def _by_steps(right: Callable[..., Any]) -> Callable[..., Any]:
    def op(x: Any, *, index: Any) -> Any:
        view = array_of(x)
        if view.flags.c_contiguous:
            return right(x, index=index)
        places = _places(view, 0, 0, len(view))[as_arrays(index)]
        front = max(0, -int(places.min(initial=0)))  # the steps of a view that is turned round lead there
        behind = max(0, int(places.max(initial=0)) + 1 - view.size)
        ends = (np.full(count, np.nan, view.dtype) for count in (front, behind))
        memory = cat(next(ends), reshape(x, shape=(view.size,)), next(ends), axis=0)
        return reshape(right(memory, index=[front + places.reshape(-1)]), shape=places.shape)

    return op


ALONG_AXES = "gather", "scatter", "scatter_add_to", *(f"scatter_reduce_{kind}" for kind in ("sum", "mean", "amin", "amax", "prod"))
"""Ops with an index for each element, which may have fewer of them than the operand along each axis."""


def axes_beside_indices_joined(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have all axes in front of that of an index be counted as one, and all behind it, in the index and in what it is an index of."""
    yield _joined()


@contextmanager
def _joined() -> Iterator[None]:
    with ExitStack() as stack:
        for name in ALONG_AXES:
            stack.enter_context(replaced_op(name, _on_three_axes))
        yield


def _on_three_axes(right: Callable[..., Any]) -> Callable[..., Any]:
    def op(x: Any, *sources: Any, axis: int, index: Any) -> Any:
        shape, index = shape_of(x), np.asarray(index, np.intp)
        axis %= len(shape)

        def three(shape: Sequence[int]) -> tuple[int, ...]:
            return (math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))

        joined = [reshape(operand, shape=three(shape_of(operand))) for operand in (x, *sources)]
        made = right(*joined, axis=1, index=index.reshape(three(index.shape)))
        return reshape(made, shape=shape if sources else index.shape)

    return op


def gradients_of_first_rows_repeated(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have what is gathered along an axis have the gradient of the first of all rows in front of that axis, each of them.

    Sums of trapezoids gather the two ends of each; no other op does so along an axis of its own.
    """
    yield _first_rows_repeated()


GATHERING = "trapezoid", "trapezoid_x", "cumulative_trapezoid", "cumulative_trapezoid_x"


@contextmanager
def _first_rows_repeated() -> Iterator[None]:
    with ExitStack() as stack:
        for name in GATHERING:
            stack.enter_context(replaced_op(PADDLE.spelled.get(name, name), _gathered))
        yield


def _gathered(right: Callable[..., Any]) -> Callable[..., Any]:
    return lambda y, *places, axis, **attrs: right(_GATHERED(y, axis=axis), *places, axis=axis, **attrs)


def _first_rows(g: Any, *, axis: int) -> Any:
    axis %= g.ndim
    rows = g.reshape(-1, *g.shape[axis:])
    return np.array(np.broadcast_to(rows[:1], rows.shape)).reshape(g.shape)


_FIRST_ROWS = Primitive(_first_rows, "first_rows")
_FIRST_ROWS.vjp("g")(lambda g, *_, axis: g)  # noqa: ARG005 - what derives from it gathers, and that is right
_GATHERED = Primitive(lambda y, **_: np.array(y), "gathered")
_GATHERED.vjp("y")(lambda g, _, __, *, axis: _FIRST_ROWS(g, axis=axis))


def _from_the_beginning(right: Callable[..., Any]) -> Callable[..., Any]:
    def forward(x: Any, *, axis: int, start: int, length: int, copied: bool) -> Any:
        if copied:
            return right(x, axis=axis, start=start, length=length, copied=copied)
        places = _places(x, axis, start, length)
        offset = int(places.flat[0]) * x.itemsize if places.size else 0
        return np.ndarray(places.shape, x.dtype, _owner(x).ravel(order="K"), offset, x.strides)

    return forward


def _laid_out(right: Rule) -> Rule:
    def rule(g: Any, out: Any, x: Any, *, axis: int, start: int, length: int, copied: bool) -> Any:
        if copied:
            return right(g, out, x, axis=axis, start=start, length=length, copied=copied)
        x = array_of(x)
        return _LAID_OUT(g, places=_places(x, axis, start, length), shape=x.shape)

    return rule


def _lay_out(g: Any, *, places: Any, shape: tuple[int, ...]) -> Any:
    laid = np.zeros(math.prod(shape), g.dtype)
    there = places < laid.size
    laid[places[there]] = g[there]
    return laid.reshape(shape)


_LAID_OUT = Primitive(_lay_out, "laid_out")
"""What is laid out by steps; Paddle derives no derivative of it."""


WORD = 4
"""How many bytes an element has that the kernel of assignments counts with, whatever its dtype."""


def assigned_gradients_four_bytes_apart(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have gradients of values that are assigned by lists, or of several by a mask, be written `WORD` bytes apart.

    Each element is written over a part of the one before it. What is behind the last one nobody wrote, and NaN stands for it.
    """
    yield _four_bytes_apart()


@contextmanager
def _four_bytes_apart() -> Iterator[None]:
    with ExitStack() as stack:
        for op, read in ((OPS["setitem_intarray"], getitem_intarray), (OPS["setitem_mask"], getitem_mask)):
            stack.enter_context(replaced_rule(cast("Primitive", op), 1, partial(_read_and_written, read)))
        yield


def _read_and_written(read: Callable[..., Any], right: Rule) -> Rule:
    def rule(g: Any, out: Any, x: Any, value: Any, **attrs: Any) -> Any:
        if read is getitem_mask and math.prod(shape_of(value)) == 1:  # another kernel's, see `fills`
            return right(g, out, x, value, **attrs)
        return sum_to(WRITTEN_APART(read(g, **attrs)), shape_of(value))

    return rule


def _written_apart(read: Any) -> Any:
    size, elements = read.itemsize, np.ascontiguousarray(read).reshape(-1)
    memory, known = np.zeros(read.nbytes, np.uint8), np.zeros(read.nbytes, bool)
    for place, element in enumerate(elements):  # which may itself be what nobody wrote
        there = slice(WORD * place, WORD * place + size)
        memory[there], known[there] = np.frombuffer(element.tobytes(), np.uint8), not np.isnan(element)
    whole = known.reshape(read.size, size).all(axis=1)
    return np.where(whole, memory.view(read.dtype), np.nan).astype(read.dtype).reshape(read.shape)


WRITTEN_APART = Primitive(_written_apart, "written_apart", keeping=())
"""What is written `WORD` bytes apart; its derivative is taken for that of what would be right."""

WRITTEN_APART.vjp("read")(lambda g, *_: g)


OF_MEMORY = {
    "as if narrow counted from the beginning of the memory": narrowed_from_the_beginning,
    "as if gradients of assigned values were written four bytes apart": assigned_gradients_four_bytes_apart,
    "as if copies of views were indexed by the steps of the views": indexed_by_the_steps_of_views,
    "as if axes beside that of an index were one": axes_beside_indices_joined,
    "as if gradients of first rows were those of all": gradients_of_first_rows_repeated,
}
"""The rules of this module, by the words of an entry."""
