"""Short words for engine tests: a leaf, the elements of a tensor, both dialects, and the category of a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reference_impl import DIALECTS, AutogradError, Category, Tensor, tensor

if TYPE_CHECKING:
    from collections.abc import Callable

both = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


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
