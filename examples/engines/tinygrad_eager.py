"""tinygrad, scripts: ``backward`` adds to the ``.grad`` of every tensor that stands in the graph, and frees nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.backends import BackendInfo, Registration
from conformance.backends.calls import Calls, Spelling
from conformance.backends.interpreter import Interpreter
from conformance.case.outcome import Value
from examples.engines.eager import TAPES, Eager
from examples.engines.tinygrad import ERROR_RULES, OWN

if TYPE_CHECKING:
    from collections.abc import Sequence

REGISTRATION = Registration(opens=f"{__name__}:open_backend", title="tinygrad", requires="tinygrad", slowness=10)
KEEPING = replace(TAPES, freed_refuses="nothing", ties="split", leaky_at_zero="one")
OF_SCRIPTS = {
    "no_grad": "it has no region where nothing is recorded",
    "step:detach": "what stands in the graph behind a detached tensor has a .grad, of zeros",
    "step:retain_grad": "tensors that are made in the same way are one, and so is the gradient that they retain",
}


def open_backend() -> Interpreter:
    """Open tinygrad with the device that is Python."""
    os.environ.setdefault("DEV", "PYTHON")
    os.environ.setdefault("PARALLEL", "0")  # see examples.engines.tinygrad
    import tinygrad

    calls = Calls(Spelling("tinygrad", OWN), tinygrad)
    not_offered = {**TAPES.not_offered, **calls.lacking(), **OF_SCRIPTS}
    info = BackendInfo("tinygrad_eager", version("tinygrad"), KEEPING, not_offered, kinks="any", alike=calls.alike())
    return Interpreter(info, TinygradEager(calls, Tensors(tinygrad), ERROR_RULES))


@dataclass(eq=False)
class Flagged:
    """A tensor, and whether it wants a gradient, which tinygrad does not ask: each tensor of a graph has one."""

    tensor: Any
    tracked: bool


class Tensors:
    """The tensors of tinygrad as a tape."""

    def __init__(self, tinygrad: Any) -> None:
        self.tinygrad = tinygrad

    def leaf(self, elements: Any, *, differentiable: bool) -> Flagged:
        flat = self.tinygrad.Tensor(np.array(elements, order="C").reshape(-1))  # a number alone would be a constant, without a .grad
        return Flagged(flat.reshape(elements.shape), differentiable)

    def made(self, result: Any, operands: Sequence[Flagged]) -> Flagged:
        _ = result.shape  # it is lazy, and finds out now that shapes do not fit
        return Flagged(result, any(operand.tracked for operand in operands))

    def of_engine(self, tensor: Flagged) -> Any:
        return tensor.tensor

    def tracked(self, tensor: Flagged) -> bool:
        return tensor.tracked

    def backward(self, roots: Sequence[tuple[Flagged, Flagged | None]]) -> None:
        if len(roots) == 1:
            root, seed = roots[0][0].tensor, roots[0][1]
            if seed is not None:
                root.backward(gradient=seed.tensor.cast(root.dtype))
            else:  # which it knows by itself for a scalar alone
                root.backward(gradient=self.tinygrad.Tensor.ones_like(root) if root.ndim else None)
            return
        products = [root.tensor if seed is None else root.tensor * self._constant(seed).cast(root.tensor.dtype) for root, seed in roots]
        sums = [product.sum() for product in products]
        sum(sums[1:], sums[0]).backward()

    def _constant(self, seed: Flagged) -> Any:
        """Return the elements of a cotangent, which may be one of the roots; what is detached would leave zeros behind it."""
        return self.tinygrad.Tensor(self.look(seed).array)

    def zeros_like(self, tensor: Any) -> Any:
        return self.tinygrad.Tensor.zeros_like(tensor)

    def grad(self, tensor: Flagged) -> Flagged | None:
        held = tensor.tensor.grad
        return None if held is None else Flagged(held, tracked=False)

    def look(self, tensor: Flagged) -> Value:
        # Zeros have no device, and numpy() would compile them for the CPU. A copy is computed, so that the tensor stays in its graph.
        return Value(tensor.tensor.clone().realize().numpy().copy(), tensor.tracked)

    def detach(self, tensor: Flagged) -> Flagged:
        return Flagged(tensor.tensor.detach(), tracked=False)


class TinygradEager(Eager):
    """With a ``.grad`` that can be written to."""

    tape: Tensors

    def clear_grad(self, tensor: Flagged, to: str) -> None:
        held = tensor.tensor.grad
        if held is not None:
            tensor.tensor.grad = None if to == "none" else self.tape.zeros_like(held)
