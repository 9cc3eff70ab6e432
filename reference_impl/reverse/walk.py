"""One reverse pass over a graph: what arrives where.

A gradient is a sum over all paths from a root to a target, of which there can be exponentially many. A reverse pass visits each node
once instead, after all of its consumers (`plan` says which nodes, and in which order): by then all contributions to its cotangent
have been added, and its vjp rules turn the total into contributions to its operands. A leaf is finished as soon as its last
contribution has arrived. `ReversePass._pass` is exactly this, and comes first.

The other methods add what the frameworks add to it. The hooks of a place see, and may replace, its total before anything else does; a
node that was freed or written refuses; under ``create_graph`` the rules are recorded. Cotangents have the shape and dtype of their
primal. Which calls are allowed at all is checked in `contract`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.errors import AutogradError, Category
from reference_impl.primitives.arithmetic import add, clone
from reference_impl.primitives.shape import link
from reference_impl.reverse.hidden import made_of_hidden
from reference_impl.reverse.joined import joined_gradients
from reference_impl.reverse.plan import Place, asked_for, first_in_first_out, newest_first, place_of, reachable
from reference_impl.tape.choices import BY_FORMULA, connections, refuses_when_freed
from reference_impl.tape.hooks import Retained, fits, ordered, retains
from reference_impl.tape.primitive import Primitive, array_of, shape_of
from reference_impl.tape.storage import output_of, overwritten
from reference_impl.tape.tensor import Family, Mode, Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from reference_impl.dialects.dialect import Dialect


def _recorded(constant: Tensor) -> Tensor:
    """Make a constant the result of a node all the same, which can be run and freed like any other."""
    node = Node(link, (constant,), {}, [constant.array], [], constant.array)
    return Tensor(constant.array, requires_grad=True, node=node)


class ReversePass:
    """One reverse pass over the nodes that lie between the roots and the targets (``None``: all leaves)."""

    def _pass(self) -> None:
        """Do the whole of reverse mode; everything else in this class prepares it, or is what dialects and users add to it."""
        for root, seed in self.seeded:
            self._arrive(root, self._boxed(seed, node=False) if self.create_graph else seed.array)
        for stop in self._order():
            if type(stop) is Tensor:
                self._finish(stop)
                continue
            slots = self._admitted(stop)
            if slots is not None:
                for position, cotangent in self._pulled(stop, slots):
                    if cotangent is None and (stop.primitive.takes_nothing or stop in self.silent):
                        self._reach(stop.operands[position])
                    else:
                        self._arrive(stop.operands[position], cotangent)
                if not self.retain_graph:
                    self._free(stop)

    def _arrive(self, tensor: Tensor, cotangent: Any) -> None:
        """Add a contribution to what arrived at a tensor before."""
        node = tensor.node
        if node is None:
            before = self.leaves.get(tensor)
            self.leaves[tensor] = cotangent if before is None else _total(before, cotangent)
            return
        slots, slot = self.slots.get(node), tensor.slot
        if slots is None:
            slots = self.slots[node] = [None] * len(node.out) if node.primitive.multi_output else [None]
        before = slots[slot]
        slots[slot] = cotangent if before is None else _total(before, cotangent)

    def _reach(self, tensor: Tensor) -> None:
        """Have the node that made a tensor take its turn even if no cotangent arrives: it refuses or is freed, and calls no hooks."""
        node = tensor.node
        if node is not None and node not in self.slots:
            self.silent.add(node)
            self.slots[node] = [None] * len(node.out) if node.primitive.multi_output else [None]

    def __init__(
        self,
        roots: list[tuple[Tensor, Any]],
        targets: Sequence[Tensor] | None,
        cut: Collection[Tensor],
        dialect: Dialect,
        *,
        create_graph: bool,
        retain_graph: bool,
        accumulate: Callable[[Tensor, Any], None],
        accumulates: bool,
    ) -> None:
        """Prepare a pass.

        ``accumulate``: adds a cotangent to ``.grad``; called for tensors that retain theirs and, if the pass ``accumulates``, for the
        targets (``None``: all leaves).
        """
        self.dialect = dialect
        self.create_graph = create_graph
        self.retain_graph = retain_graph
        self.late: list[tuple[Tensor, Any]] = []
        self.accumulate_late = accumulate
        self.accumulate = accumulate if dialect.unfinished == "kept" else self._put_off
        self.accumulates = accumulates
        self.callbacks_record = False
        self.cut = {place_of(t) for t in cut}
        self.targets = None if targets is None else {place_of(t): t for t in targets}
        self.target_nodes = {p[0] for p in self.targets or () if type(p) is tuple}  # a node is aimed at as a whole, whichever its slot
        self.leaves: dict[Tensor, Any] = {}
        self.slots: dict[Node, list[Any]] = {}
        self.silent: set[Node] = set()
        self.captured: dict[Place, Any] = {}
        self.seeded = roots
        self.roots = [root for root, _ in roots]
        reached = reachable(self.roots, self.cut)
        self.asked = asked_for(reached, self.targets, self.target_nodes, self.cut)
        self.nodes = [*self.asked]
        if self.target_nodes:
            self.nodes = [node for node in reached if node in self.asked or node in self.target_nodes]
            if accumulates and dialect.inputs_run_their_node:
                self.asked.update({node: self.asked.get(node, []) for node in self.nodes})

    def run(self) -> None:
        """Run every needed node once, each after all of its consumers, and give every leaf its turn.

        Rules are recorded if the pass creates a graph, whatever the caller does; kinks have the conventions of the dialect.
        """
        recording, kinks = Mode.recording, (Mode.ties, Mode.leaky_at_zero)
        self.callbacks_record = self.create_graph or (self.dialect.callbacks_record == "as_the_caller" and recording)
        Mode.recording, Mode.ties, Mode.leaky_at_zero = self.create_graph, self.dialect.ties, self.dialect.leaky_at_zero
        try:
            self._pass()
            for tensor, cotangent in self.late:
                self.accumulate_late(tensor, cotangent)
        finally:
            Mode.recording, (Mode.ties, Mode.leaky_at_zero) = recording, kinks
            Mode.derivative_of = Mode.family = None

    def _put_off(self, tensor: Tensor, cotangent: Any) -> None:
        self.late.append((tensor, cotangent))

    def _order(self) -> list[Any]:
        if self.dialect.schedule == "newest_first":
            return newest_first(self.nodes, self.asked, self.roots, self._refusing())
        # `grad` starts with the last root
        return first_in_first_out(self.nodes, self.asked, self.roots if self.accumulates else reversed(self.roots))

    def _refusing(self) -> Collection[Node]:
        """Return the nodes that only say that their derivative is not offered: PyTorch numbers most as if they were the newest."""
        if self.dialect.unoffered != "when_run":
            return ()
        own = self.dialect.numbered
        derivatives = (n for n in self.nodes if n.derivative_of[1] and self.asked.get(n) and n.derivative_of[0] not in own)
        return {node for node in derivatives if not self.dialect.conventions.offers(node.derivative_of[0], node.derivative_of[1] + 1)}

    def _finish(self, leaf: Tensor) -> None:
        """Call the hooks of a leaf that has all its contributions, and add to its ``.grad`` if the pass does that."""
        if leaf not in self.leaves or leaf in self.cut or (self.targets is not None and leaf not in self.targets):
            return
        if leaf.hooks:
            total = self.leaves[leaf]
            self.leaves[leaf] = self._hooked(leaf.hooks, [total], [None if total is None else leaf.array])[0]
        if self.accumulates and self.leaves[leaf] is not None:
            self.accumulate(leaf, self.leaves[leaf])

    def _admitted(self, node: Node) -> list[Any] | None:
        """Return what arrived at a node, slot by slot, after its hooks; ``None`` if there is nothing to ask of its rules.

        Raises:
            AutogradError: if the node was freed, or what it saved was changed in place since.
        """
        slots = self.slots.pop(node, None)
        if slots is None:
            return None
        asked = node in self.asked
        if asked and self.dialect.freed_refuses == "executed":
            self._refuse(node, written=False)
        if node.hooks and (_something(slots) or node not in self.silent):
            slots = self._hooked(node.hooks, slots, node.out if node.primitive.multi_output else (node.out,))
        if self.target_nodes and node in self.target_nodes:
            self._capture(node, slots)
        if not asked:
            return None
        if node.released or node.family is not None or node.number < Mode.written:  # of most nodes there is no more to ask
            self._refuse(node)
        return slots

    def _pulled(self, node: Node, slots: list[Any]) -> list[tuple[int, Any]]:
        """Return the cotangents of the operands that are asked for, each with its position."""
        asked, primitive = self.asked[node], node.primitive
        if slots[0] is None and not (primitive.runs_on_nothing or _something(slots)):
            return [(position, None) for position in asked]
        op, depth = node.derivative_of
        if depth and self.dialect.unoffered == "when_run":
            self._refuse_order(op, depth + 1)
        if self.create_graph:
            if self.dialect.unoffered == "when_recorded":
                self._refuse_order(op, depth + 2)
            return self._pull_recorded(node, slots, asked, (op, depth + 1))
        g: Any = _filled(node, slots, np.zeros_like) if primitive.multi_output else slots[0]
        if type(primitive) is Primitive:
            return primitive.cotangents(node, asked, g, node.out, node.arrays)
        return [(position, array_of(c)) for position, c in primitive.cotangents(node, asked, g, node.out, node.arrays)]

    def _refuse_order(self, op: str, order: int) -> None:
        if not self.dialect.conventions.offers(op, order):
            raise AutogradError(Category.NOT_IMPLEMENTED, f"{op}: no derivative of order {order} is offered")

    def _free(self, node: Node) -> None:
        node.released = node.released is True or bool(self.asked[node]) or "in part"
        if node.family is not None:
            node.family.freed_by = self

    def _capture(self, node: Node, slots: list[Any]) -> None:
        """Keep what arrived at the targets among the outputs of a node."""
        for slot, cotangent in enumerate(slots):
            target = (self.targets or {}).get((node, slot))
            if target is not None and cotangent is not None:
                self.captured[node, slot] = cotangent
                if self.accumulates and not retains(target):
                    self.accumulate(target, cotangent)

    def _refuse(self, node: Node, *, written: bool = True) -> None:
        if (node.released or node.family is not None) and self._freed(node):
            raise AutogradError(Category.GRAPH_FREED, f"the graph of {node.primitive.name} was freed by an earlier call")
        if written and node.number < Mode.written and overwritten(node, self.dialect):
            raise AutogradError(Category.IN_PLACE_VERSION, f"{node.primitive.name} kept a tensor that was changed in place since")

    def _freed(self, node: Node) -> bool:
        if self.dialect.freed_refuses == "nothing":
            return False
        if self.dialect.freed_refuses == "saved":
            in_part = node.released is not True or not self.asked[node]
            return bool(node.released) and refuses_when_freed(node, self.dialect.conventions, in_part=in_part)
        family = node.family
        return bool(node.released) or (family is not None and family.freed_by not in (None, self))

    def _pull_recorded(self, node: Node, slots: list[Any], asked: list[int], derivative_of: tuple[str, int]) -> list[tuple[int, Any]]:
        primitive, operands = node.primitive, node.operands
        out: Any = output_of(node)
        g: Any = _filled(node, slots, lambda o: Tensor(np.zeros_like(o))) if primitive.multi_output else slots[0]
        others: list[Any] = []
        connected = BY_FORMULA
        if type(primitive) is Primitive:
            connected = connections(primitive, node.derivative_of, node.tracked, asked, self.dialect.conventions)
        if connected is not BY_FORMULA:
            if connected.cut and not node.on_complex():  # linear in pieces on the real line, which no function is in the plane
                operands = tuple(node.arrays[p] if p in connected.cut else operand for p, operand in enumerate(operands))
                out = node.out if len(connected.cut) == len(node.tracked) else out
            others = connected.others(node.operands, g, out if primitive.multi_output else (out,))
        toggled = self._toggled(node)
        for operand, flag in toggled.items():
            operand.requires_grad = not flag
        Mode.derivative_of, Mode.family = derivative_of, Family() if self.dialect.freed_refuses == "executed" else None
        try:
            if primitive.name in self.dialect.joined and not node.derivative_of[1]:
                pulled: list[tuple[int, Any]] = [*joined_gradients(node, asked, g)]
            else:
                pulled = [*primitive.cotangents(node, asked, g, out, operands)]
            if others:
                pulled = [(position, link(c, *others)) for position, c in pulled]
            hidden = () if node.derivative_of[1] else self.dialect.hidden.get(primitive.name, ())
            if hidden:
                shown = output_of(node)
                pulled = [(p, made_of_hidden(c, shown, derivative_of) if primitive.operands[p] in hidden else c) for p, c in pulled]
        finally:  # the rule of a custom function may be refused
            Mode.derivative_of = Mode.family = None
            for operand, flag in toggled.items():
                operand.requires_grad = flag
        made = primitive is not link  # zeros for what a derivative does not use come of no op
        return [(p, c if c is None or (type(c) is Tensor and c.requires_grad) else self._boxed(c, node=made)) for p, c in pulled]

    def _boxed(self, cotangent: Any, *, node: bool = True) -> Tensor:
        boxed = cotangent if type(cotangent) is Tensor else Tensor(np.asarray(cotangent))
        if boxed.requires_grad or self.dialect.derivative_requires_grad == "if_connected":
            return boxed
        return _recorded(boxed) if node else Tensor(boxed.array, requires_grad=True)

    def _toggled(self, node: Node) -> dict[Tensor, bool]:
        """Return the operands whose flag was changed after the node was recorded, with the new flag; none if the dialect refuses it."""
        viewed, refuses = self.dialect.reshaped.get(node.primitive.name), self.dialect.toggled_leaf == "checked"
        if refuses and viewed is None:
            return {}
        op = node.primitive if type(node.primitive) is Primitive else None  # of which an operand without a rule is never tracked
        tensors = [(p, o) for p, o in enumerate(node.operands) if type(o) is Tensor and (op is None or op.rule(p) is not None)]
        changed = [(p, operand, operand.requires_grad) for p, operand in tensors if operand.requires_grad != (p in node.tracked)]
        if viewed is None:
            return {operand: flag for _, operand, flag in changed}
        named = [(node.primitive.operands[p], operand, flag) for p, operand, flag in changed]
        ranks = [len(shape_of(operand)) for operand in node.operands]
        return {operand: flag for name, operand, flag in named if name in viewed and viewed[name](*ranks)}

    def _hooked(self, hooks: list[Any], arrived: list[Any], primals: Sequence[Any]) -> list[Any]:
        """Call the hooks of a leaf or a node on what arrived, slot by slot, and return what takes its place.

        ``primals``: the outputs of a node, for which a missing cotangent can be filled in with zeros; never that of a leaf.
        """
        slots = list(arrived)
        for hook in ordered(hooks, self.dialect):
            cotangent, primal = slots[hook.slot], primals[hook.slot]
            if cotangent is None and primal is not None and self.dialect.missing_cotangent == "zeros":
                cotangent = Tensor(np.zeros_like(primal)) if self.create_graph else np.zeros_like(primal)
            if isinstance(hook, Retained):
                tensor = hook.tensor()
                if tensor is not None and cotangent is not None:
                    self.accumulate(tensor, cotangent)
            else:
                returned = self._called(hook.function, cotangent, arrived=arrived[hook.slot] is not None)
                if returned is not None:
                    if cotangent is None or not fits(returned, primal):
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


def _filled(node: Node, slots: list[Any], zeros: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Return what arrived at the results of a node, with zeros where nothing did, unless its rules are told of that."""
    if node.primitive.takes_nothing:
        return tuple(slots)
    return tuple([zeros(o) if s is None else s for s, o in zip(slots, node.out, strict=True)])


def _something(slots: list[Any]) -> bool:
    """Whether a cotangent arrived at some output of a node."""
    return any(cotangent is not None for cotangent in slots)


def _total(before: Any, cotangent: Any) -> Any:
    """Add a contribution to the total so far; a custom function may contribute ``None``, which adds nothing."""
    return before if cotangent is None else add(before, cotangent)
