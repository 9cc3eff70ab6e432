"""``dump_backward_graph_path``: the graph of the pass in DOT, and the call stacks of its nodes."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from conformance.backends.dumped import read_dot
from reference_impl import OPS, PADDLE, Category, Tensor, backward, call_stacks, tensor
from tests.reference_impl.vocabulary import elements, leaf, refusal

if TYPE_CHECKING:
    from pathlib import Path

mul, exp = OPS["mul"], OPS["exp"]


def products() -> tuple[Tensor, Tensor]:
    """Return ``exp(x w) x`` and ``x``."""
    x, w = leaf([3.0, 4.0]), leaf([1.0, 2.0])
    return mul(exp(mul(x, w)), x), x


def dumped(root: Tensor, folder: Path, *, retain: bool = False, **options: object) -> str:
    seed = tensor([1.0, 1.0])
    backward([root], [seed], retain, dump_backward_graph_path=str(folder), dialect=PADDLE, **options)
    return max(folder.glob("*_backward_graph.dot")).read_text()


def test_graph_has_the_nodes_of_the_pass_and_its_leaves(tmp_path: Path) -> None:
    text = dumped(products()[0], tmp_path)
    assert [text.count(f'label="{word}') for word in ("mul", "exp", "leaf")] == [2, 1, 2]


def test_every_contribution_is_an_arrow(tmp_path: Path) -> None:
    graph = read_dot(dumped(products()[0], tmp_path))
    assert (len(graph.nodes), len(graph.edges), graph.ends) == (5, 5, (1, 2))


def test_what_nothing_flows_to_is_left_out(tmp_path: Path) -> None:
    x = leaf([3.0, 4.0])
    graph = read_dot(dumped(mul(mul(x, tensor([1.0, 2.0])), tensor([5.0, 6.0])), tmp_path))
    assert (len(graph.nodes), len(graph.edges)) == (3, 2)


def test_inputs_cut_the_graph_down(tmp_path: Path) -> None:
    x, w = leaf([3.0, 4.0]), leaf([1.0, 2.0])
    graph = read_dot(dumped(mul(exp(x), w), tmp_path, inputs=[w]))
    assert (len(graph.nodes), len(graph.edges)) == (2, 1)


def test_leaf_alone_is_a_graph_of_one_node(tmp_path: Path) -> None:
    assert len(read_dot(dumped(leaf([3.0, 4.0]), tmp_path)).nodes) == 1


def test_pass_without_roots_writes_nothing(tmp_path: Path) -> None:
    backward([tensor(1.0)], dump_backward_graph_path=str(tmp_path / "new"), dialect=PADDLE)
    assert not list((tmp_path / "new").iterdir())


def test_folder_is_made_and_the_gradient_is_what_it_is_without(tmp_path: Path) -> None:
    root, x = products()
    dumped(root, tmp_path / "new" / "folder", retain=True)
    once = elements(x.grad)
    x.grad = None
    backward([root], [tensor([1.0, 1.0])], dialect=PADDLE)
    assert once == elements(x.grad)


def test_next_pass_writes_beside_the_first(tmp_path: Path) -> None:
    root, _ = products()
    dumped(root, tmp_path, retain=True)
    dumped(root, tmp_path)
    expected = [f"000{i}_{name}" for i in (1, 2) for name in ("backward_graph.dot", "call_stack.log")]
    assert expected == sorted(path.name for path in tmp_path.iterdir())


def test_graph_of_a_pass_that_is_refused_is_there_to_be_looked_at(tmp_path: Path) -> None:
    root, _ = products()
    dumped(root, tmp_path)
    assert refusal(lambda: dumped(root, tmp_path)) is Category.GRAPH_FREED
    assert len(list(tmp_path.glob("*.dot"))) == 2


def test_log_lists_every_node_of_the_graph(tmp_path: Path) -> None:
    graph = read_dot(dumped(products()[0], tmp_path))
    log = next(tmp_path.glob("*.log")).read_text()
    assert {line.split()[0] for line in log.splitlines() if line.endswith("call stack:")} == graph.nodes


def test_log_says_where_a_node_was_made_if_that_was_asked_for(tmp_path: Path) -> None:
    with call_stacks():
        root, _ = products()
    dumped(root, tmp_path)
    assert "in products" in next(tmp_path.glob("*.log")).read_text()


def test_no_call_stack_is_remembered_unasked(tmp_path: Path) -> None:
    dumped(products()[0], tmp_path)
    assert "in products" not in next(tmp_path.glob("*.log")).read_text()


def test_call_stack_shows_the_user_and_not_the_engine(tmp_path: Path) -> None:
    with call_stacks():
        root, _ = products()
    dumped(root, tmp_path)
    assert "primitive.py" not in next(tmp_path.glob("*.log")).read_text()


@pytest.mark.parametrize("path", [3, None], ids=["number", "file"])
def test_what_is_no_folder_is_refused(tmp_path: Path, path: object) -> None:
    taken = tmp_path / "file"
    taken.write_text("")
    call = lambda: backward([leaf(1.0)], dump_backward_graph_path=path or str(taken), dialect=PADDLE)  # noqa: E731
    assert refusal(call) is Category.BAD_ARGUMENT


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
def test_graphviz_draws_the_graph(tmp_path: Path) -> None:
    text = dumped(products()[0], tmp_path)
    drawn = subprocess.run([str(shutil.which("dot")), "-Tsvg"], input=text, capture_output=True, text=True, check=True)
    assert drawn.stdout.count('class="node"') == 5
