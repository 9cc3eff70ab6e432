"""PyTorch on the CPU, as an `Engine`: how the interpreter of scripts makes, differentiates and looks at torch's tensors.

To write an adapter of your own, start from a copy of this file. Every method does one thing with the engine's own objects, by the call
that a user would write, with exactly the parameters that the step passes: what the engine makes of them is what is tested. It computes
nothing itself, compares nothing, and lets every exception through, which `errors` then maps to a category.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch
import torch._dynamo  # torch imports it at its first batched second derivative, in a second; a forked worker finds it imported
import torch.fx.experimental.symbolic_shapes  # as above, at its first backward

from conformance.backends import BackendInfo
from conformance.backends.calls import Calls
from conformance.backends.error_rules import categorise
from conformance.backends.interpreter import Interpreter, pick
from conformance.backends.torch.errors import ERROR_RULES
from conformance.case.outcome import Value
from reference_impl import TORCH, Category

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from conformance.backends.interpreter import Forward, Pullback, Values
    from conformance.case.case import Input
    from conformance.case.steps import Backward, Grad, InPlace, Op


def open_backend() -> Interpreter:
    """Open PyTorch on the CPU, with one thread."""
    torch.set_num_threads(1)
    CALLS.compile_all()
    for expected in (
        "The .grad attribute of a Tensor that is not a leaf",
        "only_inputs argument",
        "Using backward",
        "`grad_variables` is deprecated",
        "reduction: 'mean' divides",
    ):
        warnings.filterwarnings("ignore", message=f".*{expected}")
    cpu = torch.backends.cpu.get_cpu_capability()
    offered_not = {**TORCH.not_offered, **CALLS.lacking()}
    return Interpreter(BackendInfo("torch", str(torch.__version__), TORCH, offered_not, cpu), TorchEngine())


CALLS = Calls("torch", torch)


class TorchEngine:
    """`Engine` over torch tensors."""

    def leaf(self, entry: Input) -> torch.Tensor:
        return torch.from_numpy(entry.array()).requires_grad_(entry.differentiable)

    def apply(self, step: Op, operands: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        return CALLS.apply(step.op, operands, step.attrs)

    def in_place(self, step: InPlace, tensor: torch.Tensor, operands: list[torch.Tensor]) -> None:
        CALLS.change(step.op, tensor, operands, step.attrs)

    def custom(self, forward: Forward, backward: Pullback, operands: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        class Function(torch.autograd.Function):  # type: ignore[misc]
            @staticmethod
            def forward(ctx: Any, *tensors: torch.Tensor) -> Any:
                outputs, saved = forward(list(tensors))
                ctx.save_for_backward(*saved)
                ctx.saves = bool(saved)  # who saved nothing has no reason to ask for it, and asking is refused on a freed graph
                return tuple(outputs) if len(outputs) > 1 else outputs[0]

            @staticmethod
            def backward(ctx: Any, *cotangents: torch.Tensor) -> Any:
                return tuple(backward(list(ctx.saved_tensors) if ctx.saves else [], list(cotangents)))

        made = Function.apply(*operands)
        return made if isinstance(made, tuple) else (made,)

    def backward(self, step: Backward, values: Values, dump: str | None) -> Any:  # noqa: ARG002 - not offered
        options = {} if step.grad_variables is None else {"grad_variables": pick(values, step.grad_variables, step.form)}
        return torch.autograd.backward(
            pick(values, step.tensors, step.form),
            pick(values, step.grad_tensors, step.form),
            step.retain_graph,
            step.create_graph,
            inputs=pick(values, step.inputs, step.form),
            **options,
        )

    def grad(self, step: Grad, values: Values) -> list[Any]:
        return list(
            torch.autograd.grad(
                pick(values, step.outputs, step.form),
                pick(values, step.inputs, step.form),
                pick(values, step.grad_outputs, step.form),
                step.retain_graph,
                step.create_graph,
                step.only_inputs,
                step.allow_unused,
                step.is_grads_batched,
                step.materialize_grads,
            )
        )

    def retain_grad(self, tensor: torch.Tensor) -> None:
        tensor.retain_grad()

    def toggle(self, tensor: torch.Tensor, requires_grad: bool) -> None:
        tensor.requires_grad = requires_grad

    def hook(self, tensor: torch.Tensor, function: Callable[[Any], Any]) -> Any:
        return tensor.register_hook(function)

    def remove_hook(self, handle: Any) -> None:
        handle.remove()

    def edge(self, tensor: torch.Tensor) -> Any:
        return torch.autograd.graph.get_gradient_edge(tensor)

    def recording(self) -> bool:
        return bool(torch.is_grad_enabled())

    def clear_grad(self, tensor: torch.Tensor, to: str) -> None:
        if to == "none":
            tensor.grad = None
        elif tensor.grad is not None:
            tensor.grad = torch.zeros_like(tensor.grad)

    def detach(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach()

    def grad_of(self, tensor: torch.Tensor) -> torch.Tensor | None:
        return tensor.grad

    def look(self, tensor: torch.Tensor) -> Value:
        shown = tensor.detach()
        try:
            array = shown.numpy().copy()
        except RuntimeError:
            # A derivative that is zero by formula may be a view of torch's data-less ZeroTensor: numpy() refuses it, and
            # tolist() and numpy(force=True) read address 0 (reports/findings/torch-zero-tensor). clone() gives it elements.
            # conj() and its imaginary part are lazy, by a bit that numpy() refuses and clone() keeps.
            array = shown.clone().resolve_conj().resolve_neg().numpy()
        return Value(array, tensor.requires_grad)

    def no_grad(self) -> AbstractContextManager[Any]:
        return torch.no_grad()  # type: ignore[no-any-return]

    def category(self, error: Exception) -> Category:
        return categorise(error, ERROR_RULES)
