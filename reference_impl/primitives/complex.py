"""Complex numbers: their parts, and what conjugation has to do with gradients.

Of a real number L that depends on a complex z = x + iy, both frameworks call ``dL/dx + i dL/dy`` the gradient, which is
``2 dL/d(conj z)``: it points to where L grows. The pairing of a cotangent with a tangent is ``Re(conj(g) dz)``, and so a
holomorphic f sends ``g`` to ``g conj(f'(z))``: rules conjugate their factors (`conjugate`). What depends on a real operand is
the real part alone (`reference_impl.primitives.promotion.to_operand`).

Source: "Autograd for Complex Numbers" in PyTorch's notes on autograd; Paddle measured to do the same, rows T030-T049.

Ops on real tensors pay nothing: for them `conjugate` returns its operand, and records nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.shape import sum_to
from reference_impl.tape.primitive import Domain, own_transpose, primitive, shape_of

PARTS = {"complex64": "float32", "complex128": "float64", "clongdouble": "longdouble", "complex256": "longdouble"}
"""The dtype of the real and imaginary parts, by complex dtype."""


def is_complex(x: Any) -> bool:
    """Whether a tensor, an array or a symbol holds complex numbers."""
    return bool(x.dtype.kind == "c")


def conjugate(x: Any) -> Any:
    """Return the conjugate of a factor of a rule; a real one itself."""
    return conj(x) if x.dtype.kind == "c" else x


@own_transpose
@primitive(saves=(), ulps=0)
def conj(x: Any) -> Any:
    """Return the complex conjugate."""
    return np.conjugate(x)


@primitive(saves=(), ulps=0)
def real(x: Any) -> Any:
    """Return the real part."""
    return np.array(np.real(x))


@real.vjp("x")
def real_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return from_real(g)


@primitive(saves=(), ulps=0)
def imag(x: Any) -> Any:
    """Return the imaginary part, a real number."""
    return np.array(np.imag(x))


@imag.vjp("x")
def imag_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return from_imag(g)


@primitive(saves=(), ulps=0)
def from_real(x: Any) -> Any:
    """Return ``x + 0i``: the transpose of `real`."""
    return np.asarray(x).astype(np.result_type(x, np.complex64))


@from_real.vjp("x")
def from_real_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return real(g)


def _complex(re: Any, im: Any) -> Any:
    re, im = np.broadcast_arrays(re, im)
    out = np.empty(re.shape, np.result_type(re, im, np.complex64))
    out.real, out.imag = re, im
    return out


@primitive(saves=(), ulps=0)
def from_imag(x: Any) -> Any:
    """Return ``0 + ix``: the transpose of `imag`."""
    return _complex(np.zeros_like(x), x)


@from_imag.vjp("x")
def from_imag_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return imag(g)


@primitive(ulps=0)
def complex(re: Any, im: Any) -> Any:  # noqa: A001 - an op is called what the frameworks call it
    """Return ``re + i im`` of two real tensors that broadcast."""
    return _complex(re, im)


@complex.vjp("re")
def complex_vjp_re(g: Any, out: Any, re: Any, im: Any) -> Any:
    return sum_to(real(g), shape_of(re))


@complex.vjp("im")
def complex_vjp_im(g: Any, out: Any, re: Any, im: Any) -> Any:
    return sum_to(imag(g), shape_of(im))


@primitive(saves=(), ulps=0)
def as_real(x: Any) -> Any:
    """Return real and imaginary part along a new last axis of length 2."""
    return np.stack([np.real(x), np.imag(x)], axis=-1)


@as_real.vjp("x")
def as_real_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return as_complex(g)


@primitive(saves=(), ulps=0)
def as_complex(x: Any) -> Any:
    """Return what the last axis, of length 2, holds as real and imaginary part."""
    return _complex(x[..., 0], x[..., 1])


@as_complex.vjp("x")
def as_complex_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return as_real(g)


@primitive(ulps=4, domain={"x": Domain.NONZERO})
def sgn(x: Any) -> Any:
    """Return ``x / |x|`` of complex numbers, and 0 at 0."""
    size = np.abs(x)
    return np.divide(x, np.where(size == 0, 1, size).astype(size.dtype))
