"""Faults of what a user attaches and changes: hooks, retained gradients, edges, dumps, in-place updates and custom functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import reference_impl
from conformance.mutants.mutant import Kind, Mutant, patch
from reference_impl import PADDLE, TORCH, GradientEdge, Tensor
from reference_impl.reverse import custom, engine, in_place, walk
from reference_impl.reverse.custom import Custom
from reference_impl.reverse.in_place import _Write
from reference_impl.reverse.walk import ReversePass
from reference_impl.tape import hooks
from reference_impl.tape.hooks import Handle, Retained
from reference_impl.tape.tensor import no_grad

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.mutants.mutant import Fault
    from reference_impl.tape.tensor import Node

_hooked, _called, _arrive, _finish, _end = (
    ReversePass._hooked,
    ReversePass._called,
    ReversePass._arrive,
    ReversePass._finish,
    GradientEdge.end,
)
_ordered, _retain_grad = hooks.ordered, hooks.retain_grad
_boxed, _check_count, _cotangents = custom._boxed, Custom._check_count, Custom.cotangents
_update_in_place, _mark, _rebase = in_place.update_in_place, _Write._mark, _Write._rebase


def _answer_ignored(self: ReversePass, function: Any, cotangent: Any, *, arrived: bool) -> None:
    _called(self, function, cotangent, arrived=arrived)


def _unchecked(self: ReversePass, hooks_: list[Any], arrived: list[Any], primals: Any) -> list[Any]:
    slots = list(arrived)
    for hook in _ordered(hooks_, self.dialect):
        cotangent = slots[hook.slot]
        if isinstance(hook, Retained):
            tensor = hook.tensor()
            if tensor is not None and cotangent is not None:
                self.accumulate(tensor, cotangent)
            continue
        returned = _called(self, hook.function, cotangent, arrived=cotangent is not None)
        if returned is not None:
            slots[hook.slot] = returned if self.create_graph else returned.array
    return slots


def _hooks_alone(self: ReversePass, hooks_: list[Any], arrived: list[Any], primals: Any) -> list[Any]:
    return _hooked(self, [h for h in hooks_ if not isinstance(h, Retained)], arrived, primals)


def _first_hook(self: ReversePass, hooks_: list[Any], arrived: list[Any], primals: Any) -> list[Any]:
    firsts = {h.slot: h for h in reversed(hooks_) if not isinstance(h, Retained)}
    return _hooked(self, [h for h in hooks_ if isinstance(h, Retained) or firsts[h.slot] is h], arrived, primals)


def _newest_hook_first(hooks_: list[Any], dialect: Any) -> list[Any]:
    present = _ordered(hooks_, dialect)
    return [*(h for h in reversed(present) if isinstance(h, Handle)), *(h for h in present if isinstance(h, Retained))]


def _retained_first(hooks_: list[Any], dialect: Any) -> list[Any]:
    return sorted(_ordered(hooks_, dialect), key=lambda hook: isinstance(hook, Handle))


def _for_every_contribution(self: ReversePass, tensor: Tensor, cotangent: Any) -> None:
    if tensor.node is None and tensor.hooks:
        cotangent = _hooked(self, tensor.hooks, [cotangent], [None if cotangent is None else tensor.array])[0]
    _arrive(self, tensor, cotangent)


def _without_leaf_hooks(self: ReversePass, leaf: Tensor) -> None:
    held, leaf.hooks = leaf.hooks, None
    try:
        _finish(self, leaf)
    finally:
        leaf.hooks = held


def _in_backward_alone(self: ReversePass, leaf: Tensor) -> None:
    (_finish if self.accumulates else _without_leaf_hooks)(self, leaf)


def _after_accumulation(self: ReversePass, leaf: Tensor) -> None:
    wanted = leaf not in self.cut and (self.targets is None or leaf in self.targets)
    if self.accumulates and self.leaves.get(leaf) is not None and wanted:
        self.accumulate(leaf, self.leaves[leaf])
        accumulate, self.accumulate = self.accumulate, lambda *_: None
        _finish(self, leaf)
        self.accumulate = accumulate
    else:
        _finish(self, leaf)


def _stays(self: Handle) -> None:
    pass


def _remove_all(self: Handle) -> None:
    for hook in self.others:
        if isinstance(hook, Handle) and hook.slot == self.slot:
            hook.removed = True


def _twice_retained(tensor: Tensor, *, dialect: Any) -> None:
    _retain_grad(tensor, dialect=dialect)
    if tensor.node is not None and tensor.requires_grad:
        hooks.hooks_of(tensor).append(Retained(tensor))


def _on_the_tensor(self: GradientEdge) -> Tensor:
    return self.tensor


def _other_slot(self: GradientEdge) -> Tensor:
    found = _end(self)
    return found if found.node is None or not found.node.primitive.multi_output else _at_the_first_slot(found)


def _at_the_first_slot(tensor: Tensor) -> Tensor:
    assert tensor.node is not None  # noqa: S101 - the caller saw it
    return Tensor(tensor.node.out[0], requires_grad=True, node=tensor.node, slot=0)


def _save_late(op: Any, tensor: Tensor, *operands: Tensor, **options: Any) -> None:
    _update_in_place(op, tensor, *operands, **options)
    if tensor.node is not None and tensor.node.primitive is op:
        tensor.node.arrays[0] = tensor.array


def _history_kept(self: _Write, tensor: Tensor, memory: Any, history: Tensor) -> None:
    """Change the elements and leave the history as it was."""


def _base_history_kept(self: _Write, tensor: Tensor, memory: Any, history: Tensor) -> None:
    if tensor.link is not None or not memory.views:
        _rebase(self, tensor, memory, history)


def _past_forgotten(self: _Write, tensor: Tensor, memory: Any, history: Tensor) -> None:
    past = memory.past
    _rebase(self, tensor, memory, history)
    memory.past = past


def _target_alone_is_marked(self: _Write, tensor: Tensor, memory: Any) -> None:
    if tensor is self.top:
        _mark(self, tensor, memory)


def _always_recorded(op: Any, tensor: Tensor, *operands: Tensor, **options: Any) -> None:
    before = tensor.requires_grad
    _update_in_place(op, tensor, *operands, **options)
    tensor.requires_grad = before or any(o.requires_grad for o in operands)


def _first_gradients(self: Custom, gradients: list[Any], node: Node) -> None:
    _check_count(self, gradients[: len(node.operands)], node)


def _count_unchecked(self: Custom, gradients: list[Any], node: Node) -> None:
    gradients.extend([None] * (len(node.operands) - len(gradients)))


def _shape_unchecked(self: Custom, gradient: Tensor, primal: Any, position: int) -> Tensor:
    return gradient


def _without_materializing(self: Custom, node: Node, asked: Any, g: Any, *rest: Any) -> Iterator[tuple[int, Any]]:
    given = [c if np.any(c.array if isinstance(c, Tensor) else c) else None for c in g]
    with patch((custom, "_boxed", lambda x: x if x is None else _boxed(x)))():
        yield from list(_cotangents(self, node, asked, given, *rest))


def _without_recording(*given: Any) -> Iterator[tuple[int, Any]]:
    with no_grad():
        yield from list(_cotangents(*given))


def _for_all_operands(self: Custom, node: Node, asked: Any, *rest: Any) -> Iterator[tuple[int, Any]]:
    found = dict(_cotangents(self, node, asked, *rest))
    first = next((g for g in found.values() if g is not None), None)
    for position, gradient in found.items():
        yield position, first if gradient is None and first is not None and first.shape == node.arrays[position].shape else gradient


def _forward_recorded(forward: Any, backward: Any, operands: Any, *, dialect: Any) -> Any:
    """Differentiate the forward itself, and never call the backward."""
    del backward, dialect
    return tuple(forward(list(operands))[0])


def _engine(name: str, part: str, what: str, fault: Fault, dialect: Any = TORCH) -> Mutant:
    return Mutant(name, Kind.ENGINE, part, what, fault, dialect)


def _walk(name: str, replacement: Any) -> Fault:
    return patch((ReversePass, name, replacement))


MUTANTS = (
    _engine(
        "hooks_not_called",
        "hooks",
        "no hook is called and no gradient retained",
        patch((ReversePass, "_hooked", lambda self, hooks_, arrived, primals: arrived)),
    ),
    _engine("hook_answer_ignored", "hooks", "what a hook returns is ignored", _walk("_called", _answer_ignored)),
    _engine("hook_answer_unchecked", "hooks", "a hook may return any shape and dtype", _walk("_hooked", _unchecked)),
    _engine("first_hook_alone", "hooks", "only the first hook of a place is called", _walk("_hooked", _first_hook)),
    _engine("newest_hook_first", "hooks", "hooks are called in reverse order", patch((walk, "ordered", _newest_hook_first))),
    _engine(
        "hook_per_contribution", "hooks", "the hook of a leaf sees every contribution, too", _walk("_arrive", _for_every_contribution)
    ),
    _engine("leaf_hooks_not_called", "hooks", "hooks of leaves are not called", _walk("_finish", _without_leaf_hooks)),
    _engine("leaf_hooks_in_backward", "hooks", "hooks of leaves are called by backward alone", _walk("_finish", _in_backward_alone)),
    _engine("leaf_hooks_late", "hooks", "the hooks of a leaf come after its accumulation", _walk("_finish", _after_accumulation)),
    _engine("hook_stays", "hooks", "a hook cannot be removed", patch((Handle, "remove", _stays))),
    _engine("all_hooks_removed", "hooks", "removing one hook removes all of its place", patch((Handle, "remove", _remove_all))),
    _engine("retain_ignored", "retain_grad", "retain_grad does nothing", _walk("_hooked", _hooks_alone)),
    _engine(
        "retained_before_hooks",
        "retain_grad",
        "a gradient is retained before the hooks changed it",
        patch((walk, "ordered", _retained_first)),
    ),
    _engine(
        "retained_twice",
        "retain_grad",
        "retain_grad a second time retains twice",
        patch((reference_impl, "retain_grad", _twice_retained)),
    ),
    _engine(
        "edge_follows",
        "edges",
        "an edge follows its tensor when that is changed in place",
        patch((GradientEdge, "end", _on_the_tensor)),
    ),
    _engine("edge_first_slot", "edges", "an edge names the first result of its op", patch((GradientEdge, "end", _other_slot))),
    _engine("dump_is_empty", "dump", "the folder for debugging files stays empty", patch((engine, "dump", lambda *_: None)), PADDLE),
    _engine(
        "writes_unnoticed", "in-place", "what was overwritten is used, and not refused", patch((walk, "overwritten", lambda *_: False))
    ),
    _engine("view_writes_stay", "views", "a write to a view does not reach its base", patch((in_place, "link_of", lambda *_: None))),
    _engine(
        "saves_after_the_write",
        "in-place",
        "an in-place op keeps its operand as it is afterwards",
        patch((reference_impl, "update_in_place", _save_late)),
    ),
    _engine("history_kept", "in-place", "an in-place update is not recorded", patch((_Write, "_rebase", _history_kept))),
    _engine(
        "base_history_kept",
        "views",
        "the base of a view that was written keeps its history",
        patch((_Write, "_rebase", _base_history_kept)),
    ),
    _engine(
        "past_forgotten", "in-place", "earlier uses of a tensor lead to what it became", patch((_Write, "_rebase", _past_forgotten))
    ),
    _engine(
        "target_alone_marked",
        "views",
        "only the tensor that is written gets a new version",
        patch((_Write, "_mark", _target_alone_is_marked)),
    ),
    _engine(
        "writes_unrefused",
        "in-place",
        "leaves and expanded tensors may be written",
        patch((in_place, "_check_target", lambda *_: None)),
    ),
    _engine(
        "no_grad_write_flagged",
        "in-place",
        "a write inside no_grad makes a tensor require a gradient",
        patch((reference_impl, "update_in_place", _always_recorded)),
    ),
    _engine(
        "surplus_gradients_ignored",
        "custom",
        "what a custom backward returns too much is dropped",
        patch((Custom, "_check_count", _first_gradients)),
    ),
    _engine(
        "missing_gradients_absent",
        "custom",
        "what a custom backward leaves out is absent",
        patch((Custom, "_check_count", _count_unchecked)),
    ),
    _engine(
        "custom_shape_unchecked",
        "custom",
        "what a custom backward returns may have any shape",
        patch((Custom, "_fitted", _shape_unchecked)),
    ),
    _engine(
        "cotangents_not_materialised",
        "custom",
        "a custom backward is given None where nothing, or zero, arrived",
        patch((Custom, "cotangents", _without_materializing)),
    ),
    _engine(
        "custom_backward_not_recorded", "custom", "custom backwards are not recorded", patch((Custom, "cotangents", _without_recording))
    ),
    _engine(
        "saved_operands_detached",
        "custom",
        "custom functions save tensors without history",
        patch((custom, "_kept", lambda tensor, *_: lambda *_: tensor.detach())),
    ),
    _engine(
        "none_is_the_first",
        "custom",
        "where a custom backward says None, the first gradient flows",
        patch((Custom, "cotangents", _for_all_operands)),
    ),
    _engine(
        "forward_differentiated",
        "custom",
        "the forward is differentiated, the backward never called",
        patch((reference_impl, "apply_custom", _forward_recorded)),
    ),
)
