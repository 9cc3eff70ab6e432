"""What a kernel reads that takes the elements of an array to lie where they do not: other numbers of the same memory.

The arrays of the reference lie in memory as the tensors of an engine do, since both are views where both make views. So what is read
can be said as far as the memory goes. What lies behind its end nobody can say: NaN stands for that.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def read_in_a_row(array: Any) -> Any:
    """Return an array of the same shape whose elements are those that lie one behind another from the first one on."""
    owner, size = array, array.itemsize
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    end = np.lib.array_utils.byte_bounds(owner)[1]
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
