"""The picture of a case: inputs, ops and autograd calls from left to right, with an edge for every use of a value.

Layers by longest path, order within a layer by the mean position of the neighbours, and an edge that spans several layers
keeps a lane free in each of them, so that it never runs behind a node.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from conformance.report.words import flags_of, shape_of, step_text
from conformance.steps import AppendBackward, Backward, ClearGrad, Grad, Op, results, uses
from conformance.steps import kind as kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case import Case
    from conformance.steps import Step

AT_END = -1
HEIGHT, LANE, ROW_GAP, LAYER_GAP, MARGIN = 44.0, 8.0, 20.0, 44.0, 16.0
TITLE_CHARACTER, NOTE_CHARACTER = 7.4, 6.3
LONGEST_TITLE, LONGEST_NOTE = 30, 36
ORDERING = 12  # sweeps that find the order; as many again straighten the edges
ROLES = {"grad_outputs": "seed", "grad_tensors": "seed", "inputs": "wrt", "no_grad_vars": "wrt"}


@dataclass(frozen=True, slots=True)
class Node:
    """A box, ready to print. ``kind``: ``input``, ``op``, ``call``, ``state`` or ``end``."""

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
    """A use of a value, ready to print. ``role``: ``use``, ``seed``, ``wrt`` or ``then`` (order only, no value)."""

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


@dataclass(eq=False, slots=True)
class _Place:
    """A node, or the lane of an edge through a layer (``kind`` is empty)."""

    kind: str = ""
    title: str = ""
    note: str = ""
    tip: str = ""
    number: int | None = None
    makes: tuple[str, ...] = ()
    plain: bool = False
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    neighbours: list[_Place] = field(default_factory=list)
    arriving: list[_Use] = field(default_factory=list)

    @property
    def height(self) -> float:
        return HEIGHT if self.kind else LANE


@dataclass(eq=False, slots=True)
class _Use:
    source: _Place
    target: _Place
    role: str
    name: str
    lanes: list[_Place] = field(default_factory=list)


def draw(case: Case, diverging: int | None = None) -> Picture:
    """Draw a case; ``diverging`` is the step to mark, `AT_END` for the state after the last step."""
    places, links = _read(case, at_end=diverging == AT_END)
    layers = _layers(places, links)
    _arrange(layers)
    nodes = [_node(p, marked=diverging is not None and (p.kind == "end" or p.number == diverging)) for p in places]
    edges = [_edge(use) for use in links]
    everything = [p for layer in layers for p in layer]
    width = max(p.x + p.width for p in everything) + MARGIN
    height = max(p.y + p.height / 2 for p in everything) + MARGIN
    return Picture(round(width), round(height), nodes, edges)


def _read(case: Case, *, at_end: bool) -> tuple[list[_Place], list[_Use]]:
    places: list[_Place] = []
    links: list[_Use] = []
    maker: dict[str, _Place] = {}
    for entry in case.inputs:
        tip = f"{entry.name}: {shape_of(entry)}, {'differentiable' if entry.differentiable else 'constant'}"
        place = _Place("input", entry.name, shape_of(entry), tip, makes=(entry.name,), plain=not entry.differentiable)
        places.append(place)
        maker[entry.name] = place
    previous: _Place | None = None
    for number, step in enumerate(case.steps):
        place = _step_place(number, step)
        places.append(place)
        used = dict.fromkeys((name, ROLES.get(field_, "use")) for field_, name in uses(step))
        links.extend(_Use(maker[name], place, role, name) for name, role in used if name in maker)
        if isinstance(step, Backward | Grad | ClearGrad):  # these change state, so their order is part of the case
            if previous is not None and all(u.source is not previous for u in links if u.target is place):
                links.append(_Use(previous, place, "then", ""))
            previous = place
        maker.update(dict.fromkeys(results(step), place))
    if at_end:
        last = _Place("end", "end", ".grad of " + ", ".join(case.watched), ".grad after the last step", plain=True)
        links.extend(_Use(maker[name], last, "wrt", name) for name in case.watched if name in maker)
        links.extend([_Use(previous, last, "then", "")] if previous else [])
        places.append(last)
    return places or [_Place("end", "nothing", "the case is empty", "")], links


def _step_place(number: int, step: Step) -> _Place:
    made = ", ".join(results(step))
    kind = "op" if isinstance(step, Op) else "call" if isinstance(step, AppendBackward | Grad | Backward) else "state"
    name = step.op if isinstance(step, Op) else kind_of(step)
    title = f"{made} = {name}" if made else str(name)
    return _Place(kind, title, ", ".join(flags_of(step)), step_text(step), number, results(step), _is_plain(step))


def _is_plain(step: Step) -> bool:
    """Whether the step records nothing: it stands in a region without gradients."""
    return bool(getattr(step, "no_grad", False))


def _layers(places: list[_Place], links: list[_Use]) -> list[list[_Place]]:
    for place in places:  # in the order of the script, so every source has its layer before its uses
        before = [u.source.layer + 1 for u in links if u.target is place]
        place.layer = max(before, default=0)
        title = min(len(place.title), LONGEST_TITLE) * TITLE_CHARACTER
        note = min(len(place.note), LONGEST_NOTE) * NOTE_CHARACTER
        place.width = max(title, note) + 28
    for place in places:  # an input stands next to its first use
        if place.kind == "input":
            place.layer = max(0, min((u.target.layer for u in links if u.source is place), default=1) - 1)
    layers: list[list[_Place]] = [[] for _ in range(1 + max(p.layer for p in places))]
    for place in places:
        layers[place.layer].append(place)
    for use in links:
        use.lanes = [_Place(layer=n) for n in range(use.source.layer + 1, use.target.layer)]
        chain = [use.source, *use.lanes, use.target]
        for one, other in pairwise(chain):
            one.neighbours.append(other)
            other.neighbours.append(one)
        for lane in use.lanes:
            layers[lane.layer].append(lane)
        use.target.arriving.append(use)
    return layers


def _arrange(layers: list[list[_Place]]) -> None:
    """Give every place its coordinates; ``y`` is the middle."""
    x = MARGIN
    for layer in layers:
        widest = max(p.width for p in layer)
        _stack(layer)
        for place in layer:
            place.x, place.width = x, place.width or widest
        x += widest + LAYER_GAP
    for sweep in range(2 * ORDERING):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            side = -1 if sweep % 2 == 0 else 1
            for place in layer:
                near = [n.y for n in place.neighbours if sweep >= ORDERING or (n.layer - place.layer) * side > 0]
                place.y = sum(near) / len(near) if near else place.y
            if sweep < ORDERING:
                layer.sort(key=lambda p: p.y)
            _stack(layer)
    _close_gaps([p for layer in layers for p in layer])


def _close_gaps(places: list[_Place]) -> None:
    """Move everything up to the margin, and parts that share no edge next to each other."""
    bottom, shift = MARGIN - ROW_GAP, 0.0
    for place in sorted(places, key=lambda p: p.y - p.height / 2):
        top = place.y - place.height / 2 + shift
        if top > bottom + ROW_GAP or bottom < 0:
            shift += bottom + ROW_GAP - top
        place.y += shift
        bottom = max(bottom, place.y + place.height / 2)


def _stack(layer: list[_Place]) -> None:
    """Push places apart until none overlap, keeping their order and the middle of the layer where they want to be."""
    wanted = sum(p.y for p in layer) / len(layer)
    for above, below in pairwise(layer):
        below.y = max(below.y, above.y + (above.height + below.height) / 2 + ROW_GAP)
    shift = wanted - sum(p.y for p in layer) / len(layer)
    for place in layer:
        place.y += shift


def _node(place: _Place, *, marked: bool) -> Node:
    top = place.y - place.height / 2
    outline = _outline(place.kind, place.x, top, place.width, place.height)
    middle = place.x + place.width / 2 + (4 if place.kind == "call" else 0)
    texts = _clip(place.title, LONGEST_TITLE), _clip(place.note, LONGEST_NOTE), place.tip
    return Node(place.kind, place.number, *texts, outline, place.x, top, middle, place.plain, marked)


def _outline(kind: str, x: float, y: float, width: float, height: float) -> str:
    if kind == "call":  # points back: what it computes flows against the edges
        tip = 12.0
        return f"M{x:g},{y + height / 2:g}l{tip},{-height / 2:g}h{width - tip:g}v{height:g}h{tip - width:g}z"
    r = {"input": height / 2, "op": 5.0}.get(kind, 1.0)
    corner = f"a{r:g},{r:g} 0 0 1"
    return (
        f"M{x + r:g},{y:g}h{width - 2 * r:g}{corner} {r:g},{r:g}v{height - 2 * r:g}{corner} {-r:g},{r:g}"
        f"h{2 * r - width:g}{corner} {-r:g},{-r:g}v{2 * r - height:g}{corner} {r:g},{-r:g}z"
    )


def _edge(use: _Use) -> Edge:
    source, target = use.source, use.target
    x, y = source.x + source.width, _port(source, source.makes, use.name)
    start = f"M{x:g},{y:g}"
    arriving = sorted(target.arriving, key=lambda u: (u.lanes or [u.source])[-1].y)
    end = _port(target, arriving, use)
    inset = 12.0 * abs(end - target.y) / (HEIGHT / 2) if target.kind == "call" else 0.0
    path = start + "".join(_curve(x, y, use, end, target.x + inset))
    head = f"M{target.x + inset - 7:g},{end - 3.5:g}l7,3.5l-7,3.5z"
    label = use.name if len(source.makes) > 1 else ""
    tip = {"then": "then", "seed": f"{use.name} as seed", "wrt": f"with respect to {use.name}"}.get(use.role, use.name)
    return Edge(use.role, path, head, tip, label, x + 4, y - 3)


def _curve(x: float, y: float, use: _Use, end: float, end_x: float) -> Iterator[str]:
    for lane in use.lanes:
        bend = (lane.x - x) / 2
        yield f"C{x + bend:g},{y:g} {lane.x - bend:g},{lane.y:g} {lane.x:g},{lane.y:g}h{lane.width:g}"
        x, y = lane.x + lane.width, lane.y
    bend = (end_x - x) / 2
    yield f"C{x + bend:g},{y:g} {end_x - bend:g},{end:g} {end_x:g},{end:g}"


def _port(place: _Place, slots: Sequence[object], slot: object) -> float:
    if slot not in slots:
        return place.y
    return place.y + HEIGHT * 0.7 * ((slots.index(slot) + 0.5) / len(slots) - 0.5)


def _clip(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
