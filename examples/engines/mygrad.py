"""MyGrad: NumPy arrays in tensors with ``backward``, for first derivatives."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.backends import BackendInfo, Registration
from conformance.backends.calls import Calls, Spelling
from conformance.backends.interpreter import Interpreter
from conformance.case.needs import AGAIN
from examples.engines.functional import FUNCTIONAL, Functional
from examples.engines.numpy_ops import spelled

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.backends.error_rules import Rule

REGISTRATION = Registration(opens=f"{__name__}:open_backend", title="MyGrad", requires="mygrad", static=True)
OWN = {
    "relu": "mygrad.nnet.relu(x)",
    "leaky_relu": "mygrad.nnet.leaky_relu(x, slope)",
    "sigmoid": "mygrad.nnet.sigmoid(x)",
    "glu": "mygrad.nnet.glu(x, axis)",
    "softmax": "mygrad.nnet.softmax(x, axis)",
    "log_softmax": "mygrad.nnet.logsoftmax(x, axis)",
    "getitem_intarray": "x[tuple(index)]",
    "index_select": "x[(slice(None),) * (axis % x.ndim) + (index,)]",
    "embedding": "weight[index]",
    "where": "mygrad.where(mask, x, y)",
    "masked_fill": "mygrad.where(mask, value, x)",
    "masked_fill_tensor": "mygrad.where(mask, value, x)",
}
NOT_OFFERED = {
    AGAIN: "MyGrad differentiates once: its gradients are arrays",
    **dict.fromkeys(("op:floor", "op:ceil", "op:sign"), "it is NumPy's function, which refuses tensors that are no constants"),
    "op:cast": "astype returns a tensor without history, and says so",
}
ERROR_RULES: tuple[Rule, ...] = ()


def open_backend() -> Interpreter:
    """Open it; it computes with NumPy."""
    import mygrad

    calls = Calls(Spelling("mygrad", {**spelled("mygrad"), **OWN}), mygrad)
    not_offered = {**FUNCTIONAL.not_offered, **calls.lacking(), **NOT_OFFERED}
    info = BackendInfo("mygrad", version("mygrad"), FUNCTIONAL, not_offered, kinks="any", alike=calls.alike())
    return Interpreter(info, Functional(calls, MyGrad(mygrad), ERROR_RULES))


class MyGrad:
    """Reverse mode by a ``backward`` of the sum of the products with the cotangents."""

    def __init__(self, mygrad: Any) -> None:
        self.mygrad = mygrad

    def array(self, elements: Any) -> Any:
        return self.mygrad.tensor(elements, constant=True)

    def plain(self, array: Any) -> Any:
        return np.array(array.data)

    def ones_like(self, array: Any) -> Any:
        return self.array(np.ones(array.shape, array.dtype))

    def gradient(self, function: Callable[[Any], list[Any]], x: Any, seeded: Callable[[list[Any]], list[Any]]) -> Any:
        leaf = self.mygrad.tensor(x.data)
        values = function(leaf)
        products = [(value, seed) for value, seed in zip(values, seeded(values), strict=True) if not value.constant]
        if len(products) == 1:
            products[0][0].backward(products[0][1].data)
        elif products:
            self.mygrad.add_sequence(*(self.mygrad.sum(value * seed) for value, seed in products)).backward()
        return self.array(np.zeros_like(x.data) if leaf.grad is None else leaf.grad)
