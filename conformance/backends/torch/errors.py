"""What PyTorch refuses, and why: from its exceptions to categories.

The arguments of calls are checked in Python (https://github.com/pytorch/pytorch/blob/main/torch/autograd/__init__.py), the rest while
the graph is built and run (https://github.com/pytorch/pytorch/tree/main/torch/csrc/autograd).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.backends.interpreter import CallbackError
from reference_impl import Category

if TYPE_CHECKING:
    from conformance.backends.error_rules import Rule

ERROR_RULES: tuple[Rule, ...] = (
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
    (RuntimeError, "is not supported for complex", Category.DTYPE),
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
    (RuntimeError, "A view was created in no_grad mode and its base or another view of its base has been", Category.IN_PLACE_VIEW),
    (RuntimeError, "more than one element of the written-to tensor", Category.IN_PLACE_VIEW),
    (RuntimeError, "some elements of the input tensor and the written-to tensor refer to a single memory", Category.IN_PLACE_VIEW),
    (RuntimeError, "is a view and is being modified inplace", Category.IN_PLACE_VIEW),
    (RuntimeError, "doesn't match the broadcast shape", Category.OP_SHAPE),
)
