"""Short words for engine tests: a leaf, elements of a tensor, its slope, an update, both dialects, the category of a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reference_impl import DIALECTS, OPS, TORCH, AutogradError, Category, Dialect, Tensor, grad, tensor, update_in_place

if TYPE_CHECKING:
    from collections.abc import Callable

both = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
FIRST = {"key": [[0, 1, 1]]}


def leaf(data: Any, dtype: str = "float64") -> Tensor:
    """Make a leaf that requires a gradient."""
    return tensor(data, dtype=dtype, requires_grad=True)


def elements(x: Tensor | None) -> Any:
    """Return the elements as (nested lists of) Python numbers; ``None`` if there is no tensor."""
    return None if x is None else x.array.tolist()


def refusal(call: Callable[[], Any]) -> Category | None:
    """Return the category with which a call refuses; ``None`` if it does not."""
    try:
        call()
    except AutogradError as error:
        return error.category
    return None


def write(op: str, x: Tensor, *operands: Tensor, dialect: Dialect = TORCH, **attrs: Any) -> None:
    """Update a tensor in place."""
    update_in_place(OPS[op], x, *operands, dialect=dialect, **attrs)


def copied(x: Tensor) -> Tensor:
    """Make an intermediate with the elements of a leaf."""
    return OPS["clone"](x)  # type: ignore[no-any-return]


def slope(y: Tensor, x: Tensor, dialect: Dialect = TORCH) -> Any:
    """Return the gradient of the sum of ``y``; the graph stays."""
    (found,) = grad([OPS["sum"](y, axis=None, keepdims=False)], [x], retain_graph=True, allow_unused=True, dialect=dialect)
    return elements(found)
