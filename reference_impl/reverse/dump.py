"""A pass as files: its backward graph for Graphviz, and where each of its nodes was made.

A pass that is given a folder writes two files into it, ``0001_backward_graph.dot`` and ``0001_call_stack.log``; the next pass over the
same folder counts on. In the graph, every box is a node that the pass may run, named after the op that it belongs to, or a leaf that
may get a gradient; an arrow is a cotangent on its way, with its dtype and shape. The log lists the same nodes and leaves with the
Python call stack that made them, outermost call first. Remembering call stacks costs time, so they are known only for nodes that
were made inside `call_stacks`; Paddle asks for the flag ``FLAGS_call_stack_level=3`` instead.
Source: ``dump_backward_graph_path`` of ``paddle.autograd.backward``.
"""

from __future__ import annotations

import sys
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from unittest.mock import patch

from reference_impl.errors import AutogradError, Category
from reference_impl.tape.tensor import Mode, Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reference_impl.reverse.walk import ReversePass

Arrow: TypeAlias = "tuple[Node, Any, Tensor]"
"""From a node to what the cotangent of an operand goes to, with that operand."""

HINT = "To see call stacks, make the graph inside reference_impl.call_stacks().\n"
OURS = str(Path(__file__).parents[1])


@contextmanager
def call_stacks() -> Iterator[None]:
    """Nodes that are made inside remember where, for the log of a pass."""
    before, Mode.stack_probe = Mode.stack_probe, _stack_probe
    try:
        yield
    finally:
        Mode.stack_probe = before


@contextmanager
def undrawn(is_left_out: Callable[[Arrow, Sequence[Arrow]], bool]) -> Iterator[None]:
    """Leave arrows out of the graphs that are written, by each of them and all of its graph, for the length of a ``with`` block.

    An engine may draw those alone along which something went. Nothing else changes: what they lead to stays in the graph.
    """
    graph = _graph

    def thinned(names: dict[Any, str], arrows: list[Arrow]) -> str:
        return graph(names, [arrow for arrow in arrows if not is_left_out(arrow, arrows)])

    with patch.object(sys.modules[__name__], "_graph", thinned):
        yield


def _stack_probe() -> list[str]:
    frames = [frame for frame in traceback.extract_stack() if not frame.filename.startswith(OURS)]
    return traceback.format_list(frames)


def dump(walk: ReversePass, folder: str) -> None:
    """Write the graph and the call stacks of a pass that is about to run; a pass without roots has none.

    Raises:
        AutogradError: ``bad_argument``, if the folder is no string, or cannot be one.
    """
    if not isinstance(folder, str):
        raise AutogradError(Category.BAD_ARGUMENT, f"dump_backward_graph_path is the name of a folder, not {folder!r:.40}")
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AutogradError(Category.BAD_ARGUMENT, f"dump_backward_graph_path: {folder}: {error.strerror}") from None
    if not walk.roots:
        return
    number = 1 + len(list(path.glob("*_backward_graph.dot")))
    stops: list[Any] = sorted(walk.asked, key=lambda node: -node.number)
    arrows = [(node, below, operand) for node in stops for below, operand in _below(walk, node)]
    stops += dict.fromkeys(root for root in walk.roots if root.node is None)
    stops += [below for _, below, _ in arrows]
    names = {stop: f"node_{i}" for i, stop in enumerate(dict.fromkeys(stops))}
    (path / f"{number:04d}_backward_graph.dot").write_text(_graph(names, arrows))
    (path / f"{number:04d}_call_stack.log").write_text(HINT + "".join(_stack(stop, name) for stop, name in names.items()))


def _below(walk: ReversePass, node: Node) -> Iterator[tuple[Any, Tensor]]:
    """Yield where each cotangent of a node goes, with the operand that it belongs to."""
    for position in node.tracked:
        operand = node.operands[position]
        if operand.node in walk.asked or (operand.node is None and (walk.targets is None or operand in walk.targets)):
            yield operand.node or operand, operand


def _graph(names: dict[Any, str], arrows: list[Arrow]) -> str:
    lines = ["digraph backward {"]
    lines += [f'  {name} [label="{_title(stop)}"{"" if type(stop) is Node else " shape=box"}];' for stop, name in names.items()]
    lines += [f'  {names[node]} -> {names[below]} [label="{_kind(operand)}"];' for node, below, operand in arrows]
    return "\n".join([*lines, "}"]) + "\n"


def _stack(stop: Node | Tensor, name: str) -> str:
    made_at = stop.made_at or [] if isinstance(stop, Node) else []
    return f"\n{name} {_title(stop)} call stack:\n" + "".join(made_at)


def _title(stop: Node | Tensor) -> str:
    return stop.primitive.name if isinstance(stop, Node) else f"leaf {_kind(stop)}"


def _kind(tensor: Tensor) -> str:
    return f"{tensor.dtype}{list(tensor.shape)}"
