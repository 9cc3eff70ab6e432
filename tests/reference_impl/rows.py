"""The vocabulary of the row tables: situations as small functions of a dialect, and what they answer as plain data."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

import reference_impl
from reference_impl import OPS, AutogradError, Category, Dialect, Tensor, tensor

if TYPE_CHECKING:
    from collections.abc import Callable

C = Category
NOT_OFFERED = "not offered"
"""The dialect has no such argument."""


def leaf(*data: Any, dtype: str = "float32") -> Tensor:
    """Make a leaf of one number (0-d), or of several."""
    return tensor(data[0] if len(data) == 1 else list(data), dtype=dtype, requires_grad=True)


def constant(*data: Any, dtype: str = "float32") -> Tensor:
    """Make a constant."""
    return tensor(data[0] if len(data) == 1 else list(data), dtype=dtype)


class Calls:
    """The calls in one dialect. What an op of the engine is called, it is called here."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.torch = dialect.name == "torch"
        self.backward = functools.partial(reference_impl.backward, dialect=dialect)
        self.grad = functools.partial(reference_impl.grad, dialect=dialect)
        self.retain_grad = functools.partial(reference_impl.retain_grad, dialect=dialect)
        self.set_requires_grad = functools.partial(reference_impl.set_requires_grad, dialect=dialect)

    def left(self, x: Tensor, *arguments: Any, **options: Any) -> Any:
        """Call `backward` and return ``.grad`` of ``x``, or the refusal."""
        refused = tried(lambda: self.backward(*arguments, **options))
        return x.grad if refused is None else refused


def add_up(x: Tensor) -> Tensor:
    """Sum of all elements."""
    return OPS["sum"](x, axis=None, keepdims=False)  # type: ignore[no-any-return]


def square(x: Tensor) -> Tensor:
    return OPS["mul"](x, x)  # type: ignore[no-any-return]


def times(x: Tensor, factor: float) -> Tensor:
    return OPS["mul_scalar"](x, other=factor)  # type: ignore[no-any-return]


def plus(x: Tensor, term: float) -> Tensor:
    return OPS["add_scalar"](x, other=term)  # type: ignore[no-any-return]


def tried(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or the category with which it refuses."""
    try:
        return call()
    except AutogradError as error:
        return error.category


def plain(found: Any) -> Any:
    """Turn tensors, wherever they stand, into numbers."""
    if isinstance(found, Tensor):
        return np.asarray(found.array).tolist()
    if isinstance(found, list | tuple):
        return [plain(part) for part in found]
    if isinstance(found, dict):
        return {key: plain(part) for key, part in found.items()}
    return found


Row = tuple["Callable[[Calls], Any]", Any, Any]
"""A situation, and what it answers in PyTorch's and in Paddle's dialect."""


def same(situation: Callable[[Calls], Any], expected: Any) -> Row:
    """Return a row on which the dialects agree."""
    return situation, expected, expected


def answer(row: Row, dialect: Dialect) -> Any:
    """Run the situation of a row."""
    return plain(tried(lambda: row[0](Calls(dialect))))
