"""Signatures of elements: wrong numbers that are told by themselves, or by how far they are off.

The words for all signatures that need no other script are here; those that a function of one array cannot tell are held against a
difference by `conformance.deviations.wrong_values`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.compare.rounding import are_near
from conformance.ops.dtypes import format_of

if TYPE_CHECKING:
    from collections.abc import Callable


ELEMENT_TESTS: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda got: got == 0,
    "ones": lambda got: got == 1,
    "nan": np.isnan,
    "not finite": lambda got: ~np.isfinite(got),
    "the largest number": lambda got: np.abs(got) == format_of(got.dtype).largest,
    "subnormal": lambda got: (got != 0) & (np.abs(got) < format_of(got.dtype).tiny),
    "the logarithm of the least normal number": lambda got: are_near(np.full_like(got, np.log(format_of(got.dtype).tiny)), got),
}
"""Signatures of elements; an entry that has several is borne by a mixture of them."""

OFF: dict[str, Callable[[Any, Any], Any]] = {
    "off by 2 roundings of 1": lambda wanted, got: np.abs(got - wanted) <= 2 * format_of(wanted.dtype).rounding(np.ones_like(wanted)),
    "off by 32 roundings of 1": lambda wanted, got: np.abs(got - wanted) <= 32 * format_of(wanted.dtype).rounding(np.ones_like(wanted)),
    "off by 32 of the least numbers": lambda wanted, got: np.abs(got - wanted) <= 32 * format_of(wanted.dtype).least,
    "off by 64 shares of e^-64": lambda wanted, got: (
        np.abs(got - wanted) <= 64 * np.exp(-64.0) * np.maximum(1, np.abs(np.nan_to_num(wanted)).max(initial=0))
    ),
    "off by the least normal number": lambda wanted, got: np.abs(got - wanted) <= format_of(wanted.dtype).tiny,
    "infinite with the other sign": lambda wanted, got: np.isinf(wanted) & (got == -wanted),
    "one of the numbers that are promised": lambda wanted, got: are_near(wanted.reshape(-1), got[..., None]).any(axis=-1),
    "zeros for nan": lambda wanted, got: np.isnan(wanted) & (got == 0),
}
"""Signatures of elements beside what is promised: how far they are off, mostly."""

ANOTHER_FORM = "right in another form"

BEYOND = frozenset(
    {
        "as if fills had gradients at the first places alone",
        "as if gradients of assigned values were written four bytes apart",
        "as if a loss were seeded in part",
        "as if copies of views were indexed by the steps of the views",
        "as if gradients of extrema along several axes were not written",
        "as if gradients of extrema of one element were not written",
        "as if gradients of right sides were not written",
        "as if products over no terms were not written",
        "as if products without elements were not written",
        "as if second gradients over no terms were not written",
        "as if zeros that arrive at norms of groups were read beyond their end",
        "as if gradients of custom functions kept their dtypes",
        "as if seeds were read in a row",
        "as if seeds were the first results of their nodes",
        "as if the seed of a part were those of all parts",
        "as if seeds were read in the dtypes of their leaves",
        "as if sums were read in the dtype of what comes last",
        "as if weights were read in a row",
        "as if seeds that are operands were freed",
    }
)
"""Scripts and rules with NaN for what lies behind the end of a memory: nobody can say that, and all else is as they predict."""

ELEMENTS = (
    *ELEMENT_TESTS,
    *OFF,
    "off by roundings of float32",
    "off by roundings of float32, as if single points lay in front",
    "off by roundings of float32, as if the memory of a seed were read in single precision",
    "off by roundings of differences",
    "off by roundings of the sums of mish",
    "off by roundings of singular vectors",
    "off by roundings of saved statistics",
    "doubled",
    "empty in the shape of its tensor",
    ANOTHER_FORM,
    "what was written to a tensor",
    "the memory of another gradient",
    "what was there before the step",
    "a cotangent of a node",
    "what was made since",
    "what arrived where it was handed on",
    "in the dtype of the leaf that it was a seed of",
    "zeros with other inputs, too",
    "what several accumulate in one memory",
    "what a gradient accumulates in the dtypes of its seeds",
    "and the gradient of the constant that was written",
)
"""Signatures that need no other script: what the elements are where they differ."""


def off_by(words: str, wanted: Any, got: Any) -> Any:
    """Return which elements are off by no more than the words of an entry say."""
    with np.errstate(all="ignore"):
        return OFF[words](wanted, got)
