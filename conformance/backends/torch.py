"""PyTorch."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch
import torch.fx.experimental.symbolic_shapes  # torch imports it at its first backward; here a forked worker finds it imported

from conformance.backends import BackendInfo
from conformance.backends.interpreter import CallbackError, Interpreter, pick
from conformance.backends.messages import Rule, categorise
from conformance.ops.calls import Calls
from conformance.outcome import Value
from reference_impl import TORCH, Category

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from conformance.backends.interpreter import Forward, Pullback
    from conformance.case import Input
    from conformance.steps import Backward, Grad, InPlace, Op

RULES: tuple[Rule, ...] = (
    (CallbackError, "", Category.CALLBACK),
    (RuntimeError, "Trying to backward through the graph a second time", Category.GRAPH_FREED),
    (RuntimeError, "appears to not have been used in the graph", Category.UNREACHABLE_INPUT),
    (RuntimeError, "One of the differentiated Tensors does not require grad", Category.NOT_DIFFERENTIABLE),
    (RuntimeError, "can't retain_grad on Tensor that has requires_grad=False", Category.NOT_DIFFERENTIABLE),
    (RuntimeError, "cannot register a hook on a tensor that doesn't require gradient", Category.NOT_DIFFERENTIABLE),
    (RuntimeError, "you can only change requires_grad flags of leaf variables", Category.NOT_A_LEAF),
    (RuntimeError, "has changed the type of value", Category.CALLBACK_RESULT),
    (RuntimeError, "has changed the size of value", Category.CALLBACK_RESULT),
    (RuntimeError, "can't replace a None gradient with a non-None value", Category.CALLBACK_RESULT),
    (RuntimeError, "does not require grad and does not have a grad_fn", Category.ROOT_WITHOUT_GRAPH),
    (RuntimeError, "grad can be implicitly created only for", Category.SEED_REQUIRED),
    (RuntimeError, "Mismatch in shape: grad_output", Category.SEED_SHAPE),
    (RuntimeError, "For complex Tensors, both grad_output and output", Category.DTYPE),
    (RuntimeError, " tensors and ", Category.SEED_LENGTH),
    (RuntimeError, "returned an incorrect number of gradients", Category.CALLBACK_RESULT),
    (RuntimeError, "returned an invalid gradient at index", Category.CALLBACK_RESULT),
    (ValueError, "Expected allow_unused to be True or not passed when materialize_grads=True", Category.BAD_ARGUMENT),
    (RuntimeError, "cannot be empty", Category.BAD_ARGUMENT),
    (RuntimeError, "arguments both passed to", Category.BAD_ARGUMENT),
    (RuntimeError, "materialize_grads cannot be used when the given input is a GradientEdge", Category.BAD_ARGUMENT),
    (RuntimeError, "get the gradient edge for a Tensor that does not require", Category.NOT_DIFFERENTIABLE),
    *((RuntimeError, part, Category.SEED_SHAPE) for part in ("If `is_grads_batched=True`", "invalid gradient at index")),
    *((ValueError, part, Category.SEED_SHAPE) for part in ("Got in_dim=0 for some input", "same size in the mapped dimension")),
    (IndexError, "invalid index of a 0-dim tensor", Category.SEED_SHAPE),
    (RuntimeError, "is not implemented", Category.NOT_IMPLEMENTED),
    (RuntimeError, "has been modified by an inplace operation", Category.IN_PLACE_VERSION),
    (RuntimeError, "leaf Variable that requires grad is being used in an in-place", Category.IN_PLACE_LEAF),
    (RuntimeError, "A view was created in no_grad mode and is being modified inplace", Category.IN_PLACE_VIEW),
    (RuntimeError, "more than one element of the written-to tensor", Category.IN_PLACE_VIEW),
    (RuntimeError, "is a view and is being modified inplace", Category.IN_PLACE_VIEW),
    (RuntimeError, "doesn't match the broadcast shape", Category.OP_SHAPE),
)


def open_backend() -> Interpreter:
    """Open PyTorch on the CPU, with one thread."""
    torch.set_num_threads(1)
    for expected in (
        "The .grad attribute of a Tensor that is not a leaf",
        "only_inputs argument",
        "Using backward",
        "`grad_variables` is deprecated",
    ):
        warnings.filterwarnings("ignore", message=f".*{expected}")
    return Interpreter(BackendInfo("torch", str(torch.__version__), TORCH, TORCH.not_offered), TorchEngine())


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

    def backward(self, step: Backward, values: dict[str, Any], dump: str | None) -> Any:  # noqa: ARG002 - not offered
        options = {} if step.grad_variables is None else {"grad_variables": pick(values, step.grad_variables, step.form)}
        return torch.autograd.backward(
            pick(values, step.tensors, step.form),
            pick(values, step.grad_tensors, step.form),
            step.retain_graph,
            step.create_graph,
            inputs=pick(values, step.inputs, step.form),
            **options,
        )

    def grad(self, step: Grad, values: dict[str, Any]) -> list[Any]:
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
        # A derivative that is zero by formula may be a view of torch's data-less ZeroTensor: numpy() refuses it, and
        # tolist() and numpy(force=True) read address 0 (reports/findings/torch-zero-tensor). clone() gives it elements.
        # conj() and its imaginary part are lazy, by a bit that numpy() refuses and clone() keeps.
        return Value(tensor.detach().clone().resolve_conj().resolve_neg().numpy(), tensor.requires_grad)

    def no_grad(self) -> AbstractContextManager[Any]:
        return torch.no_grad()  # type: ignore[no-any-return]

    def category(self, error: Exception) -> Category:
        return categorise(error, RULES)
