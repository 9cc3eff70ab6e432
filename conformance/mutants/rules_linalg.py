"""Wrong rules of norms, of inverses, and of decompositions."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.mutants.wrong_rule import Entries
from reference_impl import OPS
from reference_impl.primitives.matrices import adjoint, det_vjp_x
from reference_impl.primitives.reduction import restore_axes
from reference_impl.tape.primitive import array_of, shape_of

wrong = Entries()

mul, neg, matmul, sign = (OPS[name] for name in ("mul", "neg", "matmul", "sign"))


@wrong("inv.x", what="is not transposed")
def not_transposed(right: Any, g: Any, out: Any, x: Any) -> Any:
    return neg(matmul(matmul(out, g), out))


@wrong("det.x", what="takes the inverse for its transpose")
def inverse_for_transpose(right: Any, g: Any, out: Any, x: Any) -> Any:
    return adjoint(right(g, out, x))


@wrong("slogdet.x", what="is that of the determinant")
def of_the_determinant(right: Any, g: Any, out: Any, x: Any) -> Any:
    return det_vjp_x(g, OPS["det"](x), x)


@wrong("cross.x", what="has its sign turned")
def sign_turned(right: Any, g: Any, out: Any, x: Any, y: Any, *, axis: int) -> Any:
    return OPS["cross"](g, y, axis=axis)


@wrong("vector_norm.x", "norm.x", what="is that of order 1")
def of_order_one(right: Any, g: Any, out: Any, x: Any, *, p: Any, axis: Any, keepdims: bool) -> Any:
    return mul(restore_axes(g, shape_of(x), axis, keepdims=keepdims), sign(x))


@wrong("cholesky.x", what="counts the diagonal twice")
def diagonal_twice(right: Any, g: Any, out: Any, x: Any) -> Any:
    on = np.broadcast_to(1.0 + np.eye(shape_of(x)[-1]), shape_of(g)).astype(array_of(g).dtype)
    return right(mul(g, on), out, x)


@wrong("svd.x", what="leaves out what the vectors say")
def vectors_left_out(right: Any, g: Any, out: Any, x: Any) -> Any:
    gu, gs, gvh = g
    return right((np.zeros_like(array_of(gu)), gs, np.zeros_like(array_of(gvh))), out, x)


@wrong("eigh.x", what="leaves out what the values say")
def values_left_out(right: Any, g: Any, out: Any, x: Any) -> Any:
    gw, gv = g
    return right((np.zeros_like(array_of(gw)), gv), out, x)


@wrong("qr.x", what="leaves out what the triangle says")
def triangle_left_out(right: Any, g: Any, out: Any, x: Any) -> Any:
    gq, gr = g
    return right((gq, np.zeros_like(array_of(gr))), out, x)
