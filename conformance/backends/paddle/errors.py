"""What Paddle refuses in eager mode, and why: from its exceptions to categories.

The arguments of calls are checked in Python (``autograd/backward_mode.py`` and ``base/dygraph/base.py`` of
https://github.com/PaddlePaddle/Paddle/tree/develop/python/paddle), the rest while the graph is built and run
(https://github.com/PaddlePaddle/Paddle/tree/develop/paddle/fluid/eager).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_impl import Category

if TYPE_CHECKING:
    from conformance.backends.error_rules import Rule

ERROR_RULES: tuple[Rule, ...] = (
    (OSError, "CallbackError", Category.CALLBACK),
    (ValueError, "backward function should", Category.CALLBACK_RESULT),
    (ValueError, "The number of outputs of `PyLayer.backward` should be", Category.CALLBACK_RESULT),
    (SystemError, "do not exist. This may be because", Category.GRAPH_FREED),
    (RuntimeError, "Cannot register hook on a tensor that stop gradient", Category.NOT_DIFFERENTIABLE),
    (RuntimeError, "hook are not consistent", Category.CALLBACK_RESULT),
    (ValueError, "does not appear in the backward graph", Category.UNREACHABLE_INPUT),
    (SystemError, "There is no grad op for", Category.NOT_DIFFERENTIABLE),
    (SystemError, "input buffer has already been initialized", Category.DUPLICATE_TENSOR),
    (AssertionError, "contains duplicate paddle.Tensor", Category.DUPLICATE_TENSOR),
    (RuntimeError, "contain duplicate tensor", Category.DUPLICATE_TENSOR),
    (AssertionError, "must be equal to", Category.SEED_LENGTH),
    (AssertionError, "only_inputs=False is not supported yet", Category.BAD_ARGUMENT),
    (AssertionError, "cannot be empty", Category.BAD_ARGUMENT),
    (AssertionError, "must be True or False", Category.BAD_ARGUMENT),
    (AssertionError, "must be Tensor or list of Tensor", Category.BAD_ARGUMENT),
    (RuntimeError, "doesn't have any grad op", Category.NOT_IMPLEMENTED),
    (RuntimeError, "is not registered. Selected wrong DataType", Category.NOT_IMPLEMENTED),
    (RuntimeError, "has been modified by an inplace operation", Category.IN_PLACE_VERSION),
    (ValueError, "doesn't stop gradient can't use inplace strategy", Category.IN_PLACE_LEAF),
    (ValueError, "is different from that of inplace tensor", Category.OP_SHAPE),
    (ValueError, "The data_type of input tensor in list isn't consistent", Category.DTYPE),
)

SEEDS_NOT_CAST: tuple[Rule, ...] = (
    (ValueError, "The type of data we are trying to retrieve", Category.DTYPE),
    (NotImplementedError, "is not supported when casting data type", Category.DTYPE),
)
"""What a release that does not cast seeds to the dtype of their root says of one. Elsewhere kernels say so that fail inside, which
nobody means as a refusal."""
