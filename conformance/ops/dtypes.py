"""The tested dtypes as number formats: what one rounding is, where the range ends, and in what more precise dtype to compute beside."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

REAL = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
"""The real dtypes, single precision first, and the complex ones whose parts they are."""

DTYPES = (*REAL, *COMPLEX)
"""The dtypes that a case may have."""

OTHER_KIND = {**dict(zip(REAL, COMPLEX, strict=True)), **dict(zip(COMPLEX, REAL, strict=True))}
"""For a dtype, that of the other kind, real or complex, in the same precision."""

DOUBLE = dict((REAL, COMPLEX))
"""For a dtype of single precision, that of double precision."""

SINGLE = {double: single for single, double in DOUBLE.items()}
"""For a dtype of double precision, that of single precision."""

OTHER_PRECISION = {**DOUBLE, **SINGLE}
"""For a dtype, that of the other precision and the same kind."""

WIDE = {"f": "float64", "c": "complex128", "i": "float64", "u": "float64", "b": "float64"}
"""For NumPy's kind of a dtype, the widest dtype that a case may have."""

WIDER: dict[str, np.dtype[Any]] = {
    "float16": np.dtype(np.float64),
    "float32": np.dtype(np.float64),
    "float64": np.dtype(np.longdouble),
    "complex64": np.dtype(np.complex128),
    "complex128": np.dtype(np.clongdouble),
}
"""Where the judge computes a value of a tested dtype.

Where the platform's longdouble is float64 itself, the centre of a float64 value has roundings of its own, of the size of those that
it is to bound: a right answer is then up to twice as far from it, which `disturbance.UNITS` has room for.
"""


@dataclass(frozen=True, slots=True)
class Format:
    """A floating dtype (for a complex one, that of its parts): spacing at 1, smallest normal and subnormal number, largest number."""

    bits: int
    eps: float
    tiny: float
    least: float
    largest: float

    def rounding(self, size: Any, count: float = 1.0) -> Any:
        """Return how far one rounding, or ``count`` of them, may carry a result of absolute size ``size``, elementwise.

        Relative to the size in the normal range. Below it a rounding is absolute: to a multiple of the smallest subnormal number, or to
        zero where subnormal numbers are flushed, which IEEE 754 forbids and hardware in its fast mode does. Zero is exact.
        """
        if getattr(size, "size", 1) and np.minimum.reduce(size, axis=None) >= self.tiny:  # nearly always, and in a third of the time
            return size * (self.eps * count)
        return count * np.where(size >= self.tiny, size * self.eps, np.where(size > 0, size + self.least, 0.0))


@functools.cache
def format_of(dtype: DTypeLike) -> Format:
    """Return the format of a dtype; integers and booleans have no roundings."""
    if np.dtype(dtype).kind not in "fc":
        return Format(bits=64, eps=0.0, tiny=0.0, least=0.0, largest=float("inf"))
    found = np.finfo(dtype)
    return Format(
        int(found.nmant) + 1, float(found.eps), float(found.smallest_normal), float(found.smallest_subnormal), float(found.max)
    )


def nearer_to_zero(number: float, dtype: DTypeLike) -> float:
    """Return the number of a dtype that is next to a number of it, towards 0."""
    return float(np.nextafter(np.asarray(number, dtype), np.asarray(0, dtype)))


@functools.cache  # NumPy makes the name of a dtype anew each time it is asked for, and it is asked for every tensor
def name_of(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype."""
    return str(dtype)


@functools.cache
def is_floating(dtype: Any) -> bool:
    """Whether a dtype has roundings."""
    return str(dtype) in WIDER


@functools.cache
def wider(dtype: Any) -> np.dtype[Any]:
    """Return the dtype in which the judge computes a value of ``dtype``; integers and booleans stay."""
    found = WIDER.get(str(dtype))
    return np.dtype(dtype) if found is None else found


def is_complex(dtype: str) -> bool:
    """Whether a dtype is that of complex numbers."""
    return dtype in COMPLEX
