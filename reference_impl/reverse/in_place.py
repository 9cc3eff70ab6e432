"""In-place updates: a tensor gets new elements and a new history, and keeps its identity.

An update computes the op as a function of what the tensor was, and then writes: all tensors that share the memory get the new
elements, and where the update is recorded, the base of the written tensor gets the history "itself with this part replaced", and
every view of the base is derived from it again. So a gradient is that of the program as it was executed, through whichever of
the tensors the write came. Inside ``no_grad`` the elements change and the histories stay. A detached tensor shares the memory and
has a history of its own. What earlier nodes saw is found by `storage.settle`; that they refuse, if they kept it, by
`storage.overwritten`.

Sources: PyTorch's notes on autograd mechanics (in-place operations, hooks of tensors that are modified in place) and Paddle's
guide to views and in-place operations.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.errors import AutogradError, Category
from reference_impl.primitives.update import EXPANDING, Way, fill
from reference_impl.tape.hooks import Retained, hooks_of
from reference_impl.tape.storage import copy_of, differentiable_base, has_gaps, link_of, views_of
from reference_impl.tape.tensor import Memory, Mode, Tensor, memory_of, next_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reference_impl.dialects.dialect import Dialect


def update_in_place(op: Callable[..., Any], tensor: Tensor, *operands: Tensor, dialect: Dialect, **attrs: Any) -> None:
    """Change ``tensor`` to ``op(tensor, *operands, **attrs)``, which must have its shape and dtype.

    A counterfactual op may have a form of its own for updates, ``op.in_place``, which writes to expanded tensors, too.

    Raises:
        AutogradError: ``in_place_leaf`` (a leaf that requires a gradient, or a view of it), ``in_place_view`` (an expanded tensor,
            but for `fill`, and in some dialects one of several results of one view op), ``op_shape``, ``dtype``.
    """
    own = getattr(op, "in_place", None)
    # fill writes the same to all that are one, and PyTorch refuses it nowhere
    _check_target(tensor, operands, dialect, to_expanded=own is not None or op is fill)
    try:
        made = (own or op)(copy_of(tensor), *operands, **attrs)
    except ValueError as error:
        raise AutogradError(Category.OP_SHAPE, str(error)) from None
    if made.shape != tensor.shape:
        raise AutogradError(Category.OP_SHAPE, f"a result of shape {made.shape} does not fit into shape {tensor.shape}")
    if made.dtype != tensor.dtype:
        raise AutogradError(Category.DTYPE, f"a result of dtype {made.dtype} does not fit into {tensor.dtype}")
    _write(tensor, made, dialect)


def _check_target(tensor: Tensor, operands: Sequence[Tensor], dialect: Dialect, *, to_expanded: bool) -> None:
    recorded = Mode.recording and (tensor.requires_grad or any(o.requires_grad for o in operands))
    link, expanded = link_of(tensor, dialect.copies), False
    while link is not None:
        above, view, _, _ = link
        if view is not None and view.multi_output and recorded and dialect.several_views == "refused":
            raise AutogradError(Category.IN_PLACE_VIEW, f"one of several results of {view.name}, which are views")
        expanded |= view is not None and view.name in EXPANDING
        link = link_of(above, dialect.copies)
    base = differentiable_base(tensor, dialect.copies)
    # PyTorch asks the flag of the view: that of its base may have been turned since, or never have been set. In both a tensor that was
    # made a leaf by its own flag is one, whatever it is a view of.
    is_leaf = tensor.node is None or base.requires_grad or dialect.toggled_leaf == "checked"
    if recorded and tensor.requires_grad and base.node is None and is_leaf:
        raise AutogradError(Category.IN_PLACE_LEAF, "a leaf that requires a gradient, or a view of it, would be no leaf any more")
    if expanded and not to_expanded and _overlaps(tensor):
        raise AutogradError(Category.IN_PLACE_VIEW, "several elements of an expanded tensor are one")


def _overlaps(tensor: Tensor) -> bool:
    return any(stride == 0 and n > 1 for stride, n in zip(tensor.array.strides, tensor.shape, strict=True))


def _write(tensor: Tensor, made: Tensor, dialect: Dialect) -> None:
    top, part, way = _placed(tensor, made, dialect)
    root, array = top, part.array
    while (link := link_of(root, dialect.copies)) is not None:
        root, op_above, attrs, slot = link
        if op_above is not None:
            way.views.insert(0, (op_above.name, attrs, slot))
            array = way.overwritten(root.array, array, made.array)
    number = Mode.written = next_number()
    rebased = Mode.recording and part.requires_grad
    _Write(number, top, part if rebased else None, dialect).replace(root, array, None)
    if rebased and top is not tensor and made.node is not None:
        memory = memory_of(top)
        memory.residents = (*memory.residents, (made.node, made.slot))
        made.node.shown = weakref.ref(tensor)


def _placed(tensor: Tensor, made: Tensor, dialect: Dialect) -> tuple[Tensor, Tensor, Way]:
    """Return the base of a written tensor, what that is with ``made`` in the place of the tensor, and the way down to this."""
    way, part = Way(), made
    while (link := link_of(tensor, dialect.copies)) is not None and link[1] is not None:
        tensor, op, attrs, slot = link[0], link[1].name, link[2], link[3]
        way.views.insert(0, (op, attrs, slot))
        part = way.overwritten(copy_of(tensor), part, made)
    return tensor, part, way


@dataclass(frozen=True, slots=True)
class _Write:
    """One write on its way through the tensors that share the memory; ``top`` gets the history of ``part``."""

    number: int
    top: Tensor
    part: Tensor | None
    dialect: Dialect

    def replace(self, tensor: Tensor, array: Any, history: Tensor | None) -> None:
        """Give a tensor new elements, and a new history if there is one; then all its views."""
        memory = memory_of(tensor)
        views = list(views_of(tensor, self.dialect.copies))
        for view, _ in views:
            memory_of(view).strided = has_gaps(view, self.dialect.copies)  # while it lies in what is replaced
        self._mark(tensor, memory)
        if tensor is self.top:
            history = self.part
        if history is not None:
            self._rebase(tensor, memory, history)
        tensor.array = np.asarray(array)
        for view, (_, op, attrs, slot) in views:
            if op is None:
                self.replace(view, array, None)
                continue
            derived = op(copy_of(tensor) if history is not None else array, **attrs)
            taken = derived[slot] if op.multi_output else derived
            self.replace(view, taken.array if history is not None else taken, taken if history is not None else None)

    def _mark(self, tensor: Tensor, memory: Memory) -> None:
        memory.written = self.number
        places = [*memory.residents, *([] if tensor.node is None else [(tensor.node, tensor.slot)])]
        memory.residents = ()
        for node, slot in places:
            if node.overwritten is None:
                node.overwritten = {}
            node.overwritten[slot] = self.number

    def _rebase(self, tensor: Tensor, memory: Memory, history: Tensor) -> None:
        before = copy_of(tensor)
        before.memory = Memory()
        before.memory.written, before.memory.strided = self.number, memory.strided
        memory.past = (*memory.past, (self.number, before))
        kept = []
        if tensor.requires_grad and self.dialect.retained_follows == "newest":
            hooks = hooks_of(tensor)
            kept = [h for h in hooks if isinstance(h, Retained) and h.tensor() is tensor]
            hooks[:] = [h for h in hooks if h not in kept]
        tensor.node, tensor.slot, tensor.requires_grad = history.node, history.slot, True
        if kept:
            hooks_of(tensor).append(Retained(tensor))
