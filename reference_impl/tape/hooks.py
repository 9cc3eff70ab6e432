"""What a user may attach to a tensor after it was made: hooks, a retained gradient, the flag.

A tensor may be used many times, but its hook must be called once per pass, with the total gradient. So a hook belongs to the place
where a tensor's cotangent is collected (`place_of`): the leaf itself, or one output slot of the node that made it. It is called when
all contributions have arrived, before anything else is done with their total. All slots of a node share one list of hooks, because the
order in which hooks are called may go across slots, see `ordered`. Sources: ``torch.Tensor.register_hook``, ``retain_grad``;
``paddle.Tensor.register_hook``, ``retain_grads``.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from reference_impl.errors import AutogradError, Category
from reference_impl.tape.storage import link_of
from reference_impl.tape.tensor import recording

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reference_impl.dialects.dialect import Dialect
    from reference_impl.tape.tensor import Tensor


class Handle:
    """One registered hook; `remove` takes it off again.

    The first hook of a tensor stays in the list even when it is removed: its position decides when this tensor's hooks are called
    among those of the other outputs of the node (`ordered`).
    """

    def __init__(self, tensor: Tensor, function: Callable[[Tensor | None], Tensor | None]) -> None:
        self.function = function
        self.slot = tensor.slot
        self.removed = False
        self.others = hooks_of(tensor)
        self.others.append(self)

    def remove(self) -> None:
        """Take the hook off; a second time does nothing."""
        first = next(hook for hook in self.others if isinstance(hook, Handle) and hook.slot == self.slot)
        if first is not self and not self.removed:
            self.others.remove(self)  # the first one stays, see above
        self.removed = True


class Retained:
    """Stands among the hooks of a place and keeps its cotangent as ``.grad`` of the tensor."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = weakref.ref(tensor)
        self.slot = tensor.slot


def hooks_of(tensor: Tensor) -> list[Any]:
    """Return the list of hooks of a leaf, or of the node that made a tensor; the first call makes it."""
    owner = tensor if tensor.node is None else tensor.node
    if owner.hooks is None:
        owner.hooks = []
    return owner.hooks


def register_hook(tensor: Tensor, function: Callable[[Tensor | None], Tensor | None]) -> Handle:
    """Have ``function`` called with the cotangent of ``tensor`` (its shape and dtype); what it returns takes the cotangent's place.

    Raises:
        AutogradError: ``not_differentiable``, if the tensor requires no gradient.
    """
    if not tensor.requires_grad:
        raise AutogradError(Category.NOT_DIFFERENTIABLE, "a hook on a tensor that requires no gradient")
    return Handle(tensor, function)


def retain_grad(tensor: Tensor, *, dialect: Dialect) -> None:
    """Have a computed tensor keep its ``.grad``; nothing changes for a leaf, or the second time.

    Raises:
        AutogradError: ``not_differentiable``, if the tensor requires no gradient and the dialect refuses that.
    """
    if not tensor.requires_grad:
        if dialect.retain_constant == "refused":
            raise AutogradError(Category.NOT_DIFFERENTIABLE, "a tensor that requires no gradient retains none")
        return
    if tensor.node is None:
        return
    if not retains(tensor) and not (dialect.retained_follows == "registered" and _retained_before(tensor)):
        hooks_of(tensor).append(Retained(tensor))


def retains(tensor: Tensor) -> bool:
    """Whether a computed tensor keeps its ``.grad``."""
    hooks = tensor.node.hooks if tensor.node is not None else None
    return any(isinstance(h, Retained) and h.tensor() is tensor for h in hooks or ())


def _retained_before(tensor: Tensor) -> bool:
    """Whether a tensor was asked to keep its ``.grad`` before it was changed in place."""
    node = tensor.node
    while node is not None:
        if any(isinstance(h, Retained) and h.tensor() is tensor for h in node.hooks or ()):
            return True
        node = getattr(node.operands[0], "node", None) if node.operands else None
    return False


def applied(made: Sequence[Tensor], operands: Sequence[Tensor], *, dialect: Dialect) -> None:
    """Do what a dialect does to ``.grad`` where an op was recorded: its results retain theirs, and its operands lose theirs."""
    if dialect.retaining == "every":
        for result in made:
            if result.requires_grad:
                retain_grad(result, dialect=dialect)
    if dialect.accumulation == "nulled" and recording() and not any(link_of(result, dialect.copies) for result in made):
        for operand in operands:
            operand.grad = None


def set_requires_grad(tensor: Tensor, requires_grad: bool, *, dialect: Dialect) -> None:
    """Set the flag of a tensor. What was recorded before stays recorded.

    Raises:
        AutogradError: ``not_a_leaf``, if the tensor was computed and the dialect demands a leaf.
    """
    if tensor.node is not None and dialect.computed_flag == "fixed":
        raise AutogradError(Category.NOT_A_LEAF, "the flag of a computed tensor cannot be changed; detach it")
    tensor.requires_grad = requires_grad


def fits(returned: Tensor, primal: Any) -> bool:
    """Whether what a hook returned may take the place of the cotangent of a primal."""
    return bool(returned.dtype == primal.dtype and returned.shape == primal.shape)


def ordered(hooks: list[Any], dialect: Dialect) -> list[Any]:
    """Return the hooks of a leaf or a node in the order in which they are called."""
    retained_last = dialect.retained_position == "last"
    ranks: dict[int, int] = {}
    for number, hook in enumerate(hooks):
        if isinstance(hook, Handle) or not retained_last:
            ranks.setdefault(hook.slot, number)
    present = [hook for hook in hooks if isinstance(hook, Retained) or not hook.removed]
    if dialect.hook_order == "by_tensor":
        present.sort(key=lambda hook: ranks.get(hook.slot, 0))
    return sorted(present, key=lambda hook: isinstance(hook, Retained)) if retained_last else present
