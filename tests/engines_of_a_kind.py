"""Engines that are right as far as they go: without some dtypes, or a framework under another name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import conformance
from conformance.backends import BackendInfo
from conformance.backends.interpreter import Interpreter
from conformance.backends.reference import ReferenceEngine
from reference_impl import TORCH

if TYPE_CHECKING:
    from conformance.backends import Backend
    from conformance.case.case import Input
    from reference_impl import Tensor

REFUSED = {f"dtype:{dtype}": "single precision of real numbers is all there is" for dtype in ("float64", "complex64", "complex128")}


class SinglePrecision(ReferenceEngine):
    """Has no tensors but those of float32, and says so in the middle of whatever it is asked."""

    def leaf(self, entry: Input) -> Tensor:
        """Make an input.

        Raises:
            TypeError: if it is of another dtype.
        """
        if entry.dtype != "float32":
            raise TypeError(f"no tensors of {entry.dtype}")
        return super().leaf(entry)


def single_precision() -> Backend:
    """Open an engine that says what it has not."""
    info = BackendInfo("single_precision", conformance.__version__, TORCH, {**TORCH.not_offered, **REFUSED})
    return Interpreter(info, SinglePrecision(TORCH, widen=False))


def silent_single_precision() -> Backend:
    """Open an engine that does not say it."""
    opened = single_precision()
    opened.info = replace(opened.info, not_offered=TORCH.not_offered)
    return opened


def variant_of_torch() -> Backend:
    """Open PyTorch under another name, as a device plug-in would be."""
    from conformance.backends.torch.engine import open_backend

    opened = open_backend()
    opened.info = replace(opened.info, name="variant", variant_of="torch")
    return opened


def copy_of_torch() -> Backend:
    """Open PyTorch by a copy of its adapter, which still calls itself what that does."""
    opened = variant_of_torch()
    opened.info = replace(opened.info, name="torch", variant_of="")
    return opened


def stranger() -> Backend:
    """Open PyTorch under another name, without a word on what it is."""
    opened = variant_of_torch()
    opened.info = replace(opened.info, variant_of="")
    return opened


def variant_of_nothing() -> Backend:
    """Open an engine that is a variant of one that nobody knows."""
    opened = single_precision()
    opened.info = replace(opened.info, variant_of="torhc")
    return opened
