"""What of dropout is no matter of chance: all is kept, all is dropped, or all is scaled.

Elsewhere the frameworks draw different masks from the same seed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import mul_scalar
from reference_impl.primitives.fused import as_one
from reference_impl.tape.primitive import alias, composite, primitive, zeros_like


@primitive(saves=(), ulps=0)
def dropout_eval(x: Any, *, p: float) -> Any:
    """Return ``x`` as it is, whatever the share ``p`` of what training would drop: training makes up for it."""
    return np.array(x)


@dropout_eval.vjp("x")
def dropout_eval_vjp_x(g: Any, out: Any, x: Any, *, p: float) -> Any:
    return mul_scalar(g, other=1.0)  # a tensor of its own, and a node: in PyTorch it multiplies by the mask that it kept


@composite
def dropout_downscaled(x: Any, *, p: float) -> Any:
    """Return ``(1 - p) x``: what evaluation does where training did not make up for the share ``p`` that it dropped."""
    return mul_scalar(x, other=1.0 - p)


dropout_downscaled_as_one = as_one(dropout_downscaled, saves=())


@primitive(saves=(), ulps=0)
def dropout_all(x: Any) -> Any:
    """Return zeros: in training with ``p = 1`` every element is dropped. Each has the sign of what it was, as if multiplied by 0."""
    return np.copysign(np.zeros_like(x), x)


@dropout_all.vjp("x")
def dropout_all_vjp_x(g: Any, out: Any, x: Any) -> Any:
    return zeros_like(x)


def _unsigned(x: Any) -> Any:
    return np.zeros_like(x)


dropout_all_unsigned = alias("dropout_all_unsigned", dropout_all, forward=_unsigned)
"""The same with zeros that are all positive, where there was a sign, too: the side of an angle above them hangs on that."""

dropout_all_unsigned.derivative_of = dropout_all.derivative_of
