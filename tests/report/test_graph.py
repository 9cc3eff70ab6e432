"""What the picture of a case must keep, on a case made by hand and on drawn ones."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from conformance.case.case import Case, Input
from conformance.case.place import END
from conformance.case.steps import (
    AppendBackward,
    Backward,
    ClearGrad,
    Custom,
    Drop,
    Grad,
    Hook,
    InPlace,
    Op,
    RemoveHook,
    RetainGrad,
    SetRequiresGrad,
    uses,
)
from conformance.generate.scripts import DrawOptions, case_of
from conformance.report.graph import HEIGHT, draw

from .samples import CASE, EVERY_KIND

if TYPE_CHECKING:
    from conformance.case.steps import Step

DRAWN = [case_of(7, index, DrawOptions()) for index in range(40)]
cases = pytest.mark.parametrize("case", [CASE, EVERY_KIND, *DRAWN], ids=lambda case: case.id)


@cases
def test_a_graph_has_a_node_for_every_input_and_step(case: Case) -> None:
    assert len(draw(case).nodes) == len(case.inputs) + len(case.steps)


@cases
def test_a_graph_has_an_edge_for_every_use_of_a_value(case: Case) -> None:
    used = [{(name, field in ("outputs", "operands", "tensors", "tensor")) for field, name in uses(step)} for step in case.steps]
    edges = [edge for edge in draw(case).edges if edge.role != "then"]
    assert len(edges) >= sum(len({name for name, _ in step}) for step in used)


@cases
def test_nodes_do_not_overlap(case: Case) -> None:
    boxes = []
    for node in draw(case).nodes:
        across = max(abs(2 * (node.middle - node.x)) - 8, 0)
        boxes.append((node.x, node.y, node.x + across, node.y + HEIGHT))
    assert not any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for a, b in combinations(boxes, 2))


@cases
def test_values_flow_from_left_to_right(case: Case) -> None:
    for edge in draw(case).edges:
        numbers = re.findall(r"-?[\d.]+", edge.head)
        assert float(re.findall(r"-?[\d.]+", edge.path)[0]) < float(numbers[0])


@cases
def test_everything_lies_inside_the_picture(case: Case) -> None:
    picture = draw(case)
    assert all(0 <= n.x < picture.width and 0 <= n.y <= picture.height - HEIGHT for n in picture.nodes)


def test_the_diverging_step_is_marked() -> None:
    assert [n.number for n in draw(CASE, 1).nodes if n.diverging] == [1]


def test_a_difference_at_the_end_is_marked_on_a_node_of_its_own() -> None:
    assert [n.kind for n in draw(CASE, END).nodes if n.diverging] == ["end"]


def test_autograd_calls_are_told_from_ops() -> None:
    kinds = {n.number: n.kind for n in draw(CASE).nodes if n.number is not None}
    assert [number for number, kind in kinds.items() if kind == "call"] == [4, 6]


def test_seeds_are_told_from_outputs() -> None:
    assert [e.tip for e in draw(CASE).edges if e.role == "seed"] == ["s0 as seed"]


def test_calls_that_share_no_value_stand_in_their_order() -> None:
    inputs = (Input("x", (), (1.0,)), Input("y", (), (1.0,)))
    steps = (Op("exp", ("x",), ("a",)), Op("exp", ("y",), ("b",)), Backward(("b",)), Backward(("a",)))
    x = {n.number: n.x for n in draw(Case(inputs, steps)).nodes}
    assert x[2] < x[3]


def numbers_of(*kinds: type[Step]) -> list[int]:
    return [number for number, step in enumerate(EVERY_KIND.steps) if isinstance(step, kinds)]


PLACES = {n.number: n for n in draw(EVERY_KIND).nodes if n.number is not None}


def test_steps_that_change_state_stand_in_their_order() -> None:
    kinds = (Backward, AppendBackward, Grad, InPlace, Hook, RemoveHook, RetainGrad, SetRequiresGrad, ClearGrad, Drop)
    places = [PLACES[n].x for n in numbers_of(*kinds)]
    assert places == sorted(set(places))


def test_an_in_place_change_stands_between_what_came_before_and_what_comes_after() -> None:
    (change,) = numbers_of(InPlace)
    assert max(p.x for n, p in PLACES.items() if n < change) < PLACES[change].x < min(p.x for n, p in PLACES.items() if n > change)


@pytest.mark.parametrize("change", [InPlace("neg", "x"), SetRequiresGrad("x", requires_grad=False)], ids=["in place", "flag"])
def test_who_uses_a_changed_tensor_uses_what_the_change_left(change: Step) -> None:
    picture = draw(Case((Input("x", (), (1.0,)),), (change, Op("exp", ("x",), ("y",)))))
    changed = next(n for n in picture.nodes if n.number == 0)
    starts = [float(re.findall(r"-?[\d.]+", edge.path)[0]) for edge in picture.edges]
    assert changed.x < max(starts)


def test_a_custom_function_is_a_node_that_tells_its_inside() -> None:
    (number,) = numbers_of(Custom)
    node = PLACES[number]
    assert ("op", "v2, v3 = custom", "forward: mul, neg, backward: mul") == (node.kind, node.title, node.note)
    assert "b0 = mul(g0, x1)" in node.tip


def test_what_a_hook_returns_is_told_from_what_it_is_on() -> None:
    assert [e.tip for e in draw(EVERY_KIND).edges if e.role == "returned"] == ["returns s0"]


def test_an_empty_case_is_drawn() -> None:
    assert draw(Case((), ())).nodes is not None
