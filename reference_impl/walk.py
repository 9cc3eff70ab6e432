"""One reverse pass over a graph: which nodes run, in which order, and what arrives where.

A `Walk` collects the nodes that its roots depend on, keeps those that lie above a target, and runs each after all of its consumers:
its cotangent goes to the vjp rules of its operands, and contributions to the same tensor are added. Cotangents have the shape and
dtype of their primal. What may be asked at all is checked elsewhere, see `contract`.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reference_impl.dialect import UNBOUNDED, Dialect
from reference_impl.errors import AutogradError, Category
from reference_impl.primitives.arithmetic import add
from reference_impl.primitives.shape import link
from reference_impl.tensor import Family, Mode, Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

Place: TypeAlias = "Tensor | tuple[Node, int]"


def place_of(tensor: Tensor) -> Place:
    """Return where a tensor's cotangent is collected: the leaf itself, or the output slot of the node that made it."""
    return tensor if tensor.node is None else (tensor.node, tensor.slot)


def recorded(op: Callable[..., Any], *operands: Tensor) -> Any:
    """Apply an op so that it is recorded, also inside a no_grad region: ``create_graph`` says so."""
    before, Mode.recording = Mode.recording, True
    try:
        return op(*operands)
    finally:
        Mode.recording = before


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
    ) -> None:
        self.dialect = dialect
        self.create_graph = create_graph
        self.retain_graph = retain_graph
        self.cut = {place_of(t) for t in cut}
        self.targets = None if targets is None else {place_of(t) for t in targets}
        self.leaves: dict[Tensor, Any] = {}
        self.slots: dict[Node, list[Any]] = {}
        self.captured: dict[Place, Any] = {}
        self.roots = [root for root, _ in roots]
        self.starts = [root.node for root, _ in roots if root.node is not None]
        self.reached = self._reachable()
        self.needed = self._needed()
        self.plan: list[Node] = []
        self.done = 0
        for root, seed in roots:
            self._arrive(root, self._boxed(seed, node=False) if create_graph else seed.array)

    def _boxed(self, cotangent: Any, *, node: bool = True) -> Tensor:
        boxed = cotangent if type(cotangent) is Tensor else Tensor(np.asarray(cotangent))
        if self.dialect.derivative_requires_grad == "if_connected" or boxed.requires_grad:
            return boxed
        return _recorded(boxed) if node else Tensor(boxed.array, requires_grad=True)

    def _reachable(self) -> dict[Node, None]:
        reached = dict.fromkeys(self.starts)
        stack = list(reached)
        cut = self.cut
        while stack:
            node = stack.pop()
            for position in node.tracked:
                operand = node.operands[position]
                below = operand.node
                if below is not None and below not in reached and not (cut and (below, operand.slot) in cut):
                    reached[below] = None
                    stack.append(below)
        return reached

    def _needed(self) -> set[Node]:
        if self.targets is None:
            return set(self.reached)
        needed: set[Node] = set()
        for node in sorted(self.reached, key=_number):
            for position in node.tracked:
                operand = node.operands[position]
                place = place_of(operand)
                if (place in self.targets or operand.node in needed) and place not in self.cut:
                    needed.add(node)
                    break
        return needed

    def run(self) -> None:
        """Run every needed node once, each after all of its consumers."""
        recording, ties = Mode.recording, Mode.ties
        Mode.recording, Mode.ties = self.create_graph, self.dialect.ties
        newest_first = self.dialect.schedule == "newest_first"
        self.plan = sorted(self.needed, key=_number, reverse=True) if newest_first else self._first_in_first_out()
        try:
            for node in self.plan:
                self._step(node)
                self.done += 1
        finally:
            Mode.recording, Mode.ties = recording, ties
            Mode.lineage = Mode.family = None

    def _first_in_first_out(self) -> list[Node]:
        waiting = dict.fromkeys(self.needed, 0)
        for node in self.needed:
            for below in self._below(node):
                waiting[below] += 1
        queue = deque(node for node in dict.fromkeys(self.starts) if waiting.get(node) == 0)
        order = []
        while queue:
            node = queue.popleft()
            order.append(node)
            for below in self._below(node):
                waiting[below] -= 1
                if waiting[below] == 0:
                    queue.append(below)
        return order

    def _below(self, node: Node) -> list[Node]:
        operands = (node.operands[position] for position in node.tracked)
        return [o.node for o in operands if o.node in self.needed and place_of(o) not in self.cut]

    def _step(self, node: Node) -> None:
        slots = self.slots.get(node)
        if slots is None:
            return
        if self.targets is not None:
            for slot, cotangent in enumerate(slots):
                if (node, slot) in self.targets:
                    self.captured[node, slot] = cotangent
        if self._freed(node):
            raise AutogradError(Category.GRAPH_FREED, f"the graph of {node.primitive.name} was freed by an earlier call")
        if self.create_graph:
            op, depth = node.lineage
            if depth + 1 >= self.dialect.highest_order.get(op, UNBOUNDED):
                raise AutogradError(Category.NOT_IMPLEMENTED, f"{op}: no derivative of order {depth + 2} is offered")
            self._pull_recorded(node, slots, (op, depth + 1))
        else:
            self._pull(node, slots)
        if not self.retain_graph:
            node.released = True
            if node.family is not None:
                node.family.freed_by = self

    def _freed(self, node: Node) -> bool:
        if self.dialect.freed_refuses == "saved":
            return node.released and node.saves()
        family = node.family
        return node.released or (family is not None and family.freed_by not in (None, self))

    def _pull(self, node: Node, slots: list[Any]) -> None:
        primitive = node.primitive
        filled = [np.zeros_like(o) if s is None else s for s, o in zip(slots, node.out, strict=True)] if primitive.several else slots
        g = tuple(filled) if primitive.several else filled[0]
        for operand, rule, attrs in self._asked(node):
            self._arrive(operand, rule(g, node.out, *node.arrays, **attrs))

    def _asked(self, node: Node) -> Iterator[tuple[Tensor, Callable[..., Any], dict[str, Any]]]:
        """Yield the operands whose cotangent is asked for, each with its rule and the rule's attributes."""
        primitive = node.primitive
        for position in node.tracked:
            operand = node.operands[position]
            rule = primitive.rule(position) if self._wanted(operand) else None
            if rule is not None:
                yield operand, rule, {**node.attrs, "position": position} if primitive.variadic else node.attrs

    def _pull_recorded(self, node: Node, slots: list[Any], lineage: tuple[str, int]) -> None:
        primitive, operands = node.primitive, node.operands
        out: Any
        g: Any
        if primitive.several:
            out = tuple(Tensor(o, requires_grad=True, node=node, slot=i) for i, o in enumerate(node.out))
            g = tuple(Tensor(np.zeros_like(o)) if s is None else s for s, o in zip(slots, node.out, strict=True))
        else:
            out = Tensor(node.out, requires_grad=True, node=node)
            g = slots[0]
        links = self.dialect.links.get(primitive.name) if node.lineage[1] == 0 else None
        extra: list[Any] = []
        if links == {}:
            operands, out = tuple(node.arrays), node.out
        elif links is not None:
            extra = [node.operands[position] for position in node.tracked if self._links(node, position, links)]
            if "g" in links:
                extra.append(g)
        family = Family()
        for operand, rule, attrs in self._asked(node):
            Mode.lineage, Mode.family = lineage, family
            result = rule(g, out, *operands, **attrs)
            if extra:
                result = link(result, *extra)
            Mode.lineage = Mode.family = None
            self._arrive(operand, self._boxed(result))

    def _links(self, node: Node, position: int, links: Mapping[str, str]) -> bool:
        when = links.get(node.primitive.operands[position])
        others = [p for p in node.tracked if p != position]
        if when == "other_tracked":
            return bool(others)
        if when == "other_asked":
            return any(self._wanted(node.operands[p]) for p in others)
        return when == "always"

    def _wanted(self, operand: Tensor) -> bool:
        place = place_of(operand)
        if place in self.cut:
            return False
        return self.targets is None or place in self.targets or operand.node in self.needed

    def _arrive(self, tensor: Tensor, cotangent: Any) -> None:
        node = tensor.node
        if node is None:
            before = self.leaves.get(tensor)
            self.leaves[tensor] = cotangent if before is None else add(before, cotangent)
            return
        slots = self.slots.get(node)
        if slots is None:
            slots = self.slots[node] = [None] * (len(node.out) if node.primitive.several else 1)
        before = slots[tensor.slot]
        slots[tensor.slot] = cotangent if before is None else add(before, cotangent)

    def cotangent(self, tensor: Tensor) -> Any:
        """Return what arrived at ``tensor``; ``None`` if nothing did."""
        if tensor.node is None:
            return None if tensor in self.cut else self.leaves.get(tensor)
        place = (tensor.node, tensor.slot)
        if place in self.captured:
            return self.captured[place]
        slots = self.slots.get(tensor.node)
        return None if slots is None else slots[tensor.slot]

    def finished_leaves(self) -> dict[Tensor, Any]:
        """Leaves that no node still to run contributes to, and that were not still waiting in the queue as roots."""
        left = self.plan[self.done :]
        pending = {node.operands[position] for node in left for position in node.tracked}
        if self.dialect.schedule == "first_in_first_out":
            ahead = False
            for root in self.roots:
                ahead |= root.node in left
                if ahead and root.node is None:
                    pending.add(root)
        return {leaf: cotangent for leaf, cotangent in self.leaves.items() if leaf not in pending}


def _number(node: Node) -> int:
    return node.number
