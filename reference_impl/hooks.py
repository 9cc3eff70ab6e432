"""What a user may attach to a tensor after it was made: hooks, a retained gradient, the flag.

A hook belongs to the place where a tensor's cotangent is collected (`place_of`): the leaf itself, or one output slot of the node that
made it. So it is called once for each pass that reaches the place, with the total of what arrived, before anything else is done
with it. Sources: ``torch.Tensor.register_hook``, ``retain_grad``; ``paddle.Tensor.register_hook``, ``retain_grads``.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from reference_impl.errors import AutogradError, Category

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference_impl.dialect import Dialect
    from reference_impl.tensor import Tensor


class Handle:
    """One registered hook; `remove` takes it off again."""

    def __init__(self, hooks: list[Any], function: Callable[[Tensor | None], Tensor | None]) -> None:
        self.function = function
        self._hooks = hooks
        hooks.append(self)

    def remove(self) -> None:
        """Take the hook off; a second time does nothing."""
        if self in self._hooks:
            self._hooks.remove(self)


class Retained:
    """Stands among the hooks of a place and keeps its cotangent as ``.grad`` of the tensor."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = weakref.ref(tensor)


def hooks_of(tensor: Tensor) -> list[Any]:
    """Return the list of hooks of a tensor's place; made when it is first asked for."""
    if tensor.node is None:
        if tensor.hooks is None:
            tensor.hooks = []
        return tensor.hooks
    if tensor.node.hooks is None:
        tensor.node.hooks = {}
    return tensor.node.hooks.setdefault(tensor.slot, [])


def register_hook(tensor: Tensor, function: Callable[[Tensor | None], Tensor | None]) -> Handle:
    """Have ``function`` called with the cotangent of ``tensor`` (its shape and dtype); what it returns takes the cotangent's place.

    Raises:
        AutogradError: ``not_differentiable``, if the tensor requires no gradient.
    """
    if not tensor.requires_grad:
        raise AutogradError(Category.NOT_DIFFERENTIABLE, "a hook on a tensor that requires no gradient")
    return Handle(hooks_of(tensor), function)


def retain_grad(tensor: Tensor, *, dialect: Dialect) -> None:
    """Have a computed tensor keep its ``.grad``; nothing changes for a leaf, or the second time.

    Raises:
        AutogradError: ``not_differentiable``, if the tensor requires no gradient and the dialect minds.
    """
    if not tensor.requires_grad:
        if dialect.retain_constant == "refused":
            raise AutogradError(Category.NOT_DIFFERENTIABLE, "a tensor that requires no gradient retains none")
        return
    if tensor.node is None:
        return
    if not retains(tensor):
        hooks_of(tensor).append(Retained(tensor))


def retains(tensor: Tensor) -> bool:
    """Whether a computed tensor keeps its ``.grad``."""
    hooks = tensor.node.hooks if tensor.node is not None else None
    held = hooks.get(tensor.slot, ()) if hooks else ()
    return any(isinstance(h, Retained) and h.tensor() is tensor for h in held)


def set_requires_grad(tensor: Tensor, requires_grad: bool, *, dialect: Dialect) -> None:
    """Set the flag of a tensor. What was recorded before stays recorded.

    Raises:
        AutogradError: ``not_a_leaf``, if the tensor was computed and the dialect minds.
    """
    if tensor.node is not None and dialect.computed_flag == "fixed":
        raise AutogradError(Category.NOT_A_LEAF, "the flag of a computed tensor cannot be changed; detach it")
    tensor.requires_grad = requires_grad


def ordered(hooks: list[Any], dialect: Dialect) -> list[Any]:
    """Return the hooks of a place in the order in which they are called."""
    if dialect.retained_position == "registered":
        return list(hooks)
    return sorted(hooks, key=lambda hook: isinstance(hook, Retained))
