"""Counterfactual rules of triangles that are written to where several elements are one.

PyTorch's kernels of triu_ and tril_ write a 0 to every place outside of the triangle, and nothing to the others; they do not look
whether places are one (aten/src/ATen/native/TriangularOps.cpp). So an element is 0 if any of its places lies outside.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.selection import masked_fill
from reference_impl.primitives.update import EXPANDING, overwrite
from reference_impl.tape.primitive import array_of
from reference_impl.tape.rules import replaced_forward, replaced_op

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

EXPANDED = ((), (-2,), (-1,), (-2, -1))
"""Which axes of a matrix may be expanded; none where it is a batch of one matrix."""


def triangles_of_repeated_elements(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have triu and tril update what is expanded, and make 0 of all elements that are one with an element outside of the triangle."""
    yield from map(_repeated_along, EXPANDED)


@contextmanager
def _repeated_along(axes: tuple[int, ...]) -> Iterator[None]:
    with ExitStack() as stack:
        for op in ("triu", "tril"):
            stack.enter_context(replaced_op(op, partial(_updating, axes)))
        stack.enter_context(replaced_forward(overwrite, partial(partial, _once)))
        yield


def _updating(axes: tuple[int, ...], right: Callable[..., Any]) -> Callable[..., Any]:
    """Return an op that is right, and has such a form of its own for updates."""

    def op(x: Any, **attrs: Any) -> Any:
        return right(x, **attrs)

    def in_place(x: Any, **attrs: Any) -> Any:
        outside = array_of(right(np.ones_like(array_of(x)), **attrs)) == 0
        return masked_fill(x, mask=np.broadcast_to(outside.any(axis=axes, keepdims=True), outside.shape), value=0.0)

    op.in_place = in_place  # type: ignore[attr-defined]
    return op


def _once(right: Callable[..., Any], x: Any, part: Any, *, op: str, **view: Any) -> Any:
    """Write what was expanded to the elements that there are."""
    if op in EXPANDING:
        part = part[(0,) * (part.ndim - x.ndim)][tuple(slice(n) for n in x.shape)]
    return right(x, part, op=op, **view)
