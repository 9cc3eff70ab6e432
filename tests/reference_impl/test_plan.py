"""What a pass is going to do: what it asks for, and in which order it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reference_impl import OPS, Tensor
from reference_impl.reverse.plan import asked_for, first_in_first_out, newest_first, place_of, reachable
from tests.reference_impl.vocabulary import leaf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reference_impl.reverse.plan import Asked
    from reference_impl.tape.tensor import Node

    Order = Callable[[Sequence[Node], Asked, list[Tensor]], list[Any]]

add, mul, sin, stack = (OPS[name] for name in ("add", "mul", "sin", "stack"))
orders = pytest.mark.parametrize("order", [newest_first, first_in_first_out])


def everything(roots: list[Tensor]) -> tuple[list[Node], Asked]:
    """Plan for all leaves."""
    nodes = reachable(roots, ())
    return nodes, asked_for(nodes, None, (), ())


def asked_on_the_way(root: Tensor, target: Tensor, cut: tuple[Tensor, ...] = ()) -> dict[str, list[int]]:
    """For each op that runs for one target, the positions that it is asked for."""
    places = {place_of(t) for t in cut}
    target_nodes = () if target.node is None else (target.node,)
    asked = asked_for(reachable([root], places), {place_of(target): target}, target_nodes, places)
    return {node.primitive.name: positions for node, positions in asked.items()}


def out_of_turn(order: list[Any]) -> list[Any]:
    """Return the stops that come before something that hands a cotangent to them."""
    place = {stop: i for i, stop in enumerate(order)}
    arrows = [(stop, o.node or o) for stop in order if type(stop) is not Tensor for o in stop.operands]
    return [below for stop, below in arrows if place[below] < place[stop]]


def diamonds() -> tuple[list[Tensor], list[Tensor]]:
    """Build a graph with shared values and return its two roots and its leaves."""
    x, y = leaf(2.0), leaf(3.0)
    h = mul(x, y)
    k = add(sin(h), mul(h, x))
    return [mul(k, h), sin(k)], [x, y]


@orders
def test_every_stop_comes_after_all_that_hand_something_to_it(order: Order) -> None:
    roots, _ = diamonds()
    assert out_of_turn(order(*everything(roots), roots)) == []


def test_an_order_that_is_wrong_is_noticed() -> None:
    roots, _ = diamonds()
    assert out_of_turn(newest_first(*everything(roots), roots)[::-1]) != []


@orders
def test_every_node_and_leaf_has_one_turn(order: Order) -> None:
    roots, leaves = diamonds()
    nodes, asked = everything(roots)
    made = order(nodes, asked, roots)
    assert (len(made), {*nodes, *leaves}) == (len(nodes) + len(leaves), set(made))


def test_a_queue_is_handed_the_leaves_in_the_order_of_the_op(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = [leaf(float(number)) for number in range(3)]
    root = OPS["lerp"](*leaves)
    as_they_come = first_in_first_out(*everything([root]), [root])
    monkeypatch.setattr(root.node.primitive, "handing", (0, 2, 1))
    assert [root.node, *leaves[::-1]] == as_they_come
    assert [root.node, leaves[1], leaves[2], leaves[0]] == first_in_first_out(*everything([root]), [root])


def test_a_leaf_comes_right_after_its_last_contributor() -> None:
    x, y = leaf(2.0), leaf(3.0)
    h = mul(x, x)
    root = mul(h, y)
    assert newest_first(*everything([root]), [root]) == [root.node, y, h.node, x]


def test_leaves_of_one_node_come_in_the_order_of_their_last_places() -> None:
    x, y = leaf(2.0), leaf(3.0)
    root = stack(x, y, x, axis=0)
    assert newest_first(*everything([root]), [root]) == [root.node, y, x]


def test_roots_that_are_leaves_come_first_if_nothing_contributes_to_them() -> None:
    x, y, z = leaf(2.0), leaf(3.0), leaf(4.0)
    root = sin(z)
    assert newest_first(*everything([x, root, y]), [x, root, y, z]) == [x, y, root.node, z]


def test_a_node_that_is_early_comes_when_all_that_hand_something_to_it_had_their_turn() -> None:
    x, y = leaf(2.0), leaf(3.0)
    early, later = sin(x), sin(y)
    root = mul(early, later)
    made = newest_first(*everything([root]), [root], {early.node})
    assert made == [root.node, early.node, later.node, y, x]


def test_a_root_that_is_early_comes_first() -> None:
    x, y = leaf(2.0), leaf(3.0)
    early, later = sin(x), sin(y)
    roots = [later, early]
    assert newest_first(*everything(roots), roots, {early.node}) == [early.node, later.node, y, x]


def test_only_what_leads_to_a_target_is_asked_for() -> None:
    x, y = leaf(2.0), leaf(3.0)
    root = mul(add(x, y), sin(y))
    assert asked_on_the_way(root, x) == {"add": [0], "mul": [0]}


def test_a_target_that_was_computed_ends_the_way() -> None:
    x, y = leaf(2.0), leaf(3.0)
    h = sin(x)
    assert asked_on_the_way(mul(h, y), h) == {"mul": [0]}


def test_nothing_is_asked_through_a_cut() -> None:
    x = leaf(2.0)
    h = sin(x)
    assert asked_on_the_way(mul(h, x), x, cut=(h,)) == {"mul": [1]}
