"""What Paddle refuses in static programs, and why: from its exceptions to categories.

Programs in PIR are differentiated in ``autograd/ir_backward.py``, programs of old in ``base/backward.py``, both of
https://github.com/PaddlePaddle/Paddle/tree/develop/python/paddle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_impl import Category

if TYPE_CHECKING:
    from conformance.backends.error_rules import Rule

ERROR_RULES: tuple[Rule, ...] = (
    (ValueError, "should have the same length of as outputs", Category.SEED_LENGTH),
    (ValueError, "The shape of grad_output", Category.SEED_SHAPE),
    (ValueError, "The shapes of target and grad are different", Category.SEED_SHAPE),
    (ValueError, "Should have the same number of target_gradients as targets", Category.SEED_LENGTH),
    (ValueError, "has no grad op", Category.NOT_IMPLEMENTED),
    (RuntimeError, "has been registered. Please check whether", Category.NOT_IMPLEMENTED),
    (ValueError, "The type of data we are trying to retrieve", Category.DTYPE),  # a gradient of a target, which programs do not cast
    (TypeError, "Value Wrapper is only support", Category.BAD_ARGUMENT),
    (TypeError, "must be <class 'paddle.base.libpaddle.pir.Value'>", Category.BAD_ARGUMENT),
)
