"""MyGrad, scripts: tensors with ``backward`` and ``.grad``, and a graph that is gone when ``backward`` is done."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.backends import BackendInfo, Registration
from conformance.backends.calls import Calls, Spelling
from conformance.backends.interpreter import Interpreter
from conformance.case.needs import ANEW
from conformance.case.outcome import Value
from examples.engines.eager import TAPES, Eager
from examples.engines.mygrad import ERROR_RULES, NOT_OFFERED, OWN
from examples.engines.numpy_ops import spelled

if TYPE_CHECKING:
    from collections.abc import Sequence

REGISTRATION = Registration(opens=f"{__name__}:open_backend", title="MyGrad", requires="mygrad")
# Of Tensor.backward: "Once back-propagation is finished, the present tensor is removed from all computational graphs, and the
# preceding graph is cleared". Of Tensor: "involving any of these tensors in a new computational graph will automatically null their
# gradients".
# https://mygrad.readthedocs.io/en/latest/tensor.html
CLEARING = replace(TAPES, freed_refuses="nothing", accumulation="nulled", spelled={"contiguous": "permute"})  # which makes a view there
OF_VIEWS = {
    "getitem_int": "x[(index, ...)]",  # x[index] is a number, and no view, where one axis is all there is
    "unbind": "[x[(slice(None),) * (axis % x.ndim) + (i, ...)] for i in range(x.shape[axis])]",
}
OF_SCRIPTS = {
    ANEW: "a pass clears all that is attached to the tensors that it goes through, leaves, too",
    "backward.retain_graph": "its graph is gone after a pass",
    **dict.fromkeys(("op:linear", "op:outer", "op:glu"), "it is made of views of an operand, and these do not null its .grad"),
    "no_grad": "what is made inside no_autodiff is no constant, and backward does nothing there",
    "step:clear_grad": "null_grad makes a .grad absent, and nothing makes it zero",
    "step:retain_grad": "that of a view is a part of its base's .grad, whatever went through the view itself",
}


def open_backend() -> Interpreter:
    """Open it; it computes with NumPy."""
    import mygrad

    calls = Calls(Spelling("mygrad", {**spelled("mygrad"), **OWN, **OF_VIEWS}), mygrad)
    not_offered = {**TAPES.not_offered, **calls.lacking(), **NOT_OFFERED, **OF_SCRIPTS}
    info = BackendInfo("mygrad_eager", version("mygrad"), CLEARING, not_offered, kinks="any", alike=calls.alike())
    return Interpreter(info, Eager(calls, Tensors(mygrad), ERROR_RULES))


class Tensors:
    """The tensors of MyGrad as a tape."""

    def __init__(self, mygrad: Any) -> None:
        self.mygrad = mygrad

    def leaf(self, elements: Any, *, differentiable: bool) -> Any:
        return self.mygrad.tensor(elements, constant=not differentiable)

    def made(self, result: Any, operands: Sequence[Any]) -> Any:  # noqa: ARG002 - its tensors know whether they are constant
        return result

    def of_engine(self, tensor: Any) -> Any:
        return tensor

    def tracked(self, tensor: Any) -> bool:
        return not tensor.constant

    def backward(self, roots: Sequence[tuple[Any, Any]]) -> None:
        if len(roots) == 1:
            root, seed = roots[0]
            root.backward(None if seed is None else seed.data)
            return
        products = [root if seed is None else root * seed.data.astype(root.dtype) for root, seed in roots]
        self.mygrad.add_sequence(*map(self.mygrad.sum, products)).backward()

    def grad(self, tensor: Any) -> Any:
        return tensor.grad

    def look(self, tensor: Any) -> Value:
        if isinstance(tensor, np.ndarray):  # a .grad
            return Value(tensor.copy(), requires_grad=False)
        return Value(np.array(tensor.data), not tensor.constant)

    def detach(self, tensor: Any) -> Any:
        return tensor.copy(constant=True)
