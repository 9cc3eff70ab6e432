"""Probes of the calls: the shortest scripts that pass what no document speaks of, and so show whether an engine refuses it.

They are about no op. What is asked there are the open choices of the kind `allowed`.
"""

from __future__ import annotations

import numpy as np

from conformance.case.case import Case, Input, input_of
from conformance.case.steps import Backward, Grad, Op

_SQUARES = Op("mul", ("x", "x"), ("y",))
_TOTAL = Op("sum", ("y",), ("t",), {"axis": None, "keepdims": False})
_X = input_of("x", np.array([1.0, 2.0], "float32"), differentiable=True)
_Z = input_of("x", np.array([1.0 + 2.0j, 3.0], "complex64"), differentiable=True)
_C = input_of("c", np.array([5.0, 6.0], "float32"), differentiable=False)


def call_probes() -> tuple[Case, ...]:
    """Return the probes."""
    product, asked = Op("mul", ("x", "c"), ("y",)), Grad(("t",), ("c", "x"), ("dc", "dx"), allow_unused=True)
    return (
        Case((_X,), (_SQUARES, _TOTAL, Backward(("t",), retain_graph=1))),
        Case((_X, _C), (product, _TOTAL, asked)),
        Case((_X, _C), (product, Grad(("y", "c"), ("x",), ("dx",), ("c", "c")))),
        *(_seeded(_X, dtype) for dtype in ("float64", "complex64", "complex128")),
        *(_seeded(_Z, dtype) for dtype in ("float32", "float64", "complex128")),
    )


def _seeded(leaf: Input, dtype: str) -> Case:
    seed = input_of("s", np.array([3.0, 4.0], dtype), differentiable=False)
    return Case((leaf, seed), (_SQUARES, Grad(("y",), ("x",), ("dx",), ("s",))))
