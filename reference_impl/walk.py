"""One reverse pass over a graph: which nodes run, in which order, and what arrives where.

A `Walk` collects the nodes that its roots depend on, keeps those that lie above a target, and runs each after all of its consumers:
its cotangent goes to the vjp rules of its operands, and contributions to the same tensor are added. A leaf has its turn as soon as
all contributions are there. The hooks of a place see, and may replace, its total before anything else does. Cotangents have the
shape and dtype of their primal. What may be asked at all is checked elsewhere, see `contract`.
"""

from __future__ import annotations

from collections import deque
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reference_impl.dialect import UNBOUNDED, Dialect
from reference_impl.errors import AutogradError, Category
from reference_impl.hooks import Retained, ordered, retains
from reference_impl.primitive import array_of
from reference_impl.primitives.arithmetic import add
from reference_impl.primitives.shape import link
from reference_impl.storage import output_of, overwritten, settle
from reference_impl.tensor import Family, Mode, Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

_number = attrgetter("number")
Place: TypeAlias = "Tensor | tuple[Node, int]"


def place_of(tensor: Tensor) -> Place:
    """Return where a tensor's cotangent is collected: the leaf itself, or the output slot of the node that made it."""
    return tensor if tensor.node is None else (tensor.node, tensor.slot)


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
        self.starts = [root.node for root, _ in roots if root.node is not None]
        self.reached = self._reachable()
        self.needed = self._needed()

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
            if Mode.writes:
                settle(node)
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
                if (place in self.targets or operand.node in self.aims or operand.node in needed) and place not in self.cut:
                    needed.add(node)
                    break
        return needed

    def run(self) -> None:
        """Run every needed node once, each after all of its consumers, and give every leaf its turn."""
        recording, kinks = Mode.recording, (Mode.ties, Mode.leaky_at_zero)
        self.callbacks_record = self.create_graph or (self.dialect.callbacks_record == "as_the_caller" and recording)
        Mode.recording, Mode.ties, Mode.leaky_at_zero = self.create_graph, self.dialect.ties, self.dialect.leaky_at_zero
        visited = self.needed | self.aims.intersection(self.reached)
        plan = self._newest_first(visited) if self.dialect.schedule == "newest_first" else self._first_in_first_out(visited)
        try:
            for root, seed in self.seeded:
                self._arrive(root, self._boxed(seed, node=False) if self.create_graph else seed.array)
            for stop in plan:
                if type(stop) is Tensor:
                    self._finish(stop)
                else:
                    self._step(stop)
        finally:
            Mode.recording, (Mode.ties, Mode.leaky_at_zero) = recording, kinks
            Mode.lineage = Mode.family = None

    def _newest_first(self, visited: set[Node]) -> list[Any]:
        """Order by number; a leaf comes right after the last node that contributes to it."""
        nodes = sorted(visited, key=_number, reverse=True)
        last: dict[Tensor, Node | None] = {root: None for root in self.roots if root.node is None}
        for node in nodes:
            for below in self._below(node, visited):
                if type(below) is Tensor:
                    last.pop(below, None)
                    last[below] = node
        after: dict[Node | None, list[Tensor]] = {}
        for leaf, node_before in last.items():
            after.setdefault(node_before, []).append(leaf)
        plan: list[Any] = [*after.get(None, ())]
        for node in nodes:
            plan.append(node)
            plan.extend(after.get(node, ()))
        return plan

    def _first_in_first_out(self, visited: set[Node]) -> list[Any]:
        """Order by a queue that starts with the roots (for `grad` with the last one); leaves that are ready go to its front."""
        waiting: dict[Any, int] = {}
        for node in visited:
            for below in self._below(node, visited):
                waiting[below] = waiting.get(below, 0) + 1
        starts = dict.fromkeys(root.node or root for root in (self.roots if self.accumulates else reversed(self.roots)))
        queue = deque(s for s in starts if s not in waiting and (type(s) is Tensor or s in visited))
        order: list[Any] = []
        while queue:
            stop: Any = queue.popleft()
            order.append(stop)
            if type(stop) is Tensor:
                continue
            for below in self._below(stop, visited):
                waiting[below] -= 1
                if waiting[below] == 0:
                    (queue.appendleft if type(below) is Tensor else queue.append)(below)
        return order

    def _below(self, node: Node, visited: set[Node]) -> Iterator[Any]:
        """Yield the nodes and leaves that a node hands its cotangents to."""
        if node not in self.needed:
            return
        for position in node.tracked:
            operand = node.operands[position]
            if operand.node is None:
                if self._wanted(operand):
                    yield operand
            elif operand.node in visited and (operand.node, operand.slot) not in self.cut:
                yield operand.node

    def _finish(self, leaf: Tensor) -> None:
        if leaf not in self.leaves or not self._wanted(leaf):
            return
        if leaf.hooks:
            total = self.leaves[leaf]
            self.leaves[leaf] = self._hooked(leaf.hooks, total, None if total is None else leaf.array)
        if self.leaves[leaf] is not None and self.accumulates:
            self.keep(leaf, self.leaves[leaf])

    def _step(self, node: Node) -> None:
        slots = self.slots.get(node)
        if slots is None:
            return
        if node in self.needed and self.dialect.freed_refuses == "executed":
            self._refuse(node, written=False)
        if node.hooks:
            outs = node.out if node.primitive.several else (node.out,)
            for slot, hooks in node.hooks.items():
                slots[slot] = self._hooked(hooks, slots[slot], outs[slot])
        if self.targets is not None:
            for slot, cotangent in enumerate(slots):
                target = self.targets.get((node, slot))
                if target is not None and cotangent is not None:
                    self.captured[node, slot] = cotangent
                    if self.accumulates and not retains(target):
                        self.keep(target, cotangent)
            if node not in self.needed:
                return
        self._refuse(node)
        asked = [position for position in node.tracked if self._wanted(node.operands[position])]
        pulled: Sequence[tuple[int, Any]]
        if not node.primitive.runs_on_nothing and all(cotangent is None for cotangent in slots):
            pulled = [(position, None) for position in asked]
        elif self.create_graph:
            op, depth = node.lineage
            if depth + 1 >= self.dialect.highest_order.get(op, UNBOUNDED):
                raise AutogradError(Category.NOT_IMPLEMENTED, f"{op}: no derivative of order {depth + 2} is offered")
            pulled = self._pull_recorded(node, slots, asked, (op, depth + 1))
        else:
            pulled = self._pull(node, slots, asked)
        for position, cotangent in pulled:
            self._arrive(node.operands[position], cotangent)
        if not self.retain_graph:
            node.released = True
            if node.family is not None:
                node.family.freed_by = self

    def _refuse(self, node: Node, *, written: bool = True) -> None:
        if self._freed(node):
            raise AutogradError(Category.GRAPH_FREED, f"the graph of {node.primitive.name} was freed by an earlier call")
        if written and Mode.writes and overwritten(node, self.dialect.saves):
            raise AutogradError(Category.IN_PLACE_VERSION, f"{node.primitive.name} kept a tensor that was changed in place since")

    def _freed(self, node: Node) -> bool:
        if self.dialect.freed_refuses == "saved":
            return node.released and node.saves()
        family = node.family
        return node.released or (family is not None and family.freed_by not in (None, self))

    def _pull(self, node: Node, slots: list[Any], asked: list[int]) -> list[tuple[int, Any]]:
        primitive = node.primitive
        filled = [np.zeros_like(o) if s is None else s for s, o in zip(slots, node.out, strict=True)] if primitive.several else slots
        g = tuple(filled) if primitive.several else filled[0]
        return [(position, array_of(c)) for position, c in primitive.cotangents(node, asked, g, node.out, node.arrays)]

    def _pull_recorded(self, node: Node, slots: list[Any], asked: list[int], lineage: tuple[str, int]) -> list[tuple[int, Any]]:
        primitive, operands = node.primitive, node.operands
        out: Any = output_of(node)
        g: Any = slots[0]
        if primitive.several:
            g = tuple(Tensor(np.zeros_like(o)) if s is None else s for s, o in zip(slots, node.out, strict=True))
        links = self.dialect.links.get(primitive.name) if node.lineage[1] == 0 else None
        extra: list[Any] = []
        if links == {}:
            operands, out = tuple(node.arrays), node.out
        elif links is not None:
            extra = [node.operands[position] for position in node.tracked if self._links(node, position, links)]
            if "g" in links:
                extra.append(g)
        toggled = self._toggled(node)
        for operand, flag in toggled.items():
            operand.requires_grad = not flag
        Mode.lineage, Mode.family = lineage, Family()
        pulled = [(p, link(c, *extra) if extra else c) for p, c in primitive.cotangents(node, asked, g, out, operands)]
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
        return self.targets is None or place in self.targets or operand.node in self.needed or operand.node in self.aims

    def _arrive(self, tensor: Tensor, cotangent: Any) -> None:
        node = tensor.node
        if node is None:
            self.leaves[tensor] = _total(self.leaves.get(tensor), cotangent)
            return
        slots = self.slots.get(node)
        if slots is None:
            slots = self.slots[node] = [None] * (len(node.out) if node.primitive.several else 1)
        slots[tensor.slot] = _total(slots[tensor.slot], cotangent)

    def _hooked(self, hooks: list[Any], cotangent: Any, primal: Any) -> Any:
        """Call the hooks of a place on its cotangent and return what takes its place.

        ``primal``: what a missing cotangent can be filled in for, the output of a node; nobody fills in that of a leaf.
        """
        arrived = cotangent is not None
        for hook in ordered(hooks, self.dialect):
            if cotangent is None and primal is not None and self.dialect.missing_cotangent == "zeros":
                cotangent = Tensor(np.zeros_like(primal)) if self.create_graph else np.zeros_like(primal)
            if isinstance(hook, Retained):
                tensor = hook.tensor()
                if tensor is not None and cotangent is not None:
                    self.keep(tensor, cotangent)
                continue
            returned = self._called(hook.function, cotangent, arrived=arrived)
            if returned is not None:
                if cotangent is None or returned.dtype != primal.dtype or returned.shape != primal.shape:
                    raise AutogradError(Category.CALLBACK_RESULT, "a hook returned another shape or dtype than it was given")
                cotangent = self._boxed(returned, node=False) if self.create_graph else returned.array
        return cotangent

    def _called(self, function: Callable[[Any], Any], cotangent: Any, *, arrived: bool) -> Any:
        before, Mode.recording = Mode.recording, self.callbacks_record
        shown = cotangent
        if cotangent is not None and type(cotangent) is not Tensor:
            shown = Tensor(np.array(cotangent), requires_grad=self.callbacks_record and arrived)
        try:
            return function(shown)
        finally:
            Mode.recording = before

    def cotangent(self, tensor: Tensor) -> Any:
        """Return what arrived at ``tensor``; ``None`` if nothing did."""
        if tensor.node is None:
            return None if tensor in self.cut else self.leaves.get(tensor)
        return self.captured.get((tensor.node, tensor.slot))


def _total(before: Any, cotangent: Any) -> Any:
    """Add what arrives to what is there; ``None``: nothing, which a custom function may say."""
    if before is None or cotangent is None:
        return cotangent if before is None else before
    return add(before, cotangent)
