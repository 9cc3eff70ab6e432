"""Reading what a dump left: the part of DOT that both engines write, and what is observed of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.backends.dumped import DotError, events_of, read_dot

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = """digraph G {
	node_1[label="Accumulation\\nPtr: 0x10" shape="box" style="rounded,filled"]
	node_0[label="a \\"quoted\\" -> name"];
	node_0->node_1[label="Place(cpu)\\nfloat32[2]"]
	node_0 -> "a node"
} // end G"""
LOG = "Note : call stacks cost time.\nnode_0 call stack:\n  here\nnode_1 call stack: \n\na node call stack :\n"


def test_nodes_and_edges_are_read() -> None:
    assert ({"node_0", "node_1", '"a node"'}, 2) == (read_dot(GRAPH).nodes, len(read_dot(GRAPH).edges))


def test_ends_are_where_the_graph_begins_and_where_it_ends() -> None:
    assert read_dot(GRAPH).ends == (1, 2)


def test_node_without_an_arrow_is_an_end_alone() -> None:
    assert read_dot("digraph G { a -> b a -> c }").ends == read_dot("digraph G { a -> b c }").ends == (1, 2)


def test_leaf_alone_begins_and_ends() -> None:
    assert read_dot("digraph G { a }").ends == (1, 1)


def test_arrow_that_is_missing_between_two_nodes_is_seen() -> None:
    assert (read_dot("digraph G { a -> b b -> c }").ends, read_dot("digraph G { a b -> c }").ends) == ((1, 1), (1, 2))


@pytest.mark.parametrize(
    "text",
    ["", "graph G { a -- b }", "digraph G { a -> b", "digraph G { a -> }", "digraph G { a } more", 'digraph G { a[label="open] }'],
)
def test_what_is_no_directed_graph_is_refused(text: str) -> None:
    with pytest.raises(DotError):
        read_dot(text)


def written(folder: Path, graph: str, log: str) -> list[str]:
    (folder / "1_backward_graph.dot").write_text(graph)
    (folder / "1_ref_forward_graph.dot").write_text("digraph other {}")
    (folder / "1_call_stack.log").write_text(log)
    return [event.name for event in events_of(folder, ends=True)]


def test_graph_and_log_are_seen(tmp_path: Path) -> None:
    assert written(tmp_path, GRAPH, LOG) == [".dot", ".log"]


def test_graph_is_seen_by_its_ends(tmp_path: Path) -> None:
    written(tmp_path, GRAPH, LOG)
    value = events_of(tmp_path, ends=True)[0].value
    assert value is not None
    assert value.array.tolist() == [1, 2]


def test_graph_that_cannot_be_read_is_seen(tmp_path: Path) -> None:
    assert written(tmp_path, GRAPH[:-10], LOG)[0] == "unreadable .dot"


def test_log_that_leaves_a_node_out_is_seen(tmp_path: Path) -> None:
    assert written(tmp_path, GRAPH, LOG.replace("node_1 call stack", ""))[1] == ".log of other nodes"


def test_empty_folder_shows_nothing(tmp_path: Path) -> None:
    assert not events_of(tmp_path, ends=True)


def test_graph_of_a_derivative_is_seen_without_its_ends(tmp_path: Path) -> None:
    written(tmp_path, GRAPH, LOG)
    assert [(event.name, event.value) for event in events_of(tmp_path, ends=False)] == [(".dot", None), (".log", None)]
