"""The picture of a case: inputs and steps from left to right, with an edge for every use of a value.

Steps that change state stand in their order, an in-place change stands between what came before and what comes after, and who uses a
tensor that a step changed uses it as that step left it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.case import steps
from conformance.case.place import END, StepNumber
from conformance.case.prose import options_of, step_text
from conformance.report.layout import HEIGHT, LONGEST_NOTE, LONGEST_TITLE, MARGIN, Place, Use, arrange, layers_of
from conformance.report.words import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.case import Case
    from conformance.case.steps import Step

ROLES = {
    "tensor_returned": "returned",
    **dict.fromkeys(steps.SEED_FIELDS, "seed"),
    **dict.fromkeys(steps.ASKED_FIELDS | steps.CONSTANT_FIELDS, "wrt"),
}
ORDERED = ("call", "change", "state")
"""Kinds of node that change state, so that their order is part of the case."""


@dataclass(frozen=True, slots=True)
class Node:
    """A box, ready to print.

    ``kind``: ``input``, ``op``, ``call``, ``change`` (of elements), ``state`` (flags, hooks, ``.grad``) or ``end``.
    """

    kind: str
    number: int | None
    title: str
    note: str
    tip: str
    outline: str
    x: float
    y: float
    middle: float
    plain: bool
    diverging: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """A use of a value, ready to print. ``role``: ``use``, ``seed``, ``wrt``, ``returned`` (by a hook) or ``then`` (order only)."""

    role: str
    path: str
    head: str
    tip: str
    label: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn graph."""

    width: float
    height: float
    nodes: list[Node]
    edges: list[Edge]


def draw(case: Case, diverging: StepNumber | None = None) -> Picture:
    """Draw a case; ``diverging`` is the step to mark, `END` for the state after the last step."""
    places, links = _read(case, at_end=diverging is END)
    layers = layers_of(places, links)
    arrange(layers)
    nodes = [_node(p, marked=diverging is not None and (p.kind == "end" or p.number == diverging)) for p in places]
    edges = [_edge(use) for use in links]
    everything = [p for layer in layers for p in layer]
    width = max(p.x + p.width for p in everything) + MARGIN
    height = max(p.y + p.height / 2 for p in everything) + MARGIN
    return Picture(round(width), round(height), nodes, edges)


def _read(case: Case, *, at_end: bool) -> tuple[list[Place], list[Use]]:
    places: list[Place] = []
    links: list[Use] = []
    maker: dict[str, Place] = {}
    for input_ in case.inputs:
        tip = f"{input_.name}: {shape_of(input_)}, {'differentiable' if input_.differentiable else 'constant'}"
        place = Place("input", input_.name, shape_of(input_), tip, makes=(input_.name,), plain=not input_.differentiable)
        places.append(place)
        maker[input_.name] = place
    previous: Place | None = None
    for number, step in enumerate(case.steps):
        place = _step_place(number, step)
        places.append(place)
        used = dict.fromkeys((name, ROLES.get(field_, "use")) for field_, name in steps.uses(step))
        links.extend(Use(maker[name], place, role, name) for name, role in used if name in maker)
        if place.kind in ORDERED:
            if previous is not None and all(u.source is not previous for u in links if u.target is place):
                links.append(Use(previous, place, "then", ""))
            previous = place
        maker.update(dict.fromkeys(place.makes, place))
    if at_end:
        last = Place("end", "end", ".grad of " + ", ".join(case.watched), ".grad after the last step", plain=True)
        links.extend(Use(maker[name], last, "wrt", name) for name in case.watched if name in maker)
        links.extend([Use(previous, last, "then", "")] if previous else [])
        places.append(last)
    return places or [Place("end", "nothing", "the case is empty", "")], links


def _step_place(number: int, step: Step) -> Place:
    makes = steps.observed(step)
    made = ", ".join(steps.results(step))
    note = ", ".join([*options_of(step), *(["no_grad"] if _is_plain(step) else [])])
    plain = _is_plain(step) or isinstance(step, steps.Detach)
    title = f"{made} = {_title(step)}" if made else _title(step)
    return Place(_kind(step), title, note, step_text(step), number, makes, plain)


def _kind(step: Step) -> str:
    match step:
        case steps.Op() | steps.Custom() | steps.Detach() | steps.Edge():
            return "op"
        case steps.InPlace():
            return "change"
        case steps.Grad() | steps.Backward() | steps.AppendBackward():
            return "call"
        case steps.ClearGrad() | steps.RetainGrad() | steps.SetRequiresGrad() | steps.Hook() | steps.RemoveHook() | steps.Drop():
            return "state"


def _title(step: Step) -> str:
    match step:
        case steps.Op():
            return step.op
        case steps.InPlace():
            return f"{step.tensor}.{step.op}_"
        case _:
            return steps.kind(step)


def _is_plain(step: Step) -> bool:
    """Whether the step stands in a region where nothing is recorded."""
    return bool(getattr(step, "no_grad", False))


def _node(place: Place, *, marked: bool) -> Node:
    top = place.y - place.height / 2
    outline = _outline(place.kind, place.x, top, place.width, place.height)
    middle = place.x + place.width / 2 + (4 if place.kind == "call" else 0)
    texts = _clip(place.title, LONGEST_TITLE), _clip(place.note, LONGEST_NOTE), place.tip
    return Node(place.kind, place.number, *texts, outline, place.x, top, middle, place.plain, marked)


def _outline(kind: str, x: float, y: float, width: float, height: float) -> str:
    if kind == "call":  # points back: what it computes flows against the edges
        tip = 12.0
        return f"M{x:g},{y + height / 2:g}l{tip},{-height / 2:g}h{width - tip:g}v{height:g}h{tip - width:g}z"
    r = {"input": height / 2, "op": 5.0, "change": 5.0}.get(kind, 1.0)
    corner = f"a{r:g},{r:g} 0 0 1"
    return (
        f"M{x + r:g},{y:g}h{width - 2 * r:g}{corner} {r:g},{r:g}v{height - 2 * r:g}{corner} {-r:g},{r:g}"
        f"h{2 * r - width:g}{corner} {-r:g},{-r:g}v{2 * r - height:g}{corner} {r:g},{-r:g}z"
    )


def _edge(use: Use) -> Edge:
    source, target = use.source, use.target
    x, y = source.x + source.width, _port(source, source.makes, use.name)
    start = f"M{x:g},{y:g}"
    arriving = sorted(target.arriving, key=lambda u: (u.lanes or [u.source])[-1].y)
    end = _port(target, arriving, use)
    inset = 12.0 * abs(end - target.y) / (HEIGHT / 2) if target.kind == "call" else 0.0
    path = start + "".join(_curve(x, y, use, end, target.x + inset))
    head = f"M{target.x + inset - 7:g},{end - 3.5:g}l7,3.5l-7,3.5z"
    label = use.name if len(source.makes) > 1 else ""
    tip = {"then": "then", "seed": f"{use.name} as seed", "wrt": f"with respect to {use.name}", "returned": f"returns {use.name}"}.get(
        use.role, use.name
    )
    return Edge(use.role, path, head, tip, label, x + 4, y - 3)


def _curve(x: float, y: float, use: Use, end: float, end_x: float) -> Iterator[str]:
    for lane in use.lanes:
        bend = (lane.x - x) / 2
        yield f"C{x + bend:g},{y:g} {lane.x - bend:g},{lane.y:g} {lane.x:g},{lane.y:g}h{lane.width:g}"
        x, y = lane.x + lane.width, lane.y
    bend = (end_x - x) / 2
    yield f"C{x + bend:g},{y:g} {end_x - bend:g},{end:g} {end_x:g},{end:g}"


def _port(place: Place, slots: Sequence[object], slot: object) -> float:
    if slot not in slots:
        return place.y
    return place.y + HEIGHT * 0.7 * ((slots.index(slot) + 0.5) / len(slots) - 0.5)


def _clip(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
