"""One reverse pass over a graph: what arrives where.

A `Walk` goes through the nodes that lie between its roots and its targets, each after all of its consumers (`plan` says which, and in
which order): the cotangent of a node goes to the vjp rules of its operands, and contributions to the same tensor are added. A leaf has
its turn as soon as all contributions are there. The hooks of a place see, and may replace, its total before anything else does.
Cotangents have the shape and dtype of their primal. What may be asked at all is checked elsewhere, see `contract`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.dialect import UNBOUNDED, Dialect, linked_operands
from reference_impl.errors import AutogradError, Category
from reference_impl.hooks import Retained, ordered, retains
from reference_impl.plan import Place, asked_for, first_in_first_out, newest_first, place_of, reachable
from reference_impl.primitive import Primitive, array_of
from reference_impl.primitives.arithmetic import add, clone
from reference_impl.primitives.shape import link
from reference_impl.storage import output_of, overwritten
from reference_impl.tensor import Family, Mode, Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence


def _recorded(constant: Tensor) -> Tensor:
    """Make a constant the result of a node all the same, which can be run and freed like any other."""
    node = Node(link, (constant,), {}, [constant.array], [], constant.array)
    return Tensor(constant.array, requires_grad=True, node=node)


class Walk:
    """One reverse pass over the nodes that lie between the roots and the targets (``None``: all leaves)."""

    def __init__(
        self,
        roots: list[tuple[Tensor, Any]],
        targets: Sequence[Tensor] | None,
        cut: Collection[Tensor],
        dialect: Dialect,
        *,
        create_graph: bool,
        retain_graph: bool,
        keep: Callable[[Tensor, Any], None],
        accumulates: bool,
    ) -> None:
        """Prepare a pass.

        ``keep``: adds a cotangent to ``.grad``; called for tensors that retain theirs and, if the pass ``accumulates``, for the
        targets (``None``: all leaves).
        """
        self.dialect = dialect
        self.create_graph = create_graph
        self.retain_graph = retain_graph
        self.keep = keep
        self.accumulates = accumulates
        self.callbacks_record = False
        self.cut = {place_of(t) for t in cut}
        self.targets = None if targets is None else {place_of(t): t for t in targets}
        self.aims = {p[0] for p in self.targets or () if type(p) is tuple}  # a node is aimed at as a whole, whichever its slot
        self.leaves: dict[Tensor, Any] = {}
        self.slots: dict[Node, list[Any]] = {}
        self.captured: dict[Place, Any] = {}
        self.seeded = roots
        self.roots = [root for root, _ in roots]
        reached = reachable(self.roots, self.cut)
        self.asked = asked_for(reached, self.targets, self.aims, self.cut)
        self.nodes = [node for node in reached if node in self.asked or node in self.aims]
        if accumulates and dialect.inputs_run_their_node:
            self.asked.update({node: self.asked.get(node, []) for node in self.nodes})

    def _boxed(self, cotangent: Any, *, node: bool = True) -> Tensor:
        boxed = cotangent if type(cotangent) is Tensor else Tensor(np.asarray(cotangent))
        if self.dialect.derivative_requires_grad == "if_connected" or boxed.requires_grad:
            return boxed
        return _recorded(boxed) if node else Tensor(boxed.array, requires_grad=True)

    def run(self) -> None:
        """Run every needed node once, each after all of its consumers, and give every leaf its turn."""
        recording, kinks = Mode.recording, (Mode.ties, Mode.leaky_at_zero)
        self.callbacks_record = self.create_graph or (self.dialect.callbacks_record == "as_the_caller" and recording)
        Mode.recording, Mode.ties, Mode.leaky_at_zero = self.create_graph, self.dialect.ties, self.dialect.leaky_at_zero
        if self.dialect.schedule == "newest_first":
            order = newest_first(self.nodes, self.asked, self.roots)
        else:  # `grad` starts with the last root
            order = first_in_first_out(self.nodes, self.asked, self.roots if self.accumulates else reversed(self.roots))
        try:
            for root, seed in self.seeded:
                self._arrive(root, self._boxed(seed, node=False) if self.create_graph else seed.array)
            for stop in order:
                if type(stop) is Tensor:
                    self._finish(stop)
                else:
                    self._step(stop)
        finally:
            Mode.recording, (Mode.ties, Mode.leaky_at_zero) = recording, kinks
            Mode.lineage = Mode.family = None

    def _finish(self, leaf: Tensor) -> None:
        if leaf not in self.leaves or leaf in self.cut or (self.targets is not None and leaf not in self.targets):
            return
        if leaf.hooks:
            total = self.leaves[leaf]
            self.leaves[leaf] = self._hooked(leaf.hooks, [total], [None if total is None else leaf.array])[0]
        if self.accumulates and self.leaves[leaf] is not None:
            self.keep(leaf, self.leaves[leaf])

    def _step(self, node: Node) -> None:
        slots = self.slots.pop(node, None)
        if slots is None:
            return
        asked = self.asked.get(node)
        if asked is not None and self.dialect.freed_refuses == "executed":
            self._refuse(node, written=False)
        if node.hooks:
            slots = self._hooked(node.hooks, slots, node.out if node.primitive.several else (node.out,))
        if node in self.aims:
            self._capture(node, slots)
        if asked is None:
            return
        self._refuse(node)
        pulled: list[tuple[int, Any]]
        if not (node.primitive.runs_on_nothing or _something(slots)):
            pulled = [(position, None) for position in asked]
        elif self.create_graph:
            op, depth = node.lineage
            if depth + 1 >= self.dialect.highest_order.get(op, UNBOUNDED):
                raise AutogradError(Category.NOT_IMPLEMENTED, f"{op}: no derivative of order {depth + 2} is offered")
            pulled = self._pull_recorded(node, slots, asked, (op, depth + 1))
        else:
            pulled = self._pull(node, slots, asked)
        operands = node.operands
        for position, cotangent in pulled:
            self._arrive(operands[position], cotangent)
        if not self.retain_graph:
            node.released = True
            if node.family is not None:
                node.family.freed_by = self

    def _capture(self, node: Node, slots: list[Any]) -> None:
        """Keep what arrived at the targets among the outputs of a node."""
        for slot, cotangent in enumerate(slots):
            target = (self.targets or {}).get((node, slot))
            if target is not None and cotangent is not None:
                self.captured[node, slot] = cotangent
                if self.accumulates and not retains(target):
                    self.keep(target, cotangent)

    def _refuse(self, node: Node, *, written: bool = True) -> None:
        if (node.released or node.family is not None) and self._freed(node):
            raise AutogradError(Category.GRAPH_FREED, f"the graph of {node.primitive.name} was freed by an earlier call")
        if written and node.number < Mode.written and overwritten(node, self.dialect.saves):
            raise AutogradError(Category.IN_PLACE_VERSION, f"{node.primitive.name} kept a tensor that was changed in place since")

    def _freed(self, node: Node) -> bool:
        if self.dialect.freed_refuses == "saved":
            return node.released and node.saves()
        family = node.family
        return node.released or (family is not None and family.freed_by not in (None, self))

    def _pull(self, node: Node, slots: list[Any], asked: list[int]) -> list[tuple[int, Any]]:
        primitive = node.primitive
        g = slots[0]
        if primitive.several:
            g = tuple([np.zeros_like(o) if s is None else s for s, o in zip(slots, node.out, strict=True)])
        if isinstance(primitive, Primitive):
            return primitive.cotangents(node, asked, g, node.out, node.arrays)
        return [(position, array_of(c)) for position, c in primitive.cotangents(node, asked, g, node.out, node.arrays)]

    def _pull_recorded(self, node: Node, slots: list[Any], asked: list[int], lineage: tuple[str, int]) -> list[tuple[int, Any]]:
        primitive, operands = node.primitive, node.operands
        out: Any = output_of(node)
        g: Any = slots[0]
        if primitive.several:
            g = tuple(Tensor(np.zeros_like(o)) if s is None else s for s, o in zip(slots, node.out, strict=True))
        links = self.dialect.links.get(primitive.name) if node.lineage[1] == 0 else None
        extra: list[Any] = []
        if links == {} and not node.on_complex():  # linear in pieces on the real line, which no function is in the plane
            operands, out = tuple(node.arrays), node.out
        elif links:
            extra = [node.operands[p] for p in linked_operands(links, primitive.operands, node.tracked, asked)]
            if "g" in links:
                extra.append(g)
        toggled = self._toggled(node)
        for operand, flag in toggled.items():
            operand.requires_grad = not flag
        Mode.lineage, Mode.family = lineage, Family()
        try:
            pulled = list(primitive.cotangents(node, asked, g, out, operands))
            if extra:
                pulled = [(position, link(c, *extra)) for position, c in pulled]
        finally:  # the rule of a custom function may be refused
            Mode.lineage = Mode.family = None
            for operand, flag in toggled.items():
                operand.requires_grad = flag
        return [(position, None if c is None else self._boxed(c)) for position, c in pulled]

    def _toggled(self, node: Node) -> dict[Tensor, bool]:
        """Return the operands whose flag was turned over since, where that changes nothing for what was recorded; with the flag."""
        if self.dialect.toggled_leaf == "checked":
            return {}
        flags = ((o, o.requires_grad, p in node.tracked) for p, o in enumerate(node.operands) if type(o) is Tensor)
        return {operand: flag for operand, flag, tracked in flags if flag != tracked}

    def _arrive(self, tensor: Tensor, cotangent: Any) -> None:
        node = tensor.node
        if node is None:
            before = self.leaves.get(tensor)
            self.leaves[tensor] = cotangent if before is None else _total(before, cotangent)
            return
        slots = self.slots.get(node)
        if slots is None:
            slots = self.slots[node] = [None] * (len(node.out) if node.primitive.several else 1)
        before = slots[tensor.slot]
        slots[tensor.slot] = cotangent if before is None else _total(before, cotangent)

    def _hooked(self, hooks: list[Any], arrived: list[Any], primals: Sequence[Any]) -> list[Any]:
        """Call the hooks of a leaf or a node on what arrived, slot by slot, and return what takes its place.

        ``primals``: what a missing cotangent can be filled in for, the outputs of a node; nobody fills in that of a leaf.
        """
        slots = list(arrived)
        for hook in ordered(hooks, self.dialect):
            cotangent, primal = slots[hook.slot], primals[hook.slot]
            if cotangent is None and primal is not None and self.dialect.missing_cotangent == "zeros":
                cotangent = Tensor(np.zeros_like(primal)) if self.create_graph else np.zeros_like(primal)
            if isinstance(hook, Retained):
                tensor = hook.tensor()
                if tensor is not None and cotangent is not None:
                    self.keep(tensor, cotangent)
            else:
                returned = self._called(hook.function, cotangent, arrived=arrived[hook.slot] is not None)
                if returned is not None:
                    if cotangent is None or returned.dtype != primal.dtype or returned.shape != primal.shape:
                        raise AutogradError(Category.CALLBACK_RESULT, "a hook returned another shape or dtype than it was given")
                    cotangent = self._boxed(returned, node=False) if self.create_graph else returned.array
            slots[hook.slot] = cotangent
        return slots

    def _called(self, function: Callable[[Any], Any], cotangent: Any, *, arrived: bool) -> Any:
        before, Mode.recording = Mode.recording, self.callbacks_record
        shown = cotangent
        if cotangent is not None and type(cotangent) is not Tensor:
            shown = Tensor(clone(cotangent), requires_grad=self.callbacks_record and arrived)
        try:
            return function(shown)
        finally:
            Mode.recording = before

    def cotangent(self, tensor: Tensor) -> Any:
        """Return what arrived at ``tensor``; ``None`` if nothing did."""
        if tensor.node is None:
            return None if tensor in self.cut else self.leaves.get(tensor)
        return self.captured.get((tensor.node, tensor.slot))


def _something(slots: list[Any]) -> bool:
    """Whether a cotangent arrived at some output of a node."""
    return slots[0] is not None or any(cotangent is not None for cotangent in slots)


def _total(before: Any, cotangent: Any) -> Any:
    """Add what arrives to what is there; ``None``: nothing, which a custom function may say."""
    return before if cotangent is None else add(before, cotangent)
