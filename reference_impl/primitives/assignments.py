"""What ``x[key] = value`` computes where the key is not slices: lists of integers, or a mask.

The elements that are written lie anywhere in ``x``, so a gradient in ``value`` is read at the same places, and one in ``x`` has zeros
there. As `setitem` of slices, each counts as saving data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.indexing import as_arrays, getitem_intarray
from reference_impl.primitives.scatter import getitem_mask
from reference_impl.primitives.shape import sum_to
from reference_impl.tape.primitive import primitive, shape_of


@primitive(ulps=0)
def setitem_intarray(x: Any, value: Any, *, index: Any) -> Any:
    """Return ``x`` with ``value``, broadcast, at ``[i, j, ...]``, one list of integers for each leading axis; no place comes twice."""
    out = np.array(x, order="C")
    out[as_arrays(index)] = value
    return out


@setitem_intarray.vjp("x")
def setitem_intarray_vjp_x(g: Any, out: Any, x: Any, value: Any, *, index: Any) -> Any:
    return setitem_intarray(g, np.zeros((), x.dtype), index=index)


@setitem_intarray.vjp("value")
def setitem_intarray_vjp_value(g: Any, out: Any, x: Any, value: Any, *, index: Any) -> Any:
    return sum_to(getitem_intarray(g, index=index), shape_of(value))


@primitive(ulps=0)
def setitem_mask(x: Any, value: Any, *, mask: Any) -> Any:
    """Return ``x`` with ``value``, broadcast, where a mask of its leading axes is true."""
    out = np.array(x, order="C")
    out[np.asarray(mask, dtype=bool)] = value
    return out


@setitem_mask.vjp("x")
def setitem_mask_vjp_x(g: Any, out: Any, x: Any, value: Any, *, mask: Any) -> Any:
    return setitem_mask(g, np.zeros((), x.dtype), mask=mask)


@setitem_mask.vjp("value")
def setitem_mask_vjp_value(g: Any, out: Any, x: Any, value: Any, *, mask: Any) -> Any:
    return sum_to(getitem_mask(g, mask=mask), shape_of(value))
