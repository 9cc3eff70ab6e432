"""What ``dump_backward_graph_path`` left in its folder, as events that can be compared.

File names, colours and labels are each framework's own, and so is what counts as one node; where the graph begins and ends is not.
So the DOT file of the backward graph is read (a small part of the language: node and edge statements with attributes), and it is
observed how many nodes lead somewhere and nothing leads to them, how many lead nowhere, and whether the call-stack file lists every
node of the graph. (Among arrows, a node without one is an end and no beginning: to where a custom function returns ``None``, one
engine draws an arrow, since it draws what may happen, and another draws none, since it draws what did.) The
graph of a derivative is another matter (all derivatives that one call made may hang on one node), so there it counts that it can be
read. A file that cannot be read is an event of its own.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from conformance.case.outcome import Event, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACE = r"(?:\s|//[^\n]*)*"
_WORD = r'(?:\w+|"(?:[^"\\]|\\.)*")'
_ATTRIBUTES = rf"(?:{_SPACE}\[(?:{_SPACE}{_WORD}{_SPACE}={_SPACE}{_WORD}{_SPACE}[,;]?)*{_SPACE}\])?"
_OPENING = re.compile(rf"{_SPACE}digraph{_SPACE}{_WORD}{_SPACE}\{{")
_STATEMENT = re.compile(rf"{_SPACE}({_WORD})(?:{_SPACE}->{_SPACE}({_WORD}))?{_ATTRIBUTES}{_SPACE};?")
_CLOSING = re.compile(rf"{_SPACE}\}}{_SPACE}\Z")
_LISTED = re.compile(r"^.*\bcall stack\s*:", re.MULTILINE)


DOT = ".dot"
"""The event that a graph was written; no result of a script has such a name."""


MEMORY = Path("/dev/shm")  # noqa: S108 - what is made there is named by `tempfile`
"""Where Linux keeps files in memory; to make and remove a folder on a disk takes as long as a case."""


@contextmanager
def folder() -> Iterator[Path]:
    """Make a folder for what is dumped, and remove it."""
    with TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as made:
        yield Path(made)


class DotError(ValueError):
    """A text that is no directed graph in the DOT language."""


class Graph(NamedTuple):
    """The names of the nodes, and the edges from name to name."""

    nodes: frozenset[str]
    edges: tuple[tuple[str, str], ...]

    @property
    def ends(self) -> tuple[int, int]:
        """How many nodes lead somewhere and nothing leads to them (of those without any arrows: all), and how many lead nowhere."""
        tails, heads = ({edge[i] for edge in self.edges} for i in (0, 1))
        return len(tails - heads if self.edges else self.nodes), len(self.nodes - tails)


def read_dot(text: str) -> Graph:
    """Read a directed graph.

    Raises:
        DotError: with the place of the first thing that is not understood.
    """
    opening = _OPENING.match(text)
    if opening is None:
        raise DotError("does not begin with digraph NAME {")
    place = opening.end()
    nodes: set[str] = set()
    edges = []
    while (statement := _STATEMENT.match(text, place)) is not None:
        tail, head = statement.groups()
        nodes.update(name for name in (tail, head) if name is not None)
        if head is not None:
            edges.append((tail, head))
        place = statement.end()
    if _CLOSING.match(text, place) is None:
        raise DotError(f"not understood: {text[place : place + 40]!r}")
    return Graph(frozenset(nodes), tuple(edges))


def events_of(folder: Path, *, ends: bool) -> list[Event]:
    """Say what was written: ``.dot``, if asked with the ``ends`` of the graph; ``.log`` if it lists the nodes of the graph."""
    events, written = [], 0
    for path in sorted(folder.glob("*backward_graph.dot")):
        try:
            graph = read_dot(path.read_text())
        except DotError:
            events.append(Event("unreadable .dot"))
            continue
        written += len(graph.nodes)
        events.append(Event(DOT, Value(np.array(graph.ends), requires_grad=False) if ends else None))
    for path in sorted(folder.glob("*.log")):
        listed = len(_LISTED.findall(path.read_text()))
        events.append(Event(".log" if listed == written else ".log of other nodes"))
    return events
