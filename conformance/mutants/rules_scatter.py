"""Wrong rules of ops that write at indices and that lay tensors out anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.mutants.wrong_rule import Entries
from reference_impl import OPS
from reference_impl.tape.primitive import shape_of

wrong = Entries()

gather, narrow, flip = (OPS[name] for name in ("gather", "narrow", "flip"))


@wrong("scatter.x", "index_copy.x", "index_put.x", "masked_scatter.x", what="keeps what was replaced")
def replaced_kept(right: Any, g: Any, *given: Any, **attrs: Any) -> Any:
    return g


@wrong("scatter.source", what="is read at the places in the opposite order")
def places_reversed(right: Any, g: Any, out: Any, x: Any, source: Any, *, axis: int, index: Any) -> Any:
    return gather(g, axis=axis, index=np.flip(np.asarray(index), axis).tolist())


@wrong("masked_scatter.source", what="goes to the last elements, and not to the first")
def last_for_first(right: Any, g: Any, out: Any, x: Any, source: Any, *, mask: Any) -> Any:
    return flip(right(g, out, x, source, mask=mask), axis=0)


@wrong("select.x", "narrow_view.x", "getitem_newaxis.x", what="counts from the other end")
def from_the_other_end(right: Any, g: Any, out: Any, x: Any, **attrs: Any) -> Any:
    name = "start" if "start" in attrs else "index"
    full = shape_of(x)[attrs.get("axis", -1)]
    length = attrs.get("length", 1)
    return right(g, out, x, **{**attrs, name: full - length - attrs[name] % full})


@wrong("meshgrid.xs", "cartesian_prod.xs", what="is that of the first operand")
def of_the_first(right: Any, g: Any, out: Any, *xs: Any, position: int) -> Any:
    at = 0 if shape_of(xs[0]) == shape_of(xs[position]) else position
    return right(g, out, *xs, position=at)


@wrong("moveaxis.x", what="is moved to where it was taken from")
def moved_again(right: Any, g: Any, out: Any, x: Any, *, source: Any, destination: Any) -> Any:
    made = right(g, out, x, source=destination, destination=source)
    return made if shape_of(made) == shape_of(x) else right(g, out, x, source=source, destination=destination)


@wrong("block_diag.xs", what="starts in the corner for every operand")
def starts_in_the_corner(right: Any, g: Any, out: Any, *xs: Any, position: int) -> Any:
    m, n = shape_of(xs[position])
    return narrow(narrow(g, axis=0, start=0, length=m), axis=1, start=0, length=n)
