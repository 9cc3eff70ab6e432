"""What a reverse pass is going to do: which nodes it runs, what it asks of each, and in which order.

All of it is known before anything runs. The nodes that the roots depend on are collected; going through them from the oldest to the
newest, a node asks for those of its operands that are wanted themselves or were made by a node that asks for something, and a node that
asks for nothing need not run. Every step looks at each node and each of its operands a fixed number of times.

The two orders are the frameworks'. In both a node runs after all of its consumers, and a leaf after all contributions to it, so the
gradients are the same; the orders differ in how much was done already when a node refuses or a hook is called.
"""

from __future__ import annotations

from collections import deque
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from reference_impl.tape.storage import settle
from reference_impl.tape.tensor import Mode, Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

Place: TypeAlias = "Tensor | tuple[Node, int]"
Asked: TypeAlias = dict[Node, list[int]]
"""For every node whose rules run, the positions of the operands that are asked for; from the oldest node to the newest."""

number_of = attrgetter("number")


def place_of(tensor: Tensor) -> Place:
    """Return where a tensor's cotangent is collected: the leaf itself, or the output slot of the node that made it."""
    return tensor if tensor.node is None else (tensor.node, tensor.slot)


def reachable(roots: Iterable[Tensor], cut: Collection[Place]) -> list[Node]:
    """Return the nodes that the roots depend on, from the oldest to the newest; not through the places that are ``cut``."""
    reached = {root.node for root in roots if root.node is not None}
    nodes, written = [*reached], Mode.written
    for node in nodes:  # which grow meanwhile
        if node.number < written:
            settle(node)
        operands = node.operands
        for position in node.tracked:
            operand = operands[position]
            below = operand.node
            if below is not None and below not in reached and not (cut and (below, operand.slot) in cut):
                reached.add(below)
                nodes.append(below)
    nodes.sort(key=number_of)
    return nodes


def asked_for(
    nodes: Iterable[Node], targets: Collection[Place] | None, target_nodes: Collection[Node], cut: Collection[Place]
) -> Asked:
    """Return the operands for which each node (from the oldest to the newest) is asked, so that every target gets its cotangent.

    ``targets``: ``None`` for all leaves, which asks for everything; ``target_nodes``: the nodes that made some.
    """
    if targets is None:
        return {node: node.tracked for node in nodes}
    asked: Asked = {}
    for node in nodes:
        operands = node.operands
        positions = []
        for position in node.tracked:
            operand = operands[position]
            below = operand.node
            wanted = operand in targets if below is None else below in asked or (target_nodes and below in target_nodes)
            if wanted and not (cut and place_of(operand) in cut):
                positions.append(position)
        if positions:
            asked[node] = positions
    return asked


def newest_first(nodes: Sequence[Node], asked: Asked, roots: Iterable[Tensor], early: Collection[Node] = ()) -> list[Any]:
    """Order nodes (given from the oldest to the newest) by number, the newest first; what is as new as can be comes when it is ready.

    That are leaves, which come right after their last contributor, and nodes that are ``early``.
    """
    order: list[Any] = []
    placed: set[Any] = set()
    for node in nodes:  # backwards, so a leaf's last contributor is the first that is met
        operands = node.operands
        for position in reversed(asked.get(node, ())):
            operand = operands[position]
            stop: Any = operand.node or operand
            if (stop is operand or stop in early) and stop not in placed:
                placed.add(stop)
                order.append(stop)
        if not (early and node in early):
            order.append(node)
    loose = dict.fromkeys(stop for root in roots if (stop := root.node or root) not in placed and (stop is root or stop in early))
    order.extend(reversed(loose))
    order.reverse()
    return order


def first_in_first_out(nodes: Iterable[Node], asked: Asked, starts: Iterable[Tensor]) -> list[Any]:
    """Order nodes by a queue that begins with those of the ``starts``; leaves that are ready go to its front."""
    known = {node: _below(node, asked) for node in nodes}
    waiting: dict[Any, int] = {}
    for stops in known.values():
        for stop in stops:
            waiting[stop] = waiting.get(stop, 0) + 1
    queue: deque[Any] = deque()
    for start in dict.fromkeys([root.node or root for root in starts]):
        if start not in waiting and (type(start) is Tensor or start in known):
            queue.append(start)
    order: list[Any] = []
    while queue:
        stop = queue.popleft()
        order.append(stop)
        if type(stop) is Tensor:
            continue
        for below in known[stop]:
            waiting[below] -= 1
            if waiting[below] == 0:
                (queue.appendleft if type(below) is Tensor else queue.append)(below)
    return order


def _below(node: Node, asked: Asked) -> list[Any]:
    """Return the nodes and leaves that a node hands its cotangents to."""
    operands, positions = node.operands, asked.get(node, ())
    if handing := node.primitive.handing:
        positions = [position for position in handing if position in positions]
    return [operands[position].node or operands[position] for position in positions]
